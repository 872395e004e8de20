/* SPDX-License-Identifier: ISC */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool
options_size(const char *text, uint64_t max, uint64_t *out)
{
	static const struct { const char *unit; unsigned shift; } units[] = {
		{ "B", 0 }, { "KiB", 10 }, { "MiB", 20 }, { "GiB", 30 }
	};
	unsigned long long n;
	size_t i;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno != 0 || n > UINT32_MAX)
		return false;
	for (i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(end, units[i].unit) == 0) {
			*out = n << units[i].shift;
			return *out <= max;
		}
	return false;
}
