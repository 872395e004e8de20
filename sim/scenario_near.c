/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include "near.h"

#include <stdio.h>
#include <string.h>

const char *
scenario_near(const char *name, const char *words, char *out, size_t size)
{
	unsigned least = IDEM_NEAR_NOT, far;
	const char *at, *best = NULL;
	size_t n, best_n = 0;

	for (at = words; *at != '\0'; at += n + (at[n] == ' ')) {
		n = strcspn(at, " ");
		far = idem_near(name, strlen(name), at, n);
		if (far < least) {
			least = far;
			best = at;
			best_n = n;
		}
	}
	if (best == NULL)
		return NULL;
	snprintf(out, size, "%.*s", (int)best_n, best);
	return out;
}
