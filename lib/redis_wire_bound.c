/* SPDX-License-Identifier: ISC */
#include "redis_wire_private.h"

/*
 * A reply is "+text", "-text", ":number", "$length" and so many bytes, or
 * "*count" and so many replies; each ends in CR LF.  What it announces is
 * charged before any of it is read.
 */
#define DIGITS_MAX 19u		/* of a number of 64 bits */

static enum idem_redis_bound_told
charge(struct idem_redis_bound *b, uint64_t bytes)
{
	if (bytes > b->max - b->charged)
		return IDEM_REDIS_BOUND_LARGE;
	b->charged += bytes;
	return IDEM_REDIS_BOUND_MORE;
}

/* One value is over: is the reply? */
static enum idem_redis_bound_told
over(struct idem_redis_bound *b)
{
	b->type = '\0';
	b->at = IDEM_REDIS_AT_LINE;
	while (b->depth > 0) {
		if (--b->left[b->depth - 1] > 0)
			return IDEM_REDIS_BOUND_MORE;
		b->depth--;
	}
	b->charged = 0;
	return IDEM_REDIS_BOUND_WHOLE;
}

static enum idem_redis_bound_told
begin_array(struct idem_redis_bound *b)
{
	if (b->number == 0)
		return over(b);
	if (b->depth == IDEM_REDIS_DEPTH)
		return IDEM_REDIS_BOUND_NONE;
	if (b->number > INT32_MAX || charge(b, IDEM_REDIS_ELEMENT *
	    b->number) != IDEM_REDIS_BOUND_MORE)
		return IDEM_REDIS_BOUND_LARGE;
	b->left[b->depth++] = (uint32_t)b->number;
	b->type = '\0';
	return IDEM_REDIS_BOUND_MORE;
}

static enum idem_redis_bound_told
end_line(struct idem_redis_bound *b)
{
	if (b->type == '+' || b->type == '-')
		return over(b);
	if (b->digits == 0)
		return IDEM_REDIS_BOUND_NONE;
	if (b->type == ':')
		return over(b);
	if (b->minus)	/* -1: nil */
		return b->number == 1 ? over(b) : IDEM_REDIS_BOUND_NONE;
	if (b->type == '*')
		return begin_array(b);
	b->bulk = b->number;
	b->at = IDEM_REDIS_AT_BULK;
	return charge(b, b->number);
}

static enum idem_redis_bound_told
begin_line(struct idem_redis_bound *b, char type)
{
	switch (type) {
	case '+': case '-': case ':': case '$': case '*':
		b->type = type;
		b->number = 0;
		b->digits = 0;
		b->minus = false;
		return IDEM_REDIS_BOUND_MORE;
	default:
		return IDEM_REDIS_BOUND_NONE;
	}
}

static enum idem_redis_bound_told
take_digit(struct idem_redis_bound *b, char c)
{
	if (c == '-' && b->digits == 0 && !b->minus) {
		b->minus = true;
		return IDEM_REDIS_BOUND_MORE;
	}
	if (c < '0' || c > '9' || b->digits == DIGITS_MAX)
		return IDEM_REDIS_BOUND_NONE;
	b->number = 10 * b->number + (uint64_t)(c - '0');
	b->digits++;
	return IDEM_REDIS_BOUND_MORE;
}

/* One byte that is not within a string. */
static enum idem_redis_bound_told
take_byte(struct idem_redis_bound *b, char c)
{
	if (b->cr) {
		b->cr = false;
		if (c != '\n')
			return IDEM_REDIS_BOUND_NONE;
		return b->at == IDEM_REDIS_AT_BULK ? over(b) : end_line(b);
	}
	if (charge(b, 1) != IDEM_REDIS_BOUND_MORE)
		return IDEM_REDIS_BOUND_LARGE;
	if (c == '\r' && b->type != '\0') {
		b->cr = true;
		return IDEM_REDIS_BOUND_MORE;
	}
	if (c == '\n' || b->at == IDEM_REDIS_AT_BULK)
		return IDEM_REDIS_BOUND_NONE;
	if (b->type == '\0')
		return begin_line(b, c);
	if (b->type == '+' || b->type == '-')
		return IDEM_REDIS_BOUND_MORE;
	return take_digit(b, c);
}

enum idem_redis_bound_told
idem_redis_bound_take(struct idem_redis_bound *b, struct idem_bytes bytes,
    size_t *taken)
{
	enum idem_redis_bound_told told = IDEM_REDIS_BOUND_MORE;
	const char *at = bytes.at;
	size_t i = 0, skip;

	while (i < bytes.len && told == IDEM_REDIS_BOUND_MORE) {
		if (b->bulk == 0) {
			told = take_byte(b, at[i++]);
			continue;
		}
		skip = bytes.len - i;
		if (skip > b->bulk)
			skip = (size_t)b->bulk;
		b->bulk -= skip;
		i += skip;
	}
	*taken = i;
	return told;
}
