/* SPDX-License-Identifier: ISC */
#include "rig.h"
#include "rig_watch.h"
#include "store.h"
#include "tap.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * Many keys whose time is over: they cost no more room than they must, what is
 * in progress stays, and a claim is as quick as without them.  make bench has
 * the large numbers.
 */
#define MANY 20000u
#define FEW 500u
#define AT_ONCE 1000u
#define CLAIMS 60		/* of each ledger, by turns */
#define CALL_MS 60000
#define LIMIT 2.5		/* busy machines; the goal is 1.3 */

struct ledger {
	char path[RIG_PATH];
	struct idem_store *store;
	unsigned open, failed;
	uint32_t swept;
	bool more;
	int64_t took_us[CLAIMS];
};

/* --- calls ---------------------------------------------------------------- */

static int64_t
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* As digests are: spread. */
static struct idem_digest
key_of(uint64_t number)
{
	struct idem_digest key = { { 0 } };
	uint64_t word = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);

	memcpy(key.at, &word, sizeof word);
	return key;
}

static void
done_(void *arg, const struct idem_store_result *r)
{
	struct ledger *l = arg;

	l->open--;
	l->swept = r->count;
	l->more = r->more;
	if (r->op == IDEM_STORE_CLAIM)
		l->failed += r->claim != IDEM_CLAIM_WON;
	else
		l->failed += r->write != IDEM_WRITTEN;
}

static struct idem_store_call
call_of(struct ledger *l, enum idem_store_op op, uint64_t number)
{
	return (struct idem_store_call){ .op = op, .key = key_of(number),
		.attempt = op == IDEM_STORE_CLAIM ? 0 : 1, .attempts_max = 1,
		.lease_ms = 3600000, .keep_ms = 1, .tombstone_ms = 1,
		.deadline_ms = idem_boot_ms(&idem_clock_real) + CALL_MS,
		.done = done_, .arg = l };
}

static void
start(struct ledger *l, const struct idem_store_call *call)
{
	l->open++;
	l->store->ops->start(l->store, call);
}

static void
finish(struct ledger *l)
{
	struct pollfd fd = { .events = POLLIN };

	for (;;) {
		l->store->ops->poll(l->store);
		if (l->open == 0)
			return;
		fd.fd = l->store->ops->fd(l->store);
		poll(&fd, 1, 10);
	}
}

static void
all(struct ledger *l, enum idem_store_op op, uint64_t from, uint64_t to)
{
	struct idem_store_call call;

	for (; from < to; from++) {
		call = call_of(l, op, from);
		start(l, &call);
		if (l->open == AT_ONCE)
			finish(l);
	}
	finish(l);
}

/* --- ledgers -------------------------------------------------------------- */

static void
open_ledger(struct ledger *l, struct rig *rig, const char *name, unsigned keys)
{
	struct idem_sqlite_options options = { .clock = &idem_clock_real };
	char error[256];

	*l = (struct ledger){ .open = 0 };
	snprintf(l->path, sizeof l->path, "%s", rig_at(rig, name));
	if (!idem_boot_id(&options.boot) ||
	    idem_store_sqlite_create(l->path, error, sizeof error) == -1)
		bail_out("no ledger: %s", error);
	options.path = l->path;
	l->store = idem_store_sqlite(&options, error, sizeof error);
	if (l->store == NULL)
		bail_out("%s", error);
	all(l, IDEM_STORE_CLAIM, 0, keys);
	/* The first one stays in progress. */
	all(l, IDEM_STORE_COMPLETE, 1, keys);
	is_int(l->failed, 0, "%u keys are run and answered", keys);
}

static void
sweep(struct ledger *l)
{
	struct idem_store_call call = call_of(l, IDEM_STORE_SWEEP, 0);

	do {
		call.deadline_ms = idem_boot_ms(&idem_clock_real) + CALL_MS;
		call.max = 1000;
		start(l, &call);
		finish(l);
	} while (l->more || l->swept > 0);
}

static unsigned
count(struct ledger *l, enum idem_state *last)
{
	struct idem_store_call call = { .op = IDEM_STORE_LIST,
		.states = UINT32_MAX, .max = 1000,
		.deadline_ms = idem_boot_ms(&idem_clock_real) + CALL_MS };
	struct idem_store_answer answer;
	unsigned n;

	idem_store_wait(l->store, &call, &answer);
	n = answer.result.count;
	if (n > 0)
		*last = answer.listed[n - 1].record.state;
	idem_store_answer_free(&answer);
	return n;
}

static long long
size_of(const struct ledger *l)
{
	struct stat st;

	return stat(l->path, &st) == 0 ? (long long)st.st_size : -1;
}

/* --- how long a claim takes ----------------------------------------------- */

static void
time_claim(struct ledger *l, int i)
{
	int64_t begun_us = now_us();

	all(l, IDEM_STORE_CLAIM, 1000000 + (uint64_t)i, 1000001 + (uint64_t)i);
	l->took_us[i] = now_us() - begun_us;
}

static int
compare(const void *a, const void *b)
{
	const int64_t *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

static int64_t
median_us(struct ledger *l)
{
	qsort(l->took_us, CLAIMS, sizeof *l->took_us, compare);
	return l->took_us[CLAIMS / 2];
}

static void
as_quick(struct ledger *few, struct ledger *many)
{
	int64_t few_us, many_us;
	int i;

	for (i = 0; i < CLAIMS; i++) {
		time_claim(i % 2 == 0 ? few : many, i);
		time_claim(i % 2 == 0 ? many : few, i);
	}
	few_us = median_us(few);
	many_us = median_us(many);
	ok((double)many_us < LIMIT * (double)few_us, "a claim takes no longer "
	    "beside %u keys than beside %u: %lld and %lld us [idem:F2]", MANY,
	    FEW, (long long)many_us, (long long)few_us);
}

/* --- what is left of them ------------------------------------------------- */

static void
swept(struct ledger *l)
{
	enum idem_state state = IDEM_STATE_ABSENT;
	long long before, kb;
	unsigned left;

	all(l, IDEM_STORE_RELEASE, 1000000, 1000000 + CLAIMS);
	poll(NULL, 0, 20);	/* longer than keep and tombstone */
	kb = rig_watch_memory_kb(getpid());
	sweep(l);		/* answers go, and tombstones stay */
	poll(NULL, 0, 20);
	sweep(l);		/* and then they go */
	left = count(l, &state);
	ok(left == 1 && state == IDEM_STATE_IN_PROGRESS, "of %u keys whose "
	    "time is over none is left, and the one in progress is: %u rows "
	    "[idem:F1]", MANY, left);
	before = size_of(l);
	all(l, IDEM_STORE_CLAIM, 2000000, 2000000 + MANY);
	ok(size_of(l) <= before * 3 / 2, "as many more take the room that they "
	    "had: %lld bytes after %lld [idem:F1]", size_of(l), before);
	if (!rig_watch_sanitized)
		ok(rig_watch_memory_kb(getpid()) - kb < 16384, "and little "
		    "memory [idem:F1]");
	is_int(l->failed, 0, "all was done that was asked for");
}

int
main(void)
{
	struct ledger few, many;
	struct rig rig;

	rig_open(&rig);
	open_ledger(&few, &rig, "few.db", FEW);
	open_ledger(&many, &rig, "many.db", MANY);
	as_quick(&few, &many);
	swept(&many);
	few.store->ops->close(few.store);
	many.store->ops->close(many.store);
	rig_end(&rig);
	return done();
}
