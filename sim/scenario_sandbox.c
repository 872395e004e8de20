/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lauxlib.h>
#include <lua.h>

#include <stdio.h>
#include <string.h>

#define CHANCE 20240501		/* a file draws the same lots each time */

/* --- what is not there ---------------------------------------------------- */

static const struct {
	const char *names;	/* parted by blanks */
	const char *why;
} absent[] = {
	{ "io print", "a scenario reads and writes nothing; idemsim explain "
	  "shows what it says" },
	{ "os", "a scenario has no clock, environment or programs; times are "
	  "of the run: sim.at(ms)" },
	{ "debug load loadstring loadfile dofile package",
	  "say require \"NAME\" for NAME.lua beside the scenario" },
	{ "next rawget rawset rawequal rawlen",
	  "say pairs(t), which goes in the order of keys" },
	{ "getmetatable setmetatable", "a scenario has no metatables; say it "
	  "with functions" },
	{ "xpcall", "say pcall(f, ...), and look at what it gives" },
	{ "collectgarbage warn", "a scenario has nothing to do with that" },
};

static const char *
why_absent(const char *name)
{
	size_t len = strlen(name), i;
	const char *at;

	for (i = 0; i < sizeof absent / sizeof *absent; i++)
		for (at = absent[i].names; (at = strstr(at, name)) != NULL;
		    at += len)
			if ((at == absent[i].names || at[-1] == ' ') &&
			    (at[len] == ' ' || at[len] == '\0'))
				return absent[i].why;
	return NULL;
}

/* The names of the table at an index, parted by blanks, in order. */
static const char *
names_of(lua_State *L, int index, char *out, size_t size)
{
	const char *last = "", *best, *name;
	size_t len = 0;

	index = lua_absindex(L, index);
	out[0] = '\0';
	for (;; last = best) {
		best = NULL;
		for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
			name = lua_type(L, -2) == LUA_TSTRING ?
			    lua_tostring(L, -2) : "";
			if (strcmp(name, last) > 0 &&
			    (best == NULL || strcmp(name, best) < 0))
				best = name;
		}
		if (best == NULL || len + strlen(best) + 2 > size)
			break;
		len += (size_t)snprintf(out + len, size - len, "%s%s",
		    len > 0 ? " " : "", best);
	}
	return out;
}

/* t.name, where t has none: upvalues are the table and what it is called. */
static int
missing(lua_State *L)
{
	const char *table = lua_tostring(L, lua_upvalueindex(2));
	const char *name = lua_type(L, 2) == LUA_TSTRING ?
	    lua_tostring(L, 2) : luaL_typename(L, 2);
	char names[600], near[60];
	const char *why;

	names_of(L, lua_upvalueindex(1), names, sizeof names);
	why = *table == '\0' ? why_absent(name) : NULL;
	if (why != NULL)
		scenario_raise(L, scenario_here(L), "there is no `%.40s` "
		    "here: %s", name, why);
	if (scenario_near(name, names, near, sizeof near) != NULL)
		scenario_raise(L, scenario_here(L), "there is no `%s%.40s`; "
		    "did you mean `%s%s`?", table, name, table, near);
	if (*table == '\0')
		scenario_raise(L, scenario_here(L), "there is no `%.40s`; say "
		    "local %.40s = ... before", name, name);
	scenario_raise(L, scenario_here(L), "there is no `%s%.40s`; there are "
	    "%s", table, name, names);
}

/* t.name = value */
static int
assigned(lua_State *L)
{
	const char *table = lua_tostring(L, lua_upvalueindex(2));
	const char *name = lua_type(L, 2) == LUA_TSTRING ?
	    lua_tostring(L, 2) : luaL_typename(L, 2);

	if (*table == '\0')
		scenario_raise(L, scenario_here(L), "`%.40s` is not local; say "
		    "local %.40s", name, name);
	scenario_raise(L, scenario_here(L), "`%s%.40s` cannot be changed; say "
	    "local %.40s", table, name, name);
}

static void
push_check(lua_State *L, lua_CFunction f, int table, const char *name)
{
	lua_pushvalue(L, table);
	lua_pushstring(L, name);
	lua_pushcclosure(L, f, 2);
}

void
scenario_closed(lua_State *L, const char *name)
{
	int table = lua_gettop(L);

	lua_createtable(L, 0, 1);	/* of what is behind: what it lacks */
	push_check(L, missing, table, name);
	lua_setfield(L, -2, "__index");
	lua_setmetatable(L, table);
	lua_createtable(L, 0, 0);
	lua_createtable(L, 0, 2);
	lua_pushvalue(L, table);
	lua_setfield(L, -2, "__index");
	push_check(L, assigned, table, name);
	lua_setfield(L, -2, "__newindex");
	lua_setmetatable(L, -2);
	lua_replace(L, table);
}

/* --- Lua's own words ------------------------------------------------------ */

/* What scenarios have besides: they draw lots, and may wait for each other. */
static const char more[] =
    "math.exp math.log math.pi math.random math.randomseed "
    "coroutine.create coroutine.isyieldable coroutine.resume "
    "coroutine.running coroutine.status coroutine.wrap coroutine.yield";

/* Each library behind a table that cannot be changed. */
static void
close_libraries(lua_State *L)
{
	static const char *const names[] = { "string", "table", "math", "utf8",
	    "coroutine", NULL };
	char prefix[20];
	size_t i;

	for (i = 0; names[i] != NULL; i++) {
		snprintf(prefix, sizeof prefix, "%s.", names[i]);
		lua_getfield(L, -1, names[i]);
		scenario_closed(L, prefix);
		lua_setfield(L, -2, names[i]);
	}
	/* ("x"):rep is string.rep: the metatable's was the whole library. */
	lua_pushliteral(L, "");
	lua_getmetatable(L, -1);
	lua_getfield(L, -3, "string");
	lua_setfield(L, -2, "__index");
	lua_pop(L, 2);
}

/* Lots are the simulator's: the same each time (math.randomseed is not there
   for files). */
static void
seed(lua_State *L)
{
	lua_getfield(L, LUA_REGISTRYINDEX, "scenario seed");
	lua_pushinteger(L, CHANCE);
	lua_call(L, 1, 0);
}

static void
keep_seed(lua_State *L)
{
	lua_getfield(L, -1, "math");
	lua_getfield(L, -1, "randomseed");
	lua_setfield(L, LUA_REGISTRYINDEX, "scenario seed");
	lua_pushnil(L);
	lua_setfield(L, -2, "randomseed");
	lua_pop(L, 1);
}

/* --- all of it ------------------------------------------------------------ */

void
scenario_begin(lua_State *L)
{
	scenario_forget_modules(L);
	lua_createtable(L, 0, 4);
	lua_setfield(L, LUA_REGISTRYINDEX, SCENARIO_OWN);
	seed(L);
}

void
scenario_sandbox(lua_State *L)
{
	idem_lua_words(L, more);
	keep_seed(L);
	close_libraries(L);
	lua_pushcfunction(L, scenario_require);
	lua_setfield(L, -2, "require");
	scenario_closed(L, "");
	lua_setfield(L, LUA_REGISTRYINDEX, SCENARIO_GLOBALS);
	scenario_made_push(L);
	lua_setfield(L, LUA_REGISTRYINDEX, SCENARIO_SIM);
	scenario_begin(L);
	lua_settop(L, 0);
}
