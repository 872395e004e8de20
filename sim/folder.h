/* SPDX-License-Identifier: ISC */
#ifndef FOLDER_H
#define FOLDER_H

#include <stdio.h>

/*
 * Whole folders of a run.  Links are never followed, another file system is
 * never gone into, and what is not below the folder is never touched, whatever
 * somebody does to the tree meanwhile.  0; -1 and errno of the first thing that
 * could not be done (the rest was).
 */
int folder_make(const char *path);	/* and those that it is in; one that
					   is there is good */
int folder_remove(const char *path);	/* it is not there: 0 too */

/* Files and folders of `from` into `to`, which is made, mode 0700; what is
   neither is left out. */
int folder_copy(const char *from, const char *to);

/* A file, made or emptied, with what `write` puts into it (0; -1 and errno).
   0, and it is all there; -1 and errno. */
int folder_file(const char *path, int (*write)(FILE *, const void *arg),
    const void *arg);

#endif
