/* SPDX-License-Identifier: ISC */
#include "judge_private.h"

#include "check_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool
is_like(const struct judge_answer *kind, const struct history_event *ret)
{
	const char *mark = ret->mark != NULL ? ret->mark : "";

	return kind->how == ret->how && kind->status == ret->status &&
	    strncmp(kind->mark, mark, sizeof kind->mark - 1) == 0;
}

/* Of more kinds than there is room for none is the commonest. */
static void
add(struct judge_answers *all, const struct history_event *ret, uint64_t n)
{
	struct judge_answer *kind = all->kinds;

	while (kind < all->kinds + all->kinds_n && !is_like(kind, ret))
		kind++;
	if (kind == all->kinds + JUDGE_KINDS)
		return;
	if (kind == all->kinds + all->kinds_n) {
		all->kinds_n++;
		*kind = (struct judge_answer){ .how = ret->how,
		    .status = ret->status };
		snprintf(kind->mark, sizeof kind->mark, "%s",
		    ret->mark != NULL ? ret->mark : "");
	}
	kind->n += n;
}

void
judge_answers_take(struct judge_answers *all, const struct history *h)
{
	const struct check_try *try;
	struct check_view v;

	check_view_make(&v, h);
	for (try = v.tries; try < v.tries + v.tries_n; try++) {
		if (try->key == CHECK_NO_KEY || try->inv->audit ||
		    try->inv->get != NULL || try->ret == NULL)
			continue;
		all->tries++;
		all->final += try->class == OUTCOME_OK;
		add(all, try->ret, 1);
	}
	check_view_free(&v);
}

void
judge_answers_add(struct judge_answers *all, const struct judge_answers *more)
{
	struct history_event ret = { .kind = HISTORY_RET };
	size_t i;

	all->tries += more->tries;
	all->final += more->final;
	for (i = 0; i < more->kinds_n; i++) {
		ret.how = more->kinds[i].how;
		ret.status = more->kinds[i].status;
		ret.mark = more->kinds[i].mark;
		add(all, &ret, more->kinds[i].n);
	}
}

static const struct judge_answer *
commonest(const struct judge_answers *all)
{
	const struct judge_answer *most = all->kinds;
	size_t i;

	for (i = 1; i < all->kinds_n; i++)
		if (all->kinds[i].n > most->n)
			most = &all->kinds[i];
	return most;
}

void
judge_answers_say(const struct judge_answers *all, char *message, size_t size)
{
	const struct judge_answer *most = commonest(all);
	size_t len = strlen(message);

	if (all->tries == 0 || all->final > 0)
		return;
	snprintf(message + len, size - len, "; none of the %" PRIu64 " tries "
	    "had a final answer, and %" PRIu64 " had ", all->tries, most->n);
	len = strlen(message);
	if (most->how != OUTCOME_WHOLE)
		snprintf(message + len, size - len, "none at all (%s)",
		    outcome_end_text(most->how));
	else
		snprintf(message + len, size - len, "%d with "
		    "Idempotency-Status %s: --keep FOLDER keeps the logs that "
		    "say why",
		    most->status, most->mark[0] != '\0' ? most->mark : "-");
}
