/* SPDX-License-Identifier: ISC */
#ifndef IDEM_TOKEN_H
#define IDEM_TOKEN_H

#include "key.h"
#include "store.h"

/*
 * Tokens that we issue, each naming the store that alone may permit its start:
 *
 *	u8 version, u8 arbiter, 4 store id, 8 history, u48 minted at (ms),
 *	16 random, 4 route, 16 of HMAC-SHA-256 over all before it
 *
 * 56 bytes, in base64url without padding (RFC 4648, 5): 75 characters.  Pure:
 * time and chance are arguments.
 */
#define IDEM_TOKEN_VERSION 1
#define IDEM_TOKEN_TEXT 75
#define IDEM_TOKEN_RANDOM 16
#define IDEM_TOKEN_STORE 4
#define IDEM_TOKEN_ROUTE 4
#define IDEM_TOKEN_KEYS_MAX 16u

enum idem_token_arbiter { IDEM_TOKEN_LEDGER = 1, IDEM_TOKEN_REDIS = 2 };

struct idem_token {
	enum idem_token_arbiter arbiter;
	uint8_t store[IDEM_TOKEN_STORE];
	struct idem_history history;
	int64_t minted_ms;	/* wall clock of who minted it; 48 bits */
	uint8_t random[IDEM_TOKEN_RANDOM];
	uint8_t route[IDEM_TOKEN_ROUTE];
};

/* Secrets; the first signs, all verify.  Owned, wiped by _free. */
struct idem_token_keys {
	struct idem_bytes at[IDEM_TOKEN_KEYS_MAX];
	size_t len;
	struct idem_buf room;
};

/*
 * A file's text: a key a line, 32 to 128 hex digits or as many characters of
 * base64url without padding, with a name before it, "NAME KEY"; empty lines and
 * those that begin with # do not count.  False, and a sentence with the line,
 * never with a word of the file; then nothing is held.
 */
bool idem_token_keys_read(struct idem_token_keys *, struct idem_bytes text,
    char *error, size_t error_size);
void idem_token_keys_free(struct idem_token_keys *);

/* text: IDEM_TOKEN_TEXT bytes and NUL.  False: no key, a time of more than 48
   bits, or the library failed. */
bool idem_token_write(const struct idem_token *, const struct idem_token_keys *,
    char text[IDEM_TOKEN_TEXT + 1]);

enum idem_token_read {
	IDEM_TOKEN_GOOD,
	IDEM_TOKEN_FOREIGN	/* no token, or none of ours */
};
/* Compared in constant time. */
enum idem_token_read idem_token_read(struct idem_bytes text,
    const struct idem_token_keys *, struct idem_token *);
/* What it says, whoever has signed it; for people.  False: it is no token. */
bool idem_token_look(struct idem_bytes text, struct idem_token *);

/*
 * The store key: 6 bytes of minted_ms, so that keys lie in a store in the order
 * in which they were minted, then 26 of SHA-256 over all but the history, which
 * is known only after the key is stored.
 */
bool idem_token_store_key(const struct idem_token *, struct idem_digest *);
/* The first bytes of SHA-256 of a route's name, and of a store's. */
bool idem_token_name(struct idem_bytes name, uint8_t out[4]);

/* --- token_style.c: keys that clients make for themselves ----------------- */

/*
 * uuid: 32 hex digits of a version 4 UUID (RFC 9562, 5.4), without hyphens.
 * business: TYPE:ID:MS:RANDOM, four digits.
 * composite: TYPE:ID:MS:MACHINE:SEQUENCE, of which the last is four digits.
 * Each is a new operation: make it once and send it with every retry.
 */
enum idem_token_style {
	IDEM_TOKEN_UUID, IDEM_TOKEN_BUSINESS, IDEM_TOKEN_COMPOSITE
};
struct idem_token_made {
	enum idem_token_style style;
	const char *type, *id;		/* business, composite: visible ASCII
					   without : " , ; and \ (key.h) */
	const char *machine;		/* composite */
	int64_t now_ms;			/* wall clock */
	uint64_t sequence;		/* composite; modulo 10000 */
	uint8_t random[IDEM_TOKEN_RANDOM];	/* uuid, business */
};
/* False: a part is missing, holds other bytes, or all is over 255. */
bool idem_token_make(const struct idem_token_made *, struct idem_key *);

#endif
