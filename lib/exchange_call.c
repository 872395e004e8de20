/* SPDX-License-Identifier: ISC */
#include "exchange_call.h"

#include "identity.h"
#include "label.h"
#include "saved.h"
#include "verdict.h"

#include <assert.h>

#define LAST_TRY_MS 10		/* for a claim at the end of its time */

/* --- what a store says, as the gate's events ------------------------------ */

void
idem_exchange_call_forget(struct idem_exchange *x)
{
	idem_blob_drop(x->adopted.answer);
	x->adopted = (struct idem_adopted){ .answer = NULL };
}

/*
 * Take the answer of a completed record, which is only as good as its answer
 * can be read.  None at all was not kept: the operator's word may come so.
 */
static bool
take_completed(struct idem_exchange *x, struct idem_blob *answer, bool *kept)
{
	struct idem_saved saved = { .kept = false };

	if (answer != NULL &&
	    !idem_saved_read(idem_blob_bytes(answer), &saved))
		return false;
	*kept = saved.kept;
	idem_exchange_answer(x, answer != NULL ? idem_blob_take(answer) : NULL);
	return true;
}

static enum idem_proof
proof_of_other(struct idem_exchange *x, const struct idem_store_result *r)
{
	enum idem_proof proof;

	x->other = r->record.owner;
	x->other_attempt = r->record.attempt;
	x->since_ms = r->record.ended_at;
	idem_exchange_call_forget(x);
	proof = x->ports->proof(x, &r->record, r->now_ms, &x->adopted);
	assert(proof != IDEM_PROOF_FINISHED || x->adopted.answer != NULL);
	return proof;
}

static void
claim_event(struct idem_exchange *x, const struct idem_store_result *r,
    struct idem_event *ev)
{
	ev->claim = r->claim;
	ev->away = r->away;
	ev->attempt = r->record.attempt;
	switch (r->claim) {
	case IDEM_CLAIM_OURS:
		if (x->unheard_ms != 0)
			x->claim_sent_ms = x->unheard_ms;
		x->attempt = r->record.attempt;
		break;
	case IDEM_CLAIM_WON:
		x->attempt = r->record.attempt;
		break;
	case IDEM_CLAIM_COMPLETED:
		if (!take_completed(x, r->answer, &ev->kept))
			ev->claim = IDEM_CLAIM_BAD_RECORD;
		x->purges = r->purges;
		x->keep_until_ms = r->record.expires_at;
		x->kept_ms = r->record.expires_at - r->record.ended_at;
		break;
	case IDEM_CLAIM_IN_PROGRESS:
	case IDEM_CLAIM_UNKNOWN:
	case IDEM_CLAIM_EXHAUSTED:
		ev->proof = proof_of_other(x, r);
		break;
	case IDEM_CLAIM_MAYBE:
		if (x->unheard_ms == 0)
			x->unheard_ms = x->claim_sent_ms;
		break;
	case IDEM_CLAIM_MISMATCH:
	case IDEM_CLAIM_WITHHELD:
	case IDEM_CLAIM_EXPIRED:
	case IDEM_CLAIM_ABSENT:
	case IDEM_CLAIM_LATE:
	case IDEM_CLAIM_HISTORY:
	case IDEM_CLAIM_NO_TOKEN:
	case IDEM_CLAIM_BAD_RECORD:
	case IDEM_CLAIM_REFUSED:
	case IDEM_CLAIMS:
		break;
	}
}

static void
told_of_trouble(struct idem_exchange *x, const struct idem_store_result *r)
{
	if (r->class != IDEM_OK && r->error != NULL)
		x->ports->trouble(x, r->op, r->error, r->away);
}

static void
claim_done(void *arg, const struct idem_store_result *r)
{
	struct idem_exchange *x = arg;
	struct idem_event ev = { .op = IDEM_CLAIM };

	if (r->class == IDEM_OK)
		IDEM_LABEL_OF("claim.ok", &x->key);
	else
		IDEM_LABEL_OF("claim.err", &x->key);
	told_of_trouble(x, r);
	if (r->claim == IDEM_CLAIM_MISMATCH)
		x->differs = idem_fingerprint_differs(&x->fingerprint,
		    &r->record.fingerprint);
	claim_event(x, r, &ev);
	idem_exchange_tell(x, &ev);
}

static void
renew_done(void *arg, const struct idem_store_result *r)
{
	struct idem_exchange *x = arg;
	struct idem_event ev = { .op = IDEM_RENEW, .renew = r->renew };

	told_of_trouble(x, r);
	if (r->renew == IDEM_RENEW_LOST)
		x->ports->lost(x, r);
	if (r->renew == IDEM_RENEWED)
		x->claim_sent_ms = x->renew_sent_ms;
	idem_exchange_tell(x, &ev);
}

static void
write_done(struct idem_exchange *x, const struct idem_store_result *r,
    enum idem_op op, enum idem_waited how)
{
	struct idem_event ev = { .op = op, .write = r->write };

	told_of_trouble(x, r);
	if (!x->gate.asked.others && r->write == IDEM_WRITTEN)
		x->settled = op;
	if (!x->gate.asked.others && r->write == IDEM_WRITE_LOST)
		x->others_now = true;
	if (r->write == IDEM_WRITTEN)
		x->ports->ended(x, &x->key, how);
	idem_exchange_tell(x, &ev);
}

static void
complete_done(void *arg, const struct idem_store_result *r)
{
	struct idem_exchange *x = arg;

	if (r->class == IDEM_OK)
		IDEM_LABEL_OF("complete.ok", &x->key);
	else
		IDEM_LABEL_OF("complete.err", &x->key);
	x->purges = r->purges;
	if (r->write == IDEM_WRITE_LOST && !x->gate.asked.others)
		x->ports->lost(x, r);
	write_done(x, r, IDEM_COMPLETE, IDEM_WOKEN_COMPLETED);
}

static void
release_done(void *arg, const struct idem_store_result *r)
{
	struct idem_exchange *x = arg;

	if (r->class == IDEM_OK)
		IDEM_LABEL_OF("release.ok", &x->key);
	write_done(x, r, IDEM_RELEASE, IDEM_WOKEN_RELEASED);
}

static void
unknown_done(void *arg, const struct idem_store_result *r)
{
	struct idem_exchange *x = arg;

	if (r->class == IDEM_OK)
		IDEM_LABEL_OF("unknown.ok", &x->key);
	write_done(x, r, IDEM_MARK_UNKNOWN, IDEM_WOKEN_UNKNOWN);
}

/* --- effects, as calls of a store ----------------------------------------- */

static struct idem_store_call
call_of(struct idem_exchange *x, enum idem_store_op op, idem_store_done *done)
{
	return (struct idem_store_call){
		.op = op,
		.key = x->key,
		.owner = x->owner,
		.attempt = x->attempt,
		.deadline_ms = x->ports->now(x) + x->times->call_ms,
		.lease_ms = x->gate.policy.lease_ms,
		.keep_ms = x->times->keep_ms,
		.tombstone_ms = x->times->tombstone_ms,
		.issued_only = x->issued_only,
		.history = x->history,
		.strict = x->issued_only &&
		    x->gate.policy.on_unknown == IDEM_RETRY,
		.pid = x->pid,
		.done = done,
		.arg = x
	};
}

static void
start(struct idem_exchange *x, const struct idem_effect *fx,
    const struct idem_store_call *call)
{
	struct idem_store *store = x->ports->store(x, fx->where);

	store->ops->start(store, call);
}

/* No longer than claims may be repeated, so that a request costs no more. */
static int64_t
claim_until_ms(struct idem_exchange *x, int64_t deadline_ms)
{
	int64_t last_ms = x->ports->now(x) + LAST_TRY_MS;

	if (x->gate.deadline_ms > last_ms)
		last_ms = x->gate.deadline_ms;
	return deadline_ms < last_ms ? deadline_ms : last_ms;
}

void
idem_exchange_call_claim(struct idem_exchange *x, const struct idem_effect *fx)
{
	struct idem_store_call call =
	    call_of(x, IDEM_STORE_CLAIM, claim_done);

	if (!fx->look_only && !x->ports->note(x, fx)) {
		const struct idem_event ev = {
			.op = IDEM_CLAIM, .claim = IDEM_CLAIM_REFUSED,
			.no_space = true
		};

		idem_exchange_tell(x, &ev);
		return;
	}
	call.owner = x->owner;
	call.deadline_ms = claim_until_ms(x, call.deadline_ms);
	call.fingerprint = x->fingerprint;
	call.guard = x->guard;
	call.look_only = fx->look_only;
	call.anew = x->anew;
	call.take_over = fx->take_over;
	call.other = x->other;
	call.attempt = x->other_attempt;
	/* A probe may be asked as often as it takes: it starts nothing. */
	call.attempts_max = x->gate.policy.on_unknown == IDEM_PROBING ?
	    UINT32_MAX : x->gate.policy.attempts_max;
	/* Nothing starts by now: what is known is told all the same. */
	call.not_after_ms = x->old ? 1 : call.deadline_ms;
	if (!fx->look_only)
		x->claim_sent_ms = x->ports->now(x);
	start(x, fx, &call);
}

/* Not ours, but the one's whose record the last claim showed. */
static void
of_others(const struct idem_exchange *x, struct idem_store_call *call)
{
	call->owner = x->other;
	call->attempt = x->other_attempt;
}

/* Short of room, it is kept as long as was promised and no longer; and its key
   is remembered as if it had been. */
static void
keep_less(struct idem_store_call *call, int64_t keep_ms)
{
	int64_t less_ms = call->keep_ms - keep_ms;
	int64_t stays_ms = idem_verdict_tombstone_ms(call);

	call->keep_ms = keep_ms;
	call->tombstone_ms = stays_ms < INT64_MAX - less_ms ?
	    stays_ms + less_ms : INT64_MAX;
}

void
idem_exchange_call_complete(struct idem_exchange *x,
    const struct idem_effect *fx)
{
	struct idem_store *store = x->ports->store(x, fx->where);
	struct idem_store_call call =
	    call_of(x, IDEM_STORE_COMPLETE, complete_done);

	call.answer = x->answer;
	if (fx->others) {
		of_others(x, &call);
		call.answer = x->adopted.answer;
		call.keep_ms = x->adopted.keep_ms;
		call.tombstone_ms = x->adopted.tombstone_ms;
	}
	if (x->times->keep_min_ms < call.keep_ms &&
	    store->ops->pressed(store))
		keep_less(&call, x->times->keep_min_ms);
	start(x, fx, &call);
}

void
idem_exchange_call_release(struct idem_exchange *x,
    const struct idem_effect *fx)
{
	struct idem_store_call call =
	    call_of(x, IDEM_STORE_RELEASE, release_done);

	if (fx->others)
		of_others(x, &call);
	start(x, fx, &call);
}

void
idem_exchange_call_mark_unknown(struct idem_exchange *x,
    const struct idem_effect *fx)
{
	struct idem_store_call call =
	    call_of(x, IDEM_STORE_UNKNOWN, unknown_done);

	if (fx->others) {
		of_others(x, &call);
	} else if (call.attempt == 0) {
		/* A take-over whose answer never came, if it landed. */
		call.attempt = x->other_attempt + 1;
	}
	start(x, fx, &call);
}

void
idem_exchange_renew(struct idem_exchange *x)
{
	struct idem_store_call call = call_of(x, IDEM_STORE_RENEW, renew_done);
	const struct idem_effect fx = { .where = x->gate.claim_at };

	x->renew_sent_ms = x->ports->now(x);
	start(x, &fx, &call);
}
