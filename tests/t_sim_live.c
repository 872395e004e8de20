/* SPDX-License-Identifier: ISC */
/*
 * Small plans in the live world: real instances of idemd, a real Redis, a real
 * program, and what is done to them.  A row each.
 */
#include "live_rig.h"
#include "tap.h"

#include <string.h>
#include <time.h>

#define RUNS_A_SECOND 20
#define FAST_RUNS 40
#define SERVICE_MS 5
#define SEED 42
#define QUIET "quiet = 5000"

#define REDIS_OF(times) "redis = { a = {} }, gates = { n = 2, arbiter = " \
    "'redis', store = 'a', config = { " times ", grace = '200ms', " \
    "probe_every = '100ms' } }"
/* Who has to wait for the processor is waited for, but where an answer must
   fail to come. */
#define REDIS REDIS_OF("lease = '30s', store_timeout = '10s', budget = '20s'")
#define LOSSY REDIS_OF("lease = '600ms', store_timeout = '100ms'")
#define FAILS(label, error) "sim.on(sim.label('g1', '" label "'), " \
    "sim.proc.fail('g1', '" error "'))"
#define KEPT "holds = { 'at_most_once', 'same_answer', 'ack_durable' }, " \
    "eventually = { 'resolves', 'new_keys_succeed' }"

/* In that order, of the key. */
#define TELLS(first, then) "holds = { 'at_most_once' }, sometimes = { told = " \
    "function(h) local seen = 0 for e in h:each { kind = 'lbl', k = 'k' } " \
    "do if seen == 0 and " first " then seen = 1 elseif seen == 1 and " \
    then " then seen = 2 end end return seen == 2 end }"
#define TOKENS "redis = { a = {} }, gates = { n = 2, arbiter = 'token', " \
    "store = 'a' }"
#define SPOILT(how) "{ at = 600, client = 'c3', send = { key = 'k', token = " \
    "'" how "' } }"
#define ANSWERED(key, status, mark) "['" key " is " mark "'] = function(h) " \
    "return h:count { kind = 'ret', k = '" key "', status = " status ", " \
    "mark = '" mark "' } > 0 end"

static const struct row {
	const char *what;	/* true of it */
	const char *topology, *load, *faults, *expect;
	enum judge_verdict verdict;
	const char *invariant;	/* of a violation */
	long starts;		/* of k's program; -1: any number */
	int service_ms;		/* 0: SERVICE_MS */
} rows[] = {
	{ "one request runs once",
	  LEDGER, ONE, "", "holds = { 'at_most_once', 'no_cross_talk' }, "
	  "eventually = { 'new_keys_succeed' }", JUDGE_PASS, NULL, 1, 0 },
	{ "whose key it is at a ledger its instance tells",
	  LEDGER, ONE, "", TELLS("e.at == 'run.begin' and e.p == 'g1'",
	  "e.at == 'complete.ok'"), JUDGE_PASS, NULL, 1, 0 },
	{ "also where it gives it back",
	  LEDGER, ONE, FAILS("program.spawn", "EAGAIN"),
	  TELLS("e.at == 'run.begin'", "e.at == 'release.ok'"), JUDGE_PASS,
	  NULL, 1, 0 },
	{ "of another arbiter's the commands are seen",
	  REDIS, ONE, "", "holds = { 'at_most_once' }, sometimes = { no_label"
	  " = function(h) return h:count { kind = 'lbl' } == 0 end }",
	  JUDGE_PASS, NULL, 1, 0 },
	{ "one request runs once with a Redis as arbiter",
	  REDIS, ONE, "", "holds = { 'at_most_once', 'no_cross_talk' }, "
	  "eventually = { 'new_keys_succeed' }", JUDGE_PASS, NULL, 1, 0 },
	{ "one request runs once with a token",
	  "redis = { a = {} }, gates = { n = 1, arbiter = 'token', "
	  "store = 'a' }", ONE, "", "holds = { 'at_most_once' }, "
	  "eventually = { 'new_keys_succeed' }", JUDGE_PASS, NULL, 1, 0 },
	{ "a token that its client asks for runs once, and what is made of it "
	  "does not", TOKENS, "sim.script { { at = 0, client = 'c1', send = { "
	  "key = 'k', from = 'mint', to = 'g1' } }, { at = 300, client = 'c2', "
	  "send = { key = 'k', to = 'g2' } }, " SPOILT("forged") ", "
	  SPOILT("unissued") ", " SPOILT("elsewhere") " }",
	  "", "holds = { 'at_most_once', 'same_answer', 'answers_honest' }, "
	  "eventually = { 'resolves', 'new_keys_succeed' }, sometimes = { "
	  ANSWERED("k", "200", "replayed") ", "
	  ANSWERED("k.forged", "403", "rejected") ", "
	  ANSWERED("k.unissued", "409", "void-token") ", "
	  ANSWERED("k.elsewhere", "403", "rejected") " }",
	  JUDGE_PASS, NULL, 1, 0 },
	{ "a form that is submitted twice runs once",
	  TOKENS, "sim.script { { at = 0, client = 'c1', get = { key = 'k', "
	  "from = 'form' } }, { at = 0, client = 'c1', send = { key = 'k', "
	  "body = 'item=1', to = 'g1' } }, { at = 300, client = 'c1', send = { "
	  "key = 'k', body = 'item=1', to = 'g2' } } }",
	  "", "holds = { 'at_most_once', 'same_answer' }, eventually = { "
	  "'resolves' }, sometimes = { " ANSWERED("k", "200", "replayed") " }",
	  JUDGE_PASS, NULL, 1, 0 },
	{ "a client's keys of a style are its own",
	  REDIS, "sim.storm { clients = 4, keys = sim.keys { n = 2, from = "
	  "'business' } }, sim.closed { clients = 2, keys = sim.keys { once = "
	  "true, from = 'composite' } }, sim.script { { at = 0, client = 'c1', "
	  "send = { key = 'k', from = 'uuid' } } }", "",
	  "holds = { 'at_most_once', 'no_cross_talk' }, eventually = { "
	  "'new_keys_succeed' }, sometimes = { " ANSWERED("o2", "200", "stored")
	  " }", JUDGE_PASS, NULL, 1, 0 },
	{ "an instance that is killed before its program begins is harmless",
	  LEDGER, TWO, "sim.on(sim.label('g1', 'claim.ok', { key = 'k' }), "
	  "sim.proc.kill('g1'), sim.after(200, sim.proc.restart('g1')))",
	  SAFE, JUDGE_PASS, NULL, -1, 0 },
	{ "an instance that is killed after the effect is harmless",
	  LEDGER, TWO, "sim.on(sim.label('g1', 'effect.after', { key = 'k' }),"
	  " sim.proc.kill('g1'), sim.after(200, sim.proc.restart('g1')))",
	  SAFE, JUDGE_PASS, NULL, 1, 0 },
	{ "an instance that is killed as it answers is harmless",
	  LEDGER, TWO, "sim.on(sim.label('g1', 'reply.first_byte', "
	  "{ key = 'k' }), "
	  "sim.proc.kill('g1'), sim.after(200, sim.proc.restart('g1')))",
	  SAFE, JUDGE_PASS, NULL, 1, 0 },
	{ "a reply of the arbiter that is lost is harmless",
	  LOSSY, TWO, "sim.on(sim.at(0), sim.net.drop('g1->a', "
	  "{ dir = 'reply', script = 'claim' }))",
	  KEPT, JUDGE_PASS, NULL, -1, 0 },
	{ "a cache that is killed and comes back is harmless",
	  LEDGER, TWO, "sim.on(sim.label('g1', 'program.spawned'), "
	  "sim.store.kill('a'), sim.after(300, sim.store.restart('a', "
	  "{ empty = true })))", KEPT, JUDGE_PASS, NULL, 1, 0 },
	{ "an instance that is paused goes on",
	  LEDGER, TWO, "sim.on(sim.label('g1', 'program.spawned'), "
	  "sim.proc.pause('g1'), sim.after(300, sim.proc.resume('g1')))",
	  KEPT, JUDGE_PASS, NULL, -1, 0 },
	{ "the end of power is harmless",
	  LEDGER, TWO, "sim.on(sim.label('g1', 'effect.after'), "
	  "sim.disk.power_loss('g1'))", SAFE, JUDGE_PASS, NULL, -1, 0 },
	{ "an operator settles what is unknown",
	  LEDGER, TWO, "sim.on(sim.label('g1', 'effect.after', { key = 'k' }),"
	  " sim.proc.kill('g1'), sim.after(200, sim.proc.restart('g1')), "
	  "sim.after(400, sim.operator.resolve('k', 'done')))",
	  SAFE, JUDGE_PASS, NULL, 1, 0 },
	{ "a client that goes away is harmless",
	  LEDGER, TWO, "sim.on(sim.label('g1', 'effect.before'), "
	  "sim.client.give_up('c1'))", SAFE, JUDGE_PASS, NULL, 1, 0 },
	/* A fifth of a second each would be twelve in all. */
	{ "a client that is refused tries again when he said",
	  "gates = { n = 1, arbiter = 'ledger' }", "sim.closed { clients = 1, "
	  "keys = sim.keys { n = 1 }, retry = sim.retry { max = 60, backoff = "
	  "'const', base = 1, on = { 'unavailable' } } }",
	  "sim.on(sim.at(0), sim.proc.kill('g1'))",
	  "fired = 'any', holds = { 'at_most_once', sim.invariant('at once', "
	  "function(h) for e in h:each { kind = 'ret', a = 60 } do "
	  "return e.ms < 10000, e.ms .. ' ms' end return false, 'no try' end) "
	  "}", JUDGE_PASS, NULL, -1, 0 },
	{ "a client that reads slowly gets all of its answer",
	  LEDGER, "sim.script { { at = 0, client = 'c1', slow = 10, send = { "
	  "key = 'k' } } }", "", "holds = { 'at_most_once', 'no_cross_talk' "
	  "}, sometimes = { slow = function(h) for e in h:each { kind = 'ret',"
	  " a = 1, class = 'ok' } do return e.ms > 150 end return false end }",
	  JUDGE_PASS, NULL, 1, 0 },
	{ "a key that a Redis has lost runs twice, and that is told",
	  REDIS, TWO, "sim.on(sim.reply('c1'), sim.store.flush('a'))",
	  "holds = { 'at_most_once' }", JUDGE_FAIL, "at_most_once", 2, 0 },
	{ "it is what a negative control wants",
	  REDIS, TWO, "sim.on(sim.reply('c1'), sim.store.flush('a'))",
	  "violates = { 'at_most_once' }", JUDGE_PASS, NULL, 2, 0 },
	{ "a scheme that asks first and stores later lets two begin",
	  "redis = { a = {} }, gates = { n = 2, arbiter = 'redis', "
	  "store = 'a', config = { scheme = 'check' } }",
	  "sim.script { { at = 0, client = 'c1', send = { key = 'k' } }, "
	  "{ at = 0, client = 'c2', send = { key = 'k' } } }", "",
	  "violates = { 'at_most_once' }", JUDGE_PASS, NULL, 2, 1000 },
	{ "what a failover has lost runs twice, and that is told",
	  "redis = { a = {}, b = { replica_of = 'a' } }, gates = { n = 2, "
	  "arbiter = 'redis', store = 'a', config = { probe_every = '100ms' } "
	  "}", TWO, "sim.on(sim.at(0), sim.store.lag('b', 'freeze')), "
	  "sim.on(sim.reply('c1'), sim.store.failover('a', 'b', { lose = 2 }))",
	  "violates = { 'at_most_once' }, sometimes = { lost = function(h) "
	  "return h:count { kind = 'store', note = 'lost_ack' } > 0 end }",
	  JUDGE_PASS, NULL, 2, 0 },
	{ "a request through lighttpd runs once",
	  "gates = { n = 1, arbiter = 'ledger', ledger = 'shared', "
	  "front = 'lighttpd' }", ONE, "", "holds = { 'at_most_once', "
	  "'no_cross_talk' }", JUDGE_PASS, NULL, 1, 0 },
	{ "an instance is killed at a frame of its link",
	  LEDGER, TWO, "sim.on(sim.frame('g1->a', { cmd = 'SET' }), "
	  "sim.proc.kill('g1'), sim.after(100, sim.proc.restart('g1')))",
	  KEPT, JUDGE_PASS, NULL, 1, 0 },
	{ "a fault at a label that nobody comes to makes it vacuous",
	  LEDGER, ONE, "sim.on(sim.label('g2', 'effect.before'), "
	  "sim.proc.kill('g2'))", SAFE, JUDGE_VACUOUS, NULL, 1, 0 },
	{ "a rule that no frame fits makes it vacuous",
	  LEDGER, ONE, "sim.on(sim.at(0), sim.net.drop('g1->a', "
	  "{ script = 'renew' }))", SAFE, JUDGE_VACUOUS, NULL, 1, 0 },
	{ "a note that cannot be written is harmless",
	  LEDGER, TWO, FAILS("note.write", "ENOSPC"), KEPT, JUDGE_PASS, NULL,
	  1, 0 },
	{ "a commit that fails is harmless",
	  LEDGER, TWO, FAILS("ledger.commit", "ENOSPC"), KEPT, JUDGE_PASS,
	  NULL, -1, 0 },
	{ "a program that cannot be started is harmless",
	  LEDGER, TWO, FAILS("program.spawn", "EAGAIN"), KEPT, JUDGE_PASS,
	  NULL, 1, 0 },
	{ "an answer that cannot be kept is harmless",
	  LEDGER, TWO, FAILS("spool.write", "EIO"), KEPT, JUDGE_PASS, NULL,
	  1, 0 },
	{ "an answer that cannot be sent is harmless",
	  LEDGER, TWO, FAILS("reply.write", "ECONNRESET"), KEPT, JUDGE_PASS,
	  NULL, 1, 0 },
	{ "an answer that is sent later is harmless",
	  LEDGER, TWO, FAILS("reply.write", "EAGAIN"), KEPT, JUDGE_PASS,
	  NULL, 1, 0 }
};

/* --- rows ----------------------------------------------------------------- */

static bool
is_as_told(const struct row *row, const struct live_rig_run *r)
{
	const struct judge_run *worst = &r->point.worst;

	return !r->odd && r->point.verdict == row->verdict &&
	    (row->starts < 0 || live_rig_starts(&r->h, "k") == row->starts) &&
	    (row->invariant == NULL || (worst->by_check &&
	    strcmp(plan_invariant_text(worst->finding.invariant),
	    row->invariant) == 0));
}

static struct live_rig_plan
plan_of(const struct row *row)
{
	return (struct live_rig_plan){
		row->what, row->topology, row->load, row->faults, row->expect,
		row->service_ms > 0 ? row->service_ms : SERVICE_MS, QUIET
	};
}

/* Where the second comes, as a script's does by its time, the first is over; or
   the row's moment has passed. */
static bool
is_overtaken(const struct live_rig_run *r)
{
	const struct history_event *e;
	size_t i;

	for (i = 0; i < r->h.n; i++) {
		e = &r->h.events[i];
		if (e->kind == HISTORY_RET && e->a == 1)
			return false;
		if (e->kind == HISTORY_INV && e->a == 2)
			return true;
	}
	return false;
}

/* A control that shows nothing is blamed on no invariant.  Where one is broken,
   or a history is odd, nothing that came too late excuses it. */
static bool
says_nothing(const char *load, const struct live_rig_run *r)
{
	bool failed = r->point.verdict == JUDGE_FAIL;

	if (r->odd || (failed && r->point.worst.by_check))
		return live_rig_idle(r);
	return live_rig_idle(r) || failed || (strcmp(load, TWO) == 0 &&
	    is_overtaken(r));
}

static void
run_row(const struct row *row)
{
	const struct live_rig_plan plan = plan_of(row);
	struct live_rig_run r;
	int tries = 1;
	bool good;

	live_rig_begin(&r, &plan, SEED);
	while (!(good = is_as_told(row, &r)) && says_nothing(row->load, &r) &&
	    tries++ < LIVE_RIG_TRIES) {
		note("once more: %s", r.point.message);
		live_rig_end(&r);
		live_rig_begin(&r, &plan, SEED);
	}
	if (!ok(good, "%s", row->what)) {
		note("%ld starts", live_rig_starts(&r.h, "k"));
		live_rig_tell(&r);
	}
	live_rig_end(&r);
}

/* --- what is run again ---------------------------------------------------- */

/* Its second client has come before the first is answered; what else is true of
   it, and is it run again? */
static const struct again {
	const char *what;
	const char *load;
	enum judge_verdict verdict;
	bool by_check, hasty, stalled, odd;
	bool again;
} agains[] = {
	{ "that passes and was overtaken", TWO, JUDGE_PASS,
	  false, false, false, false, true },
	{ "that passes", ONE, JUDGE_PASS, false, false, false, false, false },
	{ "that passes and was held up", ONE, JUDGE_PASS,
	  false, false, true, false, true },
	{ "that breaks a promise, though it was overtaken", TWO, JUDGE_FAIL,
	  true, false, false, false, false },
	{ "that breaks a promise, though it was held up", TWO, JUDGE_FAIL,
	  true, false, true, false, false },
	{ "that breaks a promise in time", ONE, JUDGE_FAIL,
	  true, true, false, false, true },
	{ "that is a control and shows nothing", ONE, JUDGE_FAIL,
	  false, false, false, false, true },
	{ "that was cut", ONE, JUDGE_INCONCLUSIVE,
	  false, true, false, false, true },
	{ "that was cut and is odd", TWO, JUDGE_INCONCLUSIVE,
	  false, true, true, true, false },
	{ "that is vacuous", ONE, JUDGE_VACUOUS,
	  false, false, false, false, true },
	{ "that is vacuous and odd", TWO, JUDGE_VACUOUS,
	  false, false, false, true, false }
};

static void
run_again(const struct again *a)
{
	struct history_event events[] = {
		{ .kind = HISTORY_INV, .a = 1 },
		{ .kind = HISTORY_INV, .a = 2 },
		{ .kind = HISTORY_NOTE, .label = "stall" }
	};
	const struct live_rig_run r = {
		.h = { .events = events, .n = a->stalled ? 3 : 2 },
		.point = { .verdict = a->verdict, .worst = {
			.verdict = a->verdict, .by_check = a->by_check,
			.hasty = a->hasty } },
		.odd = a->odd
	};

	ok(says_nothing(a->load, &r) == a->again, "a run %s is %s", a->what,
	    a->again ? "done again" : "not done again");
}

/* --- what is no row ------------------------------------------------------- */

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Of the first of that lane; 0: it is not told. */
static int64_t
pid_of(const struct history *h, const char *p)
{
	size_t i;

	for (i = 0; i < h->n; i++)
		if (h->events[i].kind == HISTORY_SPAWN &&
		    strcmp(h->events[i].p, p) == 0)
			return h->events[i].pid;
	return 0;
}

/* Instances and servers are kept, and no run sees another's keys. */
static void
many_runs(void)
{
	static const char *const lanes[] = { "a", "g1", "g2" };
	const struct live_rig_plan plan = plan_of(&rows[0]);
	struct scenario *s = live_rig_scenario(&plan);
	struct history h;
	struct judge_run run;
	unsigned good = 0, kept = 0, cut = 0, i, k;
	int64_t pids[3] = { 0 };
	double began = 0;

	for (i = 0; i < FAST_RUNS + cut; i++) {
		if (i == 1)
			began = seconds();
		h = (struct history){ .n = 0 };
		live_rig_once(scenario_plan(s, 0), SEED, &h);
		judge_run(&h, s, 0, &run);
		/* It may have harmed them, and is none of the runs. */
		if (run.verdict == JUDGE_INCONCLUSIVE &&
		    cut + 1 < LIVE_RIG_TRIES) {
			note("once more: %s", run.message);
			cut++;
			memset(pids, 0, sizeof pids);
			history_free(&h);
			continue;
		}
		good += run.verdict == JUDGE_PASS &&
		    live_rig_starts(&h, "k") == 1;
		for (k = 0; k < 3; k++) {
			if (pids[k] == 0)
				pids[k] = pid_of(&h, lanes[k]);
			kept += pids[k] != 0 && pid_of(&h, lanes[k]) ==
			    pids[k];
		}
		history_free(&h);
	}
	began = seconds() - began;
	is_int(good, FAST_RUNS, "runs that follow each other all pass");
	note("%.1f runs a second; the goal is %d", (FAST_RUNS - 1) / began,
	    RUNS_A_SECOND);
	is_int(kept, 3 * FAST_RUNS,
	    "runs that follow each other need no new instances");
	live_world.end();
	scenario_close(s);
}

/* -1: nothing. */
static int
first_told(const struct history *h)
{
	const struct history_event *e;
	size_t i;

	for (i = 0; i < h->n; i++) {
		e = &h->events[i];
		if (e->kind == HISTORY_RET && e->a == 1)
			return e->status;
	}
	return -1;
}

/* What the first client is told, where a call failed for it. */
static void
a_failure_shows(const char *faults, int status, const char *what)
{
	const struct live_rig_plan plan = {
		what, LEDGER, ONE, faults, SAFE, SERVICE_MS, QUIET
	};
	struct live_rig_run r;
	int tries = 1;

	live_rig_begin(&r, &plan, SEED);
	while (first_told(&r.h) != status && live_rig_idle(&r) &&
	    tries++ < LIVE_RIG_TRIES) {
		live_rig_end(&r);
		live_rig_begin(&r, &plan, SEED);
	}
	is_int(first_told(&r.h), status, "%s", what);
	live_rig_end(&r);
}

static void
failures_show(void)
{
	a_failure_shows(FAILS("program.spawn", "ENOMEM"), 503,
	    "who cannot start a program says so");
	a_failure_shows(FAILS("reply.write", "EPIPE"), 0,
	    "an answer that cannot be sent does not come");
}

static void
what_cannot_be(void)
{
	static const struct live_rig_plan labels = {
		"a label", LEDGER, ONE, "sim.on(sim.label('g1', "
		"'claim.ok'), sim.proc.kill('g1'))", SAFE, SERVICE_MS, QUIET
	}, aborts = {
		"a client of lighttpd", "gates = { n = 1, arbiter = "
		"'ledger', ledger = 'shared', front = 'lighttpd' }", ONE,
		"sim.on(sim.at(5), sim.client.abort('c1'))", SAFE, SERVICE_MS,
		QUIET
	};
	struct scenario *s = live_rig_scenario(&labels);

	ok(live_world.cannot(scenario_plan(s, 0)) == NULL,
	    "a plan with idemd's labels can be carried out");
	scenario_close(s);
	s = live_rig_scenario(&aborts);
	ok(live_world.cannot(scenario_plan(s, 0)) != NULL,
	    "one in which a client of lighttpd aborts cannot");
	scenario_close(s);
}

int
main(void)
{
	size_t i;

	live_rig_open();
	for (i = 0; i < sizeof agains / sizeof *agains; i++)
		run_again(&agains[i]);
	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		run_row(&rows[i]);
	many_runs();
	failures_show();
	what_cannot_be();
	live_rig_close();
	return done();
}
