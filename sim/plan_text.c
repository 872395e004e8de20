/* SPDX-License-Identifier: ISC */
#include "plan_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void
plan_say(struct plan_text *o, const char *format, ...)
{
	va_list args;
	int n;

	if (o->len >= o->size)
		return;
	va_start(args, format);
	n = vsnprintf(o->at + o->len, o->size - o->len, format, args);
	va_end(args);
	if (n > 0)
		o->len += (size_t)n;
}

/* --- who ------------------------------------------------------------------ */

void
plan_say_gate(struct plan_text *o, int gate)
{
	if (gate == PLAN_ANY)
		plan_say(o, "*");
	else
		plan_say(o, "g%d", gate + 1);
}

void
plan_say_store(struct plan_text *o, int store)
{
	if (store >= 0 && (size_t)store < o->plan->stores_n)
		plan_say(o, "%s", o->plan->stores[store].name);
	else
		plan_say(o, "*");
}

void
plan_say_link(struct plan_text *o, int gate, int store)
{
	if (gate != PLAN_NONE) {
		plan_say_gate(o, gate);
		plan_say(o, "->");
		plan_say_store(o, store);
		return;
	}
	plan_say_store(o, store);
	plan_say(o, "->");
	plan_say_store(o, store >= 0 ? o->plan->stores[store].replica_of :
	    PLAN_ANY);
}

/* --- when ----------------------------------------------------------------- */

void
plan_say_nth(struct plan_text *o, unsigned n)
{
	const char *end = "th";

	if (n / 10 % 10 != 1)
		end = n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ?
		    "rd" : "th";
	plan_say(o, "%u%s", n, end);
}

static void
say_times(struct plan_text *o, unsigned nth)
{
	if (nth <= 1)
		return;
	plan_say(o, ", the ");
	plan_say_nth(o, nth);
	plan_say(o, " time");
}

/* gate: whose label need not be said. */
static void
say_trigger(struct plan_text *o, const struct plan_trigger *t, int gate)
{
	const char *what;
	size_t i;

	switch (t->kind) {
	case PLAN_AT:
		plan_say(o, "%" PRId64 " ms", t->at_ms);
		return;
	case PLAN_LABEL:
		plan_say(o, "%s", t->label);
		if (t->key != NULL)
			plan_say(o, " of %s", t->key);
		if (t->gate != gate && t->gate != PLAN_ANY) {
			plan_say(o, " on ");
			plan_say_gate(o, t->gate);
		}
		break;
	case PLAN_FRAME:
		what = t->script != NULL ? t->script : t->cmd != NULL ?
		    t->cmd : "a command";
		plan_say(o, "%s%s on ", t->reply ? "the reply to " : "", what);
		plan_say_link(o, t->gate, t->store);
		break;
	case PLAN_REPLY:
		plan_say(o, "an answer");
		if (t->class != NULL)
			plan_say(o, " of class %s", t->class);
		if (t->client != NULL)
			plan_say(o, " to %s", t->client);
		break;
	case PLAN_EFFECT:
		plan_say(o, "the effect");
		if (t->key != NULL)
			plan_say(o, " of %s", t->key);
		break;
	case PLAN_ALL:
	case PLAN_FIRST:
		plan_say(o, t->kind == PLAN_ALL ? "the last of (" :
		    "the first of (");
		for (i = 0; i < t->n; i++) {
			plan_say(o, "%s", i > 0 ? "; " : "");
			say_trigger(o, &t->of[i], gate);
		}
		plan_say(o, ")");
		return;
	}
	say_times(o, t->nth);
}

const char *
plan_trigger_text(const struct plan *p, const struct plan_trigger *t,
    char *out, size_t size)
{
	struct plan_text o = { p, out, size, 0 };

	say_trigger(&o, t, PLAN_NONE);
	return out;
}

const char *
plan_action_phrase(const struct plan *p, const struct plan_action *a,
    char *out, size_t size)
{
	struct plan_text o = { p, out, size, 0 };

	plan_say_action(&o, a);
	return out;
}

/* By its number: who carries it out may have made one of "*" out of it. */
static const struct plan_rule *
rule_of(const struct plan *p, const struct plan_action *a)
{
	size_t i, j;

	for (i = 0; i < p->rules_n; i++)
		for (j = 0; j < p->rules[i].n; j++)
			if (p->rules[i].actions[j].id == a->id)
				return &p->rules[i];
	return NULL;
}

const char *
plan_action_text(const struct plan *p, const struct plan_action *a, char *out,
    size_t size)
{
	const struct plan_rule *rule = rule_of(p, a);
	struct plan_text o = { p, out, size, 0 };

	plan_say_action(&o, a);
	if (rule == NULL) {
		plan_say(&o, " at some moment");
		return out;
	}
	if (a->after_ms > 0 && rule->when.kind == PLAN_AT)
		plan_say(&o, " at %" PRId64 " ms",
		    rule->when.at_ms + a->after_ms);
	else {
		if (a->after_ms > 0)
			plan_say(&o, " %" PRId64 " ms after ", a->after_ms);
		else
			plan_say(&o, " at ");
		say_trigger(&o, &rule->when, a->gate);
	}
	return out;
}
