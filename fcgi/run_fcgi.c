/* SPDX-License-Identifier: ISC */
#include "run.h"

#include "lobby.h"

#include <string.h>
#include <unistd.h>

/* A run whose program is a FastCGI application: its end is END_REQUEST. */

/* Of its claim's lease; by the clock itself: this turn may have stood still. */
static int64_t
lease_left_ms(const struct visit *v)
{
	return v->x.claim_sent_ms + v->x.gate.policy.lease_ms -
	    idem_boot_ms(&idem_clock_real);
}

/* As the keeper's last act: a claimed run is not begun after its lease. */
static bool
begin(void *arg)
{
	const struct run *r = arg;
	const struct visit *v = r->visit;

	if (!run_note_begun(r->visit, true))
		return false;
	return !v->x.gate.claimed || lease_left_ms(v) > 0;
}

static void
out(void *arg, struct idem_bytes bytes)
{
	run_out_bytes(arg, bytes);
}

static void
err(void *arg, struct idem_bytes bytes)
{
	run_err_bytes(arg, bytes);
}

/* As if it had exited with it; what is no exit status is none that is good. */
static int
status_of(uint32_t app_status)
{
	return (int)(app_status < 255 ? app_status : 255) << 8;
}

static void
complain(const struct run *r, const struct backend_end *end)
{
	if (end->how != BACKEND_ENDED)
		log_line_quoted(&r->lobby->log, "backend", end->why, "run=%llu",
		    (unsigned long long)r->id);
}

static void
over(void *arg, const struct backend_end *end)
{
	struct run *r = arg;

	r->call = NULL;
	r->app_status = end->app_status;
	complain(r, end);
	switch (end->how) {
	case BACKEND_NOT_STARTED:
		run_note_begun(r->visit, false);
		run_not_started(r, end->busy ? IDEM_PROBLEM_BUSY :
		    IDEM_PROBLEM_BACKEND_AWAY);
		return;
	case BACKEND_ENDED:
		r->how = end->app_status == 0 ? RUN_ENDED : RUN_FAILED;
		r->status = status_of(end->app_status);
		break;
	case BACKEND_CUT:
		r->how = RUN_STOPPED;
		break;
	case BACKEND_DIED:
		r->how = RUN_DIED;
		r->visit->note.why = IDEM_WHY_BACKEND;
		break;
	}
	r->eof = true;
	run_over(r);
}

const struct backend_user run_fcgi_user = {
	.begin = begin, .out = out, .err = err, .over = over
};

/* A request that may be sent again when its connection turns out dead. */
static bool
is_safe(const char *method)
{
	return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 ||
	    strcmp(method, "OPTIONS") == 0;
}

/*
 * As the keeper's, a claimed run is not begun after its claim's lease: that
 * much time is there to reach an application.  False: none is.
 */
static bool
within_lease(const struct visit *v, uint32_t *connect_ms)
{
	int64_t left_ms = lease_left_ms(v);

	if (!v->x.gate.claimed)
		return true;
	if (*connect_ms == 0 || left_ms < *connect_ms)
		*connect_ms = left_ms > 0 ? (uint32_t)left_ms : 0;
	return left_ms > 0;
}

bool
run_fcgi_start(struct run *r)
{
	struct visit *v = r->visit;
	const struct program_rule *rule = &v->route->program;
	const struct idem_route *route = &v->route->route;
	struct program_more more = {
		.rule = rule,
		.program = &v->detail->program,
		.body_len = v->detail->body.len,
		.keyed = r->keyed,
		.key = v->x.key,
		.attempt = v->x.attempt,
		.deadline_ms = idem_wall_ms(&idem_clock_real) + route->limit_ms
	};
	struct idem_buf params = { 0 };
	struct backend_request request = {
		.addresses = rule->backends,
		.body = -1,
		.body_len = v->detail->body.len,
		.fresh = r->keyed || !is_safe(v->detail->method),
		.connections_max = rule->backend_connections,
		.kept_max = rule->backend_kept,
		.connect_ms = rule->connect_ms,
		.first_ms = rule->first_ms,
		.limit_ms = route->limit_ms
	};

	program_params(&v->detail->params, &more, &params);
	shm_add(r->lobby->shm, SHM_DROPPED, more.dropped);
	request.params = idem_buf_bytes(&params);
	if (request.body_len > 0)
		request.body = spool_fd(&v->detail->body);
	if (idem_buf_ok(&params) && within_lease(v, &request.connect_ms) &&
	    (request.body_len == 0 || request.body != -1))
		r->call = backend_start(r->lobby->backends, &request, r);
	else if (request.body != -1)
		close(request.body);
	idem_buf_free(&params);
	return r->call != NULL;
}

void
run_fcgi_close(struct run *r)
{
	if (r->call != NULL)
		backend_stop(r->call);
	r->call = NULL;
}
