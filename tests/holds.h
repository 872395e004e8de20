/* SPDX-License-Identifier: ISC */
#ifndef TESTS_HOLDS_H
#define TESTS_HOLDS_H

#include "rig.h"

#include <stdbool.h>

/* What a worker holds: that must be the same before and after. */
struct worker {
	pid_t lobby, keeper;
};

struct holds {
	long fds, keeper_fds, children;
	long notes;		/* of fds: files of runs, which the lobby may
				   keep for the next ones (run_note.h) */
	long kb, keeper_kb;	/* anonymous memory: what others share with it
				   or not is not its doing */
};

/* Of an instance with one worker, by its log; bails out. */
void holds_worker(struct rig *, struct worker *);

/* As soon as nothing has changed for a while, and neither of them has anything
   to do: one that is held up changes nothing either. */
struct holds holds_at_rest(const struct worker *);
/* As soon as descriptors and children are those, or after a minute: what was
   closed a moment ago may not be closed over there yet. */
struct holds holds_until(const struct worker *, const struct holds *);

/* A line of /proc/PID/status in kB: "VmHWM" is the most memory that it has had,
   "VmRSS" what it has; -1: unknown. */
long holds_status_kb(pid_t, const char *name);

#endif
