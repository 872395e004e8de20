/* SPDX-License-Identifier: ISC */
#include "conf_lua.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * One instruction may take milliseconds (a comparison of two long texts), so
 * time is looked at often too.
 */
#define LOOK_EVERY 100
#define FAILURES_MAX 8u		/* each costs a full collection */

struct conf_lua *
conf_lua_of(lua_State *L)
{
	void *lua;

	lua_getallocf(L, &lua);
	return lua;
}

static int64_t
processor_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* --- limits --------------------------------------------------------------- */

static void *
limited(void *arg, void *old, size_t old_size, size_t size)
{
	struct conf_lua *lua = arg;
	void *new;

	if (old == NULL)
		old_size = 0;	/* it is a type's number */
	if (size == 0) {
		free(old);
		lua->used -= old_size;
		return NULL;
	}
	if (size > old_size &&
	    size - old_size > CONF_LUA_MEMORY_MAX - lua->used) {
		lua->failures++;
		return NULL;
	}
	new = realloc(old, size);
	if (new != NULL)
		lua->used += size - old_size;
	return new;
}

int
conf_lua_line(lua_State *L)
{
	lua_Debug ar;
	int level;

	for (level = 0; lua_getstack(L, level, &ar) == 1; level++) {
		lua_getinfo(L, "lS", &ar);
		if (ar.currentline > 0 &&
		    strcmp(ar.short_src, CONF_LUA_HERE) == 0)
			return ar.currentline;
	}
	return 0;
}

static void
push_where(lua_State *L)
{
	int line = conf_lua_line(L);

	if (line > 0)
		lua_pushfstring(L, CONF_LUA_HERE ":%d: ", line);
	else
		lua_pushliteral(L, "");
}

/*
 * What the configuration says wrong is not forgotten because the file itself
 * has caught the error.
 */
void
conf_lua_raise(lua_State *L)
{
	struct conf_lua *lua = conf_lua_of(L);

	push_where(L);
	lua_insert(L, -2);
	lua_concat(L, 2);
	if (lua->loading && lua->wrong[0] == '\0')
		snprintf(lua->wrong, sizeof lua->wrong, "%s",
		    lua_tostring(L, -1));
	lua_error(L);
	abort();	/* not reached */
}

/* Put file and line before an error that lacks them. */
static int
handler(lua_State *L)
{
	const char *why = lua_tostring(L, 1);

	if (why == NULL) {
		lua_pushliteral(L, "an error that is no text was raised");
		lua_replace(L, 1);
		why = lua_tostring(L, 1);
	}
	/* A global that is none is told otherwise: this is a setting. */
	if (strstr(why, "attempt to call a nil value (global ") != NULL) {
		lua_pushliteral(L, ": say name = value");
		lua_concat(L, 2);
		why = lua_tostring(L, 1);
	}
	if (strncmp(why, CONF_LUA_HERE ":", sizeof CONF_LUA_HERE) == 0)
		return 1;
	push_where(L);
	lua_insert(L, 1);
	lua_concat(L, 2);
	return 1;
}

/*
 * Once it is over its limits it is stopped at its every instruction, however
 * often it catches the error.
 */
static void
look(lua_State *L, lua_Debug *ar)
{
	struct conf_lua *lua = conf_lua_of(L);

	(void)ar;
	lua->left -= LOOK_EVERY;
	if (lua->stopped == NULL) {
		if (lua->left <= 0)
			lua->stopped = "it runs too long: over its number of "
			    "instructions";
		else if (lua->failures > FAILURES_MAX)
			lua->stopped = "it needs too much memory";
		else if (processor_ns() > lua->until_ns)
			lua->stopped = "it runs too long: over its time";
	}
	if (lua->stopped == NULL)
		return;
	lua_sethook(L, look, LUA_MASKCOUNT, 1);
	push_where(L);
	lua_pushstring(L, lua->stopped);
	lua_concat(L, 2);
	lua_error(L);
}

void
conf_lua_allow(struct conf_lua *lua, int instructions, double steps,
    unsigned ms)
{
	lua->left = instructions;
	lua->steps = steps;
	lua->until_ns = processor_ns() + ms * INT64_C(1000000);
	lua->failures = 0;
	lua->stopped = NULL;
	lua_sethook(lua->L, look, LUA_MASKCOUNT, LOOK_EVERY);
}

/* --- words ---------------------------------------------------------------- */

static void
copy_fields(lua_State *L, int from, const char *const *names)
{
	size_t i;

	for (i = 0; names[i] != NULL; i++) {
		lua_getfield(L, from, names[i]);
		lua_setfield(L, -2, names[i]);
	}
}

static void
library(lua_State *L, const char *name, lua_CFunction open,
    const char *const *names)
{
	luaL_requiref(L, name, open, 0);
	lua_createtable(L, 0, 16);
	copy_fields(L, lua_absindex(L, -2), names);
	lua_remove(L, -2);
	lua_setfield(L, -2, name);
}

void
conf_lua_libraries(lua_State *L)
{
	static const char *const base[] = { "assert", "error", "ipairs", "next",
	    "pcall", "select", "tonumber", "tostring", "type", NULL };
	static const char *const string[] = { "byte", "char", "find", "format",
	    "gmatch", "gsub", "len", "lower", "match", "rep", "reverse", "sub",
	    "upper", NULL };
	static const char *const table[] = { "concat", "insert", "pack",
	    "remove", "sort", "unpack", NULL };
	static const char *const math[] = { "abs", "ceil", "floor", "fmod",
	    "huge", "max", "maxinteger", "min", "mininteger", "modf", "sqrt",
	    "tointeger", "type", "ult", NULL };
	static const char *const utf8[] = { "char", "charpattern", "codepoint",
	    "codes", "len", "offset", NULL };

	lua_createtable(L, 0, 32);
	luaL_requiref(L, LUA_GNAME, luaopen_base, 0);
	lua_pushvalue(L, -2);
	copy_fields(L, lua_absindex(L, -2), base);
	lua_pop(L, 2);
	library(L, LUA_STRLIBNAME, luaopen_string, string);
	library(L, LUA_TABLIBNAME, luaopen_table, table);
	library(L, LUA_MATHLIBNAME, luaopen_math, math);
	library(L, LUA_UTF8LIBNAME, luaopen_utf8, utf8);
	/* ("x"):rep is string.rep: the metatable's was the whole library. */
	lua_pushliteral(L, "");
	lua_getmetatable(L, -1);
	lua_getfield(L, -3, LUA_STRLIBNAME);
	lua_setfield(L, -2, "__index");
	lua_pop(L, 2);
}

/* --- life ----------------------------------------------------------------- */

struct conf_lua *
conf_lua_new(struct conf *c, const char *file)
{
	struct conf_lua *lua = calloc(1, sizeof *lua);

	if (lua == NULL)
		return NULL;
	lua->conf = c;
	lua->file = conf_copy(c, idem_bytes_text(file));
	lua->L = lua->file != NULL ? lua_newstate(limited, lua) : NULL;
	if (lua->L == NULL) {
		free(lua);
		return NULL;
	}
	return lua;
}

void
conf_lua_free(struct conf_lua *lua)
{
	if (lua == NULL)
		return;
	lua_sethook(lua->L, NULL, 0, 0);
	lua_close(lua->L);
	free(lua);
}

/* Lua's messages begin with what stands for the file, if they know a line. */
void
conf_lua_error(const struct conf_lua *lua, const char *why, char *error,
    size_t error_size)
{
	static const char here[] = CONF_LUA_HERE ":";
	size_t i;

	if (strncmp(why, here, sizeof here - 1) == 0)
		snprintf(error, error_size, "%s:%s", lua->file,
		    why + sizeof here - 1);
	else
		snprintf(error, error_size, "%s: %s", lua->file, why);
	for (i = 0; i < error_size && error[i] != '\0'; i++)
		if ((unsigned char)error[i] < ' ' || error[i] == 0x7f)
			error[i] = '?';
}

bool
conf_lua_protected(struct conf_lua *lua, int args, char *error,
    size_t error_size)
{
	lua_State *L = lua->L;
	const char *why = NULL;
	int answer;

	lua_pushcfunction(L, handler);
	lua_insert(L, 1);
	answer = lua_pcall(L, args, 0, 1);
	/* The first fault counts, also if the file went on after it. */
	if (lua->wrong[0] != '\0')
		why = lua->wrong;
	else if (answer == LUA_ERRMEM)
		why = "it needs too much memory: over 64 MiB";
	else if (answer != LUA_OK)
		why = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) :
		    "an error that cannot be told";
	if (why != NULL)
		conf_lua_error(lua, why, error, error_size);
	lua_settop(L, 0);
	return why == NULL;
}
