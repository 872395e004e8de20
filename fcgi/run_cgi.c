/* SPDX-License-Identifier: ISC */
#include "run.h"

#include "lobby.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#define ERR_READ_SIZE (16 * 1024)
#define ERR_QUIET_MS 50		/* most are over before, and wrote nothing */

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

static void
err_close(struct run *r)
{
	if (r->err.fd != -1)
		loop_close(r->lobby->loop, &r->err);
	else if (r->err_fd != -1)
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

void
run_cgi_pause(struct run *r, bool paused)
{
	if (r->out.fd != -1)
		loop_change(r->lobby->loop, &r->out, paused ? 0 : EPOLLIN);
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

/* --- its end -------------------------------------------------------------- */

static enum run_how
how_ended(const struct run_end *end)
{
	if (end->limit)
		return RUN_STOPPED;
	if (WIFEXITED(end->status))
		return WEXITSTATUS(end->status) == 0 ? RUN_ENDED : RUN_FAILED;
	switch (WTERMSIG(end->status)) {
	case SIGKILL:
	case SIGTERM:
	case SIGINT:
	case SIGHUP:
	case SIGALRM:
	case SIGXCPU:
		return RUN_STOPPED;
	default:
		return RUN_DIED;
	}
}

/*
 * While the run goes on: until its keeper must have told its end.  But first,
 * until its stderr is watched, which costs more than all else that one does
 * with it.  Most are over before and have said nothing; what they said is read
 * at their end.
 */
static void
set_timer(struct run *r)
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
		set_timer(r);
		return;
	}
	if (r->how == RUN_GOES_ON) {	/* its keeper is stuck, or lost it */
		run_over(r);
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
run_cgi_ended(struct lobby *lobby, uint64_t id, const struct run_end *end)
{
	struct run *r;

	for (r = lobby->runs; r != NULL && r->id != id; r = r->next)
		;
	if (r == NULL || r->told) {	/* nobody waits for it any more */
		runner_settled(lobby->runner, id);
		return;
	}
	if (!end->started) {
		r->handed = false;
		log_line(&lobby->log, "run=%llu not-started=\"%s\"",
		    (unsigned long long)id, strerror(end->error));
		run_not_started(r, end->problem);
		return;
	}
	r->how = how_ended(end);
	r->app_status = WIFEXITED(end->status) ?
	    (uint32_t)WEXITSTATUS(end->status) :
	    128 + (uint32_t)WTERMSIG(end->status);	/* as shells do */
	if (r->keyed && (r->how == RUN_STOPPED || r->how == RUN_DIED)) {
		/* Nothing more that counts can come. */
		run_over(r);
		return;
	}
	idle_again(r);
	check_over(r);
}

void
run_cgi_keeper_lost(struct lobby *lobby)
{
	struct run *r, *next;

	for (r = lobby->runs; r != NULL; r = next) {
		next = r->next;
		if (r->handed && !r->told && r->how == RUN_GOES_ON)
			run_over(r);
	}
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

/* --- start ---------------------------------------------------------------- */

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

static int
hand_over(struct run *r, struct run_spec *spec)
{
	struct visit *v = r->visit;
	struct program_more more = {
		.rule = &v->route->program,
		.program = &v->detail->program,
		.body_len = v->detail->body.len,
		.keyed = r->keyed,
		.key = v->x.key,
		.attempt = v->x.attempt,
		.deadline_ms = idem_wall_ms(&idem_clock_real) + spec->limit_ms
	};
	char **env = program_environment(&v->detail->params, &more);
	int answer = -1;

	shm_add(r->lobby->shm, SHM_DROPPED, more.dropped);
	spec->in = spool_input(&v->detail->body);
	spec->envp = env;
	if (env != NULL && spec->in != -1 &&
	    out_open(r, &spec->out) == 0 && err_open(r, &spec->err) == 0)
		answer = runner_start(r->lobby->runner, r->id, spec);
	else {
		if (spec->in != -1)
			close(spec->in);
		if (spec->out != -1)
			close(spec->out);
		if (spec->err != -1)
			close(spec->err);
	}
	free(env);
	return answer;
}

bool
run_cgi_start(struct run *r)
{
	struct visit *v = r->visit;
	struct lobby *lobby = r->lobby;
	const struct idem_route *route = &v->route->route;
	const struct program *program = &v->detail->program;
	char *const named[] = { program->path, NULL };
	char *const *argv = v->route->program.kind == PROGRAM_NAMED ?
	    v->route->program.argv : named;
	struct run_spec spec = {
		.path = argv[0],
		.folder = program->folder,
		.argv = argv,
		.keyed = r->keyed,
		.owner = v->x.owner,
		.slot = v->slot,
		.limit_ms = route->limit_ms,
		.not_after_ms = v->x.gate.claimed ?
		    v->x.claim_sent_ms + route->policy.lease_ms : 0,
		.in = -1, .out = -1, .err = -1
	};

	r->idle.due = idle_due;
	/* A slot got for a keeper that has died since is not the next one's. */
	if (lobby->runner == NULL ||
	    runner_keeper(lobby->runner) != v->slot_keeper ||
	    hand_over(r, &spec) != 0)
		return false;
	r->handed = true;
	r->until_ms = loop_now(lobby->loop) + route->limit_ms +
	    v->conf->grace_ms + RUN_IDLE_MS;
	set_timer(r);
	v->slot = -1;	/* the keeper's now */
	return true;
}

void
run_cgi_free(struct run *r)
{
	if (r->keyed && r->handed && r->how != RUN_GOES_ON &&
	    r->lobby->runner != NULL)
		runner_settled(r->lobby->runner, r->id);
}
