/* SPDX-License-Identifier: ISC */
#ifndef IDEM_MULTIPART_H
#define IDEM_MULTIPART_H

#include "digest.h"

#define IDEM_BOUNDARY_MAX 70	/* RFC 2046, 5.1.1 */

/*
 * Private to the fingerprint (identity.h): multipart bodies hashed without
 * their boundary.
 */

/* A Content-Type around its boundary parameter, all borrowed from it. */
struct idem_multipart_type {
	struct idem_bytes before;	/* to the parameter's name */
	struct idem_bytes boundary;	/* unquoted */
	struct idem_bytes after;	/* from the end of its value */
};

/*
 * False, and *parts then undefined, unless the type is multipart and names,
 * in a way that no two programs read differently, one boundary of RFC 2046's
 * characters.
 */
bool idem_multipart_type(struct idem_bytes, struct idem_multipart_type *);

/* Where the body is, at the last byte that was hashed. */
enum idem_multipart_place {
	IDEM_MP_PREAMBLE,
	IDEM_MP_CONTENT,	/* also headers of a part */
	IDEM_MP_BOUNDARY,	/* just after "--" and the boundary */
	IDEM_MP_DASH,		/* and one "-" */
	IDEM_MP_PADDING,	/* and spaces, tabs */
	IDEM_MP_CR,
	IDEM_MP_CLOSED,		/* after "--", and spaces, tabs */
	IDEM_MP_CLOSED_CR,
	IDEM_MP_EPILOGUE
};

struct idem_multipart {
	uint8_t mark[2 + IDEM_BOUNDARY_MAX];	/* "--" and the boundary */
	uint8_t back[2 + IDEM_BOUNDARY_MAX];	/* see multipart.c */
	uint8_t mark_len;
	uint8_t matched;	/* so far into a mark, not hashed yet */
	uint8_t last[2];	/* bytes of this segment */
	uint64_t segment_len;	/* since the last mark, or the start */
	uint64_t marks;
	enum idem_multipart_place place;
	bool doubtful;		/* not all marks are certainly delimiters */
};

void idem_multipart_init(struct idem_multipart *, struct idem_bytes boundary);
void idem_multipart_add(struct idem_multipart *, struct idem_hash *,
    const void *at, size_t len);
void idem_multipart_end(struct idem_multipart *, struct idem_hash *);

#endif
