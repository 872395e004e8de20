/* SPDX-License-Identifier: ISC */
#include "fingerprint.h"

#include "tap.h"

struct idem_digest
fingerprint_of(const struct idem_asked *asked, struct idem_bytes body,
    size_t piece)
{
	const uint8_t *at = body.at;
	struct idem_fingerprint f;
	struct idem_digest d;
	size_t i, len;

	idem_fingerprint_init(&f, asked);
	for (i = 0; i < body.len; i += len) {
		len = piece < body.len - i ? piece : body.len - i;
		idem_fingerprint_body(&f, at + i, len);
	}
	if (f.body_len != body.len)
		bail_out("bytes that are not counted");
	if (!idem_fingerprint_final(&f, &d))
		bail_out("no fingerprint");
	return d;
}
