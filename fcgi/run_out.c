/* SPDX-License-Identifier: ISC */
#include "run.h"

#include "lobby.h"
#include "reply.h"
#include "saved.h"

#define QUEUED_MAX (256u * 1024u)	/* streamed, not yet taken */

static bool
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
	bool good;

	idem_reply_answer(&head, &saved, r->visit->admit == IDEM_EXEMPT &&
	    r->visit->key_sent ? IDEM_SAYS_IGNORED : IDEM_SAYS_NONE, NULL);
	good = idem_buf_ok(&r->head.lines) && idem_buf_ok(&head);
	if (good)
		conn_write(conn, idem_buf_bytes(&head));
	idem_buf_free(&head);
	return good;
}

static struct idem_bytes
within_length(const struct run *r, struct idem_bytes body)
{
	body.len = (size_t)(answer_within(&r->head, r->passed + body.len) -
	    r->passed);
	return body;
}

static bool
must_wait(const struct run *r)
{
	const struct conn *conn = r->visit->conn;

	return run_page_waits(r) || (!r->keyed && conn != NULL &&
	    conn_queued(conn) > QUEUED_MAX);
}

static void
set_paused(struct run *r, bool paused)
{
	r->paused = paused;
	if (r->call != NULL)
		backend_pause(r->call, paused);
	else
		run_cgi_pause(r, paused);
}

void
run_out_resume(struct run *r)
{
	if (r->paused && !must_wait(r))
		set_paused(r, false);
}

/* Of an answer that has none a program may write one all the same. */
static bool
has_body(const struct run *r)
{
	return !answer_is_bodyless(r->head.code, r->visit->head);
}

void
run_out_pass(struct run *r, struct idem_bytes body)
{
	if (r->keyed)
		spool_add(&r->body, body);
	else if (r->visit->conn != NULL)
		conn_write(r->visit->conn, body);
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
	if (r->page != NULL)
		page_add(r->page, body);
	else
		run_out_pass(r, body);
	if (!r->paused && must_wait(r))
		set_paused(r, true);
}

static void
head_whole(struct run *r)
{
	struct idem_bytes rest = idem_buf_bytes(&r->raw);

	if (has_body(r))
		run_page_begin(r);
	r->head_done = r->keyed || r->visit->conn == NULL || stream_head(r);
	r->head_broken = !r->head_done;
	rest.at = (const char *)rest.at + r->head.size;
	rest.len -= r->head.size;
	if (r->head_done)
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
		log_line_quoted(&r->lobby->log, "head", r->head.wrong != NULL ?
		    r->head.wrong : "broken", "run=%llu",
		    (unsigned long long)r->id);
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
