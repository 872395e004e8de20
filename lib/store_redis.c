/* SPDX-License-Identifier: ISC */
#include "store_redis_parts.h"

#include <stdlib.h>
#include <string.h>

#define INLINE_MAX (64u * 1024)

bool
idem_redis_key(const struct idem_redis_store *s, const char *rest,
    struct idem_buf *key)
{
	idem_buf_text(key, s->o.prefix);
	idem_buf_text(key, rest);
	return idem_buf_ok(key);
}

/* --- who holds what ------------------------------------------------------- */

void
idem_redis_store_hold(struct idem_redis_store *s)
{
	s->holders++;
}

void
idem_redis_store_drop(struct idem_redis_store *s)
{
	if (--s->holders == 0)
		free(s);
}

static void
list(struct idem_redis_work *w)
{
	struct idem_redis_store *s = w->store;

	w->older = s->newest;
	if (s->newest != NULL)
		s->newest->newer = w;
	s->newest = w;
}

static void
unlist(struct idem_redis_work *w)
{
	struct idem_redis_store *s = w->store;

	if (w->older != NULL)
		w->older->newer = w->newer;
	if (w->newer != NULL)
		w->newer->older = w->older;
	else
		s->newest = w->older;
}

static void
work_free(struct idem_redis_work *w)
{
	idem_store_call_free(&w->call);
	idem_buf_free(&w->key);
	idem_redis_scan_free(w->scan);
	idem_redis_store_drop(w->store);
	free(w);
}

static struct idem_redis_work *
work_new(struct idem_redis_store *s, const struct idem_store_call *call)
{
	struct idem_redis_work *w = calloc(1, sizeof *w);
	char hex[2 * IDEM_DIGEST_LEN + 1];

	if (w == NULL)
		return NULL;
	idem_hex(call->key.at, sizeof call->key.at, hex);
	if (!idem_redis_key(s, hex, &w->key)) {
		free(w);
		return NULL;
	}
	w->store = s;
	w->purges = s->purges;
	idem_store_call_copy(&w->call, call);
	idem_redis_store_hold(s);
	list(w);
	return w;
}

/* --- commands of a work --------------------------------------------------- */

void
idem_redis_work_send(struct idem_redis_work *w,
    const struct idem_redis_command *command)
{
	struct idem_redis_command c = *command;

	c.deadline_ms = w->call.deadline_ms;
	w->pending++;
	idem_redis_send(w->store->o.client, &c);
}

void
idem_redis_work_ask(struct idem_redis_work *w, const struct idem_bytes *args,
    size_t len, idem_redis_done *done)
{
	const struct idem_redis_command c = {
		.args = args,
		.args_len = len,
		.key = idem_buf_bytes(&w->key),
		.done = done,
		.arg = w,
	};

	idem_redis_work_send(w, &c);
}

bool
idem_redis_work_back(struct idem_redis_work *w)
{
	w->pending--;
	if (!w->answered)
		return true;
	if (w->pending == 0)
		work_free(w);
	return false;
}

void
idem_redis_work_answer(struct idem_redis_work *w,
    const struct idem_store_result *result)
{
	struct idem_store_result r = *result;

	r.purges = w->purges;
	w->answered = true;
	unlist(w);
	w->call.done(w->call.arg, &r);
	if (w->pending == 0)
		work_free(w);
}

/*
 * Whatever became of a command that changes nothing, nothing was changed.  But
 * after a refusal another store may be asked, which knows nothing of a key that
 * is somebody's.
 */
static enum idem_class
class_of(const struct idem_redis_work *w, enum idem_class class)
{
	if (w->taken)
		return IDEM_CLASS_MAYBE;
	return class == IDEM_CLASS_MAYBE && !w->written ? IDEM_CLASS_REFUSED :
	    class;
}

void
idem_redis_work_failed(struct idem_redis_work *w,
    const struct idem_redis_answer *a)
{
	struct idem_store_result result;

	idem_store_fail(&result, w->call.op, class_of(w, a->class), a->error);
	result.away = a->away;
	idem_redis_work_answer(w, &result);
}

void
idem_redis_work_fail(struct idem_redis_work *w, enum idem_class class,
    const char *why)
{
	struct idem_store_result result;

	idem_store_fail(&result, w->call.op, class_of(w, class), why);
	idem_redis_work_answer(w, &result);
}

void
idem_redis_work_later(struct idem_redis_work *w)
{
	struct idem_redis_store *s = w->store;

	w->next = NULL;
	*s->ready_last = w;
	s->ready_last = &w->next;
}

void
idem_redis_work_refuse(struct idem_redis_work *w, const char *why)
{
	idem_store_fail(&w->result, w->call.op, IDEM_CLASS_REFUSED, why);
	idem_redis_work_later(w);
}

/* What they start is for the next poll. */
static void
tell_ready(struct idem_redis_store *s)
{
	struct idem_redis_work *w = s->ready, *next;

	s->ready = NULL;
	s->ready_last = &s->ready;
	for (; w != NULL; w = next) {
		next = w->next;
		idem_redis_work_answer(w, &w->result);
	}
}

/* --- the port ------------------------------------------------------------- */

static void
redis_start(struct idem_store *base, const struct idem_store_call *call)
{
	struct idem_redis_store *s = (struct idem_redis_store *)base;
	struct idem_redis_work *w = work_new(s, call);

	if (w == NULL) {
		idem_store_refuse(&s->refused, call);
		return;
	}
	s->used = true;
	if (idem_boot_ms(s->o.clock) > call->deadline_ms) {
		idem_redis_work_refuse(w, "its time was over");
		return;
	}
	if (s->o.scheme == IDEM_SCHEME_SCRIPT &&
	    (call->op == IDEM_STORE_LIST || call->op == IDEM_STORE_SWEEP))
		idem_redis_scan_begin(w);
	else
		s->begin(w);
}

static int
redis_fd(struct idem_store *base)
{
	return idem_redis_fd(((struct idem_redis_store *)base)->o.client);
}

static int64_t
redis_due_ms(struct idem_store *base)
{
	struct idem_redis_store *s = (struct idem_redis_store *)base;
	int64_t client_ms, heed_ms;

	if (s->ready != NULL || s->refused.n > 0)
		return 0;
	client_ms = idem_redis_due_ms(s->o.client);
	heed_ms = idem_redis_heed_due_ms(s);
	return client_ms < heed_ms ? client_ms : heed_ms;
}

static void
redis_poll(struct idem_store *base)
{
	struct idem_redis_store *s = (struct idem_redis_store *)base;

	idem_redis_poll(s->o.client);
	tell_ready(s);
	idem_store_tell_refused(&s->refused);
	idem_redis_heed(s);
}

/* Who asks has something cached, and counts on it. */
static uint64_t
redis_purges(struct idem_store *base)
{
	struct idem_redis_store *s = (struct idem_redis_store *)base;

	s->used = true;
	return s->purges;
}

static bool
redis_pressed(struct idem_store *base)
{
	return ((const struct idem_redis_store *)base)->room.pressed;
}

static bool
redis_history(struct idem_store *base, struct idem_history *history)
{
	const struct idem_redis_store *s = (struct idem_redis_store *)base;

	*history = s->history;
	return s->history_known;
}

static void
redis_close(struct idem_store *base)
{
	struct idem_redis_store *s = (struct idem_redis_store *)base;

	tell_ready(s);
	s->closed = true;
	while (s->newest != NULL)
		idem_redis_work_fail(s->newest, IDEM_CLASS_MAYBE,
		    "the store was closed");
	idem_store_tell_refused(&s->refused);
	idem_redis_store_drop(s);
}

static void
defaults(struct idem_redis_store *s)
{
	if (s->o.prefix == NULL)
		s->o.prefix = IDEM_REDIS_PREFIX;
	if (s->o.inline_max == 0)
		s->o.inline_max = INLINE_MAX;
}

struct idem_store *
idem_store_redis(const struct idem_store_redis_options *options)
{
	static const struct idem_store_ops ops = {
		.name = "redis",
		.start = redis_start,
		.fd = redis_fd,
		.due_ms = redis_due_ms,
		.poll = redis_poll,
		.purges = redis_purges,
		.pressed = redis_pressed,
		.history = redis_history,
		.close = redis_close,
	};
	static void (*const begins[])(struct idem_redis_work *) = {
		[IDEM_SCHEME_SCRIPT] = idem_redis_script_begin,
		[IDEM_SCHEME_SETNX] = idem_redis_setnx_begin,
		[IDEM_SCHEME_CHECK] = idem_redis_check_begin,
	};
	struct idem_redis_store *s = calloc(1, sizeof *s);

	if (s == NULL)
		return NULL;
	if (!idem_redis_script_init(&s->script)) {
		free(s);
		return NULL;
	}
	s->base.ops = &ops;
	s->o = *options;
	s->begin = begins[options->scheme];
	s->ready_last = &s->ready;
	s->holders = 1;
	s->used = true;
	defaults(s);
	idem_redis_heed(s);
	return &s->base;
}
