/* SPDX-License-Identifier: ISC */
#ifndef TESTS_POWER_VFS_H
#define TESTS_POWER_VFS_H

#include <stddef.h>
#include <stdint.h>

/*
 * SQLite's file system, written down: what would lie on the disk if the power
 * had gone at any moment.  Installed as the default one; it syncs nothing.
 * What is there of a file when it is first opened counts as synced.
 */
void power_vfs_install(void);
void power_vfs_stop(void);	/* nothing more is written down */
size_t power_vfs_moments(void);	/* writes, truncations and syncs so far */
/* The first moment from that one on that is just before a sync, or the last:
   until then what was synced has been the same. */
size_t power_vfs_before_sync(size_t moment);
/* How many of them, of files whose name begins so, would still be lost. */
size_t power_vfs_loose(const char *name);

/*
 * Make the files in a folder as they were after so many of them: what had been
 * synced, and of the rest, in sectors of 512 bytes, what chance gives, with the
 * file's end where it was or as far as it had been written; seed 0: nothing of
 * it.
 */
void power_vfs_disk(size_t moment, uint64_t seed, const char *folder);
void power_vfs_free(void);

#endif
