/* SPDX-License-Identifier: ISC */
/*
 * A failover loses the last n acknowledged writes: those, and no others.  One
 * client has eight orders placed, one after the other; each is two writes, the
 * claim and the completion.  The keys whose both are lost are started again
 * when they are asked for later, and nobody else's: the programs' journal says
 * so, whatever the simulator believes of itself.
 *
 * With LONG in the environment there are more runs.
 */
#include "live_rig.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS 8
#define SOME 3		/* of the numbers of writes */
#define RUNS_LONG 5

#define TOPOLOGY "redis = { a = {}, b = { replica_of = 'a' } }, gates = { " \
    "n = 2, arbiter = 'redis', store = 'a', config = { lease = '6s', " \
    "grace = '200ms', store_timeout = '5s', budget = '10s', " \
    "probe_every = '50ms', " \
    "local_cache = 'none', on_unknown = 'block' } }"
#define ORDERS "sim.closed { clients = 1, keys = sim.keys { n = 8, once = " \
    "true }, requests_per_client = 8 }"
#define FREEZE "sim.on(sim.reply('c1', { nth = 2 }), " \
    "sim.store.lag('b', 'freeze')), "
#define FAIL "sim.on(sim.reply('c1', { nth = 8 }), " \
    "sim.store.failover('a', 'b', { lose = %u }))"

/* How many of the last keys started again, if no other did; -1: one did. */
static int
again(const struct history *h)
{
	int n = 0, i;
	char key[8];

	for (i = KEYS; i >= 1; i--) {
		snprintf(key, sizeof key, "o%d", i);
		switch (live_rig_starts(h, key)) {
		case 2:
			if (n != KEYS - i)
				return -1;
			n++;
			break;
		case 1:
			break;
		default:
			return -1;
		}
	}
	return n;
}

static bool
has_lost(const struct live_rig_run *r, unsigned lose, unsigned fault)
{
	return !r->odd && r->point.verdict == JUDGE_PASS &&
	    live_rig_fired(r, fault) == 1 &&
	    live_rig_notes(&r->h, "lost_ack") == (long)lose &&
	    again(&r->h) == (int)lose / 2;
}

static bool
loses(unsigned lose, bool frozen, uint64_t seed, unsigned fault)
{
	char faults[300];
	const struct live_rig_plan plan = {
		"a failover loses its last writes", TOPOLOGY, ORDERS, faults,
		"relaxed = { at_most_once = 'it is lost' }, holds = { "
		"'no_cross_talk' }", 5, "quiet = 1000"
	};
	struct live_rig_run r;
	int tries = 1;
	bool good;

	snprintf(faults, sizeof faults, frozen ? FREEZE FAIL : FAIL, lose);
	live_rig_begin(&r, &plan, seed);
	while (!(good = has_lost(&r, lose, fault)) && live_rig_idle(&r) &&
	    tries++ < LIVE_RIG_TRIES) {
		note("once more: %s", r.point.message);
		live_rig_end(&r);
		live_rig_begin(&r, &plan, seed);
	}
	if (!good) {
		note("lose %u: fired %u, %ld noted, %d started again", lose,
		    live_rig_fired(&r, fault), live_rig_notes(&r.h,
		    "lost_ack"), again(&r.h));
		live_rig_tell(&r);
	}
	live_rig_end(&r);
	return good;
}

/* A plan whose run is to be vacuous. */
static void
begin_vacuous(struct live_rig_run *r, const struct live_rig_plan *plan)
{
	int tries = 1;

	live_rig_begin(r, plan, 1);
	while (live_rig_late(r) && tries++ < LIVE_RIG_TRIES) {
		note("once more: %s", r->point.message);
		live_rig_end(r);
		live_rig_begin(r, plan, 1);
	}
}

/* There is not so much that could be lost. */
static void
test_too_many(void)
{
	static const struct live_rig_plan plan = {
		"a failover is to lose more than there is", TOPOLOGY, ORDERS,
		"sim.on(sim.reply('c1', { nth = 2 }), "
		"sim.store.failover('a', 'b', { lose = 5 }))",
		"relaxed = { at_most_once = 'it is lost' }, holds = { "
		"'no_cross_talk' }", 5, "quiet = 1000"
	};
	struct live_rig_run r;

	begin_vacuous(&r, &plan);
	is(judge_text(r.point.verdict), judge_text(JUDGE_VACUOUS),
	    "where fewer were acknowledged the failover does not count");
	is_int(live_rig_notes(&r.h, "lost_ack"), 4, "what is lost is said");
	live_rig_end(&r);
}

/* Nobody knows what a replica has that does not hear its master. */
static void
test_apart(void)
{
	static const struct live_rig_plan plan = {
		"a failover to one that was cut off", TOPOLOGY, ORDERS,
		"sim.on(sim.reply('c1', { nth = 2 }), "
		"sim.net.refuse('b->a')), "
		"sim.on(sim.reply('c1', { nth = 8 }), "
		"sim.store.failover('a', 'b', { lose = 2 }))",
		"relaxed = { at_most_once = 'it is lost' }, holds = { "
		"'no_cross_talk' }", 5, "quiet = 1000"
	};
	struct live_rig_run r;

	begin_vacuous(&r, &plan);
	ok(!r.odd && r.point.verdict == JUDGE_VACUOUS &&
	    live_rig_fired(&r, 1) == 0,
	    "nor where the replica had been cut off before");
	live_rig_end(&r);
}

int
main(void)
{
	static const unsigned lose[] = { 1, 2, 6, 3, 11 };
	bool many = getenv("LONG") != NULL;
	int runs = many ? RUNS_LONG : 1, i;
	size_t n = many ? sizeof lose / sizeof *lose : SOME, j, good;
	bool frozen;

	live_rig_open();
	for (j = 0; j < 2 * n; j++) {
		frozen = j >= n;
		good = 0;
		for (i = 0; i < runs; i++)
			good += loses(lose[j % n], frozen, (uint64_t)i + 1,
			    frozen);
		is_int((long long)good, runs, "the last %u writes are lost, "
		    "and no others%s", lose[j % n], frozen ?
		    ", of a replica whose link had been frozen" : "");
	}
	test_too_many();
	test_apart();
	live_rig_close();
	return done();
}
