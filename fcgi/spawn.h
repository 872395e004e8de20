/* SPDX-License-Identifier: ISC */
#ifndef SPAWN_H
#define SPAWN_H

#include "problem.h"

#include <stdint.h>
#include <sys/types.h>

/*
 * The one way in which idem starts a program: vfork and execve, from a process
 * with one thread, all signals blocked and none of them ignored or handled
 * (doc/design.md, 5, Programs).  What it costs does not grow with our size.
 */
struct spawn {
	const char *path;	/* absolute */
	const char *folder;	/* to change to; NULL: none */
	char *const *argv;
	char *const *envp;
	int in, out, err;	/* its 0, 1, 2 */
	int lock;		/* kept open at a high number; -1: none */
	unsigned alarm_s;	/* the kernel ends it after; 0: never */
	int64_t not_after_ms;	/* boot clock: past it no exec; 0: none */
};

enum spawn_step {
	SPAWN_DONE,
	SPAWN_FORK,		/* no process to be had */
	SPAWN_SETUP,		/* its descriptors, its group */
	SPAWN_FOLDER,
	SPAWN_LATE,
	SPAWN_EXEC
};

struct spawned {
	pid_t pid;		/* done: a process group of its own */
	enum spawn_step failed;	/* where, SPAWN_DONE: nowhere */
	int error;		/* errno there */
};

/*
 * A child that did not become the program is gone when this returns.  The
 * result is the caller's memory, not ours: the child writes into it, and a
 * compiler must not think that nobody could have.
 */
void spawn(const struct spawn *, struct spawned *);

/* What a failure says to the client; looks at the program for some of them. */
enum idem_problem spawn_problem(const struct spawned *, const char *path);

/* Close these and all between, also where close_range(2) is missing. */
int spawn_close(unsigned first, unsigned last);

#endif
