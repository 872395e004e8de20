/* SPDX-License-Identifier: ISC */
#include "redis_class.h"

#include "fuzz.h"

/* An error is never a success, however it sounds; where it points is in it. */

static bool
take(void *arg, struct idem_bytes text)
{
	const char *from = text.at;
	struct idem_redis_meaning means = idem_redis_error_means(text);
	struct idem_bytes host = { 0 };
	uint16_t slot = 0, port = 0;

	(void)arg;
	fuzz_must(means.class != IDEM_OK);
	fuzz_must(means.class != IDEM_CLASS_CONFIG || means.away);
	fuzz_must(means.class != IDEM_CLASS_MAYBE ||
	    means.remedy == IDEM_REDIS_NO_REMEDY);
	if (!idem_redis_error_points(text, &slot, &host, &port))
		return false;
	fuzz_must(means.remedy == IDEM_REDIS_MOVE ||
	    means.remedy == IDEM_REDIS_ASK);
	fuzz_must(slot < 16384 && port > 0);
	fuzz_must((const char *)host.at >= from &&
	    (const char *)host.at + host.len <= from + text.len);
	return false;
}

int
LLVMFuzzerTestOneInput(const uint8_t *at, size_t len)
{
	fuzz_feed(take, NULL, (struct idem_bytes){ at, len }, true);
	return 0;
}
