/* SPDX-License-Identifier: ISC */
#include "conf_lua.h"

#include <lauxlib.h>
#include <lua.h>

#include <string.h>
#include <strings.h>

#define COOKIE_MAX 255u

struct keys {			/* a route's sources, while they are read */
	struct idem_route *route;
	struct idem_source *sources;
	size_t len;
};

/* --- names ---------------------------------------------------------------- */

/* Made for tracing, by whoever comes first on the way: a client's retry has
   another one, and two operations may share one. */
static bool
is_borrowed(const char *name)
{
	static const char *const all[] = { "X-Request-Id", "Request-Id",
	    "X-Correlation-Id", "Correlation-Id", "X-Trace-Id", "Traceparent",
	    "X-B3-TraceId", "X-Amzn-Trace-Id", "X-Cloud-Trace-Context",
	    "X-Amz-Request-Id", "CF-Ray" };
	size_t i;

	for (i = 0; i < sizeof all / sizeof *all; i++)
		if (strcasecmp(all[i], name) == 0)
			return true;
	return false;
}

/*
 * Letters, digits and "-" only: what else fronts make of a name differs, and
 * Foo_Bar and Foo-Bar would be one variable (RFC 3875, 4.1.18).
 */
static const char *
key_header(const char *name)
{
	static const char *const never[] = { "Authorization", "Cookie",
	    "Content-Type", "Content-Length", "Host" };
	size_t len = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789-");
	size_t i;

	if (len == 0 || len > 200 || name[len] != '\0')
		return "not a header's name of letters, digits and \"-\"";
	for (i = 0; i < sizeof never / sizeof *never; i++)
		if (strcasecmp(never[i], name) == 0)
			return "this header is never a key; a key in a cookie "
			    "is cookie \"name\"";
	return NULL;
}

/* --- where a key comes from ----------------------------------------------- */

/* "Idempotency-Key" is HTTP_IDEMPOTENCY_KEY. */
static const char *
meta_variable(const struct conf_at *at, const char *name)
{
	static const char prefix[] = "HTTP_";
	size_t len = strlen(name), i;
	char *meta = conf_get(at->conf, sizeof prefix + len);

	if (meta == NULL)
		conf_lua_no_memory(at->L);
	memcpy(meta, prefix, sizeof prefix - 1);
	for (i = 0; i < len; i++)
		meta[sizeof prefix - 1 + i] = name[i] == '-' ? '_' :
		    name[i] >= 'a' && name[i] <= 'z' ?
		    (char)(name[i] - 'a' + 'A') : name[i];
	return meta;
}

static void
add(const struct conf_at *at, struct keys *k, enum idem_source_kind kind,
    const char *name)
{
	size_t i;

	if (k->len == CONF_LUA_SOURCES_MAX)
		conf_lua_wrong(at, "key", "more than %u sources",
		    CONF_LUA_SOURCES_MAX);
	for (i = 0; i < k->len; i++) {
		if (k->sources[i].kind != kind)
			continue;
		if (kind == IDEM_SOURCE_FUNCTION)
			conf_lua_wrong(at, "key", "more than one function");
		if (name == NULL || strcmp(k->sources[i].name, name) == 0)
			conf_lua_wrong(at, "key", "it says the same source "
			    "twice");
		if (kind == IDEM_SOURCE_FORM)
			conf_lua_wrong(at, "key", "more than one field of a "
			    "form");
	}
	k->sources[k->len++] = (struct idem_source){ kind, name, 0 };
}

static void
add_headers(const struct conf_at *at, struct keys *k)
{
	static const char *const known[] = { "borrowed", NULL };
	struct conf_at inside = conf_lua_word_inside(at);
	struct idem_words names = { NULL, 0 };
	bool borrowed = false;
	size_t i;

	conf_lua_fields(&inside, known, true);
	conf_lua_positional(&inside, key_header, &names);
	conf_lua_flag(&inside, "borrowed", &borrowed);
	if (names.len == 0)
		conf_lua_wrong(&inside, NULL, "no name in it");
	for (i = 0; i < names.len; i++) {
		if (is_borrowed(names.at[i]) && !borrowed)
			conf_lua_wrong(&inside, NULL, "%s is for tracing: two "
			    "operations may share one, and a retry may have "
			    "another. If yours is a key, say header { \"%s\", "
			    "borrowed = true }", names.at[i], names.at[i]);
		add(at, k, IDEM_SOURCE_HEADER, meta_variable(at, names.at[i]));
	}
}

static void
add_named(const struct conf_at *at, struct keys *k, enum idem_source_kind kind,
    conf_lua_check *check)
{
	struct conf_at inside = conf_lua_word_inside(at);
	struct idem_words names = { NULL, 0 };

	conf_lua_positional(&inside, check, &names);
	add(at, k, kind, names.at[0]);
}

static void
add_content(const struct conf_at *at, struct keys *k)
{
	static const char *const known[] = { "window", NULL };
	struct conf_at inside = conf_lua_word_inside(at);
	struct idem_route *r = k->route;

	conf_lua_fields(&inside, known, false);
	if (!conf_lua_has(&inside, "window"))
		conf_lua_wrong(&inside, NULL, "it has no window; say content { "
		    "window = \"10m\" }: equal requests within it are one");
	lua_pop(at->L, 1);
	conf_lua_time(&inside, "window", 1, CONF_TIME_MAX_MS,
	    &r->times.keep_ms);
	r->times.keep_min_ms = r->times.keep_ms;
	r->anew = true;
	add(at, k, IDEM_SOURCE_CONTENT, NULL);
}

/* The value on top, which is popped. */
static void
add_value(const struct conf_at *at, struct keys *k)
{
	lua_State *L = at->L;

	if (lua_isfunction(L, -1)) {
		if (lua_iscfunction(L, -1))
			conf_lua_wrong(at, "key", "a word without its value; "
			    "say header { \"Idempotency-Key\" }, query \"k\", "
			    "content { window = \"10m\" } or the like");
		add(at, k, IDEM_SOURCE_FUNCTION, NULL);
		k->sources[k->len - 1].function = conf_lua_keep(at);
		return;
	}
	switch (conf_lua_word(L, -1)) {
	case CONF_WORD_HEADER:
		add_headers(at, k);
		break;
	case CONF_WORD_QUERY:
		add_named(at, k, IDEM_SOURCE_QUERY, conf_lua_parameter_name);
		break;
	case CONF_WORD_COOKIE:
		add_named(at, k, IDEM_SOURCE_COOKIE, conf_lua_cookie_name);
		break;
	case CONF_WORD_FORM:
		add_named(at, k, IDEM_SOURCE_FORM, conf_lua_parameter_name);
		break;
	case CONF_WORD_CONTENT:
		add_content(at, k);
		break;
	case CONF_WORD_NONE: case CONF_WORD_SQLITE: case CONF_WORD_REDIS:
	case CONF_WORD_WAIT: case CONF_WORD_RETRY: case CONF_WORD_AUTO:
	case CONF_WORD_CGI: case CONF_WORD_FASTCGI:
		conf_lua_wrong(at, "key", "not header { \"Idempotency-Key\" "
		    "}, query \"\", cookie \"\", form \"\", content {}, a "
		    "function, or a list of them");
	}
	lua_pop(L, 1);
}

static void
add_list(const struct conf_at *at, struct keys *k)
{
	static const char *const none[] = { NULL };
	struct conf_at list = conf_lua_inside(at, "key");
	lua_Unsigned len = lua_rawlen(at->L, -1), i;

	conf_lua_fields(&list, none, true);
	for (i = 0; i < len; i++) {
		lua_rawgeti(at->L, list.table, (lua_Integer)i + 1);
		add_value(at, k);
	}
	lua_pop(at->L, 1);
	if (len == 0)
		conf_lua_wrong(at, "key", "an empty list: then no key is ever "
		    "found");
}

void
conf_lua_key(const struct conf_at *at, struct idem_route *r)
{
	struct keys k = { .route = r };

	if (!conf_lua_has(at, "key"))
		return;
	k.sources = conf_get(at->conf,
	    CONF_LUA_SOURCES_MAX * sizeof *k.sources);
	if (k.sources == NULL)
		conf_lua_no_memory(at->L);
	if (lua_istable(at->L, -1) &&
	    conf_lua_word(at->L, -1) == CONF_WORD_NONE)
		add_list(at, &k);
	else
		add_value(at, &k);
	r->sources = k.sources;
	r->sources_len = k.len;
}

/* --- all together --------------------------------------------------------- */

/* A header is what the client says of itself, so it is nobody's identity. */
static void
check_variables(const struct conf_at *at, const struct idem_route *r,
    bool content)
{
	size_t i;

	for (i = 0; i < r->scope_variables.len; i++) {
		if (strncmp(r->scope_variables.at[i], "HTTP_", 5) != 0)
			continue;
		if (content)
			conf_lua_wrong(at, "scope", "variables: %.60s is a "
			    "header, which any client can choose; with key = "
			    "content it would show one user's answer to "
			    "another", r->scope_variables.at[i]);
		conf_warn(at->conf, "%s: scope holds %.60s: a header, which "
		    "any client can choose, so it is no identity", at->what,
		    r->scope_variables.at[i]);
	}
}

static void
check_content(const struct conf_at *at, const struct idem_route *r)
{
	if (r->sources_len > 1)
		conf_lua_wrong(at, "key", "content stands alone: every request "
		    "has it, so no other source would count");
	if (!r->user_verified && r->scope_cookies.len == 0 &&
	    r->scope_variables.len == 0)
		conf_lua_wrong(at, "key", "content without an identity: equal "
		    "requests of two users would be one. Say scope = { user = "
		    "\"verified\" }, or name cookies or variables");
	if (conf_lua_has(at, "tombstone"))
		conf_lua_wrong(at, "tombstone", "not with key = content: after "
		    "its window the same request is a new one");
	if (conf_lua_has(at, "keep"))
		conf_lua_wrong(at, "keep", "not with key = content: its window "
		    "is the time");
	if (conf_lua_has(at, "keep_min"))
		conf_lua_wrong(at, "keep_min", "not with key = content: what "
		    "is forgotten within its window would run again");
	if (r->parts == 0)
		conf_lua_wrong(at, "fingerprint", "\"none\" with key = content "
		    "makes all requests one");
	if ((r->parts & IDEM_PART_BODY) == 0)
		conf_warn(at->conf, "%s: the body is not in the fingerprint, "
		    "and key is content: requests that differ only there are "
		    "one", at->what);
}

void
conf_lua_key_check(const struct conf_at *at, const struct idem_route *r)
{
	bool content = idem_route_source(r, IDEM_SOURCE_CONTENT) != NULL;

	check_variables(at, r, content);
	if (content)
		check_content(at, r);
}
