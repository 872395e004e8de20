/* SPDX-License-Identifier: ISC */
#include "idemsim.h"

#include "judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * What the other process says: the verdict as it stands in memory, for both are
 * of one program, and the texts that it points to, which are not.
 */
struct told {
	struct judge_run run;
	char key[256], blames[32];	/* "": none */
	bool sometimes[];
};

static void
copy(char *to, size_t size, const char *from)
{
	if (from != NULL)
		snprintf(to, size, "%s", from);
}

static void
judge_it(void *arg, void *to)
{
	const struct idemsim_asked *a = arg;
	struct told *told = to;

	if (a->alone)
		judge_run(a->history, a->scenario, a->point, &told->run);
	else
		judge_one(a->history, a->scenario, a->point, &told->run,
		    told->sometimes);
	copy(told->key, sizeof told->key, told->run.finding.key);
	copy(told->blames, sizeof told->blames, told->run.finding.blames);
}

static void
take(const struct idemsim_asked *a, const struct told *told,
    struct judge_run *run, bool *sometimes)
{
	*run = told->run;
	run->finding.key = *told->key != '\0' ?
	    history_text(a->history, told->key) : NULL;
	run->finding.blames = *told->blames != '\0' ?
	    history_text(a->history, told->blames) : NULL;
	memcpy(sometimes, told->sometimes, a->sometimes_n * sizeof *sometimes);
}

bool
idemsim_judge(const struct idemsim_asked *asked, struct judge_run *run,
    bool *sometimes)
{
	struct idemsim_asked a = *asked;
	struct idemsim_apart apart = {
		.judge = judge_it, .arg = &a, .within_ms = a.within_ms,
		.told_len = sizeof(struct told) + a.sometimes_n,
		.why = run->message, .why_size = sizeof run->message
	};
	bool judged;

	memset(run, 0, sizeof *run);
	snprintf(run->message, sizeof run->message,
	    "it could not be judged: no memory");
	apart.told = malloc(apart.told_len);
	judged = apart.told != NULL && idemsim_apart(&apart);
	if (judged)
		take(&a, apart.told, run, sometimes);
	else {
		run->verdict = JUDGE_INCONCLUSIVE;
		run->broken = true;
	}
	free(apart.told);
	return judged;
}
