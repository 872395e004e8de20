/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lauxlib.h>
#include <lua.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define POLICIES "noeviction allkeys-lru allkeys-lfu allkeys-random " \
    "volatile-lru volatile-lfu volatile-random volatile-ttl"

/* --- redis ---------------------------------------------------------------- */

/* g1, c1 and h1 are gates, clients and programs. */
static bool
is_store_name(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len <= 20 && islower((unsigned char)name[0]) &&
	    strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == len &&
	    !(strchr("gch", name[0]) != NULL &&
	    isdigit((unsigned char)name[1]));
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const struct plan_store *)a)->name,
	    ((const struct plan_store *)b)->name);
}

static struct plan_store *
name_stores(const struct scenario_at *redis)
{
	lua_State *L = redis->L;
	struct plan_store *all = NULL, *one;
	size_t n = 0;

	for (lua_pushnil(L); lua_next(L, redis->table) != 0; lua_pop(L, 1)) {
		if (lua_type(L, -2) != LUA_TSTRING)
			scenario_wrong(redis, NULL, "a store without a name; "
			    "say redis = { a = {} }");
		one = scenario_more(redis, &all, &n, sizeof *all);
		lua_pushvalue(L, -2);
		one->name = scenario_top_text(redis, NULL);
		lua_pop(L, 1);
		if (!is_store_name(one->name))
			scenario_wrong(redis, one->name, "not a store's name; "
			    "say a, b, ... (small letters and digits, and not "
			    "g1, c1, h1)");
	}
	if (n > PLAN_STORES_MAX)
		scenario_wrong(redis, NULL, "%zu stores; say at most %d", n,
		    PLAN_STORES_MAX);
	if (n > 0)
		qsort(all, n, sizeof *all, by_name);
	redis->plan->stores = all;
	redis->plan->stores_n = n;
	return all;
}

static const char *
memory(const struct scenario_at *at)
{
	const char *text = scenario_text(at, "maxmemory", NULL);
	size_t n = text != NULL ? strspn(text, "0123456789") : 0;

	if (text != NULL && (n == 0 || (strcmp(text + n, "kb") != 0 &&
	    strcmp(text + n, "mb") != 0 && strcmp(text + n, "gb") != 0)))
		scenario_wrong(at, "maxmemory", "\"%.40s\" has no unit of "
		    "redis.conf; say \"4mb\"", text);
	return text;
}

/* A name and its value are a line of redis.conf. */
static void
redis_conf(const struct scenario_at *at, struct plan_store *s)
{
	struct scenario_at more;
	struct plan_pair *all;
	size_t i;

	if (!scenario_has(at, "config"))
		return;
	more = scenario_inside(at, "config");
	s->config = all = scenario_pairs(&more, &s->configs);
	for (i = 0; i < s->configs; i++) {
		if (strspn(all[i].name, "abcdefghijklmnopqrstuvwxyz0123456789-"
		    ) != strlen(all[i].name))
			scenario_wrong(&more, all[i].name, "no word of "
			    "redis.conf; say it as [\"lua-time-limit\"]");
		if (strpbrk(all[i].value, "\r\n") != NULL)
			scenario_wrong(&more, all[i].name, "a line's end in "
			    "it; redis.conf has one line for it: take it out");
	}
	lua_pop(at->L, 1);
}

static void
read_store(const struct scenario_at *at, struct plan_store *s)
{
	const char *master;

	scenario_fields(at, "persistence replica_of sentinel maxmemory "
	    "maxmemory_policy config");
	s->persistence = (enum plan_persistence)scenario_one_of(at,
	    "persistence", "none rdb aof_everysec aof_always",
	    PLAN_PERSIST_NONE);
	master = scenario_text(at, "replica_of", NULL);
	s->replica_of = master != NULL ?
	    scenario_store(at, "replica_of", master) : PLAN_NONE;
	if (s->replica_of != PLAN_NONE &&
	    &at->plan->stores[s->replica_of] == s)
		scenario_wrong(at, "replica_of", "it is its own replica; say "
		    "another store");
	s->sentinel = scenario_flag(at, "sentinel", false);
	s->maxmemory = memory(at);
	if (scenario_one_of(at, "maxmemory_policy", POLICIES, -1) != -1)
		s->maxmemory_policy = scenario_text(at, "maxmemory_policy",
		    NULL);
	redis_conf(at, s);
}

static void
redis(const struct scenario_at *at)
{
	struct scenario_at table, one;
	struct plan_store *all;
	size_t i;

	if (!scenario_has(at, "redis"))
		return;
	table = scenario_inside(at, "redis");
	all = name_stores(&table);
	for (i = 0; i < at->plan->stores_n; i++) {
		scenario_has(&table, all[i].name);
		one = scenario_inside(&table, all[i].name);
		read_store(&one, &all[i]);
		lua_pop(at->L, 1);
	}
	for (i = 0; i < at->plan->stores_n; i++)
		if (all[i].replica_of != PLAN_NONE &&
		    all[all[i].replica_of].replica_of != PLAN_NONE)
			scenario_wrong(&table, all[i].name, "the replica of a "
			    "replica; say the master's name");
	lua_pop(at->L, 1);
}

/* --- gates ---------------------------------------------------------------- */

/* Each gate's own, by its name. */
static void
ledgers(const struct scenario_at *at, struct plan_gates *g)
{
	struct scenario_at table = scenario_inside(at, "ledger");
	lua_State *L = at->L;
	int gate;

	for (lua_pushnil(L); lua_next(L, table.table) != 0; lua_pop(L, 1)) {
		if (lua_type(L, -2) != LUA_TSTRING)
			scenario_wrong(&table, NULL, "say { g1 = \"host1\", "
			    "g2 = \"host2\" }");
		gate = scenario_gate(&table, NULL, lua_tostring(L, -2), false);
		g->ledger[gate] = scenario_top_text(&table,
		    lua_tostring(L, -2));
	}
}

static void
ledger(const struct scenario_at *at, struct plan_gates *g)
{
	const char *one = "shared";
	size_t i;

	if (!scenario_has(at, "ledger")) {
		if (g->arbiter != PLAN_LEDGER)
			return;
		if (g->n > 1)
			scenario_wrong(at, "ledger", "whose is it? say ledger "
			    "= \"shared\", or { g1 = \"host1\", g2 = "
			    "\"host2\" }");
		g->ledger[0] = one;
		return;
	}
	if (lua_istable(at->L, -1))
		ledgers(at, g);
	else {
		if (lua_type(at->L, -1) != LUA_TSTRING ||
		    strcmp(lua_tostring(at->L, -1), one) != 0)
			scenario_not(at, "ledger", "\"shared\", nor a table; "
			    "say { g1 = \"host1\", g2 = \"host2\" }");
		for (i = 0; i < g->n; i++)
			g->ledger[i] = one;
	}
	lua_pop(at->L, 1);
	for (i = 0; i < g->n && g->arbiter == PLAN_LEDGER; i++)
		if (g->ledger[i] == NULL)
			scenario_wrong(at, "ledger", "g%zu has none, and it is "
			    "the arbiter; say g%zu = \"host%zu\"", i + 1,
			    i + 1, i + 1);
}

static void
arbiter(const struct scenario_at *at, struct plan_gates *g)
{
	int which = scenario_one_of(at, "arbiter", "ledger token redis", -1);
	const char *store;

	if (which == -1)
		scenario_wrong(at, "arbiter", "it is missing; say arbiter = "
		    "\"ledger\", \"token\" or \"redis\"");
	g->arbiter = (enum plan_arbiter)which;
	store = scenario_text(at, "store", NULL);
	g->store = store != NULL ? scenario_store(at, "store", store) :
	    PLAN_NONE;
	if (store == NULL && g->arbiter != PLAN_LEDGER)
		scenario_wrong(at, "store", "it is the arbiter, and is "
		    "missing; say redis = { a = {} } and store = \"a\"");
	if (store != NULL && at->plan->stores[g->store].replica_of !=
	    PLAN_NONE)
		scenario_wrong(at, "store", "%s is a replica; say its "
		    "master's name", store);
	g->cached = store != NULL && g->arbiter == PLAN_LEDGER;
}

/* Sentinels tell gates where their store is, and nobody else. */
static void
check_sentinels(const struct scenario_at *at)
{
	const struct plan *p = at->plan;
	size_t i;

	for (i = 0; i < p->stores_n; i++)
		if (p->stores[i].sentinel && (int)i != p->gates.store)
			scenario_wrong(at, "store", "%s has sentinels, and "
			    "gates do not come to it; say store = \"%s\", or "
			    "leave sentinel out", p->stores[i].name,
			    p->stores[i].name);
}

static void
check_gates(const struct scenario_at *at, const struct plan_gates *g)
{
	const char *outage = plan_config_value(at->plan, "on_outage");
	size_t i;

	for (i = 0; i < g->n; i++)
		if (outage != NULL && strcmp(outage, "database") == 0 &&
		    g->ledger[i] == NULL)
			scenario_wrong(at, "ledger", "on_outage = \"database\" "
			    "needs one for g%zu; say ledger = \"shared\", or a "
			    "table", i + 1);
}

static void
gates(const struct scenario_at *at)
{
	struct plan_gates *g = &at->plan->gates;
	struct scenario_at table;

	if (!scenario_has(at, "gates"))
		scenario_wrong(at, "gates", "it is missing; say gates = { n = "
		    "2, arbiter = \"ledger\", ledger = \"shared\" }");
	table = scenario_inside(at, "gates");
	scenario_fields(&table, "n arbiter store ledger config workers front");
	g->n = (size_t)scenario_whole(&table, "n", 1, PLAN_GATES_MAX, 1);
	arbiter(&table, g);
	check_sentinels(&table);
	ledger(&table, g);
	g->workers = (size_t)scenario_whole(&table, "workers", 1, 8, 1);
	g->lighttpd = scenario_one_of(&table, "front", "lighttpd", -1) == 0;
	scenario_config(&table);
	check_gates(&table, g);
	lua_pop(at->L, 1);
}

void
scenario_topology(const struct scenario_at *at)
{
	struct scenario_at table;

	if (!scenario_has(at, "topology"))
		scenario_wrong(at, "topology", "it is missing; say topology = "
		    "{ gates = { n = 2, arbiter = \"ledger\", ledger = "
		    "\"shared\" } }");
	table = scenario_inside(at, "topology");
	scenario_fields(&table, "redis gates");
	redis(&table);
	gates(&table);
	lua_pop(at->L, 1);
}
