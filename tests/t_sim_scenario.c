/* SPDX-License-Identifier: ISC */
#include "scenario.h"

#include "rig_watch.h"
#include "tap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A scenario is read in less of the processor's time; it takes about one. */
#define LOAD_MS (rig_watch_sanitized ? 50.0 : 10.0)
#define ROUNDS 20

static char folder[] = "/tmp/t_sim_scenario.XXXXXX";

static const char *
path_of(const char *name)
{
	static char path[200];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static const char *
shipped(const char *name)
{
	const char *top = getenv("top_srcdir");
	static char path[600];

	snprintf(path, sizeof path, "%s/scenarios/%s",
	    top != NULL ? top : ".", name);
	return path;
}

static void
put(const char *name, const char *text)
{
	FILE *f = fopen(path_of(name), "w");

	if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0)
		bail_out("cannot write %s", path_of(name));
}

static struct scenario *
must_open(const char *path)
{
	char wrong[1000];
	struct scenario *s = scenario_open(path, NULL, 0, wrong,
	    sizeof wrong);

	if (s == NULL)
		bail_out("%s", wrong);
	return s;
}

/* --- the files that are shipped ------------------------------------------- */

static const struct file {
	const char *name;
	size_t points, stores, gates, loads, rules, maybes;
	unsigned actions;	/* each of the first point */
	int64_t heal_ms, quiet_ms;
	const char *first, *last;	/* names of test points */
	const char *action;	/* the first one's text */
} files[] = {
	{ "01_redis_outage_mid_request.lua", 2, 1, 2, 1, 1, 1, 3, 4000, 4000,
	  "redis outage mid-request (intact)",
	  "redis outage mid-request (empty)", "kill a at program.spawned" },
	{ "02_crash_before_complete.lua", 14, 1, 2, 1, 1, 0, 2, 3000, 3000,
	  "crash at slot.taken", "crash at reply.sent",
	  "kill g1 at slot.taken of k" },
	{ "03_retry_storm.lua", 2, 1, 4, 2, 2, 1, 3, 3000, 5000,
	  "retry storm (jittered)", "retry storm (hostile)",
	  "slow a by 700 ms at 150 ms" },
	{ "04_split_brain_one_gate.lua", 3, 1, 3, 2, 3, 1, 4, 2400, 3000,
	  "split brain: g1 alone sees redis down [on_outage=reject]",
	  "split brain: g1 alone sees redis down [on_outage=pass]",
	  "lose all requests on g1->a at 0 ms" },
	{ "05_failover_loses_claim.lua", 6, 2, 2, 1, 1, 2, 4, 1500, 4000,
	  "failover loses the last 1 acknowledged store writes "
	  "[arbiter=ledger]", "failover loses the last 2 acknowledged store "
	  "writes [arbiter=redis]", "fail over from a to b at claim.ok of k" },
	{ "06_slow_handler_outlives_lease.lua", 4, 1, 2, 1, 1, 2, 4, 4500,
	  4000, "slow handler outlives its lease [policy=block, asleep=all]",
	  "slow handler outlives its lease [policy=retry, asleep=lobby]",
	  "pause g1 at program.spawned of k" },
	{ "07_reply_desync.lua", 1, 1, 1, 1, 1, 0, 2, -1, 3000,
	  "late store reply must not answer the next request",
	  "late store reply must not answer the next request",
	  "hold the next reply on g1->a at the reply to claim on g1->a, the "
	  "2nd time" },
	{ "90_negative_control_rotated_key.lua", 1, 1, 1, 1, 0, 0, 0, -1,
	  3000, "negative control: key rotated after an unknown outcome",
	  "negative control: key rotated after an unknown outcome", NULL },
};

static void
check_plan(const struct file *f, const struct plan *p)
{
	char text[200];

	ok(p->stores_n == f->stores && p->gates.n == f->gates &&
	    p->loads_n == f->loads && p->rules_n == f->rules &&
	    p->maybes_n == f->maybes && p->actions_n == f->actions,
	    "%s: %zu stores, %zu gates, %zu loads, %zu rules, %zu choices, "
	    "%u actions", f->name, f->stores, f->gates, f->loads, f->rules,
	    f->maybes, f->actions);
	ok(p->heal_ms == f->heal_ms && p->quiet_ms == f->quiet_ms,
	    "%s: it heals at %" PRId64 " ms, and rests for %" PRId64,
	    f->name, f->heal_ms, f->quiet_ms);
	if (f->action != NULL)
		is(plan_action_text(p, plan_action_at(p, 0), text,
		    sizeof text), f->action, "%s: its first action is told",
		    f->name);
}

static void
check_file(const struct file *f)
{
	struct scenario *s = must_open(shipped(f->name));

	if (is_int((long long)scenario_points(s), (long long)f->points,
	    "%s makes %zu test points", f->name, f->points)) {
		is(scenario_plan(s, 0)->name, f->first,
		    "%s: the first one's name", f->name);
		is(scenario_plan(s, f->points - 1)->name, f->last,
		    "%s: the last one's name", f->name);
		check_plan(f, scenario_plan(s, 0));
	}
	scenario_close(s);
}

/* The least of some times: others may be at work here. */
static void
check_speed(const struct file *f)
{
	struct timespec from, to;
	double least = 1e9, ms;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
		scenario_close(must_open(shipped(f->name)));
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
		ms = (double)(to.tv_sec - from.tv_sec) * 1e3 +
		    (double)(to.tv_nsec - from.tv_nsec) / 1e6;
		least = ms < least ? ms : least;
	}
	ok(least < LOAD_MS, "%s is read in less than %.0f ms", f->name,
	    LOAD_MS);
	note("%.2f ms", least);
}

static void
check_digests(const struct file *f)
{
	struct scenario *a = must_open(shipped(f->name));
	struct scenario *b = must_open(shipped(f->name));
	char x[72], y[72], before[72] = "";
	bool same = true, other = true;
	size_t i;

	for (i = 0; i < scenario_points(a); i++) {
		plan_digest(scenario_plan(a, i), x);
		plan_digest(scenario_plan(b, i), y);
		same = same && strcmp(x, y) == 0 && strlen(x) == 71;
		other = other && strcmp(x, before) != 0;
		memcpy(before, x, sizeof x);
	}
	ok(same, "%s: its digests are the same each time", f->name);
	ok(other, "%s: its test points have digests of their own", f->name);
	scenario_close(a);
	scenario_close(b);
}

/* One that is chosen is the one of the whole file. */
static void
check_choice(void)
{
	static const struct scenario_choice choices[] = {
		{ "lose", "2" }, { "arbiter", "token" }
	};
	const char *path = shipped("05_failover_loses_claim.lua");
	struct scenario *all = must_open(path), *one;
	char wrong[1000], x[72], y[72];

	one = scenario_open(path, choices, 2, wrong, sizeof wrong);
	if (one == NULL)
		bail_out("%s", wrong);
	plan_digest(scenario_plan(all, 4), x);
	plan_digest(scenario_plan(one, 0), y);
	is_int((long long)scenario_points(one), 1, "a choice of each "
	    "parameter leaves one test point");
	is(y, x, "it has the digest that it has among all");
	scenario_close(all);
	scenario_close(one);
}

/* --- what files demand ---------------------------------------------------- */

static const struct plan *
named(const struct scenario *s, const char *part)
{
	size_t i;

	for (i = 0; i < scenario_points(s); i++)
		if (strstr(scenario_plan(s, i)->name, part) != NULL)
			return scenario_plan(s, i);
	bail_out("no test point is called %s", part);
}

static void
check_expectations(void)
{
	struct scenario *s = must_open(
	    shipped("06_slow_handler_outlives_lease.lua"));
	const struct plan_expect *block = &named(s, "block")->expect;
	const struct plan_expect *retry = &named(s, "retry")->expect;

	ok(block->holds[PLAN_AT_MOST_ONCE] &&
	    block->relaxed[PLAN_AT_MOST_ONCE] == NULL,
	    "what one value demands holds there");
	ok(!retry->holds[PLAN_AT_MOST_ONCE],
	    "what another value relaxes does not hold there");
	is(retry->relaxed[PLAN_AT_MOST_ONCE], "policy is at-least-once",
	    "its reason is kept");
	ok(block->holds[PLAN_SAME_ANSWER] && retry->holds[PLAN_SAME_ANSWER] &&
	    block->holds[PLAN_RESOLVES], "what all demand holds in each");
	ok(retry->handler_runs_per_key.set &&
	    retry->handler_runs_per_key.base == 1 &&
	    !block->handler_runs_per_key.set,
	    "a bound of one value is of it alone");
	is(retry->handler_runs_per_key.per_fault, "lease_expiry",
	    "a bound grows with its fault");
	ok(retry->holds[PLAN_STORM_BOUNDED] &&
	    !block->holds[PLAN_STORM_BOUNDED],
	    "who bounds something demands that it is checked");
	ok(block->sometimes_n == 1 && retry->sometimes_n == 2,
	    "what must be seen of one value is of it alone");
	is(plan_config_value(named(s, "block"), "lease"), "600ms",
	    "a word of idem.conf is kept");
	ok(plan_config_value(named(s, "block"), "renew_every") == NULL,
	    "a renewal that is a third of the lease is read, and is no word");
	is(named(s, "block")->handler.output, "receipt {effect_id}",
	    "an output's function is kept as what it says");
	scenario_close(s);
}

static void
check_topologies(void)
{
	struct scenario *s = must_open(shipped("04_split_brain_one_gate.lua"));
	const struct plan_gates *g = &scenario_plan(s, 0)->gates;

	is(g->ledger[0], "host1", "a ledger of one gate");
	is(g->ledger[2], g->ledger[1], "a ledger of two of three");
	ok(g->arbiter == PLAN_REDIS && g->store == 0 && !g->cached,
	    "a store that is arbiter is no cache");
	scenario_close(s);
	s = must_open(shipped("05_failover_loses_claim.lua"));
	g = &scenario_plan(s, 0)->gates;
	ok(g->arbiter == PLAN_LEDGER && g->cached, "a store beside a ledger "
	    "is one");
	ok(scenario_plan(s, 0)->stores[1].replica_of == 0, "a replica knows "
	    "its master");
	scenario_close(s);
	s = must_open(shipped("90_negative_control_rotated_key.lua"));
	ok(scenario_plan(s, 0)->expect.violates[
	    PLAN_AT_MOST_ONCE_PER_BUSINESS_ID] &&
	    scenario_plan(s, 0)->loads[0].retry.rotate,
	    "a control says what must be violated");
	is(scenario_plan(s, 0)->expect.blames, "client", "and who is to "
	    "blame");
	scenario_close(s);
}

/* --- the sandbox ---------------------------------------------------------- */

#define WHOLE "return sim.scenario { name = name, topology = { gates = { " \
    "arbiter = 'ledger' } }, load = { sim.script { { client = 'c1', send = {" \
    " key = 'k' } } } }, expect = { holds = { 'at_most_once' } } }\n"

/* What a file computes, seen in its scenario's name. */
static const struct computed {
	const char *what, *text, *name;
} computed[] = {
	{ "pairs goes in the order of keys", "local name = '' for k, v in "
	  "pairs { d = 4, a = 1, [2] = 9, c = 3, b = 2, [1] = 8 } do name = "
	  "name .. k .. v end\n", "1829a1b2c3d4" },
	{ "a module beside it is read", "local name = "
	  "require('beside').name\n", "beside" },
	{ "a module is read once", "require('beside').name = 'changed' local "
	  "name = require('beside').name\n", "changed" },
	{ "coroutines are there", "local name = coroutine.wrap(function() "
	  "coroutine.yield('yielded') end)()\n", "yielded" },
	{ "texts know their functions", "local name = ('x'):rep(3, '-')\n",
	  "x-x-x" },
	{ "errors can be caught", "local name = tostring(pcall(error, 'x'))"
	  "\n", "false" },
};

static void
check_computed(const struct computed *c)
{
	char text[2000];
	struct scenario *s;

	snprintf(text, sizeof text, "local sim = require 'idemsim' sim.api(1)"
	    "\n%s" WHOLE, c->text);
	put("s.lua", text);
	s = must_open(path_of("s.lua"));
	is(scenario_plan(s, 0)->name, c->name, "%s", c->what);
	scenario_close(s);
}

/* Those of a second run and of a second reading are the first one's. */
static void
check_lots(void)
{
	struct scenario *a, *b;

	put("s.lua", "local sim = require 'idemsim' sim.api(1)\nlocal p = "
	    "sim.param('p', 1, { 1, 2 })\nlocal name = p .. ': ' .. "
	    "math.random(1000000)\n" WHOLE);
	a = must_open(path_of("s.lua"));
	b = must_open(path_of("s.lua"));
	is(scenario_plan(b, 0)->name, scenario_plan(a, 0)->name, "a file that "
	    "draws lots draws the same ones when it is read again");
	is(scenario_plan(a, 1)->name + 1, scenario_plan(a, 0)->name + 1,
	    "and for each value of a parameter");
	scenario_close(a);
	scenario_close(b);
}

/* Lua's own order of them changes each time that a file is read. */
static void
check_params_in_order(void)
{
	char text[2000], first[72] = "", each[72];
	struct scenario *s;
	bool same = true, last = true;
	int i;

	snprintf(text, sizeof text, "local sim = require 'idemsim' sim.api(1) "
	    "local function f() end\nfor _, p in ipairs { 'p', 'q', 'r', 's' } "
	    "do sim.param(p, 1) end\nlocal function v(n) return { [1] = { "
	    "bounds = { queue_depth = n }, sometimes = { ['s' .. n] = f } } } "
	    "end\nreturn sim.scenario { name = 'x', topology = { gates = { "
	    "arbiter = 'ledger' } }, load = { sim.script { { client = 'c1', "
	    "send = { key = 'k' } } } }, expect = { by_param = { s = v(4), q = "
	    "v(2), p = v(1), r = v(3) } } }\n");
	put("s.lua", text);
	for (i = 0; i < ROUNDS; i++) {
		s = must_open(path_of("s.lua"));
		plan_digest(scenario_plan(s, 0), each);
		if (i == 0)
			memcpy(first, each, sizeof first);
		same = same && strcmp(first, each) == 0;
		last = last &&
		    scenario_plan(s, 0)->expect.queue_depth.base == 4;
		scenario_close(s);
	}
	ok(same, "what values of parameters demand is read in one order");
	ok(last, "of two numbers the later parameter's counts");
}

/* A parameter without a list may have a value that nothing is said of. */
static void
check_any_value(void)
{
	static const struct scenario_choice choice = { "p", "7" };
	char wrong[1000] = "";
	struct scenario *s;

	put("s.lua", "local sim = require 'idemsim' sim.api(1)\n"
	    "sim.param('p', 1) return sim.scenario { name = 'x', topology = { "
	    "gates = { arbiter = 'ledger' } }, load = { sim.script { { client "
	    "= 'c1', send = { key = 'k' } } } }, expect = { holds = { "
	    "'at_most_once' }, by_param = { p = { [1] = { holds = { "
	    "'resolves' } } } } } }\n");
	s = scenario_open(path_of("s.lua"), &choice, 1, wrong, sizeof wrong);
	ok(s != NULL && !scenario_plan(s, 0)->expect.holds[PLAN_RESOLVES],
	    "a value that was chosen from no list has what all have");
	scenario_close(s);
}

int
main(void)
{
	size_t i;

	if (mkdtemp(folder) == NULL)
		bail_out("no temporary folder");
	for (i = 0; i < sizeof files / sizeof *files; i++) {
		check_file(&files[i]);
		check_digests(&files[i]);
		check_speed(&files[i]);
	}
	check_choice();
	check_expectations();
	check_topologies();
	put("beside.lua", "return { name = 'beside' }\n");
	for (i = 0; i < sizeof computed / sizeof *computed; i++)
		check_computed(&computed[i]);
	check_lots();
	check_params_in_order();
	check_any_value();
	unlink(path_of("s.lua"));
	unlink(path_of("beside.lua"));
	rmdir(folder);
	return done();
}
