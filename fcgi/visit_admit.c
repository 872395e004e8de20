/* SPDX-License-Identifier: ISC */
#include "lobby.h"

#include "pattern.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_PATH 300	/* of a path in a line */
#define PARAMS_COUNT_MAX 4096	/* more is 431: no client has so many fields */

static void
refuse(struct visit *v, enum idem_problem problem)
{
	if (v->admit != IDEM_REFUSED)
		v->refused = problem;
	v->admit = IDEM_REFUSED;
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

/* --- with its parameters -------------------------------------------------- */

/* Of the endpoint for tokens it has neither a route nor a key. */
static void
admit_mint(struct visit *v)
{
	struct detail *d = v->detail;

	d->wanted = calloc(1, sizeof *d->wanted);
	if (d->wanted == NULL)
		refuse(v, IDEM_PROBLEM_BUSY);
	else if (v->admit != IDEM_REFUSED)
		v->admit = IDEM_EXEMPT;
}

/* Without the NUL at its end. */
static struct idem_bytes
path_of(const struct detail *d)
{
	return (struct idem_bytes){ d->path.at, d->path.len - 1 };
}

static bool
find_route(struct visit *v)
{
	struct detail *d = v->detail;
	bool readable = idem_request_path(&d->params, &d->path);

	idem_buf_u8(&d->path, '\0');
	if (!idem_buf_ok(&d->path))
		refuse(v, IDEM_PROBLEM_BUSY);
	else if (!readable)
		refuse(v, IDEM_PROBLEM_REQUEST_BROKEN);
	else if (visit_mint_is(v))
		admit_mint(v);
	else
		switch (conf_find(v->conf, path_of(d), d->method, &v->route)) {
		case CONF_COVERED:
			d->covered = true;
			return true;
		case CONF_EXEMPT:
			return true;
		case CONF_NONE:
			refuse(v, IDEM_PROBLEM_NO_PROGRAM);
			break;
		}
	return false;
}

/* False: it cannot be what is meant (RFC 9110, 8.6). */
static bool
read_length(struct detail *d)
{
	const char *text = idem_params_get(&d->params, "CONTENT_LENGTH");

	if (text == NULL || *text == '\0')
		return true;
	d->stated = true;
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9' ||
		    d->length > UINT64_MAX / 10 - 1)
			return false;
		d->length = d->length * 10 + (uint64_t)(*text - '0');
	}
	return true;
}

static bool
is_too_long(const struct visit *v, uint64_t len)
{
	uint64_t max = v->route->route.body_max;

	return max != 0 && len > max;
}

/* Is there a source that only the body's end can tell of? */
static bool
has_late_source(const struct idem_route *r)
{
	return idem_route_source(r, IDEM_SOURCE_FORM) != NULL ||
	    idem_route_source(r, IDEM_SOURCE_CONTENT) != NULL ||
	    idem_route_source(r, IDEM_SOURCE_FUNCTION) != NULL;
}

static void
begin_form(struct visit *v)
{
	struct detail *d = v->detail;
	const struct idem_source *form =
	    idem_route_source(&v->route->route, IDEM_SOURCE_FORM);

	/* Of a body in another coding nobody here sees the fields. */
	if (form == NULL || visit_param(d, "HTTP_CONTENT_ENCODING").len > 0)
		return;
	d->form = idem_form_new(visit_param(d, "CONTENT_TYPE"), form->name);
	if (d->form == NULL)
		refuse(v, IDEM_PROBLEM_BUSY);
}

static void
admit_key(struct visit *v)
{
	const struct idem_route *r = &v->route->route;
	struct detail *d = v->detail;

	idem_route_key_early(r, &d->params, &d->found);
	v->key_sent = d->found.state != IDEM_KEY_ABSENT;
	v->admit = d->covered ? IDEM_KEYLESS : IDEM_EXEMPT;
	if (!d->covered)
		return;
	if (key_problem(d->found.state) != IDEM_PROBLEM_NONE) {
		refuse(v, key_problem(d->found.state));
		return;
	}
	d->hashed = v->key_sent || has_late_source(r);
	if (!d->hashed)
		return;
	idem_route_fingerprint(r, &d->params, path_of(d), &d->fingerprint);
	begin_form(v);
}

/* What is looked for where nobody names a file; NULL: nothing. */
static const char *
below_root(const struct idem_params *params, char *out, size_t size)
{
	const char *root = idem_params_get(params, "DOCUMENT_ROOT");
	const char *name = idem_params_get(params, "SCRIPT_NAME");

	if (root == NULL || name == NULL)
		return NULL;
	snprintf(out, size, "%s/%s", root, name);
	return out;
}

/* Which file was meant: the client is told only that there is nothing. */
static void
log_program(const struct visit *v, enum idem_problem problem)
{
	const struct detail *d = v->detail;
	const struct program_rule *rule = &v->route->program;
	const char *name = idem_params_get(&d->params, "SCRIPT_FILENAME");
	char program[LOG_PATH] = "-", root[LOG_PATH] = "-";
	char below[PATH_MAX];

	if (rule->kind != PROGRAM_BY_REQUEST || (problem !=
	    IDEM_PROBLEM_NO_PROGRAM && problem !=
	    IDEM_PROBLEM_FORBIDDEN_PROGRAM))
		return;
	if (name == NULL || *name == '\0')
		name = below_root(&d->params, below, sizeof below);
	if (name != NULL)
		log_word(program, sizeof program, name);
	if (rule->root != NULL)
		log_word(root, sizeof root, rule->root);
	log_line_quoted(&v->lobby->log, "not-started",
	    problem == IDEM_PROBLEM_NO_PROGRAM ? "there is no such file" :
	    "not below root, not one of those that are allowed, not an "
	    "executable file, or in a folder that idemd's user may not enter",
	    "program=%s root=%s", program, root);
}

void
visit_admit(struct visit *v)
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
	if (!read_length(d))
		refuse(v, IDEM_PROBLEM_REQUEST_BROKEN);
	if (!find_route(v))
		return;
	if (v->admit == IDEM_REFUSED)
		return;
	admit_key(v);
	problem = program_find(&d->program, &v->route->program, &d->params);
	if (problem != IDEM_PROBLEM_NONE) {
		log_program(v, problem);
		refuse(v, problem);
	}
	if (d->stated && is_too_long(v, d->length))
		refuse(v, IDEM_PROBLEM_TOO_MUCH_BODY);
}

/* --- with its body -------------------------------------------------------- */

void
visit_admit_body(struct visit *v, struct idem_bytes bytes)
{
	struct detail *d = v->detail;

	if (v->admit == IDEM_REFUSED || d->wanted != NULL)
		return;
	spool_add(&d->body, bytes);
	if (d->hashed)
		idem_fingerprint_body(&d->fingerprint, bytes.at, bytes.len);
	if (d->form != NULL)
		idem_form_add(d->form, bytes);
	if (d->body.failed)
		refuse(v, IDEM_PROBLEM_BUSY);
	else if (is_too_long(v, d->body.len))
		refuse(v, IDEM_PROBLEM_TOO_MUCH_BODY);
}

/*
 * Of an upload in chunks, or one whose front says nothing of its length,
 * nobody knows before its end.  But GET and HEAD have no body unless a length
 * says so, and who wants a token says nothing in one.
 */
bool
visit_admit_body_due(const struct visit *v)
{
	const struct detail *d = v->detail;
	bool none = v->head || strcmp(d->method, "GET") == 0;

	if (d->wanted != NULL)
		return true;
	return (d->stated || none) && d->body.len == d->length &&
	    idem_params_get(&d->params, "HTTP_TRANSFER_ENCODING") == NULL;
}

static void
add_form(struct visit *v)
{
	struct detail *d = v->detail;
	struct idem_bytes value = { 0 };
	enum idem_form_state state;

	if (d->form == NULL)
		return;
	state = idem_form_end(d->form, &value);
	idem_key_found_form(&d->found, state, value);
}

static void
add_function(struct visit *v)
{
	struct detail *d = v->detail;
	const struct idem_source *source =
	    idem_route_source(&v->route->route, IDEM_SOURCE_FUNCTION);
	struct idem_bytes value;
	char error[512];

	if (source == NULL)
		return;
	switch (conf_call(v->conf, source->function, &d->params, path_of(d),
	    &value, error, sizeof error)) {
	case 1:
		idem_key_found_add(&d->found, value);
		return;
	case 0:
		return;
	default:
		log_line_quoted(&v->lobby->log, "error", error,
		    "%s key function", v->route->text);
		refuse(v, IDEM_PROBLEM_KEY_FUNCTION);
	}
}

/* It is a route's only source, if it is one. */
static void
add_content(struct visit *v)
{
	struct detail *d = v->detail;

	if (idem_route_source(&v->route->route, IDEM_SOURCE_CONTENT) == NULL)
		return;
	if (idem_route_key_content(&v->x.fingerprint, &d->found.key))
		d->found.state = IDEM_KEY_GOOD;
	else
		refuse(v, IDEM_PROBLEM_BUSY);
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

/* What it is called in a scope: its path, or where it is reached. */
static const char *
program_name(const struct visit *v)
{
	return v->detail->program.path != NULL ? v->detail->program.path :
	    v->route->route.path;
}

/*
 * Equal requests of nobody in particular may be two people's: that they are
 * equal is no key.
 */
static bool
is_anybodys(const struct visit *v)
{
	return !v->identity && idem_route_source(&v->route->route,
	    IDEM_SOURCE_CONTENT) != NULL;
}

/*
 * A token is its own key, whoever sends it; so whose request it was guards its
 * answer, as credentials do.
 */
static enum idem_problem
identify_token(struct visit *v)
{
	struct idem_digest scope = v->x.key;
	const struct idem_bytes parts[] = {
		{ v->x.guard.at, sizeof v->x.guard.at },
		{ scope.at, sizeof scope.at }
	};
	enum idem_problem problem = visit_token(v);

	if (problem != IDEM_PROBLEM_NONE)
		return problem;
	return idem_guard(parts, 2, &v->x.guard) ? IDEM_PROBLEM_NONE :
	    IDEM_PROBLEM_BUSY;
}

static enum idem_problem
identify(struct visit *v)
{
	static const struct idem_key any = { .at = "token", .len = 5 };
	const struct idem_route *r = &v->route->route;
	bool token = r->policy.arbiter == IDEM_ARBITER_TOKEN;
	struct detail *d = v->detail;

	if (!idem_route_store_key(r, &d->params, program_name(v),
	    token ? &any : &d->found.key, &v->x.key, &v->identity) ||
	    !idem_route_guard(r, &d->params, &v->x.guard) ||
	    !new_owner(v->lobby, &v->x.owner))
		return IDEM_PROBLEM_BUSY;
	return token ? identify_token(v) : IDEM_PROBLEM_NONE;
}

static bool
is_served(struct visit *v)
{
	return v->route->route.policy.arbiter != IDEM_ARBITER_LEDGER ||
	    stores_ledger_is_ours(&v->lobby->stores);
}

static void
admit_keyed(struct visit *v)
{
	enum idem_problem problem = identify(v);

	if (problem == IDEM_PROBLEM_NONE && !is_served(v))
		problem = IDEM_PROBLEM_STORE_AWAY;
	if (problem != IDEM_PROBLEM_NONE)
		refuse(v, problem);
	else if (is_anybodys(v))
		v->key_sent = false;
	else
		v->admit = IDEM_KEYED;
}

/* CONTENT_LENGTH and what came must agree, or the request is cut. */
static bool
length_agrees(const struct detail *d)
{
	return !d->stated || d->length == d->body.len;
}

void
visit_admit_whole(struct visit *v)
{
	struct detail *d = v->detail;

	if (v->admit == IDEM_REFUSED)
		return;
	if (!length_agrees(d)) {
		refuse(v, IDEM_PROBLEM_REQUEST_BROKEN);
		return;
	}
	if (!d->hashed)
		return;
	if (!idem_fingerprint_final(&d->fingerprint, &v->x.fingerprint)) {
		refuse(v, IDEM_PROBLEM_BUSY);
		return;
	}
	add_form(v);
	add_function(v);
	if (v->admit == IDEM_REFUSED)
		return;
	add_content(v);
	v->key_sent = d->found.state != IDEM_KEY_ABSENT;
	if (key_problem(d->found.state) != IDEM_PROBLEM_NONE)
		refuse(v, key_problem(d->found.state));
	else if (v->key_sent && v->admit != IDEM_REFUSED)
		admit_keyed(v);
}
