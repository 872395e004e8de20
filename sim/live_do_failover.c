/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include <string.h>

#define UP_MS 10000
#define SYNC_MS 10000

/* --- failover ------------------------------------------------------------- */

/* Of what was acknowledged, what the new master does not have. */
struct lost {
	struct live *l;
	struct live_store *old;
	bool *there;		/* by ack */
};

static void
have(void *arg, const char *hex, const char *state, unsigned attempt)
{
	struct lost *lost = arg;
	struct live *l = lost->l;
	size_t i;

	(void)attempt;
	for (i = 0; i < l->acks_n; i++)
		if (strcmp(l->acks[i].hex, hex) == 0 &&
		    strcmp(l->acks[i].state, state) == 0)
			lost->there[i] = true;
}

static void
tell_lost(struct live *l, struct live_store *old, struct live_store *new)
{
	struct lost lost = { .l = l, .old = old };
	struct history_event *e;
	size_t i;

	lost.there = arena_get(&l->arena, l->acks_n + 1);
	if (server_records(&new->server, LIVE_PREFIX, have, &lost) != 0)
		return;
	for (i = 0; i < l->acks_n; i++) {
		if (lost.there[i] || l->acks[i].store != (int)old->index)
			continue;
		e = history_add(l->h, HISTORY_STORE, live_now_ns(l),
		    old->server.plan->name);
		e->k = l->acks[i].key;
		e->note = "lost_ack";
		e->code = l->acks[i].state;
	}
}

/*
 * What did not go through the link before its master died is lost: how much
 * that is, whoever stopped the link has decided (store.lag).
 */
void
live_do_failover(struct live *l, const struct live_due *d)
{
	const struct plan_action *a = d->action;
	struct live_store *old, *new;
	char out[LIVE_SAID];
	size_t i;

	if (a->store < 0 || a->to < 0)
		return;
	old = &l->cast->stores[a->store];
	new = &l->cast->stores[a->to];
	old->server.child.doomed = true;
	old->down = true;
	server_kill(&old->server);
	if (!live_store_gone(l, old) || strcmp(live_store_say(new, out,
	    "REPLICAOF", "NO", "ONE"), "OK") != 0)
		return;
	new->follows = PLAN_NONE;
	old->follows = (int)new->index;
	for (i = 0; i < l->cast->gates_n; i++)
		if (l->cast->gates[i].link != NULL &&
		    l->cast->gates[i].aimed == (int)old->index) {
			l->cast->gates[i].aimed = (int)new->index;
			net_aim(l->cast->gates[i].link, new->server.url);
		}
	live_fired(l, a, old->server.plan->name, d->label);
	tell_lost(l, old, new);
}

/* --- and back ------------------------------------------------------------- */

static bool
follow(struct live_cast *cast, struct live_store *s, struct live_store *master)
{
	char out[LIVE_SAID], at[32], port[12];

	if (s->replication != NULL)
		net_close(s->replication);
	snprintf(at, sizeof at, "127.0.0.1:%d", master->server.port);
	s->replication = net_open(cast->loop, NULL, at, true, &cast->numbers,
	    NULL);
	if (s->replication == NULL)
		return false;
	snprintf(port, sizeof port, "%d", net_port(s->replication));
	s->follows = (int)master->index;
	return strcmp(live_store_say(s, out, "REPLICAOF", "127.0.0.1", port),
	    "OK") == 0;
}

bool
live_store_follow(struct live_store *s, int master)
{
	struct live_cast *cast = s->cast;

	if (master < 0)
		return true;
	return server_await(cast->loop, &s->server, UP_MS) == 0 &&
	    follow(cast, s, &cast->stores[master]) &&
	    live_store_level(s, SYNC_MS);
}

void
live_do_rejoin(struct live *l, const struct live_due *d)
{
	struct live_store *s;

	if (d->action->store < 0 || d->action->to < 0)
		return;
	s = &l->cast->stores[d->action->store];
	if (s->down && (!live_store_gone(l, s) ||
	    live_store_again(s, d->action->empty, d->action->older) != 0))
		return;
	if (live_store_follow(s, d->action->to))
		live_fired(l, d->action, s->server.plan->name, d->label);
}
