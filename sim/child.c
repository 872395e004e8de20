/* SPDX-License-Identifier: ISC */
#include "child_private.h"

#include "now.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE_MAX_LEN 8192	/* longer ones come in pieces */
#define PIPE_SIZE (1024 * 1024)	/* we may be busy: nobody is to wait for us */
#define READS_A_TURN 16
#define LOOK_MS 5		/* where the kernel has no pidfd for us */
#define FORGET_MS 15000		/* for one that SIGKILL does not end */

struct child_private {
	struct loop *loop;
	struct child *child;
	pid_t group;		/* whose leader it is, also when it has ended */
	struct watch ended, out;
	struct timer look;
	size_t len;
	char line[LINE_MAX_LEN];
};

/* --- its lines ------------------------------------------------------------ */

/* False: the user has forgotten the child in between. */
static bool
tell(struct child *c, const char *text, size_t len)
{
	struct child_private *in = c->in;

	if (c->line != NULL)
		c->line(c, text, len);
	return c->in == in;
}

static bool
tell_lines(struct child *c)
{
	struct child_private *in = c->in;
	char *at = in->line, *end = in->line + in->len, *newline;

	while ((newline = memchr(at, '\n', (size_t)(end - at))) != NULL) {
		if (!tell(c, at, (size_t)(newline - at)))
			return false;
		at = newline + 1;
	}
	if (at == in->line && in->len == sizeof in->line) {
		if (!tell(c, at, in->len))
			return false;
		at = end;
	}
	in->len = (size_t)(end - at);
	memmove(in->line, at, in->len);
	return true;
}

static void
hang_up(struct child *c)
{
	int fd = c->in->out.fd;

	if (fd == -1)
		return;
	loop_unwatch(c->in->loop, &c->in->out);
	close(fd);
	if (c->in->len > 0)
		tell(c, c->in->line, c->in->len);
}

/* What is there, so many reads at most; false: it was forgotten meanwhile. */
static bool
hear(struct child *c, unsigned reads)
{
	struct child_private *in = c->in;
	ssize_t n;

	while (in->out.fd != -1 && reads-- > 0) {
		n = read(in->out.fd, in->line + in->len,
		    sizeof in->line - in->len);
		if (n == -1)
			return true;
		if (n == 0) {
			hang_up(c);
			return c->in == in;
		}
		in->len += (size_t)n;
		if (!tell_lines(c))
			return false;
	}
	return true;
}

static void
out_ready(struct watch *w, uint32_t events)
{
	struct child_private *in =
	    (struct child_private *)((char *)w -
	    offsetof(struct child_private, out));

	(void)events;
	hear(in->child, READS_A_TURN);
}

/* --- its end -------------------------------------------------------------- */

/* The number of its group is anybody's now. */
static void
release(struct child_private *in)
{
	if (in->group == 0)
		return;
	child_group_drop(in->group);
	child_warden_drop(in->group);
	in->group = 0;
}

/* Others of its group may still write to its pipe: that stays. */
static void
leave(struct child *c)
{
	int fd = c->in->ended.fd;

	if (fd != -1) {
		loop_unwatch(c->in->loop, &c->in->ended);
		close(fd);
	}
	loop_timer_stop(c->in->loop, &c->in->look);
}

/* The same as waitpid(2) says it. */
static int
status_of(const siginfo_t *info)
{
	switch (info->si_code) {
	case CLD_EXITED:
		return (info->si_status & 0xff) << 8;
	case CLD_DUMPED:
		return info->si_status | 0x80;
	}
	return info->si_status;
}

/*
 * It is not reaped: its group's number stays its own until it is forgotten.
 * False: it has not ended.
 */
static bool
has_ended(struct child *c, int *status)
{
	siginfo_t info = { .si_pid = 0 };

	if (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) ==
	    0) {
		*status = status_of(&info);
		return info.si_pid != 0;
	}
	if (errno == EINTR)
		return false;
	/* Somebody else has reaped it. */
	release(c->in);
	*status = 255 << 8;
	return true;
}

/* What it said comes before its end. */
static bool
look_for_end(struct child *c)
{
	int status;

	if (!has_ended(c, &status))
		return false;
	leave(c);
	c->pid = 0;
	c->status = status;
	if (hear(c, PIPE_SIZE / LINE_MAX_LEN * 2) && c->ended != NULL)
		c->ended(c);
	return true;
}

static void
ended_ready(struct watch *w, uint32_t events)
{
	struct child_private *in =
	    (struct child_private *)((char *)w -
	    offsetof(struct child_private, ended));

	(void)events;
	look_for_end(in->child);
}

static void
look_due(struct timer *t, int64_t now_ms)
{
	struct child_private *in =
	    (struct child_private *)((char *)t -
	    offsetof(struct child_private, look));
	struct loop *loop = in->loop;

	if (!look_for_end(in->child))
		loop_timer(loop, t, now_ms + LOOK_MS);
}

/* -1: no memory for either way. */
static int
await_end(struct child *c)
{
	struct child_private *in = c->in;
	int fd = (int)syscall(SYS_pidfd_open, c->pid, 0);

	in->ended.ready = ended_ready;
	in->look.due = look_due;
	if (fd != -1) {
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		if (loop_watch(in->loop, &in->ended, fd, EPOLLIN) == 0)
			return 0;
		close(fd);
	}
	return loop_timer(in->loop, &in->look, loop_now(in->loop) + LOOK_MS);
}

/* --- its start ------------------------------------------------------------ */

/* Where it writes to; ours to read, or -1.  -1 and errno. */
static int
open_out(const struct child_spec *spec, int *ours)
{
	int ends[2];

	*ours = -1;
	if (spec->log != NULL)
		return open(spec->log, O_WRONLY | O_CREAT | O_APPEND |
		    O_CLOEXEC, 0600);
	if (pipe2(ends, O_CLOEXEC) == -1)
		return -1;
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	fcntl(ends[0], F_SETPIPE_SZ, PIPE_SIZE);	/* or as it is */
	*ours = ends[0];
	return ends[1];
}

static pid_t
spawn(const struct child_spec *spec, int in, int out)
{
	struct child_vars vars;
	struct child_start start = { .argv = spec->argv, .env = vars.at,
		.folder = spec->folder, .in = in, .out = out,
		.pass = spec->pass };

	if (!child_limit(spec->name, &start.limit) ||
	    child_vars(&vars, spec) != 0) {
		errno = E2BIG;
		return -1;
	}
	return child_spawn(&start);
}

static struct child_private *
new_private(struct loop *loop, struct child *c)
{
	struct child_private *in = calloc(1, sizeof *in);

	if (in == NULL)
		return NULL;
	in->loop = loop;
	in->child = c;
	in->ended.fd = -1;
	in->out.fd = -1;
	in->out.ready = out_ready;
	return in;
}

static int
watch(struct child *c, int ours)
{
	c->in->group = c->pid;
	if (!child_group_add(c->pid, c->name)) {
		if (ours != -1)
			close(ours);
		errno = EAGAIN;
		return -1;
	}
	if (ours != -1 && loop_watch(c->in->loop, &c->in->out, ours,
	    EPOLLIN) == -1) {
		close(ours);
		return -1;
	}
	return await_end(c);
}

int
child_start(struct loop *loop, struct child *c, const struct child_spec *spec)
{
	int null, out = -1, ours = -1, watched, error;

	child_forget(c);
	signal(SIGCHLD, SIG_DFL);	/* who ignores it makes us ignore it */
	if (child_folder() != NULL)	/* somebody may have killed it */
		(void)child_warden_start();
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	c->in = new_private(loop, c);
	if (null == -1 || c->in == NULL ||
	    (out = open_out(spec, &ours)) == -1)
		goto failed;
	if (spec->name != c->name)	/* it may be said again */
		snprintf(c->name, sizeof c->name, "%s", spec->name);
	c->doomed = false;
	c->status = 0;
	c->pid = spawn(spec, null, out);
	if (c->pid == -1)
		goto failed;
	watched = watch(c, ours);
	error = errno;
	close(null);
	close(out);
	if (watched == -1)
		child_forget(c);
	errno = error;
	return watched;
failed:
	error = errno;
	c->pid = 0;
	if (null != -1)
		close(null);
	if (out != -1)
		close(out);
	if (ours != -1)
		close(ours);
	free(c->in);
	c->in = NULL;
	errno = error;
	return -1;
}

int
child_signal(struct child *c, int signal)
{
	if (c->pid == 0) {
		errno = ESRCH;
		return -1;
	}
	return kill(c->pid, signal);
}

/*
 * With all that is in its group.  One in the kernel's hands may take long to
 * die; it is not waited for then.
 */
static void
end(struct child *c)
{
	int64_t until_ms = now_ms() + FORGET_MS;
	pid_t leader = c->in->group;
	int status;

	kill(-leader, SIGKILL);
	while (waitpid(leader, &status, WNOHANG) == 0 &&
	    now_ms() < until_ms)
		poll(NULL, 0, 1);
	if (c->pid != 0)
		c->status = status;
	c->pid = 0;
	release(c->in);
}

void
child_forget(struct child *c)
{
	int fd;

	if (c->in == NULL)
		return;
	leave(c);
	if (c->in->group != 0)
		end(c);
	fd = c->in->out.fd;
	if (fd != -1) {
		loop_unwatch(c->in->loop, &c->in->out);
		close(fd);
	}
	free(c->in);
	c->in = NULL;
}
