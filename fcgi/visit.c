/* SPDX-License-Identifier: ISC */
#include "lobby.h"

#include "reply.h"

#include <stdlib.h>
#include <string.h>

#define PARAMS_COUNT_MAX 4096	/* more is 431: no client has so many fields */
#define KEY_FIELDS_MAX 64

/* --- a request comes in --------------------------------------------------- */

struct visit *
visit_new(struct lobby *lobby, struct conn *conn, int64_t began_ms)
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
	v->conn = conn;
	v->began_ms = began_ms;
	v->flight = IDEM_NOWHERE;
	v->slot = -1;
	v->source = "none";
	v->x.ports = &visit_ports;
	v->x.times = &lobby->times;
	v->x.pid = lobby->pid;
	lobby->visits++;
	return v;
}

static void
detail_free(struct detail *d)
{
	if (d == NULL)
		return;
	params_free(&d->params);
	program_free(&d->program);
	idem_fingerprint_free(&d->fingerprint);
	spool_free(&d->body);
	free(d);
}

void
visit_free(struct visit *v)
{
	struct lobby *lobby = v->lobby;

	loop_timer_stop(lobby->loop, &v->wait);
	loop_timer_stop(lobby->loop, &v->renew);
	run_free(v->run);
	detail_free(v->detail);
	idem_exchange_free(&v->x);
	lobby_person_remove(lobby, &v->person);
	lobby->visits--;
	free(v);
}

struct idem_bytes
visit_param(const struct detail *d, const char *name)
{
	const char *value = params_get(&d->params, name);

	return idem_bytes_text(value != NULL ? value : "");
}

/* The fields that may carry a key, as one list. */
static enum idem_key_state
read_key(struct detail *d)
{
	static const char *const names[] = {
		"HTTP_IDEMPOTENCY_KEY", "HTTP_X_IDEMPOTENCY_KEY"
	};
	struct idem_bytes values[KEY_FIELDS_MAX];
	const char *found[KEY_FIELDS_MAX + 1];
	size_t n = 0, i, j, some;

	for (i = 0; i < sizeof names / sizeof *names; i++) {
		some = params_all(&d->params, names[i], found,
		    KEY_FIELDS_MAX - n + 1);
		if (some > KEY_FIELDS_MAX - n)
			return IDEM_KEY_MALFORMED;
		for (j = 0; j < some; j++)
			values[n++] = idem_bytes_text(found[j]);
	}
	return idem_key_parse(values, n, &d->key);
}

static enum idem_problem
key_problem(enum idem_key_state state)
{
	switch (state) {
	case IDEM_KEY_ABSENT:
	case IDEM_KEY_GOOD:
		return IDEM_PROBLEM_NONE;
	case IDEM_KEY_EMPTY:
	case IDEM_KEY_MALFORMED:
		return IDEM_PROBLEM_KEY_MALFORMED;
	case IDEM_KEY_TOO_LONG:
		return IDEM_PROBLEM_KEY_TOO_LONG;
	case IDEM_KEY_DIFFERENT:
		return IDEM_PROBLEM_KEYS_DIFFER;
	}
	abort();
}

static bool
is_covered(const char *method)
{
	return strcmp(method, "POST") == 0 || strcmp(method, "PATCH") == 0;
}

static void
refuse(struct visit *v, enum idem_problem problem)
{
	if (v->admit != IDEM_REFUSED)
		v->refused = problem;
	v->admit = IDEM_REFUSED;
}

/* REMOTE_USER counts only when the server says that it authenticated. */
static struct idem_bytes
verified_user(const struct detail *d)
{
	if (visit_param(d, "AUTH_TYPE").len == 0)
		return idem_bytes_text("");
	return visit_param(d, "REMOTE_USER");
}

static void
admit_key(struct visit *v)
{
	struct detail *d = v->detail;
	enum idem_key_state state = read_key(d);

	v->key_sent = state != IDEM_KEY_ABSENT;
	if (!is_covered(d->method)) {
		v->admit = IDEM_EXEMPT;
		return;
	}
	v->admit = state == IDEM_KEY_GOOD ? IDEM_KEYED : IDEM_KEYLESS;
	if (key_problem(state) != IDEM_PROBLEM_NONE)
		refuse(v, key_problem(state));
}

static bool
new_owner(struct lobby *lobby, struct idem_owner *owner)
{
	if (lobby->owners_left == 0) {
		if (!idem_random(lobby->owners, sizeof lobby->owners))
			return false;
		lobby->owners_left = LOBBY_OWNERS;
	}
	*owner = lobby->owners[--lobby->owners_left];
	return true;
}

static void
identify(struct visit *v)
{
	struct detail *d = v->detail;
	const struct idem_scope scope = {
		.route = idem_bytes_text(d->program.path),
		.method = idem_bytes_text(d->method),
		.user = verified_user(d)
	};
	const struct idem_bytes guard[] = {
		visit_param(d, "HTTP_AUTHORIZATION"),
		visit_param(d, "REMOTE_USER")
	};
	struct idem_buf path = { 0 };
	struct idem_asked asked = {
		.parts = IDEM_PARTS_ALL,
		.method = scope.method,
		.query = visit_param(d, "QUERY_STRING"),
		.type = visit_param(d, "CONTENT_TYPE"),
		.encoding = visit_param(d, "HTTP_CONTENT_ENCODING")
	};

	idem_buf_text(&path, (const char *)visit_param(d, "SCRIPT_NAME").at);
	idem_buf_text(&path, (const char *)visit_param(d, "PATH_INFO").at);
	asked.path = idem_buf_bytes(&path);
	v->identity = scope.user.len > 0;
	if (!idem_buf_ok(&path) ||
	    !idem_store_key(&scope, &d->key, &v->x.key) ||
	    !idem_guard(guard, 2, &v->x.guard) ||
	    !new_owner(v->lobby, &v->x.owner))
		refuse(v, IDEM_PROBLEM_BUSY);
	else {
		idem_fingerprint_init(&d->fingerprint, &asked);
		d->keyed = true;
	}
	idem_buf_free(&path);
}

static void
admit(struct visit *v)
{
	struct detail *d = v->detail;
	enum idem_problem problem;

	d->method = (const char *)visit_param(d, "REQUEST_METHOD").at;
	v->html = idem_problem_wants_html(visit_param(d, "HTTP_ACCEPT"));
	v->head = strcmp(d->method, "HEAD") == 0;
	if (d->params.len > PARAMS_COUNT_MAX) {
		refuse(v, IDEM_PROBLEM_TOO_MUCH_HEAD);
		return;
	}
	admit_key(v);
	problem = program_find(&d->program, v->lobby->options, &d->params);
	if (problem != IDEM_PROBLEM_NONE)
		refuse(v, problem);
	if (v->admit == IDEM_KEYED)
		identify(v);
}

static void
begun(struct conn *conn, void *arg, struct params *params)
{
	struct lobby *lobby = arg;
	struct visit *v = visit_new(lobby, conn, loop_now(lobby->loop));

	shm_add(lobby->shm, SHM_REQUESTS, 1);
	if (v != NULL)
		v->detail = calloc(1, sizeof *v->detail);
	if (v == NULL || v->detail == NULL) {
		if (v != NULL)
			visit_free(v);
		params_free(params);
		conn_cut(conn);
		return;
	}
	spool_init(&v->detail->body, SPOOL_MEMORY);
	v->detail->params = *params;
	conn_set_user(conn, v);
	admit(v);
	if (v->admit == IDEM_REFUSED)
		conn_discard_body(conn);
}

static void
body(struct conn *conn, void *user, struct idem_bytes bytes)
{
	struct visit *v = ((struct person *)user)->kind == PERSON_VISIT ?
	    user : NULL;

	if (v == NULL || v->detail == NULL)
		return;
	spool_add(&v->detail->body, bytes);
	if (v->detail->keyed)
		idem_fingerprint_body(&v->detail->fingerprint, bytes.at,
		    bytes.len);
	if (v->detail->body.failed) {
		refuse(v, IDEM_PROBLEM_BUSY);
		conn_discard_body(conn);
	}
}

/* CONTENT_LENGTH and what came must agree, or the request is cut. */
static bool
length_agrees(const struct detail *d)
{
	const char *text = params_get(&d->params, "CONTENT_LENGTH");
	uint64_t length = 0;

	if (text == NULL || *text == '\0')
		return true;
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9' || length > UINT64_MAX / 10 - 1)
			return false;
		length = length * 10 + (uint64_t)(*text - '0');
	}
	return length == d->body.len;
}

static void
whole(struct conn *conn, void *user)
{
	struct visit *v = user;
	struct lobby *lobby = v->lobby;
	struct idem_event ev = { .op = IDEM_ADMIT };

	(void)conn;
	if (v->admit != IDEM_REFUSED && !length_agrees(v->detail))
		refuse(v, IDEM_PROBLEM_REQUEST_BROKEN);
	if (v->admit == IDEM_KEYED && !idem_fingerprint_final(
	    &v->detail->fingerprint, &v->x.fingerprint))
		refuse(v, IDEM_PROBLEM_BUSY);
	if (v->admit == IDEM_KEYED)
		shm_add(lobby->shm, SHM_KEYED, 1);
	else if (v->admit != IDEM_REFUSED)
		shm_add(lobby->shm, SHM_UNKEYED, 1);
	ev.admit = v->admit;
	ev.problem = v->refused;
	ev.key_sent = v->key_sent;
	v->admitted = true;
	idem_exchange_init(&v->x, &lobby->options->policy);
	visit_tell(v, &ev);
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
	if (v->run != NULL)
		run_client_gone(v->run);
	else if (v->waiting || v->queued) {
		idem_exchange_tell(&v->x, &gone);
		if (v->waiting)
			visit_wait_cut(v, IDEM_WAIT_OVER);
		else
			visit_slot(v, IDEM_SLOT_FULL);
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

/* The parameters are over the limit: nobody knows what was asked. */
static void
too_large(struct conn *conn, void *arg)
{
	const struct idem_problem_more more = { 0 };
	struct lobby *lobby = arg;
	struct idem_buf head = { 0 };

	shm_add(lobby->shm, SHM_REQUESTS, 1);
	shm_add(lobby->shm, SHM_NOT_STARTED, 1);
	log_line(&lobby->log, "status=431 idempotency-status=not-started");
	idem_reply_problem(&head, IDEM_PROBLEM_TOO_MUCH_HEAD,
	    IDEM_SAYS_NOT_STARTED, &more, false);
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
	.too_large = too_large
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
		saved = run_saved(v->run, LOBBY_KEPT_MAX, &ev.kept);
		if (saved == NULL) {
			ev.run = IDEM_RUN_CUT;
			ev.problem = IDEM_PROBLEM_CUT;
		}
		idem_exchange_answer(&v->x, saved);
	}
	visit_tell(v, &ev);
}
