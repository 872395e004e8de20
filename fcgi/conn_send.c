/* SPDX-License-Identifier: ISC */
#include "conn_private.h"
#include "label.h"
#include "spool.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define RECORD_MAX 65528u	/* a multiple of 8: needs no padding */
#define SEND_MAX (1u << 20)	/* of one connection in a turn */
#define RECORDS_MAX 20u		/* in one sendmsg */
#define SPANS_MAX (3 * RECORDS_MAX)

/* One sendmsg. */
struct sending {
	struct iovec span[SPANS_MAX];
	uint8_t header[RECORDS_MAX][IDEM_FCGI_HEADER_LEN];
	uint8_t zeroes[8];
	size_t spans, records, len;
	bool read;	/* the room for a file is in use */
};

static size_t
padding(size_t content)
{
	return -content & 7;
}

/* Of the record that stands first in the piece. */
static size_t
record_content(const struct conn_piece *p)
{
	if (p->record > 0)
		return p->record;
	return p->left < RECORD_MAX ? (size_t)p->left : RECORD_MAX;
}

static void
add(struct sending *s, uint8_t *at, size_t len, size_t *skip)
{
	size_t over = *skip < len ? *skip : len;

	*skip -= over;
	if (over == len)
		return;
	s->span[s->spans++] = (struct iovec){ at + over, len - over };
	s->len += len - over;
}

/* NULL: not in this sendmsg, or never (then gone). */
static uint8_t *
content_at(struct conn *c, struct sending *s, const struct conn_piece *p,
    size_t len)
{
	uint8_t *room = c->all->room + CONN_READ_MAX;

	if (p->kind == CONN_COPY)
		return p->copy.at + p->from;
	if (p->kind == CONN_BLOB)
		return p->blob->at + p->from;
	if (s->read)
		return NULL;
	s->read = true;
	if (spool_read_at(p->fd, room, len, p->from))
		return room;
	c->gone = true;		/* it is shorter than we were told */
	return NULL;
}

static bool
add_record(struct conn *c, struct sending *s, const struct conn_piece *p)
{
	size_t len = record_content(p), skip = p->done;
	uint8_t *header, *at;

	if (s->records == RECORDS_MAX)
		return false;
	at = content_at(c, s, p, len);
	if (at == NULL)
		return false;
	header = s->header[s->records++];
	idem_fcgi_header(header, (enum idem_fcgi_type)p->type, c->id,
	    (uint16_t)len, (uint8_t)padding(len));
	add(s, header, IDEM_FCGI_HEADER_LEN, &skip);
	add(s, at, len, &skip);
	add(s, s->zeroes, padding(len), &skip);
	return true;
}

/* All of a piece that fits; false if some did not. */
static bool
add_piece(struct conn *c, struct sending *s, const struct conn_piece *p)
{
	struct conn_piece now = *p;	/* how far the sending has come */
	size_t none = 0, len;

	if (p->kind == CONN_RECORDS) {
		if (s->records == RECORDS_MAX)
			return false;
		s->records++;
		add(s, p->copy.at + p->from, (size_t)p->left, &none);
		return true;
	}
	while (now.left > 0) {
		if (!add_record(c, s, &now))
			return false;
		len = record_content(&now);
		now.from += len;
		now.left -= len;
		now.record = 0;
		now.done = 0;
	}
	return true;
}

/* --- what the socket took ------------------------------------------------- */

static size_t
took_of_records(struct conn *c, struct conn_piece *p, size_t len)
{
	if (len > p->left)
		len = (size_t)p->left;
	p->from += len;
	p->left -= len;
	c->queued -= len;
	return len;
}

static size_t
took_of_record(struct conn *c, struct conn_piece *p, size_t len)
{
	size_t content = record_content(p);
	size_t rest = IDEM_FCGI_HEADER_LEN + content + padding(content) -
	    p->done;

	if (len < rest) {
		p->record = (uint16_t)content;
		p->done += (uint32_t)len;
		return len;
	}
	p->from += content;
	p->left -= content;
	p->record = 0;
	p->done = 0;
	c->queued -= content;
	return rest;
}

static void
took(struct conn *c, size_t len)
{
	struct conn_piece *p;

	c->wrote_ms = loop_now(c->all->loop);
	while (len > 0) {
		p = c->first;
		len -= p->kind == CONN_RECORDS ? took_of_records(c, p, len) :
		    took_of_record(c, p, len);
		if (p->left == 0)
			conn_write_pop(c);
	}
	if (c->first == NULL)
		c->asked = 0;
}

static ssize_t
send_some(struct conn *c, struct sending *s)
{
	struct msghdr message = {
		.msg_iov = s->span, .msg_iovlen = s->spans
	};
	ssize_t n;

	do {
		n = IDEM_LABEL_FAILS("reply.write") ? -1 : sendmsg(c->fd,
		    &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (n == -1 && errno == EINTR);
	if (n == -1 && errno != EAGAIN)
		c->gone = true;
	return n;
}

/* How much the socket took. */
static size_t
send_once(struct conn *c)
{
	struct sending s;
	struct conn_piece *p;
	ssize_t n;

	s.spans = s.records = s.len = 0;
	s.read = false;
	memset(s.zeroes, 0, sizeof s.zeroes);
	for (p = c->first; p != NULL && add_piece(c, &s, p); p = p->next)
		;
	if (c->gone)
		return 0;
	n = send_some(c, &s);
	if (n > 0) {
		took(c, (size_t)n);
		IDEM_LABEL("reply.first_byte");
		if (c->first == NULL)
			IDEM_LABEL("reply.sent");
	}
	c->full = n < (ssize_t)s.len;
	return n > 0 ? (size_t)n : 0;
}

/* A peer that takes for ever must not keep the others waiting for ever. */
void
conn_send(struct conn *c)
{
	size_t sent = 0;

	while (c->first != NULL && !c->gone && !c->full && sent < SEND_MAX)
		sent += send_once(c);
	if (c->gone)
		conn_attend_soon(c);
}
