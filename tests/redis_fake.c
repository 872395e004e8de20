/* SPDX-License-Identifier: ISC */
#include "redis_fake.h"

#include "tap.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 30000

/* --- waiting -------------------------------------------------------------- */

/* Until the descriptor is so; false: the end was asked for. */
static bool
wait_for(struct redis_fake *f, int fd, short events, int ms)
{
	struct pollfd p[2] = {
		{ .fd = f->stop[0], .events = POLLIN },
		{ .fd = fd, .events = events }
	};

	while (poll(p, fd >= 0 ? 2 : 1, ms) < 0 && errno == EINTR)
		continue;
	return p[0].revents == 0;
}

/* --- what was said -------------------------------------------------------- */

static bool
line_end(const char *at, unsigned len, unsigned from, unsigned *to)
{
	const char *end = from < len ? memchr(at + from, '\n', len - from) :
	    NULL;

	if (end == NULL)
		return false;
	*to = (unsigned)(end - at) + 1;
	return true;
}

static void
note_word(struct redis_fake *f, const char *word, size_t len, char behind)
{
	size_t n = strlen(f->said);

	snprintf(f->said + n, sizeof f->said - n, "%.*s%c", (int)len, word,
	    behind);
}

/* The length of the command that in begins with; 0: it is not whole. */
static unsigned
whole(struct redis_fake *f, bool note)
{
	const char *at = f->in;
	unsigned pos, size, len = f->in_len;
	long words, n;

	if (!line_end(at, len, 0, &pos))
		return 0;
	words = strtol(at + 1, NULL, 10);
	for (; words > 0; words--) {
		size = pos;
		if (!line_end(at, len, size, &pos))
			return 0;
		n = strtol(at + size + 1, NULL, 10);
		if (pos + (unsigned)n + 2 > len)
			return 0;
		if (note)
			note_word(f, at + pos, (size_t)n,
			    words > 1 ? ' ' : '|');
		pos += (unsigned)n + 2;
	}
	return pos;
}

static void
count_commands(struct redis_fake *f)
{
	unsigned n;

	while ((n = whole(f, false)) > 0) {
		whole(f, true);
		f->in_len -= n;
		memmove(f->in, f->in + n, f->in_len);
		f->held++;
		f->commands++;
	}
}

/* False: the peer has left, or the end. */
static bool
hear(struct redis_fake *f)
{
	ssize_t n;

	if (!wait_for(f, f->connection, POLLIN, -1))
		return false;
	n = recv(f->connection, f->in + f->in_len,
	    sizeof f->in - 1 - f->in_len, MSG_DONTWAIT);
	if (n <= 0)
		return n < 0 && errno == EAGAIN;
	f->in_len += (unsigned)n;
	f->in[f->in_len] = '\0';
	count_commands(f);
	return true;
}

/* --- steps ---------------------------------------------------------------- */

static void
hang_up(struct redis_fake *f)
{
	if (f->connection >= 0)
		close(f->connection);
	f->connection = -1;
	f->held = f->in_len = 0;
}

static bool
do_accept(struct redis_fake *f)
{
	hang_up(f);
	if (!wait_for(f, f->listener, POLLIN, -1))
		return false;
	f->connection = accept4(f->listener, NULL, NULL, SOCK_CLOEXEC);
	f->accepts++;
	return f->connection >= 0;
}

static bool
do_expect(struct redis_fake *f, unsigned n)
{
	while (f->held < n)
		if (!hear(f))
			return false;
	return true;
}

static bool
put(struct redis_fake *f, const char *at, size_t len)
{
	ssize_t n;

	while (len > 0) {
		n = send(f->connection, at, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN)
			return true;	/* it has left */
		if (n > 0) {
			at += n;
			len -= (size_t)n;
		} else if (!wait_for(f, f->connection, POLLOUT, -1)) {
			return false;
		}
	}
	return true;
}

static bool
do_drip(struct redis_fake *f, const char *arg)
{
	char *text;
	long ms = strtol(arg, &text, 10);
	size_t i, len = strlen(text + 1);

	for (i = 0; i < len; i++)
		if (!put(f, text + 1 + i, 1) || !wait_for(f, -1, 0, (int)ms))
			return false;
	return true;
}

static bool
do_flood(struct redis_fake *f, long n)
{
	static const char many[4096] = { 'x' };
	size_t piece;

	for (; n > 0; n -= (long)piece) {
		piece = n < (long)sizeof many ? (size_t)n : sizeof many;
		if (!put(f, many, piece))
			return false;
	}
	return true;
}

static bool
do_reset(struct redis_fake *f)
{
	const struct linger at_once = { .l_onoff = 1 };

	setsockopt(f->connection, SOL_SOCKET, SO_LINGER, &at_once,
	    sizeof at_once);
	hang_up(f);
	return true;
}

static bool
do_left(struct redis_fake *f)
{
	while (hear(f))
		continue;
	return wait_for(f, -1, 0, 0);
}

static bool
do_hold(struct redis_fake *f)
{
	char c;

	return wait_for(f, f->go[0], POLLIN, -1) && read(f->go[0], &c, 1) == 1;
}

static bool
do_gone(struct redis_fake *f)
{
	hang_up(f);
	close(f->listener);
	f->listener = -1;
	return true;
}

static bool
do_step(struct redis_fake *f, const char *step)
{
	size_t len = strcspn(step, " ");
	const char *arg = step[len] == ' ' ? step + len + 1 : "";

	if (strncmp(step, "say ", 4) == 0)
		return put(f, arg, strlen(arg));
	if (strncmp(step, "drip ", 5) == 0)
		return do_drip(f, arg);
	if (strncmp(step, "flood ", 6) == 0)
		return do_flood(f, strtol(arg, NULL, 10));
	if (strncmp(step, "expect ", 7) == 0)
		return do_expect(f, (unsigned)strtoul(arg, NULL, 10));
	if (strcmp(step, "accept") == 0)
		return do_accept(f);
	if (strcmp(step, "reset") == 0)
		return do_reset(f);
	if (strcmp(step, "left") == 0)
		return do_left(f);
	if (strcmp(step, "hold") == 0)
		return do_hold(f);
	if (strcmp(step, "gone") == 0)
		return do_gone(f);
	hang_up(f);
	return strcmp(step, "close") == 0;
}

static void *
play(void *arg)
{
	struct redis_fake *f = arg;
	const char *const *step;

	for (step = f->script; *step != NULL && !f->failed; step++)
		if (do_step(f, *step))
			f->steps++;
		else
			f->failed = true;
	wait_for(f, -1, 0, -1);
	hang_up(f);
	return NULL;
}

/* --- the test's side ------------------------------------------------------ */

static void
must(bool held, const char *what)
{
	if (!held)
		bail_out("redis_fake: %s: %s", what, strerror(errno));
}

static void
start(struct redis_fake *f, int family, int backlog, const void *at,
    socklen_t len)
{
	f->connection = -1;
	f->listener = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(f->listener >= 0, "socket");
	must(bind(f->listener, at, len) == 0, "bind");
	must(listen(f->listener, backlog) == 0, "listen");
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, f->stop) == 0 &&
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, f->go) == 0,
	    "socketpair");
}

void
redis_fake_unix(struct redis_fake *f, int backlog)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	memset(f, 0, sizeof *f);
	snprintf(f->folder, sizeof f->folder, "/tmp/idem-fake-XXXXXX");
	must(mkdtemp(f->folder) != NULL, "mkdtemp");
	snprintf(f->url, sizeof f->url, "unix:%s/s", f->folder);
	snprintf(at.sun_path, sizeof at.sun_path, "%s/s", f->folder);
	start(f, AF_UNIX, backlog, &at, sizeof at);
}

void
redis_fake_tcp(struct redis_fake *f, int backlog)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof at;

	memset(f, 0, sizeof *f);
	start(f, AF_INET, backlog, &at, sizeof at);
	must(getsockname(f->listener, (struct sockaddr *)&at, &len) == 0,
	    "getsockname");
	f->port = ntohs(at.sin_port);
	snprintf(f->url, sizeof f->url, "127.0.0.1:%d", f->port);
}

void
redis_fake_play(struct redis_fake *f, const char *const *script)
{
	sigset_t all, before;

	f->script = script;
	/* Signals are the test's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	must(pthread_create(&f->thread, NULL, play, f) == 0, "thread");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	f->running = true;
}

void
redis_fake_release(struct redis_fake *f)
{
	must(write(f->go[1], "g", 1) == 1, "release");
}

bool
redis_fake_await(struct redis_fake *f, int steps)
{
	const struct timespec pause = { 0, 1000000 };
	int turns;

	for (turns = 0; f->steps < steps && turns < PATIENCE_MS; turns++)
		nanosleep(&pause, NULL);
	return f->steps >= steps;
}

bool
redis_fake_end(struct redis_fake *f)
{
	char path[sizeof f->folder + 4];

	close(f->stop[1]);
	if (f->running)
		pthread_join(f->thread, NULL);
	close(f->stop[0]);
	close(f->go[0]);
	close(f->go[1]);
	if (f->listener >= 0)
		close(f->listener);
	if (f->folder[0] != '\0') {
		snprintf(path, sizeof path, "%s/s", f->folder);
		unlink(path);
		rmdir(f->folder);
	}
	return f->running && !f->failed;
}
