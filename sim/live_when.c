/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include <stdlib.h>
#include <string.h>

/* --- does it fit? --------------------------------------------------------- */

static bool
index_fits(int wanted, int is)
{
	return wanted == PLAN_ANY || wanted == is;
}

/* A trigger that names none wants any. */
static bool
text_fits(const char *wanted, const char *is)
{
	return wanted == NULL || (is != NULL && strcmp(wanted, is) == 0);
}

static bool
leaf_fits(const struct plan_trigger *t, const struct live_event *e)
{
	if (t->kind != e->kind)
		return false;
	switch (t->kind) {
	case PLAN_LABEL:
		return index_fits(t->gate, e->gate) &&
		    text_fits(t->label, e->label) && text_fits(t->key, e->key);
	case PLAN_FRAME:
		return index_fits(t->gate, e->gate) &&
		    index_fits(t->store, e->store) && t->reply == e->reply &&
		    text_fits(t->script, e->script) &&
		    (t->cmd == NULL || (e->cmd != NULL &&
		    strcasecmp(t->cmd, e->cmd) == 0)) &&
		    text_fits(t->key, e->key);
	case PLAN_REPLY:
		return text_fits(t->client, e->client) &&
		    text_fits(t->class, e->class);
	case PLAN_EFFECT:
		return text_fits(t->key, e->key);
	case PLAN_AT:
		return true;
	case PLAN_ALL:
	case PLAN_FIRST:
		return false;
	}
	abort();
}

/* Each leaf counts by itself; true once it is met. */
static bool
feed(struct live_wait *w, const struct live_event *e)
{
	const struct plan_trigger *t = w->trigger;
	size_t i, met = 0;

	if (w->met)
		return true;
	if (t->kind != PLAN_ALL && t->kind != PLAN_FIRST) {
		if (leaf_fits(t, e) && ++w->seen >= (t->nth > 0 ? t->nth : 1))
			w->met = true;
		return w->met;
	}
	for (i = 0; i < t->n; i++)
		met += feed(&w->of[i], e);
	w->met = t->kind == PLAN_ALL ? met == t->n : met > 0;
	return w->met;
}

/* --- rules ---------------------------------------------------------------- */

static void
wait_make(struct arena *a, struct live_wait *w, const struct plan_trigger *t)
{
	size_t i;

	w->trigger = t;
	if (t->n == 0)
		return;
	w->of = arena_get(a, t->n * sizeof *w->of);
	for (i = 0; i < t->n; i++)
		wait_make(a, &w->of[i], &t->of[i]);
}

void
live_rules_begin(struct live *l)
{
	size_t i;

	l->rules_n = l->plan->rules_n;
	l->rules = arena_get(&l->arena, (l->rules_n + 1) * sizeof *l->rules);
	for (i = 0; i < l->rules_n; i++) {
		l->rules[i].rule = &l->plan->rules[i];
		wait_make(&l->arena, &l->rules[i].wait,
		    &l->plan->rules[i].when);
	}
}

static void
fire(struct live *l, struct live_rule *r, const struct live_event *e)
{
	size_t i;

	r->fired = true;
	for (i = 0; i < r->rule->n; i++)
		live_due_add(l, &(struct live_due){
			.action = &r->rule->actions[i], .gate = e->gate,
			.stop = e->stop, .label = e->label,
			.restart_after_ms = -1,
			.at_ms = live_now_ms(l) + r->rule->actions[i].after_ms
		});
}

void
live_rules_feed(struct live *l, const struct live_event *e)
{
	size_t i;

	if (l->healed)
		return;
	for (i = 0; i < l->rules_n; i++)
		if (!l->rules[i].fired && feed(&l->rules[i].wait, e))
			fire(l, &l->rules[i], e);
}

/* --- time ----------------------------------------------------------------- */

/* The soonest time that is waited for in it; INT64_MAX: none. */
static int64_t
next_of(const struct live_wait *w)
{
	int64_t soonest = INT64_MAX, at;
	size_t i;

	if (w->met)
		return INT64_MAX;
	if (w->trigger->kind == PLAN_AT)
		return w->trigger->at_ms;
	for (i = 0; i < w->trigger->n; i++) {
		at = next_of(&w->of[i]);
		soonest = at < soonest ? at : soonest;
	}
	return soonest;
}

int64_t
live_rules_next_ms(const struct live *l)
{
	int64_t soonest = INT64_MAX, at;
	size_t i;

	for (i = 0; i < l->rules_n && !l->healed; i++) {
		at = l->rules[i].fired ? INT64_MAX :
		    next_of(&l->rules[i].wait);
		soonest = at < soonest ? at : soonest;
	}
	return soonest == INT64_MAX ? soonest : l->began_ms + soonest;
}

bool
live_rules_over(const struct live *l)
{
	return live_rules_next_ms(l) == INT64_MAX;
}

/* Of its times those that have come. */
static bool
pass(struct live_wait *w, int64_t at_ms)
{
	const struct plan_trigger *t = w->trigger;
	size_t i, met = 0;

	if (w->met || (t->kind != PLAN_AT && t->n == 0))
		return w->met;
	if (t->kind == PLAN_AT) {
		w->met = t->at_ms <= at_ms;
		return w->met;
	}
	for (i = 0; i < t->n; i++)
		met += pass(&w->of[i], at_ms);
	w->met = t->kind == PLAN_ALL ? met == t->n : met > 0;
	return w->met;
}

static void
times_turn(struct live *l)
{
	const struct live_event none = {
		.kind = PLAN_AT, .gate = PLAN_NONE, .store = PLAN_NONE
	};
	size_t i;

	if (live_rules_next_ms(l) > live_now_ms(l))
		return;
	for (i = 0; i < l->rules_n; i++)
		if (!l->rules[i].fired && pass(&l->rules[i].wait,
		    live_now_ms(l) - l->began_ms))
			fire(l, &l->rules[i], &none);
}

/* --- who waits at one ----------------------------------------------------- */

static int
gate_of(const struct live_cast *cast, const char *lane)
{
	size_t i;

	for (i = 0; i < cast->gates_n && lane != NULL; i++)
		if (strcmp(cast->gates[i].instance.name, lane) == 0)
			return (int)i;
	return PLAN_NONE;
}

static void
add_label(struct live *l, int gate, const char *label, const char *key,
    pid_t pid)
{
	struct history_event *e = history_add(l->h, HISTORY_LABEL,
	    live_now_ns(l), gate >= 0 ? l->cast->gates[gate].instance.name :
	    "-");

	e->label = history_text(l->h, label);
	e->k = key;
	e->pid = pid;
}

/* Also of what is looked for in the end; but not of another run's. */
static void
is_told(struct live *l, const struct stop *stop, const struct live_key *key)
{
	if (key != NULL)
		add_label(l, gate_of(l->cast, stop->lane), stop->label,
		    key->name, stop->pid);
}

/* It has its word in a turn of the run, where an action may take its time. */
static void
add_stop(struct live *l, const struct stop *stop, const struct live_key *key)
{
	int gate = gate_of(l->cast, stop->lane);
	struct live_stop *s = arena_more(&l->arena, &l->stopped, &l->stopped_n,
	    sizeof *s);

	*s = (struct live_stop){
		.id = stop->id, .gate = gate,
		.pid = stop->pid,
		.label = history_text(l->h, stop->label),
		.key = key != NULL ? key->name : stop->key == NULL ?
		    live_calls_key(l, gate) : NULL
	};
}

void
live_stop_reached(void *arg, const struct stop *stop)
{
	struct live_cast *cast = arg;
	struct live *l = cast->run;
	const struct live_key *key = l != NULL && stop->key != NULL ?
	    live_key_stored(l, stop->key, strlen(stop->key)) : NULL;

	if (l != NULL && stop->id == 0)
		is_told(l, stop, key);
	else if (l != NULL && !l->healed)
		add_stop(l, stop, key);
	else
		stops_go(cast->stops, stop->id);
}

static void
stop_turn(struct live *l, const struct live_stop *s)
{
	struct live_event e = {
		.kind = PLAN_LABEL, .gate = s->gate, .store = PLAN_NONE,
		.label = s->label, .key = s->key, .stop = s->id
	};

	add_label(l, s->gate, s->label, s->key, s->pid);
	if (s->gate >= 0 && strcmp(s->label, LIVE_REFUSED) == 0)
		l->cast->gates[s->gate].refused++;
	live_rules_feed(l, &e);
	if (strcmp(s->label, "effect.after") == 0) {
		e.kind = PLAN_EFFECT;
		live_rules_feed(l, &e);
	}
	live_due_turn(l);
	stops_go(l->cast->stops, s->id);
}

void
live_rules_turn(struct live *l)
{
	size_t i;

	times_turn(l);
	/* More may come while an action turns the loop. */
	for (i = 0; i < l->stopped_n; i++) {
		const struct live_stop s = l->stopped[i];

		stop_turn(l, &s);
	}
	l->stopped_n = 0;
}
