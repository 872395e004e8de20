/* SPDX-License-Identifier: ISC */
#include "backend_private.h"
#include "spool.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <unistd.h>

/*
 * All that is sent is one row of bytes, and `sent` says how far we are in it:
 *
 *	BEGIN PARAMS ... end of PARAMS   STDIN STDIN ... STDIN   end of STDIN
 *	          head                   RECORD RECORD ... rest      8 bytes
 *
 * A record that the socket took in part is read from the file again, so a call
 * holds nothing of its body.
 */
#define RECORD 65536u		/* with its header; needs no padding */
#define PIECE (RECORD - IDEM_FCGI_HEADER_LEN)
#define SPANS_MAX 5		/* head, header, content, padding, end */
#define SEND_MAX (1u << 20)	/* of one call in a turn */
#define READS_MAX 4		/* of BACKEND_READ_SIZE, the same */

/* --- sending -------------------------------------------------------------- */

/* One sendmsg. */
struct sending {
	struct iovec span[SPANS_MAX];
	size_t spans, len;
	uint8_t header[IDEM_FCGI_HEADER_LEN], end[IDEM_FCGI_HEADER_LEN];
	uint8_t zeroes[8];
};

static size_t
padding(size_t content)
{
	return -content & 7;
}

static void
add(struct sending *s, void *at, size_t len, size_t *skip)
{
	size_t over = *skip < len ? *skip : len;

	*skip -= over;
	if (over == len)
		return;
	s->span[s->spans++] = (struct iovec){ (uint8_t *)at + over,
	    len - over };
	s->len += len - over;
}

/* All records of the body. */
static uint64_t
records_len(const struct backend_call *c)
{
	size_t rest = (size_t)(c->body_len % PIECE);
	uint64_t len = c->body_len / PIECE * RECORD;

	if (rest > 0)
		len += IDEM_FCGI_HEADER_LEN + rest + padding(rest);
	return len;
}

/* The record in which `at` lies, from there on.  False: it cannot be read. */
static bool
add_record(struct backend_call *c, struct sending *s, uint64_t at)
{
	uint64_t from = at / RECORD * PIECE;
	size_t skip = (size_t)(at % RECORD), len = PIECE;

	if (len > c->body_len - from)
		len = (size_t)(c->body_len - from);
	if (!spool_read_at(c->body, c->all->out, len, from))
		return false;
	idem_fcgi_header(s->header, IDEM_FCGI_STDIN, BACKEND_ID, (uint16_t)len,
	    (uint8_t)padding(len));
	add(s, s->header, sizeof s->header, &skip);
	add(s, c->all->out, len, &skip);
	add(s, s->zeroes, padding(len), &skip);
	return true;
}

static void
add_end(struct sending *s, size_t skip)
{
	idem_fcgi_header(s->end, IDEM_FCGI_STDIN, BACKEND_ID, 0, 0);
	add(s, s->end, sizeof s->end, &skip);
}

/* What is to be sent next: the head's rest, a record's, and the end's. */
static bool
fill(struct backend_call *c, struct sending *s)
{
	const uint64_t records = records_len(c);
	size_t skip = c->sent < c->head.len ? (size_t)c->sent : c->head.len;
	uint64_t at = c->sent - skip;	/* in the records, and their end */

	add(s, c->head.at, c->head.len, &skip);
	if (at < records) {
		if (!add_record(c, s, at))
			return false;
		at = at / RECORD * RECORD + RECORD;
		if (at < records)
			return true;
		at = records;
	}
	add_end(s, (size_t)(at - records));
	return true;
}

static void
took(struct backend_call *c, size_t len)
{
	c->sent += len;
	c->touched = true;
	c->moved_ms = loop_now(c->all->loop);
	if (c->sent < c->head.len + records_len(c) + IDEM_FCGI_HEADER_LEN)
		return;
	c->sent_all = true;
	if (!c->reused || c->heard)
		backend_drop_input(c);
}

/*
 * It may have answered before it closed, without reading all: that is read
 * still, and then the connection's end tells the rest.
 */
static void
refused(struct backend_call *c, int error)
{
	c->deaf = true;
	if (!c->touched)
		backend_lost(c, NULL, error);
}

/* The loop may have stood still since it was connected, or before. */
static bool
is_late(const struct backend_call *c)
{
	return !c->touched && !c->reused &&
	    loop_now(c->all->loop) >= c->connect_until_ms;
}

static bool
may_begin(struct backend_call *c)
{
	const struct backend_user *user = c->all->user;

	if (!c->begun)
		c->begun = user->begin == NULL || user->begin(c->arg);
	return c->begun;
}

static void
send_once(struct backend_call *c)
{
	struct sending s = { .spans = 0 };
	struct msghdr message = { .msg_iov = s.span };
	ssize_t n;

	if (is_late(c)) {
		c->busy = true;
		backend_give_up(c, BACKEND_NOT_STARTED,
		    "no connection in time");
		return;
	}
	if (!fill(c, &s)) {
		backend_give_up(c, BACKEND_CUT, "the body cannot be read");
		return;
	}
	if (!may_begin(c)) {
		c->busy = true;
		backend_give_up(c, BACKEND_NOT_STARTED, "it may not begin");
		return;
	}
	message.msg_iovlen = s.spans;
	do {
		n = sendmsg(c->link->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (n == -1 && errno == EINTR);
	c->full = n < (ssize_t)s.len;
	if (n > 0)
		took(c, (size_t)n);
	else if (n == -1 && errno != EAGAIN)
		refused(c, errno);
}

static bool
may_send(const struct backend_call *c)
{
	return c->state == BACKEND_TALKING && !c->sent_all && !c->deaf;
}

void
backend_send(struct backend_call *c)
{
	const struct backend_link *l = c->link;
	uint64_t from = c->sent;

	while (may_send(c) && c->link == l && !c->full &&
	    c->sent - from < SEND_MAX)
		send_once(c);
}

/* --- reading -------------------------------------------------------------- */

static void
tell(struct backend_call *c, void (*told)(void *, struct idem_bytes),
    struct idem_bytes bytes)
{
	c->telling = true;
	told(c->arg, bytes);
	c->telling = false;
}

/* The connection is of use again only if both sides are through with it. */
static bool
is_clean(const struct backend_call *c, struct idem_bytes left)
{
	return c->keep && c->sent_all &&
	    left.len == c->reader.frame.padding_left;
}

static const char *
refusal(enum idem_fcgi_status status)
{
	switch (status) {
	case IDEM_FCGI_REQUEST_COMPLETE:
		return NULL;
	case IDEM_FCGI_CANT_MPX_CONN:
		return "the application says CANT_MPX_CONN";
	case IDEM_FCGI_OVERLOADED:
		return "the application says OVERLOADED";
	case IDEM_FCGI_UNKNOWN_ROLE:
		return "the application says UNKNOWN_ROLE";
	}
	return NULL;
}

static void
ended(struct backend_call *c, struct idem_bytes left)
{
	struct backend_end end = {
		.how = BACKEND_ENDED,
		.app_status = c->reader.app_status,
		.why = refusal(c->reader.status)
	};

	if (end.why != NULL) {
		end.how = c->answered ? BACKEND_DIED : BACKEND_NOT_STARTED;
		end.busy = !c->answered;
	}
	backend_part(c, is_clean(c, left));
	backend_settle(c, &end);
}

static void
take(struct backend_call *c, struct idem_bytes left)
{
	struct idem_bytes bytes;

	while (c->state == BACKEND_TALKING) {
		switch (idem_fcgi_client_read(&c->reader, &left, &bytes)) {
		case IDEM_FCGI_TOLD_MORE:
			return;
		case IDEM_FCGI_TOLD_STDOUT:
			c->answered = true;
			tell(c, c->all->user->out, bytes);
			break;
		case IDEM_FCGI_TOLD_STDERR:
			tell(c, c->all->user->err, bytes);
			break;
		case IDEM_FCGI_TOLD_END:
			ended(c, left);
			break;
		case IDEM_FCGI_TOLD_BROKEN:
			backend_give_up(c, BACKEND_DIED, c->reader.wrong);
			break;
		}
	}
}

static void
came(struct backend_call *c, size_t len)
{
	c->moved_ms = loop_now(c->all->loop);
	c->heard = true;
	if (c->sent_all)
		backend_drop_input(c);
	take(c, (struct idem_bytes){ c->all->in, len });
}

/* Whether there may be more. */
static bool
read_once(struct backend_call *c)
{
	ssize_t n;

	do {
		n = recv(c->link->fd, c->all->in, sizeof c->all->in,
		    MSG_DONTWAIT);
	} while (n == -1 && errno == EINTR);
	if (n > 0)
		came(c, (size_t)n);
	else if (n == 0)
		backend_lost(c, "closed before END_REQUEST", 0);
	else if (errno != EAGAIN)
		backend_lost(c, NULL, errno);
	return n == (ssize_t)sizeof c->all->in;
}

static void
read_some(struct backend_call *c)
{
	int reads = 0;

	while (c->state == BACKEND_TALKING && !c->paused &&
	    reads++ < READS_MAX && read_once(c))
		;
}

/* --- the loop ------------------------------------------------------------- */

void
backend_attend(struct backend_call *c)
{
	struct loop *loop = c->all->loop;
	struct backend_link *l = c->link;
	uint32_t events = 0;
	int answer = 0;

	if (!c->paused)
		events |= EPOLLIN;
	if (may_send(c))
		events |= EPOLLOUT;
	if (events == 0)	/* else a hang-up would be told for ever */
		loop_unwatch(loop, &l->watch);
	else if (l->watch.fd == -1)
		answer = loop_watch(loop, &l->watch, l->fd, events);
	else
		answer = loop_change(loop, &l->watch, events);
	if (answer == -1) {
		c->error = errno;
		backend_give_up(c, BACKEND_CUT, NULL);
	}
}

void
backend_ready(struct backend_call *c, uint32_t events)
{
	if ((events & ~(uint32_t)EPOLLIN) != 0)
		c->full = false;
	read_some(c);
	if (c->state == BACKEND_TALKING)
		backend_send(c);
	if (c->state == BACKEND_TALKING)
		backend_attend(c);
	else if (c->state == BACKEND_STOPPED)
		backend_call_free(c);
}
