/* SPDX-License-Identifier: ISC */
#include "route.h"

#include <stdlib.h>
#include <string.h>

#define PARTS_FEW 16		/* more take memory of their own */

static struct idem_bytes
param(const struct idem_params *params, const char *name)
{
	const char *value = idem_params_get(params, name);

	return idem_bytes_text(value != NULL ? value : "");
}

/* --- named cookies and variables ------------------------------------------ */

struct parts {
	struct idem_bytes *at;	/* few, or owned */
	size_t len;
	bool any;		/* a named one that is not empty */
	struct idem_bytes few[PARTS_FEW];
};

static bool
parts_begin(struct parts *p, size_t most)
{
	p->len = 0;
	p->any = false;
	p->at = p->few;
	if (most > PARTS_FEW)
		p->at = calloc(most, sizeof *p->at);
	return p->at != NULL;
}

static void
parts_free(struct parts *p)
{
	if (p->at != p->few)
		free(p->at);
}

/* Three parts each, so that a cookie is no variable. */
static void
add_named(struct parts *p, const char *kind, const char *name,
    struct idem_bytes value)
{
	p->at[p->len++] = idem_bytes_text(kind);
	p->at[p->len++] = idem_bytes_text(name);
	p->at[p->len++] = value;
	p->any = p->any || value.len > 0;
}

static void
add_all(struct parts *p, const struct idem_params *params,
    const struct idem_words *cookies, const struct idem_words *variables)
{
	struct idem_bytes value;
	size_t i;

	for (i = 0; i < cookies->len; i++) {
		if (!idem_cookie(params, cookies->at[i], &value))
			value = idem_bytes_text("");
		add_named(p, "cookie", cookies->at[i], value);
	}
	for (i = 0; i < variables->len; i++)
		add_named(p, "variable", variables->at[i],
		    param(params, variables->at[i]));
}

/* --- the digests ---------------------------------------------------------- */

/* A server sets AUTH_TYPE if it authenticated; nginx sets REMOTE_USER to
   whatever the client says. */
static struct idem_bytes
verified_user(const struct idem_route *route, const struct idem_params *params)
{
	if (!route->user_verified && param(params, "AUTH_TYPE").len == 0)
		return idem_bytes_text("");
	return param(params, "REMOTE_USER");
}

bool
idem_route_store_key(const struct idem_route *route,
    const struct idem_params *params, const char *program,
    const struct idem_key *key, struct idem_digest *digest, bool *identity)
{
	struct idem_scope scope = {
		.route = idem_bytes_text(route->name != NULL ? route->name :
		    program),
		.method = param(params, "REQUEST_METHOD"),
		.user = verified_user(route, params)
	};
	struct parts p;
	bool good;

	if (!parts_begin(&p, 3 * (route->scope_cookies.len +
	    route->scope_variables.len)))
		return false;
	add_all(&p, params, &route->scope_cookies, &route->scope_variables);
	scope.named = p.at;
	scope.named_len = p.len;
	*identity = scope.user.len > 0 || p.any;
	good = idem_store_key(&scope, key, digest);
	parts_free(&p);
	return good;
}

/* What is not guarded is empty: the places of the others stay. */
bool
idem_route_guard(const struct idem_route *route,
    const struct idem_params *params, struct idem_digest *digest)
{
	struct parts p;
	bool good;

	if (!parts_begin(&p, 2 + 3 * (route->guard_cookies.len +
	    route->guard_variables.len)))
		return false;
	p.at[p.len++] = route->guard_authorization ?
	    param(params, "HTTP_AUTHORIZATION") : idem_bytes_text("");
	p.at[p.len++] = route->guard_user ?
	    param(params, "REMOTE_USER") : idem_bytes_text("");
	add_all(&p, params, &route->guard_cookies, &route->guard_variables);
	good = idem_guard(p.at, p.len, digest);
	parts_free(&p);
	return good;
}

void
idem_route_fingerprint(const struct idem_route *route,
    const struct idem_params *params, struct idem_bytes path,
    struct idem_fingerprint *fingerprint)
{
	const struct idem_asked asked = {
		.parts = route->parts,
		.method = param(params, "REQUEST_METHOD"),
		.path = path,
		.script = param(params, "SCRIPT_NAME"),
		.info = param(params, "PATH_INFO"),
		.query = param(params, "QUERY_STRING"),
		.type = param(params, "CONTENT_TYPE"),
		.encoding = param(params, "HTTP_CONTENT_ENCODING")
	};

	idem_fingerprint_init(fingerprint, &asked);
}

/* --- what a reload may not change ----------------------------------------- */

static void
hash_text(struct idem_hash *h, const char *text)
{
	idem_hash_u64(h, text != NULL);
	idem_hash_part(h, idem_bytes_text(text != NULL ? text : ""));
}

static void
hash_words(struct idem_hash *h, const struct idem_words *words)
{
	size_t i;

	idem_hash_u64(h, words->len);
	for (i = 0; i < words->len; i++)
		hash_text(h, words->at[i]);
}

static void
hash_sources(struct idem_hash *h, const struct idem_route *route)
{
	size_t i;

	idem_hash_u64(h, route->sources_len);
	for (i = 0; i < route->sources_len; i++) {
		idem_hash_u64(h, route->sources[i].kind);
		hash_text(h, route->sources[i].name);
	}
}

bool
idem_route_rekey(const struct idem_route *route, struct idem_digest *digest)
{
	struct idem_hash h;

	idem_hash_init(&h);
	idem_hash_part(&h, idem_bytes_text("idem route 1"));
	hash_text(&h, route->name);
	hash_sources(&h, route);
	idem_hash_u64(&h, route->user_verified);
	hash_words(&h, &route->scope_cookies);
	hash_words(&h, &route->scope_variables);
	idem_hash_u64(&h, route->guard_authorization);
	idem_hash_u64(&h, route->guard_user);
	hash_words(&h, &route->guard_cookies);
	hash_words(&h, &route->guard_variables);
	idem_hash_u64(&h, route->parts);
	idem_hash_u64(&h, route->policy.arbiter);
	return idem_hash_final(&h, digest);
}
