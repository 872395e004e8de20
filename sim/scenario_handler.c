/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lauxlib.h>
#include <lua.h>

#include <stdio.h>
#include <string.h>

#define BYTES_MAX (INT64_C(1) << 30)
#define SAID_MAX 512		/* of an answer without more bytes or output */
#define BUSINESS_MAX 100	/* a word of the program's journal */

/*
 * Nobody can ask Lua while a program runs, so a function is asked once, with
 * marks in the place of what only the run knows.
 */
static void
call_output(const struct scenario_at *at)
{
	static const char *const names[] = { "effect_id", "key", "attempt",
	    "try", "nonce", NULL };
	size_t i;

	lua_createtable(at->L, 0, 5);
	for (i = 0; names[i] != NULL; i++) {
		lua_pushfstring(at->L, "{%s}", names[i]);
		lua_setfield(at->L, -2, names[i]);
	}
	lua_call(at->L, 1, 1);
	if (lua_type(at->L, -1) != LUA_TSTRING)
		scenario_not(at, "output", "a text; return one, as \"receipt "
		    "\" .. r.effect_id");
}

static const char *
output(const struct scenario_at *at)
{
	const char *text;

	if (!scenario_has(at, "output"))
		return NULL;
	if (lua_isfunction(at->L, -1))
		call_output(at);
	else if (lua_type(at->L, -1) != LUA_TSTRING)
		scenario_not(at, "output", "a text, or a function that "
		    "returns one");
	text = scenario_top_text(at, "output");
	lua_pop(at->L, 1);
	return text;
}

/* Nobody tells it anything. */
static void
check_external(const struct scenario_at *at)
{
	static const char *const ours[] = { "service", "output",
	    "output_bytes", "business_id", "crash", "partial_output",
	    "promises_length", "exit", "status" };
	size_t i;

	for (i = 0; i < sizeof ours / sizeof *ours; i++)
		if (scenario_has(at, ours[i]))
			scenario_wrong(at, ours[i], "an external program does "
			    "what it does; leave it out");
}

/* It would not be cut. */
static void
check_partial(const struct scenario_at *at, const struct plan_handler *h)
{
	int64_t least = SAID_MAX + (h->output != NULL ?
	    (int64_t)strlen(h->output) : 0);

	if (h->partial_output >= least && h->partial_output >= h->output_bytes)
		scenario_wrong(at, "partial_output", "the answer is not so "
		    "long; say more output_bytes");
}

static void
check(const struct scenario_at *at, const struct plan_handler *h)
{
	if (h->effect == PLAN_EXTERNAL)
		check_external(at);
	check_partial(at, h);
	if (h->business_id != NULL && strlen(h->business_id) > BUSINESS_MAX)
		scenario_wrong(at, "business_id", "a name of %d bytes; say %d "
		    "at most", (int)strlen(h->business_id), BUSINESS_MAX);
	if (h->effect == PLAN_EXTERNAL &&
	    (h->command == NULL || *h->command != '/'))
		scenario_wrong(at, "command", "an external program's path is "
		    "missing; say command = \"/usr/lib/cgi-bin/order.cgi\"");
	if (h->effect != PLAN_EXTERNAL && h->command != NULL)
		scenario_wrong(at, "command", "it is of effect = \"external\" "
		    "only; say that, or leave it out");
	if (strcmp(h->crash, "output") == 0 && h->partial_output < 0)
		scenario_wrong(at, "crash", "say after how many bytes: "
		    "partial_output = 100");
}

static void
read_handler(const struct scenario_at *at, struct plan_handler *h)
{
	static const char *const crashes[] = { "", "before", "after",
	    "output" };

	h->effect = (enum plan_effect)scenario_one_of(at, "effect",
	    "append none external", PLAN_APPEND);
	h->command = scenario_text(at, "command", NULL);
	h->service_ms = scenario_dist(at, "service", 0);
	h->output = output(at);
	h->output_bytes = scenario_whole(at, "output_bytes", 0, BYTES_MAX, 0);
	h->business_id = scenario_text(at, "business_id", NULL);
	h->crash = crashes[scenario_one_of(at, "crash",
	    "none before after output", 0)];
	h->partial_output = scenario_whole(at, "partial_output", 0, BYTES_MAX,
	    -1);
	h->promises_length = scenario_flag(at, "promises_length", false);
	h->exit = (int)scenario_whole(at, "exit", 0, 255, 0);
	h->http_status = (int)scenario_whole(at, "status", 200, 599, 0);
	check(at, h);
}

void
scenario_handler(const struct scenario_at *at)
{
	struct plan_handler *h = &at->plan->handler;
	const struct scenario_word *word;
	struct scenario_at given, options;
	int top = lua_gettop(at->L);

	h->crash = "";
	h->partial_output = -1;
	if (!scenario_has(at, "handler"))
		return;
	given = scenario_given(at, "handler", SCENARIO_HANDLER, "a program; "
	    "say sim.handler { effect = \"append\", service = 80 }", &word);
	scenario_options(&given, 1, word, &options);
	read_handler(&options, h);
	lua_settop(at->L, top);
}
