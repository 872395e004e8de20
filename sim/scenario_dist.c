/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lua.h>

#define CHOICES_MAX 1000	/* that a program is told of */

static void
read_choice(const struct scenario_at *given, struct plan_dist *d)
{
	struct scenario_at list = *given;
	char field[SCENARIO_NTH];
	double *of;
	size_t i;

	lua_rawgeti(given->L, given->table, 1);
	list.table = lua_gettop(given->L);
	d->n = scenario_fields(&list, NULL);
	if (d->n == 0)
		scenario_wrong(&list, NULL, "an empty list; say { 100, 700 }");
	if (d->n > CHOICES_MAX)
		scenario_wrong(&list, NULL, "%d are too many to choose among; "
		    "say %d at most", (int)d->n, CHOICES_MAX);
	of = scenario_get(&list, d->n * sizeof *of);
	for (i = 0; i < d->n; i++) {
		scenario_nth(field, i + 1);
		of[i] = scenario_real(&list, field, 0, 1e9, 0);
	}
	d->of = of;
}

static void
read_exp(const struct scenario_at *given, const struct scenario_word *word,
    struct plan_dist *d)
{
	struct scenario_at options;

	if (!scenario_options(given, 2, word, &options))
		return;
	d->min = scenario_real(&options, "min", 0, 1e9, 0);
	d->max = scenario_real(&options, "max", 0, 1e9, 0);
	if (d->max > 0 && d->max < d->min)
		scenario_wrong(&options, "max", "it is less than min; say the "
		    "smaller one as min");
}

struct plan_dist
scenario_dist(const struct scenario_at *at, const char *field,
    double otherwise)
{
	const struct scenario_word *word;
	struct plan_dist d = { .kind = PLAN_CONST, .a = otherwise };
	struct scenario_at given;
	int top = lua_gettop(at->L);

	if (!scenario_has(at, field))
		return d;
	if (scenario_made(at->L, -1) == NULL) {
		d.a = (double)scenario_top_ms(at, field);
		lua_settop(at->L, top);
		return d;
	}
	given = scenario_given(at, field, SCENARIO_DIST, "a time; say 80, or "
	    "sim.const, sim.uniform, sim.exp or sim.choice", &word);
	d.kind = (enum plan_dist_kind)word->sub;
	if (d.kind == PLAN_CHOICE)
		read_choice(&given, &d);
	else
		d.a = scenario_real(&given, "[1]", 0, 1e9, 0);
	if (d.kind == PLAN_UNIFORM) {
		d.b = scenario_real(&given, "[2]", 0, 1e9, 0);
		if (d.b < d.a)
			scenario_wrong(&given, NULL, "%g is more than %g; say "
			    "the smaller one first", d.a, d.b);
	}
	if (d.kind == PLAN_EXP)
		read_exp(&given, word, &d);
	lua_settop(at->L, top);
	return d;
}
