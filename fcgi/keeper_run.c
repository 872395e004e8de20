/* SPDX-License-Identifier: ISC */
#include "keeper_run.h"

#include "clock.h"
#include "label.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static int64_t
boot_ms(void)
{
	return idem_boot_ms(&idem_clock_real);
}

/* --- its place ------------------------------------------------------------ */

struct keeper_run *
keeper_run_new(struct keeper *k)
{
	struct keeper_run *r = k->unused;

	if (r != NULL)
		k->unused = r->older;
	else
		r = &k->room[k->touched++];
	*r = (struct keeper_run){
		.keeper = k, .older = k->newest,
		.note = { -1, -1 },
		.spool.pipe.fd = -1,
		.err = { .watch.fd = -1, .fd = -1 }
	};
	if (k->newest != NULL)
		k->newest->newer = r;
	else
		k->oldest = r;
	k->newest = r;
	k->n++;
	return r;
}

static void
run_free(struct keeper_run *r)
{
	struct keeper *k = r->keeper;

	keeper_spool_free(&r->spool, k->loop);
	if (r->newer != NULL)
		r->newer->older = r->older;
	else
		k->newest = r->older;
	if (r->older != NULL)
		r->older->newer = r->newer;
	else
		k->oldest = r->newer;
	r->older = k->unused;
	k->unused = r;
	k->n--;
}

/* --- its way out ---------------------------------------------------------- */

bool
keeper_run_is_noted(const struct keeper_run *r)
{
	return r->note.file >= 0 || r->note.lock >= 0;
}

static bool
tell(const struct keeper_run *r)
{
	struct keeper *k = r->keeper;
	struct keeper_tell message;
	struct keeper_packet packet = {
		.parts[0] = { &message, sizeof message }
	};

	memset(&message, 0, sizeof message);
	message.id = r->id;
	message.end = r->end;
	if (r->end.whole)
		packet.parts[1] = (struct iovec){
			r->spool.kept, (size_t)r->end.len
		};
	if (k->full || k->deaf)
		return false;
	if (keeper_wire_send(k->o->socket, &packet) == 0)
		return true;
	if (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM)
		k->full = true;
	else
		k->deaf = true;
	return false;
}

/*
 * Nobody else writes down how one ended that is left and has no answer in its
 * file: that was not to be there, or had no room.  A child that keeps the lock
 * would keep its key in progress.
 */
static void
write_end(struct keeper_run *r)
{
	struct idem_trailer trailer = {
		.status = r->end.status, .limit = r->end.limit
	};
	struct idem_run_out none;
	struct idem_evidence e;

	if (r->note.file < 0 || r->end.spooled)
		return;
	idem_evidence_of(r->note.file, IDEM_RUN_HELD, &e);
	/* Its lobby may have saved its answer before it left. */
	if (!e.noted || e.ended)
		return;
	idem_run_out_init(&none, &e.note.owner);
	if (ftruncate(r->note.file, IDEM_NOTE_SIZE) != 0 ||
	    idem_run_out_end(&none, r->note.file, idem_bytes_text(""),
	    &trailer, boot_ms()) != 0)
		idem_run_out_free(&none);
}

/*
 * Unlock it only if that says nothing wrong: its key has an answer, or is free.
 * Else a child that it left behind keeps it locked, and may be at work yet; one
 * in a group of its own even when the run's was killed.
 */
static void
let_go(struct keeper_run *r)
{
	if (r->word == KEEPER_WORD_LEFT)
		write_end(r);
	if (r->note.lock >= 0 && r->word == KEEPER_WORD_SETTLED)
		flock(r->note.lock, LOCK_UN);
	/* Before, so that it can say of which key. */
	if (r->word == KEEPER_WORD_SETTLED || r->word == KEEPER_WORD_UNKNOWN)
		IDEM_LABEL_NOTE("keeper.settled", r->note.file);
	idem_run_file_close(&r->note);
}

void
keeper_run_advance(struct keeper_run *r)
{
	if (!r->told) {
		r->told = tell(r);
		IDEM_LABEL_NOTE("keeper.told", r->note.file);
	}
	if (!r->told && !r->keeper->deaf)
		return;
	if (keeper_run_is_noted(r) && r->word == KEEPER_WORD_NONE)
		return;
	let_go(r);
	run_free(r);
}

void
keeper_run_over(struct keeper_run *r)
{
	loop_timer_stop(r->keeper->loop, &r->timer);
	keeper_err_end(&r->err);
	r->over = true;
	keeper_run_advance(r);
}

void
keeper_run_word(struct keeper_run *r, enum keeper_word word)
{
	if (r->word != KEEPER_WORD_NONE || !keeper_run_is_noted(r))
		return;
	r->word = word;
	if (word == KEEPER_WORD_LEFT && r->note.file >= 0) {
		idem_note_set_state(r->note.file, IDEM_NOTE_ORPHAN);
		IDEM_LABEL_NOTE("keeper.orphan", r->note.file);
	}
	if (r->over)
		keeper_run_advance(r);
	else
		keeper_err_take(&r->err, r->keeper->loop);
}

/* --- its end -------------------------------------------------------------- */

void
keeper_run_stop(struct keeper_run *r)
{
	struct keeper *k = r->keeper;

	if (r->pid == 0 || r->stopped)
		return;
	r->stopped = true;
	loop_timer(k->loop, &r->timer, boot_ms() + k->o->grace_ms);
	kill(-r->pid, SIGTERM);
}

void
keeper_run_signal(const struct keeper_run *r, int signal)
{
	if (r->pid != 0)
		kill(r->pid, signal);
}

void
keeper_run_due(struct timer *t, int64_t now_ms)
{
	struct keeper_run *r = (struct keeper_run *)((char *)t -
	    offsetof(struct keeper_run, timer));

	if (r->pid == 0) {
		keeper_out_idle_due(r, now_ms);
	} else if (!r->stopped) {
		keeper_run_stop(r);
	} else {
		kill(-r->pid, SIGKILL);
		kill(r->pid, SIGKILL);	/* it may have left its group */
	}
}

void
keeper_run_ending(struct keeper_run *r, bool by_signal, int status)
{
	if (by_signal && status == SIGALRM && boot_ms() >= r->limit_ms)
		r->stopped = true;	/* by the alarm: we were held up */
	/* Now: once it is reaped, its group's number may be another's. */
	if (r->stopped || (by_signal && r->word == KEEPER_WORD_LEFT))
		kill(-r->pid, SIGKILL);
}

void
keeper_run_reaped(struct keeper_run *r, int status)
{
	r->pid = 0;
	r->end.status = status;
	r->end.limit = r->stopped;
	shm_slot_put(r->keeper->o->shm, r->slot, r->keeper->o->number);
	IDEM_LABEL_NOTE("program.exited", r->note.file);
	if (r->spooled)
		keeper_out_reaped(r);
	else
		keeper_run_over(r);
}
