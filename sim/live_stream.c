/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include <string.h>

#define TURN_MS 5
#define READ_MS 1000	/* a link that was cut begins anew */

/* --- what a replica has --------------------------------------------------- */

/*
 * The master is asked first: a replica that has then got so far has all of it,
 * and nothing of it lies in the link.  (WAIT would not do: of a connection that
 * has written nothing it counts each replica to which a copy was sent, whether
 * that has arrived or not.)
 */
static bool
is_level(struct live_store *s)
{
	struct server_stream master, replica;

	return server_stream(&s->cast->stores[s->follows].server, &master) ==
	    0 && server_stream(&s->server, &replica) == 0 && master.master &&
	    replica.follows && replica.offset == master.offset;
}

bool
live_store_level(struct live_store *s, int64_t wait_ms)
{
	struct loop *loop = s->cast->loop;
	int64_t end = loop_now(loop) + wait_ms;
	char out[LIVE_SAID];

	/* It has its copy, but does it hear what comes then?  This changes
	   nothing, and goes the same way. */
	(void)live_store_say(&s->cast->stores[s->follows], out, "PUBLISH",
	    "idemsim", "level");
	while (!is_level(s)) {
		if (loop_now(loop) >= end)
			return false;
		(void)loop_turn(loop, loop_now(loop) + TURN_MS);
	}
	return true;
}

/* --- what is on its way --------------------------------------------------- */

/* Its link is read, or now is; false: it is not level, or not behind its
   link. */
static bool
read_link(struct live_store *s, int64_t wait_ms)
{
	struct server_stream there;
	struct net_counts counts;

	if (s->replication == NULL || s->follows < 0)
		return false;
	if (net_stream_counts(s->replication, &counts))
		return true;
	/* The loop has no turn in between. */
	if (!live_store_level(s, wait_ms) ||
	    server_stream(&s->server, &there) == -1)
		return false;
	s->stream_from = there.offset;
	net_stream_read(s->replication);
	return net_stream_counts(s->replication, &counts);
}

bool
live_stream_is_read(const struct live_store *s)
{
	struct net_counts counts;

	return net_stream_counts(s->replication, &counts);
}

void
live_stream_watch(struct live *l, const struct live_due *d,
    struct live_store *s)
{
	struct net_counts counts;

	(void)read_link(s, READ_MS);
	(void)net_stream_counts(s->replication, &counts);
	live_watch(l, &(struct live_watch){
		.action = d->action, .gate = PLAN_NONE,
		.store = (int)s->index, .label = d->label,
		.before = { [NET_REPLIES] = counts.writes }
	});
}

bool
live_stream_whole(struct live_store *s, int64_t wait_ms)
{
	struct loop *loop = s->cast->loop;
	int64_t end = loop_now(loop) + wait_ms;
	struct server *master = &s->cast->stores[s->follows].server;
	struct server_stream sent;
	struct net_counts counts;

	while (net_stream_counts(s->replication, &counts) &&
	    server_stream(master, &sent) == 0) {
		if (sent.offset == s->stream_from + (int64_t)counts.came)
			return true;
		if (loop_now(loop) >= end)
			return false;
		(void)loop_turn(loop, loop_now(loop) + TURN_MS);
	}
	return false;
}

bool
live_stream_arrived(struct live_store *s, int64_t wait_ms)
{
	struct loop *loop = s->cast->loop;
	int64_t end = loop_now(loop) + wait_ms;
	struct server_stream got;
	struct net_counts counts;

	while (net_stream_counts(s->replication, &counts) &&
	    server_stream(&s->server, &got) == 0) {
		if (got.offset == s->stream_from + (int64_t)counts.passed)
			return true;
		if (loop_now(loop) >= end)
			return false;
		(void)loop_turn(loop, loop_now(loop) + TURN_MS);
	}
	return false;
}

/* --- before the first request --------------------------------------------- */

/* The last writes that a failover is to lose must not have passed by then. */
static unsigned
to_be_lost(const struct plan *plan, const struct live_store *s)
{
	const struct plan_action *a;
	unsigned id, most = 0;

	for (id = 0; (a = plan_action_at(plan, id)) != NULL; id++)
		if (a->kind == PLAN_STORE_FAILOVER && a->to == (int)s->index &&
		    a->lose > most)
			most = a->lose;
	return most;
}

void
live_stream_let_go(struct live *l, struct live_store *s)
{
	live_watch_end(l, PLAN_ACTIONS, PLAN_NONE, (int)s->index);
	net_heal(s->replication);
	net_stream_keep(s->replication, to_be_lost(s->cast->plan, s));
}

bool
live_streams_begin(struct live_cast *cast, int64_t wait_ms)
{
	struct live_store *s;
	size_t i;

	for (i = 0; i < cast->stores_n; i++) {
		s = &cast->stores[i];
		if (s->follows < 0)
			continue;
		if (!live_store_level(s, wait_ms))
			return false;
		/* Under a sentinel it may go past its link. */
		if (read_link(s, wait_ms))
			net_stream_keep(s->replication,
			    to_be_lost(cast->plan, s));
	}
	return true;
}
