/* SPDX-License-Identifier: ISC */
#ifndef CHILD_PRIVATE_H
#define CHILD_PRIVATE_H

#include "child.h"

#include <stdint.h>

/* For child*.c alone: what one is given besides its descriptors. */
#define CHILD_VARS 64

struct child_vars {
	char run[80], lane[CHILD_NAME + 16], folder[160];
	const char *at[CHILD_VARS];	/* NULL last */
};

/* -1: more than there is room for. */
int child_vars(struct child_vars *, const struct child_spec *);

/* One start: all of it is made before, so that little is left to be done
   between vfork and execve. */
struct child_start {
	const char *const *argv, *const *env;
	const char *folder;
	int in, out, pass;		/* pass -1: none */
	uint64_t limit;			/* child_limit of its lane */
};
/* The process; -1 and errno, of its execve too. */
pid_t child_spawn(const struct child_start *);

/* --- a mark that nobody wipes (child_limit.c) ----------------------------- */

/* Once, before the warden is there, so that it knows them too. */
void child_limit_begin(void);
/* What a process of the lane, cut to CHILD_NAME, gets as its RLIMIT_LOCKS; 0:
   none can be given here.  False: there are too many lanes. */
bool child_limit(const char *lane, uint64_t *out);
/* lane NULL: any. */
enum child_limit {
	CHILD_LIMIT_OURS,
	CHILD_LIMIT_OTHER,	/* of another lane, or nobody's */
	CHILD_LIMIT_UNKNOWN	/* we may not look, or it is gone */
};
enum child_limit child_limit_look(pid_t, const char *lane);

/* --- child_find.c --------------------------------------------------------- */

void child_nap(void);		/* between two looks */

/* --- child_all.c ---------------------------------------------------------- */

/* child_kill_all, and how many; true: it has given up, and some are left. */
bool child_kill_left(const char *lane, size_t *n);

/* --- process groups (child_group.c) --------------------------------------- */

/*
 * Who forks and ends for ever is never found by a look at /proc; but a signal
 * to its process group reaches it, for there the kernel lets no fork slip
 * through.  So the groups of direct children are known.  A group's number
 * cannot become another's while its leader is not reaped: that is not done
 * until the child is forgotten.
 *
 * The lane is copied, cut to CHILD_NAME.  False: there is no room.
 */
bool child_group_add(pid_t id, const char *lane);
void child_group_drop(pid_t id);	/* none such: nothing */
void child_group_clear(void);
void child_group_tell(void);		/* all of them to the warden */
/* lane NULL: any. */
bool child_group_has(pid_t id, const char *lane);
void child_group_signal(const char *lane, int signal);

/*
 * To the warden (warden.c), which ends these groups when the simulator is gone.
 * The first is called by the child before it is a program: only what may be
 * done after vfork(2).
 */
void child_warden_add(pid_t group);
void child_warden_drop(pid_t group);

#endif
