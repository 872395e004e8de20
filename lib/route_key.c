/* SPDX-License-Identifier: ISC */
#include "route_steps.h"

#include <string.h>

#define FIELDS_MAX 64	/* that may carry a key: no client has so many */

/* --- what all sources come to --------------------------------------------- */

static bool
same(const struct idem_key *a, const struct idem_key *b)
{
	return a->len == b->len && memcmp(a->at, b->at, a->len) == 0;
}

/* Of two faults the worse one, whichever came first. */
static enum idem_key_state
worse(enum idem_key_state a, enum idem_key_state b)
{
	if (a == IDEM_KEY_MALFORMED || b == IDEM_KEY_MALFORMED)
		return IDEM_KEY_MALFORMED;
	if (a == IDEM_KEY_TOO_LONG || b == IDEM_KEY_TOO_LONG)
		return IDEM_KEY_TOO_LONG;
	return IDEM_KEY_DIFFERENT;
}

/* An empty header field beside a key differs from it, as in key.h. */
static void
add(struct idem_key_found *found, enum idem_key_state state,
    const struct idem_key *key)
{
	if (state == IDEM_KEY_ABSENT)
		return;
	if (found->state == IDEM_KEY_ABSENT) {
		found->state = state;
		if (state == IDEM_KEY_GOOD)
			found->key = *key;
	} else if (found->state != state || (state == IDEM_KEY_GOOD &&
	    !same(&found->key, key))) {
		found->state = worse(found->state, state);
	}
	if (found->state != IDEM_KEY_GOOD)
		found->key = (struct idem_key){ .len = 0 };
}

static enum idem_key_state
read_bare(struct idem_bytes value, struct idem_key *key)
{
	const uint8_t *at = value.at;
	size_t i;

	for (i = 0; i < value.len; i++)
		if (at[i] < ' ' || at[i] >= 0x7f)
			return IDEM_KEY_MALFORMED;
	if (value.len > IDEM_KEY_MAX)
		return IDEM_KEY_TOO_LONG;
	memcpy(key->at, at, value.len);
	key->len = (uint8_t)value.len;
	return IDEM_KEY_GOOD;
}

void
idem_key_found_add(struct idem_key_found *found, struct idem_bytes value)
{
	struct idem_key key = { .len = 0 };

	if (value.len > 0)
		add(found, read_bare(value, &key), &key);
}

void
idem_key_found_form(struct idem_key_found *found, enum idem_form_state state,
    struct idem_bytes value)
{
	switch (state) {
	case IDEM_FORM_NONE:
		break;
	case IDEM_FORM_ONE:
		idem_key_found_add(found, value);
		break;
	case IDEM_FORM_DIFFER:
		add(found, IDEM_KEY_DIFFERENT, NULL);
		break;
	case IDEM_FORM_TOO_LONG:
		add(found, IDEM_KEY_TOO_LONG, NULL);
		break;
	case IDEM_FORM_BROKEN:
		add(found, IDEM_KEY_MALFORMED, NULL);
		break;
	}
}

/* --- each kind ------------------------------------------------------------ */

/* All header fields of all names, as one list. */
static enum idem_key_state
read_headers(const struct idem_route *route, const struct idem_params *params,
    struct idem_key *key)
{
	struct idem_bytes values[FIELDS_MAX];
	const char *found[FIELDS_MAX + 1];
	size_t n = 0, i, j, some;

	for (i = 0; i < route->sources_len; i++) {
		if (route->sources[i].kind != IDEM_SOURCE_HEADER)
			continue;
		some = idem_params_all(params, route->sources[i].name, found,
		    FIELDS_MAX - n + 1);
		if (some > FIELDS_MAX - n)
			return IDEM_KEY_MALFORMED;
		for (j = 0; j < some; j++)
			values[n++] = idem_bytes_text(found[j]);
	}
	return idem_key_parse(values, n, key);
}

static void
add_query(struct idem_key_found *found, const struct idem_params *params,
    const char *name)
{
	const char *query = idem_params_get(params, "QUERY_STRING");
	uint8_t room[IDEM_FORM_VALUE_MAX];
	struct idem_bytes value;
	enum idem_form_state state;

	if (query == NULL)
		return;
	state = idem_form_query(idem_bytes_text(query), name, room, &value);
	idem_key_found_form(found, state, value);
}

static void
add_cookies(struct idem_key_found *found, const struct idem_params *params,
    const char *name)
{
	struct idem_route_cookies c = { .params = params };
	struct idem_bytes first, value;

	if (!idem_route_cookie_next(&c, name, &first))
		return;
	idem_key_found_add(found, first);
	while (idem_route_cookie_next(&c, name, &value)) {
		idem_key_found_add(found, value);
		if (!idem_bytes_equal(first, value))
			add(found, IDEM_KEY_DIFFERENT, NULL);
	}
}

void
idem_route_key_early(const struct idem_route *route,
    const struct idem_params *params, struct idem_key_found *found)
{
	struct idem_key key = { .len = 0 };
	const struct idem_source *source;
	size_t i;

	add(found, read_headers(route, params, &key), &key);
	for (i = 0; i < route->sources_len; i++) {
		source = &route->sources[i];
		switch (source->kind) {
		case IDEM_SOURCE_QUERY:
			add_query(found, params, source->name);
			break;
		case IDEM_SOURCE_COOKIE:
			add_cookies(found, params, source->name);
			break;
		case IDEM_SOURCE_HEADER:
		case IDEM_SOURCE_FORM:
		case IDEM_SOURCE_CONTENT:
		case IDEM_SOURCE_FUNCTION:
			break;
		}
	}
}

bool
idem_route_key_content(const struct idem_digest *fingerprint,
    struct idem_key *key)
{
	char digits[2 * IDEM_DIGEST_LEN + 1];
	struct idem_digest digest;
	struct idem_hash h;
	bool good;

	idem_hash_init(&h);
	idem_hash_part(&h, idem_bytes_text("idem content key 1"));
	idem_hash_part(&h, (struct idem_bytes){ fingerprint->at,
	    sizeof fingerprint->at });
	good = idem_hash_final(&h, &digest);
	idem_hex(digest.at, sizeof digest.at, digits);
	*key = (struct idem_key){ .len = 2 * IDEM_DIGEST_LEN };
	memcpy(key->at, digits, key->len);
	return good;
}
