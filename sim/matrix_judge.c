/* SPDX-License-Identifier: ISC */
#include "matrix.h"

#include "judge.h"

#include <string.h>

static bool
is_whole(const struct history *h, struct matrix_cell *c)
{
	struct judge_run run;

	judge_run(h, NULL, 0, &run);
	if (run.verdict != JUDGE_INCONCLUSIVE)
		return true;
	if (c->open++ == 0)
		snprintf(c->why, sizeof c->why, "%s", run.message);
	return false;
}

/* --- promises ------------------------------------------------------------- */

static const struct {
	enum matrix_promise promise;
	enum plan_invariant invariant;
} checks[] = {
	{ MATRIX_ONCE, PLAN_AT_MOST_ONCE },
	{ MATRIX_ONCE, PLAN_MUTUAL_EXCLUSION },
	{ MATRIX_SAME, PLAN_SAME_ANSWER },
	{ MATRIX_SAME, PLAN_NO_CROSS_TALK },
	{ MATRIX_SAME, PLAN_NO_PARTIAL_SUCCESS },
	{ MATRIX_KEPT, PLAN_ACK_DURABLE },
	{ MATRIX_HONEST, PLAN_NO_FALSE_DEFINITE },
	{ MATRIX_HONEST, PLAN_UNKNOWN_HONEST },
	{ MATRIX_SETTLED, PLAN_RESOLVES }
};

static void
try_promises(const struct history *h, struct matrix_cell *c)
{
	struct check_finding f;
	size_t i;

	for (i = 0; i < sizeof checks / sizeof *checks; i++) {
		if ((c->promised >> checks[i].promise & 1) == 0)
			continue;
		check(h, checks[i].invariant, &f);
		if (f.said == CHECK_HOLDS || f.said == CHECK_VIOLATED)
			c->tried |= 1u << checks[i].promise;
		if (f.said != CHECK_VIOLATED)
			continue;
		if (c->broken == 0) {
			snprintf(c->message, sizeof c->message, "%s: %.350s",
			    plan_invariant_text(checks[i].invariant),
			    f.message);
			c->seed = h->head.seed;
		}
		c->broken |= 1u << checks[i].promise;
	}
}

/* --- in a process of its own ---------------------------------------------- */

struct asked {
	const struct history *h;
	const struct matrix_cell *cell;
};

struct told {
	struct matrix_cell cell;	/* but for what it points to */
	bool whole;
};

/* It is measured here too: what that cannot bear shows before it is done
   there, where it would end all of them. */
static void
judge_it(void *arg, void *to)
{
	const struct asked *asked = arg;
	struct told *told = to;

	told->cell = *asked->cell;
	told->whole = is_whole(asked->h, &told->cell);
	if (!told->whole)
		return;
	try_promises(asked->h, &told->cell);
	matrix_measure(asked->h, &told->cell);
}

static void
take(const struct told *told, struct matrix_cell *c)
{
	c->open = told->cell.open;
	memcpy(c->why, told->cell.why, sizeof c->why);
	c->tried = told->cell.tried;
	c->broken = told->cell.broken;
	memcpy(c->message, told->cell.message, sizeof c->message);
	c->seed = told->cell.seed;
}

enum matrix_judged
matrix_judge(const struct history *h, struct matrix_cell *c, int64_t within_ms)
{
	struct asked asked = { h, c };
	static struct told told;
	char why[MATRIX_WORDS];

	if (idemsim_apart(&(struct idemsim_apart){
	    .judge = judge_it, .arg = &asked, .told = &told,
	    .told_len = sizeof told, .within_ms = within_ms,
	    .why = why, .why_size = sizeof why })) {
		take(&told, c);
		return told.whole ? MATRIX_JUDGED : MATRIX_SAYS_NOTHING;
	}
	if (c->open++ == 0)
		memcpy(c->why, why, sizeof why);
	return MATRIX_UNJUDGED;
}
