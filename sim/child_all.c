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

/* A number may become another's, which was started later. */
struct one {
	pid_t pid;
	unsigned long long started;	/* 0: it was gone before we knew */
};

struct band {
	struct one at[CHILD_PIDS];
	size_t n;
};

static bool
is_in(const struct band *b, const struct one *who)
{
	size_t i;

	for (i = 0; i < b->n; i++)
		if (b->at[i].pid == who->pid &&
		    (b->at[i].started == who->started || who->started == 0))
			return true;
	return false;
}

static void
join(struct band *all, const struct band *b)
{
	size_t i;

	for (i = 0; i < b->n; i++)
		if (all->n < CHILD_PIDS && !is_in(all, &b->at[i]))
			all->at[all->n++] = b->at[i];
}

/* All that are there now; and those that were: another may be born
   meanwhile. */
static void
gather(struct band *b, const char *lane)
{
	pid_t pids[CHILD_PIDS];
	size_t n = child_find(lane, pids, CHILD_PIDS), i;
	struct child_stat st;

	b->n = n < CHILD_PIDS ? n : CHILD_PIDS;
	for (i = 0; i < b->n; i++) {
		b->at[i] = (struct one){ .pid = pids[i] };
		if (child_stat(pids[i], &st))
			b->at[i].started = st.started;
	}
}

/* False: it has gone, whoever has its number now. */
static bool
look_up(const struct one *who, struct child_stat *st)
{
	return child_stat(who->pid, st) && st->started == who->started;
}

/*
 * Its group with each: there the kernel lets no fork slip through.  All groups
 * of a run were made for it; ours is none of them.
 */
static void
signal_all(const struct band *b, int signal)
{
	pid_t ours = getpgrp();
	struct child_stat st;
	size_t i;

	for (i = 0; i < b->n; i++) {
		if (!look_up(&b->at[i], &st))
			continue;
		if (st.group > 1 && st.group != ours)
			kill(-st.group, signal);
		kill(b->at[i].pid, signal);
	}
}

static bool
are_all(const struct band *b, const char *states)
{
	struct child_stat st;
	size_t i;

	for (i = 0; i < b->n; i++)
		if (look_up(&b->at[i], &st) && strchr(states, st.state) == NULL)
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
	size_t before, tries = 0;

	all->n = 0;
	do {
		child_group_signal(lane, SIGSTOP);
		gather(last, lane);
		before = all->n;
		join(all, last);
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
bool
child_kill_left(const char *lane, size_t *n)
{
	struct band all, now;
	unsigned calm = 0, looks = 0;
	int64_t until_ms;

	stop(&all, &now, lane);
	until_ms = now_ms() + KILL_MS;
	do {
		child_group_signal(lane, SIGKILL);
		signal_all(&now, SIGKILL);
		if (now.n > 0)
			child_nap();
		gather(&now, lane);
		calm = now.n == 0 ? calm + 1 : 0;
		join(&all, &now);
	} while (calm < 2 && (++looks < KILL_LOOKS || now_ms() < until_ms));
	*n = all.n;
	return calm < 2;
}

size_t
child_kill_all(const char *lane)
{
	size_t n;

	(void)child_kill_left(lane, &n);
	return n;
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
