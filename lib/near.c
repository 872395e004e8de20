/* SPDX-License-Identifier: ISC */
#include "near.h"

#include <string.h>

#define LETTERS_MAX 40u

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

unsigned
idem_near(const char *name, size_t name_len, const char *word,
    size_t word_len)
{
	size_t most = name_len > word_len ? name_len : word_len;
	unsigned far;

	if (name_len == 0 || word_len == 0 || most > LETTERS_MAX)
		return IDEM_NEAR_NOT;
	far = apart(name, name_len, word, word_len);
	if (far <= (most + 2) / 3 && far < word_len)
		return 2 * far + (name[0] != word[0]);
	if (name_len >= 3 && word_len > name_len &&
	    (strncmp(word, name, name_len) == 0 ||
	    strncmp(word + word_len - name_len, name, name_len) == 0))
		return 2 * (unsigned)most;
	return IDEM_NEAR_NOT;
}
