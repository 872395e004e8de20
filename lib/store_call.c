/* SPDX-License-Identifier: ISC */
#include "store_call.h"

#include <assert.h>
#include <string.h>

#define ROWS 100
#define ROWS_MAX 10000

const char *
idem_store_op_text(enum idem_store_op op)
{
	static const char *const text[] = {
		[IDEM_STORE_CLAIM] = "claim",
		[IDEM_STORE_RENEW] = "renew",
		[IDEM_STORE_COMPLETE] = "complete",
		[IDEM_STORE_RELEASE] = "release",
		[IDEM_STORE_UNKNOWN] = "unknown",
		[IDEM_STORE_SETTLE] = "settle",
		[IDEM_STORE_LIST] = "list",
		[IDEM_STORE_SWEEP] = "sweep",
		[IDEM_STORE_ISSUE] = "issue"
	};

	return text[op];
}

void
idem_store_call_copy(struct idem_store_call *to,
    const struct idem_store_call *from)
{
	*to = *from;
	if (to->answer != NULL)
		idem_blob_take(to->answer);
}

void
idem_store_call_free(struct idem_store_call *call)
{
	idem_blob_drop(call->answer);
	call->answer = NULL;
}

void
idem_store_fail(struct idem_store_result *result, enum idem_store_op op,
    enum idem_class class, const char *error)
{
	bool maybe = class == IDEM_CLASS_MAYBE;

	*result = (struct idem_store_result){
		.op = op,
		.class = class,
		.claim = maybe ? IDEM_CLAIM_MAYBE : IDEM_CLAIM_REFUSED,
		.renew = IDEM_RENEW_MAYBE,
		.write = maybe ? IDEM_WRITE_MAYBE : IDEM_WRITE_REFUSED,
		.error = error,
	};
}

void
idem_store_decided(struct idem_store_result *result,
    const struct idem_store_call *call, const struct idem_verdict *v,
    const struct idem_moment *at)
{
	*result = (struct idem_store_result){
		.op = call->op,
		.claim = v->claim,
		.renew = v->renew,
		.write = v->write,
		.record = v->record,
		.now_ms = at->boot_ms,
		.history = at->history,
	};
}

uint32_t
idem_store_rows(const struct idem_store_call *call)
{
	if (call->max == 0)
		return ROWS;
	return call->max < ROWS_MAX ? call->max : ROWS_MAX;
}

bool
idem_store_wanted(const struct idem_store_call *call, enum idem_state state)
{
	return (call->states & (1u << state)) != 0;
}

struct idem_moment
idem_store_moment(const struct idem_clock *clock, const struct idem_boot *boot)
{
	return (struct idem_moment){
		.boot_ms = idem_boot_ms(clock),
		.wall_ms = idem_wall_ms(clock),
		.boot = *boot,
	};
}

void
idem_store_refuse(struct idem_refusals *refusals,
    const struct idem_store_call *call)
{
	assert(refusals->n < IDEM_REFUSALS_MAX);
	refusals->at[refusals->n].done = call->done;
	refusals->at[refusals->n].arg = call->arg;
	refusals->at[refusals->n].op = call->op;
	refusals->n++;
}

void
idem_store_tell_refused(struct idem_refusals *refusals)
{
	struct idem_store_result result;
	unsigned n = refusals->n, i;

	for (i = 0; i < n; i++) {
		idem_store_fail(&result, refusals->at[i].op,
		    IDEM_CLASS_REFUSED, "out of memory");
		refusals->at[i].done(refusals->at[i].arg, &result);
	}
	refusals->n -= n;
	memmove(refusals->at, refusals->at + n,
	    refusals->n * sizeof refusals->at[0]);
}
