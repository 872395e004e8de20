/* SPDX-License-Identifier: ISC */
#include "gate_world.h"

#include <stdlib.h>

#define LONG_MS 1000000		/* past any deadline of a test */

static void
give(struct gate_world *w, const struct idem_event *ev)
{
	if (w->n == GATE_WORLD_EVENTS_MAX)
		abort();
	w->ev[w->n++] = *ev;
}

static void
give_at(struct gate_world *w, struct idem_event ev, int64_t now_ms)
{
	ev.now_ms = now_ms;
	give(w, &ev);
}

/* At once (or when it is due), and after all deadlines, where there are any. */
static void
both(struct gate_world *w, struct idem_event ev, int64_t due_ms)
{
	give_at(w, ev, due_ms);
	give_at(w, ev, LONG_MS);
}

static void
give_admit(struct gate_world *w, enum idem_arbiter arbiter)
{
	struct idem_event ev = { .op = IDEM_ADMIT };

	ev.admit = IDEM_KEYED;
	give(w, &ev);
	if (arbiter == IDEM_ARBITER_TOKEN) {
		ev.old = true;
		give(w, &ev);
		ev.old = false;
	}
	ev.admit = IDEM_KEYLESS;
	give(w, &ev);
	ev.admit = IDEM_EXEMPT;
	give(w, &ev);
	ev.key_sent = true;
	give(w, &ev);
	ev.admit = IDEM_REFUSED;
	ev.problem = IDEM_PROBLEM_KEY_MALFORMED;
	give(w, &ev);
}

static void
give_look(struct gate_world *w, const struct idem_effect *asked)
{
	struct idem_event ev = { .op = IDEM_LOOK };

	ev.look = IDEM_LOOK_COMPLETED;
	give(w, &ev);
	ev.kept = true;
	give(w, &ev);
	ev.look = IDEM_LOOK_NOTHING;
	give(w, &ev);
	ev.look = IDEM_LOOK_UNSURE;
	give(w, &ev);
	if (asked->where == IDEM_AT_FALLBACK) {
		ev.look = IDEM_LOOK_KNOWN;
		both(w, ev, 0);
	}
	if (asked->where != IDEM_AT_LOCAL)
		return;
	ev.look = IDEM_LOOK_COMPLETED;
	ev.unprotected = true;
	give(w, &ev);
	ev.unprotected = false;
	ev.look = IDEM_LOOK_LED;
	both(w, ev, 0);
	ev.look = IDEM_LOOK_LED_MISMATCH;
	give(w, &ev);
	ev.look = IDEM_LOOK_LED_WITHHELD;
	give(w, &ev);
}

static void
give_slot(struct gate_world *w)
{
	struct idem_event ev = { .op = IDEM_SLOT };

	ev.slot = IDEM_SLOT_GOT;
	both(w, ev, 0);
	ev.slot = IDEM_SLOT_FULL;
	both(w, ev, 0);
}

/* What a store may say: store.h. */
static bool
may_say(enum idem_claim claim, const struct idem_effect *asked,
    const struct idem_gate *g)
{
	switch (claim) {
	case IDEM_CLAIM_WON:	/* with an old token it would be late */
		return !asked->look_only && !g->old;
	case IDEM_CLAIM_OURS:
		return !g->old;
	case IDEM_CLAIM_LATE:
		return !asked->look_only;
	case IDEM_CLAIM_EXHAUSTED:
		return asked->take_over;
	case IDEM_CLAIM_HISTORY:
	case IDEM_CLAIM_NO_TOKEN:
		return g->policy.arbiter == IDEM_ARBITER_TOKEN;
	case IDEM_CLAIM_MISMATCH:
	case IDEM_CLAIM_WITHHELD:
	case IDEM_CLAIM_COMPLETED:
	case IDEM_CLAIM_EXPIRED:
	case IDEM_CLAIM_IN_PROGRESS:
	case IDEM_CLAIM_UNKNOWN:
	case IDEM_CLAIM_ABSENT:
	case IDEM_CLAIM_BAD_RECORD:
	case IDEM_CLAIM_REFUSED:
	case IDEM_CLAIM_MAYBE:
		return true;
	case IDEM_CLAIMS:
		return false;
	}
	abort();
}

static void
give_record(struct gate_world *w, enum idem_claim claim)
{
	struct idem_event ev = { .op = IDEM_CLAIM };

	ev.claim = claim;
	for (ev.attempt = 1; ev.attempt <= 2; ev.attempt++) {
		ev.proof = IDEM_PROOF_NONE;
		both(w, ev, 0);
		ev.proof = IDEM_PROOF_LAPSED;
		both(w, ev, 0);
		ev.proof = IDEM_PROOF_DEAD;
		both(w, ev, 0);
		ev.proof = IDEM_PROOF_NOTHING;
		both(w, ev, 0);
		ev.proof = IDEM_PROOF_FINISHED;
		both(w, ev, 0);
	}
}

static void
give_claim(struct gate_world *w, const struct idem_effect *asked,
    const struct idem_gate *g)
{
	struct idem_event ev = { .op = IDEM_CLAIM, .attempt = 1 };

	for (ev.claim = 0; ev.claim < IDEM_CLAIMS; ev.claim++) {
		if (!may_say(ev.claim, asked, g))
			continue;
		ev.kept = true;
		if (ev.claim == IDEM_CLAIM_IN_PROGRESS ||
		    ev.claim == IDEM_CLAIM_UNKNOWN)
			give_record(w, ev.claim);
		else
			both(w, ev, 0);
		ev.kept = false;
		if (ev.claim == IDEM_CLAIM_COMPLETED)
			give(w, &ev);
		ev.away = true;
		if (ev.claim == IDEM_CLAIM_REFUSED)
			give(w, &ev);
		ev.away = false;
	}
	ev.claim = IDEM_CLAIM_REFUSED;
	ev.no_space = true;
	if (!asked->look_only)
		both(w, ev, 0);
}

static void
give_run(struct gate_world *w)
{
	struct idem_event ev = { .op = IDEM_RUN };

	ev.run = IDEM_RUN_FINISHED;
	give(w, &ev);
	ev.kept = true;
	give(w, &ev);
	ev.nothing = true;
	give(w, &ev);
	ev.nothing = false;
	ev.run = IDEM_RUN_NOT_STARTED;
	ev.problem = IDEM_PROBLEM_NO_PROGRAM;
	give(w, &ev);
	ev.run = IDEM_RUN_CUT;
	ev.problem = IDEM_PROBLEM_DIED;
	give(w, &ev);
}

static void
give_probe(struct gate_world *w)
{
	struct idem_event ev = { .op = IDEM_PROBE, .kept = true };

	ev.probed = IDEM_HAPPENED;
	give(w, &ev);
	ev.probed = IDEM_DID_NOT;
	give(w, &ev);
	ev.probed = IDEM_PROBE_UNKNOWN;
	give(w, &ev);
}

static void
give_write(struct gate_world *w, enum idem_op op)
{
	struct idem_event ev = { .op = op };

	ev.write = IDEM_WRITTEN;
	both(w, ev, 0);
	ev.write = IDEM_WRITE_REFUSED;
	both(w, ev, 0);
	if (op == IDEM_RECORD)
		return;
	ev.write = IDEM_WRITE_LOST;
	both(w, ev, 0);
	ev.write = IDEM_WRITE_MAYBE;
	both(w, ev, 0);
}

static void
give_wait(struct gate_world *w, const struct idem_effect *asked)
{
	struct idem_event ev = { .op = IDEM_WAIT };

	ev.waited = IDEM_WAIT_OVER;
	both(w, ev, asked->wait_ms);
	if (!asked->for_key)
		return;
	for (ev.waited = IDEM_WOKEN_COMPLETED;
	    ev.waited <= IDEM_WOKEN_UNSURE; ev.waited++)
		both(w, ev, 1);		/* nobody wakes in no time */
}

static void
give_renew(struct gate_world *w, const struct gate_witness *s)
{
	struct idem_event ev = { .op = IDEM_RENEW };

	ev.renew = IDEM_RENEWED;
	give_at(w, ev, 1);
	ev.renew = IDEM_RENEW_MAYBE;
	give_at(w, ev, 1);
	ev.renew = IDEM_RENEW_LOST;
	give(w, &ev);
	ev.renew = IDEM_RENEW_STOPPED;
	if (s->beside != s->main_out)
		give(w, &ev);
}

static void
give_plain(struct gate_world *w, enum idem_op op)
{
	struct idem_event ev = { .op = op };

	give(w, &ev);
}

void
gate_world_answers(const struct idem_gate *g, const struct gate_witness *s,
    struct gate_world *w)
{
	const struct idem_effect *asked = &g->asked;

	w->n = 0;
	if (s->renew_out)
		give_renew(w, s);
	switch ((enum idem_op)s->main_out) {
	case IDEM_ADMIT:
		give_admit(w, g->policy.arbiter);
		break;
	case IDEM_LOOK:
		give_look(w, asked);
		break;
	case IDEM_SLOT:
		give_slot(w);
		break;
	case IDEM_CLAIM:
		give_claim(w, asked, g);
		break;
	case IDEM_RUN:
		give_run(w);
		break;
	case IDEM_PROBE:
		give_probe(w);
		break;
	case IDEM_COMPLETE:
	case IDEM_RELEASE:
	case IDEM_MARK_UNKNOWN:
	case IDEM_RECORD:
		give_write(w, asked->op);
		break;
	case IDEM_WAIT:
		give_wait(w, asked);
		break;
	case IDEM_CACHE:
	case IDEM_REPLY:
		give_plain(w, asked->op);
		break;
	case IDEM_END:		/* none outstanding: over, or a RENEW is */
	case IDEM_RENEW:
	case IDEM_GONE:
	case IDEM_OPS:
		break;
	}
}
