/* SPDX-License-Identifier: ISC */
/*
 * What is done to links and stores, twice each: where there is something that
 * it can strike, it counts, and what it does is to be seen at whom it struck;
 * where there is nothing, it does not count, and the run is vacuous.
 *
 * What is to be seen is a predicate over the history, in Lua: replies that an
 * instance got or did not, what the server said, what became of the records.
 */
#include "live_rig.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

/* Whoever has to wait for the processor is waited for: so a lease is long, and
   so is the time for an answer, but where one is lost, or must fail to come. */
#define GATE(timeout, budget) "gates = { n = 1, arbiter = 'redis', " \
    "store = 'a', config = { lease = '30s', grace = '200ms', " \
    "store_timeout = '" timeout "', budget = '" budget "', " \
    "probe_every = '50ms', local_cache = 'none' } }"
#define ALONE "redis = { a = {} }, " GATE("10s", "20s")
#define LOSSY "redis = { a = {} }, " GATE("300ms", "20s")
#define AWAY "redis = { a = {} }, " GATE("300ms", "1s")
#define PAIR "redis = { a = {}, b = { replica_of = 'a' } }, " \
    GATE("10s", "20s")
/* Two orders, and a look at the first. */
#define LOAD "sim.script { " \
    "{ at = 100, client = 'c1', send = { key = 'k' } }, " \
    "{ at = 700, client = 'c2', send = { key = 'k' } }, " \
    "{ at = 710, client = 'c3', send = { key = 'm' } } }"
/* One order, and then a look at it. */
#define AGAIN "sim.closed { clients = 1, keys = sim.keys { n = 1 }, " \
    "requests_per_client = 2 }"
#define LATE "sim.script { { at = 700, client = 'c3', send = { key = 'm' } } }"
/* Nobody comes before all is over. */
#define NOBODY "sim.script { { at = 450, client = 'c1', send = { key = 'k' } " \
    "} }"

#define AT(ms, act) "sim.on(sim.at(" #ms "), " act ")"
#define AFTER(client, act) "sim.on(sim.reply('" client "'), " act ")"
/* A frame of the first claim has gone over the link by then. */
#define CLAIMED(ms, phase, heal) ", sim.on(sim.all { sim.at(" #ms "), " \
    "sim.frame('g1->a', { script = 'claim', phase = '" phase "' }) }, " \
    heal ")"
#define UNTIL(ms, heal) ", sim.on(sim.at(" #ms "), " heal ")"

static const struct row {
	const char *what;
	const char *topology, *load;
	const char *hit;	/* faults that strike, under that load */
	const char *seen;	/* then that is true: Lua, of h */
	const char *miss;	/* faults that do not, under NOBODY; NULL: such
				   a one there is not */
} rows[] = {
	{ "a request that is lost", LOSSY, LOAD,
	  AT(0, "sim.net.drop('g1->a', { script = 'claim', dir = 'request' })"),
	  "h:count { kind = 'send', fate = 'lost', script = 'claim' } >= 1",
	  AT(0, "sim.net.drop('g1->a', { script = 'claim', dir = 'request' })")
	  UNTIL(300, "sim.net.heal('g1->a')") },
	{ "a reply that is lost", LOSSY, LOAD,
	  AT(0, "sim.net.drop('g1->a', { script = 'claim', dir = 'reply' })"),
	  /* carried out, and not heard; nor may be what is asked again on
	     the connection that is given up then */
	  "h:count { kind = 'store', script = 'claim', code = 'WON', k = 'k' }"
	  " == 1 and h:count { kind = 'recv', script = 'claim', "
	  "fate = 'lost' } >= 1",
	  AT(0, "sim.net.drop('g1->a', { script = 'claim', dir = 'reply' })")
	  UNTIL(300, "sim.net.heal('g1->a')") },
	{ "a reply that is held", LOSSY, LOAD,
	  AT(0, "sim.net.hold('g1->a', { script = 'claim', dir = 'reply' })"),
	  "h:count { kind = 'recv', script = 'claim', fate = 'held' } == 1",
	  AT(0, "sim.net.hold('g1->a', { script = 'claim', dir = 'reply' })")
	  UNTIL(300, "sim.net.heal('g1->a')") },
	{ "a reply that is late", ALONE, LOAD,
	  AT(0, "sim.net.delay('g1->a', 60, { script = 'claim', "
	  "dir = 'reply' })"),
	  "h:count { kind = 'recv', script = 'claim', fate = 'delayed' } > 0",
	  AT(0, "sim.net.delay('g1->a', 60, { script = 'claim', "
	  "dir = 'reply' })") UNTIL(300, "sim.net.heal('g1->a')") },
	{ "a delay that is over", ALONE, LOAD, NULL, NULL,
	  AT(0, "sim.net.delay('g1->a', 60, { script = 'claim', "
	  "dir = 'reply' })") UNTIL(300, "sim.net.delay('g1->a', 0)") },
	{ "a connection that ends in a reply", ALONE, LOAD,
	  AT(0, "sim.net.reset('g1->a', { script = 'claim', dir = 'reply', "
	  "after_bytes = 2 })"),
	  "h:count { kind = 'recv', script = 'claim', fate = 'cut' } == 1",
	  AT(0, "sim.net.reset('g1->a', { script = 'claim', dir = 'reply', "
	  "after_bytes = 2 })") UNTIL(300, "sim.net.heal('g1->a')") },
	{ "replies in pieces", ALONE, LOAD,
	  AT(0, "sim.net.slice('g1->a', 1, { dir = 'reply' })"),
	  "h:count { kind = 'recv', k = 'm', code = 'WON' } == 1 and "
	  "h:count { kind = 'ret', k = 'm', mark = 'stored' } == 1",
	  /* there is nothing that is longer */
	  AT(0, "sim.net.slice('g1->a', 900000, { dir = 'reply' })") },
	{ "requests that are lost one way", LOSSY, LATE,
	  AT(690, "sim.net.oneway('g1->a', 'request')")
	  CLAIMED(1200, "request", "sim.net.heal('g1->a')"),
	  "h:count { kind = 'send', fate = 'lost' } > 0 and "
	  "h:each { kind = 'store', k = 'm' }().ms >= 1200", NULL },
	{ "replies that are lost the other", LOSSY, LATE,
	  AT(690, "sim.net.oneway('g1->a', 'reply')")
	  CLAIMED(1200, "reply", "sim.net.heal('g1->a')"),
	  /* carried out, and not heard */
	  "h:each { kind = 'store', k = 'm' }().i < "
	  "h:each { kind = 'heal' }().i and "
	  "h:each { kind = 'recv', k = 'm' }().fate == 'lost'", NULL },
	{ "a link that refuses", AWAY, LOAD,
	  AT(500, "sim.net.refuse('g1->a')") ", "
	  AFTER("c3", "sim.net.heal('g1->a')"),
	  "h:count { kind = 'ret', client = 'c3', mark = 'not-started' } == 1",
	  NULL },
	{ "an error of ours in a reply's place", ALONE, LOAD,
	  AT(0, "sim.net.error('g1->a', 'OOM', { script = 'claim' })"),
	  /* and the server has never seen it */
	  "h:count { kind = 'recv', script = 'claim', fate = 'answered' } + "
	  "h:count { kind = 'send', script = 'claim', fate = 'answered' } > 0",
	  AT(0, "sim.net.error('g1->a', 'OOM', { script = 'claim' })")
	  UNTIL(300, "sim.net.heal('g1->a')") },
	{ "all connections that end", ALONE, LOAD,
	  AT(500, "sim.net.reset('g1->a')"), "true", NULL },
	{ "a server that is killed", AWAY, LOAD,
	  AT(500, "sim.store.kill('a')") ", "
	  AFTER("c3", "sim.store.restart('a')"),
	  "h:count { kind = 'exit', p = 'a' } == 1 and "
	  "h:count { kind = 'ret', client = 'c3', mark = 'not-started' } == 1",
	  NULL },
	{ "a server that is killed a second time", ALONE, LOAD, NULL, NULL,
	  AT(100, "sim.store.kill('a')") ", " AT(150,
	  "sim.store.kill('a')") ", " AT(200, "sim.store.restart('a')") },
	{ "an instance that is killed a second time", ALONE, LOAD, NULL, NULL,
	  AT(100, "sim.proc.kill('g1')") ", " AT(150,
	  "sim.proc.kill('g1')") ", " AT(200, "sim.proc.restart('g1')") },
	{ "a server that is killed twice at once", ALONE, LOAD, NULL, NULL,
	  AT(100, "sim.store.kill('a'), sim.store.kill('a')") ", "
	  AT(200, "sim.store.restart('a')") },
	{ "a server that stands still", ALONE, LOAD,
	  AT(600, "sim.store.pause('a'), sim.after(300, "
	  "sim.store.resume('a'))"),
	  "h:count { kind = 'recv', k = 'm', code = 'WON' } <= 1", NULL },
	{ "one that is dead and is to stand still", ALONE, LOAD, NULL, NULL,
	  AT(100, "sim.store.kill('a')") ", " AT(150,
	  "sim.store.pause('a')") ", " AT(200, "sim.store.restart('a')") },
	{ "a slow store", ALONE, LOAD,
	  AT(90, "sim.store.slow('a', 20)"),
	  "h:count { kind = 'recv', k = 'm', code = 'WON' } == 1",
	  AT(200, "sim.store.slow('a', 20)") UNTIL(220,
	  "sim.store.slow('a', 0)") },
	{ "a store that says LOADING", ALONE, LOAD,
	  AT(0, "sim.store.error('a', 'LOADING', { times = 1, "
	  "script = 'claim' })"),
	  "h:count { kind = 'send', script = 'claim', fate = 'answered' } == 1",
	  AT(0, "sim.store.error('a', 'LOADING', { times = 1, "
	  "script = 'claim' })") UNTIL(300, "sim.net.heal('g1->a')") },
	{ "a server without memory", ALONE, LOAD,
	  AT(50, "sim.store.oom('a')")
	  CLAIMED(500, "reply", "sim.store.oom('a', false)"),
	  /* itself says so */
	  "h:each { kind = 'store', p = 'a', script = 'claim', k = 'k' }().code"
	  ":sub(1, 4) == '-OOM'", NULL },
	{ "a server whose data goes", ALONE, AGAIN,
	  AFTER("c1", "sim.store.flush('a')"),
	  "h:count { kind = 'store', k = 'k1', script = 'claim', code = "
	  "'WON' } == 2", AT(100, "sim.store.flush('a')") },
	{ "a record that goes", ALONE, AGAIN,
	  AFTER("c1", "sim.store.evict('a', 'k1')"),
	  "h:count { kind = 'store', k = 'k1', script = 'claim', code = "
	  "'WON' } == 2", AT(100, "sim.store.evict('a', 'k')") },
	{ "any record that goes", ALONE, AGAIN,
	  AFTER("c1", "sim.store.evict('a')"),
	  "h:count { kind = 'store', k = 'k1', script = 'claim', code = "
	  "'WON' } == 2", AT(100, "sim.store.evict('a')") },
	{ "a record that expires", ALONE, AGAIN,
	  AFTER("c1", "sim.store.expire('a', 'k1')"),
	  "h:count { kind = 'store', k = 'k1', script = 'claim', code = "
	  "'WON' } == 2", AT(100, "sim.store.expire('a', 'k')") },
	{ "scripts that go", ALONE, LOAD,
	  AT(500, "sim.store.script_flush('a')"),
	  "h:count { kind = 'store', p = 'a', code = '-NOSCRIPT No matching "
	  "script. Please use EVAL.' } > 0",
	  AT(100, "sim.store.script_flush('a')") ", "
	  AT(150, "sim.store.script_flush('a')") },
	{ "a replica that hears nothing", PAIR, LOAD,
	  AT(50, "sim.store.lag('b', 'freeze')"), "true",
	  AT(50, "sim.store.lag('b', 'freeze')")
	  UNTIL(300, "sim.store.lag('b', 0)") },
	{ "a replica that hears late", PAIR, LOAD,
	  AT(50, "sim.store.lag('b', 50)"), "true",
	  AT(50, "sim.store.lag('b', 50)")
	  UNTIL(300, "sim.store.lag('b', 0)") },
	{ "a replica's link that is held", PAIR, LOAD,
	  AT(50, "sim.net.hold('b->a')"), "true", NULL },
	{ "a replica's link that loses what comes from its master", PAIR, LOAD,
	  AT(50, "sim.net.oneway('b->a', 'reply')"), "true",
	  AT(50, "sim.net.refuse('b->a')") ", "
	  AT(60, "sim.net.oneway('b->a', 'reply')") UNTIL(300,
	  "sim.net.heal('b->a')") },
	{ "a replica's link that ends", PAIR, LOAD,
	  AT(50, "sim.net.reset('b->a')"), "true",
	  AT(50, "sim.net.refuse('b->a')") ", "
	  AT(60, "sim.net.reset('b->a')") UNTIL(300,
	  "sim.net.heal('b->a')") }
};

/* Was each of them seen? */
static size_t
not_fired(const struct live_rig_run *r)
{
	size_t i, n = 0;

	for (i = 0; i < r->h.head.faults_n; i++)
		n += r->h.head.faults[i].must == 1 &&
		    r->h.head.faults[i].fired == 0;
	return n;
}

static void
run_hit(const struct row *row)
{
	char expect[600];
	const struct live_rig_plan plan = {
		row->what, row->topology, row->load, row->hit, expect, 5,
		"quiet = 2000"
	};
	struct live_rig_run r;
	int tries = 1;
	bool good;

	snprintf(expect, sizeof expect, "relaxed = { at_most_once = 'so' }, "
	    "holds = { 'no_cross_talk' }, sometimes = { seen = function(h) "
	    "return %s end }", row->seen);
	live_rig_begin(&r, &plan, 7);
	while (!(good = !r.odd && r.point.verdict == JUDGE_PASS &&
	    not_fired(&r) == 0) && live_rig_idle(&r) &&
	    tries++ < LIVE_RIG_TRIES) {
		note("once more: %s", r.point.message);
		live_rig_end(&r);
		live_rig_begin(&r, &plan, 7);
	}
	if (!ok(good, "%s is seen where it strikes", row->what))
		live_rig_tell(&r);
	live_rig_end(&r);
}

static void
run_miss(const struct row *row)
{
	const struct live_rig_plan plan = {
		row->what, row->topology, NOBODY, row->miss,
		"relaxed = { at_most_once = 'so' }, holds = { "
		"'no_cross_talk' }", 5, "quiet = 2000"
	};
	struct live_rig_run r;
	int tries = 1;
	bool good;

	live_rig_begin(&r, &plan, 7);
	while (!(good = !r.odd && r.point.verdict == JUDGE_VACUOUS &&
	    not_fired(&r) == 1) && live_rig_idle(&r) &&
	    tries++ < LIVE_RIG_TRIES) {
		note("once more: %s", r.point.message);
		live_rig_end(&r);
		live_rig_begin(&r, &plan, 7);
	}
	if (!ok(good,
	    "%s does not count where there is nothing", row->what))
		live_rig_tell(&r);
	live_rig_end(&r);
}

int
main(void)
{
	size_t i;

	live_rig_open();
	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (rows[i].hit != NULL)
			run_hit(&rows[i]);
		if (rows[i].miss != NULL)
			run_miss(&rows[i]);
	}
	live_rig_close();
	return done();
}
