/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <stdio.h>
#include <string.h>

#define LETTERS_MAX 40u
#define FAR 100u

static unsigned
least(unsigned a, unsigned b, unsigned c)
{
	if (b < a)
		a = b;
	return c < a ? c : a;
}

/*
 * Letters to be added, left out or changed (Levenshtein's distance, of which
 * one row is kept at a time).
 */
static unsigned
apart(const char *a, size_t a_len, const char *b, size_t b_len)
{
	unsigned row[LETTERS_MAX + 1], corner, above;
	size_t i, j;

	if (a_len > LETTERS_MAX || b_len > LETTERS_MAX)
		return FAR;
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

/* At most a third of the letters are wrong, or one end is missing. */
static unsigned
badness(const char *name, size_t len, const char *word, size_t n)
{
	size_t most = len > n ? len : n;
	unsigned far = apart(name, len, word, n);

	if (far <= (most + 2) / 3 && far < n)
		return far;
	if (len >= 3 && n > len && (strncmp(word, name, len) == 0 ||
	    strncmp(word + n - len, name, len) == 0))
		return (unsigned)most;
	return FAR;
}

const char *
scenario_near(const char *name, const char *words, char *out, size_t size)
{
	size_t len = strlen(name), n, best_n = 0;
	const char *at, *best = NULL;
	unsigned least_bad = FAR, bad;

	for (at = words; *at != '\0'; at += n + (at[n] == ' ')) {
		n = strcspn(at, " ");
		bad = badness(name, len, at, n);
		if (bad < least_bad) {
			least_bad = bad;
			best = at;
			best_n = n;
		}
	}
	if (best == NULL)
		return NULL;
	snprintf(out, size, "%.*s", (int)best_n, best);
	return out;
}
