/* SPDX-License-Identifier: ISC */
#ifndef PRELOAD_PRIVATE_H
#define PRELOAD_PRIVATE_H

#include "preload.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * What the library puts in the C library's place asks the kernel itself: to
 * look the library's own up may allocate, and an allocator may ask for the
 * time.  Nothing is kept but three mappings, which are made before main() and
 * before there are threads; who comes earlier gets the machine's own.  Nothing
 * allocates, so that signal handlers and children of vfork(2) may come too.
 * errno is what the call that was asked for leaves.
 */
#pragma GCC visibility push(hidden)

/* It cannot do what it is there for: 99. */
void preload_die(const char *what) __attribute__((noreturn));

/* --- the disk (preload_disk.c) -------------------------------------------- */

void preload_disk_begin(struct preload_disk *);	/* NULL: as it is */
/* Would it fail now?  Then errno is set, and it is counted. */
bool preload_disk_full(int fd, size_t len);	/* a write where it stands */
bool preload_disk_full_at(int fd, off_t at, size_t len);
bool preload_disk_broken(int fd);		/* a sync */
bool preload_disk_busy(int fd, int command, const struct flock *);
/* It was done: to a file; to names, as in the calls with "at" that say so. */
void preload_disk_synced(int fd);
void preload_disk_renamed(int from_folder, const char *from, int to_folder,
    const char *to);
void preload_disk_linked(int from_folder, const char *from, int to_folder,
    const char *to);
void preload_disk_removed(int folder, const char *name);

#pragma GCC visibility pop

#endif
