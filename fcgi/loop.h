/* SPDX-License-Identifier: ISC */
#ifndef LOOP_H
#define LOOP_H

#include "clock.h"

#include <stddef.h>
#include <stdint.h>

/*
 * One thread's event loop: epoll, level-triggered, and a heap of timers.
 * Watches and timers live in their owners' structs.  A watch that was removed
 * or a timer that was stopped is not called any more, also when its event was
 * fetched before: owners may free them at once.
 */
struct loop;

struct watch {
	int fd;			/* -1: not watched */
	uint32_t events;	/* EPOLLIN, EPOLLOUT, EPOLLRDHUP */
	/* Told what of events happened; EPOLLERR and EPOLLHUP always. */
	void (*ready)(struct watch *, uint32_t events);
	uint32_t place;		/* private: index and generation */
	uint32_t generation;
};

struct timer {
	int64_t at_ms;		/* boot clock */
	void (*due)(struct timer *, int64_t now_ms);
	size_t place;		/* private: in the heap, from 1; 0: not set */
};

struct loop *loop_new(const struct idem_clock *);	/* NULL and errno */
void loop_free(struct loop *);

/* The time when this turn's wait ended, in milliseconds of the boot clock. */
int64_t loop_now(const struct loop *);

/* ready is set before.  0; -1 and errno. */
int loop_watch(struct loop *, struct watch *, int fd, uint32_t events);
int loop_change(struct loop *, struct watch *, uint32_t events);
/* Before the descriptor is closed: a child in vfork may hold it open. */
void loop_unwatch(struct loop *, struct watch *);

/*
 * Close a watched descriptor that no other process holds; its watch ends by
 * itself then, and a call is saved.
 */
void loop_close(struct loop *, struct watch *);

/* Set or move; due is set before.  -1: no memory (then it is not set). */
int loop_timer(struct loop *, struct timer *, int64_t at_ms);
void loop_timer_stop(struct loop *, struct timer *);

/*
 * One turn: wait for events, at most until until_ms or the next timer; then
 * the events, then the timers that are due.  A timer that is set for now while
 * the events are handled is due in the same turn: "when this turn is over".
 * 0, also when a signal ended the wait; -1 and errno when epoll is broken.
 */
int loop_turn(struct loop *, int64_t until_ms);

#endif
