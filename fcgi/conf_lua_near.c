/* SPDX-License-Identifier: ISC */
#include "conf_lua.h"

#include <limits.h>
#include <string.h>

#define LETTERS_MAX 32u
#define NEAR 2u		/* letters added, left out or changed */

static unsigned
least(unsigned a, unsigned b, unsigned c)
{
	if (b < a)
		a = b;
	return c < a ? c : a;
}

/* Levenshtein's distance, one row of his table at a time. */
static unsigned
distance(const char *a, const char *b)
{
	unsigned row[LETTERS_MAX + 1];
	size_t a_len = strlen(a), b_len = strlen(b), i, j;
	unsigned corner, above;

	if (a_len > LETTERS_MAX || b_len > LETTERS_MAX)
		return NEAR + 1;
	for (j = 0; j <= b_len; j++)
		row[j] = (unsigned)j;
	for (i = 1; i <= a_len; i++) {
		corner = row[0];
		row[0] = (unsigned)i;
		for (j = 1; j <= b_len; j++) {
			above = row[j];
			row[j] = least(corner + (a[i - 1] != b[j - 1]),
			    above + 1, row[j - 1] + 1);
			corner = above;
		}
	}
	return row[b_len];
}

/* Of a short name everything is near. */
const char *
conf_lua_near(const char *name, const char *const *known)
{
	const char *best = NULL;
	unsigned best_far = UINT_MAX, far;
	size_t i;

	for (i = 0; known[i] != NULL; i++) {
		far = distance(name, known[i]);
		if (far > NEAR || far >= strlen(known[i]))
			continue;
		far = 2 * far + (name[0] != known[i][0]);
		if (far < best_far) {
			best = known[i];
			best_far = far;
		}
	}
	return best;
}
