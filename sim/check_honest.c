/* SPDX-License-Identifier: ISC */
#include "check_private.h"

#include <string.h>

/* --- no_false_definite ---------------------------------------------------- */

static bool
is_definite(const struct check_try *try)
{
	return try->class == OUTCOME_FAIL || try->class == OUTCOME_BUSY ||
	    try->class == OUTCOME_UNKNOWN;
}

/*
 * no_false_definite (promise "honest"): a try that was told that it did not run
 * and never will (fail, busy, unknown) is named by no run, before or after it
 * was told.
 *
 * `info` and `ok` may have run.  Exercised by one that was told so, and by one
 * that ran and was answered: it might have been told so.
 */
void
check_no_false_definite(const struct check_view *v, struct check_finding *f)
{
	const struct check_try *try;
	bool exercised = false;

	for (try = v->tries; try < v->tries + v->tries_n; try++) {
		exercised = exercised ||
		    (is_definite(try) && try->key != CHECK_NO_KEY) ||
		    (try->run != NULL && try->ret != NULL &&
		    try->ret->status > 0);
		if (!is_definite(try) || try->run == NULL)
			continue;
		check_find(f, CHECK_VIOLATED, try->inv->k, "try %d was told "
		    "that it did not run (%s), and %s is its run", try->a,
		    outcome_text(try->class), try->run->id);
		check_find_event(f, try->ret);
		check_find_event(f, try->run->first);
		check_find_event(f, check_run_close(try->run));
		return;
	}
	check_find_end(f, exercised);
}

/* --- busy_honest ---------------------------------------------------------- */

/* Tries of a key that may have been its owner, as they come and go. */
struct owners {
	size_t open;		/* so many now */
	const struct check_try *first;	/* of all */
	const struct history_event *left;	/* when the last one left */
	int64_t till_ns;	/* for so long one may have it whose client has
				   gone */
	bool excused;		/* a fault may have left a claim of it */
};

/*
 * Busy and unknown tries did not own it, and neither did those that were given
 * what another's run had left, unless they had one of their own.  What was not
 * started may have, for a moment; of what nobody knows the end it may still.
 */
static bool
may_own(const struct check_view *v, const struct check_try *try)
{
	if (try->class == OUTCOME_OK)
		return try->run != NULL || v->runs_n == 0 ||
		    !check_is(try->ret->mark, "replayed");
	return try->class == OUTCOME_INFO || try->class == OUTCOME_NONE ||
	    (try->class == OUTCOME_FAIL &&
	    check_is(try->ret->mark, "not-started"));
}

/*
 * Its client has gone, its run goes on, and then what is to be written of it.
 * Who has no run by then waits, and has not got it, or has just lost it.
 */
static int64_t
owns_till_ns(const struct check_view *v, const struct check_try *try)
{
	int64_t linger_ns = check_linger_ns(v);
	const struct check_run *run = try->run;

	if (v->runs_n == 0)
		return INT64_MAX;
	if (run == NULL)
		return check_later(try->ret->t_ns, linger_ns);
	if (run->end != NULL)
		return check_later(run->end->t_ns, linger_ns);
	return check_later(check_later(run->first->t_ns,
	    check_ns(v->head->limit_ms)), linger_ns);
}

static bool
is_explained(const struct check_view *v, const struct check_try *try,
    struct owners *o)
{
	struct check_span span = { .key = &v->keys[try->key],
		.to_ns = try->ret->t_ns };

	if (o->open > 0 || (o->left != NULL && o->left->i >= try->inv->i) ||
	    o->till_ns >= try->inv->t_ns)
		return true;
	/* A claim that a fault kept from being taken back, or that a store has
	   again from its past. */
	if (!o->excused && o->first != NULL) {
		span.from_ns = o->first->inv->t_ns;
		o->excused = check_fault_reached(v, &span) != NULL;
	}
	return o->excused;
}

static void
find_busy(const struct check_view *v, const struct check_try *try,
    const struct owners *o, struct check_finding *f)
{
	check_find(f, CHECK_VIOLATED, v->keys[try->key].name, "try %d was told "
	    "that %s is in progress, and nobody else had it", try->a,
	    v->keys[try->key].name);
	check_find_event(f, try->ret);
	check_find_event(f, try->inv);
	check_find_event(f, o->left);
}

/* false: it is a violation. */
static bool
own(const struct check_view *v, const struct check_try *try,
    const struct history_event *e, struct owners *o)
{
	int64_t till_ns;

	if (try->class == OUTCOME_BUSY)
		return try->inv == e || is_explained(v, try, o);
	if (!may_own(v, try))
		return true;
	if (try->inv == e && o->first == NULL)
		o->first = try;
	if (try->class == OUTCOME_INFO) {
		till_ns = owns_till_ns(v, try);
		if (till_ns > o->till_ns)
			o->till_ns = till_ns;
	} else if (try->inv == e)
		o->open++;
	else {
		o->open--;
		o->left = e;
	}
	return true;
}

/*
 * busy_honest (promise "honest"): who is told that the key is in progress is
 * told so because another try of it may have owned it at some moment between
 * its question and the answer: one with a final answer that was not another's,
 * one that was not started (it may have had it until then), or one that came to
 * no answer.
 * Where a fault has reached the key since it was first owned, a claim may stand
 * for longer than its try.  Other busy tries explain nothing: a gate must not
 * be busy against a claim of its own that it has lost sight of.
 *
 * `info` tries own it from their begin on until their program has ended, or has
 * come to its limit, and a lease and its grace longer; without a run for so
 * long after they were given up.  Exercised by a busy answer.
 */
void
check_busy_honest(const struct check_view *v, struct check_finding *f)
{
	const struct history_event *e = v->h->events;
	const struct history_event *end = e + v->h->n;
	struct arena arena = { NULL };
	const struct check_try *try;
	bool exercised = false, honest = true;
	struct owners *owners;

	owners = arena_get(&arena, (v->keys_n + 1) * sizeof *owners);
	for (; e < end && honest; e++) {
		if (e->kind != HISTORY_INV && e->kind != HISTORY_RET)
			continue;
		try = check_view_try(v, e->a);
		if (try == NULL || try->key == CHECK_NO_KEY ||
		    (try->inv != e && try->ret != e))
			continue;
		exercised = exercised || try->class == OUTCOME_BUSY;
		honest = own(v, try, e, &owners[try->key]);
		if (!honest)
			find_busy(v, try, &owners[try->key], f);
	}
	if (honest)
		check_find_end(f, exercised);
	arena_free(&arena);
}
