/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include <errno.h>

#define PATIENCE_MS 20000
#define LEVEL_MS 20000	/* for what replicas have to catch up with */
#define LOAD_MS 60000		/* where the plan names no end */
#define TOKENS_MAX 1000

/* --- what the load asks for ----------------------------------------------- */

static void
world_start(void *arg, const struct load_try *try)
{
	live_call_begin(arg, try);
}

static int64_t
world_now(void *arg)
{
	return live_now_ns(arg);
}

static void
world_wake(void *arg, int64_t at_ns)
{
	((struct live *)arg)->wake_ns = at_ns;
}

/* The history's last event is the answer. */
static void
world_ended(void *arg, int a)
{
	struct live *l = arg;
	const struct history_event *e = &l->h->events[l->h->n - 1];

	if (e->kind != HISTORY_RET || (size_t)a > l->clients_n)
		return;
	live_rules_feed(l, &(struct live_event){
		.kind = PLAN_REPLY, .gate = PLAN_NONE, .store = PLAN_NONE,
		.client = l->clients[a - 1], .key = e->k,
		.class = outcome_text(e->class)
	});
}

/* --- its parts ------------------------------------------------------------ */

/* It may take long on a busy host: it is done before time begins. */
static void
look_at_gates(struct live *l)
{
	struct live_gate *g;
	size_t i;

	for (i = 0; i < l->cast->gates_n; i++) {
		g = &l->cast->gates[i];
		if (g->processes > 0)
			continue;
		g->processes = instance_processes(&g->instance);
		g->descriptors = instance_descriptors(&g->instance);
	}
	l->oom_kills = child_oom_kills();
}

static void
tell_who(struct live *l)
{
	struct live_gate *g;
	size_t i;

	for (i = 0; i < l->cast->stores_n; i++)
		live_spawn(l, l->cast->stores[i].server.plan->name, false,
		    l->cast->stores[i].server.life,
		    l->cast->stores[i].server.child.pid);
	for (i = 0; i < l->cast->gates_n; i++) {
		g = &l->cast->gates[i];
		g->answers = g->lines = 0;
		live_spawn(l, g->instance.name, true, g->instance.life,
		    g->instance.child.pid);
	}
}

int64_t
live_settle_ms(const struct live *l)
{
	const struct history_head *h = &l->h->head;

	return h->lease_ms + h->grace_ms + h->probe_ms;
}

static int64_t
later(int64_t a_ms, int64_t b_ms)
{
	return a_ms > b_ms ? a_ms : b_ms;
}

/* When the last request is begun that the plan has a time for. */
static int64_t
last_ms(const struct plan *plan)
{
	const struct plan_load *load;
	int64_t last = 0;
	size_t i, j;

	for (i = 0; i < plan->loads_n; i++) {
		load = &plan->loads[i];
		last = later(last, later(load->for_ms, load->at_ms +
		    load->within_ms));
		for (j = 0; j < load->sends_n; j++)
			last = later(last, load->sends[j].at_ms);
	}
	return last;
}

static int64_t
patience_ms(const struct live *l)
{
	return (l->plan->heal_ms >= 0 ? l->plan->heal_ms :
	    last_ms(l->plan) + LOAD_MS) + 2 * l->plan->quiet_ms +
	    live_settle_ms(l) + PATIENCE_MS;
}

static void
begin(struct live *l)
{
	const struct load_world world = {
		.start = world_start, .now_ns = world_now, .wake = world_wake,
		.ended = world_ended, .arg = l
	};

	look_at_gates(l);
	/* What the run before has left there; and its time is now. */
	(void)loop_turn(l->cast->loop, 0);
	l->began_ns = 0;
	l->began_ns = live_now_ns(l);
	l->began_ms = live_now_ms(l);
	l->limit_ms = l->began_ms + patience_ms(l);
	l->wake_ns = INT64_MAX;
	l->cast->run = l;
	tell_who(l);
	live_rules_begin(l);
	live_due_maybe(l);
	l->load = load_open(l->plan, &l->draw, l->h, &world);
	load_begin(l->load);
}

/* Until all faults are to end. */
static bool
goes_on(const struct live *l)
{
	if (l->cut)
		return false;
	if (l->plan->heal_ms >= 0)
		return live_now_ms(l) < l->began_ms + l->plan->heal_ms;
	return !load_over(l->load) || !live_rules_over(l) ||
	    live_due_next_ms(l) != INT64_MAX;
}

static void
play(struct live *l)
{
	int64_t until = l->plan->heal_ms >= 0 ? l->began_ms +
	    l->plan->heal_ms : INT64_MAX;

	while (goes_on(l))
		live_turn(l, until < l->limit_ms ? until : l->limit_ms);
}

static void
leave(struct live *l)
{
	l->cast->run = NULL;
	l->cast->harmed |= l->touched || l->cut;
	live_calls_end(l);
	load_close(l->load);
	live_cast_leave(l->cast);
}

/* --- a run ---------------------------------------------------------------- */

/* What is there before the first request. */
static bool
is_ready(struct live *l)
{
	if (live_keys_mint(l, live_keys_wanted(l->plan)) != 0)
		return false;
	if (live_streams_begin(l->cast, LEVEL_MS))
		return true;
	snprintf(l->wrong, sizeof l->wrong, "a replica does not have what its "
	    "master has");
	return false;
}

static int
run(const struct plan *plan, uint64_t seed, unsigned number,
    struct history *h, char *wrong, size_t wrong_size)
{
	struct live l = { .plan = plan, .h = h, .seed = seed };

	history_begin(h, plan, "live", seed, number);
	draw_seed(&l.draw, seed);
	l.cast = live_cast_take(plan, wrong, wrong_size);
	if (l.cast == NULL)
		return -1;
	if (!is_ready(&l)) {
		snprintf(wrong, wrong_size, "%s", l.wrong);
		l.cast->harmed = true;
		live_cast_leave(l.cast);
		arena_free(&l.arena);
		return -1;
	}
	begin(&l);
	play(&l);
	live_heal(&l);
	live_calm_down(&l);
	live_audit(&l);
	live_finish(&l);
	leave(&l);
	arena_free(&l.arena);
	return 0;
}

/* --- the world ------------------------------------------------------------ */

static bool
has_abort(const struct plan *plan)
{
	const struct plan_action *a;
	unsigned id;

	for (id = 0; (a = plan_action_at(plan, id)) != NULL; id++)
		if (a->kind == PLAN_CLIENT_ABORT)
			return true;
	return false;
}

static const char *
cannot(const struct plan *plan)
{
	static char why[120];	/* good until the next call */
	const char *label = live_label_unknown(plan);

	if (label != NULL) {
		snprintf(why, sizeof why, "nobody comes to a label %s", label);
		return why;
	}
	if (plan->gates.arbiter == PLAN_TOKEN &&
	    live_keys_wanted(plan) > TOKENS_MAX)
		return "it wants too many tokens";
	if (plan->gates.lighttpd && has_abort(plan))
		return "a client of lighttpd speaks HTTP, which has no abort";
	return NULL;
}

static const char *
missing(const struct plan *plan)
{
	bool sentinel = false;
	const char *what;
	size_t i;

	for (i = 0; i < plan->stores_n; i++)
		sentinel |= plan->stores[i].sentinel;
	what = plan->stores_n > 0 ? server_missing(sentinel) : NULL;
	return what != NULL ? what : instance_missing(plan);
}

static void
end(void)
{
	live_cast_end();
}

const struct world live_world = {
	.mode = "live", .bit = PLAN_LIVE, .cannot = cannot,
	.missing = missing, .run = run, .end = end
};

int
live_keep(const char *folder)
{
	const char *from = live_cast_folder();

	if (from != NULL)
		return live_folder_keep(from, folder);
	errno = ENOENT;
	return -1;
}
