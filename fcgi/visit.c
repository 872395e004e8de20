/* SPDX-License-Identifier: ISC */
#include "lobby.h"

#include "measure.h"
#include "reply.h"

#include <stddef.h>
#include <stdlib.h>

/* Of a request that has no route, and is refused. */
static const struct idem_exchange_times no_times;

/* --- a request comes in --------------------------------------------------- */

struct visit *
visit_new(struct lobby *lobby, struct conf *conf, struct conn *conn,
    int64_t began_ms)
{
	struct visit *v = calloc(1, sizeof *v);

	if (v == NULL)
		return NULL;
	v->person.kind = PERSON_VISIT;
	v->person.number = lobby_person_add(lobby, &v->person);
	if (v->person.number == IDEM_NOWHERE) {
		free(v);
		return NULL;
	}
	v->lobby = lobby;
	v->conf = conf_hold(conf);
	v->conn = conn;
	v->began_ms = began_ms;
	v->flight = IDEM_NOWHERE;
	v->slot = -1;
	v->note.at = (struct idem_run_file){ -1, -1 };
	v->source = "none";
	v->x.ports = &visit_ports;
	v->x.pid = lobby->pid;
	lobby->visits++;
	return v;
}

static void
detail_free(struct detail *d)
{
	if (d == NULL)
		return;
	idem_params_free(&d->params);
	program_free(&d->program);
	idem_fingerprint_free(&d->fingerprint);
	idem_form_free(d->form);
	idem_buf_free(&d->path);
	free(d->wanted);
	spool_free(&d->body);
	free(d);
}

void
visit_free(struct visit *v)
{
	struct lobby *lobby = v->lobby;

	loop_timer_stop(lobby->loop, &v->wait);
	loop_timer_stop(lobby->loop, &v->renew);
	if (v->mint != NULL)
		mint_forget(v->mint);
	run_note_over(v);
	run_free(v->run);
	detail_free(v->detail);
	idem_exchange_free(&v->x);
	lobby_person_remove(lobby, &v->person);
	conf_drop(v->conf);
	lobby->visits--;
	free(v);
}

/* Has its fallback anything that Redis may not know? */
static bool
look_fallback(const struct visit *v)
{
	const struct idem_policy *policy = &v->route->route.policy;

	return policy->arbiter == IDEM_ARBITER_REDIS &&
	    policy->on_outage == IDEM_TO_DATABASE &&
	    atomic_load(&v->lobby->shm->fallback_until_ms) >
	    idem_wall_ms(&idem_clock_real);
}

/* Its route says how it goes; its gate keeps a copy. */
void
visit_begin_exchange(struct visit *v)
{
	struct idem_policy policy = idem_policy_default;

	v->x.times = &no_times;
	if (v->route != NULL) {
		v->x.times = &v->route->route.times;
		v->x.anew = v->route->route.anew;
		policy = v->route->route.policy;
		policy.look_fallback = look_fallback(v);
		policy.lease_ms = measure_lease_ms(v->lobby->shm, v->route);
	}
	idem_exchange_init(&v->x, &policy);
}

struct idem_bytes
visit_param(const struct detail *d, const char *name)
{
	const char *value = idem_params_get(&d->params, name);

	return idem_bytes_text(value != NULL ? value : "");
}

static void
body_over(struct visit *v)
{
	struct lobby *lobby = v->lobby;
	struct idem_event ev = { .op = IDEM_ADMIT };

	loop_timer_stop(lobby->loop, &v->wait);
	if (v->detail->wanted != NULL) {
		visit_mint(v);
		return;
	}
	visit_admit_whole(v);
	if (v->admit == IDEM_KEYED)
		shm_add(lobby->shm, SHM_KEYED, 1);
	else if (v->admit != IDEM_REFUSED)
		shm_add(lobby->shm, SHM_UNKEYED, 1);
	ev.admit = v->admit;
	ev.problem = v->refused;
	ev.key_sent = v->key_sent;
	ev.old = v->x.old;
	v->admitted = true;
	visit_begin_exchange(v);
	visit_tell(v, &ev);
}

static void
body_due(struct timer *t, int64_t now)
{
	struct visit *v =
	    (struct visit *)((char *)t - offsetof(struct visit, wait));

	(void)now;
	conn_body_whole(v->conn);
	body_over(v);
}

/*
 * There are fronts that leave out a body's end.  Whoever sends it does so at
 * once; and a body that is longer than was said is seen meanwhile.
 */
static void
await_body_end(struct visit *v)
{
	struct loop *loop = v->lobby->loop;

	if (!visit_admit_body_due(v)) {
		loop_timer_stop(loop, &v->wait);
		return;
	}
	v->wait.due = body_due;
	loop_timer(loop, &v->wait, loop_now(loop) + LOBBY_BODY_GRACE_MS);
}

static void
begun(struct conn *conn, void *arg, struct idem_params *params)
{
	struct lobby *lobby = arg;
	struct visit *v = visit_new(lobby, lobby->conf, conn,
	    loop_now(lobby->loop));

	shm_add(lobby->shm, SHM_REQUESTS, 1);
	if (v != NULL)
		v->detail = calloc(1, sizeof *v->detail);
	if (v == NULL || v->detail == NULL) {
		if (v != NULL)
			visit_free(v);
		idem_params_free(params);
		conn_cut(conn);
		return;
	}
	spool_init(&v->detail->body, SPOOL_MEMORY);
	v->detail->params = *params;
	conn_set_user(conn, v);
	visit_admit(v);
	if (v->admit == IDEM_REFUSED)
		conn_discard_body(conn);
	await_body_end(v);
}

static void
body(struct conn *conn, void *user, struct idem_bytes bytes)
{
	struct visit *v = user;

	visit_admit_body(v, bytes);
	if (v->admit == IDEM_REFUSED)
		conn_discard_body(conn);
	await_body_end(v);
}

static void
whole(struct conn *conn, void *user)
{
	(void)conn;
	body_over(user);
}

/* --- while it goes on ----------------------------------------------------- */

/* Tell the exchange; after it, who came to wait on a flight is parked. */
void
visit_tell(struct visit *v, const struct idem_event *ev)
{
	struct lobby *lobby = v->lobby;

	idem_exchange_tell(&v->x, ev);
	waiting_park(lobby);
}

static void
closed(struct conn *conn, void *user)
{
	const struct idem_event gone = { .op = IDEM_GONE };
	struct person *person = user;
	struct visit *v = user;

	(void)conn;
	if (person->kind == PERSON_PARKED) {
		waiting_gone(user);
		return;
	}
	v->conn = NULL;
	if (!v->admitted) {
		visit_free(v);
		return;
	}
	if (v->run != NULL && !v->run->told)
		run_client_gone(v->run);
	else if (v->waiting || v->queued) {
		idem_exchange_tell(&v->x, &gone);
		if (v->waiting)
			visit_wait_cut(v, IDEM_WAIT_OVER);
		else
			visit_slot_end(v, IDEM_SLOT_FULL);
	} else
		visit_tell(v, &gone);
}

static void
drained(struct conn *conn, void *user)
{
	struct person *person = user;
	struct visit *v = user;

	(void)conn;
	if (person->kind == PERSON_VISIT && v->run != NULL)
		run_drained(v->run);
}

/* Nobody knows what was asked. */
static void
refused(struct conn *conn, void *arg, enum conn_refused why)
{
	enum idem_problem problem = why == CONN_TOO_LARGE ?
	    IDEM_PROBLEM_TOO_MUCH_HEAD : IDEM_PROBLEM_REQUEST_BROKEN;
	const struct idem_problem_form *form = idem_problem_form(problem);
	const struct idem_problem_more more = { 0 };
	struct lobby *lobby = arg;
	struct idem_buf head = { 0 };

	shm_add(lobby->shm, SHM_REQUESTS, 1);
	shm_add(lobby->shm, form->mark == IDEM_SAYS_REJECTED ? SHM_REJECTED :
	    SHM_NOT_STARTED, 1);
	log_line(&lobby->log, "status=%d idempotency-status=%s", form->code,
	    idem_mark_text(form->mark));
	idem_reply_problem(&head, problem, form->mark, &more, false);
	conn_write(conn, idem_buf_bytes(&head));
	conn_end(conn, 0);
	idem_buf_free(&head);
}

const struct conn_user visit_user = {
	.begun = begun,
	.body = body,
	.whole = whole,
	.closed = closed,
	.drained = drained,
	.refused = refused
};

/* The run is over: its answer, in the form in which it is stored. */
void
visit_ran(struct visit *v, enum idem_run how, enum idem_problem problem)
{
	struct idem_event ev = {
		.op = IDEM_RUN, .run = how, .problem = problem
	};
	struct idem_blob *saved;

	v->source = "run";
	if (how == IDEM_RUN_FINISHED && v->run->keyed) {
		ev.nothing = idem_route_releases(&v->route->route,
		    v->run->head.code);
		saved = run_saved(v->run, v->route->route.kept_max, &ev.kept);
		if (saved == NULL) {
			ev.run = IDEM_RUN_CUT;
			ev.problem = IDEM_PROBLEM_CUT;
			v->note.unsure = v->note.recorded;
		}
		idem_exchange_answer(&v->x, saved);
	}
	visit_tell(v, &ev);
}
