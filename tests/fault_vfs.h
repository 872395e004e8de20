/* SPDX-License-Identifier: ISC */
#ifndef TESTS_FAULT_VFS_H
#define TESTS_FAULT_VFS_H

#include <stdbool.h>

/*
 * SQLite's file system with faults, installed as the default one before
 * anything else is asked of SQLite, whose memory may fail too.  It never
 * waits for a disk or sleeps: syncs are not passed on, and pauses are none.
 */
enum fault_op {
	FAULT_NONE,
	FAULT_OPEN, FAULT_READ, FAULT_WRITE, FAULT_TRUNCATE, FAULT_SYNC,
	FAULT_LOCK, FAULT_SHM_MAP, FAULT_SHM_LOCK,
	FAULT_ALLOC,		/* SQLite's memory: there is none, whatever the
				   code */
	FAULT_OPS
};

enum fault_code {
	FAULT_IOERR, FAULT_FULL, FAULT_BUSY, FAULT_READONLY, FAULT_NOMEM
};

struct fault {
	enum fault_op op;
	enum fault_code code;
	unsigned nth;		/* of op's calls from now on; 1: the next */
	bool for_ever;		/* and all after it */
	bool after;		/* it is done all the same, and then fails */
};

void fault_vfs_install(void);
void fault_vfs_set(const struct fault *);
/* Whether it has happened; then there is none any more. */
bool fault_vfs_heal(void);

/* Reads so far, and writes to a write-ahead log: those of a transaction, and
   not of a checkpoint after it.  A page is two writes. */
unsigned long long fault_vfs_reads(void);
unsigned long long fault_vfs_logged(void);

/* Hold the next sync until it is let go. */
void fault_vfs_hold_sync(void);
void fault_vfs_await_held(void);	/* until one is */
void fault_vfs_let_go(void);

/* Run SQL on a file: what a stranger, or a newer idem, would have written. */
void fault_sql(const char *path, const char *sql);

const char *fault_op_text(enum fault_op);
const char *fault_code_text(enum fault_code);

#endif
