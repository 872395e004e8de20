/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include <errno.h>
#include <string.h>

#define UP_MS 15000
#define LOOK_MS 2

/* --- everything ends ------------------------------------------------------ */

static void
heal_clock(struct live_map *map)
{
	if (map->at != NULL)
		live_clock_heal(map->at);
}

static void
heal_disk(struct live_gate *g)
{
	struct preload_disk *disk = g->disk.at;

	if (disk != NULL)
		atomic_store(&disk->fault, PRELOAD_NONE);
}

static void
heal_store(struct live *l, struct live_store *s)
{
	if (s->replication != NULL) {
		net_stream_keep(s->replication, 0);
		net_heal(s->replication);
	}
	heal_clock(&s->clock);
	if (s->frozen)
		server_thaw(&s->server);
	s->frozen = false;
	if (s->down && live_store_again(s, false, false) != 0)
		live_cannot_again(l, s->server.plan->name, errno);
	else if (!s->down && s->full)
		server_oom(&s->server, false);
	s->full = false;
}

/* One that was failed over is not what it was: it follows who took over. */
static void
heal_failover(struct live *l, struct live_store *s)
{
	if (l->cut || s->server.plan->replica_of == s->follows)
		return;
	if (!live_store_follow(s, s->follows))
		live_cut(l, "%s does not follow", s->server.plan->name);
}

static void
heal_gate(struct live *l, struct live_gate *g)
{
	if (g->link != NULL)
		net_heal(g->link);
	heal_clock(&g->clock);
	heal_disk(g);
	/* A part may have been stopped. */
	if (l->touched)
		(void)instance_resume(&g->instance, PLAN_WHOLE);
	g->paused = false;
	if (g->down && live_gate_again(g) != 0)
		live_cannot_again(l, g->instance.name, errno);
}

/* What ends a fault, and operators' words, are still to come; no others. */
static void
drop_due(struct live *l)
{
	size_t i;

	for (i = 0; i < l->due_n; i++)
		if (l->due[i].action->kind != PLAN_OPERATOR_RESOLVE)
			l->due[i].done = true;
	l->roaming_n = 0;
}

static void
let_go(struct live *l)
{
	size_t i;

	for (i = 0; i < l->stopped_n; i++)
		stops_go(l->cast->stops, l->stopped[i].id);
	l->stopped_n = 0;
}

/* One that was to live and has ended does not come back by itself. */
static bool
is_one_gone(const struct live *l)
{
	size_t i;

	for (i = 0; i < l->cast->gates_n; i++)
		if (l->cast->gates[i].instance.child.pid == 0)
			return true;
	return false;
}

/* Clients do not wait for it: they go on meanwhile. */
static void
await_all(struct live *l)
{
	int64_t end = live_now_ms(l) + UP_MS;

	while (!l->cut && !live_cast_await(l->cast, LOOK_MS)) {
		if (live_now_ms(l) >= end || is_one_gone(l))
			live_cut(l, "not all came up again when the faults "
			    "ended");
		live_turn(l, live_now_ms(l) + LOOK_MS);
	}
}

void
live_heal(struct live *l)
{
	struct history_event *e;
	size_t i;

	l->healed = true;
	drop_due(l);
	let_go(l);
	if (l->cut)
		return;		/* all of it ends now */
	live_watch_end(l, PLAN_ACTIONS, PLAN_ANY, PLAN_ANY);
	for (i = 0; i < l->cast->stores_n; i++)
		heal_store(l, &l->cast->stores[i]);
	for (i = 0; i < l->cast->gates_n; i++)
		heal_gate(l, &l->cast->gates[i]);
	if (l->touched)
		await_all(l);
	for (i = 0; i < l->cast->stores_n; i++)
		heal_failover(l, &l->cast->stores[i]);
	if (l->cut)
		return;
	e = history_add(l->h, HISTORY_HEAL, live_now_ns(l), "-");
	e->what = "all faults end";
}
