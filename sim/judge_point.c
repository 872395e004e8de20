/* SPDX-License-Identifier: ISC */
#include "judge_private.h"

#include "scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
judge_point_begin(struct judge_point *p, const struct plan *plan)
{
	memset(p, 0, sizeof *p);
	p->plan = plan;
	p->fired = arena_get(&p->arena, (plan->actions_n + 1) *
	    sizeof *p->fired);
	p->sometimes = arena_get(&p->arena, plan->expect.sometimes_n + 1);
}

/* --- figures, for the line ------------------------------------------------ */

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static uint64_t
different(const char **texts, size_t n)
{
	uint64_t keys = n > 0;
	size_t i;

	if (n > 1)
		qsort(texts, n, sizeof *texts, by_text);
	for (i = 1; i < n; i++)
		keys += strcmp(texts[i - 1], texts[i]) != 0;
	return keys;
}

static int
last_try(const struct history *h)
{
	int last = 0;
	size_t i;

	for (i = 0; i < h->n; i++)
		if (h->events[i].kind == HISTORY_INV && h->events[i].a > last)
			last = h->events[i].a;
	return last;
}

/* What clients did, and what was started for them: not the look at the end. */
static void
count(struct judge_point *p, const struct history *h)
{
	const struct history_event *e;
	struct arena arena = { NULL };
	const char **keys = arena_get(&arena, (h->n + 1) * sizeof *keys);
	int last = last_try(h);
	bool *audit = arena_get(&arena, (size_t)last + 1);
	size_t n = 0, i;

	for (i = 0; i < h->n; i++) {
		e = &h->events[i];
		if (e->kind == HISTORY_EFFECT && e->ph != NULL &&
		    strcmp(e->ph, "begin") == 0)
			p->starts += e->a <= 0 || e->a > last || !audit[e->a];
		if (e->kind != HISTORY_INV)
			continue;
		if (e->audit) {
			if (e->a > 0)
				audit[e->a] = true;
			continue;
		}
		p->tries++;
		if (e->k != NULL)
			keys[n++] = e->k;
	}
	p->keys += different(keys, n);
	arena_free(&arena);
}

/* --- runs ----------------------------------------------------------------- */

/* The worst comes first. */
static int
rank(const struct judge_run *run)
{
	if (run->broken)
		return 4;
	switch (run->verdict) {
	case JUDGE_FAIL:
		return 3;
	case JUDGE_INCONCLUSIVE:
		return 2;
	case JUDGE_VACUOUS:
		return 1;
	case JUDGE_PASS:
	case JUDGE_SKIP:
	case JUDGE_VERDICTS:
		break;
	}
	return 0;
}

/* Of a control that goes well the one run that shows something. */
static bool
is_worse(const struct judge_run *run, const struct judge_run *worst)
{
	if (rank(run) != rank(worst))
		return rank(run) > rank(worst);
	return run->verdict == JUDGE_PASS && run->by_check &&
	    !worst->by_check;
}

static void
keep(struct judge_point *p, const struct judge_run *run, unsigned number)
{
	if (p->runs > 1 && !is_worse(run, &p->worst))
		return;
	p->worst = *run;
	p->worst_run = number;
	/* The history goes. */
	if (run->finding.key != NULL)
		p->worst.finding.key = arena_text(&p->arena,
		    run->finding.key);
	if (run->finding.blames != NULL)
		p->worst.finding.blames = arena_text(&p->arena,
		    run->finding.blames);
}

void
judge_one(const struct history *h, struct scenario *s, size_t point,
    struct judge_run *run, bool *sometimes)
{
	judge_alone(h, s, point, run);
	if (s != NULL && run->verdict != JUDGE_INCONCLUSIVE)
		judge_ask_sometimes(h, s, point, sometimes, run);
}

void
judge_point_take(struct judge_point *p, const struct history *h,
    const struct judge_run *run, const bool *sometimes)
{
	size_t i;

	judge_count_fired(h, p->fired, p->plan->actions_n);
	for (i = 0; i < p->plan->expect.sometimes_n; i++)
		p->sometimes[i] = p->sometimes[i] || sometimes[i];
	for (i = 0; i < PLAN_INVARIANTS; i++) {
		p->exercised[i] = p->exercised[i] || run->exercised[i];
		p->shown[i] = p->shown[i] || run->shown[i];
	}
	count(p, h);
	judge_answers_take(&p->answers, h);
	p->runs++;
	keep(p, run, h->head.run > 0 ? h->head.run : p->runs);
}

/* --- all of them ---------------------------------------------------------- */

static bool
is_control(const struct plan *plan)
{
	size_t i;

	for (i = 0; i < PLAN_INVARIANTS; i++)
		if (plan->expect.violates[i])
			return true;
	return false;
}

/* Of runs that all went well by themselves. */
static void
tally(struct judge_point *p)
{
	struct history as_planned;	/* for its head's words */
	struct judge_tally t = {
		.head = &as_planned.head, .fired = p->fired,
		.exercised = p->exercised, .shown = p->shown,
		.expect = &p->plan->expect, .sometimes = p->sometimes
	};

	history_begin(&as_planned, p->plan, "", 0, 0);
	p->verdict = judge_tally_up(&t, p->message, sizeof p->message);
	p->controlled = is_control(p->plan) && p->verdict != JUDGE_FAIL;
	history_free(&as_planned);
	if (p->verdict == JUDGE_PASS) {
		snprintf(p->message, sizeof p->message, "%s",
		    p->worst.message);
		return;
	}
	judge_answers_say(&p->answers, p->message, sizeof p->message);
	p->worst.verdict = p->verdict;
	p->worst.by_check = false;
	snprintf(p->worst.message, sizeof p->worst.message, "%s", p->message);
}

void
judge_point_end(struct judge_point *p)
{
	if (p->verdict == JUDGE_SKIP)
		return;
	if (p->runs == 0)
		judge_decide(&p->worst, JUDGE_INCONCLUSIVE,
		    "nothing was run");
	p->verdict = p->worst.verdict;
	snprintf(p->message, sizeof p->message, "%s", p->worst.message);
	if (p->verdict == JUDGE_PASS)
		tally(p);
}

bool
judge_point_unmet(const struct judge_point *p)
{
	struct judge_point so_far = *p;

	judge_point_end(&so_far);
	return p->worst.verdict == JUDGE_PASS &&
	    so_far.verdict != JUDGE_PASS;
}

void
judge_point_skip(struct judge_point *p, const char *why)
{
	p->verdict = JUDGE_SKIP;
	snprintf(p->message, sizeof p->message, "%s", why);
}

void
judge_point_free(struct judge_point *p)
{
	arena_free(&p->arena);
	memset(p, 0, sizeof *p);
}

int
judge_exit(const enum judge_verdict *verdicts, size_t n)
{
	int worst = 0;
	size_t i;

	for (i = 0; i < n; i++)
		if (verdicts[i] == JUDGE_FAIL)
			return 1;
		else if (verdicts[i] == JUDGE_INCONCLUSIVE ||
		    verdicts[i] == JUDGE_VACUOUS)
			worst = 2;
	return worst;
}
