/* SPDX-License-Identifier: ISC */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DAY_MS (24 * 3600 * (int64_t)1000)

/* Apart from options.c: idemctl has times too, and no configuration. */
bool
options_time(const char *text, int64_t max_ms, int64_t *ms)
{
	static const struct { const char *unit; int64_t ms; } units[] = {
		{ "ms", 1 }, { "s", 1000 }, { "m", 60 * 1000 },
		{ "h", 3600 * 1000 }, { "d", DAY_MS }
	};
	unsigned long long n;
	size_t i;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno != 0 || n == 0 || n > INT32_MAX)
		return false;
	for (i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(end, units[i].unit) == 0) {
			*ms = (int64_t)n * units[i].ms;
			return *ms <= max_ms;
		}
	return false;
}
