/* SPDX-License-Identifier: ISC */
#include "run.h"

#include "lobby.h"
#include "reply.h"
#include "saved.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#define QUEUED_MAX (256u * 1024u)	/* streamed, not yet taken */

static struct run *
run_of_out(struct watch *w)
{
	return (struct run *)((char *)w - offsetof(struct run, out));
}

void
run_out_close(struct run *r)
{
	loop_close(r->lobby->loop, &r->out);
}

static void
stream_head(struct run *r)
{
	struct conn *conn = r->visit->conn;
	struct idem_buf head = { 0 };
	const struct idem_saved saved = {
		.code = r->head.code,
		.has_status = r->head.has_status,
		.status = idem_buf_bytes(&r->head.status),
		.lines = idem_buf_bytes(&r->head.lines)
	};

	idem_reply_answer(&head, &saved, r->visit->admit == IDEM_EXEMPT &&
	    r->visit->key_sent ? IDEM_SAYS_IGNORED : IDEM_SAYS_NONE, true);
	if (idem_buf_ok(&head))
		conn_write(conn, idem_buf_bytes(&head));
	else
		r->head_broken = true;
	idem_buf_free(&head);
}

/* A program that writes more than it declared is cut there. */
static struct idem_bytes
within_length(const struct run *r, struct idem_bytes body)
{
	uint64_t left;

	if (!r->head.has_length)
		return body;
	left = r->head.length > r->passed ? r->head.length - r->passed : 0;
	if (body.len > left)
		body.len = (size_t)left;
	return body;
}

static void
body_bytes(struct run *r, struct idem_bytes body)
{
	body = within_length(r, body);
	if (body.len == 0)
		return;
	r->passed += body.len;
	if (r->keyed) {
		spool_add(&r->body, body);
		return;
	}
	if (r->visit->conn == NULL)
		return;
	conn_write(r->visit->conn, body);
	if (conn_queued(r->visit->conn) > QUEUED_MAX && !r->paused) {
		r->paused = true;
		loop_change(r->lobby->loop, &r->out, 0);
	}
}

static void
head_whole(struct run *r)
{
	struct idem_bytes rest = idem_buf_bytes(&r->raw);

	r->head_done = true;
	if (!r->keyed && r->visit->conn != NULL)
		stream_head(r);
	rest.at = (const char *)rest.at + r->head.size;
	rest.len -= r->head.size;
	body_bytes(r, rest);
	idem_buf_free(&r->raw);
}

void
run_head_look(struct run *r, bool ended)
{
	if (r->head_done || r->head_broken)
		return;
	switch (idem_head_parse(&r->head, idem_buf_bytes(&r->raw), ended)) {
	case IDEM_HEAD_MORE:
		return;
	case IDEM_HEAD_WHOLE:
		head_whole(r);
		return;
	case IDEM_HEAD_BROKEN:
		r->head_broken = true;
		log_line(&r->lobby->log, "run=%llu head=\"%s\"",
		    (unsigned long long)r->id,
		    r->head.wrong != NULL ? r->head.wrong : "broken");
		idem_buf_free(&r->raw);
		return;
	}
}

static void
out_bytes(struct run *r, struct idem_bytes bytes)
{
	if (r->head_done) {
		body_bytes(r, bytes);
		return;
	}
	if (r->head_broken)	/* read on, so that the program can end */
		return;
	idem_buf_append(&r->raw, bytes.at, bytes.len);
	if (!idem_buf_ok(&r->raw))
		r->head_broken = true;
	else
		run_head_look(r, false);
}

/* A key must not wait for ever for a child that writes on and on. */
void
run_idle_again(struct run *r)
{
	int64_t at_ms = loop_now(r->lobby->loop) + RUN_IDLE_MS;

	r->idle_ms = at_ms;
	if (r->keyed && at_ms > r->until_ms)
		at_ms = r->until_ms;
	if (r->ended && !r->eof)
		loop_timer(r->lobby->loop, &r->idle, at_ms);
}

/* True: there was something.  At its end eof is set. */
bool
run_out_read(struct run *r)
{
	static char at[RUN_READ_SIZE];
	ssize_t n = read(r->out.fd, at, sizeof at);

	if (n == (ssize_t)sizeof at && !r->wide) {
		r->wide = true;		/* much is to come */
		fcntl(r->out.fd, F_SETPIPE_SZ, RUN_PIPE_SIZE);	/* a hint */
	}
	if (n > 0)
		out_bytes(r, (struct idem_bytes){ at, (size_t)n });
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		r->eof = true;
	return n > 0;
}

void
run_out_ready(struct watch *w, uint32_t events)
{
	struct run *r = run_of_out(w);

	if (r->paused && (events & (EPOLLHUP | EPOLLERR)) == 0)
		return;
	if (run_out_read(r))
		run_idle_again(r);
	if (r->eof) {
		run_out_close(r);
		run_check_over(r);
	}
}

void
run_drained(struct run *r)
{
	if (!r->paused)
		return;
	r->paused = false;
	if (r->out.fd != -1)
		loop_change(r->lobby->loop, &r->out, EPOLLIN);
}
