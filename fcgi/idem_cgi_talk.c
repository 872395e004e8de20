/* SPDX-License-Identifier: ISC */
#include "idem_cgi.h"

#include "fcgi_rec.h"
#include "reply.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define OUR_ID 1
#define PIECE 16384u
#define OUT_PIECE 4096u		/* what a pipe that can be written takes without
				   blocking us (Linux, pipe(7)) */

/* Of one stream to the web server. */
struct way {
	int fd;			/* -1: nobody reads it any more */
	struct idem_bytes left;	/* of what the reader told; in `in` */
	bool used;
};

struct talk {
	const struct idem_params *params;
	int conn;
	/* to the lobby */
	struct idem_buf out;
	uint64_t body_left;	/* that is not yet read */
	bool to_eof;		/* nobody has said how much */
	bool body_over, body_cut;
	bool deaf;		/* the lobby reads no more */
	/* and back */
	struct idem_fcgi_client_reader reader;
	uint8_t in[PIECE];
	struct idem_bytes in_left;
	struct way answer, errors;
	bool ended, lost;
};

/* --- answers of our own --------------------------------------------------- */

static const char *
get(const struct idem_params *params, const char *name)
{
	const char *value = idem_params_get(params, name);

	return value != NULL ? value : "";
}

static void
write_all(int fd, struct idem_bytes bytes)
{
	const char *at = bytes.at;
	size_t done = 0;
	ssize_t n;

	while (done < bytes.len) {
		n = write(fd, at + done, bytes.len - done);
		if (n == -1 && errno != EINTR)
			return;
		if (n > 0)
			done += (size_t)n;
	}
}

void
idem_cgi_refuse(const struct idem_params *params, enum idem_problem problem,
    const char *detail)
{
	const struct idem_problem_more more = {
		.detail = detail,
		.html = idem_problem_wants_html(idem_bytes_text(
		    get(params, "HTTP_ACCEPT")))
	};
	struct idem_buf head = { 0 };

	idem_reply_problem(&head, problem, idem_problem_form(problem)->mark,
	    &more, strcmp(get(params, "REQUEST_METHOD"), "HEAD") == 0);
	if (idem_buf_ok(&head))
		write_all(STDOUT_FILENO, idem_buf_bytes(&head));
	idem_buf_free(&head);
}

/* --- the request ---------------------------------------------------------- */

/* What is ours is not the program's. */
static bool
is_sent(const char *text)
{
	return *text != '=' && strchr(text, '=') != NULL &&
	    strncmp(text, "IDEM_", 5) != 0;
}

static void
write_params(struct talk *t)
{
	struct idem_buf stream = { 0 };
	const char *equals;
	size_t i;

	for (i = 0; i < t->params->len; i++) {
		if (!is_sent(t->params->at[i]))
			continue;
		equals = strchr(t->params->at[i], '=');
		idem_fcgi_pair_write(&stream, (struct idem_bytes){
		    t->params->at[i], (size_t)(equals - t->params->at[i]) },
		    idem_bytes_text(equals + 1));
	}
	if (idem_buf_ok(&stream))
		idem_fcgi_stream_write(&t->out, IDEM_FCGI_PARAMS, OUR_ID,
		    idem_buf_bytes(&stream));
	else
		t->out.failed = true;
	idem_fcgi_stream_end(&t->out, IDEM_FCGI_PARAMS, OUR_ID);
	idem_buf_free(&stream);
}

static void
body_end(struct talk *t)
{
	t->body_over = true;
	idem_fcgi_stream_end(&t->out, IDEM_FCGI_STDIN, OUR_ID);
}

/*
 * As much as CONTENT_LENGTH says: a server need not end our input (RFC 3875,
 * 4.2).  One that cannot be read is for the lobby to refuse.  Without one there
 * may be a body all the same, of chunks or of HTTP/2.
 */
static void
begin_body(struct talk *t)
{
	const char *length = get(t->params, "CONTENT_LENGTH");
	const char *method = get(t->params, "REQUEST_METHOD");

	for (; *length >= '0' && *length <= '9' &&
	    t->body_left < UINT64_MAX / 10 - 1; length++)
		t->body_left = t->body_left * 10 + (uint64_t)(*length - '0');
	if (*length != '\0')
		t->body_left = 0;
	else if (*get(t->params, "CONTENT_LENGTH") == '\0')
		t->to_eof = *get(t->params, "HTTP_TRANSFER_ENCODING") != '\0' ||
		    (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0);
	if (!t->to_eof && t->body_left == 0)
		body_end(t);
}

static void
read_body(struct talk *t)
{
	size_t most = t->to_eof || t->body_left > PIECE ? PIECE :
	    (size_t)t->body_left;
	char at[PIECE];
	ssize_t n = read(STDIN_FILENO, at, most);

	if (n == -1 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n > 0) {
		idem_fcgi_stream_write(&t->out, IDEM_FCGI_STDIN, OUR_ID,
		    (struct idem_bytes){ at, (size_t)n });
		if (!t->to_eof)
			t->body_left -= (uint64_t)n;
	}
	if (n == 0 && t->to_eof)
		body_end(t);
	else if (n <= 0)	/* the lobby must not take it for whole */
		t->body_cut = true;
	else if (!t->to_eof && t->body_left == 0)
		body_end(t);
}

static void
send_out(struct talk *t)
{
	ssize_t n = send(t->conn, t->out.at, t->out.len,
	    MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n > 0)
		idem_buf_drop(&t->out, (size_t)n);
	else if (n == -1 && errno != EAGAIN && errno != EINTR)
		t->deaf = true;	/* there may be an answer all the same */
}

/* --- the answer ----------------------------------------------------------- */

/* Nothing more is read before all of it is written. */
static bool
is_written(const struct talk *t)
{
	return t->answer.left.len == 0 && t->errors.left.len == 0;
}

static void
next_item(struct talk *t)
{
	struct idem_bytes bytes = { NULL, 0 };

	switch (idem_fcgi_client_read(&t->reader, &t->in_left, &bytes)) {
	case IDEM_FCGI_TOLD_MORE:
		return;
	case IDEM_FCGI_TOLD_STDOUT:
		t->answer.left = bytes;
		return;
	case IDEM_FCGI_TOLD_STDERR:
		if (t->errors.fd != -1)
			t->errors.left = bytes;
		return;
	case IDEM_FCGI_TOLD_END:
		t->ended = true;
		return;
	case IDEM_FCGI_TOLD_BROKEN:
		t->lost = true;
		return;
	}
}

static void
read_in(struct talk *t)
{
	ssize_t n = recv(t->conn, t->in, sizeof t->in, MSG_DONTWAIT);

	if (n > 0)
		t->in_left = (struct idem_bytes){ t->in, (size_t)n };
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		t->lost = true;
}

static void
write_way(struct way *w, size_t most)
{
	size_t len = w->left.len < most ? w->left.len : most;
	ssize_t n = write(w->fd, w->left.at, len);

	if (n == -1 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n == -1) {
		w->fd = -1;
		w->left.len = 0;
		return;
	}
	w->used = true;
	w->left.at = (const char *)w->left.at + n;
	w->left.len -= (size_t)n;
}

/* --- both ----------------------------------------------------------------- */

enum { IN, OUT, CONN, ERR, FDS };

static short
wanted(bool wanted_now, short event)
{
	return wanted_now ? event : 0;
}

static void
prepare(const struct talk *t, struct pollfd fds[FDS])
{
	bool reads_body = !t->body_over && !t->deaf && t->out.len == 0;

	fds[IN] = (struct pollfd){ .fd = reads_body ? STDIN_FILENO : -1,
	    .events = POLLIN };
	fds[OUT] = (struct pollfd){ .fd = t->answer.fd,
	    .events = wanted(t->answer.left.len > 0, POLLOUT) };
	fds[ERR] = (struct pollfd){
	    .fd = t->errors.left.len > 0 ? t->errors.fd : -1,
	    .events = POLLOUT };
	fds[CONN] = (struct pollfd){ .fd = t->conn,
	    .events = wanted(is_written(t), POLLIN) };
	fds[CONN].events |= wanted(t->out.len > 0 && !t->deaf, POLLOUT);
	/* Its end would wake us while we do not read it. */
	if (fds[CONN].events == 0)
		fds[CONN].fd = -1;
}

static void
step(struct talk *t)
{
	struct pollfd fds[FDS];

	prepare(t, fds);
	if (poll(fds, FDS, -1) == -1)
		return;
	if (fds[IN].revents != 0)
		read_body(t);
	if ((fds[CONN].revents & POLLOUT) != 0)
		send_out(t);
	if ((fds[CONN].revents & (POLLIN | POLLHUP | POLLERR)) != 0 &&
	    is_written(t))
		read_in(t);
	if ((fds[OUT].revents & POLLOUT) != 0)
		/* Nobody else waits for us once the body is through. */
		write_way(&t->answer, t->body_over ? PIECE : OUT_PIECE);
	else if (fds[OUT].revents != 0)		/* our reader has gone */
		t->answer.fd = -1;
	if (fds[ERR].revents != 0)
		write_way(&t->errors, OUT_PIECE);
	while (is_written(t) && t->in_left.len > 0 && !t->ended && !t->lost)
		next_item(t);
}

static bool
is_over(const struct talk *t)
{
	return t->answer.fd == -1 || t->body_cut || !idem_buf_ok(&t->out) ||
	    (is_written(t) && (t->ended || t->lost));
}

/*
 * What a lobby can say it has said before it closed the connection.  One that
 * says nothing has died, or waited too long for the body; before the body's end
 * it runs nothing, and after it nobody knows.
 */
static enum idem_problem
why_lost(const struct talk *t, int said)
{
	char what = 0;

	if (!idem_buf_ok(&t->out))
		return IDEM_PROBLEM_BUSY;
	if (read(said, &what, 1) == 1 && what == IDEM_CGI_NOT_SERVED)
		return IDEM_PROBLEM_STORE_AWAY;
	return t->body_over ? IDEM_PROBLEM_DIED : IDEM_PROBLEM_REQUEST_BROKEN;
}

static int
end(struct talk *t, int said)
{
	if (t->ended && t->answer.fd != -1)
		return (int)(t->reader.app_status & 0xff);
	/* First: it is for the lobby to know that nothing more comes. */
	close(t->conn);
	t->conn = -1;
	if (t->answer.fd != -1 && !t->answer.used && t->answer.left.len == 0)
		idem_cgi_refuse(t->params, why_lost(t, said), NULL);
	return 1;
}

int
idem_cgi_talk(const struct idem_params *params, int conn, int said, bool *over)
{
	struct talk t = {
		.params = params,
		.conn = conn,
		.reader = { .id = OUR_ID },
		.answer = { .fd = STDOUT_FILENO },
		.errors = { .fd = STDERR_FILENO }
	};
	int status;

	signal(SIGPIPE, SIG_IGN);
	idem_fcgi_begin_write(&t.out, OUR_ID, IDEM_FCGI_RESPONDER, false);
	write_params(&t);
	begin_body(&t);
	while (!is_over(&t))
		step(&t);
	status = end(&t, said);
	*over = t.conn != -1;
	if (*over)
		close(t.conn);
	idem_buf_free(&t.out);
	return status;
}
