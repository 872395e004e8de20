/* SPDX-License-Identifier: ISC */
#include "lobby.h"

#include <stddef.h>
#include <string.h>

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

/* --- SLOT ----------------------------------------------------------------- */

static bool
get_slot(struct visit *v)
{
	struct lobby *lobby = v->lobby;

	if (lobby->runner == NULL)
		return false;
	v->slot_keeper = runner_keeper(lobby->runner);
	v->slot = shm_slot_get(lobby->shm, v->slot_keeper);
	v->x.slot = v->slot != -1;
	return v->x.slot;
}

static void
queue_leave(struct visit *v)
{
	struct lobby *lobby = v->lobby;

	if (v->queue_prev != NULL)
		v->queue_prev->queue_next = v->queue_next;
	else
		lobby->queue_first = v->queue_next;
	if (v->queue_next != NULL)
		v->queue_next->queue_prev = v->queue_prev;
	else
		lobby->queue_last = v->queue_prev;
	v->queue_prev = v->queue_next = NULL;
	v->queued = false;
	lobby->queue_len--;
	atomic_fetch_sub(&lobby->shm->queueing[lobby->worker], 1);
	loop_timer_stop(lobby->loop, &v->wait);
}

static uint32_t
queueing(const struct lobby *lobby)
{
	uint32_t n = 0, i;

	for (i = 0; i < lobby->shm->workers; i++)
		n += atomic_load(&lobby->shm->queueing[i]);
	return n;
}

static void
queue_due(struct timer *t, int64_t now)
{
	(void)now;
	visit_slot(visit_of_wait(t), IDEM_SLOT_FULL);
}

static bool
queue_join(struct visit *v, uint32_t wait_ms)
{
	struct lobby *lobby = v->lobby;

	if (queueing(lobby) >= lobby->conf->queue)
		return false;
	v->wait.due = queue_due;
	if (loop_timer(lobby->loop, &v->wait,
	    loop_now(lobby->loop) + wait_ms) == -1)
		return false;
	v->queue_prev = lobby->queue_last;
	if (lobby->queue_last != NULL)
		lobby->queue_last->queue_next = v;
	else
		lobby->queue_first = v;
	lobby->queue_last = v;
	v->queued = true;
	lobby->queue_len++;
	atomic_fetch_add(&lobby->shm->queueing[lobby->worker], 1);
	return true;
}

static void
slot(struct idem_exchange *x, const struct idem_effect *fx)
{
	struct visit *v = visit_of(x);
	struct idem_event ev = { .op = IDEM_SLOT, .slot = IDEM_SLOT_FULL };

	/* Slots are for programs of our own; and nobody overtakes a queue. */
	if (v->route->program.kind == PROGRAM_FASTCGI ||
	    (v->lobby->queue_len == 0 && get_slot(v)))
		ev.slot = IDEM_SLOT_GOT;
	else if (fx->queued && queue_join(v, fx->wait_ms)) {
		/* One may have come free before we were seen to queue. */
		lobby_serve_queue(v->lobby);
		return;
	}
	idem_exchange_tell(x, &ev);
}

/* A queued SLOT is answered. */
void
visit_slot(struct visit *v, enum idem_slot how)
{
	struct idem_event ev = { .op = IDEM_SLOT, .slot = how };

	queue_leave(v);
	visit_tell(v, &ev);
}

void
lobby_serve_queue(struct lobby *lobby)
{
	struct visit *v;

	while ((v = lobby->queue_first) != NULL && get_slot(v))
		visit_slot(v, IDEM_SLOT_GOT);
}

static void
slot_unused(struct idem_exchange *x)
{
	struct visit *v = visit_of(x);

	if (v->slot != -1)
		shm_slot_put(v->lobby->shm, v->slot, v->slot_keeper);
	v->slot = -1;
}

/* --- RUN ------------------------------------------------------------------ */

static void
run(struct idem_exchange *x, const struct idem_effect *fx)
{
	struct visit *v = visit_of(x);

	v->has_end = false;	/* a take-over: what it was before is over */
	run_free(v->run);
	v->run = NULL;
	if (fx->unprotected)
		lobby_alert(v->lobby, ALERT_UNPROTECTED, &x->key);
	run_start(v, !fx->unkeyed);
	if (v->slot == -1)
		x->slot = false;
}

static void
renew_due(struct timer *t, int64_t now)
{
	struct visit *v =
	    (struct visit *)((char *)t - offsetof(struct visit, renew));

	(void)now;
	v->renewing = false;
	idem_exchange_renew(&v->x);
}

static void
renew_later(struct idem_exchange *x, const struct idem_effect *fx)
{
	struct visit *v = visit_of(x);
	struct loop *loop = v->lobby->loop;

	v->renew.due = renew_due;
	v->renewing = loop_timer(loop, &v->renew,
	    loop_now(loop) + fx->wait_ms) == 0;
	if (!v->renewing)	/* no memory for a timer: early is right too */
		idem_exchange_renew(x);
}

static bool
renew_stop(struct idem_exchange *x)
{
	struct visit *v = visit_of(x);
	bool was = v->renewing;

	loop_timer_stop(v->lobby->loop, &v->renew);
	v->renewing = false;
	return was;
}

/* --- what is not wired to this daemon yet: the policies never ask for it -- */

static void
record(struct idem_exchange *x, const struct idem_effect *fx)
{
	const struct idem_event ev = {
		.op = IDEM_RECORD, .write = IDEM_WRITE_REFUSED
	};

	(void)fx;
	idem_exchange_tell(x, &ev);
}

static void
probe(struct idem_exchange *x, const struct idem_effect *fx)
{
	const struct idem_event ev = {
		.op = IDEM_PROBE, .probed = IDEM_PROBE_UNKNOWN
	};

	(void)fx;
	idem_exchange_tell(x, &ev);
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
	int64_t age_ms = v->conf->cache_age_ms;
	const struct idem_cached entry = {
		.key = x->key,
		.fingerprint = x->fingerprint,
		.guard = x->guard,
		.answer = (uintptr_t)x->answer,
		.size = x->answer->len,
		.purges = x->purges,
		.until_ms = loop_now(lobby->loop) + (x->times->keep_ms <
		    age_ms ? x->times->keep_ms : age_ms)
	};

	idem_blob_take(x->answer);
	if (!idem_cache_keep(&lobby->cache, &entry))
		idem_blob_drop(x->answer);
}

static void
cache(struct idem_exchange *x, const struct idem_effect *fx)
{
	const struct idem_event ev = { .op = IDEM_CACHE };
	struct visit *v = visit_of(x);
	/* When one that was found ends, only the arbiter knows. */
	bool lasts = !x->anew || v->run != NULL;

	if (fx->where == IDEM_AT_LOCAL && x->answer != NULL && lasts)
		keep_here(v);
	if (fx->where == IDEM_AT_REDIS && v->lobby->stores.cache != NULL &&
	    lasts)
		idem_redis_cache_put(v->lobby->stores.cache, &x->key,
		    &x->fingerprint, &x->guard, x->answer, keep_left_ms(x),
		    x->purges);
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
proof(struct idem_exchange *x, const struct idem_record *record_,
    int64_t now_ms)
{
	const struct visit *v = visit_of(x);

	return lobby_proof(v->lobby, visit_store(v, x->gate.claim_at), record_,
	    now_ms);
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
		lobby_alert(v->lobby, ALERT_UNKNOWN_KEY, key);
}

/* Two runs of one key, or one run and an operator who spoke too soon. */
static bool
is_anothers(const struct idem_exchange *x, const struct idem_record *r)
{
	return r->state != IDEM_STATE_ABSENT && (r->attempt != x->attempt ||
	    memcmp(r->owner.at, x->owner.at, sizeof r->owner.at) != 0);
}

/* A Redis that was restarted may have forgotten it, or be no arbiter of it. */
static void
lost(struct idem_exchange *x, const struct idem_store_result *r)
{
	struct lobby *lobby = visit_of(x)->lobby;
	bool complete = r->op == IDEM_STORE_COMPLETE;
	bool taken = is_anothers(x, &r->record);
	char key[LOBBY_KEY];

	lobby_key(&x->key, x->issued_only, key);
	if (!complete)
		shm_add(lobby->shm, SHM_LEASES_LOST, 1);
	if (complete && taken) {
		shm_add(lobby->shm, SHM_TWO_RUNS, 1);
		lobby_alert(lobby, ALERT_TWO_RUNS, &x->key);
	}
	log_line(&lobby->log, "key=%s attempt=%u lost=%s record=%s", key,
	    x->attempt, complete ? "completion" : "lease",
	    taken ? "taken" : r->record.state != IDEM_STATE_ABSENT ? "ours" :
	    "gone");
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
	.slot = slot,
	.run = run,
	.record = record,
	.cache = cache,
	.probe = probe,
	.wait = wait,
	.reply = reply,
	.renew_later = renew_later,
	.renew_stop = renew_stop,
	.slot_unused = slot_unused,
	.store = store,
	.proof = proof,
	.ended = ended,
	.lost = lost,
	.trouble = trouble,
	.end = end,
	.now = now
};
