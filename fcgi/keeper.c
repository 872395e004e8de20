/* SPDX-License-Identifier: ISC */
#include "keeper.h"

#include "clock.h"
#include "keeper_begin.h"
#include "keeper_wire.h"
#include "label.h"
#include "run_lock.h"
#include "spawn.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUNS_MAX 4096		/* running, untold or unsettled */
#define RUNS_SPARE 64		/* of them for those refused as too many */
#define ASKS_A_TURN 16		/* so that limits stay punctual */
#define EXIT_SYSTEM 111		/* the system would not */

/*
 *	START --> running --> ended --> told --> (keyed) settled --> forgotten
 *	    \                 /
 *	     not started ----
 *
 * A keyed run that has ended keeps its lock until its outcome is written, as
 * a free lock beside an unwritten record would be a proof of death.
 */
struct run {
	uint64_t id;
	struct idem_owner owner;
	int64_t limit_at, kill_at;	/* INT64_MAX: not */
	pid_t pid;		/* 0: not running */
	int lock;		/* -1: none, or given up */
	int slot;
	bool stopped;		/* SIGTERM was sent, or the alarm went off */
	bool told;
	struct run_end end;
};

struct keeper {
	const struct keeper_options *o;
	int signals;
	bool deaf;		/* nobody hears what we tell */
	bool over;		/* and nobody can ask */
	uint32_t n;
	struct run runs[RUNS_MAX];	/* the first n */
	struct keeper_message message;
};

/* --- an ended run's way out ----------------------------------------------- */

static void
give_up_lock(struct run *r)
{
	if (r->lock < 0)
		return;
	/* Not by close alone: a background child may have the descriptor. */
	flock(r->lock, LOCK_UN);
	close(r->lock);
	r->lock = -1;
}

static void
remove_lock(struct keeper *k, struct run *r)
{
	if (r->lock < 0)
		return;
	/* In this order it is never seen free. */
	idem_run_lock_remove(k->o->lock_folder, &r->owner);
	give_up_lock(r);
}

static bool
tell(struct keeper *k, const struct run *r)
{
	struct keeper_tell message;
	struct keeper_packet packet = {
		.parts[0] = { &message, sizeof message }
	};

	memset(&message, 0, sizeof message);
	message.id = r->id;
	message.end = r->end;
	if (keeper_wire_send(k->o->socket, &packet) == 0)
		return true;
	if (errno != EAGAIN && errno != ENOBUFS && errno != ENOMEM)
		k->deaf = true;
	return false;
}

/* What can be done now for a run that is over; it may be forgotten after it. */
static void
advance(struct keeper *k, struct run *r)
{
	if (!r->told && !k->deaf) {
		r->told = tell(k, r);
		IDEM_LABEL("keeper.told");
	}
	if (!k->deaf && (!r->told || r->lock >= 0))
		return;
	give_up_lock(r);
	*r = k->runs[--k->n];
}

static void
advance_all(struct keeper *k)
{
	uint32_t i;

	for (i = k->n; i-- > 0; )
		if (k->runs[i].pid == 0)
			advance(k, &k->runs[i]);
}

static bool
any_untold(const struct keeper *k)
{
	uint32_t i;

	for (i = 0; i < k->n; i++)
		if (k->runs[i].pid == 0 && !k->runs[i].told)
			return true;
	return false;
}

/* --- starting ------------------------------------------------------------- */

static bool
run_program(struct keeper *k, struct run *r)
{
	struct keeper_message *m = &k->message;
	const struct spawn s = {
		.path = m->path, .folder = m->folder,
		.argv = m->argv, .envp = m->envp,
		.in = m->fds[0], .out = m->fds[1], .err = m->fds[2],
		.lock = r->lock,
		.not_after_ms = m->ask.not_after_ms,
		/* The kernel's own limit, just after our last means. */
		.alarm_s = (unsigned)(((uint64_t)m->ask.limit_ms +
		    k->o->grace_ms + 1999) / 1000)
	};
	struct spawned done;

	/* Before it: we may be held up while the program runs already. */
	r->limit_at = idem_boot_ms(&idem_clock_real) + m->ask.limit_ms;
	spawn(&s, &done);
	r->end.problem = spawn_problem(&done, m->path);
	r->end.error = done.error;
	if (done.failed != SPAWN_DONE)
		return false;
	r->pid = done.pid;
	return true;
}

static bool
refuse(struct run *r, int error)
{
	r->end.error = error;
	switch (error) {
	case E2BIG:
		r->end.problem = IDEM_PROBLEM_TOO_MUCH_HEAD;
		break;
	case EINVAL:
		r->end.problem = IDEM_PROBLEM_BROKEN_PROGRAM;
		break;
	default:
		r->end.problem = IDEM_PROBLEM_BUSY;
	}
	return false;
}

static bool
begin(struct keeper *k, struct run *r)
{
	const struct keeper_message *m = &k->message;

	if (m->error != 0)
		return refuse(r, m->error);
	if (k->n > RUNS_MAX - RUNS_SPARE)
		return refuse(r, EAGAIN);
	if (m->ask.keyed && k->o->lock_folder >= 0) {
		r->lock = idem_run_lock_make(k->o->lock_folder, &r->owner);
		if (r->lock < 0)
			return refuse(r, errno != EINVAL ? errno : EIO);
	}
	IDEM_LABEL("keeper.locked");
	return run_program(k, r);
}

static void
start(struct keeper *k)
{
	struct run *r = &k->runs[k->n++];

	*r = (struct run){
		.id = k->message.ask.id,
		.owner = k->message.ask.owner,
		.limit_at = INT64_MAX, .kill_at = INT64_MAX,
		.lock = -1,
		.slot = k->message.ask.slot
	};
	IDEM_LABEL("keeper.start");
	r->end.started = begin(k, r);
	IDEM_LABEL("keeper.spawned");
	if (r->end.started)
		return;
	remove_lock(k, r);
	shm_slot_put(k->o->shm, r->slot, k->o->number);
	advance(k, r);
}

/* --- stopping and reaping ------------------------------------------------- */

static void
stop(struct keeper *k, struct run *r, int64_t now)
{
	if (r->pid == 0 || r->stopped)
		return;
	r->stopped = true;
	r->kill_at = now + k->o->grace_ms;
	kill(-r->pid, SIGTERM);
}

static void
keep_limits(struct keeper *k, int64_t now)
{
	struct run *r;

	for (r = k->runs; r < k->runs + k->n; r++) {
		if (now >= r->limit_at)
			stop(k, r, now);
		if (r->pid != 0 && now >= r->kill_at) {
			r->kill_at = INT64_MAX;
			kill(-r->pid, SIGKILL);
		}
	}
}

static struct run *
run_of_pid(struct keeper *k, pid_t pid)
{
	struct run *r;

	for (r = k->runs; r < k->runs + k->n; r++)
		if (r->pid == pid)
			return r;
	return NULL;
}

static void
ended(struct keeper *k, struct run *r, int status)
{
	r->pid = 0;
	r->end.status = status;
	r->end.limit = r->stopped;
	shm_slot_put(k->o->shm, r->slot, k->o->number);
	IDEM_LABEL("keeper.reaped");
	advance(k, r);
}

static bool
reap_one(struct keeper *k, int64_t now)
{
	siginfo_t info = { 0 };
	int status = 0;
	struct run *r;

	if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
	    info.si_pid == 0)
		return false;
	r = run_of_pid(k, info.si_pid);
	if (r != NULL && info.si_code == CLD_KILLED &&
	    info.si_status == SIGALRM && now >= r->limit_at)
		r->stopped = true;	/* by the alarm: we were held up */
	/*
	 * Before it is reaped: after, its group's number may be another's.
	 * Without a lobby the lock will say that nothing of the run is left.
	 */
	if (r != NULL && (r->stopped || (k->deaf && r->lock >= 0)))
		kill(-r->pid, SIGKILL);
	waitpid(info.si_pid, &status, 0);
	if (r != NULL)
		ended(k, r, status);
	return true;
}

static void
reap(struct keeper *k, int64_t now)
{
	struct signalfd_siginfo signals[8];
	ssize_t got = read(k->signals, signals, sizeof signals);

	(void)got;	/* it only says that there may be something */
	while (reap_one(k, now))
		;
}

/* --- the lobby's words ---------------------------------------------------- */

static void
obey(struct keeper *k, int64_t now)
{
	const struct keeper_ask *ask = &k->message.ask;
	struct run *r;

	if (ask->op == KEEPER_START) {
		start(k);
		return;
	}
	for (r = k->runs; r < k->runs + k->n && r->id != ask->id; r++)
		;
	if (r == k->runs + k->n)
		return;
	if (ask->op == KEEPER_KILL)
		stop(k, r, now);
	if (ask->op == KEEPER_SETTLED && r->pid == 0) {
		remove_lock(k, r);
		IDEM_LABEL("keeper.settled");
		advance(k, r);
	}
}

static bool
is_running_in(const struct keeper *k, uint32_t slot)
{
	uint32_t i;

	for (i = 0; i < k->n; i++)
		if (k->runs[i].pid != 0 && k->runs[i].slot == (int)slot)
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
listen_once(struct keeper *k, int64_t now)
{
	int i;

	for (i = 0; i < ASKS_A_TURN && k->n < RUNS_MAX; i++) {
		switch (keeper_wire_receive(k->o->socket, &k->message)) {
		case KEEPER_NOTHING:
			return;
		case KEEPER_GOT:
			obey(k, now);
			keeper_wire_drop(&k->message);
			break;
		case KEEPER_OVER:
			k->over = k->deaf = true;
			free_idle_slots(k);
			advance_all(k);
			return;
		}
	}
}

/* --- the loop ------------------------------------------------------------- */

static int
wait_ms(const struct keeper *k, int64_t now)
{
	int64_t at = INT64_MAX;
	uint32_t i;

	for (i = 0; i < k->n; i++) {
		const struct run *r = &k->runs[i];

		if (r->pid == 0)
			continue;
		if (r->kill_at < at)
			at = r->kill_at;
		if (!r->stopped && r->limit_at < at)
			at = r->limit_at;
	}
	if (at == INT64_MAX)
		return -1;
	if (at <= now)
		return 0;
	return at - now < INT_MAX ? (int)(at - now) : INT_MAX;
}

static void
turn(struct keeper *k)
{
	struct pollfd fds[] = {
		{ .fd = k->signals, .events = POLLIN },
		{ .fd = k->over ? -1 : k->o->socket }
	};
	int64_t now = idem_boot_ms(&idem_clock_real);

	if (k->n < RUNS_MAX)
		fds[1].events = POLLIN;
	if (any_untold(k))
		fds[1].events |= POLLOUT;
	if (poll(fds, 2, wait_ms(k, now)) < 0)
		return;
	now = idem_boot_ms(&idem_clock_real);
	/* First who has ended by itself, so that it is not said to be late. */
	if (fds[0].revents != 0)
		reap(k, now);
	keep_limits(k, now);
	if ((fds[1].revents & (POLLOUT | POLLHUP | POLLERR)) != 0)
		advance_all(k);
	if (fds[1].revents != 0)
		listen_once(k, now);
}

int
keeper_main(const struct keeper_options *o)
{
	int signals = keeper_begin(o);
	struct keeper *k;

	if (signals < 0)
		return EXIT_SYSTEM;
	k = calloc(1, sizeof *k);
	if (k == NULL) {
		close(signals);
		return EXIT_SYSTEM;
	}
	k->o = o;
	k->signals = signals;
	while (!k->over || k->n > 0)
		turn(k);
	close(signals);
	free(k);
	return 0;
}
