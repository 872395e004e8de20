/* SPDX-License-Identifier: ISC */
#ifndef PATHS_H
#define PATHS_H

/*
 * Where programs and libraries lie.  Paths are absolute and good for the rest
 * of the process; NULL: there is none.
 */

/* One of our own: $IDEMSIM_LIBEXEC, then the folder of the program that runs,
   then the one that they are installed in. */
const char *paths_find(const char *name);

/* Another's: $PATH, then where servers lie, which is not in everyone's. */
const char *paths_command(const char *name);

#endif
