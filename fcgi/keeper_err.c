/* SPDX-License-Identifier: ISC */
#include "keeper_err.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <unistd.h>

#define READS_AT_END 16		/* as much as a pipe holds */

static const char left_out[] = "\nidemd: what a program that is left to its "
    "keeper says more is left out\n";

/* A pipe that can be written takes as much without waiting (pipe(7)). */
static void
put(const char *at, size_t len)
{
	struct pollfd out = { .fd = STDERR_FILENO, .events = POLLOUT };

	if (poll(&out, 1, 0) != 1 || (out.revents & POLLOUT) == 0)
		return;
	if (write(STDERR_FILENO, at, len) < 0)
		return;		/* lost; SIGPIPE and SIGXFSZ are blocked */
}

static void
pass_on(struct keeper_err *e, const char *at, size_t len)
{
	if (e->passed == KEEPER_ERR_MAX)
		return;
	put(at, len);
	e->passed += (uint32_t)len;
	if (e->passed < KEEPER_ERR_MAX)
		return;
	e->passed = KEEPER_ERR_MAX;
	put(left_out, sizeof left_out - 1);
}

/* What is only left out, as quickly as it comes. */
static ssize_t
read_once(struct keeper_err *e)
{
	static char at[16 * PIPE_BUF];
	ssize_t n = read(e->fd, at, e->passed < KEEPER_ERR_MAX ? PIPE_BUF :
	    sizeof at);

	if (n > 0)
		pass_on(e, at, (size_t)n);
	return n;
}

static void
close_it(struct keeper_err *e)
{
	/* Others may hold it too: it would stay watched. */
	if (e->watch.fd >= 0)
		loop_unwatch(e->loop, &e->watch);
	if (e->fd >= 0)
		close(e->fd);
	e->fd = -1;
}

static void
ready(struct watch *w, uint32_t events)
{
	struct keeper_err *e = (struct keeper_err *)((char *)w -
	    offsetof(struct keeper_err, watch));
	ssize_t n = read_once(e);

	(void)events;
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		close_it(e);
}

void
keeper_err_take(struct keeper_err *e, struct loop *loop)
{
	if (e->fd < 0 || e->watch.fd >= 0)
		return;
	e->loop = loop;
	e->watch.ready = ready;
	/* Unread the program would stop; without a reader it is only hurt. */
	if (loop_watch(loop, &e->watch, e->fd, EPOLLIN) != 0)
		close_it(e);
}

void
keeper_err_end(struct keeper_err *e)
{
	int i;

	for (i = 0; e->watch.fd >= 0 && i < READS_AT_END; i++)
		if (read_once(e) <= 0)
			break;
	close_it(e);
}
