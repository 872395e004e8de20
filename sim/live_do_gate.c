/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define GONE_MS 15000
#define TURN_MS 2

/* --- processes ------------------------------------------------------------ */

void
live_gate_kill(struct live_gate *g)
{
	g->down = true;
	g->paused = false;
	g->instance.child.doomed = true;
	g->instance.front.doomed = true;
	(void)instance_kill(&g->instance, PLAN_WHOLE);
}

static void
kill_some(struct live *l, const struct live_due *d, struct live_gate *g)
{
	if (g->down)
		return;		/* nobody can be killed twice */
	if (d->action->part == PLAN_WHOLE) {
		live_gate_kill(g);
		live_watch(l, &(struct live_watch){
			.action = d->action, .gate = (int)g->index,
			.store = PLAN_NONE, .label = d->label
		});
	} else if (instance_kill(&g->instance, d->action->part) > 0)
		live_fired(l, d->action, g->instance.name, d->label);
}

/* Who waits at a label stops when it is continued by its word. */
static void
pause_some(struct live *l, const struct live_due *d, struct live_gate *g)
{
	size_t n = instance_pause(&g->instance, d->action->part);

	g->paused = g->paused || d->action->part == PLAN_WHOLE;
	if (n > 0)
		live_fired(l, d->action, g->instance.name, d->label);
}

static void
resume(struct live *l, const struct live_due *d, struct live_gate *g)
{
	(void)instance_resume(&g->instance, d->action->part);
	g->paused = g->paused && d->action->part != PLAN_WHOLE;
	live_fired(l, d->action, g->instance.name, d->label);
}

/* Until nothing of it is there any more. */
static bool
await_gone(struct live *l, struct live_gate *g)
{
	int64_t end = live_now_ms(l) + GONE_MS;

	while (g->instance.child.pid != 0 ||
	    instance_processes(&g->instance) > 0) {
		if (live_now_ms(l) >= end)
			return false;
		(void)loop_turn(l->cast->loop, live_now_ms(l) + TURN_MS);
	}
	return true;
}

static void
restart(struct live *l, const struct live_due *d, struct live_gate *g)
{
	if (!g->down)
		live_gate_kill(g);
	if (!await_gone(l, g))
		live_cannot_again(l, g->instance.name, 0);
	else if (live_gate_again(g) != 0)
		live_cannot_again(l, g->instance.name, errno);
	else
		live_fired(l, d->action, g->instance.name, d->label);
}

/* Only who waits at a label can be told to fail. */
static void
fail(struct live *l, const struct live_due *d, struct live_gate *g)
{
	int error = plan_errno(d->action->word);

	if (error != 0 && stops_fail(l->cast->stops, d->stop, error))
		live_fired(l, d->action, g->instance.name, d->label);
}

/* --- its disk and its clock ----------------------------------------------- */

static void
disk(struct live *l, const struct live_due *d, struct live_gate *g)
{
	static const enum preload_fault faults[PLAN_ACTIONS] = {
		[PLAN_DISK_FULL] = PRELOAD_FULL,
		[PLAN_DISK_IOERR] = PRELOAD_IOERR,
		[PLAN_DISK_BUSY] = PRELOAD_BUSY
	};
	struct preload_disk *at = g->disk.at;

	if (at == NULL)
		return;
	if (d->action->ends) {
		atomic_store(&at->fault, PRELOAD_NONE);
		live_fired(l, d->action, g->instance.name, d->label);
		return;
	}
	live_watch(l, &(struct live_watch){
		.action = d->action, .gate = (int)g->index,
		.store = PLAN_NONE, .label = d->label,
		.before = { (unsigned)atomic_load(&at->struck) }
	});
	atomic_store(&at->fault, (int)faults[d->action->kind]);
}

/* What another pace has come to by now. */
static int64_t
gained_ms(const struct preload_clock *clock, int64_t now_ns)
{
	int64_t ms = (now_ns - atomic_load(&clock->since_ns)) / 1000000;

	return ms * atomic_load(&clock->rate_ppm) / 1000000;
}

static void
turn_clock(struct preload_clock *clock, const struct plan_action *a)
{
	struct timespec now;
	int64_t now_ns;

	if (a->kind == PLAN_CLOCK_JUMP) {
		atomic_fetch_add(&clock->offset_ms, a->ms);
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	now_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
	atomic_fetch_add(&clock->changes, 1);
	if (atomic_load(&clock->rate_ppm) != 0)
		atomic_fetch_add(&clock->offset_ms, gained_ms(clock, now_ns));
	atomic_store(&clock->since_ns, now_ns);
	atomic_store(&clock->rate_ppm, (int64_t)((a->rate - 1) * 1e6));
	atomic_fetch_add(&clock->changes, 1);
}

void
live_clock_heal(struct preload_clock *clock)
{
	atomic_fetch_add(&clock->changes, 1);
	atomic_store(&clock->rate_ppm, 0);
	atomic_store(&clock->offset_ms, 0);
	atomic_fetch_add(&clock->changes, 1);
}

/* It strikes when somebody is told a time by it. */
static void
set_clock(struct live *l, const struct live_due *d,
    struct preload_clock *clock)
{
	turn_clock(clock, d->action);
	live_watch(l, &(struct live_watch){
		.action = d->action, .gate = d->action->gate,
		.store = d->action->store, .label = d->label,
		.before = { (unsigned)atomic_load(&clock->struck) }
	});
}

void
live_do_clock(struct live *l, const struct live_due *d)
{
	const struct plan_action *a = d->action;
	struct live_gate *g = a->gate >= 0 ? &l->cast->gates[a->gate] : NULL;
	struct live_store *s = a->store >= 0 ? &l->cast->stores[a->store] :
	    NULL;

	if (g != NULL && g->clock.at != NULL && !g->down)
		set_clock(l, d, g->clock.at);
	if (s != NULL && s->clock.at != NULL && !s->down)
		set_clock(l, d, s->clock.at);
}

/* --- which ---------------------------------------------------------------- */

void
live_do_gate(struct live *l, const struct live_due *d)
{
	typedef void do_fn(struct live *, const struct live_due *,
	    struct live_gate *);
	static do_fn *const acts[PLAN_ACTIONS] = {
		[PLAN_PROC_KILL] = kill_some,
		[PLAN_PROC_PAUSE] = pause_some,
		[PLAN_PROC_RESUME] = resume,
		[PLAN_PROC_RESTART] = restart,
		[PLAN_PROC_FAIL] = fail,
		[PLAN_DISK_FULL] = disk,
		[PLAN_DISK_IOERR] = disk,
		[PLAN_DISK_BUSY] = disk
	};
	int i = d->action->gate;

	if (i >= 0 && (size_t)i < l->cast->gates_n)
		acts[d->action->kind](l, d, &l->cast->gates[i]);
}

/* --- the power goes ------------------------------------------------------- */

static bool
shares(const struct live *l, const struct live_gate *g, int gate)
{
	return g->ledger != PLAN_NONE && (gate == PLAN_ANY ||
	    gate == PLAN_NONE || l->cast->gates[gate].ledger == g->ledger);
}

static int
new_boot(struct live *l, struct live_gate *g)
{
	char text[64];

	snprintf(text, sizeof text, "%08x-0000-4000-8000-%012llx\n",
	    (unsigned)draw_bits(&l->draw),
	    (unsigned long long)(draw_bits(&l->draw) >> 16));
	return live_file_write(g->boot, text);
}

/* What was synced is known: somebody looks. */
static bool
is_looked_at(const struct live_gate *g)
{
	const struct preload_disk *disk = g->disk.at;

	return disk != NULL && atomic_load(&disk->users) > 0;
}

/* The first who has that ledger; NULL: nobody, or of one nobody knows what was
   synced. */
static struct live_gate *
first_of(struct live *l, int gate)
{
	struct live_gate *g, *first = NULL;
	size_t i;

	for (i = 0; i < l->cast->gates_n; i++) {
		g = &l->cast->gates[i];
		if (!shares(l, g, gate))
			continue;
		if (!is_looked_at(g))
			return NULL;
		first = first == NULL ? g : first;
	}
	return first;
}

/* All of them are gone, and the host is another one. */
static bool
goes_dark(struct live *l, int gate)
{
	struct live_gate *g;
	size_t i;

	for (i = 0; i < l->cast->gates_n; i++) {
		g = &l->cast->gates[i];
		if (!shares(l, g, gate))
			continue;
		live_gate_kill(g);
		if (!await_gone(l, g) || new_boot(l, g) != 0)
			return false;
	}
	return true;
}

/* Who has that ledger is on its host, whose disk is as it was synced. */
void
live_do_power_loss(struct live *l, const struct live_due *d)
{
	struct live_gate *g, *first = first_of(l, d->action->gate);
	const struct live_ledger *ledger;
	size_t i;

	if (first == NULL)
		return;
	ledger = &l->cast->ledgers[first->ledger];
	if (!goes_dark(l, d->action->gate) ||
	    live_folder_replace(ledger->shadow, ledger->folder) != 0) {
		live_cannot_again(l, first->instance.name, 0);
		return;
	}
	live_fired(l, d->action, first->instance.name, d->label);
	for (i = 0; i < l->cast->gates_n; i++) {
		g = &l->cast->gates[i];
		if (shares(l, g, d->action->gate) && live_gate_again(g) != 0)
			live_cannot_again(l, g->instance.name, errno);
	}
}
