/* SPDX-License-Identifier: ISC */
#include "lua_box.h"

#include <lauxlib.h>
#include <lua.h>

#include <string.h>

/* A message shows what was met: maybe a secret whose quote is missing. */
static void
hide_text(lua_State *L)
{
	const char *text = lua_tostring(L, -1);
	const char *near = text != NULL ? strstr(text, "near '") : NULL;

	if (near == NULL || strchr("\"'[", near[6]) == NULL || near[7] == '\'')
		return;
	lua_pushlstring(L, text, (size_t)(near - text));
	lua_pushliteral(L, "near a text");
	lua_concat(L, 2);
	lua_replace(L, -2);
}

/* Lua's own words, with what is mostly meant. */
static void
explain_syntax(lua_State *L)
{
	static const struct { const char *says, *meant; } all[] = {
		{ "'}' expected", "; is a comma missing before it?" },
		{ "<name> expected", "; say name = value" },
		{ "symbol near '#", "; a comment begins with --" },
		{ "symbol near '/", "; a comment begins with --, and a path is "
		  "in quotes" },
		{ "symbol near '!", "; not equal is ~=" },
		{ "symbol near '<\\", "; is it a quote or a blank of a word "
		  "processor? Type it anew" },
	};
	const char *text = lua_tostring(L, -1);
	size_t i;

	for (i = 0; text != NULL && i < sizeof all / sizeof *all; i++)
		if (strstr(text, all[i].says) != NULL) {
			lua_pushfstring(L, "%s%s", text, all[i].meant);
			return;
		}
}

/*
 * What an editor, or a hand that took the wrong file, makes of a text, where
 * Lua would speak of symbols.
 */
static void
refuse_other(lua_State *L, const char *name, const char *text, size_t len)
{
	if (len >= 1 && text[0] == LUA_SIGNATURE[0])
		lua_pushfstring(L, "%s:1: this is compiled Lua, and %s is a "
		    "text", name, idem_lua_box_of(L)->limits->what);
	else if (len >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 ||
	    memcmp(text, "\xfe\xff", 2) == 0 ||
	    text[0] == '\0' || text[1] == '\0'))
		lua_pushfstring(L, "%s:1: this is UTF-16, or no text; save it "
		    "as UTF-8", name);
	else
		return;
	lua_error(L);
}

void
idem_lua_text_load(lua_State *L, int source, const char *text, size_t len)
{
	char name[4] = { '=', '?', (char)('a' + source), '\0' };

	refuse_other(L, name + 1, text, len);
	/* Some editors mark UTF-8; Lua's own loader passes over it, too. */
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		len -= 3;
	}
	if (luaL_loadbufferx(L, text, len, name, "t") == LUA_OK)
		return;
	if (idem_lua_box_of(L)->limits->secret)
		hide_text(L);
	explain_syntax(L);
	lua_error(L);
}
