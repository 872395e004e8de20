/* SPDX-License-Identifier: ISC */
#ifndef IDEM_KEY_H
#define IDEM_KEY_H

#include "buf.h"

#define IDEM_KEY_MAX 255	/* bytes (doc/design.md, 1) */

enum idem_key_state {
	IDEM_KEY_ABSENT,	/* no such field, or no value given */
	IDEM_KEY_GOOD,
	IDEM_KEY_EMPTY,		/* a field is there, with nothing in it */
	IDEM_KEY_MALFORMED,	/* not one structured String, nor a bare key */
	IDEM_KEY_TOO_LONG,
	IDEM_KEY_DIFFERENT	/* several fields or members that differ */
};

struct idem_key {
	uint8_t at[IDEM_KEY_MAX];
	uint8_t len;
};

/*
 * Read a key from the values of its header fields, in any order and from any
 * of the names a route accepts; each may hold several, joined by commas (RFC
 * 9110, 5.3), which is what fronts do to repeated fields.  Equal ones are one.
 *
 * A value whose `at` is NULL is no field.  An empty member counts as one, so
 * that `x,` is IDEM_KEY_DIFFERENT.  Of several faults the answer is the first
 * of malformed, too long, different, whatever the order of the fields.
 *
 * `"x"`, a structured-field String (RFC 8941, 3.3.3, with its escapes), and
 * `x`, bare, are the same key.  A bare key is visible ASCII without `"`, `,`
 * `;` and `\`; parameters after a String are ignored (draft-ietf-httpapi-
 * idempotency-key-header-07, 2.1).  Spaces inside a String are part of it.
 *
 * *key is set only when the answer is IDEM_KEY_GOOD; behind its len are zeroes.
 */
enum idem_key_state idem_key_parse(const struct idem_bytes *values, size_t n,
    struct idem_key *key);

/* What is wrong, for a problem's detail; never holds the value. */
const char *idem_key_state_text(enum idem_key_state);

#endif
