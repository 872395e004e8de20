/* SPDX-License-Identifier: ISC */
#include "exchange.h"

#include "exchange_call.h"
#include "label.h"

#include <assert.h>
#include <string.h>

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
	idem_exchange_call_forget(x);
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
		IDEM_LABEL_OF("claim.sent", &x->key);
		idem_exchange_call_claim(x, fx);
		break;
	case IDEM_RUN:
		IDEM_LABEL_OF("run.begin", &x->key);
		ports->run(x, fx);
		break;
	case IDEM_RENEW:
		ports->renew_later(x, fx);
		break;
	case IDEM_COMPLETE:
		IDEM_LABEL_OF("complete.sent", &x->key);
		idem_exchange_call_complete(x, fx);
		break;
	case IDEM_RELEASE:
		IDEM_LABEL_OF("release.sent", &x->key);
		idem_exchange_call_release(x, fx);
		break;
	case IDEM_MARK_UNKNOWN:
		IDEM_LABEL_OF("unknown.sent", &x->key);
		idem_exchange_call_mark_unknown(x, fx);
		break;
	case IDEM_RECORD:
		ports->record(x, fx);
		break;
	case IDEM_CACHE:
		IDEM_LABEL_OF("cache.sent", &x->key);
		ports->cache(x, fx);
		break;
	case IDEM_PROBE:
		ports->probe(x, fx);
		break;
	case IDEM_WAIT:
		ports->wait(x, fx);
		break;
	case IDEM_REPLY:
		IDEM_LABEL_OF("reply.begin", &x->key);
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
	struct idem_effects fxs;
	bool over = false;
	unsigned i;

	if (ev->op == IDEM_ADMIT)
		IDEM_LABEL_OF("req.read", &x->key);
	if (ev->op == IDEM_SLOT && ev->slot == IDEM_SLOT_GOT)
		IDEM_LABEL_OF("slot.taken", &x->key);
	fxs = idem_gate_step(&x->gate, ev);

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
