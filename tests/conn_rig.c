/* SPDX-License-Identifier: ISC */
#include "conn_rig.h"

#include "tap.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define UNTIL_MS 120000		/* of real time: bounded, and far off */
#define SETTLE_TURNS 64

const char *const kind_text[] = { "unix", "TCP" };
const char answer_hello[] = "Status: 200 OK\r\n\r\nhello";

/* --- the user ------------------------------------------------------------- */

static void
call_free(struct call *call)
{
	struct call **at = &call->rig->calls;

	while (*at != call)
		at = &(*at)->next;
	*at = call->next;
	idem_params_free(&call->params);
	idem_buf_free(&call->body);
	free(call);
}

void
call_end(struct call *call)
{
	conn_end(call->conn, 0);
	call_free(call);
}

void
call_cut(struct call *call)
{
	conn_cut(call->conn);
	call_free(call);
}

void
echo(struct call *call)
{
	conn_write(call->conn, idem_bytes_text("Status: 200 OK\r\n\r\n"));
	conn_write(call->conn, idem_buf_bytes(&call->body));
	call_end(call);
}

void
refuse(struct call *call)
{
	conn_write(call->conn, idem_bytes_text("Status: 422 No\r\n\r\n"));
	call_end(call);
}

static void
on_begun(struct conn *c, void *arg, struct idem_params *params)
{
	struct conn_rig *rig = arg;
	struct call *call = calloc(1, sizeof *call);

	if (call == NULL)
		bail_out("no memory");
	*call = (struct call){ .rig = rig, .conn = c, .params = *params,
	    .next = rig->calls };
	rig->calls = call;
	rig->begun++;
	rig->params_text[0] = '\0';
	if (params->len > 0)
		strncat(rig->params_text, params->at[0],
		    sizeof rig->params_text - 1);
	conn_set_user(c, call);
	if (rig->on_begun != NULL)
		rig->on_begun(call);
}

static void
on_body(struct conn *c, void *user, struct idem_bytes bytes)
{
	struct call *call = user;

	(void)c;
	call->rig->body_len += bytes.len;
	idem_buf_append(&call->body, bytes.at, bytes.len);
}

static void
on_whole(struct conn *c, void *user)
{
	struct call *call = user;

	(void)c;
	call->rig->whole++;
	if (call->rig->on_whole != NULL)
		call->rig->on_whole(call);
}

static void
on_refused(struct conn *c, void *arg, enum conn_refused why)
{
	struct conn_rig *rig = arg;

	rig->too_large += why == CONN_TOO_LARGE;
	rig->unreadable += why == CONN_UNREADABLE;
	conn_write(c, idem_bytes_text(why == CONN_TOO_LARGE ?
	    "Status: 431 Too Large\r\n\r\n" :
	    "Status: 400 Bad Request\r\n\r\n"));
	conn_end(c, 0);
}

static void
on_closed(struct conn *c, void *user)
{
	struct call *call = user;

	call->rig->closed++;
	/* None of these may do anything now. */
	conn_write(c, idem_bytes_text("late"));
	conn_end(c, 0);
	conn_cut(c);
	call_free(call);
}

static void
on_drained(struct conn *c, void *user)
{
	struct call *call = user;

	(void)c;
	call->rig->drained++;
	if (call->rig->on_drained != NULL)
		call->rig->on_drained(call);
}

static void
on_log(void *arg, const char *what)
{
	struct conn_rig *rig = arg;

	rig->logged++;
	rig->log_text[0] = '\0';
	strncat(rig->log_text, what, sizeof rig->log_text - 1);
}

static const struct conn_user user = {
	.begun = on_begun,
	.body = on_body,
	.whole = on_whole,
	.refused = on_refused,
	.closed = on_closed,
	.drained = on_drained,
};

/* --- the rig -------------------------------------------------------------- */

static int64_t
rig_now(void *arg)
{
	const struct conn_rig *rig = arg;

	return rig->now_ms;
}

void
conn_rig_open(struct conn_rig *rig)
{
	*rig = (struct conn_rig){ .now_ms = 1000000 };
	rig->clock = (struct idem_clock){
		.boot_ms = rig_now, .wall_ms = rig_now, .arg = rig
	};
	rig->loop = loop_new(&rig->clock);
	if (rig->loop == NULL)
		bail_out("no loop");
	rig->all = (struct conns){
		.loop = rig->loop,
		.limits = conn_limits_default, .user = &user, .arg = rig,
		.log = on_log,
	};
	rig->on_whole = echo;
}

void
conn_rig_close(struct conn_rig *rig)
{
	conns_free(&rig->all);
	while (rig->calls != NULL)
		call_free(rig->calls);
	loop_free(rig->loop);
	free(rig->tcp);
}

/* --- web servers ---------------------------------------------------------- */

/*
 * One for all connections: each whose end on its side is closed first keeps its
 * port for a minute, and other tests need some too.
 */
static int
listener(struct sockaddr_in *address)
{
	static int fd = -1;
	socklen_t len = sizeof *address;
	int on = 1;

	*address = (struct sockaddr_in){ .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (fd == -1) {
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on,
		    sizeof on) == -1 ||
		    bind(fd, (struct sockaddr *)address, len) == -1 ||
		    listen(fd, 1) == -1)
			bail_out("no loopback TCP");
	}
	if (getsockname(fd, (struct sockaddr *)address, &len) == -1)
		bail_out("no loopback TCP");
	return fd;
}

static void
tcp_pair(int fds[2])
{
	struct sockaddr_in address;
	int from = listener(&address);

	fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(fds[0], (struct sockaddr *)&address, sizeof address) == -1)
		bail_out("no loopback TCP");
	fds[1] = accept4(from, NULL, NULL, SOCK_CLOEXEC);
}

/* False of one that is closed, and of another that has its number by now. */
static bool
tcp_info(int fd, struct tcp_info *info)
{
	socklen_t len = sizeof *info;

	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &len) == 0;
}

static void
forget_tcp(struct conn_rig *rig, const int fds[2])
{
	struct tcp_info info;
	size_t i, n = 0;

	for (i = 0; i < rig->tcp_len; i++)
		if (rig->tcp[i] != fds[0] && rig->tcp[i] != fds[1] &&
		    tcp_info(rig->tcp[i], &info))
			rig->tcp[n++] = rig->tcp[i];
	rig->tcp_len = n;
}

static void
keep_tcp(struct conn_rig *rig, const int fds[2])
{
	int *more;

	forget_tcp(rig, fds);
	if (rig->tcp_len + 2 > rig->tcp_room) {
		rig->tcp_room = 2 * rig->tcp_room + 2;
		more = realloc(rig->tcp, rig->tcp_room * sizeof *more);
		if (more == NULL)
			bail_out("no memory");
		rig->tcp = more;
	}
	rig->tcp[rig->tcp_len++] = fds[0];
	rig->tcp[rig->tcp_len++] = fds[1];
}

void
peer_open(struct conn_rig *rig, struct peer *p, enum socket_kind kind)
{
	int fds[2] = { -1, -1 };
	int i;

	*p = (struct peer){ .reader = { .id = 1 } };
	if (kind == OVER_TCP) {
		tcp_pair(fds);
		keep_tcp(rig, fds);
	} else if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
	    fds) == -1)
		bail_out("no socket pair");
	for (i = 0; i < 2; i++)
		if (fcntl(fds[i], F_SETFL, O_NONBLOCK) == -1)
			bail_out("no non-blocking socket");
	p->fd = fds[0];
	if (conn_open(&rig->all, fds[1]) == -1)
		bail_out("no connection");
}

void
peer_close(struct peer *p)
{
	if (p->fd != -1)
		(void)close(p->fd);
	p->fd = -1;
	idem_buf_free(&p->to_send);
	idem_buf_free(&p->out);
	idem_buf_free(&p->err);
	idem_buf_free(&p->raw);
}

struct idem_bytes
hello(void)
{
	return idem_bytes_text("hello");
}

void
record_write(struct idem_buf *to, enum idem_fcgi_type type, uint16_t id,
    const char *content)
{
	uint8_t header[IDEM_FCGI_HEADER_LEN];
	size_t len = strlen(content);

	idem_fcgi_header(header, type, id, (uint16_t)len, 0);
	idem_buf_append(to, header, sizeof header);
	idem_buf_append(to, content, len);
}

size_t
record_ends(const struct idem_buf *stream, size_t *ends, size_t max)
{
	const uint8_t *header;
	size_t at = 0, n = 0;

	while (at + IDEM_FCGI_HEADER_LEN <= stream->len && n < max) {
		header = stream->at + at;
		at += IDEM_FCGI_HEADER_LEN +
		    ((size_t)header[4] << 8 | header[5]) + header[6];
		ends[n++] = at;
	}
	return n;
}

static void
value_write(struct idem_buf *to, const struct request *r)
{
	char *value;

	if (r->value_len == 0) {
		idem_fcgi_pair_write(to, idem_bytes_text("KEY"),
		    idem_bytes_text(r->value == NULL ? "value" : r->value));
		return;
	}
	value = malloc(r->value_len);
	if (value == NULL)
		bail_out("no memory");
	memset(value, 'x', r->value_len);
	idem_fcgi_pair_write(to, idem_bytes_text("KEY"),
	    (struct idem_bytes){ value, r->value_len });
	free(value);
}

void
request_write(struct idem_buf *to, const struct request *r)
{
	uint16_t id = r->id == 0 ? 1 : r->id;
	struct idem_buf params = { 0 };

	value_write(&params, r);
	idem_fcgi_begin_write(to, id, IDEM_FCGI_RESPONDER, r->keep);
	idem_fcgi_stream_write(to, IDEM_FCGI_PARAMS, id,
	    idem_buf_bytes(&params));
	idem_fcgi_stream_end(to, IDEM_FCGI_PARAMS, id);
	idem_fcgi_stream_write(to, IDEM_FCGI_STDIN, id, r->body);
	if (!r->cut_body)
		idem_fcgi_stream_end(to, IDEM_FCGI_STDIN, id);
	idem_buf_free(&params);
}

void
peer_request(struct peer *p, const struct request *r)
{
	request_write(&p->to_send, r);
}

static void
peer_send(struct peer *p)
{
	size_t len = p->to_send.len - p->sent;
	ssize_t n;

	if (p->fd == -1 || len == 0)
		return;
	if (p->piece > 0 && len > p->piece)
		len = p->piece;
	n = send(p->fd, p->to_send.at + p->sent, len,
	    MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n > 0)
		p->sent += (size_t)n;
}

static void
peer_told(struct peer *p, enum idem_fcgi_told told, struct idem_bytes bytes)
{
	if (told == IDEM_FCGI_TOLD_STDOUT)
		idem_buf_append(&p->out, bytes.at, bytes.len);
	else if (told == IDEM_FCGI_TOLD_STDERR)
		idem_buf_append(&p->err, bytes.at, bytes.len);
	else if (told == IDEM_FCGI_TOLD_END)
		p->ends++;
	else if (told == IDEM_FCGI_TOLD_BROKEN)
		bail_out("what came is not FastCGI: %s", p->reader.wrong);
}

static void
peer_got(struct peer *p, struct idem_bytes left)
{
	struct idem_bytes bytes = { 0 };
	enum idem_fcgi_told told;

	if (p->keep_raw)
		idem_buf_append(&p->raw, left.at, left.len);
	while ((told = idem_fcgi_client_read(&p->reader, &left, &bytes)) !=
	    IDEM_FCGI_TOLD_MORE)
		peer_told(p, told, bytes);
}

static void
peer_read(struct peer *p)
{
	static uint8_t room[65536];
	ssize_t n;

	if (p->fd == -1 || p->unread || p->eof || p->reset)
		return;
	n = recv(p->fd, room, sizeof room, MSG_DONTWAIT);
	if (n > 0)
		peer_got(p, (struct idem_bytes){ room, (size_t)n });
	else if (n == 0)
		p->eof = true;
	else if (errno != EAGAIN)
		p->reset = true;
}

/* --- the passing of time -------------------------------------------------- */

static void
step(struct conn_rig *rig, struct peer *peers, size_t n, int64_t wait_ms)
{
	size_t i;

	for (i = 0; i < n; i++) {
		peer_send(&peers[i]);
		peer_read(&peers[i]);
	}
	/* Our clock stands still, so this is how long it really waits. */
	if (loop_turn(rig->loop, rig->now_ms + wait_ms) == -1)
		bail_out("the loop is broken");
}

/* Another step, waiting a little now and then; false: it has been too long. */
static bool
step_until(struct conn_rig *rig, struct peer *peers, size_t n, long i,
    int64_t until_ms)
{
	step(rig, peers, n, i % 64 == 63);
	return i % 64 != 63 || idem_boot_ms(&idem_clock_real) < until_ms;
}

static int64_t
too_long(void)
{
	return idem_boot_ms(&idem_clock_real) + UNTIL_MS;
}

bool
until(struct conn_rig *rig, struct peer *peers, size_t n, const int *what,
    int want)
{
	int64_t until_ms = too_long();
	long i;

	for (i = 0; *what < want; i++)
		if (!step_until(rig, peers, n, i, until_ms))
			break;
	return *what >= want;
}

bool
until_true(struct conn_rig *rig, struct peer *peers, size_t n,
    const bool *what)
{
	int64_t until_ms = too_long();
	long i;

	for (i = 0; !*what; i++)
		if (!step_until(rig, peers, n, i, until_ms))
			break;
	return *what;
}

size_t
until_open(struct conn_rig *rig, struct peer *peers, size_t n, size_t want)
{
	int64_t until_ms = too_long();
	long i;

	for (i = 0; rig->all.count != want; i++)
		if (!step_until(rig, peers, n, i, until_ms))
			break;
	return rig->all.count;
}

/*
 * Has the kernel still to carry what one end of a TCP connection has sent?  On
 * a busy machine that takes a while; a unix socket's bytes are there at once.
 */
static bool
in_flight(const struct conn_rig *rig)
{
	struct tcp_info info;
	size_t i;

	for (i = 0; i < rig->tcp_len; i++)
		if (tcp_info(rig->tcp[i], &info) && info.tcpi_unacked > 0)
			return true;
	return false;
}

void
settle(struct conn_rig *rig, struct peer *peers, size_t n)
{
	int i;

	for (i = 0; i < SETTLE_TURNS; i++)
		step(rig, peers, n, 0);
}

void
settle_carried(struct conn_rig *rig, struct peer *peers, size_t n)
{
	int64_t until_ms = too_long();

	settle(rig, peers, n);
	while (in_flight(rig) && idem_boot_ms(&idem_clock_real) < until_ms) {
		step(rig, peers, n, 1);
		settle(rig, peers, n);
	}
}

void
pass(struct conn_rig *rig, int64_t ms)
{
	rig->now_ms += ms;
	step(rig, NULL, 0, 0);
	step(rig, NULL, 0, 0);
}

bool
out_is(const struct peer *p, const char *text)
{
	return idem_bytes_is(idem_buf_bytes(&p->out), text);
}

size_t
open_files(void)
{
	struct sockaddr_in address;
	DIR *folder;
	size_t n = 0;

	(void)listener(&address);	/* it stays, and is counted at first */
	folder = opendir("/proc/self/fd");
	if (folder == NULL)
		bail_out("no /proc");
	while (readdir(folder) != NULL)
		n++;
	(void)closedir(folder);
	return n;
}
