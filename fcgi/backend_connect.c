/* SPDX-License-Identifier: ISC */
#include "backend_private.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#define FULL_PAUSE_MS 10	/* before a full backlog is tried again */

enum tried {
	TRIED_CONNECTED,
	TRIED_UNDERWAY,
	TRIED_FULL,
	TRIED_FAILED,
	TRIED_STARVED
};

static void
talk(struct backend_call *c)
{
	c->state = BACKEND_TALKING;
	c->moved_ms = loop_now(c->all->loop);
	backend_send(c);
	if (c->state != BACKEND_TALKING)
		return;
	backend_attend(c);
	backend_set_timer(c);
}

static void
connected(struct backend_call *c)
{
	c->link->target->failed_ms = 0;
	talk(c);
}

static enum tried
why_not(int error)
{
	switch (error) {
	case EINPROGRESS:
		return TRIED_UNDERWAY;
	case EAGAIN:		/* a unix socket's backlog */
	case EADDRNOTAVAIL:	/* all our ports are in use */
		return TRIED_FULL;
	default:
		return TRIED_FAILED;
	}
}

static enum tried
try_target(struct backend_call *c, struct backend_target *t)
{
	enum tried tried = TRIED_STARVED;

	c->link = backend_link_new(c, t);
	if (c->link != NULL) {
		if (connect(c->link->fd, (const struct sockaddr *)&t->at,
		    t->len) == 0)
			return TRIED_CONNECTED;
		tried = why_not(errno);
	}
	c->error = errno;
	if (tried == TRIED_UNDERWAY && loop_watch(c->all->loop,
	    &c->link->watch, c->link->fd, EPOLLOUT) == -1) {
		c->error = errno;
		tried = TRIED_STARVED;
	}
	return tried;
}

/* The time that is left is shared by the targets that are. */
static void
wait_for_it(struct backend_call *c, int64_t now_ms)
{
	int64_t left_ms = c->connect_until_ms - now_ms;

	c->try_until_ms = now_ms +
	    left_ms / (int64_t)(c->targets_len - c->target);
	backend_set_timer(c);
}

static void
none_left(struct backend_call *c, int64_t now_ms)
{
	if (c->targets_len == 0) {
		backend_give_up(c, BACKEND_NOT_STARTED, "not an address");
		return;
	}
	if (!c->busy) {
		backend_give_up(c, BACKEND_NOT_STARTED, NULL);
		return;
	}
	c->target = 0;
	c->try_until_ms = now_ms + FULL_PAUSE_MS;
	backend_set_timer(c);
}

/* From the present target on. */
static void
try_targets(struct backend_call *c)
{
	int64_t now_ms = loop_now(c->all->loop);

	for (; c->target < c->targets_len; c->target++) {
		switch (try_target(c, c->targets[c->target])) {
		case TRIED_CONNECTED:
			connected(c);
			return;
		case TRIED_UNDERWAY:
			wait_for_it(c, now_ms);
			return;
		case TRIED_STARVED:
			c->starved = true;
			c->busy = true;
			break;
		case TRIED_FULL:
			c->busy = true;
			break;
		case TRIED_FAILED:
			c->targets[c->target]->failed_ms = now_ms;
			break;
		}
		backend_part(c, false);
	}
	none_left(c, now_ms);
}

static void
try_next(struct backend_call *c)
{
	c->targets[c->target]->failed_ms = loop_now(c->all->loop);
	backend_part(c, false);
	c->target++;
	c->state = BACKEND_CONNECTING;
	try_targets(c);
}

void
backend_connect_ready(struct backend_call *c)
{
	socklen_t len = sizeof c->error;

	if (getsockopt(c->link->fd, SOL_SOCKET, SO_ERROR, &c->error,
	    &len) == 0 && c->error == 0)
		connected(c);
	else
		try_next(c);
}

void
backend_connect_due(struct backend_call *c, int64_t now_ms)
{
	if (now_ms >= c->connect_until_ms || now_ms >= c->limit_until_ms) {
		c->busy = true;		/* full, or silent */
		if (c->link != NULL)
			c->link->target->failed_ms = now_ms;
		backend_give_up(c, BACKEND_NOT_STARTED,
		    "no connection in time");
	} else if (now_ms < c->try_until_ms) {
		backend_set_timer(c);
	} else if (c->link != NULL) {
		c->busy = true;
		c->error = ETIMEDOUT;
		try_next(c);
	} else {
		try_targets(c);
	}
}

static void
connect_new(struct backend_call *c)
{
	int64_t now_ms = loop_now(c->all->loop);

	c->state = BACKEND_CONNECTING;
	c->connect_until_ms = c->connect_ms == 0 ? c->limit_until_ms :
	    now_ms + c->connect_ms;
	try_targets(c);
}

void
backend_connect(struct backend_call *c)
{
	if (c->keep)
		c->link = backend_link_reuse(c);
	c->reused = c->link != NULL;
	if (c->reused)
		talk(c);
	else
		connect_new(c);
}

/*
 * An application may close an idle connection in the moment in which we use
 * it.  Only what may be sent twice goes over one, so it is sent again.
 */
static void
start_again(struct backend_call *c)
{
	backend_part(c, false);
	c->reader = (struct idem_fcgi_client_reader){ .id = BACKEND_ID };
	c->sent = 0;
	c->sent_all = c->full = c->deaf = c->reused = false;
	connect_new(c);
}

void
backend_lost(struct backend_call *c, const char *why, int error)
{
	c->error = error;
	if (c->reused && !c->heard)
		start_again(c);
	else if (!c->touched)
		try_next(c);
	else
		backend_give_up(c, BACKEND_DIED, why);
}
