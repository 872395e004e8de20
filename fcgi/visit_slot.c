/* SPDX-License-Identifier: ISC */
#include "lobby.h"

#include <stddef.h>

/*
 * SLOT: may its program run now?  One of `-c`, for programs of our own; and for
 * a key, room to write down what its run comes to.
 */
#define SAY_MS 60000		/* that there is none, so often */

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

/* --- room on the disk ----------------------------------------------------- */

static void
say_short(struct lobby *lobby, int64_t now_ms)
{
	if (lobby->no_space_ms == 0)
		lobby_alert(lobby, ALERT_NO_SPACE, NULL);
	else if (now_ms < lobby->no_space_ms + SAY_MS)
		return;
	lobby->no_space_ms = now_ms;
	log_line(&lobby->log, "space=short reserve=%llu error=\"no key is run "
	    "until as many bytes are free where ledger and run folder lie\"",
	    (unsigned long long)lobby->space.reserve);
}

static bool
lacks_space(struct visit *v)
{
	struct lobby *lobby = v->lobby;
	int64_t now_ms = loop_now(lobby->loop);

	if (v->admit != IDEM_KEYED)
		return false;
	if (space_short(&lobby->space, now_ms)) {
		say_short(lobby, now_ms);
		return true;
	}
	if (lobby->no_space_ms != 0)
		log_line(&lobby->log, "space=enough");
	lobby->no_space_ms = 0;
	return false;
}

/* --- one of -c ------------------------------------------------------------ */

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
	visit_slot_end(visit_of_wait(t), IDEM_SLOT_FULL);
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

void
visit_slot(struct idem_exchange *x, const struct idem_effect *fx)
{
	struct visit *v = visit_of(x);
	struct idem_event ev = { .op = IDEM_SLOT, .slot = IDEM_SLOT_FULL };

	ev.no_space = lacks_space(v);
	if (ev.no_space) {
		idem_exchange_tell(x, &ev);
		return;
	}
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

void
visit_slot_end(struct visit *v, enum idem_slot how)
{
	struct idem_event ev = { .op = IDEM_SLOT, .slot = how };

	ev.no_space = how == IDEM_SLOT_FULL && lacks_space(v);
	queue_leave(v);
	visit_tell(v, &ev);
}

void
lobby_serve_queue(struct lobby *lobby)
{
	struct visit *v;

	while ((v = lobby->queue_first) != NULL) {
		if (lacks_space(v))
			visit_slot_end(v, IDEM_SLOT_FULL);
		else if (get_slot(v))
			visit_slot_end(v, IDEM_SLOT_GOT);
		else
			return;
	}
}

void
visit_slot_unused(struct idem_exchange *x)
{
	struct visit *v = visit_of(x);

	if (v->slot != -1)
		shm_slot_put(v->lobby->shm, v->slot, v->slot_keeper);
	v->slot = -1;
}
