/* SPDX-License-Identifier: ISC */
#include "lua_box.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include <assert.h>
#include <string.h>

/* Nothing that reads, writes, waits, makes code or sees metatables. */
static const char plain[] =
    "assert error ipairs next pcall select tonumber tostring type "
    "string.byte string.char string.find string.format string.gmatch "
    "string.gsub string.len string.lower string.match string.rep "
    "string.reverse string.sub string.upper "
    "table.concat table.insert table.pack table.remove table.sort "
    "table.unpack "
    "math.abs math.ceil math.floor math.fmod math.huge math.max "
    "math.maxinteger math.min math.mininteger math.modf math.sqrt "
    "math.tointeger math.type math.ult "
    "utf8.char utf8.charpattern utf8.codepoint utf8.codes utf8.len "
    "utf8.offset";

/* --- what takes for ever -------------------------------------------------- */

/*
 * The count of instructions does not see what one call of a C function takes.
 * Those that can take for ever, or all memory at once, are wrapped: the
 * function itself is the closure's first value.
 */
#define BYTES_A_STEP 16		/* that a comparison looks at */

static bool
spend(lua_State *L, double steps)
{
	struct idem_lua_box *box = idem_lua_box_of(L);

	box->steps -= steps;
	return box->steps >= 0;	/* what is no number is not */
}

/* Call it with the arguments, as they are. */
static int
call_it(lua_State *L)
{
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
	return lua_gettop(L);
}

/* A border, as #t finds it, may lie anywhere up to 2^62. */
static lua_Unsigned
list_len(lua_State *L)
{
	unsigned max = idem_lua_box_of(L)->limits->list_max;
	lua_Unsigned n;

	luaL_checktype(L, 1, LUA_TTABLE);
	n = lua_rawlen(L, 1);
	if (n > max)
		luaL_error(L, "a list of more than %d values; make it shorter",
		    (int)max);
	return n;
}

static int
bounded_list(lua_State *L)
{
	list_len(L);
	return call_it(L);
}

/*
 * Lua's own order of texts reads both to where they differ, and each text is
 * compared about as often as the list can be halved.
 */
static int
bounded_sort(lua_State *L)
{
	lua_Unsigned n = list_len(L), i;
	double bytes = 0, halves = 1;

	for (i = 1; i <= n && lua_isnoneornil(L, 2); i++) {
		if (lua_rawgeti(L, 1, (lua_Integer)i) == LUA_TSTRING)
			bytes += (double)lua_rawlen(L, -1);
		lua_pop(L, 1);
	}
	for (i = n; i > 1; i /= 2)
		halves++;
	if (!spend(L, bytes / BYTES_A_STEP * halves))
		return luaL_error(L, "these texts take too long to sort; make "
		    "them shorter");
	return call_it(L);
}

/* Repeating nothing, often; or too much of it. */
static int
bounded_rep(lua_State *L)
{
	size_t max = idem_lua_box_of(L)->limits->text_max, len, more = 0;
	lua_Integer n = luaL_checkinteger(L, 2);

	luaL_checklstring(L, 1, &len);
	luaL_optlstring(L, 3, "", &more);
	if (n <= 0 || len + more == 0) {
		lua_pushliteral(L, "");
		return 1;
	}
	if (max > 0 && n > (lua_Integer)(max / (len + more)))
		return luaL_error(L, "a text of more than %d MiB; make it "
		    "shorter", (int)(max >> 20));
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
	size_t text_len, len;
	const char *pattern;

	luaL_checklstring(L, 1, &text_len);
	pattern = luaL_checklstring(L, 2, &len);
	if (!spend(L, steps(text_len, pattern, len)))
		return luaL_error(L, "this pattern may take too long on a "
		    "text of %d bytes; begin it with ^, and use fewer of "
		    "* + -", (int)(text_len < 99999999 ? text_len : 99999999));
	return call_it(L);
}

static void
bound(lua_State *L)
{
	static const struct {
		const char *library, *name;
		lua_CFunction by;
	} all[] = {
		{ "table", "concat", bounded_list },
		{ "table", "insert", bounded_list },
		{ "table", "remove", bounded_list },
		{ "table", "sort", bounded_sort },
		{ "string", "find", bounded_match },
		{ "string", "gmatch", bounded_match },
		{ "string", "gsub", bounded_match },
		{ "string", "match", bounded_match },
		{ "string", "rep", bounded_rep },
	};
	size_t i;

	for (i = 0; i < sizeof all / sizeof *all; i++) {
		lua_getfield(L, -1, all[i].library);
		lua_getfield(L, -1, all[i].name);
		lua_pushcclosure(L, all[i].by, 1);
		lua_setfield(L, -2, all[i].name);
		lua_pop(L, 1);
	}
}

/* --- pairs ---------------------------------------------------------------- */

/*
 * In order, so that a file says the same wherever it is read, and a key made of
 * all parameters is the same in each process: Lua's own order depends on
 * addresses.
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

/* In the table on top; next, which it is made of, goes. */
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
	lua_pushnil(L);
	lua_setfield(L, -2, "next");
}

/* --- words ---------------------------------------------------------------- */

/* Push Lua's own library, whole; the state keeps it. */
static void
push_library(lua_State *L, const char *name)
{
	static const struct { const char *name; lua_CFunction open; } all[] = {
		{ LUA_GNAME, luaopen_base }, { LUA_STRLIBNAME, luaopen_string },
		{ LUA_TABLIBNAME, luaopen_table },
		{ LUA_MATHLIBNAME, luaopen_math },
		{ LUA_UTF8LIBNAME, luaopen_utf8 },
		{ LUA_COLIBNAME, luaopen_coroutine },
	};
	size_t i = 0;

	while (strcmp(all[i].name, name) != 0)
		i++;
	luaL_requiref(L, name, all[i].open, 0);
}

/* Push the table of the one on top where a library's words are. */
static void
push_words(lua_State *L, const char *library)
{
	if (lua_getfield(L, -1, library) != LUA_TNIL)
		return;
	lua_pop(L, 1);
	lua_createtable(L, 0, 16);
	lua_pushvalue(L, -1);
	lua_setfield(L, -3, library);
}

/* "library.name" or "name", into the table on top. */
static void
add_word(lua_State *L, const char *word, size_t len)
{
	const char *dot = memchr(word, '.', len);
	char library[20] = LUA_GNAME, name[20];
	size_t library_len = dot != NULL ? (size_t)(dot - word) : 0;

	assert(library_len < sizeof library);
	if (dot != NULL) {
		memcpy(library, word, library_len);
		library[library_len] = '\0';
		push_words(L, library);
		word = dot + 1;
		len -= library_len + 1;
	} else
		lua_pushvalue(L, -1);
	assert(len < sizeof name);
	memcpy(name, word, len);
	name[len] = '\0';
	push_library(L, library);
	lua_getfield(L, -1, name);
	lua_setfield(L, -3, name);
	lua_pop(L, 2);
}

static void
add_words(lua_State *L, const char *words)
{
	size_t n;

	for (; *words != '\0'; words += n + (words[n] == ' ')) {
		n = strcspn(words, " ");
		add_word(L, words, n);
	}
}

void
idem_lua_words(lua_State *L, const char *more)
{
	lua_createtable(L, 0, 32);
	add_words(L, plain);
	add_words(L, more);
	bound(L);
	add_pairs(L);
	/* ("x"):rep is string.rep: the metatable's was the whole library. */
	lua_pushliteral(L, "");
	lua_getmetatable(L, -1);
	lua_getfield(L, -3, LUA_STRLIBNAME);
	lua_setfield(L, -2, "__index");
	lua_pop(L, 2);
}
