/* SPDX-License-Identifier: ISC */
#include "redis_private.h"

#define TRIP_AGE_MS (60 * 1000)	/* clocks drift apart */
#define JUMP_MS 10		/* more than trips can explain */

static void
take_clock(struct idem_redis_node *n, int64_t ahead_ms, int64_t trip_ms,
    int64_t now_ms)
{
	n->heard = true;
	n->ahead_ms = ahead_ms;
	n->trip_ms = trip_ms;
	n->heard_ms = now_ms;
}

/*
 * It was read somewhere between sent and now, so the shorter trip knows better;
 * until that is old, or the clock was set.
 */
void
idem_redis_node_heard(struct idem_redis_node *n, int64_t sent_ms,
    int64_t server_ms)
{
	int64_t now_ms = idem_redis_now_ms(n->redis);
	int64_t trip_ms = now_ms - sent_ms;
	int64_t ahead_ms, apart_ms;

	if (trip_ms < 0 || server_ms < 0 || server_ms > INT64_MAX / 2)
		return;
	idem_skew_told(&n->skew, now_ms, server_ms);
	ahead_ms = server_ms - (sent_ms + trip_ms / 2);
	apart_ms = ahead_ms > n->ahead_ms ? ahead_ms - n->ahead_ms :
	    n->ahead_ms - ahead_ms;
	if (!n->heard || trip_ms <= n->trip_ms ||
	    now_ms - n->heard_ms > TRIP_AGE_MS ||
	    apart_ms > (trip_ms + n->trip_ms) / 2 + JUMP_MS)
		take_clock(n, ahead_ms, trip_ms, now_ms);
}

static bool
read_number(struct idem_bytes text, int64_t *number)
{
	const char *at = text.at;
	size_t i;

	*number = 0;
	for (i = 0; i < text.len && at[i] >= '0' && at[i] <= '9'; i++)
		*number = 10 * *number + (at[i] - '0');
	return i > 0 && i == text.len;
}

bool
idem_redis_time_read(const struct idem_redis_value *v, int64_t *ms)
{
	int64_t s, us;

	if (v->type != IDEM_REDIS_ARRAY || v->len != 2 ||
	    v->at[0].text.len > 12 || v->at[1].text.len > 6 ||
	    !read_number(v->at[0].text, &s) || !read_number(v->at[1].text, &us))
		return false;
	*ms = s * 1000 + us / 1000;
	return true;
}

static struct idem_redis_node *
node_of_key(struct idem_redis *r, struct idem_bytes key)
{
	const char *why;

	/* Then nodes are freed before the last are told. */
	if (r->closing)
		return NULL;
	return r->way->node(r, idem_redis_slot_of(r, key), &why);
}

bool
idem_redis_now(struct idem_redis *r, struct idem_bytes key, int64_t *ms)
{
	const struct idem_redis_node *n = node_of_key(r, key);

	if (n == NULL || !n->heard)
		return false;
	*ms = idem_redis_now_ms(r) + n->ahead_ms;
	return true;
}

bool
idem_redis_watched(struct idem_redis *r, struct idem_bytes key,
    int64_t *since_ms)
{
	const struct idem_redis_node *n = node_of_key(r, key);

	if (n == NULL || !n->skew.told)
		return false;
	*since_ms = n->skew.since_ms;
	return true;
}

/* While a slot moves, its key's node is not the one that answers. */
void
idem_redis_heard(struct idem_redis *r, struct idem_bytes key, int64_t sent_ms,
    int64_t server_ms)
{
	struct idem_redis_node *n = r->telling != NULL ? r->telling :
	    node_of_key(r, key);

	if (n != NULL)
		idem_redis_node_heard(n, sent_ms, server_ms);
}
