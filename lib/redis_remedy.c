/* SPDX-License-Identifier: ISC */
#include "redis_private.h"

#include <stdlib.h>
#include <string.h>

#define HOPS_QUICK 4u		/* then MOVED and ASK wait, too */
#define PAUSE_MS 20u
#define PAUSE_MAX_MS 320u
#define LOADING_MS 100u
#define TRIES_LEFT 4		/* at least, in the time that is left */
#define LEAST_MS 20		/* with less left it would be a maybe only */

/* --- again ---------------------------------------------------------------- */

static bool
queue_now(struct idem_redis_call *c)
{
	c->again_ms = 0;
	idem_redis_call_queue(c);
	return true;
}

/* False: it is too late for that. */
static bool
queue_later(struct idem_redis_call *c, uint32_t ms)
{
	struct idem_redis *r = c->redis;

	c->again_ms = idem_redis_now_ms(r) + ms - ms / 4 +
	    idem_redis_chance(r, ms / 2 + 1);
	if (c->again_ms + LEAST_MS > c->deadline_ms)
		return false;
	idem_redis_call_queue(c);
	return true;
}

/* Longer each time, so that few tries fill the time there is. */
static bool
queue_with_patience(struct idem_redis_call *c, uint32_t least_ms)
{
	int64_t most_ms = (c->deadline_ms - idem_redis_now_ms(c->redis)) /
	    TRIES_LEFT;
	uint32_t ms = c->pause_ms > 0 ? c->pause_ms : PAUSE_MS;

	c->pause_ms = 2 * ms < PAUSE_MAX_MS ? 2 * ms : PAUSE_MAX_MS;
	if (ms > most_ms)
		ms = most_ms > PAUSE_MS ? (uint32_t)most_ms : PAUSE_MS;
	return queue_later(c, ms > least_ms ? ms : least_ms);
}

/* --- the remedies --------------------------------------------------------- */

static struct idem_bytes
error_of(const struct idem_redis_wire_answer *a)
{
	if (a->value != NULL && a->value->type == IDEM_REDIS_ERROR)
		return a->value->text;
	return idem_bytes_text(a->error != NULL ? a->error : "");
}

/* Two nodes that point at each other will agree, but not at once. */
static bool
hop(struct idem_redis_call *c)
{
	return c->sends < HOPS_QUICK ? queue_now(c) : queue_later(c, PAUSE_MS);
}

static bool
go_where_it_points(struct idem_redis_call *c, struct idem_bytes error,
    bool ask)
{
	struct idem_redis *r = c->redis;
	struct idem_redis_url url;
	struct idem_redis_node *n;
	struct idem_bytes host;
	uint16_t slot, port;

	if (r->way->moved == NULL ||
	    !idem_redis_error_points(error, &slot, &host, &port) ||
	    !idem_redis_url_like(&url, &c->at->url, host, port) ||
	    (n = idem_redis_node_at(r, &url)) == NULL)
		return false;
	if (ask) {
		c->to = n;
		c->asking = true;
	} else
		r->way->moved(r, slot, n);
	return hop(c);
}

/* ASKING is used up by what came of it, and is said again. */
static bool
send_text(struct idem_redis_call *c, bool asked)
{
	if (c->script == NULL || c->texted)
		return false;
	c->texted = true;
	c->args[0] = idem_bytes_text("EVAL");
	c->args[1] = c->script->text;
	c->to = c->at;
	c->asking = asked;
	return queue_now(c);
}

static bool
find_another(struct idem_redis_call *c)
{
	struct idem_redis *r = c->redis;

	if (!r->way->others)
		return false;
	r->way->doubt(r, c->at, true);
	return queue_with_patience(c, PAUSE_MS);
}

static bool
connect_anew(struct idem_redis_call *c)
{
	struct idem_redis *r = c->redis;

	r->way->doubt(r, c->at, true);
	return queue_with_patience(c, PAUSE_MS);
}

static bool
is_loading(struct idem_bytes error)
{
	static const char word[] = "LOADING";

	return error.len >= sizeof word - 1 &&
	    memcmp(error.at, word, sizeof word - 1) == 0;
}

bool
idem_redis_remedy(struct idem_redis_call *c,
    const struct idem_redis_wire_answer *a)
{
	struct idem_bytes error = error_of(a);
	bool asked = c->asking;

	c->to = NULL;
	c->asking = false;
	switch (a->meaning.remedy) {
	case IDEM_REDIS_NO_REMEDY:
		return false;
	case IDEM_REDIS_SEND_TEXT:
		return send_text(c, asked);
	case IDEM_REDIS_MOVE:
		return go_where_it_points(c, error, false);
	case IDEM_REDIS_ASK:
		return go_where_it_points(c, error, true);
	case IDEM_REDIS_PAUSE:
		return queue_with_patience(c, is_loading(error) ? LOADING_MS :
		    PAUSE_MS);
	case IDEM_REDIS_ANOTHER:
		return find_another(c);
	case IDEM_REDIS_ANEW:
		return connect_anew(c);
	}
	abort();
}
