/* SPDX-License-Identifier: ISC */
#include "gate_witness.h"

#include <stddef.h>

/* --- promises ------------------------------------------------------------- */

static void
must(struct gate_witness *s, bool holds, const char *what)
{
	if (!holds && s->broken == NULL)
		s->broken = what;
}

static bool
says_not_started(enum idem_problem p)
{
	return p >= IDEM_PROBLEM_STORE_AWAY && p <= IDEM_PROBLEM_TOO_MUCH_BODY;
}

static bool
says_unsure(enum idem_problem p)
{
	return p >= IDEM_PROBLEM_DIED && p <= IDEM_PROBLEM_UNRECORDED;
}

static void
see_problem(struct gate_witness *s, const struct idem_effect *fx)
{
	enum idem_problem p = fx->problem;

	must(s, p != IDEM_PROBLEM_NONE, "a problem has a name");
	must(s, !s->won || !s->taking || s->runs > 0 || !says_not_started(p),
	    "who gives back what it took over does not say that nothing was "
	    "done");
	if (s->release_lost)
		must(s, p == IDEM_PROBLEM_IN_PROGRESS,
		    "a key that is another's may be in progress there");
	else if (s->runs > 0 && s->not_started)
		must(s, says_not_started(p),
		    "a run that did not start is said not to have started");
	else if (s->runs > 0)
		must(s, says_unsure(p),
		    "after a start a problem is 502 or 504");
	else if (s->probed && s->ended_whole)
		must(s, p == IDEM_PROBLEM_LOST,
		    "a probe's answer is kept from the client only if lost");
	must(s, s->won || !s->shown || !says_not_started(p) ||
	    s->shown_proof == IDEM_PROOF_NOTHING,
	    "who has seen that a key was begun does not say that nothing was "
	    "done");
	must(s, p != IDEM_PROBLEM_NOT_KEPT || s->not_kept,
	    "not kept means that a store said so");
	must(s, p != IDEM_PROBLEM_UNRECORDED || (s->ended_whole &&
	    !s->complete_written), "unrecorded means that nothing was written");
	must(s, p != IDEM_PROBLEM_LOST || s->complete_lost || s->lease_lost,
	    "lost means that the key was lost");
}

static void
see_answer(const struct idem_gate *g, struct gate_witness *s,
    const struct idem_effect *fx)
{
	switch (fx->mark) {
	case IDEM_SAYS_STORED:
	case IDEM_SAYS_STORED_WITHOUT_BODY:
		must(s, s->complete_written && !s->elsewhere,
		    "stored means that the arbiter has it");
		break;
	case IDEM_SAYS_REPLAYED:
		must(s, s->saved_at_hand && fx->body == IDEM_BODY_SAVED &&
		    !s->stand_in, "replayed is what the arbiter, or its cache, "
		    "gave");
		break;
	case IDEM_SAYS_UNRECORDED:
		must(s, !s->complete_written && s->ended_whole &&
		    g->policy.on_unknown != IDEM_RETRY,
		    "an unrecorded answer is sent only where nobody reruns");
		break;
	case IDEM_SAYS_RELEASED:
		must(s, s->nothing && s->runs == 1 && !s->complete_written,
		    "released means that a whole answer said so");
		break;
	case IDEM_SAYS_UNPROTECTED:
		must(s, s->ran_off || s->stand_in ||
		    (s->won && s->won_at != IDEM_AT_ARBITER),
		    "unprotected means without the arbiter");
		break;
	case IDEM_SAYS_NONE:
	case IDEM_SAYS_IGNORED:
		must(s, fx->body == IDEM_BODY_PASSED,
		    "only what was passed through has no mark of ours");
		break;
	case IDEM_SAYS_REJECTED:
	case IDEM_SAYS_MISMATCH:
	case IDEM_SAYS_WITHHELD:
	case IDEM_SAYS_IN_PROGRESS:
	case IDEM_SAYS_UNKNOWN:
	case IDEM_SAYS_VOID_TOKEN:
	case IDEM_SAYS_EXPIRED:
	case IDEM_SAYS_NOT_STARTED:
	case IDEM_SAYS_NOT_KEPT:
	case IDEM_SAYS_COUNT:
		must(s, false, "a mark of a problem is the problem's");
	}
	must(s, fx->body != IDEM_BODY_FRESH || (s->runs == 1 && s->ended_whole),
	    "a fresh answer is whole");
}

static void
see_reply(const struct idem_gate *g, struct gate_witness *s,
    const struct idem_effect *fx)
{
	must(s, s->replies == 0, "there is one reply");
	s->replies++;
	if (fx->body == IDEM_BODY_PROBLEM)
		see_problem(s, fx);
	else
		see_answer(g, s, fx);
}

static void
see_claim(const struct idem_gate *g, struct gate_witness *s,
    const struct idem_effect *fx)
{
	must(s, s->replies == 0, "nothing is claimed after the reply");
	must(s, fx->look_only || s->slot, "a claim that may win holds a slot");
	must(s, fx->look_only || !s->waiter, "a waiter only looks");
	must(s, !s->won || (fx->look_only &&
	    (s->complete_lost || s->lease_lost)),
	    "who has won claims no more");
	must(s, !s->maybe || fx->where == s->maybe_at,
	    "a maybe never leads to another store");
	must(s, fx->where == IDEM_AT_ARBITER ||
	    (g->policy.arbiter == IDEM_ARBITER_REDIS &&
	    g->policy.on_outage != IDEM_REJECT &&
	    g->policy.on_outage != IDEM_PASS),
	    "a stand-in is asked by choice only");
	must(s, !s->unnoted || s->elsewhere || fx->where == IDEM_AT_ARBITER,
	    "a claim that could not be noted is no outage");
	if (fx->where != IDEM_AT_ARBITER)
		must(s, fx->look_only || !s->shown || s->elsewhere,
		    "a key that the arbiter has shown runs nowhere else");
	s->elsewhere = s->elsewhere || fx->where != IDEM_AT_ARBITER;
	s->taking = s->taking || fx->take_over;
	s->take_over = fx->take_over;
	if (fx->take_over)
		must(s, !fx->look_only &&
		    s->shown_proof == IDEM_PROOF_DEAD &&
		    g->policy.on_unknown != IDEM_BLOCK,
		    "a take-over has proof of death and is not under block");
}

static void
see_run(const struct idem_gate *g, struct gate_witness *s,
    const struct idem_effect *fx)
{
	s->runs++;
	must(s, !s->old, "a token past its life starts nothing");
	must(s, s->runs == 1, "one request starts one run at most");
	must(s, !s->waiter, "a waiter never runs");
	must(s, s->slot, "a run holds a slot");
	must(s, s->replies == 0, "nothing runs after the reply");
	must(s, !s->lease_lost, "what was lost does not run");
	must(s, !s->taken || g->policy.on_unknown == IDEM_RETRY ||
	    (g->policy.on_unknown == IDEM_PROBING && s->probed &&
	    !s->ended_whole && !s->probe_unsure),
	    "a taken key runs under retry, or on a probe's word");
	must(s, fx->unprotected == (s->elsewhere || !s->won) || fx->unkeyed,
	    "a run without the arbiter is said to be so");
	if (!s->won && !fx->unkeyed)
		must(s, g->policy.on_outage == IDEM_PASS && !s->maybe &&
		    !s->shown && g->policy.arbiter == IDEM_ARBITER_REDIS,
		    "a run without a claim is by choice, and never after a "
		    "maybe");
	must(s, !s->unnoted || fx->unkeyed,
	    "what could not be noted does not run");
	s->ran_off = !s->won;
}

static void
see_write(const struct idem_gate *g, struct gate_witness *s,
    const struct idem_effect *fx)
{
	if (fx->others) {
		must(s, s->replies == 0 && !s->won && s->shown,
		    "only a record that was seen is written for another");
		must(s, fx->op != IDEM_COMPLETE ||
		    s->shown_proof == IDEM_PROOF_FINISHED,
		    "another's is completed only with its answer at hand");
		must(s, fx->op != IDEM_RELEASE ||
		    s->shown_proof == IDEM_PROOF_NOTHING,
		    "another's is released only if nothing happened");
		return;
	}
	must(s, fx->background == (s->replies > 0),
	    "a write behind the reply says so");
	must(s, s->won || (s->maybe && s->replies > 0 &&
	    fx->op != IDEM_COMPLETE), "who writes has claimed");
	must(s, fx->where == (s->won ? s->won_at : s->maybe_at),
	    "what is written goes where it was claimed");
	if (fx->op == IDEM_COMPLETE)
		must(s, s->ended_whole && !s->nothing,
		    "only a whole answer is completed");
	if (fx->op == IDEM_RELEASE)
		must(s, s->runs == 0 || s->not_started || s->nothing,
		    "nothing that may have run is released");
	if (fx->op == IDEM_RELEASE && g->policy.on_unknown == IDEM_PROBING)
		must(s, !s->taking || s->not_started || s->nothing,
		    "what only a probe may free is not released");
	if (fx->op == IDEM_MARK_UNKNOWN)
		must(s, s->cut || s->probe_unsure ||
		    g->policy.on_unknown == IDEM_PROBING,
		    "only what may have run is marked unknown");
}

static void
see_end(struct gate_witness *s)
{
	must(s, s->replies == 1, "END comes after a reply");
	must(s, !s->renew_out, "END comes after the last RENEW");
	s->end = true;
}

static void
see_main(const struct idem_gate *g, struct gate_witness *s,
    const struct idem_effect *fx)
{
	must(s, s->main_out == IDEM_END,
	    "one main effect is outstanding at most");
	must(s, !s->end, "END is last");
	s->main_out = (uint8_t)fx->op;
	if (fx->op != IDEM_CLAIM && fx->op != IDEM_PROBE && fx->op != IDEM_RUN)
		s->slot = false;
	switch (fx->op) {
	case IDEM_LOOK:
	case IDEM_SLOT:
		must(s, s->replies == 0 && s->runs == 0,
		    "nothing is looked for after a run or the reply");
		break;
	case IDEM_WAIT:
		must(s, fx->wait_ms > 0, "a wait takes time");
		must(s, !fx->for_key || (s->replies == 0 && !s->won),
		    "who has claimed waits for nobody");
		s->waiter = s->waiter || fx->for_key;
		break;
	case IDEM_CLAIM:
		see_claim(g, s, fx);
		break;
	case IDEM_RUN:
		see_run(g, s, fx);
		break;
	case IDEM_PROBE:
		must(s, s->taken && s->slot && !s->probed && s->runs == 0 &&
		    g->policy.on_unknown == IDEM_PROBING,
		    "a probe is asked once, about what was taken over");
		s->probed = true;
		break;
	case IDEM_COMPLETE:
	case IDEM_RELEASE:
	case IDEM_MARK_UNKNOWN:
		see_write(g, s, fx);
		break;
	case IDEM_RECORD:
		must(s, g->policy.journal && s->ended_whole && s->runs == 1 &&
		    !s->recorded, "a whole run is recorded once");
		s->recorded = true;
		break;
	case IDEM_CACHE:
		must(s, s->replies == 1 && (s->complete_written ||
		    s->saved_at_hand || s->not_kept),
		    "only what a store has is cached");
		must(s, !s->stand_in && (!s->complete_written ||
		    s->won_at == IDEM_AT_ARBITER),
		    "what no arbiter permitted is not cached");
		must(s, fx->where == IDEM_AT_LOCAL || (g->policy.look_redis &&
		    g->policy.arbiter == IDEM_ARBITER_LEDGER),
		    "Redis is a cache only beside a ledger");
		break;
	case IDEM_REPLY:
		see_reply(g, s, fx);
		break;
	case IDEM_END:
		see_end(s);
		s->main_out = IDEM_END;
		break;
	case IDEM_ADMIT:
	case IDEM_RENEW:
	case IDEM_GONE:
	case IDEM_OPS:
		must(s, false, "an event is no effect");
	}
}

void
gate_witness_see(struct gate_witness *s, const struct idem_gate *g,
    const struct idem_effects *all)
{
	unsigned i;

	must(s, all->n <= 2, "there are two effects at most");
	for (i = 0; i < all->n; i++) {
		if (all->fx[i].op != IDEM_RENEW) {
			see_main(g, s, &all->fx[i]);
			continue;
		}
		must(s, !s->renew_out, "one RENEW is outstanding at most");
		must(s, s->won && (s->main_out == IDEM_RUN ||
		    s->main_out == IDEM_PROBE),
		    "a lease is renewed only beside a run of ours");
		must(s, all->fx[i].where == s->won_at && !s->lease_lost,
		    "a lease is renewed where it is, while it is ours");
		s->renew_out = true;
		s->beside = s->main_out;
	}
	must(s, s->end || s->main_out != IDEM_END || s->renew_out,
	    "something is outstanding until END");
	s->unnoted = false;
}

/* --- what a witness sees of events ---------------------------------------- */

static void
hear_claim(struct gate_witness *s, const struct idem_event *ev,
    const struct idem_effect *asked)
{
	if (ev->claim == IDEM_CLAIM_WON || ev->claim == IDEM_CLAIM_OURS) {
		s->won = true;
		s->won_at = (uint8_t)asked->where;
		s->taken = s->taken || s->take_over;
	}
	if (ev->claim == IDEM_CLAIM_COMPLETED) {
		s->saved_at_hand = ev->kept;
		s->not_kept = !ev->kept;
		s->stand_in = asked->where != IDEM_AT_ARBITER;
	}
	if (ev->claim == IDEM_CLAIM_IN_PROGRESS ||
	    ev->claim == IDEM_CLAIM_UNKNOWN) {
		s->shown_proof = (uint8_t)ev->proof;
		s->shown = true;
	}
	/* Late: it would have been had. */
	if ((ev->claim == IDEM_CLAIM_ABSENT || ev->claim == IDEM_CLAIM_LATE) &&
	    !asked->take_over)
		s->shown_proof = IDEM_PROOF_NOTHING;
	s->unnoted = ev->claim == IDEM_CLAIM_REFUSED && ev->no_space;
	if (ev->claim == IDEM_CLAIM_MAYBE) {
		s->maybe = true;
		s->maybe_at = (uint8_t)asked->where;
	}
	s->take_over = false;
}

void
gate_witness_hear(struct gate_witness *s, const struct idem_event *ev,
    const struct idem_effect *asked)
{
	if (ev->op == IDEM_RENEW) {
		s->renew_out = false;
		s->lease_lost = s->lease_lost || ev->renew == IDEM_RENEW_LOST;
		return;
	}
	s->main_out = IDEM_END;
	if (ev->op == IDEM_LOOK && ev->look == IDEM_LOOK_COMPLETED) {
		s->saved_at_hand = ev->kept;
		s->not_kept = !ev->kept;
		s->stand_in = ev->unprotected ||
		    asked->where == IDEM_AT_FALLBACK;
	}
	if (ev->op == IDEM_ADMIT)
		s->old = ev->old;
	if (ev->op == IDEM_SLOT)
		s->slot = ev->slot == IDEM_SLOT_GOT;
	if (ev->op == IDEM_CLAIM)
		hear_claim(s, ev, asked);
	if (ev->op == IDEM_RUN) {
		s->ended_whole = ev->run == IDEM_RUN_FINISHED;
		s->nothing = s->ended_whole && ev->nothing;
		s->not_started = ev->run == IDEM_RUN_NOT_STARTED;
		s->cut = ev->run == IDEM_RUN_CUT;
	}
	if (ev->op == IDEM_PROBE) {
		s->ended_whole = ev->probed == IDEM_HAPPENED;
		s->probe_unsure = ev->probed == IDEM_PROBE_UNKNOWN;
	}
	if (ev->op == IDEM_WAIT && ev->waited == IDEM_WOKEN_RELEASED)
		s->shown_proof = IDEM_PROOF_NOTHING;
	if (ev->op == IDEM_RELEASE && !asked->others)
		s->release_lost = ev->write == IDEM_WRITE_LOST;
	if (ev->op == IDEM_COMPLETE && !asked->others) {
		s->complete_written = ev->write == IDEM_WRITTEN;
		s->complete_lost = ev->write == IDEM_WRITE_LOST;
	}
}
