/* SPDX-License-Identifier: ISC */
#include "lobby.h"

#include "saved.h"

#include <stddef.h>

/* What is known of a key without a claim: here, in Redis, in a fallback. */

static struct visit *
visit_of(struct idem_exchange *x)
{
	return (struct visit *)((char *)x - offsetof(struct visit, x));
}

/* The answer, if it can be read; none at all was not kept. */
static bool
take(struct visit *v, struct idem_blob *answer, struct idem_event *ev)
{
	struct idem_saved saved = { .kept = false };

	if (answer != NULL &&
	    !idem_saved_read(idem_blob_bytes(answer), &saved))
		return false;
	ev->look = IDEM_LOOK_COMPLETED;
	ev->kept = saved.kept;
	idem_exchange_answer(&v->x,
	    answer != NULL ? idem_blob_take(answer) : NULL);
	return true;
}

/* --- the cache beside the ledger ------------------------------------------ */

static void
redis_looked(void *arg, enum idem_look look, const struct idem_record *record,
    struct idem_blob *answer)
{
	struct idem_event ev = { .op = IDEM_LOOK, .look = look };
	struct visit *v = arg;

	if (look == IDEM_LOOK_COMPLETED && !take(v, answer, &ev))
		ev.look = IDEM_LOOK_NOTHING;
	if (ev.look == IDEM_LOOK_COMPLETED) {
		v->source = "redis";
		v->x.keep_until_ms = record->expires_at;
		/* Whatever stands there: it is another's memory. */
		v->x.kept_ms = (int64_t)((uint64_t)record->expires_at -
		    (uint64_t)record->ended_at);
		shm_add(v->lobby->shm, SHM_REDIS_HITS, 1);
	}
	visit_tell(v, &ev);
}

static void
look_redis(struct visit *v)
{
	struct idem_store *ledger = v->lobby->stores.ledger;
	const struct idem_redis_look look = {
		.key = v->x.key,
		.fingerprint = v->x.fingerprint,
		.guard = v->x.guard,
		.purges = ledger->ops->purges(ledger),
		.done = redis_looked,
		.arg = v
	};
	struct idem_event ev = { .op = IDEM_LOOK, .look = IDEM_LOOK_NOTHING };

	if (v->lobby->stores.cache == NULL) {
		idem_exchange_tell(&v->x, &ev);
		return;
	}
	v->x.purges = look.purges;
	idem_redis_cache_look(v->lobby->stores.cache, &look);
}

/* --- what stood in for Redis ---------------------------------------------- */

static void
fallback_looked(void *arg, const struct idem_store_result *r)
{
	struct idem_event ev = { .op = IDEM_LOOK, .look = IDEM_LOOK_NOTHING };
	struct visit *v = arg;

	if (r->class != IDEM_OK)
		ev.look = IDEM_LOOK_UNSURE;
	else if (r->claim == IDEM_CLAIM_COMPLETED && take(v, r->answer, &ev))
		v->source = "ledger";
	else if (r->claim != IDEM_CLAIM_ABSENT)
		ev.look = IDEM_LOOK_KNOWN;
	visit_tell(v, &ev);
}

static void
look_fallback(struct visit *v)
{
	struct idem_store *store = visit_store(v, IDEM_AT_FALLBACK);
	const struct idem_store_call call = {
		.op = IDEM_STORE_CLAIM,
		.look_only = true,
		.key = v->x.key,
		.owner = v->x.owner,
		.fingerprint = v->x.fingerprint,
		.guard = v->x.guard,
		.anew = v->x.anew,
		.deadline_ms = loop_now(v->lobby->loop) + v->x.times->call_ms,
		.done = fallback_looked,
		.arg = v
	};

	store->ops->start(store, &call);
}

void
visit_look(struct idem_exchange *x, const struct idem_effect *fx)
{
	struct idem_event ev = { .op = IDEM_LOOK, .look = IDEM_LOOK_NOTHING };
	struct visit *v = visit_of(x);

	switch (fx->where) {
	case IDEM_AT_REDIS:
		look_redis(v);
		return;
	case IDEM_AT_FALLBACK:
		look_fallback(v);
		return;
	case IDEM_AT_LOCAL:
		waiting_look(v, &ev);
		break;
	case IDEM_AT_ARBITER:
	case IDEM_AT_MEMORY:
		break;
	}
	idem_exchange_tell(x, &ev);
}
