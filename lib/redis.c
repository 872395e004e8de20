/* SPDX-License-Identifier: ISC */
#include "redis_private.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t
idem_redis_now_ms(const struct idem_redis *r)
{
	return idem_boot_ms(r->options.clock);
}

int
idem_redis_slot_of(const struct idem_redis *r, struct idem_bytes key)
{
	return r->way->moved != NULL && key.len > 0 ? idem_redis_slot(key) :
	    -1;
}

/* xorshift: good enough to keep processes from doing the same at once. */
unsigned
idem_redis_chance(struct idem_redis *r, unsigned below)
{
	r->chance ^= r->chance << 13;
	r->chance ^= r->chance >> 17;
	r->chance ^= r->chance << 5;
	return r->chance % below;
}

/* --- one server ----------------------------------------------------------- */

static bool
single_open(struct idem_redis *r)
{
	struct idem_redis_node *n = idem_redis_node_at(r, &r->seeds[0].url);

	r->of_way = n;
	if (n != NULL)
		n->listed = true;
	return n != NULL;
}

static void
single_close(struct idem_redis *r)
{
	(void)r;
}

static struct idem_redis_node *
single_node(struct idem_redis *r, int slot, const char **why)
{
	(void)slot;
	(void)why;
	return r->of_way;
}

static void
single_doubt(struct idem_redis *r, struct idem_redis_node *n, bool surely)
{
	(void)r;
	(void)n;
	(void)surely;
}

static const char *
single_lost(const struct idem_redis *r)
{
	(void)r;
	return NULL;
}

static void
single_due(struct idem_redis *r, int64_t now_ms)
{
	(void)r;
	(void)now_ms;
}

static int64_t
single_due_ms(const struct idem_redis *r)
{
	(void)r;
	return INT64_MAX;
}

const struct idem_redis_way idem_redis_way_single = {
	.open = single_open,
	.close = single_close,
	.node = single_node,
	.doubt = single_doubt,
	.lost = single_lost,
	.due = single_due,
	.due_ms = single_due_ms,
};

/* --- away, or not --------------------------------------------------------- */

void
idem_redis_sentence(char *out, size_t size, const char *name, const char *why)
{
	if (strncmp(why, name, strlen(name)) == 0)
		snprintf(out, size, "%s", why);
	else
		snprintf(out, size, "%s: %s", name, why);
}

/* Why any of the masters is away; NULL: none is. */
static const char *
any_away(const struct idem_redis *r)
{
	const struct idem_redis_node *n;
	size_t i;

	for (i = 0; i < IDEM_REDIS_NODES_MAX; i++) {
		n = r->nodes[i];
		if (n != NULL && n->listed && !idem_redis_node_is_up(n))
			return n->why;
	}
	return r->way->lost(r);
}

void
idem_redis_settle(struct idem_redis *r)
{
	const char *why = any_away(r);

	if (r->closing || r->away == (why != NULL))
		return;
	r->away = why != NULL;
	if (r->options.switched != NULL)
		r->options.switched(r->options.arg, r->away,
		    why != NULL ? why : "it answers again");
}

bool
idem_redis_away(struct idem_redis *r)
{
	return r->away;
}

const char *
idem_redis_node(struct idem_redis *r, size_t i)
{
	size_t place;

	for (place = 0; place < r->nodes_len; place++)
		if (r->nodes[place] != NULL && r->nodes[place]->listed &&
		    i-- == 0)
			return r->nodes[place]->name;
	return NULL;
}

/* --- a turn --------------------------------------------------------------- */

int
idem_redis_fd(struct idem_redis *r)
{
	return r->epoll;
}

static int64_t
earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int64_t
idem_redis_due_ms(struct idem_redis *r)
{
	int64_t due_ms = idem_redis_calls_due_ms(r);

	due_ms = earlier(due_ms, idem_redis_links_due_ms(r));
	due_ms = earlier(due_ms, idem_redis_nodes_due_ms(r));
	due_ms = earlier(due_ms, r->way->due_ms(r));
	return due_ms > 0 ? due_ms : 0;
}

/*
 * What has come, then what time has done; then what is to be sent, which all
 * leaves together, at the end.
 */
void
idem_redis_poll(struct idem_redis *r)
{
	idem_redis_links_ready(r);
	idem_redis_links_due(r, idem_redis_now_ms(r));
	idem_redis_nodes_due(r, idem_redis_now_ms(r));
	r->way->due(r, idem_redis_now_ms(r));
	idem_redis_calls_start(r);
	idem_redis_links_due(r, idem_redis_now_ms(r));
	idem_redis_nodes_reap(r, false);
}

/* --- waiting -------------------------------------------------------------- */

struct waiter {
	struct idem_redis_waited *out;
	bool answered;
};

static void
waited(void *arg, const struct idem_redis_answer *a)
{
	struct waiter *w = arg;

	w->answered = true;
	w->out->class = a->class;
	w->out->away = a->away;
	if (a->value != NULL)
		w->out->value = idem_redis_value_copy(a->value);
	if (a->error != NULL)
		snprintf(w->out->error, sizeof w->out->error, "%.*s",
		    (int)sizeof w->out->error - 1, a->error);
	/* It was applied; but how is not known any more. */
	if (a->class == IDEM_OK && w->out->value == NULL) {
		w->out->class = IDEM_CLASS_MAYBE;
		snprintf(w->out->error, sizeof w->out->error, "out of memory");
	}
}

static int
ms_until(int64_t due_ms, int64_t now_ms)
{
	if (due_ms <= now_ms)
		return 0;
	return due_ms - now_ms < 1000 ? (int)(due_ms - now_ms) : 1000;
}

void
idem_redis_wait(struct idem_redis *r, const struct idem_redis_command *command,
    struct idem_redis_waited *out)
{
	struct waiter w = { .out = out };
	struct idem_redis_command mine = *command;
	struct pollfd p = { .fd = r->epoll, .events = POLLIN };

	memset(out, 0, sizeof *out);
	mine.done = waited;
	mine.arg = &w;
	idem_redis_send(r, &mine);
	while (!w.answered) {
		(void)poll(&p, 1, ms_until(idem_redis_due_ms(r),
		    idem_redis_now_ms(r)));
		idem_redis_poll(r);
	}
}

void
idem_redis_waited_free(struct idem_redis_waited *w)
{
	free(w->value);
	w->value = NULL;
}
