/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lauxlib.h>
#include <lua.h>

#include <string.h>

/* What the function calls its parameter is what the matrix is about. */
static const char *
matrix_name(lua_State *L, int function)
{
	const char *name;

	lua_pushvalue(L, function);
	name = lua_getlocal(L, NULL, 1);
	if (name == NULL || !scenario_param_is_name(name))
		name = "element";
	return name;
}

/* What an element is called: itself, its name or its first text; or NULL. */
static const char *
element_text(lua_State *L, int index)
{
	const char *text = scenario_param_text(L, index);

	if (text != NULL || !lua_istable(L, index))
		return text;
	lua_getfield(L, index, "name");
	text = scenario_param_text(L, -1);
	lua_pop(L, 1);
	if (text == NULL) {
		lua_rawgeti(L, index, 1);
		text = scenario_param_text(L, -1);
		lua_pop(L, 1);
	}
	return text;
}

static void
check_element(lua_State *L, const char *const *all, size_t n, const char *text)
{
	size_t i;

	if (text == NULL)
		scenario_raise(L, scenario_here(L), "sim.matrix: element %d "
		    "has no name; say a text, a number, or { name = ... }",
		    (int)n + 1);
	for (i = 0; i < n; i++)
		if (strcmp(all[i], text) == 0)
			scenario_raise(L, scenario_here(L), "sim.matrix: two "
			    "elements are called %s; say it once", text);
}

/* One more of the results, the table at 4: { name, text, what fn gave }. */
static void
add_element(lua_State *L, const char *name, const char *text, lua_Unsigned i)
{
	char shown[80];
	const struct scenario_made *made;

	lua_createtable(L, 3, 0);
	lua_pushstring(L, name);
	lua_rawseti(L, -2, 1);
	lua_pushstring(L, text);
	lua_rawseti(L, -2, 2);
	lua_pushvalue(L, 2);
	lua_rawgeti(L, 1, (lua_Integer)i);
	lua_pushinteger(L, (lua_Integer)i);
	lua_call(L, 2, 1);
	made = scenario_made(L, -1);
	if (made == NULL || (made->word->kind != SCENARIO_SCENARIO &&
	    made->word->kind != SCENARIO_MATRIX))
		scenario_raise(L, scenario_here(L), "sim.matrix: its function "
		    "gave %s for %s; return sim.scenario { ... } there",
		    scenario_shown(L, -1, shown, sizeof shown), text);
	lua_rawseti(L, -2, 3);
	lua_rawseti(L, 4, (lua_Integer)lua_rawlen(L, 4) + 1);
}

/* Elements that are wanted, into the table at 4. */
static void
make_elements(lua_State *L, const char *name)
{
	struct scenario *s = scenario_of(L);
	const char *choice = scenario_param_choice(s, name);
	const char *all[SCENARIO_VALUES_MAX];
	lua_Unsigned n = lua_rawlen(L, 1), i;

	if (n == 0 || n > SCENARIO_VALUES_MAX)
		scenario_raise(L, scenario_here(L), "sim.matrix: a list of %d "
		    "elements; say 1 to %d", (int)n, SCENARIO_VALUES_MAX);
	for (i = 0; i < n; i++) {
		lua_rawgeti(L, 1, (lua_Integer)i + 1);
		all[i] = element_text(L, lua_gettop(L));
		lua_pop(L, 1);
		check_element(L, all, (size_t)i, all[i]);
	}
	for (i = 0; i < n; i++)
		if (choice == NULL || strcmp(choice, all[i]) == 0)
			add_element(L, name, all[i], i + 1);
	if (lua_rawlen(L, 4) == 0)
		scenario_param_refuse(L, name, choice, all, (size_t)n);
}

int
scenario_matrix(lua_State *L)
{
	static const struct scenario_word word = { "matrix", SCENARIO_MATRIX,
	    0, "tf", "", NULL };
	struct scenario_made *made;
	const char *name;

	if (lua_gettop(L) != 2 || !lua_istable(L, 1) ||
	    !lua_isfunction(L, 2) || lua_iscfunction(L, 2))
		scenario_raise(L, scenario_here(L), "sim.matrix: say "
		    "sim.matrix({ \"a\", \"b\" }, function(point) return "
		    "sim.scenario { ... } end)");
	name = matrix_name(L, 2);		/* the function is at 3 */
	scenario_param_note(scenario_of(L), name);
	lua_settop(L, 3);
	lua_createtable(L, 16, 0);
	make_elements(L, name);
	made = lua_newuserdatauv(L, sizeof *made, 1);
	*made = (struct scenario_made){ &word, scenario_here(L), 0 };
	lua_pushvalue(L, 4);
	lua_setiuservalue(L, -2, 1);
	luaL_setmetatable(L, SCENARIO_MADE);
	return 1;
}
