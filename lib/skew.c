/* SPDX-License-Identifier: ISC */
#include "skew.h"

/* A server may say anything: what is no number any more is the largest. */
static int64_t
less(int64_t a, int64_t b)
{
	int64_t difference;

	if (__builtin_sub_overflow(a, b, &difference))
		return a < b ? INT64_MIN : INT64_MAX;
	return difference;
}

void
idem_skew_told(struct idem_skew *s, int64_t ours_ms, int64_t server_ms)
{
	int64_t offset_ms = less(server_ms, ours_ms);

	if (!s->told || less(offset_ms, s->first_ms) > IDEM_SKEW_MS ||
	    less(s->offset_ms, offset_ms) > IDEM_SKEW_MS) {
		*s = (struct idem_skew){
			.told = true,
			.first_ms = offset_ms,
			.offset_ms = offset_ms,
			.since_ms = server_ms
		};
	} else if (offset_ms > s->offset_ms) {
		s->offset_ms = offset_ms;
	}
}
