/* SPDX-License-Identifier: ISC */
#include "lobby.h"

#include <stddef.h>
#include <string.h>

/*
 * RUN, PROBE and RECORD, the note before them, and the lease beside them.
 */
static struct visit *
visit_of(struct idem_exchange *x)
{
	return (struct visit *)((char *)x - offsetof(struct visit, x));
}

/* --- its program ---------------------------------------------------------- */

static void
begin(struct visit *v)
{
	v->has_end = false;	/* a take-over: what it was before is over */
	run_free(v->run);
	v->run = NULL;
	run_note_won(v);
}

void
visit_run(struct idem_exchange *x, const struct idem_effect *fx)
{
	struct visit *v = visit_of(x);

	begin(v);
	if (!fx->unkeyed)
		waiting_runs(v);
	if (fx->unprotected)
		lobby_alert_visit(v, ALERT_UNPROTECTED);
	if (run_note_handed(v))
		run_start(v, fx->unkeyed ? RUN_UNKEYED : RUN_KEYED);
	else
		visit_ran(v, IDEM_RUN_NOT_STARTED, IDEM_PROBLEM_BUSY);
	if (v->slot == -1)
		x->slot = false;
}

/* The slot stays the visit's, for the run that may follow. */
void
visit_probe(struct idem_exchange *x, const struct idem_effect *fx)
{
	struct visit *v = visit_of(x);

	(void)fx;
	begin(v);
	waiting_runs(v);
	run_start(v, RUN_PROBE);
}

bool
visit_note(struct idem_exchange *x, const struct idem_effect *fx)
{
	return run_note_claim(visit_of(x), fx->where, fx->take_over &&
	    x->gate.policy.on_unknown == IDEM_PROBING);
}

void
visit_record(struct idem_exchange *x, const struct idem_effect *fx)
{
	struct idem_event ev = {
		.op = IDEM_RECORD, .write = IDEM_WRITE_REFUSED
	};
	struct visit *v = visit_of(x);

	(void)fx;
	if (run_note_record(v, v->run->status, v->run->limited))
		ev.write = IDEM_WRITTEN;
	idem_exchange_tell(x, &ev);
}

/* --- its lease ------------------------------------------------------------ */

static void
renew_due(struct timer *t, int64_t now)
{
	struct visit *v =
	    (struct visit *)((char *)t - offsetof(struct visit, renew));

	(void)now;
	v->renewing = false;
	idem_exchange_renew(&v->x);
}

void
visit_renew_later(struct idem_exchange *x, const struct idem_effect *fx)
{
	struct visit *v = visit_of(x);
	struct loop *loop = v->lobby->loop;

	v->renew.due = renew_due;
	v->renewing = loop_timer(loop, &v->renew,
	    loop_now(loop) + fx->wait_ms) == 0;
	if (!v->renewing)	/* no memory for a timer: early is right too */
		idem_exchange_renew(x);
}

bool
visit_renew_stop(struct idem_exchange *x)
{
	struct visit *v = visit_of(x);
	bool was = v->renewing;

	loop_timer_stop(v->lobby->loop, &v->renew);
	v->renewing = false;
	return was;
}

/* Two runs of one key, or one run and an operator who spoke too soon. */
static bool
is_anothers(const struct idem_exchange *x, const struct idem_record *r)
{
	return r->state != IDEM_STATE_ABSENT && (r->attempt != x->attempt ||
	    memcmp(r->owner.at, x->owner.at, sizeof r->owner.at) != 0);
}

/* What it does from now on may be done twice; it may want to know. */
static bool
tell_program(const struct visit *v)
{
	return v->run != NULL && !v->run->probe && v->route->lost_signal != 0 &&
	    run_cgi_signal(v->run, v->route->lost_signal);
}

/* A Redis that was restarted may have forgotten it, or be no arbiter of it. */
void
visit_lost(struct idem_exchange *x, const struct idem_store_result *r)
{
	struct lobby *lobby = visit_of(x)->lobby;
	bool complete = r->op == IDEM_STORE_COMPLETE;
	bool taken = is_anothers(x, &r->record);
	bool told = !complete && tell_program(visit_of(x));
	char key[LOBBY_KEY];

	lobby_key(&x->key, x->issued_only, key);
	if (!complete)
		shm_add(lobby->shm, SHM_LEASES_LOST, 1);
	if (complete && taken) {
		shm_add(lobby->shm, SHM_TWO_RUNS, 1);
		lobby_alert_visit(visit_of(x), ALERT_TWO_RUNS);
	}
	log_line(&lobby->log, "key=%s attempt=%u lost=%s record=%s%s", key,
	    x->attempt, complete ? "completion" : "lease",
	    taken ? "taken" : r->record.state != IDEM_STATE_ABSENT ? "ours" :
	    "gone", told ? " program=signalled" : "");
}
