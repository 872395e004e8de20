/* SPDX-License-Identifier: ISC */
#ifndef IDEM_SAVED_H
#define IDEM_SAVED_H

#include "blob.h"

#define IDEM_SAVED_VERSION 1

/*
 * A saved answer: what a replay needs to be the same bytes again.  One string
 * of bytes, which stores do not look into:
 *
 *	u8 version, u8 flags, u16 code, u32 status length, u32 lines length,
 *	u64 body length, status, lines, body
 */
struct idem_saved {
	int code;		/* 200 to 599 */
	bool has_status;	/* a Status line was sent, and is sent again */
	bool kept;		/* false: body too large, or asked not to */
	struct idem_bytes status;	/* its text */
	struct idem_bytes lines;	/* fields, each ending in CRLF */
	struct idem_bytes body;		/* empty if not kept */
};

/* One in a blob of just its size, without a copy beside it; NULL: out of
   memory. */
struct idem_blob *idem_saved_blob(const struct idem_saved *);

/*
 * Read one; what is read borrows from the bytes.  False, and nothing set, if
 * they are not a whole saved answer of a version we know, to the last byte.
 */
bool idem_saved_read(struct idem_bytes, struct idem_saved *);

#endif
