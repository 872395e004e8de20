/* SPDX-License-Identifier: ISC */
#include "gate_steps.h"

#include <assert.h>
#include <string.h>

/* Pauses double from the first to the last. */
#define CLAIM_PAUSE_MS 10
#define CLAIM_PAUSE_MAX_MS 80
#define WRITE_PAUSE_MS 50
#define WRITE_PAUSE_MAX_MS 5000

#define MS_PER_S 1000

static struct idem_effects
ask(struct idem_gate *g, const struct idem_effect *fx)
{
	struct idem_effects all;

	g->awaiting = fx->op;
	g->asked = *fx;
	if (fx->op != IDEM_CLAIM && fx->op != IDEM_PROBE && fx->op != IDEM_RUN)
		g->slot = false;
	memset(&all, 0, sizeof all);
	all.fx[all.n++] = *fx;
	return all;
}

struct idem_effects
idem_gate_ask_nothing(void)
{
	struct idem_effects all;

	memset(&all, 0, sizeof all);
	return all;
}

struct idem_effects
idem_gate_ask_look(struct idem_gate *g, enum idem_where where)
{
	struct idem_effect fx = { .op = IDEM_LOOK, .where = where };

	return ask(g, &fx);
}

struct idem_effects
idem_gate_ask_slot(struct idem_gate *g, enum idem_op then, bool may_queue)
{
	struct idem_effect fx = { .op = IDEM_SLOT };

	g->then = then;
	if (may_queue && !g->queued) {
		g->queued = true;
		fx.queued = true;
		fx.wait_ms = g->policy.queue_ms;
	}
	return ask(g, &fx);
}

struct idem_effects
idem_gate_ask_claim(struct idem_gate *g)
{
	struct idem_effect fx = { .op = IDEM_CLAIM, .where = g->claim_at };

	assert(!g->slot || !g->waited);
	fx.look_only = !g->slot;
	fx.take_over = g->slot && g->take_over;
	g->taking = g->taking || fx.take_over;
	return ask(g, &fx);
}

static struct idem_effect
renew_effect(const struct idem_gate *g, uint32_t wait_ms)
{
	struct idem_effect fx = { .op = IDEM_RENEW, .where = g->claim_at };

	fx.wait_ms = wait_ms;
	return fx;
}

struct idem_effects
idem_gate_ask_renew(struct idem_gate *g, uint32_t wait_ms)
{
	struct idem_effects all = idem_gate_ask_nothing();

	g->renewing = true;
	all.fx[all.n++] = renew_effect(g, wait_ms);
	return all;
}

struct idem_effects
idem_gate_ask_program(struct idem_gate *g, enum idem_op op)
{
	struct idem_effect fx = { .op = op, .where = g->claim_at };
	struct idem_effects all;

	/* What everything here is for: a wrong gate must stop, not go on. */
	assert(g->slot && !g->started && !g->waited && !g->ghost && !g->lost);
	fx.unkeyed = g->unkeyed;
	fx.unprotected = g->unprotected;
	g->started = op == IDEM_RUN;
	all = ask(g, &fx);
	if (g->claimed && !g->renewing) {
		g->renewing = true;
		all.fx[all.n++] = renew_effect(g, g->policy.lease_ms / 3);
	}
	return all;
}

struct idem_effects
idem_gate_ask_write(struct idem_gate *g, enum idem_op op)
{
	struct idem_effect fx = { .op = op, .where = g->claim_at };

	fx.background = g->replied;
	return ask(g, &fx);
}

struct idem_effects
idem_gate_ask_others(struct idem_gate *g, enum idem_op op)
{
	struct idem_effect fx = { .where = g->claim_at, .others = true };

	fx.op = op;
	return ask(g, &fx);
}

struct idem_effects
idem_gate_ask_record(struct idem_gate *g)
{
	struct idem_effect fx = { .op = IDEM_RECORD };

	return ask(g, &fx);
}

struct idem_effects
idem_gate_ask_cache(struct idem_gate *g, enum idem_where where)
{
	struct idem_effect fx = { .op = IDEM_CACHE, .where = where };

	return ask(g, &fx);
}

struct idem_effects
idem_gate_ask_wait(struct idem_gate *g, uint32_t wait_ms, bool for_key)
{
	struct idem_effect fx = { .op = IDEM_WAIT, .for_key = for_key };

	fx.wait_ms = wait_ms;
	return ask(g, &fx);
}

static struct idem_effects
ask_reply(struct idem_gate *g, const struct idem_effect *fx)
{
	assert(!g->replied);
	g->replied = true;
	return ask(g, fx);
}

struct idem_effects
idem_gate_ask_reply(struct idem_gate *g, enum idem_body body,
    enum idem_mark mark)
{
	struct idem_effect fx = { .op = IDEM_REPLY };

	fx.body = body;
	fx.mark = mark;
	return ask_reply(g, &fx);
}

static bool
names_attempt(enum idem_problem problem)
{
	return problem == IDEM_PROBLEM_UNKNOWN ||
	    problem == IDEM_PROBLEM_DIED || problem == IDEM_PROBLEM_CUT ||
	    problem == IDEM_PROBLEM_LOST ||
	    problem == IDEM_PROBLEM_UNRECORDED;
}

/* Who has waited in vain may come back after as long, within the lease. */
static uint32_t
retry_after_s(const struct idem_gate *g, enum idem_problem problem)
{
	uint32_t lease_s = g->policy.lease_ms / MS_PER_S;
	uint32_t wait_s = g->policy.wait_ms / MS_PER_S;

	if (problem == IDEM_PROBLEM_IN_PROGRESS && g->waited) {
		if (wait_s > lease_s)
			wait_s = lease_s;
		return wait_s > 1 ? wait_s : 1;
	}
	return problem == IDEM_PROBLEM_IN_PROGRESS ||
	    problem == IDEM_PROBLEM_ACCEPTED ||
	    problem == IDEM_PROBLEM_STORE_AWAY ||
	    problem == IDEM_PROBLEM_BUSY ||
	    problem == IDEM_PROBLEM_NO_SPACE ||
	    problem == IDEM_PROBLEM_BACKEND_AWAY ||
	    problem == IDEM_PROBLEM_RELEASED;
}

struct idem_effects
idem_gate_ask_refusal(struct idem_gate *g, enum idem_problem problem)
{
	struct idem_effect fx = { .op = IDEM_REPLY, .body = IDEM_BODY_PROBLEM };

	assert(problem != IDEM_PROBLEM_NONE);
	fx.problem = problem;
	fx.attempt = names_attempt(problem) ? g->attempt : 0;
	fx.retry_after_s = retry_after_s(g, problem);
	return ask_reply(g, &fx);
}

struct idem_effects
idem_gate_ask_end(struct idem_gate *g)
{
	struct idem_effect fx = { .op = IDEM_END };

	assert(g->replied);
	g->ended = !g->renewing;
	if (g->ended)
		return ask(g, &fx);
	g->awaiting = IDEM_END;
	return idem_gate_ask_nothing();
}

void
idem_gate_ask_begin(struct idem_gate *g, int64_t now_ms, uint32_t budget_ms)
{
	g->tries = 0;
	g->deadline_ms = now_ms + budget_ms;
}

static uint32_t
doubled(uint32_t first, uint32_t last, uint32_t times)
{
	while (times-- > 0 && first < last)
		first *= 2;
	return first < last ? first : last;
}

struct idem_effects
idem_gate_ask_pause(struct idem_gate *g, int64_t now_ms, enum idem_op op)
{
	int64_t left_ms = g->deadline_ms - now_ms;
	uint32_t pause_ms;

	assert(left_ms > 0);
	pause_ms = op == IDEM_CLAIM
	    ? doubled(CLAIM_PAUSE_MS, CLAIM_PAUSE_MAX_MS, g->tries)
	    : doubled(WRITE_PAUSE_MS, WRITE_PAUSE_MAX_MS, g->tries);
	if (pause_ms > left_ms)		/* the last try is at the deadline */
		pause_ms = (uint32_t)left_ms;
	g->tries++;
	g->then = op;
	return idem_gate_ask_wait(g, pause_ms, false);
}
