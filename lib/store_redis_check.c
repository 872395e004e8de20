/* SPDX-License-Identifier: ISC */
#include "store_redis_parts.h"

#include <string.h>

/*
 * Look whether there is an answer; if there is none, run and save it.  It is
 * here to be compared: between the look and the end of the run everybody else
 * finds nothing either, and runs.
 */
#define RESULT "RESULT:"

static bool
is_result(const struct idem_redis_value *v)
{
	return v->type == IDEM_REDIS_STRING && v->text.len >= strlen(RESULT) &&
	    memcmp(v->text.at, RESULT, strlen(RESULT)) == 0;
}

static void
completed(struct idem_redis_work *w, struct idem_bytes text)
{
	const struct idem_bytes answer = {
		(const char *)text.at + strlen(RESULT),
		text.len - strlen(RESULT)
	};
	struct idem_blob *blob = NULL;

	w->taken = true;
	if (answer.len > 0 && (blob = idem_blob_new(answer)) == NULL) {
		idem_redis_work_fail(w, IDEM_CLASS_REFUSED, "out of memory");
		return;
	}
	idem_redis_setnx_claimed(w, IDEM_CLAIM_COMPLETED);
	w->result.answer = blob;
	idem_redis_work_answer(w, &w->result);
	idem_blob_drop(blob);
}

static void
found(void *arg, const struct idem_redis_answer *a)
{
	struct idem_redis_work *w = arg;

	if (!idem_redis_work_back(w))
		return;
	if (a->class != IDEM_OK) {
		idem_redis_work_failed(w, a);
	} else if (is_result(a->value)) {
		completed(w, a->value->text);
	} else {
		idem_redis_setnx_claimed(w, w->call.look_only ?
		    IDEM_CLAIM_ABSENT : IDEM_CLAIM_WON);
		idem_redis_work_answer(w, &w->result);
	}
}

static void
get(struct idem_redis_work *w)
{
	const struct idem_bytes args[] = {
		idem_bytes_text("GET"), idem_buf_bytes(&w->key)
	};

	idem_redis_work_ask(w, args, 2, found);
}

static void
save(struct idem_redis_work *w)
{
	struct idem_buf value = { 0 };

	idem_buf_text(&value, RESULT);
	if (w->call.answer != NULL)
		idem_buf_append(&value, w->call.answer->at,
		    w->call.answer->len);
	if (idem_buf_ok(&value))
		idem_redis_setnx_put(w, idem_buf_bytes(&value), false,
		    idem_redis_setnx_written);
	else
		idem_redis_work_refuse(w, "out of memory");
	idem_buf_free(&value);
}

void
idem_redis_check_begin(struct idem_redis_work *w)
{
	switch (w->call.op) {
	case IDEM_STORE_CLAIM:
		get(w);
		return;
	case IDEM_STORE_COMPLETE:
		save(w);
		return;
	case IDEM_STORE_SETTLE:
		if (w->call.settle == IDEM_SETTLE_DONE)
			save(w);
		else
			idem_redis_setnx_delete(w);
		return;
	case IDEM_STORE_RELEASE:
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
