/* SPDX-License-Identifier: ISC */
#ifndef CHILD_H
#define CHILD_H

#include "loop.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * Processes of a run.  Each direct one is in a process group of its own and
 * gets SIGKILL when the simulator ends.  Everything that descends from it has
 * its marks, a limit that limits nothing (RLIMIT_LOCKS) and, where that cannot
 * be given or read, its environment (IDEMSIM_RUN, IDEMSIM_LANE), by which it is
 * found in /proc, whoever its parent is by now; and a warden, a process that
 * the simulator starts first, ends all of a run and removes its folder when the
 * simulator is gone.
 */
#define CHILD_NAME 32

struct child_spec {
	const char *name;		/* lane: "g1", "a" */
	const char *const *argv;	/* NULL last; argv[0] is a path */
	const char *const *env;		/* "NAME=value" besides ours; or NULL */
	const char *folder;		/* to change to; NULL: none */
	const char *log;		/* file for 1 and 2, appended; NULL:
					   lines go to `line` */
	int pass;			/* a descriptor that it gets as 3; -1 */
};

struct child {
	pid_t pid;			/* 0: none runs */
	char name[CHILD_NAME];
	int status;			/* of waitpid(2), once it has ended */
	bool doomed;			/* somebody wants it to end */

	/* To be set before. */
	void (*ended)(struct child *);	/* pid is 0, status set */
	/* A line it wrote to 1 or 2, without its end; or NULL. */
	void (*line)(struct child *, const char *text, size_t len);
	void *arg;

	struct child_private *in;	/* private */
};

/* -1 and errno (of exec too). */
int child_start(struct loop *, struct child *, const struct child_spec *);
/* The process alone; -1 and errno. */
int child_signal(struct child *, int signal);
/* It is killed, if it has not ended, and all that is left in its group; then
   the group's number may become another's. */
void child_forget(struct child *);

/* --- all that bears a mark ------------------------------------------------ */

#define CHILD_PIDS 4096	/* more are not found */

/*
 * Live processes of this run whose lane is `lane` (NULL: any), at most max; how
 * many there are.  A zombie is none.  Where the limit is no mark, one that
 * wiped its environment is found only while it is a child, or in the process
 * group, of one that did not, or in the group of one of child_start.
 */
size_t child_find(const char *lane, pid_t *pids, size_t max);
/*
 * Stop them all (so that none can make another), look again until no more are
 * found, then SIGKILL until none is left, or for 15 s and 500 looks.  How many.
 * Those of child_start are not reaped by it: `ended` is called in a later turn.
 * What is in their groups, whether they have ended or not, is reached without a
 * look.
 */
size_t child_kill_all(const char *lane);
size_t child_stop_all(const char *lane);	/* SIGSTOP, the same way */
size_t child_continue_all(const char *lane);	/* SIGCONT, in any order */

struct child_stat {	/* of proc(5), pid_stat */
	pid_t pid, parent, group;
	char name[16];		/* cut to that, as by the kernel */
	char state;		/* 'R', 'S', 'D', 'T', 'Z' */
	unsigned long long started;	/* in ticks since the boot */
};
bool child_stat(pid_t, struct child_stat *);	/* false: it is gone */
/*
 * Until the kernel has it in one of these states, for 10 s at most.  False: it
 * is in none of them, for its time is up, or it is dead or gone instead.
 */
bool child_await_state(pid_t, const char *states);
/* The peak of one's resident memory and more are not asked for; but whether the
   kernel's OOM killer may have been at work: a count that grows (cgroup
   memory.events, /proc/vmstat oom_kill); -1: not known here. */
long child_oom_kills(void);

/* --- the warden ----------------------------------------------------------- */

/*
 * Before anything else: a fresh folder for all of this process's runs (below
 * TMPDIR or /tmp, mode 0700) and its warden; if they are there, the same again.
 * A warden that somebody has killed has a successor from the next child_start
 * on, and that one the same folder.
 * The folder's name is short enough for sockets in it (under 48 bytes).  NULL:
 * cannot, and errno.
 */
const char *child_warden_start(void);
/* In order: everything ended, folder removed unless keep. */
void child_warden_end(bool keep);
const char *child_folder(void);	/* that folder; NULL: no warden */
const char *child_mark(void);	/* value of IDEMSIM_RUN: "PID-START-CHANCE" */

#endif
