/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lauxlib.h>
#include <lua.h>

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 80

/* --- where it is ---------------------------------------------------------- */

/* Does a word stand there as the name of a field: "word =", "[word] ="? */
static bool
names_field(const char *line, const char *at, size_t len)
{
	const char *after = at + len + strspn(at + len, " \t]\"'");

	return (at == line || (!isalnum((unsigned char)at[-1]) &&
	    at[-1] != '_' && at[-1] != '.')) &&
	    *after == '=' && after[1] != '=';
}

/*
 * The line, not before that one, on which a field is named.  Lua knows the line
 * of a call, not those of the table that it is given; a text that is laid out
 * as people do it shows them.  0: none is found.
 */
static int
line_of_field(const struct scenario_source *from, int line, const char *field)
{
	const char *at = from->text, *end, *found, *comment;
	size_t len = strlen(field);
	int number;

	for (number = 1; at != NULL && *at != '\0'; number++, at = end) {
		end = strchr(at, '\n');
		end = end != NULL ? end + 1 : at + strlen(at);
		comment = memmem(at, (size_t)(end - at), "--", 2);
		for (found = at; number >= line &&
		    (found = memmem(found, (size_t)(end - found), field,
		    len)) != NULL; found += len)
			if ((comment == NULL || found < comment) &&
			    names_field(at, found, len))
				return number;
	}
	return 0;
}

/* A field of a table that stands in others: down from the outermost. */
static int
line_of(const struct scenario_at *at, const char *field)
{
	const struct scenario *s = scenario_of(at->L);
	int line = at->place.line, found;

	if (at->place.source < 0)
		return line;
	if (at->in != NULL)
		line = line_of(at->in, at->what);
	if (field == NULL || field[0] == '[' || field[0] == '\0')
		return line;
	found = line_of_field(&s->sources[at->place.source], line, field);
	return found > 0 ? found : line;
}

static void
name_place(const struct scenario_at *at, char *out, size_t size)
{
	size_t len;

	if (at->in != NULL)
		name_place(at->in, out, size);
	else
		out[0] = '\0';
	len = strlen(out);
	if (at->what[0] == '[')
		snprintf(out + len, size - len, "%s", at->what);
	else
		snprintf(out + len, size - len, "%s%s",
		    len > 0 ? ": " : "", at->what);
}

static _Noreturn void
wrong(const struct scenario_at *at, const char *field, const char *text)
{
	struct idem_lua_place place = at->place;
	char where[200];

	name_place(at, where, sizeof where);
	place.line = line_of(at, field);
	scenario_raise(at->L, place, "%s%s%s: %s", where, field == NULL ||
	    field[0] == '[' ? "" : ": ", field != NULL ? field : "", text);
}

void
scenario_wrong(const struct scenario_at *at, const char *field,
    const char *format, ...)
{
	char text[500];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	wrong(at, field, text);
}

void
scenario_not(const struct scenario_at *at, const char *field,
    const char *format, ...)
{
	char text[500], shown[SHOWN];
	size_t len;
	va_list args;

	scenario_shown(at->L, -1, shown, sizeof shown);
	len = (size_t)snprintf(text, sizeof text, "%s is not ", shown);
	va_start(args, format);
	vsnprintf(text + len, sizeof text - len, format, args);
	va_end(args);
	wrong(at, field, text);
}

/* --- memory --------------------------------------------------------------- */

/* No more than Lua may have: a plan is made of what a file says. */
static void
spend(const struct scenario_at *at, size_t len)
{
	struct scenario *s = scenario_of(at->L);

	if (len > SCENARIO_MEMORY || s->spent + len > SCENARIO_MEMORY)
		scenario_wrong(at, NULL, "the plans of this file need more "
		    "than 64 MiB; make fewer test points, or smaller ones");
	s->spent += len;
}

void *
scenario_get(const struct scenario_at *at, size_t len)
{
	spend(at, len);
	return arena_get(&at->plan->arena, len);
}

void *
scenario_more(const struct scenario_at *at, void *array, size_t *n,
    size_t size)
{
	spend(at, 2 * size);
	return arena_more(&at->plan->arena, array, n, size);
}

/* --- fields --------------------------------------------------------------- */

static bool
is_word(const char *words, const char *name)
{
	size_t len = strlen(name), n;

	for (; *words != '\0'; words += n + (words[n] == ' ')) {
		n = strcspn(words, " ");
		if (n == len && strncmp(words, name, n) == 0)
			return true;
	}
	return false;
}

static _Noreturn void
unknown(const struct scenario_at *at, const char *name, const char *known)
{
	char near[60];

	if (scenario_near(name, known, near, sizeof near) != NULL)
		scenario_wrong(at, name, "there is no such field; did you "
		    "mean `%s`?", near);
	if (*known == '\0')
		scenario_wrong(at, name, "there is no field here; leave it "
		    "out");
	scenario_wrong(at, name, "there is no such field; there are %s",
	    known);
}

size_t
scenario_fields(const struct scenario_at *at, const char *known)
{
	lua_State *L = at->L;
	size_t numbers = 0;
	char shown[SHOWN];

	luaL_checkstack(L, 8, NULL);
	for (lua_pushnil(L); lua_next(L, at->table) != 0; lua_pop(L, 1)) {
		if (lua_isinteger(L, -2) && known == NULL)
			numbers++;
		else if (lua_type(L, -2) == LUA_TSTRING && known != NULL) {
			if (!is_word(known, lua_tostring(L, -2)))
				unknown(at, lua_tostring(L, -2), known);
		} else if (known == NULL)
			scenario_wrong(at, lua_type(L, -2) == LUA_TSTRING ?
			    lua_tostring(L, -2) : NULL, "this is a list; say "
			    "{ ..., ... } without names");
		else
			scenario_wrong(at, NULL, "%s has no name; say name = "
			    "value", scenario_shown(L, -1, shown,
			    sizeof shown));
	}
	if (numbers != (known == NULL ? lua_rawlen(L, at->table) : 0))
		scenario_wrong(at, NULL, "a list with a hole in it; is one of "
		    "its values nil?");
	return numbers;
}

bool
scenario_has(const struct scenario_at *at, const char *field)
{
	int type;

	luaL_checkstack(at->L, 8, NULL);
	if (field[0] == '[')
		type = lua_rawgeti(at->L, at->table, strtol(field + 1, NULL,
		    10));
	else {
		lua_pushstring(at->L, field);
		type = lua_rawget(at->L, at->table);
	}
	if (type != LUA_TNIL)
		return true;
	lua_pop(at->L, 1);
	return false;
}

void
scenario_nth(char field[SCENARIO_NTH], size_t i)
{
	snprintf(field, SCENARIO_NTH, "[%zu]", i);
}

struct scenario_at
scenario_inside(const struct scenario_at *at, const char *field)
{
	struct scenario_at inside = *at;

	if (!lua_istable(at->L, -1))
		scenario_not(at, field, "a table; say { ... }");
	inside.table = lua_gettop(at->L);
	inside.what = field;
	inside.in = at;
	return inside;
}

struct scenario_at
scenario_given(const struct scenario_at *at, const char *field,
    enum scenario_kind kind, const char *instead,
    const struct scenario_word **word)
{
	struct scenario_made *made = scenario_made(at->L, -1);
	struct scenario_at given = *at;

	if (made == NULL || made->word->kind != kind)
		scenario_not(at, field, "%s", instead);
	luaL_checkstack(at->L, 8, NULL);
	lua_getiuservalue(at->L, -1, 1);
	given.table = lua_gettop(at->L);
	given.place = made->place;
	given.what = made->word->name;
	given.in = NULL;
	*word = made->word;
	return given;
}

bool
scenario_options(const struct scenario_at *given, int argument,
    const struct scenario_word *word, struct scenario_at *options)
{
	luaL_checkstack(given->L, 8, NULL);
	if (lua_rawgeti(given->L, given->table, argument) == LUA_TNIL) {
		lua_pop(given->L, 1);
		return false;
	}
	*options = *given;
	options->table = lua_gettop(given->L);
	scenario_fields(options, word->fields);
	return true;
}
