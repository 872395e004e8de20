/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lauxlib.h>
#include <lua.h>

#include <string.h>

/*
 * The count of instructions does not see what one call of a C function takes.
 * Those that can take for ever, or all memory at once, are wrapped: the
 * function itself is the closure's first value, its name the second.
 */
#define LIST_MAX 1000000
#define TEXT_MAX (16u << 20)

static int
call_it(lua_State *L)
{
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
	return lua_gettop(L);
}

/* A border, as #t finds it, may lie anywhere up to 2^62. */
static int
bounded_list(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	if (lua_rawlen(L, 1) > LIST_MAX)
		return luaL_error(L, "a list of more than %d values; make it "
		    "shorter", LIST_MAX);
	return call_it(L);
}

static int
bounded_rep(lua_State *L)
{
	lua_Integer n = luaL_checkinteger(L, 2);
	size_t len, more = 0;

	luaL_checklstring(L, 1, &len);
	luaL_optlstring(L, 3, "", &more);
	if (n <= 0 || len + more == 0) {
		lua_pushliteral(L, "");
		return 1;
	}
	if (n > (lua_Integer)(TEXT_MAX / (len + more)))
		return luaL_error(L, "a text of more than 16 MiB; a scenario "
		    "has 64 MiB for all: make it shorter");
	return call_it(L);
}

/*
 * The most steps that matching may take: each repetition tries every length at
 * every place, and so does the pattern as a whole if it is not anchored.
 */
static double
steps(size_t text_len, const char *pattern, size_t len)
{
	double all = (double)len + 1, each = (double)text_len + 1;
	size_t i;

	for (i = 0; i < len; i++)
		switch (pattern[i]) {
		case '?':
			all *= 2;
			break;
		case '*': case '+': case '-':
			all *= each;
			break;
		case '%':	/* %b() and %1 read on; others are one step */
			if (++i < len && strchr("b123456789", pattern[i]))
				all *= each;
			break;
		}
	return len > 0 && pattern[0] == '^' ? all : all * each;
}

static int
bounded_match(lua_State *L)
{
	struct scenario *s = scenario_of(L);
	size_t text_len, len;
	const char *pattern;

	luaL_checklstring(L, 1, &text_len);
	pattern = luaL_checklstring(L, 2, &len);
	s->steps -= steps(text_len, pattern, len);
	if (!(s->steps >= 0))
		return luaL_error(L, "this pattern may take too long; begin "
		    "it with ^, and use fewer of * + -");
	return call_it(L);
}

static void
wrap(lua_State *L, const char *library, const char *const *names,
    lua_CFunction by)
{
	size_t i;

	lua_getfield(L, -1, library);
	for (i = 0; names[i] != NULL; i++) {
		lua_getfield(L, -1, names[i]);
		lua_pushcclosure(L, by, 1);
		lua_setfield(L, -2, names[i]);
	}
	lua_pop(L, 1);
}

/*
 * In order, so that a file makes the same plans wherever it is read: Lua's own
 * order depends on addresses.
 */
static const char ordered[] =
    "local next, sort, type, error = ...\n"
    "local function before(a, b)\n"
    "  local ta, tb = type(a), type(b)\n"
    "  if ta ~= tb then return ta < tb end\n"
    "  return a < b\n"
    "end\n"
    "return function(t)\n"
    "  if type(t) ~= 'table' then\n"
    "    error('pairs: a ' .. type(t) .. ' is no table', 2)\n"
    "  end\n"
    "  local keys, i = {}, 0\n"
    "  for k in next, t do\n"
    "    if type(k) ~= 'string' and type(k) ~= 'number' then\n"
    "      error('pairs: a key that is no text and no number', 2)\n"
    "    end\n"
    "    keys[#keys + 1] = k\n"
    "  end\n"
    "  sort(keys, before)\n"
    "  return function()\n"
    "    i = i + 1\n"
    "    if keys[i] ~= nil then return keys[i], t[keys[i]] end\n"
    "  end\n"
    "end\n";

static void
add_pairs(lua_State *L)
{
	if (luaL_loadbufferx(L, ordered, sizeof ordered - 1, "=pairs", "t") !=
	    LUA_OK)
		lua_error(L);
	lua_getfield(L, -2, "next");
	lua_getfield(L, -3, "table");
	lua_getfield(L, -1, "sort");
	lua_remove(L, -2);
	lua_getfield(L, -4, "type");
	lua_getfield(L, -5, "error");
	lua_call(L, 4, 1);
	lua_setfield(L, -2, "pairs");
}

void
scenario_bound(lua_State *L)
{
	static const char *const lists[] = { "concat", "insert", "remove",
	    "sort", NULL };
	static const char *const matches[] = { "find", "gmatch", "gsub",
	    "match", NULL };
	static const char *const rep[] = { "rep", NULL };

	wrap(L, "table", lists, bounded_list);
	wrap(L, "string", matches, bounded_match);
	wrap(L, "string", rep, bounded_rep);
	add_pairs(L);
}
