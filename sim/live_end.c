/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#define QUIET_MS 10
#define DRAIN_MS 2
#define LINES_MS 10000		/* for the last lines of logs */
#define LATE_MS 50		/* and for that of a late end */
#define REST_MS 250		/* at rest: none is to come any more */
#define LEFT_MS 15000		/* then what still runs was left behind */
#define CALM_MS 10000		/* for tries after the load was stopped */

/* --- until all is quiet --------------------------------------------------- */

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

void
live_calm_down(struct live *l)
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
	end += CALM_MS;
	while (!l->cut && !load_over(l->load) && live_now_ms(l) < end)
		live_turn(l, end);
	if (!load_over(l->load))
		live_cut(l, "%zu tries had no end %d s after quiet",
		    load_open_tries(l->load), CALM_MS / 1000);
}

/* --- and asks ------------------------------------------------------------- */

void
live_audit(struct live *l)
{
	int64_t until = live_now_ms(l) - l->began_ms + l->plan->quiet_ms +
	    live_settle_ms(l);

	if (l->cut)
		return;
	/* Fresh keys are of the stores as they are now. */
	if (live_keys_mint(l, l->plan->gates.n) != 0)
		return;
	load_audit(l->load, until);
	while (!l->cut && !load_over(l->load))
		live_turn(l, l->limit_ms);
}

/* --- what is still under way ---------------------------------------------- */

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

static bool
gates_rest(const struct live *l)
{
	size_t i;

	for (i = 0; i < l->cast->gates_n; i++)
		if (instance_is_busy(&l->cast->gates[i].instance))
			return false;
	return true;
}

/*
 * Some answers never have a line (lighttpd's own), so that not all may come;
 * but as long as somebody has something to do, one may: he may be about to
 * write it, and be held up.
 */
static void
drain_lines(struct live *l, bool late)
{
	int64_t least = live_now_ms(l) + (late ? LATE_MS : 0);
	int64_t end = least + (l->cut ? 0 : LINES_MS), rests = least + REST_MS;

	do
		live_turn(l, live_now_ms(l) + DRAIN_MS);
	while (live_now_ms(l) < least || (live_now_ms(l) < end &&
	    (late || !lines_are_read(l)) &&
	    (live_now_ms(l) < rests || !gates_rest(l))));
}

/* Where one that stays is held against the gate, one that is held up may
   end. */
static int64_t
left_ms(const struct live *l)
{
	if (l->cut)
		return 0;
	return l->plan->expect.holds[PLAN_RESOLVES] &&
	    l->plan->quiet_ms < LEFT_MS ? LEFT_MS : l->plan->quiet_ms;
}

/* Programs that only have to end, and lines that are on their way: of a run
   that ended late it is said only after its end that it was of no use. */
static void
drain(struct live *l)
{
	int64_t end = live_now_ms(l) + left_ms(l);
	bool late = false;

	while (programs_run(l) && live_now_ms(l) < end) {
		late = true;
		live_turn(l, live_now_ms(l) + DRAIN_MS);
	}
	drain_lines(l, late);
}

void
live_finish(struct live *l)
{
	drain(l);
	live_due_end(l);
	l->room_ms = 0;
	live_look_for_room(l);
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
