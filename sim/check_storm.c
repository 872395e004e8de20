/* SPDX-License-Identifier: ISC */
#include "check_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FEW 10u			/* requests of which nothing can be said */
#define SHARE 90		/* per cent of what was before */
#define MS INT64_C(1000000)

/* How often something happened that a bound grows with. */
static int64_t
fault_count(const struct check_view *v, const char *kind)
{
	const struct history_event *e = v->h->events;
	const struct check_fault *fault;
	const char *dot;
	int64_t n = 0;

	for (fault = v->faults; fault < v->faults + v->faults_n; fault++) {
		dot = strchr(fault->act, '.');
		n += strcmp(fault->act, kind) == 0 ||
		    (dot != NULL && strcmp(dot + 1, kind) == 0);
	}
	for (; e < v->h->events + v->h->n; e++)
		n += e->kind == HISTORY_STORE && check_is(e->note, kind);
	return n;
}

static int64_t
limit(const struct check_view *v, const struct history_bound *b)
{
	return check_later(b->value, b->per_fault != NULL ?
	    fault_count(v, b->per_fault) : 0);
}

/* --- runs of a key -------------------------------------------------------- */

/* Leases of it that ended: that were seen to, or that a later run shows. */
static int64_t
expiries(const struct check_view *v, const struct check_key *key)
{
	size_t seen = key->expired.n + v->expired.n, shown = 0, i;

	for (i = 1; i < key->runs_n; i++)
		shown += check_run_excused(v, key, i);
	return (int64_t)(seen > shown ? seen : shown);
}

static bool
runs_exceed(const struct check_view *v, const struct history_bound *b,
    bool *exercised, struct check_finding *f)
{
	bool leases = check_is(b->per_fault, "lease_expiry");
	const struct check_key *key;
	int64_t most = leases ? b->value : limit(v, b), own;
	size_t i;

	*exercised = v->runs_n > 0;
	for (key = v->keys; key < v->keys + v->keys_n; key++) {
		own = check_later(most, leases ? expiries(v, key) : 0);
		if ((int64_t)key->runs_n <= own)
			continue;
		check_find(f, CHECK_VIOLATED, key->name, "%s was run %zu times;"
		    " %" PRId64 " is the bound", key->name, key->runs_n, own);
		for (i = 0; i < key->runs_n; i++)
			check_find_event(f, key->runs[i]->first);
		return true;
	}
	return false;
}

/* --- commands ------------------------------------------------------------- */

/* On behalf of tries: not what keeps leases, nor what keeps connections. */
static bool
is_op(const struct history_event *e)
{
	return e->kind == HISTORY_SEND && (e->script != NULL || e->k != NULL) &&
	    !check_is(e->script, "renew");
}

static bool
ops_exceed(const struct check_view *v, const struct history_bound *b,
    bool *exercised, struct check_finding *f)
{
	const struct history_event *e = v->h->events, *last = NULL;
	int64_t n = 0, most = limit(v, b), tries = (int64_t)v->tries_n;

	for (; e < v->h->events + v->h->n; e++)
		if (is_op(e)) {
			n++;
			last = e;
		}
	*exercised = n > 0 && tries > 0;
	if (tries == 0 || n / tries < most ||
	    (n / tries == most && n % tries == 0))
		return false;
	check_find(f, CHECK_VIOLATED, NULL, "%" PRId64 " tries cost %" PRId64
	    " commands to stores; %" PRId64 " each is the bound", tries, n,
	    most);
	check_find_event(f, last);
	return true;
}

/* --- tries that wait ------------------------------------------------------ */

static bool
queue_exceeds(const struct check_view *v, const struct history_bound *b,
    bool *exercised, struct check_finding *f)
{
	const struct history_event *e = v->h->events;
	const struct history_event *end = e + v->h->n;
	struct arena arena = { NULL };
	const struct check_try *try;
	int64_t most = limit(v, b), *open, *at;
	bool found = false;

	*exercised = v->tries_n > 0;
	open = arena_get(&arena, (v->gates_n + 1) * sizeof *open);
	for (; e < end && !found; e++) {
		try = e->kind == HISTORY_INV || e->kind == HISTORY_RET ?
		    check_view_try(v, e->a) : NULL;
		if (try == NULL || try->inv->to == NULL || try->inv->audit)
			continue;
		at = &open[try->gate];
		if (e == try->ret)
			--*at;
		else if (e == try->inv && ++*at > most) {
			check_find(f, CHECK_VIOLATED, NULL, "%" PRId64 " tries "
			    "wait at %s; %" PRId64 " is the bound", *at,
			    try->inv->to, most);
			check_find_event(f, e);
			found = true;
		}
	}
	arena_free(&arena);
	return found;
}

/* --- what comes of requests, before and after ----------------------------- */

/*
 * A request is what a client wants with a key, in as many tries as it makes: a
 * try that waits for less long than the program takes is no failure.
 */
struct request {
	const struct check_try *first, *last;
	bool ok;
};

static int
by_request(const void *a, const void *b)
{
	const struct check_try *const *x = a, *const *y = b;
	int order;

	if ((*x)->key != (*y)->key)
		return (*x)->key < (*y)->key ? -1 : 1;
	order = strcmp((*x)->inv->p, (*y)->inv->p);
	return order != 0 ? order : ((*x)->a > (*y)->a) - ((*x)->a < (*y)->a);
}

/* Of all but the simulator's own, and those that have not ended. */
static size_t
requests(const struct check_view *v, struct arena *arena,
    struct request **out)
{
	const struct check_try **all = arena_get(arena, (v->tries_n + 1) *
	    sizeof *all);
	struct request *r = arena_get(arena, (v->tries_n + 1) * sizeof *r);
	size_t i, n = 0, found = 0;

	*out = r;
	for (i = 0; i < v->tries_n; i++)
		if (v->tries[i].key != CHECK_NO_KEY &&
		    v->tries[i].ret != NULL && !v->tries[i].inv->audit)
			all[n++] = &v->tries[i];
	if (n > 1)
		qsort(all, n, sizeof *all, by_request);
	for (i = 0; i < n; i++) {
		if (i == 0 || all[i]->key != all[i - 1]->key ||
		    strcmp(all[i]->inv->p, all[i - 1]->inv->p) != 0)
			r[found++].first = all[i];
		r[found - 1].last = all[i];
		if (all[i]->class == OUTCOME_OK)
			r[found - 1].ok = true;
	}
	return found;
}

struct share {
	int64_t ok, n;
};

/* Of requests that were first sent by then. */
static struct share
share_before(const struct request *r, size_t n, int64_t by_ns)
{
	struct share share = { 0, 0 };

	for (; n > 0; n--, r++)
		if (r->first->inv->t_ns < by_ns) {
			share.n++;
			share.ok += r->ok;
		}
	return share;
}

/* Of those that were tried from then on, whenever they began: who has no answer
   by then is part of what is to recover. */
static struct share
share_after(const struct request *r, size_t n, int64_t from_ns)
{
	struct share share = { 0, 0 };

	for (; n > 0; n--, r++)
		if (r->last->inv->t_ns >= from_ns) {
			share.n++;
			share.ok += r->ok;
		}
	return share;
}

static void
find_down(const struct check_view *v, struct share before, struct share after,
    int64_t within_ms, struct check_finding *f)
{
	const struct history_event *e = v->h->events;

	check_find(f, CHECK_VIOLATED, NULL, "%" PRId64 " of %" PRId64
	    " requests came to a final answer from %" PRId64 " ms on after the "
	    "last fault; before the first %" PRId64 " of %" PRId64 " did",
	    after.ok, after.n, within_ms, before.ok, before.n);
	for (; e < v->h->events + v->h->n; e++)
		if (e->kind == HISTORY_HEAL && e->t_ns == v->healed_ns)
			check_find_event(f, e);
}

static bool
stays_down(const struct check_view *v, const struct history_bound *b,
    bool *exercised, struct check_finding *f)
{
	struct arena arena = { NULL };
	struct request *all;
	size_t n = requests(v, &arena, &all);
	struct share before = { 1, 1 }, after;
	bool down = false;

	if (v->faults_n > 0)
		before = share_before(all, n, v->faults[0].from_ns);
	after = share_after(all, n, check_later(v->healed_ns,
	    check_ns(limit(v, b))));
	arena_free(&arena);
	if (before.n < (int64_t)FEW)
		before = (struct share){ 1, 1 };
	if (v->faults_n > 0 && after.n >= (int64_t)FEW && before.ok > 0) {
		*exercised = true;
		down = after.ok * before.n * 100 <
		    before.ok * after.n * SHARE;
	}
	if (down)
		find_down(v, before, after, limit(v, b), f);
	return down;
}

/* --- how long others wait ------------------------------------------------- */

static int64_t
took_ns(const struct check_try *try)
{
	return try->ret->t_ns - try->inv->t_ns;
}

static int
by_time(const void *a, const void *b)
{
	const struct check_try *const *x = a, *const *y = b;

	if (took_ns(*x) != took_ns(*y))
		return took_ns(*x) < took_ns(*y) ? -1 : 1;
	return (*x)->a < (*y)->a ? -1 : 1;
}

static bool
innocents_wait(const struct check_view *v, const struct history_bound *b,
    bool *exercised, struct check_finding *f)
{
	struct arena arena = { NULL };
	const struct check_try **all, *try;
	size_t n = 0;
	bool found = false;

	all = arena_get(&arena, (v->tries_n + 1) * sizeof *all);
	for (try = v->tries; try < v->tries + v->tries_n; try++)
		if (try->inv->innocent && try->ret != NULL)
			all[n++] = try;
	if (n > 0) {
		*exercised = true;
		qsort(all, n, sizeof *all, by_time);
		try = all[(n * 99 + 99) / 100 - 1];
		found = took_ns(try) > check_ns(limit(v, b));
		if (found) {
			check_find(f, CHECK_VIOLATED, NULL, "99 %% of %zu tries"
			    " beside the storm took up to %" PRId64 " ms; %"
			    PRId64 " is the bound", n, took_ns(try) / MS,
			    limit(v, b));
			check_find_event(f, try->inv);
			check_find_event(f, try->ret);
		}
	}
	arena_free(&arena);
	return found;
}

/*
 * storm_bounded (promise "once", and that retries do not bring it down): what
 * the plan bounds stays within it.  Runs of a key; commands to stores, on
 * average over all tries (renewals are not counted); tries that are under way
 * at one instance at once; from so long after all faults on, the share of
 * requests that come to a final answer is 90 % of what it was before the first
 * (of all, if there were few); and 99 % of the tries of loads beside the storm
 * take no longer.  A bound grows with each fault that it names; with
 * "lease_expiry" by each lease of the key that ended, or that a later run shows
 * to have.
 *
 * `info` counts as a try without a final answer, with the time for which its
 * client waited; tries without an end are not counted.  Exercised if there is
 * something to measure for each of the bounds: of a recovery, where there was
 * something before to come back to.
 */
void
check_storm_bounded(const struct check_view *v, struct check_finding *f)
{
	const struct history_head *head = v->head;
	const struct {
		const struct history_bound *bound;
		bool (*exceeds)(const struct check_view *,
		    const struct history_bound *, bool *,
		    struct check_finding *);
		bool of_time;	/* behind all that are not */
	} all[] = {
		{ &head->handler_runs_per_key, runs_exceed, false },
		{ &head->store_ops_per_attempt, ops_exceed, false },
		{ &head->queue_depth, queue_exceeds, true },
		{ &head->goodput_recovers_within_ms, stays_down, true },
		{ &head->innocent_p99_ms, innocents_wait, true }
	};
	bool any = false, unmeasured = false, measured;
	size_t i;

	for (i = 0; i < sizeof all / sizeof *all; i++) {
		if (!all[i].bound->set)
			continue;
		any = true;
		measured = false;
		if (all[i].exceeds(v, all[i].bound, &measured, f)) {
			f->of_time = all[i].of_time;
			return;
		}
		unmeasured = unmeasured || !measured;
	}
	check_find_end(f, any && !unmeasured);
}
