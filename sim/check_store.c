/* SPDX-License-Identifier: ISC */
#include "check_private.h"

#include <string.h>

/* --- ledger_store_agree --------------------------------------------------- */

struct record {			/* of a key, in the end */
	const struct history_event *known;	/* what a ledger has: the best
						   of all of them */
	bool answers;		/* one of them has had the answer */
	int attempt;		/* of that, if all say so; 0: not known */
	bool differ;		/* they have those of different attempts */
};

/* A ledger that has had the answer, even if it has forgotten it since. */
static bool
has_had(const struct history_event *e)
{
	return check_is(e->what, "completed") || check_is(e->what, "tombstone");
}

static void
add_record(struct record *r, const struct history_event *e)
{
	if (!r->answers)
		r->known = e;
	if (!has_had(e))
		return;
	if (!r->answers)
		r->attempt = e->attempt;
	else if (r->attempt != e->attempt)
		r->differ = true;
	r->answers = true;
}

/* NULL: the ledger has what a store has. */
static const char *
lacks(const struct record *r, const struct history_event *cached)
{
	if (!r->answers)
		return "";
	if (r->differ || r->attempt == 0 || cached->attempt == 0 ||
	    r->attempt == cached->attempt)
		return NULL;
	return " of another attempt";
}

static struct record *
record_of(const struct check_view *v, struct record *all,
    const struct history_event *e, enum history_kind kind)
{
	size_t key = check_view_key(v, e->k);

	return e->kind == kind && e->m == 0 && e->what != NULL &&
	    key != CHECK_NO_KEY ? &all[key] : NULL;
}

/*
 * ledger_store_agree (promise "kept"): where the ledger is the arbiter and
 * Redis its cache, in the end no completed record is in any Redis that is not
 * in a ledger, too, of the same attempt (or was, and is a tombstone): an answer
 * is cached after the ledger has it.
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
	const char *what;

	records = arena_get(&arena, (v->keys_n + 1) * sizeof *records);
	for (; e < end; e++) {
		r = record_of(v, records, e, HISTORY_LEDGER);
		if (r != NULL)
			add_record(r, e);
	}
	for (e = v->h->events; e < end; e++) {
		r = record_of(v, records, e, HISTORY_STORE);
		if (r == NULL || !check_is(e->what, "completed") ||
		    r->known == NULL || !check_is(v->head->arbiter, "ledger"))
			continue;
		exercised = true;
		what = lacks(r, e);
		if (what == NULL)
			continue;
		check_find(f, CHECK_VIOLATED, e->k, "%s is completed in %s, "
		    "and %s%s in the ledger", e->k, e->p, r->known->what,
		    what);
		check_find_event(f, e);
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
 * Who could have told may have been killed since, before he did: nothing can be
 * said of what its instance did not write.
 */
static bool
teller_died(const struct check_view *v, const struct check_run *run)
{
	const struct check_fault *fault = v->faults;
	const char *gate = run->first->gate;

	for (; fault < v->faults + v->faults_n; fault++)
		if (check_fault_kills(fault) &&
		    fault->from_ns >= run->first->t_ns && (gate == NULL ||
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

/* By the operator's word, or the end of its tombstone. */
static bool
became_new(const struct check_view *v, const struct check_key *key,
    const struct history_event *first, const struct history_event *then)
{
	return check_fault_freed(v, (size_t)(key - v->keys), first->t_ns,
	    then->t_ns) || (v->head->once_ms > 0 &&
	    then->t_ns - first->t_ns >= check_ns(v->head->once_ms));
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
		if (did == NULL)
			continue;
		if (*first != NULL && !became_new(v, key, *first, did))
			return did;
		*first = did;
	}
	return NULL;
}

/* A line that names no key is this one's, if no other has taken it. */
static bool
is_silent(const struct check_view *v, const struct check_key *key,
    const struct reports *r, size_t *unnamed, struct check_finding *f)
{
	const struct history_event *first;
	const struct history_event *second = done_twice(v, key, &first);

	if (second == NULL || r->two_runs != NULL || r->unprotected != NULL ||
	    any_teller_died(v, key))
		return false;
	if (*unnamed > 0) {
		--*unnamed;
		return false;
	}
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
 * history without a fault no such line is of a key that was not run so.  After
 * the operator's word, or its tombstone, a key is another.
 *
 * Results of tries do not matter.  Where an instance that ran the key was
 * killed afterwards nobody can say what was written; and a line of a key that
 * is not known may be of any one.  Exercised by a key that was done twice, or
 * such a line.
 */
void
check_divergence_reported(const struct check_view *v, struct check_finding *f)
{
	const struct history_event *e = v->h->events, *first;
	const struct history_event *end = e + v->h->n;
	struct arena arena = { NULL };
	bool exercised = false, found = false;
	struct reports *reports;
	size_t key, unnamed = 0;

	reports = arena_get(&arena, (v->keys_n + 1) * sizeof *reports);
	for (; e < end; e++) {
		key = check_view_key(v, e->k);
		if (e->kind != HISTORY_LOG || (!check_is(e->what, "two-runs") &&
		    !check_is(e->what, "unprotected")))
			continue;
		exercised = true;
		if (key == CHECK_NO_KEY)
			unnamed++;
		else if (strcmp(e->what, "two-runs") == 0)
			reports[key].two_runs = e;
		else
			reports[key].unprotected = e;
	}
	for (key = 0; key < v->keys_n && !found; key++) {
		exercised = exercised ||
		    done_twice(v, &v->keys[key], &first) != NULL;
		found = is_silent(v, &v->keys[key], &reports[key], &unnamed,
		    f) || is_false_alarm(v, &v->keys[key], &reports[key], f);
	}
	if (!found)
		check_find_end(f, exercised);
	arena_free(&arena);
}
