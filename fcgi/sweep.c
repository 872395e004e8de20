/* SPDX-License-Identifier: ISC */
#include "lobby.h"

#include "run_lock.h"

#include <stddef.h>
#include <string.h>

#define SWEEP_MS 1000
#define SWEEP_ROWS 100
#define TIDY_ROUNDS 600
#define ONLY_ONE_OF 64u		/* a round asks Redis up to 1,000 times */

/*
 * What nobody asks for: runs that died with their worker are made unknown, and
 * rows past their time leave the store.  Each worker does it, a second apart
 * and a little at a time; two at once do no harm.  Redis is gone through page
 * by page, whatever lies there: its keys have no order.
 */
static void rest(struct lobby *, bool more);

static struct lobby *
lobby_of(struct timer *t)
{
	return (struct lobby *)((char *)t - offsetof(struct lobby, sweep));
}

static struct idem_store_call
call_of(struct sweep *sweep, enum idem_store_op op, idem_store_done *done)
{
	return (struct idem_store_call){
		.op = op,
		.deadline_ms = loop_now(sweep->lobby->loop) + LOBBY_CALL_MS,
		.max = SWEEP_ROWS,
		.any_order = true,
		.done = done,
		.arg = sweep
	};
}

static void
start(struct sweep *sweep, const struct idem_store_call *call)
{
	sweep->lobby->sweep_pending++;
	sweep->store->ops->start(sweep->store, call);
}

static void
swept(void *arg, const struct idem_store_result *r)
{
	struct lobby *lobby = ((struct sweep *)arg)->lobby;

	lobby->sweep_pending--;
	rest(lobby, r->write == IDEM_WRITTEN && r->more);
}

/* Nobody here owns it, so its end is told like another worker's. */
static void
marked(void *arg, const struct idem_store_result *r)
{
	struct lobby *lobby = ((struct sweep *)arg)->lobby;

	lobby->sweep_pending--;
	rest(lobby, false);
	if (r->write != IDEM_WRITTEN)
		return;
	waiting_ask_all(lobby);
	lobby_alert(lobby, ALERT_UNKNOWN_KEY, NULL);
}

static void
judge(struct sweep *sweep, const struct idem_listed *row, int64_t now_ms)
{
	struct lobby *lobby = sweep->lobby;
	struct idem_store_call call;
	char key[LOBBY_KEY];

	if (lobby_proof(lobby, sweep->store, &row->record, now_ms) ==
	    IDEM_PROOF_NONE)
		return;
	lobby_key(&row->key, true, key);	/* it may be one */
	log_line(&lobby->log, "key=%s attempt=%u state=unknown source=sweep",
	    key, row->record.attempt);
	call = call_of(sweep, IDEM_STORE_UNKNOWN, marked);
	call.key = row->key;
	call.owner = row->record.owner;
	call.attempt = row->record.attempt;
	start(sweep, &call);
	shm_end_put(lobby->shm, lobby->worker, &row->key, IDEM_WOKEN_UNSURE);
}

static void
listed(void *arg, const struct idem_store_result *r)
{
	struct sweep *sweep = arg;
	uint32_t i;

	sweep->lobby->sweep_pending--;
	for (i = 0; i < r->count; i++)
		judge(sweep, &r->listed[i], r->now_ms);
	sweep->cursor = r->write == IDEM_WRITTEN ? r->cursor : 0;
	if (r->write == IDEM_WRITTEN && r->more && r->count > 0)
		sweep->after = r->listed[r->count - 1].key;
	else
		memset(&sweep->after, 0, sizeof sweep->after);
	rest(sweep->lobby, false);
}

/* What runs left behind whose lobby had died; the first worker does it. */
static void
tidy(struct lobby *lobby)
{
	int64_t age_ms = 2 * ((int64_t)lobby->lease_max_ms +
	    lobby->limit_max_ms + lobby->conf->grace_ms);

	if (lobby->worker == 0 && lobby->sweep_rounds++ % TIDY_ROUNDS == 0)
		idem_run_lock_tidy(lobby->lock_folder,
		    idem_wall_ms(&idem_clock_real) - age_ms);
}

static void
one(struct sweep *sweep)
{
	struct idem_store_call call;

	call = call_of(sweep, IDEM_STORE_LIST, listed);
	call.key = sweep->after;
	call.cursor = sweep->cursor;
	call.states = 1u << IDEM_STATE_IN_PROGRESS;
	start(sweep, &call);
	call = call_of(sweep, IDEM_STORE_SWEEP, swept);
	start(sweep, &call);
}

static void
due(struct timer *t, int64_t now_ms)
{
	struct lobby *lobby = lobby_of(t);
	size_t i;

	(void)now_ms;
	tidy(lobby);
	lobby->sweeps[SWEEP_MEMORY].store = lobby->stores.memory;
	for (i = 0; i < SWEEPS; i++)
		if (lobby->sweeps[i].store != NULL)
			one(&lobby->sweeps[i]);
	rest(lobby, false);
}

/* The next round, once all of this one is answered; sooner if there is more. */
static void
rest(struct lobby *lobby, bool more)
{
	int64_t pause = more ? SWEEP_MS / 10 : SWEEP_MS;

	if (lobby->sweep_pending == 0 && !lobby->stopping)
		loop_timer(lobby->loop, &lobby->sweep,
		    loop_now(lobby->loop) + pause);
}

/* For a lobby that would end before its first round. */
void
sweep_once(struct lobby *lobby)
{
	loop_timer_stop(lobby->loop, &lobby->sweep);
	if (lobby->sweep_pending == 0)
		due(&lobby->sweep, loop_now(lobby->loop));
}

/*
 * All that share it would do the same: one a host is enough, and of those that
 * serve one request each one of many.  None of these goes on where another was,
 * so it begins anywhere: Redis takes any number for a place.
 */
static struct idem_store *
redis_to_sweep(struct lobby *lobby)
{
	struct idem_store *store = lobby->stores.redis[IDEM_SCHEME_SCRIPT];
	uint64_t chance;

	if (store == NULL || lobby->worker != 0 || !lobby->only)
		return lobby->worker == 0 ? store : NULL;
	if (!idem_random(&chance, sizeof chance) || chance % ONLY_ONE_OF != 0)
		return NULL;
	lobby->sweeps[SWEEP_REDIS].cursor = chance >> 32;
	return store;
}

/* Workers start apart, so that they do not meet at the ledger. */
void
sweep_start(struct lobby *lobby)
{
	size_t i;

	lobby->sweeps[SWEEP_LEDGER].store = lobby->stores.ledger;
	lobby->sweeps[SWEEP_REDIS].store = redis_to_sweep(lobby);
	for (i = 0; i < SWEEPS; i++)
		lobby->sweeps[i].lobby = lobby;
	lobby->sweep.due = due;
	loop_timer(lobby->loop, &lobby->sweep, loop_now(lobby->loop) +
	    SWEEP_MS * (int64_t)(lobby->worker + 1) / lobby->shm->workers);
}
