/* SPDX-License-Identifier: ISC */
#include "key.h"

#include <string.h>

/* What is left of one field's value, read from left to right. */
struct cursor {
	const uint8_t *at, *end;
};

/* One member of a field's value; an empty one has a key of no bytes. */
struct member {
	struct idem_key key;
	bool too_long;
};

static bool
next_is(const struct cursor *c, uint8_t what)
{
	return c->at < c->end && *c->at == what;
}

static bool
next_is_plain(const struct cursor *c)
{
	return c->at < c->end && *c->at > ' ' && *c->at < 0x7f &&
	    strchr("\",;\\", *c->at) == NULL;
}

static void
skip_space(struct cursor *c)
{
	while (next_is(c, ' ') || next_is(c, '\t'))
		c->at++;
}

static void
keep(struct member *m, uint8_t byte)
{
	if (m->key.len < IDEM_KEY_MAX)
		m->key.at[m->key.len++] = byte;
	else
		m->too_long = true;
}

static void
read_plain(struct cursor *c, struct member *m)
{
	while (next_is_plain(c))
		keep(m, *c->at++);
}

/* From its first quote to after its last one. */
static bool
read_string(struct cursor *c, struct member *m)
{
	uint8_t byte;

	c->at++;
	while (c->at < c->end) {
		byte = *c->at++;
		if (byte == '"')
			return true;
		if (byte < ' ' || byte >= 0x7f)
			return false;
		if (byte == '\\') {
			if (!next_is(c, '"') && !next_is(c, '\\'))
				return false;
			byte = *c->at++;
		}
		keep(m, byte);
	}
	return false;
}

static bool
skip_param_name(struct cursor *c)
{
	const uint8_t *start = c->at;

	while (c->at < c->end) {
		if (!(*c->at >= 'a' && *c->at <= 'z') && *c->at != '*' &&
		    (c->at == start || (!(*c->at >= '0' && *c->at <= '9') &&
		    *c->at != '_' && *c->at != '-' && *c->at != '.')))
			break;
		c->at++;
	}
	return c->at > start;
}

/*
 * A value that is not a String may be any plain bytes: nothing is made of it,
 * only where it ends must be certain.
 */
static bool
skip_param_value(struct cursor *c)
{
	const uint8_t *start = c->at;
	struct member ignored = { 0 };

	if (next_is(c, '"'))
		return read_string(c, &ignored);
	while (next_is_plain(c))
		c->at++;
	return c->at > start;
}

/* RFC 8941, 3.1.2. */
static bool
skip_params(struct cursor *c)
{
	while (next_is(c, ';')) {
		c->at++;
		while (next_is(c, ' '))
			c->at++;
		if (!skip_param_name(c))
			return false;
		if (!next_is(c, '='))
			continue;	/* a Boolean, true */
		c->at++;
		if (!skip_param_value(c))
			return false;
	}
	return true;
}

/* Up to the comma after it, or the value's end. */
static bool
read_member(struct cursor *c, struct member *m)
{
	skip_space(c);
	if (!next_is(c, '"'))
		read_plain(c, m);
	else if (!read_string(c, m) || !skip_params(c))
		return false;
	skip_space(c);
	return c->at == c->end || *c->at == ',';
}

static bool
same(const struct member *a, const struct member *b)
{
	return a->key.len == b->key.len &&
	    memcmp(a->key.at, b->key.at, a->key.len) == 0;
}

/*
 * What all members so far come to, and one more.  The worst wins, so that the
 * order of fields does not matter.  An empty member beside a key differs from
 * it: who sent it may have meant another.
 */
static enum idem_key_state
with_member(enum idem_key_state so_far, const struct member *first,
    const struct member *m)
{
	if (so_far == IDEM_KEY_TOO_LONG || m->too_long)
		return IDEM_KEY_TOO_LONG;
	if (so_far == IDEM_KEY_DIFFERENT || !same(first, m))
		return IDEM_KEY_DIFFERENT;
	return m->key.len == 0 ? IDEM_KEY_EMPTY : IDEM_KEY_GOOD;
}

static enum idem_key_state
read_value(struct idem_bytes value, enum idem_key_state state,
    struct member *first)
{
	struct cursor c = { value.at, (const uint8_t *)value.at + value.len };
	struct member m;

	for (;; c.at++) {	/* over the comma */
		m = (struct member){ 0 };
		if (!read_member(&c, &m))
			return IDEM_KEY_MALFORMED;
		if (state == IDEM_KEY_ABSENT)
			*first = m;
		state = with_member(state, first, &m);
		if (c.at == c.end)
			return state;
	}
}

enum idem_key_state
idem_key_parse(const struct idem_bytes *values, size_t n, struct idem_key *key)
{
	enum idem_key_state state = IDEM_KEY_ABSENT;
	struct member first = { 0 };
	size_t i;

	for (i = 0; i < n && state != IDEM_KEY_MALFORMED; i++)
		if (values[i].at != NULL)
			state = read_value(values[i], state, &first);
	if (state == IDEM_KEY_GOOD)
		*key = first.key;
	return state;
}

const char *
idem_key_state_text(enum idem_key_state state)
{
	switch (state) {
	case IDEM_KEY_ABSENT:
		return "no idempotency key was sent";
	case IDEM_KEY_GOOD:
		return "the idempotency key is good";
	case IDEM_KEY_EMPTY:
		return "the idempotency key is empty";
	case IDEM_KEY_MALFORMED:
		return "the idempotency key is neither a quoted string nor "
		    "visible ASCII without quotes, commas, semicolons and "
		    "backslashes";
	case IDEM_KEY_TOO_LONG:
		return "the idempotency key is longer than 255 bytes";
	case IDEM_KEY_DIFFERENT:
		return "several idempotency keys were sent, and they differ";
	}
	return "the idempotency key could not be read";
}
