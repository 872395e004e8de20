/* SPDX-License-Identifier: ISC */
#include "fault_vfs.h"
#include "ledger.h"
#include "store_trace.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * A ledger with much that is over at once: it goes, a little at a time, and
 * nobody waits long.  What a call costs is counted in time of the processor, so
 * that a busy machine changes nothing; disks are no part of it.
 */
#define KEYS 200000
#define FEW 1000
#define CLAIMS 1500
#define LIMIT_US 5000
#define CALLS_MAX 100000

static char folder[] = "/tmp/t_store_sweep.XXXXXX";
static char path[100], few_path[100];

/* --- time ----------------------------------------------------------------- */

static int64_t
now_us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int
compare(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

struct times {
	int64_t us[CALLS_MAX];
	size_t n;
};

static void
note_time(struct times *t, int64_t us)
{
	if (t->n == CALLS_MAX)
		bail_out("it does not end");
	t->us[t->n++] = us;
}

static int64_t
at(struct times *t, unsigned percent)
{
	qsort(t->us, t->n, sizeof t->us[0], compare);
	return t->n > 0 ? t->us[(t->n - 1) * percent / 100] : 0;
}

/* --- the ledger ----------------------------------------------------------- */

/* Completed keys of which nobody knows the names, kept until expires_at. */
static void
fill(const char *to, int keys, int64_t expires_at)
{
	char sql[1000];

	snprintf(sql, sizeof sql, "BEGIN;"
	    "WITH RECURSIVE n(i) AS"
	    " (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
	    "INSERT INTO record (key, state, attempt, owner, boot, pid,"
	    " fingerprint, guard, made_at, ended_at, lease_end, renewed_at,"
	    " expires_at, tombstone_ms, answer_len, answer) "
	    "SELECT randomblob(32), 3, 1, randomblob(16), zeroblob(16), 7,"
	    " zeroblob(32), zeroblob(32), 1, 2, 0, 1, %lld, 5000, 300,"
	    " zeroblob(300) FROM n; COMMIT", keys, (long long)expires_at);
	fault_sql(to, sql);
}

static long long
size_of(const char *name)
{
	struct stat st;

	return stat(name, &st) == 0 ? (long long)st.st_size : -1;
}

static void
run(struct trace *t, const char *line, const char *want, const char *what)
{
	char out[200];

	trace_run(t, line, out, sizeof out);
	is(out, want, "%s", what);
}

/* --- sweeping ------------------------------------------------------------- */

struct swept {
	struct times cpu, delay;	/* of a sweep; of a claim beside it */
	long long rows;
};

/* One call, and a claim that is started at once with it. */
static bool
sweep_once(struct trace *t, struct swept *s, bool claim)
{
	struct trace_asked sweep, asked;
	int64_t cpu_us = now_us(CLOCK_PROCESS_CPUTIME_ID);
	int64_t began_us = now_us(CLOCK_MONOTONIC);

	trace_start(t, "sweep", &sweep);
	if (claim) {
		trace_start(t, "claim k1 o2 f1 g1", &asked);
		trace_await(t, &asked);
		note_time(&s->delay, now_us(CLOCK_MONOTONIC) - began_us);
	}
	trace_await(t, &sweep);
	note_time(&s->cpu, now_us(CLOCK_PROCESS_CPUTIME_ID) - cpu_us);
	s->rows += atoll(sweep.out);
	return strstr(sweep.out, "more") != NULL;
}

static void
sweep_all(struct trace *t, struct swept *s)
{
	memset(s, 0, sizeof *s);
	while (sweep_once(t, s, true))
		;
}

static void
judge(struct swept *s, const char *what)
{
	ok(at(&s->cpu, 95) < LIMIT_US, "%s, and 95 of 100 sweeps take less "
	    "than 5 ms", what);
	note("%lld rows in %zu sweeps; one takes %lld us, 99 of 100 up to "
	    "%lld, the longest %lld; a claim beside it waits for %lld us, %lld "
	    "at the most", s->rows, s->cpu.n, (long long)at(&s->cpu, 50),
	    (long long)at(&s->cpu, 99), (long long)at(&s->cpu, 100),
	    (long long)at(&s->delay, 50), (long long)at(&s->delay, 100));
}

static void
test_many(void)
{
	static struct swept s;
	struct trace t;
	char out[200];
	long long before;

	ledger_make(path);
	fill(path, KEYS / 2, 999000);
	trace_init(&t);
	t.store = ledger_open(&t, path);
	trace_run(&t, "claim k1 o1 f1 g1", out, sizeof out);
	trace_run(&t, "claim k2 o1 f1 g1", out, sizeof out);
	trace_run(&t, "unknown k2 o1 1", out, sizeof out);
	fill(path, KEYS / 2, 999000);
	sweep_all(&t, &s);
	is_int(s.rows, KEYS, "of %d keys that are over at once each becomes a "
	    "tombstone", KEYS);
	judge(&s, "a little at a time");
	before = size_of(path);
	trace_run(&t, "wall +6000", out, sizeof out);
	sweep_all(&t, &s);
	is_int(s.rows, KEYS, "and then each of them goes");
	judge(&s, "likewise");
	run(&t, "list all", "k1 k2", "what is in progress or unknown is all "
	    "that stays [idem:F1]");
	fill(path, KEYS, 999000);
	ok(size_of(path) <= before + before / 10,
	    "as many new ones find their room in the file [idem:F1]");
	note("%lld bytes, then %lld", before, size_of(path));
	t.store->ops->close(t.store);
}

/* Each takes SQLite longer than that if it is freed at once. */
static void
test_long(void)
{
	static struct swept s;
	char out[200], line[100];
	struct trace t;
	long long before;
	int k, round;

	ledger_make(path);
	trace_init(&t);
	t.store = ledger_open(&t, path);
	trace_run(&t, "claim k1 o1 f1 g1", out, sizeof out);
	for (round = 0, before = 0; round < 2; round++) {
		for (k = 2 + 3 * round; k < 5 + 3 * round; k++) {
			snprintf(line, sizeof line, "claim k%d o1 f1 g1", k);
			trace_run(&t, line, out, sizeof out);
			snprintf(line, sizeof line, "complete k%d o1 1 "
			    "big:16777216 keep=1000", k);
			trace_run(&t, line, out, sizeof out);
		}
		trace_run(&t, "wall +1000", out, sizeof out);
		/* It comes behind what the completions left to be done. */
		trace_run(&t, "renew k1 o1 1", out, sizeof out);
		sweep_all(&t, &s);
		is_int(s.rows, 3, "answers of 16 MiB that are over become "
		    "tombstones");
		judge(&s, "their room is freed piece by piece");
		if (round == 0)
			before = size_of(path);
	}
	ok(size_of(path) < before + before / 10, "and used again");
	t.store->ops->close(t.store);
}

/* --- many keys ------------------------------------------------------------ */

/* Not in the order of names, which would be the index's. */
static int64_t
claim_us(struct trace *t, unsigned i)
{
	int64_t began_us = now_us(CLOCK_MONOTONIC);
	char line[60], out[200];

	snprintf(line, sizeof line, "claim k%u o1 f1 g1",
	    100 + (i * 40503u) % 65000u);
	trace_run(t, line, out, sizeof out);
	if (strncmp(out, "won", 3) != 0)
		bail_out("%s: %s", line, out);
	return now_us(CLOCK_MONOTONIC) - began_us;
}

static void
test_claims(void)
{
	static struct times few, many;
	struct trace a, b;
	unsigned i;

	ledger_make(few_path);
	fill(few_path, FEW, 9000000);
	ledger_make(path);
	fill(path, KEYS, 9000000);
	trace_init(&a);
	a.store = ledger_open(&a, few_path);
	trace_init(&b);
	b.store = ledger_open(&b, path);
	for (i = 0; i < CLAIMS; i++) {
		note_time(&few, claim_us(&a, i));
		note_time(&many, claim_us(&b, i));
	}
	ok(at(&many, 50) < 2 * at(&few, 50), "a claim among %d keys takes "
	    "hardly longer than among %d [idem:F2]", KEYS, FEW);
	note("%lld us, and %lld", (long long)at(&many, 50),
	    (long long)at(&few, 50));
	a.store->ops->close(a.store);
	b.store->ops->close(b.store);
}

int
main(void)
{
	fault_vfs_install();
	if (mkdtemp(folder) == NULL)
		bail_out("no folder for the test");
	snprintf(path, sizeof path, "%s/ledger.db", folder);
	snprintf(few_path, sizeof few_path, "%s/few.db", folder);
	test_many();
	test_long();
	test_claims();
	ledger_remove(path);
	ledger_remove(few_path);
	rmdir(folder);
	return done();
}
