/* SPDX-License-Identifier: ISC */
#include "run.h"

#include "lobby.h"
#include "saved.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- the end -------------------------------------------------------------- */

/*
 * Whole (doc/design.md, 4): it ended by itself, with a head, with as much body
 * as it declared, and with exit status 0 unless it declared a length and met
 * it.
 */
static bool
is_whole(const struct run *r)
{
	bool met = r->head.has_length && r->passed == r->head.length;

	if (!r->ended || r->end.limit || !WIFEXITED(r->end.status))
		return false;
	if (!r->head_done || r->body.failed)
		return false;
	if (r->head.has_length && !met)
		return false;
	return WEXITSTATUS(r->end.status) == 0 || met;
}

/* 504 if somebody ended it, 502 if it fell over by itself. */
static enum idem_problem
why_cut(const struct run *r)
{
	if (!r->ended || r->end.limit || r->body.failed)
		return IDEM_PROBLEM_CUT;
	if (!WIFSIGNALED(r->end.status))
		return IDEM_PROBLEM_DIED;
	switch (WTERMSIG(r->end.status)) {
	case SIGKILL:
	case SIGTERM:
	case SIGINT:
	case SIGHUP:
	case SIGALRM:
	case SIGXCPU:
		return IDEM_PROBLEM_CUT;
	default:
		return IDEM_PROBLEM_DIED;
	}
}

static void
tell(struct run *r, enum idem_run how, enum idem_problem problem)
{
	r->told = true;
	loop_timer_stop(r->lobby->loop, &r->idle);
	run_out_close(r);
	run_err_close(r);
	visit_ran(r->visit, how, problem);	/* r may be gone after it */
}

/* Without a key an odd end is passed on as fcgiwrap would: what there is. */
static bool
is_passable(const struct run *r)
{
	return !r->keyed && r->ended && r->head_done &&
	    (!r->head.has_length || r->passed == r->head.length ||
	    r->visit->head);
}

static void
over(struct run *r)
{
	run_head_look(r, true);
	if (is_whole(r) || is_passable(r))
		tell(r, IDEM_RUN_FINISHED, IDEM_PROBLEM_NONE);
	else
		tell(r, IDEM_RUN_CUT, why_cut(r));
}

void
run_check_over(struct run *r)
{
	if (r->told || !r->ended)
		return;
	if (r->eof)
		over(r);
}

static void
idle_due(struct timer *t, int64_t now)
{
	struct run *r = (struct run *)((char *)t - offsetof(struct run, idle));
	bool more;

	if (!r->ended) {	/* its keeper is stuck, or has lost it */
		tell(r, IDEM_RUN_CUT, IDEM_PROBLEM_CUT);
		return;
	}
	/* The peer may be slow, or we have been: that is not its silence. */
	more = r->paused || run_out_read(r);
	if (more && (!r->keyed || now < r->until_ms)) {
		run_idle_again(r);
		return;
	}
	if (more || now < r->idle_ms)
		r->end.limit = true;
	r->eof = true;	/* a background child holds the pipe */
	run_out_close(r);
	over(r);
}

void
run_ended(struct lobby *lobby, uint64_t id, const struct run_end *end)
{
	struct run *r;

	for (r = lobby->runs; r != NULL && r->id != id; r = r->next)
		;
	if (r == NULL || r->told) {	/* nobody waits for it any more */
		runner_settled(lobby->runner, id);
		return;
	}
	r->end = *end;
	r->ended = true;
	if (!end->started) {
		log_line(&lobby->log, "run=%llu not-started=\"%s\"",
		    (unsigned long long)id, strerror(end->error));
		tell(r, IDEM_RUN_NOT_STARTED, end->problem);
		return;
	}
	if (r->keyed && (end->limit || !WIFEXITED(end->status))) {
		/* Nothing more that counts can come. */
		over(r);
		return;
	}
	run_idle_again(r);
	run_check_over(r);
}

void
run_keeper_lost(struct lobby *lobby)
{
	struct run *r, *next;

	for (r = lobby->runs; r != NULL; r = next) {
		next = r->next;
		if (!r->told && !r->ended)
			tell(r, IDEM_RUN_CUT, IDEM_PROBLEM_CUT);
	}
}

void
run_client_gone(struct run *r)
{
	if (r->keyed || r->told)
		return;
	/* As a web server's own CGI: its next write fails, then it ends. */
	run_out_close(r);
	r->eof = true;
	r->paused = false;
	run_check_over(r);
}

/* --- start ---------------------------------------------------------------- */

static int
watched_pipe(struct run *r, struct watch *w,
    void (*ready)(struct watch *, uint32_t), int *write_end)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) == -1)
		return -1;
	w->ready = ready;
	/* The program's end blocks, as programs expect. */
	if (fcntl(ends[1], F_SETFL, 0) == -1 ||
	    loop_watch(r->lobby->loop, w, ends[0], EPOLLIN) == -1) {
		close(ends[0]);
		close(ends[1]);
		return -1;
	}
	*write_end = ends[1];
	return 0;
}

static void
link_run(struct run *r)
{
	r->next = r->lobby->runs;
	if (r->next != NULL)
		r->next->prev = r;
	r->lobby->runs = r;
}

static struct run *
run_new(struct visit *v, bool keyed)
{
	static uint64_t last_id;
	struct run *r = calloc(1, sizeof *r);

	if (r == NULL)
		return NULL;
	r->lobby = v->lobby;
	r->visit = v;
	r->id = ++last_id;
	r->keyed = keyed;
	r->out.fd = r->err.fd = -1;
	r->idle.due = idle_due;
	spool_init(&r->body, LOBBY_KEPT_MAX);
	r->raw.max = IDEM_HEAD_MAX + RUN_READ_SIZE;
	link_run(r);
	v->run = r;
	return r;
}

static int
hand_over(struct run *r, struct run_spec *spec)
{
	struct visit *v = r->visit;
	struct program_more more = {
		.body_len = v->detail->body.len,
		.keyed = r->keyed,
		.key = v->x.key,
		.attempt = v->x.attempt,
		.deadline_ms = idem_wall_ms(&idem_clock_real) + spec->limit_ms
	};
	char **env = program_environment(&v->detail->params, &more);
	int answer = -1;

	spec->in = spool_fd(&v->detail->body);
	spec->envp = env;
	if (env != NULL && spec->in != -1 &&
	    watched_pipe(r, &r->out, run_out_ready, &spec->out) == 0 &&
	    watched_pipe(r, &r->err, run_err_ready, &spec->err) == 0)
		answer = runner_start(r->lobby->runner, r->id, spec);
	else {
		if (spec->in != -1)
			close(spec->in);
		if (spec->out != -1)
			close(spec->out);
	}
	free(env);
	return answer;
}

void
run_start(struct visit *v, bool keyed)
{
	struct lobby *lobby = v->lobby;
	const struct options *o = lobby->options;
	struct run *r = run_new(v, keyed);
	char *const named[] = { v->detail->program.path, NULL };
	struct run_spec spec = {
		.path = v->detail->program.path,
		.folder = v->detail->program.folder,
		.argv = o->program != NULL ? o->program : named,
		.keyed = keyed,
		.owner = v->x.owner,
		.slot = v->slot,
		.limit_ms = o->limit_ms,
		.not_after_ms = keyed ?
		    v->x.claim_sent_ms + o->policy.lease_ms : 0,
		.in = -1, .out = -1, .err = -1
	};

	/* A slot got for a keeper that has died since is not the next one's. */
	if (r != NULL && lobby->runner != NULL &&
	    runner_keeper(lobby->runner) == v->slot_keeper &&
	    hand_over(r, &spec) == 0) {
		r->until_ms = loop_now(lobby->loop) + o->limit_ms +
		    o->grace_ms + RUN_IDLE_MS;
		loop_timer(lobby->loop, &r->idle, r->until_ms + RUN_IDLE_MS);
		v->slot = -1;	/* the keeper's now */
		shm_add(lobby->shm, SHM_STARTS, 1);
		return;
	}
	if (r != NULL) {
		r->told = true;
		run_out_close(r);
		run_err_close(r);
	}
	visit_ran(v, IDEM_RUN_NOT_STARTED, IDEM_PROBLEM_BUSY);
}

void
run_free(struct run *r)
{
	if (r == NULL)
		return;
	if (r->keyed && r->ended && r->end.started && r->lobby->runner != NULL)
		runner_settled(r->lobby->runner, r->id);
	loop_timer_stop(r->lobby->loop, &r->idle);
	run_out_close(r);
	run_err_close(r);
	if (r->prev != NULL)
		r->prev->next = r->next;
	else
		r->lobby->runs = r->next;
	if (r->next != NULL)
		r->next->prev = r->prev;
	idem_buf_free(&r->raw);
	idem_buf_free(&r->err_line);
	idem_head_free(&r->head);
	spool_free(&r->body);
	free(r);
}

/* --- the answer to store -------------------------------------------------- */

struct idem_blob *
run_saved(struct run *r, size_t kept_max, bool *kept)
{
	struct idem_saved saved = {
		.code = r->head.code,
		.has_status = r->head.has_status,
		.status = idem_buf_bytes(&r->head.status),
		.kept = r->body.len <= kept_max && !r->head.no_store
	};
	bool bodyless = r->head.code == 204 || r->head.code == 304;
	struct idem_blob *blob = NULL;
	struct idem_buf buf = { 0 };

	/* So that fronts see a cut (doc/design.md, 4). */
	if (!r->head.has_length && !bodyless)
		idem_buf_printf(&r->head.lines, "Content-Length: %llu\r\n",
		    (unsigned long long)r->body.len);
	saved.lines = idem_buf_bytes(&r->head.lines);
	if (saved.kept && !bodyless)
		saved.body = idem_buf_bytes(&r->body.memory);
	idem_saved_write(&buf, &saved);
	if (idem_buf_ok(&r->head.lines) && idem_buf_ok(&buf))
		blob = idem_blob_new(idem_buf_bytes(&buf));
	idem_buf_free(&buf);
	*kept = saved.kept;
	return blob;
}
