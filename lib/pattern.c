/* SPDX-License-Identifier: ISC */
#include "pattern.h"

#include <assert.h>
#include <string.h>

/*
 * A pattern as an automaton whose states stand between its tokens.  All states
 * that are possible at once are kept in a table, so that stars that meet again
 * and again cost no more than one.
 */
enum {				/* tokens; below them the bytes themselves */
	TOKEN_STAR = 256,
	TOKEN_ANY
};

struct tokens {
	uint16_t at[IDEM_PATTERN_MAX];
	size_t len;
	size_t early;		/* it may also end before this token */
};

const char *
idem_pattern_wrong(const char *pattern)
{
	if (*pattern != '/')
		return "a path begins with /";
	if (strlen(pattern) > IDEM_PATTERN_MAX)
		return "a path is at most 1024 bytes long";
	if (strstr(pattern, "***") != NULL)
		return "*** is neither * nor **";
	return NULL;
}

static void
read_tokens(struct tokens *t, const char *pattern)
{
	assert(strlen(pattern) <= IDEM_PATTERN_MAX);
	t->len = 0;
	for (; *pattern != '\0'; pattern++) {
		if (*pattern != '*') {
			t->at[t->len++] = (uint8_t)*pattern;
		} else if (pattern[1] != '*') {
			t->at[t->len++] = TOKEN_STAR;
		} else {
			t->at[t->len++] = TOKEN_ANY;
			pattern++;
		}
	}
	t->early = t->len;
	if (t->len >= 2 && t->at[t->len - 2] == '/' &&
	    t->at[t->len - 1] == TOKEN_ANY)
		t->early = t->len - 2;
}

static bool
is_end(const struct tokens *t, size_t state)
{
	return state == t->len || state == t->early;
}

static bool
is_star(const struct tokens *t, size_t state)
{
	return state < t->len && t->at[state] >= TOKEN_STAR;
}

static bool
may_be(uint16_t token, uint16_t byte)
{
	if (token == TOKEN_STAR)
		return byte != '/';
	return token == TOKEN_ANY || token == byte;
}

/* From the states before a byte to those after it. */
static void
step(const struct tokens *t, bool *on, uint16_t byte)
{
	bool stays, comes = false;
	size_t i;

	for (i = 0; i < t->len; i++) {
		stays = false;
		if (on[i] && is_star(t, i))
			stays = may_be(t->at[i], byte);
		stays = stays || comes;
		comes = on[i] && !is_star(t, i) && t->at[i] == byte;
		on[i] = stays;
	}
	on[t->len] = comes;
}

/* A star also stands for nothing. */
static void
pass_stars(const struct tokens *t, bool *on)
{
	size_t i;

	for (i = 0; i < t->len; i++)
		if (on[i] && is_star(t, i))
			on[i + 1] = true;
}

bool
idem_pattern_matches(const char *pattern, struct idem_bytes path)
{
	bool on[IDEM_PATTERN_MAX + 1] = { true };
	const uint8_t *at = path.at;
	struct tokens t;
	size_t i;

	/* Most do not even begin alike. */
	for (i = 0; pattern[i] != '\0' && pattern[i] != '*'; i++)
		if (i < path.len && at[i] != (uint8_t)pattern[i])
			return false;
	read_tokens(&t, pattern);
	for (i = 0; i < path.len; i++) {
		pass_stars(&t, on);
		step(&t, on, at[i]);
	}
	pass_stars(&t, on);
	return on[t.len] || on[t.early];
}

/* --- two of them ---------------------------------------------------------- */

/* May one byte stand for the next token of each?  A star stays where it is. */
static bool
meet(const struct tokens *a, size_t i, const struct tokens *b, size_t j)
{
	if (is_star(a, i))
		return may_be(a->at[i], b->at[j]);
	return may_be(b->at[j], a->at[i]);
}

/* From one pair of states to those that are reached from there at once. */
static void
spread(const struct tokens *a, size_t i, const struct tokens *b, size_t j,
    bool *here, bool *next)
{
	bool a_star = is_star(a, i), b_star = is_star(b, j);

	if (a_star)
		next[j] = true;
	if (b_star)
		here[j + 1] = true;
	if (i == a->len || j == b->len || (a_star && b_star) ||
	    !meet(a, i, b, j))
		return;
	if (a_star)
		here[j + 1] = true;
	else if (b_star)
		next[j] = true;
	else
		next[j + 1] = true;
}

/* All pairs that a path may lead to, a row for each state of a. */
bool
idem_pattern_overlap(const char *one, const char *other)
{
	bool rows[2][IDEM_PATTERN_MAX + 1] = { { true } };
	struct tokens a, b;
	bool *here, *next;
	size_t i, j;

	read_tokens(&a, one);
	read_tokens(&b, other);
	for (i = 0; i <= a.len; i++) {
		here = rows[i % 2];
		next = rows[(i + 1) % 2];
		memset(next, 0, sizeof rows[0]);
		for (j = 0; j <= b.len; j++) {
			if (!here[j])
				continue;
			if (is_end(&a, i) && is_end(&b, j))
				return true;
			spread(&a, i, &b, j, here, next);
		}
	}
	return false;
}
