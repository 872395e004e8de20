/* SPDX-License-Identifier: ISC */
#include "keeper_run.h"

#include "clock.h"
#include "label.h"
#include "spawn.h"

#include <errno.h>
#include <unistd.h>

static bool
refuse(struct keeper_run *r, int error)
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
run_program(struct keeper_run *r, int out)
{
	struct keeper_message *m = &r->keeper->message;
	const struct spawn s = {
		.path = m->path, .folder = m->folder,
		.argv = m->argv, .envp = m->envp,
		.in = m->fds[KEEPER_FD_IN], .out = out,
		.err = m->fds[KEEPER_FD_ERR],
		.lock = r->note.lock,
		.not_after_ms = m->ask.not_after_ms,
		/* The kernel's own limit, just after our last means. */
		.alarm_s = (unsigned)(((uint64_t)m->ask.limit_ms +
		    r->keeper->o->grace_ms + 1999) / 1000)
	};
	struct spawned done;

	spawn(&s, &done);
	r->end.problem = spawn_problem(&done, m->path);
	r->end.error = done.error;
	if (done.failed != SPAWN_DONE)
		return false;
	r->pid = done.pid;
	return true;
}

/* The last before the spawn: what is begun may have its effect. */
static bool
mark_and_run(struct keeper_run *r, int out)
{
	if (r->note.file >= 0) {
		r->begun = true;
		if (idem_note_set_state(r->note.file, IDEM_NOTE_BEGUN) != 0)
			return refuse(r, errno != EINVAL ? errno : EIO);
		IDEM_LABEL_NOTE("program.begun", r->note.file);
	}
	if (IDEM_LABEL_FAILS_NOTE("program.spawn", r->note.file))
		return refuse(r, errno);
	return run_program(r, out);
}

static bool
begin(struct keeper_run *r)
{
	struct keeper *k = r->keeper;
	const struct keeper_ask *ask = &k->message.ask;
	int out = k->message.fds[KEEPER_FD_OUT];
	bool started;

	if (k->message.error != 0)
		return refuse(r, k->message.error);
	if (k->n > KEEPER_RUNS_MAX - KEEPER_RUNS_SPARE)
		return refuse(r, EAGAIN);
	/* Before it: we may be held up while the program runs already. */
	r->limit_ms = idem_boot_ms(&idem_clock_real) + ask->limit_ms;
	r->until_ms = r->limit_ms + k->o->grace_ms + KEEPER_IDLE_MS;
	r->timer.due = keeper_run_due;
	if (loop_timer(k->loop, &r->timer, r->limit_ms) != 0)
		return refuse(r, ENOMEM);
	if (ask->spooled && keeper_out_open(r, &ask->owner, &out) != 0)
		return refuse(r, errno);
	started = mark_and_run(r, out);
	if (ask->spooled)
		close(out);	/* else its end never came */
	return started;
}

/* The lobby goes on with the note: the lock is not ours to give up. */
static void
not_started(struct keeper_run *r)
{
	struct keeper *k = r->keeper;

	if (r->begun)
		idem_note_set_state(r->note.file, IDEM_NOTE_NOT_BEGUN);
	idem_run_file_close(&r->note);
	keeper_out_drop(r);
	shm_slot_put(k->o->shm, r->slot, k->o->number);
	keeper_run_over(r);
}

void
keeper_start(struct keeper *k)
{
	struct keeper_run *r = keeper_run_new(k);
	struct keeper_message *m = &k->message;

	r->id = m->ask.id;
	r->slot = m->ask.slot;
	r->note.file = keeper_wire_take(m, KEEPER_FD_FILE);
	r->note.lock = keeper_wire_take(m, KEEPER_FD_LOCK);
	if (keeper_run_is_noted(r))
		r->err.fd = keeper_wire_take(m, KEEPER_FD_ERR_READ);
	IDEM_LABEL_NOTE("keeper.start", r->note.file);
	r->end.started = begin(r);
	IDEM_LABEL_NOTE("program.spawned", r->note.file);
	if (!r->end.started)
		not_started(r);
}
