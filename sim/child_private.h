/* SPDX-License-Identifier: ISC */
#ifndef CHILD_PRIVATE_H
#define CHILD_PRIVATE_H

#include "child.h"

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
};
/* The process; -1 and errno, of its execve too. */
pid_t child_spawn(const struct child_start *);

#endif
