/* SPDX-License-Identifier: ISC */
#include "preload.h"

#include "preload_rig.h"
#include "redis_rig.h"
#include "rig.h"
#include "tap.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHANGE_MS 50
#define HOUR_MS 3600000
#define MS 1000000		/* nanoseconds */

static struct preload_rig rig;

static struct preload_process
start(const char *part, const char *word)
{
	return preload_rig_start(&rig, part, word);
}

static const char *
heard(struct preload_process *p, char line[PRELOAD_RIG_PATH])
{
	return preload_rig_heard(p, line);
}

static const char *
line_of(const char *part, const char *word, char line[PRELOAD_RIG_PATH])
{
	return preload_rig_line(&rig, part, word, line);
}

/* --- clocks --------------------------------------------------------------- */

/* What a process is told by each of its clocks, and when it was asked by ours:
   it was in between, however long that took. */
struct told {
	int64_t real, coarse, timeofday, time, monotonic;
	int64_t from, to, from_monotonic, to_monotonic;
	int64_t from_coarse, to_coarse;
};

static struct told
begin_look(struct preload_process *p)
{
	struct told t = {
		.from = preload_now_ns(CLOCK_REALTIME),
		.from_monotonic = preload_now_ns(CLOCK_MONOTONIC),
		.from_coarse = preload_now_ns(CLOCK_REALTIME_COARSE)
	};

	preload_rig_say(p);
	return t;
}

static void
end_look(struct preload_process *p, struct told *t)
{
	char line[PRELOAD_RIG_PATH];

	heard(p, line);
	t->to = preload_now_ns(CLOCK_REALTIME);
	t->to_monotonic = preload_now_ns(CLOCK_MONOTONIC);
	t->to_coarse = preload_now_ns(CLOCK_REALTIME_COARSE);
	if (sscanf(line, "%" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64
	    " %" SCNd64, &t->real, &t->coarse, &t->timeofday, &t->time,
	    &t->monotonic) != 5)
		bail_out("the clock says \"%s\"", line);
}

static struct told
look(struct preload_process *p)
{
	struct told t = begin_look(p);

	end_look(p, &t);
	return t;
}

static bool
is_between(int64_t ns, int64_t from, int64_t to)
{
	return ns >= from - MS && ns <= to + MS;
}

static bool
is_monotonic(const struct told *t)
{
	return is_between(t->monotonic, t->from_monotonic, t->to_monotonic);
}

/* How far a clock that is coarse is behind is the machine's affair: it is
   between what the same one says before and after. */
static bool
is_ahead(const struct told *t, int64_t ms)
{
	int64_t ahead = ms * MS;

	return is_between(t->real, t->from + ahead, t->to + ahead) &&
	    is_between(t->coarse, t->from_coarse + ahead, t->to_coarse +
	    ahead) &&
	    is_between(t->timeofday, t->from + ahead, t->to + ahead) &&
	    is_between(t->time, t->from + ahead - 1000 * MS, t->to + ahead) &&
	    is_monotonic(t);
}

static const struct {
	const char *what;
	int64_t offset_ms;
} jumps[] = {
	{ "without an offset all clocks are the machine's", 0 },
	{ "a minute forward moves each wall clock, and no other", 60000 },
	{ "so does an hour back, while it runs", -HOUR_MS },
	{ "and part of a second", -1 - HOUR_MS / 2 },
	{ "and a hundred years", INT64_C(3155760000) * 1000 }
};

static void
check_jumps(struct preload_process *p)
{
	struct told t;
	size_t i;

	for (i = 0; i < sizeof jumps / sizeof *jumps; i++) {
		rig.clock->offset_ms = jumps[i].offset_ms;
		t = look(p);
		if (!ok(is_ahead(&t, jumps[i].offset_ms), "%s", jumps[i].what))
			note("%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
			    " %" PRId64 " ns", t.real - t.from,
			    t.coarse - t.from, t.timeofday - t.from,
			    t.time - t.from, t.monotonic - t.from_monotonic);
	}
	rig.clock->offset_ms = 0;
}

static void
check_rates(struct preload_process *p)
{
	int64_t now = preload_now_ns(CLOCK_MONOTONIC), gone;
	struct told t;

	/* As if it had run ten times as fast for 1000 s: 9000 s ahead. */
	rig.clock->since_ns = now - 1000 * MS * INT64_C(1000);
	rig.clock->rate_ppm = 9000000;
	t = look(p);
	gone = t.to_monotonic - now;
	ok(is_between(t.real, t.from + INT64_C(9000000) * MS,
	    t.to + INT64_C(9000000) * MS + 9 * gone) && is_monotonic(&t),
	    "a rate moves the wall clock with the time that has gone by");
	rig.clock->rate_ppm = -500000;
	t = look(p);
	gone = t.to_monotonic - now;
	ok(is_between(t.real, t.from - INT64_C(500000) * MS - gone / 2,
	    t.to - INT64_C(500000) * MS),
	    "a rate below that of the machine's moves it back");
	rig.clock->rate_ppm = 0;
}

static void
check_clock(void)
{
	struct preload_process p;
	struct told t;

	preload_rig_set(&rig, true, false, false);
	p = start("clock", "");
	check_jumps(&p);
	check_rates(&p);
	/* Half of a change is done when it is asked, the rest later. */
	rig.clock->changes = 1;
	rig.clock->offset_ms = HOUR_MS;
	t = begin_look(&p);
	poll(NULL, 0, CHANGE_MS);
	rig.clock->offset_ms = 60000;
	rig.clock->changes = 2;
	end_look(&p, &t);
	ok(is_ahead(&t, 60000), "nobody is told half of a change");
	rig.clock->offset_ms = 0;
	preload_rig_ended(&p);
	preload_rig_unset();
}

static void
check_boot(void)
{
	char line[PRELOAD_RIG_PATH], ours[PRELOAD_RIG_PATH];

	line_of("boot", "open", ours);
	is(line_of("boot", "openat", line), ours,
	    "the boot's id is the machine's");
	preload_rig_set(&rig, false, false, true);
	is(line_of("boot", "open", line), "another boot",
	    "with the library it is what stands in a file");
	is(line_of("boot", "openat", line), "another boot",
	    "openat gives that too");
	preload_rig_unset();
	ok(strcmp(ours, "another boot") != 0 && *ours != '\0',
	    "and that is not the machine's");
}

static void
check_environment(void)
{
	char line[PRELOAD_RIG_PATH];
	struct preload_process p;
	struct told t;
	int status;

	preload_rig_set(&rig, false, false, false);
	rig.clock->offset_ms = HOUR_MS;
	p = start("clock", "");
	t = look(&p);
	ok(is_ahead(&t, 0), "who is told nothing has the machine's clocks");
	preload_rig_ended(&p);
	setenv(PRELOAD_SHIFT, "/nonexistent/clock", 1);
	p = start("clock", "");
	is(heard(&p, line), "", "who cannot have his clock does nothing");
	status = preload_rig_ended(&p);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 99, "and ends with 99");
	setenv(PRELOAD_SHIFT, "/dev/null", 1);
	p = start("clock", "");
	status = preload_rig_ended(&p);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 99,
	    "nor one whose file is too short");
	rig.clock->offset_ms = 0;
	preload_rig_unset();
}

static void
check_redis(void)
{
	struct redis_rig redis = { 0 };
	int64_t began;
	long long left;

	if (redis_rig_missing() != NULL) {
		skip(redis_rig_missing(), "a key goes when the clock jumps");
		return;
	}
	preload_rig_set(&rig, true, false, false);
	redis_rig_start(&redis, NULL);
	preload_rig_unset();
	redis_rig_say(&redis, "SET", "k", "v", "PX", "30000", NULL);
	is(redis_rig_say(&redis, "GET", "k", NULL), "v",
	    "redis-server serves with the library under it");
	began = preload_now_ns(CLOCK_MONOTONIC);
	rig.clock->offset_ms = 60000;
	is(redis_rig_say(&redis, "GET", "k", NULL), "(nil)",
	    "after a jump of a minute a key of 30 s is gone at once");
	note("in %" PRId64 " us",
	    (preload_now_ns(CLOCK_MONOTONIC) - began) / 1000);
	redis_rig_say(&redis, "SET", "k", "v", "PX", "20000", NULL);
	rig.clock->offset_ms = 60000 - HOUR_MS;
	left = strtoll(redis_rig_say(&redis, "PTTL", "k", NULL), NULL, 10);
	ok(left > HOUR_MS && left <= HOUR_MS + 20000,
	    "after a jump of an hour back one of 20 s has an hour to go");
	rig.clock->offset_ms = 0;
	redis_rig_end(&redis);
}

/* --- what is left when the power goes ------------------------------------- */

static int
rows(const char *sql)
{
	sqlite3_stmt *s = NULL;
	sqlite3 *db = NULL;
	char path[PRELOAD_RIG_PATH];
	int n = -1;

	snprintf(path, sizeof path, "%s/d.db", rig.disk_folder);
	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) ==
	    SQLITE_OK && sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK
	    && sqlite3_step(s) == SQLITE_ROW)
		n = sqlite3_column_int(s, 0);
	sqlite3_finalize(s);
	sqlite3_close(db);
	return n;
}

static const struct {
	const char *what, *pragmas;
	int left;
} powers[] = {
	{ "a WAL with synchronous=FULL keeps the last commit",
	  "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL", 2 },
	{ "with synchronous=NORMAL it loses it",
	  "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL", 1 },
	{ "a rollback journal with FULL keeps it",
	  "PRAGMA journal_mode=DELETE; PRAGMA synchronous=FULL", 2 },
	{ "and one with TRUNCATE does",
	  "PRAGMA journal_mode=TRUNCATE; PRAGMA synchronous=FULL", 2 },
	{ "with synchronous=OFF nothing is kept at all",
	  "PRAGMA journal_mode=DELETE; PRAGMA synchronous=OFF", -1 }
};

static void
check_power(void)
{
	char line[PRELOAD_RIG_PATH];
	struct preload_process p;
	size_t i;

	preload_rig_set(&rig, false, true, false);
	for (i = 0; i < sizeof powers / sizeof *powers; i++) {
		preload_rig_fresh_disk(&rig);
		p = start("two rows", powers[i].pragmas);
		heard(&p, line);
		preload_rig_ended(&p);
		is(line, "0", "two commits succeed");
		is_int(rows("SELECT count(*) FROM t"), 2,
		    "and SIGKILL loses neither");
		preload_rig_lose_power(&rig);
		is_int(rows("SELECT count(*) FROM t"), powers[i].left,
		    "%s when the power goes", powers[i].what);
	}
	preload_rig_unset();
}

/* Two writers, one kill; what either was told stays. */
static void
check_writers(void)
{
	int i, j, last[2], missing = 0, broken = 0, both = 0, all = 0;
	char line[PRELOAD_RIG_PATH], sql[PRELOAD_RIG_PATH];
	struct preload_process p[2];

	preload_rig_set(&rig, false, true, false);
	for (i = 0; i < 5; i++) {
		preload_rig_fresh_disk(&rig);
		p[0] = start("many rows", "1000000");
		p[1] = start("many rows", "2000000");
		/* Whoever comes first: both are at it when they are killed. */
		for (j = 0; j < 2; j++)
			last[j] = (int)strtol(heard(&p[j], line), NULL, 10);
		for (j = 0; j < 10 + 7 * i; j++)
			last[i % 2] = (int)strtol(heard(&p[i % 2], line), NULL,
			    10);
		for (j = 0; j < 2; j++)
			kill(p[j].pid, SIGKILL);
		for (j = 0; j < 2; j++) {
			both += last[j] != 0;
			while (*heard(&p[j], line) != '\0')
				last[j] = (int)strtol(line, NULL, 10);
			preload_rig_ended(&p[j]);
			all += last[j] % 1000000;
		}
		preload_rig_lose_power(&rig);
		broken += rows("SELECT count(*) FROM pragma_integrity_check "
		    "WHERE integrity_check = 'ok'") != 1;
		for (j = 0; j < 2; j++) {
			snprintf(sql, sizeof sql, "SELECT count(*) FROM t "
			    "WHERE a > %d AND a <= %d",
			    (j + 1) * 1000000, last[j]);
			missing += last[j] != 0 &&
			    rows(sql) != last[j] % 1000000;
		}
	}
	note("%d commits of two processes", all);
	is_int(both, 10, "two processes write to one database");
	is_int(missing, 0,
	    "each commit that one was told of outlives the power");
	is_int(broken, 0, "and the database is whole");
	preload_rig_unset();
}

/* A request of that key: its Idempotency-Status. */
static const char *
asked(struct rig *idemd, const char *key, char mark[32])
{
	struct rig_answer answer;

	rig_request(idemd, &(struct rig_request){ .method = "POST",
	    .path = "/order", .key = key, .body = idem_bytes_text("item=tea") },
	    &answer);
	snprintf(mark, 32, "%s", rig_field(&answer, "Idempotency-Status"));
	rig_answer_free(&answer);
	return mark;
}

/* The last of its processes is: none of them listens any more. */
static void
await_gone(struct rig *idemd)
{
	int fd, turns;

	for (turns = 0; (fd = rig_connect(idemd)) != -1; turns++) {
		close(fd);
		if (turns == 5000)
			bail_out("idemd does not end");
		redis_rig_turn();
	}
}

/* The ledger is made, claimed and completed with the library under all. */
static void
check_idemd(void)
{
	const char *options[] = { "--", NULL, NULL };
	struct rig idemd = { .folder = "" };
	char mark[32];

	rig_open(&idemd);
	rig_order(&idemd);
	options[1] = rig_at(&idemd, "order");
	preload_rig_fresh_disk(&rig);
	snprintf(rig.disk->folder, sizeof rig.disk->folder, "%s",
	    idemd.folder);
	preload_rig_set(&rig, false, true, false);
	if (rig_start(&idemd, options) != 0)
		bail_out("idemd does not start");
	is(asked(&idemd, "\"k1\"", mark), "stored", "idemd stores an answer");
	kill(-idemd.pid, SIGKILL);
	rig_stop(&idemd, 0);
	await_gone(&idemd);
	preload_rig_unset();
	preload_rig_shell("rm -rf \"$1\"/ledger.db* && cp -a \"$2/.\" \"$1\"",
	    idemd.folder, rig.shadow);
	ok(access(idemd.ledger, R_OK) == 0,
	    "its ledger, which was made by another name, is there after that");
	if (rig_start(&idemd, options) != 0)
		bail_out("idemd does not start again");
	is(asked(&idemd, "\"k1\"", mark), "replayed",
	    "and so is what it has answered");
	rig_stop(&idemd, 5000);
	rig_end(&idemd);
}

/* A file there, as the shell sees it: its bytes, or "none". */
static const char *
shadowed(const char *name, char text[PRELOAD_RIG_PATH])
{
	char path[PRELOAD_RIG_PATH];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", rig.shadow, name);
	snprintf(text, PRELOAD_RIG_PATH, "none");
	f = fopen(path, "re");
	if (f != NULL) {
		text[fread(text, 1, PRELOAD_RIG_PATH - 1, f)] = '\0';
		fclose(f);
	}
	return text;
}

static void
check_names(void)
{
	char text[PRELOAD_RIG_PATH];

	preload_rig_fresh_disk(&rig);
	preload_rig_set(&rig, false, true, false);
	is(line_of("names", "", text), "done", "files are made and named");
	preload_rig_unset();
	is(shadowed("synced", text), "new", "a file is there as it was synced");
	is(shadowed("never", text), "none", "one that never was is not");
	is(shadowed("in/side", text), "deep", "one in a folder is there");
	is(shadowed("old", text), "none", "one that got another name");
	is(shadowed("other", text), "named", "is there by that");
	is(shadowed("link", text), "linked",
	    "so is one with another name more");
	is(shadowed("gone", text), "none", "one that was removed is not");
	is(shadowed("a-shm", text), "none", "nor is shared memory");
	is(shadowed("appended", text), "12", "one that is only written to is");
	is(shadowed("t3", text), "9", "those that threads sync at once are");
	is(shadowed("t0", text), "9", "all of them");
	is(shadowed("nameless (deleted)", text), "none",
	    "one that has no name any more is not");
	is(shadowed(PRELOAD_PART, text), "none",
	    "nor what they were copied to");
}

static void
check_lock(void)
{
	char line[PRELOAD_RIG_PATH];
	struct preload_process holder;

	preload_rig_fresh_disk(&rig);
	preload_rig_set(&rig, false, true, false);
	holder = start("lock", "hold");
	is(heard(&holder, line), "locked",
	    "a lock is had and its file synced");
	is(line_of("lock", "try", line), "refused", "the lock is kept by that");
	preload_rig_ended(&holder);
	is(line_of("lock", "try", line), "locked", "and goes with its process");
	preload_rig_unset();
}

/* --- faults --------------------------------------------------------------- */

static const struct {
	const char *what;
	enum preload_fault fault;
	int rc;
} faults[] = {
	{ "a full disk is SQLite's FULL", PRELOAD_FULL, SQLITE_FULL },
	{ "a sync that fails is an I/O error of fsync", PRELOAD_IOERR,
	  SQLITE_IOERR_FSYNC },
	{ "a lock that fails is BUSY", PRELOAD_BUSY, SQLITE_BUSY }
};

static void
check_faults(void)
{
	char line[PRELOAD_RIG_PATH], want[PRELOAD_RIG_PATH];
	struct preload_process p;
	size_t i;

	preload_rig_set(&rig, false, true, false);
	for (i = 0; i < sizeof faults / sizeof *faults; i++) {
		preload_rig_fresh_disk(&rig);
		p = start("writer", "");
		is(heard(&p, line), "0", "a row is written");
		rig.disk->fault = (int)faults[i].fault;
		preload_rig_say(&p);
		snprintf(want, sizeof want, "%d", faults[i].rc);
		is(heard(&p, line), want, "%s", faults[i].what);
		ok(rig.disk->struck > 0, "and it is counted");
		rig.disk->fault = PRELOAD_NONE;
		preload_rig_say(&p);
		is(heard(&p, line), "0", "after it a row is written again");
		preload_rig_ended(&p);
	}
	/* Of another folder: what is above is told apart by its name alone. */
	preload_rig_fresh_disk(&rig);
	rig.disk->folder[strlen(rig.disk->folder) - 1] = '\0';
	p = start("writer", "");
	heard(&p, line);
	for (i = 0; i < sizeof faults / sizeof *faults; i++) {
		rig.disk->fault = (int)faults[i].fault;
		preload_rig_say(&p);
		is(heard(&p, line), "0",
		    "elsewhere a row is written all the same");
	}
	is_int((long long)rig.disk->struck, 0, "and nothing is counted");
	preload_rig_ended(&p);
	preload_rig_fresh_disk(&rig);
	is(line_of("full", "", line), "grow ENOSPC, over 3, append ENOSPC, "
	    "vector ENOSPC, truncate ENOSPC, shrink 0, allocate ENOSPC",
	    "on a full disk only what makes a file longer fails");
	preload_rig_unset();
}

int
main(int argc, char **argv)
{
	if (argc == 4)
		return preload_part(argv[1], argv[2], argv[3]);
	signal(SIGPIPE, SIG_IGN);
	preload_rig_make(&rig);
	check_clock();
	check_boot();
	check_environment();
	check_redis();
	check_power();
	check_writers();
	check_idemd();
	check_names();
	check_lock();
	check_faults();
	preload_rig_end(&rig);
	return done();
}
