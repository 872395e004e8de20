/* SPDX-License-Identifier: ISC */
#include "conf_private.h"

#include <signal.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARNINGS_MAX 64u

/* --- memory --------------------------------------------------------------- */

struct conf_block {
	struct conf_block *next;
	alignas(max_align_t) unsigned char at[];
};

void *
conf_get(struct conf *c, size_t size)
{
	struct conf_block *b;

	if (size > CONF_MEMORY_MAX - sizeof *b - c->blocks_size)
		return NULL;
	b = calloc(1, sizeof *b + size);
	if (b == NULL)
		return NULL;
	c->blocks_size += size;
	b->next = c->blocks;
	c->blocks = b;
	return b->at;
}

char *
conf_copy(struct conf *c, struct idem_bytes text)
{
	char *copy = conf_get(c, text.len + 1);

	if (copy != NULL && text.len > 0)
		memcpy(copy, text.at, text.len);
	return copy;
}

void
conf_warn(struct conf *c, const char *format, ...)
{
	const char **all;
	char text[500];
	va_list args;
	size_t i;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	for (i = 0; i < c->warnings.len; i++)
		if (strcmp(c->warnings.at[i], text) == 0)
			return;
	all = conf_get(c, (c->warnings.len + 1) * sizeof *all);
	if (all == NULL || c->warnings.len == WARNINGS_MAX)
		return;
	if (c->warnings.len > 0)
		memcpy(all, c->warnings.at, c->warnings.len * sizeof *all);
	all[c->warnings.len] = conf_copy(c, idem_bytes_text(text));
	if (all[c->warnings.len] == NULL)
		return;
	c->warnings.at = all;
	c->warnings.len++;
}

void
conf_route_init(struct conf_route *r)
{
	*r = (struct conf_route){
		.route = idem_route_default,
		.spool = true,
		.lease_min_ms = 10 * 1000,
		.lease_max_ms = 5 * 60 * 1000,
		.retry_ms = 5 * 1000,
		.probe_limit_ms = 10 * 1000
	};
}

/* Room is for the next power of two. */
struct conf_route *
conf_route_add(struct conf *c)
{
	size_t len = c->routes_len;
	struct conf_route *more;

	if ((len & (len - 1)) == 0) {
		more = conf_get(c, (len == 0 ? 1 : 2 * len) * sizeof *more);
		if (more == NULL)
			return NULL;
		if (len > 0)
			memcpy(more, c->routes, len * sizeof *more);
		c->routes = more;
	}
	return &c->routes[c->routes_len++];
}

/* --- texts ---------------------------------------------------------------- */

const int conf_signals[] = { 0, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1,
    SIGUSR2 };
const char *const conf_signal_names[] = { "none", "HUP", "INT", "QUIT", "TERM",
    "USR1", "USR2", NULL };

bool
conf_is_variable(const char *text)
{
	static const char first[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz_";
	size_t len = strspn(text, first);

	if (len == 0)
		return false;
	while (text[len] != '\0' && (strchr(first, text[len]) != NULL ||
	    strchr("0123456789", text[len]) != NULL))
		len++;
	return text[len] == '\0';
}

const char *
conf_socket(struct conf *c, const char *text)
{
	char *tcp;

	if (strncmp(text, "tcp6:[", 6) == 0) {
		tcp = conf_copy(c, idem_bytes_text(text + 1));
		if (tcp != NULL)
			memcpy(tcp, "tcp:", 4);
		return tcp;
	}
	if ((*text != '\0' && strchr(text, ':') == NULL) ||
	    (strncmp(text, "unix:", 5) == 0 && text[5] != '\0') ||
	    (strncmp(text, "tcp:", 4) == 0 && strchr(text + 4, ':') != NULL))
		return text;
	return NULL;
}

/* --- life ----------------------------------------------------------------- */

struct conf *
conf_new(void)
{
	struct conf *c = calloc(1, sizeof *c);

	if (c == NULL)
		return NULL;
	c->programs = 8;
	c->queue = 64;
	c->grace_ms = 5 * 1000;
	c->reserve = UINT64_C(64) << 20;
	c->cache_size = 64u * 1024u * 1024u;
	c->cache_age_ms = 60 * 1000;
	c->holders = 1;
	return c;
}

struct conf *
conf_hold(struct conf *c)
{
	c->holders++;
	return c;
}

void
conf_drop(struct conf *c)
{
	struct conf_block *b;

	if (c == NULL || --c->holders > 0)
		return;
	conf_lua_free(c->lua);
	if (c->tokens != NULL)
		idem_token_keys_free(&c->tokens->keys);
	while ((b = c->blocks) != NULL) {
		c->blocks = b->next;
		free(b);
	}
	free(c);
}

/*
 * A claim is asked of Redis again and again while its budget lasts, so no one
 * call may take longer.
 */
static void
share(const struct conf *c, struct idem_route *r)
{
	r->policy.look_redis = c->cache != NULL &&
	    r->policy.arbiter == IDEM_ARBITER_LEDGER;
	r->policy.look_fallback = r->policy.arbiter == IDEM_ARBITER_REDIS &&
	    r->policy.on_outage == IDEM_TO_DATABASE;
	if (c->shared == NULL || r->policy.arbiter == IDEM_ARBITER_LEDGER)
		return;
	r->policy.claim_ms = c->shared->budget_ms;
	r->times.call_ms = c->shared->client.timeout_ms;
	if (r->times.call_ms > r->policy.claim_ms)
		r->times.call_ms = r->policy.claim_ms;
}

/* A lease that is measured begins as any other does, within its bounds. */
static void
begin_lease(struct conf_route *r)
{
	uint32_t ms = idem_policy_default.lease_ms;

	if (ms > r->lease_max_ms)
		ms = r->lease_max_ms;
	if (ms < r->lease_min_ms)
		ms = r->lease_min_ms;
	r->route.policy.lease_ms = ms;
}

static int64_t
larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void
measure(struct conf *c, const struct conf_route *r)
{
	const struct idem_route *i = &r->route;
	uint32_t lease_ms = r->lease_auto ? r->lease_max_ms :
	    i->policy.lease_ms;

	c->lease_max_ms = (uint32_t)larger(c->lease_max_ms, lease_ms);
	c->limit_max_ms = (uint32_t)larger(c->limit_max_ms, i->limit_ms);
}

void
conf_measure(struct conf *c)
{
	struct conf_route *r;
	size_t i;

	if (c->cache != NULL && c->shared != NULL &&
	    c->cache->budget_ms == c->shared->budget_ms &&
	    conf_redis_differs(c->cache, c->shared) == NULL)
		c->cache = c->shared;
	c->lease_max_ms = c->limit_max_ms = 0;
	c->keep_max_ms = c->keep_min_max_ms = 0;
	for (i = 0; i < c->routes_len; i++) {
		r = &c->routes[i];
		share(c, &r->route);
		if (r->lease_auto)
			begin_lease(r);
		measure(c, r);
		c->keep_max_ms = larger(c->keep_max_ms,
		    r->route.times.keep_ms);
		c->keep_min_max_ms = larger(c->keep_min_max_ms,
		    r->route.times.keep_min_ms);
	}
	if (c->has_rest)
		measure(c, &c->rest);
}

/*
 * The first route that covers path and method; else the first of that path,
 * whose program is run for its other methods too.
 */
enum conf_found
conf_find(const struct conf *c, struct idem_bytes path, const char *method,
    const struct conf_route **found)
{
	const struct conf_route *exempt = c->has_rest ? &c->rest : NULL;
	bool other_method = false;
	size_t i;

	for (i = 0; i < c->routes_len; i++)
		switch (idem_route_judge(&c->routes[i].route, path, method)) {
		case IDEM_ROUTE_APPLIES:
			*found = &c->routes[i];
			return CONF_COVERED;
		case IDEM_ROUTE_OTHER_METHOD:
			if (!other_method)
				exempt = &c->routes[i];
			other_method = true;
			break;
		case IDEM_ROUTE_OTHER_PATH:
		case IDEM_ROUTE_EXCEPTED:
			break;
		}
	*found = exempt;
	return exempt != NULL ? CONF_EXEMPT : CONF_NONE;
}
