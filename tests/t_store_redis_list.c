/* SPDX-License-Identifier: ISC */
#include "redis_store.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * LIST and SWEEP over many keys of one server, and of a cluster: key k<i> is in
 * progress, and completed and past its keep if i is a multiple of 3.
 */
#define KEYS 1500u
#define KEYS_SPREAD 300u
#define NODES 3u
#define CALLS_MAX 2000u

static struct redis_rig one, nodes[NODES];

static bool
is_completed(unsigned i)
{
	return i % 3 == 0;
}

static void
line_of(unsigned i, bool completed, char *line, size_t line_size)
{
	if (completed)
		snprintf(line, line_size,
		    "complete k%u o1 1 A keep=1 tombstone=600000", i);
	else
		snprintf(line, line_size, "claim k%u o1 f1 g1", i);
}

/* Started all at once, then waited for. */
static void
say_all(struct redis_store *s, unsigned n, bool completed)
{
	struct trace_asked *asked = calloc(n + 1, sizeof *asked);
	unsigned i, step = completed ? 3 : 1, bad = 0;
	char line[100];

	if (asked == NULL)
		bail_out("no memory");
	for (i = step; i <= n; i += step) {
		line_of(i, completed, line, sizeof line);
		redis_store_start(s, &asked[i], line);
	}
	for (i = step; i <= n; i += step) {
		trace_await(&s->t, &asked[i]);
		bad += strcmp(asked[i].out, completed ? "written" :
		    "won 1") != 0;
	}
	free(asked);
	if (bad > 0)
		bail_out("%u of the keys are not as they should be", bad);
}

static void
make_keys(struct redis_store *s, unsigned n)
{
	say_all(s, n, false);
	say_all(s, n, true);
}

static unsigned
number_of(const struct idem_digest *key)
{
	return key->at[IDEM_DIGEST_LEN - 2] * 256u +
	    key->at[IDEM_DIGEST_LEN - 1];
}

static struct idem_store_call
list_of(struct redis_store *s, uint32_t states, uint32_t max)
{
	return (struct idem_store_call){
		.op = IDEM_STORE_LIST,
		.states = states,
		.max = max,
		.deadline_ms = idem_boot_ms(&s->t.clock) + 600000,
	};
}

/* --- LIST ----------------------------------------------------------------- */

/* Page after page; how often each key was seen, and if all was as it should. */
static bool
walk(struct redis_store *s, struct idem_store_call call, uint8_t *seen,
    unsigned *calls)
{
	struct idem_store_answer a;
	bool good = true, more = true;
	uint32_t i;

	for (*calls = 0; good && more && *calls < CALLS_MAX; ++*calls) {
		idem_store_wait(s->t.store, &call, &a);
		good = a.result.class == IDEM_OK && a.result.count <= call.max;
		if (!good)
			note("%s, %u rows", a.error != NULL ? a.error : "",
			    a.result.count);
		for (i = 0; i < a.result.count; i++) {
			seen[number_of(&a.listed[i].key)]++;
			good &= call.any_order || i == 0 ||
			    memcmp(&a.listed[i - 1].key, &a.listed[i].key,
			    IDEM_DIGEST_LEN) < 0;
		}
		more = a.result.more;
		call.cursor = a.result.cursor;
		if (a.result.count > 0)
			call.key = a.listed[a.result.count - 1].key;
		idem_store_answer_free(&a);
	}
	return good && !more;
}

static void
test_list(struct redis_store *s, unsigned n, const char *where)
{
	const uint32_t open = 1u << IDEM_STATE_IN_PROGRESS;
	uint8_t *seen = calloc(n + 1, 1);
	unsigned i, wrong = 0, missing = 0, calls;
	struct idem_store_call call = list_of(s, open, 100);

	if (seen == NULL)
		bail_out("no memory");
	ok(walk(s, call, seen, &calls), "%s: a list goes on page by page in "
	    "the order of keys", where);
	for (i = 1; i <= n; i++)
		wrong += seen[i] != !is_completed(i);
	is_int(wrong, 0, "%s: and has every key in the states asked for once",
	    where);
	memset(seen, 0, n + 1);
	call.any_order = true;
	ok(walk(s, call, seen, &calls), "%s: one in any order is no longer "
	    "than it was asked for", where);
	for (i = 1; i <= n; i++) {
		missing += seen[i] == 0 && !is_completed(i);
		wrong += seen[i] > 0 && is_completed(i);
	}
	is_int(missing + wrong, 0, "%s: and misses no key", where);
	note("%u calls for %u keys", calls, n);
	free(seen);
}

/* Where a record would be, two that are none. */
static void
test_no_text(struct redis_store *s)
{
	static const char zeroes[] = "00000000000000000000000000000000000000"
	    "00000000000000000000";
	struct idem_store_call call =
	    list_of(s, 1u << IDEM_STATE_UNKNOWN, 100);
	uint8_t seen[KEYS + 1] = { 0 };
	char key[2][80];
	unsigned calls;

	snprintf(key[0], sizeof key[0], "idem:6b%s0001", zeroes);
	snprintf(key[1], sizeof key[1], "idem:6b%s0002", zeroes);
	redis_rig_say(&one, "DEL", key[0], key[1], NULL);
	redis_rig_say(&one, "RPUSH", key[0], "x", NULL);
	redis_rig_say(&one, "SET", key[1], "x", NULL);
	call.any_order = true;
	ok(walk(s, call, seen, &calls), "a list passes by what is no record");
	is(redis_rig_say(&one, "TYPE", key[0], NULL), "list",
	    "and leaves it, too");
}

static void
test_others(struct redis_store *s)
{
	redis_rig_say(&one, "SET", "idem:", "x", NULL);
	redis_rig_say(&one, "SET", "idem:x", "x", NULL);
	redis_rig_say(&one, "SET", "mine", "x", NULL);
	redis_rig_say(&one, "SET", "other:6b0000000000000000000000000000000000"
	    "000000000000000000000000000001", "x", NULL);
	redis_rig_say(&one, "SET", "idem:6b00000000000000000000000000000000000"
	    "0000000000000000000000000zzzz", "x", NULL);
	is(redis_store_say(s, "list all rows=3"), "k1 k2 k3 more",
	    "keys that are no record's are in no list");
	is(redis_rig_say(&one, "GET", "idem:x", NULL), "x",
	    "and left as they are");
	test_no_text(s);
}

/* --- SWEEP ---------------------------------------------------------------- */

static void
test_sweep(struct redis_store *s, unsigned n, const char *where)
{
	struct idem_store_call call = list_of(s, 0, 0);
	struct idem_store_answer a;
	unsigned swept = 0, calls;

	call.op = IDEM_STORE_SWEEP;
	for (calls = 0; swept < n / 3 && calls < CALLS_MAX; calls++) {
		idem_store_wait(s->t.store, &call, &a);
		swept += a.result.count;
		if (a.result.class != IDEM_OK)
			note("%s", a.error);
		idem_store_answer_free(&a);
	}
	is_int(swept, n / 3, "%s: sweeps reach every key past its keep", where);
	ok(calls <= n / 50 + 2 * NODES, "%s: a part of them each", where);
	note("%u calls for %u keys", calls, n);
}

/* ------------------------------------------------------------------------- */

static void
test_one(void)
{
	struct redis_store s = { .server = &one };

	redis_rig_start(&one, NULL);
	redis_store_open(&s);
	make_keys(&s, KEYS);
	test_list(&s, KEYS, "one server");
	test_sweep(&s, KEYS, "one server");
	test_others(&s);
	redis_store_close(&s);
	redis_rig_end(&one);
}

static void
test_cluster(void)
{
	struct redis_store s = {
		.server = &nodes[1],
		.client_options.topology = IDEM_REDIS_CLUSTER,
		.options.token = true,
	};
	struct idem_history history;
	unsigned i, used = 0;

	redis_rig_cluster(nodes, NODES, (const char *[]){
	    "--cluster-node-timeout", "60000", NULL });
	redis_store_open(&s);
	make_keys(&s, KEYS_SPREAD);
	for (i = 0; i < NODES; i++)
		used += redis_store_info(&nodes[i], "keyspace", "keys=") > 0;
	is_int(used, NODES, "keys are on every master of a cluster "
	    "[idem:C10]");
	test_list(&s, KEYS_SPREAD, "cluster");
	test_sweep(&s, KEYS_SPREAD, "cluster");
	is(redis_store_say(&s, "settle forget k1 o9 o1 1"), "written",
	    "a word of the operator's is counted there");
	ok(s.t.store->ops->purges(s.t.store) == 1, "once");
	ok(!s.t.store->ops->history(s.t.store, &history),
	    "a cluster as a whole has no history: each master has");
	redis_store_close(&s);
	for (i = 0; i < NODES; i++)
		redis_rig_end(&nodes[i]);
}

int
main(void)
{
	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	test_one();
	test_cluster();
	return done();
}
