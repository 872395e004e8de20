/* SPDX-License-Identifier: ISC */
#include "lobby.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define SWEEP_MS 1000
#define SWEEP_ROWS 100
#define TIDY_ROUNDS 600
#define ONLY_ONE_OF 64u		/* a round asks Redis up to 1,000 times */

/*
 * What nobody asks for, and no file of this host tells of (settle.h): records
 * of dead runs are made unknown, and rows past their time leave the store.
 * Each worker does it, a second apart and a little at a time; two at once do no
 * harm.  Redis is gone through page by page, whatever lies there: its keys have
 * no order.
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

/* A record that is being made unknown. */
struct mark {
	struct sweep *sweep;
	struct idem_digest key;
	struct idem_owner owner;
};

/* Its file, if there is one, knows which request it was. */
static void
tell_unknown(const struct lobby *lobby, const struct mark *m)
{
	struct idem_evidence e = { .noted = false };

	if (lobby->lock_folder != -1)
		idem_evidence(lobby->lock_folder, &m->owner, &e, NULL);
	if (e.noted && e.note.why == IDEM_WHY_NOT_SAID)
		e.note.why = IDEM_WHY_LAPSED;
	alert_tell_run(lobby->shm, ALERT_UNKNOWN_KEY, &m->key,
	    e.noted ? &e.note : NULL);
}

/* Nobody here owns it, so its end is told like another worker's. */
static void
marked(void *arg, const struct idem_store_result *r)
{
	struct mark *m = arg;
	struct lobby *lobby = m->sweep->lobby;

	lobby->sweep_pending--;
	rest(lobby, false);
	if (r->write == IDEM_WRITTEN) {
		waiting_ask_all(lobby);
		tell_unknown(lobby, m);
	}
	free(m);
}

static void
judge(struct sweep *sweep, const struct idem_listed *row, int64_t now_ms)
{
	struct lobby *lobby = sweep->lobby;
	struct idem_store_call call;
	enum idem_proof proof;
	char key[LOBBY_KEY];
	struct mark *m;

	proof = lobby_proof(lobby, sweep->store, &row->record, &row->key,
	    now_ms, NULL);
	/* What was finished, or never begun, is not lost: who asks for it still
	   finds that out. */
	if (proof == IDEM_PROOF_NONE ||
	    lobby_settles(lobby, sweep->store, &row->record, proof))
		return;
	m = malloc(sizeof *m);
	if (m == NULL)
		return;		/* the next round comes soon */
	*m = (struct mark){ sweep, row->key, row->record.owner };
	lobby_key(&row->key, true, key);	/* it may be one */
	log_line(&lobby->log, "key=%s attempt=%u state=unknown source=sweep",
	    key, row->record.attempt);
	call = call_of(sweep, IDEM_STORE_UNKNOWN, marked);
	call.arg = m;
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

/* Files of unknown runs that have been resolved; one worker does it. */
static void
tidy(struct lobby *lobby)
{
	if (lobby->tidies && lobby->sweep_rounds++ % TIDY_ROUNDS == 0)
		settle_unknowns(lobby->settle);
}

static void
one(struct sweep *sweep)
{
	struct lobby *lobby = sweep->lobby;
	struct idem_store_call call;

	call = call_of(sweep, IDEM_STORE_LIST, listed);
	call.key = sweep->after;
	call.cursor = sweep->cursor;
	call.states = 1u << IDEM_STATE_IN_PROGRESS;
	start(sweep, &call);
	call = call_of(sweep, IDEM_STORE_SWEEP, swept);
	/* Short of room, answers are kept no longer than was promised by any
	   configuration. */
	if (lobby->keep_min_max_ms < lobby->conf->keep_min_max_ms)
		lobby->keep_min_max_ms = lobby->conf->keep_min_max_ms;
	if (sweep->store->ops->pressed(sweep->store))
		call.shrink_ms = lobby->keep_min_max_ms;
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
 * All that share a Redis would do the same: one a host is enough, and of those
 * that serve one request each one of many.  None of these goes on where another
 * was, so it begins anywhere: Redis takes any number for a place.
 */
static void
choose(struct lobby *lobby)
{
	uint64_t chance = 0;

	lobby->tidies = lobby->worker == 0 && (!lobby->only ||
	    (idem_random(&chance, sizeof chance) &&
	    chance % ONLY_ONE_OF == 0));
	if (!lobby->tidies)
		return;
	lobby->sweeps[SWEEP_REDIS].store =
	    lobby->stores.redis[IDEM_SCHEME_SCRIPT];
	lobby->sweeps[SWEEP_REDIS].cursor = chance >> 32;
}

/* Workers start apart, so that they do not meet at the ledger. */
void
sweep_start(struct lobby *lobby)
{
	size_t i;

	lobby->sweeps[SWEEP_LEDGER].store = lobby->stores.ledger;
	choose(lobby);
	for (i = 0; i < SWEEPS; i++)
		lobby->sweeps[i].lobby = lobby;
	lobby->sweep.due = due;
	loop_timer(lobby->loop, &lobby->sweep, loop_now(lobby->loop) +
	    SWEEP_MS * (int64_t)(lobby->worker + 1) / lobby->shm->workers);
}
