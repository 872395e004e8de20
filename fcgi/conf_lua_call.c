/* SPDX-License-Identifier: ISC */
#include "conf_lua.h"

#include <lauxlib.h>
#include <lua.h>

#include <stdio.h>
#include <string.h>

#define USED_MAX 100		/* values that a function uses */

/*
 * The registry's own keys: the functions by number, the metatable of a request,
 * and the last value, which must stay until the next call.
 */
#define FUNCTIONS "idem functions"
#define REQUEST "idem request"
#define VALUE "idem value"

/* --- the functions -------------------------------------------------------- */

/* The lines of the file that a function stands on. */
static struct idem_bytes
lines(struct idem_bytes text, int from, int to)
{
	const char *at = text.at, *end = at + text.len, *start = at;
	int line = 1;

	for (; at < end && line <= to; at++)
		if (*at == '\n' && ++line == from)
			start = at + 1;
	return (struct idem_bytes){ start, (size_t)(at - start) };
}

struct told {			/* of one function, for its digest */
	struct conf_lua *lua;
	struct idem_hash hash;
	int left;		/* so many values more: it may call itself */
};

static void tell(struct told *, lua_State *);

/* Its text, and what it uses of the file's locals; all globals are words. */
static void
tell_function(struct told *t, lua_State *L)
{
	const char *name;
	lua_Debug ar;
	int i;

	lua_pushvalue(L, -1);
	lua_getinfo(L, ">S", &ar);
	idem_hash_part(&t->hash, lines(t->lua->text, ar.linedefined,
	    ar.lastlinedefined));
	for (i = 1; (name = lua_getupvalue(L, -1, i)) != NULL; i++) {
		if (strcmp(name, "_ENV") != 0)
			tell(t, L);
		lua_pop(L, 1);
	}
}

/* The value on top.  Of tables only that they are. */
static void
tell(struct told *t, lua_State *L)
{
	struct idem_bytes text = { NULL, 0 };

	luaL_checkstack(L, 8, NULL);
	idem_hash_u64(&t->hash, (uint64_t)lua_type(L, -1));
	if (t->left-- <= 0)
		return;
	if (lua_isfunction(L, -1) && !lua_iscfunction(L, -1)) {
		tell_function(t, L);
		return;
	}
	lua_pushvalue(L, -1);
	if (lua_isboolean(L, -1))
		idem_hash_u64(&t->hash, lua_toboolean(L, -1) != 0);
	else if (lua_isstring(L, -1)) {		/* a number is made one */
		text.at = lua_tolstring(L, -1, &text.len);
		idem_hash_part(&t->hash, text);
	}
	lua_pop(L, 1);
}

void
conf_lua_digest(lua_State *L)
{
	struct conf_lua *lua = conf_lua_of(L);
	struct told t = { .lua = lua };
	int i;

	lua_getfield(L, LUA_REGISTRYINDEX, FUNCTIONS);
	for (i = 0; i < lua->functions_len; i++) {
		lua_rawgeti(L, -1, i + 1);
		t.left = USED_MAX;
		idem_hash_init(&t.hash);
		tell(&t, L);
		idem_hash_final(&t.hash, &lua->functions[i]);
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
}

int
conf_lua_keep(const struct conf_at *at)
{
	struct conf_lua *lua = conf_lua_of(at->L);
	int number = lua->functions_len;
	struct idem_digest *more = conf_get(at->conf,
	    (size_t)(number + 1) * sizeof *more);

	if (more == NULL)
		conf_lua_no_memory(at->L);
	if (number > 0)
		memcpy(more, lua->functions, (size_t)number * sizeof *more);
	luaL_checkstack(at->L, 4, NULL);
	lua_getfield(at->L, LUA_REGISTRYINDEX, FUNCTIONS);
	lua_insert(at->L, -2);
	lua_rawseti(at->L, -2, number + 1);
	lua_pop(at->L, 1);
	lua->functions = more;
	lua->functions_len++;
	return number;
}

bool
conf_lua_same_function(const struct conf *a, int a_function,
    const struct conf *b, int b_function)
{
	return idem_digest_equal(&a->lua->functions[a_function],
	    &b->lua->functions[b_function]);
}

/* --- the request ---------------------------------------------------------- */

/* cookie(name): its value, or nil. */
static int
cookie(lua_State *L)
{
	struct conf_lua *lua = conf_lua_of(L);
	const char *name = luaL_checkstring(L, 1);
	struct idem_bytes value;

	if (lua->params == NULL || !idem_cookie(lua->params, name, &value))
		return 0;
	lua_pushlstring(L, value.at, value.len);
	return 1;
}

/* NAME to its first value. */
static void
push_params(lua_State *L, const struct idem_params *p)
{
	const char *equals;
	size_t i;

	lua_createtable(L, 0, (int)(p->len < 4096 ? p->len : 4096));
	for (i = p->len; i-- > 0;) {
		equals = strchr(p->at[i], '=');
		if (equals == NULL)
			continue;
		lua_pushlstring(L, p->at[i], (size_t)(equals - p->at[i]));
		lua_pushstring(L, equals + 1);
		lua_rawset(L, -3);
	}
}

/* value = request[name], made when it is first asked for */
static int
field(lua_State *L)
{
	struct conf_lua *lua = conf_lua_of(L);
	const char *name = luaL_checkstring(L, 2);

	if (lua->params == NULL)
		return luaL_error(L, "the request is over");
	if (strcmp(name, "params") == 0)
		push_params(L, lua->params);
	else if (strcmp(name, "cookie") == 0)
		lua_pushcfunction(L, cookie);
	else
		return luaL_error(L, "a request has no `%s`; it has method, "
		    "path, query, params and cookie", name);
	lua_pushvalue(L, 2);
	lua_pushvalue(L, -2);
	lua_rawset(L, 1);
	return 1;
}

void
conf_lua_call_prepare(lua_State *L)
{
	lua_createtable(L, 0, 0);
	lua_setfield(L, LUA_REGISTRYINDEX, FUNCTIONS);
	lua_createtable(L, 0, 1);
	lua_pushcfunction(L, field);
	lua_setfield(L, -2, "__index");
	lua_setfield(L, LUA_REGISTRYINDEX, REQUEST);
}

static void
set_param(lua_State *L, const char *name, const struct idem_params *p,
    const char *param)
{
	const char *value = idem_params_get(p, param);

	lua_pushstring(L, value != NULL ? value : "");
	lua_setfield(L, -2, name);
}

static void
push_request(lua_State *L, const struct idem_params *p,
    const struct idem_bytes *path)
{
	lua_createtable(L, 0, 5);
	set_param(L, "method", p, "REQUEST_METHOD");
	set_param(L, "query", p, "QUERY_STRING");
	lua_pushlstring(L, path->at, path->len);
	lua_setfield(L, -2, "path");
	lua_getfield(L, LUA_REGISTRYINDEX, REQUEST);
	lua_setmetatable(L, -2);
}

/* --- the call ------------------------------------------------------------- */

struct call {
	int function;
	struct idem_bytes path;
	struct idem_bytes value;
	bool found;
};

static int
call(lua_State *L)
{
	struct conf_lua *lua = conf_lua_of(L);
	struct call *k = lua_touserdata(L, 1);

	lua_getfield(L, LUA_REGISTRYINDEX, FUNCTIONS);
	lua_rawgeti(L, -1, k->function + 1);
	push_request(L, lua->params, &k->path);
	lua_call(L, 1, 1);
	if (lua_isnil(L, -1))
		return 0;
	if (lua_type(L, -1) != LUA_TSTRING)
		return luaL_error(L, "a key's function gave a %s; it gives a "
		    "text, or nil", luaL_typename(L, -1));
	k->value.at = lua_tolstring(L, -1, &k->value.len);
	k->found = true;
	lua_setfield(L, LUA_REGISTRYINDEX, VALUE);
	return 0;
}

int
conf_call(struct conf *c, int function, const struct idem_params *params,
    struct idem_bytes path, struct idem_bytes *value, char *error,
    size_t error_size)
{
	static const struct idem_lua_allowance calling = {
		.instructions = 100000, .steps = 2e7, .ms = 100,
	};
	struct call k = { .function = function, .path = path };
	struct conf_lua *lua = c->lua;
	bool good;

	lua->params = params;
	lua_pushcfunction(lua->box.L, call);
	lua_pushlightuserdata(lua->box.L, &k);
	good = idem_lua_box_call(&lua->box, &calling, 1, 0, error, error_size);
	lua->params = NULL;
	if (!good)
		return -1;
	*value = k.value;
	return k.found ? 1 : 0;
}
