/* SPDX-License-Identifier: ISC */
#include "rig_call.h"

#include "tap.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define READ_SIZE 65536
#define CONNECT_MS 20000
#define ID 1		/* one request a connection */

/* --- the request ---------------------------------------------------------- */

static void
pair(struct idem_buf *params, const char *name, const char *value)
{
	if (value != NULL)
		idem_fcgi_pair_write(params, idem_bytes_text(name),
		    idem_bytes_text(value));
}

static void
pair_given(struct idem_buf *params, const char *given)
{
	const char *equals = strchr(given, '=');

	if (equals == NULL)
		bail_out("not NAME=value: %s", given);
	idem_fcgi_pair_write(params,
	    (struct idem_bytes){ given, (size_t)(equals - given) },
	    idem_bytes_text(equals + 1));
}

static const char *
or(const char *value, const char *otherwise)
{
	return value != NULL ? value : otherwise;
}

static void
params_write(struct idem_buf *params, const struct rig_request *request)
{
	const char *path = or(request->path, "/");
	const char *query = or(request->query, "");
	const char *const *more = request->more;
	char uri[1024], length[24];

	snprintf(uri, sizeof uri, "%s%s%s", path, *query != '\0' ? "?" : "",
	    query);
	snprintf(length, sizeof length, "%zu", request->body.len);

	pair(params, "GATEWAY_INTERFACE", "CGI/1.1");
	pair(params, "SERVER_PROTOCOL", "HTTP/1.1");
	pair(params, "SERVER_NAME", "localhost");
	pair(params, "SERVER_PORT", "80");
	pair(params, "REMOTE_ADDR", "127.0.0.1");
	pair(params, "REQUEST_METHOD", or(request->method, "GET"));
	pair(params, "REQUEST_URI", uri);
	pair(params, "SCRIPT_NAME", path);
	pair(params, "QUERY_STRING", query);
	pair(params, "SCRIPT_FILENAME", request->program);
	pair(params, "CONTENT_TYPE", request->type);
	if (request->length == NULL || request->length[0] != '\0')
		pair(params, "CONTENT_LENGTH", or(request->length, length));
	pair(params, "HTTP_IDEMPOTENCY_KEY", request->key);
	for (; more != NULL && *more != NULL; more++)
		pair_given(params, *more);
}

void
rig_request_write(struct idem_buf *out, uint16_t id,
    const struct rig_request *request)
{
	struct idem_buf params = { 0 };

	params_write(&params, request);
	idem_fcgi_begin_write(out, id, IDEM_FCGI_RESPONDER, request->keep);
	idem_fcgi_stream_write(out, IDEM_FCGI_PARAMS, id,
	    idem_buf_bytes(&params));
	idem_fcgi_stream_end(out, IDEM_FCGI_PARAMS, id);
	idem_fcgi_stream_write(out, IDEM_FCGI_STDIN, id, request->body);
	idem_fcgi_stream_end(out, IDEM_FCGI_STDIN, id);
	if (!idem_buf_ok(&params) || !idem_buf_ok(out))
		bail_out("out of memory for a request");
	idem_buf_free(&params);
}

/* --- the answer ----------------------------------------------------------- */

/* Where the head ends: its length, and that of the blank line after it. */
static bool
head_end(const struct idem_buf *out, size_t *head, size_t *blank)
{
	const char *crlf = memmem(out->at, out->len, "\r\n\r\n", 4);
	const char *lf = memmem(out->at, out->len, "\n\n", 2);
	bool is_crlf = crlf != NULL && (lf == NULL || crlf < lf);
	const char *end = is_crlf ? crlf : lf;

	if (end == NULL)
		return false;
	*head = (size_t)(end - (const char *)out->at);
	*blank = is_crlf ? 4 : 2;
	return true;
}

static void
head_parse(struct rig_answer *answer)
{
	const char *status;
	size_t len, blank, i;

	if (answer->out.len == 0 || !head_end(&answer->out, &len, &blank))
		return;
	answer->head = calloc(1, len + 2);
	if (answer->head == NULL)
		bail_out("out of memory for an answer");
	memcpy(answer->head, answer->out.at, len);
	answer->head_len = len;
	for (i = 0; i < len; i++)
		if (answer->head[i] == '\r' || answer->head[i] == '\n')
			answer->head[i] = '\0';
	answer->body.at = answer->out.at + len + blank;
	answer->body.len = answer->out.len - len - blank;
	status = rig_field(answer, "Status");
	answer->status = *status == '\0' ? 200 : (int)strtol(status, NULL, 10);
}

const char *
rig_field(const struct rig_answer *answer, const char *name)
{
	size_t len = strlen(name), i;
	const char *line;

	for (i = 0; i < answer->head_len; i += strlen(line) + 1) {
		line = answer->head + i;
		if (strncasecmp(line, name, len) == 0 && line[len] == ':')
			return line + len + 1 + strspn(line + len + 1, " \t");
	}
	return "";
}

void
rig_answer_free(struct rig_answer *answer)
{
	idem_buf_free(&answer->out);
	idem_buf_free(&answer->err);
	free(answer->head);
	*answer = (struct rig_answer){ 0 };
}

/* --- one connection ------------------------------------------------------- */

static int
connect_unix(const struct rig *rig, int fd)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	snprintf(at.sun_path, sizeof at.sun_path, "%.107s", rig->socket);
	return connect(fd, (struct sockaddr *)&at, sizeof at);
}

static int
connect_tcp(const struct rig *rig, int fd)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)rig->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	if (connect(fd, (struct sockaddr *)&at, sizeof at) == 0)
		return 0;
	return errno == EINPROGRESS ? 0 : -1;
}

static int
close_failed(int fd, int error)
{
	close(fd);
	errno = error;
	return -1;
}

int
rig_call_connect(const struct rig *rig)
{
	int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
	int fd = socket(rig->port != 0 ? AF_INET : AF_UNIX, type, 0);

	if (fd == -1)
		return -1;
	if ((rig->port != 0 ? connect_tcp : connect_unix)(rig, fd) == 0)
		return fd;
	return close_failed(fd, errno);
}

int
rig_connect(const struct rig *rig)
{
	int fd = rig_call_connect(rig), error = 0;
	struct pollfd ready = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof error;

	if (fd == -1)
		return -1;
	if (poll(&ready, 1, CONNECT_MS) != 1)
		return close_failed(fd, ETIMEDOUT);
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
	return error == 0 ? fd : close_failed(fd, error);
}

void
rig_call_init(struct rig_call *call, int fd, uint16_t id,
    struct idem_bytes left)
{
	*call = (struct rig_call){ .fd = fd, .left = left,
		.reader.id = id, .begun_ms = rig_now_ms() };
}

short
rig_call_events(const struct rig_call *call)
{
	return call->left.len != 0 ? POLLIN | POLLOUT : POLLIN;
}

void
rig_call_fail(struct rig_call *call, int error)
{
	call->over = true;
	if (!call->answer.whole)
		call->answer.error = error;
}

static void
call_send(struct rig_call *call)
{
	ssize_t n = send(call->fd, call->left.at, call->left.len,
	    MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n > 0) {
		call->left.at = (const uint8_t *)call->left.at + n;
		call->left.len -= (size_t)n;
	} else if (n == -1 && errno != EAGAIN && errno != EINTR) {
		/* It may have answered before it closed: read on. */
		call->left.len = 0;
	}
}

static void
call_ended(struct rig_call *call)
{
	call->answer.whole = true;
	call->answer.app_status = call->reader.app_status;
	call->answer.protocol_status = call->reader.status;
	call->over = true;
}

static void
call_take(struct rig_call *call, struct idem_bytes got)
{
	struct idem_bytes piece;

	while (!call->over) {
		switch (idem_fcgi_client_read(&call->reader, &got, &piece)) {
		case IDEM_FCGI_TOLD_MORE:
			return;
		case IDEM_FCGI_TOLD_STDOUT:
			idem_buf_append(&call->answer.out, piece.at, piece.len);
			break;
		case IDEM_FCGI_TOLD_STDERR:
			idem_buf_append(&call->answer.err, piece.at, piece.len);
			break;
		case IDEM_FCGI_TOLD_END:
			call_ended(call);
			break;
		case IDEM_FCGI_TOLD_BROKEN:
			rig_call_fail(call, EPROTO);
			break;
		}
	}
}

static void
call_read(struct rig_call *call)
{
	uint8_t at[READ_SIZE];
	ssize_t n = recv(call->fd, at, sizeof at, MSG_DONTWAIT);

	if (n > 0)
		call_take(call, (struct idem_bytes){ at, (size_t)n });
	else if (n == 0)
		rig_call_fail(call, ECONNABORTED);
	else if (errno != EAGAIN && errno != EINTR)
		rig_call_fail(call, errno);
}

void
rig_call_step(struct rig_call *call)
{
	if (call->left.len != 0)
		call_send(call);
	call_read(call);
}

struct rig_answer
rig_call_answer(struct rig_call *call)
{
	if (!idem_buf_ok(&call->answer.out) || !idem_buf_ok(&call->answer.err))
		bail_out("out of memory for an answer");
	call->answer.ms = rig_now_ms() - call->begun_ms;
	head_parse(&call->answer);
	return call->answer;
}

/* --- one request ---------------------------------------------------------- */

int
rig_send(int fd, struct idem_bytes bytes, size_t piece, int64_t wait_ms)
{
	int64_t until_ms = rig_now_ms() + wait_ms, left_ms;
	struct pollfd ready = { .fd = fd, .events = POLLOUT };
	const uint8_t *at = bytes.at;
	size_t left = bytes.len;
	ssize_t n;

	while (left != 0) {
		n = send(fd, at, piece != 0 && piece < left ? piece : left,
		    MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n > 0) {
			at += n;
			left -= (size_t)n;
			continue;
		}
		if (errno != EAGAIN && errno != EINTR)
			return -1;
		left_ms = until_ms - rig_now_ms();
		if (left_ms <= 0 || poll(&ready, 1, (int)left_ms) == 0) {
			errno = ETIMEDOUT;
			return -1;
		}
	}
	return 0;
}

int
rig_receive(int fd, uint16_t id, struct idem_bytes left, int64_t wait_ms,
    struct rig_answer *answer)
{
	struct pollfd ready = { .fd = fd };
	int64_t left_ms;
	struct rig_call call;

	rig_call_init(&call, fd, id, left);
	while (!call.over) {
		left_ms = call.begun_ms + wait_ms - rig_now_ms();
		ready.events = rig_call_events(&call);
		if (left_ms <= 0 || poll(&ready, 1, (int)left_ms) == 0)
			rig_call_fail(&call, ETIMEDOUT);
		else
			rig_call_step(&call);
	}
	*answer = rig_call_answer(&call);
	return answer->whole ? 0 : -1;
}

/* A unix socket whose queue is full says so at once: ask again. */
static int
connect_until(const struct rig *rig, int64_t until_ms)
{
	int fd = rig_connect(rig);

	while (fd == -1 && errno == EAGAIN && rig_now_ms() < until_ms) {
		poll(NULL, 0, 1);
		fd = rig_connect(rig);
	}
	return fd;
}

int
rig_request(struct rig *rig, const struct rig_request *request,
    struct rig_answer *answer)
{
	int64_t begun_ms = rig_now_ms();
	struct idem_buf out = { 0 };
	int fd, whole;

	*answer = (struct rig_answer){ 0 };
	fd = connect_until(rig, begun_ms + rig->request_ms);
	if (fd == -1) {
		answer->error = errno;
		return -1;
	}
	rig_request_write(&out, ID, request);
	whole = rig_receive(fd, ID, idem_buf_bytes(&out), rig->request_ms,
	    answer);
	answer->ms = rig_now_ms() - begun_ms;
	idem_buf_free(&out);
	close(fd);
	return whole;
}
