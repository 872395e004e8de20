/* SPDX-License-Identifier: ISC */
#include "conn_private.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#define READS_A_TURN 8		/* of one connection */
#define THROWN_MAX (64u << 20)	/* read for nothing after an answer */

/* --- memory --------------------------------------------------------------- */

static void
count_params(struct conn *c)
{
	struct conn_input *in = c->input;
	size_t len = c->phase == CONN_HEADER ? in->reader.params.len : 0;

	c->all->reading += len - in->counted;
	in->counted = len;
}

void
conn_read_free(struct conn *c)
{
	struct conn_input *in = c->input;

	if (in == NULL)
		return;
	c->all->reading -= in->counted;
	idem_fcgi_reader_free(&in->reader);
	idem_buf_free(&in->held);
	free(in);
	c->input = NULL;
}

/*
 * The reader of a parked request was dropped: one that is fed a whole request
 * of the same id stands where that one stood, and will see its ABORT_REQUEST.
 */
static bool
revive(struct idem_fcgi_reader *r, uint16_t id)
{
	struct idem_buf copy = { 0 };
	struct idem_bytes left, body;
	bool whole;

	idem_fcgi_clean_copy(&copy, id, (struct idem_bytes){ 0 });
	left = idem_buf_bytes(&copy);
	while (left.len > 0)
		if (idem_fcgi_read(r, &left, &body) == IDEM_FCGI_BROKEN)
			break;
	whole = idem_buf_ok(&copy) && left.len == 0;
	idem_buf_free(&copy);
	return whole;
}

static bool
input_room(struct conn *c)
{
	if (c->input != NULL)
		return true;
	c->input = calloc(1, sizeof *c->input);
	if (c->input == NULL)
		return false;
	c->input->reader.params_max = c->all->limits.params_max;
	return c->phase != CONN_WAITING || revive(&c->input->reader, c->id);
}

static bool
is_needed(const struct conn *c, const struct conn_input *in)
{
	if (c->deaf)
		return false;
	if (in->held.len > 0 || idem_fcgi_frame_inside(&in->reader.frame))
		return true;
	if (c->phase == CONN_ENDED)
		return !c->body_done;
	if (c->phase == CONN_WAITING)
		return !c->parked;
	return c->phase != CONN_IDLE;
}

void
conn_read_rest(struct conn *c)
{
	if (c->input != NULL && !is_needed(c, c->input))
		conn_read_free(c);
}

void
conn_read_ended(struct conn *c)
{
	c->body_done = true;
	if (c->input != NULL)
		idem_fcgi_ended(&c->input->reader);
}

/* --- taking input apart --------------------------------------------------- */

/* What is left of the record that the reader is in; 0: it stands between. */
static size_t
record_rest(const struct idem_fcgi_frame *f)
{
	if (f->header_len == 0)
		return f->padding_left;
	if (f->header_len < IDEM_FCGI_HEADER_LEN)
		return IDEM_FCGI_HEADER_LEN - f->header_len;
	return (size_t)f->content_left + f->padding_left;
}

/*
 * The request is whole, or answered, and now another begins.  None of the web
 * servers we know does so, but who sends ahead is served in turn.  A front
 * that has our answer may also leave the body at that and send the next.
 */
static size_t
begin_ahead(struct conn *c)
{
	if (c->phase == CONN_WAITING)
		return 0;
	conn_read_ended(c);
	if (!c->keep)
		c->deaf = true;
	return 0;
}

/*
 * How much of it the reader may have now: while a request is under way that
 * needs no more input, one record after the other, for the next request must
 * stay outside.
 */
static size_t
may_have(struct conn *c, struct idem_bytes left)
{
	const uint8_t *at = left.at;
	size_t rest;

	if (c->phase < CONN_WAITING)
		return left.len;
	rest = record_rest(&c->input->reader.frame);
	if (rest == 0) {
		if (left.len < IDEM_FCGI_HEADER_LEN)
			return 0;
		if (at[1] == IDEM_FCGI_BEGIN_REQUEST)
			return begin_ahead(c);
		rest = IDEM_FCGI_HEADER_LEN + ((size_t)at[4] << 8 | at[5]) +
		    at[6];
	}
	return rest < left.len ? rest : left.len;
}

/* Written to the end and read to the end: the next request may begin. */
static void
turn_over(struct conn *c)
{
	if (c->phase != CONN_ENDED || c->first != NULL || !c->body_done ||
	    !c->keep || c->eof || c->all->closing)
		return;
	c->phase = CONN_IDLE;
	c->user = NULL;
	c->id = 0;
}

static void
advance(struct idem_bytes *left, size_t len)
{
	left->at = (const uint8_t *)left->at + len;
	left->len -= len;
}

void
conn_read_started(struct conn *c)
{
	bool inside = idem_fcgi_reader_busy(&c->input->reader);

	if (c->phase == CONN_IDLE && inside) {
		c->phase = CONN_HEADER;
		c->since_ms = loop_now(c->all->loop);
	} else if (c->phase == CONN_HEADER && !inside) {
		c->phase = CONN_IDLE;
	}
}

/* Take from *left what the phase allows; the rest is for later. */
static void
take(struct conn *c, struct idem_bytes *left)
{
	enum idem_fcgi_item item = IDEM_FCGI_MORE;
	struct idem_bytes some, body = { 0 };
	size_t len;

	while (!c->gone && !c->deaf) {
		turn_over(c);
		len = may_have(c, *left);
		if (len == 0 && item == IDEM_FCGI_MORE)
			break;
		some = (struct idem_bytes){ left->at, len };
		item = idem_fcgi_read(&c->input->reader, &some, &body);
		advance(left, len - some.len);
		conn_item(c, item, body);
		count_params(c);
	}
	conn_read_started(c);
	if (c->all->reading > c->all->limits.reading_max &&
	    c->input->counted > 0 && !c->gone)
		conn_item_broken(c, "too many unfinished PARAMS in all");
}

static void
hold(struct conn *c, struct idem_bytes left)
{
	struct idem_buf *held = &c->input->held;

	if (left.len == 0 || c->deaf || c->gone)
		return;
	idem_buf_append(held, left.at, left.len);
	if (!idem_buf_ok(held))
		c->gone = true;
}

bool
conn_read_held(struct conn *c)
{
	struct idem_buf held;
	struct idem_bytes left;

	turn_over(c);
	if (c->phase != CONN_IDLE || c->input == NULL ||
	    c->input->held.len == 0 || c->gone)
		return false;
	held = c->input->held;
	c->input->held = (struct idem_buf){ 0 };
	left = idem_buf_bytes(&held);
	take(c, &left);
	hold(c, left);
	idem_buf_free(&held);
	return true;
}

/* --- the socket ----------------------------------------------------------- */

static void
got(struct conn *c, struct idem_bytes bytes)
{
	struct idem_buf *held;

	if (c->phase >= CONN_ENDED || c->deaf) {
		c->thrown += (uint32_t)bytes.len;
		if (c->thrown > THROWN_MAX)
			c->gone = true;
	}
	if (c->deaf)
		return;
	if (!input_room(c)) {
		c->gone = true;
		return;
	}
	held = &c->input->held;
	if (held->len == 0) {
		take(c, &bytes);
		hold(c, bytes);
		return;
	}
	/* Fewer than 8 bytes of a record, or the next request. */
	hold(c, bytes);
	bytes = idem_buf_bytes(held);
	take(c, &bytes);
	idem_buf_drop(held, held->len - bytes.len);
}

static void
nothing(struct conn *c, ssize_t n)
{
	c->more = false;
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	/*
	 * A front that has closed wants no answer; but one that is ready may
	 * as well be written, for some peers shut only their side.
	 */
	if (n == 0 && c->phase == CONN_ENDED && c->first != NULL)
		c->eof = true;
	else
		c->gone = true;
}

static size_t
room_len(const struct conn *c)
{
	size_t held = c->input == NULL ? 0 : c->input->held.len;

	if (c->deaf)
		return CONN_READ_MAX;
	if (held >= CONN_HELD_MAX)
		return 0;
	return held + CONN_READ_MAX > CONN_HELD_MAX ?
	    CONN_HELD_MAX - held : CONN_READ_MAX;
}

bool
conn_read_wanted(const struct conn *c)
{
	return !c->gone && !c->eof && room_len(c) > 0;
}

void
conn_read(struct conn *c)
{
	size_t room;
	ssize_t n;
	int reads;

	for (reads = 0; reads < READS_A_TURN && conn_read_wanted(c); reads++) {
		room = room_len(c);
		n = recv(c->fd, c->all->room, room, MSG_DONTWAIT);
		if (n <= 0) {
			nothing(c, n);
			return;
		}
		c->more = (size_t)n == room;
		c->read_ms = loop_now(c->all->loop);
		got(c, (struct idem_bytes){ c->all->room, (size_t)n });
		if (!c->more)
			return;
	}
}
