/* SPDX-License-Identifier: ISC */
#include "conf_private.h"

#include <stdio.h>
#include <string.h>

/* What the file, or the command line, does not say. */
struct missing {
	bool (*is)(const struct conf *, const struct idem_policy *);
	const char *of_file, *of_line;
};

/* --- what a route needs --------------------------------------------------- */

static bool
no_ledger(const struct conf *c, const struct idem_policy *p)
{
	return p->arbiter == IDEM_ARBITER_LEDGER && c->ledger == NULL;
}

static bool
no_shared(const struct conf *c, const struct idem_policy *p)
{
	return p->arbiter != IDEM_ARBITER_LEDGER && c->shared == NULL;
}

static bool
no_tokens(const struct conf *c, const struct idem_policy *p)
{
	return p->arbiter == IDEM_ARBITER_TOKEN && c->tokens == NULL;
}

static bool
no_database(const struct conf *c, const struct idem_policy *p)
{
	return p->arbiter == IDEM_ARBITER_REDIS &&
	    p->on_outage == IDEM_TO_DATABASE && c->ledger == NULL;
}

#define SAY_LEDGER "ledger = sqlite { path = \"/var/lib/idem/ledger.db\" }"

static const struct missing needed[] = {
	{ no_ledger, "arbiter: it is the ledger, and the file has none; "
	  "without one nothing stops a second run. Say " SAY_LEDGER ", or "
	  "arbiter = \"redis\" or \"token\"",
	  "--ledger: missing; without a ledger nothing stops a second run. Say "
	  "--ledger sqlite:PATH, or --arbiter redis or token" },
	{ no_shared, "arbiter: there is no Redis to ask; say shared = redis { "
	  "url = \"unix:/run/redis/redis.sock\" }",
	  "--arbiter: there is no Redis to ask; say --shared URL" },
	{ no_tokens, "arbiter: there are no keys to sign tokens with; say "
	  "tokens = { keys = \"/etc/idem/token.keys\" }",
	  "--arbiter token: there are no keys to sign tokens with; say "
	  "--token-keys FILE" },
	{ no_database, "on_outage: \"database\" is the ledger, and there is "
	  "none; say " SAY_LEDGER,
	  "--on-outage database: that is the ledger, and there is none; say "
	  "--ledger sqlite:PATH" },
};

/* "FILE:LINE: route "/x"" of "route at FILE:LINE". */
static void
say_missing(const struct conf_route *r, bool line, const struct missing *m,
    char *error, size_t size)
{
	static const char at[] = "route at ";
	const char *place = r->text;

	if (strncmp(place, at, sizeof at - 1) == 0)
		place += sizeof at - 1;
	if (line)
		snprintf(error, size, "%s", m->of_line);
	else
		snprintf(error, size, "%s: route \"%.100s\": %s", place,
		    r->route.path, m->of_file);
}

static bool
route_is_whole(const struct conf *c, const struct conf_route *r, bool line,
    char *error, size_t size)
{
	size_t i;

	for (i = 0; i < sizeof needed / sizeof *needed; i++)
		if (needed[i].is(c, &r->route.policy)) {
			say_missing(r, line, &needed[i], error, size);
			return false;
		}
	if (r->route.policy.arbiter == IDEM_ARBITER_LEDGER ||
	    r->route.kept_max <= CONF_REDIS_KEPT_MAX)
		return true;
	say_missing(r, line, &(struct missing){ NULL, "kept_max: at most "
	    "48MiB where Redis keeps the answers", "" }, error, size);
	return false;
}

/* --- what a route takes on ------------------------------------------------ */

static void
warn_scheme(struct conf *c, const struct conf_route *r)
{
	switch (r->scheme) {
	case IDEM_SCHEME_SCRIPT:
		conf_warn(c, "%s: arbiter is redis: a key runs once only while "
		    "Redis remembers it; a flush, an eviction, an empty "
		    "restart or the tail of a failover forgets keys, and their "
		    "programs run again", r->text);
		break;
	case IDEM_SCHEME_SETNX:
		conf_warn(c, "%s: scheme is setnx: a run that outlives its "
		    "lease, a release by somebody else, or a Redis that "
		    "forgets lets a key run twice, and after a lost reply it "
		    "may never run; another request with the same key is not "
		    "told from it, and no answer is stored", r->text);
		break;
	case IDEM_SCHEME_CHECK:
		conf_warn(c, "%s: scheme is check: of two requests at once "
		    "both run, on this host and on others; only a later one "
		    "gets a stored answer", r->text);
		break;
	}
}

static void
warn_outage(struct conf *c, const struct conf_route *r)
{
	switch (r->route.policy.on_outage) {
	case IDEM_REJECT:
		break;
	case IDEM_TO_MEMORY:
		conf_warn(c, "%s: on_outage is memory: while Redis is away "
		    "each host remembers alone, until its idemd ends; a key "
		    "may run on every host, and again once Redis is back",
		    r->text);
		break;
	case IDEM_TO_DATABASE:
		conf_warn(c, "%s: on_outage is database: the ledger does not "
		    "know what ran before Redis went away, nor what other "
		    "hosts' ledgers know; such a key runs again", r->text);
		break;
	case IDEM_PASS:
		conf_warn(c, "%s: on_outage is pass: while Redis is away "
		    "nothing stops a second run, and nothing is remembered of "
		    "the first", r->text);
		break;
	}
}

static void
warn_unknown(struct conf *c, const struct conf_route *r)
{
	switch (r->route.policy.on_unknown) {
	case IDEM_BLOCK:
		break;
	case IDEM_RETRY:
		conf_warn(c, "%s: retry with redis: no lock shows across hosts "
		    "that a run is dead, so the next may begin while it is at "
		    "work; and a Redis that forgets counts from one again",
		    r->text);
		break;
	case IDEM_PROBING:
		conf_warn(c, "%s: probe with redis: no lock shows across hosts "
		    "that a run is dead, so the probe may look while it is at "
		    "work; and of what Redis forgets no probe is asked",
		    r->text);
		break;
	}
}

/*
 * Every other lease is renewed while its run goes on; here it is the time to
 * live of a key that nobody renews.
 */
static void
warn_lease(struct conf *c, const struct conf_route *r)
{
	if (r->scheme == IDEM_SCHEME_SETNX &&
	    (r->lease_auto || r->route.policy.lease_ms < r->route.limit_ms))
		conf_warn(c, "%s: scheme is setnx, which renews no lease: a "
		    "run may take longer than it, up to its limit, and then "
		    "another begins beside it; say a lease as long as the "
		    "limit", r->text);
}

static void
warn_route(struct conf *c, const struct conf_route *r)
{
	const struct idem_policy *p = &r->route.policy;

	if (p->arbiter != IDEM_ARBITER_REDIS)
		return;
	warn_scheme(c, r);
	warn_lease(c, r);
	warn_outage(c, r);
	warn_unknown(c, r);
}

/* --- the whole ------------------------------------------------------------ */

static bool
any(const struct conf *c, enum idem_arbiter arbiter)
{
	size_t i;

	for (i = 0; i < c->routes_len; i++)
		if (c->routes[i].route.policy.arbiter == arbiter)
			return true;
	return false;
}

static void
warn_unused(struct conf *c)
{
	if (c->shared != NULL && !any(c, IDEM_ARBITER_REDIS) &&
	    !any(c, IDEM_ARBITER_TOKEN))
		conf_warn(c, "shared: no route has arbiter \"redis\" or "
		    "\"token\", so it is not used");
	if (c->cache != NULL && !any(c, IDEM_ARBITER_LEDGER))
		conf_warn(c, "cache: it keeps answers of the ledger, and no "
		    "route has that as arbiter, so it is not used");
	if (c->tokens != NULL && !any(c, IDEM_ARBITER_TOKEN))
		conf_warn(c, "tokens: no route has arbiter \"token\", so they "
		    "are of no use");
}

static void
warn_secret(struct conf *c, const char *name, const struct conf_redis *r,
    const char *file)
{
	if (r == NULL || !r->secret_said)
		return;
	if (file == NULL)
		conf_warn(c, "--%s: a password on the command line is seen by "
		    "every user of this host; say it in a file, with --config",
		    name);
	else if (conf_others_read(file))
		conf_warn(c, "%s: a password stands in %.200s, which others "
		    "may read: chmod o= it, or say password_file", name, file);
}

bool
conf_check(struct conf *c, const char *file, char *error, size_t size)
{
	size_t i;

	for (i = 0; i < c->routes_len; i++)
		if (!route_is_whole(c, &c->routes[i], file == NULL, error,
		    size))
			return false;
	if (c->ledger == NULL && c->run == NULL) {
		snprintf(error, size, file != NULL ? "%s: there is neither a "
		    "ledger nor a folder for the locks of runs; say "
		    SAY_LEDGER ", or run = \"/run/idem\"" : "%s--run: missing; "
		    "without a ledger say --run FOLDER, for the locks of runs",
		    file != NULL ? file : "");
		return false;
	}
	for (i = 0; i < c->routes_len; i++)
		warn_route(c, &c->routes[i]);
	warn_unused(c);
	warn_secret(c, "shared", c->shared, file);
	warn_secret(c, "cache", c->cache, file);
	return true;
}
