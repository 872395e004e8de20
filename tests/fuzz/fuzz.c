/* SPDX-License-Identifier: ISC */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

void
fuzz_must(bool held)
{
	if (!held)
		abort();
}

static bool
give(fuzz_take_fn *take, void *arg, const uint8_t *at, size_t len)
{
	uint8_t *copy = malloc(len);
	bool more;

	fuzz_must(copy != NULL);
	memcpy(copy, at, len);
	more = take(arg, (struct idem_bytes){ copy, len });
	free(copy);
	return more;
}

void
fuzz_feed(fuzz_take_fn *take, void *arg, struct idem_bytes bytes, bool whole)
{
	const uint8_t *at = bytes.at;
	size_t from, piece;

	for (from = 0; from < bytes.len; from += piece) {
		piece = whole ? bytes.len : 1 + at[from] % 16u;
		if (piece > bytes.len - from)
			piece = bytes.len - from;
		if (!give(take, arg, at + from, piece))
			return;
	}
}
