/* SPDX-License-Identifier: ISC */
#ifndef JUDGE_PRIVATE_H
#define JUDGE_PRIVATE_H

#include "judge.h"

/* A verdict and why, in words. */
void judge_decide(struct judge_run *, enum judge_verdict, const char *format,
    ...) __attribute__((format(printf, 3, 4)));
/* What can be said of a run whatever the others are like: PASS, FAIL,
   INCONCLUSIVE. */
void judge_alone(const struct history *, struct scenario *, size_t point,
    struct judge_run *);

/* --- what was to happen at all (judge_tally.c) ---------------------------- */

/* Over one run, or all of a point. */
struct judge_tally {
	const struct history_head *head;
	const unsigned *fired;		/* by fault id */
	const bool *exercised, *shown;
	const struct plan_expect *expect;	/* NULL: its functions are not
						   judged */
	const bool *sometimes;
	bool alone;		/* one run, of which nobody has others */
};

/* FAIL (a control that did not show it), VACUOUS, or PASS: nothing in out. */
enum judge_verdict judge_tally_up(const struct judge_tally *, char *out,
    size_t size);
/* Adds how often each fault of so many was seen. */
void judge_count_fired(const struct history *, unsigned *fired,
    size_t faults);
/* Sets what is true of it; what a function cannot say makes it inconclusive. */
void judge_ask_sometimes(const struct history *, struct scenario *,
    size_t point, bool *sometimes, struct judge_run *);

#endif
