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

/* The run before has left its key to others, as the program said it should. */
static bool
was_released(const struct check_view *v, const struct check_run *run)
{
	const struct check_try *try = check_view_try(v, run->a);

	return try != NULL && try->ret != NULL &&
	    check_is(try->ret->mark, "released");
}

static bool
started_again(const struct check_view *v, const struct check_key *key,
    size_t i, const struct check_run *first, struct check_finding *f)
{
	const struct check_run *before = key->runs[i - 1], *run = key->runs[i];

	if (first != NULL && check_run_did(v, run) != NULL)
		return too_many(v, key, i, first, f);
	if (was_released(v, before))
		return true;
	check_find(f, CHECK_VIOLATED, key->name, "%s was started for %s, which "
	    "%s had been started for, and nothing permits another start",
	    run->id, key->name, before->id);
	check_find_event(f, run->first);
	check_find_event(f, before->first);
	return false;
}

/*
 * Before run i the operator has freed it, or its tombstone has ended: then
 * nothing is done again.  Attempts are counted on after his word.
 */
static bool
begins_anew(const struct check_view *v, const struct check_key *key, size_t i,
    size_t *starts)
{
	int64_t from_ns = key->runs[i - 1]->first->t_ns;
	int64_t to_ns = key->runs[i]->first->t_ns;

	if (v->head->once_ms > 0 &&
	    to_ns - from_ns >= check_ns(v->head->once_ms)) {
		*starts = 1;
		return true;
	}
	if (check_fault_freed(v, (size_t)(key - v->keys), from_ns, to_ns))
		return true;
	++*starts;
	return false;
}

static bool
once(const struct check_view *v, const struct check_key *key,
    struct check_finding *f)
{
	const struct check_run *first = NULL;
	size_t i, starts = 1, retries = v->head->retries;

	for (i = 0; i < key->runs_n; i++) {
		if (i > 0 && begins_anew(v, key, i, &starts))
			first = NULL;
		if (i > 0 && (!check_run_excused(v, key, i) ||
		    (retries > 0 && starts > retries)) &&
		    !started_again(v, key, i, first, f))
			return false;
		if (first == NULL && check_run_did(v, key->runs[i]) != NULL)
			first = key->runs[i];
	}
	return true;
}

/*
 * at_most_once (promise "once"): a key's program is started once, whether it
 * came to its effect or not.  Under retry and probe once more after each run
 * that was cut, or whose end could not be told (a fault that reaches the key, a
 * lease that ended, a program that ended by itself), and under retry no more
 * often than the policy's number; once more after each word of the operator's
 * but "done"; and a key whose tombstone has ended is a new one.  A run whose
 * answer says that the key is released may be followed by another, but not if
 * both had an effect.
 *
 * Results of tries do not matter, `info` neither: the journal is counted.
 * Exercised by a key that was started and that more than one try asked for.
 */
void
check_at_most_once(const struct check_view *v, struct check_finding *f)
{
	const struct check_key *key;
	bool exercised = false;

	for (key = v->keys; key < v->keys + v->keys_n; key++) {
		if (!once(v, key, f))
			return;
		exercised = exercised || (key->tries_n > 1 && key->runs_n > 0);
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

/*
 * Until when it surely went on.  One that was cut has no last line: it lived
 * until the first thing that may have ended it, if all that is known of is its
 * begin.
 */
static int64_t
alive_till_ns(const struct check_view *v, const struct check_key *key,
    const struct check_run *run)
{
	int64_t from_ns = run->first->t_ns;
	int64_t till_ns = check_later(from_ns, check_ns(v->head->limit_ms));
	const struct check_fault *fault = v->faults;
	size_t number = (size_t)(key - v->keys);

	if (run->commit != NULL || run->end != NULL)
		return check_run_close(run)->t_ns;
	if (v->head->handler_fails || v->head->limit_ms <= 0)
		return from_ns;
	for (; fault < v->faults + v->faults_n; fault++)
		if (fault->cuts && fault->until_ns >= from_ns) {
			if (fault->from_ns < till_ns)
				till_ns = fault->from_ns;
			break;
		}
	if (till_ns > from_ns && check_lease_ended(v, number, from_ns, till_ns))
		return from_ns;
	return till_ns > from_ns ? till_ns : from_ns;
}

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
 * for over when first something may have ended it (a fault, its lease, its
 * limit), so that only a run that surely was still alive is said to overlap.
 * Equal times say nothing.
 *
 * Results of tries do not matter.  Exercised by a run for whose key another try
 * came before its end.
 */
void
check_mutual_exclusion(const struct check_view *v, struct check_finding *f)
{
	const struct check_run *run, *longest;
	const struct check_key *key;
	int64_t till_ns, longest_ns;
	bool exercised = false;
	size_t i;

	for (key = v->keys; key < v->keys + v->keys_n; key++) {
		longest = NULL;
		longest_ns = 0;
		for (i = 0; i < key->runs_n; i++) {
			run = key->runs[i];
			exercised = exercised || was_asked_for(key, run);
			if (longest != NULL && run->first->t_ns < longest_ns) {
				check_find(f, CHECK_VIOLATED, key->name,
				    "%s began while %s was under way", run->id,
				    longest->id);
				check_find_event(f, run->first);
				check_find_event(f, check_run_close(longest));
				check_find_event(f, longest->first);
				return;
			}
			till_ns = alive_till_ns(v, key, run);
			if (longest == NULL || till_ns > longest_ns) {
				longest = run;
				longest_ns = till_ns;
			}
		}
	}
	check_find_end(f, exercised);
}
