/* SPDX-License-Identifier: ISC */
#ifndef TESTS_LITTER_H
#define TESTS_LITTER_H

#include "child_rig.h"

/*
 * What a run may leave behind, below TMPDIR and in /proc: "litter" makes files
 * and sockets; of "runner" and "ghost" a file there has their process group in
 * its name, "group-N", whose leader ends.
 */
extern const struct child_role litter_roles[];
extern const size_t litter_roles_n;

/* Of a folder, but for those whose name begins with a dot. */
int litter_files_in(const char *path);

#endif
