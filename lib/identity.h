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
	struct idem_bytes route;	/* its name, or the program's path */
	struct idem_bytes method;
	struct idem_bytes user;		/* REMOTE_USER, only if verified */
	const struct idem_bytes *named;	/* cookies, variables the route names */
	size_t named_len;
};

/* The store key: scope and key. */
bool idem_store_key(const struct idem_scope *, const struct idem_key *,
    struct idem_digest *);

/*
 * The fingerprint: method, path, query, Content-Type, Content-Encoding, body,
 * those of them that a route chooses; the choice goes in too.  The body is
 * added as it is read, in pieces cut anywhere.
 *
 * With a multipart Content-Type (RFC 2046, 5.1) the boundary does not count,
 * in the type or in the body's delimiters: a client that makes a new one for
 * each retry asks the same thing.  It does count where two programs might
 * disagree on what is a delimiter: if it is found anywhere else in the body,
 * or in a line that is not quite a delimiter, or if the body is not closed.
 * A type with no usable boundary, or more than one, is hashed as it stands,
 * and so is its body.  Type and body by themselves: the type without its
 * boundary, the body as it stands.
 */
enum {
	IDEM_PART_METHOD = 1, IDEM_PART_PATH = 2, IDEM_PART_QUERY = 4,
	IDEM_PART_TYPE = 8, IDEM_PART_ENCODING = 16, IDEM_PART_BODY = 32,
	IDEM_PARTS_ALL = 63
};

struct idem_asked {
	unsigned parts;		/* IDEM_PART_* */
	struct idem_bytes method;
	struct idem_bytes path;		/* idem_request_path (pattern.h) */
	struct idem_bytes script, info;	/* SCRIPT_NAME, PATH_INFO: the path as
				   the program sees it, wherever it is split */
	struct idem_bytes query, type, encoding;
};

#define IDEM_HINTS 5		/* of all parts but the body */

struct idem_fingerprint {
	struct idem_hash hash;
	uint16_t hints[IDEM_HINTS];
	bool body_counts;
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
 * Which parts differ, as far as can be told: the last bytes of a fingerprint
 * are short hints of its parts (those before them are what it is worth: 176
 * bits).  IDEM_PART_*; the body alone when nothing else does.
 */
unsigned idem_fingerprint_differs(const struct idem_digest *,
    const struct idem_digest *);
/* The same for people: "query, body"; never empty for two that differ. */
void idem_parts_text(unsigned parts, char *text, size_t size);

/*
 * The guard: credentials that do not enter the key because they change
 * between retries (Authorization and cookies, as the route says).
 */
bool idem_guard(const struct idem_bytes *parts, size_t n, struct idem_digest *);

#endif
