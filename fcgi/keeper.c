/* SPDX-License-Identifier: ISC */
#include "keeper.h"

#include "keeper_begin.h"
#include "keeper_run.h"

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define ASKS_A_TURN 16		/* so that limits stay punctual */
#define EXIT_SYSTEM 111		/* the system would not */

/* The oldest first: who waits longest is told first. */
static void
advance_all(struct keeper *k)
{
	struct keeper_run *r, *next;

	for (r = k->oldest; r != NULL; r = next) {
		next = r->newer;
		if (r->over)
			keeper_run_advance(r);
	}
}

/* --- reaping -------------------------------------------------------------- */

static struct keeper_run *
run_of_pid(struct keeper *k, pid_t pid)
{
	struct keeper_run *r;

	for (r = k->newest; r != NULL && r->pid != pid; r = r->older)
		;
	return r;
}

static bool
reap_one(struct keeper *k)
{
	siginfo_t info = { 0 };
	struct keeper_run *r;
	int status = 0;

	if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
	    info.si_pid == 0)
		return false;
	r = run_of_pid(k, info.si_pid);
	if (r != NULL)
		keeper_run_ending(r, info.si_code != CLD_EXITED,
		    info.si_status);
	waitpid(info.si_pid, &status, 0);
	if (r != NULL)
		keeper_run_reaped(r, status);
	return true;
}

static void
signals_ready(struct watch *w, uint32_t events)
{
	struct keeper *k = (struct keeper *)((char *)w -
	    offsetof(struct keeper, signals));
	struct signalfd_siginfo signals[8];
	ssize_t got = read(w->fd, signals, sizeof signals);

	(void)events;
	(void)got;	/* it only says that there may be something */
	while (reap_one(k))
		;
}

/* --- the lobby's words ---------------------------------------------------- */

static void
obey(struct keeper *k)
{
	const struct keeper_ask *ask = &k->message.ask;
	struct keeper_run *r;

	if (ask->op == KEEPER_START) {
		if (!k->deaf)	/* else it is better not begun */
			keeper_start(k);
		return;
	}
	for (r = k->newest; r != NULL && r->id != ask->id; r = r->older)
		;
	if (r == NULL)
		return;
	switch (ask->op) {
	case KEEPER_START:
		return;
	case KEEPER_KILL:
		keeper_run_stop(r);
		return;
	case KEEPER_SIGNAL:
		keeper_run_signal(r, ask->signal);
		return;
	case KEEPER_SETTLED:
		keeper_run_word(r, KEEPER_WORD_SETTLED);
		return;
	case KEEPER_UNKNOWN:
		keeper_run_word(r, KEEPER_WORD_UNKNOWN);
		return;
	case KEEPER_LEFT:
		keeper_run_word(r, KEEPER_WORD_LEFT);
		return;
	}
}

static bool
is_running_in(const struct keeper *k, uint32_t slot)
{
	const struct keeper_run *r;

	for (r = k->newest; r != NULL; r = r->older)
		if (r->pid != 0 && r->slot == (int)slot)
			return true;
	return false;
}

/* What the lobby had got for runs that it could not ask for any more. */
static void
free_idle_slots(struct keeper *k)
{
	uint32_t i;

	for (i = 0; i < k->o->shm->slots; i++)
		if (!is_running_in(k, i))
			shm_slot_put(k->o->shm, (int)i, k->o->number);
}

static void
lobby_gone(struct keeper *k)
{
	struct keeper_run *r, *next;

	k->over = k->deaf = true;
	loop_unwatch(k->loop, &k->socket);
	free_idle_slots(k);
	for (r = k->oldest; r != NULL; r = next) {
		next = r->newer;
		keeper_run_word(r, KEEPER_WORD_LEFT);
	}
	advance_all(k);		/* and what had no note */
}

static void
listen_once(struct keeper *k)
{
	int i;

	/* Nothing is started for the deaf: its words only end runs. */
	for (i = 0; i < ASKS_A_TURN; i++) {
		if (k->n == KEEPER_RUNS_MAX && !k->deaf)
			return;
		switch (keeper_wire_receive(k->o->socket, &k->message)) {
		case KEEPER_NOTHING:
			return;
		case KEEPER_GOT:
			obey(k);
			keeper_wire_drop(&k->message);
			break;
		case KEEPER_OVER:
			lobby_gone(k);
			return;
		}
	}
}

static void
socket_ready(struct watch *w, uint32_t events)
{
	struct keeper *k = (struct keeper *)((char *)w -
	    offsetof(struct keeper, socket));

	/* Its last words are still there to be read. */
	if ((events & (EPOLLHUP | EPOLLERR)) != 0)
		k->deaf = true;
	if ((events & EPOLLOUT) != 0) {
		k->full = false;
		advance_all(k);
	}
	listen_once(k);
}

/* --- the loop ------------------------------------------------------------- */

/* What we can use now: room for a run, or for a word. */
static void
mind_socket(struct keeper *k)
{
	uint32_t events = k->n < KEEPER_RUNS_MAX ? EPOLLIN : 0;

	if (k->full)
		events |= EPOLLOUT;
	if (!k->over)
		loop_change(k->loop, &k->socket, events);
}

static int
keep(struct keeper *k, int signals)
{
	k->socket.ready = socket_ready;
	k->signals.ready = signals_ready;
	if (loop_watch(k->loop, &k->signals, signals, EPOLLIN) != 0 ||
	    loop_watch(k->loop, &k->socket, k->o->socket, EPOLLIN) != 0)
		return EXIT_SYSTEM;
	while (!k->over || k->n > 0) {
		if (loop_turn(k->loop, INT64_MAX) != 0)
			return EXIT_SYSTEM;
		mind_socket(k);
	}
	return 0;
}

int
keeper_main(const struct keeper_options *o)
{
	int signals = keeper_begin(o), status = EXIT_SYSTEM;
	struct keeper *k;

	if (signals < 0)
		return EXIT_SYSTEM;
	k = calloc(1, sizeof *k);
	if (k != NULL) {
		k->o = o;
		k->loop = loop_new(&idem_clock_real);
	}
	if (k != NULL && k->loop != NULL)
		status = keep(k, signals);
	if (k != NULL)
		loop_free(k->loop);
	free(k);
	close(signals);
	return status;
}
