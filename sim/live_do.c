/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include <stdlib.h>
#include <string.h>

#define AGAIN_MS 100	/* an operator who was refused tries again */
#define TOLD_MAX 8	/* of one fault's strikes in a history */

/* --- what has been done --------------------------------------------------- */

static bool
is_gate(const struct live *l, const char *p)
{
	size_t i;

	for (i = 0; i < l->cast->gates_n; i++)
		if (strcmp(l->cast->gates[i].instance.name, p) == 0)
			return true;
	return false;
}

static struct history_event *
tell(struct live *l, enum history_kind kind, const struct plan_action *action,
    const char *p, const char *label)
{
	struct history_event *e = history_add(l->h, kind, live_now_ns(l), p);
	char words[160];

	e->gate = is_gate(l, p) ? e->p : NULL;
	e->label = history_text(l->h, label);
	e->what = history_text(l->h, plan_action_text(l->plan, action, words,
	    sizeof words));
	return e;
}

void
live_fired(struct live *l, const struct plan_action *action, const char *p,
    const char *label)
{
	bool heals = plan_action_heals(action);
	struct history_event *e;
	unsigned *fired;

	if (!heals && action->id < l->h->head.faults_n) {
		fired = &l->h->head.faults[action->id].fired;
		if (++*fired > TOLD_MAX)
			return;
	}
	e = tell(l, heals ? HISTORY_HEAL : HISTORY_FAULT, action, p, label);
	e->fault = (int)action->id;
	if (action->kind == PLAN_OPERATOR_RESOLVE) {
		e->k = history_text(l->h, action->key);
		e->script = history_text(l->h, action->word);
	}
	if (action->kind == PLAN_CLOCK_JUMP)
		e->by_ms = action->ms;
}

void
live_befell(struct live *l, const struct plan_action *action, const char *p,
    const char *label)
{
	struct history_event *e = tell(l, HISTORY_FAULT, action, p, label);

	if (action->id < l->h->head.faults_n)
		e->cmd = l->h->head.faults[action->id].act;
}

/* --- clients, operators --------------------------------------------------- */

static void
client(struct live *l, const struct live_due *d)
{
	const struct plan_action *a = d->action;

	if (live_calls_leave(l, a->client, a->kind == PLAN_CLIENT_ABORT) > 0)
		live_fired(l, a, a->client != NULL ? a->client : "-",
		    d->label);
}

static struct live_gate *
some_gate(struct live *l)
{
	size_t i;

	for (i = 0; i < l->cast->gates_n; i++)
		if (!l->cast->gates[i].down && !l->cast->gates[i].paused)
			return &l->cast->gates[i];
	return NULL;
}

/* As idemctl says it: what no waiting changes. */
static bool
is_final(int status, const char *said)
{
	return status == 2 || strstr(said, "there is nothing to ") != NULL ||
	    strstr(said, "no such key") != NULL ||
	    strstr(said, "say --in ledger") != NULL;
}

/* Until a run that may be going on cannot be any more, as the plan has it. */
static int64_t
operator_ms(const struct live *l)
{
	const struct history_head *h = &l->h->head;

	return l->plan->quiet_ms + h->lease_ms + h->grace_ms + h->probe_ms +
	    plan_config_ms(l->plan, "limit", 0);
}

static void
refused(struct live *l, const struct live_due *d, const char *said)
{
	char what[400], words[120];

	snprintf(what, sizeof what, "%s is refused: %.*s",
	    plan_action_phrase(l->plan, d->action, words, sizeof words),
	    (int)strcspn(said, "\n"), said);
	live_note(l, "-", NULL, what);
}

/* A run that may be going on, or a store that is away, may be asked again. */
static void
ask_again(struct live *l, const struct live_due *d, const char *said)
{
	struct live_due again = *d;

	if (again.since_ms == 0)
		again.since_ms = live_now_ms(l);
	again.at_ms = live_now_ms(l) + AGAIN_MS;
	again.done = false;
	again.refused = arena_text(&l->arena, said);
	if (again.at_ms > again.since_ms + operator_ms(l)) {
		refused(l, d, said);
		return;
	}
	*(struct live_due *)arena_more(&l->arena, &l->due, &l->due_n,
	    sizeof again) = again;
}

static void
resolve(struct live *l, const struct live_due *d)
{
	const struct plan_action *a = d->action;
	bool forget = strcmp(a->word, "forget") == 0;
	const struct live_key *key = live_key_named(l, a->key);
	const char *const words[] = {
		forget ? "forget" : "resolve", key->hex,
		forget ? NULL : a->word, NULL
	};
	/* It needs that one's files, not its processes. */
	struct live_gate *g = a->gate >= 0 ? &l->cast->gates[a->gate] :
	    some_gate(l);
	char out[400] = "no instance is up";
	int status = g == NULL ? -1 : instance_ctl(l->cast->loop, &g->instance,
	    words, out, sizeof out);

	if (status == 0)
		live_fired(l, a, g->instance.name, d->label);
	else if (is_final(status, out))
		refused(l, d, out);
	else
		ask_again(l, d, out);
}

void
live_due_end(struct live *l)
{
	size_t i;

	for (i = 0; i < l->due_n; i++)
		if (!l->due[i].done && l->due[i].refused != NULL)
			refused(l, &l->due[i], l->due[i].refused);
}

/* --- one action ----------------------------------------------------------- */

typedef void act_fn(struct live *, const struct live_due *);

static act_fn *const acts[PLAN_ACTIONS] = {
	[PLAN_PROC_KILL] = live_do_gate,
	[PLAN_PROC_PAUSE] = live_do_gate,
	[PLAN_PROC_RESUME] = live_do_gate,
	[PLAN_PROC_RESTART] = live_do_gate,
	[PLAN_PROC_FAIL] = live_do_gate,
	[PLAN_NET_DROP] = live_do_net,
	[PLAN_NET_HOLD] = live_do_net,
	[PLAN_NET_RELEASE] = live_do_net,
	[PLAN_NET_DELAY] = live_do_net,
	[PLAN_NET_RESET] = live_do_net,
	[PLAN_NET_ONEWAY] = live_do_net,
	[PLAN_NET_SLICE] = live_do_net,
	[PLAN_NET_REFUSE] = live_do_net,
	[PLAN_NET_ERROR] = live_do_net,
	[PLAN_NET_HEAL] = live_do_net,
	[PLAN_STORE_KILL] = live_do_store,
	[PLAN_STORE_RESTART] = live_do_store,
	[PLAN_STORE_PAUSE] = live_do_store,
	[PLAN_STORE_RESUME] = live_do_store,
	[PLAN_STORE_SLOW] = live_do_net,
	[PLAN_STORE_ERROR] = live_do_net,
	[PLAN_STORE_OOM] = live_do_store,
	[PLAN_STORE_FLUSH] = live_do_store,
	[PLAN_STORE_EVICT] = live_do_store,
	[PLAN_STORE_EXPIRE] = live_do_store,
	[PLAN_STORE_SCRIPT_FLUSH] = live_do_store,
	[PLAN_STORE_SAVE] = live_do_store,
	[PLAN_STORE_LAG] = live_do_store,
	[PLAN_STORE_FAILOVER] = live_do_failover,
	[PLAN_STORE_REJOIN] = live_do_rejoin,
	[PLAN_DISK_POWER_LOSS] = live_do_power_loss,
	[PLAN_DISK_FULL] = live_do_gate,
	[PLAN_DISK_IOERR] = live_do_gate,
	[PLAN_DISK_BUSY] = live_do_gate,
	[PLAN_CLOCK_JUMP] = live_do_clock,
	[PLAN_CLOCK_RATE] = live_do_clock,
	[PLAN_CLIENT_GIVE_UP] = client,
	[PLAN_CLIENT_ABORT] = client,
	[PLAN_OPERATOR_RESOLVE] = resolve
};

/* What a link that has the word can bear; the rest waits for the turn's end. */
static const bool instant[PLAN_ACTIONS] = {
	[PLAN_PROC_KILL] = true,
	[PLAN_PROC_PAUSE] = true,
	[PLAN_NET_DROP] = true,
	[PLAN_NET_HOLD] = true,
	[PLAN_NET_DELAY] = true,
	[PLAN_NET_RESET] = true,
	[PLAN_NET_ONEWAY] = true,
	[PLAN_NET_REFUSE] = true,
	[PLAN_NET_SLICE] = true,
	[PLAN_NET_ERROR] = true,
	[PLAN_STORE_KILL] = true,
	[PLAN_STORE_PAUSE] = true,
	[PLAN_STORE_ERROR] = true
};

/* What was killed by chance comes back by itself. */
static void
restart_after(struct live *l, const struct live_due *d)
{
	struct plan_action *back;
	struct live_due due = *d;

	if (d->restart_after_ms < 0 || (d->action->kind != PLAN_PROC_KILL &&
	    d->action->kind != PLAN_STORE_KILL))
		return;
	back = arena_get(&l->arena, sizeof *back);
	*back = *d->action;
	back->kind = d->action->kind == PLAN_PROC_KILL ? PLAN_PROC_RESTART :
	    PLAN_STORE_RESTART;
	due.action = back;
	due.at_ms = live_now_ms(l) + d->restart_after_ms;
	due.restart_after_ms = -1;
	due.done = false;
	live_due_add(l, &due);
}

/* "*" of what is one process, or one clock: where it was triggered, or any. */
static void
choose(struct live *l, struct live_due *d)
{
	struct plan_action *one;

	if (d->action->gate != PLAN_ANY || d->action->store != PLAN_NONE)
		return;
	one = arena_get(&l->arena, sizeof *one);
	*one = *d->action;
	one->gate = d->gate >= 0 ? d->gate :
	    (int)draw_below(&l->draw, l->cast->gates_n);
	d->action = one;
}

static void
do_one(struct live *l, const struct live_due *due)
{
	struct live_due d = *due;

	choose(l, &d);
	l->touched = true;
	acts[d.action->kind](l, &d);
	restart_after(l, &d);
}

/* --- those whose time comes ----------------------------------------------- */

void
live_due_add(struct live *l, const struct live_due *d)
{
	if (d->at_ms <= live_now_ms(l) && (!l->in_frame ||
	    instant[d->action->kind]))
		do_one(l, d);
	else
		*(struct live_due *)arena_more(&l->arena, &l->due, &l->due_n,
		    sizeof *d) = *d;
}

int64_t
live_due_next_ms(const struct live *l)
{
	int64_t soonest = INT64_MAX;
	size_t i;

	for (i = 0; i < l->due_n; i++)
		if (!l->due[i].done && l->due[i].at_ms < soonest)
			soonest = l->due[i].at_ms;
	return soonest;
}

/* The array may move under an action that makes another. */
void
live_due_turn(struct live *l)
{
	size_t i;

	for (i = 0; i < l->due_n; i++) {
		const struct live_due d = l->due[i];

		if (d.done || d.at_ms > live_now_ms(l))
			continue;
		l->due[i].done = true;
		do_one(l, &d);
	}
}

/* One chance in two, each time; then any moment of its window. */
static void
maybe_once(struct live *l, struct draw *draw, const struct plan_maybe *m)
{
	int64_t to = m->to_ms > 0 ? m->to_ms : l->plan->heal_ms;
	int64_t span = to > m->from_ms ? to - m->from_ms : 0;
	bool happens = draw_unit(draw) < 0.5;
	int64_t at = m->from_ms + (int64_t)(draw_unit(draw) * (double)span);

	if (!happens)
		return;
	*(struct live_due *)arena_more(&l->arena, &l->due, &l->due_n,
	    sizeof *l->due) = (struct live_due){
		.action = &m->action, .gate = PLAN_NONE,
		.at_ms = l->began_ms + at + m->action.after_ms,
		.restart_after_ms = m->restart_after_ms
	};
}

void
live_due_maybe(struct live *l)
{
	struct draw draw;
	unsigned n;
	size_t i;

	draw_fork(&l->draw, "maybe", &draw);
	for (i = 0; i < l->plan->maybes_n; i++)
		for (n = 0; n < l->plan->maybes[i].times; n++)
			maybe_once(l, &draw, &l->plan->maybes[i]);
}
