/* SPDX-License-Identifier: ISC */
#include "idem_cgi.h"

#include "memory.h"
#include "options.h"
#include "pattern.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- read ----------------------------------------------------------------- */

/*
 * A variable of ours.  Those that a web server sets for some folder only are
 * renamed by the redirection of Apache's Action.
 */
static const char *
variable(const struct idem_params *params, const char *name)
{
	const char *value = idem_params_get(params, name);
	char redirected[64];

	if (value == NULL) {
		snprintf(redirected, sizeof redirected, "REDIRECT_%s", name);
		value = idem_params_get(params, redirected);
	}
	return value != NULL && *value != '\0' ? value : NULL;
}

/* As idemd's without a file: every program, POST and PATCH. */
static struct conf *
of_ledger(const char *text, char *error, size_t error_size)
{
	static const char scheme[] = "sqlite:";
	static struct conf_route route;
	struct conf *c;

	if (strncmp(text, scheme, sizeof scheme - 1) != 0) {
		snprintf(error, error_size, "IDEM_LEDGER %s: not sqlite:PATH",
		    text);
		return NULL;
	}
	c = conf_new();
	if (c == NULL) {
		snprintf(error, error_size, "no memory");
		return NULL;
	}
	conf_route_init(&route);
	route.route.path = "/**";
	route.text = "IDEM_LEDGER";
	c->routes = &route;
	c->routes_len = 1;
	c->ledger = text + sizeof scheme - 1;
	conf_measure(c);
	return c;
}

static struct conf *
of_file(const char *file, char *error, size_t error_size)
{
	const struct options options = { .config = file };

	return options_reread(&options, error, error_size);
}

static struct conf *
of_any(const struct idem_cgi_call *call, char *error, size_t error_size)
{
	const char *file = call->config != NULL ? call->config :
	    variable(&call->params, "IDEM_CONFIG");
	const char *ledger = variable(&call->params, "IDEM_LEDGER");

	if (file != NULL)
		return of_file(file, error, error_size);
	if (ledger != NULL)
		return of_ledger(ledger, error, error_size);
	if (access(IDEM_CONF_FILE, F_OK) == 0)
		return of_file(IDEM_CONF_FILE, error, error_size);
	snprintf(error, error_size, "no ledger: without one nothing stops a "
	    "second run. Let the web server set IDEM_CONFIG=FILE or "
	    "IDEM_LEDGER=sqlite:PATH, or make " IDEM_CONF_FILE);
	return NULL;
}

/* Each program has another folder. */
static bool
is_absolute(const char *what, const char *path, char *error, size_t error_size)
{
	if (path == NULL || *path == '/')
		return true;
	snprintf(error, error_size, "%s %s: not an absolute path", what, path);
	return false;
}

/* A memory of ours would be nobody else's, and end with this request. */
static bool
is_for_one(const struct conf *c, char *error, size_t error_size)
{
	const struct conf_route *route = memory_wanted(c);

	if (route == NULL)
		return true;
	snprintf(error, error_size, "%s: on_outage = \"memory\" needs idemd, "
	    "whose workers share one; here each request is a process of its "
	    "own. Say \"reject\" or \"database\"", route->text);
	return false;
}

struct conf *
idem_cgi_conf_read(const struct idem_cgi_call *call, char *error,
    size_t error_size)
{
	struct conf *c = of_any(call, error, error_size);

	if (c != NULL && is_absolute("ledger", c->ledger, error, error_size) &&
	    is_absolute("run", c->run, error, error_size) &&
	    is_for_one(c, error, error_size))
		return c;
	conf_drop(c);
	return NULL;
}

/* --- may there be a key? -------------------------------------------------- */

static bool
route_may(const struct idem_route *r, const struct idem_params *params)
{
	struct idem_key_found found = { .state = IDEM_KEY_ABSENT };

	if (r->policy.required ||
	    idem_route_source(r, IDEM_SOURCE_FORM) != NULL ||
	    idem_route_source(r, IDEM_SOURCE_CONTENT) != NULL ||
	    idem_route_source(r, IDEM_SOURCE_FUNCTION) != NULL)
		return true;
	idem_route_key_early(r, params, &found);
	return found.state != IDEM_KEY_ABSENT;
}

bool
idem_cgi_conf_may_have_key(const struct conf *c,
    const struct idem_params *params, const struct conf_route **route)
{
	const char *method = idem_params_get(params, "REQUEST_METHOD");
	struct idem_buf path = { 0 };
	bool may = true;	/* that of which nobody knows the route, too:
				   it is refused.  Pages get their tokens */

	*route = NULL;
	if (idem_request_path(params, &path) && idem_buf_ok(&path))
		may = conf_find(c, idem_buf_bytes(&path), method != NULL ?
		    method : "", route) == CONF_COVERED ?
		    route_may(&(*route)->route, params) :
		    *route != NULL && (*route)->form_token != NULL;
	idem_buf_free(&path);
	return may;
}

/* --- the program ---------------------------------------------------------- */

/*
 * What a web server gives its CGI programs is its operator's word, and all of
 * it reaches ours, with a key as without.
 */
struct program_rule
idem_cgi_conf_rule(const struct conf_route *route)
{
	struct program_rule rule = {
		.kind = PROGRAM_BY_REQUEST, .all_params = true
	};

	if (route == NULL)
		return rule;
	rule.set = route->program.set;
	if (route->program.kind == PROGRAM_BY_REQUEST) {
		rule.root = route->program.root;
		rule.allowed = route->program.allowed;
	}
	return rule;
}

static void
name(struct conf_route *route, struct idem_cgi_call *call)
{
	route->program = idem_cgi_conf_rule(route);
	route->program.kind = PROGRAM_NAMED;
	route->program.root = NULL;	/* it has been looked at */
	route->program.allowed = NULL;
	route->program.argv = call->argv;
	route->program.as = call->program.path;
}

void
idem_cgi_conf_name(struct conf *c, struct idem_cgi_call *call)
{
	size_t i;

	call->argv[call->argv_own] = NULL;
	for (i = 0; i < c->routes_len; i++)
		name(&c->routes[i], call);
	if (c->has_rest)
		name(&c->rest, call);
	/* Into the web server's log, as what its own programs say. */
	c->stderr_to_front = true;
}
