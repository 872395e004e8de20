/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lauxlib.h>
#include <lua.h>

#include <inttypes.h>
#include <string.h>

#define TIMES_MAX 1000
#define DEPTH_MAX 8	/* of sim.after in itself */

/* The rules of a plan, while they are read. */
struct faults {
	struct plan_rule *rules;
	size_t rules_n;
	struct plan_maybe *maybes;
	size_t maybes_n;
	unsigned ids;
};

/* --- on ------------------------------------------------------------------- */

struct actions {
	struct plan_action *all;
	size_t n;
	int depth;
};

static bool
can_fail(const char *label)
{
	const char *const *at;

	for (at = plan_failing_labels(); *at != NULL; at++)
		if (strcmp(*at, label) == 0)
			return true;
	return false;
}

static const char *
failing_labels(char *out, size_t size)
{
	const char *const *at;
	size_t len = 0;

	for (at = plan_failing_labels(); *at != NULL && len < size; at++)
		len += (size_t)snprintf(out + len, size - len, " %s", *at);
	return out;
}

/*
 * An errno can only be given to who waits at a label for its word, and only
 * some heed it.
 */
static void
check_fail(const struct scenario_at *at, const struct plan_action *a,
    const struct plan_trigger *when)
{
	char words[200];

	if (a->kind != PLAN_PROC_FAIL)
		return;
	if (when == NULL || when->kind != PLAN_LABEL || a->after_ms > 0)
		scenario_wrong(at, NULL, "sim.proc.fail is of a label, where "
		    "something can fail; say sim.on(sim.label(...), "
		    "sim.proc.fail(...))");
	if (!can_fail(when->label))
		scenario_wrong(at, NULL, "nothing can be told to fail at "
		    "\"%s\"; it can at%s", when->label,
		    failing_labels(words, sizeof words));
	if (a->gate != PLAN_ANY && a->gate != when->gate)
		scenario_wrong(at, NULL, "who comes to the label fails; say "
		    "the same gate, or sim.proc.fail(\"*\", ...)");
}

/* At a time "*" is any of them, and another one each time. */
static void
check_any(const struct scenario_at *at, const struct plan_action *a,
    const struct plan_trigger *when)
{
	if (when->kind == PLAN_AT && a->gate == PLAN_ANY &&
	    (a->kind == PLAN_PROC_RESUME || a->kind == PLAN_PROC_RESTART))
		scenario_wrong(at, NULL, "which one? of a time \"*\" is any, "
		    "and maybe not the one that was stopped; say \"g1\" in "
		    "both places");
}

/* All faults end then: nothing begins any more. */
static void
check_heal(const struct scenario_at *at, const struct plan_action *a,
    const struct plan_trigger *when)
{
	int64_t heal_ms = at->plan->heal_ms;

	if (when->kind != PLAN_AT || heal_ms < 0 || plan_action_heals(a) ||
	    (a->kind == PLAN_OPERATOR_RESOLVE && when->at_ms <= heal_ms))
		return;
	if (when->at_ms + a->after_ms > heal_ms)
		scenario_wrong(at, NULL, "%" PRId64 " ms is after heal.at, "
		    "when all faults end; say it before, or heal later",
		    when->at_ms + a->after_ms);
}

/* Those of a list from its `first` on, so long after the trigger. */
static void
read_actions(const struct scenario_at *list, size_t first, int64_t after_ms,
    const struct plan_trigger *when, struct actions *out)
{
	const struct scenario_word *word;
	const struct scenario_made *made;
	struct plan_action a;
	struct scenario_at inner;
	char field[SCENARIO_NTH];
	size_t n = lua_rawlen(list->L, list->table), i;

	for (i = first; i <= n; i++) {
		scenario_nth(field, i);
		scenario_has(list, field);
		made = scenario_made(list->L, -1);
		if (made != NULL && made->word->kind == SCENARIO_AFTER) {
			inner = scenario_given(list, field, SCENARIO_AFTER,
			    "", &word);
			if (++out->depth > DEPTH_MAX)
				scenario_wrong(&inner, NULL, "one in another, "
				    "%d deep; say their sum", DEPTH_MAX);
			read_actions(&inner, 2, after_ms +
			    scenario_ms(&inner, "[1]", 0), when, out);
			out->depth--;
		} else {
			a = scenario_action(list, field);
			a.after_ms = after_ms;
			check_fail(list, &a, when);
			check_heal(list, &a, when);
			check_any(list, &a, when);
			*(struct plan_action *)scenario_more(list, &out->all,
			    &out->n, sizeof a) = a;
		}
		lua_settop(list->L, list->table);
	}
}

static void
read_on(const struct scenario_at *given, struct faults *f)
{
	struct actions actions = { .n = 0 };
	struct plan_rule rule = { .line = given->place.line };
	size_t i;

	scenario_has(given, "[1]");
	rule.when = scenario_trigger(given, NULL);
	lua_settop(given->L, given->table);
	read_actions(given, 2, 0, &rule.when, &actions);
	for (i = 0; i < actions.n; i++)
		actions.all[i].id = f->ids++;
	rule.actions = actions.all;
	rule.n = actions.n;
	*(struct plan_rule *)scenario_more(given, &f->rules, &f->rules_n,
	    sizeof rule) = rule;
}

/* --- maybe ---------------------------------------------------------------- */

static void
window(const struct scenario_at *options, struct plan_maybe *m)
{
	struct scenario_at list;

	if (!scenario_has(options, "window"))
		return;
	list = scenario_inside(options, "window");
	if (scenario_fields(&list, NULL) != 2)
		scenario_wrong(options, "window", "a window has two ends; say "
		    "{ 200, 1500 }");
	m->from_ms = scenario_ms(&list, "[1]", 0);
	m->to_ms = scenario_ms(&list, "[2]", 0);
	if (m->to_ms <= m->from_ms)
		scenario_wrong(options, "window", "it ends before it begins; "
		    "say the earlier time first");
	if (options->plan->heal_ms >= 0 && m->to_ms > options->plan->heal_ms)
		scenario_wrong(options, "window", "it ends after heal.at, when "
		    "all faults end; say it before, or heal later");
	lua_pop(options->L, 1);
}

static void
read_maybe(const struct scenario_at *given, const struct scenario_word *word,
    struct faults *f)
{
	struct plan_maybe m = { .restart_after_ms = -1,
	    .line = given->place.line };
	struct scenario_at options;

	m.times = (unsigned)scenario_whole(given, "[1]", 1, TIMES_MAX, 1);
	scenario_has(given, "[2]");
	m.action = scenario_action(given, NULL);
	check_fail(given, &m.action, NULL);
	if (plan_action_heals(&m.action))
		scenario_wrong(given, NULL, "what ends a fault is no choice; "
		    "say a fault, as sim.proc.kill(\"g1\")");
	if (scenario_options(given, 3, word, &options)) {
		window(&options, &m);
		m.restart_after_ms = scenario_ms(&options, "restart_after",
		    -1);
		if (m.restart_after_ms >= 0 &&
		    m.action.kind != PLAN_PROC_KILL &&
		    m.action.kind != PLAN_STORE_KILL)
			scenario_wrong(&options, "restart_after", "only what "
			    "was killed is started again; leave it out");
	}
	m.action.id = f->ids++;
	*(struct plan_maybe *)scenario_more(given, &f->maybes, &f->maybes_n,
	    sizeof m) = m;
}

/* --- all of them ---------------------------------------------------------- */

/* Does a rule put the store's data by? */
static bool
is_saved(const struct faults *f, int store)
{
	const struct plan_action *a;
	size_t i, j;

	for (i = 0; i < f->rules_n; i++)
		for (j = 0; j < f->rules[i].n; j++) {
			a = &f->rules[i].actions[j];
			if (a->kind == PLAN_STORE_SAVE && a->store == store)
				return true;
		}
	return false;
}

/* What only another action can bring about. */
static void
check_action(const struct scenario_at *list, const struct faults *f,
    const struct plan_action *a)
{
	struct scenario_at at = *list;

	at.place.line = a->line;
	at.in = NULL;
	if (a->kind == PLAN_STORE_RESTART && a->older &&
	    !is_saved(f, a->store)) {
		at.what = "store.restart";
		scenario_wrong(&at, "older", "nothing was put by; say "
		    "sim.store.save before");
	}
}

static void
check_actions(const struct scenario_at *list, const struct faults *f)
{
	size_t i, j;

	for (i = 0; i < f->rules_n; i++)
		for (j = 0; j < f->rules[i].n; j++)
			check_action(list, f, &f->rules[i].actions[j]);
	for (i = 0; i < f->maybes_n; i++)
		check_action(list, f, &f->maybes[i].action);
}

static void
read_fault(const struct scenario_at *list, const char *field,
    struct faults *f)
{
	const struct scenario_made *made = scenario_made(list->L, -1);
	const struct scenario_word *word;
	struct scenario_at given;

	if (made != NULL && made->word->kind == SCENARIO_MAYBE) {
		given = scenario_given(list, field, SCENARIO_MAYBE, "", &word);
		read_maybe(&given, word, f);
		return;
	}
	given = scenario_given(list, field, SCENARIO_ON, "a rule; say "
	    "sim.on(sim.at(150), sim.proc.kill(\"g1\")) or sim.maybe(1, "
	    "...)", &word);
	read_on(&given, f);
}

void
scenario_faults(const struct scenario_at *at)
{
	struct faults f = { .ids = 0 };
	struct scenario_at list;
	char field[SCENARIO_NTH];
	size_t n, i;

	if (!scenario_has(at, "faults"))
		return;
	list = scenario_inside(at, "faults");
	n = scenario_fields(&list, NULL);
	for (i = 1; i <= n; i++) {
		scenario_nth(field, i);
		scenario_has(&list, field);
		read_fault(&list, field, &f);
		lua_settop(at->L, list.table);
	}
	check_actions(&list, &f);
	at->plan->rules = f.rules;
	at->plan->rules_n = f.rules_n;
	at->plan->maybes = f.maybes;
	at->plan->maybes_n = f.maybes_n;
	at->plan->actions_n = f.ids;
	lua_pop(at->L, 1);
}
