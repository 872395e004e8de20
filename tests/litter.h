/* SPDX-License-Identifier: ISC */
#ifndef TESTS_LITTER_H
#define TESTS_LITTER_H

#include "child_rig.h"

/*
 * What a run may leave behind, below TMPDIR and in /proc: "litter" makes files
 * and sockets.  Once the first file is there, it is LITTER_PROCESSES processes
 * until it ends.  Of "runner" and "ghost" a file there has their process group
 * in its name, "group-N", whose leader ends.
 */
#define LITTER_PROCESSES 2

extern const struct child_role litter_roles[];
extern const size_t litter_roles_n;

/* Each of two has made something there. */
bool litter_is_of_two(const char *path);
/* Of a folder, but for those whose name begins with a dot. */
int litter_files_in(const char *path);

/* To all live processes of a simulator, by their environment; how many there
   are.  0: they are only counted. */
int litter_signal(pid_t simulator, int signal);

#endif
