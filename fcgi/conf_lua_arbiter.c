/* SPDX-License-Identifier: ISC */
#include "conf_lua.h"

#include <lua.h>

#include <string.h>

#define FORM_TOKEN "idem_token"
#define FORM_TOKEN_MAX 64u

/* --- who permits a start -------------------------------------------------- */

static void
scheme(const struct conf_at *at, struct conf_route *r)
{
	static const char *const all[] = { "script", "setnx", "check", NULL };
	static const enum idem_redis_scheme as[] = { IDEM_SCHEME_SCRIPT,
	    IDEM_SCHEME_SETNX, IDEM_SCHEME_CHECK };
	int which = conf_lua_one_of(at, "scheme", all);

	if (which == -1)
		return;
	if (r->route.policy.arbiter != IDEM_ARBITER_REDIS)
		conf_lua_wrong(at, "scheme", "it is of arbiter = \"redis\" "
		    "only");
	r->scheme = as[which];
}

static void
on_outage(const struct conf_at *at, struct idem_policy *p)
{
	static const char *const all[] = { "reject", "memory", "database",
	    "pass", NULL };
	static const enum idem_on_outage as[] = { IDEM_REJECT, IDEM_TO_MEMORY,
	    IDEM_TO_DATABASE, IDEM_PASS };
	int which = conf_lua_one_of(at, "on_outage", all);

	if (which == -1)
		return;
	switch (p->arbiter) {
	case IDEM_ARBITER_LEDGER:
		conf_lua_wrong(at, "on_outage", "it is of arbiter = \"redis\" "
		    "only: without the ledger nothing is started");
	case IDEM_ARBITER_TOKEN:
		conf_lua_wrong(at, "on_outage", "it is of arbiter = \"redis\" "
		    "only: a token is asked for where it was issued, and "
		    "nowhere else");
	case IDEM_ARBITER_REDIS:
		p->on_outage = as[which];
		break;
	}
}

void
conf_lua_arbiter(const struct conf_at *at, struct conf_route *r)
{
	static const char *const all[] = { "ledger", "redis", "token", NULL };
	static const enum idem_arbiter as[] = { IDEM_ARBITER_LEDGER,
	    IDEM_ARBITER_REDIS, IDEM_ARBITER_TOKEN };
	int which = conf_lua_one_of(at, "arbiter", all);

	if (which != -1)
		r->route.policy.arbiter = as[which];
	scheme(at, r);
	on_outage(at, &r->route.policy);
}

/* --- tokens in forms ------------------------------------------------------ */

/* It stands in a page as it is. */
static const char *
field_name(const char *name)
{
	size_t len = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789_-");

	return len == 0 || len > FORM_TOKEN_MAX || name[len] != '\0' ?
	    "not true, nor a name of 1 to 64 letters, digits, _ and -" : NULL;
}

/* The name; NULL: none is wanted. */
static const char *
form_name(const struct conf_at *at)
{
	const char *name = NULL;

	if (!conf_lua_has(at, "form_token"))
		return NULL;
	if (lua_isboolean(at->L, -1)) {
		if (lua_toboolean(at->L, -1) != 0)
			name = FORM_TOKEN;
		lua_pop(at->L, 1);
		return name;
	}
	lua_pop(at->L, 1);
	conf_lua_text(at, "form_token", field_name, &name);
	return name;
}

/* One more source: the form's field. */
static void
add_source(const struct conf_at *at, struct idem_route *r, const char *name)
{
	const struct idem_source *form =
	    idem_route_source(r, IDEM_SOURCE_FORM);
	struct idem_source *all;

	if (form != NULL && strcmp(form->name, name) == 0)
		return;
	if (form != NULL)
		conf_lua_wrong(at, "form_token", "key names another field of a "
		    "form, \"%.40s\"; say form_token = \"%.40s\"", form->name,
		    form->name);
	all = conf_get(at->conf, (r->sources_len + 1) * sizeof *all);
	if (all == NULL)
		conf_lua_no_memory(at->L);
	memcpy(all, r->sources, r->sources_len * sizeof *all);
	all[r->sources_len] = (struct idem_source){ .kind = IDEM_SOURCE_FORM,
	    .name = name };
	r->sources = all;
	r->sources_len++;
}

void
conf_lua_form_token(const struct conf_at *at, struct conf_route *r)
{
	const char *name = form_name(at);
	bool token = r->route.policy.arbiter == IDEM_ARBITER_TOKEN;

	if (token && idem_route_source(&r->route, IDEM_SOURCE_CONTENT) != NULL)
		conf_lua_wrong(at, "key", "content with arbiter = \"token\": a "
		    "token is issued, not made of the request; let key be a "
		    "header, or say form_token = true");
	if (name == NULL)
		return;
	if (!token)
		conf_lua_wrong(at, "form_token", "it is of arbiter = \"token\" "
		    "only");
	if (!idem_route_covers(&r->route, "POST"))
		conf_lua_wrong(at, "form_token", "forms are sent with POST, "
		    "which methods lacks");
	r->form_token = name;
	add_source(at, &r->route, name);
}
