/* SPDX-License-Identifier: ISC */
#include "conf_private.h"
#include "pattern.h"

#include <inttypes.h>
#include <string.h>

/* --- words ---------------------------------------------------------------- */

void
conf_say_line(struct idem_buf *b, const char *name)
{
	idem_buf_printf(b, "  %-13s", name);
}

/* In the unit that leaves no rest. */
void
conf_say_time(struct idem_buf *b, int64_t ms)
{
	static const struct { int64_t ms; const char *unit; } units[] = {
		{ CONF_DAY_MS, "d" }, { CONF_DAY_MS / 24, "h" },
		{ 60000, "m" }, { 1000, "s" }, { 1, "ms" }
	};
	size_t i = 0;

	while (ms % units[i].ms != 0)
		i++;
	idem_buf_printf(b, "%" PRId64 "%s", ms / units[i].ms, units[i].unit);
}

void
conf_say_size(struct idem_buf *b, uint64_t size)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB" };
	size_t i = 0;

	while (i < 3 && size > 0 && size % 1024 == 0) {
		size /= 1024;
		i++;
	}
	idem_buf_printf(b, "%" PRIu64 "%s", size, units[i]);
}

static void
say_words(struct idem_buf *b, const char *before, const struct idem_words *w)
{
	size_t i;

	if (w->len == 0)
		return;
	idem_buf_text(b, before);
	for (i = 0; i < w->len; i++)
		idem_buf_printf(b, " %s", w->at[i]);
}

static void
say_list(struct idem_buf *b, const char *before, char *const *list)
{
	if (list == NULL)
		return;
	idem_buf_text(b, before);
	for (; *list != NULL; list++)
		idem_buf_printf(b, " %s", *list);
}

/* --- what it means -------------------------------------------------------- */

static void
say_key(struct idem_buf *b, const struct idem_route *r)
{
	static const char *const kinds[] = {
		[IDEM_SOURCE_HEADER] = "header", [IDEM_SOURCE_QUERY] = "query",
		[IDEM_SOURCE_COOKIE] = "cookie", [IDEM_SOURCE_FORM] = "form",
		[IDEM_SOURCE_CONTENT] = "content",
		[IDEM_SOURCE_FUNCTION] = "function"
	};
	size_t i;

	conf_say_line(b, "key");
	for (i = 0; i < r->sources_len; i++) {
		idem_buf_printf(b, "%s%s", i > 0 ? ", " : "",
		    kinds[r->sources[i].kind]);
		if (r->sources[i].name != NULL)
			idem_buf_printf(b, " %s", r->sources[i].name);
	}
	idem_buf_text(b, r->policy.required ? "; required\n" :
	    "; without one the program just runs\n");
}

static void
say_scope(struct idem_buf *b, const struct conf_route *c)
{
	const struct idem_route *r = &c->route;

	conf_say_line(b, "scope");
	if (r->name != NULL)
		idem_buf_printf(b, "name %s", r->name);
	else
		idem_buf_text(b, c->program.kind == PROGRAM_FASTCGI ?
		    "path pattern" : "program's path");
	idem_buf_printf(b, ", method, user%s", r->user_verified ?
	    " (verified)" : " if AUTH_TYPE is set");
	say_words(b, ", cookies", &r->scope_cookies);
	say_words(b, ", variables", &r->scope_variables);
	idem_buf_text(b, "\n");
}

static void
item(struct idem_buf *b, bool *first, const char *text)
{
	idem_buf_printf(b, "%s%s", *first ? "" : ", ", text);
	*first = false;
}

static void
say_guard(struct idem_buf *b, const struct idem_route *r)
{
	bool first = true;

	conf_say_line(b, "guard");
	if (r->guard_authorization)
		item(b, &first, "Authorization");
	if (r->guard_user)
		item(b, &first, "user");
	if (r->guard_cookies.len > 0)
		item(b, &first, "cookies");
	say_words(b, "", &r->guard_cookies);
	if (r->guard_variables.len > 0)
		item(b, &first, "variables");
	say_words(b, "", &r->guard_variables);
	idem_buf_text(b, first ? "none\n" : "\n");
}

static void
say_fingerprint(struct idem_buf *b, const struct idem_route *r)
{
	static const char *const parts[] = { "method", "path", "query",
	    "content-type", "content-encoding", "body" };
	bool first = true;
	size_t i;

	conf_say_line(b, "fingerprint");
	if (r->parts == 0)
		idem_buf_text(b, "none: the key alone counts");
	for (i = 0; i < sizeof parts / sizeof *parts; i++)
		if ((r->parts & 1u << i) != 0)
			item(b, &first, parts[i]);
	idem_buf_text(b, "\n");
}

static void
say_answers(struct idem_buf *b, const struct idem_route *r)
{
	size_t i;

	conf_say_line(b, "answers");
	idem_buf_text(b, "body_max ");
	if (r->body_max == 0)
		idem_buf_text(b, "none");
	else
		conf_say_size(b, r->body_max);
	idem_buf_text(b, ", kept_max ");
	conf_say_size(b, r->kept_max);
	for (i = 0; i < r->released_len; i++) {
		idem_buf_printf(b, "%s %d", i == 0 ? ", release" : "",
		    r->released[i].from);
		if (r->released[i].to != r->released[i].from)
			idem_buf_printf(b, "-%d", r->released[i].to);
	}
	say_words(b, ", not replayed", &r->not_replayed);
	if (r->any_exit)
		idem_buf_text(b, ", stored whatever the exit status");
	idem_buf_text(b, "\n");
}

static void
say_program(struct idem_buf *b, const struct program_rule *p)
{
	conf_say_line(b, "program");
	switch (p->kind) {
	case PROGRAM_NAMED:
		say_list(b, "cgi:", p->argv);
		break;
	case PROGRAM_BY_REQUEST:
		idem_buf_text(b, "cgi: SCRIPT_FILENAME");
		if (p->root != NULL)
			idem_buf_printf(b, ", below %s", p->root);
		say_list(b, ", one of", p->allowed);
		break;
	case PROGRAM_FASTCGI:
		say_list(b, "fastcgi:", p->backends);
		break;
	}
	idem_buf_text(b, p->all_params ? ", environment as fcgiwrap's\n" :
	    "\n");
}

static void
say_route(struct idem_buf *b, const struct conf *c, const struct conf_route *r)
{
	say_key(b, &r->route);
	say_scope(b, r);
	say_guard(b, &r->route);
	say_fingerprint(b, &r->route);
	conf_say_arbiter(b, c, r);
	conf_say_runs(b, r);
	say_answers(b, &r->route);
}

/* --- which ---------------------------------------------------------------- */

static const char *
why(enum idem_route_why w)
{
	switch (w) {
	case IDEM_ROUTE_APPLIES:
		return "applies";
	case IDEM_ROUTE_OTHER_PATH:
		return "is for another path";
	case IDEM_ROUTE_EXCEPTED:
		return "excepts this path";
	case IDEM_ROUTE_OTHER_METHOD:
		return "is for other methods";
	}
	return "";
}

static void
say_search(struct idem_buf *b, const struct conf *c, struct idem_bytes path,
    const char *method)
{
	const struct conf_route *r;
	enum idem_route_why w;
	size_t i;

	for (i = 0; i < c->routes_len; i++) {
		r = &c->routes[i];
		w = idem_route_judge(&r->route, path, method);
		idem_buf_printf(b, "%s, \"%s\"", r->text, r->route.path);
		say_words(b, " for", &r->route.methods);
		idem_buf_printf(b, ": %s\n", why(w));
		if (w == IDEM_ROUTE_APPLIES)
			return;
	}
}

/* As it would come in a request; false: one would be refused. */
static bool
resolve(const char *method, const char *path, struct idem_buf *resolved)
{
	char *params[3] = { NULL, NULL, NULL };
	struct idem_params p = { params, 2 };
	struct idem_buf uri = { .at = NULL }, asked = { .at = NULL };
	bool good;

	idem_buf_printf(&uri, "REQUEST_URI=%s%c", path, '\0');
	idem_buf_printf(&asked, "REQUEST_METHOD=%s%c", method, '\0');
	params[0] = (char *)uri.at;
	params[1] = (char *)asked.at;
	good = idem_buf_ok(&uri) && idem_buf_ok(&asked) &&
	    idem_request_path(&p, resolved) && idem_buf_ok(resolved);
	idem_buf_free(&uri);
	idem_buf_free(&asked);
	return good;
}

static void
say_found(struct idem_buf *b, const struct conf *c, enum conf_found found,
    const struct conf_route *r)
{
	switch (found) {
	case CONF_COVERED:
		say_route(b, c, r);
		break;
	case CONF_EXEMPT:
		idem_buf_printf(b, "No route applies: keys are ignored, and "
		    "the program of %s is run.\n", r == &c->rest ? "rest" :
		    r->text);
		break;
	case CONF_NONE:
		idem_buf_text(b, "No route applies, and there is no rest: "
		    "404.\n");
		return;
	}
	say_program(b, &r->program);
}

enum conf_found
conf_explain(const struct conf *c, const char *method, const char *path,
    struct idem_buf *text)
{
	struct idem_buf resolved = { .at = NULL };
	const struct conf_route *r;
	enum conf_found found = CONF_NONE;

	if (!resolve(method, path, &resolved)) {
		idem_buf_printf(text, "%s %s\nNot a path of requests: 400.\n",
		    method, path);
	} else {
		idem_buf_printf(text, "%s ", method);
		idem_buf_append(text, resolved.at, resolved.len);
		idem_buf_text(text, "\n");
		found = conf_find(c, idem_buf_bytes(&resolved), method, &r);
		say_search(text, c, idem_buf_bytes(&resolved), method);
		say_found(text, c, found, r);
	}
	idem_buf_free(&resolved);
	return found;
}
