/* SPDX-License-Identifier: ISC */
#include "conn_private.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

const struct conn_limits conn_limits_default = {
	.params_max = 256u << 10,
	.header_ms = 30000,
	.body_ms = 60000,
	.idle_ms = 0,
	.write_ms = 60000,
	.linger_ms = 5000,
	.reading_max = 64u << 20,
};

bool
conn_known(const struct conn *c)
{
	return c->phase == CONN_BODY || c->phase == CONN_WAITING;
}

bool
conn_under_way(const struct conn *c)
{
	return conn_known(c) && !c->gone;
}

size_t
conn_size(void)
{
	return sizeof(struct conn);
}

void
conn_complain(const struct conn *c, const char *what)
{
	if (c->all->log != NULL)
		c->all->log(c->all->arg, what);
}

/* --- closing -------------------------------------------------------------- */

static void
unlink_conn(struct conn *c)
{
	if (c->previous != NULL)
		c->previous->next = c->next;
	else
		c->all->first = c->next;
	if (c->next != NULL)
		c->next->previous = c->previous;
	c->all->count--;
}

/* In the list of due ones it stays until that is worked off. */
void
conn_close(struct conn *c)
{
	conn_read_free(c);
	conn_write_free(c);
	loop_timer_stop(c->all->loop, &c->timer);
	if (c->watch.fd != -1)
		loop_close(c->all->loop, &c->watch);
	else
		(void)close(c->fd);
	unlink_conn(c);
	c->phase = CONN_CLOSED;
	if (!c->due)
		free(c);
}

/* --- opening -------------------------------------------------------------- */

/*
 * The timer of the turn is always in the loop's heap, at the end of all time
 * when nothing is due, so that it can be moved when memory is out.
 */
static int
conns_room(struct conns *all)
{
	if (all->room == NULL)
		all->room = malloc(CONN_READ_MAX + CONN_FILE_MAX);
	if (all->room == NULL)
		return -1;
	all->turn.due = conn_attend_turn;
	if (all->turn.place == 0)
		return loop_timer(all->loop, &all->turn, INT64_MAX);
	return 0;
}

int
conn_open(struct conns *all, int fd)
{
	struct conn *c = conns_room(all) == -1 ? NULL : calloc(1, sizeof *c);

	if (c == NULL) {
		(void)close(fd);
		return -1;
	}
	c->all = all;
	c->fd = fd;
	c->watch.fd = -1;
	c->watch.ready = conn_attend_ready;
	c->timer.due = conn_attend_deadline;
	c->read_ms = loop_now(all->loop);
	c->fresh = true;
	c->next = all->first;
	if (c->next != NULL)
		c->next->previous = c;
	all->first = c;
	all->count++;
	conn_attend_soon(c);
	return 0;
}

/* --- what the user may do ------------------------------------------------- */

void
conn_set_user(struct conn *c, void *user)
{
	c->user = user;
}

void
conn_end(struct conn *c, uint32_t app_status)
{
	struct idem_buf end = { 0 };

	if (!conn_known(c))
		return;
	if (c->erred)
		idem_fcgi_stream_end(&end, IDEM_FCGI_STDERR, c->id);
	idem_fcgi_stream_end(&end, IDEM_FCGI_STDOUT, c->id);
	idem_fcgi_end_write(&end, c->id, app_status,
	    IDEM_FCGI_REQUEST_COMPLETE);
	conn_write_records(c, &end);
	idem_buf_free(&end);
	/* Of an endless one the rest may be on its way: linger for it. */
	if (c->phase == CONN_WAITING && (c->keep || !c->endless)) {
		conn_read_ended(c);
		c->deaf = !c->keep;
	}
	c->phase = CONN_ENDED;
	conn_send(c);
	conn_attend_soon(c);
}

void
conn_cut(struct conn *c)
{
	if (!conn_known(c))
		return;
	conn_send(c);
	c->phase = CONN_ENDED;
	c->gone = true;
	conn_attend_soon(c);
}

void
conn_discard_body(struct conn *c)
{
	c->discard = true;
}

void
conn_body_whole(struct conn *c)
{
	if (c->phase != CONN_BODY)
		return;
	c->phase = CONN_WAITING;
	c->endless = true;
}

void
conn_park(struct conn *c)
{
	c->parked = true;
	if (!c->busy)
		conn_read_rest(c);
}

/* A request may have come in that we have not been told of yet. */
static bool
is_idle(const struct conn *c)
{
	char byte;

	return c->phase == CONN_IDLE && !c->busy && !c->fresh &&
	    recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0;
}

void
conns_close_idle(struct conns *all)
{
	struct conn *c, *next;

	all->closing = true;
	for (c = all->first; c != NULL; c = next) {
		next = c->next;
		if (is_idle(c))
			conn_close(c);
	}
}

void
conns_free(struct conns *all)
{
	while (all->first != NULL)
		conn_close(all->first);
	if (all->turn.place != 0)
		conn_attend_turn(&all->turn, 0);
	loop_timer_stop(all->loop, &all->turn);
	free(all->room);
	all->room = NULL;
}
