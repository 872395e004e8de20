/* SPDX-License-Identifier: ISC */
#include "redis_wire_private.h"

#include "label.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#define FULL_PAUSE_MS 10	/* before a full backlog is tried again */

/* --- the socket ----------------------------------------------------------- */

/* 0 to 2 are a program's standard files, and nobody expects a socket there. */
static int
above_standard(int fd)
{
	int moved;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(fd);
	return moved;
}

static int
new_socket(int family)
{
	const int on = 1;
	int fd = above_standard(socket(family,
	    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));

	if (fd < 0 || family == AF_UNIX)
		return fd;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
	return fd;
}

/* --- connected ------------------------------------------------------------ */

static void
shake(struct idem_redis_wire *w)
{
	w->full = false;
	switch (idem_redis_tls_shake(w->talk)) {
	case IDEM_REDIS_TLS_DONE:
		idem_redis_wire_greet(w);
		return;
	case IDEM_REDIS_TLS_WANT_READ:
		return;
	case IDEM_REDIS_TLS_WANT_WRITE:
		w->full = true;
		return;
	case IDEM_REDIS_TLS_CLOSED:
		idem_redis_wire_break(w, IDEM_REDIS_CLOSED,
		    "TLS: the server closed the connection");
		return;
	case IDEM_REDIS_TLS_BROKEN:
		idem_redis_wire_break(w, IDEM_REDIS_RESET, "TLS: %s",
		    strerror(errno));
		return;
	case IDEM_REDIS_TLS_DISTRUST:
		idem_redis_wire_break(w, IDEM_REDIS_TLS_REFUSED, "%s",
		    idem_redis_tls_why(w->talk));
		return;
	}
	abort();
}

static void
connected(struct idem_redis_wire *w)
{
	const char *peer = w->o.redis->server_name;

	if (w->o.url->kind != IDEM_REDIS_TLS) {
		idem_redis_wire_greet(w);
		return;
	}
	if (peer == NULL)
		peer = w->o.url->host;
	w->state = IDEM_REDIS_WIRE_SHAKING;
	w->talk = idem_redis_tls_open(w->o.tls, w->fd, peer);
	if (w->talk == NULL)
		idem_redis_wire_break(w, IDEM_REDIS_NOT_CONNECTED,
		    "no memory for TLS");
	else
		shake(w);
}

/* --- connecting ----------------------------------------------------------- */

static void
name_of(const struct idem_redis_wire *w, char *out, size_t size)
{
	const struct idem_redis_url *url = w->o.url;

	if (url->kind == IDEM_REDIS_UNIX)
		snprintf(out, size, "%s", url->host);
	else
		snprintf(out, size, "%s:%u", url->host, (unsigned)url->port);
}

static void
not_connected(struct idem_redis_wire *w, enum idem_redis_broken broken,
    const char *why)
{
	char name[300];

	name_of(w, name, sizeof name);
	snprintf(w->why, sizeof w->why, "%s: %s", name, why);
	idem_redis_wire_refuse(w, idem_redis_broken_means(broken), w->why);
}

static void
could_not(struct idem_redis_wire *w, int error)
{
	if (error == ECONNREFUSED)
		IDEM_LABEL("store.refused");
	not_connected(w, IDEM_REDIS_NOT_CONNECTED, strerror(error));
}

/*
 * A port of ours that nobody listens at may be given to the very socket that
 * connects to it: then we would read our own commands.
 */
static bool
is_ourselves(int fd)
{
	struct sockaddr_storage ours, theirs;
	socklen_t ours_len = sizeof ours, theirs_len = sizeof theirs;

	memset(&ours, 0, sizeof ours);
	memset(&theirs, 0, sizeof theirs);
	return getsockname(fd, (struct sockaddr *)&ours, &ours_len) == 0 &&
	    getpeername(fd, (struct sockaddr *)&theirs, &theirs_len) == 0 &&
	    ours.ss_family != AF_UNIX && ours_len == theirs_len &&
	    memcmp(&ours, &theirs, ours_len) == 0;
}

/* 0: connected.  An errno; EINPROGRESS and EAGAIN (full) are none. */
static int
try_address(struct idem_redis_wire *w)
{
	const struct idem_redis_address *a = &w->addresses.at[w->address];
	int error;

	w->fd = new_socket(a->at.ss_family);
	if (w->fd < 0)
		return errno;
	w->pid = getpid();
	if (connect(w->fd, (const struct sockaddr *)&a->at, a->len) != 0)
		error = errno == EINTR ? EINPROGRESS : errno;
	else if (is_ourselves(w->fd))
		error = ECONNREFUSED;
	else
		return 0;
	if (error != EINPROGRESS)
		idem_redis_wire_close(w, true);
	return error;
}

/* From the present address on.  They share the time that is left. */
static void
try_addresses(struct idem_redis_wire *w)
{
	int64_t now_ms = idem_redis_wire_now(w);
	int64_t left_ms = w->connect_until_ms - now_ms;
	int error = EADDRNOTAVAIL;

	w->state = IDEM_REDIS_WIRE_CONNECTING;
	for (; w->address < w->addresses.len; w->address++) {
		error = try_address(w);
		if (error == 0) {
			connected(w);
			return;
		}
		w->try_until_ms = now_ms + (error == EAGAIN ? FULL_PAUSE_MS :
		    left_ms / (int64_t)(w->addresses.len - w->address));
		if (error == EINPROGRESS || error == EAGAIN)
			return;
	}
	could_not(w, error);
}

void
idem_redis_wire_connect_ready(struct idem_redis_wire *w)
{
	struct sockaddr_storage peer;
	socklen_t size = sizeof peer;
	int error = 0;
	socklen_t len = sizeof error;

	if (w->state == IDEM_REDIS_WIRE_SHAKING) {
		shake(w);
		return;
	}
	if (w->fd < 0)
		return;
	if (getsockopt(w->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
		error = errno;
	if (error == 0 &&
	    getpeername(w->fd, (struct sockaddr *)&peer, &size) != 0)
		return;		/* underway still */
	if (error == 0 && is_ourselves(w->fd))
		error = ECONNREFUSED;
	if (error == 0) {
		connected(w);
		return;
	}
	idem_redis_wire_close(w, true);
	if (w->address + 1 < w->addresses.len) {
		w->address++;
		try_addresses(w);
	} else {
		could_not(w, error);
	}
}

/* --- naming --------------------------------------------------------------- */

static void
set_path(struct idem_redis_wire *w)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct idem_redis_address *to = &w->addresses.at[0];

	snprintf(at.sun_path, sizeof at.sun_path, "%.107s", w->o.url->host);
	memcpy(&to->at, &at, sizeof at);
	to->len = sizeof at;
	w->addresses.len = 1;
}

static void
set_port(struct idem_redis_address *a, uint16_t port)
{
	struct sockaddr_in6 v6;
	struct sockaddr_in v4;

	if (a->at.ss_family == AF_INET6) {
		memcpy(&v6, &a->at, sizeof v6);
		v6.sin6_port = htons(port);
		memcpy(&a->at, &v6, sizeof v6);
	} else {
		memcpy(&v4, &a->at, sizeof v4);
		v4.sin_port = htons(port);
		memcpy(&a->at, &v4, sizeof v4);
	}
}

static enum idem_redis_name
find_addresses(struct idem_redis_wire *w, const char **why)
{
	enum idem_redis_name known;
	size_t i;

	if (w->o.url->kind == IDEM_REDIS_UNIX) {
		set_path(w);
		return IDEM_REDIS_NAME_KNOWN;
	}
	w->turn = idem_redis_names_turn(w->o.names);
	known = idem_redis_names_look(w->o.names, w->o.url->host,
	    &w->addresses, why);
	if (known == IDEM_REDIS_NAME_KNOWN)
		for (i = 0; i < w->addresses.len; i++)
			set_port(&w->addresses.at[i], w->o.url->port);
	return known;
}

void
idem_redis_wire_connect(struct idem_redis_wire *w)
{
	int64_t now_ms = idem_redis_wire_now(w);
	const char *why = NULL;

	if (now_ms < w->barred_until_ms) {
		idem_redis_wire_refuse(w, w->barred, w->why);
		return;
	}
	if (w->state == IDEM_REDIS_WIRE_CLOSED)
		w->begun_ms = now_ms;
	switch (find_addresses(w, &why)) {
	case IDEM_REDIS_NAME_KNOWN:
		w->address = 0;
		w->connect_until_ms = now_ms + w->timeout_ms;
		try_addresses(w);
		return;
	case IDEM_REDIS_NAME_ASKED:
		w->state = IDEM_REDIS_WIRE_NAMING;
		return;
	case IDEM_REDIS_NAME_FAILED:
		not_connected(w, IDEM_REDIS_NOT_CONNECTED, why);
		return;
	}
	abort();
}

/* --- time ----------------------------------------------------------------- */

void
idem_redis_wire_connect_due(struct idem_redis_wire *w, int64_t now_ms)
{
	switch (w->state) {
	case IDEM_REDIS_WIRE_CLOSED:
	case IDEM_REDIS_WIRE_READY:
		return;
	case IDEM_REDIS_WIRE_NAMING:
		if (w->queue.first == NULL)
			w->state = IDEM_REDIS_WIRE_CLOSED;
		else if (w->turn != idem_redis_names_turn(w->o.names))
			idem_redis_wire_connect(w);
		return;
	case IDEM_REDIS_WIRE_CONNECTING:
		if (now_ms < w->connect_until_ms && now_ms >= w->try_until_ms) {
			if (w->fd >= 0)
				w->address++;
			idem_redis_wire_close(w, true);
			try_addresses(w);
			return;
		}
		break;
	case IDEM_REDIS_WIRE_SHAKING:
	case IDEM_REDIS_WIRE_GREETING:
		break;
	}
	if (now_ms >= w->connect_until_ms)
		not_connected(w, IDEM_REDIS_CONNECT_SLOW,
		    w->state == IDEM_REDIS_WIRE_CONNECTING ?
		    "no connection in time" : "no greeting in time");
}

int64_t
idem_redis_wire_connect_due_ms(const struct idem_redis_wire *w)
{
	switch (w->state) {
	case IDEM_REDIS_WIRE_CLOSED:
		return w->queue.first != NULL ? INT64_MIN : INT64_MAX;
	case IDEM_REDIS_WIRE_NAMING:
		return w->queue.first == NULL ||
		    w->turn != idem_redis_names_turn(w->o.names) ?
		    INT64_MIN : INT64_MAX;
	case IDEM_REDIS_WIRE_CONNECTING:
		return w->try_until_ms < w->connect_until_ms ?
		    w->try_until_ms : w->connect_until_ms;
	case IDEM_REDIS_WIRE_SHAKING:
	case IDEM_REDIS_WIRE_GREETING:
		return w->connect_until_ms;
	case IDEM_REDIS_WIRE_READY:
		return INT64_MAX;
	}
	abort();
}
