/* SPDX-License-Identifier: ISC */
#include "judge_private.h"

#include "check_private.h"
#include "scenario.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *
judge_text(enum judge_verdict verdict)
{
	static const char *const words[JUDGE_VERDICTS] = {
		[JUDGE_PASS] = "pass",
		[JUDGE_FAIL] = "fail",
		[JUDGE_INCONCLUSIVE] = "inconclusive",
		[JUDGE_VACUOUS] = "vacuous",
		[JUDGE_SKIP] = "skip"
	};

	return words[verdict];
}

/* --- one run -------------------------------------------------------------- */

void
judge_decide(struct judge_run *run, enum judge_verdict verdict,
    const char *format, ...)
{
	va_list args;

	run->verdict = verdict;
	run->by_check = run->hasty = false;
	va_start(args, format);
	vsnprintf(run->message, sizeof run->message, format, args);
	va_end(args);
}

/*
 * Who died without the plan's doing may have been killed for want of memory, or
 * have crashed: what followed says nothing about what was to be shown.  Of
 * programs, and of parts of an instance, only the kernel tells.
 */
static bool
died(const struct history *h, struct judge_run *run)
{
	const struct history_event *e;
	size_t i;

	for (i = 0; i < h->n; i++) {
		e = &h->events[i];
		if (e->kind == HISTORY_EXIT && !e->wanted) {
			judge_decide(run, JUDGE_INCONCLUSIVE, "%s ended (%s), "
			    "and the plan had nothing to do with it", e->p,
			    e->why != NULL ? e->why : "nobody knows how");
			return true;
		}
		if (e->kind == HISTORY_NOTE && check_is(e->label, "oom")) {
			judge_decide(run, JUDGE_INCONCLUSIVE, "%s",
			    e->what != NULL ? e->what : "somebody was killed "
			    "for want of memory");
			return true;
		}
	}
	return false;
}

/* The first; but one that no delay explains comes before all others. */
static void
broke(struct judge_run *run, const struct check_finding *f)
{
	if (run->verdict == JUDGE_FAIL && (f->of_time || !run->hasty))
		return;
	judge_decide(run, JUDGE_FAIL, "%s: %s",
	    plan_invariant_text(f->invariant), f->message);
	run->finding = *f;
	run->by_check = true;
	run->hasty = f->of_time;
}

static void
showed(const struct history_head *head, struct judge_run *run,
    const struct check_finding *f)
{
	if (head->blames != NULL && (f->blames == NULL ||
	    strcmp(head->blames, f->blames) != 0))
		return;
	run->shown[f->invariant] = true;
	if (run->verdict != JUDGE_PASS || run->by_check)
		return;
	run->finding = *f;
	run->by_check = true;
}

static void
relaxed(const struct history_head *head, struct judge_run *run,
    const struct check_finding *f)
{
	if (run->verdict == JUDGE_PASS && run->message[0] == '\0')
		snprintf(run->message, sizeof run->message, "%s did not hold, "
		    "which is relaxed: %.200s",
		    plan_invariant_text(f->invariant),
		    head->relaxed[f->invariant]);
}

static void
open(struct judge_run *run, const struct check_finding *f)
{
	if (run->verdict != JUDGE_PASS)
		return;
	judge_decide(run, JUDGE_INCONCLUSIVE, "%s cannot be said: %s",
	    plan_invariant_text(f->invariant), f->message);
	run->hasty = true;
}

static void
check_one(const struct check_view *v, enum plan_invariant invariant,
    struct judge_run *run)
{
	const struct history_head *head = v->head;
	struct check_finding f;

	if (!head->holds[invariant] && !head->violates[invariant] &&
	    head->relaxed[invariant] == NULL)
		return;
	check_by(v, invariant, &f);
	run->exercised[invariant] = f.said == CHECK_HOLDS ||
	    f.said == CHECK_VIOLATED;
	if (head->violates[invariant]) {
		if (f.said == CHECK_VIOLATED)
			showed(head, run, &f);
	} else if (head->relaxed[invariant] != NULL) {
		if (f.said == CHECK_VIOLATED)
			relaxed(head, run, &f);
	} else if (f.said == CHECK_VIOLATED)
		broke(run, &f);
	else if (f.said == CHECK_OPEN)
		open(run, &f);
}

static bool
all_shown(const struct history_head *head, const bool *shown)
{
	bool any = false;
	size_t i;

	for (i = 0; i < PLAN_INVARIANTS; i++) {
		any = any || head->violates[i];
		if (head->violates[i] && !shown[i])
			return false;
	}
	return any;
}

static void
ask_scenario(const struct history *h, struct scenario *s, size_t point,
    struct judge_run *run)
{
	const struct plan_expect *x = &scenario_plan(s, point)->expect;
	char why[CHECK_WORDS];
	size_t i;

	for (i = 0; i < x->custom_n && (run->verdict != JUDGE_FAIL ||
	    run->hasty); i++) {
		why[0] = '\0';
		switch (scenario_custom(s, point, i, h, why, sizeof why)) {
		case SCENARIO_YES:
			break;
		case SCENARIO_NO:
			judge_decide(run, JUDGE_FAIL, "%s: %s", x->custom[i],
			    why[0] != '\0' ? why : "it does not hold");
			break;
		case SCENARIO_WRONG:
			if (run->verdict == JUDGE_PASS)
				judge_decide(run, JUDGE_INCONCLUSIVE,
				    "%s cannot be said: %s", x->custom[i],
				    why);
			break;
		}
	}
}

/* The last note says why, if anything does. */
static void
cut_short(const struct history *h, struct judge_run *run)
{
	const char *why = NULL;
	size_t i;

	for (i = 0; i < h->n; i++)
		if (h->events[i].kind == HISTORY_NOTE &&
		    h->events[i].what != NULL)
			why = h->events[i].what;
	judge_decide(run, JUDGE_INCONCLUSIVE, "the run was cut short%s%s",
	    why != NULL ? ": " : "", why != NULL ? why : "");
	run->hasty = true;
}

void
judge_alone(const struct history *h, struct scenario *s, size_t point,
    struct judge_run *run)
{
	struct check_view v;
	bool ended;
	size_t i;

	memset(run, 0, sizeof *run);
	if (died(h, run))
		return;
	check_view_make(&v, h);
	for (i = 0; i < PLAN_INVARIANTS; i++)
		check_one(&v, (enum plan_invariant)i, run);
	run->controlled = all_shown(&h->head, run->shown);
	ended = v.ended;
	if (!ended && run->verdict != JUDGE_FAIL)
		cut_short(h, run);
	check_view_free(&v);
	/* They take what is not there for what did not happen. */
	if (s != NULL && ended)
		ask_scenario(h, s, point, run);
}

void
judge_run(const struct history *h, struct scenario *s, size_t point,
    struct judge_run *run)
{
	struct arena arena = { NULL };
	const struct plan_expect *x = s != NULL ?
	    &scenario_plan(s, point)->expect : NULL;
	unsigned *fired = arena_get(&arena, (h->head.faults_n + 1) *
	    sizeof *fired);
	bool *sometimes = arena_get(&arena, (x != NULL ? x->sometimes_n : 0) +
	    1);
	struct judge_tally t = {
		.head = &h->head, .fired = fired, .expect = x,
		.exercised = run->exercised, .shown = run->shown,
		.sometimes = sometimes, .alone = true
	};
	struct judge_answers answers = { .tries = 0 };
	enum judge_verdict verdict;
	char message[CHECK_WORDS];

	judge_alone(h, s, point, run);
	judge_count_fired(h, fired, h->head.faults_n);
	if (run->verdict == JUDGE_PASS && s != NULL)
		judge_ask_sometimes(h, s, point, sometimes, run);
	verdict = run->verdict == JUDGE_PASS ? judge_tally_up(&t, message,
	    sizeof message) : JUDGE_PASS;
	if (verdict != JUDGE_PASS) {
		judge_answers_take(&answers, h);
		judge_answers_say(&answers, message, sizeof message);
		judge_decide(run, verdict, "%s", message);
	} else if (run->verdict == JUDGE_PASS && s == NULL && h->head.own > 0)
		judge_decide(run, JUDGE_INCONCLUSIVE, "all else is well, but "
		    "the scenario's own functions have a say (%zu), and they "
		    "are not here", h->head.own);
	arena_free(&arena);
}
