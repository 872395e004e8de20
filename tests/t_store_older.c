/* SPDX-License-Identifier: ISC */
#include "fault_vfs.h"
#include "ledger.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * A ledger that an older idem has made, and one that writes on while a newer
 * one has it open too: a package is upgraded, idemctl is asked something, and
 * the old daemon is restarted later.
 */
static char folder[] = "/tmp/t_store_older.XXXXXX";
static char path[100];

/* What schema 1 was: each long answer in one row, with its record's number. */
static const char to_1[] =
    "UPDATE body SET id = -id;"
    "UPDATE body SET id = (SELECT id FROM record WHERE answer = -body.id);"
    "UPDATE record SET answer = NULL WHERE answer_len > 1024;"
    "DROP TABLE trash;"
    "UPDATE meta SET value = 1 WHERE name = 'schema';"
    "PRAGMA user_version = 1";

/* As it completes one: 2000 bytes, attempt and owner stay. */
static const char completes_2[] =
    "UPDATE record SET state = 3, ended_at = 1, expires_at = 1 << 60,"
    " tombstone_ms = 1, answer_len = 2000, answer = NULL WHERE id = 2;"
    "INSERT OR REPLACE INTO body (id, data)"
    " SELECT 2, data FROM body WHERE id = 1";

static void
run(struct trace *t, const char *line, const char *want, const char *what)
{
	char out[200];

	trace_run(t, line, out, sizeof out);
	is(out, want, "%s", what);
}

static void
open_it(struct trace *t)
{
	trace_init(t);
	t->store = ledger_open(t, path);
}

static void
test_older(void)
{
	char out[200];
	struct trace t;
	int k;

	ledger_make(path);
	open_it(&t);
	for (k = 1; k <= 4; k++) {
		snprintf(out, sizeof out, "claim k%d o1 f1 g1", k);
		trace_run(&t, out, out, sizeof out);
	}
	trace_run(&t, "complete k1 o1 1 big:2000", out, sizeof out);
	t.store->ops->close(t.store);
	fault_sql(path, to_1);
}

static void
test_beside(void)
{
	struct trace t;

	open_it(&t);
	run(&t, "claim k1 o2 f1 g1", "completed 1 big:2000",
	    "an older ledger's long answer is found");
	run(&t, "complete k3 o1 1 big:300000", "written",
	    "one of more pieces is written beside it");
	fault_sql(path, completes_2);
	run(&t, "claim k2 o2 f1 g1", "completed 1 big:2000",
	    "an older daemon that still runs completes another");
	run(&t, "claim k3 o2 f1 g1", "completed 1 big:300000",
	    "and nothing of the first is lost by it");
	run(&t, "complete k4 o1 1 big:300000", "written", "and so on");
	run(&t, "settle forget k2 o9 o1 1", "written", "what it wrote goes");
	run(&t, "settle forget k3 o9 o1 1", "written", "and what we wrote");
	run(&t, "sweep", "0", "to its end");
	run(&t, "claim k1 o2 f1 g1", "completed 1 big:2000",
	    "alone: the first");
	run(&t, "claim k4 o2 f1 g1", "completed 1 big:300000",
	    "and the last are what they were");
	t.store->ops->close(t.store);
}

int
main(void)
{
	fault_vfs_install();
	if (mkdtemp(folder) == NULL)
		bail_out("no folder for the test");
	snprintf(path, sizeof path, "%s/ledger.db", folder);
	test_older();
	test_beside();
	ledger_remove(path);
	rmdir(folder);
	return done();
}
