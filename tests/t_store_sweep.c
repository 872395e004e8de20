/* SPDX-License-Identifier: ISC */
#include "fault_vfs.h"
#include "ledger.h"
#include "store_sqlite.h"
#include "store_trace.h"
#include "tap.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * A ledger with much that is over at once: it goes, a little at a time, so that
 * nobody waits long.  What a call costs is counted in pages that SQLite reads
 * and writes, which are the same on each machine; times are only noted.
 */
#define KEYS 200000
#define FEW 1000
#define CLAIMS 1500
#define PAGES 200		/* of a sweep: what others wait for */
#define LONG_PAGES 20		/* of one of long answers: it writes little, */
#define LONG_READS 200		/* but reads what it lets go of: half a MiB */
#define READS 20		/* of a claim: the way down its indexes */
#define CALLS_MAX 100000

static char folder[] = "/tmp/t_store_sweep.XXXXXX";
static char path[100], few_path[100];

/* --- figures -------------------------------------------------------------- */

static int64_t
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int
compare(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

struct figures {
	int64_t v[CALLS_MAX];
	size_t n;
};

static void
add(struct figures *f, int64_t v)
{
	if (f->n == CALLS_MAX)
		bail_out("it does not end");
	f->v[f->n++] = v;
}

static long long
at(struct figures *f, unsigned percent)
{
	qsort(f->v, f->n, sizeof f->v[0], compare);
	return f->n > 0 ? f->v[(f->n - 1) * percent / 100] : 0;
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
	struct figures writes, reads;	/* of a sweep */
	struct figures delay;		/* of a claim beside it */
	long long rows;
};

/* One call, and a claim that is started at once with it. */
static bool
sweep_once(struct trace *t, struct swept *s)
{
	struct trace_asked sweep, asked;
	int64_t before = (int64_t)fault_vfs_logged();
	int64_t reads_before = (int64_t)fault_vfs_reads();
	int64_t began_us = now_us();

	trace_start(t, "sweep", &sweep);
	trace_start(t, "claim k1 o2 f1 g1", &asked);
	trace_await(t, &asked);
	add(&s->delay, now_us() - began_us);
	trace_await(t, &sweep);
	add(&s->writes, (int64_t)fault_vfs_logged() - before);
	add(&s->reads, (int64_t)fault_vfs_reads() - reads_before);
	s->rows += atoll(sweep.out);
	return strstr(sweep.out, "more") != NULL;
}

static void
sweep_all(struct trace *t, struct swept *s)
{
	memset(s, 0, sizeof *s);
	while (sweep_once(t, s))
		;
}

static void
judge(struct swept *s, int pages, const char *what)
{
	ok(at(&s->writes, 100) <= 2 * pages,
	    "%s, and no sweep writes more than %d pages", what, pages);
	note("%lld rows in %zu sweeps; one writes %lld times, at the most "
	    "%lld, and reads %lld, %lld; a claim beside it waits for %lld us, "
	    "at the most %lld", s->rows, s->writes.n, at(&s->writes, 50),
	    at(&s->writes, 100), at(&s->reads, 50), at(&s->reads, 100),
	    at(&s->delay, 50), at(&s->delay, 100));
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
	judge(&s, PAGES, "a little at a time");
	before = size_of(path);
	trace_run(&t, "wall +6000", out, sizeof out);
	sweep_all(&t, &s);
	is_int(s.rows, KEYS, "and then each of them goes");
	judge(&s, PAGES, "likewise");
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
		judge(&s, LONG_PAGES, "their room is freed piece by piece");
		ok(at(&s.reads, 100) <= LONG_READS, "nor reads more than %d",
		    LONG_READS);
		if (round == 0)
			before = size_of(path);
	}
	ok(size_of(path) < before + before / 10, "and used again");
	t.store->ops->close(t.store);
}

/* --- on a slow machine ---------------------------------------------------- */

/* Longer than a sweep may take, before it has found its first row. */
static int
take_long(void *arg)
{
	int64_t until_us = now_us() + 5000;

	(void)arg;
	while (now_us() < until_us)
		;
	return 0;
}

/* A single one, where trace_run goes on until there is nothing to do. */
static void
one_does(struct trace *t, const char *expected, const char *what)
{
	struct trace_asked asked;

	trace_start(t, "sweep", &asked);
	trace_await(t, &asked);
	is(asked.out, expected, "%s", what);
}

static void
test_slow(void)
{
	struct trace t;

	ledger_make(path);
	fill(path, 12, 999000);
	trace_init(&t);
	t.store = ledger_open(&t, path);
	sqlite3_progress_handler(((struct idem_sqlite *)t.store)->db.db, 100,
	    take_long, NULL);
	one_does(&t, "8 more", "a sweep whose time is over before it has begun "
	    "does some rows all the same");
	one_does(&t, "4", "and the next one the rest");
	t.store->ops->close(t.store);
}

/* --- many keys ------------------------------------------------------------ */

/* Anywhere among the others: names of small numbers lie on a page or two. */
static void
claim(struct trace *t, unsigned i, struct figures *reads, struct figures *us)
{
	int64_t before = (int64_t)fault_vfs_reads();
	int64_t began_us = now_us();
	char line[60], out[200];

	snprintf(line, sizeof line, "claim %c%u o1 f1 g1", (int)('A' + i % 50),
	    i * 2654435761u);
	trace_run(t, line, out, sizeof out);
	if (strncmp(out, "won", 3) != 0)
		bail_out("%s: %s", line, out);
	add(us, now_us() - began_us);
	add(reads, (int64_t)fault_vfs_reads() - before);
}

static void
test_claims(void)
{
	static struct figures few_reads, many_reads, few_us, many_us;
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
		claim(&a, i, &few_reads, &few_us);
		claim(&b, i, &many_reads, &many_us);
	}
	ok(at(&many_reads, 95) <= READS, "a claim among %d keys reads no more "
	    "than %d pages [idem:F2]", KEYS, READS);
	ok(at(&many_reads, 95) > 0, "though it is where nobody has looked "
	    "before");
	note("%lld, at 95 of 100 %lld, at the most %lld, and %lld us; among %d "
	    "keys %lld, %lld, %lld, and %lld us", at(&many_reads, 50),
	    at(&many_reads, 95), at(&many_reads, 100), at(&many_us, 50), FEW,
	    at(&few_reads, 50), at(&few_reads, 95), at(&few_reads, 100),
	    at(&few_us, 50));
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
	test_slow();
	test_claims();
	ledger_remove(path);
	ledger_remove(few_path);
	rmdir(folder);
	return done();
}
