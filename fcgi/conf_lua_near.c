/* SPDX-License-Identifier: ISC */
#include "conf_lua.h"

#include "near.h"

#include <string.h>

const char *
conf_lua_near(const char *name, const char *const *known)
{
	unsigned least = IDEM_NEAR_NOT, far;
	const char *best = NULL;
	size_t i;

	for (i = 0; known[i] != NULL; i++) {
		far = idem_near(name, strlen(name), known[i],
		    strlen(known[i]));
		if (far < least) {
			best = known[i];
			least = far;
		}
	}
	return best;
}
