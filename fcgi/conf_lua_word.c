/* SPDX-License-Identifier: ISC */
#include "conf_lua.h"

#include <lauxlib.h>
#include <lua.h>

#include <string.h>

/*
 * A word gives back what it was given, in a table with a metatable of its own,
 * which nothing else can make.  What was given is judged where it is used.
 */
struct word {
	const char *name;
	const char *example;	/* all after the name */
	bool table, text, number;	/* what it may be given */
};

static const struct word words[] = {
	[CONF_WORD_SQLITE] = { "sqlite",
	    " { path = \"/var/lib/idem/ledger.db\" }",
	    .table = true },
	[CONF_WORD_REDIS] = { "redis",
	    " { url = \"unix:/run/redis/redis.sock\" }",
	    .table = true },
	[CONF_WORD_HEADER] = { "header", " { \"Idempotency-Key\" }",
	    .table = true, .text = true },
	[CONF_WORD_QUERY] = { "query", " \"name\"", .text = true },
	[CONF_WORD_COOKIE] = { "cookie", " \"name\"", .text = true },
	[CONF_WORD_FORM] = { "form", " \"name\"", .text = true },
	[CONF_WORD_CONTENT] = { "content", " { window = \"10m\" }",
	    .table = true },
	[CONF_WORD_WAIT] = { "wait", " \"10s\"", .text = true },
	[CONF_WORD_RETRY] = { "retry", "(3)", .number = true },
	[CONF_WORD_AUTO] = { "auto",
	    " { retry_delay = \"5s\", min = \"10s\", max = \"5m\" }",
	    .table = true },
	[CONF_WORD_CGI] = { "cgi", " { \"/usr/lib/cgi-bin/order.cgi\" }",
	    .table = true, .text = true },
	[CONF_WORD_FASTCGI] = { "fastcgi",
	    " { \"unix:/run/php/php-fpm.sock\" }",
	    .table = true, .text = true },
};
#define WORDS (sizeof words / sizeof *words)

/* The key of a metatable's field that says which word's it is. */
#define WHICH 1

const char *
conf_lua_word_text(enum conf_word word)
{
	return words[word].name;
}

enum conf_word
conf_lua_word(lua_State *L, int index)
{
	lua_Integer word;

	luaL_checkstack(L, 4, NULL);
	if (lua_type(L, index) != LUA_TTABLE || lua_getmetatable(L, index) == 0)
		return CONF_WORD_NONE;
	lua_rawgeti(L, -1, WHICH);
	word = lua_tointeger(L, -1);
	lua_pop(L, 2);
	return (enum conf_word)word;
}

void
conf_lua_given(lua_State *L, int index)
{
	lua_rawgeti(L, index, 1);
}

struct conf_at
conf_lua_word_inside(const struct conf_at *at)
{
	struct conf_at inside = { .L = at->L, .conf = at->conf, .in = at };
	lua_State *L = at->L;

	luaL_checkstack(L, 4, NULL);
	inside.what = words[conf_lua_word(L, -1)].name;
	conf_lua_given(L, -1);
	if (!lua_istable(L, -1)) {
		lua_createtable(L, 1, 0);
		lua_insert(L, -2);
		lua_rawseti(L, -2, 1);
	}
	lua_replace(L, -2);
	inside.table = lua_gettop(L);
	if (conf_lua_word(L, -1) != CONF_WORD_NONE)
		conf_lua_wrong(at, inside.what, "it was given %s; say %s%s",
		    words[conf_lua_word(L, -1)].name, inside.what,
		    words[conf_lua_word(L, inside.table)].example);
	return inside;
}

static int
make(lua_State *L)
{
	int which = (int)lua_tointeger(L, lua_upvalueindex(1));
	const struct word *w = &words[which];
	int type = lua_type(L, 1);

	if (!conf_lua_of(L)->box.loading)
		return luaL_error(L, "%s: a key's function cannot change the "
		    "configuration", w->name);
	if (lua_gettop(L) != 1 || !((type == LUA_TTABLE && w->table) ||
	    (type == LUA_TSTRING && w->text) ||
	    (lua_isinteger(L, 1) && w->number)))
		return luaL_error(L, "%s: say %s%s", w->name, w->name,
		    w->example);
	lua_createtable(L, 1, 0);
	lua_insert(L, 1);
	lua_rawseti(L, 1, 1);
	lua_pushvalue(L, lua_upvalueindex(2));
	lua_setmetatable(L, 1);
	return 1;
}

void
conf_lua_words(lua_State *L)
{
	size_t i;

	for (i = CONF_WORD_NONE + 1; i < WORDS; i++) {
		lua_pushinteger(L, (lua_Integer)i);
		lua_createtable(L, 1, 0);
		lua_pushinteger(L, (lua_Integer)i);
		lua_rawseti(L, -2, WHICH);
		lua_pushcclosure(L, make, 2);
		lua_setfield(L, -2, words[i].name);
	}
	lua_pushcfunction(L, conf_lua_route);
	lua_setfield(L, -2, "route");
}
