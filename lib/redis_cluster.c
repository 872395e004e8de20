/* SPDX-License-Identifier: ISC */
#include "redis_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Who has which slot.  The map is asked for at the start, after MOVED, after a
 * failure, and while any node is away: of the nodes that are known, then of the
 * seeds, one after the other, until one has it.  At most once a second; MOVED
 * says at once where its own slot is.
 */
#define LOAD_MS 1000
#define NOBODY UINT16_MAX

struct cluster {
	uint16_t slot[IDEM_REDIS_SLOTS];	/* places of nodes, or NOBODY */
	uint16_t next_slot[IDEM_REDIS_SLOTS];	/* while a map is read */
	bool known;		/* there was a map */
	bool loading;
	bool lost;		/* nobody has one */
	int64_t begun_ms, next_ms;
	size_t asking;		/* a node's place, or past them a seed */
	size_t any;		/* the node that was asked for any key */
	char why[IDEM_REDIS_WHY];
};

static void ask_next(struct idem_redis *);

/* --- a map ---------------------------------------------------------------- */

/* [HOST PORT ID ...].  An unknown host is the one that says so. */
static bool
read_node(const struct idem_redis_value *v, const struct idem_redis_url *said,
    struct idem_redis_url *url)
{
	struct idem_bytes host = {0};

	if (v->type != IDEM_REDIS_ARRAY || v->len < 2 ||
	    v->at[1].type != IDEM_REDIS_INTEGER ||
	    v->at[1].integer <= 0 || v->at[1].integer > UINT16_MAX)
		return false;
	if (v->at[0].type == IDEM_REDIS_STRING)
		host = v->at[0].text;
	else if (v->at[0].type != IDEM_REDIS_NIL)
		return false;
	/* A name that the cluster wants us to use, and does not know. */
	if (idem_bytes_is(host, "?"))
		return false;
	return idem_redis_url_like(url, said, host,
	    (uint16_t)v->at[1].integer);
}

static bool
is_slot(const struct idem_redis_value *v)
{
	return v->type == IDEM_REDIS_INTEGER && v->integer >= 0 &&
	    v->integer < IDEM_REDIS_SLOTS;
}

/* [FIRST LAST MASTER REPLICA...], of the slots that are left.  False: it is
   none. */
static bool
read_range(struct idem_redis *r, const struct idem_redis_value *v,
    const struct idem_redis_url *said, int64_t *left)
{
	struct cluster *c = r->of_way;
	struct idem_redis_node *n;
	struct idem_redis_url url;
	int64_t slot;

	if (v->type != IDEM_REDIS_ARRAY || v->len < 3 || !is_slot(&v->at[0]) ||
	    !is_slot(&v->at[1]) || v->at[0].integer > v->at[1].integer)
		return false;
	*left -= v->at[1].integer - v->at[0].integer + 1;
	if (*left < 0)
		return false;
	/* Then its slots are nobody's, and whoever is asked knows better. */
	if (!read_node(&v->at[2], said, &url) ||
	    (n = idem_redis_node_at(r, &url)) == NULL)
		return true;
	for (slot = v->at[0].integer; slot <= v->at[1].integer; slot++)
		c->next_slot[slot] = n->place;
	return true;
}

static bool
read_map(struct idem_redis *r, const struct idem_redis_value *v,
    const struct idem_redis_url *said)
{
	struct cluster *c = r->of_way;
	int64_t left = IDEM_REDIS_SLOTS;
	size_t i;

	if (v->type != IDEM_REDIS_ARRAY || v->len == 0)
		return false;
	for (i = 0; i < IDEM_REDIS_SLOTS; i++)
		c->next_slot[i] = NOBODY;
	for (i = 0; i < v->len; i++)
		if (!read_range(r, &v->at[i], said, &left))
			return false;
	memcpy(c->slot, c->next_slot, sizeof c->slot);
	return true;
}

/* Who has slots is asked for keys, and nobody else. */
static void
list_nodes(struct idem_redis *r)
{
	const struct cluster *c = r->of_way;
	bool used[IDEM_REDIS_NODES_MAX] = {0};
	struct idem_redis_node *n;
	size_t i;

	for (i = 0; i < IDEM_REDIS_SLOTS; i++)
		if (c->slot[i] != NOBODY)
			used[c->slot[i]] = true;
	for (i = 0; i < IDEM_REDIS_NODES_MAX; i++) {
		n = r->nodes[i];
		if (n == NULL || n->gone)
			continue;
		n->listed = used[i];
		if (!used[i])
			idem_redis_node_retire(n, false);
	}
}

/* --- asking for one ------------------------------------------------------- */

static void
loaded(struct idem_redis *r)
{
	struct cluster *c = r->of_way;

	c->loading = c->lost = false;
	c->known = true;
	c->next_ms = INT64_MAX;
	list_nodes(r);
	idem_redis_settle(r);
	/* It may come back under another address. */
	if (r->away)
		c->next_ms = c->begun_ms + LOAD_MS;
}

static void
not_loaded(struct idem_redis *r)
{
	struct cluster *c = r->of_way;

	c->loading = false;
	c->lost = !c->known;
	c->next_ms = c->begun_ms + LOAD_MS;
	idem_redis_settle(r);
}

static const struct idem_redis_url *
asked_url(const struct idem_redis *r, size_t i)
{
	if (i >= IDEM_REDIS_NODES_MAX)
		return &r->seeds[i - IDEM_REDIS_NODES_MAX].url;
	return &r->nodes[i]->url;
}

static const char *
asked_name(const struct idem_redis *r, size_t i)
{
	if (i >= IDEM_REDIS_NODES_MAX)
		return r->seeds[i - IDEM_REDIS_NODES_MAX].name;
	return r->nodes[i]->name;
}

static void
answered(void *arg, const struct idem_redis_wire_answer *a)
{
	struct idem_redis *r = arg;
	struct cluster *c = r->of_way;
	const struct idem_redis_url *url;

	if (r->closing)
		return;
	url = asked_url(r, c->asking);
	if (a->meaning.class == IDEM_OK && read_map(r, a->value, url)) {
		loaded(r);
		return;
	}
	idem_redis_sentence(c->why, sizeof c->why, asked_name(r, c->asking),
	    a->error != NULL ? a->error : "it has no map of slots");
	list_nodes(r);	/* half a map may have named some */
	c->asking++;
	ask_next(r);
}

static struct idem_redis_link *
link_at(struct idem_redis *r, size_t i)
{
	struct idem_redis_node *n;

	if (i >= IDEM_REDIS_NODES_MAX)
		return &r->seeds[i - IDEM_REDIS_NODES_MAX].link;
	n = r->nodes[i];
	if (n == NULL || n->gone || !idem_redis_node_is_up(n))
		return NULL;
	return &n->link[IDEM_REDIS_CLAIMS];
}

static void
ask_next(struct idem_redis *r)
{
	static const struct idem_bytes args[] = { { "CLUSTER", 7 },
		{ "SLOTS", 5 } };
	struct cluster *c = r->of_way;
	struct idem_redis_link *l;

	for (; c->asking < IDEM_REDIS_NODES_MAX + r->seeds_len; c->asking++) {
		l = link_at(r, c->asking);
		if (l != NULL && idem_redis_link_send(l, args, 2, NULL,
		    idem_redis_now_ms(r) + r->options.timeout_ms, answered, r))
			return;
	}
	not_loaded(r);
}

/* --- the way -------------------------------------------------------------- */

static bool
open_cluster(struct idem_redis *r)
{
	struct cluster *c = calloc(1, sizeof *c);
	size_t i;

	if (c == NULL)
		return false;
	for (i = 0; i < IDEM_REDIS_SLOTS; i++)
		c->slot[i] = NOBODY;
	r->of_way = c;
	return true;
}

static void
close_cluster(struct idem_redis *r)
{
	free(r->of_way);
}

/* Each in turn, those that are up first. */
static struct idem_redis_node *
any_node(struct idem_redis *r)
{
	struct cluster *c = r->of_way;
	struct idem_redis_node *n, *down = NULL;
	size_t i;

	for (i = 1; i <= IDEM_REDIS_NODES_MAX; i++) {
		n = r->nodes[(c->any + i) % IDEM_REDIS_NODES_MAX];
		if (n == NULL || !n->listed)
			continue;
		if (idem_redis_node_is_up(n)) {
			c->any = n->place;
			return n;
		}
		down = n;
	}
	return down;
}

static struct idem_redis_node *
node(struct idem_redis *r, int slot, const char **why)
{
	struct cluster *c = r->of_way;

	*why = c->lost ? c->why : NULL;
	if (!c->known)
		return NULL;
	if (slot >= 0 && c->slot[slot] != NOBODY)
		return r->nodes[c->slot[slot]];
	/* It says MOVED, or CLUSTERDOWN. */
	return any_node(r);
}

static void
load_soon(struct cluster *c)
{
	if (!c->loading && c->begun_ms + LOAD_MS < c->next_ms)
		c->next_ms = c->begun_ms + LOAD_MS;
}

static void
doubt(struct idem_redis *r, struct idem_redis_node *n, bool surely)
{
	(void)n;
	(void)surely;
	load_soon(r->of_way);
}

static void
moved(struct idem_redis *r, uint16_t slot, struct idem_redis_node *n)
{
	struct cluster *c = r->of_way;

	n->listed = true;
	c->slot[slot] = n->place;
	load_soon(c);
}

static void
retired(struct idem_redis *r, const struct idem_redis_node *n)
{
	struct cluster *c = r->of_way;
	size_t i;

	for (i = 0; i < IDEM_REDIS_SLOTS; i++)
		if (c->slot[i] == n->place)
			c->slot[i] = NOBODY;
}

static const char *
lost(const struct idem_redis *r)
{
	const struct cluster *c = r->of_way;

	return c->lost ? c->why : NULL;
}

static void
due(struct idem_redis *r, int64_t now_ms)
{
	struct cluster *c = r->of_way;

	if (c->loading || now_ms < c->next_ms)
		return;
	c->loading = true;
	c->begun_ms = now_ms;
	c->next_ms = INT64_MAX;
	c->asking = 0;
	ask_next(r);
}

static int64_t
due_ms(const struct idem_redis *r)
{
	const struct cluster *c = r->of_way;

	return c->loading ? INT64_MAX : c->next_ms;
}

const struct idem_redis_way idem_redis_way_cluster = {
	.others = true,
	.open = open_cluster,
	.close = close_cluster,
	.node = node,
	.doubt = doubt,
	.moved = moved,
	.retired = retired,
	.lost = lost,
	.due = due,
	.due_ms = due_ms,
};
