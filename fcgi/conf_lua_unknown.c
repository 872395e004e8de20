/* SPDX-License-Identifier: ISC */
#include "conf_lua.h"

#include <lua.h>

#include <stddef.h>
#include <string.h>

/* --- what becomes of its key ---------------------------------------------- */

/* retry(3), on top. */
static void
retry(const struct conf_at *at, struct idem_policy *p)
{
	lua_Integer n;

	conf_lua_given(at->L, -1);
	n = lua_tointeger(at->L, -1);
	if (n < 1 || n > CONF_ATTEMPTS_MAX)
		conf_lua_wrong(at, "on_unknown", "retry(%lld): not a number "
		    "from 1 to %u", (long long)n, CONF_ATTEMPTS_MAX);
	p->on_unknown = IDEM_RETRY;
	p->attempts_max = (uint32_t)n;
	lua_pop(at->L, 1);
}

static void
on_unknown(const struct conf_at *at, struct idem_policy *p)
{
	static const char *const all[] = { "block", "probe", NULL };
	static const enum idem_on_unknown as[] = { IDEM_BLOCK, IDEM_PROBING };
	const char *text;

	if (!conf_lua_has(at, "on_unknown"))
		return;
	text = lua_type(at->L, -1) == LUA_TSTRING ? lua_tostring(at->L, -1) :
	    "";
	if (strncmp(text, "retry", 5) == 0)
		conf_lua_wrong(at, "on_unknown", "say retry(3), without "
		    "quotes");
	if (strncmp(text, "probe:", 6) == 0)
		conf_lua_wrong(at, "on_unknown", "say \"probe\", and probe = "
		    "\"%.100s\"", text + 6);
	if (lua_isfunction(at->L, -1))
		conf_lua_wrong(at, "on_unknown", "a word without its value; "
		    "say retry(3): so many starts in all");
	if (conf_lua_word(at->L, -1) == CONF_WORD_RETRY)
		retry(at, p);
	else
		p->on_unknown = as[conf_lua_one_of(at, "on_unknown", all)];
	lua_pop(at->L, 1);
}

static void
probe(const struct conf_at *at, struct conf_route *r)
{
	static const char *const fields[] = { "probe", "probe_limit" };
	bool asks = r->route.policy.on_unknown == IDEM_PROBING;
	size_t i;

	for (i = 0; i < 2 && !asks; i++)
		if (conf_lua_has(at, fields[i]))
			conf_lua_wrong(at, fields[i], "it is of on_unknown = "
			    "\"probe\" only");
	conf_lua_text(at, "probe", conf_lua_absolute, &r->probe);
	conf_lua_span(at, "probe_limit", 1, &r->probe_limit_ms);
	if (asks && r->probe == NULL)
		conf_lua_wrong(at, "on_unknown", "\"probe\" asks a program, "
		    "and none is named; say probe = \"/path/to/program\"");
}

/*
 * Nothing that we can do ends an application's run for sure, nor shows that it
 * has ended.
 */
static void
doubt(const struct conf_at *at, const struct conf_route *r)
{
	static const struct { const char *what, *when; } all[] = {
		[IDEM_RETRY] = { "retry", "the next start comes" },
		[IDEM_PROBING] = { "probe", "the probe looks" }
	};
	enum idem_on_unknown how = r->route.policy.on_unknown;

	if (r->program.kind == PROGRAM_FASTCGI && how != IDEM_BLOCK)
		conf_warn(at->conf, "%s: %s with fastcgi: after a limit or a "
		    "death of ours the application may still be at work when "
		    "%s", at->what, all[how].what, all[how].when);
}

/* --- what is done while it runs ------------------------------------------- */

static void
lost_signal(const struct conf_at *at, struct conf_route *r)
{
	int which = conf_lua_one_of(at, "lost_signal", conf_signal_names);

	if (which != -1)
		r->lost_signal = conf_signals[which];
}

static void
of_cgi_only(const struct conf_at *at, const char *field, const char *why)
{
	if (conf_lua_has(at, field))
		conf_lua_wrong(at, field, "not with fastcgi: %s", why);
}

void
conf_lua_unknown(const struct conf_at *at, struct conf_route *r)
{
	on_unknown(at, &r->route.policy);
	probe(at, r);
	if (r->program.kind == PROGRAM_FASTCGI) {
		of_cgi_only(at, "spool", "what an application writes comes "
		    "over a connection, which ends with its worker");
		of_cgi_only(at, "lost_signal", "an application is no process "
		    "of ours");
		r->spool = false;
	}
	conf_lua_flag(at, "spool", &r->spool);
	lost_signal(at, r);
	doubt(at, r);
}
