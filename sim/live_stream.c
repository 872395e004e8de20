/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#define TURN_MS 5

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

bool
live_streams_begin(struct live_cast *cast, int64_t wait_ms)
{
	size_t i;

	for (i = 0; i < cast->stores_n; i++)
		if (cast->stores[i].follows >= 0 &&
		    !live_store_level(&cast->stores[i], wait_ms))
			return false;
	return true;
}
