/* SPDX-License-Identifier: ISC */
#include "conn_private.h"

/* What the reader tells, and what becomes of it. */

#define ASKED_MAX 200u		/* management records whose answers wait */

void
conn_item_broken(struct conn *c, const char *what)
{
	conn_complain(c, what);
	/* An answer that is on its way is not the worse for it. */
	if (c->phase == CONN_ENDED || c->phase == CONN_LINGER) {
		c->keep = false;
		c->deaf = true;
	} else {
		c->gone = true;
	}
}

static void
begun(struct conn *c)
{
	c->id = c->input->reader.id;
	c->keep = c->input->reader.keep;
	conn_read_started(c);
}

/* Nothing of the request before may stay. */
static void
start(struct conn *c, enum conn_phase phase)
{
	c->phase = (uint8_t)phase;
	c->user = NULL;
	c->thrown = 0;
	c->body_done = c->discard = c->parked = c->endless = false;
	c->erred = c->written = c->high = false;
}

static void
params_whole(struct conn *c)
{
	struct idem_buf *stream = &c->input->reader.params;
	struct idem_params params;

	switch (idem_params_read(idem_buf_bytes(stream), &params)) {
	case IDEM_PARAMS_READ:
		idem_buf_free(stream);
		start(c, CONN_BODY);
		c->all->user->begun(c, c->all->arg, &params);
		return;
	case IDEM_PARAMS_UNREADABLE:
		idem_buf_free(stream);
		start(c, CONN_BODY);
		c->discard = true;
		c->all->user->refused(c, c->all->arg, CONN_UNREADABLE);
		return;
	case IDEM_PARAMS_FAILED:
		conn_item_broken(c, "PARAMS for which there is no memory");
		return;
	}
}

static void
body_whole(struct conn *c)
{
	if (c->phase == CONN_BODY) {
		c->phase = CONN_WAITING;
		c->all->user->whole(c, c->user);
	} else if (c->phase != CONN_WAITING) {
		conn_read_ended(c);
	}
}

static void
too_large(struct conn *c)
{
	/* Its reader is of no use now, and neither is the rest. */
	start(c, CONN_BODY);
	c->deaf = true;
	c->keep = false;
	c->all->user->refused(c, c->all->arg, CONN_TOO_LARGE);
}

/*
 * END_REQUEST as soon as possible (5.4): what has not begun to be written
 * never is.  The user may go on for himself, but not with this conn.
 */
static void
aborted(struct conn *c)
{
	struct idem_buf end = { 0 };
	bool told = conn_under_way(c);

	if (c->phase == CONN_ENDED || c->phase == CONN_LINGER) {
		conn_read_ended(c);
		return;
	}
	c->body_done = c->keep || c->phase == CONN_WAITING;
	c->phase = CONN_ENDED;
	c->written = false;
	idem_fcgi_ended(&c->input->reader);
	conn_write_abort(c);
	idem_fcgi_end_write(&end, c->id, 0, IDEM_FCGI_REQUEST_COMPLETE);
	conn_write_records(c, &end);
	idem_buf_free(&end);
	if (told)
		c->all->user->closed(c, c->user);
}

static void
answer(struct conn *c)
{
	struct idem_fcgi_reader *r = &c->input->reader;

	if (c->asked == ASKED_MAX)
		conn_send(c);
	if (c->asked == ASKED_MAX) {
		conn_item_broken(c, "asks, and does not read the answers");
		return;
	}
	c->asked++;
	conn_write_records(c, &r->answer);
	idem_buf_clear(&r->answer);
	if (!r->refused)
		return;
	/* Its PARAMS are still to come: close lingering. */
	start(c, CONN_ENDED);
	c->keep = false;
}

void
conn_item(struct conn *c, enum idem_fcgi_item item, struct idem_bytes body)
{
	switch (item) {
	case IDEM_FCGI_MORE:
		return;
	case IDEM_FCGI_BEGUN:
		begun(c);
		return;
	case IDEM_FCGI_PARAMS_WHOLE:
		params_whole(c);
		return;
	case IDEM_FCGI_BODY:
		if (c->phase == CONN_BODY && !c->discard)
			c->all->user->body(c, c->user, body);
		return;
	case IDEM_FCGI_BODY_WHOLE:
		body_whole(c);
		return;
	case IDEM_FCGI_ABORTED:
		aborted(c);
		return;
	case IDEM_FCGI_ANSWER:
		answer(c);
		return;
	case IDEM_FCGI_TOO_LARGE:
		too_large(c);
		return;
	case IDEM_FCGI_BROKEN:
		conn_item_broken(c, c->input->reader.wrong);
		return;
	}
}
