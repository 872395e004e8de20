/* SPDX-License-Identifier: ISC */
#include "exchange.h"

#include "identity.h"
#include "label.h"
#include "saved.h"

#include <assert.h>
#include <string.h>

#define LAST_TRY_MS 10		/* for a claim at the end of its time */

void
idem_exchange_init(struct idem_exchange *x, const struct idem_policy *policy)
{
	idem_gate_init(&x->gate, policy);
}

void
idem_exchange_answer(struct idem_exchange *x, struct idem_blob *answer)
{
	idem_blob_drop(x->answer);
	x->answer = answer;
}

void
idem_exchange_free(struct idem_exchange *x)
{
	idem_exchange_answer(x, NULL);
}

/* --- what a store says, as the gate's events ------------------------------ */

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
		break;
	case IDEM_CLAIM_IN_PROGRESS:
	case IDEM_CLAIM_UNKNOWN:
	case IDEM_CLAIM_EXHAUSTED:
		x->other = r->record.owner;
		x->other_attempt = r->record.attempt;
		x->since_ms = r->record.ended_at;
		ev->proof = x->ports->proof(x, &r->record, r->now_ms);
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

	IDEM_LABEL("claim.done");
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
	idem_exchange_tell(x, &ev);
}

static void
write_done(struct idem_exchange *x, const struct idem_store_result *r,
    enum idem_op op, enum idem_waited how)
{
	struct idem_event ev = { .op = op, .write = r->write };

	told_of_trouble(x, r);
	if (r->write == IDEM_WRITTEN)
		x->ports->ended(x, &x->key, how);
	idem_exchange_tell(x, &ev);
}

static void
complete_done(void *arg, const struct idem_store_result *r)
{
	struct idem_exchange *x = arg;

	IDEM_LABEL("complete.done");
	x->purges = r->purges;
	if (r->write == IDEM_WRITE_LOST)
		x->ports->lost(x, r);
	write_done(x, r, IDEM_COMPLETE, IDEM_WOKEN_COMPLETED);
}

static void
release_done(void *arg, const struct idem_store_result *r)
{
	IDEM_LABEL("release.done");
	write_done(arg, r, IDEM_RELEASE, IDEM_WOKEN_RELEASED);
}

static void
unknown_done(void *arg, const struct idem_store_result *r)
{
	IDEM_LABEL("unknown.done");
	write_done(arg, r, IDEM_MARK_UNKNOWN, IDEM_WOKEN_UNKNOWN);
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

static void
claim(struct idem_exchange *x, const struct idem_effect *fx)
{
	struct idem_store_call call =
	    call_of(x, IDEM_STORE_CLAIM, claim_done);

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

static void
complete(struct idem_exchange *x, const struct idem_effect *fx)
{
	struct idem_store_call call =
	    call_of(x, IDEM_STORE_COMPLETE, complete_done);

	call.answer = x->answer;
	start(x, fx, &call);
}

static void
release(struct idem_exchange *x, const struct idem_effect *fx)
{
	struct idem_store_call call =
	    call_of(x, IDEM_STORE_RELEASE, release_done);

	start(x, fx, &call);
}

static void
mark_unknown(struct idem_exchange *x, const struct idem_effect *fx)
{
	struct idem_store_call call =
	    call_of(x, IDEM_STORE_UNKNOWN, unknown_done);

	if (fx->others) {
		call.owner = x->other;
		call.attempt = x->other_attempt;
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

	start(x, &fx, &call);
}

/* --- carrying out --------------------------------------------------------- */

/* A slot serves a CLAIM, its PROBE and its RUN; before all else it is freed. */
static void
free_slot(struct idem_exchange *x, const struct idem_effect *fx)
{
	bool used = fx->op == IDEM_RUN || fx->op == IDEM_PROBE ||
	    fx->op == IDEM_RENEW || (fx->op == IDEM_CLAIM && !fx->look_only);

	if (!x->slot || used)
		return;
	x->slot = false;
	x->ports->slot_unused(x);
}

static void
perform(struct idem_exchange *x, const struct idem_effect *fx)
{
	const struct idem_ports *ports = x->ports;

	free_slot(x, fx);
	switch (fx->op) {
	case IDEM_LOOK:
		ports->look(x, fx);
		break;
	case IDEM_SLOT:
		ports->slot(x, fx);
		break;
	case IDEM_CLAIM:
		IDEM_LABEL("claim");
		claim(x, fx);
		break;
	case IDEM_RUN:
		IDEM_LABEL("run");
		ports->run(x, fx);
		break;
	case IDEM_RENEW:
		ports->renew_later(x, fx);
		break;
	case IDEM_COMPLETE:
		IDEM_LABEL("complete");
		complete(x, fx);
		break;
	case IDEM_RELEASE:
		IDEM_LABEL("release");
		release(x, fx);
		break;
	case IDEM_MARK_UNKNOWN:
		IDEM_LABEL("unknown");
		mark_unknown(x, fx);
		break;
	case IDEM_RECORD:
		ports->record(x, fx);
		break;
	case IDEM_CACHE:
		ports->cache(x, fx);
		break;
	case IDEM_PROBE:
		ports->probe(x, fx);
		break;
	case IDEM_WAIT:
		ports->wait(x, fx);
		break;
	case IDEM_REPLY:
		IDEM_LABEL("reply");
		ports->reply(x, fx);
		break;
	case IDEM_END:	/* the caller of perform sees to it */
	case IDEM_ADMIT:
	case IDEM_GONE:
	case IDEM_OPS:
		break;
	}
}

/* Every effect of one step; true when the last of all was among them. */
static bool
step(struct idem_exchange *x, const struct idem_event *ev)
{
	struct idem_effects fxs = idem_gate_step(&x->gate, ev);
	bool over = false;
	unsigned i;

	for (i = 0; i < fxs.n; i++) {
		perform(x, &fxs.fx[i]);
		if (fxs.fx[i].op == IDEM_END)
			over = true;
	}
	return over;
}

/* With the end of a run, a renewal that only waits for its time ends too. */
static bool
carry(struct idem_exchange *x, const struct idem_event *ev)
{
	const struct idem_event stopped = {
		.op = IDEM_RENEW,
		.renew = IDEM_RENEW_STOPPED,
		.now_ms = ev->now_ms
	};
	bool stop = (ev->op == IDEM_RUN || ev->op == IDEM_PROBE) &&
	    x->gate.renewing && x->ports->renew_stop(x);
	bool over = step(x, ev);

	return stop ? step(x, &stopped) : over;
}

void
idem_exchange_tell(struct idem_exchange *x, const struct idem_event *ev)
{
	struct idem_event now;
	bool over = false;

	assert(x->heard < sizeof x->hears / sizeof *x->hears);
	x->hears[x->heard] = *ev;
	x->hears[x->heard++].now_ms = x->ports->now(x);
	if (x->telling)		/* a port answers at once: after its effect */
		return;
	x->telling = true;
	while (x->heard > 0 && !over) {
		now = x->hears[0];
		x->heard--;
		memmove(x->hears, x->hears + 1, x->heard * sizeof *x->hears);
		over = carry(x, &now);
	}
	x->telling = false;
	if (over) {
		const struct idem_effect end = { .op = IDEM_END };

		free_slot(x, &end);
		x->ports->end(x);
	}
}
