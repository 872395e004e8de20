/* SPDX-License-Identifier: ISC */
#ifndef IDEM_RECORD_H
#define IDEM_RECORD_H

#include "buf.h"
#include "digest.h"

#define IDEM_RECORD_VERSION 1
#define IDEM_OWNER_LEN 16
#define IDEM_BOOT_LEN 16

struct idem_owner {
	uint8_t at[IDEM_OWNER_LEN];	/* random, one a request */
};

struct idem_boot {
	uint8_t at[IDEM_BOOT_LEN];	/* /proc/sys/kernel/random/boot_id */
};

enum idem_state {
	IDEM_STATE_ABSENT,	/* no record: never stored */
	IDEM_STATE_ISSUED,	/* minted, or released: may be claimed */
	IDEM_STATE_IN_PROGRESS,
	IDEM_STATE_COMPLETED,
	IDEM_STATE_UNKNOWN,
	IDEM_STATE_TOMBSTONE	/* completed, its answer is no longer kept */
};

/*
 * What a store knows of a key.  Times are milliseconds of the store's clock:
 * lease_end of the one it judges leases by (SQLite: CLOCK_BOOTTIME, valid
 * with `boot` only), the others of the wall clock.
 */
struct idem_record {
	enum idem_state state;
	uint32_t attempt;	/* 1, 2, ...; survives release and tombstone */
	struct idem_owner owner;
	struct idem_boot boot;
	uint32_t pid;		/* of the claimant; for people */
	struct idem_digest fingerprint, guard;
	int64_t made_at;	/* first claim */
	int64_t ended_at;	/* completed, unknown, tombstone: since when */
	int64_t lease_end;	/* in progress */
	int64_t renewed_at;	/* same clock as lease_end */
	int64_t expires_at;	/* completed, tombstone: swept after; else 0 */
};

/*
 * The packed form, for stores that keep one string a key; the saved answer
 * follows it.  Reading gives false for another version, an unknown state or a
 * short string, and sets nothing; else *answer is what follows, borrowed.
 */
void idem_record_write(struct idem_buf *, const struct idem_record *);
bool idem_record_read(struct idem_bytes, struct idem_record *,
    struct idem_bytes *answer);

const char *idem_state_text(enum idem_state);	/* "in-progress", ... */

#endif
