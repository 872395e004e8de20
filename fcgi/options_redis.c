/* SPDX-License-Identifier: ISC */
#include "options_private.h"

#include <stdio.h>
#include <string.h>

/* The one route's arbiter, and what that needs. */

/* No message holds the URL: there may be a password in it. */
static bool
server(struct conf *c, const char *option, const char *url,
    const struct conf_redis **out, char *error, size_t size)
{
	char why[400];

	if (url == NULL)
		return true;
	*out = conf_redis_of_url(c, url, why, sizeof why);
	if (*out == NULL)
		snprintf(error, size, "%s: %s", option, why);
	return *out != NULL;
}

static bool
tokens(struct conf *c, const char *file, char *error, size_t size)
{
	char why[400];

	if (file == NULL)
		return true;
	c->tokens = conf_tokens_new(c);
	if (c->tokens == NULL) {
		snprintf(error, size, "no memory");
		return false;
	}
	c->tokens->keys_file = file;
	if (conf_tokens_read(c->tokens, why, sizeof why))
		return true;
	snprintf(error, size, "--token-keys %s", why);
	return false;
}

static const char *
does_not_fit(const struct options_route *r)
{
	enum idem_arbiter arbiter = r->route.policy.arbiter;

	if (r->scheme_said && arbiter != IDEM_ARBITER_REDIS)
		return "--scheme: it is of --arbiter redis only";
	if (r->outage_said && arbiter != IDEM_ARBITER_REDIS)
		return "--on-outage: it is of --arbiter redis only";
	return NULL;
}

bool
options_redis(struct conf *c, const struct options_route *r, char *error,
    size_t size)
{
	const char *fault = does_not_fit(r);

	if (fault != NULL) {
		snprintf(error, size, "%s", fault);
		return false;
	}
	c->run = r->run;
	return server(c, "--shared", r->shared, &c->shared, error, size) &&
	    server(c, "--cache", r->cache, &c->cache, error, size) &&
	    tokens(c, r->token_keys, error, size);
}
