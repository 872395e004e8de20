/* SPDX-License-Identifier: ISC */
#include "run.h"

#include "lobby.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#define ERR_READ_SIZE (16 * 1024)
#define ERR_QUIET_MS 50		/* most are over before, and wrote nothing */
#define FILE_PIECES 16		/* of a file in one turn */

/* --- its output ----------------------------------------------------------- */

static void
check_over(struct run *r)
{
	if (!r->told && r->how != RUN_GOES_ON && r->eof)
		run_over(r);
}

/* True: there was something.  At its end eof is set.  closed: nobody can write
   any more. */
static bool
out_read(struct run *r, bool closed)
{
	static char at[RUN_READ_SIZE];
	ssize_t n = read(r->out.fd, at, sizeof at);

	if (n == (ssize_t)sizeof at && !r->wide) {
		r->wide = true;		/* much is to come */
		fcntl(r->out.fd, F_SETPIPE_SZ, RUN_PIPE_SIZE);	/* a hint */
	}
	if (n > 0)
		run_out_bytes(r, (struct idem_bytes){ at, (size_t)n });
	if (n < 0)
		r->eof = errno != EAGAIN && errno != EINTR;
	else if (n == 0 || (closed && n < (ssize_t)sizeof at))
		r->eof = true;
	return n > 0;
}

static ssize_t
err_read(struct run *r)
{
	char at[ERR_READ_SIZE];
	ssize_t n = read(r->err_fd, at, sizeof at);

	if (n > 0)
		run_err_bytes(r, (struct idem_bytes){ at, (size_t)n });
	return n;
}

/* The keeper has a copy, so its watch does not end by itself. */
static void
err_close(struct run *r)
{
	if (r->err.fd != -1)
		loop_unwatch(r->lobby->loop, &r->err);
	if (r->err_fd != -1)
		close(r->err_fd);
	r->err_fd = -1;
}

static void
err_ready(struct watch *w, uint32_t events)
{
	struct run *r = (struct run *)((char *)w - offsetof(struct run, err));
	ssize_t n = err_read(r);

	(void)events;
	if (n == 0 || (n == -1 && errno != EAGAIN && errno != EINTR))
		err_close(r);
}

static bool
is_unwatched(const struct run *r)
{
	return r->err_fd != -1 && r->err.fd == -1;
}

/* 0 if it is watched, or closed. */
static int
err_watch(struct run *r)
{
	r->err.ready = err_ready;
	if (!is_unwatched(r))
		return 0;
	return loop_watch(r->lobby->loop, &r->err, r->err_fd, EPOLLIN);
}

/*
 * After reaping: from now on again the pipe must be idle for RUN_IDLE_MS.  A
 * key must not wait for ever for a child that writes on and on.
 */
static void
idle_again(struct run *r)
{
	int64_t at_ms = loop_now(r->lobby->loop) + RUN_IDLE_MS;

	r->idle_ms = at_ms;
	if (r->keyed && at_ms > r->until_ms)
		at_ms = r->until_ms;
	if (r->how == RUN_GOES_ON || r->eof)
		return;
	err_watch(r);
	loop_timer(r->lobby->loop, &r->idle, at_ms);
}

static void
out_ready(struct watch *w, uint32_t events)
{
	struct run *r = (struct run *)((char *)w - offsetof(struct run, out));

	if (r->paused && (events & (EPOLLHUP | EPOLLERR)) == 0)
		return;
	if (out_read(r, (events & EPOLLHUP) != 0))
		idle_again(r);
	if (r->eof) {
		loop_close(r->lobby->loop, &r->out);
		check_over(r);
	}
}

/* --- or from its file, when it is over ------------------------------------ */

static bool
file_piece(struct run *r)
{
	static char at[RUN_READ_SIZE];
	uint64_t from = IDEM_NOTE_SIZE + r->out_at;
	uint64_t len = r->out_len - r->out_at;

	if (len > sizeof at)
		len = sizeof at;
	if (!spool_read_at(r->visit->note.at.file, at, (size_t)len, from))
		return false;
	r->out_at += len;
	run_out_bytes(r, (struct idem_bytes){ at, (size_t)len });
	return true;
}

/* Not all at once: others are waiting, and perhaps its page does. */
static void
file_read(struct run *r)
{
	int i;

	for (i = 0; i < FILE_PIECES && !r->paused && r->out_at < r->out_len;
	    i++)
		if (!file_piece(r)) {
			r->body.failed = true;
			r->out_at = r->out_len;
		}
	r->eof = r->out_at == r->out_len;
	if (r->eof)
		check_over(r);
	else if (!r->paused)
		loop_timer(r->lobby->loop, &r->idle, loop_now(r->lobby->loop));
}

/* The program may have done all of its work: that it is not whole is ours. */
static void
unwritten(struct run *r, const struct run_end *end)
{
	struct run_note *n = &r->visit->note;

	r->body.failed = true;
	if (end->limit || !WIFEXITED(end->status))
		return;
	n->why = IDEM_WHY_UNWRITTEN;
	n->why_code = WEXITSTATUS(end->status);
}

static void
file_over(struct run *r, const struct run_end *end, struct idem_bytes out)
{
	r->visit->note.recorded = end->spooled;
	if (end->whole)
		run_out_bytes(r, out);
	else if (end->spooled)
		r->out_len = end->len;
	else
		unwritten(r, end);
	if (end->spool_failed)
		log_line_quoted(&r->lobby->log, "error", strerror(end->error),
		    "run=%llu spool=failed bytes=%llu",
		    (unsigned long long)r->id, (unsigned long long)end->len);
	file_read(r);
}

/* --- all of it ------------------------------------------------------------ */

void
run_cgi_out_over(struct run *r, const struct run_end *end,
    struct idem_bytes out)
{
	if (r->spooled) {
		file_over(r, end, out);
		return;
	}
	idle_again(r);
	check_over(r);
}

void
run_cgi_pause(struct run *r, bool paused)
{
	if (r->out.fd != -1)
		loop_change(r->lobby->loop, &r->out, paused ? 0 : EPOLLIN);
	else if (r->out_at < r->out_len && !paused)
		loop_timer(r->lobby->loop, &r->idle, loop_now(r->lobby->loop));
}

void
run_cgi_close(struct run *r)
{
	int i;

	loop_timer_stop(r->lobby->loop, &r->idle);
	loop_close(r->lobby->loop, &r->out);
	/* As much as a pipe holds: a child it left may write for ever. */
	for (i = 0; r->err_fd != -1 && i < RUN_PIPE_SIZE / ERR_READ_SIZE; i++)
		if (err_read(r) <= 0)
			break;
	err_close(r);
}

/* --- its time ------------------------------------------------------------- */

/*
 * While the run goes on: until its keeper must have told its end.  But first,
 * until its stderr is watched, which costs more than all else that one does
 * with it.  Most are over before and have said nothing; what they said is read
 * at their end.
 */
void
run_cgi_out_await(struct run *r)
{
	int64_t at_ms = r->until_ms + RUN_IDLE_MS;

	if (is_unwatched(r))
		at_ms = loop_now(r->lobby->loop) + ERR_QUIET_MS;
	loop_timer(r->lobby->loop, &r->idle, at_ms);
}

static void
idle_due(struct timer *t, int64_t now)
{
	struct run *r = (struct run *)((char *)t - offsetof(struct run, idle));
	bool more;

	if (r->how == RUN_GOES_ON && is_unwatched(r)) {
		if (err_watch(r) != 0)
			err_read(r);	/* so for now, and try again */
		run_cgi_out_await(r);
		return;
	}
	if (r->how == RUN_GOES_ON) {	/* its keeper is stuck, or lost it */
		run_over(r);
		return;
	}
	if (r->spooled) {
		file_read(r);
		return;
	}
	/* The peer may be slow, or we have been: that is not its silence. */
	more = r->paused || out_read(r, false);
	if (more && (!r->keyed || now < r->until_ms)) {
		idle_again(r);
		return;
	}
	if (more || now < r->idle_ms)
		r->how = RUN_STOPPED;
	r->eof = true;	/* a background child holds the pipe */
	loop_close(r->lobby->loop, &r->out);
	run_over(r);
}

void
run_cgi_client_gone(struct run *r)
{
	/* As a web server's own CGI: its next write fails, then it ends. */
	loop_close(r->lobby->loop, &r->out);
	r->eof = true;
	r->paused = false;
	check_over(r);
}

/* --- its pipes ------------------------------------------------------------ */

/* The program's end blocks, as programs expect. */
static int
make_pipe(int *read_end, int *write_end)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) == -1)
		return -1;
	*write_end = ends[1];
	*read_end = ends[0];
	return fcntl(ends[0], F_SETFL, O_NONBLOCK);
}

static int
out_open(struct run *r, int *write_end)
{
	int fd = -1;

	r->out.ready = out_ready;
	if (make_pipe(&fd, write_end) == 0 &&
	    loop_watch(r->lobby->loop, &r->out, fd, EPOLLIN) == 0)
		return 0;
	if (fd != -1)
		close(fd);
	return -1;
}

static int
err_open(struct run *r, int *write_end)
{
	if (make_pipe(&r->err_fd, write_end) != 0)
		return -1;
	return r->visit->conf->stderr_to_front ? err_watch(r) : 0;
}

int
run_cgi_out_open(struct run *r, struct run_spec *spec)
{
	r->idle.due = idle_due;
	if (!r->spooled && out_open(r, &spec->out) == -1)
		return -1;
	if (err_open(r, &spec->err) == -1)
		return -1;
	spec->err_read = r->err_fd;
	return 0;
}
