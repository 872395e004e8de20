/* SPDX-License-Identifier: ISC */
#include "check_private.h"

/* Tries of a key whose bodies differ. */
static bool
bodies_differ(const struct check_key *key)
{
	size_t i;

	for (i = 1; i < key->tries_n; i++)
		if (key->tries[i]->question != key->tries[0]->question)
			return true;
	return false;
}

/* So long after its first try that its tombstone may have ended. */
static bool
became_new(const struct check_view *v, const struct check_key *key)
{
	return v->head->once_ms > 0 &&
	    key->tries[key->tries_n - 1]->inv->t_ns -
	    key->tries[0]->inv->t_ns >= check_ns(v->head->once_ms);
}

/* The first try whose body was run; later ones must have had the same. */
static bool
ran_another(const struct check_view *v, const struct check_key *key,
    const struct check_try **first, struct check_finding *f)
{
	const struct check_try *try;
	size_t i;

	for (i = 0; i < key->runs_n; i++) {
		try = check_view_try(v, key->runs[i]->a);
		if (try == NULL || try->key != (size_t)(key - v->keys))
			continue;
		if (*first == NULL)
			*first = try;
		if ((*first)->question == try->question)
			continue;
		check_find(f, CHECK_VIOLATED, key->name, "%s was run with the "
		    "body of try %d, and then with that of try %d", key->name,
		    (*first)->a, try->a);
		check_find_event(f, (*first)->run->first);
		check_find_event(f, key->runs[i]->first);
		check_find_event(f, (*first)->inv);
		check_find_event(f, try->inv);
		return true;
	}
	return false;
}

/* Where no run is seen, the first that had an answer stands for it. */
static bool
answered_another(const struct check_key *key, const struct check_try *first,
    struct check_finding *f)
{
	const struct check_try *try;
	size_t i;

	for (i = 0; i < key->tries_n; i++) {
		try = key->tries[i];
		if (try->class != OUTCOME_OK)
			continue;
		if (first == NULL)
			first = try;
		if (first->question == try->question)
			continue;
		check_find(f, CHECK_VIOLATED, key->name, "try %d asked for "
		    "something else than try %d, which has run, and got a "
		    "final answer", try->a, first->a);
		check_find_event(f, try->ret);
		check_find_event(f, try->inv);
		check_find_event(f, first->run != NULL ? first->run->first :
		    first->inv);
		return true;
	}
	return false;
}

/*
 * fingerprint_guard (promise "guarded"): of a key that was sent with different
 * bodies only one is ever run, and none of the others gets a final answer.
 *
 * Which was first is seen from the runs, not from the tries: an `info` try may
 * have been it.  After the operator's word on a key, or the end of its
 * tombstone, nothing is said of it.  Exercised by a key that was sent with
 * different bodies.
 */
void
check_fingerprint_guard(const struct check_view *v, struct check_finding *f)
{
	const struct check_key *key;
	const struct check_try *first;
	bool exercised = false;

	for (key = v->keys; key < v->keys + v->keys_n; key++) {
		if (!bodies_differ(key) || key->resolved.n > 0 ||
		    v->resolved.n > 0 || became_new(v, key))
			continue;
		exercised = true;
		first = NULL;
		if (ran_another(v, key, &first, f) ||
		    answered_another(key, first, f))
			return;
	}
	check_find_end(f, exercised);
}
