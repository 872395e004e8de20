/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "tap.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * --root: which programs a request may name.
 *
 *	FOLDER/root/order	FOLDER/root/sub/order	FOLDER/root/plain (0644)
 *	FOLDER/root/out		-> ../outside/order
 *	FOLDER/root/way		-> ../outside
 *	FOLDER/root/in		-> sub/order
 *	FOLDER/root/nothing	-> nowhere
 *	FOLDER/outside/order	FOLDER/root2/order
 *	FOLDER/alias		-> root
 */

static const char order[] = "#!/bin/sh\n"
    "echo \"$0\" >>%s/starts\n"
    "printf 'Status: 201 Created\\n\\n%%s\\n' \"$(pwd) $0 $#\"\n";

static const struct {
	const char *what;
	const char *path;	/* after FOLDER/; NULL: no SCRIPT_FILENAME */
	const char *want;	/* with a key; it is never replayed */
	const char *folder;	/* it runs in */
} rows[] = {
	{ "below the root", "root/order", "201 stored", "root" },
	{ "further below", "root/sub/order", "201 stored", "root/sub" },
	{ "a link to one below", "root/in", "201 stored", "root" },
	{ "by way of .. and back [R25]",
	    "root/sub/../order", "201 stored", "root" },
	{ "by another name of the root", "alias/order", "201 stored", "root" },

	{ "outside", "outside/order", "403 not-started", NULL },
	{ "a folder that is called alike", "root2/order", "403 not-started",
	    NULL },
	{ "a link that leads outside", "root/out", "403 not-started", NULL },
	{ "below a link that leads outside", "root/way/order",
	    "403 not-started", NULL },
	{ "by way of .. outside [R25]",
	    "root/../outside/order", "403 not-started",
	    NULL },
	{ "by way of .. of a folder below", "root/sub/../../outside/order",
	    "403 not-started", NULL },
	{ "the shell, by many ..",
	    "root/../../../../../../../../../../bin/sh", "403 not-started",
	    NULL },
	{ "not executable", "root/plain", "403 not-started", NULL },
	{ "a folder", "root/sub", "403 not-started", NULL },
	{ "the root itself", "root", "403 not-started", NULL },
	{ "the root itself, as a folder", "root/", "403 not-started", NULL },

	{ "missing", "root/none", "404 not-started", NULL },
	{ "missing, with its folder", "root/none/order", "404 not-started",
	    NULL },
	{ "missing outside", "none/order", "404 not-started", NULL },
	{ "a link to nothing", "root/nothing", "404 not-started", NULL },
	{ "by way of .. of a folder that is missing", "root/none/../order",
	    "404 not-started", NULL },
	{ "no name at all", NULL, "404 not-started", NULL },
};

#define ROWS (sizeof rows / sizeof *rows)

static void
place(struct rig *rig, const char *folder, const char *name)
{
	char text[512], path[RIG_PATH];

	snprintf(text, sizeof text, order, rig->folder);
	snprintf(path, sizeof path, "%s/%s", folder, name);
	rig_program(rig, path, text);
}

static void
make_link(struct rig *rig, const char *to, const char *name)
{
	if (symlink(to, rig_at(rig, name)) == -1)
		bail_out("%s: %s", name, strerror(errno));
}

static void
make_all(struct rig *rig)
{
	static const char *const folders[] = {
		"root", "root/sub", "root2", "outside"
	};
	size_t i;

	for (i = 0; i < sizeof folders / sizeof *folders; i++) {
		if (mkdir(rig_at(rig, folders[i]), 0755) == -1)
			bail_out("%s: %s", folders[i], strerror(errno));
		place(rig, folders[i], "order");
	}
	rig_file(rig, "root/plain", "#!/bin/sh\n");
	make_link(rig, "../outside/order", "root/out");
	make_link(rig, "../outside", "root/way");
	make_link(rig, "sub/order", "root/in");
	make_link(rig, "nowhere", "root/nothing");
	make_link(rig, "root", "alias");
}

/* A program is called by the name it was asked for, in that name's folder. */
static void
check_run(struct rig *rig, size_t i, const char *program,
    const struct rig_answer *answer)
{
	char want[4 * RIG_PATH];

	snprintf(want, sizeof want, "%s/%s %s 0\n", rig->folder, rows[i].folder,
	    program);
	is_bytes(answer->body.at, answer->body.len, want, strlen(want),
	    "it is called by that name, in its folder, without arguments");
}

static void
one(struct rig *rig, size_t i, const char *key)
{
	char program[2 * RIG_PATH];
	struct rig_request request = { .method = "POST", .path = "/order",
		.query = "-s", .key = key };
	struct rig_answer answer;
	char want[32];

	if (rows[i].path != NULL) {
		snprintf(program, sizeof program, "%s/%s", rig->folder,
		    rows[i].path);
		request.program = program;
	}
	snprintf(want, sizeof want, "%s", rows[i].want);
	if (key == NULL && rows[i].folder != NULL)
		want[3] = '\0';		/* nothing is said of a key */
	rig_request(rig, &request, &answer);
	told(&answer, want, "%s%s", rows[i].what, key ? "" : ", without a key");
	if (rows[i].folder != NULL)
		check_run(rig, i, program, &answer);
	rig_answer_free(&answer);
}

/* Names that are no path below anything. */
static void
odd_names(struct rig *rig)
{
	static char longer[PATH_MAX + 64];
	const char *const names[] = {
		"", "order", "root/order", "./root/order", "../root/order",
		longer
	};
	struct rig_request request = { .method = "POST", .path = "/order",
		.key = "odd" };
	size_t i;

	snprintf(longer, sizeof longer, "%s/root/", rig->folder);
	for (i = strlen(longer); i + 2 < sizeof longer; i += 2)
		memcpy(longer + i, "./", 2);
	for (i = 0; i < sizeof names / sizeof *names; i++) {
		request.program = names[i];
		ask(rig, &request, "404 not-started", "the name \"%.20s\"",
		    names[i]);
	}
}

/* Once idemd has ended: it writes its log in pieces. */
static void
log_names(struct rig *rig, const char *file, const char *why)
{
	char *log = rig_slurp(rig, "log");
	char text[2 * RIG_PATH], *line, *end;

	if (log == NULL)
		bail_out("no log");
	snprintf(text, sizeof text, " program=%s/%s root=/", rig->folder, file);
	line = strstr(log, text);
	end = line != NULL ? strchr(line, '\n') : NULL;
	if (end != NULL)
		*end = '\0';
	ok(end != NULL && strstr(line, why) != NULL,
	    "the log has %s: \"%s\"", file, why);
	free(log);
}

static void
all(struct rig *rig, const char *root)
{
	long before = starts(rig), runs = 0;
	size_t i;

	ask_start(rig, (const char *[]){ "--root", root, NULL });
	for (i = 0; i < ROWS; i++) {
		/* A program is a scope: what is one key to its client is
		   another for each of them. */
		one(rig, i, "one-key");
		one(rig, i, NULL);
		runs += rows[i].folder != NULL ? 2 : 0;
	}
	odd_names(rig);
	is_int(starts(rig) - before, runs, "nothing else was started");
	is_int(rig_stop(rig, 30000), 0, "idemd ends with status 0");
	log_names(rig, "outside/order", "not below root");
	log_names(rig, "root/none", "there is no such file");
	remove(rig->ledger);	/* the next idemd knows nothing of these keys */
	remove(rig_at(rig, "ledger.db-wal"));
	remove(rig_at(rig, "ledger.db-shm"));
}

int
main(void)
{
	struct rig rig;

	rig_open(&rig);
	make_all(&rig);
	all(&rig, rig_at(&rig, "root"));
	all(&rig, rig_at(&rig, "root/"));
	all(&rig, rig_at(&rig, "alias"));
	rig_end(&rig);
	return done();
}
