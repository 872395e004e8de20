/* SPDX-License-Identifier: ISC */
#include "run.h"

#include "form_strip.h"
#include "lobby.h"
#include "measure.h"

#include <stdlib.h>
#include <sys/wait.h>

static const struct idem_route *
route_of(const struct run *r)
{
	return &r->visit->route->route;
}

/* --- the end -------------------------------------------------------------- */

static bool
ended_by_itself(const struct run *r)
{
	return r->how == RUN_ENDED || r->how == RUN_FAILED;
}

/* We have not the means to take it, whatever it is. */
static bool
is_beyond_us(const struct run *r)
{
	return r->body.failed || run_page_failed(r);
}

static bool
is_whole(const struct run *r)
{
	const struct answer_end end = {
		.status = r->status,
		.any_exit = route_of(r)->any_exit && !r->probe,
		.head = r->visit->head
	};

	return r->head_done && !is_beyond_us(r) && ended_by_itself(r) &&
	    answer_is_whole(&r->head, r->passed, &end);
}

/* 504 if somebody ended it, 502 if it fell over by itself. */
static enum idem_problem
why_cut(const struct run *r)
{
	if (r->how == RUN_GOES_ON || r->how == RUN_STOPPED || r->body.failed)
		return IDEM_PROBLEM_CUT;
	return IDEM_PROBLEM_DIED;
}

/*
 * What is known of a run that is cut, for its note; unless its kind of program
 * has said so already.  What only we could not take others may take yet.
 */
static void
note_why(struct run *r)
{
	struct run_note *n = &r->visit->note;

	if (is_beyond_us(r) && n->recorded)
		n->unsure = true;
	else if (n->why != IDEM_WHY_NOT_SAID)
		return;
	else if (r->limited || (r->how == RUN_STOPPED && WIFEXITED(r->status)))
		n->why = IDEM_WHY_LIMIT;
	else if (ended_by_itself(r)) {
		n->why = IDEM_WHY_EXIT;
		n->why_code = (int32_t)r->app_status;
	} else if (WIFSIGNALED(r->status)) {
		n->why = IDEM_WHY_SIGNAL;
		n->why_code = WTERMSIG(r->status);
	}
}

/* Its keeper is not needed for that any more; asked now, it has let go of the
   lock by the time that the record says so.  Others may have to write that. */
static void
let_keeper_go(const struct run *r)
{
	struct run_note *n = &r->visit->note;

	if (n->run != r->id || n->unsure || r->lobby->runner == NULL)
		return;
	idem_note_set_why(n->at.file, n->why, n->why_code,
	    idem_wall_ms(&idem_clock_real));
	runner_unknown(r->lobby->runner, n->run);
	n->run = 0;
}

static void
close_all(struct run *r)
{
	run_cgi_close(r);
	run_fcgi_close(r);
	run_err_end(r);
}

static void
tell(struct run *r, enum idem_run how, enum idem_problem problem)
{
	struct lobby *lobby = r->lobby;

	close_all(r);	/* what it says last on standard error is still told */
	r->told = true;
	if (r->probe) {
		run_probe_over(r, how);
		return;
	}
	if (r->keyed && ended_by_itself(r))
		measure_add(lobby->shm, r->visit->route,
		    loop_now(lobby->loop) - r->started_ms);
	if (how == IDEM_RUN_CUT) {
		note_why(r);
		let_keeper_go(r);
	}
	visit_ran(r->visit, how, problem);	/* r may be gone after it */
}

/* Without a key an odd end is passed on as fcgiwrap would: what there is. */
static bool
is_passable(const struct run *r)
{
	const struct answer_end any = { .any_exit = true,
		.head = r->visit->head };

	return !r->keyed && r->how != RUN_GOES_ON && r->head_done &&
	    !run_page_failed(r) &&
	    answer_is_whole(&r->head, r->passed, &any);
}

void
run_over(struct run *r)
{
	run_out_head(r, true);
	if (!is_whole(r) && !is_passable(r)) {
		tell(r, IDEM_RUN_CUT, why_cut(r));
	} else if (run_page_waits(r)) {
		r->over = true;		/* run_page.c calls again */
		close_all(r);
	} else {
		tell(r, IDEM_RUN_FINISHED, IDEM_PROBLEM_NONE);
	}
}

void
run_not_started(struct run *r, enum idem_problem problem)
{
	tell(r, IDEM_RUN_NOT_STARTED, problem);
}

void
run_client_gone(struct run *r)
{
	if (r->keyed || r->told)
		return;
	run_page_free(r);
	if (r->over) {
		run_over(r);
	} else if (r->call != NULL) {
		/* Nobody would read it: as a web server closes its backend. */
		r->how = RUN_STOPPED;
		run_over(r);
	} else {
		run_cgi_client_gone(r);
	}
}

void
run_drained(struct run *r)
{
	run_out_resume(r);
}

/* --- start ---------------------------------------------------------------- */

static struct run *
run_new(struct visit *v, enum run_kind kind)
{
	static uint64_t last_id;
	struct lobby *lobby = v->lobby;
	struct run *r = calloc(1, sizeof *r);

	if (r == NULL)
		return NULL;
	r->lobby = lobby;
	r->visit = v;
	r->id = ++last_id;
	r->keyed = kind != RUN_UNKEYED;
	r->probe = kind == RUN_PROBE;
	r->started_ms = loop_now(lobby->loop);
	r->out.fd = r->err.fd = r->err_fd = -1;
	spool_init(&r->body, RUN_MEMORY);
	r->raw.max = IDEM_HEAD_MAX + RUN_READ_SIZE;
	r->next = lobby->runs;
	if (r->next != NULL)
		r->next->prev = r;
	lobby->runs = r;
	v->run = r;
	return r;
}

/* A form's token was for us: its program gets the form without. */
static enum idem_problem
strip(struct visit *v)
{
	enum idem_problem problem = IDEM_PROBLEM_NONE;
	struct detail *d = v->detail;

	if (d->form == NULL || v->route->form_token == NULL)
		return problem;
	if (idem_form_cut(d->form)->too_many)
		problem = IDEM_PROBLEM_REQUEST_BROKEN;
	else if (!form_strip(&d->body, idem_form_cut(d->form)))
		problem = IDEM_PROBLEM_BUSY;
	idem_form_free(d->form);	/* once */
	d->form = NULL;
	return problem;
}

/* It cannot even be tried. */
static void
start_none(struct visit *v, enum run_kind kind)
{
	const struct idem_event ev = {
		.op = IDEM_PROBE, .probed = IDEM_PROBE_UNKNOWN
	};

	if (kind == RUN_PROBE)
		visit_tell(v, &ev);
	else
		visit_ran(v, IDEM_RUN_NOT_STARTED, IDEM_PROBLEM_BUSY);
}

static bool
start(struct run *r)
{
	if (!r->probe && r->visit->route->program.kind == PROGRAM_FASTCGI)
		return run_fcgi_start(r);
	return run_cgi_start(r);
}

void
run_start(struct visit *v, enum run_kind kind)
{
	struct run *r = run_new(v, kind);
	enum idem_problem problem = strip(v);

	if (r == NULL) {
		start_none(v, kind);
		return;
	}
	/* What two readers make two things of is no request. */
	if (!front_agrees(&v->lobby->front, &v->detail->params)) {
		log_line(&v->lobby->log, "run=%llu not-started=\"libfcgi reads "
		    "its parameters otherwise\"", (unsigned long long)r->id);
		problem = IDEM_PROBLEM_REQUEST_BROKEN;
	}
	if (problem == IDEM_PROBLEM_NONE && !start(r))
		problem = IDEM_PROBLEM_BUSY;
	if (problem != IDEM_PROBLEM_NONE)
		run_not_started(r, problem);
	else if (!r->probe)
		shm_add(v->lobby->shm, SHM_STARTS, 1);
}

void
run_free(struct run *r)
{
	if (r == NULL)
		return;
	close_all(r);
	run_page_free(r);
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
	free(r->folder);
	free(r);
}

/* --- the answer to store -------------------------------------------------- */

struct idem_blob *
run_saved(struct run *r, size_t kept_max, bool *kept)
{
	bool bodyless = answer_is_bodyless(r->head.code, r->visit->head);
	struct idem_blob *blob = NULL;
	struct idem_buf room = { 0 };
	struct idem_bytes body = { NULL, 0 };

	*kept = r->body.len <= kept_max && !r->head.no_store;
	if (*kept && !bodyless)
		body = spool_whole(&r->body, &room);
	if (r->page != NULL)	/* its own length is gone from its lines */
		r->head.has_length = false;
	if (idem_buf_ok(&room))
		blob = answer_save(&r->head, body, r->body.len, *kept,
		    r->visit->head);
	idem_buf_free(&room);
	return blob;
}
