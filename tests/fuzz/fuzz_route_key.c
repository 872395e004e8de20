/* SPDX-License-Identifier: ISC */

/* Each line is a parameter, "NAME=value". */
#include "route.h"

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#define PARAMS_MAX 100

static const struct idem_source sources[] = {
	{ .kind = IDEM_SOURCE_HEADER, .name = "HTTP_IDEMPOTENCY_KEY" },
	{ .kind = IDEM_SOURCE_HEADER, .name = "HTTP_X_IDEMPOTENCY_KEY" },
	{ .kind = IDEM_SOURCE_QUERY, .name = "key" },
	{ .kind = IDEM_SOURCE_COOKIE, .name = "key" },
};

static const char *const cookies[] = { "key", "sid" };

static const struct idem_route route = {
	.sources = sources, .sources_len = 4,
	.scope_cookies = { cookies, 2 }, .guard_cookies = { cookies, 2 },
	.guard_authorization = true, .parts = IDEM_PARTS_ALL
};

/* Only the first query counts: a second one makes the order matter. */
static size_t
split(char *text, char **at)
{
	bool query = false;
	char *next;
	size_t n = 0;

	for (; text != NULL && n < PARAMS_MAX; text = next) {
		next = strchr(text, '\n');
		if (next != NULL)
			*next++ = '\0';
		if (strncmp(text, "QUERY_STRING=", 13) == 0) {
			if (query)
				continue;
			query = true;
		}
		at[n++] = strdup(text);
		fuzz_must(at[n - 1] != NULL);
	}
	at[n] = NULL;
	return n;
}

static void
check_found(const struct idem_key_found *found)
{
	const struct idem_key none = { .len = 0 };
	size_t i;

	if (found->state != IDEM_KEY_GOOD) {
		fuzz_must(memcmp(&found->key, &none, sizeof none) == 0);
		return;
	}
	fuzz_must(found->key.len > 0);
	for (i = 0; i < found->key.len; i++)
		fuzz_must(found->key.at[i] >= ' ' && found->key.at[i] < 0x7f);
}

static bool
alike(const struct idem_key_found *a, const struct idem_key_found *b)
{
	return a->state == b->state &&
	    memcmp(&a->key, &b->key, sizeof a->key) == 0;
}

static void
reverse(char **at, size_t n)
{
	char *other;
	size_t i;

	for (i = 0; i < n / 2; i++) {
		other = at[i];
		at[i] = at[n - 1 - i];
		at[n - 1 - i] = other;
	}
}

static void
check_scope(const struct idem_params *params, const struct idem_key *key)
{
	struct idem_digest digest;
	struct idem_bytes value;
	bool identity, cookie;

	fuzz_must(idem_route_store_key(&route, params, "/p", key, &digest,
	    &identity));
	fuzz_must(idem_route_guard(&route, params, &digest));
	cookie = idem_cookie(params, "key", &value) && value.len > 0;
	fuzz_must(identity || !cookie);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct idem_key_found found = { 0 }, other = { 0 };
	char *at[PARAMS_MAX + 1], *text = malloc(len + 1);
	struct idem_params params = { .at = at };
	size_t i;

	fuzz_must(text != NULL);
	if (len > 0)
		memcpy(text, bytes, len);
	text[len] = '\0';
	params.len = split(text, at);
	idem_route_key_early(&route, &params, &found);
	check_found(&found);
	check_scope(&params, &found.key);
	reverse(at, params.len);
	idem_route_key_early(&route, &params, &other);
	fuzz_must(alike(&found, &other));
	idem_route_key_early(&route, &params, &other);
	fuzz_must(alike(&found, &other));
	for (i = 0; i < params.len; i++)
		free(at[i]);
	free(text);
	return 0;
}
