/* SPDX-License-Identifier: ISC */
#include "loop.h"

#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int64_t clock_ms;

static int64_t
clock_now(void *arg)
{
	(void)arg;
	return clock_ms;
}

static const struct idem_clock clock_set = { clock_now, clock_now, NULL };

/* --- watches -------------------------------------------------------------- */

/* A pipe with something to read in it, and what is done when it is ready. */
struct reader {
	struct watch watch;
	struct loop *loop;
	int fds[2];
	int calls;
	uint32_t events;
	struct reader *other;
	void (*then)(struct reader *);
};

static void
reader_ready(struct watch *w, uint32_t events)
{
	struct reader *r = (struct reader *)w;	/* its first member */

	r->calls++;
	r->events = events;
	if (r->then != NULL)
		r->then(r);
}

static void
reader_open(struct loop *l, struct reader *r)
{
	*r = (struct reader){ .watch = { .fd = -1, .ready = reader_ready },
	    .loop = l };
	if (pipe2(r->fds, O_CLOEXEC | O_NONBLOCK) == -1 ||
	    write(r->fds[1], "x", 1) != 1 ||
	    loop_watch(l, &r->watch, r->fds[0], EPOLLIN) == -1)
		bail_out("no pipe");
}

static void
reader_close(struct reader *r)
{
	loop_unwatch(r->loop, &r->watch);
	(void)close(r->fds[0]);
	(void)close(r->fds[1]);
}

static void
turn(struct loop *l)
{
	if (loop_turn(l, clock_ms) == -1)
		bail_out("the loop is broken");
}

static void
unwatch_other(struct reader *r)
{
	loop_unwatch(r->loop, &r->other->watch);
	loop_unwatch(r->loop, &r->watch);
}

/* The same seat and the same descriptor, but nothing to read any more. */
static void
replace_other(struct reader *r)
{
	struct reader *o = r->other;
	char byte;

	loop_unwatch(r->loop, &r->watch);
	loop_unwatch(r->loop, &o->watch);
	if (read(o->fds[0], &byte, 1) != 1 ||
	    loop_watch(r->loop, &o->watch, o->fds[0], EPOLLIN) == -1)
		bail_out("no second watch");
}

static void
deafen_other(struct reader *r)
{
	(void)loop_change(r->loop, &r->watch, 0);
	(void)loop_change(r->loop, &r->other->watch, EPOLLRDHUP);
}

/* Its descriptor with it; the number is taken again at once. */
static void
close_other(struct reader *r)
{
	struct reader *o = r->other;

	loop_unwatch(r->loop, &r->watch);
	loop_close(r->loop, &o->watch);
	if (fcntl(o->fds[0], F_GETFD) != -1)
		bail_out("it is not closed");
	o->fds[0] = dup(r->fds[0]);
}

/* Whichever of two is called first does it to the other, in one batch. */
static const struct {
	void (*then)(struct reader *);
	const char *what;
} stale[] = {
	{ unwatch_other, "a watch removed in the same batch is not called" },
	{ replace_other, "nor one that was removed and set anew" },
	{ close_other, "nor one that was closed" },
	{ deafen_other, "nor one that no longer asks for what happened" },
};

static void
test_stale(struct loop *l)
{
	struct reader a, b;
	size_t i;

	for (i = 0; i < sizeof stale / sizeof *stale; i++) {
		reader_open(l, &a);
		reader_open(l, &b);
		a.other = &b;
		b.other = &a;
		a.then = b.then = stale[i].then;
		turn(l);
		is_int(a.calls + b.calls, 1, "%s", stale[i].what);
		turn(l);
		is_int(a.calls + b.calls, 1, "... nor in the next turn");
		reader_close(&a);
		reader_close(&b);
	}
}

static void
test_watch(struct loop *l)
{
	struct reader r;

	reader_open(l, &r);
	turn(l);
	turn(l);
	is_int(r.calls, 2, "what is not read is told in each turn");
	is_int(r.events, EPOLLIN, "with what happened");
	ok(loop_change(l, &r.watch, 0) == 0, "a watch may ask for nothing");
	turn(l);
	is_int(r.calls, 2, "and is told nothing");
	(void)close(r.fds[1]);
	r.fds[1] = -1;
	turn(l);
	is_int(r.events, EPOLLHUP, "but of a hang-up it is told all the same");
	reader_close(&r);
	is_int(r.watch.fd, -1, "a watch that was removed has no descriptor");
	loop_unwatch(l, &r.watch);
	loop_close(l, &r.watch);
	ok(loop_watch(l, &r.watch, r.fds[0], EPOLLIN) == -1 &&
	    r.watch.fd == -1 && errno == EBADF,
	    "a closed descriptor is refused, and nothing is watched");
}

static void
test_many(struct loop *l)
{
	static struct reader r[300];	/* more than a turn hands out */
	size_t i, round, called = 0;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < 300; i++)
			reader_open(l, &r[i]);
		turn(l);
		turn(l);
		for (i = 0; i < 300; i++) {
			called += r[i].calls > 0;
			reader_close(&r[i]);
		}
	}
	is_int((long long)called, 900,
	    "of 300 ready ones all are told within two turns, three times");
}

/* --- timers --------------------------------------------------------------- */

struct alarm {
	struct timer timer;
	struct loop *loop;
	char name;
	struct alarm *stops;
	int64_t again_ms;	/* set anew for so much later; -1: no */
	int calls;
};

static char rung[64];

static void
ring(struct timer *t, int64_t now_ms)
{
	struct alarm *a = (struct alarm *)t;	/* its first member */
	size_t len = strlen(rung);

	a->calls++;
	if (len + 1 < sizeof rung) {
		rung[len] = a->name;
		rung[len + 1] = '\0';
	}
	if (a->stops != NULL)
		loop_timer_stop(a->loop, &a->stops->timer);
	if (a->again_ms >= 0)
		(void)loop_timer(a->loop, t, now_ms + a->again_ms);
}

static void
alarm_set(struct loop *l, struct alarm *a, char name, int64_t in_ms)
{
	*a = (struct alarm){ .timer = { .due = ring }, .loop = l,
	    .name = name, .again_ms = -1 };
	if (loop_timer(l, &a->timer, clock_ms + in_ms) == -1)
		bail_out("no memory");
}

static void
test_timers(struct loop *l)
{
	struct alarm a, b, c, d;

	alarm_set(l, &a, 'a', 30);
	alarm_set(l, &b, 'b', 10);
	alarm_set(l, &c, 'c', 20);
	alarm_set(l, &d, 'd', 40);
	turn(l);
	is(rung, "", "before its time no timer is due");
	clock_ms += 10;
	turn(l);
	is(rung, "b", "at its time it is");
	loop_timer_stop(l, &d.timer);
	loop_timer_stop(l, &d.timer);
	(void)loop_timer(l, &c.timer, clock_ms + 50);
	clock_ms += 40;
	turn(l);
	is(rung, "ba", "a stopped one is not, nor one that was moved");
	clock_ms += 100;
	turn(l);
	is(rung, "bac", "the moved one is, at its new time");
	is_int((long long)c.timer.place, 0, "a timer that was due is not set");

	rung[0] = '\0';
	alarm_set(l, &a, 'a', 1);
	alarm_set(l, &b, 'b', 2);
	a.stops = &b;
	clock_ms += 5;
	turn(l);
	is(rung, "a", "one that another stops in the same turn is not due");

	rung[0] = '\0';
	alarm_set(l, &a, 'a', 0);
	a.again_ms = 0;
	turn(l);
	is(rung, "a", "one that sets itself for now waits for the next turn");
	loop_timer_stop(l, &a.timer);
}

static struct alarm at_the_end;

static void
set_for_now(struct reader *r)
{
	loop_unwatch(r->loop, &r->watch);
	alarm_set(r->loop, &at_the_end, 'e', 0);
}

static void
test_turn_end(struct loop *l)
{
	struct reader r;

	rung[0] = '\0';
	reader_open(l, &r);
	r.then = set_for_now;
	turn(l);
	is(rung, "e", "a timer set for now by an event is due in that turn");
	reader_close(&r);
}

#define MANY 10000

static void
test_many_timers(struct loop *l)
{
	static struct alarm many[MANY];
	struct timespec from, to;
	uint32_t chance = 1;	/* the same each time */
	int64_t in_ms[MANY], late = 0, missed = 0;
	size_t i;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (i = 0; i < MANY; i++) {
		chance = chance * 1664525u + 1013904223u;
		in_ms[i] = chance >> 16 & 1023;
		alarm_set(l, &many[i], 'm', in_ms[i]);
	}
	for (i = 0; i < MANY; i += 2)	/* move half of them */
		(void)loop_timer(l, &many[i].timer,
		    clock_ms + (in_ms[i] ^= 512));
	for (i = 0; i < MANY; i += 5)
		loop_timer_stop(l, &many[i].timer);
	for (i = 0; i < 512; i++) {
		turn(l);
		clock_ms++;
	}
	for (i = 0; i < MANY; i++)
		if (i % 5 == 0)
			late += many[i].calls;
		else
			missed += many[i].calls != (in_ms[i] < 512);
	for (i = 0; i < 513; i++) {
		turn(l);
		clock_ms++;
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	for (i = 0; i < MANY; i++)
		if (i % 5 != 0)
			missed += many[i].calls != 1;
	is_int(missed, 0, "of 10,000 timers each is due once, at its time");
	is_int(late, 0, "and none that was stopped");
	note("10,000 timers and 1,025 turns took %lld us",
	    (long long)((to.tv_sec - from.tv_sec) * 1000000 +
	    (to.tv_nsec - from.tv_nsec) / 1000));
}

/* --- waiting -------------------------------------------------------------- */

static void
on_signal(int number)
{
	(void)number;
}

static void
test_waiting(void)
{
	struct loop *l = loop_new(&idem_clock_real);
	struct sigaction action = { .sa_handler = on_signal };
	struct itimerval soon = { { 0, 10000 }, { 0, 10000 } }, none = { 0 };
	struct alarm a;
	int64_t from_ms;
	int turns;

	if (l == NULL)
		bail_out("no loop");
	from_ms = loop_now(l);
	is_int(loop_turn(l, from_ms + 20), 0, "a turn without events ends");
	ok(loop_now(l) >= from_ms + 20, "when its time has come, not before");

	a = (struct alarm){ .timer = { .due = ring }, .loop = l,
	    .name = 't', .again_ms = -1 };
	rung[0] = '\0';
	(void)loop_timer(l, &a.timer, loop_now(l) + 20);
	for (turns = 0; turns < 3 && a.calls == 0; turns++)
		(void)loop_turn(l, loop_now(l) + 60000);
	is_int(a.calls, 1, "a timer ends the wait");

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	is_int(loop_turn(l, loop_now(l) + 60000), 0,
	    "a signal ends the wait, and that is no fault");
	setitimer(ITIMER_REAL, &none, NULL);
	loop_free(l);
	loop_free(NULL);
}

int
main(void)
{
	struct loop *l;

	clock_ms = 5000;
	l = loop_new(&clock_set);
	if (l == NULL)
		bail_out("no loop");
	is_int(loop_now(l), 5000, "a new loop knows the time");
	test_watch(l);
	test_stale(l);
	test_many(l);
	test_timers(l);
	test_turn_end(l);
	test_many_timers(l);
	loop_free(l);
	test_waiting();
	return done();
}
