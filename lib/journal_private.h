/* SPDX-License-Identifier: ISC */
#ifndef IDEM_JOURNAL_PRIVATE_H
#define IDEM_JOURNAL_PRIVATE_H

#include "journal.h"

#include <sys/types.h>

/* Shared by journal*.c. */

#define JOURNAL_NAME_SIZE (2 * IDEM_OWNER_LEN + 1)
#define JOURNAL_UNKNOWN "unknown."
#define JOURNAL_UNKNOWN_SIZE (sizeof JOURNAL_UNKNOWN + 2 * IDEM_OWNER_LEN)

/* With their NUL. */
void idem_journal_name(const struct idem_owner *, char name[JOURNAL_NAME_SIZE]);
void idem_journal_unknown_name(const struct idem_owner *,
    char name[JOURNAL_UNKNOWN_SIZE]);

/*
 * The trailer, all numbers big endian:
 *
 *	0	magic, 8 bytes
 *	8	version; flags: 1 limit, 2 saved; two zeroes
 *	12	status
 *	16	len
 *	24	at_ms
 *	32	sum
 */
#define JOURNAL_TRAILER_SIZE 64
bool idem_journal_trailer_read(const uint8_t bytes[JOURNAL_TRAILER_SIZE],
    struct idem_trailer *);

/*
 * Its sum: the owner, the first IDEM_SUMMED bytes of what stands before it, and
 * all that it says itself, so that none of it can be another run's.
 */
void idem_journal_sum_init(struct idem_hash *, const struct idem_owner *);
/* `before` bytes have been added. */
void idem_journal_sum_add(struct idem_hash *, uint64_t before,
    struct idem_bytes);
bool idem_journal_sum_final(struct idem_hash *, const struct idem_trailer *,
    struct idem_digest *);

/* len bytes, big endian; moves *at past them. */
void idem_journal_put(uint8_t **at, uint64_t n, int len);
/* All of it, from there; false: it is not there, or cannot be read. */
bool idem_journal_read_at(int file, void *to, size_t len, off_t from);

#endif
