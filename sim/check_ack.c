/* SPDX-License-Identifier: ISC */
#include "check_private.h"

/*
 * What was acknowledged: the first final answer to a question that some client
 * has read whole.
 */
static const struct check_try **
acknowledged(const struct check_view *v, struct arena *arena)
{
	const struct check_try **first, **ack, *try;

	first = arena_get(arena, (v->questions_n + 1) * sizeof *first);
	for (try = v->tries; try < v->tries + v->tries_n; try++) {
		if (try->key == CHECK_NO_KEY || try->class != OUTCOME_OK)
			continue;
		ack = &first[try->question];
		if (*ack == NULL || try->ret->i < (*ack)->ret->i)
			*ack = try;
	}
	return first;
}

/*
 * It need not be known any more: it is kept only so long, or the operator has
 * given his word since.
 */
static bool
is_over(const struct check_view *v, const struct check_try *ack,
    const struct check_try *try)
{
	int64_t till_ns = (try->ret != NULL ? try->ret : try->inv)->t_ns;

	return check_fault_operator(v, ack->key, ack->inv->t_ns, till_ns) ||
	    (v->head->keep_ms > 0 && till_ns - ack->inv->t_ns >=
	    check_ns(v->head->keep_ms));
}

static bool
refused_for_now(const struct check_try *try)
{
	return try->ret->how == OUTCOME_REFUSED ||
	    check_is(try->ret->mark, "not-started");
}

/* NULL: it may be so. */
static const char *
wrong(const struct check_view *v, const struct check_try *ack,
    const struct check_try *try)
{
	bool fault;

	if (try->run != NULL)
		return "ran the program again";
	if (try->ret == NULL)
		return NULL;
	fault = check_fault_within(v, try->inv->t_ns, try->ret->t_ns,
	    check_linger_ns(v)) != NULL;
	switch (try->class) {
	case OUTCOME_OK:
		return ack->ret->d == NULL || try->ret->d == NULL ||
		    check_is(ack->ret->d, try->ret->d) ? NULL :
		    "got another answer";
	case OUTCOME_UNKNOWN:
		return "was told that nobody knows";
	case OUTCOME_BUSY:
		return fault ? NULL : "was told that it is in progress";
	case OUTCOME_FAIL:
		/* Somebody else, as far as idem can tell. */
		if (check_is(try->ret->mark, "withheld"))
			return NULL;
		if (!refused_for_now(try))
			return "was refused";
		return fault ? NULL : "was not served";
	case OUTCOME_NONE:
	case OUTCOME_INFO:
	case OUTCOMES:
		break;
	}
	return NULL;
}

/* It came after it, while it is still to be known. */
static bool
is_later(const struct check_view *v, const struct check_try *ack,
    const struct check_try *try)
{
	return ack != NULL && check_after(v, ack->ret, try->inv) &&
	    !is_over(v, ack, try);
}

static void
find_lost(const struct check_view *v, const struct check_try *ack,
    const struct check_try *try, const char *what, struct check_finding *f)
{
	struct check_finding lost = { .invariant = f->invariant };

	check_find(&lost, CHECK_VIOLATED, v->keys[try->key].name, "try %d had "
	    "its final answer; try %d, after it, %s", ack->a, try->a, what);
	check_find_event(&lost, ack->ret);
	check_find_event(&lost, try->run != NULL ? try->run->first : try->ret);
	check_find_event(&lost, try->inv);
	lost.of_time = try->run == NULL && (try->class == OUTCOME_INFO ||
	    try->class == OUTCOME_BUSY || (try->class == OUTCOME_FAIL &&
	    refused_for_now(try)));
	check_find_keep(f, &lost);
}

/* In the end nothing excuses that it cannot be had; NULL: it can, or the
   answer is somebody else's. */
static const char *
missing(const struct check_try *look)
{
	if (look->class == OUTCOME_OK || (look->class == OUTCOME_FAIL &&
	    check_is(look->ret->mark, "withheld")))
		return NULL;
	return look->class == OUTCOME_INFO ?
	    "got no answer when all was healed and quiet" :
	    "was not served when all was healed and quiet";
}

static void
look_at_last(const struct check_view *v, struct arena *arena,
    const struct check_try **first, struct check_finding *f)
{
	const struct check_try **looks, *open = NULL, *look, *ack;
	size_t i, n = check_looks(v, arena, false, &looks);
	const char *what;

	for (i = 0; i < n && !check_find_certain(f); i++) {
		look = looks[i];
		ack = first[look->question];
		if (!is_later(v, ack, look))
			continue;
		what = look->ret != NULL ? missing(look) : NULL;
		if (look->ret == NULL || (what != NULL &&
		    look->ret->t_ns < check_settled_ns(v)))
			open = look;
		else if (what != NULL)
			find_lost(v, ack, look, what, f);
	}
	if (open != NULL && f->said != CHECK_VIOLATED)
		check_find_open(f, open);
}

/*
 * ack_durable (promise "kept"): once a client has read a final answer (class
 * ok), each later try of the same key and body gets that answer.  While a fault
 * lasts, and a lease, its grace and the next look at a store longer, it may be
 * told that it is in progress or not served (503, or no connection); never
 * unknown, never refused for good, never another answer, and it never runs.
 * And when all is healed and quiet the simulator's own last try of it at each
 * instance gets it, whatever there was before.
 *
 * Only `ok` acknowledges: an answer that was sent and never read does not.  A
 * later `info` says nothing, but must not have run, and is not enough in the
 * end.  Kept is for `keep`, and until the operator's word.  Exercised by a
 * later try with an answer.
 */
void
check_ack_durable(const struct check_view *v, struct check_finding *f)
{
	const struct check_try **first, *ack, *try;
	struct arena arena = { NULL };
	bool exercised = false;
	const char *what;

	first = acknowledged(v, &arena);
	for (try = v->tries; try < v->tries + v->tries_n &&
	    !check_find_certain(f); try++) {
		ack = try->key != CHECK_NO_KEY ? first[try->question] : NULL;
		if (!is_later(v, ack, try))
			continue;
		what = wrong(v, ack, try);
		exercised = exercised || (try->class != OUTCOME_INFO &&
		    try->class != OUTCOME_NONE && try->ret->status > 0);
		if (what != NULL)
			find_lost(v, ack, try, what, f);
	}
	if (f->said != CHECK_VIOLATED)
		check_find_end(f, exercised);
	look_at_last(v, &arena, first, f);
	arena_free(&arena);
}
