/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lauxlib.h>
#include <lua.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define LIST 300		/* of values, in a message */

/*
 * The file is run once for each combination of its parameters' values.  Which
 * there are is learnt on the way: the values that a run begins with are a
 * prefix of what it asks for, and what comes behind it has its first value.
 */

/* --- texts ---------------------------------------------------------------- */

/* A copy that outlives the run; a file may make as many as it has memory. */
static const char *
keep(lua_State *L, const char *text)
{
	struct scenario *s = scenario_of(L);

	s->spent += strlen(text);
	if (s->spent > SCENARIO_MEMORY)
		scenario_raise(L, scenario_here(L), "its parameters need more "
		    "than 64 MiB; make them shorter");
	return arena_text(&s->arena, text);
}

/* A name of TAP: # is its own, and a terminal is not to be told anything. */
bool
scenario_param_is_line(const char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f ||
		    *text == '#')
			return false;
	return true;
}

/* As --param says a value; NULL: it is none. */
const char *
scenario_param_text(lua_State *L, int index)
{
	const char *text = NULL;

	switch (lua_type(L, index)) {
	case LUA_TSTRING:
		text = lua_tostring(L, index);
		if (strlen(text) != lua_rawlen(L, index) ||
		    !scenario_param_is_line(text))
			text = NULL;
		break;
	case LUA_TBOOLEAN:
		text = lua_toboolean(L, index) ? "true" : "false";
		break;
	case LUA_TNUMBER:
		lua_pushvalue(L, index);	/* it would be changed */
		text = keep(L, lua_tostring(L, -1));
		lua_pop(L, 1);
		return text;
	}
	return text != NULL ? keep(L, text) : NULL;
}

static void
list(const char *const *names, size_t n, char *out, size_t size)
{
	size_t i, len = 0;

	snprintf(out, size, "none");
	for (i = 0; i < n && len < size; i++)
		len += (size_t)snprintf(out + len, size - len, "%s%s",
		    i > 0 ? ", " : "", names[i]);
}

/* The choice of a parameter, the last one; NULL: all its values are wanted. */
const char *
scenario_param_choice(struct scenario *s, const char *name)
{
	const char *choice = NULL;
	size_t i;

	for (i = 0; i < s->choices_n; i++)
		if (strcmp(s->choices[i].name, name) == 0) {
			s->chosen[i] = true;
			choice = s->choices[i].value;
		}
	return choice;
}

void
scenario_param_note(struct scenario *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->names_n; i++)
		if (strcmp(s->names[i], name) == 0)
			return;
	*(const char **)arena_more(&s->arena, &s->names, &s->names_n,
	    sizeof *s->names) = arena_text(&s->arena, name);
}

bool
scenario_param_met(struct scenario *s, char *wrong, size_t size)
{
	char names[LIST];
	size_t i;

	for (i = 0; i < s->choices_n; i++)
		if (!s->chosen[i]) {
			list(s->names, s->names_n, names, sizeof names);
			snprintf(wrong, size, "%s: --param %s=%s: it has no "
			    "such parameter; there are: %s", s->file,
			    s->choices[i].name, s->choices[i].value, names);
			return false;
		}
	return true;
}

/* --- sim.param ------------------------------------------------------------ */

void
scenario_param_refuse(lua_State *L, const char *name, const char *choice,
    const char *const *values, size_t n)
{
	char all[LIST];

	list(values, n, all, sizeof all);
	scenario_raise(L, scenario_here(L), "--param %s=%s: not one of its "
	    "values; there are: %s", name, choice, all);
}

bool
scenario_param_is_name(const char *name)
{
	return *name != '\0' && strlen(name) <= 40 &&
	    strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "0123456789_") == strlen(name);
}

static struct scenario_param *
new_param(lua_State *L, const char *name)
{
	struct scenario *s = scenario_of(L);
	size_t i;

	if (!scenario_param_is_name(name))
		scenario_raise(L, scenario_here(L), "sim.param: \"%.60s\" is "
		    "not a name; say letters, digits and _", name);
	for (i = 0; i < s->params_n; i++)
		if (strcmp(s->params[i].name, name) == 0)
			scenario_raise(L, scenario_here(L), "sim.param: there "
			    "is a \"%s\" already; keep its value in a local",
			    name);
	if (s->params_n == SCENARIO_PARAMS_MAX)
		scenario_raise(L, scenario_here(L), "sim.param: \"%s\": over "
		    "%d parameters; make it fewer", name, SCENARIO_PARAMS_MAX);
	scenario_param_note(s, name);
	i = s->params_n;
	s->params[i].name = arena_text(&s->arena, name);
	s->params[i].n = 0;
	s->params[i].chosen = false;
	s->params[i].at = i < s->next_n ? s->next[i] : 0;
	return &s->params[i];
}

/* Its values, at 3; the default, at 2, is one of them. */
static void
read_values(lua_State *L, struct scenario_param *p)
{
	lua_Unsigned n = lua_rawlen(L, 3), i;
	const char *first = scenario_param_text(L, 2), *text;
	bool found = false;
	size_t j;

	if (n == 0 || n > SCENARIO_VALUES_MAX)
		scenario_raise(L, scenario_here(L), "sim.param: \"%s\" has "
		    "%d values; say 1 to %d", p->name, (int)n,
		    SCENARIO_VALUES_MAX);
	for (i = 1; i <= n; i++) {
		lua_rawgeti(L, 3, (lua_Integer)i);
		text = scenario_param_text(L, -1);
		lua_pop(L, 1);
		if (text == NULL)
			scenario_raise(L, scenario_here(L), "sim.param: "
			    "\"%s\": its value %d is no text, number or "
			    "boolean; choose by its name, and keep tables in a "
			    "local", p->name, (int)i);
		for (j = 0; j < p->n; j++)
			if (strcmp(p->values[j], text) == 0)
				scenario_raise(L, scenario_here(L),
				    "sim.param: \"%s\" has %s twice; say it "
				    "once", p->name, text);
		p->values[p->n++] = text;
		found = found || strcmp(text, first) == 0;
	}
	if (!found)
		scenario_raise(L, scenario_here(L), "sim.param: \"%s\": its "
		    "default %s is none of its values; say one of them",
		    p->name, first);
}

/* Push a choice as a value of the default's type, where all are possible. */
static void
push_any(lua_State *L, struct scenario_param *p, const char *choice)
{
	static const char *const flags[] = { "false", "true" };

	p->values[p->n++] = keep(L, choice);
	switch (lua_type(L, 2)) {
	case LUA_TNUMBER:
		if (lua_stringtonumber(L, choice) == 0)
			scenario_raise(L, scenario_here(L), "--param %s=%s: "
			    "not a number", p->name, choice);
		break;
	case LUA_TBOOLEAN:
		if (strcmp(choice, "true") != 0 && strcmp(choice, "false") != 0)
			scenario_param_refuse(L, p->name, choice, flags, 2);
		lua_pushboolean(L, strcmp(choice, "true") == 0);
		break;
	default:
		lua_pushstring(L, choice);
	}
}

/* One value is wanted: the choice. */
static void
choose(lua_State *L, struct scenario_param *p, const char *choice)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (strcmp(p->values[i], choice) == 0)
			break;
	if (i == p->n)
		scenario_param_refuse(L, p->name, choice, p->values, p->n);
	lua_rawgeti(L, 3, (lua_Integer)i + 1);
	p->at = i;
}

int
scenario_param(lua_State *L)
{
	struct scenario *s = scenario_of(L);
	struct scenario_param *p;
	const char *choice;
	bool listed = !lua_isnoneornil(L, 3);

	if (lua_type(L, 1) != LUA_TSTRING || lua_gettop(L) > 3 ||
	    (listed && !lua_istable(L, 3)) || scenario_param_text(L, 2) == NULL)
		scenario_raise(L, scenario_here(L), "sim.param: say "
		    "sim.param(\"name\", default, { default, ... }), of "
		    "texts, numbers or booleans");
	p = new_param(L, lua_tostring(L, 1));
	choice = scenario_param_choice(s, p->name);
	p->listed = listed;
	if (listed)
		read_values(L, p);
	if (choice != NULL) {
		if (listed)
			choose(L, p, choice);
		else
			push_any(L, p, choice);
		p->chosen = true;
	} else if (listed)
		lua_rawgeti(L, 3, (lua_Integer)p->at + 1);
	else {
		p->values[p->n++] = scenario_param_text(L, 2);
		lua_pushvalue(L, 2);
	}
	s->params_n++;
	return 1;
}

bool
scenario_param_next(struct scenario *s)
{
	size_t i = s->params_n, j;

	while (i > 0 && (s->params[i - 1].chosen ||
	    s->params[i - 1].at + 1 >= s->params[i - 1].n))
		i--;
	for (j = 0; j < i; j++)
		s->next[j] = s->params[j].at;
	if (i > 0)
		s->next[i - 1]++;
	s->next_n = i;
	s->params_n = 0;
	return i > 0;
}

/* --- for a plan ----------------------------------------------------------- */

static bool
is_part(int c)
{
	return isalnum(c) || c == '_';
}

static bool
shows(const char *name, const char *value)
{
	size_t len = strlen(value);
	const char *at;

	for (at = name; len > 0 && (at = strstr(at, value)) != NULL; at++)
		if ((at == name || !is_part((unsigned char)at[-1])) &&
		    !is_part((unsigned char)at[len]))
			return true;
	return false;
}

/*
 * Test points are told apart by their names, whichever of them are chosen: so a
 * name has all values that it does not show anyway, of those that may differ.
 */
static void
add_to_name(struct plan *p, const struct plan_pair *pair)
{
	bool more = p->name[strlen(p->name) - 1] == ']';

	if (!shows(p->name, pair->value))
		p->name = arena_format(&p->arena, "%.*s%s%s=%s]",
		    (int)strlen(p->name) - more, p->name, more ? ", " : " [",
		    pair->name, pair->value);
}

void
scenario_param_tell(struct scenario *s, struct plan *p,
    const struct plan_pair *more, size_t n)
{
	struct plan_pair *all = arena_get(&p->arena,
	    (s->params_n + n) * sizeof *all + 1);
	const struct scenario_param *param;
	size_t i;

	for (i = 0; i < s->params_n + n; i++) {
		param = i < s->params_n ? &s->params[i] : NULL;
		all[i].name = arena_text(&p->arena, param != NULL ?
		    param->name : more[i - s->params_n].name);
		all[i].value = arena_text(&p->arena, param != NULL ?
		    param->values[param->at] : more[i - s->params_n].value);
		if (param == NULL || param->n > 1 || param->chosen)
			add_to_name(p, &all[i]);
	}
	p->params = all;
	p->params_n = s->params_n + n;
}
