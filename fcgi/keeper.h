/* SPDX-License-Identifier: ISC */
#ifndef KEEPER_H
#define KEEPER_H

#include "buf.h"
#include "journal.h"
#include "problem.h"
#include "shm.h"

/* Of its process: proc(5), comm; idemd(8). */
#define KEEPER_NAME "idem-keeper"

/*
 * The keeper: the small single-threaded process that starts programs, holds
 * their locks and reaps them (doc/design.md, 5, Programs).  It talks with its
 * lobby over one SOCK_SEQPACKET socket pair and ends when that is closed and
 * its last run is over.  When it dies, its programs die with it.
 */
struct keeper_options {
	int socket;		/* to the lobby */
	struct shm *shm;
	uint64_t number;	/* from shm->next_keeper */
	uint32_t grace_ms;	/* SIGTERM to SIGKILL of a group */
};

/*
 * Runs until the end; the exit status: 0, or 111 if it could not begin.  Takes
 * the process over: closes every descriptor but the above, the workers'
 * eventfds and 0, 1, 2; blocks all signals, so that only SIGKILL ends it; has
 * its name.
 * Block them before the fork, lest a handler of the parent's runs in between.
 */
int keeper_main(const struct keeper_options *);

/* --- the lobby's side ----------------------------------------------------- */

/*
 * What to run.  Borrowed for the call; in, out and err are runner_start's to
 * close, whatever it answers.  The note's two stay the caller's, and so does
 * err_read: the keeper gets copies.
 */
struct run_spec {
	const char *path;	/* absolute */
	const char *folder;	/* to change to; NULL: none */
	char *const *argv;	/* NULL last */
	char *const *envp;	/* NULL last */
	struct idem_run_file note;	/* of a keyed run: its state is set to
				   begun before the start, to not begun if
				   there was none; the program inherits the
				   lock.  Each may be -1: no state, no lock */
	struct idem_owner owner;	/* of the note, for its sum */
	bool spooled;		/* its output goes into the note's file, by the
				   keeper, with a trailer; out is not used.
				   Else the lobby reads the pipe */
	int err_read;		/* the lobby's end of err, non-blocking: once no
				   lobby reads it the keeper does, so that the
				   program is not hurt by a write.  The lobby
				   reads it until its last word on the run; so
				   only with a note.  -1: not */
	int slot;		/* got for this keeper, which frees it once
				   it is asked; -1: none */
	uint32_t limit_ms;	/* then SIGTERM to the group, grace, SIGKILL */
	int64_t not_after_ms;	/* boot clock: past it, not started; 0: never */
	int in, out, err;	/* fd 0, 1, 2 of the program */
};

struct run_end {
	bool started;		/* execve succeeded */
	enum idem_problem problem;	/* not started: 404, 403, 500, 431, or
					   BUSY (no memory, no process, late) */
	int error;		/* not started, or spool_failed: errno, for the
				   log */
	int status;		/* started: as of waitpid(2) */
	bool limit;		/* it was over its limit (or killed by us) */
	bool spooled;		/* its output is in its file, and a trailer */
	bool spool_failed;	/* it could not be written there: only `out`
				   has it, if `whole` */
	bool whole;		/* all of its output comes with this word */
	bool held;		/* a child of it held the pipe when it had been
				   idle for KEEPER_IDLE_MS */
	uint64_t len;		/* bytes of output */
};
#define KEEPER_IDLE_MS 1000	/* of the pipe after reaping; then it ends */
#define KEEPER_OUT_MAX (16 * 1024)	/* bytes of output told with the end */

struct runner;			/* the socket to one keeper */

struct runner_user {
	/* out: its output, if end->whole; borrowed.  A spooled run has ended
	   when its output has. */
	void (*ended)(void *arg, uint64_t id, const struct run_end *,
	    struct idem_bytes out);
	void (*lost)(void *arg);	/* the keeper, with all its runs */
};

struct loop;
/* Owns the socket from then on; NULL: it is still the caller's. */
struct runner *runner_new(struct loop *, int socket, uint64_t keeper,
    const struct runner_user *, void *arg);
void runner_free(struct runner *);
uint64_t runner_keeper(const struct runner *);

/*
 * id: the caller's number, unique on this socket.  0: ended (or lost) follows,
 * not before this returns.  -1: surely not started, nothing follows, and the
 * slot is still the caller's.
 */
int runner_start(struct runner *, uint64_t id, const struct run_spec *);
/* The group gets SIGTERM, then SIGKILL, as at its limit; ended follows.  Only
   tests ask for it before. */
void runner_kill(struct runner *, uint64_t id);
/* The program (not its group) gets this signal, if it still runs. */
void runner_signal(struct runner *, uint64_t id, int signal);
/*
 * The last word on each started run that had a note, after ended or before.
 * settled: its outcome is written and its file gone: the keeper unlocks, and
 * forgets it; before its end: after that.  unknown: its lobby, that has the
 * lock too, is about to write that: the same, but a child of it keeps the lock,
 * lest the key be started again beside it.  left: nobody waits for it any more:
 * its state is orphan from now on, its end is written to its file, and the lock
 * is let go, for others to settle.  Without a word all are left when the lobby
 * is gone.  ended follows all the same.
 */
void runner_settled(struct runner *, uint64_t id);
void runner_unknown(struct runner *, uint64_t id);
void runner_left(struct runner *, uint64_t id);

#endif
