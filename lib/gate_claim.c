/* SPDX-License-Identifier: ISC */
#include "gate_steps.h"

#include <assert.h>
#include <stdlib.h>

/* So often may a record change under our hands before we give up. */
#define RACES_MAX 3

struct idem_effects
idem_gate_claim_anew(struct idem_gate *g, int64_t now_ms)
{
	idem_gate_ask_begin(g, now_ms, g->policy.claim_ms);
	return idem_gate_ask_claim(g);
}

static struct idem_effects
wait_for_key(struct idem_gate *g, int64_t now_ms)
{
	if (!g->waited) {
		g->waited = true;
		g->wait_until_ms = now_ms + g->policy.wait_ms;
	}
	if (g->wait_until_ms <= now_ms)
		return idem_gate_ask_refusal(g, IDEM_PROBLEM_IN_PROGRESS);
	return idem_gate_ask_wait(g, (uint32_t)(g->wait_until_ms - now_ms),
	    true);
}

struct idem_effects
idem_gate_claim_taken(struct idem_gate *g, int64_t now_ms)
{
	switch (g->policy.in_progress) {
	case IDEM_WAITING:
		return wait_for_key(g, now_ms);
	case IDEM_CONFLICT:
		return idem_gate_ask_refusal(g, IDEM_PROBLEM_IN_PROGRESS);
	case IDEM_ACCEPTED:
		return idem_gate_ask_refusal(g, IDEM_PROBLEM_ACCEPTED);
	}
	abort();
}

struct idem_effects
idem_gate_claim_saved(struct idem_gate *g, bool kept)
{
	if (!kept)
		return idem_gate_ask_refusal(g, IDEM_PROBLEM_NOT_KEPT);
	return idem_gate_ask_reply(g, IDEM_BODY_SAVED, g->unprotected ?
	    IDEM_SAYS_UNPROTECTED : IDEM_SAYS_REPLAYED);
}

enum idem_op
idem_gate_claim_undo(const struct idem_gate *g)
{
	/*
	 * A record that we took over was unknown before.  Released it would
	 * run again without a question, and only a probe may allow that.
	 */
	if (g->taking && g->policy.on_unknown == IDEM_PROBING)
		return IDEM_MARK_UNKNOWN;
	return IDEM_RELEASE;
}

static struct idem_effects
take_over(struct idem_gate *g, int64_t now_ms)
{
	g->take_over = true;
	idem_gate_ask_begin(g, now_ms, g->policy.claim_ms);
	if (g->slot)
		return idem_gate_ask_claim(g);
	return idem_gate_ask_slot(g, IDEM_CLAIM, true);
}

static bool
may_take_over(const struct idem_gate *g)
{
	if (g->proof != IDEM_PROOF_DEAD || g->waited || g->old ||
	    g->races >= RACES_MAX)
		return false;
	switch (g->policy.on_unknown) {
	case IDEM_BLOCK:
		return false;
	case IDEM_RETRY:
		return g->attempt < g->policy.attempts_max;
	case IDEM_PROBING:
		return true;
	}
	abort();
}

/*
 * The run before us may have had its effect and died before it could say so.
 * Only the operator knows which is worse.
 */
static struct idem_effects
unknown(struct idem_gate *g, int64_t now_ms)
{
	if (may_take_over(g))
		return take_over(g, now_ms);
	return idem_gate_ask_refusal(g, IDEM_PROBLEM_UNKNOWN);
}

/* The record is another's: what we claim next is not what we claimed. */
static void
note_record(struct idem_gate *g, const struct idem_event *ev)
{
	if (g->take_over)	/* another was faster */
		g->races++;
	g->take_over = false;
	g->attempt = ev->attempt;
	g->proof = ev->proof;
}

static void
note_none(struct idem_gate *g)
{
	g->attempt = 0;
	g->proof = IDEM_PROOF_NONE;
}

/*
 * What its journal says of another's run is written down for it, and then asked
 * for again: its answer is replayed, or the key is to be had.
 */
static struct idem_effects
in_progress(struct idem_gate *g, int64_t now_ms)
{
	switch (g->proof) {
	case IDEM_PROOF_NONE:
		return idem_gate_claim_taken(g, now_ms);
	case IDEM_PROOF_LAPSED:
	case IDEM_PROOF_DEAD:
		return idem_gate_ask_others(g, IDEM_MARK_UNKNOWN);
	case IDEM_PROOF_NOTHING:
		return idem_gate_ask_others(g, IDEM_RELEASE);
	case IDEM_PROOF_FINISHED:
		return idem_gate_ask_others(g, IDEM_COMPLETE);
	}
	abort();
}

/* It was made unknown too early: there is a word on it now. */
static struct idem_effects
was_unknown(struct idem_gate *g, int64_t now_ms)
{
	switch (g->proof) {
	case IDEM_PROOF_NONE:
	case IDEM_PROOF_LAPSED:
	case IDEM_PROOF_DEAD:
		return unknown(g, now_ms);
	case IDEM_PROOF_NOTHING:
		return idem_gate_ask_others(g, IDEM_RELEASE);
	case IDEM_PROOF_FINISHED:
		return idem_gate_ask_others(g, IDEM_COMPLETE);
	}
	abort();
}

struct idem_effects
idem_gate_claim_on_others(struct idem_gate *g, const struct idem_event *ev)
{
	switch (ev->write) {
	case IDEM_WRITTEN:
		if (ev->op == IDEM_MARK_UNKNOWN)
			return unknown(g, ev->now_ms);
		/* fall through */
	case IDEM_WRITE_LOST:
		if (++g->races >= RACES_MAX)
			return idem_gate_ask_refusal(g,
			    IDEM_PROBLEM_IN_PROGRESS);
		return idem_gate_claim_anew(g, ev->now_ms);
	case IDEM_WRITE_REFUSED:
	case IDEM_WRITE_MAYBE:
		/* Somebody had begun with it: not "not started". */
		return idem_gate_ask_refusal(g, IDEM_PROBLEM_IN_PROGRESS);
	}
	abort();
}

static struct idem_effects
claim_elsewhere(struct idem_gate *g, enum idem_where where, int64_t now_ms)
{
	g->unprotected = true;
	g->claim_at = where;
	return idem_gate_claim_anew(g, now_ms);
}

/*
 * Who has waited knows that it was begun, and so does who has seen another's
 * record: that nothing was done would be untrue.
 */
static struct idem_effects
not_now(struct idem_gate *g, enum idem_problem problem)
{
	if (g->waited || (g->attempt != 0 && g->proof != IDEM_PROOF_NOTHING))
		problem = IDEM_PROBLEM_IN_PROGRESS;
	return idem_gate_ask_refusal(g, problem);
}

static struct idem_effects
away(struct idem_gate *g)
{
	return not_now(g, IDEM_PROBLEM_STORE_AWAY);
}

static struct idem_effects
pass(struct idem_gate *g)
{
	if (g->waited)
		return away(g);
	g->unprotected = true;
	if (g->slot)
		return idem_gate_ask_program(g, IDEM_RUN);
	return idem_gate_ask_slot(g, IDEM_RUN, true);
}

/*
 * Another store knows nothing of this key.  To ask it is the operator's choice
 * as long as the arbiter has told us nothing either, and holds no ghost.
 */
static bool
may_fall_back(const struct idem_gate *g)
{
	return g->policy.arbiter == IDEM_ARBITER_REDIS &&
	    g->claim_at == IDEM_AT_ARBITER && !g->ghost && !g->taking &&
	    g->races == 0;
}

static struct idem_effects
outage(struct idem_gate *g, int64_t now_ms)
{
	if (!may_fall_back(g))
		return away(g);
	switch (g->policy.on_outage) {
	case IDEM_REJECT:
		return away(g);
	case IDEM_TO_MEMORY:
		return claim_elsewhere(g, IDEM_AT_MEMORY, now_ms);
	case IDEM_TO_DATABASE:
		return claim_elsewhere(g, IDEM_AT_FALLBACK, now_ms);
	case IDEM_PASS:
		return pass(g);
	}
	abort();
}

static struct idem_effects
not_answered(struct idem_gate *g, int64_t now_ms, bool away)
{
	if (now_ms < g->deadline_ms && !away)
		return idem_gate_ask_pause(g, now_ms, IDEM_CLAIM);
	return outage(g, now_ms);
}

/*
 * It was not sent, for want of a note: the store may be there, so no outage.
 * What it knows of the key is told all the same, as without a slot.
 */
static struct idem_effects
not_noted(struct idem_gate *g, int64_t now_ms)
{
	if (!g->queued && !g->take_over && !g->ghost) {
		g->slot = false;
		return idem_gate_ask_claim(g);
	}
	if (now_ms < g->deadline_ms)
		return idem_gate_ask_pause(g, now_ms, IDEM_CLAIM);
	return not_now(g, IDEM_PROBLEM_NO_SPACE);
}

/* The store works, but not this claim: no outage. */
static struct idem_effects
not_applied(struct idem_gate *g, int64_t now_ms)
{
	if (!g->asked.take_over)	/* in time it would have been had */
		note_none(g);
	if (g->old)
		return idem_gate_ask_refusal(g, IDEM_PROBLEM_TOKEN_EXPIRED);
	if (now_ms < g->deadline_ms)
		return idem_gate_ask_pause(g, now_ms, IDEM_CLAIM);
	return away(g);
}

static struct idem_effects
absent(struct idem_gate *g, int64_t now_ms)
{
	if (g->waited)
		return idem_gate_ask_refusal(g, IDEM_PROBLEM_RELEASED);
	if (!g->asked.look_only || g->old)
		return not_applied(g, now_ms);
	note_none(g);
	/* Never a claimed key that waits for a slot: a ghost may be one. */
	if (g->queued || g->ghost)
		return idem_gate_ask_refusal(g, IDEM_PROBLEM_BUSY);
	return idem_gate_ask_slot(g, IDEM_CLAIM, true);
}

/*
 * A claim of ours that landed after all, and we are not to run.  Of one that
 * was taken over another had begun: that nothing was done would be untrue.
 */
static struct idem_effects
give_back(struct idem_gate *g, int64_t now_ms)
{
	enum idem_problem problem = g->waited ? IDEM_PROBLEM_RELEASED :
	    IDEM_PROBLEM_BUSY;

	if (g->taking)
		problem = IDEM_PROBLEM_IN_PROGRESS;
	return idem_gate_write_then(g, now_ms, idem_gate_claim_undo(g),
	    problem);
}

static struct idem_effects
won(struct idem_gate *g, const struct idem_event *ev)
{
	assert(!g->asked.look_only || ev->claim == IDEM_CLAIM_OURS);
	g->claimed = true;
	g->ghost = false;
	g->attempt = ev->attempt;
	if (g->asked.look_only)
		return give_back(g, ev->now_ms);
	if (g->asked.take_over && g->policy.on_unknown == IDEM_PROBING)
		return idem_gate_ask_program(g, IDEM_PROBE);
	return idem_gate_ask_program(g, IDEM_RUN);
}

/* Our completion was refused to us: what did the key's new owner store? */
static struct idem_effects
after_lost(struct idem_gate *g, const struct idem_event *ev)
{
	if (ev->claim != IDEM_CLAIM_COMPLETED || !ev->kept)
		return idem_gate_ask_refusal(g, IDEM_PROBLEM_LOST);
	idem_gate_write_caches(g);
	return idem_gate_claim_saved(g, true);
}

struct idem_effects
idem_gate_claim_on_claim(struct idem_gate *g, const struct idem_event *ev)
{
	if (g->claimed)
		return after_lost(g, ev);
	switch (ev->claim) {
	case IDEM_CLAIM_MISMATCH:
		return idem_gate_ask_refusal(g, IDEM_PROBLEM_MISMATCH);
	case IDEM_CLAIM_WITHHELD:
		return idem_gate_ask_refusal(g, IDEM_PROBLEM_WITHHELD);
	case IDEM_CLAIM_COMPLETED:
		idem_gate_write_caches(g);
		return idem_gate_claim_saved(g, ev->kept);
	case IDEM_CLAIM_EXPIRED:
		return idem_gate_ask_refusal(g, IDEM_PROBLEM_KEY_EXPIRED);
	case IDEM_CLAIM_IN_PROGRESS:
		note_record(g, ev);
		return in_progress(g, ev->now_ms);
	case IDEM_CLAIM_UNKNOWN:
		note_record(g, ev);
		return was_unknown(g, ev->now_ms);
	case IDEM_CLAIM_EXHAUSTED:
		note_record(g, ev);
		return idem_gate_ask_refusal(g, IDEM_PROBLEM_UNKNOWN);
	case IDEM_CLAIM_ABSENT:
		return absent(g, ev->now_ms);
	case IDEM_CLAIM_WON:
	case IDEM_CLAIM_OURS:
		return won(g, ev);
	case IDEM_CLAIM_LATE:
		return not_applied(g, ev->now_ms);
	case IDEM_CLAIM_HISTORY:
	case IDEM_CLAIM_NO_TOKEN:
		return idem_gate_ask_refusal(g, g->old ?
		    IDEM_PROBLEM_TOKEN_EXPIRED : IDEM_PROBLEM_VOID_TOKEN);
	case IDEM_CLAIM_BAD_RECORD:
		return away(g);
	case IDEM_CLAIM_MAYBE:
		/* It may hold us: never another store for this request. */
		g->ghost = true;
		return not_answered(g, ev->now_ms, false);
	case IDEM_CLAIM_REFUSED:
		return ev->no_space ? not_noted(g, ev->now_ms) :
		    not_answered(g, ev->now_ms, ev->away);
	case IDEM_CLAIMS:
		break;
	}
	abort();
}

static struct idem_effects
slot_full(struct idem_gate *g, const struct idem_event *ev)
{
	int64_t now_ms = ev->now_ms;

	/* To look would only show what a take-over or a ghost knows already. */
	if (g->asked.queued || g->then == IDEM_RUN || g->take_over || g->ghost)
		return not_now(g, ev->no_space ?
		    IDEM_PROBLEM_NO_SPACE : IDEM_PROBLEM_BUSY);
	return g->tries == 0 ? idem_gate_claim_anew(g, now_ms)
	    : idem_gate_ask_claim(g);
}

struct idem_effects
idem_gate_claim_on_slot(struct idem_gate *g, const struct idem_event *ev)
{
	switch (ev->slot) {
	case IDEM_SLOT_GOT:
		g->slot = true;
		if (g->then == IDEM_RUN)
			return idem_gate_ask_program(g, IDEM_RUN);
		/* Time in the queue is none of the store's. */
		return g->tries == 0 || g->asked.queued
		    ? idem_gate_claim_anew(g, ev->now_ms)
		    : idem_gate_ask_claim(g);
	case IDEM_SLOT_FULL:
		return slot_full(g, ev);
	}
	abort();
}
