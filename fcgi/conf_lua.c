/* SPDX-License-Identifier: ISC */
#include "conf_lua.h"
#include "shm.h"

#include <lauxlib.h>
#include <lua.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The file's globals are an empty table: what is read is looked up among the
 * words and the settings made so far, what is assigned is a setting.
 */
enum { UP_WORDS = 1, UP_SETTINGS = 2 };

/* --- settings ------------------------------------------------------------- */

typedef void set_fn(const struct conf_at *, const char *name, struct conf *);

static void
set_listen(const struct conf_at *at, const char *name, struct conf *c)
{
	const char *text;

	conf_lua_text(at, name, NULL, &text);
	c->socket = conf_socket(c, text);
	if (c->socket == NULL)
		conf_lua_wrong(at, name, "\"%.100s\" is not unix:PATH, "
		    "tcp:HOST:PORT or tcp6:[ADDRESS]:PORT", text);
}

static void
set_ledger(const struct conf_at *at, const char *name, struct conf *c)
{
	static const char *const known[] = { "path", "create", NULL };
	const char *path = NULL;
	struct conf_at inside;

	conf_lua_has(at, name);
	if (conf_lua_word(at->L, -1) != CONF_WORD_SQLITE)
		conf_lua_wrong(at, name, "say sqlite { path = "
		    "\"/var/lib/idem/ledger.db\" }");
	inside = conf_lua_word_inside(at);
	conf_lua_fields(&inside, known, false);
	conf_lua_text(&inside, "path", NULL, &path);
	if (path == NULL || *path == '\0')
		conf_lua_wrong(&inside, NULL, "its path is missing");
	c->ledger = path;
	if (*path != '/')
		conf_warn(c, "ledger: \"%.100s\" is not an absolute path: it "
		    "depends on the folder that idemd is started in", path);
	conf_lua_flag(&inside, "create", &c->create);
	lua_pop(at->L, 1);
}

static void
set_programs(const struct conf_at *at, const char *name, struct conf *c)
{
	conf_lua_number(at, name, 1, SHM_SLOTS_MAX, &c->programs);
}

static void
set_workers(const struct conf_at *at, const char *name, struct conf *c)
{
	conf_lua_number(at, name, 1, SHM_WORKERS_MAX, &c->workers);
}

static void
set_queue(const struct conf_at *at, const char *name, struct conf *c)
{
	conf_lua_number(at, name, 0, CONF_QUEUE_MAX, &c->queue);
}

static void
set_grace(const struct conf_at *at, const char *name, struct conf *c)
{
	conf_lua_span(at, name, 1, &c->grace_ms);
}

static void
set_stderr(const struct conf_at *at, const char *name, struct conf *c)
{
	conf_lua_flag(at, name, &c->stderr_to_front);
}

static void
set_local_cache(const struct conf_at *at, const char *name, struct conf *c)
{
	static const char *const known[] = { "size", "age", NULL };
	struct conf_at inside;

	conf_lua_has(at, name);
	if (lua_type(at->L, -1) == LUA_TSTRING &&
	    strcmp(lua_tostring(at->L, -1), "none") == 0)
		c->cache_size = 0;
	else {
		inside = conf_lua_inside(at, name);
		conf_lua_fields(&inside, known, false);
		conf_lua_size(&inside, "size", 1, UINT64_C(1) << 34,
		    &c->cache_size);
		conf_lua_time(&inside, "age", 1, CONF_DAY_MS, &c->cache_age_ms);
	}
	lua_pop(at->L, 1);
}

static void
set_cache(const struct conf_at *at, const char *name, struct conf *c)
{
	c->cache = conf_lua_redis(at, name);
}

static void
set_shared(const struct conf_at *at, const char *name, struct conf *c)
{
	c->shared = conf_lua_redis(at, name);
}

static void
set_run(const struct conf_at *at, const char *name, struct conf *c)
{
	conf_lua_text(at, name, conf_lua_absolute, &c->run);
}

static void
set_alert(const struct conf_at *at, const char *name, struct conf *c)
{
	conf_lua_text(at, name, conf_lua_absolute, &c->alert);
}

/* "0" and false are none: there is no other size without a unit. */
static void
set_reserve(const struct conf_at *at, const char *name, struct conf *c)
{
	bool none;

	conf_lua_has(at, name);
	none = lua_isboolean(at->L, -1) ? lua_toboolean(at->L, -1) == 0 :
	    lua_type(at->L, -1) == LUA_TSTRING &&
	    strcmp(lua_tostring(at->L, -1), "0") == 0;
	lua_pop(at->L, 1);
	if (none)
		c->reserve = 0;
	else
		conf_lua_size(at, name, 0, CONF_RESERVE_MAX, &c->reserve);
}

static void
set_rest(const struct conf_at *at, const char *name, struct conf *c)
{
	static const char all[] = "/**";

	conf_route_init(&c->rest);
	c->has_rest = conf_lua_program(at, name, &c->rest.program);
	c->rest.route.path = all;
	c->rest.route.methods = (struct idem_words){ NULL, 0 };
	c->rest.text = "rest";	/* set once, so it needs no line */
}

static const char *const names[] = { "listen", "ledger", "programs", "workers",
    "queue", "grace", "stderr_to_front", "local_cache", "cache", "shared",
    "tokens", "run", "alert", "reserve", "rest", NULL };
static set_fn *const setters[] = { set_listen, set_ledger, set_programs,
    set_workers, set_queue, set_grace, set_stderr, set_local_cache, set_cache,
    set_shared, conf_lua_tokens, set_run, set_alert, set_reserve, set_rest };

static int
setting(const char *name)
{
	int i;

	for (i = 0; names[i] != NULL; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

bool
conf_lua_is_setting(const char *name)
{
	return setting(name) != -1;
}

/* env[name] = value */
static int
assign(lua_State *L)
{
	struct conf_lua *lua = conf_lua_of(L);
	struct conf_at at = {
		.L = L, .conf = lua->conf, .what = "",
		.table = lua_upvalueindex(UP_SETTINGS)
	};
	const char *name = lua_type(L, 2) == LUA_TSTRING ?
	    lua_tostring(L, 2) : "";
	const char *near;
	int which = setting(name);

	if (!lua->box.loading)
		conf_lua_wrong(&at, NULL, "a key's function cannot set "
		    "`%.40s`; say local %.40s = ...", name, name);
	if (conf_lua_is_field(name))
		conf_lua_wrong(&at, NULL, "`%s` is said of a route: route { "
		    "%s = ..., ... }", name, name);
	lua_pushvalue(L, 2);
	if (lua_rawget(L, lua_upvalueindex(UP_WORDS)) == LUA_TFUNCTION)
		conf_lua_wrong(&at, NULL, "`%.40s` is a word, and nothing is "
		    "assigned to it; say %.40s { ... } without =", name, name);
	near = conf_lua_near(name, names);
	if (which == -1 && near != NULL)
		conf_lua_wrong(&at, NULL, "there is no setting `%.40s`; did "
		    "you mean `%s`?", name, near);
	if (which == -1)
		conf_lua_wrong(&at, NULL, "there is no setting `%.40s`; see "
		    "idem.conf(5), or say local %.40s = ...", name, name);
	if (conf_lua_has(&at, name))
		conf_lua_wrong(&at, NULL, "`%s` is set twice; keep one of "
		    "them", name);
	lua_pushvalue(L, 2);
	lua_pushvalue(L, 3);
	lua_rawset(L, lua_upvalueindex(UP_SETTINGS));
	if (!lua_isnil(L, 3))
		setters[which](&at, name, lua->conf);
	return 0;
}

/* The names of a table and of the settings, as a list in Lua's memory. */
static const char *const *
all_names(lua_State *L, int table)
{
	size_t max = sizeof names / sizeof *names, n;
	const char **list;

	for (lua_pushnil(L); lua_next(L, table) != 0; max++)
		lua_pop(L, 1);
	list = lua_newuserdatauv(L, max * sizeof *list, 0);
	for (n = 0; names[n] != NULL; n++)
		list[n] = names[n];
	for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1))
		if (lua_type(L, -2) == LUA_TSTRING)
			list[n++] = lua_tostring(L, -2);
	list[n] = NULL;
	return list;
}

/* value = env[name] */
static int
read(lua_State *L)
{
	struct conf_at at = { .L = L, .what = "" };
	const char *name = lua_type(L, 2) == LUA_TSTRING ?
	    lua_tostring(L, 2) : "";
	const char *near;

	lua_pushvalue(L, 2);
	if (lua_rawget(L, lua_upvalueindex(UP_WORDS)) != LUA_TNIL)
		return 1;
	lua_pushvalue(L, 2);
	if (lua_rawget(L, lua_upvalueindex(UP_SETTINGS)) != LUA_TNIL ||
	    setting(name) != -1)
		return 1;
	near = conf_lua_near(name, all_names(L, lua_upvalueindex(UP_WORDS)));
	if (near != NULL)
		conf_lua_wrong(&at, NULL, "there is no `%.40s`; did you mean "
		    "`%s`?", name, near);
	conf_lua_wrong(&at, NULL, "there is no `%.40s`; see idem.conf(5)",
	    name);
}

/* --- the file ------------------------------------------------------------- */

static void
push_globals(lua_State *L)
{
	lua_createtable(L, 0, 0);
	lua_createtable(L, 0, 2);
	idem_lua_words(L, "");
	conf_lua_words(L);
	lua_createtable(L, 0, 16);
	lua_pushvalue(L, -2);
	lua_pushvalue(L, -2);
	lua_pushcclosure(L, read, 2);
	lua_setfield(L, -4, "__index");
	lua_pushcclosure(L, assign, 2);
	lua_setfield(L, -2, "__newindex");
	lua_setmetatable(L, -2);
}

static int
load(lua_State *L)
{
	struct conf_lua *lua = conf_lua_of(L);

	conf_lua_call_prepare(L);
	idem_lua_text_load(L, 0, lua->text.at, lua->text.len);
	push_globals(L);
	lua_setupvalue(L, -2, 1);	/* _ENV */
	lua_call(L, 0, 0);
	conf_lua_digest(L);
	return 0;
}

static bool
run(struct conf_lua *lua, char *error, size_t error_size)
{
	static const struct idem_lua_allowance loading = {
		.instructions = 10000000, .steps = 1e9, .ms = 10000,
	};
	bool good;

	lua->box.loading = true;
	lua_pushcfunction(lua->box.L, load);
	good = idem_lua_box_call(&lua->box, &loading, 0, 0, error,
	    error_size);
	lua->box.loading = false;
	lua->text = (struct idem_bytes){ NULL, 0 };
	return good;
}

/* What can only be said of the whole. */
static bool
check(struct conf *c, const char *file, char *error, size_t error_size)
{
	if (c->routes_len > 0 || c->has_rest)
		return true;
	snprintf(error, error_size, "%s: no route: say route { path = "
	    "\"/**\", program = cgi {} }", file);
	return false;
}

struct conf *
conf_read(const char *file, struct idem_bytes text, char *error,
    size_t error_size)
{
	struct conf *c = conf_new();

	if (c != NULL)
		c->lua = conf_lua_new(c, file);
	if (c == NULL || c->lua == NULL) {
		snprintf(error, error_size, "%s: no memory", file);
		conf_drop(c);
		return NULL;
	}
	c->lua->text = text;
	if (!run(c->lua, error, error_size) ||
	    !check(c, file, error, error_size)) {
		conf_drop(c);
		return NULL;
	}
	conf_measure(c);
	return c;
}
