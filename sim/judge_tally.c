/* SPDX-License-Identifier: ISC */
#include "judge_private.h"

#include "scenario.h"

#include <stdio.h>

static bool
nothing_shown(const struct judge_tally *t, char *out, size_t size)
{
	size_t i;

	for (i = 0; i < PLAN_INVARIANTS; i++)
		if (t->head->violates[i] && !t->shown[i]) {
			snprintf(out, size, "a negative control: %s was to be "
			    "violated%s%s, and was not",
			    plan_invariant_text((enum plan_invariant)i),
			    t->head->blames != NULL ? " by the " : "",
			    t->head->blames != NULL ? t->head->blames : "");
			return true;
		}
	return false;
}

static bool
no_fault(const struct judge_tally *t, char *out, size_t size)
{
	const struct history_head *head = t->head;
	size_t i, wanted = 0, never = 0, fired = 0;

	for (i = head->faults_n; i-- > 0;) {
		fired += head->faults[i].must != 0 && t->fired[i] > 0;
		wanted += head->faults[i].must != 0;
		if (head->faults[i].must == 1 && t->fired[i] == 0)
			never = i + 1;
	}
	if (head->fired_none || wanted == 0 || (head->fired_any && fired > 0))
		return false;
	if (head->fired_any)
		snprintf(out, size, "none of its %zu faults happened", wanted);
	else if (never > 0)
		snprintf(out, size, "a fault never happened: %s",
		    head->faults[never - 1].text != NULL ?
		    head->faults[never - 1].text : "?");
	return head->fired_any || never > 0;
}

static bool
never_sometimes(const struct judge_tally *t, char *out, size_t size)
{
	size_t i;

	for (i = 0; t->expect != NULL && i < t->expect->sometimes_n; i++)
		if (!t->sometimes[i]) {
			snprintf(out, size, "it was never so: %s",
			    t->expect->sometimes[i]);
			return true;
		}
	return false;
}

static bool
unexercised(const struct judge_tally *t, char *out, size_t size)
{
	size_t i;

	for (i = 0; i < PLAN_INVARIANTS; i++)
		if (t->head->holds[i] && t->head->relaxed[i] == NULL &&
		    !t->head->violates[i] && !t->exercised[i]) {
			snprintf(out, size, "%s is unexercised: what it is "
			    "about never came about",
			    plan_invariant_text((enum plan_invariant)i));
			return true;
		}
	return false;
}

/* It is right whatever happens. */
static bool
nothing_claimed(const struct judge_tally *t, char *out, size_t size)
{
	size_t i;

	for (i = 0; i < PLAN_INVARIANTS; i++)
		if (t->head->holds[i] || t->head->violates[i] ||
		    t->head->relaxed[i] != NULL)
			return false;
	if (t->head->own > 0)
		return false;
	snprintf(out, size, "nothing was to hold");
	return true;
}

enum judge_verdict
judge_tally_up(const struct judge_tally *t, char *out, size_t size)
{
	if (nothing_shown(t, out, size))
		return JUDGE_FAIL;
	if (no_fault(t, out, size) || never_sometimes(t, out, size) ||
	    (t->alone && !t->head->others && unexercised(t, out, size)) ||
	    nothing_claimed(t, out, size))
		return JUDGE_VACUOUS;
	return JUDGE_PASS;
}

/* Who tells may count, or add events, or both. */
void
judge_count_fired(const struct history *h, unsigned *fired, size_t faults)
{
	const struct history_event *e;
	struct arena arena = { NULL };
	unsigned *seen = arena_get(&arena, (faults + 1) * sizeof *seen);
	size_t i;

	for (i = 0; i < h->n; i++) {
		e = &h->events[i];
		/* What ends another is a heal, with its own id. */
		if ((e->kind == HISTORY_FAULT || e->kind == HISTORY_HEAL) &&
		    e->fault >= 0 && (size_t)e->fault < faults)
			seen[e->fault]++;
	}
	for (i = 0; i < faults; i++)
		fired[i] += i < h->head.faults_n &&
		    h->head.faults[i].fired > seen[i] ?
		    h->head.faults[i].fired : seen[i];
	arena_free(&arena);
}

void
judge_ask_sometimes(const struct history *h, struct scenario *s, size_t point,
    bool *sometimes, struct judge_run *run)
{
	const struct plan_expect *x = &scenario_plan(s, point)->expect;
	char why[CHECK_WORDS];
	size_t i;

	for (i = 0; i < x->sometimes_n; i++) {
		why[0] = '\0';
		switch (scenario_sometimes(s, point, i, h, why, sizeof why)) {
		case SCENARIO_YES:
			sometimes[i] = true;
			break;
		case SCENARIO_NO:
			break;
		case SCENARIO_WRONG:
			if (run->verdict == JUDGE_PASS)
				judge_decide(run, JUDGE_INCONCLUSIVE,
				    "%s cannot be said: %s", x->sometimes[i],
				    why);
			return;
		}
	}
}
