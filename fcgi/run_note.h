/* SPDX-License-Identifier: ISC */
#ifndef RUN_NOTE_H
#define RUN_NOTE_H

#include "journal.h"

/*
 * The lobby's side of a run's note: made before the claim that may win it, so
 * that whoever finds it free knows that nothing has begun.  A claim that did
 * not win leaves its file, and the owner in its name, to the next: nobody has
 * seen that owner.
 */
struct lobby;
struct visit;

struct run_note {
	struct idem_run_file at;	/* -1, -1: none */
	struct idem_owner owner;	/* in its name */
	uint64_t run;		/* of which the keeper has it too; 0: of none */
	bool unsure;		/* it may come to say more than we know */
	bool recorded;		/* it has a trailer */
	bool complained;	/* in the log, of what could not be written */
	/* What an unknown key would be unknown for. */
	enum idem_note_why why;
	int32_t why_code;
};
#define RUN_NOTES_SPARE 8

struct run_notes {
	struct run_note spare[RUN_NOTES_SPARE];
	unsigned n;
};

void run_notes_free(struct run_notes *, int folder);	/* removes the spare */

/*
 * Before a claim that may win, at that store: the visit's note, written; its
 * first one may change the visit's owner.  A take-over for a probe is noted as
 * begun: if we die with it, its key stays unknown.  False: it cannot be, and
 * why is in the log.  Without a run folder there are none: true.
 */
bool run_note_claim(struct visit *, enum idem_where, bool probing_take_over);

/* Is there one that stands for what this visit runs? */
bool run_note_is(const struct visit *);

/* Won, before anything else: of a take-over, what was noted of the run before
   it is not needed any more. */
void run_note_won(struct visit *);
/* The run comes next, under its attempt.  False: not written, and nothing may
   begin. */
bool run_note_handed(struct visit *);

/* Of an application elsewhere: it is about to begin; or it did not after all.
   False: not written, and it must not begin. */
bool run_note_begun(struct visit *, bool begun);

/* The visit's answer is there, with an end as of waitpid(2): write it down,
   unless the keeper has.  False: it could not be. */
bool run_note_record(struct visit *, int status, bool limit);

/*
 * The visit is over.  A note whose key is in the store as it should be is not
 * needed any more; that of an unknown one stays for people to read; any other
 * is left to who settles (settle.h).
 */
void run_note_over(struct visit *);

#endif
