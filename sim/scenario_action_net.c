/* SPDX-License-Identifier: ISC */
#include "scenario_action.h"

#include <lua.h>

#include <string.h>

#define MANY 1000000

static void
link_of(const struct scenario_doing *g)
{
	scenario_link(&g->at, NULL, scenario_arg_text(&g->at, 1), &g->a->gate,
	    &g->a->store);
}

void
scenario_action_error(const struct scenario_doing *g)
{
	const char *word = scenario_arg_text(&g->at, 2);

	if (*word == '\0' || strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") !=
	    strlen(word) || strlen(word) > 30)
		scenario_wrong(&g->at, NULL, "\"%.40s\" is no error's word; "
		    "say \"OOM\", \"READONLY\", \"LOADING\", ... (as "
		    "Redis does)", word);
	g->a->word = word;
}

/* A replica's link has bytes. */
static void
whole_link(const struct scenario_at *o)
{
	static const char *const words[] = { "script", "cmd", "nth", "times",
		"after_bytes", NULL };
	size_t i;

	for (i = 0; words[i] != NULL; i++)
		if (scenario_has(o, words[i]))
			scenario_wrong(o, words[i], "a replica's link has no "
			    "commands; leave it out");
}

void
scenario_action_messages(const struct scenario_doing *g, int argument_n,
    unsigned times)
{
	struct scenario_at o;
	int dir;

	g->a->nth = 1;
	g->a->times = times;
	if (!scenario_options(&g->at, argument_n, g->word, &o))
		return;
	g->a->script = scenario_script(&o);
	g->a->cmd = scenario_text(&o, "cmd", NULL);
	if (g->a->script != NULL && g->a->cmd != NULL)
		scenario_wrong(&o, "cmd", "script says it already; say one of "
		    "them");
	dir = scenario_one_of(&o, "dir", "request reply both", 2);
	g->a->requests = dir == 0;
	g->a->replies = dir == 1;
	g->a->nth = (unsigned)scenario_whole(&o, "nth", 1, MANY, 1);
	if (scenario_has(&o, "times") && lua_type(o.L, -1) == LUA_TSTRING) {
		scenario_one_of(&o, "times", "all", 0);
		g->a->times = 0;
	} else
		g->a->times = (unsigned)scenario_whole(&o, "times", 1, MANY,
		    times);
	if (scenario_has(&o, "after_bytes"))
		g->a->bytes = (size_t)scenario_whole(&o, "after_bytes", 0,
		    MANY, 0);
	if (g->a->gate == PLAN_NONE && g->a->kind != PLAN_STORE_ERROR)
		whole_link(&o);
}

/*
 * A replica's link has no messages that could be told apart: it is held or cut
 * one way or both, and slow or away as a whole.
 */
static void
check_replica(const struct scenario_doing *g, int options)
{
	struct scenario_at o;

	if (g->a->gate != PLAN_NONE)
		return;
	if (g->a->kind == PLAN_NET_DROP || g->a->kind == PLAN_NET_SLICE)
		scenario_wrong(&g->at, NULL, "a replica's link has no "
		    "messages; say sim.net.hold, oneway, delay, reset or "
		    "refuse");
	if ((g->a->kind == PLAN_NET_DELAY || g->a->kind == PLAN_NET_RESET) &&
	    scenario_options(&g->at, options, g->word, &o))
		scenario_wrong(&o, NULL, "of a replica's link all is meant; "
		    "leave { ... } out");
}

/* Without a word on which all connections end now, however many fit. */
static void
check_reset(const struct scenario_doing *g)
{
	if (g->a->script == NULL && g->a->cmd == NULL && g->a->bytes == 0 &&
	    g->a->requests == g->a->replies &&
	    (g->a->nth != 1 || g->a->times != 1))
		scenario_wrong(&g->at, NULL, "of which messages? say dir, "
		    "script, cmd or after_bytes besides nth and times, or "
		    "leave them out: all connections end now");
}

void
scenario_action_net(const struct scenario_doing *g)
{
	link_of(g);
	scenario_past_links(&g->at);
	switch ((int)g->a->kind) {
	case PLAN_NET_DROP:
	case PLAN_NET_HOLD:
		scenario_action_messages(g, 2, 1);
		check_replica(g, 2);
		break;
	case PLAN_NET_RESET:
		scenario_action_messages(g, 2, 1);
		check_replica(g, 2);
		check_reset(g);
		break;
	case PLAN_NET_DELAY:
		g->a->ms = scenario_ms(&g->at, "[2]", 0);
		scenario_action_messages(g, 3, 0);
		check_replica(g, 3);
		break;
	case PLAN_NET_ONEWAY:
		g->a->replies = scenario_one_of(&g->at, "[2]",
		    "request reply", 0) == 1;
		g->a->requests = !g->a->replies;
		break;
	case PLAN_NET_SLICE:
		g->a->bytes = (size_t)scenario_whole(&g->at, "[2]", 1, MANY,
		    1);
		scenario_action_messages(g, 3, 0);
		check_replica(g, 3);
		break;
	case PLAN_NET_ERROR:
		if (g->a->gate == PLAN_NONE)
			scenario_wrong(&g->at, NULL, "a replica's link has no "
			    "commands to be answered; say one of a gate");
		scenario_action_error(g);
		scenario_action_messages(g, 3, 1);
		break;
	}
}
