/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include "history_private.h"

#include <lauxlib.h>
#include <lua.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct history_member *
member(const char *name)
{
	static const struct { const char *name, *is; } also[] = {
		{ "token", "tok" }, { "label", "at" }, { "key", "k" }
	};
	const struct history_member *m;
	size_t i;

	for (i = 0; i < sizeof also / sizeof *also; i++)
		if (strcmp(also[i].name, name) == 0)
			name = also[i].is;
	for (m = history_event_members(); m->name != NULL; m++)
		if (strcmp(m->name, name) == 0)
			return m;
	return NULL;
}

void
scenario_event_unknown(lua_State *L, const char *name)
{
	char words[600] = "kind class how p i t ms token label key", near[60];
	const struct history_member *m;
	size_t len = strlen(words);

	for (m = history_event_members(); m->name != NULL &&
	    len < sizeof words; m++)
		len += (size_t)snprintf(words + len, sizeof words - len,
		    " %s", m->name);
	if (scenario_near(name, words, near, sizeof near) != NULL)
		luaL_error(L, "an event has no `%s`; did you mean `%s`?", name,
		    near);
	luaL_error(L, "an event has no `%s`; it has %s", name, words);
	abort();	/* not reached */
}

static void
push_member(lua_State *L, const struct history_member *m,
    const struct history_event *e)
{
	int64_t n;

	switch (m->kind) {
	case HISTORY_M_TEXT:
		lua_pushstring(L, history_member_text(m, e));
		break;
	case HISTORY_M_FLAG:
		lua_pushboolean(L, history_member_get(m, e) != 0);
		break;
	case HISTORY_M_INT:
	case HISTORY_M_UNSIGNED:
	case HISTORY_M_SIZE:
	case HISTORY_M_LONG:
		n = history_member_get(m, e);
		if (n == m->none)
			lua_pushnil(L);
		else
			lua_pushinteger(L, n);
		break;
	case HISTORY_M_BOUND:
		lua_pushnil(L);
		break;
	}
}

/* Members that are no plain ones; false: it is none of them. */
static bool
push_own(lua_State *L, const char *name, const struct history_event *e)
{
	bool ret = e->kind == HISTORY_RET;

	if (strcmp(name, "kind") == 0 || strcmp(name, "e") == 0)
		lua_pushstring(L, history_kind_text(e->kind));
	else if (strcmp(name, "p") == 0)
		lua_pushstring(L, e->p);
	else if (strcmp(name, "i") == 0)
		lua_pushinteger(L, e->i);
	else if (strcmp(name, "t") == 0)
		lua_pushinteger(L, e->t_ns);
	else if (strcmp(name, "ms") == 0)
		lua_pushnumber(L, (double)e->t_ns / 1e6);
	else if (strcmp(name, "class") == 0)
		lua_pushstring(L, ret ? outcome_text(e->class) : NULL);
	else if (strcmp(name, "how") == 0)
		lua_pushstring(L, ret ? outcome_end_text(e->how) : NULL);
	else
		return false;
	return true;
}

void
scenario_event_push(lua_State *L, const char *name,
    const struct history_event *e)
{
	const struct history_member *m;

	if (push_own(L, name, e))
		return;
	m = member(name);
	if (m == NULL)
		scenario_event_unknown(L, name);
	push_member(L, m, e);
}

bool
scenario_event_has(const char *name)
{
	static const char *const own[] = { "kind", "e", "p", "i", "t", "ms",
	    "class", "how" };
	size_t i;

	for (i = 0; i < sizeof own / sizeof *own; i++)
		if (strcmp(own[i], name) == 0)
			return true;
	return member(name) != NULL;
}
