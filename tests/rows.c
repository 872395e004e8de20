/* SPDX-License-Identifier: ISC */
#include "rows.h"

#include "tap.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct row {
	pid_t pid;		/* 0: not begun, or over */
	bool over;
	int out;		/* what it said */
	int status;
	struct rows_held *held;
};

void *
rows_shared(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		bail_out("mmap: %s", strerror(errno));
	return at;
}

static void
begin(struct row *r, size_t i, rows_row *run, void *arg)
{
	r->out = memfd_create("row", MFD_CLOEXEC);
	if (r->out == -1)
		bail_out("memfd_create: %s", strerror(errno));
	fflush(NULL);
	r->pid = fork();
	if (r->pid == -1)
		bail_out("fork: %s", strerror(errno));
	if (r->pid != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(r->out, STDOUT_FILENO);
	run(i, arg, r->held);
	fflush(NULL);
	_exit(0);
}

static void
kill_held(const struct rows_held *held)
{
	size_t i;

	for (i = 0; i < ROWS_HELD; i++)
		if (held->group[i] != 0)
			kill(-held->group[i], SIGKILL);
}

/* True if one of them has ended. */
static bool
reap(struct row *rows, size_t len)
{
	int status;
	pid_t pid = waitpid(-1, &status, 0);
	size_t i;

	if (pid == -1)
		bail_out("waitpid: %s", strerror(errno));
	for (i = 0; i < len && rows[i].pid != pid; i++)
		;
	if (i == len)
		return false;
	rows[i].status = status;
	rows[i].over = true;
	rows[i].pid = 0;
	kill_held(rows[i].held);
	return true;
}

/* "ok 1 - text # SKIP why": as if it were ours. */
static void
tell_line(char *line)
{
	bool passed = strncmp(line, "ok ", 3) == 0;
	const char *text = strstr(line, " - ");
	char *why = strstr(line, " # SKIP ");

	line[strcspn(line, "\n")] = '\0';
	if ((!passed && strncmp(line, "not ok ", 7) != 0) || text == NULL) {
		if (strncmp(line, "1..", 3) != 0)
			note("%s", strncmp(line, "# ", 2) == 0 ? line + 2 :
			    line);
		return;
	}
	if (why != NULL) {
		*why = '\0';
		skip(why + 8, "%s", text + 3);
	} else
		ok(passed, "%s", text + 3);
}

static void
tell(size_t i, const struct row *r)
{
	FILE *out = fdopen(r->out, "r");
	char line[1000];

	if (out == NULL)
		bail_out("fdopen: %s", strerror(errno));
	rewind(out);
	while (fgets(line, sizeof line, out) != NULL)
		tell_line(line);
	fclose(out);
	if (r->status != 0)
		ok(false, "row %zu comes to its end (status %d)", i,
		    r->status);
}

void
rows_at_once(size_t len, unsigned at_once, rows_row *run, void *arg)
{
	struct rows_held *held = rows_shared((len + 1) * sizeof *held);
	struct row *rows = calloc(len + 1, sizeof *rows);
	size_t begun = 0, told = 0;
	unsigned running = 0;

	if (rows == NULL)
		bail_out("out of memory");
	while (told < len) {
		for (; begun < len && running < at_once; begun++, running++) {
			rows[begun].held = &held[begun];
			begin(&rows[begun], begun, run, arg);
		}
		running -= reap(rows, begun);
		for (; told < begun && rows[told].over; told++)
			tell(told, &rows[told]);
	}
	free(rows);
}
