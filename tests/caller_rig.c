/* SPDX-License-Identifier: ISC */
#include "caller_rig.h"

#include "address.h"
#include "fcgi_rec.h"
#include "tap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define WAIT_MS 60000

struct caller_rig_conn {
	struct watch watch;	/* first */
	struct caller_rig *rig;
	struct caller_rig_conn *next;
	struct idem_buf in;
	bool answered;
	size_t sent;
};

/* --- a connection of the server's ----------------------------------------- */

static void
conn_end(struct caller_rig_conn *c)
{
	int fd = c->watch.fd;

	if (fd == -1)
		return;
	loop_unwatch(c->rig->loop, &c->watch);
	close(fd);
}

/* Its last record, or its body, has come. */
static bool
is_whole(const struct caller_rig_conn *c)
{
	uint8_t end[8];

	if (c->rig->http)
		return c->in.len > 9 && memmem(c->in.at, c->in.len,
		    "\r\n\r\nhello", 9) != NULL;
	idem_fcgi_header(end, IDEM_FCGI_STDIN, 1, 0, 0);
	return c->in.len >= 8 && memcmp(c->in.at + c->in.len - 8, end, 8) == 0;
}

static void
hear_abort(struct caller_rig_conn *c)
{
	uint8_t record[8];

	idem_fcgi_header(record, IDEM_FCGI_ABORT_REQUEST, 1, 0, 0);
	if (c->in.len >= 8 && memcmp(c->in.at + c->in.len - 8, record, 8) == 0)
		c->rig->aborted = true;
}

static void
say(struct caller_rig_conn *c)
{
	struct idem_bytes says = c->rig->says;
	size_t at = c->rig->then == CALLER_FLOODS ? c->sent % says.len :
	    c->sent;
	ssize_t n = says.len == at ? 0 : send(c->watch.fd,
	    (const char *)says.at + at, says.len - at,
	    MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n > 0)
		c->sent += (size_t)n;
	if (n == -1 && errno != EAGAIN) {
		conn_end(c);
		return;
	}
	if (c->rig->then == CALLER_FLOODS || c->sent < says.len)
		return;
	if (c->rig->then == CALLER_CLOSES)
		conn_end(c);
	else
		loop_change(c->rig->loop, &c->watch, EPOLLIN);
}

static void
hear(struct caller_rig_conn *c)
{
	char at[65536];
	ssize_t n = recv(c->watch.fd, at, sizeof at, MSG_DONTWAIT);

	if (n <= 0) {
		if (n == 0 || errno != EAGAIN)
			conn_end(c);
		return;
	}
	idem_buf_append(&c->in, at, (size_t)n);
	hear_abort(c);
	if (c->answered || !is_whole(c))
		return;
	c->answered = true;
	idem_buf_clear(&c->rig->heard);
	idem_buf_append(&c->rig->heard, c->in.at, c->in.len);
	loop_change(c->rig->loop, &c->watch, EPOLLIN | EPOLLOUT);
}

static void
conn_ready(struct watch *watch, uint32_t events)
{
	struct caller_rig_conn *c = (struct caller_rig_conn *)watch;

	if (c->rig->then == CALLER_RESETS) {
		conn_end(c);
		return;
	}
	if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0)
		hear(c);
	if (watch->fd != -1 && (events & EPOLLOUT) != 0)
		say(c);
}

static void
meet(struct watch *watch, uint32_t events)
{
	struct caller_rig *rig = (struct caller_rig *)((char *)watch -
	    offsetof(struct caller_rig, listener));
	int fd = accept4(watch->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct caller_rig_conn *c;

	(void)events;
	if (fd == -1)
		return;
	c = calloc(1, sizeof *c);
	if (c == NULL)
		bail_out("out of memory");
	rig->accepted++;
	c->rig = rig;
	c->next = rig->conns;
	rig->conns = c;
	c->watch.ready = conn_ready;
	if (loop_watch(rig->loop, &c->watch, fd, EPOLLIN) == -1)
		bail_out("epoll: %s", strerror(errno));
}

/* --- the server ----------------------------------------------------------- */

static int64_t
boot_ms(void *arg)
{
	return idem_boot_ms(&idem_clock_real) +
	    ((struct caller_rig *)arg)->ahead_ms;
}

void
caller_rig_open(struct caller_rig *rig, bool tcp)
{
	struct address at;
	socklen_t len = sizeof at.at;
	int fd;

	memset(rig, 0, sizeof *rig);
	snprintf(rig->folder, sizeof rig->folder, "/tmp/idem-caller-XXXXXX");
	if (mkdtemp(rig->folder) == NULL)
		bail_out("%s: %s", rig->folder, strerror(errno));
	snprintf(rig->socket, sizeof rig->socket, "%s/socket", rig->folder);
	address_loopback(&at);
	if (!tcp)
		(void)address_read(&at, rig->socket);
	rig->clock = (struct idem_clock){ .boot_ms = boot_ms, .arg = rig };
	rig->loop = loop_new(&rig->clock);
	fd = address_socket(&at);
	rig->listener.ready = meet;
	if (rig->loop == NULL || fd == -1 ||
	    bind(fd, (struct sockaddr *)&at.at, at.len) == -1 ||
	    listen(fd, 64) == -1 ||
	    getsockname(fd, (struct sockaddr *)&at.at, &len) == -1 ||
	    loop_watch(rig->loop, &rig->listener, fd, EPOLLIN) == -1)
		bail_out("%s: %s", rig->socket, strerror(errno));
	rig->port = address_port(&at);
	if (tcp)
		snprintf(rig->socket, sizeof rig->socket, "127.0.0.1:%d",
		    rig->port);
}

void
caller_rig_close(struct caller_rig *rig)
{
	struct caller_rig_conn *c;
	int fd = rig->listener.fd;

	while ((c = rig->conns) != NULL) {
		rig->conns = c->next;
		conn_end(c);
		idem_buf_free(&c->in);
		free(c);
	}
	loop_unwatch(rig->loop, &rig->listener);
	close(fd);
	if (rig->port == 0)
		unlink(rig->socket);
	rmdir(rig->folder);
	loop_free(rig->loop);
	idem_buf_free(&rig->heard);
}

void
caller_rig_records(struct idem_buf *to, struct idem_bytes out, bool end)
{
	idem_fcgi_stream_write(to, IDEM_FCGI_STDOUT, 1, out);
	if (!end)
		return;
	idem_fcgi_stream_end(to, IDEM_FCGI_STDOUT, 1);
	idem_fcgi_end_write(to, 1, 0, IDEM_FCGI_REQUEST_COMPLETE);
}

/* --- calls ---------------------------------------------------------------- */

void
caller_rig_done(struct call *call)
{
	++*(unsigned *)call->arg;
}

bool
caller_rig_await(struct caller_rig *rig, const unsigned *n, unsigned want)
{
	int64_t until_ms = idem_boot_ms(&idem_clock_real) + WAIT_MS;

	while (*n < want && idem_boot_ms(&idem_clock_real) < until_ms)
		loop_turn(rig->loop, until_ms + rig->ahead_ms);
	return *n == want;
}

/* Or until it is done. */
static void
await_enough(struct caller_rig *rig, const struct call *call,
    const unsigned *n)
{
	int64_t until_ms = idem_boot_ms(&rig->clock) + WAIT_MS;

	while (*n == 0 && call->out.len < rig->enough) {
		if (idem_boot_ms(&rig->clock) > until_ms)
			bail_out("of an answer %zu bytes come, not %zu",
			    call->out.len, rig->enough);
		loop_turn(rig->loop, until_ms);
	}
}

void
caller_rig_call(struct caller_rig *rig, struct call *call)
{
	unsigned n = 0;

	call->arg = &n;
	call->done = caller_rig_done;
	if (call->socket == NULL)
		call->socket = rig->socket;
	if (call->method == NULL)
		call->method = "POST";
	if (call->path == NULL)
		call->path = "/order";
	call->body = idem_bytes_text("hello");
	call_start(rig->loop, call);
	if (rig->enough > 0) {
		await_enough(rig, call, &n);
		rig->ahead_ms += call->timeout_ms;
	}
	if (!caller_rig_await(rig, &n, 1))
		bail_out("a call does not come to its end");
	rig->ahead_ms = 0;
}
