/* SPDX-License-Identifier: ISC */
#include "explain_private.h"

#define WORDS 300

static void
say_action(struct explain_page *p, const struct plan_action *a)
{
	char text[WORDS];

	explain_say(p, "%s", plan_action_phrase(p->plan, a, text,
	    sizeof text));
}

static void
say_label(struct explain_page *p, const struct plan_trigger *t)
{
	if (t->gate == PLAN_ANY)
		explain_say(p, "When any instance comes to %s", t->label);
	else
		explain_say(p, "When g%d comes to %s", t->gate + 1, t->label);
	if (t->key != NULL)
		explain_say(p, " of %s", t->key);
	if (t->nth > 1)
		explain_say(p, " for time %u", t->nth);
}

static void
say_trigger(struct explain_page *p, const struct plan_trigger *t)
{
	char text[WORDS];

	plan_trigger_text(p->plan, t, text, sizeof text);
	switch (t->kind) {
	case PLAN_AT:
		explain_say(p, "At %s ms", explain_number(t->at_ms));
		break;
	case PLAN_LABEL:
		say_label(p, t);
		break;
	case PLAN_FRAME:
		explain_say(p, "When a link carries %s", text);
		break;
	case PLAN_REPLY:
		explain_say(p, "When there comes %s", text);
		break;
	case PLAN_EFFECT:
		explain_say(p, "With %s", text);
		break;
	case PLAN_ALL:
	case PLAN_FIRST:
		explain_say(p, "With %s", text);
		break;
	}
}

/* One action stands beside its trigger; several below it. */
static void
say_rule(struct explain_page *p, const struct plan_rule *r)
{
	size_t i;

	say_trigger(p, &r->when);
	explain_say(p, ":");
	if (r->n == 1 && r->actions[0].after_ms == 0) {
		explain_say(p, " ");
		say_action(p, &r->actions[0]);
		explain_say(p, ".");
		explain_break(p, 2, 0);
		return;
	}
	explain_break(p, 2, 0);
	for (i = 0; i < r->n; i++) {
		if (r->actions[i].after_ms > 0)
			explain_say(p, "%s ms later ",
			    explain_number(r->actions[i].after_ms));
		say_action(p, &r->actions[i]);
		explain_say(p, i + 1 < r->n ? ";" : ".");
		explain_break(p, 6, 0);
	}
}

static void
say_maybe(struct explain_page *p, const struct plan_maybe *m)
{
	explain_say(p, "By chance, at most %s: ", m->times == 1 ? "once" :
	    m->times == 2 ? "twice" : explain_number(m->times));
	say_action(p, &m->action);
	if (m->to_ms > 0)
		explain_say(p, ", between %s and %s ms",
		    explain_number(m->from_ms), explain_number(m->to_ms));
	if (m->restart_after_ms >= 0)
		explain_say(p, ", and start it again %s ms later",
		    explain_number(m->restart_after_ms));
	explain_say(p, ".");
	explain_break(p, 2, 0);
}

static void
say_end(struct explain_page *p)
{
	const struct plan *plan = p->plan;

	if (plan->rules_n > 0)
		explain_say(p, plan->expect.fired_none ? "Nobody counts which "
		    "of it happens. " : plan->expect.fired_any ? "One of it "
		    "must be seen to happen. " : plan->maybes_n > 0 ?
		    "All of it must be seen to happen, but for what is left "
		    "to chance. " : "All of it must be seen to happen. ");
	if (plan->heal_ms >= 0)
		explain_say(p, "At %s ms it all ends, and everything is up "
		    "again", explain_number(plan->heal_ms));
	else
		explain_say(p, "It all ends when the last request has");
	explain_say(p, "; then everybody has %s ms to come to rest.",
	    explain_number(plan->quiet_ms));
	explain_break(p, 2, 0);
}

void
explain_faults(struct explain_page *p)
{
	size_t i;

	if (p->plan->actions_n == 0) {
		explain_say(p, "Nothing. When the last request has ended "
		    "everybody has %s ms to come to rest.",
		    explain_number(p->plan->quiet_ms));
		explain_break(p, 2, 0);
		return;
	}
	for (i = 0; i < p->plan->rules_n; i++)
		say_rule(p, &p->plan->rules[i]);
	for (i = 0; i < p->plan->maybes_n; i++)
		say_maybe(p, &p->plan->maybes[i]);
	say_end(p);
}
