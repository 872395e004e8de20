/* SPDX-License-Identifier: ISC */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DAY_MS (24 * 3600 * UINT64_C(1000))

/* Apart from options.c: idemctl has times too, and no configuration. */
struct unit {
	const char *name;
	uint64_t is;
};

/* Digits, and one of the units, whose last has no name. */
static bool
read_number(const char *text, uint32_t number_max, const struct unit *unit,
    uint64_t *out)
{
	unsigned long long n;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno != 0 || n > number_max)
		return false;
	while (unit->name != NULL && strcmp(end, unit->name) != 0)
		unit++;
	*out = n * unit->is;
	return unit->name != NULL;
}

bool
options_time(const char *text, int64_t max_ms, int64_t *ms)
{
	static const struct unit units[] = {
		{ "ms", 1 }, { "s", 1000 }, { "m", 60 * 1000 },
		{ "h", 3600 * 1000 }, { "d", DAY_MS }, { NULL, 0 }
	};
	uint64_t n;

	if (!read_number(text, INT32_MAX, units, &n) || n == 0)
		return false;
	*ms = (int64_t)n;
	return *ms <= max_ms;
}

bool
options_size(const char *text, uint64_t max, uint64_t *size)
{
	static const struct unit units[] = {
		{ "B", 1 }, { "KiB", UINT64_C(1) << 10 },
		{ "MiB", UINT64_C(1) << 20 }, { "GiB", UINT64_C(1) << 30 },
		{ NULL, 0 }
	};

	return read_number(text, UINT32_MAX, units, size) && *size <= max;
}
