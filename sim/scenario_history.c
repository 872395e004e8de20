/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lauxlib.h>
#include <lua.h>

#include <string.h>

#define HISTORY "scenario history"	/* metatables */
#define EVENT "scenario event"
#define CALL_STEPS 50	/* of one call, whatever it looks at */

/*
 * What a file's own functions see: events by the names that a history's file
 * has for their members.  Whatever they keep of it is of no use once the call
 * is over.
 */
struct seen {
	uint64_t number;	/* of the call that it is of */
	size_t at;		/* events: index */
};

static const struct history *
history(lua_State *L, const struct seen *seen)
{
	struct scenario *s = scenario_of(L);

	if (s->history == NULL || s->history_number != seen->number)
		luaL_error(L, "this history is over; a function sees the one "
		    "that it is given");
	return s->history;
}

static const struct history *
history_arg(lua_State *L)
{
	return history(L, luaL_checkudata(L, 1, HISTORY));
}

static void
push_seen(lua_State *L, const char *meta, size_t at)
{
	struct seen *seen = lua_newuserdatauv(L, sizeof *seen, 0);

	seen->number = scenario_of(L)->history_number;
	seen->at = at;
	luaL_setmetatable(L, meta);
}

/* Work of C counts as well. */
static void
charge(lua_State *L, size_t events)
{
	scenario_of(L)->box.left -= (int64_t)events + CALL_STEPS;
}

/* --- events --------------------------------------------------------------- */

/* event.name */
static int
event_field(lua_State *L)
{
	const struct seen *seen = luaL_checkudata(L, 1, EVENT);
	const struct history *h = history(L, seen);

	scenario_event_push(L, luaL_checkstring(L, 2), &h->events[seen->at]);
	return 1;
}

static int
event_set(lua_State *L)
{
	return luaL_error(L, "an event cannot be changed");
}

/* --- what functions ask --------------------------------------------------- */

/* h:count { kind = "reply", class = "ok" } */
static int
count(lua_State *L)
{
	const struct history *h = history_arg(L);
	struct scenario_wanted w;
	lua_Integer n = 0;
	size_t i;

	scenario_wanted_read(L, 2, &w);
	charge(L, h->n);
	for (i = 0; i < h->n; i++)
		n += scenario_wanted_fits(L, &w, &h->events[i]);
	lua_pushinteger(L, n);
	return 1;
}

/* The iterator: upvalues are the history, what is wanted, and where it is. */
static int
next_event(lua_State *L)
{
	const struct history *h = history(L, luaL_checkudata(L,
	    lua_upvalueindex(1), HISTORY));
	size_t i = (size_t)lua_tointeger(L, lua_upvalueindex(3)), from = i;
	struct scenario_wanted w;

	scenario_wanted_read(L, lua_upvalueindex(2), &w);
	while (i < h->n && !scenario_wanted_fits(L, &w, &h->events[i]))
		i++;
	charge(L, i - from);
	lua_pushinteger(L, (lua_Integer)i + 1);
	lua_replace(L, lua_upvalueindex(3));
	if (i >= h->n)
		return 0;
	push_seen(L, EVENT, i);
	return 1;
}

/* for e in h:each { kind = "effect" } do ... end */
static int
each(lua_State *L)
{
	struct scenario_wanted w;

	history_arg(L);
	if (lua_isnoneornil(L, 2)) {
		lua_settop(L, 1);
		lua_createtable(L, 0, 0);
	}
	scenario_wanted_read(L, 2, &w);	/* what is wrong is told at once */
	lua_settop(L, 2);
	lua_pushinteger(L, 0);
	lua_pushcclosure(L, next_event, 3);
	return 1;
}

/*
 * h:overlap(key, "g1", "g2"): was there a moment at which both had a try of it?
 * The simulator's own look at the end does not count.
 */
static int
overlap(lua_State *L)
{
	const struct history *h = history_arg(L);
	const char *key = luaL_checkstring(L, 2);
	const char *gates[] = { luaL_checkstring(L, 3),
	    luaL_checkstring(L, 4) };
	size_t open[2] = { 0, 0 }, i, j;
	const struct history_event *e;

	for (i = 0; i < h->n; i++) {
		e = &h->events[i];
		if ((e->kind != HISTORY_INV && e->kind != HISTORY_RET) ||
		    e->audit || e->k == NULL || strcmp(e->k, key) != 0 ||
		    e->to == NULL)
			continue;
		for (j = 0; j < 2; j++) {
			if (strcmp(e->to, gates[j]) != 0)
				continue;
			if (e->kind == HISTORY_INV)
				open[j]++;
			else if (open[j] > 0)
				open[j]--;
		}
		if (open[0] > 0 && open[1] > 0)
			break;
	}
	charge(L, i);
	lua_pushboolean(L, i < h->n);
	return 1;
}

/* h:effects(key): those that were committed, in their order. */
static int
effects(lua_State *L)
{
	const struct history *h = history_arg(L);
	const char *key = luaL_checkstring(L, 2);
	const struct history_event *e;
	lua_Integer n = 0;
	size_t i;

	charge(L, h->n);
	lua_createtable(L, 0, 0);
	for (i = 0; i < h->n; i++) {
		e = &h->events[i];
		if (e->kind != HISTORY_EFFECT || e->k == NULL ||
		    strcmp(e->k, key) != 0 || e->ph == NULL ||
		    strcmp(e->ph, "commit") != 0)
			continue;
		push_seen(L, EVENT, i);
		lua_rawseti(L, -2, ++n);
	}
	return 1;
}

/* h.name */
static int
method(lua_State *L)
{
	static const struct { const char *name; lua_CFunction is; } all[] = {
		{ "count", count }, { "each", each }, { "overlap", overlap },
		{ "effects", effects }
	};
	const char *name = luaL_checkstring(L, 2);
	char near[60];
	size_t i;

	for (i = 0; i < sizeof all / sizeof *all; i++)
		if (strcmp(all[i].name, name) == 0) {
			lua_pushcfunction(L, all[i].is);
			return 1;
		}
	if (scenario_near(name, "count each overlap effects", near,
	    sizeof near) != NULL)
		return luaL_error(L, "a history has no `%s`; did you mean "
		    "h:%s?", name, near);
	return luaL_error(L, "a history has no `%s`; it has h:count { ... }, "
	    "h:each { ... }, h:overlap(key, gate, gate) and h:effects(key)",
	    name);
}

static void
metatable(lua_State *L, const char *name, lua_CFunction index)
{
	luaL_newmetatable(L, name);
	lua_pushcfunction(L, index);
	lua_setfield(L, -2, "__index");
	lua_pushcfunction(L, event_set);
	lua_setfield(L, -2, "__newindex");
	lua_pop(L, 1);
}

void
scenario_history_open(lua_State *L)
{
	metatable(L, HISTORY, method);
	metatable(L, EVENT, event_field);
}

void
scenario_history_set(struct scenario *s, const struct history *h)
{
	size_t i;

	s->history = h;
	s->history_number++;
	s->log_says_source = false;
	for (i = 0; h != NULL && i < h->n && !s->log_says_source; i++)
		s->log_says_source = h->events[i].kind == HISTORY_LOG &&
		    h->events[i].source != NULL;
}

void
scenario_history_push(lua_State *L)
{
	push_seen(L, HISTORY, 0);
}
