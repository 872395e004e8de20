/* SPDX-License-Identifier: ISC */
#include "net_rig.h"

#include "address.h"
#include "resp.h"
#include "tap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ 65536
#define STILL 8		/* turns in which nothing moves: it is over */
#define WAIT_MS 20000

/* --- peers ---------------------------------------------------------------- */

static void
peer_end(struct net_rig_peer *p)
{
	if (p->fd == -1)
		return;
	loop_unwatch(p->rig->loop, &p->watch);
	close(p->fd);
	p->fd = -1;
}

static void
answer(struct net_rig_peer *p, const struct resp_command *c)
{
	const struct idem_bytes *word = c->args_n > 1 ? &c->args[1] : &c->name;

	if (idem_bytes_is(c->name, "PUSH"))
		net_rig_say(p, ">2\r\n+push\r\n+x\r\n");
	if (idem_bytes_is(c->name, "QUIT")) {
		peer_end(p);
		return;
	}
	if (idem_bytes_is(c->name, "MUTE"))
		return;
	net_rig_say(p, "+");
	net_rig_say_bytes(p, *word);
	net_rig_say(p, "\r\n");
	if (idem_bytes_is(c->name, "BYES"))
		net_rig_half(p);
}

static void
write_down(struct idem_buf *heard, const struct resp_command *c)
{
	size_t i;

	for (i = 0; i < c->args_n && i < 12; i++) {
		if (i > 0)
			idem_buf_u8(heard, ' ');
		idem_buf_append(heard, c->args[i].at, c->args[i].len);
	}
	idem_buf_u8(heard, '|');
}

static void
serve(struct net_rig_peer *p)
{
	struct idem_bytes left = idem_buf_bytes(&p->in);
	struct resp_command c;
	long n;

	while (p->fd != -1 && (n = resp_command_len(left)) > 0) {
		if (resp_command((struct idem_bytes){ left.at, (size_t)n },
		    &c) && c.args_n > 0) {
			write_down(&p->rig->heard, &c);
			answer(p, &c);
		}
		left.at = (const char *)left.at + n;
		left.len -= (size_t)n;
	}
	idem_buf_drop(&p->in, p->in.len - left.len);
}

static void
peer_ready(struct watch *watch, uint32_t events)
{
	struct net_rig_peer *p = (struct net_rig_peer *)watch;
	char at[READ];
	ssize_t n = recv(p->fd, at, sizeof at, MSG_DONTWAIT);

	(void)events;
	p->rig->moved++;
	if (n > 0) {
		p->reads++;
		idem_buf_append(&p->in, at, (size_t)n);
		if (p->server && !p->raw)
			serve(p);
		return;
	}
	if (n == -1 && errno == EAGAIN)
		return;
	p->closed = true;
	p->reset = n == -1;
	if (p->server)
		peer_end(p);
	else
		loop_unwatch(p->rig->loop, &p->watch);
}

static struct net_rig_peer *
peer_new(struct net_rig *rig, int fd, bool server)
{
	struct net_rig_peer *p;

	for (p = rig->peers; p < rig->peers + NET_RIG_PEERS; p++)
		if (p->rig == NULL)
			break;
	if (p == rig->peers + NET_RIG_PEERS)
		bail_out("too many connections in one test");
	p->rig = rig;
	p->fd = fd;
	p->server = server;
	p->raw = server && rig->raw;
	p->watch.ready = peer_ready;
	if (loop_watch(rig->loop, &p->watch, fd, EPOLLIN) == -1)
		bail_out("epoll: %s", strerror(errno));
	return p;
}

/* --- the rig -------------------------------------------------------------- */

static void
server_ready(struct watch *watch, uint32_t events)
{
	struct net_rig *rig = (struct net_rig *)((char *)watch -
	    offsetof(struct net_rig, listener));
	int fd = accept4(watch->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)events;
	rig->moved++;
	if (fd == -1)
		return;
	peer_new(rig, fd, true);
	rig->accepted++;
}

void
net_rig_open(struct net_rig *rig)
{
	struct address at;
	int fd;

	memset(rig, 0, sizeof *rig);
	snprintf(rig->folder, sizeof rig->folder, "/tmp/idem-net-XXXXXX");
	if (mkdtemp(rig->folder) == NULL)
		bail_out("%s: %s", rig->folder, strerror(errno));
	snprintf(rig->server, sizeof rig->server, "%s/server", rig->folder);
	snprintf(rig->net, sizeof rig->net, "%s/net", rig->folder);
	snprintf(rig->url, sizeof rig->url, "unix:%s", rig->server);
	rig->loop = loop_new(&idem_clock_real);
	fd = address_read(&at, rig->url) ? address_socket(&at) : -1;
	rig->listener.ready = server_ready;
	if (rig->loop == NULL || fd == -1 ||
	    bind(fd, (struct sockaddr *)&at.at, at.len) == -1 ||
	    listen(fd, 64) == -1 ||
	    loop_watch(rig->loop, &rig->listener, fd, EPOLLIN) == -1)
		bail_out("%s: %s", rig->server, strerror(errno));
}

void
net_rig_close(struct net_rig *rig)
{
	struct net_rig_peer *p;

	for (p = rig->peers; p < rig->peers + NET_RIG_PEERS; p++)
		if (p->rig != NULL) {
			peer_end(p);
			idem_buf_free(&p->in);
		}
	if (rig->listener.fd != -1) {
		close(rig->listener.fd);
		loop_unwatch(rig->loop, &rig->listener);
	}
	unlink(rig->server);
	unlink(rig->net);
	rmdir(rig->folder);
	loop_free(rig->loop);
	idem_buf_free(&rig->heard);
	idem_buf_free(&rig->told);
}

/* --- the net -------------------------------------------------------------- */

static void
tell(void *arg, struct net *net, const struct net_frame *f)
{
	struct net_rig *rig = arg;
	const struct resp_command *c = f->command;
	char text[40];

	(void)net;
	idem_buf_printf(&rig->told, "%u%c", f->message,
	    f->way == NET_REQUESTS ? '>' : '<');
	if (c != NULL)
		idem_buf_printf(&rig->told, "%.*s %.*s", (int)c->name.len,
		    (const char *)c->name.at, (int)c->key.len,
		    c->key.len > 0 ? (const char *)c->key.at : "");
	if (f->way == NET_REPLIES)
		idem_buf_printf(&rig->told, " %s",
		    resp_reply_text(f->bytes, text, sizeof text));
	idem_buf_text(&rig->told, f->lost ? "!|" : "|");
}

static void
count(void *arg, struct net *net, const struct net_rule *rule,
    const struct net_frame *f)
{
	(void)net;
	(void)rule;
	(void)f;
	((struct net_rig *)arg)->struck++;
}

struct net *
net_rig_between(struct net_rig *rig)
{
	const struct net_user user = {
		.frame = tell, .struck = count, .arg = rig
	};
	struct net *net = net_open(rig->loop, rig->net, rig->url, false,
	    &rig->numbers, &user);

	if (net == NULL)
		bail_out("%s: %s", rig->net, strerror(errno));
	return net;
}

/* --- clients -------------------------------------------------------------- */

struct net_rig_peer *
net_rig_client(struct net_rig *rig, int port)
{
	struct address at;
	bool connected;
	char text[32];
	int fd;

	snprintf(text, sizeof text, "127.0.0.1:%d", port);
	if (!address_read(&at, port != 0 ? text : rig->net))
		bail_out("no address: %s", text);
	fd = address_connect(&at, &connected);
	if (fd == -1)
		return NULL;
	return peer_new(rig, fd, false);
}

struct net_rig_peer *
net_rig_last(struct net_rig *rig)
{
	struct net_rig_peer *p, *last = NULL;

	for (p = rig->peers; p < rig->peers + NET_RIG_PEERS; p++)
		if (p->rig != NULL && p->server)
			last = p;
	return last;
}

/* --- what they say -------------------------------------------------------- */

void
net_rig_say_bytes(struct net_rig_peer *p, struct idem_bytes bytes)
{
	/* Who has gone hears nothing. */
	if (p->fd != -1)
		(void)send(p->fd, bytes.at, bytes.len,
		    MSG_NOSIGNAL | MSG_DONTWAIT);
	p->rig->moved++;
}

void
net_rig_say(struct net_rig_peer *p, const char *text)
{
	net_rig_say_bytes(p, idem_bytes_text(text));
}

void
net_rig_leave(struct net_rig_peer *p)
{
	peer_end(p);
	p->rig->moved++;
}

void
net_rig_half(struct net_rig_peer *p)
{
	shutdown(p->fd, SHUT_WR);
	p->rig->moved++;
}

/* --- time ----------------------------------------------------------------- */

void
net_rig_rest(struct net_rig *rig)
{
	unsigned still = 0, moved;
	int64_t until_ms = idem_boot_ms(&idem_clock_real) + WAIT_MS;

	while (still < STILL && loop_now(rig->loop) < until_ms) {
		moved = rig->moved;
		loop_turn(rig->loop, 0);
		still = rig->moved == moved ? still + 1 : 0;
	}
}

void
net_rig_wait(struct net_rig *rig, int64_t ms)
{
	int64_t until_ms = idem_boot_ms(&idem_clock_real) + ms;

	net_rig_rest(rig);	/* who is late has turns all the same */
	while (idem_boot_ms(&idem_clock_real) < until_ms)
		loop_turn(rig->loop, until_ms);
}

bool
net_rig_await(struct net_rig_peer *p, size_t len)
{
	int64_t until_ms = idem_boot_ms(&idem_clock_real) + WAIT_MS;

	while (p->in.len < len && !p->closed &&
	    idem_boot_ms(&idem_clock_real) < until_ms)
		loop_turn(p->rig->loop, until_ms);
	return p->in.len >= len;
}

bool
net_rig_await_end(struct net_rig_peer *p)
{
	(void)net_rig_await(p, SIZE_MAX);
	return p->closed;
}

struct net_rig_peer *
net_rig_await_server(struct net_rig *rig, unsigned n)
{
	int64_t until_ms = idem_boot_ms(&idem_clock_real) + WAIT_MS;

	while (rig->accepted < n && idem_boot_ms(&idem_clock_real) < until_ms)
		loop_turn(rig->loop, until_ms);
	if (rig->accepted < n)
		bail_out("the server is not reached");
	return net_rig_last(rig);
}

/* The buffer keeps its bytes until more come: what is told is as good. */
static const char *
told(struct idem_buf *buf)
{
	idem_buf_u8(buf, '\0');
	if (!idem_buf_ok(buf))
		bail_out("out of memory");
	buf->len = 0;
	return (const char *)buf->at;
}

const char *
net_rig_heard(struct net_rig *rig)
{
	return told(&rig->heard);
}

const char *
net_rig_came(struct net_rig_peer *p)
{
	return told(&p->in);
}

const char *
net_rig_told(struct net_rig *rig)
{
	return told(&rig->told);
}
