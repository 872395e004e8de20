/* SPDX-License-Identifier: ISC */
#include "conn_private.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

/* Who dribbles on after an answer is heard for no longer than this. */
#define LINGERS_MAX 12

#define NEVER INT64_MAX

static struct conn *
of_watch(struct watch *w)
{
	return (struct conn *)((char *)w - offsetof(struct conn, watch));
}

static struct conn *
of_timer(struct timer *t)
{
	return (struct conn *)((char *)t - offsetof(struct conn, timer));
}

static struct conns *
of_turn(struct timer *t)
{
	return (struct conns *)((char *)t - offsetof(struct conns, turn));
}

/* --- deadlines ------------------------------------------------------------ */

static int64_t
earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t
linger_deadline(const struct conn *c)
{
	int64_t linger_ms = c->all->limits.linger_ms;

	return earlier(c->read_ms + linger_ms,
	    c->since_ms + LINGERS_MAX * linger_ms);
}

/* Until when its input may be as it is. */
static int64_t
read_deadline(const struct conn *c)
{
	const struct conn_limits *limits = &c->all->limits;

	switch ((enum conn_phase)c->phase) {
	case CONN_IDLE:
		return limits->idle_ms == 0 ? NEVER :
		    c->read_ms + limits->idle_ms;
	case CONN_HEADER:
		return c->since_ms + limits->header_ms;
	case CONN_BODY:
		return c->read_ms + limits->body_ms;
	case CONN_WAITING:
		return NEVER;
	case CONN_ENDED:
		/* While the answer is being written that is what counts. */
		return c->first != NULL ? NEVER : linger_deadline(c);
	case CONN_LINGER:
		return linger_deadline(c);
	case CONN_CLOSED:
		return NEVER;
	}
	abort();
}

static int64_t
deadline(const struct conn *c)
{
	int64_t at_ms = read_deadline(c);

	if (c->first != NULL)
		at_ms = earlier(at_ms, c->wrote_ms + c->all->limits.write_ms);
	return at_ms;
}

/* Not moved with every byte: when it is due, it is seen whether it is late. */
static int
arm(struct conn *c)
{
	int64_t at_ms = deadline(c);

	if (at_ms == NEVER || (c->timer.place != 0 && c->timer.at_ms <= at_ms))
		return 0;
	return loop_timer(c->all->loop, &c->timer, at_ms);
}

/* --- attending ------------------------------------------------------------ */

static uint32_t
events_wanted(const struct conn *c)
{
	uint32_t events = 0;

	if (conn_read_wanted(c))
		events |= EPOLLIN;
	else if (!c->eof)
		events |= EPOLLRDHUP;
	if (c->first != NULL)
		events |= EPOLLOUT;
	return events;
}

static int
watch(struct conn *c)
{
	uint32_t events = events_wanted(c);

	if (c->watch.fd == -1)
		return loop_watch(c->all->loop, &c->watch, c->fd, events);
	return loop_change(c->all->loop, &c->watch, events);
}

/*
 * The answer is written.  A socket that is closed with input unread throws
 * away what its peer has not yet read of the answer, so that is read first; a
 * front that is still writing sees only then what we have said.
 */
static void
answered(struct conn *c)
{
	bool keep = c->keep && !c->all->closing && !c->eof;

	if (c->eof || (!keep && c->body_done && !c->more)) {
		c->gone = true;
		return;
	}
	if (!c->written)
		c->since_ms = c->read_ms = loop_now(c->all->loop);
	c->written = true;
	if (keep)
		return;
	(void)shutdown(c->fd, SHUT_WR);
	c->phase = CONN_LINGER;
	if (c->body_done)
		c->deaf = true;
}

static void
tell_drained(struct conn *c)
{
	if (!c->high || c->queued > CONN_LOW || !conn_under_way(c))
		return;
	c->high = false;
	c->all->user->drained(c, c->user);
	conn_send(c);
}

/* All that may follow from input, and from what the user did meanwhile. */
static void
work(struct conn *c)
{
	do {
		conn_send(c);
		tell_drained(c);
	} while (conn_read_held(c));
	if (c->phase == CONN_ENDED && c->first == NULL && !c->gone)
		answered(c);
	if (c->phase == CONN_LINGER && c->body_done && !c->more)
		c->gone = true;
	if (c->phase == CONN_IDLE && c->all->closing)
		c->gone = true;
}

static void
close_and_tell(struct conn *c)
{
	bool told = conn_known(c);

	c->phase = CONN_ENDED;
	if (told)
		c->all->user->closed(c, c->user);
	c->busy = false;
	conn_close(c);
}

/* Leave it such that whatever comes next is noticed. */
static void
settle(struct conn *c)
{
	if (!c->gone) {
		conn_read_rest(c);
		if (watch(c) == -1 || arm(c) == -1)
			c->gone = true;
	}
	if (c->gone) {
		close_and_tell(c);
		return;
	}
	c->busy = false;
	if (c->high && c->queued <= CONN_LOW && conn_under_way(c))
		conn_attend_soon(c);
}

static void
attend(struct conn *c, bool readable)
{
	c->busy = true;
	if (readable)
		conn_read(c);
	work(c);
	settle(c);
}

void
conn_attend_ready(struct watch *w, uint32_t events)
{
	struct conn *c = of_watch(w);
	bool over = (events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) != 0;

	if (events & EPOLLOUT)
		c->full = false;
	if (over && !conn_read_wanted(c))
		c->gone = true;
	attend(c, over || (events & EPOLLIN) != 0);
}

void
conn_attend_deadline(struct timer *t, int64_t now_ms)
{
	struct conn *c = of_timer(t);

	if (deadline(c) <= now_ms) {
		if (c->phase == CONN_HEADER)
			conn_complain(c, "no whole request in time");
		c->gone = true;
	}
	attend(c, false);
}

void
conn_attend_turn(struct timer *t, int64_t now_ms)
{
	struct conns *all = of_turn(t);
	struct conn *c = all->due_first, *next;
	bool fresh;

	(void)now_ms;
	all->due_first = all->due_last = NULL;
	/* It was in the heap a moment ago, so there is room. */
	(void)loop_timer(all->loop, t, NEVER);
	for (; c != NULL; c = next) {
		next = c->due_next;
		c->due = false;
		if (c->phase == CONN_CLOSED) {
			free(c);
			continue;
		}
		fresh = c->fresh;
		c->fresh = false;
		attend(c, fresh);
	}
}

void
conn_attend_soon(struct conn *c)
{
	struct conns *all = c->all;

	if (c->busy || c->due)
		return;
	c->due = true;
	c->due_next = NULL;
	if (all->due_last != NULL) {
		all->due_last->due_next = c;
	} else {
		all->due_first = c;
		(void)loop_timer(all->loop, &all->turn, loop_now(all->loop));
	}
	all->due_last = c;
}
