/* SPDX-License-Identifier: ISC */
#include "redis_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Who is the master, by Sentinel.  In a round all of them are asked at once.
 * One may be dead, lie, know another network or an older master: so who is
 * named by most is checked first, as soon as that is more than half, or else
 * when all have answered; and whoever says of himself that he is no master is
 * none, whatever they say.
 *
 *	         due                 named                it is
 *	resting ----> asking them ---------> checking it -------> resting
 *	   ^                                   | it is not: the next
 *	   +-------- nobody is left -----------+
 */
#define ROUND_MS 100u		/* between rounds, while it is in doubt */
#define ROUND_MAX_MS 1000u	/* while none finds it */
/*
 * While all is well.  A master that was replaced by order, or that lost sight
 * of its Sentinels, goes on for ten seconds as if nothing had been, and what it
 * takes is lost; so it is they who must be asked.
 */
#define RESTING_MS 1000u

struct candidate {
	struct idem_redis_url url;
	unsigned votes;
	bool tried;
};

struct sentinels {
	struct idem_redis_node *master;	/* NULL: none is known */
	bool doubted;	/* nothing is sent to it before it is checked */
	bool lost;	/* the last round has found none */
	bool asking;
	bool checking;
	unsigned round;
	unsigned out;	/* of this round, have not answered */
	int64_t begun_ms, next_ms;
	uint32_t pause_ms;
	struct candidate at[IDEM_REDIS_URLS_MAX];
	size_t len;
	char why[IDEM_REDIS_WHY];
};

static void try_next(struct idem_redis *);

/* --- how a round ends ----------------------------------------------------- */

/* Probes of many processes must not come at the same moment. */
static uint32_t
about(struct idem_redis *r, uint32_t ms)
{
	return ms - ms / 10 + idem_redis_chance(r, ms / 5 + 1);
}

static void
found(struct idem_redis *r, struct idem_redis_node *n)
{
	struct sentinels *s = r->of_way;
	struct idem_redis_node *old = s->master;

	s->asking = s->lost = s->doubted = false;
	s->pause_ms = ROUND_MS;
	s->next_ms = idem_redis_now_ms(r) + about(r, RESTING_MS);
	s->master = n;
	n->listed = true;
	/* It may think for seconds that it is still the one. */
	if (old != NULL && old != n)
		idem_redis_node_retire(old, true);
	idem_redis_settle(r);
}

/* A master that answers, and that nobody doubts, does not need Sentinel. */
static bool
is_needed(const struct sentinels *s)
{
	return s->master == NULL || s->doubted ||
	    !idem_redis_node_is_up(s->master);
}

static void
not_found(struct idem_redis *r)
{
	struct sentinels *s = r->of_way;
	uint32_t pause_ms = s->pause_ms;

	s->asking = false;
	s->lost = is_needed(s);
	if (!s->lost)
		pause_ms = RESTING_MS;
	else if (2 * s->pause_ms < ROUND_MAX_MS)
		s->pause_ms *= 2;
	else
		s->pause_ms = ROUND_MAX_MS;
	s->next_ms = s->begun_ms + about(r, pause_ms);
	idem_redis_settle(r);
}

/* --- candidates ----------------------------------------------------------- */

static void
checked(void *arg, struct idem_redis_node *n, bool ok, const char *why)
{
	struct idem_redis *r = arg;
	struct sentinels *s = r->of_way;

	if (r->closing)
		return;
	s->checking = false;
	if (ok) {
		found(r, n);
		return;
	}
	idem_redis_sentence(s->why, sizeof s->why, n->name,
	    why != NULL ? why : "it does not answer");
	if (n != s->master)
		idem_redis_node_retire(n, true);
	try_next(r);
}

static void
check(struct idem_redis *r, const struct idem_redis_url *url)
{
	struct sentinels *s = r->of_way;
	struct idem_redis_node *n = idem_redis_node_at(r, url);

	if (n == NULL)
		return;
	s->checking = true;
	idem_redis_node_check(n, checked, r);
}

/* The next who is named by most; NULL: none now. */
static struct candidate *
best(struct sentinels *s, size_t sentinels)
{
	struct candidate *c, *one = NULL;

	for (c = s->at; c < s->at + s->len; c++)
		if (!c->tried && (one == NULL || c->votes > one->votes))
			one = c;
	return one != NULL && (s->out == 0 || 2 * one->votes > sentinels) ?
	    one : NULL;
}

/*
 * When no Sentinel knows anything, the master that we had may still be one; but
 * not when they name another, that we cannot reach.
 */
static bool
may_try_old(const struct sentinels *s)
{
	return s->len == 0 && s->master != NULL && is_needed(s);
}

static void
try_next(struct idem_redis *r)
{
	struct sentinels *s = r->of_way;
	struct candidate *c;

	while (s->asking && !s->checking) {
		c = best(s, r->seeds_len);
		if (c == NULL && s->out > 0)
			return;
		if (c == NULL && may_try_old(s)) {
			c = &s->at[s->len++];
			*c = (struct candidate){ .url = s->master->url };
		}
		if (c == NULL) {
			not_found(r);
			return;
		}
		c->tried = true;
		check(r, &c->url);
	}
}

static void
vote(struct sentinels *s, const struct idem_redis_url *url)
{
	struct candidate *c;

	for (c = s->at; c < s->at + s->len; c++)
		if (idem_redis_url_same(&c->url, url)) {
			c->votes++;
			return;
		}
	if (s->len < IDEM_REDIS_URLS_MAX)
		s->at[s->len++] = (struct candidate){ .url = *url,
			.votes = 1 };
}

/* --- asking --------------------------------------------------------------- */

static bool
read_port(struct idem_bytes text, uint16_t *port)
{
	const char *at = text.at;
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < text.len && i < 5 && at[i] >= '0' && at[i] <= '9'; i++)
		n = 10 * n + (uint32_t)(at[i] - '0');
	*port = (uint16_t)n;
	return i > 0 && i == text.len && n > 0 && n <= UINT16_MAX;
}

/* Two texts, HOST and PORT.  Anything else names nobody. */
static bool
read_address(const struct idem_redis_seed *seed,
    const struct idem_redis_value *v, struct idem_redis_url *url)
{
	uint16_t port;

	if (v == NULL || v->type != IDEM_REDIS_ARRAY || v->len != 2 ||
	    v->at[0].type != IDEM_REDIS_STRING || v->at[0].text.len == 0 ||
	    v->at[1].type != IDEM_REDIS_STRING ||
	    !read_port(v->at[1].text, &port) ||
	    !idem_redis_url_like(url, &seed->url, v->at[0].text, port))
		return false;
	url->database = seed->url.database;
	return true;
}

static void
answered(void *arg, const struct idem_redis_wire_answer *a)
{
	struct idem_redis_seed *seed = arg;
	struct idem_redis *r = seed->link.redis;
	struct sentinels *s = r->of_way;
	struct idem_redis_url url;

	seed->busy = false;
	if (r->closing || !s->asking || seed->round != s->round)
		return;
	s->out--;
	if (a->meaning.class == IDEM_OK && read_address(seed, a->value, &url))
		vote(s, &url);
	else
		idem_redis_sentence(s->why, sizeof s->why, seed->name,
		    a->error != NULL ? a->error :
		    "this Sentinel does not know the master");
	try_next(r);
}

static void
ask(struct idem_redis *r, struct idem_redis_seed *seed)
{
	struct sentinels *s = r->of_way;
	struct idem_bytes args[] = { idem_bytes_text("SENTINEL"),
		idem_bytes_text("get-master-addr-by-name"),
		idem_bytes_text(r->options.master) };

	/* Still about the round before. */
	if (seed->busy)
		return;
	if (!idem_redis_link_send(&seed->link, args, 3, NULL,
	    idem_redis_now_ms(r) + r->options.timeout_ms, answered, seed))
		return;
	seed->busy = true;
	seed->round = s->round;
	s->out++;
}

static void
begin(struct idem_redis *r, int64_t now_ms)
{
	struct sentinels *s = r->of_way;
	size_t i;

	s->asking = true;
	s->checking = false;
	s->begun_ms = now_ms;
	s->round++;
	s->len = 0;
	s->out = 0;
	snprintf(s->why, sizeof s->why, "no Sentinel answers");
	for (i = 0; i < r->seeds_len; i++)
		ask(r, &r->seeds[i]);
	try_next(r);
}

/* --- the way -------------------------------------------------------------- */

static bool
open_sentinels(struct idem_redis *r)
{
	struct sentinels *s = calloc(1, sizeof *s);

	if (s == NULL)
		return false;
	s->pause_ms = ROUND_MS;
	r->of_way = s;
	return true;
}

static void
close_sentinels(struct idem_redis *r)
{
	free(r->of_way);
}

static struct idem_redis_node *
node(struct idem_redis *r, int slot, const char **why)
{
	struct sentinels *s = r->of_way;

	(void)slot;
	*why = s->lost ? s->why : NULL;
	return s->lost || s->doubted ? NULL : s->master;
}

static void
doubt(struct idem_redis *r, struct idem_redis_node *n, bool surely)
{
	struct sentinels *s = r->of_way;
	int64_t next_ms = s->begun_ms + s->pause_ms;

	if (n != s->master)
		return;
	s->doubted |= surely;
	if (next_ms < s->next_ms)
		s->next_ms = next_ms;
}

static void
retired(struct idem_redis *r, const struct idem_redis_node *n)
{
	struct sentinels *s = r->of_way;

	if (n == s->master)
		s->master = NULL;
}

static const char *
lost(const struct idem_redis *r)
{
	const struct sentinels *s = r->of_way;

	return s->lost ? s->why : NULL;
}

static void
due(struct idem_redis *r, int64_t now_ms)
{
	struct sentinels *s = r->of_way;

	if (!s->asking && now_ms >= s->next_ms)
		begin(r, now_ms);
}

static int64_t
due_ms(const struct idem_redis *r)
{
	const struct sentinels *s = r->of_way;

	return s->asking ? INT64_MAX : s->next_ms;
}

const struct idem_redis_way idem_redis_way_sentinel = {
	.others = true,
	.open = open_sentinels,
	.close = close_sentinels,
	.node = node,
	.doubt = doubt,
	.retired = retired,
	.lost = lost,
	.due = due,
	.due_ms = due_ms,
};
