/* SPDX-License-Identifier: ISC */
#include "store_redis_parts.h"

#include <inttypes.h>
#include <stdio.h>

/*
 * A key with one of two words in it and a time to live, as many keep it.  It
 * is here to be compared.  It knows of nobody whose claim it is: who repeats
 * one after a lost reply meets himself, and any RELEASE frees any claim.
 */
#define PROCESSING "PROCESSING"
#define COMPLETED "COMPLETED"

/* The server adds it to its clock, and refuses what is too much. */
#define LIFE_MAX_MS (INT64_C(1) << 50)

/* --- answers -------------------------------------------------------------- */

void
idem_redis_setnx_claimed(struct idem_redis_work *w, enum idem_claim claim)
{
	const struct idem_store_redis_options *o = &w->store->o;
	struct idem_store_result *r = &w->result;

	*r = (struct idem_store_result){
		.op = w->call.op,
		.claim = claim,
		.now_ms = idem_wall_ms(o->clock),
	};
	if (claim == IDEM_CLAIM_ABSENT)
		return;
	r->record = (struct idem_record){
		.state = claim == IDEM_CLAIM_COMPLETED ? IDEM_STATE_COMPLETED :
		    IDEM_STATE_IN_PROGRESS,
		.attempt = 1,
		.boot = o->boot,
		.renewed_at = r->now_ms,
		.lease_end = INT64_MAX / 2,	/* nothing proves its death */
	};
	if (claim == IDEM_CLAIM_WON)
		r->record.owner = w->call.owner;
}

void
idem_redis_setnx_written(void *arg, const struct idem_redis_answer *a)
{
	struct idem_redis_work *w = arg;

	if (!idem_redis_work_back(w))
		return;
	w->result = (struct idem_store_result){
		.op = w->call.op,
		.write = IDEM_WRITTEN,
	};
	if (a->class != IDEM_OK)
		idem_redis_work_failed(w, a);
	else if (w->call.op == IDEM_STORE_SETTLE)
		idem_redis_heed_purge(w);
	else
		idem_redis_work_answer(w, &w->result);
}

/* --- CLAIM ---------------------------------------------------------------- */

static enum idem_claim
claim_of(const struct idem_redis_work *w, const struct idem_redis_value *v)
{
	if (idem_redis_is(v, COMPLETED))
		return IDEM_CLAIM_COMPLETED;
	if (v->type == IDEM_REDIS_NIL && w->call.look_only)
		return IDEM_CLAIM_ABSENT;
	/* Also one whose time ended between two commands: ask again. */
	return IDEM_CLAIM_IN_PROGRESS;
}

static void
found(void *arg, const struct idem_redis_answer *a)
{
	struct idem_redis_work *w = arg;

	if (!idem_redis_work_back(w))
		return;
	if (a->class != IDEM_OK) {
		idem_redis_work_failed(w, a);
		return;
	}
	idem_redis_setnx_claimed(w, claim_of(w, a->value));
	idem_redis_work_answer(w, &w->result);
}

static void
get(struct idem_redis_work *w)
{
	const struct idem_bytes args[] = {
		idem_bytes_text("GET"), idem_buf_bytes(&w->key)
	};

	w->written = false;
	idem_redis_work_ask(w, args, 2, found);
}

static void
set(void *arg, const struct idem_redis_answer *a)
{
	struct idem_redis_work *w = arg;

	if (!idem_redis_work_back(w))
		return;
	if (a->class != IDEM_OK) {
		idem_redis_work_failed(w, a);
	} else if (a->value->type == IDEM_REDIS_NIL) {
		w->taken = true;
		get(w);
	} else {
		idem_redis_setnx_claimed(w, IDEM_CLAIM_WON);
		idem_redis_work_answer(w, &w->result);
	}
}

/* --- commands ------------------------------------------------------------- */

static int64_t
life_ms(const struct idem_redis_work *w)
{
	int64_t ms = w->call.op == IDEM_STORE_CLAIM ? w->call.lease_ms :
	    w->call.keep_ms;

	return ms < 1 ? 1 : ms < LIFE_MAX_MS ? ms : LIFE_MAX_MS;
}

void
idem_redis_setnx_put(struct idem_redis_work *w, struct idem_bytes value,
    bool nx, idem_redis_done *done)
{
	char ms[24];
	struct idem_bytes args[6];

	snprintf(ms, sizeof ms, "%" PRId64, life_ms(w));
	args[0] = idem_bytes_text("SET");
	args[1] = idem_buf_bytes(&w->key);
	args[2] = value;
	args[3] = idem_bytes_text("PX");
	args[4] = idem_bytes_text(ms);
	args[5] = idem_bytes_text("NX");
	w->written = true;
	idem_redis_work_ask(w, args, nx ? 6 : 5, done);
}

void
idem_redis_setnx_delete(struct idem_redis_work *w)
{
	const struct idem_bytes args[] = {
		idem_bytes_text("DEL"), idem_buf_bytes(&w->key)
	};

	w->written = true;
	idem_redis_work_ask(w, args, 2, idem_redis_setnx_written);
}

void
idem_redis_setnx_nothing(struct idem_redis_work *w)
{
	w->result = (struct idem_store_result){
		.op = w->call.op,
		.renew = IDEM_RENEWED,
		.write = IDEM_WRITTEN,
		.now_ms = idem_wall_ms(w->store->o.clock),
	};
	idem_redis_work_later(w);
}

void
idem_redis_setnx_begin(struct idem_redis_work *w)
{
	struct idem_bytes processing = idem_bytes_text(PROCESSING);
	struct idem_bytes completed = idem_bytes_text(COMPLETED);

	switch (w->call.op) {
	case IDEM_STORE_CLAIM:
		if (w->call.look_only)
			get(w);
		else
			idem_redis_setnx_put(w, processing, true, set);
		return;
	case IDEM_STORE_COMPLETE:
		idem_redis_setnx_put(w, completed, false,
		    idem_redis_setnx_written);
		return;
	case IDEM_STORE_RELEASE:
		idem_redis_setnx_delete(w);
		return;
	case IDEM_STORE_SETTLE:
		if (w->call.settle == IDEM_SETTLE_DONE)
			idem_redis_setnx_put(w, completed, false,
			    idem_redis_setnx_written);
		else
			idem_redis_setnx_delete(w);
		return;
	case IDEM_STORE_RENEW:
	case IDEM_STORE_UNKNOWN:
	case IDEM_STORE_LIST:
	case IDEM_STORE_SWEEP:
		idem_redis_setnx_nothing(w);
		return;
	case IDEM_STORE_ISSUE:
		idem_redis_work_refuse(w, "this scheme issues no tokens");
		return;
	}
}
