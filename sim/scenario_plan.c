/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lauxlib.h>
#include <lua.h>

#include <stdio.h>
#include <string.h>

#define QUIET_MS 3000
#define MANY 1000000000

static void
modes(const struct scenario_at *at)
{
	struct scenario_at list;
	char field[SCENARIO_NTH];
	size_t n, i;

	at->plan->modes = PLAN_MODEL | PLAN_LIVE;
	if (!scenario_has(at, "modes"))
		return;
	list = scenario_inside(at, "modes");
	n = scenario_fields(&list, NULL);
	at->plan->modes = 0;
	for (i = 1; i <= n; i++) {
		scenario_nth(field, i);
		at->plan->modes |= scenario_one_of(&list, field, "model live",
		    0) == 0 ? PLAN_MODEL : PLAN_LIVE;
	}
	if (at->plan->modes == 0)
		scenario_wrong(at, "modes", "an empty list; say { \"model\", "
		    "\"live\" }");
	lua_pop(at->L, 1);
}

static void
heal(const struct scenario_at *at)
{
	struct scenario_at table;

	at->plan->heal_ms = -1;
	at->plan->quiet_ms = QUIET_MS;
	if (!scenario_has(at, "heal"))
		return;
	table = scenario_inside(at, "heal");
	scenario_fields(&table, "at quiet");
	at->plan->heal_ms = scenario_ms(&table, "at", -1);
	at->plan->quiet_ms = scenario_ms(&table, "quiet", QUIET_MS);
	lua_pop(at->L, 1);
}

/* Only what the modes have can be explored. */
static bool
has_mode(const struct scenario_at *table, const char *field, unsigned mode)
{
	if (!scenario_has(table, field))
		return false;
	if ((table->plan->modes & mode) == 0)
		scenario_wrong(table, field, "it is of mode \"%s\", which "
		    "modes does not have; put it there, or leave this out",
		    mode == PLAN_LIVE ? "live" : "model");
	return true;
}

/* Those of the model are checked here; explain says that nobody uses them. */
static void
explore(const struct scenario_at *at)
{
	static const char sizes[] = "gates clients keys attempts max_states";
	static const char *const size[] = { "gates", "clients", "keys",
	    "attempts", "max_states" };
	struct plan_explore *e = &at->plan->explore;
	struct scenario_at table, part;
	size_t i;

	if (!scenario_has(at, "explore"))
		return;
	table = scenario_inside(at, "explore");
	scenario_fields(&table, "exhaustive random live");
	if (has_mode(&table, "exhaustive", PLAN_MODEL)) {
		e->searches = true;
		part = scenario_inside(&table, "exhaustive");
		scenario_fields(&part, sizes);
		for (i = 0; i < sizeof size / sizeof *size; i++)
			scenario_whole(&part, size[i], 1, MANY, 1);
		lua_pop(at->L, 1);
	}
	if (has_mode(&table, "random", PLAN_MODEL)) {
		e->searches = true;
		part = scenario_inside(&table, "random");
		scenario_fields(&part, "schedules");
		scenario_whole(&part, "schedules", 1, MANY, 1);
		lua_pop(at->L, 1);
	}
	if (has_mode(&table, "live", PLAN_LIVE)) {
		part = scenario_inside(&table, "live");
		scenario_fields(&part, "runs wall_s");
		e->runs = (unsigned)scenario_whole(&part, "runs", 1, 100000,
		    0);
		e->wall_ms = (int64_t)(1000 * scenario_real(&part, "wall_s",
		    0.001, 86400, 0));
		lua_pop(at->L, 1);
	}
	lua_pop(at->L, 1);
}

static void
read_scenario(const struct scenario_at *at)
{
	struct plan *p = at->plan;

	p->name = scenario_text(at, "name", NULL);
	if (p->name == NULL || *p->name == '\0')
		scenario_wrong(at, "name", "it is missing; say name = "
		    "\"what happens\"");
	if (!scenario_param_is_line(p->name))
		scenario_wrong(at, "name", "a line's end, another sign that "
		    "controls, or a # in it; TAP has one line for it, and # "
		    "for its own: take it out");
	p->about = scenario_text(at, "about", NULL);
	modes(at);
	scenario_topology(at);
	scenario_handler(at);
	scenario_load(at);
	heal(at);		/* faults come before it */
	scenario_faults(at);
	explore(at);
}

/* A plan more, which is freed with the scenario whatever happens. */
static struct plan *
new_plan(lua_State *L, struct idem_lua_place place)
{
	struct scenario *s = scenario_of(L);
	struct plan *p;

	if (s->plans_n == SCENARIO_POINTS_MAX)
		scenario_raise(L, place, "this file makes more than %d test "
		    "points; make it fewer values, or several files",
		    SCENARIO_POINTS_MAX);
	p = arena_get(&s->arena, sizeof *p);
	*(struct plan **)arena_more(&s->arena, &s->plans, &s->plans_n,
	    sizeof p) = p;
	p->file = arena_text(&p->arena, s->file);
	p->number = (unsigned)s->plans_n;
	return p;
}

void
scenario_plan_add(lua_State *L, const struct plan_pair *more, size_t n)
{
	const struct scenario_made *made = scenario_made(L, -1);
	struct scenario_at at = { .L = L, .place = made->place,
	    .what = "sim.scenario" };
	int top = lua_gettop(L);

	luaL_checkstack(L, 20, NULL);
	at.plan = new_plan(L, made->place);
	lua_getiuservalue(L, -1, 1);
	lua_rawgeti(L, -1, 1);
	at.table = lua_gettop(L);
	scenario_fields(&at, made->word->fields);
	read_scenario(&at);
	scenario_param_tell(scenario_of(L), at.plan, more, n);
	lua_createtable(L, 2, 0);
	lua_createtable(L, 0, 0);
	lua_rawseti(L, -2, 1);
	lua_createtable(L, 0, 0);
	lua_rawseti(L, -2, 2);
	scenario_expect(&at);
	lua_getfield(L, LUA_REGISTRYINDEX, SCENARIO_FUNCTIONS);
	lua_insert(L, -2);
	lua_rawseti(L, -2, at.plan->number);
	lua_settop(L, top);
}
