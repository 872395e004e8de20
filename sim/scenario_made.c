/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lauxlib.h>
#include <lua.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what they are -------------------------------------------------------- */

struct scenario_made *
scenario_made(lua_State *L, int index)
{
	return luaL_testudata(L, index, SCENARIO_MADE);
}

const char *
scenario_shown(lua_State *L, int index, char *out, size_t size)
{
	const struct scenario_made *made = scenario_made(L, index);

	if (made != NULL)
		snprintf(out, size, "a sim.%s", made->word->name);
	else if (lua_type(L, index) == LUA_TSTRING)
		snprintf(out, size, "\"%.50s\"", lua_tostring(L, index));
	else if (lua_isinteger(L, index))
		snprintf(out, size, "%lld", lua_tointeger(L, index));
	else if (lua_type(L, index) == LUA_TNUMBER)
		snprintf(out, size, "%g", lua_tonumber(L, index));
	else if (lua_isboolean(L, index))
		snprintf(out, size, "%s",
		    lua_toboolean(L, index) ? "true" : "false");
	else if (lua_isnoneornil(L, index))
		snprintf(out, size, "nothing");
	else
		snprintf(out, size, "a %s", luaL_typename(L, index));
	return out;
}

/* --- arguments ------------------------------------------------------------ */

static bool
fits(lua_State *L, int index, int kind)
{
	switch (tolower(kind)) {
	case 'n':
		return lua_type(L, index) == LUA_TNUMBER;
	case 'd':
	case 'l':	/* a time, or a word */
		return lua_type(L, index) == LUA_TNUMBER ||
		    lua_type(L, index) == LUA_TSTRING;
	case 's':
		return lua_type(L, index) == LUA_TSTRING;
	case 't':
		return lua_istable(L, index);
	case 'f':
		return lua_isfunction(L, index);
	case 'b':
		return lua_isboolean(L, index);
	default:
		return scenario_made(L, index) != NULL;
	}
}

static const char *
kind_text(int kind)
{
	static const struct { char kind; const char *text; } all[] = {
		{ 'n', "a number" }, { 'd', "a time" },
		{ 'l', "a time or a word" }, { 's', "a text in quotes" },
		{ 't', "a table" }, { 'f', "a function" },
		{ 'b', "true or false" }
	};
	size_t i;

	for (i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i].kind == tolower(kind))
			return all[i].text;
	return "something that sim.* makes";
}

static _Noreturn void
wrong_argument(lua_State *L, const struct scenario_word *w, int index,
    int kind)
{
	char shown[80];

	scenario_raise(L, scenario_here(L), "sim.%s: %s is not %s; say "
	    "sim.%s%s", w->name, scenario_shown(L, index, shown,
	    sizeof shown), kind_text(kind), w->name, w->example);
}

static void
check_arguments(lua_State *L, const struct scenario_word *w)
{
	const char *kind = w->args;
	int n = lua_gettop(L), i;

	for (i = 1; *kind != '\0'; i++, kind++) {
		if (isupper((unsigned char)*kind) && lua_isnoneornil(L, i))
			continue;
		if (!fits(L, i, *kind))
			wrong_argument(L, w, i, *kind);
		if (kind[1] == '+') {
			if (i >= n)
				return;
			kind--;		/* once more */
		}
	}
	if (n >= i)
		scenario_raise(L, scenario_here(L), "sim.%s: %d arguments are "
		    "too many; say sim.%s%s", w->name, n, w->name, w->example);
}

/* --- making --------------------------------------------------------------- */

/* The version of these words; before all else. */
static int
api(lua_State *L)
{
	if (lua_gettop(L) != 1 || !lua_isinteger(L, 1) ||
	    lua_tointeger(L, 1) != 1)
		scenario_raise(L, scenario_here(L), "sim.api: this idemsim "
		    "has version 1 of scenarios; say sim.api(1)");
	scenario_of(L)->api = true;
	return 0;
}

static void
must_be_loading(lua_State *L, const char *name)
{
	struct scenario *s = scenario_of(L);

	if (!s->box.loading)
		luaL_error(L, "sim.%s: a function of expect only looks at its "
		    "history; say it outside", name);
	if (!s->api)
		scenario_raise(L, scenario_here(L), "sim.%s: which version of "
		    "the words is meant? say sim.api(1) first", name);
}

/* By its name, which `holds` may say; the one that was made is on top. */
static void
keep_invariant(lua_State *L)
{
	lua_getfield(L, LUA_REGISTRYINDEX, SCENARIO_OWN);
	lua_getiuservalue(L, -2, 1);
	lua_rawgeti(L, -1, 1);
	lua_remove(L, -2);
	lua_pushvalue(L, -1);
	if (lua_rawget(L, -3) != LUA_TNIL)
		scenario_raise(L, scenario_here(L), "sim.invariant: there is "
		    "a \"%s\" already; call it otherwise",
		    lua_tostring(L, -2));
	lua_pop(L, 1);
	lua_pushvalue(L, -3);
	lua_rawset(L, -3);
	lua_pop(L, 1);
}

static int
make(lua_State *L)
{
	const struct scenario_word *w =
	    lua_touserdata(L, lua_upvalueindex(1));
	struct scenario_made *made;
	int n = lua_gettop(L), i;

	must_be_loading(L, w->name);
	check_arguments(L, w);
	lua_createtable(L, n, 0);
	lua_insert(L, 1);
	for (i = n; i > 0; i--)
		lua_rawseti(L, 1, i);
	made = lua_newuserdatauv(L, sizeof *made, 1);
	*made = (struct scenario_made){ w, scenario_here(L), 0 };
	lua_insert(L, 1);
	lua_setiuservalue(L, 1, 1);
	luaL_setmetatable(L, SCENARIO_MADE);
	if (w->kind == SCENARIO_INVARIANT)
		keep_invariant(L);
	return 1;
}

/* sim.param and its like have code of their own. */
static int
call_own(lua_State *L)
{
	lua_CFunction own = lua_tocfunction(L, lua_upvalueindex(1));

	must_be_loading(L, lua_tostring(L, lua_upvalueindex(2)));
	return own(L);
}

/* number + sim.fault_count(...) and the other way round */
static int
add(lua_State *L)
{
	struct scenario_made *term = scenario_made(L, 1), *sum;
	int number = 2;
	char shown[80];
	int64_t base;

	if (term == NULL) {
		term = scenario_made(L, 2);
		number = 1;
	}
	if (term->word->kind != SCENARIO_TERM || !lua_isinteger(L, number) ||
	    __builtin_add_overflow(term->base, lua_tointeger(L, number),
	    &base))
		scenario_raise(L, scenario_here(L), "%s cannot be added to; "
		    "say 1 + sim.fault_count(\"lease_expiry\")",
		    scenario_shown(L, 3 - number, shown, sizeof shown));
	sum = lua_newuserdatauv(L, sizeof *sum, 1);
	*sum = *term;
	sum->base = base;
	lua_getiuservalue(L, 3 - number, 1);
	lua_setiuservalue(L, -2, 1);
	luaL_setmetatable(L, SCENARIO_MADE);
	return 1;
}

static int
no_field(lua_State *L)
{
	char shown[80];

	scenario_raise(L, scenario_here(L), "%s has no fields; keep what you "
	    "gave to it in a local",
	    scenario_shown(L, 1, shown, sizeof shown));
}

static void
push_own(lua_State *L, const char *name, lua_CFunction own)
{
	lua_pushcfunction(L, own);
	lua_pushstring(L, name);
	lua_pushcclosure(L, call_own, 2);
	lua_setfield(L, -2, name);
}

/* --- the table sim -------------------------------------------------------- */

/* Push sim.GROUP of the table on top, made if it is not there. */
static void
push_group(lua_State *L, const char *name, size_t len)
{
	lua_pushlstring(L, name, len);
	lua_pushvalue(L, -1);
	if (lua_rawget(L, -3) == LUA_TNIL) {
		lua_pop(L, 1);
		lua_createtable(L, 0, 16);
		lua_pushvalue(L, -2);
		lua_pushvalue(L, -2);
		lua_rawset(L, -5);
	}
	lua_remove(L, -2);
}

static void
add_word(lua_State *L, const struct scenario_word *w)
{
	const char *dot = strchr(w->name, '.');
	const char *name = dot != NULL ? dot + 1 : w->name;

	if (dot != NULL)
		push_group(L, w->name, (size_t)(dot - w->name));
	else
		lua_pushvalue(L, -1);
	lua_pushlightuserdata(L, (void *)(uintptr_t)w);
	lua_pushcclosure(L, make, 1);
	lua_setfield(L, -2, name);
	lua_pop(L, 1);
}

static void
close_groups(lua_State *L)
{
	static const char *const groups[] = { "proc", "net", "store", "disk",
	    "clock", "client", "operator", NULL };
	char prefix[20];
	size_t i;

	for (i = 0; groups[i] != NULL; i++) {
		snprintf(prefix, sizeof prefix, "sim.%s.", groups[i]);
		lua_getfield(L, -1, groups[i]);
		scenario_closed(L, prefix);
		lua_setfield(L, -2, groups[i]);
	}
}

void
scenario_made_push(lua_State *L)
{
	const struct scenario_word *words;
	size_t n, i;

	luaL_newmetatable(L, SCENARIO_MADE);
	lua_pushcfunction(L, add);
	lua_setfield(L, -2, "__add");
	lua_pushcfunction(L, no_field);
	lua_setfield(L, -2, "__index");
	lua_pushcfunction(L, no_field);
	lua_setfield(L, -2, "__newindex");
	lua_pop(L, 1);
	lua_createtable(L, 0, 40);
	words = scenario_words(&n);
	for (i = 0; i < n; i++)
		add_word(L, &words[i]);
	lua_pushcfunction(L, api);
	lua_setfield(L, -2, "api");
	push_own(L, "param", scenario_param);
	push_own(L, "matrix", scenario_matrix);
	close_groups(L);
	scenario_closed(L, "sim.");
}
