/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lauxlib.h>
#include <lua.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MATRICES_MAX 8		/* in each other */

/* --- what a file returns -------------------------------------------------- */

static void add_points(lua_State *, struct plan_pair *, size_t n);

/* The list of { name, text, what its function gave }, on top. */
static void
add_matrix(lua_State *L, struct plan_pair *more, size_t n)
{
	const struct scenario_made *made = scenario_made(L, -1);
	lua_Unsigned len, i;
	int top = lua_gettop(L);

	if (n == MATRICES_MAX)
		scenario_raise(L, made->place, "matrices in matrices, %d "
		    "deep; say it with fewer", MATRICES_MAX);
	luaL_checkstack(L, 10, NULL);
	lua_getiuservalue(L, -1, 1);
	len = lua_rawlen(L, -1);
	for (i = 1; i <= len; i++) {
		lua_rawgeti(L, top + 1, (lua_Integer)i);
		lua_rawgeti(L, -1, 1);
		lua_rawgeti(L, -2, 2);
		more[n].name = lua_tostring(L, -2);
		more[n].value = lua_tostring(L, -1);
		lua_rawgeti(L, -3, 3);
		add_points(L, more, n + 1);
		lua_settop(L, top + 1);
	}
	lua_settop(L, top);
}

/* Where its return is to be. */
static int
last_line(const struct scenario *s)
{
	const struct scenario_source *from = &s->sources[0];
	int line = 1;
	size_t i;

	for (i = 0; i + 1 < from->len; i++)
		line += from->text[i] == '\n';
	return line;
}

static void
add_points(lua_State *L, struct plan_pair *more, size_t n)
{
	const struct scenario_made *made = scenario_made(L, -1);
	struct idem_lua_place end = { 0, 0 };
	char shown[80];

	if (made != NULL && made->word->kind == SCENARIO_MATRIX)
		add_matrix(L, more, n);
	else if (made != NULL && made->word->kind == SCENARIO_SCENARIO)
		scenario_plan_add(L, more, n);
	else {
		end.line = last_line(scenario_of(L));
		scenario_raise(L, end, "the file returns %s; say return "
		    "sim.scenario { ... } or return sim.matrix(...)",
		    scenario_shown(L, -1, shown, sizeof shown));
	}
}

/* One run of the file, with the values that the parameters have now. */
static int
run(lua_State *L)
{
	struct plan_pair more[MATRICES_MAX + 1];
	struct scenario *s = scenario_of(L);

	scenario_begin(L);
	s->api = false;
	scenario_chunk(L, 0);
	lua_call(L, 0, 1);
	add_points(L, more, 0);
	return 0;
}

/* --- names ---------------------------------------------------------------- */

struct named {
	const char *name;
	const struct plan *plan;
};

static int
by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order != 0 ? order : x->plan->number < y->plan->number ? -1 : 1;
}

/* A name is of one test point.  NULL, or the second one of a name. */
static const struct plan *
named_twice(struct scenario *s)
{
	struct named *all = arena_get(&s->arena, s->plans_n * sizeof *all);
	size_t i;

	for (i = 0; i < s->plans_n; i++)
		all[i] = (struct named){ s->plans[i]->name, s->plans[i] };
	qsort(all, s->plans_n, sizeof *all, by_name);
	for (i = 1; i < s->plans_n; i++)
		if (strcmp(all[i - 1].name, all[i].name) == 0)
			return all[i].plan;
	return NULL;
}

/* --- a file --------------------------------------------------------------- */

static bool
read_points(struct scenario *s, char *wrong, size_t size)
{
	const struct plan *twice;

	s->box.loading = true;
	do {
		lua_pushcfunction(s->box.L, run);
		if (!scenario_call(s, 0, 0, wrong, size))
			return false;
	} while (scenario_param_next(s));
	s->box.loading = false;
	if (!scenario_param_met(s, wrong, size))
		return false;
	twice = named_twice(s);
	if (twice != NULL)
		snprintf(wrong, size, "%s: two test points are called \"%s\"; "
		    "say what is different in their names", s->file,
		    twice->name);
	return twice == NULL;
}

static bool
open_file(struct scenario *s, char *wrong, size_t size)
{
	if (scenario_source(s, s->file, NULL) == -1) {
		snprintf(wrong, size, "%s: %s; say the path of a Lua file",
		    s->file, errno == EINVAL ? "it is a pipe or a device, and "
		    "no file" : strerror(errno));
		return false;
	}
	if (scenario_box_open(s) != 0) {
		snprintf(wrong, size, "%s: there is no memory left", s->file);
		return false;
	}
	lua_createtable(s->box.L, 16, 0);
	lua_setfield(s->box.L, LUA_REGISTRYINDEX, SCENARIO_FUNCTIONS);
	return read_points(s, wrong, size);
}

struct scenario *
scenario_open(const char *path, const struct scenario_choice *choices,
    size_t choices_n, char *wrong, size_t wrong_size)
{
	struct scenario *s = calloc(1, sizeof *s);

	if (s == NULL) {
		snprintf(wrong, wrong_size, "%s: there is no memory left",
		    path);
		return NULL;
	}
	s->file = arena_text(&s->arena, path);
	s->choices = choices;
	s->choices_n = choices_n;
	s->chosen = arena_get(&s->arena, choices_n + 1);
	if (!open_file(s, wrong, wrong_size)) {
		scenario_close(s);
		return NULL;
	}
	s->choices = NULL;
	s->choices_n = 0;
	return s;
}

void
scenario_close(struct scenario *s)
{
	size_t i;

	if (s == NULL)
		return;
	idem_lua_box_close(&s->box);
	for (i = 0; i < s->plans_n; i++)
		plan_free(s->plans[i]);
	arena_free(&s->arena);
	free(s);
}

size_t
scenario_points(const struct scenario *s)
{
	return s->plans_n;
}

const struct plan *
scenario_plan(const struct scenario *s, size_t point)
{
	return s->plans[point];
}

/* --- its own functions ---------------------------------------------------- */

struct asked {
	size_t point, i;
	int kind;		/* 1: sometimes, 2: custom */
};

/* The function's answer, and why. */
static int
ask(lua_State *L)
{
	const struct asked *a = lua_touserdata(L, 1);

	scenario_begin(L);
	lua_getfield(L, LUA_REGISTRYINDEX, SCENARIO_FUNCTIONS);
	lua_rawgeti(L, -1, (lua_Integer)a->point + 1);
	lua_rawgeti(L, -1, a->kind);
	lua_rawgeti(L, -1, (lua_Integer)a->i + 1);
	scenario_history_push(L);
	lua_call(L, 1, 2);
	return 2;
}

/* The answer and its reason are on the stack. */
static enum scenario_said
read_answer(lua_State *L, int kind, char *why, size_t size)
{
	bool nothing = kind == 2 && lua_isnil(L, 1);
	char shown[80];

	if (lua_isboolean(L, 1) || nothing || kind == 1) {
		if (nothing || lua_toboolean(L, 1))
			return SCENARIO_YES;
		snprintf(why, size, "%s", lua_type(L, 2) == LUA_TSTRING ?
		    lua_tostring(L, 2) : "");
		return SCENARIO_NO;
	}
	snprintf(why, size, "it gave %s; return true, or false and a "
	    "sentence", scenario_shown(L, 1, shown, sizeof shown));
	return SCENARIO_WRONG;
}

static enum scenario_said
say(struct scenario *s, const struct asked *a, const struct history *h,
    char *why, size_t size)
{
	enum scenario_said said = SCENARIO_WRONG;

	if (size > 0)
		why[0] = '\0';
	scenario_history_set(s, h);
	lua_pushcfunction(s->box.L, ask);
	lua_pushlightuserdata(s->box.L, (void *)(uintptr_t)a);
	if (scenario_call(s, 1, 2, why, size)) {
		said = read_answer(s->box.L, a->kind, why, size);
		lua_settop(s->box.L, 0);
	}
	scenario_history_set(s, NULL);
	lua_gc(s->box.L, LUA_GCCOLLECT, 0);
	return said;
}

enum scenario_said
scenario_sometimes(struct scenario *s, size_t point, size_t i,
    const struct history *h, char *why, size_t why_size)
{
	struct asked a = { point, i, 1 };

	if (point < s->plans_n && i < s->plans[point]->expect.sometimes_n)
		return say(s, &a, h, why, why_size);
	snprintf(why, why_size, "there is no such function");
	return SCENARIO_WRONG;
}

enum scenario_said
scenario_custom(struct scenario *s, size_t point, size_t i,
    const struct history *h, char *why, size_t why_size)
{
	struct asked a = { point, i, 2 };

	if (point < s->plans_n && i < s->plans[point]->expect.custom_n)
		return say(s, &a, h, why, why_size);
	snprintf(why, why_size, "there is no such function");
	return SCENARIO_WRONG;
}
