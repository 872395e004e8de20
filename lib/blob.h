/* SPDX-License-Identifier: ISC */
#ifndef IDEM_BLOB_H
#define IDEM_BLOB_H

#include "buf.h"

#include <stdatomic.h>

/*
 * Bytes that several hold, over threads too: a saved answer on its way into
 * the ledger, the cache and many sockets at once.  Never changed once shared.
 */
struct idem_blob {
	atomic_uint refs;
	size_t len;
	uint8_t at[];
};

/* A copy; NULL: out of memory. */
struct idem_blob *idem_blob_new(struct idem_bytes);
struct idem_blob *idem_blob_room(size_t len);	/* to be filled, then shared */
struct idem_blob *idem_blob_take(struct idem_blob *);	/* one more holder */
void idem_blob_drop(struct idem_blob *);	/* one less; NULL: nothing */
struct idem_bytes idem_blob_bytes(const struct idem_blob *);

#endif
