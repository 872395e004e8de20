/* SPDX-License-Identifier: ISC */
/*
 * Small plans in the live world: real instances of idemd, a real Redis, a real
 * program, and what is done to them.  A row each.
 */
#include "child.h"
#include "judge.h"
#include "scenario.h"
#include "tap.h"
#include "world.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define RUNS_A_SECOND 20
#define FAST_RUNS 40
#define SERVICE_MS 5

#define LEDGER "redis = { a = {} }, gates = { n = 2, arbiter = 'ledger', " \
    "store = 'a', ledger = 'shared', config = { lease = '600ms', " \
    "grace = '200ms', store_timeout = '100ms', probe_every = '100ms' } }"
#define REDIS "redis = { a = {} }, gates = { n = 2, arbiter = 'redis', " \
    "store = 'a', config = { lease = '600ms', grace = '200ms', " \
    "store_timeout = '100ms', probe_every = '100ms' } }"
#define ONE "sim.script { { at = 0, client = 'c1', send = { key = 'k', " \
    "body = 'x' } } }"
#define TWO "sim.script { { at = 0, client = 'c1', send = { key = 'k', " \
    "body = 'x', to = 'g1' } }, { at = 900, client = 'c2', send = { " \
    "key = 'k', body = 'x', to = 'g2' } } }"
#define FAILS(label, error) "sim.on(sim.label('g1', '" label "'), " \
    "sim.proc.fail('g1', '" error "'))"
#define SAFE "holds = { 'at_most_once' }, " \
    "eventually = { 'resolves', 'new_keys_succeed' }"
#define KEPT "holds = { 'at_most_once', 'same_answer', 'ack_durable' }, " \
    "eventually = { 'resolves', 'new_keys_succeed' }"

static const struct row {
	const char *what;	/* true of it */
	const char *topology, *load, *faults, *expect;
	enum judge_verdict verdict;
	const char *invariant;	/* of a violation */
	long starts;		/* of k's program; -1: any number */
	int service_ms;		/* 0: SERVICE_MS */
	const char *heal;	/* NULL: as soon as it can be */
} rows[] = {
	{ "one request runs once",
	  LEDGER, ONE, "", "holds = { 'at_most_once', 'no_cross_talk' }, "
	  "eventually = { 'new_keys_succeed' }", JUDGE_PASS, NULL, 1, 0, NULL },
	{ "one request runs once with a Redis as arbiter",
	  REDIS, ONE, "", "holds = { 'at_most_once', 'no_cross_talk' }, "
	  "eventually = { 'new_keys_succeed' }", JUDGE_PASS, NULL, 1, 0, NULL },
	{ "one request runs once with a token",
	  "redis = { a = {} }, gates = { n = 1, arbiter = 'token', "
	  "store = 'a' }", ONE, "", "holds = { 'at_most_once' }, "
	  "eventually = { 'new_keys_succeed' }", JUDGE_PASS, NULL, 1, 0, NULL },
	{ "an instance that is killed before its program begins is harmless",
	  LEDGER, TWO, "sim.on(sim.label('g1', 'claim.ok', { key = 'k' }), "
	  "sim.proc.kill('g1'), sim.after(200, sim.proc.restart('g1')))",
	  SAFE, JUDGE_PASS, NULL, -1, 0, NULL },
	{ "an instance that is killed after the effect is harmless",
	  LEDGER, TWO, "sim.on(sim.label('g1', 'effect.after', { key = 'k' }),"
	  " sim.proc.kill('g1'), sim.after(200, sim.proc.restart('g1')))",
	  SAFE, JUDGE_PASS, NULL, 1, 0, NULL },
	{ "an instance that is killed as it answers is harmless",
	  LEDGER, TWO, "sim.on(sim.label('g1', 'reply.first_byte', "
	  "{ key = 'k' }), "
	  "sim.proc.kill('g1'), sim.after(200, sim.proc.restart('g1')))",
	  SAFE, JUDGE_PASS, NULL, 1, 0, NULL },
	{ "a reply of the arbiter that is lost is harmless",
	  REDIS, TWO, "sim.on(sim.at(0), sim.net.drop('g1->a', "
	  "{ dir = 'reply', script = 'claim' }))",
	  KEPT, JUDGE_PASS, NULL, -1, 0, NULL },
	{ "a cache that is killed and comes back is harmless",
	  LEDGER, TWO, "sim.on(sim.label('g1', 'program.spawned'), "
	  "sim.store.kill('a'), sim.after(300, sim.store.restart('a', "
	  "{ empty = true })))", KEPT, JUDGE_PASS, NULL, 1, 0, NULL },
	{ "an instance that is paused goes on",
	  LEDGER, TWO, "sim.on(sim.label('g1', 'program.spawned'), "
	  "sim.proc.pause('g1'), sim.after(300, sim.proc.resume('g1')))",
	  KEPT, JUDGE_PASS, NULL, -1, 0, NULL },
	{ "the end of power is harmless",
	  LEDGER, TWO, "sim.on(sim.label('g1', 'effect.after'), "
	  "sim.disk.power_loss('g1'))", SAFE, JUDGE_PASS, NULL, -1, 0, NULL },
	{ "an operator settles what is unknown",
	  LEDGER, TWO, "sim.on(sim.label('g1', 'effect.after', { key = 'k' }),"
	  " sim.proc.kill('g1'), sim.after(200, sim.proc.restart('g1')), "
	  "sim.after(400, sim.operator.resolve('k', 'done')))",
	  SAFE, JUDGE_PASS, NULL, 1, 0, NULL },
	{ "a client that goes away is harmless",
	  LEDGER, TWO, "sim.on(sim.label('g1', 'effect.before'), "
	  "sim.client.give_up('c1'))", SAFE, JUDGE_PASS, NULL, 1, 0, NULL },
	{ "a client that reads slowly gets all of its answer",
	  LEDGER, "sim.script { { at = 0, client = 'c1', slow = 10, send = { "
	  "key = 'k' } } }", "", "holds = { 'at_most_once', 'no_cross_talk' "
	  "}, sometimes = { slow = function(h) for e in h:each { kind = 'ret',"
	  " a = 1, class = 'ok' } do return e.ms > 150 end return false end }",
	  JUDGE_PASS, NULL, 1, 0, NULL },
	{ "a key that a Redis has lost runs twice, and that is told",
	  REDIS, TWO, "sim.on(sim.at(400), sim.store.flush('a'))",
	  "holds = { 'at_most_once' }", JUDGE_FAIL, "at_most_once", 2, 0, NULL },
	{ "it is what a negative control wants",
	  REDIS, TWO, "sim.on(sim.at(400), sim.store.flush('a'))",
	  "violates = { 'at_most_once' }", JUDGE_PASS, NULL, 2, 0, NULL },
	{ "a scheme that asks first and stores later lets two begin",
	  "redis = { a = {} }, gates = { n = 2, arbiter = 'redis', "
	  "store = 'a', config = { scheme = 'check' } }",
	  "sim.script { { at = 0, client = 'c1', send = { key = 'k' } }, "
	  "{ at = 0, client = 'c2', send = { key = 'k' } } }", "",
	  "violates = { 'at_most_once' }", JUDGE_PASS, NULL, 2, 100, NULL },
	{ "what a failover has lost runs twice, and that is told",
	  "redis = { a = {}, b = { replica_of = 'a' } }, gates = { n = 2, "
	  "arbiter = 'redis', store = 'a', config = { probe_every = '100ms' } "
	  "}", TWO, "sim.on(sim.at(0), sim.store.lag('b', 'freeze')), "
	  "sim.on(sim.reply('c1'), sim.store.failover('a', 'b', { lose = 2 }))",
	  "violates = { 'at_most_once' }, sometimes = { lost = function(h) "
	  "return h:count { kind = 'store', note = 'lost_ack' } > 0 end }",
	  JUDGE_PASS, NULL, 2, 0, NULL },
	{ "a request through lighttpd runs once",
	  "gates = { n = 1, arbiter = 'ledger', ledger = 'shared', "
	  "front = 'lighttpd' }", ONE, "", "holds = { 'at_most_once', "
	  "'no_cross_talk' }", JUDGE_PASS, NULL, 1, 0, NULL },
	{ "an instance is killed at a frame of its link",
	  LEDGER, TWO, "sim.on(sim.frame('g1->a', { cmd = 'SET' }), "
	  "sim.proc.kill('g1'), sim.after(100, sim.proc.restart('g1')))",
	  KEPT, JUDGE_PASS, NULL, 1, 0, NULL },
	{ "a fault at a label that nobody comes to makes it vacuous",
	  LEDGER, ONE, "sim.on(sim.label('g2', 'effect.before'), "
	  "sim.proc.kill('g2'))", SAFE, JUDGE_VACUOUS, NULL, 1, 0, NULL },
	{ "a rule that no frame fits makes it vacuous",
	  LEDGER, ONE, "sim.on(sim.at(0), sim.net.drop('g1->a', "
	  "{ script = 'renew' }))", SAFE, JUDGE_VACUOUS, NULL, 1, 0, NULL },
	{ "a note that cannot be written is harmless",
	  LEDGER, TWO, FAILS("note.write", "ENOSPC"), KEPT, JUDGE_PASS, NULL,
	  1, 0, NULL },
	{ "a commit that fails is harmless",
	  LEDGER, TWO, FAILS("ledger.commit", "ENOSPC"), KEPT, JUDGE_PASS,
	  NULL, -1, 0, NULL },
	{ "a program that cannot be started is harmless",
	  LEDGER, TWO, FAILS("program.spawn", "EAGAIN"), KEPT, JUDGE_PASS,
	  NULL, 1, 0, NULL },
	{ "an answer that cannot be kept is harmless",
	  LEDGER, TWO, FAILS("spool.write", "EIO"), KEPT, JUDGE_PASS, NULL,
	  1, 0, NULL },
	{ "an answer that cannot be sent is harmless",
	  LEDGER, TWO, FAILS("reply.write", "ECONNRESET"), KEPT, JUDGE_PASS,
	  NULL, 1, 0, NULL },
	{ "an answer that is sent later is harmless",
	  LEDGER, TWO, FAILS("reply.write", "EAGAIN"), KEPT, JUDGE_PASS,
	  NULL, 1, 0, NULL }
};

static char folder[] = "/tmp/t_sim_live.XXXXXX";

/* What is done to the next run from outside, once. */
static enum outside {
	NOTHING, NO_DESCRIPTORS, INTERRUPT
} outside;
static struct rlimit descriptors;

/* --- a scenario, from its parts ------------------------------------------- */

static void
write_scenario(const char *path, const struct row *r)
{
	FILE *file = fopen(path, "w");

	if (file == NULL)
		bail_out("%s cannot be written", path);
	fprintf(file, "local sim = require 'idemsim'\n"
	    "sim.api(1)\n"
	    "return sim.scenario {\n"
	    "  name = '%.60s',\n"
	    "  modes = { 'live' },\n"
	    "  topology = { %s },\n"
	    "  handler = sim.handler { effect = 'append',\n"
	    "    service = sim.const(%d) },\n"
	    "  load = { %s },\n"
	    "  faults = { %s },\n"
	    "  heal = { %s },\n"
	    "  expect = { %s },\n"
	    "}\n", r->what, r->topology, r->service_ms > 0 ? r->service_ms :
	    SERVICE_MS, r->load, r->faults, r->heal != NULL ? r->heal :
	    "quiet = 5000", r->expect);
	if (fclose(file) != 0)
		bail_out("%s cannot be written", path);
}

static struct scenario *
open_scenario(const struct row *r)
{
	char path[80], wrong[500] = "";
	struct scenario *s;

	snprintf(path, sizeof path, "%s/plan.lua", folder);
	write_scenario(path, r);
	s = scenario_open(path, NULL, 0, wrong, sizeof wrong);
	if (s == NULL)
		bail_out("%s", wrong);
	(void)unlink(path);
	return s;
}

static void
run_once(const struct plan *plan, struct history *h)
{
	char wrong[300] = "";

	if (live_world.run(plan, 42, 1, h, wrong, sizeof wrong) != 0)
		note("the run failed: %s", wrong);
}

static long
starts_of(const struct history *h, const char *key)
{
	long n = 0;
	size_t i;

	for (i = 0; i < h->n; i++)
		n += h->events[i].kind == HISTORY_EFFECT &&
		    strcmp(h->events[i].ph, "begin") == 0 &&
		    h->events[i].k != NULL &&
		    strcmp(h->events[i].k, key) == 0;
	return n;
}

/* --- rows ----------------------------------------------------------------- */

static void
tell(const struct history *h)
{
	char words[200];
	size_t i;

	for (i = 0; i < h->n && i < 200; i++)
		note("%8.1f ms  %s", (double)h->events[i].t_ns / 1e6,
		    history_event_text(&h->events[i], words, sizeof words));
}

static bool
is_as_told(const struct row *r, const struct judge_point *p,
    const struct history *h)
{
	return p->verdict == r->verdict &&
	    (r->starts < 0 || starts_of(h, "k") == r->starts) &&
	    (r->invariant == NULL || (p->worst.by_check &&
	    strcmp(plan_invariant_text(p->worst.finding.invariant),
	    r->invariant) == 0));
}

static void
run_row(const struct row *r)
{
	struct scenario *s = open_scenario(r);
	const struct plan *plan = scenario_plan(s, 0);
	struct history h = { .n = 0 };
	struct judge_point p;

	judge_point_begin(&p, plan);
	run_once(plan, &h);
	judge_point_add(&p, &h, s, 0);
	judge_point_end(&p);
	if (!ok(is_as_told(r, &p, &h), "%s", r->what)) {
		note("%s: %s; %ld starts", judge_text(p.verdict), p.message,
		    starts_of(&h, "k"));
		tell(&h);
	}
	judge_point_free(&p);
	history_free(&h);
	live_world.end();
	scenario_close(s);
}

/* --- what is no row ------------------------------------------------------- */

/* Who is killed by somebody else, as by a kernel that wants memory. */
static const struct victim {
	const char *what, *lane;
	enum { ANY, MASTER, LOBBY, KEEPER, PROGRAM } who;
	struct row row;
} victims[] = {
	{ "Redis", "a", ANY, { "a", LEDGER, ONE, "", SAFE,
	  JUDGE_INCONCLUSIVE, NULL, -1, 200, NULL } },
	{ "master", "g1", MASTER, { "m", LEDGER, ONE, "", SAFE,
	  JUDGE_INCONCLUSIVE, NULL, -1, 200, NULL } },
	{ "lobby", "g1", LOBBY, { "l", LEDGER, ONE, "", SAFE,
	  JUDGE_INCONCLUSIVE, NULL, -1, 200, NULL } },
	{ "keeper", "g1", KEEPER, { "k", LEDGER, ONE, "", SAFE,
	  JUDGE_INCONCLUSIVE, NULL, -1, 200, NULL } },
	{ "program", "g1", PROGRAM, { "p", LEDGER, ONE, "", SAFE,
	  JUDGE_INCONCLUSIVE, NULL, -1, 200, NULL } },
	{ "program whose client does not see it", "g1", PROGRAM, { "p",
	  LEDGER, ONE, "", "holds = { 'at_most_once' }",
	  JUDGE_INCONCLUSIVE, NULL, -1, 200, NULL } }
};

static const struct victim *doomed;	/* from outside, in the next run */

/* A keeper blocks every signal. */
static bool
blocks_signals(pid_t pid)
{
	char path[40], line[128];
	unsigned long long mask = 0;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	while (file != NULL && fgets(line, sizeof line, file) != NULL)
		(void)sscanf(line, "SigBlk: %llx", &mask);
	if (file != NULL)
		(void)fclose(file);
	return (mask >> (SIGSEGV - 1) & 1) != 0;
}

static bool
is_program(pid_t pid)
{
	char path[40], name[32] = "";
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	if (file != NULL && fgets(name, sizeof name, file) == NULL)
		name[0] = '\0';
	if (file != NULL)
		(void)fclose(file);
	return strcmp(name, "idemsim-program\n") == 0;
}

static bool
is_victim(const struct victim *v, pid_t pid)
{
	struct child_stat st;

	if (!child_stat(pid, &st))
		return false;
	switch (v->who) {
	case ANY:
		return true;
	case MASTER:
		return st.parent == getpid();
	case LOBBY:
		return st.parent != getpid() && !is_program(pid) &&
		    !blocks_signals(pid);
	case KEEPER:
		return st.parent != getpid() && !is_program(pid) &&
		    blocks_signals(pid);
	case PROGRAM:
		return is_program(pid) && st.state == 'S';	/* it has begun */
	}
	return false;
}

/* All numbers from the first that is free are out of reach. */
static bool
take_descriptors(void)
{
	int fd = dup(0);
	struct rlimit less = descriptors;

	less.rlim_cur = fd > 0 ? (rlim_t)fd : 0;
	(void)close(fd);
	return setrlimit(RLIMIT_NOFILE, &less) == 0;
}

static void
kill_victim(void)
{
	pid_t pids[32];
	size_t n, i;

	n = doomed != NULL ? child_find(doomed->lane, pids, 32) : 0;
	for (i = 0; i < n && i < 32 && doomed != NULL; i++)
		if (is_victim(doomed, pids[i]) && kill(pids[i], SIGKILL) == 0)
			doomed = NULL;
}

/* Asked in each turn of a run, and before it where an instance takes long to
   come up: all three of it are there then, and no program. */
static bool
meanwhile(void)
{
	pid_t pids[32];

	kill_victim();
	if (outside == NOTHING || child_find("g1", pids, 32) <= 3)
		return false;
	switch (outside) {
	case NOTHING:
		break;
	case NO_DESCRIPTORS:
		if (take_descriptors())
			outside = NOTHING;
		break;
	case INTERRUPT:
		return true;
	}
	return false;
}

#define NOT_SAID "the run was cut short: "

static const struct {
	struct row row;		/* which holds if it is left alone */
	enum outside outside;
	const char *message;	/* it begins so */
} cuts[] = {
	{ { .what = "a simulator that has no descriptors left", LEDGER, TWO,
	    "", "holds = { 'at_most_once' }", .service_ms = 600 },
	  NO_DESCRIPTORS,
	  NOT_SAID "a client could not connect: EMFILE" },
	{ { .what = "an interrupt while a program runs", LEDGER, ONE, "",
	    SAFE, .service_ms = 600 }, INTERRUPT,
	  NOT_SAID "it was interrupted" },
	{ { .what = "a request that comes after the end", LEDGER, TWO, "",
	    "holds = { 'at_most_once' }", .heal = "at = 100, quiet = 200" },
	  NOTHING, NOT_SAID "of the plan's requests 1 come later" },
	{ { .what = "a program that outlasts it", LEDGER,
	    "sim.script { { at = 0, client = 'c1', timeout = 100, send = { "
	    "key = 'k' } } }", "", "holds = { 'at_most_once' }",
	    .service_ms = 8000, .heal = "quiet = 300" }, NOTHING,
	  NOT_SAID "g1 still has " }
};

/* None of these is a pass, and each says why. */
static void
what_cuts_a_run(void)
{
	struct history h;
	struct scenario *s;
	enum judge_verdict verdict;
	struct judge_point p;
	size_t i;

	for (i = 0; i < sizeof cuts / sizeof *cuts; i++) {
		s = open_scenario(&cuts[i].row);
		h = (struct history){ .n = 0 };
		outside = cuts[i].outside;
		judge_point_begin(&p, scenario_plan(s, 0));
		run_once(scenario_plan(s, 0), &h);
		outside = NOTHING;
		(void)setrlimit(RLIMIT_NOFILE, &descriptors);
		judge_point_add(&p, &h, s, 0);
		judge_point_end(&p);
		verdict = p.verdict;
		is(judge_text(verdict), judge_text(JUDGE_INCONCLUSIVE),
		    "a run with %s is inconclusive", cuts[i].row.what);
		p.message[strnlen(cuts[i].message, sizeof p.message - 1)] =
		    '\0';
		if (!is(p.message, cuts[i].message, "and says why"))
			tell(&h);
		is_int(judge_exit(&verdict, 1), 2, "that is exit 2");
		judge_point_free(&p);
		history_free(&h);
		live_world.end();
		scenario_close(s);
	}
}

static void
an_unexpected_death(const struct victim *v)
{
	struct scenario *s = open_scenario(&v->row);
	struct history h = { .n = 0 };
	enum judge_verdict verdict;
	struct judge_point p;

	doomed = v;
	judge_point_begin(&p, scenario_plan(s, 0));
	run_once(scenario_plan(s, 0), &h);
	judge_point_add(&p, &h, s, 0);
	judge_point_end(&p);
	verdict = p.verdict;
	if (!ok(doomed == NULL && verdict == JUDGE_INCONCLUSIVE,
	    "a %s that dies by itself makes a run inconclusive", v->what))
		tell(&h);
	note("%s", p.worst.message);
	is_int(judge_exit(&verdict, 1), 2, "that is exit 2");
	doomed = NULL;
	judge_point_free(&p);
	history_free(&h);
	live_world.end();
	scenario_close(s);
}

/* --- operators ------------------------------------------------------------ */

static const struct history_event *
first_of(const struct history *h, enum history_kind kind, const char *what)
{
	size_t i;

	for (i = 0; i < h->n; i++)
		if (h->events[i].kind == kind && h->events[i].what != NULL &&
		    strstr(h->events[i].what, what) != NULL)
			return &h->events[i];
	return NULL;
}

/* Whose configuration it is, and what it is refused for. */
static void
what_operators_do(void)
{
	static const struct row at_g2 = {
		.what = "an operator at g2", LEDGER, TWO,
		"sim.on(sim.label('g1', 'effect.after', { key = 'k' }),"
		" sim.proc.kill('g1'), sim.after(200, sim.proc.restart('g1')),"
		" sim.after(300, sim.operator.resolve('k', 'done', { gate = "
		"'g2' })))", SAFE
	}, in_vain = {
		.what = "an operator for nothing", LEDGER, ONE,
		"sim.on(sim.at(300), sim.operator.resolve('k', 'not-done'), "
		"sim.operator.resolve('z', 'done'))", SAFE
	};
	const struct history_event *fault;
	struct history h = { .n = 0 };
	struct scenario *s = open_scenario(&at_g2);

	run_once(scenario_plan(s, 0), &h);
	fault = first_of(&h, HISTORY_FAULT, "resolve k done");
	is(fault != NULL ? fault->p : "nobody", "g2",
	    "an operator is where the plan says");
	history_free(&h);
	live_world.end();
	scenario_close(s);
	s = open_scenario(&in_vain);
	h = (struct history){ .n = 0 };
	run_once(scenario_plan(s, 0), &h);
	ok(first_of(&h, HISTORY_NOTE, "k not-done is refused: idemctl: "
	    "resolve: there is nothing to resolve: it is completed") != NULL,
	    "of what is completed an operator is told that there is nothing");
	ok(first_of(&h, HISTORY_NOTE, "z done is refused: idemctl: resolve: "
	    "no such key") != NULL, "and so of a key that nobody has sent");
	ok(first_of(&h, HISTORY_FAULT, "resolve") == NULL,
	    "then nothing was resolved");
	ok(h.n > 0 && h.events[h.n - 1].kind == HISTORY_END,
	    "and the run comes to its end");
	history_free(&h);
	live_world.end();
	scenario_close(s);
}

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Instances and servers are kept, and no run sees another's keys. */
static void
many_runs(void)
{
	struct scenario *s = open_scenario(&rows[0]);
	struct history h;
	struct judge_run run;
	unsigned good = 0, i;
	double began = 0;

	for (i = 0; i < FAST_RUNS; i++) {
		if (i == 1)
			began = seconds();
		h = (struct history){ .n = 0 };
		run_once(scenario_plan(s, 0), &h);
		judge_run(&h, s, 0, &run);
		good += run.verdict == JUDGE_PASS && starts_of(&h, "k") == 1;
		history_free(&h);
	}
	began = seconds() - began;
	is_int(good, FAST_RUNS, "runs that follow each other all pass");
	note("%.1f runs a second; the goal is %d", (FAST_RUNS - 1) / began,
	    RUNS_A_SECOND);
	ok((FAST_RUNS - 1) / began > RUNS_A_SECOND / 10.0,
	    "runs that follow each other need no new instances");
	live_world.end();
	scenario_close(s);
}

/* What the first client is told, where a call failed for it. */
static void
a_failure_shows(const char *faults, int status, const char *what)
{
	const struct row row = { what, LEDGER, ONE, faults, SAFE, JUDGE_PASS,
	    NULL, -1, 0, NULL };
	struct scenario *s = open_scenario(&row);
	struct history h = { .n = 0 };
	int told = -1;
	size_t i;

	run_once(scenario_plan(s, 0), &h);
	for (i = 0; i < h.n && told == -1; i++)
		if (h.events[i].kind == HISTORY_RET && h.events[i].a == 1)
			told = h.events[i].status;
	is_int(told, status, "%s", what);
	history_free(&h);
	live_world.end();
	scenario_close(s);
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
	static const struct row unknown = {
		"no such label", LEDGER, ONE, "sim.on(sim.label('g1', "
		"'claim.ok'), sim.proc.kill('g1'))", SAFE, JUDGE_SKIP, NULL,
		0, 0, NULL
	}, aborts = {
		.what = "no such record", "gates = { n = 1, arbiter = "
		"'ledger', ledger = 'shared', front = 'lighttpd' }", ONE,
		"sim.on(sim.at(5), sim.client.abort('c1'))", SAFE
	};
	struct scenario *s = open_scenario(&unknown);

	ok(live_world.cannot(scenario_plan(s, 0)) == NULL,
	    "a plan with idemd's labels can be carried out");
	scenario_close(s);
	s = open_scenario(&aborts);
	ok(live_world.cannot(scenario_plan(s, 0)) != NULL,
	    "one in which a client of lighttpd aborts cannot");
	scenario_close(s);
}

int
main(void)
{
	const char *missing;
	struct scenario *s;
	size_t i;

	(void)setenv("IDEMSIM_LIBEXEC", ".", 0);
	(void)signal(SIGPIPE, SIG_IGN);
	if (mkdtemp(folder) == NULL)
		bail_out("no folder");
	s = open_scenario(&rows[0]);
	missing = live_world.missing(scenario_plan(s, 0));
	scenario_close(s);
	if (missing != NULL) {
		(void)rmdir(folder);
		skip_all(missing);
	}
	if (child_warden_start() == NULL)
		bail_out("no warden");
	live_stop_when(meanwhile);
	(void)getrlimit(RLIMIT_NOFILE, &descriptors);
	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		run_row(&rows[i]);
	for (i = 0; i < sizeof victims / sizeof *victims; i++)
		an_unexpected_death(&victims[i]);
	what_cuts_a_run();
	what_operators_do();
	many_runs();
	failures_show();
	what_cannot_be();
	child_warden_end(false);
	(void)rmdir(folder);
	return done();
}
