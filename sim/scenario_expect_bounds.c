/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lauxlib.h>
#include <lua.h>

#include <stdio.h>
#include <string.h>

#define BOUND_MAX 1000000000

/* What a bound may grow with: an action, or the end of a lease. */
static const char *
fault_kind(const struct scenario_at *at, const char *name)
{
	char words[1000] = "lease_expiry", near[60];
	size_t len = strlen(words), i;
	const char *act;

	if (strcmp(name, words) == 0)
		return name;
	for (i = 0; i < PLAN_ACTIONS && len < sizeof words; i++) {
		act = history_act((enum plan_action_kind)i);
		if (strcmp(name, act) == 0)
			return name;
		len += (size_t)snprintf(words + len, sizeof words - len,
		    " %s", act);
	}
	if (scenario_near(name, words, near, sizeof near) != NULL)
		scenario_wrong(at, NULL, "there is no fault \"%.40s\"; did you "
		    "mean \"%s\"?", name, near);
	scenario_wrong(at, NULL, "there is no fault \"%.40s\"; say "
	    "\"lease_expiry\", or an action, as \"proc.kill\"", name);
}

static bool
bound(const struct scenario_at *at, const char *field, struct plan_bound *b)
{
	const struct scenario_word *word;
	const struct scenario_made *made;
	struct scenario_at given;

	if (!scenario_has(at, field))
		return false;
	b->set = true;
	b->per_fault = NULL;
	made = scenario_made(at->L, -1);
	if (made == NULL) {
		lua_pop(at->L, 1);
		b->base = scenario_whole(at, field, 0, BOUND_MAX, 0);
		return true;
	}
	given = scenario_given(at, field, SCENARIO_TERM, "a number; say 1, or "
	    "1 + sim.fault_count(\"lease_expiry\")", &word);
	b->base = made->base;
	if (b->base < 0 || b->base > BOUND_MAX)
		scenario_wrong(at, field, "its number is not from 0 to %d; say "
		    "1 + sim.fault_count(...)", BOUND_MAX);
	b->per_fault = fault_kind(&given, scenario_arg_text(&given, 1));
	lua_pop(at->L, 2);
	return true;
}

bool
scenario_expect_bounds(const struct scenario_at *at, struct plan_expect *e)
{
	struct scenario_at table;
	bool any = false;

	if (!scenario_has(at, "bounds"))
		return false;
	table = scenario_inside(at, "bounds");
	scenario_fields(&table, "handler_runs_per_key store_ops_per_attempt "
	    "queue_depth goodput_recovers_within_ms innocent_p99_ms");
	any |= bound(&table, "handler_runs_per_key", &e->handler_runs_per_key);
	any |= bound(&table, "store_ops_per_attempt",
	    &e->store_ops_per_attempt);
	any |= bound(&table, "queue_depth", &e->queue_depth);
	any |= bound(&table, "goodput_recovers_within_ms",
	    &e->goodput_recovers_within_ms);
	any |= bound(&table, "innocent_p99_ms", &e->innocent_p99_ms);
	lua_pop(at->L, 1);
	return any;
}
