/* SPDX-License-Identifier: ISC */
#include "scenario_action.h"

#include <lua.h>

#include <stdio.h>
#include <string.h>

#define JUMP_MAX (3650 * 24 * 3600 * INT64_C(1000))

/* --- names ---------------------------------------------------------------- */

static const char *
argument(const struct scenario_doing *g, int n)
{
	return scenario_arg_text(&g->at, n);
}

static void
store(const struct scenario_doing *g)
{
	g->a->store = scenario_store(&g->at, NULL, argument(g, 1));
}

/* "g1", "*", and of processes "g1.keeper". */
static void
gate(const struct scenario_doing *g, bool parts)
{
	static const struct { const char *name; enum plan_part part; } all[] = {
		{ ".lobby", PLAN_LOBBY }, { ".keeper", PLAN_KEEPER },
		{ ".program", PLAN_PROGRAM }
	};
	const char *name = argument(g, 1), *dot = strchr(name, '.');
	char whole[20];
	size_t i;

	if (dot == NULL || !parts) {
		g->a->gate = scenario_gate(&g->at, NULL, name, true);
		return;
	}
	for (i = 0; i < sizeof all / sizeof *all; i++)
		if (strcmp(dot, all[i].name) == 0)
			g->a->part = all[i].part;
	if (g->a->part == PLAN_WHOLE)
		scenario_wrong(&g->at, NULL, "\"%.40s\": no part of a gate; "
		    "say g1.lobby, g1.keeper or g1.program", name);
	snprintf(whole, sizeof whole, "%.*s", (int)(dot - name), name);
	g->a->gate = scenario_gate(&g->at, NULL, whole, true);
}

/* A clock is a gate's or a store's. */
static void
whose_clock(const struct scenario_doing *g)
{
	const char *name = argument(g, 1);
	size_t i;

	for (i = 0; i < g->at.plan->stores_n; i++)
		if (strcmp(g->at.plan->stores[i].name, name) == 0) {
			g->a->store = (int)i;
			return;
		}
	g->a->gate = scenario_gate(&g->at, NULL, name, true);
}

/* --- options -------------------------------------------------------------- */

/* false: what it did before is over. */
static void
or_over(const struct scenario_doing *g)
{
	g->a->ends = !scenario_flag(&g->at, "[2]", true);
}

/* --- kinds ---------------------------------------------------------------- */

static void
read_lag(const struct scenario_doing *g)
{
	if (g->at.plan->stores[g->a->store].replica_of == PLAN_NONE)
		scenario_wrong(&g->at, NULL, "%s follows nobody; say a "
		    "replica", g->at.plan->stores[g->a->store].name);
	lua_rawgeti(g->at.L, g->at.table, 2);
	g->a->freeze = lua_type(g->at.L, -1) == LUA_TSTRING &&
	    strcmp(lua_tostring(g->at.L, -1), "freeze") == 0;
	if (!g->a->freeze)
		g->a->ms = scenario_top_ms(&g->at, NULL);
	lua_pop(g->at.L, 1);
}

static void
read_failover(const struct scenario_doing *g)
{
	const struct plan_store *stores = g->at.plan->stores;
	struct scenario_at o;

	g->a->to = scenario_store(&g->at, NULL, argument(g, 2));
	if (stores[g->a->to].replica_of != g->a->store)
		scenario_wrong(&g->at, NULL, "%s is no replica of %s; say %s = "
		    "{ replica_of = \"%s\" } in topology.redis",
		    stores[g->a->to].name, stores[g->a->store].name,
		    stores[g->a->to].name, stores[g->a->store].name);
	if (scenario_options(&g->at, 3, g->word, &o))
		g->a->lose = (unsigned)scenario_whole(&o, "lose", 1, 1000, 0);
}

static void
read_rejoin(const struct scenario_doing *g)
{
	struct scenario_at o;
	const char *of;

	scenario_options(&g->at, 2, g->word, &o);
	scenario_one_of(&o, "as", "replica_of", 0);
	of = scenario_text(&o, "of", NULL);
	if (of == NULL)
		scenario_wrong(&o, "of", "it is missing; say of whom it is a "
		    "replica now");
	g->a->to = scenario_store(&o, "of", of);
	if (g->a->to == g->a->store)
		scenario_wrong(&o, "of", "it cannot follow itself; say another "
		    "store");
}

static void
read_restart(const struct scenario_doing *g)
{
	struct scenario_at o;

	if (!scenario_options(&g->at, 2, g->word, &o))
		return;
	g->a->empty = scenario_flag(&o, "empty", false);
	g->a->older = scenario_flag(&o, "older", false);
	if (g->a->empty && g->a->older)
		scenario_wrong(&o, "older", "it cannot be empty too; say one "
		    "of them");
}

static void
read_store(const struct scenario_doing *g)
{
	store(g);
	switch ((int)g->a->kind) {
	case PLAN_STORE_RESTART:
		read_restart(g);
		break;
	case PLAN_STORE_SLOW:
		scenario_past_links(&g->at);
		g->a->ms = scenario_ms(&g->at, "[2]", 0);
		break;
	case PLAN_STORE_ERROR:
		scenario_past_links(&g->at);
		scenario_action_error(g);
		scenario_action_messages(g, 3, 0);
		break;
	case PLAN_STORE_OOM:
		or_over(g);
		break;
	case PLAN_STORE_EVICT:
	case PLAN_STORE_EXPIRE:
		g->a->key = argument(g, 2);
		break;
	case PLAN_STORE_LAG:
		read_lag(g);
		break;
	case PLAN_STORE_FAILOVER:
		read_failover(g);
		break;
	case PLAN_STORE_REJOIN:
		read_rejoin(g);
		break;
	}
}

static void
read_clock(const struct scenario_doing *g)
{
	whose_clock(g);
	if (g->a->kind == PLAN_CLOCK_RATE) {
		g->a->rate = scenario_real(&g->at, "[2]", 0.01, 100, 1);
		return;
	}
	g->a->ms = scenario_whole(&g->at, "[2]", -JUMP_MAX, JUMP_MAX, 0);
	if (g->a->ms == 0)
		scenario_wrong(&g->at, NULL, "a jump of 0 ms is none; say how "
		    "far, as 60000 or -3600000");
}

static void
read_operator(const struct scenario_doing *g)
{
	struct scenario_at o;
	const char *name = NULL;

	g->a->key = argument(g, 1);
	scenario_one_of(&g->at, "[2]", "done not-done forget", 0);
	g->a->word = argument(g, 2);
	if (scenario_options(&g->at, 3, g->word, &o))
		name = scenario_text(&o, "gate", NULL);
	if (name != NULL)
		g->a->gate = scenario_gate(&o, "gate", name, false);
}

static void
read_client(const struct scenario_doing *g)
{
	g->a->client = argument(g, 1);
	scenario_client(&g->at, NULL, g->a->client);
}

/* The disk of an instance is its ledger's folder. */
static void
read_disk(const struct scenario_doing *g)
{
	const struct plan_gates *gates = &g->at.plan->gates;
	size_t i;

	gate(g, false);
	for (i = 0; i < gates->n; i++)
		if (gates->ledger[i] != NULL &&
		    (g->a->gate == PLAN_ANY || g->a->gate == (int)i))
			break;
	if (i == gates->n)
		scenario_wrong(&g->at, NULL, "no ledger, no disk; say ledger = "
		    "\"shared\" in topology.gates");
	if (g->a->kind != PLAN_DISK_POWER_LOSS)
		or_over(g);
}

static void
read_proc(const struct scenario_doing *g)
{
	gate(g, true);
	if (g->a->kind == PLAN_PROC_RESTART && g->a->part != PLAN_WHOLE)
		scenario_wrong(&g->at, NULL, "a part is started again by its "
		    "instance; say \"g1\"");
	if (g->a->kind != PLAN_PROC_FAIL)
		return;
	if (g->a->part != PLAN_WHOLE)
		scenario_wrong(&g->at, NULL, "who fails is who waits at the "
		    "label; say the gate alone, as \"g1\"");
	g->a->word = argument(g, 2);
	if (plan_errno(g->a->word) == 0)
		scenario_wrong(&g->at, NULL, "\"%.40s\" is no error's word; "
		    "say \"EAGAIN\", \"ENOSPC\" or another one of "
		    "idemsim(1)", g->a->word);
}

struct plan_action
scenario_action(const struct scenario_at *at, const char *field)
{
	struct plan_action a = { .gate = PLAN_NONE, .store = PLAN_NONE,
	    .to = PLAN_NONE, .rate = 1 };
	struct scenario_doing g = { .a = &a };
	int top = lua_gettop(at->L);

	g.at = scenario_given(at, field, SCENARIO_ACTION, "an action; say "
	    "sim.proc.kill(\"g1\"), sim.net.drop(\"g1->a\"), "
	    "sim.store.kill(\"a\"), ...", &g.word);
	a.kind = (enum plan_action_kind)g.word->sub;
	a.line = g.at.place.line;
	if (a.kind <= PLAN_PROC_FAIL)
		read_proc(&g);
	else if (a.kind <= PLAN_NET_HEAL)
		scenario_action_net(&g);
	else if (a.kind <= PLAN_STORE_REJOIN)
		read_store(&g);
	else if (a.kind <= PLAN_DISK_BUSY)
		read_disk(&g);
	else if (a.kind <= PLAN_CLOCK_RATE)
		read_clock(&g);
	else if (a.kind <= PLAN_CLIENT_ABORT)
		read_client(&g);
	else
		read_operator(&g);
	lua_settop(at->L, top);
	return a;
}
