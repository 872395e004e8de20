/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include <string.h>

#define MS_NS 1000000

/*
 * A lease that ended while the program that had it was running: told of
 * afterwards, by what a server has acknowledged.  With a ledger nothing is
 * seen of renewals; there it is the instance's silence that counts.
 */
struct run {
	const char *key, *gate;
	int64_t from_ns, to_ns;	/* of the program */
};

static int64_t
end_of(const struct history *h, size_t begin)
{
	const struct history_event *b = &h->events[begin];
	size_t i;

	for (i = begin + 1; i < h->n; i++)
		if (h->events[i].kind == HISTORY_EFFECT &&
		    h->events[i].id == b->id && h->events[i].ph != NULL &&
		    strcmp(h->events[i].ph, "end") == 0)
			return h->events[i].t_ns;
	/* It was killed: by then somebody was told so. */
	for (i = begin + 1; i < h->n; i++)
		if (h->events[i].kind == HISTORY_EXIT &&
		    h->events[i].p == b->gate)
			return h->events[i].t_ns;
	/* Or it is killed when its time is over. */
	return b->t_ns + h->head.limit_ms * MS_NS;
}

static bool
renews(const struct history_event *e, const char *key)
{
	return e->kind == HISTORY_STORE && e->k == key && e->code != NULL &&
	    (strcmp(e->code, "WON") == 0 || strcmp(e->code, "RENEWED") == 0 ||
	    strcmp(e->code, "OURS") == 0);
}

/* When the lease of a run ends, by what a server said; -1: it did not. */
static int64_t
lapse_at_store(const struct history *h, const struct run *r)
{
	int64_t lease_ns = h->head.lease_ms * MS_NS, last = -1;
	size_t i;

	for (i = 0; i < h->n && h->events[i].t_ns <= r->to_ns; i++) {
		if (!renews(&h->events[i], r->key))
			continue;
		if (last >= 0 && h->events[i].t_ns > last + lease_ns &&
		    last + lease_ns >= r->from_ns)
			break;
		last = h->events[i].t_ns;
	}
	return last >= 0 && last + lease_ns < r->to_ns &&
	    last + lease_ns >= r->from_ns ? last + lease_ns : -1;
}

/* Nobody renews for an instance that is paused or gone. */
static int64_t
lapse_of_silence(const struct history *h, const struct run *r)
{
	int64_t lease_ns = h->head.lease_ms * MS_NS;
	const struct history_event *e;
	size_t i;

	for (i = 0; i < h->n && h->events[i].t_ns <= r->to_ns; i++) {
		e = &h->events[i];
		if (e->kind == HISTORY_FAULT && e->p == r->gate &&
		    e->what != NULL && (strncmp(e->what, "pause", 5) == 0 ||
		    strncmp(e->what, "kill", 4) == 0) &&
		    e->t_ns + lease_ns < r->to_ns &&
		    e->t_ns + lease_ns > r->from_ns)
			return e->t_ns + lease_ns;
	}
	return -1;
}

static void
look(struct live *l, size_t begin)
{
	const struct history_event *b = &l->h->events[begin];
	struct run r = {
		.key = b->k, .gate = b->gate, .from_ns = b->t_ns,
		.to_ns = end_of(l->h, begin)
	};
	int64_t at = l->plan->gates.arbiter == PLAN_LEDGER ?
	    lapse_of_silence(l->h, &r) : lapse_at_store(l->h, &r);
	struct history_event *e;

	if (at < 0)
		return;
	e = history_insert(l->h, HISTORY_STORE, at, l->plan->gates.arbiter ==
	    PLAN_LEDGER ? "ledger" : live_store_name(l->cast,
	    l->plan->gates.store));
	e->k = r.key;
	e->note = "lease_expired_running";
}

/* What is put in comes behind the begin that it belongs to. */
void
live_leases(struct live *l)
{
	size_t i;

	for (i = 0; i < l->h->n; i++)
		if (l->h->events[i].kind == HISTORY_EFFECT &&
		    l->h->events[i].k != NULL &&
		    l->h->events[i].ph != NULL &&
		    strcmp(l->h->events[i].ph, "begin") == 0)
			look(l, i);
}
