/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lauxlib.h>
#include <lua.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NTH_MAX 1000000
#define DEPTH_MAX 8

/* Labels are those of lib/label.h, and named so that they can be suggested. */
static const char *
known_label(const struct scenario_at *at, const char *label)
{
	const char *const *all = plan_labels();
	char words[600], near[60];
	size_t len = 0, i;

	for (i = 0; all[i] != NULL; i++)
		if (strcmp(all[i], label) == 0)
			return label;
	for (i = 0; all[i] != NULL && len < sizeof words; i++)
		len += (size_t)snprintf(words + len, sizeof words - len,
		    "%s%s", i > 0 ? " " : "", all[i]);
	if (scenario_near(label, words, near, sizeof near) != NULL)
		scenario_wrong(at, NULL, "there is no label \"%.40s\"; did "
		    "you mean \"%s\"?", label, near);
	scenario_wrong(at, NULL, "there is no label \"%.40s\"; there are %s",
	    label, words);
}

/* Key and so on; without options the first of all. */
static unsigned
nth(const struct scenario_at *options, bool said)
{
	return !said ? 1 :
	    (unsigned)scenario_whole(options, "nth", 1, NTH_MAX, 1);
}

/* A name with a star for any: NULL. */
static const char *
or_any(const char *name)
{
	return strcmp(name, "*") == 0 ? NULL : name;
}

static void
read_label(const struct scenario_at *given, const struct scenario_word *word,
    struct plan_trigger *t)
{
	struct scenario_at options;
	bool said;

	t->gate = scenario_gate(given, NULL, scenario_arg_text(given, 1),
	    true);
	t->label = known_label(given, scenario_arg_text(given, 2));
	if (given->plan->handler.effect == PLAN_EXTERNAL &&
	    strncmp(t->label, "effect.", 7) == 0)
		scenario_wrong(given, NULL, "an external program comes to no "
		    "label; say \"program.spawned\" or \"program.exited\"");
	said = scenario_options(given, 3, word, &options);
	if (said)
		t->key = or_any(scenario_text(&options, "key", "*"));
	t->nth = nth(&options, said);
}

static void
read_frame(const struct scenario_at *given, const struct scenario_word *word,
    struct plan_trigger *t)
{
	struct scenario_at options;
	bool said;

	scenario_link(given, NULL, scenario_arg_text(given, 1), &t->gate,
	    &t->store);
	if (t->gate == PLAN_NONE)
		scenario_wrong(given, NULL, "a replica's link has no commands; "
		    "say one of a gate, as \"g1->a\"");
	scenario_past_links(given);
	said = scenario_options(given, 2, word, &options);
	if (said) {
		t->script = scenario_script(&options);
		t->cmd = scenario_text(&options, "cmd", NULL);
		t->reply = scenario_one_of(&options, "phase", "request reply",
		    0) == 1;
		if (t->script != NULL && t->cmd != NULL)
			scenario_wrong(&options, "cmd", "script says it "
			    "already; say one of them");
	}
	t->nth = nth(&options, said);
}

static void
read_reply(const struct scenario_at *given, const struct scenario_word *word,
    struct plan_trigger *t)
{
	struct scenario_at options;
	bool said;

	t->client = or_any(scenario_arg_text(given, 1));
	if (t->client != NULL)
		scenario_client(given, NULL, t->client);
	said = scenario_options(given, 2, word, &options);
	if (said && scenario_one_of(&options, "class",
	    "ok fail busy unknown info", -1) != -1)
		t->class = scenario_text(&options, "class", NULL);
	t->nth = nth(&options, said);
}

static void
read_effect(const struct scenario_at *given, const struct scenario_word *word,
    struct plan_trigger *t)
{
	struct scenario_at options;
	bool said;

	t->key = or_any(scenario_arg_text(given, 1));
	if (given->plan->handler.effect == PLAN_EXTERNAL)
		scenario_wrong(given, NULL, "effects of an external program "
		    "are not seen; say sim.label(\"*\", \"program.spawned\")");
	said = scenario_options(given, 2, word, &options);
	t->nth = nth(&options, said);
}

static struct plan_trigger trigger(const struct scenario_at *,
    const char *field, int depth);

static void
read_several(const struct scenario_at *given, struct plan_trigger *t,
    int depth)
{
	struct scenario_at list = *given;
	struct plan_trigger *of;
	char field[SCENARIO_NTH];
	size_t i;

	if (depth >= DEPTH_MAX)
		scenario_wrong(given, NULL, "triggers in triggers, %d deep; "
		    "say it with fewer", depth);
	lua_rawgeti(given->L, given->table, 1);
	list.table = lua_gettop(given->L);
	t->n = scenario_fields(&list, NULL);
	if (t->n == 0)
		scenario_wrong(given, NULL, "an empty list; say what is "
		    "waited for");
	of = scenario_get(given, t->n * sizeof *of);
	for (i = 0; i < t->n; i++) {
		scenario_nth(field, i + 1);
		scenario_has(&list, field);
		of[i] = trigger(&list, field, depth + 1);
		lua_settop(given->L, list.table);
	}
	t->of = of;
}

static struct plan_trigger
trigger(const struct scenario_at *at, const char *field, int depth)
{
	struct plan_trigger t = { .gate = PLAN_NONE, .store = PLAN_NONE,
	    .nth = 1 };
	const struct scenario_word *word;
	struct scenario_at given;
	int top = lua_gettop(at->L);

	given = scenario_given(at, field, SCENARIO_TRIGGER, "a trigger; say "
	    "sim.at, sim.label, sim.frame, sim.reply or sim.effect", &word);
	t.kind = (enum plan_trigger_kind)word->sub;
	switch (t.kind) {
	case PLAN_AT:
		t.at_ms = scenario_ms(&given, "[1]", 0);
		break;
	case PLAN_LABEL:
		read_label(&given, word, &t);
		break;
	case PLAN_FRAME:
		read_frame(&given, word, &t);
		break;
	case PLAN_REPLY:
		read_reply(&given, word, &t);
		break;
	case PLAN_EFFECT:
		read_effect(&given, word, &t);
		break;
	case PLAN_ALL:
	case PLAN_FIRST:
		read_several(&given, &t, depth);
		break;
	}
	lua_settop(at->L, top);
	return t;
}

struct plan_trigger
scenario_trigger(const struct scenario_at *at, const char *field)
{
	return trigger(at, field, 0);
}
