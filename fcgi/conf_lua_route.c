/* SPDX-License-Identifier: ISC */
#include "conf_lua.h"
#include "options.h"
#include "pattern.h"

#include <lauxlib.h>
#include <lua.h>

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define METHOD_MAX 32u
#define KEPT_MAX (UINT64_C(512) << 20)	/* of a row in the ledger */
#define BODY_MAX (UINT64_C(1) << 40)
#define CODES_MAX 64u

static const char *const fields[] = { "path", "except", "methods", "key",
    "required", "scope", "guard", "fingerprint", "arbiter", "scheme",
    "on_outage", "form_token", "on_unknown", "probe", "probe_limit",
    "in_progress", "wait", "tier", "lease", "limit", "spool", "lost_signal",
    "keep", "keep_min", "tombstone", "queue_wait", "body_max", "kept_max",
    "release", "not_replayed", "store_exit", "program", NULL };

/* --- names ---------------------------------------------------------------- */

static const char *
method(const char *text)
{
	size_t len = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_");

	if (len == 0 || len > METHOD_MAX || text[len] != '\0')
		return "not a method, such as POST (capital letters)";
	return NULL;
}

/* A token (RFC 9110, 5.6.2). */
const char *
conf_lua_field_name(const char *text)
{
	static const char token[] = "!#$%&'*+-.^_`|~0123456789"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	size_t len = strspn(text, token);

	if (len == 0 || len > 255 || text[len] != '\0')
		return "not the name of a header field";
	return NULL;
}

/* --- policy --------------------------------------------------------------- */

static void
in_progress(const struct conf_at *at, struct idem_policy *p)
{
	static const char *const all[] = { "wait", "409", "202", NULL };
	static const enum idem_in_progress as[] = { IDEM_WAITING,
	    IDEM_CONFLICT, IDEM_ACCEPTED };
	struct conf_at list;
	int64_t ms;
	int which;

	if (!conf_lua_has(at, "in_progress"))
		return;
	if (conf_lua_word(at->L, -1) == CONF_WORD_WAIT) {
		if (conf_lua_has(at, "wait"))
			conf_lua_wrong(at, "wait", "its time is said by "
			    "in_progress too; keep one of them");
		list = (struct conf_at){ .L = at->L, .conf = at->conf,
		    .what = "in_progress", .in = at };
		lua_createtable(at->L, 0, 1);
		conf_lua_given(at->L, -2);
		lua_setfield(at->L, -2, "wait");
		list.table = lua_gettop(at->L);
		conf_lua_span(&list, "wait", 1, &p->wait_ms);
		p->in_progress = IDEM_WAITING;
		lua_pop(at->L, 2);
		return;
	}
	if (lua_type(at->L, -1) == LUA_TNUMBER)
		conf_lua_wrong(at, "in_progress", "say it in quotes: \"409\" "
		    "or \"202\"");
	if (lua_type(at->L, -1) == LUA_TSTRING &&
	    options_time(lua_tostring(at->L, -1), CONF_RUN_MAX_MS, &ms))
		conf_lua_wrong(at, "in_progress", "\"%s\": say wait \"%s\"",
		    lua_tostring(at->L, -1), lua_tostring(at->L, -1));
	lua_pop(at->L, 1);
	which = conf_lua_one_of(at, "in_progress", all);
	p->in_progress = as[which];
}

static void
policy(const struct conf_at *at, struct idem_policy *p)
{
	conf_lua_flag(at, "required", &p->required);
	in_progress(at, p);
	conf_lua_span(at, "wait", 1, &p->wait_ms);
	conf_lua_span(at, "queue_wait", 1, &p->queue_ms);
}

/* --- answers -------------------------------------------------------------- */

static int
code(const struct conf_at *at, int index)
{
	lua_Integer n = lua_isinteger(at->L, index) ?
	    lua_tointeger(at->L, index) : 0;

	if (n < 200 || n > 599)
		conf_lua_wrong(at, "release", "not a status from 200 to 599, "
		    "nor { FROM, TO }, such as { 503, { 500, 599 } }");
	return (int)n;
}

static struct idem_codes
codes(const struct conf_at *at)
{
	struct idem_codes c;

	if (!lua_istable(at->L, -1)) {
		c.from = c.to = code(at, -1);
		return c;
	}
	if (lua_rawlen(at->L, -1) != 2)
		conf_lua_wrong(at, "release", "a range has two ends: { 500, "
		    "599 }");
	lua_rawgeti(at->L, -1, 1);
	lua_rawgeti(at->L, -2, 2);
	c.from = code(at, -2);
	c.to = code(at, -1);
	lua_pop(at->L, 2);
	if (c.from > c.to)
		conf_lua_wrong(at, "release", "{ %d, %d }: the smaller one "
		    "comes first", c.from, c.to);
	return c;
}

/* { 400, 499 } is no range, but two statuses, of which nobody sends one. */
static void
check_codes(const struct conf_at *at, const struct idem_codes *all, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (all[i].from < 400)
			conf_warn(at->conf, "%s: release holds %d: an answer "
			    "that sounds like success, and yet it may run "
			    "again", at->what, all[i].from);
		if (i > 0 && all[i].from == all[i].to &&
		    all[i].to % 100 == 99 && all[i - 1].from == all[i - 1].to)
			conf_warn(at->conf, "%s: release holds %d alone; if a "
			    "range is meant, say { { %d, %d } }", at->what,
			    all[i].to, all[i - 1].from, all[i].to);
	}
}

static void
release(const struct conf_at *at, struct idem_route *r)
{
	static const char *const none[] = { NULL };
	struct idem_codes *all;
	struct conf_at list;
	lua_Unsigned len, i;

	if (!conf_lua_has(at, "release"))
		return;
	list = conf_lua_inside(at, "release");
	conf_lua_fields(&list, none, true);
	len = lua_rawlen(at->L, -1);
	if (len > CODES_MAX)
		conf_lua_wrong(at, "release", "more than %u statuses",
		    CODES_MAX);
	all = conf_get(at->conf, (size_t)(len + 1) * sizeof *all);
	if (all == NULL)
		conf_lua_no_memory(at->L);
	for (i = 0; i < len; i++) {
		lua_rawgeti(at->L, list.table, (lua_Integer)i + 1);
		all[i] = codes(at);
		lua_pop(at->L, 1);
	}
	check_codes(at, all, (size_t)len);
	lua_pop(at->L, 1);
	r->released = all;
	r->released_len = (size_t)len;
}

static void
answers(const struct conf_at *at, struct idem_route *r)
{
	static const char *const exits[] = { "zero", "any", NULL };
	uint64_t kept = r->kept_max;

	conf_lua_size(at, "body_max", 1, BODY_MAX, &r->body_max);
	conf_lua_size(at, "kept_max", 0, KEPT_MAX, &kept);
	r->kept_max = (size_t)kept;
	release(at, r);
	conf_lua_texts(at, "not_replayed", conf_lua_field_name,
	    &r->not_replayed);
	r->any_exit = conf_lua_one_of(at, "store_exit", exits) == 1;
}

/* --- the route ------------------------------------------------------------ */

static void
covers(const struct conf_at *at, struct idem_route *r)
{
	size_t i;

	if (conf_lua_has(at, "path")) {
		if (lua_istable(at->L, -1))
			conf_lua_wrong(at, "path", "one pattern; for several "
			    "say for _, p in ipairs { ... } do route { path = "
			    "p, ... } end");
		lua_pop(at->L, 1);
	}
	conf_lua_text(at, "path", idem_pattern_wrong, &r->path);
	if (r->path == NULL)
		conf_lua_wrong(at, NULL, "it has no path; say path = "
		    "\"/cgi-bin/order.cgi\"");
	conf_lua_texts(at, "except", idem_pattern_wrong, &r->except);
	conf_lua_texts(at, "methods", method, &r->methods);
	if (r->methods.len == 0)
		conf_lua_wrong(at, "methods", "an empty list covers nothing");
	conf_lua_doubt_pattern(at, r->path);
	for (i = 0; i < r->except.len; i++)
		conf_lua_doubt_pattern(at, r->except.at[i]);
}

static void
times(const struct conf_at *at, struct idem_route *r)
{
	conf_lua_time(at, "keep", 1, CONF_TIME_MAX_MS, &r->times.keep_ms);
	r->times.keep_min_ms = r->times.keep_ms;
	conf_lua_time(at, "keep_min", 1, CONF_TIME_MAX_MS,
	    &r->times.keep_min_ms);
	if (r->times.keep_min_ms > r->times.keep_ms)
		conf_lua_wrong(at, "keep_min", "it is longer than keep, which "
		    "is shortened to it when room is short");
	conf_lua_time(at, "tombstone", 1, CONF_TIME_MAX_MS,
	    &r->times.tombstone_ms);
}

/* "route at FILE:LINE"; without memory nothing. */
static const char *
name_it(lua_State *L, struct conf *c)
{
	char text[400];

	snprintf(text, sizeof text, "route at %s:%d", conf_lua_of(L)->file,
	    conf_lua_line(L));
	return conf_copy(c, idem_bytes_text(text));
}

static void
read_route(struct conf_at *at, struct conf_route *r)
{
	char what[60];

	conf_route_init(r);
	r->text = name_it(at->L, at->conf);
	if (r->text == NULL)
		conf_lua_no_memory(at->L);
	conf_lua_fields(at, fields, false);
	covers(at, &r->route);
	snprintf(what, sizeof what, "route \"%.40s\"", r->route.path);
	at->what = what;
	conf_lua_arbiter(at, r);
	policy(at, &r->route.policy);
	conf_lua_lease(at, r);
	times(at, &r->route);
	answers(at, &r->route);
	conf_lua_identity(at, &r->route);
	conf_lua_key(at, &r->route);
	conf_lua_key_check(at, &r->route);
	conf_lua_form_token(at, r);
	if (!conf_lua_program(at, "program", &r->program))
		conf_lua_wrong(at, NULL, "it has no program; say program = "
		    "cgi {} (SCRIPT_FILENAME), cgi { \"/path\" } or fastcgi { "
		    "\"unix:/path\" }");
	conf_lua_unknown(at, r);
	at->what = "route";
}

bool
conf_lua_is_field(const char *name)
{
	size_t i;

	for (i = 0; fields[i] != NULL; i++)
		if (strcmp(fields[i], name) == 0)
			return true;
	return false;
}

int
conf_lua_route(lua_State *L)
{
	struct conf_lua *lua = conf_lua_of(L);
	struct conf_at at = { .L = L, .conf = lua->conf, .table = 1,
	    .what = "route" };
	struct conf_route r = { .text = NULL };
	struct conf_route *added;

	if (!lua->box.loading)
		return luaL_error(L, "route: a key's function cannot change "
		    "the configuration");
	if (lua_gettop(L) != 1 || !lua_istable(L, 1) ||
	    conf_lua_word(L, 1) != CONF_WORD_NONE)
		conf_lua_wrong(&at, NULL, "say route { path = ..., program = "
		    "... }");
	read_route(&at, &r);
	assert(lua_gettop(L) == 1);
	conf_lua_doubt_reached(&at, &r);
	added = conf_route_add(lua->conf);
	if (added == NULL)
		conf_lua_no_memory(L);
	*added = r;
	return 0;
}
