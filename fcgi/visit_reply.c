/* SPDX-License-Identifier: ISC */
#include "lobby.h"

#include "reply.h"

#include <stdio.h>
#include <stdlib.h>

void
visit_log(const struct visit *v, int status, enum idem_mark says,
    enum idem_sent sent)
{
	struct log *log = &v->lobby->log;
	char method[32] = "-";
	char path[512] = "-";
	char key[LOBBY_KEY] = "-";

	if (v->detail != NULL)
		log_word(method, sizeof method, v->detail->method);
	if (v->detail != NULL)
		log_word(path, sizeof path, v->detail->path.len > 0 &&
		    idem_buf_ok(&v->detail->path) ?
		    (const char *)v->detail->path.at : "");
	if (v->admit == IDEM_KEYED)
		lobby_key(&v->x.key, v->x.issued_only, key);
	log_open(log);
	log_number(log, "request", v->person.number);
	log_text(log, "method", method);
	log_text(log, "path", path);
	log_text(log, "key", key);
	log_number(log, "status", status);
	log_text(log, "idempotency-status",
	    says != IDEM_SAYS_NONE ? idem_mark_text(says) : "-");
	log_text(log, "source", v->source);
	log_number(log, "attempt", v->x.attempt);
	log_number(log, "run", v->run != NULL ? (int64_t)v->run->id : 0);
	if (v->run != NULL && v->route->lease_auto)
		log_number(log, "lease-ms", v->x.gate.policy.lease_ms);
	log_number(log, "ms", loop_now(v->lobby->loop) - v->began_ms);
	if (sent == IDEM_NOBODY)
		log_text(log, "listener", "gone");
	log_close(log);
}

static void
count(struct lobby *lobby, enum idem_mark says)
{
	static const struct {
		enum idem_mark says;
		enum shm_count count;
	} as[] = {
		{ IDEM_SAYS_STORED, SHM_STORED },
		{ IDEM_SAYS_STORED_WITHOUT_BODY, SHM_STORED },
		{ IDEM_SAYS_REPLAYED, SHM_REPLAYED },
		{ IDEM_SAYS_REJECTED, SHM_REJECTED },
		{ IDEM_SAYS_MISMATCH, SHM_MISMATCH },
		{ IDEM_SAYS_WITHHELD, SHM_WITHHELD },
		{ IDEM_SAYS_IN_PROGRESS, SHM_IN_PROGRESS },
		{ IDEM_SAYS_UNKNOWN, SHM_UNKNOWN },
		{ IDEM_SAYS_EXPIRED, SHM_EXPIRED },
		{ IDEM_SAYS_VOID_TOKEN, SHM_VOID_TOKEN },
		{ IDEM_SAYS_UNPROTECTED, SHM_UNPROTECTED },
		{ IDEM_SAYS_NOT_STARTED, SHM_NOT_STARTED },
		{ IDEM_SAYS_UNRECORDED, SHM_UNRECORDED },
		{ IDEM_SAYS_RELEASED, SHM_RELEASED },
		{ IDEM_SAYS_NOT_KEPT, SHM_NOT_KEPT },
		{ IDEM_SAYS_IGNORED, SHM_IGNORED }
	};
	size_t i;

	for (i = 0; i < sizeof as / sizeof *as; i++)
		if (as[i].says == says)
			shm_add(lobby->shm, as[i].count, 1);
}

/* One that was stored under another configuration stays as it is. */
int64_t
visit_keep_ms(const struct visit *v)
{
	int64_t keep_ms = v->x.times->keep_min_ms, kept_ms = v->x.kept_ms;

	return kept_ms > 0 && kept_ms < keep_ms ? kept_ms : keep_ms;
}

/* Head and body of a saved answer; the body is not copied. */
static int
write_saved(struct visit *v, enum idem_mark says)
{
	struct idem_blob *answer = v->x.answer;
	const struct idem_route *route = &v->route->route;
	const struct idem_reply_rule rule = {
		/* That scheme has no answer to keep. */
		.keep_ms = v->route->scheme == IDEM_SCHEME_SETNX ? 0 :
		    visit_keep_ms(v),
		.identity = v->identity,
		.left_out = route->not_replayed.at,
		.left_out_len = route->not_replayed.len
	};
	struct idem_buf head = { 0 };
	struct idem_saved saved;
	uint64_t len;
	int fd;

	if (!idem_saved_read(idem_blob_bytes(answer), &saved))
		abort();	/* we wrote it, or have read it before */
	if (v->conn == NULL)
		return saved.code;
	idem_reply_answer(&head, &saved, says, &rule);
	conn_write(v->conn, idem_buf_bytes(&head));
	if (saved.body.len > 0)
		conn_write_blob(v->conn, answer, (size_t)((const uint8_t *)
		    saved.body.at - answer->at), saved.body.len);
	else if (!saved.kept && v->run != NULL && v->run->body.len > 0) {
		len = v->run->body.len;
		fd = spool_fd(&v->run->body);
		if (fd == -1) {
			conn_cut(v->conn);
			v->conn = NULL;
		} else
			conn_write_file(v->conn, fd, len);
	}
	if (v->conn != NULL && idem_buf_ok(&head))
		conn_end(v->conn, v->run != NULL ? v->run->app_status : 0);
	else if (v->conn != NULL)
		conn_cut(v->conn);
	v->conn = NULL;
	idem_buf_free(&head);
	return saved.code;
}

/* What people want to know besides; its text is kept in `room`. */
static const char *
detail_of(const struct visit *v, enum idem_problem problem, char *room,
    size_t size)
{
	char parts[80];

	if (problem != IDEM_PROBLEM_MISMATCH || v->x.differs == 0)
		return NULL;
	idem_parts_text(v->x.differs, parts, sizeof parts);
	snprintf(room, size, "What differs: %s.", parts);
	return room;
}

static int
write_problem(struct visit *v, const struct idem_effect *fx,
    enum idem_mark says)
{
	char detail[128];
	const struct idem_problem_more more = {
		.detail = detail_of(v, fx->problem, detail, sizeof detail),
		.attempt = fx->attempt,
		.since_ms = fx->problem == IDEM_PROBLEM_UNKNOWN ?
		    v->x.since_ms : 0,
		.retry_after_s = fx->retry_after_s,
		.html = v->html
	};
	struct idem_buf head = { 0 };

	if (v->conn != NULL) {
		idem_reply_problem(&head, fx->problem, says, &more, v->head);
		conn_write(v->conn, idem_buf_bytes(&head));
		if (idem_buf_ok(&head))
			conn_end(v->conn, 0);
		else
			conn_cut(v->conn);
		v->conn = NULL;
		idem_buf_free(&head);
	}
	return idem_reply_code(fx, NULL);
}

/*
 * An unkeyed run that was cut after its head had gone out cannot be answered
 * any more; before, it gets the problem.
 */
static int
write_passed(struct visit *v, const struct idem_effect *fx,
    enum idem_mark says)
{
	struct run *r = v->run;
	bool sent = r != NULL && r->head_done;
	int code = sent ? r->head.code : 0;

	if (fx->body == IDEM_BODY_PROBLEM && !sent)
		return write_problem(v, fx, says);
	if (v->conn != NULL) {
		if (fx->body == IDEM_BODY_PROBLEM)
			conn_cut(v->conn);
		else
			conn_end(v->conn, r != NULL ? r->app_status : 0);
		v->conn = NULL;
	}
	return code;
}

/* What the leader's answer means for those who wait for the same key. */
static void
note_end(struct visit *v, const struct idem_effect *fx, enum idem_mark says)
{
	enum idem_waited end;

	if (says == IDEM_SAYS_UNRECORDED)
		return;		/* who waits is told when a store has it */
	if (fx->body == IDEM_BODY_SAVED ||
	    fx->problem == IDEM_PROBLEM_NOT_KEPT)
		end = IDEM_WOKEN_COMPLETED;
	else if (says == IDEM_SAYS_NOT_STARTED || says == IDEM_SAYS_RELEASED)
		end = IDEM_WOKEN_RELEASED;
	else if (says == IDEM_SAYS_UNKNOWN)
		end = IDEM_WOKEN_UNKNOWN;
	else
		return;
	/* Of a take-over more than one end is told: this is the last. */
	v->end = end;
	v->has_end = true;
}

void
visit_reply(struct visit *v, const struct idem_effect *fx)
{
	struct idem_event ev = { .op = IDEM_REPLY };
	enum idem_mark says = fx->body == IDEM_BODY_PROBLEM ?
	    idem_problem_form(fx->problem)->mark : fx->mark;
	int status;

	ev.sent = v->conn != NULL ? IDEM_SENT : IDEM_NOBODY;
	count(v->lobby, says);
	if (v->admit == IDEM_KEYLESS || v->admit == IDEM_EXEMPT)
		status = write_passed(v, fx, says);
	else if (fx->body == IDEM_BODY_PROBLEM)
		status = write_problem(v, fx, says);
	else
		status = write_saved(v, says);
	note_end(v, fx, says);
	visit_log(v, status, says, ev.sent);
	idem_exchange_tell(&v->x, &ev);
}
