/* SPDX-License-Identifier: ISC */
#include "idem.h"

#include "gate_steps.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const struct idem_policy idem_policy_default = IDEM_POLICY_DEFAULT;

static struct idem_effects
on_admit(struct idem_gate *g, const struct idem_event *ev)
{
	g->old = ev->old;
	switch (ev->admit) {
	case IDEM_KEYED:
		return idem_gate_ask_look(g, IDEM_AT_LOCAL);
	case IDEM_KEYLESS:
		if (g->policy.required)
			return idem_gate_ask_refusal(g,
			    IDEM_PROBLEM_KEY_MISSING);
		g->unkeyed = true;
		return idem_gate_ask_slot(g, IDEM_RUN, true);
	case IDEM_EXEMPT:
		g->unkeyed = true;
		g->ignored = ev->key_sent;
		return idem_gate_ask_slot(g, IDEM_RUN, true);
	case IDEM_REFUSED:
		return idem_gate_ask_refusal(g, ev->problem);
	}
	abort();
}

static struct idem_effects
claim_next(struct idem_gate *g, int64_t now_ms)
{
	if (g->waited)
		return idem_gate_claim_anew(g, now_ms);
	return idem_gate_ask_slot(g, IDEM_CLAIM, false);
}

static struct idem_effects
look_further(struct idem_gate *g, int64_t now_ms)
{
	enum idem_where here = g->asked.where;

	if (here == IDEM_AT_LOCAL && idem_gate_write_redis_caches(g))
		return idem_gate_ask_look(g, IDEM_AT_REDIS);
	if (here != IDEM_AT_FALLBACK && g->policy.look_fallback &&
	    g->claim_at == IDEM_AT_ARBITER && !g->ghost)
		return idem_gate_ask_look(g, IDEM_AT_FALLBACK);
	return claim_next(g, now_ms);
}

/* What was begun at a stand-in is decided there, though the arbiter is back. */
static struct idem_effects
known_to_fallback(struct idem_gate *g, int64_t now_ms)
{
	assert(g->asked.where == IDEM_AT_FALLBACK);
	g->unprotected = true;
	g->claim_at = IDEM_AT_FALLBACK;
	return claim_next(g, now_ms);
}

static struct idem_effects
on_look(struct idem_gate *g, const struct idem_event *ev)
{
	bool local = g->asked.where == IDEM_AT_LOCAL;

	switch (ev->look) {
	case IDEM_LOOK_COMPLETED:
		g->unprotected = ev->unprotected ||
		    g->asked.where == IDEM_AT_FALLBACK;
		g->cache_local = !local && !g->unprotected;
		return idem_gate_claim_saved(g, ev->kept);
	case IDEM_LOOK_NOTHING:
	case IDEM_LOOK_UNSURE:
		return look_further(g, ev->now_ms);
	case IDEM_LOOK_KNOWN:
		return known_to_fallback(g, ev->now_ms);
	case IDEM_LOOK_LED:
		assert(local);
		return idem_gate_claim_taken(g, ev->now_ms);
	case IDEM_LOOK_LED_MISMATCH:
		assert(local);
		return idem_gate_ask_refusal(g, IDEM_PROBLEM_MISMATCH);
	case IDEM_LOOK_LED_WITHHELD:
		assert(local);
		return idem_gate_ask_refusal(g, IDEM_PROBLEM_WITHHELD);
	}
	abort();
}

static struct idem_effects
after_pause(struct idem_gate *g)
{
	if (g->then != IDEM_CLAIM)
		return idem_gate_ask_write(g, g->then);
	if (g->waited)
		return idem_gate_ask_claim(g);
	return idem_gate_ask_slot(g, IDEM_CLAIM, false);
}

static struct idem_effects
on_wait(struct idem_gate *g, const struct idem_event *ev)
{
	if (!g->asked.for_key)
		return after_pause(g);
	switch (ev->waited) {
	case IDEM_WAIT_OVER:
		return idem_gate_ask_refusal(g, IDEM_PROBLEM_IN_PROGRESS);
	case IDEM_WOKEN_COMPLETED:
	case IDEM_WOKEN_UNSURE:
		return idem_gate_ask_look(g, IDEM_AT_LOCAL);
	case IDEM_WOKEN_RELEASED:
		return idem_gate_ask_refusal(g, IDEM_PROBLEM_RELEASED);
	case IDEM_WOKEN_UNKNOWN:
		return idem_gate_ask_refusal(g, IDEM_PROBLEM_UNKNOWN);
	}
	abort();
}

static struct idem_effects
on_written(struct idem_gate *g, const struct idem_event *ev)
{
	return g->asked.others ? idem_gate_claim_on_others(g, ev)
	    : idem_gate_write_on_written(g, ev);
}

static struct idem_effects
not_renewing(struct idem_gate *g)
{
	return g->awaiting == IDEM_END ? idem_gate_ask_end(g)
	    : idem_gate_ask_nothing();
}

static struct idem_effects
on_renew(struct idem_gate *g, const struct idem_event *ev)
{
	bool running = g->awaiting == IDEM_RUN || g->awaiting == IDEM_PROBE;

	g->renewing = false;
	switch (ev->renew) {
	case IDEM_RENEWED:
	case IDEM_RENEW_STOPPED:	/* with a probe, and now it runs */
		if (running)
			return idem_gate_ask_renew(g, g->policy.lease_ms / 3);
		return not_renewing(g);
	case IDEM_RENEW_MAYBE:
		if (running)
			return idem_gate_ask_renew(g, g->policy.lease_ms / 12);
		return not_renewing(g);
	case IDEM_RENEW_LOST:
		g->lost = true;
		return not_renewing(g);
	}
	abort();
}

static struct idem_effects
on_gone(struct idem_gate *g, const struct idem_event *ev)
{
	(void)ev;
	g->gone = true;
	return idem_gate_ask_nothing();
}

void
idem_gate_init(struct idem_gate *g, const struct idem_policy *policy)
{
	memset(g, 0, sizeof *g);
	memcpy(&g->policy, policy, sizeof g->policy);
	g->awaiting = IDEM_ADMIT;
	g->pending = IDEM_END;
	g->claim_at = IDEM_AT_ARBITER;
}

void
idem_gate_hurry(struct idem_gate *g)
{
	if (g->replied)
		g->deadline_ms = 0;
}

static bool
expected(const struct idem_gate *g, enum idem_op op)
{
	if (g->ended || op >= IDEM_END)
		return false;
	if (op == IDEM_GONE)
		return true;
	return op == IDEM_RENEW ? g->renewing : op == g->awaiting;
}

struct idem_effects
idem_gate_step(struct idem_gate *g, const struct idem_event *ev)
{
	static idem_gate_on *const on[IDEM_END] = {
		[IDEM_ADMIT] = on_admit,
		[IDEM_LOOK] = on_look,
		[IDEM_SLOT] = idem_gate_claim_on_slot,
		[IDEM_CLAIM] = idem_gate_claim_on_claim,
		[IDEM_RUN] = idem_gate_write_on_run,
		[IDEM_RENEW] = on_renew,
		[IDEM_COMPLETE] = on_written,
		[IDEM_RELEASE] = on_written,
		[IDEM_MARK_UNKNOWN] = on_written,
		[IDEM_RECORD] = idem_gate_write_on_record,
		[IDEM_CACHE] = idem_gate_write_on_cache,
		[IDEM_PROBE] = idem_gate_write_on_probe,
		[IDEM_WAIT] = on_wait,
		[IDEM_REPLY] = idem_gate_write_on_reply,
		[IDEM_GONE] = on_gone,
	};

	assert(expected(g, ev->op));
	return on[ev->op](g, ev);
}
