/* SPDX-License-Identifier: ISC */
#include "conn_private.h"

#include <stdlib.h>
#include <unistd.h>

#define COPIES_MAX 65536u	/* more of them are written at once */

static void
fail(struct conn *c)
{
	c->gone = true;
	conn_attend_soon(c);
}

static void
piece_free(struct conn_piece *p)
{
	idem_buf_free(&p->copy);
	idem_blob_drop(p->blob);
	if (p->fd != -1)
		(void)close(p->fd);
	free(p);
}

static struct conn_piece *
piece_new(enum conn_piece_kind kind, enum idem_fcgi_type type)
{
	struct conn_piece *p = calloc(1, sizeof *p);

	if (p == NULL)
		return NULL;
	p->fd = -1;
	p->kind = (uint8_t)kind;
	p->type = (uint8_t)type;
	return p;
}

static void
push(struct conn *c, struct conn_piece *p)
{
	if (c->last != NULL) {
		c->last->next = p;
	} else {
		c->first = p;
		c->wrote_ms = loop_now(c->all->loop);
	}
	c->last = p;
}

void
conn_write_pop(struct conn *c)
{
	struct conn_piece *p = c->first;

	c->first = p->next;
	if (c->first == NULL)
		c->last = NULL;
	piece_free(p);
}

static void
queued(struct conn *c, uint64_t len)
{
	c->queued += len;
	if (c->queued > CONN_LOW)
		c->high = true;
	conn_attend_soon(c);
}

/*
 * Small writes join the one before, if that is of the same stream and not so
 * large that what is written of it already would stay for long.
 */
static bool
joins(const struct conn_piece *p, enum conn_piece_kind kind,
    enum idem_fcgi_type type, size_t len)
{
	return p != NULL && p->kind == kind && p->type == type &&
	    p->copy.len + len <= COPIES_MAX;
}

static void
copy(struct conn *c, enum conn_piece_kind kind, enum idem_fcgi_type type,
    struct idem_bytes bytes)
{
	struct conn_piece *p = c->last;

	if (!joins(p, kind, type, bytes.len)) {
		p = piece_new(kind, type);
		if (p == NULL) {
			fail(c);
			return;
		}
		push(c, p);
	}
	idem_buf_append(&p->copy, bytes.at, bytes.len);
	if (!idem_buf_ok(&p->copy)) {
		fail(c);
		return;
	}
	p->left += bytes.len;
	queued(c, bytes.len);
}

void
conn_write_records(struct conn *c, const struct idem_buf *records)
{
	if (c->gone)
		return;
	if (!idem_buf_ok(records))
		fail(c);
	else
		copy(c, CONN_RECORDS, IDEM_FCGI_END_REQUEST,
		    idem_buf_bytes(records));
}

static void
write_copy(struct conn *c, enum idem_fcgi_type type, struct idem_bytes bytes)
{
	if (!conn_under_way(c) || bytes.len == 0)
		return;
	copy(c, CONN_COPY, type, bytes);
	if (c->queued >= COPIES_MAX)
		conn_send(c);
}

void
conn_write(struct conn *c, struct idem_bytes bytes)
{
	write_copy(c, IDEM_FCGI_STDOUT, bytes);
}

void
conn_write_err(struct conn *c, struct idem_bytes bytes)
{
	if (bytes.len > 0)
		c->erred = true;
	write_copy(c, IDEM_FCGI_STDERR, bytes);
}

void
conn_write_blob(struct conn *c, struct idem_blob *blob, size_t from,
    size_t len)
{
	struct conn_piece *p;

	if (!conn_under_way(c) || len == 0)
		return;
	p = piece_new(CONN_BLOB, IDEM_FCGI_STDOUT);
	if (p == NULL) {
		fail(c);
		return;
	}
	p->blob = idem_blob_take(blob);
	p->from = from;
	p->left = len;
	push(c, p);
	queued(c, len);
}

void
conn_write_file(struct conn *c, int fd, uint64_t len)
{
	struct conn_piece *p = NULL;

	if (conn_under_way(c) && len > 0) {
		p = piece_new(CONN_FILE, IDEM_FCGI_STDOUT);
		if (p == NULL)
			fail(c);
	}
	if (p == NULL) {
		(void)close(fd);
		return;
	}
	p->fd = fd;
	p->left = len;
	push(c, p);
	queued(c, len);
}

uint64_t
conn_queued(const struct conn *c)
{
	return c->queued;
}

void
conn_write_free(struct conn *c)
{
	while (c->first != NULL)
		conn_write_pop(c);
	c->queued = 0;
}

void
conn_write_abort(struct conn *c)
{
	struct conn_piece *p = c->first, *next;

	c->first = c->last = NULL;
	c->queued = 0;
	for (; p != NULL; p = next) {
		next = p->next;
		p->next = NULL;
		if (p->kind != CONN_RECORDS)
			p->left = p->record;
		if (p->left > 0) {
			push(c, p);
			c->queued += p->left;
		} else {
			piece_free(p);
		}
	}
}
