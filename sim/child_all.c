/* SPDX-License-Identifier: ISC */
#include "child_private.h"

#include "now.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#define STOP_TRIES 40
#define STOP_MS 10000		/* one may have to wait for the processor */
#define VFORK_MS 12
#define KILL_MS 15000		/* then who still is there stays, after .. */
#define KILL_LOOKS 500		/* .. so many looks at least */

struct band {
	pid_t pids[CHILD_PIDS];
	size_t n;
};

static bool
is_in(const struct band *b, pid_t pid)
{
	size_t i;

	for (i = 0; i < b->n; i++)
		if (b->pids[i] == pid)
			return true;
	return false;
}

static void
join(struct band *b, pid_t pid)
{
	if (b->n < CHILD_PIDS && !is_in(b, pid))
		b->pids[b->n++] = pid;
}

/* All that are there now. */
static void
gather(struct band *b, const char *lane)
{
	b->n = child_find(lane, b->pids, CHILD_PIDS);
}

/*
 * Its group with each: there the kernel lets no fork slip through.  All groups
 * of a run were made for it; ours is none of them.
 */
static void
signal_all(const struct band *b, int signal)
{
	pid_t group, ours = getpgrp();
	size_t i;

	for (i = 0; i < b->n; i++) {
		group = getpgid(b->pids[i]);
		if (group > 1 && group != ours)
			kill(-group, signal);
		kill(b->pids[i], signal);
	}
}

static bool
are_all(const struct band *b, const char *states)
{
	struct child_stat st;
	size_t i;

	for (i = 0; i < b->n; i++)
		if (child_stat(b->pids[i], &st) && strchr(states, st.state) ==
		    NULL)
			return false;
	return true;
}

/*
 * None of them can be in the middle of a fork any more.  One that waits in
 * vfork for its child, which we have stopped, sleeps in the kernel for ever;
 * the others stop as soon as the machine lets them.
 */
static void
await_rest(const struct band *b)
{
	int64_t from_ms = now_ms(), took_ms = 0;

	while (took_ms < STOP_MS &&
	    !are_all(b, took_ms < VFORK_MS ? "TtZX" : "TtZXD")) {
		child_nap();
		took_ms = now_ms() - from_ms;
		/* Where the kernel has let one go on it must be told again. */
		if (took_ms >= VFORK_MS)
			signal_all(b, SIGSTOP);
	}
}

/*
 * How many there were; `last`: those of the last look, all stopped.  Twice at
 * least: where the end of one cuts the rest of its group off from us, the
 * kernel lets those go on that have stopped (POSIX, orphaned groups).
 */
static size_t
stop(struct band *all, struct band *last, const char *lane)
{
	size_t i, before, tries = 0;

	all->n = 0;
	do {
		child_group_signal(lane, SIGSTOP);
		gather(last, lane);
		before = all->n;
		for (i = 0; i < last->n; i++)
			join(all, last->pids[i]);
		signal_all(last, SIGSTOP);
		await_rest(last);
	} while (++tries < STOP_TRIES && (all->n > before || tries == 1));
	return all->n;
}

size_t
child_stop_all(const char *lane)
{
	struct band all, last;

	return stop(&all, &last, lane);
}

/*
 * None, twice: the first look may have passed where one was born, and come to
 * where its parent was when that had died.
 */
size_t
child_kill_all(const char *lane)
{
	struct band all, now;
	unsigned calm = 0, looks = 0;
	int64_t until_ms;
	size_t i;

	stop(&all, &now, lane);
	until_ms = now_ms() + KILL_MS;
	do {
		child_group_signal(lane, SIGKILL);
		signal_all(&now, SIGKILL);
		if (now.n > 0)
			child_nap();
		gather(&now, lane);
		calm = now.n == 0 ? calm + 1 : 0;
		for (i = 0; i < now.n; i++)
			join(&all, now.pids[i]);
	} while (calm < 2 && (++looks < KILL_LOOKS || now_ms() < until_ms));
	return all.n;
}

size_t
child_continue_all(const char *lane)
{
	struct band b;

	gather(&b, lane);
	child_group_signal(lane, SIGCONT);
	signal_all(&b, SIGCONT);
	return b.n;
}
