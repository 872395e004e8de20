/* SPDX-License-Identifier: ISC */
#ifndef IDEM_DIGEST_H
#define IDEM_DIGEST_H

#include "buf.h"

#define IDEM_DIGEST_LEN 32

/* A SHA-256 value (FIPS 180-4). */
struct idem_digest {
	uint8_t at[IDEM_DIGEST_LEN];
};

/*
 * A running SHA-256.  Zeroes are a valid one that has failed: init it.
 * Errors stick, as in a buf: final gives false and zeroes after any of them.
 */
struct idem_hash {
	uint64_t state[16];	/* the library's, in place */
	bool begun;		/* from _init to _final or _free */
	bool failed;
};

void idem_hash_init(struct idem_hash *);
void idem_hash_add(struct idem_hash *, const void *at, size_t len);
void idem_hash_u64(struct idem_hash *, uint64_t);	/* big endian */
/* The length as 8 bytes big endian, then the bytes: no two lists collide. */
void idem_hash_part(struct idem_hash *, struct idem_bytes);
bool idem_hash_final(struct idem_hash *, struct idem_digest *);
void idem_hash_free(struct idem_hash *);

/* HMAC-SHA-256 (RFC 2104) under a key of any length; false: zeroes. */
bool idem_hmac(struct idem_bytes key, struct idem_bytes text,
    struct idem_digest *);

/* For secrets: the time they take says nothing of where bytes differ, and the
   zeroes are really written. */
bool idem_secret_equal(const void *a, const void *b, size_t len);
void idem_secret_wipe(void *at, size_t len);

bool idem_digest_equal(const struct idem_digest *, const struct idem_digest *);

/* SHA-1 in hex, with a NUL: only to name a script as Redis does (EVALSHA).
   False: an empty string. */
bool idem_sha1_hex(struct idem_bytes, char hex[41]);

/* Random bytes from the library's generator; false if it has none. */
bool idem_random(void *at, size_t len);

#endif
