/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lauxlib.h>
#include <lua.h>

#include <stdio.h>
#include <string.h>

#define FIELDS "holds relaxed bounds eventually sometimes violates blames fired"

/*
 * What is said at one level: of all test points, or of one value of a
 * parameter, which wins over it.  Two parameters are no matter of who wins:
 * they are read in the order in which the file has them, and may not say two
 * things of one invariant.
 */
struct level {
	struct scenario_at at;
	struct plan_expect *e;
	bool held[PLAN_INVARIANTS], let_go[PLAN_INVARIANTS];	/* here */
	const char *param;	/* NULL: of all */
	const char *said_by[PLAN_INVARIANTS];	/* the last parameter */
	struct scenario_functions f;
	bool *controls;		/* violates is said, at whatever level */
};

static void
invariant_words(char *out, size_t size)
{
	size_t i, len = 0;

	for (i = 0; i < PLAN_INVARIANTS && len < size; i++)
		len += (size_t)snprintf(out + len, size - len, "%s%s",
		    i > 0 ? " " : "",
		    plan_invariant_text((enum plan_invariant)i));
}

static enum plan_invariant
invariant(const struct scenario_at *at, const char *field, const char *name)
{
	char words[600], near[60];
	enum plan_invariant i;

	if (plan_invariant_find(name, &i))
		return i;
	invariant_words(words, sizeof words);
	if (scenario_near(name, words, near, sizeof near) != NULL)
		scenario_wrong(at, field, "there is no invariant \"%.60s\"; "
		    "did you mean \"%s\"?", name, near);
	scenario_wrong(at, field, "there is no invariant \"%.60s\"; there are "
	    "%s, and those of sim.invariant", name, words);
}

/* --- invariants ----------------------------------------------------------- */

/* It holds, is relaxed for that reason, or else is violated. */
static void
say(struct level *l, const struct scenario_at *at, const char *field,
    enum plan_invariant i, bool holds, const char *relaxed)
{
	bool violates = !holds && relaxed == NULL;

	if (l->said_by[i] != NULL && l->said_by[i] != l->param &&
	    (l->e->holds[i] != holds || l->e->violates[i] != violates))
		scenario_wrong(at, field, "\"%s\": %s says otherwise of it; "
		    "say it of one of the two", plan_invariant_text(i),
		    l->said_by[i]);
	l->said_by[i] = l->param;
	if (holds)
		l->held[i] = true;
	else
		l->let_go[i] = true;
	l->e->holds[i] = holds;
	l->e->violates[i] = violates;
	l->e->relaxed[i] = relaxed;
}

/* The one of the list, by its name or as sim.invariant made it; popped. */
static void
hold_one(struct level *l, const struct scenario_at *list, const char *field,
    bool live)
{
	lua_State *L = list->L;
	const struct scenario_made *made = scenario_made(L, -1);
	enum plan_invariant i;

	if (made != NULL && made->word->kind == SCENARIO_INVARIANT) {
		scenario_function_custom(&l->at, &l->f);
		return;
	}
	if (lua_type(L, -1) != LUA_TSTRING)
		scenario_not(list, field, "an invariant's name; say "
		    "\"at_most_once\", or what sim.invariant gave");
	lua_getfield(L, LUA_REGISTRYINDEX, SCENARIO_OWN);
	lua_pushvalue(L, -2);
	if (lua_rawget(L, -2) != LUA_TNIL) {
		scenario_function_custom(&l->at, &l->f);
		lua_pop(L, 2);
		return;
	}
	lua_pop(L, 2);
	i = invariant(list, field, lua_tostring(L, -1));
	if (live && i != PLAN_RESOLVES && i != PLAN_NEW_KEYS_SUCCEED)
		scenario_wrong(list, field, "\"%s\" is no matter of the end; "
		    "put it into holds", plan_invariant_text(i));
	if (l->held[i])
		scenario_wrong(list, field, "\"%s\" is said twice; say it "
		    "once", plan_invariant_text(i));
	say(l, list, field, i, true, NULL);
	lua_pop(L, 1);
}

static void
holds(struct level *l, const char *what)
{
	struct scenario_at list;
	char field[SCENARIO_NTH];
	size_t n, i;

	if (!scenario_has(&l->at, what))
		return;
	list = scenario_inside(&l->at, what);
	n = scenario_fields(&list, NULL);
	for (i = 1; i <= n; i++) {
		scenario_nth(field, i);
		scenario_has(&list, field);
		hold_one(l, &list, field, *what == 'e');
	}
	lua_pop(list.L, 1);
}

static void
violates(struct level *l)
{
	struct scenario_at list;
	enum plan_invariant i;
	char field[SCENARIO_NTH];
	size_t n, j;

	if (!scenario_has(&l->at, "violates"))
		return;
	*l->controls = true;
	list = scenario_inside(&l->at, "violates");
	n = scenario_fields(&list, NULL);
	for (j = 1; j <= n; j++) {
		scenario_nth(field, j);
		i = invariant(&list, field, scenario_text(&list, field, ""));
		if (l->held[i])
			scenario_wrong(&list, field, "\"%s\" cannot hold and "
			    "be violated; say one of them",
			    plan_invariant_text(i));
		say(l, &list, field, i, false, NULL);
	}
	lua_pop(list.L, 1);
}

static void
relax(struct level *l, const struct scenario_at *table,
    const struct plan_pair *pair)
{
	enum plan_invariant i = invariant(table, pair->name, pair->name);

	if (l->held[i])
		scenario_wrong(table, pair->name, "it cannot hold and be "
		    "relaxed; say one of them");
	if (l->let_go[i])
		scenario_wrong(table, pair->name, "it cannot be violated and "
		    "be relaxed; say one of them");
	if (*pair->value == '\0')
		scenario_wrong(table, pair->name, "its reason is missing; say "
		    "%s = \"why\"", pair->name);
	say(l, table, pair->name, i, false, pair->value);
}

static void
relaxed(struct level *l)
{
	struct scenario_at table;
	struct plan_pair *all;
	size_t n, i;

	if (!scenario_has(&l->at, "relaxed"))
		return;
	table = scenario_inside(&l->at, "relaxed");
	all = scenario_pairs(&table, &n);
	for (i = 0; i < n; i++)
		relax(l, &table, &all[i]);
	lua_pop(table.L, 1);
}

/* --- a level -------------------------------------------------------------- */

static void
read_level(struct level *l)
{
	int fired;

	memset(l->held, 0, sizeof l->held);
	memset(l->let_go, 0, sizeof l->let_go);
	holds(l, "holds");
	holds(l, "eventually");
	violates(l);
	relaxed(l);
	/* Numbers that nobody checks are none, so their invariant holds. */
	if (scenario_expect_bounds(&l->at, l->e) &&
	    !l->held[PLAN_STORM_BOUNDED] && !l->let_go[PLAN_STORM_BOUNDED])
		say(l, &l->at, "bounds", PLAN_STORM_BOUNDED, true, NULL);
	scenario_function_sometimes(&l->at, &l->f);
	if (scenario_one_of(&l->at, "blames", "client", -1) == 0)
		l->e->blames = "client";
	fired = scenario_one_of(&l->at, "fired", "all any none", -1);
	if (fired != -1) {
		l->e->fired_any = fired == 1;
		l->e->fired_none = fired == 2;
	}
}

static void
check_param(const struct scenario_at *at, const char *name)
{
	const struct scenario *s = scenario_of(at->L);
	size_t i;

	for (i = 0; i < s->params_n; i++)
		if (strcmp(s->params[i].name, name) == 0)
			return;
	scenario_wrong(at, name, "there is no such parameter; say "
	    "sim.param(\"%.40s\", ...) before", name);
}

static size_t
find_value(const struct scenario_at *at, const struct scenario_param *p,
    const char *value)
{
	char all[300];
	size_t i, len = 0;

	for (i = 0; i < p->n; i++)
		if (strcmp(p->values[i], value) == 0)
			return i;
	if (!p->listed)
		return i;	/* it may have any other one */
	all[0] = '\0';
	for (i = 0; i < p->n && len < sizeof all; i++)
		len += (size_t)snprintf(all + len, sizeof all - len, " %s",
		    p->values[i]);
	scenario_wrong(at, value, "%s has no such value; there are%s", p->name,
	    all);
}

/*
 * One value's: it counts if the parameter has it now, and is read in any case,
 * so that what is wrong in it is found whatever is chosen.
 */
static void
read_value(struct level *l, const struct scenario_at *values,
    const struct scenario_param *p)
{
	lua_State *L = values->L;
	const struct scenario_at all = l->at;
	struct level level = *l, *used = l;
	struct plan_expect unused;
	const char *text;
	char value[80];
	int top = lua_gettop(L);
	bool chosen;

	lua_pushvalue(L, -2);
	text = luaL_tolstring(L, -1, NULL);
	snprintf(value, sizeof value, "%.70s", text);
	chosen = find_value(values, p, text) == p->at;
	lua_settop(L, top);
	if (!chosen) {
		memset(&unused, 0, sizeof unused);
		memset(level.said_by, 0, sizeof level.said_by);
		level.e = &unused;
		level.f = (struct scenario_functions){ 0 };
		used = &level;
	}
	if (used != l) {
		lua_createtable(L, 2, 0);
		lua_createtable(L, 0, 0);
		lua_rawseti(L, -2, 1);
		lua_createtable(L, 0, 0);
		lua_rawseti(L, -2, 2);
		level.f.table = lua_gettop(L);
		lua_pushvalue(L, top);
	}
	used->param = p->name;
	used->at = scenario_inside(values, value);
	scenario_fields(&used->at, FIELDS);
	read_level(used);
	l->param = NULL;
	l->at = all;
	lua_settop(L, top);
}

static void
by_param(struct level *l)
{
	const struct scenario_at at = l->at;
	struct scenario *s = scenario_of(at.L);
	lua_State *L = at.L;
	struct scenario_at params, values;
	size_t i;

	if (!scenario_has(&at, "by_param"))
		return;
	params = scenario_inside(&at, "by_param");
	for (lua_pushnil(L); lua_next(L, params.table) != 0; lua_pop(L, 1)) {
		if (lua_type(L, -2) != LUA_TSTRING)
			scenario_wrong(&params, NULL, "say { name = { value = "
			    "{ ... } } }");
		check_param(&params, lua_tostring(L, -2));
	}
	for (i = 0; i < s->params_n; i++) {
		if (!scenario_has(&params, s->params[i].name))
			continue;
		values = scenario_inside(&params, s->params[i].name);
		for (lua_pushnil(L); lua_next(L, values.table) != 0;
		    lua_pop(L, 1))
			read_value(l, &values, &s->params[i]);
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
}

/* Somebody must be able to fail. */
static void
check(const struct scenario_at *at, const struct plan_expect *e)
{
	size_t i;

	for (i = 0; i < PLAN_INVARIANTS; i++)
		if (e->holds[i] || e->violates[i])
			return;
	if (e->custom_n == 0)
		scenario_wrong(at, "expect", "nothing is demanded; say holds = "
		    "{ \"at_most_once\", \"same_answer\" }");
}

/* A table of two for the functions is on top, and stays there. */
void
scenario_expect(const struct scenario_at *at)
{
	bool controls = false;
	struct level l = { .e = &at->plan->expect,
	    .f.table = lua_gettop(at->L), .controls = &controls };

	if (!scenario_has(at, "expect"))
		scenario_wrong(at, "expect", "it is missing; say expect = { "
		    "holds = { \"at_most_once\", \"same_answer\" } }");
	l.at = scenario_inside(at, "expect");
	scenario_fields(&l.at, FIELDS " by_param");
	read_level(&l);
	by_param(&l);
	if (l.e->blames != NULL && !controls)
		scenario_wrong(&l.at, "blames", "nothing is to be violated, so "
		    "nobody is to blame; say violates = { ... }, or leave it "
		    "out");
	l.e->sometimes = l.f.sometimes;
	l.e->sometimes_n = l.f.sometimes_n;
	l.e->custom = l.f.custom;
	l.e->custom_n = l.f.custom_n;
	check(at, l.e);
	lua_pop(at->L, 1);
}
