/* SPDX-License-Identifier: ISC */
#include "store_redis_parts.h"

#include <stdlib.h>
#include <string.h>

#define EACH_MS 1000
#define PURGES "purges"
#define REPLID "master_replid:"

/* False: the store was closed meanwhile. */
static bool
back(struct idem_redis_store *s)
{
	bool open = !s->closed;

	s->asking--;
	idem_redis_store_drop(s);
	return open;
}

static void
ask(struct idem_redis_store *s, const char *word, struct idem_bytes about,
    struct idem_bytes key, idem_redis_done *done)
{
	const struct idem_bytes args[] = { idem_bytes_text(word), about };
	const struct idem_redis_command c = {
		.args = args,
		.args_len = 2,
		.key = key,
		.deadline_ms = idem_boot_ms(s->o.clock) + EACH_MS,
		.done = done,
		.arg = s,
	};

	s->asking++;
	idem_redis_store_hold(s);
	idem_redis_send(s->o.client, &c);
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
}
