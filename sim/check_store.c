/* SPDX-License-Identifier: ISC */
#include "check_private.h"

#include <string.h>

/* --- ledger_store_agree --------------------------------------------------- */

struct record {			/* of a key, in the end */
	const struct history_event *cached;	/* completed, in a store */
	const struct history_event *known;	/* what a ledger has: the best
						   of all of them */
};

/* A ledger that has had the answer, even if it has forgotten it since. */
static bool
has_had(const struct history_event *e)
{
	return e != NULL && (check_is(e->what, "completed") ||
	    check_is(e->what, "tombstone"));
}

static void
add_record(struct record *r, const struct history_event *e)
{
	if (e->kind == HISTORY_STORE && check_is(e->what, "completed"))
		r->cached = e;
	else if (e->kind == HISTORY_LEDGER && !has_had(r->known))
		r->known = e;
}

/*
 * ledger_store_agree (promise "kept"): where the ledger is the arbiter and
 * Redis its cache, in the end no completed record is in Redis that is not in a
 * ledger, too (or was, and is a tombstone): an answer is cached after the
 * ledger has it.
 *
 * Results of tries do not matter.  Of keys that no ledger event names nothing
 * is said.  Exercised by a key that is completed in a store.
 */
void
check_ledger_store_agree(const struct check_view *v, struct check_finding *f)
{
	const struct history_event *e = v->h->events;
	const struct history_event *end = e + v->h->n;
	struct arena arena = { NULL };
	struct record *records, *r;
	bool exercised = false;
	size_t key;

	records = arena_get(&arena, (v->keys_n + 1) * sizeof *records);
	for (; e < end; e++) {
		key = check_view_key(v, e->k);
		if ((e->kind == HISTORY_STORE || e->kind == HISTORY_LEDGER) &&
		    e->m == 0 && e->what != NULL && key != CHECK_NO_KEY)
			add_record(&records[key], e);
	}
	for (r = records; r < records + v->keys_n; r++) {
		if (r->cached == NULL || r->known == NULL ||
		    !check_is(v->head->arbiter, "ledger"))
			continue;
		exercised = true;
		if (has_had(r->known))
			continue;
		check_find(f, CHECK_VIOLATED, r->cached->k, "%s is completed "
		    "in %s, and %s in the ledger", r->cached->k, r->cached->p,
		    r->known->what);
		check_find_event(f, r->cached);
		check_find_event(f, r->known);
		goto out;
	}
	check_find_end(f, exercised);
out:
	arena_free(&arena);
}

/* --- divergence_reported -------------------------------------------------- */

struct reports {		/* of a key */
	const struct history_event *two_runs, *unprotected;
};

/*
 * Who could have told may have been killed before he did: nothing can be said
 * of what its instance did not write.
 */
static bool
teller_died(const struct check_view *v, const struct check_run *run)
{
	const struct check_fault *fault = v->faults;
	const char *gate = run->first->gate;

	for (; fault < v->faults + v->faults_n; fault++)
		if (check_fault_kills(fault) && (gate == NULL ||
		    fault->event->gate == NULL ||
		    check_is(fault->event->gate, gate)))
			return true;
	return false;
}

static bool
any_teller_died(const struct check_view *v, const struct check_key *key)
{
	size_t i;

	for (i = 0; i < key->runs_n; i++)
		if (teller_died(v, key->runs[i]))
			return true;
	return false;
}

/* The second effect of a key, and the first; NULL: there is none. */
static const struct history_event *
done_twice(const struct check_view *v, const struct check_key *key,
    const struct history_event **first)
{
	const struct history_event *did;
	size_t i;

	*first = NULL;
	for (i = 0; i < key->runs_n; i++) {
		did = check_run_did(v, key->runs[i]);
		if (did != NULL && *first != NULL)
			return did;
		if (did != NULL)
			*first = did;
	}
	return NULL;
}

static bool
is_silent(const struct check_view *v, const struct check_key *key,
    const struct reports *r, struct check_finding *f)
{
	const struct history_event *first;
	const struct history_event *second = done_twice(v, key, &first);

	if (second == NULL || r->two_runs != NULL || r->unprotected != NULL ||
	    any_teller_died(v, key))
		return false;
	check_find(f, CHECK_VIOLATED, key->name, "%s was done twice, and no "
	    "instance's log says so", key->name);
	check_find_event(f, first);
	check_find_event(f, second);
	return true;
}

/* With faults a claim may change hands, or a program end, before it shows. */
static bool
is_false_alarm(const struct check_view *v, const struct check_key *key,
    const struct reports *r, struct check_finding *f)
{
	const struct history_event *e = NULL;

	if (v->faults_n > 0 || v->runs_n == 0)
		return false;
	if (r->two_runs != NULL && key->runs_n < 2)
		e = r->two_runs;
	else if (r->unprotected != NULL && key->runs_n < 1)
		e = r->unprotected;
	if (e == NULL)
		return false;
	check_find(f, CHECK_VIOLATED, key->name, "the log of %s says %s of %s, "
	    "which was run %s", e->p, e->what, key->name,
	    key->runs_n == 0 ? "by nobody" : "once");
	check_find_event(f, e);
	if (key->runs_n > 0)
		check_find_event(f, key->runs[0]->first);
	return true;
}

/*
 * divergence_reported (promise "honest", of outages): each key that was done
 * twice has a line "two-runs" or "unprotected" in some instance's log; and in a
 * history without a fault no such line is of a key that was not run so.
 *
 * Results of tries do not matter.  Where an instance that ran the key was
 * killed, or a line is of a key that is not known, nobody can say what was
 * written.  Exercised by a key that was done twice, or such a line.
 */
void
check_divergence_reported(const struct check_view *v, struct check_finding *f)
{
	const struct history_event *e = v->h->events, *first;
	const struct history_event *end = e + v->h->n;
	struct arena arena = { NULL };
	bool exercised = false, unnamed = false, found = false;
	struct reports *reports;
	size_t key;

	reports = arena_get(&arena, (v->keys_n + 1) * sizeof *reports);
	for (; e < end; e++) {
		key = check_view_key(v, e->k);
		if (e->kind != HISTORY_LOG || (!check_is(e->what, "two-runs") &&
		    !check_is(e->what, "unprotected")))
			continue;
		exercised = true;
		if (key == CHECK_NO_KEY)
			unnamed = true;
		else if (strcmp(e->what, "two-runs") == 0)
			reports[key].two_runs = e;
		else
			reports[key].unprotected = e;
	}
	for (key = 0; key < v->keys_n && !found; key++) {
		exercised = exercised ||
		    done_twice(v, &v->keys[key], &first) != NULL;
		found = (!unnamed && is_silent(v, &v->keys[key],
		    &reports[key], f)) || is_false_alarm(v, &v->keys[key],
		    &reports[key], f);
	}
	if (!found)
		check_find_end(f, exercised);
	arena_free(&arena);
}
