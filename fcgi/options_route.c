/* SPDX-License-Identifier: ISC */
#include "options_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What --config's file says in an option's place. */
static const struct { const char *option, *file; } instead[] = {
	{ "--keep", "keep = \"24h\" in a route" },
	{ "--keep-min", "keep_min = \"1h\" in a route" },
	{ "--tombstone", "tombstone = \"7d\" in a route" },
	{ "--lease", "lease = \"60s\" in a route" },
	{ "--limit", "limit = \"300s\" in a route" },
	{ "--grace", "grace = \"5s\"" },
	{ "--on-unknown", "on_unknown = \"block\" in a route" },
	{ "--no-spool", "spool = false in a route" },
	{ "--reserve", "reserve = \"64MiB\"" },
	{ "--in-progress", "in_progress = wait \"10s\" in a route" },
	{ "--required", "required = true in a route" },
	{ "--arbiter", "arbiter = \"redis\" in a route" },
	{ "--scheme", "scheme = \"script\" in a route" },
	{ "--on-outage", "on_outage = \"reject\" in a route" },
	{ "--shared",
	    "shared = redis { url = \"unix:/run/redis/redis.sock\" }" },
	{ "--cache", "cache = redis { url = \"unix:/run/redis/redis.sock\" }" },
	{ "--token-keys", "tokens = { keys = \"/etc/idem/token.keys\" }" },
	{ "--run", "run = \"/run/idem\"" },
	{ "--root", "program = cgi { root = \"/srv\" } in a route" },
	{ "--fcgiwrap-compat", "program = cgi { environment = \"fcgiwrap\" } "
	    "in a route" },
	{ "-p", "program = cgi { allow = { \"/path\" } } in a route" },
	{ "--", "program = cgi { \"/path\" } in a route" },
};

/* --- values --------------------------------------------------------------- */

int
options_wrong(const char *option, const char *value, const char *what)
{
	fprintf(stderr, "idemd: %s %s: %s\n", option, value, what);
	return 2;
}

int
options_number(const char *option, const char *text, uint32_t min, uint32_t max,
    uint32_t *out)
{
	unsigned long n;
	char what[64];
	char *end;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 ||
	    n < min || n > max) {
		snprintf(what, sizeof what, "not a number from %u to %u",
		    min, max);
		return options_wrong(option, text, what);
	}
	*out = (uint32_t)n;
	return 0;
}

static int
time64(const char *option, const char *text, int64_t *out)
{
	if (options_time(text, CONF_TIME_MAX_MS, out))
		return 0;
	return options_wrong(option, text, "not " CONF_TIME_WORDS
	    ", of at most 3650d");
}

static int
time32(const char *option, const char *text, uint32_t *out)
{
	int64_t ms;

	if (!options_time(text, CONF_RUN_MAX_MS, &ms))
		return options_wrong(option, text, "not " CONF_TIME_WORDS
		    ", of at most 15d");
	*out = (uint32_t)ms;
	return 0;
}

static int
lease(const char *text, struct options_route *route)
{
	uint32_t *out = &route->route.policy.lease_ms;
	int answer;

	route->lease_auto = strcmp(text, "auto") == 0;
	if (route->lease_auto)
		return 0;
	answer = time32("--lease", text, out);
	if (answer == 0 && *out < CONF_LEASE_MIN_MS)
		return options_wrong("--lease", text, "less than 100ms: it "
		    "would be renewed without a pause");
	return answer;
}

static int
in_progress(const char *text, struct idem_policy *policy)
{
	if (strcmp(text, "wait") == 0)
		policy->in_progress = IDEM_WAITING;
	else if (strncmp(text, "wait:", 5) == 0) {
		policy->in_progress = IDEM_WAITING;
		return time32("--in-progress", text + 5, &policy->wait_ms);
	} else if (strcmp(text, "409") == 0)
		policy->in_progress = IDEM_CONFLICT;
	else if (strcmp(text, "202") == 0)
		policy->in_progress = IDEM_ACCEPTED;
	else
		return options_wrong("--in-progress", text,
		    "not one of wait, wait:TIME, 409 and 202");
	return 0;
}

static int
size(const char *option, const char *text, uint64_t max, uint64_t *out)
{
	if (strcmp(text, "0") == 0) {
		*out = 0;
		return 0;
	}
	if (options_size(text, max, out))
		return 0;
	return options_wrong(option, text, "not " CONF_SIZE_WORDS ", nor 0");
}

static int
on_unknown(const char *text, struct options_route *route)
{
	struct idem_policy *policy = &route->route.policy;

	route->probe = NULL;
	if (strcmp(text, "block") == 0) {
		policy->on_unknown = IDEM_BLOCK;
		return 0;
	}
	if (strcmp(text, "retry") == 0) {
		policy->on_unknown = IDEM_RETRY;
		policy->attempts_max = 3;
		return 0;
	}
	if (strncmp(text, "retry:", 6) == 0) {
		policy->on_unknown = IDEM_RETRY;
		return options_number("--on-unknown retry", text + 6, 1,
		    CONF_ATTEMPTS_MAX, &policy->attempts_max);
	}
	if (strncmp(text, "probe:/", 7) == 0) {
		policy->on_unknown = IDEM_PROBING;
		route->probe = text + 6;
		return 0;
	}
	return options_wrong("--on-unknown", text, "not one of block, retry, "
	    "retry:N and probe:/PROGRAM");
}

static int
arbiter(const char *text, struct idem_policy *policy)
{
	if (strcmp(text, "ledger") == 0)
		policy->arbiter = IDEM_ARBITER_LEDGER;
	else if (strcmp(text, "redis") == 0)
		policy->arbiter = IDEM_ARBITER_REDIS;
	else if (strcmp(text, "token") == 0)
		policy->arbiter = IDEM_ARBITER_TOKEN;
	else
		return options_wrong("--arbiter", text,
		    "not one of ledger, redis and token");
	return 0;
}

static int
scheme(const char *text, struct options_route *route)
{
	route->scheme_said = true;
	if (strcmp(text, "script") == 0)
		route->scheme = IDEM_SCHEME_SCRIPT;
	else if (strcmp(text, "setnx") == 0)
		route->scheme = IDEM_SCHEME_SETNX;
	else if (strcmp(text, "check") == 0)
		route->scheme = IDEM_SCHEME_CHECK;
	else
		return options_wrong("--scheme", text,
		    "not one of script, setnx and check");
	return 0;
}

static int
on_outage(const char *text, struct options_route *route)
{
	static const char *const all[] = {
		[IDEM_REJECT] = "reject", [IDEM_TO_MEMORY] = "memory",
		[IDEM_TO_DATABASE] = "database", [IDEM_PASS] = "pass"
	};
	size_t i;

	route->outage_said = true;
	for (i = 0; i < sizeof all / sizeof *all; i++)
		if (strcmp(all[i], text) == 0) {
			route->route.policy.on_outage =
			    (enum idem_on_outage)i;
			return 0;
		}
	return options_wrong("--on-outage", text,
	    "not one of reject, memory, database and pass");
}

/* --- options -------------------------------------------------------------- */

static int
allow(struct options_route *route, char *path)
{
	if (path[0] != '/')
		return options_wrong("-p", path, "not an absolute path");
	route->allowed[route->allowed_len++] = path;
	return 0;
}

static void
note(struct options_route *route, int option)
{
	if (route->said != NULL)
		return;
	route->said = instead[option - OPTIONS_KEEP].option;
	route->instead = instead[option - OPTIONS_KEEP].file;
}

int
options_of_route(struct options_route *route, int option, char *value)
{
	struct idem_policy *policy = &route->route.policy;

	note(route, option);
	switch (option) {
	case OPTIONS_KEEP:
		return time64("--keep", value, &route->route.times.keep_ms);
	case OPTIONS_KEEP_MIN:
		return time64("--keep-min", value, &route->keep_min_ms);
	case OPTIONS_TOMBSTONE:
		return time64("--tombstone", value,
		    &route->route.times.tombstone_ms);
	case OPTIONS_LEASE:
		return lease(value, route);
	case OPTIONS_LIMIT:
		return time32("--limit", value, &route->route.limit_ms);
	case OPTIONS_GRACE:
		return time32("--grace", value, &route->grace_ms);
	case OPTIONS_ON_UNKNOWN:
		return on_unknown(value, route);
	case OPTIONS_NO_SPOOL:
		route->no_spool = true;
		return 0;
	case OPTIONS_RESERVE:
		return size("--reserve", value, CONF_RESERVE_MAX,
		    &route->reserve);
	case OPTIONS_IN_PROGRESS:
		return in_progress(value, policy);
	case OPTIONS_REQUIRED:
		policy->required = true;
		return 0;
	case OPTIONS_ARBITER:
		return arbiter(value, policy);
	case OPTIONS_SCHEME:
		return scheme(value, route);
	case OPTIONS_ON_OUTAGE:
		return on_outage(value, route);
	case OPTIONS_SHARED:
		route->shared = value;
		return 0;
	case OPTIONS_CACHE:
		route->cache = value;
		return 0;
	case OPTIONS_TOKEN_KEYS:
		route->token_keys = value;
		return 0;
	case OPTIONS_RUN:
		route->run = value;
		return 0;
	case OPTIONS_ROOT:
		route->root = value;
		return 0;
	case OPTIONS_COMPAT:
		route->compat = true;
		return 0;
	case OPTIONS_ALLOW:
		return allow(route, value);
	default:
		return 0;
	}
}
