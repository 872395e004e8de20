/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lua.h>

#include <string.h>

/* Keep the function on top, which is popped, by its kind and number. */
static void
keep_function(lua_State *L, const struct scenario_functions *f, int kind,
    size_t number)
{
	lua_rawgeti(L, f->table, kind);
	lua_insert(L, -2);
	lua_rawseti(L, -2, (lua_Integer)number);
	lua_pop(L, 1);
}

/* The number of a name, from 1; a new one if nobody had it. */
static size_t
number_of(const struct scenario_at *at, const char ***names, size_t *n,
    const char *name)
{
	size_t i;

	for (i = 0; i < *n; i++)
		if (strcmp((*names)[i], name) == 0)
			return i + 1;
	*(const char **)scenario_more(at, names, n, sizeof name) = name;
	return *n;
}

void
scenario_function_custom(const struct scenario_at *at,
    struct scenario_functions *f)
{
	lua_State *L = at->L;
	const char *name;
	size_t number;

	lua_getiuservalue(L, -1, 1);
	lua_rawgeti(L, -1, 1);
	name = scenario_top_text(at, NULL);
	number = number_of(at, &f->custom, &f->custom_n, name);
	lua_pop(L, 1);
	lua_rawgeti(L, -1, 2);
	keep_function(L, f, 2, number);
	lua_pop(L, 2);
}

void
scenario_function_sometimes(const struct scenario_at *at,
    struct scenario_functions *f)
{
	lua_State *L = at->L;
	struct scenario_at table;
	struct plan_pair *names;
	size_t n = 0, i;

	if (!scenario_has(at, "sometimes"))
		return;
	table = scenario_inside(at, "sometimes");
	names = NULL;
	for (lua_pushnil(L); lua_next(L, table.table) != 0; lua_pop(L, 1)) {
		if (lua_type(L, -2) != LUA_TSTRING || !lua_isfunction(L, -1))
			scenario_wrong(&table, lua_type(L, -2) == LUA_TSTRING ?
			    lua_tostring(L, -2) : NULL, "not a function with a "
			    "name; say { name = function(h) return ... end }");
		lua_pushvalue(L, -2);
		((struct plan_pair *)scenario_more(&table, &names, &n,
		    sizeof *names))->name = scenario_top_text(&table, NULL);
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
	scenario_sort(names, n);
	for (i = 0; i < n; i++) {
		scenario_has(at, "sometimes");
		lua_getfield(L, -1, names[i].name);
		keep_function(L, f, 1, number_of(at, &f->sometimes,
		    &f->sometimes_n, names[i].name));
		lua_pop(L, 1);
	}
}
