/* SPDX-License-Identifier: ISC */
#ifndef IDEM_IDENTITY_H
#define IDEM_IDENTITY_H

#include "digest.h"
#include "key.h"

struct idem_multipart;

/*
 * The three digests of a keyed request (doc/design.md, 4).  Every part goes in
 * with its length before it, and every digest begins with its own name and
 * version, so that no two different requests share one.
 */

/* What a key belongs to.  Parts that do not apply are empty. */
struct idem_scope {
	struct idem_bytes route;	/* its pattern or program path */
	struct idem_bytes method;
	struct idem_bytes user;		/* REMOTE_USER, only if verified */
	const struct idem_bytes *named;	/* cookies, variables the route names */
	size_t named_len;
};

/* The store key: scope and key. */
bool idem_store_key(const struct idem_scope *, const struct idem_key *,
    struct idem_digest *);

/*
 * The fingerprint: method, path, query, Content-Type, Content-Encoding, body.
 * The body is added as it is read, in pieces cut anywhere.
 *
 * With a multipart Content-Type (RFC 2046, 5.1) the boundary does not count,
 * in the type or in the body's delimiters: a client that makes a new one for
 * each retry asks the same thing.  It does count where two programs might
 * disagree on what is a delimiter: if it is found anywhere else in the body,
 * or in a line that is not quite a delimiter, or if the body is not closed.
 * A type with no usable boundary, or more than one, is hashed as it stands,
 * and so is its body.
 */
struct idem_asked {
	struct idem_bytes method, path, query, type, encoding;
};

struct idem_fingerprint {
	struct idem_hash hash;
	uint64_t body_len;	/* bytes added so far */
	struct idem_multipart *multipart;	/* owned; NULL: as it stands */
};

/* Errors stick; final then gives false and zeroes.  It frees; so may _free. */
void idem_fingerprint_init(struct idem_fingerprint *,
    const struct idem_asked *);
void idem_fingerprint_body(struct idem_fingerprint *, const void *, size_t len);
bool idem_fingerprint_final(struct idem_fingerprint *, struct idem_digest *);
void idem_fingerprint_free(struct idem_fingerprint *);

/*
 * The guard: credentials that do not enter the key because they change
 * between retries (Authorization and cookies, as the route says).
 */
bool idem_guard(const struct idem_bytes *parts, size_t n, struct idem_digest *);

#endif
