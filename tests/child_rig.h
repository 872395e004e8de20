/* SPDX-License-Identifier: ISC */
#ifndef TESTS_CHILD_RIG_H
#define TESTS_CHILD_RIG_H

#include "child.h"

/*
 * Children of a test that are the test's own program, in a role that its first
 * word names; and what they say.
 */
struct child_role {
	const char *name;
	void (*be)(void);	/* does not return */
};

struct heard {
	struct child child;
	char text[65536];	/* its lines, each with its end; "END" last */
	size_t len, lines;
	bool ended;
	size_t lines_before;	/* its end */
};

/* Is the program one of them?  Then it does not come back. */
void child_rig_play(int argc, char **argv, const struct child_role *, size_t n);
void child_rig_rest(void) __attribute__((noreturn));

/* `more`: the spec but name and argv; NULL: nothing.  As child_start. */
int child_rig_start(struct loop *, struct heard *, const char *lane,
    const char *role, const struct child_spec *more);
/* Wait for its end (false: not in time), or for so many lines (or bail out). */
bool child_rig_ended(struct loop *, struct heard *);
void child_rig_lines(struct loop *, struct heard *, size_t);

/* How many of a process group are in one of these states. */
size_t child_rig_group(pid_t group, const char *states);
/* Wait until there is none, look after look; false: not in time.  Zombies are
   init's to reap, in its own time. */
bool child_rig_none(pid_t group, const char *states);

#endif
