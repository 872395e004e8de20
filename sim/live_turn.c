/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/statvfs.h>

#define MS_NS 1000000
#define TURN_MS 5		/* between looks at what tells nobody */
#define ASK_MS 200		/* whether it is to stop */
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

/* --- one turn ------------------------------------------------------------- */

static int64_t
soonest(const struct live *l, int64_t until_ms)
{
	int64_t at[6], wake_ms = INT64_MAX;
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
	/* Who was refused as he called, or was made to leave, wakes nobody. */
	at[5] = l->back != NULL ? live_now_ms(l) : INT64_MAX;
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
void
live_look_for_room(struct live *l)
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

/* Who came to a label or to a link, and could not be taken. */
static int
not_taken(const struct live_cast *cast)
{
	int error = stops_error(cast->stops);
	size_t i;

	for (i = 0; i < cast->gates_n && error == 0; i++)
		if (cast->gates[i].link != NULL)
			error = net_error(cast->gates[i].link);
	for (i = 0; i < cast->stores_n && error == 0; i++)
		if (cast->stores[i].replication != NULL)
			error = net_error(cast->stores[i].replication);
	return error;
}

static void
look_for_means(struct live *l)
{
	int error = not_taken(l->cast);

	if (error != 0)
		live_cut(l, "idemsim could not take a connection: %s; see "
		    "ulimit -n", strerror(error));
}

/* Half of a history is for what a run has to say at its end: of its programs,
   of which each has three lines at most, and of its stores. */
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
	look_for_means(l);
	live_look_for_room(l);
	(void)live_fits(l, HISTORY_EVENTS_MAX / 2);
}
