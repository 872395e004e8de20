/* SPDX-License-Identifier: ISC */
#include "check_private.h"

#include <stdlib.h>

/* --- the last look -------------------------------------------------------- */

/*
 * When all is healed and quiet the simulator asks for each key at each
 * instance, and for fresh keys, and again while it gets no word.  What counts
 * is the last such try of a key at an instance; of fresh keys, of an instance.
 */
struct looks {
	struct arena arena;
	const struct check_try **all;	/* sorted: those that count are last */
	size_t n;
	bool fresh;
};

static int
by_key(const void *a, const void *b)
{
	const struct check_try *const *x = a, *const *y = b;

	if ((*x)->inv->fresh != (*y)->inv->fresh)
		return (*x)->inv->fresh ? 1 : -1;
	if (!(*x)->inv->fresh && (*x)->key != (*y)->key)
		return (*x)->key < (*y)->key ? -1 : 1;
	if ((*x)->gate != (*y)->gate)
		return (*x)->gate < (*y)->gate ? -1 : 1;
	return (*x)->inv->i < (*y)->inv->i ? -1 : (*x)->inv->i > (*y)->inv->i;
}

static void
looks_make(struct looks *l, const struct check_view *v, bool fresh)
{
	const struct check_try *try;

	*l = (struct looks){ .fresh = fresh };
	l->all = arena_get(&l->arena, (v->tries_n + 1) * sizeof *l->all);
	for (try = v->tries; try < v->tries + v->tries_n; try++)
		if (try->inv->fresh == fresh && (fresh || try->inv->audit) &&
		    try->key != CHECK_NO_KEY)
			l->all[l->n++] = try;
	if (l->n > 1)
		qsort(l->all, l->n, sizeof *l->all, by_key);
}

static bool
is_last(const struct looks *l, size_t i)
{
	return i + 1 == l->n || l->all[i + 1]->gate != l->all[i]->gate ||
	    (!l->fresh && l->all[i + 1]->key != l->all[i]->key);
}

/* What it says of the whole; the worst of all is kept. */
enum look { LOOK_GOOD, LOOK_OPEN, LOOK_BAD };

/* --- resolves ------------------------------------------------------------- */

static bool
was_killed(const struct check_view *v, const struct check_run *run)
{
	const struct check_fault *fault = v->faults;

	for (; fault < v->faults + v->faults_n; fault++)
		if (check_fault_kills(fault) &&
		    fault->until_ns >= run->first->t_ns &&
		    (fault->event->gate == NULL || check_is(fault->event->gate,
		    run->first->gate)))
			return true;
	return false;
}

/* Nobody has seen its end, and it has no reason to have come to one. */
static bool
may_go_on(const struct check_view *v, const struct check_key *key,
    int64_t at_ns)
{
	int64_t limit_ns = check_later(check_ns(v->head->limit_ms),
	    check_linger_ns(v));
	const struct check_run *run;
	size_t i;

	if (v->head->handler_fails)
		return false;
	for (i = 0; i < key->runs_n; i++) {
		run = key->runs[i];
		if (run->end == NULL && !was_killed(v, run) &&
		    check_later(run->first->t_ns, limit_ns) > at_ns)
			return true;
	}
	return false;
}

static enum look
look_at(const struct check_view *v, const struct check_try *try)
{
	int64_t settled_ns = check_later(v->healed_ns, check_later(
	    check_ns(v->head->lease_ms), check_ns(v->head->grace_ms)));
	bool no_word;

	if (try->ret == NULL)
		return LOOK_OPEN;
	no_word = try->class == OUTCOME_INFO &&
	    try->ret->how == OUTCOME_TIMEOUT;
	if (try->class != OUTCOME_BUSY && !no_word)
		return LOOK_GOOD;
	if ((no_word ? try->inv : try->ret)->t_ns < settled_ns ||
	    may_go_on(v, &v->keys[try->key], try->ret->t_ns))
		return LOOK_OPEN;
	return LOOK_BAD;
}

static bool
left_behind(const struct check_view *v, struct check_finding *f)
{
	const struct history_event *e = v->h->events;

	for (; e < v->h->events + v->h->n; e++) {
		if (e->kind != HISTORY_NOTE || !check_is(e->label, "leak"))
			continue;
		check_find(f, CHECK_VIOLATED, e->k, "%s was left behind (%s)",
		    e->what != NULL ? e->what : "something", e->p);
		check_find_event(f, e);
		return true;
	}
	return false;
}

static void
find_unsettled(const struct check_view *v, const struct check_try *try,
    struct check_finding *f)
{
	const struct check_key *key = &v->keys[try->key];

	check_find(f, CHECK_VIOLATED, key->name, "%s is still in progress at "
	    "%s after lease and grace: try %d got %s", key->name,
	    try->inv->to != NULL ? try->inv->to : "?", try->a,
	    try->class == OUTCOME_BUSY ? "a busy answer" : "no answer");
	check_find_event(f, try->ret);
	if (key->runs_n > 0)
		check_find_event(f, check_run_close(key->runs[key->runs_n -
		    1]));
}

static const struct check_try *
without_end(const struct check_view *v)
{
	const struct check_try *try = v->tries;

	for (; try < v->tries + v->tries_n; try++)
		if (try->ret == NULL)
			return try;
	return NULL;
}

/*
 * resolves (promise "settled"): when all faults have ended and lease and grace
 * are over, the simulator's own tries find no key in progress at any instance:
 * each is completed, unknown (which the operator can end) or free; and nothing
 * is left behind: no process, descriptor or claim.
 *
 * A program of which nobody has seen the end, nor a reason for it (a kill, its
 * limit), may still run: then nothing is said, and neither while a try has no
 * end.  Of these tries `info` says nothing, but that a client waited in vain.
 * Exercised by such a try that got an answer.
 */
void
check_resolves(const struct check_view *v, struct check_finding *f)
{
	const struct check_try *open = without_end(v);
	bool exercised = false, found;
	struct looks l;
	enum look look;
	size_t i;

	found = left_behind(v, f);
	looks_make(&l, v, false);
	for (i = 0; i < l.n && !found; i++) {
		if (!is_last(&l, i))
			continue;
		look = look_at(v, l.all[i]);
		exercised = exercised || (l.all[i]->ret != NULL &&
		    l.all[i]->ret->status > 0);
		if (look == LOOK_OPEN && open == NULL)
			open = l.all[i];
		found = look == LOOK_BAD;
		if (found)
			find_unsettled(v, l.all[i], f);
	}
	if (!found && open != NULL) {
		check_find(f, CHECK_OPEN, open->inv->k, open->ret == NULL ?
		    "try %d has no end" : "try %d came too early to tell, or "
		    "its program may still run", open->a);
		check_find_event(f, open->ret != NULL ? open->ret : open->inv);
	} else if (!found)
		check_find_end(f, exercised);
	arena_free(&l.arena);
}

/* --- new_keys_succeed ----------------------------------------------------- */

/* Its program's answer came whole, stored or not. */
static bool
was_served(const struct check_view *v, const struct check_try *try)
{
	if (try->class == OUTCOME_OK)
		return true;
	if (try->class != OUTCOME_INFO || try->ret->how != OUTCOME_WHOLE)
		return false;
	return !check_is(try->ret->mark, "unknown") || v->head->handler_fails;
}

static enum look
fresh_look(const struct check_view *v, const struct check_try *try)
{
	int64_t settled_ns = check_later(v->healed_ns, check_linger_ns(v));

	if (try->ret == NULL)
		return LOOK_OPEN;
	if (was_served(v, try))
		return LOOK_GOOD;
	if (try->ret->t_ns < settled_ns && v->faults_n > 0)
		return LOOK_OPEN;
	/* It may take longer than its client waits. */
	if (try->class == OUTCOME_INFO && try->ret->how != OUTCOME_WHOLE &&
	    (try->run != NULL || v->runs_n == 0))
		return LOOK_OPEN;
	return LOOK_BAD;
}

/*
 * new_keys_succeed (promise "settled"): when all faults have ended, and a
 * lease, its grace and the next look at a store are over, a key of which nobody
 * has heard is served by each instance.
 *
 * An `info` try whose program ran says nothing: it may take longer than its
 * client waits; one whose program never ran was not served.  Exercised by a try
 * of a fresh key.
 */
void
check_new_keys_succeed(const struct check_view *v, struct check_finding *f)
{
	const struct check_try *open = NULL, *try;
	struct looks l;
	enum look look;
	size_t i;

	looks_make(&l, v, true);
	check_find_end(f, l.n > 0);
	for (i = 0; i < l.n; i++) {
		if (!is_last(&l, i))
			continue;
		try = l.all[i];
		look = fresh_look(v, try);
		if (look == LOOK_OPEN)
			open = try;
		if (look != LOOK_BAD)
			continue;
		check_find(f, CHECK_VIOLATED, try->inv->k, "a fresh key was "
		    "not served at %s: try %d was %s", try->inv->to != NULL ?
		    try->inv->to : "?", try->a, outcome_text(try->class));
		check_find_event(f, try->ret);
		check_find_event(f, try->inv);
		open = NULL;
		break;
	}
	if (open != NULL) {
		check_find(f, CHECK_OPEN, open->inv->k, open->ret == NULL ?
		    "try %d has no end" : "try %d came too early to tell, or "
		    "its program may still run", open->a);
		check_find_event(f, open->ret != NULL ? open->ret : open->inv);
	}
	arena_free(&l.arena);
}
