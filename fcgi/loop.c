/* SPDX-License-Identifier: ISC */
#include "loop.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#define EVENTS_A_TURN 256

/*
 * What epoll carries is not a pointer but a seat and its generation, so that
 * an event of a watch that is gone, fetched before it went, finds nobody.
 */
struct seat {
	struct watch *watch;	/* NULL: free */
	uint32_t generation;	/* grows with each new watch */
	uint32_t next;		/* free: the next free seat + 1; 0: none */
};

struct loop {
	const struct idem_clock *clock;
	int64_t now_ms;
	int epoll;
	struct seat *seats;
	uint32_t seats_len, seats_size;
	uint32_t free;		/* the first free seat + 1; 0: none */
	struct timer **heap;	/* from 1; the earliest first */
	size_t heap_len, heap_size;
	struct epoll_event events[EVENTS_A_TURN];
};

struct loop *
loop_new(const struct idem_clock *clock)
{
	struct loop *l = calloc(1, sizeof *l);

	if (l == NULL)
		return NULL;
	l->clock = clock;
	l->now_ms = idem_boot_ms(clock);
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll == -1) {
		free(l);
		return NULL;
	}
	return l;
}

void
loop_free(struct loop *l)
{
	if (l == NULL)
		return;
	(void)close(l->epoll);
	free(l->seats);
	free(l->heap);
	free(l);
}

int64_t
loop_now(const struct loop *l)
{
	return l->now_ms;
}

/* --- watches -------------------------------------------------------------- */

static int
seat_room(struct loop *l)
{
	uint32_t size = l->seats_size == 0 ? 64 : 2 * l->seats_size;
	struct seat *seats;

	if (l->free != 0 || l->seats_len < l->seats_size)
		return 0;
	seats = reallocarray(l->seats, size, sizeof *seats);
	if (seats == NULL)
		return -1;
	l->seats = seats;
	l->seats_size = size;
	return 0;
}

static uint32_t
seat_take(struct loop *l, struct watch *w)
{
	uint32_t place;

	if (l->free != 0) {
		place = l->free - 1;
		l->free = l->seats[place].next;
	} else {
		place = l->seats_len++;
		l->seats[place].generation = 0;
	}
	l->seats[place].watch = w;
	l->seats[place].generation++;
	return place;
}

static void
seat_leave(struct loop *l, uint32_t place)
{
	l->seats[place].watch = NULL;
	l->seats[place].next = l->free;
	l->free = place + 1;
}

static int
epoll_ask(struct loop *l, int what, const struct watch *w, int fd)
{
	struct epoll_event event = {
		.events = w->events,
		.data.u64 = (uint64_t)w->place << 32 | w->generation,
	};

	return epoll_ctl(l->epoll, what, fd, &event);
}

int
loop_watch(struct loop *l, struct watch *w, int fd, uint32_t events)
{
	if (seat_room(l) == -1)
		return -1;
	w->place = seat_take(l, w);
	w->generation = l->seats[w->place].generation;
	w->events = events;
	w->fd = fd;
	if (epoll_ask(l, EPOLL_CTL_ADD, w, fd) == -1) {
		seat_leave(l, w->place);
		w->fd = -1;
		return -1;
	}
	return 0;
}

int
loop_change(struct loop *l, struct watch *w, uint32_t events)
{
	uint32_t before = w->events;

	if (events == before)
		return 0;
	w->events = events;
	if (epoll_ask(l, EPOLL_CTL_MOD, w, w->fd) == -1) {
		w->events = before;
		return -1;
	}
	return 0;
}

void
loop_unwatch(struct loop *l, struct watch *w)
{
	if (w->fd == -1)
		return;
	(void)epoll_ask(l, EPOLL_CTL_DEL, w, w->fd);
	seat_leave(l, w->place);
	w->fd = -1;
}

void
loop_close(struct loop *l, struct watch *w)
{
	int fd = w->fd;

	if (fd == -1)
		return;
	seat_leave(l, w->place);
	w->fd = -1;
	(void)close(fd);
}

/* --- timers --------------------------------------------------------------- */

static void
heap_put(struct loop *l, size_t place, struct timer *t)
{
	l->heap[place] = t;
	t->place = place;
}

static void
heap_up(struct loop *l, struct timer *t)
{
	size_t place = t->place;

	while (place > 1 && l->heap[place / 2]->at_ms > t->at_ms) {
		heap_put(l, place, l->heap[place / 2]);
		place /= 2;
	}
	heap_put(l, place, t);
}

static void
heap_down(struct loop *l, struct timer *t)
{
	size_t place = t->place, child;

	while ((child = 2 * place) <= l->heap_len) {
		if (child < l->heap_len &&
		    l->heap[child + 1]->at_ms < l->heap[child]->at_ms)
			child++;
		if (l->heap[child]->at_ms >= t->at_ms)
			break;
		heap_put(l, place, l->heap[child]);
		place = child;
	}
	heap_put(l, place, t);
}

static int
heap_room(struct loop *l)
{
	size_t size = l->heap_size == 0 ? 64 : 2 * l->heap_size;
	struct timer **heap;

	if (l->heap_len + 1 < l->heap_size)
		return 0;
	heap = reallocarray(l->heap, size, sizeof(struct timer *));
	if (heap == NULL)
		return -1;
	l->heap = heap;
	l->heap_size = size;
	return 0;
}

int
loop_timer(struct loop *l, struct timer *t, int64_t at_ms)
{
	if (t->place == 0) {
		if (heap_room(l) == -1)
			return -1;
		heap_put(l, ++l->heap_len, t);
	}
	t->at_ms = at_ms;
	heap_up(l, t);
	heap_down(l, t);
	return 0;
}

void
loop_timer_stop(struct loop *l, struct timer *t)
{
	struct timer *last;
	size_t place = t->place;

	if (place == 0)
		return;
	t->place = 0;
	last = l->heap[l->heap_len--];
	if (last == t)
		return;
	heap_put(l, place, last);
	heap_up(l, last);
	heap_down(l, last);
}

/* --- a turn --------------------------------------------------------------- */

static int
wait_ms(struct loop *l, int64_t until_ms)
{
	int64_t now_ms = idem_boot_ms(l->clock);

	if (l->heap_len > 0 && l->heap[1]->at_ms < until_ms)
		until_ms = l->heap[1]->at_ms;
	if (until_ms <= now_ms)
		return 0;
	return until_ms - now_ms > INT_MAX ? INT_MAX : (int)(until_ms - now_ms);
}

static void
hand_out(struct loop *l, const struct epoll_event *event)
{
	uint32_t place = (uint32_t)(event->data.u64 >> 32);
	uint32_t generation = (uint32_t)event->data.u64;
	struct watch *w = l->seats[place].watch;
	uint32_t events;

	if (w == NULL || l->seats[place].generation != generation)
		return;
	/* What it no longer asks for may have been fetched before. */
	events = event->events & (w->events | EPOLLERR | EPOLLHUP);
	if (events != 0)
		w->ready(w, events);
}

/* A timer that sets itself anew for now must not keep the turn from ending. */
static void
run_timers(struct loop *l)
{
	size_t left = l->heap_len;
	struct timer *t;

	while (left-- > 0 && l->heap_len > 0) {
		t = l->heap[1];
		if (t->at_ms > l->now_ms)
			break;
		loop_timer_stop(l, t);
		t->due(t, l->now_ms);
	}
}

int
loop_turn(struct loop *l, int64_t until_ms)
{
	int i, n;

	n = epoll_wait(l->epoll, l->events, EVENTS_A_TURN,
	    wait_ms(l, until_ms));
	if (n == -1 && errno != EINTR)
		return -1;
	l->now_ms = idem_boot_ms(l->clock);
	for (i = 0; i < n; i++)
		hand_out(l, &l->events[i]);
	run_timers(l);
	return 0;
}
