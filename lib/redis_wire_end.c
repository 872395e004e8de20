/* SPDX-License-Identifier: ISC */
#include "redis_wire_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BARRED_MS 1000

void
idem_redis_wire_close(struct idem_redis_wire *w, bool tell)
{
	if (w->watched >= 0 && tell)
		w->o.watch(w->o.arg, w, -1, false);
	w->watched = -1;
	idem_redis_tls_close(w->talk, tell);
	w->talk = NULL;
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	w->full = w->more = w->ending = false;
}

/* All that belongs to a connection but its commands. */
static void
clear(struct idem_redis_wire *w, bool tell)
{
	idem_redis_wire_close(w, tell);
	w->state = IDEM_REDIS_WIRE_CLOSED;
	idem_redis_reply_free(w->reply);
	w->reply = NULL;
	w->bound = (struct idem_redis_bound){ .max = w->bound.max };
	w->replies = 0;
	free(w->greeting);
	w->greeting = NULL;
	idem_redis_wire_drop_met(w);
	w->writing = NULL;
	idem_buf_free(&w->chunk);
}

/* --- its end -------------------------------------------------------------- */

/* Those that have outlived a connection before. */
static struct idem_redis_items
take_moved(struct idem_redis_wire *w)
{
	struct idem_redis_items all = w->queue, moved = { 0 };
	struct idem_redis_item *item;

	w->queue = (struct idem_redis_items){ 0 };
	while ((item = idem_redis_items_pop(&all)) != NULL) {
		idem_redis_items_push(item->moved ? &moved : &w->queue, item);
		item->moved = true;
	}
	return moved;
}

/* What it is if nothing but the greeting was sent. */
static enum idem_redis_broken
before_ready(enum idem_redis_broken broken)
{
	switch (broken) {
	case IDEM_REDIS_NOT_CONNECTED:
	case IDEM_REDIS_CONNECT_SLOW:
	case IDEM_REDIS_GARBAGE_FIRST:
	case IDEM_REDIS_TLS_REFUSED:
		return broken;
	case IDEM_REDIS_UNSENT:
	case IDEM_REDIS_SILENT:
	case IDEM_REDIS_CLOSED:
	case IDEM_REDIS_RESET:
	case IDEM_REDIS_GARBAGE:
	case IDEM_REDIS_WRONG_SHAPE:
		return IDEM_REDIS_NOT_CONNECTED;
	}
	abort();
}

/*
 * A wrong password is so for the next command as well, and servers write a line
 * for each.
 */
static void
bar(struct idem_redis_wire *w, struct idem_redis_meaning meaning,
    const char *why)
{
	if (w->state != IDEM_REDIS_WIRE_GREETING ||
	    meaning.class != IDEM_CLASS_CONFIG)
		return;
	w->barred = meaning;
	w->barred_until_ms = idem_redis_wire_now(w) + BARRED_MS;
	snprintf(w->why, sizeof w->why, "%s", why);
}

void
idem_redis_wire_refuse(struct idem_redis_wire *w,
    struct idem_redis_meaning meaning, const char *error)
{
	struct idem_redis_items awaited = w->awaited, queue = w->queue;
	char text[sizeof w->why];

	/* It may be in the reply, or in w->why. */
	snprintf(text, sizeof text, "%s", error);
	bar(w, meaning, text);
	/* The name may have gone to another server. */
	if (w->o.url->kind != IDEM_REDIS_UNIX &&
	    w->state != IDEM_REDIS_WIRE_CLOSED)
		idem_redis_names_doubt(w->o.names, w->o.url->host);
	w->awaited = w->queue = (struct idem_redis_items){ 0 };
	clear(w, true);
	idem_redis_items_answer(w, &awaited, meaning, text);
	idem_redis_items_answer(w, &queue, meaning, text);
}

static void
lose(struct idem_redis_wire *w, enum idem_redis_broken broken)
{
	struct idem_redis_items awaited = w->awaited;
	struct idem_redis_items moved = take_moved(w);
	char text[sizeof w->why];

	snprintf(text, sizeof text, "%s", w->why);
	w->awaited = (struct idem_redis_items){ 0 };
	clear(w, true);
	idem_redis_items_answer(w, &awaited, idem_redis_broken_means(broken),
	    text);
	idem_redis_items_answer(w, &moved, idem_redis_broken_means(
	    IDEM_REDIS_NOT_CONNECTED), text);
}

/* Another address of its name may be better. */
static void
next_address(struct idem_redis_wire *w)
{
	w->state = IDEM_REDIS_WIRE_CONNECTING;
	w->address++;
	w->try_until_ms = INT64_MIN;
}

void
idem_redis_wire_break(struct idem_redis_wire *w, enum idem_redis_broken broken,
    const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(w->why, sizeof w->why, format, args);
	va_end(args);
	if (w->state == IDEM_REDIS_WIRE_READY) {
		lose(w, broken);
		return;
	}
	broken = before_ready(broken);
	if (broken != IDEM_REDIS_NOT_CONNECTED ||
	    w->address + 1 >= w->addresses.len) {
		idem_redis_wire_refuse(w, idem_redis_broken_means(broken),
		    w->why);
		return;
	}
	idem_redis_items_answer(w, &w->awaited, idem_redis_broken_means(broken),
	    NULL);	/* the greeting */
	clear(w, true);
	next_address(w);
}

void
idem_redis_wire_part(struct idem_redis_wire *w)
{
	clear(w, true);
}

void
idem_redis_wire_forked(struct idem_redis_wire *w)
{
	struct idem_redis_items awaited = w->awaited, queue = w->queue;

	w->awaited = w->queue = (struct idem_redis_items){ 0 };
	clear(w, false);
	idem_redis_items_answer(w, &awaited, idem_redis_broken_means(
	    IDEM_REDIS_CLOSED), "a parent's connection");
	idem_redis_items_answer(w, &queue, idem_redis_broken_means(
	    IDEM_REDIS_UNSENT), "a parent's command");
}
