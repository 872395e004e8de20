/* SPDX-License-Identifier: ISC */
#include "conf_lua.h"

#include <lua.h>

#include <string.h>

/* --- names ---------------------------------------------------------------- */

const char *
conf_lua_cookie_name(const char *name)
{
	const char *fault = conf_lua_field_name(name);

	return fault != NULL ? "not the name of a cookie" : NULL;
}

const char *
conf_lua_parameter_name(const char *name)
{
	size_t len = strlen(name);

	return len == 0 || len > 255 ? "not a name of 1 to 255 bytes" : NULL;
}

static const char *
variable_name(const char *name)
{
	return conf_is_variable(name) && strlen(name) <= 255 ? NULL :
	    "not a variable's name, such as SSL_CLIENT_S_DN";
}

/* --- whose it is, and what it is ------------------------------------------ */

static void
scope(const struct conf_at *at, struct idem_route *r)
{
	static const char *const known[] = { "user", "cookies", "variables",
	    "name", NULL };
	static const char *const users[] = { "authenticated", "verified",
	    NULL };
	struct conf_at inside;

	if (!conf_lua_has(at, "scope"))
		return;
	inside = conf_lua_inside(at, "scope");
	conf_lua_fields(&inside, known, false);
	r->user_verified = conf_lua_one_of(&inside, "user", users) == 1;
	conf_lua_texts(&inside, "cookies", conf_lua_cookie_name,
	    &r->scope_cookies);
	conf_lua_texts(&inside, "variables", variable_name,
	    &r->scope_variables);
	conf_lua_text(&inside, "name", conf_lua_parameter_name, &r->name);
	lua_pop(at->L, 1);
}

static void
guard(const struct conf_at *at, struct idem_route *r)
{
	static const char *const known[] = { "authorization", "user",
	    "cookies", "variables", NULL };
	static const char *const words[] = { "none", NULL };
	struct conf_at inside;

	if (!conf_lua_has(at, "guard"))
		return;
	if (lua_istable(at->L, -1)) {
		inside = conf_lua_inside(at, "guard");
		conf_lua_fields(&inside, known, false);
		conf_lua_flag(&inside, "authorization",
		    &r->guard_authorization);
		conf_lua_flag(&inside, "user", &r->guard_user);
		conf_lua_texts(&inside, "cookies", conf_lua_cookie_name,
		    &r->guard_cookies);
		conf_lua_texts(&inside, "variables", variable_name,
		    &r->guard_variables);
		lua_pop(at->L, 1);
		return;
	}
	lua_pop(at->L, 1);
	conf_lua_one_of(at, "guard", words);
	r->guard_authorization = r->guard_user = false;
	r->guard_cookies.len = r->guard_variables.len = 0;
}

static unsigned
part(const struct conf_at *at, const char *name)
{
	static const struct { const char *name; unsigned part; } all[] = {
		{ "method", IDEM_PART_METHOD }, { "path", IDEM_PART_PATH },
		{ "query", IDEM_PART_QUERY },
		{ "content-type", IDEM_PART_TYPE },
		{ "content-encoding", IDEM_PART_ENCODING },
		{ "body", IDEM_PART_BODY }
	};
	size_t i;

	for (i = 0; i < sizeof all / sizeof *all; i++)
		if (strcmp(all[i].name, name) == 0)
			return all[i].part;
	conf_lua_wrong(at, "fingerprint", "\"%.40s\" is not \"none\" nor a "
	    "list of \"method\", \"path\", \"query\", \"content-type\", "
	    "\"content-encoding\", \"body\"", name);
}

static void
fingerprint(const struct conf_at *at, struct idem_route *r)
{
	struct idem_words parts = { NULL, 0 };
	size_t i;

	if (!conf_lua_has(at, "fingerprint"))
		return;
	lua_pop(at->L, 1);
	conf_lua_texts(at, "fingerprint", NULL, &parts);
	if (parts.len == 0)
		conf_lua_wrong(at, "fingerprint", "an empty list; say \"none\" "
		    "if the key alone counts");
	r->parts = 0;
	if (parts.len == 1 && strcmp(parts.at[0], "none") == 0) {
		conf_warn(at->conf, "%s: fingerprint is \"none\": a changed "
		    "request with an old key gets the old answer", at->what);
		return;
	}
	for (i = 0; i < parts.len; i++)
		r->parts |= part(at, parts.at[i]);
}

void
conf_lua_identity(const struct conf_at *at, struct idem_route *r)
{
	scope(at, r);
	guard(at, r);
	fingerprint(at, r);
}
