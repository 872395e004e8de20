/* SPDX-License-Identifier: ISC */
#include "conf_private.h"

#include <inttypes.h>

/* Who permits a start, with what it asks, and what that is worth. */

static void
say_secret(struct idem_buf *b, const struct conf_redis *r)
{
	if (r->client.user != NULL)
		idem_buf_printf(b, ", user %s", r->client.user);
	if (r->password_file != NULL)
		idem_buf_printf(b, ", password of %s", r->password_file);
	else if (r->secret_said)
		idem_buf_text(b, ", with a password");
}

static void
say_server(struct idem_buf *b, const char *name, const struct conf_redis *r)
{
	conf_say_line(b, name);
	idem_buf_printf(b, "%s, prefix %s", r->where, r->prefix);
	say_secret(b, r);
	idem_buf_text(b, ", timeout ");
	conf_say_time(b, r->client.timeout_ms);
	idem_buf_text(b, ", probe ");
	conf_say_time(b, r->client.probe_ms);
}

static void
say_shared(struct idem_buf *b, const struct conf_redis *r, bool token)
{
	if (r == NULL)
		return;
	say_server(b, "shared", r);
	idem_buf_text(b, ", budget ");
	conf_say_time(b, r->budget_ms);
	if (token)
		idem_buf_printf(b, ", name %s", r->name);
	idem_buf_text(b, "\n");
}

static void
say_cache(struct idem_buf *b, const struct conf_redis *r)
{
	if (r == NULL)
		return;
	say_server(b, "cache", r);
	idem_buf_text(b, ", look ");
	conf_say_time(b, r->look_ms);
	idem_buf_text(b, ", answer_max ");
	conf_say_size(b, r->answer_max);
	idem_buf_text(b, "\n");
}

static void
say_tokens(struct idem_buf *b, const struct conf_tokens *t)
{
	if (t == NULL)
		return;
	conf_say_line(b, "tokens");
	if (t->path != NULL)
		idem_buf_printf(b, "POST %s, %" PRIu32 " a second, %" PRIu32
		    " at once", t->path, t->rate, t->burst);
	else
		idem_buf_text(b, "no endpoint");
	idem_buf_printf(b, ", %zu key%s of %s, life ", t->keys.len,
	    t->keys.len == 1 ? "" : "s", t->keys_file);
	conf_say_time(b, t->life_ms);
	idem_buf_text(b, "\n");
}

void
conf_say_arbiter(struct idem_buf *b, const struct conf *c,
    const struct conf_route *r)
{
	struct conf_promise p;

	conf_promises(c, r, &p);
	conf_say_line(b, "arbiter");
	idem_buf_text(b, p.arbiter);
	if (p.scheme != NULL)
		idem_buf_printf(b, ", scheme %s, on outage %s", p.scheme,
		    p.on_outage);
	idem_buf_text(b, "\n");
	conf_say_line(b, "promises");
	idem_buf_printf(b, "%s\n", p.sentence);
	if (r->route.policy.arbiter == IDEM_ARBITER_LEDGER) {
		say_cache(b, c->cache);
		return;
	}
	say_shared(b, c->shared, r->route.policy.arbiter ==
	    IDEM_ARBITER_TOKEN);
	if (r->route.policy.arbiter == IDEM_ARBITER_TOKEN)
		say_tokens(b, c->tokens);
	if (r->form_token != NULL) {
		conf_say_line(b, "form token");
		idem_buf_printf(b, "%s\n", r->form_token);
	}
}
