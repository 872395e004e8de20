/* SPDX-License-Identifier: ISC */
#include "ctl.h"

#include "answer.h"
#include "run_lock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- what there is -------------------------------------------------------- */

int64_t
ctl_run_output(int fd, const struct idem_evidence *e)
{
	struct stat st;

	if (e->ended)
		return (int64_t)e->trailer.len;
	if (fstat(fd, &st) != 0 || st.st_size <= IDEM_NOTE_SIZE)
		return -1;
	return (int64_t)st.st_size - IDEM_NOTE_SIZE;
}

/* A note of another attempt says nothing of this one. */
static bool
is_of(const struct idem_note *n, const struct idem_listed *l)
{
	return memcmp(n->key.at, l->key.at, sizeof n->key.at) == 0 &&
	    memcmp(n->owner.at, l->record.owner.at, sizeof n->owner.at) == 0 &&
	    (n->attempt == 0 || n->attempt == l->record.attempt);
}

/* Finished is only what whoever settles it would find so. */
static void
judge_answer(int fd, struct ctl_run *run)
{
	struct idem_blob *saved = NULL;

	switch (answer_of_run(fd, &run->e, &saved, &run->why, &run->why_code)) {
	case ANSWER_WHOLE:
		break;
	case ANSWER_NOTHING:
		run->proof = IDEM_PROOF_NOTHING;
		break;
	case ANSWER_NOT_WHOLE:
		run->proof = IDEM_PROOF_DEAD;
		break;
	case ANSWER_LATER:
		run->proof = IDEM_PROOF_NONE;
		break;
	}
	idem_blob_drop(saved);
}

void
ctl_run_look(const struct ctl *c, const struct ctl_found *f,
    struct ctl_run *run)
{
	const struct idem_proof_times times = {
		.lease_ms = c->lease_ms,
		.limit_ms = c->limit_ms,
		.grace_ms = c->grace_ms,
		.shared = f->in != NULL && f->in->kind == CTL_REDIS
	};
	int fd = -1;

	*run = (struct ctl_run){ .output = -1, .e.lock = IDEM_RUN_MISSING };
	if (c->folder >= 0)
		idem_evidence(c->folder, &f->l.record.owner, &run->e, &fd);
	run->known = run->e.noted && is_of(&run->e.note, &f->l);
	run->proof = idem_journal_proof(&run->e, &f->l.record, &f->l.key,
	    f->now_ms, &c->boot, idem_boot_ms(&idem_clock_real), &times);
	if (run->known)
		run->output = ctl_run_output(fd, &run->e);
	if (run->known && run->e.ended && run->proof == IDEM_PROOF_FINISHED)
		judge_answer(fd, run);
	if (fd >= 0)
		close(fd);
}

void
ctl_run_record(const struct idem_evidence *e, struct idem_listed *l)
{
	const struct idem_note *n = &e->note;

	*l = (struct idem_listed){
		.key = n->key,
		.record = {
			.state = e->unknown ? IDEM_STATE_UNKNOWN :
			    IDEM_STATE_IN_PROGRESS,
			.attempt = n->attempt,
			.owner = n->owner,
			.boot = n->boot,
			.pid = n->pid,
			.made_at = n->made_ms,
			.ended_at = e->unknown ? n->why_ms : 0,
			.lease_end = INT64_MAX,
			.renewed_at = INT64_MAX
		}
	};
}

/* --- in words ------------------------------------------------------------- */

const char *
ctl_run_text(const struct ctl_run *run)
{
	bool held = run->e.lock == IDEM_RUN_HELD;

	switch (run->proof) {
	case IDEM_PROOF_DEAD:
		return "dead";
	case IDEM_PROOF_NOTHING:
		return run->e.ended ? "ended" : "not begun";
	case IDEM_PROOF_FINISHED:
		return "ended";
	case IDEM_PROOF_LAPSED:
		return held ? "over its limit, but alive" : "silent";
	case IDEM_PROOF_NONE:
		return held ? "alive" : "not known";
	}
	abort();
}

/* Why there is no note. */
static const char *
none_text(const struct ctl *c, const struct ctl_found *f,
    const struct ctl_run *run)
{
	bool here = memcmp(f->l.record.boot.at, c->boot.at,
	    sizeof c->boot.at) == 0;

	if (c->folder < 0)
		return "no note: there is no run folder here, or none that can "
		    "be opened";
	if (run->e.noted)
		return "no note: that of its owner is of another run";
	if (run->e.lock != IDEM_RUN_MISSING)
		return "no note: its run file cannot be read";
	if (here)
		return "no note on this host, though it ran here: removed, or "
		    "in another run folder";
	if (f->in != NULL && f->in->kind == CTL_REDIS)
		return "no note on this host: it ran on another, or here "
		    "before the last boot";
	return "no note: it ran before the last boot";
}

static const char *
held_text(const struct ctl_run *run)
{
	if (run->e.ended)
		return "it has ended, and what came of it is being stored";
	switch (run->e.note.state) {
	case IDEM_NOTE_CLAIMING:
	case IDEM_NOTE_HANDED:
	case IDEM_NOTE_NOT_BEGUN:
		return "nothing has begun yet";
	case IDEM_NOTE_BEGUN:
		return "it runs";
	case IDEM_NOTE_ORPHAN:
		return "it runs, though who had waited for it is dead";
	}
	abort();
}

static const char *
free_text(const struct ctl_run *run)
{
	switch (run->proof) {
	case IDEM_PROOF_NOTHING:
		return run->e.ended ? "it ended with an answer that frees the "
		    "key, which is not written yet" :
		    "nothing has begun: the key is to be freed";
	case IDEM_PROOF_FINISHED:
		return "it ended with a whole answer, which is to be stored";
	case IDEM_PROOF_DEAD:
		return "it died while it ran, without a word of how";
	case IDEM_PROOF_LAPSED:
		return "its worker died beside the FastCGI application";
	case IDEM_PROOF_NONE:
		return "its answer cannot be read now";
	}
	abort();
}

/* Whatever it says had begun or not, it may be older than the last of it. */
static const char *
earlier_text(const struct idem_note *n)
{
	return n->state == IDEM_NOTE_BEGUN || n->state == IDEM_NOTE_ORPHAN ?
	    "the host went down while it ran" :
	    "the host went down when it was about to begin";
}

void
ctl_run_evidence(const struct ctl *c, const struct ctl_found *f,
    const struct ctl_run *run, char to[CTL_EVIDENCE])
{
	struct idem_note note = run->e.note;
	const char *text;

	if (note.why == IDEM_WHY_NOT_SAID && run->why != IDEM_WHY_NOT_SAID) {
		note.why = run->why;
		note.why_code = run->why_code;
	}
	if (run->known && note.why != IDEM_WHY_NOT_SAID) {
		idem_note_why_text(&note, to, CTL_EVIDENCE);
		return;
	}
	if (!run->known)
		text = none_text(c, f, run);
	else if (run->e.lock == IDEM_RUN_HELD)
		text = held_text(run);
	else if (memcmp(note.boot.at, c->boot.at, sizeof note.boot.at) != 0)
		text = earlier_text(&note);
	else
		text = free_text(run);
	snprintf(to, CTL_EVIDENCE, "%s", text);
}
