/* SPDX-License-Identifier: ISC */
#include "run.h"

#include "form_strip.h"
#include "lobby.h"
#include "saved.h"

#include <stdlib.h>

static const struct idem_route *
route_of(const struct run *r)
{
	return &r->visit->route->route;
}

/* --- the end -------------------------------------------------------------- */

/* Answers that have no body, whatever length they state (RFC 9110, 6.4.1). */
static bool
is_bodyless(const struct run *r)
{
	return r->visit->head || r->head.code == 204 || r->head.code == 304;
}

static bool
length_met(const struct run *r)
{
	return r->head.has_length && r->passed == r->head.length;
}

/*
 * Whole (doc/design.md, 4): it ended by itself, with a head, with as much body
 * as it declared, and with exit status 0 unless it declared a length and met
 * it, or the route says that any will do.
 */
static bool
is_whole(const struct run *r)
{
	if (!r->head_done || r->body.failed || run_page_failed(r))
		return false;
	if (r->head.has_length && !length_met(r) && !is_bodyless(r))
		return false;
	if (r->how == RUN_FAILED)
		return length_met(r) || route_of(r)->any_exit;
	return r->how == RUN_ENDED;
}

/* 504 if somebody ended it, 502 if it fell over by itself. */
static enum idem_problem
why_cut(const struct run *r)
{
	if (r->how == RUN_GOES_ON || r->how == RUN_STOPPED || r->body.failed)
		return IDEM_PROBLEM_CUT;
	return IDEM_PROBLEM_DIED;
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
	close_all(r);	/* what it says last on standard error is still told */
	r->told = true;
	visit_ran(r->visit, how, problem);	/* r may be gone after it */
}

/* Without a key an odd end is passed on as fcgiwrap would: what there is. */
static bool
is_passable(const struct run *r)
{
	return !r->keyed && r->how != RUN_GOES_ON && r->head_done &&
	    !run_page_failed(r) &&
	    (!r->head.has_length || length_met(r) || is_bodyless(r));
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
run_new(struct visit *v, bool keyed)
{
	static uint64_t last_id;
	struct lobby *lobby = v->lobby;
	struct run *r = calloc(1, sizeof *r);

	if (r == NULL)
		return NULL;
	r->lobby = lobby;
	r->visit = v;
	r->id = ++last_id;
	r->keyed = keyed;
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

void
run_start(struct visit *v, bool keyed)
{
	struct run *r = run_new(v, keyed);
	enum idem_problem problem = strip(v);

	/* What two readers make two things of is no request. */
	if (r != NULL && !front_agrees(&v->lobby->front, &v->detail->params)) {
		log_line(&v->lobby->log, "run=%llu not-started=\"libfcgi reads "
		    "its parameters otherwise\"", (unsigned long long)r->id);
		run_not_started(r, IDEM_PROBLEM_REQUEST_BROKEN);
		return;
	}
	if (r != NULL && problem != IDEM_PROBLEM_NONE) {
		run_not_started(r, problem);
		return;
	}
	if (r != NULL && (v->route->program.kind == PROGRAM_FASTCGI ?
	    run_fcgi_start(r) : run_cgi_start(r))) {
		shm_add(v->lobby->shm, SHM_STARTS, 1);
		return;
	}
	if (r != NULL) {
		r->told = true;
		close_all(r);
	}
	visit_ran(v, IDEM_RUN_NOT_STARTED, IDEM_PROBLEM_BUSY);
}

void
run_free(struct run *r)
{
	if (r == NULL)
		return;
	close_all(r);
	run_cgi_free(r);
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
	struct idem_blob *blob = NULL;
	struct idem_buf buf = { 0 };
	struct idem_buf body = { 0 };

	/* So that fronts see a cut (doc/design.md, 4). */
	if ((!r->head.has_length || r->page != NULL) && !is_bodyless(r))
		idem_buf_printf(&r->head.lines, "Content-Length: %llu\r\n",
		    (unsigned long long)r->body.len);
	saved.lines = idem_buf_bytes(&r->head.lines);
	if (saved.kept && !is_bodyless(r)) {
		spool_copy(&r->body, &body);
		saved.body = idem_buf_bytes(&body);
	}
	idem_saved_write(&buf, &saved);
	if (idem_buf_ok(&r->head.lines) && idem_buf_ok(&body) &&
	    idem_buf_ok(&buf))
		blob = idem_blob_new(idem_buf_bytes(&buf));
	idem_buf_free(&body);
	idem_buf_free(&buf);
	*kept = saved.kept;
	return blob;
}
