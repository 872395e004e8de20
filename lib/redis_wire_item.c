/* SPDX-License-Identifier: ISC */
#include "redis_wire_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 4u		/* of a command that we make ourselves */

/* --- RESP, from us -------------------------------------------------------- */

/* Where a command is written; at NULL: only measured. */
struct out {
	uint8_t *at;
	size_t len;
};

static void
put(struct out *out, const void *at, size_t len)
{
	if (out->at != NULL && len > 0)
		memcpy(out->at + out->len, at, len);
	out->len += len;
}

/* A command has many of them, and printf would be the most of its cost. */
static void
put_head(struct out *out, char type, size_t number)
{
	char text[24], *end = text + sizeof text, *at = end;

	*--at = '\n';
	*--at = '\r';
	do {
		*--at = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	*--at = type;
	put(out, at, (size_t)(end - at));
}

static void
put_command(struct out *out, const struct idem_bytes *args, size_t len)
{
	size_t i;

	put_head(out, '*', len);
	for (i = 0; i < len; i++) {
		put_head(out, '$', args[i].len);
		put(out, args[i].at, args[i].len);
		put(out, "\r\n", 2);
	}
}

/* --- making --------------------------------------------------------------- */

static struct idem_redis_item *
item_new(size_t len)
{
	struct idem_redis_item *item = malloc(sizeof *item + len);

	if (item == NULL)
		return NULL;
	memset(item, 0, sizeof *item);
	item->len = len;
	return item;
}

static void
put_both(struct out *out, const struct idem_bytes *args, size_t args_len,
    const char *before)
{
	struct idem_bytes word;

	if (before != NULL) {
		word = idem_bytes_text(before);
		put_command(out, &word, 1);
	}
	put_command(out, args, args_len);
}

struct idem_redis_item *
idem_redis_item_new(const struct idem_bytes *args, size_t args_len,
    const char *before)
{
	struct out out = { 0 };
	struct idem_redis_item *item;

	put_both(&out, args, args_len, before);
	item = item_new(out.len);
	if (item == NULL)
		return NULL;
	item->before = before != NULL;
	item->replies = before != NULL ? 2 : 1;
	out = (struct out){ .at = item->at };
	put_both(&out, args, args_len, before);
	return item;
}

static size_t
put_login(const struct idem_redis_wire *w, struct out *out)
{
	struct idem_bytes words[3] = { idem_bytes_text("AUTH") };
	size_t n = 1;

	if (w->user[0] == '\0' && w->password[0] == '\0')
		return 0;
	if (w->user[0] != '\0')
		words[n++] = idem_bytes_text(w->user);
	words[n++] = idem_bytes_text(w->password);
	put_command(out, words, n);
	return 1;
}

static size_t
put_select(const struct idem_redis_wire *w, struct out *out)
{
	struct idem_bytes words[2] = { idem_bytes_text("SELECT") };
	char number[16];

	if (w->o.url->database == 0)
		return 0;
	snprintf(number, sizeof number, "%u", (unsigned)w->o.url->database);
	words[1] = idem_bytes_text(number);
	put_command(out, words, 2);
	return 1;
}

static size_t
put_hello(const struct idem_redis_wire *w, struct out *out)
{
	size_t i, n;

	for (i = 0; i < w->o.hello_len; i++) {
		for (n = 0; n < WORDS_MAX && w->o.hello[i][n].len > 0; n++)
			continue;
		put_command(out, w->o.hello[i], n);
	}
	return w->o.hello_len;
}

static size_t
put_greeting(const struct idem_redis_wire *w, struct out *out)
{
	return put_login(w, out) + put_select(w, out) + put_hello(w, out);
}

struct idem_redis_item *
idem_redis_item_greeting(const struct idem_redis_wire *w)
{
	struct out out = { 0 };
	struct idem_redis_item *item;

	put_greeting(w, &out);
	item = item_new(out.len);
	if (item == NULL)
		return NULL;
	out = (struct out){ .at = item->at };
	item->replies = put_greeting(w, &out);
	return item;
}

/* --- queues --------------------------------------------------------------- */

void
idem_redis_items_push(struct idem_redis_items *q, struct idem_redis_item *item)
{
	item->next = NULL;
	if (q->first == NULL)
		q->first = item;
	else
		q->last->next = item;
	q->last = item;
}

struct idem_redis_item *
idem_redis_items_pop(struct idem_redis_items *q)
{
	struct idem_redis_item *item = q->first;

	if (item != NULL)
		q->first = item->next;
	return item;
}

/* --- answers -------------------------------------------------------------- */

void
idem_redis_item_answer(struct idem_redis_wire *w, struct idem_redis_item *item,
    struct idem_redis_meaning meaning, const struct idem_redis_value *value,
    const char *error)
{
	const struct idem_redis_wire_answer answer = {
		meaning, value, error, item->sent_ms
	};
	idem_redis_wire_done *done = item->done;

	if (done == NULL)
		return;
	item->done = NULL;
	w->unanswered--;
	done(item->arg, &answer);
}

void
idem_redis_items_answer(struct idem_redis_wire *w, struct idem_redis_items *q,
    struct idem_redis_meaning meaning, const char *error)
{
	struct idem_redis_items all = *q;
	struct idem_redis_item *item;

	*q = (struct idem_redis_items){ 0 };
	while ((item = idem_redis_items_pop(&all)) != NULL) {
		idem_redis_item_answer(w, item, meaning, NULL, error);
		free(item);
	}
}
