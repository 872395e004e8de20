/* SPDX-License-Identifier: ISC */
#include "redis_wire_private.h"

#include <stdlib.h>
#include <unistd.h>

#define TIMEOUT_MS 250
#define REPLY_MAX (64u << 20)
#define LATE_TIMES 4	/* timeouts, for a reply that only drips */

int64_t
idem_redis_wire_now(const struct idem_redis_wire *w)
{
	return idem_boot_ms(w->o.redis->clock);
}

/* --- replies -------------------------------------------------------------- */

static bool
is_said(const struct idem_redis_value *value)
{
	return value->type == IDEM_REDIS_STATUS ||
	    value->type == IDEM_REDIS_ERROR;
}

bool
idem_redis_wire_replied(struct idem_redis_wire *w,
    const struct idem_redis_value *value, struct idem_redis_meaning meaning)
{
	struct idem_redis_item *item = w->awaited.first;
	bool early = item == w->writing;
	bool error = value->type == IDEM_REDIS_ERROR;

	if (item->before) {
		item->before = false;
		item->replies--;
		if (is_said(value))
			return true;
		idem_redis_wire_break(w, IDEM_REDIS_GARBAGE,
		    "a reply to another command");
		return false;
	}
	/* It may be refused before the server has read it, but not done. */
	if (early && !error) {
		idem_redis_wire_break(w, IDEM_REDIS_GARBAGE,
		    "a reply before all of its command was sent");
		return false;
	}
	idem_redis_items_pop(&w->awaited);
	if (early)
		w->writing = NULL;
	idem_redis_item_answer(w, item, meaning, value,
	    error ? value->text.at : NULL);
	free(item);
	w->ending = w->ending || meaning.drop;
	if (early)
		idem_redis_wire_break(w, IDEM_REDIS_GARBAGE,
		    "a reply before all of its command was sent");
	else if (w->ending && w->awaited.first == NULL)
		idem_redis_wire_part(w);
	return w->fd >= 0;
}

/* --- deadlines ------------------------------------------------------------ */

/* Take what has waited in vain for its turn. */
static struct idem_redis_items
take_overdue(struct idem_redis_wire *w, int64_t now_ms)
{
	struct idem_redis_items all = w->queue, overdue = { 0 };
	struct idem_redis_item *item;

	w->queue = (struct idem_redis_items){ 0 };
	while ((item = idem_redis_items_pop(&all)) != NULL)
		idem_redis_items_push(item->deadline_ms <= now_ms ?
		    &overdue : &w->queue, item);
	return overdue;
}

static void
find_soonest(struct idem_redis_wire *w, const struct idem_redis_item *item)
{
	for (; item != NULL; item = item->next)
		if (item->done != NULL && item->deadline_ms < w->soonest_ms)
			w->soonest_ms = item->deadline_ms;
}

static int64_t
earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t
later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Since when it has been silent, or this one has waited. */
static int64_t
waiting_since(const struct idem_redis_wire *w,
    const struct idem_redis_item *item)
{
	const struct idem_redis_item *first = w->awaited.first;

	if (w->state == IDEM_REDIS_WIRE_READY && first != NULL)
		return earlier(item->queued_ms,
		    later(first->sent_ms, w->heard_ms));
	if (w->state == IDEM_REDIS_WIRE_READY ||
	    w->state == IDEM_REDIS_WIRE_CLOSED)
		return item->queued_ms;
	return earlier(item->queued_ms, w->begun_ms);
}

/* Of a server that was given much less than timeout_ms nothing is known. */
static void
answer_overdue(struct idem_redis_wire *w, struct idem_redis_item *item,
    int64_t now_ms, enum idem_redis_broken broken, const char *error)
{
	struct idem_redis_meaning meaning = idem_redis_broken_means(broken);

	meaning.counts = now_ms - waiting_since(w, item) >= w->timeout_ms / 2;
	idem_redis_item_answer(w, item, meaning, NULL, error);
}

static void
expire(struct idem_redis_wire *w, int64_t now_ms)
{
	struct idem_redis_items overdue = take_overdue(w, now_ms);
	bool was_ready = w->state == IDEM_REDIS_WIRE_READY;
	struct idem_redis_item *item;

	for (item = w->awaited.first; item != NULL; item = item->next)
		if (item->deadline_ms <= now_ms)
			answer_overdue(w, item, now_ms, IDEM_REDIS_SILENT,
			    "no reply in time");
	while ((item = idem_redis_items_pop(&overdue)) != NULL) {
		answer_overdue(w, item, now_ms, was_ready ?
		    IDEM_REDIS_UNSENT : IDEM_REDIS_CONNECT_SLOW, was_ready ?
		    "could not be sent in time" : "no connection in time");
		free(item);
	}
	w->soonest_ms = INT64_MAX;
	find_soonest(w, w->awaited.first);
	find_soonest(w, w->queue.first);
}

/*
 * When a reply whose command has been answered without it is waited for no
 * longer: after silence, or if it only drips.
 */
static int64_t
late_until(const struct idem_redis_wire *w)
{
	const struct idem_redis_item *item = w->awaited.first;
	int64_t silent_ms, drips_ms;

	if (w->state != IDEM_REDIS_WIRE_READY || item == NULL ||
	    item->done != NULL)
		return INT64_MAX;
	silent_ms = later(item->deadline_ms,
	    later(w->heard_ms, item->sent_ms) + w->timeout_ms);
	drips_ms = item->deadline_ms + LATE_TIMES * w->timeout_ms;
	return earlier(silent_ms, drips_ms);
}

/* --- its owner's calls ---------------------------------------------------- */

static void
note_fork(struct idem_redis_wire *w)
{
	w->drained = false;
	if (w->fd >= 0 && w->pid != getpid())
		idem_redis_wire_forked(w);
}

static bool
talks(const struct idem_redis_wire *w)
{
	return w->state == IDEM_REDIS_WIRE_GREETING ||
	    w->state == IDEM_REDIS_WIRE_READY;
}

static bool
can_send(const struct idem_redis_wire *w)
{
	return talks(w) && !w->full && (w->greeting != NULL ||
	    w->writing != NULL || w->chunk.len > 0 ||
	    (w->state == IDEM_REDIS_WIRE_READY && !w->ending &&
	    w->queue.first != NULL));
}

/* What came while nothing was awaited would be taken for the reply. */
static bool
may_use(struct idem_redis_wire *w)
{
	return w->drained || w->replies == 0 || w->awaited.first != NULL ||
	    idem_redis_wire_quiet(w);
}

static void
settle(struct idem_redis_wire *w)
{
	bool want_write;

	if (can_send(w) && may_use(w))
		idem_redis_wire_flush(w);
	if (w->fd < 0)
		return;
	want_write = w->full || w->state == IDEM_REDIS_WIRE_CONNECTING;
	if (w->watched == w->fd && w->watched_write == want_write)
		return;
	w->watched = w->fd;
	w->watched_write = want_write;
	w->o.watch(w->o.arg, w, w->fd, want_write);
}

void
idem_redis_wire_ready(struct idem_redis_wire *w, bool readable, bool writable)
{
	note_fork(w);
	if (talks(w)) {
		/* TLS may want the other one. */
		if (writable || w->talk != NULL)
			w->full = false;
		if (readable || w->talk != NULL)
			idem_redis_wire_read(w);
	} else {
		idem_redis_wire_connect_ready(w);
	}
	settle(w);
}

int64_t
idem_redis_wire_due_ms(const struct idem_redis_wire *w)
{
	int64_t due_ms = idem_redis_wire_connect_due_ms(w);
	int64_t late_ms = late_until(w);

	if (w->more || can_send(w))
		return INT64_MIN;
	if (late_ms < due_ms)
		due_ms = late_ms;
	return w->unanswered > 0 && w->soonest_ms < due_ms ?
	    w->soonest_ms : due_ms;
}

void
idem_redis_wire_due(struct idem_redis_wire *w)
{
	int64_t now_ms = idem_redis_wire_now(w);
	bool overdue = w->unanswered > 0 && now_ms >= w->soonest_ms;

	note_fork(w);
	/* We may be the late ones. */
	if (talks(w) && (w->more || overdue || now_ms >= late_until(w)))
		idem_redis_wire_read(w);
	if (overdue)
		expire(w, now_ms);
	if (now_ms >= late_until(w))
		idem_redis_wire_break(w, IDEM_REDIS_SILENT,
		    "no reply in time");
	idem_redis_wire_connect_due(w, now_ms);
	if (w->state == IDEM_REDIS_WIRE_CLOSED && w->queue.first != NULL)
		idem_redis_wire_connect(w);
	settle(w);
}

bool
idem_redis_wire_send(struct idem_redis_wire *w, const struct idem_bytes *args,
    size_t args_len, const char *before, int64_t deadline_ms,
    idem_redis_wire_done *done, void *arg)
{
	struct idem_redis_item *item;

	if (w->freeing)
		return false;
	item = idem_redis_item_new(args, args_len, before);
	if (item == NULL)
		return false;
	item->done = done;
	item->arg = arg;
	item->deadline_ms = deadline_ms;
	item->queued_ms = idem_redis_wire_now(w);
	if (w->unanswered++ == 0 || deadline_ms < w->soonest_ms)
		w->soonest_ms = deadline_ms;
	idem_redis_items_push(&w->queue, item);
	return true;
}

bool
idem_redis_wire_idle(const struct idem_redis_wire *w)
{
	return w->queue.first == NULL && w->awaited.first == NULL;
}

static const char *
login(const char *over, const char *url)
{
	return over != NULL ? over : url;
}

struct idem_redis_wire *
idem_redis_wire_new(const struct idem_redis_wire_options *o)
{
	struct idem_redis_wire *w = calloc(1, sizeof *w);

	if (w == NULL)
		return NULL;
	w->o = *o;
	w->user = login(o->user, o->url->user);
	w->password = login(o->password, o->url->password);
	w->timeout_ms = o->redis->timeout_ms > 0 ?
	    (int64_t)o->redis->timeout_ms : TIMEOUT_MS;
	w->bound.max = o->redis->reply_max > 0 ? o->redis->reply_max :
	    REPLY_MAX;
	w->fd = w->watched = -1;
	w->met = calloc(o->hello_len + 1, sizeof *w->met);
	w->copies = calloc(o->hello_len + 1, sizeof *w->copies);
	if (w->met != NULL && w->copies != NULL)
		return w;
	free(w->met);
	free(w->copies);
	free(w);
	return NULL;
}

void
idem_redis_wire_free(struct idem_redis_wire *w)
{
	struct idem_redis_items awaited, queue;

	if (w == NULL)
		return;
	note_fork(w);
	w->freeing = true;
	awaited = w->awaited;
	queue = w->queue;
	w->awaited = w->queue = (struct idem_redis_items){ 0 };
	idem_redis_wire_part(w);
	idem_redis_items_answer(w, &awaited, idem_redis_broken_means(
	    IDEM_REDIS_CLOSED), "the client ends");
	idem_redis_items_answer(w, &queue, idem_redis_broken_means(
	    IDEM_REDIS_UNSENT), "the client ends");
	free(w->met);
	free(w->copies);
	free(w);
}
