/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include <string.h>

static enum net_do
rule_act(enum plan_action_kind kind)
{
	static const enum net_do acts[PLAN_ACTIONS] = {
		[PLAN_NET_DROP] = NET_DROP, [PLAN_NET_HOLD] = NET_HOLD,
		[PLAN_NET_DELAY] = NET_DELAY, [PLAN_NET_RESET] = NET_RESET,
		[PLAN_NET_SLICE] = NET_SLICE, [PLAN_NET_ERROR] = NET_ERROR,
		[PLAN_STORE_ERROR] = NET_ERROR
	};

	return acts[kind];
}

void
live_link_rule(struct live_gate *g, const struct plan_action *a,
    enum net_way way, unsigned nth, unsigned times)
{
	net_rule_add(g->link, &(struct net_rule){
		.act = rule_act(a->kind), .way = way, .op = a->script,
		.cmd = a->cmd, .nth = nth, .times = times, .ms = a->ms,
		.bytes = a->bytes, .word = a->word,
		.user = (void *)(uintptr_t)a
	});
}

/* --- rules ---------------------------------------------------------------- */

/* A command is answered with an error in its reply's place. */
static bool
strikes(const struct plan_action *a, enum net_way way)
{
	if (rule_act(a->kind) == NET_ERROR)
		return way == NET_REQUESTS;
	return a->requests == a->replies ||
	    a->requests == (way == NET_REQUESTS);
}

static void
add_rules(struct live_gate *g, const struct plan_action *a)
{
	unsigned nth = a->nth > 0 ? a->nth : 1;

	if (strikes(a, NET_REQUESTS))
		live_link_rule(g, a, NET_REQUESTS, nth, a->times);
	if (strikes(a, NET_REPLIES))
		live_link_rule(g, a, NET_REPLIES, nth, a->times);
}

/* So many times in all, on whichever link. */
static bool
roams(struct live *l, const struct plan_action *a)
{
	if (a->gate != PLAN_ANY || a->times == 0 ||
	    rule_act(a->kind) == NET_PASS || rule_act(a->kind) == NET_ERROR)
		return false;
	*(struct live_roaming *)arena_more(&l->arena, &l->roaming,
	    &l->roaming_n, sizeof *l->roaming) = (struct live_roaming){
		.action = a, .left = a->times,
		.before = a->nth > 0 ? a->nth - 1 : 0
	};
	return true;
}

/* --- whole links ---------------------------------------------------------- */

static void
oneway(struct live *l, const struct live_due *d, struct live_gate *g)
{
	const struct plan_action *a = d->action;
	enum net_way way;

	live_watch(l, &(struct live_watch){
		.action = a, .gate = (int)g->index, .store = g->aimed,
		.label = d->label,
		.before = { g->lost[NET_REQUESTS], g->lost[NET_REPLIES] }
	});
	for (way = NET_REQUESTS; way < NET_WAYS; way++)
		if (a->requests == a->replies ||
		    a->requests == (way == NET_REQUESTS))
			net_oneway(g->link, way);
}

static void
slow(struct live *l, const struct live_due *d, struct live_gate *g)
{
	if (plan_action_heals(d->action)) {
		live_watch_end(l, PLAN_STORE_SLOW, (int)g->index, PLAN_ANY);
		net_slow(g->link, 0);
		live_fired(l, d->action, g->instance.name, d->label);
		return;
	}
	net_slow(g->link, d->action->ms);
	live_watch(l, &(struct live_watch){
		.action = d->action, .gate = (int)g->index,
		.store = g->aimed, .label = d->label,
		.before = { g->passed[NET_REQUESTS], g->passed[NET_REPLIES] }
	});
}

/* Those that are there feel it at once; others when they come. */
static void
refuse(struct live *l, const struct live_due *d, struct live_gate *g)
{
	size_t n = net_connections(g->link);

	net_refuse(g->link, true);
	if (n > 0)
		live_fired(l, d->action, g->instance.name, d->label);
	else
		live_watch(l, &(struct live_watch){
			.action = d->action, .gate = (int)g->index,
			.store = g->aimed, .label = d->label,
			.before = { g->refused }
		});
}

static void
reset(struct live *l, const struct live_due *d, struct live_gate *g)
{
	size_t n = net_connections(g->link);

	net_reset(g->link);
	if (n > 0)
		live_fired(l, d->action, g->instance.name, d->label);
}

static void
release(struct live *l, const struct live_due *d, struct live_gate *g)
{
	net_release(g->link);
	live_fired(l, d->action, g->instance.name, d->label);
}

static void
delay_ends(struct live *l, const struct live_due *d, struct live_gate *g)
{
	net_rules_end(g->link, NET_DELAY);
	live_fired(l, d->action, g->instance.name, d->label);
}

/* What strikes on whichever link does so on the others still. */
static void
heal(struct live *l, const struct live_due *d, struct live_gate *g)
{
	size_t i;

	live_watch_end(l, PLAN_ACTIONS, (int)g->index, PLAN_ANY);
	net_heal(g->link);
	for (i = 0; i < l->roaming_n; i++)
		l->roaming[i].healed |= 1u << g->index;
	live_fired(l, d->action, g->instance.name, d->label);
}

/* --- which ---------------------------------------------------------------- */

/* A reset of no frame in particular is one of all that is there. */
static bool
is_of_frames(const struct plan_action *a)
{
	return rule_act(a->kind) != NET_PASS && !plan_action_heals(a) &&
	    (a->kind != PLAN_NET_RESET ||
	    a->script != NULL || a->cmd != NULL || a->bytes > 0 ||
	    a->requests != a->replies);
}

static void
do_one(struct live *l, const struct live_due *d, struct live_gate *g)
{
	typedef void do_fn(struct live *, const struct live_due *,
	    struct live_gate *);
	static do_fn *const acts[PLAN_ACTIONS] = {
		[PLAN_NET_RELEASE] = release, [PLAN_NET_RESET] = reset,
		[PLAN_NET_DELAY] = delay_ends,
		[PLAN_NET_ONEWAY] = oneway, [PLAN_NET_REFUSE] = refuse,
		[PLAN_NET_HEAL] = heal, [PLAN_STORE_SLOW] = slow
	};

	if (is_of_frames(d->action))
		add_rules(g, d->action);
	else
		acts[d->action->kind](l, d, g);
}

/* --- a replica's link ----------------------------------------------------- */

/* It has no messages that could be told apart: whole ways, or all of it. */
static void
replica_ways(const struct plan_action *a, struct net *net)
{
	enum net_way way;

	for (way = NET_REQUESTS; way < NET_WAYS; way++)
		if (a->requests != a->replies &&
		    a->requests != (way == NET_REQUESTS))
			continue;
		else if (a->kind == PLAN_NET_HOLD)
			net_stop(net, way);
		else
			net_oneway(net, way);
}

static void
replica_watch(struct live *l, const struct live_due *d, struct live_store *s)
{
	live_watch(l, &(struct live_watch){
		.action = d->action, .gate = PLAN_NONE,
		.store = (int)s->index, .label = d->label,
		.before = { (unsigned)net_lost(s->replication, NET_REQUESTS),
		    (unsigned)net_lost(s->replication, NET_REPLIES) }
	});
}

static void
replication(struct live *l, const struct live_due *d, struct live_store *s)
{
	const struct plan_action *a = d->action;
	struct net *net = s->replication;
	size_t n;

	if (net == NULL)
		return;
	n = net_connections(net);
	if (a->kind == PLAN_NET_HOLD || a->kind == PLAN_NET_ONEWAY) {
		replica_ways(a, net);
		replica_watch(l, d, s);
		return;
	}
	if (a->kind == PLAN_NET_DELAY && a->ms > 0) {
		live_stream_watch(l, d, s);
		net_slow(net, a->ms);
		return;
	}
	if (plan_action_heals(a))
		live_stream_let_go(l, s);
	else if (a->kind == PLAN_NET_REFUSE)
		net_refuse(net, true);
	else
		net_reset(net);
	if (n > 0 || plan_action_heals(a))
		live_fired(l, a, s->server.plan->name, d->label);
}

/* --- all of them ---------------------------------------------------------- */

static bool
is_net(const struct plan_action *a)
{
	return a->kind >= PLAN_NET_DROP && a->kind <= PLAN_NET_HEAL;
}

void
live_do_net(struct live *l, const struct live_due *d)
{
	const struct plan_action *a = d->action;
	size_t i;

	if (is_net(a) && a->gate == PLAN_NONE) {
		if (a->store >= 0)
			replication(l, d, &l->cast->stores[a->store]);
		return;
	}
	if (is_of_frames(a) && roams(l, a))
		return;
	for (i = 0; i < l->cast->gates_n; i++)
		if (live_link_fits(&l->cast->gates[i], a->gate, a->store))
			do_one(l, d, &l->cast->gates[i]);
}
