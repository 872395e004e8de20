/* SPDX-License-Identifier: ISC */
#include "program_top.h"

#include "given.h"
#include "tap.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_MAX 2048

static void
make_file(const char *name, mode_t mode)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, mode);

	if (fd == -1)
		bail_out("%s", name);
	close(fd);
}

void
program_top_make(char *top, size_t size)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(top, size, "%s/idem-program-XXXXXX",
	    tmp != NULL && *tmp == '/' ? tmp : "/tmp");
	if (mkdtemp(top) == NULL || chdir(top) != 0 ||
	    chmod(top, 0755) != 0 ||
	    mkdir("cgi", 0755) != 0 || mkdir("cgi/folder", 0755) != 0 ||
	    mkdir("cgi-bin", 0755) != 0 || mkdir("locked", 0) != 0 ||
	    symlink("cgi", "link-to-cgi") != 0 ||
	    symlink("order", "cgi/link") != 0 ||
	    symlink("../secret", "cgi/link-out") != 0 ||
	    symlink("nothing", "cgi/link-to-nothing") != 0 ||
	    symlink("link-loop", "cgi/link-loop") != 0 ||
	    mkfifo("cgi/fifo", 0755) != 0)
		bail_out("%s cannot be made", top);
	make_file("secret", 0755);
	make_file("cgi/order", 0755);
	make_file("cgi/a b", 0755);
	make_file("cgi/data", 0644);
	make_file("cgi/folder/deep", 0755);
	make_file("cgi-bin/x", 0755);
	make_file("cgi-bin/xx", 0755);
}

void
program_top_remove(const char *top)
{
	static const char *const names[] = {
		"cgi/folder/deep", "cgi/folder", "cgi/order", "cgi/a b",
		"cgi/data", "cgi/link", "cgi/link-out", "cgi/link-to-nothing",
		"cgi/link-loop", "cgi/fifo", "cgi", "cgi-bin/x", "cgi-bin/xx",
		"cgi-bin", "link-to-cgi", "locked", "secret"
	};
	size_t i;

	for (i = 0; i < sizeof names / sizeof *names; i++)
		remove(names[i]);
	if (chdir("/") != 0 || rmdir(top) != 0)
		note("%s is left", top);
}

/* A text with the folder for each "@". */
char *
program_top_in(const char *text, const char *top)
{
	char *out = malloc(TEXT_MAX);
	size_t len = 0;

	if (out == NULL)
		bail_out("out of memory");
	for (; *text != '\0' && len < TEXT_MAX - 1; text++)
		len += (size_t)snprintf(out + len, TEXT_MAX - len, "%.*s",
		    *text == '@' ? PATH_MAX : 1, *text == '@' ? top : text);
	out[len < TEXT_MAX ? len : TEXT_MAX - 1] = '\0';
	return out;
}

static const char *
or_none(const char *text)
{
	return text != NULL ? text : "-";
}

static const char *
program_line(const struct program *p, char *to, size_t size)
{
	if (p->path == NULL && p->folder == NULL && p->script_name == NULL &&
	    p->path_info == NULL && p->script_filename == NULL)
		return "";
	snprintf(to, size, "%s|%s|%s|%s|%s", or_none(p->path),
	    or_none(p->folder), or_none(p->script_name),
	    or_none(p->path_info), or_none(p->script_filename));
	return to;
}

enum idem_problem
program_top_find(struct program *program, const struct program_rule *rule,
    const char *const *in, const char *top)
{
	const char *texts[PROGRAM_ROW_PARAMS + 1] = { NULL };
	struct idem_params params;
	enum idem_problem problem;
	size_t i, n;

	for (n = 0; n < PROGRAM_ROW_PARAMS && in[n] != NULL; n++)
		texts[n] = program_top_in(in[n], top);
	params = given(texts);
	problem = program_find(program, rule, &params);
	idem_params_free(&params);
	for (i = 0; i < n; i++)
		free((char *)(uintptr_t)texts[i]);
	return problem;
}

static void
check_row(const struct program_row *row, const struct program_rule *rule,
    const char *top)
{
	char line[TEXT_MAX], *want = program_top_in(row->out, top);
	enum idem_problem problem;
	struct program p;

	problem = program_top_find(&p, rule, row->in, top);
	if (problem != row->problem)
		is_int(problem, row->problem, "%s", row->what);
	else
		is(program_line(&p, line, sizeof line), want, "%s", row->what);
	free(want);
	program_free(&p);
	program_free(&p);
}

void
program_top_check(const struct program_row *rows, size_t len,
    const struct program_rule *rule, const char *top)
{
	size_t i;

	for (i = 0; i < len; i++)
		check_row(&rows[i], rule, top);
}
