/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lauxlib.h>
#include <lua.h>

#include <stdio.h>
#include <string.h>
#include <strings.h>

static void
want_kind(lua_State *L, struct scenario_wanted *w, const char *word)
{
	char words[300] = "reply", near[60];
	size_t i, len = strlen(words);

	w->any_kind = false;
	w->kind = HISTORY_RET;
	w->replies = strcmp(word, "reply") == 0;
	if (w->replies)
		return;
	for (i = 0; i < HISTORY_KINDS; i++) {
		w->kind = (enum history_kind)i;
		if (strcmp(history_kind_text(w->kind), word) == 0)
			return;
		if (len < sizeof words)
			len += (size_t)snprintf(words + len,
			    sizeof words - len, " %s",
			    history_kind_text(w->kind));
	}
	if (scenario_near(word, words, near, sizeof near) != NULL)
		luaL_error(L, "there is no kind \"%s\"; did you mean \"%s\"?",
		    word, near);
	luaL_error(L, "there is no kind \"%s\"; there are %s", word, words);
}

static void
want_value(lua_State *L, struct scenario_wanted *w, const char *name)
{
	struct scenario_condition *c = &w->all[w->n];
	enum outcome class;

	if (w->n == SCENARIO_CONDITIONS_MAX)
		luaL_error(L, "more than %d fields; ask for fewer",
		    SCENARIO_CONDITIONS_MAX);
	c->name = name;
	c->text = NULL;
	if (lua_type(L, -1) == LUA_TSTRING)
		c->text = lua_tostring(L, -1);
	else if (lua_type(L, -1) == LUA_TNUMBER)
		c->number = lua_tonumber(L, -1);
	else if (lua_isboolean(L, -1))
		c->number = lua_toboolean(L, -1);
	else
		luaL_error(L, "%s: a %s is not a text, number or flag", name,
		    luaL_typename(L, -1));
	if (strcmp(name, "class") == 0 &&
	    (c->text == NULL || !outcome_find(c->text, &class)))
		luaL_error(L, "class: not one of ok, fail, busy, unknown, "
		    "info");
	if (strcmp(name, "source") == 0 && c->text != NULL &&
	    strcmp(c->text, "replay") == 0)
		w->replayed = true;	/* of whatever source */
	else
		w->n++;
}

/*
 * The table at an index.  Where an answer came from is told by the instance's
 * log: answers by their source are counted by its lines, but where a history
 * has it of the answers alone.
 */
void
scenario_wanted_read(lua_State *L, int table, struct scenario_wanted *w)
{
	bool source = false, class = false;
	const char *name;

	luaL_checktype(L, table, LUA_TTABLE);
	memset(w, 0, sizeof *w);
	w->any_kind = true;
	for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
		if (lua_type(L, -2) != LUA_TSTRING)
			luaL_error(L, "a value without a name; say { kind = "
			    "\"reply\", class = \"ok\" }");
		name = lua_tostring(L, -2);
		source = source || strcmp(name, "source") == 0;
		class = class || strcmp(name, "class") == 0;
		if (strcmp(name, "kind") == 0 || strcmp(name, "e") == 0)
			want_kind(L, w, luaL_checkstring(L, -1));
		else if (!scenario_event_has(name))
			scenario_event_unknown(L, name);
		else
			want_value(L, w, name);
	}
	if (w->replies && source && !class &&
	    scenario_of(L)->log_says_source)
		w->kind = HISTORY_LOG;
}

/* The field's value, on top, which is popped. */
static bool
is_equal(lua_State *L, const struct scenario_condition *c)
{
	bool equal = false, code = strcmp(c->name, "code") == 0;
	const char *text;

	if (lua_isboolean(L, -1))
		equal = c->text != NULL ? strcmp(c->text,
		    lua_toboolean(L, -1) ? "true" : "false") == 0 :
		    (lua_toboolean(L, -1) != 0) == (c->number > 0);
	else if (c->text == NULL && lua_isnumber(L, -1))
		equal = lua_tonumber(L, -1) >= c->number &&
		    lua_tonumber(L, -1) <= c->number;
	else if (c->text != NULL && (text = lua_tostring(L, -1)) != NULL)
		equal = (code ? strcasecmp(text, c->text) :
		    strcmp(text, c->text)) == 0;
	lua_pop(L, 1);
	return equal;
}

static bool
is_replay(const struct history_event *e)
{
	return e->source != NULL && strcmp(e->source, "fresh") != 0 &&
	    strcmp(e->source, "none") != 0 &&
	    (e->mark == NULL || strcmp(e->mark, "replayed") == 0);
}

bool
scenario_wanted_fits(lua_State *L, const struct scenario_wanted *w,
    const struct history_event *e)
{
	size_t i;

	if ((!w->any_kind && e->kind != w->kind) ||
	    (w->replayed && !is_replay(e)))
		return false;
	for (i = 0; i < w->n; i++) {
		scenario_event_push(L, w->all[i].name, e);
		if (!is_equal(L, &w->all[i]))
			return false;
	}
	return true;
}
