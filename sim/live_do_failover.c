/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UP_MS 10000
#define SYNC_MS 10000
#define ANSWER_MS 10000
#define TURN_MS 5
#define HEX 64

/* --- what was acknowledged, and is not there ------------------------------ */

/* Of what was acknowledged, what the new master does not have. */
struct lost {
	struct live *l;
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

/* What was written over later is not looked for. */
static bool
is_last_of_key(const struct live *l, size_t i)
{
	size_t j;

	for (j = i + 1; j < l->acks_n; j++)
		if (strcmp(l->acks[j].hex, l->acks[i].hex) == 0)
			return false;
	return true;
}

static void
tell_one(struct live *l, const struct live_ack *ack)
{
	struct history_event *e = history_add(l->h, HISTORY_STORE,
	    live_now_ns(l), live_store_name(l->cast, ack->store));

	e->k = ack->key;
	e->note = "lost_ack";
	e->code = ack->state;
}

static void
tell_lost(struct live *l, struct live_store *old, struct live_store *new)
{
	struct lost lost = { .l = l };
	size_t i;

	lost.there = arena_get(&l->arena, l->acks_n + 1);
	if (server_records(&new->server, LIVE_PREFIX, have, &lost) != 0)
		return;
	for (i = 0; i < l->acks_n; i++)
		if (!lost.there[i] && l->acks[i].store == (int)old->index &&
		    l->acks[i].readable && is_last_of_key(l, i))
			tell_one(l, &l->acks[i]);
}

/* --- so many are lost ----------------------------------------------------- */

/* What is to be lost, while it lies in the link. */
struct tail {
	struct live *l;
	struct live_store *old, *new;
	struct net *net;
	unsigned lost;		/* acks that are marked */
	int64_t offset;		/* up to which the replica has it all */
};

static bool
is_aimed(const struct live_gate *g, const struct live_store *at)
{
	return g->link != NULL && g->aimed == (int)at->index;
}

static void
gates_stop(struct live *l, const struct live_store *at)
{
	size_t i;

	for (i = 0; i < l->cast->gates_n; i++)
		if (is_aimed(&l->cast->gates[i], at))
			net_stop(l->cast->gates[i].link, NET_REQUESTS);
}

static bool
gates_await(const struct live *l, const struct live_store *at)
{
	size_t i;

	for (i = 0; i < l->cast->gates_n; i++)
		if (is_aimed(&l->cast->gates[i], at) &&
		    net_awaits(l->cast->gates[i].link))
			return true;
	return false;
}

/* Nothing new comes to it, and who has asked is answered: then its last writes
   are the last that it has acknowledged.  False: it does not answer. */
static bool
quieten(struct live *l, const struct live_store *old)
{
	int64_t end = live_now_ms(l) + ANSWER_MS;

	gates_stop(l, old);
	while (gates_await(l, old) && live_now_ms(l) < end)
		(void)loop_turn(l->cast->loop, live_now_ms(l) + TURN_MS);
	return !gates_await(l, old);
}

/* The last one of that key that is not counted yet; NULL: nobody was told. */
static struct live_ack *
ack_of(const struct tail *t, struct idem_bytes key)
{
	struct live_ack *acks = t->l->acks;
	const char *hex = (const char *)key.at + key.len - HEX;
	size_t i;

	for (i = key.len < HEX ? 0 : t->l->acks_n; i > 0; i--)
		if (!acks[i - 1].lost && acks[i - 1].store ==
		    (int)t->old->index && memcmp(acks[i - 1].hex, hex, HEX) ==
		    0)
			return &acks[i - 1];
	return NULL;
}

/* Writes that nobody was told of are lost with those that follow them. */
static void
choose(struct tail *t, unsigned lose)
{
	struct net_counts counts;
	struct live_ack *ack;
	unsigned i;

	for (i = 0; i < t->l->acks_n; i++)
		t->l->acks[i].lost = false;
	(void)net_stream_counts(t->net, &counts);
	for (i = counts.held; i > 0 && t->lost < lose; i--) {
		ack = ack_of(t, net_stream_key(t->net, i - 1));
		if (ack == NULL)
			continue;
		ack->lost = true;
		t->lost++;
	}
	net_stream_keep(t->net, counts.held - i);
}

/* The replica has all but those; nothing passes any more.  False: that cannot
   be said. */
static bool
cut(struct tail *t, unsigned lose)
{
	struct live *l = t->l;
	struct net_counts counts;

	if (!quieten(l, t->old) || !net_stream_counts(t->net, &counts))
		return false;
	net_stream_keep(t->net, NET_STREAM_ALL);
	net_heal(t->net);
	if (!live_stream_whole(t->new, SYNC_MS))
		return false;
	choose(t, lose);
	if (!live_stream_arrived(t->new, SYNC_MS) ||
	    !net_stream_counts(t->net, &counts))
		return false;
	t->offset = t->new->stream_from + (int64_t)counts.passed;
	net_stop(t->net, NET_REPLIES);
	return true;
}

static void
tell_tail(struct tail *t)
{
	size_t i;

	for (i = 0; i < t->l->acks_n; i++)
		if (t->l->acks[i].lost)
			tell_one(t->l, &t->l->acks[i]);
}

/* --- failover ------------------------------------------------------------- */

static bool
promote(struct live *l, struct live_store *old, struct live_store *new)
{
	char out[LIVE_SAID], what[LIVE_SAID + 40];

	old->server.child.doomed = true;
	old->down = true;
	server_kill(&old->server);
	if (!live_store_gone(l, old)) {
		live_note(l, old->server.plan->name, NULL, "it does not die");
		return false;
	}
	if (strcmp(live_store_say(new, out, "REPLICAOF", "NO", "ONE"), "OK") !=
	    0) {
		snprintf(what, sizeof what, "it is not made the master: %s",
		    out);
		live_note(l, new->server.plan->name, NULL, what);
		return false;
	}
	new->follows = PLAN_NONE;
	old->follows = (int)new->index;
	return true;
}

static void
aim(struct live *l, const struct live_store *old, const struct live_store *new)
{
	struct live_gate *g;
	size_t i;

	for (i = 0; i < l->cast->gates_n; i++) {
		g = &l->cast->gates[i];
		if (!is_aimed(g, old))
			continue;
		g->aimed = (int)new->index;
		net_aim(g->link, new->server.url);
		net_go_on(g->link, NET_REQUESTS);
	}
}

/* The new master is where the stream was cut: nothing else came to it. */
static bool
is_where(const struct tail *t)
{
	struct server_stream now;

	return server_stream(&t->new->server, &now) == 0 && now.master &&
	    now.offset == t->offset;
}

static void
tell_short(const struct tail *t, bool is_cut, unsigned lose)
{
	char what[120];

	if (is_cut)
		snprintf(what, sizeof what, "%u acknowledged writes were to "
		    "be lost, and there were %u", lose, t->lost);
	else
		snprintf(what, sizeof what, "what it has of its master's "
		    "writes cannot be said");
	live_note(t->l, t->new->server.plan->name, NULL, what);
}

/*
 * Without `lose`, what did not go through the link before the master died is
 * lost: how much that is, whoever stopped the link has decided (store.lag).
 */
void
live_do_failover(struct live *l, const struct live_due *d)
{
	const struct plan_action *a = d->action;
	struct tail tail = { .l = l };
	bool is_cut = false, there;

	if (a->store < 0 || a->to < 0)
		return;
	tail.old = &l->cast->stores[a->store];
	tail.new = &l->cast->stores[a->to];
	tail.net = tail.new->replication;
	if (a->lose > 0 && tail.net != NULL)
		is_cut = cut(&tail, a->lose);
	there = promote(l, tail.old, tail.new);
	is_cut = is_cut && there && is_where(&tail);
	if (there)
		aim(l, tail.old, tail.new);
	if (there && (a->lose == 0 || (is_cut && tail.lost == a->lose)))
		live_fired(l, a, tail.old->server.plan->name, d->label);
	else
		live_befell(l, a, tail.old->server.plan->name, d->label);
	if (a->lose > 0 && (!is_cut || tail.lost != a->lose))
		tell_short(&tail, is_cut, a->lose);
	if (is_cut)
		tell_tail(&tail);
	else if (there)
		tell_lost(l, tail.old, tail.new);
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
	if (s->down && !live_store_gone(l, s)) {
		live_cannot_again(l, s->server.plan->name, 0);
		return;
	}
	if (s->down && live_store_again(s, d->action->empty,
	    d->action->older) != 0) {
		live_cannot_again(l, s->server.plan->name, errno);
		return;
	}
	if (live_store_follow(s, d->action->to))
		live_fired(l, d->action, s->server.plan->name, d->label);
}
