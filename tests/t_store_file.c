/* SPDX-License-Identifier: ISC */
#include "fault_vfs.h"
#include "ledger.h"
#include "store_sqlite.h"
#include "store_trace.h"
#include "tap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Which files are taken for a ledger, and what happens when one turns bad. */

#define PAGE 4096
#define KEYS 300

static char folder[] = "/tmp/t_store_file.XXXXXX";
static char path[100];

static const char *
beside(const char *suffix)
{
	static char name[120];

	snprintf(name, sizeof name, "%s%s", path, suffix);
	return name;
}

static void
remove_ledger(void)
{
	ledger_remove(path);
	unlink(beside("-moved"));
	unlink(beside("-link"));
}

static void
make_ledger(void)
{
	remove_ledger();
	ledger_make(path);
}

static struct idem_store *
open_ledger(struct trace *t, const char *at, char *error, size_t error_size)
{
	struct idem_sqlite_options options = { .path = at };

	trace_init(t);
	options.clock = &t->clock;
	options.boot = t->boot;
	t->store = idem_store_sqlite(&options, error, error_size);
	return t->store;
}

static void
must_open(struct trace *t)
{
	char error[300];

	if (open_ledger(t, path, error, sizeof error) == NULL)
		bail_out("%s", error);
}

static void
run(struct trace *t, const char *line, const char *want, const char *what)
{
	char out[200];

	trace_run(t, line, out, sizeof out);
	is(out, want, "%s", what);
}

/* --- refusals at once ----------------------------------------------------- */

static void
write_file(const char *text)
{
	FILE *f = fopen(path, "w");

	if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0)
		bail_out("cannot write %s", path);
}

static const struct {
	const char *what;
	const char *sql;	/* on a new ledger; NULL: on nothing */
	const char *text;	/* the whole file instead; NULL: no file */
	const char *says;	/* a part of the message */
} refusals[] = {
	{ "a missing file", NULL, NULL, "idemctl init" },
	{ "an empty file", NULL, "", "no bytes left" },
	{ "a text file", NULL,
	  "What stands here is no database, but is longer than a header of one "
	  "would be, so that SQLite reads all hundred bytes of it.\n",
	  "not a database" },
	{ "another program's database", "PRAGMA application_id = 7", NULL,
	  "not a ledger of idem's" },
	{ "a ledger of a newer schema",
	  "UPDATE meta SET value = 3 WHERE name = 'schema'", NULL,
	  "newer idem" },
	{ "a ledger without its schema's row",
	  "DELETE FROM meta WHERE name = 'schema'", NULL, "incomplete" },
	{ "a ledger without a generation",
	  "DELETE FROM meta WHERE name = 'generation'", NULL, "incomplete" },
	{ "a ledger without its table of names", "DROP TABLE meta", NULL,
	  "no such table" },
	{ "a ledger without its records", "DROP TABLE record", NULL,
	  "no such table" },
	{ "a ledger that is not in WAL mode", "PRAGMA journal_mode = DELETE",
	  NULL, "WAL" },
};

static void
test_refusals(void)
{
	struct stat before, after;
	char error[300];
	struct trace t;
	size_t i;
	bool told;

	for (i = 0; i < sizeof refusals / sizeof *refusals; i++) {
		remove_ledger();
		if (refusals[i].sql != NULL) {
			make_ledger();
			fault_sql(path, refusals[i].sql);
		} else if (refusals[i].text != NULL) {
			write_file(refusals[i].text);
		}
		before.st_size = after.st_size = -1;
		stat(path, &before);
		error[0] = '\0';
		told = open_ledger(&t, path, error, sizeof error) == NULL &&
		    strstr(error, refusals[i].says) != NULL &&
		    strstr(error, path) != NULL;
		stat(path, &after);
		ok(told && after.st_size == before.st_size,
		    "%s is refused, with the reason, and left as it is",
		    refusals[i].what);
		if (!told)
			note("%s", error);
	}
	ok(open_ledger(&t, folder, error, sizeof error) == NULL &&
	    strstr(error, "not a file") != NULL, "a folder is refused");
}

static void
test_truncated(void)
{
	char error[300], out[200];
	struct trace t;

	make_ledger();
	must_open(&t);
	trace_run(&t, "claim k1 o1 f1 g1", out, sizeof out);
	trace_run(&t, "complete k1 o1 1 big:100000", out, sizeof out);
	t.store->ops->close(t.store);
	if (truncate(path, 3 * PAGE) != 0)
		bail_out("cannot cut %s", path);
	ok(open_ledger(&t, path, error, sizeof error) == NULL &&
	    strstr(error, "malformed") != NULL,
	    "a ledger that was cut off is refused");
}

static void
test_network(void)
{
	ok(idem_sqlite_network(0x6969) != NULL &&
	    idem_sqlite_network(0xff534d42) != NULL &&
	    idem_sqlite_network(0xfe534d42) != NULL &&
	    idem_sqlite_network(0x65735546) != NULL &&
	    idem_sqlite_network(0x01021997) != NULL,
	    "NFS, SMB, FUSE, virtiofs and 9p are network file systems "
	    "[idem:C19]");
	ok(idem_sqlite_network(0xef53) == NULL &&
	    idem_sqlite_network(0x58465342) == NULL &&
	    idem_sqlite_network(0x9123683e) == NULL &&
	    idem_sqlite_network(0x01021994) == NULL &&
	    idem_sqlite_network(0x794c7630) == NULL,
	    "ext4, XFS, Btrfs, tmpfs and overlayfs are not");
}

/* --- making one ----------------------------------------------------------- */

static unsigned
mode_of(const char *suffix)
{
	struct stat st;

	return stat(beside(suffix), &st) == 0 ? st.st_mode & 07777 : 0;
}

static void
test_create(void)
{
	char error[300], out[200];
	struct trace t;
	mode_t mask = umask(0);

	make_ledger();
	must_open(&t);
	trace_run(&t, "claim k1 o1 f1 g1", out, sizeof out);
	ok(mode_of("") == 0600 && mode_of("-wal") == 0600 &&
	    mode_of("-shm") == 0600 && mode_of("-lock") == 0600,
	    "all files of a ledger are for their owner alone [idem:E15]");
	t.store->ops->close(t.store);
	umask(mask);
	ok(idem_store_sqlite_create(path, error, sizeof error) != 0 &&
	    strstr(error, "already") != NULL, "a ledger is not made twice");
	must_open(&t);
	run(&t, "claim k1 o1 f1 g1", "ours 1", "and the first is untouched");
	t.store->ops->close(t.store);
	unlink(path);
	ok(access(beside("-wal"), F_OK) == 0 &&
	    idem_store_sqlite_create(path, error, sizeof error) != 0 &&
	    strstr(error, "-wal") != NULL,
	    "none is made beside the rest of another, which it would read");
	remove_ledger();
	ok(idem_store_sqlite_create("/nowhere/at/all.db", error, sizeof error)
	    != 0 && strstr(error, "/nowhere") != NULL,
	    "none is made in a folder that is not there");
}

/* A second name must not mean a second lock. */
static void
test_link(void)
{
	char error[300];
	struct trace t, u;
	char link[120];

	make_ledger();
	snprintf(link, sizeof link, "%s", beside("-link"));
	if (symlink(path, link) != 0)
		bail_out("no symbolic link");
	must_open(&t);
	if (open_ledger(&u, link, error, sizeof error) == NULL)
		bail_out("%s", error);
	run(&t, "claim k1 o1 f1 g1", "won 1", "a key is won by one name");
	run(&u, "claim k1 o2 f1 g1", "in-progress 1", "and held by the other");
	ok(access(beside("-link-lock"), F_OK) != 0,
	    "both names have one lock");
	u.store->ops->close(u.store);
	t.store->ops->close(t.store);
}

/* --- while it is open ----------------------------------------------------- */

static void
test_moved(void)
{
	char error[300], out[200], moved[120];
	struct trace t;

	make_ledger();
	must_open(&t);
	trace_run(&t, "claim k1 o1 f1 g1", out, sizeof out);
	snprintf(moved, sizeof moved, "%s", beside("-moved"));
	if (rename(path, moved) != 0)
		bail_out("cannot move %s", path);
	run(&t, "claim k2 o1 f1 g1", "refused config",
	    "a ledger moved while it is open refuses claims");
	run(&t, "complete k1 o1 1 A", "refused config", "and completions");
	run(&t, "claim k1 o1 f1 g1", "refused config", "and look-ups");
	run(&t, "list all", "refused config", "and lists");
	if (rename(moved, path) != 0)
		bail_out("cannot move %s back", path);
	run(&t, "complete k1 o1 1 A", "written", "moved back, it goes on");

	rename(path, moved);
	if (idem_store_sqlite_create(path, error, sizeof error) == 0)
		bail_out("a ledger was made beside the WAL of another");
	write_file("another file");
	run(&t, "claim k3 o1 f1 g1", "refused config",
	    "replaced by another file, it refuses too");
	unlink(path);
	run(&t, "claim k3 o1 f1 g1", "refused config", "deleted, as well");
	rename(moved, path);
	unlink(beside("-lock"));
	run(&t, "claim k3 o1 f1 g1", "refused config",
	    "without its lock's file, which others would make anew, too");
	t.store->ops->close(t.store);
	must_open(&t);
	run(&t, "claim k1 o2 f1 g1", "completed 1 A",
	    "a new start finds all that was acknowledged");
	t.store->ops->close(t.store);
}

static void
fill(void)
{
	char line[60], out[200];
	struct trace t;
	int k;

	make_ledger();
	must_open(&t);
	for (k = 1; k <= KEYS; k++) {
		snprintf(line, sizeof line, "claim k%d o1 f1 g1", k);
		trace_run(&t, line, out, sizeof out);
	}
	t.store->ops->close(t.store);
}

static void
spoil_page(long page)
{
	char bytes[PAGE];
	FILE *f = fopen(path, "r+");

	memset(bytes, 0xa5, sizeof bytes);
	if (f == NULL || fseek(f, page * PAGE, SEEK_SET) != 0 ||
	    fwrite(bytes, 1, sizeof bytes, f) != sizeof bytes ||
	    fclose(f) != 0)
		bail_out("cannot write %s", path);
}

/* Whether some key that was won is won again. */
static bool
won_again(struct trace *t, bool *closed)
{
	char line[60], out[200], last[200] = "";
	bool won = false;
	int k;

	for (k = 1; k <= KEYS; k++) {
		snprintf(line, sizeof line, "claim k%d o2 f1 g1", k);
		trace_run(t, line, out, sizeof out);
		won = won || strncmp(out, "won", 3) == 0;
		/* After the first damage there is none but that answer. */
		if (strcmp(last, "refused config") == 0 &&
		    strcmp(out, last) != 0)
			*closed = false;
		snprintf(last, sizeof last, "%s", out);
	}
	return won;
}

static void
test_damaged(void)
{
	unsigned opened = 0, refused = 0, again = 0;
	bool closed = true;
	struct stat st;
	char error[300];
	struct trace t;
	long page;

	fill();
	if (stat(path, &st) != 0)
		bail_out("no %s", path);
	for (page = 1; page < st.st_size / PAGE; page++) {
		fill();
		spoil_page(page);
		if (open_ledger(&t, path, error, sizeof error) == NULL) {
			refused++;
			continue;
		}
		opened++;
		again += won_again(&t, &closed);
		t.store->ops->close(t.store);
	}
	is_int(again, 0, "whichever page is damaged, no key is won again");
	ok(closed, "and once damage is met, every call is refused");
	note("of %ld pages, %u were met at the start, %u later or never",
	    page - 1, refused, opened);
}

static void
test_bad_record(void)
{
	char out[200];
	struct trace t;

	make_ledger();
	must_open(&t);
	trace_run(&t, "claim k1 o1 f1 g1", out, sizeof out);
	trace_run(&t, "claim k2 o1 f1 g1", out, sizeof out);
	t.store->ops->close(t.store);
	fault_sql(path, "UPDATE record SET owner = x'0102' WHERE id = 1");
	must_open(&t);
	run(&t, "claim k1 o2 f1 g1", "bad-record config",
	    "a record that is not ours to read is not overwritten");
	run(&t, "complete k1 o1 1 A", "refused config", "nor completed");
	run(&t, "claim k2 o2 f1 g1", "in-progress 1", "and others are served");
	t.store->ops->close(t.store);
}

static void
test_full(void)
{
	struct fault full = {
		.op = FAULT_WRITE,
		.code = FAULT_FULL,
		.nth = 1,
		.for_ever = true,
	};
	struct idem_store_call call = {
		.op = IDEM_STORE_RELEASE,
		.key = trace_digest("k1"),
		.owner = trace_owner("o1"),
		.attempt = 1,
		.deadline_ms = INT64_MAX,
	};
	struct idem_store_answer answer;
	char out[200];
	struct trace t;

	make_ledger();
	must_open(&t);
	trace_run(&t, "claim k1 o1 f1 g1", out, sizeof out);
	fault_vfs_set(&full);
	idem_store_wait(t.store, &call, &answer);
	ok(answer.result.class != IDEM_OK && answer.result.error != NULL &&
	    strstr(answer.result.error, "full") != NULL,
	    "a full disk is called one");
	idem_store_answer_free(&answer);
	run(&t, "claim k1 o2 f1 g1", "in-progress 1",
	    "what is known is still told");
	fault_vfs_heal();
	run(&t, "complete k1 o1 1 A", "written", "with room again it goes on");
	t.store->ops->close(t.store);
}

/* Room is used again: no answer that is gone stays in the file. */
static void
test_room(void)
{
	char line[80], out[200];
	struct trace t;
	struct stat st;
	int k;

	make_ledger();
	must_open(&t);
	for (k = 1; k <= 60; k++) {
		snprintf(line, sizeof line, "claim k%d o1 f1 g1", k);
		trace_run(&t, line, out, sizeof out);
		snprintf(line, sizeof line, "complete k%d o1 1 big:100000 "
		    "keep=%d", k, k % 2);
		trace_run(&t, line, out, sizeof out);
		snprintf(line, sizeof line, k % 2 == 0 ? "sweep" :
		    "settle forget k%d o9 o1 1", k);
		trace_run(&t, line, out, sizeof out);
	}
	t.store->ops->close(t.store);
	ok(stat(path, &st) == 0 && st.st_size < 1000000,
	    "answers that are gone give their room to new ones");
	note("%lld bytes", (long long)st.st_size);
}

int
main(void)
{
	fault_vfs_install();
	if (mkdtemp(folder) == NULL)
		bail_out("no folder for the test");
	snprintf(path, sizeof path, "%s/ledger.db", folder);
	test_refusals();
	test_truncated();
	test_network();
	test_create();
	test_link();
	test_moved();
	test_damaged();
	test_bad_record();
	test_full();
	test_room();
	remove_ledger();
	rmdir(folder);
	return done();
}
