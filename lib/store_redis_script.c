/* SPDX-License-Identifier: ISC */
#include "store_redis_parts.h"

#include <string.h>

/* What we know of the server's clock may be wrong by so much: rather a claim
   that lands late than one that is refused though its time is not over. */
#define SLACK_MS 50

static void again(struct idem_redis_work *);

struct idem_redis_script_call
idem_redis_script_call(const struct idem_redis_work *w, struct idem_bytes key)
{
	const struct idem_store_redis_options *o = &w->store->o;

	return (struct idem_redis_script_call){
		.call = &w->call,
		.key = key,
		.boot = o->boot,
		.token = o->token,
		.fixed_boot_ms = o->fixed_time ? idem_boot_ms(o->clock) : 0,
		.fixed_wall_ms = o->fixed_time ? idem_wall_ms(o->clock) : 0,
		.inline_max = o->inline_max,
	};
}

/* A reply of the script's tells the server's clock, and its history. */
static void
heard(struct idem_redis_store *s, struct idem_bytes key,
    const struct idem_redis_answer *a, const struct idem_redis_script_reply *r)
{
	static const struct idem_history none;

	if (!s->o.fixed_time && r->now_ms != 0)
		idem_redis_heard(s->o.client, key, a->sent_ms, r->now_ms);
	if (memcmp(&r->history, &none, sizeof none) != 0)
		idem_redis_heed_history(s, &r->history);
}

/* --- the answer ----------------------------------------------------------- */

static void
settled(struct idem_redis_work *w, const struct idem_redis_script_reply *r)
{
	struct idem_store_result result;

	if (!idem_redis_script_result(r, w->call.op, &result)) {
		idem_redis_work_fail(w, IDEM_CLASS_MAYBE,
		    "Redis gave a verdict that is none");
		return;
	}
	/*
	 * Also one that was settled before: whoever did it may have died
	 * before it was counted.
	 */
	if (w->call.op == IDEM_STORE_SETTLE && result.class == IDEM_OK &&
	    result.write == IDEM_WRITTEN) {
		w->result = result;
		idem_redis_heed_purge(w);
		return;
	}
	if (r->answer.len > 0) {
		w->taken = true;
		result.answer = idem_blob_new(r->answer);
		if (result.answer == NULL) {
			idem_redis_work_fail(w, IDEM_CLASS_REFUSED,
			    "out of memory");
			return;
		}
	}
	idem_redis_work_answer(w, &result);
	idem_blob_drop(result.answer);
}

/*
 * The record has an answer, and it is a long one: look again, with all of it,
 * where it holds up nobody.
 */
static void
fetch(struct idem_redis_work *w)
{
	w->fetching = w->taken = true;
	w->written = false;
	w->call.look_only = true;
	again(w);
}

/* It was there a moment ago.  Who asks again is told what it is now. */
static bool
still_there(struct idem_redis_work *w, const struct idem_redis_script_reply *r)
{
	w->taken = w->fetching && !idem_bytes_is(r->verdict, "ABSENT");
	return !w->fetching || w->taken;
}

static void
done(void *arg, const struct idem_redis_answer *a)
{
	struct idem_redis_work *w = arg;
	struct idem_redis_script_reply r;

	if (!idem_redis_work_back(w))
		return;
	if (a->class != IDEM_OK) {
		idem_redis_work_failed(w, a);
	} else if (!idem_redis_script_read(a->value, &r)) {
		idem_redis_work_fail(w, IDEM_CLASS_MAYBE,
		    "Redis gave a reply of the wrong shape");
	} else {
		heard(w->store, idem_buf_bytes(&w->key), a, &r);
		if (!still_there(w, &r))
			idem_redis_work_fail(w, IDEM_CLASS_REFUSED,
			    "the record went while its answer was fetched");
		else if (r.answer_len > r.answer.len && !w->fetching)
			fetch(w);
		else
			settled(w, &r);
	}
}

/* --- the call ------------------------------------------------------------- */

static void
clock_done(void *arg, const struct idem_redis_answer *a)
{
	struct idem_redis_work *w = arg;
	struct idem_bytes key = idem_buf_bytes(&w->key);
	int64_t ms;

	if (!idem_redis_work_back(w))
		return;
	if (a->class != IDEM_OK) {
		idem_redis_work_failed(w, a);
		return;
	}
	if (idem_redis_script_time(a->value, &ms))
		idem_redis_heard(w->store->o.client, key, a->sent_ms, ms);
	if (idem_redis_now(w->store->o.client, key, &ms))
		again(w);
	else
		idem_redis_work_fail(w, IDEM_CLASS_REFUSED,
		    "Redis does not say what time it is");
}

/* Nothing has been heard of the server yet, so ask: once. */
static void
ask_clock(struct idem_redis_work *w)
{
	const struct idem_bytes args[] = { idem_bytes_text("TIME") };

	idem_redis_work_ask(w, args, 1, clock_done);
}

/*
 * Until when a claim may start something, by the clock that judges it: one
 * that is carried out later, by a server that hung, starts nothing.  False: no
 * such clock is known yet.
 */
static bool
not_after(const struct idem_redis_work *w, int64_t *ms)
{
	const struct idem_store_redis_options *o = &w->store->o;
	int64_t at_ms = w->call.not_after_ms, left_ms, now_ms;

	*ms = 0;
	if (w->call.op != IDEM_STORE_CLAIM || at_ms == 0)
		return true;
	if (o->fixed_time) {
		*ms = at_ms;
		return true;
	}
	if (!idem_redis_now(o->client, idem_buf_bytes(&w->key), &now_ms))
		return false;
	left_ms = at_ms - idem_boot_ms(o->clock);
	if (left_ms > INT64_MAX - now_ms - SLACK_MS)
		return true;
	*ms = now_ms + left_ms + SLACK_MS;
	if (*ms <= 0)
		*ms = 1;
	return true;
}

/* SETTLE and COMPLETE may bring much. */
static bool
large(const struct idem_redis_work *w)
{
	return w->fetching || (w->call.answer != NULL &&
	    w->call.answer->len > w->store->o.inline_max);
}

static bool
changes(const struct idem_store_call *call)
{
	return call->op != IDEM_STORE_CLAIM || !call->look_only;
}

static void
again(struct idem_redis_work *w)
{
	struct idem_redis_script_args args;
	struct idem_redis_script_call c =
	    idem_redis_script_call(w, idem_buf_bytes(&w->key));
	struct idem_redis_command command;

	if (!not_after(w, &c.not_after_ms)) {
		ask_clock(w);
		return;
	}
	if (w->fetching)
		c.inline_max = UINT64_MAX;
	idem_redis_script_args(&args, &c);
	command = (struct idem_redis_command){
		.script = &w->store->script,
		.args = args.at,
		.args_len = args.len,
		.key = c.key,
		.bulk = large(w),
		.done = done,
		.arg = w,
	};
	w->written = changes(&w->call);
	idem_redis_work_send(w, &command);
}

void
idem_redis_script_begin(struct idem_redis_work *w)
{
	again(w);
}
