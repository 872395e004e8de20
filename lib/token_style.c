/* SPDX-License-Identifier: ISC */
#include "token.h"

#include <stdio.h>
#include <string.h>

#define MODULO 10000u	/* four digits */

/* Bytes that a key sent bare may hold, and that do not end a part. */
static bool
good_part(const char *part)
{
	const char *c;

	if (part == NULL || *part == '\0')
		return false;
	for (c = part; *c != '\0'; c++)
		if (*c <= ' ' || *c > '~' || strchr(":\",;\\", *c) != NULL)
			return false;
	return true;
}

static unsigned
four_digits(const uint8_t random[IDEM_TOKEN_RANDOM])
{
	struct idem_reader r = { .left = { random, IDEM_TOKEN_RANDOM } };

	return (unsigned)(idem_read_u64(&r) % MODULO);
}

/* `len` as snprintf says it; the text that is cut is none. */
static bool
put(struct idem_key *key, const char *text, int len)
{
	if (len < 0 || len > IDEM_KEY_MAX)
		return false;
	memcpy(key->at, text, (size_t)len);
	key->len = (uint8_t)len;
	return true;
}

static bool
make_uuid(const struct idem_token_made *m, struct idem_key *key)
{
	uint8_t at[IDEM_TOKEN_RANDOM];
	char text[2 * sizeof at + 1];

	memcpy(at, m->random, sizeof at);
	at[6] = (uint8_t)((at[6] & 0x0f) | 0x40);	/* version 4 */
	at[8] = (uint8_t)((at[8] & 0x3f) | 0x80);	/* the RFC's variant */
	idem_hex(at, sizeof at, text);
	return put(key, text, 2 * sizeof at);
}

static bool
make_business(const struct idem_token_made *m, struct idem_key *key)
{
	char text[IDEM_KEY_MAX + 1];

	return good_part(m->type) && good_part(m->id) && m->now_ms >= 0 &&
	    put(key, text, snprintf(text, sizeof text, "%s:%s:%lld:%04u",
	    m->type, m->id, (long long)m->now_ms, four_digits(m->random)));
}

static bool
make_composite(const struct idem_token_made *m, struct idem_key *key)
{
	char text[IDEM_KEY_MAX + 1];

	return good_part(m->type) && good_part(m->id) &&
	    good_part(m->machine) && m->now_ms >= 0 &&
	    put(key, text, snprintf(text, sizeof text, "%s:%s:%lld:%s:%04u",
	    m->type, m->id, (long long)m->now_ms, m->machine,
	    (unsigned)(m->sequence % MODULO)));
}

bool
idem_token_make(const struct idem_token_made *m, struct idem_key *key)
{
	*key = (struct idem_key){ 0 };
	switch (m->style) {
	case IDEM_TOKEN_UUID:
		return make_uuid(m, key);
	case IDEM_TOKEN_BUSINESS:
		return make_business(m, key);
	case IDEM_TOKEN_COMPOSITE:
		return make_composite(m, key);
	}
	return false;
}
