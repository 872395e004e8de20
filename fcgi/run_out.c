/* SPDX-License-Identifier: ISC */
#include "run.h"

#include "lobby.h"
#include "reply.h"
#include "saved.h"

#define QUEUED_MAX (256u * 1024u)	/* streamed, not yet taken */

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
	    r->visit->key_sent ? IDEM_SAYS_IGNORED : IDEM_SAYS_NONE, NULL);
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
pause_if_slow(struct run *r)
{
	if (conn_queued(r->visit->conn) <= QUEUED_MAX || r->paused)
		return;
	r->paused = true;
	if (r->call != NULL)
		backend_pause(r->call, true);
	else
		run_cgi_pause(r, true);
}

/* Of an answer that has none a program may write one all the same. */
static bool
has_body(const struct run *r)
{
	return !r->visit->head && r->head.code != 204 && r->head.code != 304;
}

static void
body_bytes(struct run *r, struct idem_bytes body)
{
	body = within_length(r, body);
	if (body.len == 0)
		return;
	r->passed += body.len;
	if (!has_body(r))
		return;
	if (r->keyed) {
		spool_add(&r->body, body);
	} else if (r->visit->conn != NULL) {
		conn_write(r->visit->conn, body);
		pause_if_slow(r);
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
run_out_head(struct run *r, bool ended)
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

void
run_out_bytes(struct run *r, struct idem_bytes bytes)
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
		run_out_head(r, false);
}
