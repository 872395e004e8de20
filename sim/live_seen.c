/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include <string.h>

/*
 * A fault counts when it is seen to have happened: a signal that was sent, or a
 * word that was written to a file, has not struck anybody yet.
 */

/* Nothing that is alive bears its mark: it may not be reaped yet. */
static bool
server_gone(const struct live_store *s)
{
	pid_t one[1];

	return child_find(s->server.plan->name, one, 1) == 0;
}

/* Of frames that go a way that it strikes, more than before. */
static bool
have_grown(const struct live_watch *w, const unsigned now[NET_WAYS])
{
	const struct plan_action *a = w->action;
	bool both = a->requests == a->replies;

	return ((both || a->requests) &&
	    now[NET_REQUESTS] > w->before[NET_REQUESTS]) ||
	    ((both || a->replies) && now[NET_REPLIES] > w->before[NET_REPLIES]);
}

static bool
has_struck(const struct live_gate *g, const struct live_watch *w)
{
	const struct preload_disk *disk = g->disk.at;

	return disk != NULL && atomic_load(&disk->struck) > w->before[0];
}

static bool
is_told(const struct live *l, const struct live_watch *w)
{
	const struct preload_clock *clock = w->gate >= 0 ?
	    l->cast->gates[w->gate].clock.at :
	    l->cast->stores[w->store].clock.at;

	return atomic_load(&clock->struck) > w->before[0];
}

/* Of a replica's link: something came that could not go on, or was lost. */
static bool
has_met(const struct live_store *s, const struct live_watch *w)
{
	const struct plan_action *a = w->action;
	bool both = a->requests == a->replies;
	struct net_counts counts;
	enum net_way way;
	size_t met = 0;

	if (a->kind == PLAN_STORE_LAG || a->kind == PLAN_NET_DELAY)
		return net_stream_counts(s->replication, &counts) &&
		    counts.writes > w->before[NET_REPLIES];
	for (way = NET_REQUESTS; way < NET_WAYS; way++)
		if (both || a->requests == (way == NET_REQUESTS))
			met += a->kind == PLAN_NET_HOLD ?
			    net_waiting(s->replication, way) :
			    net_lost(s->replication, way) > w->before[way];
	return met > 0;
}

static bool
is_clock(const struct plan_action *a)
{
	return a->kind == PLAN_CLOCK_JUMP || a->kind == PLAN_CLOCK_RATE;
}

static bool
has_happened(const struct live *l, const struct live_watch *w)
{
	const struct live_gate *g = w->gate >= 0 ? &l->cast->gates[w->gate] :
	    NULL;

	if (is_clock(w->action))
		return is_told(l, w);
	if (g == NULL && w->action->kind == PLAN_STORE_KILL)
		return server_gone(&l->cast->stores[w->store]);
	if (g == NULL)
		return l->cast->stores[w->store].replication != NULL &&
		    has_met(&l->cast->stores[w->store], w);
	if (w->action->kind == PLAN_PROC_KILL)
		return instance_processes(&g->instance) == 0;
	if (w->action->kind == PLAN_NET_ONEWAY)
		return have_grown(w, g->lost);
	if (w->action->kind == PLAN_STORE_SLOW)
		return have_grown(w, g->passed);
	if (w->action->kind == PLAN_NET_REFUSE)
		return g->refused > w->before[0];
	return has_struck(g, w);
}

static bool
look(struct live *l, const struct live_watch *w)
{
	if (!has_happened(l, w))
		return false;
	live_fired(l, w->action, w->gate >= 0 ?
	    l->cast->gates[w->gate].instance.name :
	    live_store_name(l->cast, w->store), w->label);
	return true;
}

void
live_watch(struct live *l, const struct live_watch *w)
{
	if (!look(l, w))
		*(struct live_watch *)arena_more(&l->arena, &l->watches,
		    &l->watches_n, sizeof *w) = *w;
}

static bool
is_of_link(const struct plan_action *a)
{
	return (a->kind >= PLAN_NET_DROP && a->kind <= PLAN_NET_HEAL) ||
	    a->kind == PLAN_STORE_SLOW || a->kind == PLAN_STORE_LAG;
}

void
live_watch_end(struct live *l, enum plan_action_kind kind, int gate,
    int store)
{
	struct live_watch *w;
	size_t i;

	live_seen_turn(l);
	for (i = 0; i < l->watches_n; ) {
		w = &l->watches[i];
		if (is_of_link(w->action) &&
		    (kind == PLAN_ACTIONS || kind == w->action->kind) &&
		    (gate == PLAN_ANY || gate == w->gate) &&
		    (store == PLAN_ANY || store == w->store))
			*w = l->watches[--l->watches_n];
		else
			i++;
	}
}

void
live_seen_turn(struct live *l)
{
	size_t i;

	for (i = 0; i < l->watches_n; )
		if (look(l, &l->watches[i]))
			l->watches[i] = l->watches[--l->watches_n];
		else
			i++;
}
