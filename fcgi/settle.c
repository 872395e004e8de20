/* SPDX-License-Identifier: ISC */
#include "settle_private.h"

#include <stddef.h>
#include <stdlib.h>

/*
 * A round goes through the folder in slices, so that no turn of the loop waits
 * long for it, however many files there are; and slices that find nothing to
 * do keep apart, so that many running runs cost little.
 */
#define LOOKS 32u		/* files a slice opens */
#define NAMES 1024u		/* and names it reads */
#define SLICE_MS 4		/* nor does it open one more after that */
#define NEXT_TURN_MS 1		/* a timer that is due at once is due in this */
#define REST_MS 10

int64_t
settle_now_ms(const struct settle *s)
{
	return loop_now(s->loop);
}

static void
set(struct settle *s, int64_t at_ms)
{
	if (!s->stopped)
		loop_timer(s->loop, &s->timer, at_ms);
}

static void
round_begin(struct settle *s, bool unknown)
{
	s->walking = idem_journal_walk(s->folder, unknown, &s->walk);
	s->full = false;
	if (unknown) {
		s->unknowns = false;
		return;
	}
	s->round_ms = loop_now(s->loop);
	s->every_ms = SETTLE_MS;
	s->round += s->walking;
}

static void
round_end(struct settle *s)
{
	bool unknown = s->walk.unknown;

	idem_journal_walk_end(&s->walk);
	s->walking = false;
	if (!unknown)
		settle_known_prune(&s->known, s->round);
}

/* False: the round is through. */
static bool
slice(struct settle *s)
{
	int64_t until_ms = idem_boot_ms(&idem_clock_real) + SLICE_MS;
	struct idem_owner owner;
	unsigned looks = 0, names;

	for (names = 0; names < NAMES && looks < LOOKS &&
	    idem_boot_ms(&idem_clock_real) <= until_ms; names++) {
		s->full = s->pending >= SETTLE_AT_ONCE;
		if (s->full)
			return true;
		if (!idem_journal_next(&s->walk, &owner))
			return false;
		looks += s->walk.unknown ? settle_ask(s, &owner) :
		    settle_run(s, &owner);
	}
	return true;
}

static int64_t
next_round_ms(const struct settle *s)
{
	int64_t at_ms = s->round_ms + s->every_ms;
	int64_t soon_ms = loop_now(s->loop) + REST_MS;

	return at_ms > soon_ms ? at_ms : soon_ms;
}

static void
go_on(struct settle *s)
{
	int64_t now_ms = loop_now(s->loop);

	if (!s->walking)
		round_begin(s, false);
	s->moved = false;
	if (s->walking && slice(s)) {
		if (!s->full)
			set(s, now_ms + (s->moved ? NEXT_TURN_MS : REST_MS));
		return;
	}
	if (s->walking)
		round_end(s);
	if (s->unknowns)
		round_begin(s, true);
	set(s, s->walking ? now_ms + NEXT_TURN_MS : next_round_ms(s));
}

static void
due(struct timer *t, int64_t now_ms)
{
	(void)now_ms;
	go_on((struct settle *)((char *)t - offsetof(struct settle, timer)));
}

void
settle_answered(struct settle *s)
{
	s->pending--;
	if (!s->full)
		return;
	s->full = false;
	set(s, loop_now(s->loop) + NEXT_TURN_MS);
}

/* -------------------------------------------------------------------------- */

struct settle *
settle_new(struct loop *loop, struct stores *stores, struct log *log,
    int folder, const struct idem_boot *boot, const struct settle_user *user)
{
	struct settle *s = calloc(1, sizeof *s);

	if (s == NULL)
		return NULL;
	s->loop = loop;
	s->stores = stores;
	s->log = log;
	s->folder = folder;
	s->boot = *boot;
	s->user = *user;
	s->timer.due = due;
	return s;
}

void
settle_start(struct settle *s)
{
	s->stopped = false;
	if (!s->walking)
		go_on(s);
}

void
settle_unknowns(struct settle *s)
{
	s->unknowns = true;
}

void
settle_stop(struct settle *s)
{
	s->stopped = true;
	loop_timer_stop(s->loop, &s->timer);
	if (s->walking)
		idem_journal_walk_end(&s->walk);
	s->walking = s->full = false;
}

uint32_t
settle_pending(const struct settle *s)
{
	return s->pending + s->walking;
}

void
settle_free(struct settle *s)
{
	if (s == NULL)
		return;
	settle_stop(s);
	settle_known_free(&s->known);
	free(s);
}
