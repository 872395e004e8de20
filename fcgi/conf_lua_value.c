/* SPDX-License-Identifier: ISC */
#include "conf_lua.h"
#include "options.h"

#include <lauxlib.h>
#include <lua.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_MAX 60

/* --- what is wrong -------------------------------------------------------- */

void
conf_lua_no_memory(lua_State *L)
{
	luaL_checkstack(L, 4, NULL);
	lua_pushliteral(L, "the configuration needs too much memory");
	conf_lua_raise(L);
}

static void
push_places(const struct conf_at *at)
{
	if (at->in != NULL)
		push_places(at->in);
	else
		lua_pushliteral(at->L, "");
	if (at->what[0] != '\0') {
		lua_pushfstring(at->L, "%s: ", at->what);
		lua_concat(at->L, 2);
	}
}

void
conf_lua_wrong(const struct conf_at *at, const char *field,
    const char *format, ...)
{
	char why[500];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof why, format, args);
	va_end(args);
	luaL_checkstack(at->L, 8, NULL);
	push_places(at);
	lua_pushstring(at->L, field != NULL ? field : "");
	lua_pushstring(at->L, field != NULL ? ": " : "");
	lua_pushstring(at->L, why);
	lua_concat(at->L, 4);
	conf_lua_raise(at->L);
}

/* A value, for a message. */
static const char *
shown(lua_State *L, int index, char *to, size_t size)
{
	enum conf_word word = conf_lua_word(L, index);

	if (lua_type(L, index) == LUA_TSTRING)
		snprintf(to, size, "\"%.*s\"", SHOWN_MAX - 10,
		    lua_tostring(L, index));
	else if (lua_isinteger(L, index))
		snprintf(to, size, "%lld", lua_tointeger(L, index));
	else if (lua_type(L, index) == LUA_TBOOLEAN)
		snprintf(to, size, "%s",
		    lua_toboolean(L, index) ? "true" : "false");
	else if (word != CONF_WORD_NONE)
		snprintf(to, size, "%s", conf_lua_word_text(word));
	else
		snprintf(to, size, "a %s", luaL_typename(L, index));
	return to;
}

static _Noreturn void
not_a(const struct conf_at *at, const char *field, int index, const char *what)
{
	char value[SHOWN_MAX];

	conf_lua_wrong(at, field, "%s is not %s",
	    shown(at->L, index, value, sizeof value), what);
}

/* --- fields --------------------------------------------------------------- */

/* "a, b, c" */
static void
list(const char *const *known, char *to, size_t size)
{
	size_t len = 0, i;

	to[0] = '\0';
	for (i = 0; known[i] != NULL && len < size; i++)
		len += (size_t)snprintf(to + len, size - len, "%s%s",
		    i > 0 ? ", " : "", known[i]);
}

static _Noreturn void
unknown(const struct conf_at *at, const char *name, const char *const *known)
{
	const char *near = conf_lua_near(name, known);
	char names[400];

	if (conf_lua_is_setting(name))
		conf_lua_wrong(at, NULL, "there is no `%s` in it: it is a "
		    "setting of the file, outside of routes", name);
	if (near != NULL)
		conf_lua_wrong(at, NULL, "there is no `%.40s`; did you mean "
		    "`%s`?", name, near);
	if (known[0] == NULL)
		conf_lua_wrong(at, NULL, "there is no `%.40s`: this is a list",
		    name);
	list(known, names, sizeof names);
	conf_lua_wrong(at, NULL, "there is no `%.40s`; there are %s", name,
	    names);
}

/* The value of the field whose name is on top. */
static _Noreturn void
nameless(const struct conf_at *at)
{
	char value[SHOWN_MAX];

	lua_pushvalue(at->L, -1);
	lua_rawget(at->L, at->table);
	conf_lua_wrong(at, NULL, "%s has no name; say name = value",
	    shown(at->L, -1, value, sizeof value));
}

static bool
is_known(const char *name, const char *const *known)
{
	while (*known != NULL && strcmp(*known, name) != 0)
		known++;
	return *known != NULL;
}

/* Also a list's: its numbers are 1, 2, ... without a hole. */
void
conf_lua_fields(const struct conf_at *at, const char *const *known,
    bool positional)
{
	lua_State *L = at->L;
	lua_Unsigned numbers = 0;

	luaL_checkstack(L, 4, NULL);
	lua_pushnil(L);
	while (lua_next(L, at->table) != 0) {
		lua_pop(L, 1);
		if (lua_type(L, -1) == LUA_TSTRING) {
			if (!is_known(lua_tostring(L, -1), known))
				unknown(at, lua_tostring(L, -1), known);
		} else if (!positional)
			nameless(at);
		else if (!lua_isinteger(L, -1))
			not_a(at, NULL, -1, "a name");
		else
			numbers++;
	}
	if (numbers != lua_rawlen(L, at->table))
		conf_lua_wrong(at, NULL, "a list with a hole in it");
}

bool
conf_lua_has(const struct conf_at *at, const char *field)
{
	luaL_checkstack(at->L, 4, NULL);
	lua_pushstring(at->L, field);
	if (lua_rawget(at->L, at->table) != LUA_TNIL)
		return true;
	lua_pop(at->L, 1);
	return false;
}

struct conf_at
conf_lua_inside(const struct conf_at *at, const char *field)
{
	struct conf_at inside = {
		.L = at->L, .conf = at->conf, .what = field, .in = at,
		.table = lua_gettop(at->L)
	};

	if (!lua_istable(at->L, -1) ||
	    conf_lua_word(at->L, -1) != CONF_WORD_NONE)
		not_a(at, field, -1, "a table: { name = value, ... }");
	return inside;
}

/* --- texts ---------------------------------------------------------------- */

/* The text at an index while it is there; "" if it is none, or holds a NUL. */
static const char *
plain(lua_State *L, int index)
{
	const char *text = "";
	size_t len = 0;

	if (lua_type(L, index) == LUA_TSTRING)
		text = lua_tolstring(L, index, &len);
	return strlen(text) == len ? text : "";
}

const char *
conf_lua_copy(const struct conf_at *at, const char *field, int index)
{
	struct idem_bytes text;
	char *copy;

	if (lua_type(at->L, index) != LUA_TSTRING)
		not_a(at, field, index, "a text in quotes");
	text.at = lua_tolstring(at->L, index, &text.len);
	if (memchr(text.at, '\0', text.len) != NULL)
		conf_lua_wrong(at, field, "a text that holds a NUL");
	copy = conf_copy(at->conf, text);
	if (copy == NULL)
		conf_lua_no_memory(at->L);
	return copy;
}

static const char *
checked(const struct conf_at *at, const char *field, int index,
    conf_lua_check *check)
{
	const char *text = conf_lua_copy(at, field, index);
	const char *fault = check != NULL ? check(text) : NULL;

	if (fault != NULL)
		conf_lua_wrong(at, field, "\"%.50s\": %s", text, fault);
	return text;
}

void
conf_lua_text(const struct conf_at *at, const char *field,
    conf_lua_check *check, const char **out)
{
	if (!conf_lua_has(at, field))
		return;
	*out = checked(at, field, -1, check);
	lua_pop(at->L, 1);
}

/* The list at an index of the stack; a NULL behind it. */
static void
texts(const struct conf_at *at, const char *field, int index,
    conf_lua_check *check, struct idem_words *out)
{
	lua_Unsigned len = lua_rawlen(at->L, index), i;
	const char **all;

	if (len > CONF_MEMORY_MAX / sizeof *all)
		conf_lua_no_memory(at->L);
	all = conf_get(at->conf, ((size_t)len + 1) * sizeof *all);
	if (all == NULL)
		conf_lua_no_memory(at->L);
	for (i = 0; i < len; i++) {
		lua_rawgeti(at->L, index, (lua_Integer)i + 1);
		all[i] = checked(at, field, -1, check);
		lua_pop(at->L, 1);
	}
	*out = (struct idem_words){ all, (size_t)len };
}

void
conf_lua_positional(const struct conf_at *at, conf_lua_check *check,
    struct idem_words *out)
{
	luaL_checkstack(at->L, 4, NULL);
	texts(at, NULL, at->table, check, out);
}

void
conf_lua_texts(const struct conf_at *at, const char *field,
    conf_lua_check *check, struct idem_words *out)
{
	static const char *const none[] = { NULL };
	struct conf_at list;
	const char **one;

	if (!conf_lua_has(at, field))
		return;
	if (lua_istable(at->L, -1)) {
		list = conf_lua_inside(at, field);
		conf_lua_fields(&list, none, true);
		texts(at, field, list.table, check, out);
	} else {
		one = conf_get(at->conf, 2 * sizeof *one);
		if (one == NULL)
			conf_lua_no_memory(at->L);
		one[0] = checked(at, field, -1, check);
		*out = (struct idem_words){ one, 1 };
	}
	lua_pop(at->L, 1);
}

int
conf_lua_one_of(const struct conf_at *at, const char *field,
    const char *const *words)
{
	char all[200] = "one of";
	size_t len = strlen(all);
	const char *text;
	int i;

	if (!conf_lua_has(at, field))
		return -1;
	text = plain(at->L, -1);
	for (i = 0; words[i] != NULL; i++) {
		if (strcmp(words[i], text) == 0) {
			lua_pop(at->L, 1);
			return i;
		}
		if (len < sizeof all)
			len += (size_t)snprintf(all + len, sizeof all - len,
			    "%s \"%s\"", i > 0 ? "," : "", words[i]);
	}
	not_a(at, field, -1, all);
}

/* --- numbers -------------------------------------------------------------- */

void
conf_lua_flag(const struct conf_at *at, const char *field, bool *out)
{
	if (!conf_lua_has(at, field))
		return;
	if (!lua_isboolean(at->L, -1))
		not_a(at, field, -1, "true or false");
	*out = lua_toboolean(at->L, -1) != 0;
	lua_pop(at->L, 1);
}

void
conf_lua_number(const struct conf_at *at, const char *field, uint32_t min,
    uint32_t max, uint32_t *out)
{
	char what[60];
	lua_Integer n;

	if (!conf_lua_has(at, field))
		return;
	n = lua_isinteger(at->L, -1) ? lua_tointeger(at->L, -1) : -1;
	if (n < min || n > max) {
		snprintf(what, sizeof what, "a number from %u to %u", min, max);
		not_a(at, field, -1, what);
	}
	*out = (uint32_t)n;
	lua_pop(at->L, 1);
}

void
conf_lua_time(const struct conf_at *at, const char *field, int64_t min_ms,
    int64_t max_ms, int64_t *out)
{
	char what[100];
	int64_t ms;

	if (!conf_lua_has(at, field))
		return;
	if (!options_time(plain(at->L, -1), max_ms, &ms)) {
		snprintf(what, sizeof what, CONF_TIME_WORDS ", of at most %dd",
		    (int)(max_ms / CONF_DAY_MS));
		not_a(at, field, -1, what);
	}
	if (ms < min_ms)
		conf_lua_wrong(at, field, "\"%s\" is less than %dms",
		    lua_tostring(at->L, -1), (int)min_ms);
	*out = ms;
	lua_pop(at->L, 1);
}

void
conf_lua_span(const struct conf_at *at, const char *field, uint32_t min_ms,
    uint32_t *out)
{
	int64_t ms = *out;

	conf_lua_time(at, field, min_ms, CONF_RUN_MAX_MS, &ms);
	*out = (uint32_t)ms;
}

void
conf_lua_size(const struct conf_at *at, const char *field, uint64_t min,
    uint64_t max, uint64_t *out)
{
	char what[100];

	if (!conf_lua_has(at, field))
		return;
	if (!options_size(plain(at->L, -1), max, out) || *out < min) {
		snprintf(what, sizeof what, CONF_SIZE_WORDS ", %sof at most "
		    "%lluMiB",
		    min > 0 ? "not 0, " : "",
		    (unsigned long long)(max >> 20));
		not_a(at, field, -1, what);
	}
	lua_pop(at->L, 1);
}
