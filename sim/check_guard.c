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

/* The key was given back since, or its tombstone may have ended. */
static bool
became_new(const struct check_view *v, const struct check_try *first,
    int64_t by_ns)
{
	int64_t since_ns = first->inv->t_ns;

	return check_fault_freed(v, first->key, since_ns, by_ns) ||
	    (v->head->once_ms > 0 &&
	    by_ns - since_ns >= check_ns(v->head->once_ms));
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
		if (*first == NULL || became_new(v, *first,
		    key->runs[i]->first->t_ns))
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

/* Whatever it was marked, it is what a program said to another body. */
static bool
shows_another(const struct check_view *v, const struct check_key *key,
    struct check_finding *f)
{
	const struct check_try *try, *whose;
	const struct check_run *run;
	size_t i;

	for (i = 0; i < key->tries_n; i++) {
		try = key->tries[i];
		run = try->ret == NULL ? NULL :
		    check_view_run(v, try->ret->says_effect);
		whose = run == NULL ? NULL : check_view_try(v, run->a);
		if (whose == NULL || whose->key != try->key ||
		    whose->question == try->question)
			continue;
		check_find(f, CHECK_VIOLATED, key->name, "try %d asked for "
		    "something else than try %d, and was shown what %s said",
		    try->a, whose->a, run->id);
		check_find_event(f, try->ret);
		check_find_event(f, try->inv);
		check_find_event(f, run->first);
		return true;
	}
	return false;
}

/* Where no run is seen, the first that had an answer stands for it. */
static bool
answered_another(const struct check_view *v, const struct check_key *key,
    struct check_finding *f)
{
	const struct check_try *try, *first = NULL;
	size_t i;

	if (key->runs_n > 0)
		first = check_view_try(v, key->runs[0]->a);
	for (i = 0; i < key->tries_n; i++) {
		try = key->tries[i];
		if (try->class != OUTCOME_OK)
			continue;
		if (first == NULL || first->key != try->key ||
		    became_new(v, first, try->ret->t_ns))
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
 * bodies only one is ever run, none of the others gets a final answer, and none
 * is shown what the program said to it, whatever the answer is marked.
 *
 * Which was first is seen from the runs, not from the tries: an `info` try may
 * have been it.  After the operator's word on a key, or the end of its
 * tombstone, another may be the first.  Exercised by a key that was sent with
 * different bodies before anything of the kind.
 */
void
check_fingerprint_guard(const struct check_view *v, struct check_finding *f)
{
	const struct check_key *key;
	const struct check_try *first;
	bool exercised = false;

	for (key = v->keys; key < v->keys + v->keys_n; key++) {
		if (!bodies_differ(key))
			continue;
		exercised = exercised || !became_new(v, key->tries[0],
		    key->tries[key->tries_n - 1]->inv->t_ns);
		first = NULL;
		if (ran_another(v, key, &first, f) ||
		    shows_another(v, key, f) || answered_another(v, key, f))
			return;
	}
	check_find_end(f, exercised);
}
