/* SPDX-License-Identifier: ISC */
#include "store_redis_parts.h"

#include <stdlib.h>
#include <string.h>

#define EACH_MS 1000
#define ROOM_MS (10 * 1000)
#define NO_LIMIT_MS (600 * 1000)	/* somebody may yet set one */
#define PURGES "purges"
#define REPLID "master_replid:"
#define USED "\nused_memory:"
#define LIMIT "\nmaxmemory:"

/* False: the store was closed meanwhile. */
static bool
back(struct idem_redis_store *s)
{
	bool open = !s->closed;

	s->asking--;
	idem_redis_store_drop(s);
	return open;
}

/* The node's, or else that of the key. */
static void
ask_node(struct idem_redis_store *s, const char *word, struct idem_bytes about,
    const char *node, struct idem_bytes key, idem_redis_done *done)
{
	const struct idem_bytes args[] = { idem_bytes_text(word), about };
	const struct idem_redis_command c = {
		.args = args,
		.args_len = 2,
		.key = key,
		.node = node,
		.deadline_ms = idem_boot_ms(s->o.clock) + EACH_MS,
		.done = done,
		.arg = s,
	};

	s->asking++;
	idem_redis_store_hold(s);
	idem_redis_send(s->o.client, &c);
}

static void
ask(struct idem_redis_store *s, const char *word, struct idem_bytes about,
    struct idem_bytes key, idem_redis_done *done)
{
	ask_node(s, word, about, NULL, key, done);
}

/* --- the purge count ------------------------------------------------------ */

static void
purges_done(void *arg, const struct idem_redis_answer *a)
{
	struct idem_redis_store *s = arg;
	char text[24];

	if (!back(s) || a->class != IDEM_OK)
		return;
	if (a->value->type == IDEM_REDIS_NIL) {
		s->purges = 0;
	} else if (a->value->type == IDEM_REDIS_STRING &&
	    a->value->text.len < sizeof text) {
		memcpy(text, a->value->text.at, a->value->text.len);
		text[a->value->text.len] = '\0';
		s->purges = strtoull(text, NULL, 10);
	}
}

static void
counted(void *arg, const struct idem_redis_answer *a)
{
	struct idem_redis_work *w = arg;

	if (!idem_redis_work_back(w))
		return;
	if (a->class != IDEM_OK || a->value->type != IDEM_REDIS_INTEGER) {
		/* Others may have its old answer cached: say it again. */
		idem_redis_work_fail(w, IDEM_CLASS_MAYBE,
		    "it is settled, but that could not be counted");
		return;
	}
	w->store->purges = (uint64_t)a->value->integer;
	idem_redis_work_answer(w, &w->result);
}

void
idem_redis_heed_purge(struct idem_redis_work *w)
{
	struct idem_buf key = { 0 };
	struct idem_bytes args[2];
	struct idem_redis_command c = {
		.args = args,
		.args_len = 2,
		.done = counted,
		.arg = w,
	};

	if (!idem_redis_key(w->store, PURGES, &key)) {
		idem_buf_free(&key);
		idem_redis_work_fail(w, IDEM_CLASS_MAYBE, "out of memory");
		return;
	}
	args[0] = idem_bytes_text("INCR");
	args[1] = idem_buf_bytes(&key);
	c.key = args[1];
	idem_redis_work_send(w, &c);
	idem_buf_free(&key);
}

/* --- the history ---------------------------------------------------------- */

/* 16 hex digits after the name; what follows is as long again. */
static bool
read_history(struct idem_bytes info, struct idem_history *history)
{
	const char *at = memmem(info.at, info.len, REPLID, strlen(REPLID));
	char hex[2 * IDEM_HISTORY_LEN + 1];
	size_t left;

	if (at == NULL)
		return false;
	at += strlen(REPLID);
	left = info.len - (size_t)(at - (const char *)info.at);
	if (left < sizeof hex)
		return false;
	memcpy(hex, at, sizeof hex - 1);
	hex[sizeof hex - 1] = '\0';
	return idem_unhex(hex, history->at, sizeof history->at);
}

/* Masters of a cluster have one each: the store as a whole has none. */
void
idem_redis_heed_history(struct idem_redis_store *s,
    const struct idem_history *history)
{
	s->history = *history;
	s->history_known = idem_redis_node(s->o.client, 1) == NULL;
}

static void
history_done(void *arg, const struct idem_redis_answer *a)
{
	struct idem_redis_store *s = arg;
	struct idem_history history;

	if (!back(s) || a->class != IDEM_OK)
		return;
	if (a->value->type == IDEM_REDIS_STRING &&
	    read_history(a->value->text, &history))
		idem_redis_heed_history(s, &history);
}

/* --- room ----------------------------------------------------------------- */

/* The number behind a name in INFO. */
static bool
read_number(struct idem_bytes info, const char *name, uint64_t *number)
{
	const char *end = (const char *)info.at + info.len;
	const char *at = memmem(info.at, info.len, name, strlen(name));

	if (at == NULL)
		return false;
	*number = 0;
	for (at += strlen(name); at < end && *at >= '0' && *at <= '9'; at++)
		*number = 10 * *number + (uint64_t)(*at - '0');
	return at < end && *at == '\r';
}

/* Each master tells of its own; one that is full is enough. */
static void
room_done(void *arg, const struct idem_redis_answer *a)
{
	struct idem_redis_store *s = arg;
	struct idem_redis_room *room = &s->room;
	uint64_t used, limit;

	if (!back(s))
		return;
	room->asked--;
	if (a->class == IDEM_OK && a->value->type == IDEM_REDIS_STRING &&
	    read_number(a->value->text, USED, &used) &&
	    read_number(a->value->text, LIMIT, &limit)) {
		room->told = true;
		room->limited |= limit > 0;
		room->full |= limit > 0 && used > limit / 10 * 9;
	}
	if (room->asked > 0 || !room->told)
		return;
	room->pressed = room->full;
	if (!room->limited)
		room->due_ms = idem_boot_ms(s->o.clock) + NO_LIMIT_MS;
}

static void
ask_room(struct idem_redis_store *s, int64_t now_ms)
{
	struct idem_redis_room *room = &s->room;
	const char *node;

	if (now_ms < room->due_ms || room->asked > 0 ||
	    idem_redis_node(s->o.client, 0) == NULL)
		return;
	room->due_ms = now_ms + ROOM_MS;
	room->told = room->limited = room->full = false;
	while ((node = idem_redis_node(s->o.client, room->asked)) != NULL) {
		room->asked++;
		ask_node(s, "INFO", idem_bytes_text("memory"), node,
		    (struct idem_bytes){ 0 }, room_done);
	}
}

/* --- each second ---------------------------------------------------------- */

int64_t
idem_redis_heed_due_ms(const struct idem_redis_store *s)
{
	return s->used && s->asking == 0 ? s->heed_ms : INT64_MAX;
}

void
idem_redis_heed(struct idem_redis_store *s)
{
	int64_t now_ms = idem_boot_ms(s->o.clock);
	struct idem_buf key = { 0 };

	if (idem_redis_heed_due_ms(s) > now_ms)
		return;
	s->used = false;
	s->heed_ms = now_ms + EACH_MS;
	if (idem_redis_key(s, PURGES, &key)) {
		ask(s, "GET", idem_buf_bytes(&key), idem_buf_bytes(&key),
		    purges_done);
		if (s->o.token)
			ask(s, "INFO", idem_bytes_text("replication"),
			    idem_buf_bytes(&key), history_done);
	}
	idem_buf_free(&key);
	ask_room(s, now_ms);
}
