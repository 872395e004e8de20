/* SPDX-License-Identifier: ISC */
#include "buf.h"
#include "tap.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Labels (label.h) are in a build that asked for them, each one, and in
 * idemd-sim; in no other is anything of them: neither their names, nor what
 * obeys them, nor the variables that it would read.  t_crash has what they are
 * for.
 */
#ifdef IDEM_FAILPOINTS
static const bool wanted = true;
#else
static const bool wanted = false;
#endif
#define NAMES 64

static const char *
folder(const char *name)
{
	const char *given = getenv(name);

	return given != NULL ? given : ".";
}

static void
slurp(const char *path, struct idem_buf *to)
{
	FILE *file = fopen(path, "rbe");
	char piece[65536];
	size_t n;

	idem_buf_clear(to);
	while (file != NULL && (n = fread(piece, 1, sizeof piece, file)) > 0)
		idem_buf_append(to, piece, n);
	if (file == NULL || !idem_buf_ok(to))
		bail_out("%s cannot be read", path);
	fclose(file);
}

static bool
has(const struct idem_buf *file, const char *text)
{
	return memmem(file->at, file->len, text, strlen(text)) != NULL;
}

/* --- those of the sources ------------------------------------------------- */

struct names {
	char at[NAMES][48];
	size_t len;
};

static void
names_in(const char *path, struct names *names)
{
	static const char call[] = "IDEM_LABEL";
	struct idem_buf text = { 0 };
	const char *at;

	slurp(path, &text);
	idem_buf_u8(&text, 0);
	at = (const char *)text.at;
	while ((at = strstr(at, call)) != NULL) {
		at += sizeof call - 1;
		at += strspn(at, "_ABCDEFGHIJKLMNOPQRSTUVWXYZ");
		if (strncmp(at, "(\"", 2) != 0)
			continue;
		at += 2;
		if (names->len == NAMES)
			bail_out("more than %d labels", NAMES);
		snprintf(names->at[names->len++], sizeof names->at[0], "%.*s",
		    (int)strcspn(at, "\""), at);
	}
	idem_buf_free(&text);
}

static void
find_names(struct names *names)
{
	static const char *const where[] = { "lib/*.c", "fcgi/*.c" };
	char pattern[600];
	size_t i, n;
	glob_t g;

	for (i = 0; i < sizeof where / sizeof *where; i++) {
		snprintf(pattern, sizeof pattern, "%s/%s",
		    folder("top_srcdir"), where[i]);
		if (glob(pattern, 0, NULL, &g) != 0)
			bail_out("%s: nothing is there", pattern);
		for (n = 0; n < g.gl_pathc; n++)
			names_in(g.gl_pathv[n], names);
		globfree(&g);
	}
}

/* --- those of the programs ------------------------------------------------ */

/* Others are words that a program has for other reasons too. */
static bool
is_its_own(const char *name, const char *but)
{
	return strchr(name, '.') != NULL &&
	    (but == NULL || strncmp(name, but, strlen(but)) != 0);
}

/* but: labels that begin so are of files that it does not have; or NULL. */
static void
check(const char *program, const struct names *names, const char *but,
    bool has_them)
{
	static const char *const tools[] = {
		"idem_label", "IDEM_FAILPOINTS", "IDEMSIM_"
	};
	struct idem_buf file = { 0 };
	unsigned found = 0, own = 0;
	char path[600];
	size_t i;

	snprintf(path, sizeof path, "%s/%s", folder("top_builddir"), program);
	slurp(path, &file);
	for (i = 0; i < names->len; i++) {
		if (!is_its_own(names->at[i], but))
			continue;
		own++;
		if (has(&file, names->at[i]))
			found++;
		if (has(&file, names->at[i]) != has_them)
			note("%s: %s", program, names->at[i]);
	}
	ok(own > 10 && found == (has_them ? own : 0), "%s has %s of the %u "
	    "labels: %u", program, has_them ? "all" : "none", own, found);
	for (i = 0; i < sizeof tools / sizeof *tools; i++)
		ok(has(&file, tools[i]) == has_them, "%s has %s in it: %s",
		    program, tools[i], has_them ? "yes" : "no");
	idem_buf_free(&file);
}

static void
check_library(void)
{
	struct idem_buf file = { 0 };
	char path[600];

	snprintf(path, sizeof path, "%s/libidem.a", folder("top_builddir"));
	slurp(path, &file);
	ok(has(&file, "label.o/") == wanted, "the library has what obeys them: "
	    "%s", wanted ? "yes" : "no");
	idem_buf_free(&file);
}

int
main(void)
{
	static struct names names;

	find_names(&names);
	check("idemd", &names, NULL, wanted);
	check("idem-cgi", &names, "reply.", wanted);
	check("idemd-sim", &names, NULL, true);
	check_library();
	return done();
}
