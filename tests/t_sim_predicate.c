/* SPDX-License-Identifier: ISC */
#include "scenario.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS INT64_C(1000000)

static char path[] = "/tmp/t_sim_predicate.XXXXXX";

/* What a file's function does, what is said of the history below, and why. */
static const struct row {
	const char *lua;
	enum scenario_said said;
	const char *why;	/* a part of it; or NULL */
} rows[] = {
	{ "return h:count {} == 14", SCENARIO_YES, NULL },
	{ "return h:count { kind = 'inv' } == 3", SCENARIO_YES, NULL },
	{ "return h:count { e = 'ret' } == 2", SCENARIO_YES, NULL },
	{ "return h:count { kind = 'reply' } == 2", SCENARIO_YES, NULL },
	{ "return h:count { kind = 'reply', class = 'ok' } == 1",
	  SCENARIO_YES, NULL },
	{ "return h:count { kind = 'reply', class = 'busy' } == 1",
	  SCENARIO_YES, NULL },
	{ "return h:count { kind = 'reply', source = 'ledger' } == 1",
	  SCENARIO_YES, NULL },
	{ "return h:count { kind = 'reply', source = 'replay' } == 2",
	  SCENARIO_YES, NULL },
	{ "return h:count { kind = 'reply', source = 'fresh' } == 1",
	  SCENARIO_YES, NULL },
	{ "return h:count { kind = 'reply', source = 'ledger', class = 'ok' }"
	  " == 1", SCENARIO_YES, NULL },
	{ "return h:count { kind = 'store', script = 'complete', code = "
	  "'lost' } == 1", SCENARIO_YES, NULL },
	{ "return h:count { kind = 'store', note = 'lost_ack' } == 1",
	  SCENARIO_YES, NULL },
	{ "return h:count { status = 200 } == 1", SCENARIO_YES, NULL },
	{ "return h:count { status = '200' } == 1", SCENARIO_YES, NULL },
	{ "return h:count { k = 'k', to = 'g2' } == 3", SCENARIO_YES, NULL },
	{ "return h:count { key = 'other' } == 0", SCENARIO_YES, NULL },
	{ "return h:count { kind = 'inv', audit = true } == 1", SCENARIO_YES,
	  NULL },
	{ "return h:count { kind = 'inv', audit = false } == 2",
	  SCENARIO_YES, NULL },
	{ "return h:overlap('k', 'g1', 'g2')", SCENARIO_YES, NULL },
	{ "return h:overlap('k', 'g1', 'g3')", SCENARIO_NO, NULL },
	{ "return h:overlap('other', 'g1', 'g2')", SCENARIO_NO, NULL },
	{ "return #h:effects('k') == 1 and h:effects('k')[1].id == 'e1'",
	  SCENARIO_YES, NULL },
	{ "return #h:effects('other') == 0", SCENARIO_YES, NULL },
	{ "local n = 0 for e in h:each { kind = 'effect' } do n = n + e.ms "
	  "end return n == 70", SCENARIO_YES, NULL },
	{ "local t = 0 for e in h:each() do assert(e.t >= t) t = e.t end "
	  "return t == 200000000", SCENARIO_YES, NULL },
	{ "for e in h:each { kind = 'ret', class = 'busy' } do return e.how "
	  "== 'whole' and e.a == 2 and e.retry_after_s == 1 end",
	  SCENARIO_YES, NULL },
	{ "for e in h:each { kind = 'inv' } do return e.status == nil and "
	  "e.mark == nil and e.class == nil and e.audit == false end",
	  SCENARIO_YES, NULL },
	{ "for e in h:each { kind = 'fault' } do return e.label == "
	  "'claim.ok' and e.fault == 0 and e.p == 'g1' and e.i == 4 end",
	  SCENARIO_YES, NULL },
	{ "return math.random(1000) == math.random(1000)", SCENARIO_NO,
	  NULL },

	/* --- what a custom invariant may say --- */
	{ "return true", SCENARIO_YES, NULL },
	{ "", SCENARIO_YES, NULL },
	{ "return nil", SCENARIO_YES, NULL },
	{ "return false", SCENARIO_NO, "" },
	{ "return false, 'k was run twice'", SCENARIO_NO, "k was run twice" },
	{ "return 7", SCENARIO_WRONG, "it gave 7; return true" },

	/* --- mistakes --- */
	{ "return h:count { knd = 'inv' }", SCENARIO_WRONG, "did you mean "
	  "`kind`" },
	{ "return h:count { kind = 'invv' }", SCENARIO_WRONG, "did you mean "
	  "\"inv\"" },
	{ "return h:count { kind = 'reply', class = 'okay' }",
	  SCENARIO_WRONG, "not one of ok, fail" },
	{ "return h:count { status = {} }", SCENARIO_WRONG, "status: a table" },
	{ "return h:count 'inv'", SCENARIO_WRONG, "table expected" },
	{ "return h:counts {}", SCENARIO_WRONG, "did you mean h:count?" },
	{ "return h.events", SCENARIO_WRONG, "a history has no `events`" },
	{ "for e in h:each {} do return e.stats end", SCENARIO_WRONG,
	  "did you mean `status`" },
	{ "for e in h:each {} do e.t = 1 end", SCENARIO_WRONG, "cannot be "
	  "changed" },
	{ "return h.count({}, {})", SCENARIO_WRONG, "scenario history "
	  "expected" },
	{ "return x", SCENARIO_WRONG, "there is no `x`" },
	{ "local y return y.z", SCENARIO_WRONG, "attempt to index" },
	{ "error 'enough'", SCENARIO_WRONG, "enough" },
	{ "sim.at(1)", SCENARIO_WRONG, "only looks at its history" },
	{ "require 'other'", SCENARIO_WRONG, "cannot load others" },
	{ "while true do end", SCENARIO_WRONG, "it runs too long" },
	{ "while true do h:count {} end", SCENARIO_WRONG, "it runs too long" },
	{ "local t = {} while true do t[#t + 1] = {} end", SCENARIO_WRONG,
	  "more than 64 MiB" },
	{ "kept = h", SCENARIO_WRONG,
	  "`kept` is not local" },
	{ "keep.h = keep.h or h return keep.h:count {} == 14", SCENARIO_YES,
	  NULL },
	{ "return keep.h:count {} == 14", SCENARIO_WRONG, "this history is "
	  "over" },
};
#define ROWS (sizeof rows / sizeof *rows)

static void
write_scenario(FILE *f)
{
	size_t i;

	fputs("local sim = require 'idemsim' sim.api(1) local keep = {} "
	    "local all, some = {}, {}\n", f);
	for (i = 0; i < ROWS; i++)
		fprintf(f, "all[%zu] = sim.invariant('i%zu', function(h) %s "
		    "end)\n", i + 1, i, rows[i].lua);
	fputs("return sim.scenario { name = 'x', topology = { gates = { n = "
	    "2, arbiter = 'ledger', ledger = 'shared' } }, load = { "
	    "sim.script { { client = 'c1', send = { key = 'k' } } } }, "
	    "faults = { sim.on(sim.label('g1', 'claim.ok'), "
	    "sim.proc.kill('g1')) }, expect = { holds = all, sometimes = { "
	    "b = function(h) return h:count { kind = 'inv' } > 0 end, "
	    "a = function(h) return h:count { kind = 'inv' } > 9 end, "
	    "c = function(h) end, d = function(h) return nil + 1 end } } }\n",
	    f);
}

static struct history_event *
add(struct history *h, enum history_kind kind, int64_t ms, const char *p)
{
	struct history_event *e = history_add(h, kind, ms * MS, p);

	e->k = history_text(h, "k");
	return e;
}

static void
ask(struct history *h, int64_t ms, const char *client, const char *gate,
    int a, bool audit)
{
	struct history_event *e = add(h, HISTORY_INV, ms, client);

	e->client = e->p;
	e->to = history_text(h, gate);
	e->a = a;
	e->audit = audit;
}

static void
answer(struct history *h, int64_t ms, const char *client, const char *gate,
    int a, int status)
{
	struct history_event *e = add(h, HISTORY_RET, ms, client);

	e->a = a;
	e->to = history_text(h, gate);
	e->status = status;
	e->how = OUTCOME_WHOLE;
	e->class = status == 200 ? OUTCOME_OK : OUTCOME_BUSY;
	e->retry_after_s = status == 200 ? -1 : 1;
	if (status == 200)
		e->source = history_text(h, "ledger");
}

static void
log_line(struct history *h, int64_t ms, const char *source, const char *mark)
{
	struct history_event *e = add(h, HISTORY_LOG, ms, "g1");

	e->source = history_text(h, source);
	e->mark = history_text(h, mark);
}

static void
effect(struct history *h, int64_t ms, const char *ph)
{
	struct history_event *e = add(h, HISTORY_EFFECT, ms, "h1");

	e->id = history_text(h, "e1");
	e->ph = history_text(h, ph);
	e->a = 1;
}

static void
make_history(struct history *h, const struct plan *plan)
{
	struct history_event *e;

	history_begin(h, plan, "live", 7, 1);
	ask(h, 0, "c1", "g1", 1, false);
	ask(h, 5, "c2", "g2", 2, false);
	effect(h, 10, "begin");
	e = add(h, HISTORY_FAULT, 15, "g1");
	e->fault = 0;
	e->label = history_text(h, "claim.ok");
	effect(h, 20, "commit");
	e = add(h, HISTORY_STORE, 25, "a");
	e->script = history_text(h, "complete");
	e->code = history_text(h, "LOST");
	e = add(h, HISTORY_STORE, 30, "a");
	e->note = history_text(h, "lost_ack");
	effect(h, 40, "end");
	log_line(h, 50, "fresh", "stored");
	answer(h, 60, "c2", "g2", 2, 409);
	log_line(h, 65, "ledger", "replayed");
	log_line(h, 66, "local", "replayed");
	answer(h, 70, "c1", "g1", 1, 200);
	ask(h, 200, "c9", "g2", 3, true);
}

static void
check(struct scenario *s, size_t i, const struct history *h)
{
	static const char *const texts[] = { "yes", "no", "that it fails" };
	enum scenario_said said;
	char why[600] = "";

	said = scenario_custom(s, 0, i, h, why, sizeof why);
	if (!ok(said == rows[i].said && (rows[i].why == NULL ||
	    strstr(why, rows[i].why) != NULL), "%s: it says %s", rows[i].lua,
	    texts[rows[i].said]))
		note("%s: %s", texts[said], why);
}

static void
check_sometimes(struct scenario *s, const struct history *h)
{
	char why[600];

	is(scenario_plan(s, 0)->expect.sometimes[0], "a", "what must be seen "
	    "is in the order of names");
	ok(scenario_sometimes(s, 0, 0, h, why, sizeof why) == SCENARIO_NO,
	    "what is not in a history was not seen");
	ok(scenario_sometimes(s, 0, 1, h, why, sizeof why) == SCENARIO_YES,
	    "what is was");
	ok(scenario_sometimes(s, 0, 2, h, why, sizeof why) == SCENARIO_NO,
	    "nothing is no");
	ok(scenario_sometimes(s, 0, 3, h, why, sizeof why) == SCENARIO_WRONG &&
	    strstr(why, "attempt to perform arithmetic") != NULL &&
	    strncmp(why, path, strlen(path)) == 0,
	    "one that fails is told, with file and line");
	ok(scenario_sometimes(s, 0, 4, h, why, sizeof why) ==
	    SCENARIO_WRONG && scenario_sometimes(s, 1, 0, h, why,
	    sizeof why) == SCENARIO_WRONG && scenario_custom(s, 0, ROWS, h,
	    why, sizeof why) == SCENARIO_WRONG,
	    "one that is not there is told");
}

int
main(void)
{
	struct history h = { .n = 0 };
	struct scenario *s;
	char wrong[1000];
	FILE *f = fdopen(mkstemp(path), "w");
	size_t i;

	if (f == NULL)
		bail_out("no temporary file");
	write_scenario(f);
	fclose(f);
	s = scenario_open(path, NULL, 0, wrong, sizeof wrong);
	if (s == NULL)
		bail_out("%s", wrong);
	make_history(&h, scenario_plan(s, 0));
	for (i = 0; i < ROWS; i++)
		check(s, i, &h);
	check_sometimes(s, &h);
	history_free(&h);
	scenario_close(s);
	unlink(path);
	return done();
}
