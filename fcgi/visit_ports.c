/* SPDX-License-Identifier: ISC */
#include "lobby.h"

#include <stddef.h>

static struct visit *
visit_of(struct idem_exchange *x)
{
	return (struct visit *)((char *)x - offsetof(struct visit, x));
}

static struct visit *
visit_of_wait(struct timer *t)
{
	return (struct visit *)((char *)t - offsetof(struct visit, wait));
}

/* --- CACHE ---------------------------------------------------------------- */

/* What is left of its time; a store that found it says until when. */
static int64_t
keep_left_ms(const struct idem_exchange *x)
{
	if (x->keep_until_ms == 0)
		return x->times->keep_ms;
	return x->keep_until_ms - idem_wall_ms(&idem_clock_real);
}

static void
keep_here(struct visit *v)
{
	struct idem_exchange *x = &v->x;
	struct lobby *lobby = v->lobby;
	int64_t age_ms = v->conf->cache_age_ms, left_ms = keep_left_ms(x);
	const struct idem_cached entry = {
		.key = x->key,
		.fingerprint = x->fingerprint,
		.guard = x->guard,
		.answer = (uintptr_t)x->answer,
		.size = x->answer->len,
		.purges = x->purges,
		.until_ms = loop_now(lobby->loop) +
		    (left_ms < age_ms ? left_ms : age_ms)
	};

	idem_blob_take(x->answer);
	if (!idem_cache_keep(&lobby->cache, &entry))
		idem_blob_drop(x->answer);
}

static void
keep_in_redis(const struct visit *v)
{
	const struct idem_exchange *x = &v->x;
	const struct idem_redis_put put = {
		.key = x->key,
		.fingerprint = x->fingerprint,
		.guard = x->guard,
		.answer = x->answer,
		.left_ms = keep_left_ms(x),
		.kept_ms = visit_keep_ms(v),
		.purges = x->purges
	};

	idem_redis_cache_put(v->lobby->stores.cache, &put);
}

static void
cache(struct idem_exchange *x, const struct idem_effect *fx)
{
	const struct idem_event ev = { .op = IDEM_CACHE };
	struct visit *v = visit_of(x);
	/* When one that was found ends, only the arbiter knows; and so of one
	   that is not kept for as long as its route now says. */
	bool lasts = (!x->anew || v->run != NULL) &&
	    visit_keep_ms(v) == x->times->keep_min_ms;

	if (fx->where == IDEM_AT_LOCAL && x->answer != NULL && lasts &&
	    v->conf == v->lobby->conf)
		keep_here(v);
	if (fx->where == IDEM_AT_REDIS && v->lobby->stores.cache != NULL &&
	    lasts)
		keep_in_redis(v);
	idem_exchange_tell(x, &ev);
}

/* --- WAIT ----------------------------------------------------------------- */

void
visit_wait_cut(struct visit *v, enum idem_waited how)
{
	struct idem_event ev = { .op = IDEM_WAIT, .waited = how };

	loop_timer_stop(v->lobby->loop, &v->wait);
	if (v->waiting)
		waiting_one_less(v->lobby);
	v->waiting = false;
	visit_tell(v, &ev);
}

static void
pause_due(struct timer *t, int64_t now)
{
	(void)now;
	visit_wait_cut(visit_of_wait(t), IDEM_WAIT_OVER);
}

static void
wait(struct idem_exchange *x, const struct idem_effect *fx)
{
	struct idem_event ev = { .op = IDEM_WAIT, .waited = IDEM_WAIT_OVER };
	struct visit *v = visit_of(x);
	struct loop *loop = v->lobby->loop;

	if (fx->for_key) {
		if (!waiting_wait(v, fx))
			idem_exchange_tell(x, &ev);
		return;
	}
	v->wait.due = pause_due;
	if (loop_timer(loop, &v->wait, loop_now(loop) + fx->wait_ms) == -1)
		idem_exchange_tell(x, &ev);
	/* `waiting` stays false: a pause is not cut when the client leaves */
}

/* --- the rest ------------------------------------------------------------- */

static void
reply(struct idem_exchange *x, const struct idem_effect *fx)
{
	visit_reply(visit_of(x), fx);
}

struct idem_store *
visit_store(const struct visit *v, enum idem_where where)
{
	struct stores *s = &v->lobby->stores;

	switch (where) {
	case IDEM_AT_FALLBACK:
		return s->ledger;
	case IDEM_AT_MEMORY:
		return s->memory;
	case IDEM_AT_ARBITER:
	case IDEM_AT_LOCAL:
	case IDEM_AT_REDIS:
		break;
	}
	return v->x.issued_only ? stores_token(s, v->token) :
	    stores_arbiter(s, v->route);
}

static struct idem_store *
store(struct idem_exchange *x, enum idem_where where)
{
	struct visit *v = visit_of(x);

	/* From now on its records are looked up before Redis. */
	if (where == IDEM_AT_FALLBACK)
		shm_fallback_until(v->lobby->shm,
		    idem_wall_ms(&idem_clock_real) + v->x.times->keep_ms);
	if (v->run == NULL)
		v->source = stores_name(&v->lobby->stores,
		    visit_store(v, where));
	return visit_store(v, where);
}

static enum idem_proof
proof(struct idem_exchange *x, const struct idem_record *record,
    int64_t now_ms, struct idem_adopted *adopted)
{
	const struct visit *v = visit_of(x);

	return lobby_proof(v->lobby, visit_store(v, x->gate.claim_at), record,
	    &x->key, now_ms, adopted);
}

static void
ended(struct idem_exchange *x, const struct idem_digest *key,
    enum idem_waited how)
{
	struct visit *v = visit_of(x);

	v->end = how;
	v->has_end = true;
	shm_end_put(v->lobby->shm, v->lobby->worker, key, how);
	if (how == IDEM_WOKEN_UNKNOWN)
		lobby_alert_visit(v, ALERT_UNKNOWN_KEY);
}

static void
trouble(struct idem_exchange *x, enum idem_store_op op, const char *why,
    bool away)
{
	const struct visit *v = visit_of(x);
	struct stores *stores = &v->lobby->stores;
	struct idem_store *store = visit_store(v, x->gate.claim_at);

	/* One that answers, but in vain, is not away: a full one, a wrong
	   password.  Nobody else says so. */
	if (away && stores_is_away(stores, store))
		shm_add(v->lobby->shm, SHM_STORE_ERRORS, 1);
	else
		lobby_trouble(v->lobby, stores_name(stores, store),
		    idem_store_op_text(op), why);
}

static void
end(struct idem_exchange *x)
{
	struct visit *v = visit_of(x);

	waiting_left(v);
	visit_free(v);
}

static int64_t
now(struct idem_exchange *x)
{
	return loop_now(visit_of(x)->lobby->loop);
}

const struct idem_ports visit_ports = {
	.look = visit_look,
	.slot = visit_slot,
	.run = visit_run,
	.record = visit_record,
	.cache = cache,
	.probe = visit_probe,
	.wait = wait,
	.reply = reply,
	.renew_later = visit_renew_later,
	.renew_stop = visit_renew_stop,
	.slot_unused = visit_slot_unused,
	.store = store,
	.note = visit_note,
	.proof = proof,
	.ended = ended,
	.lost = visit_lost,
	.trouble = trouble,
	.end = end,
	.now = now
};
