/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#define MS_NS 1000000
#define TURN_MS 5		/* between looks at what tells nobody */
#define ASK_MS 200		/* whether it is to stop */
#define QUIET_MS 10
#define DRAIN_MS 2
#define LINES_MS 250		/* for the last lines of logs */
#define LATE_MS 50		/* and for that of a late end */
#define PATIENCE_MS 20000
#define LEVEL_MS 20000	/* for what replicas have to catch up with */
#define LOAD_MS 60000		/* where the plan names no end */
#define TOKENS_MAX 1000
#define ROOM (256u << 10)	/* bytes that must be left on the disk */

static bool never(void);
/* Set by live_stop_when: there is one run at a time. */
static bool (*stop_asked)(void) = never;

static bool
never(void)
{
	return false;
}

void
live_stop_when(bool (*asked)(void))
{
	stop_asked = asked;
}

bool
live_stopped(void)
{
	return stop_asked();
}

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

/* --- one turn ------------------------------------------------------------- */

static int64_t
soonest(const struct live *l, int64_t until_ms)
{
	int64_t at[5], wake_ms = INT64_MAX;
	size_t i;

	/* Rounded up: a wake before its time would spin. */
	if (l->wake_ns != INT64_MAX)
		wake_ms = live_now_ms(l) + (l->wake_ns - live_now_ns(l) +
		    MS_NS - 1) / MS_NS;
	at[0] = wake_ms;
	at[1] = live_due_next_ms(l);
	at[2] = live_rules_next_ms(l);
	at[3] = l->watches_n > 0 ? live_now_ms(l) + TURN_MS : INT64_MAX;
	/* A signal may come just before it waits. */
	at[4] = live_now_ms(l) + ASK_MS;
	for (i = 0; i < sizeof at / sizeof *at; i++)
		until_ms = at[i] < until_ms ? at[i] : until_ms;
	return until_ms;
}

static int64_t
later(int64_t a_ms, int64_t b_ms)
{
	return a_ms > b_ms ? a_ms : b_ms;
}

/* Nobody let us run, or an action took its time: what was to be in time was
   late, and links passed nothing on.  Each moment counts in one of two looks:
   from the loop's waking to the next turn, and until it wakes. */
static void
stalled(struct live *l, int64_t late_ms)
{
	char what[64];

	if (l->h->head.lease_ms == 0 || late_ms < l->h->head.lease_ms / 4)
		return;
	snprintf(what, sizeof what, "the simulator was late by %" PRId64
	    " ms", late_ms);
	live_note(l, "-", "stall", what);
}

static void
out_of_patience(struct live *l)
{
	live_cut(l, "it was not over after %" PRId64 " s; %zu tries were "
	    "under way%s", (live_now_ms(l) - l->began_ms) / 1000,
	    load_open_tries(l->load), live_due_next_ms(l) != INT64_MAX ?
	    ", and an action was still to be done" : "");
}

/* Where nobody can write any more, neither a log nor a ledger is what it is
   to be. */
static void
look_for_room(struct live *l)
{
	struct statvfs fs;

	if (live_now_ms(l) < l->room_ms)
		return;
	l->room_ms = live_now_ms(l) + ASK_MS;
	if (statvfs(l->cast->folder, &fs) == 0 &&
	    (uint64_t)fs.f_bavail * fs.f_frsize < ROOM)
		live_cut(l, "there is no room left in %.80s",
		    l->cast->folder);
}

void
live_turn(struct live *l, int64_t until_ms)
{
	int64_t began_ms = live_now_ms(l);

	stalled(l, began_ms - loop_now(l->cast->loop));
	until_ms = soonest(l, until_ms);
	if (loop_turn(l->cast->loop, until_ms) != 0)
		live_cut(l, "the simulator cannot wait: %s", strerror(errno));
	stalled(l, loop_now(l->cast->loop) - later(until_ms, began_ms));
	live_calls_turn(l);
	live_rules_turn(l);
	live_due_turn(l);
	live_seen_turn(l);
	if (l->wake_ns <= live_now_ns(l)) {
		l->wake_ns = INT64_MAX;
		load_turn(l->load);
	}
	if (stop_asked())
		live_cut(l, "it was interrupted");
	if (live_now_ms(l) >= l->limit_ms)
		out_of_patience(l);
	look_for_room(l);
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

/* What an instance may need to see that all is well, and to settle a key. */
static int64_t
settle_ms(const struct live *l)
{
	const struct history_head *h = &l->h->head;

	return h->lease_ms + h->grace_ms + h->probe_ms;
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
	    settle_ms(l) + PATIENCE_MS;
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

/* A look through /proc takes longer than most else of a run. */
static bool
programs_run(struct live *l)
{
	struct live_gate *g;
	bool any = false;
	size_t i;

	for (i = 0; i < l->cast->gates_n; i++) {
		g = &l->cast->gates[i];
		g->seen = instance_processes(&g->instance);
		any = any || g->seen > g->processes;
	}
	return any;
}

/* No try under way, none to come, no program, no operator who waits. */
static bool
is_quiet(struct live *l)
{
	return load_over(l->load) && live_due_next_ms(l) == INT64_MAX &&
	    !programs_run(l);
}

static void
calm_down(struct live *l)
{
	int64_t end = live_now_ms(l) + l->plan->quiet_ms;

	while (!l->cut && !is_quiet(l) && live_now_ms(l) < end)
		live_turn(l, live_now_ms(l) + QUIET_MS);
	if (load_over(l->load))
		return;
	/* Whoever would still try again has had his time. */
	load_stop(l->load);
	if (load_unsent(l->load) > 0)
		live_cut(l, "of the plan's requests %zu come later than "
		    "heal.at and heal.quiet, and were not sent",
		    load_unsent(l->load));
	end += PATIENCE_MS / 2;
	while (!l->cut && !load_over(l->load) && live_now_ms(l) < end)
		live_turn(l, end);
	if (!load_over(l->load))
		live_cut(l, "%zu tries had no end %d s after quiet",
		    load_open_tries(l->load), PATIENCE_MS / 2000);
}

static void
audit(struct live *l)
{
	int64_t until = live_now_ms(l) - l->began_ms + l->plan->quiet_ms +
	    settle_ms(l);

	if (l->cut)
		return;
	/* Fresh keys are of the stores as they are now. */
	if (live_keys_mint(l, l->plan->gates.n) != 0)
		return;
	load_audit(l->load, until);
	while (!l->cut && !load_over(l->load))
		live_turn(l, l->limit_ms);
}

/* Each whole answer has a line, which comes after it. */
static bool
lines_are_read(const struct live *l)
{
	size_t i;

	for (i = 0; i < l->cast->gates_n; i++)
		if (l->cast->gates[i].lines < l->cast->gates[i].answers)
			return false;
	return true;
}

static void
drain_lines(struct live *l, int64_t least_ms)
{
	int64_t least = live_now_ms(l) + least_ms;
	int64_t end = least + (l->cut ? 0 : LINES_MS);

	do
		live_turn(l, live_now_ms(l) + DRAIN_MS);
	while (live_now_ms(l) < least || (!lines_are_read(l) &&
	    live_now_ms(l) < end));
}

/* Programs that only have to end, and lines that are on their way: of a run
   that ended late it is said only after its end that it was of no use. */
static void
drain(struct live *l)
{
	int64_t end = live_now_ms(l) + (l->cut ? 0 : l->plan->quiet_ms);
	bool late = false;

	while (programs_run(l) && live_now_ms(l) < end) {
		late = true;
		live_turn(l, live_now_ms(l) + DRAIN_MS);
	}
	drain_lines(l, late ? LATE_MS : 0);
}

static void
finish(struct live *l)
{
	drain(l);
	live_due_end(l);
	l->room_ms = 0;
	look_for_room(l);
	live_final(l);
	live_leases(l);
	live_log_sources(l);
	/* Without its end it is one that was cut; the last note says why. */
	if (l->cut)
		live_note(l, "-", NULL, l->wrong);
	else
		(void)history_add(l->h, HISTORY_END, live_now_ns(l), "-");
	history_stamp_all(l->h);
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
	calm_down(&l);
	audit(&l);
	finish(&l);
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
