/* SPDX-License-Identifier: ISC */
#include "gate_steps.h"

#include <assert.h>
#include <stdlib.h>

bool
idem_gate_write_redis_caches(const struct idem_gate *g)
{
	return g->policy.look_redis &&
	    g->policy.arbiter == IDEM_ARBITER_LEDGER;
}

static struct idem_effects
write_first(struct idem_gate *g, int64_t now_ms, enum idem_op op)
{
	assert(g->claimed);
	idem_gate_ask_begin(g, now_ms, g->policy.complete_ms);
	return idem_gate_ask_write(g, op);
}

struct idem_effects
idem_gate_write_then(struct idem_gate *g, int64_t now_ms, enum idem_op op,
    enum idem_problem problem)
{
	g->after = problem;
	return write_first(g, now_ms, op);
}

/* What is left after the REPLY, one thing a call. */
static struct idem_effects
aftermath(struct idem_gate *g, int64_t now_ms)
{
	if (g->cache_local) {
		g->cache_local = false;
		return idem_gate_ask_cache(g, IDEM_AT_LOCAL);
	}
	if (g->cache_redis) {
		g->cache_redis = false;
		return idem_gate_ask_cache(g, IDEM_AT_REDIS);
	}
	if (g->pending != IDEM_END) {
		idem_gate_ask_begin(g, now_ms, g->policy.background_ms);
		return idem_gate_ask_write(g, g->pending);
	}
	return idem_gate_ask_end(g);
}

/* What no arbiter has permitted is nobody's but its stand-in's. */
void
idem_gate_write_caches(struct idem_gate *g)
{
	g->cache_local = !g->unprotected;
	g->cache_redis = !g->unprotected && idem_gate_write_redis_caches(g);
}

static struct idem_effects
reply_own(struct idem_gate *g, enum idem_mark mark)
{
	return idem_gate_ask_reply(g,
	    g->probed ? IDEM_BODY_SAVED : IDEM_BODY_FRESH, mark);
}

static enum idem_mark
recorded(const struct idem_gate *g)
{
	if (g->unprotected)
		return IDEM_SAYS_UNPROTECTED;
	return g->kept ? IDEM_SAYS_STORED : IDEM_SAYS_STORED_WITHOUT_BODY;
}

/*
 * Nothing durable took our answer in time.  Where nobody else may run, it is
 * still the only one; where others may, theirs could be the one that is kept.
 */
static struct idem_effects
reply_unrecorded(struct idem_gate *g)
{
	switch (g->policy.on_unknown) {
	case IDEM_BLOCK:
	case IDEM_PROBING:
		return reply_own(g, IDEM_SAYS_UNRECORDED);
	case IDEM_RETRY:
		return idem_gate_ask_refusal(g, IDEM_PROBLEM_UNRECORDED);
	}
	abort();
}

/* The key is given back, or nobody will know what became of it. */
static struct idem_effects
reply_uncompleted(struct idem_gate *g)
{
	if (g->after == IDEM_PROBLEM_NONE)
		return reply_own(g, IDEM_SAYS_RELEASED);
	return idem_gate_ask_refusal(g, g->after);
}

static struct idem_effects
written(struct idem_gate *g)
{
	if (g->asked.op != IDEM_COMPLETE)
		return reply_uncompleted(g);
	idem_gate_write_caches(g);
	return reply_own(g, recorded(g));
}

/*
 * What did not run here may run where the key is now: that nothing was done
 * would be untrue.
 */
static struct idem_effects
lost(struct idem_gate *g, int64_t now_ms)
{
	if (g->asked.op == IDEM_COMPLETE)
		return idem_gate_claim_anew(g, now_ms);
	if (g->asked.op == IDEM_RELEASE && g->after != IDEM_PROBLEM_NONE)
		return idem_gate_ask_refusal(g, IDEM_PROBLEM_IN_PROGRESS);
	return reply_uncompleted(g);
}

static struct idem_effects
give_up(struct idem_gate *g)
{
	g->pending = g->asked.op;
	if (g->asked.op != IDEM_COMPLETE)
		return reply_uncompleted(g);
	return reply_unrecorded(g);
}

/* In the background: written, not ours any more, or too late. */
static struct idem_effects
settled(struct idem_gate *g, const struct idem_event *ev)
{
	g->pending = IDEM_END;
	if (ev->op == IDEM_COMPLETE && ev->write == IDEM_WRITTEN)
		idem_gate_write_caches(g);
	return aftermath(g, ev->now_ms);
}

struct idem_effects
idem_gate_write_on_written(struct idem_gate *g, const struct idem_event *ev)
{
	switch (ev->write) {
	case IDEM_WRITTEN:
		return g->replied ? settled(g, ev) : written(g);
	case IDEM_WRITE_LOST:
		return g->replied ? settled(g, ev) : lost(g, ev->now_ms);
	case IDEM_WRITE_REFUSED:
	case IDEM_WRITE_MAYBE:
		if (ev->now_ms < g->deadline_ms)
			return idem_gate_ask_pause(g, ev->now_ms, ev->op);
		return g->replied ? settled(g, ev) : give_up(g);
	}
	abort();
}

/* A run that nobody claimed: it is over, and nothing is to be written. */
static struct idem_effects
unclaimed(struct idem_gate *g, const struct idem_event *ev)
{
	switch (ev->run) {
	case IDEM_RUN_FINISHED:
		if (!g->unkeyed)
			return idem_gate_ask_reply(g, IDEM_BODY_FRESH,
			    IDEM_SAYS_UNPROTECTED);
		return idem_gate_ask_reply(g, IDEM_BODY_PASSED,
		    g->ignored ? IDEM_SAYS_IGNORED : IDEM_SAYS_NONE);
	case IDEM_RUN_NOT_STARTED:
	case IDEM_RUN_CUT:
		return idem_gate_ask_refusal(g, ev->problem);
	}
	abort();
}

struct idem_effects
idem_gate_write_on_run(struct idem_gate *g, const struct idem_event *ev)
{
	if (!g->claimed)
		return unclaimed(g, ev);
	switch (ev->run) {
	case IDEM_RUN_FINISHED:
		g->kept = ev->kept;
		if (ev->nothing)
			return idem_gate_write_then(g, ev->now_ms,
			    IDEM_RELEASE, IDEM_PROBLEM_NONE);
		if (g->policy.journal)
			return idem_gate_ask_record(g);
		return write_first(g, ev->now_ms, IDEM_COMPLETE);
	case IDEM_RUN_NOT_STARTED:
		return idem_gate_write_then(g, ev->now_ms, IDEM_RELEASE,
		    ev->problem);
	case IDEM_RUN_CUT:
		return idem_gate_write_then(g, ev->now_ms, IDEM_MARK_UNKNOWN,
		    ev->problem);
	}
	abort();
}

struct idem_effects
idem_gate_write_on_probe(struct idem_gate *g, const struct idem_event *ev)
{
	switch (ev->probed) {
	case IDEM_HAPPENED:
		g->kept = ev->kept;
		g->probed = true;
		return write_first(g, ev->now_ms, IDEM_COMPLETE);
	case IDEM_DID_NOT:
		/* The probe took its time, and somebody took the key. */
		if (g->lost) {
			g->slot = false;
			return idem_gate_claim_anew(g, ev->now_ms);
		}
		return idem_gate_ask_program(g, IDEM_RUN);
	case IDEM_PROBE_UNKNOWN:
		return idem_gate_write_then(g, ev->now_ms, IDEM_MARK_UNKNOWN,
		    IDEM_PROBLEM_UNKNOWN);
	}
	abort();
}

/* The journal is a second net: without it the store decides all the same. */
struct idem_effects
idem_gate_write_on_record(struct idem_gate *g, const struct idem_event *ev)
{
	return write_first(g, ev->now_ms, IDEM_COMPLETE);
}

/* A client that has left (IDEM_NOBODY) changes nothing of what is to do. */
struct idem_effects
idem_gate_write_on_reply(struct idem_gate *g, const struct idem_event *ev)
{
	if (g->ghost) {
		g->ghost = false;
		g->pending = idem_gate_claim_undo(g);
	}
	return aftermath(g, ev->now_ms);
}

struct idem_effects
idem_gate_write_on_cache(struct idem_gate *g, const struct idem_event *ev)
{
	return aftermath(g, ev->now_ms);
}
