/* SPDX-License-Identifier: ISC */
#include "route_steps.h"

#include <string.h>

#define COOKIE "HTTP_COOKIE="

static struct idem_bytes
trimmed(const char *at, size_t len)
{
	while (len > 0 && (*at == ' ' || *at == '\t')) {
		at++;
		len--;
	}
	while (len > 0 && (at[len - 1] == ' ' || at[len - 1] == '\t'))
		len--;
	return (struct idem_bytes){ at, len };
}

/* Up to the next ';', or the field's end. */
static bool
next_pair(struct idem_route_cookies *c, struct idem_bytes *pair)
{
	const char *param;
	size_t len;

	while (c->left == NULL && c->next < c->params->len) {
		param = c->params->at[c->next++];
		if (strncmp(param, COOKIE, strlen(COOKIE)) == 0)
			c->left = param + strlen(COOKIE);
	}
	if (c->left == NULL)
		return false;
	len = strcspn(c->left, ";");
	*pair = (struct idem_bytes){ c->left, len };
	c->left = c->left[len] == ';' ? c->left + len + 1 : NULL;
	return true;
}

bool
idem_route_cookie_next(struct idem_route_cookies *c, const char *name,
    struct idem_bytes *value)
{
	struct idem_bytes pair, left;
	const char *at, *equals;

	while (next_pair(c, &pair)) {
		at = pair.at;
		equals = memchr(at, '=', pair.len);
		if (equals == NULL)
			continue;
		left = trimmed(at, (size_t)(equals - at));
		if (!idem_bytes_is(left, name))
			continue;
		equals++;
		*value = trimmed(equals, pair.len - (size_t)(equals - at));
		return true;
	}
	return false;
}

bool
idem_cookie(const struct idem_params *params, const char *name,
    struct idem_bytes *value)
{
	struct idem_route_cookies c = { .params = params };

	return idem_route_cookie_next(&c, name, value);
}
