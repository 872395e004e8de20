/* SPDX-License-Identifier: ISC */
#ifndef KEEPER_H
#define KEEPER_H

#include "problem.h"
#include "record.h"
#include "shm.h"

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
	int lock_folder;	/* idem_run_folder; -1: no locks (no ledger) */
	uint32_t grace_ms;	/* SIGTERM to SIGKILL of a group */
};

/*
 * Runs until the end; the exit status: 0, or 111 if it could not begin.  Takes
 * the process over: closes every descriptor but the above, the workers'
 * eventfds and 0, 1, 2; blocks all signals, so that only SIGKILL ends it.
 * Block them before the fork, lest a handler of the parent's runs in between.
 */
int keeper_main(const struct keeper_options *);

/* --- the lobby's side ----------------------------------------------------- */

/*
 * What to run.  Borrowed for the call; the three descriptors are runner_start's
 * to close, whatever it answers.
 */
struct run_spec {
	const char *path;	/* absolute */
	const char *folder;	/* to change to; NULL: none */
	char *const *argv;	/* NULL last */
	char *const *envp;	/* NULL last */
	bool keyed;		/* lock it; else owner is not used */
	struct idem_owner owner;
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
	int error;		/* not started: errno, for the log */
	int status;		/* started: as of waitpid(2) */
	bool limit;		/* it was over its limit (or killed by us) */
};

struct runner;			/* the socket to one keeper */

struct runner_user {
	void (*ended)(void *arg, uint64_t id, const struct run_end *);
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
/* The group gets SIGTERM, then SIGKILL; ended follows. */
void runner_kill(struct runner *, uint64_t id);
/* The run's outcome is settled: unlock, remove the lock file, forget it.  Due
   for each started keyed run, after ended.  Without it the keeper unlocks, and
   leaves the file, when the lobby is gone. */
void runner_settled(struct runner *, uint64_t id);

#endif
