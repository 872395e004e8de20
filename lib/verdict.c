/* SPDX-License-Identifier: ISC */
#include "verdict.h"

#include <assert.h>
#include <string.h>

/* For callers that leave tombstone_ms out. */
#define TOMBSTONE_MS (INT64_C(7) * 24 * 3600 * 1000)

static bool
same_owner(const struct idem_owner *a, const struct idem_owner *b)
{
	return memcmp(a->at, b->at, sizeof a->at) == 0;
}

static bool
ours(const struct idem_record *r, const struct idem_store_call *call)
{
	return r->attempt == call->attempt &&
	    same_owner(&r->owner, &call->owner);
}

/*
 * Whether the call speaks of the store's own past.  A store of one history has
 * only records that were started in it, so that this is a record's too.
 */
static bool
same_history(const struct idem_store_call *call, const struct idem_moment *at)
{
	return memcmp(call->history.at, at->history.at,
	    sizeof call->history.at) == 0;
}

/* "For ever" may be said as the largest number there is. */
static int64_t
later(int64_t from, int64_t span)
{
	return span > INT64_MAX - from ? INT64_MAX : from + span;
}

int64_t
idem_verdict_tombstone_ms(const struct idem_store_call *call)
{
	return call->tombstone_ms > 0 ? call->tombstone_ms : TOMBSTONE_MS;
}

/* --- CLAIM ---------------------------------------------------------------- */

static void
lease(struct idem_record *r, const struct idem_store_call *call,
    const struct idem_moment *at)
{
	r->boot = at->boot;
	r->renewed_at = at->boot_ms;
	r->lease_end = later(at->boot_ms, call->lease_ms);
}

/* A token's first start, and strictly each later one, is for its history. */
static bool
of_another(const struct idem_record *r, const struct idem_store_call *call,
    const struct idem_moment *at)
{
	bool demanded = r->state == IDEM_STATE_ISSUED ? call->issued_only :
	    r->state == IDEM_STATE_UNKNOWN && call->strict;

	return demanded && !same_history(call, at);
}

static void
take(struct idem_verdict *v, const struct idem_store_call *call,
    const struct idem_moment *at)
{
	struct idem_record *r = &v->record;

	if (call->not_after_ms != 0 && at->boot_ms > call->not_after_ms) {
		v->claim = IDEM_CLAIM_LATE;
		return;
	}
	if (of_another(r, call, at)) {
		v->claim = IDEM_CLAIM_HISTORY;
		return;
	}
	if (r->state == IDEM_STATE_ABSENT)
		*r = (struct idem_record){ .made_at = at->wall_ms };
	r->state = IDEM_STATE_IN_PROGRESS;
	r->attempt++;
	r->owner = call->owner;
	r->pid = call->pid;
	r->fingerprint = call->fingerprint;
	r->guard = call->guard;
	r->ended_at = 0;
	r->expires_at = 0;
	lease(r, call, at);
	v->claim = IDEM_CLAIM_WON;
	v->changed = true;
}

static void
take_over(struct idem_verdict *v, const struct idem_store_call *call,
    const struct idem_moment *at)
{
	const struct idem_record *r = &v->record;

	v->claim = IDEM_CLAIM_UNKNOWN;
	if (!call->take_over || call->look_only)
		return;
	if (r->attempt != call->attempt ||
	    !same_owner(&r->owner, &call->other)) {
		if (same_owner(&r->owner, &call->owner))
			v->claim = IDEM_CLAIM_OURS;
	} else if (r->attempt >= call->attempts_max) {
		v->claim = IDEM_CLAIM_EXHAUSTED;
	} else {
		take(v, call, at);
	}
}

/* A record that was only issued names no request yet. */
static bool
bound(const struct idem_record *r)
{
	static const struct idem_digest none;

	return r->state != IDEM_STATE_ISSUED ||
	    !idem_digest_equal(&r->fingerprint, &none);
}

/* MISMATCH or WITHHELD; false if the request is the record's own. */
static bool
guarded(struct idem_verdict *v, const struct idem_store_call *call)
{
	const struct idem_record *r = &v->record;

	if (!bound(r))
		return false;
	if (!idem_digest_equal(&r->fingerprint, &call->fingerprint)) {
		v->claim = IDEM_CLAIM_MISMATCH;
		return true;
	}
	if (!idem_digest_equal(&r->guard, &call->guard)) {
		v->claim = IDEM_CLAIM_WITHHELD;
		return true;
	}
	return false;
}

static void
take_free(struct idem_verdict *v, const struct idem_store_call *call,
    const struct idem_moment *at)
{
	if (call->look_only)
		v->claim = IDEM_CLAIM_ABSENT;
	else
		take(v, call, at);
}

/* A key that lasts no longer than its keep: that of a tombstone has ended, or
   will have, when it says. */
static bool
outlived(const struct idem_record *r, const struct idem_moment *at)
{
	return (r->state == IDEM_STATE_TOMBSTONE &&
	    r->ended_at <= at->wall_ms) ||
	    (r->state == IDEM_STATE_COMPLETED && r->expires_at <= at->wall_ms);
}

static void
claim(struct idem_verdict *v, const struct idem_store_call *call,
    const struct idem_moment *at)
{
	struct idem_record *r = &v->record;

	if (call->anew && outlived(r, at))
		r->state = IDEM_STATE_ABSENT;
	switch (r->state) {
	case IDEM_STATE_ABSENT:
		if (call->issued_only)
			v->claim = IDEM_CLAIM_NO_TOKEN;
		else
			take_free(v, call, at);
		return;
	case IDEM_STATE_TOMBSTONE:
		/* Before the guards: nothing is left that they could guard. */
		v->claim = IDEM_CLAIM_EXPIRED;
		return;
	case IDEM_STATE_ISSUED:
		if (!guarded(v, call))
			take_free(v, call, at);
		return;
	case IDEM_STATE_COMPLETED:
		if (!guarded(v, call))
			v->claim = IDEM_CLAIM_COMPLETED;
		return;
	case IDEM_STATE_IN_PROGRESS:
		if (!guarded(v, call))
			v->claim = same_owner(&r->owner, &call->owner) ?
			    IDEM_CLAIM_OURS : IDEM_CLAIM_IN_PROGRESS;
		return;
	case IDEM_STATE_UNKNOWN:
		if (!guarded(v, call))
			take_over(v, call, at);
		return;
	}
	v->claim = IDEM_CLAIM_BAD_RECORD;
}

/* --- the ends of a run ---------------------------------------------------- */

static void
end(struct idem_verdict *v, enum idem_state state, int64_t ended_at,
    int64_t expires_at)
{
	v->record.state = state;
	v->record.lease_end = 0;
	v->record.ended_at = ended_at;
	v->record.expires_at = expires_at;
	v->write = IDEM_WRITTEN;
	v->changed = true;
}

static void
end_completed(struct idem_verdict *v, const struct idem_store_call *call,
    const struct idem_moment *at)
{
	end(v, IDEM_STATE_COMPLETED, at->wall_ms,
	    later(at->wall_ms, call->keep_ms));
	v->with_answer = true;
	v->tombstone_ms = idem_verdict_tombstone_ms(call);
}

/* Released records keep their attempt for as long as a tombstone would. */
static void
end_issued(struct idem_verdict *v, const struct idem_store_call *call,
    const struct idem_moment *at)
{
	end(v, IDEM_STATE_ISSUED, 0,
	    later(at->wall_ms, idem_verdict_tombstone_ms(call)));
}

static void
complete(struct idem_verdict *v, const struct idem_store_call *call,
    const struct idem_moment *at)
{
	enum idem_state state = v->record.state;

	v->write = IDEM_WRITE_LOST;
	if (!ours(&v->record, call))
		return;
	if (state == IDEM_STATE_COMPLETED || state == IDEM_STATE_TOMBSTONE)
		v->write = IDEM_WRITTEN;
	else if (call->strict && !same_history(call, at))
		return;
	else if (state == IDEM_STATE_IN_PROGRESS ||
	    state == IDEM_STATE_UNKNOWN)
		end_completed(v, call, at);
}

/*
 * Who releases knows that nothing was started, also if others have given up on
 * it meanwhile.  Attempt 0 is the release of a claim whose answer never came:
 * whose record it is, the owner says alone.
 */
static void
release(struct idem_verdict *v, const struct idem_store_call *call,
    const struct idem_moment *at)
{
	const struct idem_record *r = &v->record;

	v->write = IDEM_WRITE_LOST;
	if (r->state == IDEM_STATE_ABSENT)
		v->write = IDEM_WRITTEN;
	else if (!same_owner(&r->owner, &call->owner) ||
	    (call->attempt != 0 && r->attempt != call->attempt))
		return;
	else if (r->state == IDEM_STATE_IN_PROGRESS ||
	    r->state == IDEM_STATE_UNKNOWN)
		end_issued(v, call, at);
	else if (r->state == IDEM_STATE_ISSUED)
		v->write = IDEM_WRITTEN;
}

/* What proves or disproves the owner's death stays in the record. */
static void
mark_unknown(struct idem_verdict *v, const struct idem_store_call *call,
    const struct idem_moment *at)
{
	v->write = IDEM_WRITE_LOST;
	if (!ours(&v->record, call))
		return;
	if (v->record.state == IDEM_STATE_IN_PROGRESS) {
		v->record.state = IDEM_STATE_UNKNOWN;
		v->record.ended_at = at->wall_ms;
		v->write = IDEM_WRITTEN;
		v->changed = true;
	} else if (v->record.state == IDEM_STATE_UNKNOWN) {
		v->write = IDEM_WRITTEN;
	}
}

static void
renew(struct idem_verdict *v, const struct idem_store_call *call,
    const struct idem_moment *at)
{
	v->renew = IDEM_RENEW_LOST;
	if (v->record.state != IDEM_STATE_IN_PROGRESS ||
	    !ours(&v->record, call))
		return;
	lease(&v->record, call, at);
	v->renew = IDEM_RENEWED;
	v->changed = true;
}

/* --- SETTLE --------------------------------------------------------------- */

static bool
may_settle(enum idem_settle settle, enum idem_state state)
{
	if (settle == IDEM_SETTLE_FORGET)
		return state != IDEM_STATE_ABSENT;
	return state == IDEM_STATE_IN_PROGRESS || state == IDEM_STATE_UNKNOWN;
}

static void
settle(struct idem_verdict *v, const struct idem_store_call *call,
    const struct idem_moment *at)
{
	static const enum idem_state settled[] = {
		[IDEM_SETTLE_DONE] = IDEM_STATE_COMPLETED,
		[IDEM_SETTLE_NOT_DONE] = IDEM_STATE_ISSUED,
		[IDEM_SETTLE_FORGET] = IDEM_STATE_TOMBSTONE,
	};
	struct idem_record *r = &v->record;

	if (r->state == settled[call->settle] && ours(r, call)) {
		v->write = IDEM_WRITTEN;
		return;
	}
	v->write = IDEM_WRITE_LOST;
	if (!may_settle(call->settle, r->state) ||
	    r->attempt != call->attempt || !same_owner(&r->owner, &call->other))
		return;
	r->owner = call->owner;
	switch (call->settle) {
	case IDEM_SETTLE_DONE:
		end_completed(v, call, at);
		return;
	case IDEM_SETTLE_NOT_DONE:
		end_issued(v, call, at);
		return;
	case IDEM_SETTLE_FORGET:
		end(v, IDEM_STATE_TOMBSTONE, at->wall_ms,
		    later(at->wall_ms, idem_verdict_tombstone_ms(call)));
		return;
	}
}

/* --- ISSUE ---------------------------------------------------------------- */

static void
issue(struct idem_verdict *v, const struct idem_store_call *call,
    const struct idem_moment *at)
{
	struct idem_record *r = &v->record;

	v->write = IDEM_WRITE_LOST;
	if (r->state == IDEM_STATE_ISSUED && r->attempt == 0 &&
	    same_owner(&r->owner, &call->owner))
		v->write = IDEM_WRITTEN;
	if (r->state != IDEM_STATE_ABSENT)
		return;
	*r = (struct idem_record){
		.owner = call->owner,
		.boot = at->boot,
		.made_at = at->wall_ms,
	};
	end(v, IDEM_STATE_ISSUED, 0, later(at->wall_ms, call->keep_ms));
}

/* ------------------------------------------------------------------------ */

static bool
is_over(const struct idem_record *r, const struct idem_store_call *call,
    int64_t wall_ms)
{
	return (r->expires_at != 0 && r->expires_at <= wall_ms) ||
	    (r->state == IDEM_STATE_COMPLETED && call->shrink_ms > 0 &&
	    later(r->ended_at, call->shrink_ms) <= wall_ms);
}

enum idem_swept
idem_verdict_sweep(struct idem_record *r, const struct idem_store_call *call,
    int64_t stays_ms, int64_t wall_ms)
{
	if (!is_over(r, call, wall_ms))
		return IDEM_SWEPT_NOT;
	switch (r->state) {
	case IDEM_STATE_ABSENT:
	case IDEM_STATE_IN_PROGRESS:
	case IDEM_STATE_UNKNOWN:
		return IDEM_SWEPT_NOT;
	case IDEM_STATE_ISSUED:
	case IDEM_STATE_TOMBSTONE:
		return IDEM_SWEPT_GONE;
	case IDEM_STATE_COMPLETED:
		r->state = IDEM_STATE_TOMBSTONE;
		r->ended_at = r->expires_at > wall_ms ? r->expires_at : wall_ms;
		r->expires_at = later(r->expires_at, stays_ms);
		return IDEM_SWEPT_TOMBSTONE;
	}
	return IDEM_SWEPT_NOT;
}

void
idem_verdict(const struct idem_record *r, const struct idem_store_call *call,
    const struct idem_moment *at, struct idem_verdict *v)
{
	*v = (struct idem_verdict){ .record = *r };
	switch (call->op) {
	case IDEM_STORE_CLAIM:
		claim(v, call, at);
		return;
	case IDEM_STORE_RENEW:
		renew(v, call, at);
		return;
	case IDEM_STORE_COMPLETE:
		complete(v, call, at);
		return;
	case IDEM_STORE_RELEASE:
		release(v, call, at);
		return;
	case IDEM_STORE_UNKNOWN:
		mark_unknown(v, call, at);
		return;
	case IDEM_STORE_SETTLE:
		settle(v, call, at);
		return;
	case IDEM_STORE_ISSUE:
		issue(v, call, at);
		return;
	case IDEM_STORE_LIST:
	case IDEM_STORE_SWEEP:
		break;
	}
	assert(false);	/* not calls on one record */
}
