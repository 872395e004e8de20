/* SPDX-License-Identifier: ISC */
#include "check_private.h"

#include <stdlib.h>
#include <string.h>

/* --- at_most_once --------------------------------------------------------- */

static bool
too_many(const struct check_view *v, const struct check_key *key, size_t i,
    const struct check_run *first, struct check_finding *f)
{
	const struct check_run *run = key->runs[i];

	check_find(f, CHECK_VIOLATED, key->name, "%s and %s both had their "
	    "effect: the program did twice what %s asks for once", first->id,
	    run->id, key->name);
	check_find_event(f, check_run_did(v, first));
	check_find_event(f, check_run_did(v, run));
	check_find_event(f, first->begin);
	check_find_event(f, run->begin);
	return false;
}

static bool
once(const struct check_view *v, const struct check_key *key,
    struct check_finding *f)
{
	const struct check_run *first = NULL;
	size_t i, starts = 1, retries = v->head->retries;

	for (i = 0; i < key->runs_n; i++) {
		if (i > 0 && !check_fault_operator(v, (size_t)(key - v->keys),
		    key->runs[i - 1]->first->t_ns, key->runs[i]->first->t_ns))
			starts++;
		if (check_run_did(v, key->runs[i]) == NULL)
			continue;
		if (first == NULL)
			first = key->runs[i];
		else if (!check_run_excused(v, key, i) ||
		    (retries > 0 && starts > retries))
			return too_many(v, key, i, first, f);
	}
	return true;
}

static bool
has_effect(const struct check_view *v, const struct check_key *key)
{
	size_t i;

	for (i = 0; i < key->runs_n; i++)
		if (check_run_did(v, key->runs[i]) != NULL)
			return true;
	return false;
}

/*
 * at_most_once (promise "once"): of each key at most one effect is in the
 * journal; of a program that has none to commit, at most one run that came to
 * its end.  Under retry and probe one more for each run before that was cut, or
 * whose end could not be told (a fault, a lease that ended, a program that
 * ended by itself), and under retry no more than the policy's number; one more
 * for each word of the operator's; and a key whose tombstone has ended is a new
 * one.
 *
 * Results of tries do not matter, `info` neither: effects are counted.
 * Exercised by a key with an effect that more than one try asked for.
 */
void
check_at_most_once(const struct check_view *v, struct check_finding *f)
{
	const struct check_key *key;
	bool exercised = false;

	for (key = v->keys; key < v->keys + v->keys_n; key++) {
		if (!once(v, key, f))
			return;
		exercised = exercised || (key->tries_n > 1 &&
		    has_effect(v, key));
	}
	check_find_end(f, exercised);
}

/* --- at_most_once_per_business_id ----------------------------------------- */

static int
by_business(const void *a, const void *b)
{
	const struct history_event *const *x = a, *const *y = b;
	int order = strcmp((*x)->business, (*y)->business);

	return order != 0 ? order : (*x)->i < (*y)->i ? -1 : 1;
}

/*
 * The client changed its key after a try of which it did not know the end: it
 * is its doing, whatever the gate is like.
 */
static bool
client_did(const struct check_view *v, const struct history_event *x,
    const struct history_event *y)
{
	const struct check_try *before = check_view_try(v, x->a);
	const struct check_try *after = check_view_try(v, y->a), *swap;

	if (before == NULL || after == NULL || before->key == after->key)
		return false;
	if (before->inv->i > after->inv->i) {
		swap = before;
		before = after;
		after = swap;
	}
	return check_is(before->inv->client, after->inv->client) &&
	    before->class == OUTCOME_INFO && before->ret->i < after->inv->i;
}

static void
done_twice(const struct check_view *v, const struct history_event *x,
    const struct history_event *y, struct check_finding *f)
{
	check_find(f, CHECK_VIOLATED, y->k, "%s was done twice, as %s for %s "
	    "and as %s for %s", y->business, x->id, x->k != NULL ? x->k :
	    "no key", y->id, y->k != NULL ? y->k : "no key");
	check_find_event(f, x);
	check_find_event(f, y);
	if (client_did(v, x, y))
		f->blames = "client";
}

/* A key of the simulator's own, to see whether it is served. */
static bool
is_fresh(const struct check_view *v, const struct check_run *run)
{
	const struct check_try *try = check_view_try(v, run->a);

	return try != NULL && try->inv->fresh;
}

/*
 * at_most_once_per_business_id (promise "once", of what the program is for): of
 * each thing that effects are on there is at most one, whatever the keys.  A
 * gate cannot keep that where a client changes its key after a try of which it
 * does not know the end (`info`, or none): then "client" is blamed.  What fresh
 * keys do is on the same thing, and does not count.
 *
 * Exercised by an effect on something that has a name, and a second try.
 */
void
check_at_most_once_per_business_id(const struct check_view *v,
    struct check_finding *f)
{
	const struct history_event **done, *e;
	struct arena arena = { NULL };
	size_t i, n = 0;

	done = arena_get(&arena, (v->runs_n + 1) * sizeof *done);
	for (i = 0; i < v->runs_n; i++) {
		e = check_run_did(v, &v->runs[i]);
		if (e != NULL && e->business != NULL &&
		    !is_fresh(v, &v->runs[i]))
			done[n++] = e;
	}
	if (n > 1)
		qsort(done, n, sizeof *done, by_business);
	check_find_end(f, n > 0 && v->tries_n > 1);
	for (i = 1; i < n; i++)
		if (check_is(done[i - 1]->business, done[i]->business)) {
			done_twice(v, done[i - 1], done[i], f);
			break;
		}
	arena_free(&arena);
}

/* --- mutual_exclusion ----------------------------------------------------- */

/* Another try of the key came while this run was not over: one of the first
   two, if any. */
static bool
was_asked_for(const struct check_key *key, const struct check_run *run)
{
	size_t i;

	for (i = 0; i < key->tries_n && i < 2; i++)
		if (key->tries[i]->a != run->a && (run->end == NULL ||
		    key->tries[i]->inv->i < run->end->i))
			return true;
	return false;
}

/*
 * mutual_exclusion (promise "once"): runs of one key are never under way at the
 * same time.  A run lasts from its first line to its commit, or to its end if
 * it has none to commit.  Of one that was cut nobody saw the end: it is taken
 * for over at its last line, so that only a run that surely was still alive (it
 * wrote a later line) is said to overlap.  Equal times say nothing.
 *
 * Results of tries do not matter.  Exercised by a run for whose key another try
 * came before its end.
 */
void
check_mutual_exclusion(const struct check_view *v, struct check_finding *f)
{
	const struct check_run *run, *longest;
	const struct check_key *key;
	bool exercised = false;
	size_t i;

	for (key = v->keys; key < v->keys + v->keys_n; key++) {
		longest = NULL;
		for (i = 0; i < key->runs_n; i++) {
			run = key->runs[i];
			exercised = exercised || was_asked_for(key, run);
			if (longest != NULL && run->first->t_ns <
			    check_run_close(longest)->t_ns) {
				check_find(f, CHECK_VIOLATED, key->name,
				    "%s began while %s was under way", run->id,
				    longest->id);
				check_find_event(f, run->first);
				check_find_event(f, check_run_close(longest));
				check_find_event(f, longest->first);
				return;
			}
			if (longest == NULL || check_run_close(run)->t_ns >
			    check_run_close(longest)->t_ns)
				longest = run;
		}
	}
	check_find_end(f, exercised);
}
