/* SPDX-License-Identifier: ISC */

/*
 * The first line is a Content-Type, the second says where to cut (each byte
 * the next piece's length), the rest is the body.
 */
#include "identity.h"

#include "fuzz.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static struct idem_bytes
next_line(struct idem_bytes *from)
{
	const uint8_t *at = from->at, *end;
	struct idem_bytes line = *from;

	end = from->len > 0 ? memchr(at, '\n', from->len) : NULL;
	if (end == NULL) {
		from->len = 0;
		return line;
	}
	line.len = (size_t)(end - at);
	from->at = end + 1;
	from->len -= line.len + 1;
	return line;
}

static size_t
piece_len(struct idem_bytes cuts, size_t i)
{
	if (cuts.len == 0)
		return SIZE_MAX;
	return ((const uint8_t *)cuts.at)[i % cuts.len];
}

/* Each piece in memory of its own, so that a read past its end shows. */
static void
add_piece(struct idem_fingerprint *f, const uint8_t *at, size_t len)
{
	uint8_t *copy = malloc(len > 0 ? len : 1);

	if (copy == NULL)
		abort();
	if (len > 0)
		memcpy(copy, at, len);
	idem_fingerprint_body(f, copy, len);
	free(copy);
}

static struct idem_digest
digest(struct idem_bytes type, struct idem_bytes body, struct idem_bytes cuts)
{
	const struct idem_asked asked = {
		.parts = IDEM_PARTS_ALL, .type = type
	};
	const uint8_t *at = body.at;
	struct idem_fingerprint f;
	struct idem_digest d;
	size_t i, len, empty = 0;

	idem_fingerprint_init(&f, &asked);
	for (i = 0; body.len > 0; i++) {
		len = piece_len(cuts, i);
		if (len == 0 && empty++ >= cuts.len)
			len = 1;	/* or cuts of zeroes never end */
		if (len > body.len)
			len = body.len;
		add_piece(&f, at, len);
		at += len;
		body.len -= len;
	}
	if (!idem_fingerprint_final(&f, &d))
		abort();
	return d;
}

/* With one byte changed it is another body, wherever the byte stands. */
static void
check_change(struct idem_bytes type, struct idem_bytes body, size_t where,
    const struct idem_digest *whole)
{
	uint8_t *other = malloc(body.len);
	struct idem_digest d;

	if (other == NULL)
		abort();
	memcpy(other, body.at, body.len);
	other[where % body.len] ^= 1;
	d = digest(type, (struct idem_bytes){ other, body.len },
	    (struct idem_bytes){ NULL, 0 });
	assert(!idem_digest_equal(&d, whole));
	free(other);
}

int
LLVMFuzzerTestOneInput(const uint8_t *at, size_t len)
{
	struct idem_bytes rest = { at, len };
	struct idem_bytes type = next_line(&rest), cuts = next_line(&rest);
	struct idem_bytes one = { "\1", 1 }, none = { NULL, 0 };
	struct idem_digest whole, cut;

	whole = digest(type, rest, none);
	cut = digest(type, rest, one);
	assert(idem_digest_equal(&whole, &cut));
	cut = digest(type, rest, cuts);
	assert(idem_digest_equal(&whole, &cut));
	if (rest.len > 0)
		check_change(type, rest, len + cuts.len * 31, &whole);
	return 0;
}
