/* SPDX-License-Identifier: ISC */
#include "arena.h"
#include "plan.h"
#include "scenario.h"

#include "tap.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/t_sim_plan.XXXXXX";

/* --- actions -------------------------------------------------------------- */

/* Each action of the words, as a scenario says it, and as a plan tells it. */
static const struct row {
	const char *lua, *text;
	bool heals;
} rows[] = {
	{ "sim.proc.kill('g1')", "kill g1", false },
	{ "sim.proc.kill('*')", "kill *", false },
	{ "sim.proc.pause('g2.lobby')", "pause g2.lobby", false },
	{ "sim.proc.resume('g2.lobby')", "resume g2.lobby", true },
	{ "sim.proc.kill('g1.keeper')", "kill g1.keeper", false },
	{ "sim.proc.kill('g1.program')", "kill g1.program", false },
	{ "sim.proc.restart('g1')", "restart g1", true },
	{ "sim.net.drop('g1->a')", "lose the next message on g1->a", false },
	{ "sim.net.drop('*->a', { dir = 'reply', script = 'claim' })",
	  "lose the next reply to claim on *->a", false },
	{ "sim.net.drop('g1->*', { dir = 'request', cmd = 'GET', nth = 2 })",
	  "lose the 2nd request of GET on g1->*", false },
	{ "sim.net.drop('g1->a', { dir = 'both', times = 'all', nth = 11 })",
	  "lose all messages from the 11th on on g1->a", false },
	{ "sim.net.hold('b->a')", "hold the next message on b->a", false },
	{ "sim.net.hold('g1->a', { dir = 'request', times = 3 })",
	  "hold 3 requests on g1->a", false },
	{ "sim.net.release('g1->a')", "release what is held on g1->a", true },
	{ "sim.net.delay('g1->a', 200)", "delay all messages on g1->a by 200 "
	  "ms", false },
	{ "sim.net.delay('g1->a', '2s', { dir = 'reply', times = 1 })",
	  "delay the next reply on g1->a by 2000 ms", false },
	{ "sim.net.delay('g1->a', 0)", "delay nothing more on g1->a", true },
	{ "sim.net.reset('g1->a')", "reset g1->a", false },
	{ "sim.net.reset('g1->a', { dir = 'reply', after_bytes = 3 })",
	  "reset g1->a after 3 bytes of the next reply", false },
	{ "sim.net.oneway('g1->a', 'request')", "lose all requests on g1->a",
	  false },
	{ "sim.net.oneway('g1->a', 'reply')", "lose all replies on g1->a",
	  false },
	{ "sim.net.slice('g1->a', 1)", "slice all messages on g1->a into 1 "
	  "bytes each", false },
	{ "sim.net.refuse('g1->a')", "refuse connections on g1->a", false },
	{ "sim.net.error('g1->a', 'OOM', { script = 'complete' })", "answer "
	  "the next message of complete on g1->a with OOM", false },
	{ "sim.net.heal('g1->a')", "heal g1->a", true },
	{ "sim.store.kill('a')", "kill a", false },
	{ "sim.store.restart('a')", "restart a", true },
	{ "sim.store.restart('a', { empty = true })", "restart a empty",
	  true },
	{ "sim.store.restart('a', { older = true })", "restart a with its "
	  "older data", true },
	{ "sim.store.pause('a')", "pause a", false },
	{ "sim.store.resume('a')", "resume a", true },
	{ "sim.store.slow('a', 700)", "slow a by 700 ms", false },
	{ "sim.store.slow('a', 0)", "let a be as fast as before", true },
	{ "sim.store.error('a', 'READONLY')", "let a answer READONLY to all "
	  "messages", false },
	{ "sim.store.oom('a')", "fill a's memory", false },
	{ "sim.store.oom('a', false)", "free a's memory", true },
	{ "sim.store.flush('a')", "flush a", false },
	{ "sim.store.evict('a', 'k')", "evict k from a", false },
	{ "sim.store.evict('a')", "evict all keys from a", false },
	{ "sim.store.expire('a', 'k')", "expire k in a", false },
	{ "sim.store.script_flush('a')", "flush a's scripts", false },
	{ "sim.store.save('a')", "put by a's data", false },
	{ "sim.store.lag('b', 'freeze')", "freeze b's replication", false },
	{ "sim.store.lag('b', 50)", "slow b's replication by 50 ms", false },
	{ "sim.store.lag('b', 0)", "let b follow at once again", true },
	{ "sim.store.failover('a', 'b')", "fail over from a to b", false },
	{ "sim.store.failover('a', 'b', { lose = 2 })", "fail over from a to "
	  "b, losing the last 2 acknowledged writes", false },
	{ "sim.store.rejoin('a', { as = 'replica_of', of = 'b' })", "rejoin a "
	  "as a replica of b", true },
	{ "sim.disk.power_loss('g1')", "cut the power of g1", false },
	{ "sim.disk.full('g1')", "fill the disk of g1", false },
	{ "sim.disk.full('g1', false)", "heal the disk of g1", true },
	{ "sim.disk.ioerr('g1')", "break the disk of g1", false },
	{ "sim.disk.busy('*')", "keep locks of *", false },
	{ "sim.clock.jump('a', 60000)", "set the clock of a forward by 60000 "
	  "ms", false },
	{ "sim.clock.jump('g1', -5)", "set the clock of g1 back by 5 ms",
	  false },
	{ "sim.clock.rate('g1', 1.5)", "let the clock of g1 run 1.5 times as "
	  "fast", false },
	{ "sim.clock.rate('g1', 1)", "let the clock of g1 run 1 times as "
	  "fast", true },
	{ "sim.client.give_up('c1')", "c1 gives up", false },
	{ "sim.client.abort('c1')", "c1 aborts", false },
	{ "sim.operator.resolve('k', 'not-done')", "resolve k not-done",
	  false },
	{ "sim.operator.resolve('k', 'forget', { gate = 'g2' })",
	  "forget k by g2", false },
};
#define ROWS (sizeof rows / sizeof *rows)

/* Each trigger, and how it is told. */
static const char *const triggers[][2] = {
	{ "sim.at(150)", "150 ms" },
	{ "sim.at('2s')", "2000 ms" },
	{ "sim.label('g1', 'claim.ok')", "claim.ok on g1" },
	{ "sim.label('*', 'claim.ok', { key = 'k', nth = 2 })",
	  "claim.ok of k, the 2nd time" },
	{ "sim.frame('g1->a', { script = 'claim', phase = 'reply' })",
	  "the reply to claim on g1->a" },
	{ "sim.frame('*->a', { cmd = 'PING', nth = 3 })",
	  "PING on *->a, the 3rd time" },
	{ "sim.frame('g1->a')", "a command on g1->a" },
	{ "sim.reply('c1', { class = 'busy', nth = 21 })",
	  "an answer of class busy to c1, the 21st time" },
	{ "sim.reply('*')", "an answer" },
	{ "sim.effect('k')", "the effect of k" },
	{ "sim.effect('*', { nth = 12 })", "the effect, the 12th time" },
	{ "sim.all { sim.at(5), sim.effect('k') }",
	  "the last of (5 ms; the effect of k)" },
	{ "sim.label('g1', 'claim.ok', { key = '*' })", "claim.ok on g1" },
	{ "sim.any { sim.at(5), sim.all { sim.reply('c1') } }",
	  "the first of (5 ms; the last of (an answer to c1))" },
};
#define TRIGGERS (sizeof triggers / sizeof *triggers)

static void
write_scenario(FILE *f)
{
	size_t i;

	fputs("local sim = require 'idemsim'\nsim.api(1)\n"
	    "return sim.scenario { name = 'all', about = 'All words.',\n"
	    "modes = { 'live', 'model' }, topology = { redis = { b = { "
	    "replica_of = 'a' }, a = { persistence = 'rdb', maxmemory = '4mb', "
	    "maxmemory_policy = 'noeviction', config = { hz = 100 } } }, gates "
	    "= { n = 2, arbiter = 'redis', store = 'a', ledger = 'shared', "
	    "workers = 2, front = 'lighttpd', config = { on_unknown = 'retry "
	    "3', in_progress = '250ms', spool = false, programs = 4 } } },\n"
	    "handler = sim.handler { effect = 'append', service = "
	    "sim.choice { 1, 2 }, output = 'x', output_bytes = 9, business_id "
	    "= 'b', crash = 'output', partial_output = 5, promises_length = "
	    "true, exit = 3, status = 201 },\n"
	    "load = { sim.script { { at = 5, client = 'c1', timeout = 9, "
	    "give_up = '7ms', slow = 64, "
	    "send = { key = 'k', body = 'x', to = 'g2', "
	    "method = 'PUT', headers = { ['X-B'] = 'b', ['X-A'] = 'a' } } } "
	    "}, sim.closed { clients = 2, keys = sim.keys { n = 3, zipf = "
	    "1.5, bodies = 2 }, requests_per_client = 4, think = "
	    "sim.uniform(1, 9), retry = sim.retry { max = 3, timeout = "
	    "sim.exp(5, { min = 1, max = 9 }), backoff = 'exp', base = 10, "
	    "cap = 40, jitter = 'decorrelated', on = { 'reset', 'busy' }, "
	    "key = 'rotate', honour_retry_after = true } },\n"
	    "sim.open { rate = 50, for_ms = '2s', arrivals = 'poisson', keys "
	    "= sim.keys { n = 1, once = true } }, sim.storm { clients = 7, "
	    "at = 3, within = 4, keys = sim.keys { n = 1 } }, sim.closed { "
	    "clients = 1, keys = sim.keys { n = 1, once = true, from = "
	    "'composite' } } },\n"
	    "expect = { holds = { sim.invariant('mine', function(h) return "
	    "true end), 'same_answer' }, fired = 'any', bounds = { "
	    "queue_depth = sim.fault_count 'proc.kill' + 2 } },\n"
	    "explore = { exhaustive = { gates = 1, clients = 1, keys = 1, "
	    "attempts = 1, max_states = 2e6 }, random = { schedules = 5 }, "
	    "live = { runs = 3, wall_s = 1.5 } },\n"
	    "heal = { at = '9s', quiet = 8 }, faults = {\n", f);
	for (i = 0; i < ROWS; i++)
		fprintf(f, "sim.on(sim.at(%zu), %s),\n", i, rows[i].lua);
	for (i = 0; i < TRIGGERS; i++)
		fprintf(f, "sim.on(%s, sim.store.flush('a'), sim.after(100, "
		    "sim.store.flush('a'), sim.after(50, sim.store.flush('a')"
		    "))),\n", triggers[i][0]);
	fputs("sim.on(sim.label('g1', 'note.write'), sim.proc.fail('g1', "
	    "'EAGAIN')),\n"
	    "sim.maybe(2, sim.proc.kill('g1'), { window = { 5, '1s' }, "
	    "restart_after = 20 }) } }\n", f);
}

static void
check_actions(const struct plan *p)
{
	char text[300], want[300];
	const struct plan_action *a;
	struct plan_action one;
	size_t i;

	for (i = 0; i < ROWS; i++) {
		a = plan_action_at(p, (unsigned)i);
		is(plan_action_phrase(p, a, text, sizeof text), rows[i].text,
		    "%s is told", rows[i].lua);
		ok(plan_action_heals(a) == rows[i].heals, "%s: %s",
		    rows[i].text, rows[i].heals ? "it ends a fault" :
		    "it is a fault");
	}
	snprintf(want, sizeof want, "%s at 1 ms", rows[1].text);
	is(plan_action_text(p, plan_action_at(p, 1), text, sizeof text), want,
	    "an action's text says when");
	one = *plan_action_at(p, 1);
	is(plan_action_text(p, &one, text, sizeof text), want, "so does that "
	    "of a copy, which may be of one of all");
}

static void
check_triggers(const struct plan *p)
{
	char text[300], want[300];
	const struct plan_rule *r;
	size_t i;

	for (i = 0; i < TRIGGERS; i++) {
		r = &p->rules[ROWS + i];
		is(plan_trigger_text(p, &r->when, text, sizeof text),
		    triggers[i][1], "%s is told", triggers[i][0]);
		ok(r->n == 3 && r->actions[1].after_ms == 100 &&
		    r->actions[2].after_ms == 150, "%s: what comes after is "
		    "counted from it", triggers[i][1]);
	}
	r = &p->rules[ROWS + 2];
	snprintf(want, sizeof want, "flush a 100 ms after %s",
	    triggers[2][1]);
	is(plan_action_text(p, &r->actions[1], text, sizeof text), want,
	    "an action's text says how long after");
	r = &p->rules[ROWS + TRIGGERS];
	is(plan_action_text(p, &r->actions[0], text, sizeof text),
	    "fail g1 with EAGAIN at note.write", "an action's text leaves out "
	    "the gate that it is of");
	is(plan_action_text(p, plan_action_at(p, p->actions_n - 1), text,
	    sizeof text), "kill g1 at some moment", "one of chance has no "
	    "moment");
	ok(plan_action_at(p, p->actions_n) == NULL, "there is no action past "
	    "the last");
}

static void
check_members(const struct plan *p)
{
	const struct plan_load *l = p->loads;
	const struct plan_send *s = l[0].sends;
	const struct plan_retry *r = &l[1].retry;
	const struct plan_store *a = &p->stores[0];
	const struct plan_handler *h = &p->handler;

	ok(strcmp(a->name, "a") == 0 && !a->sentinel && a->configs == 1 &&
	    strcmp(a->config[0].value, "100") == 0 &&
	    a->persistence == PLAN_PERSIST_RDB && a->replica_of == PLAN_NONE &&
	    p->stores[1].replica_of == 0, "stores are there, by their names");
	ok(p->gates.workers == 2 && p->gates.lighttpd &&
	    p->gates.configs == 4 && p->modes == (PLAN_MODEL | PLAN_LIVE),
	    "gates are as they were said");
	ok(h->service_ms.kind == PLAN_CHOICE && h->service_ms.n == 2 &&
	    h->output_bytes == 9 && h->partial_output == 5 && h->exit == 3 &&
	    h->http_status == 201 && h->promises_length &&
	    strcmp(h->crash, "output") == 0, "so is the program");
	ok(s->at_ms == 5 && s->timeout_ms == 9 && s->give_up_ms == 7 &&
	    s->slow_bytes == 64 && s->gate == 1 && s->headers_n == 2 &&
	    strcmp(s->headers[0].name, "X-A") == 0 && s->line == 6,
	    "so is a request of a script");
	ok(l[1].clients == 2 && l[1].keys.n == 3 && l[1].keys.bodies == 2 &&
	    l[1].requests_per_client == 4 &&
	    l[1].think_ms.kind == PLAN_UNIFORM && l[2].rate > 49 &&
	    l[2].for_ms == 2000 && l[2].poisson && l[2].keys.once &&
	    l[3].clients == 7 && l[3].at_ms == 3 && l[3].within_ms == 4 &&
	    l[3].keys.source == PLAN_READY &&
	    l[4].keys.source == PLAN_COMPOSITE,
	    "so are the loads");
	ok(r->max == 3 && r->timeout_ms.kind == PLAN_EXP &&
	    r->backoff == PLAN_BACKOFF_EXP && r->base_ms == 10 &&
	    r->cap_ms == 40 && r->jitter == PLAN_JITTER_DECORRELATED &&
	    r->on == (PLAN_ON_RESET | PLAN_ON_BUSY) && r->rotate &&
	    r->honour_retry_after, "so is a retry");
	ok(l[2].retry.max == 1 && l[2].retry.timeout_ms.a > 9999,
	    "who has no policy tries once, and waits for 10 s");
	ok(p->maybes[0].times == 2 && p->maybes[0].from_ms == 5 &&
	    p->maybes[0].to_ms == 1000 && p->maybes[0].restart_after_ms == 20,
	    "so is what is left to chance");
	ok(p->expect.custom_n == 1 && p->expect.fired_any &&
	    p->expect.queue_depth.base == 2 && p->explore.runs == 3 &&
	    p->explore.wall_ms == 1500 && p->heal_ms == 9000 &&
	    p->quiet_ms == 8,
	    "so is what is expected");
}

static void
check_all_words(void)
{
	struct scenario *s;
	char wrong[1000];
	FILE *f = fdopen(mkstemp(path), "w");

	if (f == NULL)
		bail_out("no temporary file");
	write_scenario(f);
	fclose(f);
	s = scenario_open(path, NULL, 0, wrong, sizeof wrong);
	if (!ok(s != NULL, "a scenario may have all words"))
		bail_out("%s", wrong);
	check_actions(scenario_plan(s, 0));
	check_triggers(scenario_plan(s, 0));
	check_members(scenario_plan(s, 0));
	scenario_close(s);
	unlink(path);
}

/* With arbiter token keys come from elsewhere than with the others. */
static void
check_tokens(void)
{
	const struct plan_send *sent;
	struct scenario *s;
	char wrong[1000], digest[3][72];
	FILE *f = fopen(path, "w");

	if (f == NULL || fputs("local sim = require 'idemsim' sim.api(1) local "
	    "how = sim.param('how', 'forged', { 'forged', 'unissued', "
	    "'elsewhere' }) return sim.scenario { name = 'x', topology = { "
	    "redis = { a = {} }, gates = { arbiter = 'token', store = 'a' } }, "
	    "load = { sim.script { { client = 'c1', get = { key = 'k', from = "
	    "'mint', to = 'g1' } }, { client = 'c1', send = { key = 'k' } }, { "
	    "client = 'c2', send = { key = 'p', from = 'form', token = how } } "
	    "} }, expect = { holds = { 'same_answer' } } }\n", f) < 0 ||
	    fclose(f) != 0)
		bail_out("no temporary file");
	s = scenario_open(path, NULL, 0, wrong, sizeof wrong);
	if (!ok(s != NULL, "tokens can be asked for"))
		bail_out("%s", wrong);
	sent = scenario_plan(s, 0)->loads[0].sends;
	ok(sent[0].get && sent[0].source == PLAN_MINT && sent[0].gate == 0 &&
	    !sent[1].get && sent[1].source == PLAN_MINT,
	    "what is said of a key once is so of all that send it");
	ok(sent[2].source == PLAN_FORM && sent[2].spoilt == PLAN_FORGED &&
	    scenario_plan(s, 1)->loads[0].sends[2].spoilt == PLAN_UNISSUED &&
	    scenario_plan(s, 2)->loads[0].sends[2].spoilt == PLAN_ELSEWHERE,
	    "and what is sent in place of one");
	plan_digest(scenario_plan(s, 0), digest[0]);
	plan_digest(scenario_plan(s, 1), digest[1]);
	plan_digest(scenario_plan(s, 2), digest[2]);
	ok(strcmp(digest[0], digest[1]) != 0 &&
	    strcmp(digest[1], digest[2]) != 0, "and it is another plan");
	scenario_close(s);
	unlink(path);
}

/* Gates that ask sentinels go past every link, so no other word is of them. */
static void
check_sentinels(void)
{
	struct scenario *s;
	char wrong[1000];
	FILE *f = fopen(path, "w");

	if (f == NULL || fputs("local sim = require 'idemsim' sim.api(1) "
	    "return sim.scenario { name = 'x', topology = { redis = { a = { "
	    "sentinel = true }, b = { replica_of = 'a' } }, gates = { arbiter "
	    "= 'redis', store = 'a' } }, load = { sim.script { { client = "
	    "'c1', send = { key = 'k' } } } }, faults = { sim.on(sim.at(5), "
	    "sim.store.failover('a', 'b')) }, expect = { holds = { "
	    "'same_answer' } } }\n", f) < 0 || fclose(f) != 0)
		bail_out("no temporary file");
	s = scenario_open(path, NULL, 0, wrong, sizeof wrong);
	ok(s != NULL && scenario_plan(s, 0)->stores[0].sentinel &&
	    !scenario_plan(s, 0)->stores[1].sentinel, "sentinels are there");
	scenario_close(s);
	unlink(path);
}

/* With what a call can be told to fail. */
static void
check_failing(void)
{
	ok(plan_errno("ENOSPC") == ENOSPC && plan_errno("EVIL") == 0 &&
	    plan_errno("") == 0, "it can be told to fail with some errors");
}

/* --- configuration -------------------------------------------------------- */

static const struct config {
	const char *name, *value, *conf;	/* NULL: it is none */
} configs[] = {
	{ "lease", "3s", "\"3s\"" }, { "lease", "auto", "\"auto\"" },
	{ "lease", "3", NULL }, { "lease", "0s", NULL },
	{ "wait", "auto", NULL }, { "keep", "3650d", "\"3650d\"" },
	{ "keep", "3651d", NULL }, { "keep", "9223372036854775807d", NULL },
	{ "in_progress", "250ms", "wait \"250ms\"" },
	{ "in_progress", "409", "\"409\"" }, { "in_progress", "410", NULL },
	{ "on_unknown", "block", "\"block\"" },
	{ "on_unknown", "retry", "retry(3)" },
	{ "on_unknown", "retry 5", "retry(5)" },
	{ "on_unknown", "retry(7)", "retry(7)" },
	{ "on_unknown", "retry 0", NULL }, { "on_unknown", "retry (7", NULL },
	{ "on_unknown", "retry7", NULL },
	{ "on_unknown", "probe", NULL },
	{ "spool", "false", "false" }, { "spool", "0", NULL },
	{ "programs", "8", "8" }, { "programs", "0", NULL },
	{ "programs", "8s", NULL }, { "reserve", "0", "\"0\"" },
	{ "reserve", "64MiB", "\"64MiB\"" }, { "reserve", "64", NULL },
	{ "local_cache", "none", "\"none\"" },
	{ "local_cache", "1MiB", "{ size = \"1MiB\" }" },
	{ "max_kept", "1KiB", "\"1KiB\"" },
	{ "lost_signal", "TERM", "\"TERM\"" },
	{ "token_life", "2s", "\"2s\"" }, { "token_life", "999ms", NULL },
	{ "lost_signal", "KILL", NULL }, { "store_timeout", "61s", NULL },
};

static void
check_config(const struct config *c)
{
	const struct plan_config_word *w = plan_config_known(c->name);
	char out[200];

	if (w == NULL)
		bail_out("%s", c->name);
	if (c->conf == NULL)
		ok(plan_config_wrong(w, c->value, out, sizeof out) != NULL,
		    "%s = %s is refused", c->name, c->value);
	else if (ok(plan_config_wrong(w, c->value, out, sizeof out) == NULL,
	    "%s = %s is a value", c->name, c->value))
		is(plan_config_conf(w, c->value, out, sizeof out), c->conf,
		    "%s = %s of a configuration", c->name, c->conf);
}

/* --- labels --------------------------------------------------------------- */

static bool
is_label(const char *name, size_t len)
{
	const char *const *all;

	for (all = plan_labels(); *all != NULL; all++)
		if (strlen(*all) == len && strncmp(*all, name, len) == 0)
			return true;
	return false;
}

/* Those of a source that have no name here. */
static unsigned
strange_labels(const char *file, unsigned *found)
{
	char line[300];
	const char *at;
	unsigned strange = 0;
	FILE *f = fopen(file, "r");

	if (f == NULL)
		bail_out("%s cannot be read", file);
	while (fgets(line, sizeof line, f) != NULL) {
		at = strstr(line, "IDEM_LABEL");
		if (at == NULL || (at = strstr(at, "(\"")) == NULL)
			continue;
		++*found;
		if (!is_label(at + 2, strcspn(at + 2, "\"")))
			strange++, note("%s: %s", file, at + 2);
	}
	fclose(f);
	return strange;
}

static void
check_labels(void)
{
	static const char *const where[] = { "lib/*.c", "fcgi/*.c" };
	const char *top = getenv("top_srcdir");
	unsigned strange = 0, found = 0;
	char pattern[600];
	size_t i, n;
	glob_t g;

	for (i = 0; i < 2; i++) {
		snprintf(pattern, sizeof pattern, "%s/%s",
		    top != NULL ? top : ".", where[i]);
		if (glob(pattern, 0, NULL, &g) != 0)
			bail_out("%s: nothing is there", pattern);
		for (n = 0; n < g.gl_pathc; n++)
			strange += strange_labels(g.gl_pathv[n], &found);
		globfree(&g);
	}
	ok(strange == 0 && found > 10, "each label of idemd is known to "
	    "scenarios");
}

/* --- arenas and names ----------------------------------------------------- */

static void
check_arena(void)
{
	struct arena a = { NULL };
	size_t n = 0, i;
	uint32_t *all = NULL;
	char *large, *text;
	bool good = true;

	for (i = 0; i < 10000; i++)
		*(uint32_t *)arena_more(&a, &all, &n, sizeof *all) =
		    (uint32_t)i;
	for (i = 0; i < n; i++)
		good = good && all[i] == i;
	ok(good && n == 10000, "an array of an arena grows and keeps what is "
	    "in it");
	large = arena_get(&a, 1 << 20);
	for (i = 0; i < 1 << 20; i++)
		good = good && large[i] == 0;
	ok(good, "large pieces are zeroed as well");
	text = arena_format(&a, "%0*d", 1000, 7);
	ok(strlen(text) == 1000 && text[999] == '7', "a long format is whole");
	is(arena_format(&a, "%s %d", "x", 7), "x 7", "so is a short one");
	ok((uintptr_t)arena_get(&a, 1) % sizeof(void *) == 0 &&
	    (uintptr_t)arena_get(&a, 3) % sizeof(void *) == 0,
	    "pieces are aligned");
	arena_free(&a);
	ok(a.last == NULL, "and it is empty again");
}

/* What a plan says is in its digest; where it stands is not. */
static void
check_digest(void)
{
	static const struct plan_pair param = { "p", "v" };
	static const char *const some[] = { "x" };
	struct plan p = { .name = "x", .file = "f" }, base = p;
	char was[72], is_now[72];
	bool differ = true;
	int change;

	plan_digest(&base, was);
	for (change = 0; change < 10; change++) {
		p = base;
		switch (change) {
		case 0: p.name = "y"; break;
		case 1: p.about = ""; break;
		case 2: p.heal_ms = 1; break;
		case 3: p.params = &param; p.params_n = 1; break;
		case 4: p.gates.n = 2; break;
		case 5: p.handler.service_ms.a = 1; break;
		case 6: p.expect.sometimes = some; p.expect.sometimes_n = 1;
			break;
		case 7: p.expect.holds[PLAN_RESOLVES] = true; break;
		case 8: p.expect.queue_depth.base = 1; break;
		case 9: p.explore.runs = 1; break;
		}
		plan_digest(&p, is_now);
		if (strcmp(was, is_now) == 0) {
			differ = false;
			note("change %d", change);
		}
	}
	ok(differ, "a plan that says something else has another digest");
	p = base;
	p.file = "elsewhere";
	p.number = 7;
	plan_digest(&p, is_now);
	is(is_now, was, "where it stands is not in its digest");
}

static void
check_invariants(void)
{
	enum plan_invariant found;
	size_t i;
	bool good = true;

	for (i = 0; i < PLAN_INVARIANTS; i++)
		good = good && plan_invariant_find(plan_invariant_text(
		    (enum plan_invariant)i), &found) && found == i;
	ok(good, "each invariant is found by its name");
	ok(!plan_invariant_find("at_most_twice", &found), "others are not");
}

int
main(void)
{
	size_t i;

	check_all_words();
	check_tokens();
	check_sentinels();
	check_failing();
	for (i = 0; i < sizeof configs / sizeof *configs; i++)
		check_config(&configs[i]);
	check_labels();
	check_arena();
	check_digest();
	check_invariants();
	return done();
}
