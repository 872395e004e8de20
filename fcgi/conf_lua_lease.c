/* SPDX-License-Identifier: ISC */
#include "conf_lua.h"

#include <lua.h>

#include <stddef.h>
#include <string.h>

/*
 * How long a run may take, and how long it is presumed alive.  A lease is
 * renewed while its run goes on, so it may well be shorter than the limit; and
 * nothing switches that off.
 */
#define MINUTE_MS (60 * 1000)

static const char *const tier_names[] = { "quick", "external", "batch", NULL };
static const struct tier {
	uint32_t min_ms, max_ms, limit_ms, retry_ms;
} tiers[] = {
	{ 10 * 1000, 30 * 1000, 30 * 1000, 5 * 1000 },
	{ MINUTE_MS, 5 * MINUTE_MS, 5 * MINUTE_MS, 30 * 1000 },
	{ 10 * MINUTE_MS, 30 * MINUTE_MS, 30 * MINUTE_MS, MINUTE_MS },
};

/* What a route says itself wins: it is read after this. */
static void
tier(const struct conf_at *at, struct conf_route *r)
{
	int which = conf_lua_one_of(at, "tier", tier_names);

	if (which == -1)
		return;
	r->lease_auto = true;
	r->lease_min_ms = tiers[which].min_ms;
	r->lease_max_ms = tiers[which].max_ms;
	r->retry_ms = tiers[which].retry_ms;
	r->route.limit_ms = tiers[which].limit_ms;
}

/* auto { ... }, on top. */
static void
bounds(const struct conf_at *at, struct conf_route *r)
{
	static const char *const known[] = { "retry_delay", "min", "max",
	    NULL };
	struct conf_at inside = conf_lua_word_inside(at);

	conf_lua_fields(&inside, known, false);
	conf_lua_span(&inside, "retry_delay", 1, &r->retry_ms);
	conf_lua_span(&inside, "min", CONF_LEASE_MIN_MS, &r->lease_min_ms);
	conf_lua_span(&inside, "max", CONF_LEASE_MIN_MS, &r->lease_max_ms);
	if (r->lease_min_ms > r->lease_max_ms)
		conf_lua_wrong(&inside, NULL, "min is %ums and max %ums: say "
		    "both, and min no larger", r->lease_min_ms,
		    r->lease_max_ms);
}

static void
lease(const struct conf_at *at, struct conf_route *r)
{
	const char *text;

	if (!conf_lua_has(at, "lease"))
		return;
	text = lua_type(at->L, -1) == LUA_TSTRING ? lua_tostring(at->L, -1) :
	    "";
	if (lua_isfunction(at->L, -1))
		conf_lua_wrong(at, "lease", "a word without its value; say "
		    "\"auto\", or auto { max = \"1m\" }");
	if (strcmp(text, "auto") == 0)
		r->lease_auto = true;
	else if (conf_lua_word(at->L, -1) == CONF_WORD_AUTO) {
		r->lease_auto = true;
		bounds(at, r);
	} else {
		r->lease_auto = false;
		conf_lua_span(at, "lease", CONF_LEASE_MIN_MS,
		    &r->route.policy.lease_ms);
	}
	lua_pop(at->L, 1);
}

void
conf_lua_lease(const struct conf_at *at, struct conf_route *r)
{
	tier(at, r);
	lease(at, r);
	conf_lua_span(at, "limit", 1, &r->route.limit_ms);
}
