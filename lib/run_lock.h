/* SPDX-License-Identifier: ISC */
#ifndef IDEM_RUN_LOCK_H
#define IDEM_RUN_LOCK_H

#include "clock.h"
#include "idem.h"
#include "record.h"

/*
 * The lock of one run: a file named after its owner (32 hex digits) in the run
 * folder, held with flock(2) by lobby, keeper and program together; what is in
 * it: journal.h.  It is locked before it gets its name, so nobody sees it
 * unlocked before its run.  Free: all that had the descriptor are gone, or one
 * of us has unlocked it.  Missing proves nothing.
 */
enum idem_lock_state { IDEM_LOCK_HELD, IDEM_LOCK_FREE, IDEM_LOCK_MISSING };

/*
 * The run folder's path: `run`, or if that is NULL "<ledger>-run", of whatever
 * name the ledger is called by.  Owned by the caller; NULL: both are NULL, or
 * no memory.
 */
char *idem_run_folder_path(const char *run, const char *ledger);

/*
 * Its descriptor.  make: made if absent, 0700, though not what it lies in.  -1
 * and a sentence in error; also when others may write into it.
 */
int idem_run_folder(const char *run, const char *ledger, bool make,
    char *error, size_t error_size);

/* The locked descriptor of a file of any name in any folder, close-on-exec; -1
   and errno (EEXIST: it was there). */
int idem_run_lock_make_named(int folder, const char *name);
/* Gives a descriptor to read and write it; the lock is on a description of its
   own in *lock, which is for reading only.  Both close-on-exec; -1 and errno:
   neither. */
int idem_run_lock_make_apart(int folder, const char *name, int *lock);
/* HELD also when it could not be looked at: that is never a proof. */
enum idem_lock_state idem_run_lock_state_named(int folder, const char *name);

/* A time so much later; INT64_MAX at most, whatever a store has said.
   span_ms is not negative. */
int64_t idem_run_after(int64_t at_ms, int64_t span_ms);

/*
 * What is known of the owner of a record that is in progress or unknown.
 * now_ms is of the clock of record.lease_end; boot this host's.  Other boot:
 * DEAD.  Same boot: lock free: DEAD; past renewed_at + limit + lease + grace:
 * DEAD when the lock is missing, else LAPSED (it is held: somebody is alive);
 * past lease_end + grace with the lock missing: LAPSED; else NONE.
 */
enum idem_proof idem_run_proof(const struct idem_record *, int64_t now_ms,
    const struct idem_boot *, enum idem_lock_state, uint32_t lease_ms,
    uint32_t limit_ms, uint32_t grace_ms);

/*
 * The same for a record of a store that several hosts share, by the store's
 * clock.  Another boot may be another host's that is up, and our locks say
 * nothing of it: past lease_end + grace: LAPSED; past renewed_at + limit +
 * lease + grace: DEAD; else NONE.  Same boot: as above; two containers of one
 * machine have the same, and with a folder each find no lock of the other's.
 * lease_ms and limit_ms are the largest of all hosts.
 */
enum idem_proof idem_run_proof_shared(const struct idem_record *,
    int64_t now_ms, const struct idem_boot *, enum idem_lock_state,
    uint32_t lease_ms, uint32_t limit_ms, uint32_t grace_ms);

#endif
