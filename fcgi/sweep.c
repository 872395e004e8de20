/* SPDX-License-Identifier: ISC */
#include "lobby.h"

#include "run_lock.h"

#include <stddef.h>
#include <string.h>

#define SWEEP_MS 1000
#define SWEEP_ROWS 100
#define TIDY_ROUNDS 600

/*
 * What nobody asks for: runs that died with their worker are made unknown, and
 * rows past their time leave the ledger.  Each worker does it, a second apart
 * and a little at a time; two at once do no harm.
 */
static void rest(struct lobby *, bool more);

static struct lobby *
lobby_of(struct timer *t)
{
	return (struct lobby *)((char *)t - offsetof(struct lobby, sweep));
}

static struct idem_store_call
call_of(struct lobby *lobby, enum idem_store_op op, idem_store_done *done)
{
	return (struct idem_store_call){
		.op = op,
		.deadline_ms = loop_now(lobby->loop) + LOBBY_CALL_MS,
		.max = SWEEP_ROWS,
		.done = done,
		.arg = lobby
	};
}

static void
start(struct lobby *lobby, const struct idem_store_call *call)
{
	lobby->sweep_pending++;
	lobby->store->ops->start(lobby->store, call);
}

static void
swept(void *arg, const struct idem_store_result *r)
{
	struct lobby *lobby = arg;

	lobby->sweep_pending--;
	rest(lobby, r->write == IDEM_WRITTEN && r->more);
}

/* Nobody here owns it, so its end is told like another worker's. */
static void
marked(void *arg, const struct idem_store_result *r)
{
	struct lobby *lobby = arg;

	lobby->sweep_pending--;
	rest(lobby, false);
	if (r->write == IDEM_WRITTEN)
		waiting_ask_all(lobby);
}

static void
judge(struct lobby *lobby, const struct idem_listed *row, int64_t now_ms)
{
	struct idem_store_call call;
	char key[9];

	if (lobby_proof(lobby, &row->record, now_ms) == IDEM_PROOF_NONE)
		return;
	idem_hex(row->key.at, 4, key);
	log_line(&lobby->log, "key=%s attempt=%u state=unknown source=sweep",
	    key, row->record.attempt);
	call = call_of(lobby, IDEM_STORE_UNKNOWN, marked);
	call.key = row->key;
	call.owner = row->record.owner;
	call.attempt = row->record.attempt;
	start(lobby, &call);
	shm_end_put(lobby->shm, lobby->worker, &row->key, IDEM_WOKEN_UNSURE);
}

static void
listed(void *arg, const struct idem_store_result *r)
{
	struct lobby *lobby = arg;
	uint32_t i;

	lobby->sweep_pending--;
	for (i = 0; i < r->count; i++)
		judge(lobby, &r->listed[i], r->now_ms);
	if (r->write == IDEM_WRITTEN && r->more && r->count > 0)
		lobby->sweep_after = r->listed[r->count - 1].key;
	else
		memset(&lobby->sweep_after, 0, sizeof lobby->sweep_after);
	rest(lobby, false);
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
due(struct timer *t, int64_t now_ms)
{
	struct lobby *lobby = lobby_of(t);
	struct idem_store_call call;

	(void)now_ms;
	tidy(lobby);
	call = call_of(lobby, IDEM_STORE_LIST, listed);
	call.key = lobby->sweep_after;
	call.states = 1u << IDEM_STATE_IN_PROGRESS;
	start(lobby, &call);
	call = call_of(lobby, IDEM_STORE_SWEEP, swept);
	start(lobby, &call);
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

/* Workers start apart, so that they do not meet at the ledger. */
void
sweep_start(struct lobby *lobby)
{
	lobby->sweep.due = due;
	loop_timer(lobby->loop, &lobby->sweep, loop_now(lobby->loop) +
	    SWEEP_MS * (int64_t)(lobby->worker + 1) / lobby->shm->workers);
}
