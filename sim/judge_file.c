/* SPDX-License-Identifier: ISC */
#include "judge.h"

#include <stdio.h>

void
judge_file_add(struct judge_file *file, const struct judge_point *p)
{
	const struct plan_expect *x = &p->plan->expect;
	size_t i;

	judge_answers_add(&file->answers, &p->answers);
	if (p->verdict == JUDGE_SKIP || p->verdict == JUDGE_INCONCLUSIVE)
		file->partial = true;
	for (i = 0; i < PLAN_INVARIANTS; i++) {
		if (x->holds[i] && x->relaxed[i] == NULL && !x->violates[i])
			file->claimed[i] = true;
		if (p->exercised[i])
			file->exercised[i] = true;
	}
}

/* Of a failure the point says something worse already. */
bool
judge_file_end(const struct judge_file *file, struct judge_point *last)
{
	size_t i, n = 0;
	const char *first = NULL;

	for (i = 0; i < PLAN_INVARIANTS; i++)
		if (file->claimed[i] && !file->exercised[i]) {
			n++;
			if (first == NULL)
				first = plan_invariant_text(
				    (enum plan_invariant)i);
		}
	if (n == 0 || file->partial || last->verdict != JUDGE_PASS)
		return false;
	last->verdict = last->worst.verdict = JUDGE_VACUOUS;
	snprintf(last->message, sizeof last->message, "%s is unexercised%s: no "
	    "run of the file put it to the test", first,
	    n > 1 ? ", and others are" : "");
	judge_answers_say(&file->answers, last->message, sizeof last->message);
	snprintf(last->worst.message, sizeof last->worst.message, "%s",
	    last->message);
	return true;
}
