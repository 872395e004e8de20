/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lua.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT 700

static const struct idem_lua_limits limits = {
	.memory = SCENARIO_MEMORY, .list_max = 1000000, .text_max = 16u << 20,
	.lines_from = 4u << 20, .what = "a scenario",
};

struct scenario *
scenario_of(lua_State *L)
{
	return (struct scenario *)idem_lua_box_of(L);
}

struct idem_lua_place
scenario_here(lua_State *L)
{
	return idem_lua_box_here(L);
}

void
scenario_raise(lua_State *L, struct idem_lua_place place, const char *format,
    ...)
{
	char text[TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	lua_pushstring(L, text);
	idem_lua_box_raise(L, place);
}

bool
scenario_call(struct scenario *s, int args, int results, char *wrong,
    size_t wrong_size)
{
	static const struct idem_lua_allowance each = {
		.instructions = SCENARIO_STEPS, .steps = 1e9, .ms = 10000,
	};

	return idem_lua_box_call(&s->box, &each, args, results, wrong,
	    wrong_size);
}

static int
set_up(lua_State *L)
{
	scenario_sandbox(L);
	scenario_history_open(L);
	return 0;
}

int
scenario_box_open(struct scenario *s)
{
	if (idem_lua_box_open(&s->box, &limits, s->file) != 0)
		return -1;
	lua_pushcfunction(s->box.L, set_up);
	return lua_pcall(s->box.L, 0, 0, 0) == LUA_OK ? 0 : -1;
}
