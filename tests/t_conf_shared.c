/* SPDX-License-Identifier: ISC */
#include "conf.h"

#include "conf_files.h"
#include "tap.h"

#include <inttypes.h>
#include <string.h>

/*
 * What redis {}, tokens and the arbiter of routes say is what is read: a part
 * of a description of it all.  @ is a folder of files.
 */
#define P " program = cgi {} }"
#define R "route { path = \"/x\", "
#define S "shared = redis { url = \"unix:/r\" } "
#define T "tokens = { keys = \"@/good\" } "

static const struct row {
	const char *what, *text;
	const char *has[4];
} rows[] = {
	{ "nothing said is none of it", R P, { "shared=- cache=- run=- alert=- "
	  "tokens=- ", "[ledger scheme=0 outage=0 look=00 claim=2000 call=1000 "
	  "form=- key=2] ", "keep=86400000 warnings=0 " } },
	{ "a Redis with its defaults", S R P, { "shared=single unix:/r "
	  "(unix:/r) prefix=idem: name=idem:/0 250/10000/300/50/1048576 said=0 "
	  } },
	{ "one at an address", "shared = redis { url = \"localhost:6380\" } "
	  R P, { "(redis://localhost:6380) ", "warnings=0 " } },
	{ "one of IPv6 with a database and a password",
	  "shared = redis { url = \"redis://u:s3cret@[::1]/3\" } " R P,
	  { "(redis://[::1]:6379/3) prefix=idem: name=idem:/3 ", "said=1 " } },
	{ "one by TLS", "shared = redis { url = \"rediss://far\", ca = "
	  "\"@/good\", certificate = \"@/good\", private_key = \"@/good\", "
	  "server_name = \"n\" } " R P, { "(rediss://far:6379) ", "tls=1111 ",
	  "warnings=0 " } },
	{ "one far away in the clear, with a warning",
	  "shared = redis { url = \"redis://:s3cret@far\" } " R P,
	  { "warnings=1 redis at far: ", "rediss://HOST:PORT" } },
	{ "the same twice, with one warning",
	  "shared = redis { url = \"redis://far\" } cache = shared " R P,
	  { "warnings=1 redis at far: " } },
	{ "a user and a password", "shared = redis { url = \"unix:/r\", user = "
	  "\"u\", password = \"s3cret\" } " R P,
	  { "user=u password=s3cret ", "said=1 " } },
	{ "a password of a file", "shared = redis { url = \"unix:/r\", user = "
	  "\"u\", password_file = \"@/password\" } " R P,
	  { "user=u password=s3cret ", "said=0 ", "warnings=0 " } },
	{ "one that others may read, with a warning", "shared = redis { url = "
	  "\"unix:/r\", password_file = \"@/shown\" } " R P,
	  { "password=s3cret ", "warnings=1 ", "/shown holds a password" } },
	{ "sentinels", "shared = redis { sentinels = { \"127.0.0.1:1\", "
	  "\"[::1]:2\" }, master = \"m\", sentinel_user = \"u\", "
	  "sentinel_password = \"s3cret\" } " R P,
	  { "shared=sentinel 127.0.0.1:1 [::1]:2 (master m of "
	  "redis://127.0.0.1:1, redis://[::1]:2) ", "sentinel=u,s3cret ",
	  "said=1 " } },
	{ "a cluster", "shared = redis { cluster = { \"rediss://a:1\", "
	  "\"rediss://b:2\" }, user = \"u\", password = \"p\" } " R P,
	  { "shared=cluster rediss://a:1 rediss://b:2 (cluster of "
	  "rediss://a:1, rediss://b:2) ", "user=u password=p " } },
	{ "times, sizes and names", "shared = redis { url = \"unix:/r\", "
	  "timeout = \"1s\", probe = \"2s\", budget = \"3s\", look = \"4ms\", "
	  "answer_max = \"5KiB\", prefix = \"a:\", name = \"n\" } " R P,
	  { "prefix=a: name=n 1000/2000/3000/4/5120 " } },
	{ "a cache that is the shared one", S "cache = shared " R P,
	  { "cache=shared ", "look=10 " } },
	{ "the same, said first", "cache = redis { url = \"unix:/r\" } "
	  "shared = cache " R P, { "cache=shared " } },
	{ "one of another Redis", S "cache = redis { url = \"unix:/c\" } " R P,
	  { "cache=single unix:/c ", "look=10 " } },
	{ "one of the same, but otherwise", S "cache = redis { url = "
	  "\"unix:/r\", prefix = \"c:\" } " R P, { "cache=single unix:/r ",
	  "prefix=c: " } },
	{ "the folder of runs, and whom to tell",
	  "run = \"/run/idem\" alert = \"/a\" " R P,
	  { "run=/run/idem alert=/a " } },
	{ "tokens with their defaults", T R P,
	  { "tokens=/.idem/token keys=2 3600000/20/100 " } },
	{ "tokens as they are said", "tokens = { keys = \"@/good\", path = "
	  "\"/t/..x/new\", life = \"5m\", rate = 1, burst = 2 } " R P,
	  { "tokens=/t/..x/new keys=2 300000/1/2 " } },
	{ "tokens without an endpoint", "tokens = { keys = \"@/good\", path = "
	  "false } " R P, { "tokens=none keys=2 " } },

	/* --- routes --- */
	{ "the ledger by name", R "arbiter = \"ledger\"," P, { "[ledger " } },
	{ "redis", S R "arbiter = \"redis\"," P, { "[redis scheme=0 outage=0 "
	  "look=00 claim=300 call=250 " } },
	{ "redis behind its route", R "arbiter = \"redis\"," P S,
	  { "[redis scheme=0 outage=0 look=00 claim=300 call=250 " } },
	{ "no call is longer than the budget", "shared = redis { url = "
	  "\"unix:/r\", budget = \"100ms\" } " R "arbiter = \"redis\"," P,
	  { "claim=100 call=100 " } },
	{ "a cache is not asked for what is no ledger's",
	  S "cache = shared " R "arbiter = \"redis\"," P, { "look=00 " } },
	{ "a scheme", S R "arbiter = \"redis\", scheme = \"setnx\"," P,
	  { "[redis scheme=1 " } },
	{ "another", S R "arbiter = \"redis\", scheme = \"check\"," P,
	  { "[redis scheme=2 " } },
	{ "the usual one by name", S R "arbiter = \"redis\", scheme = "
	  "\"script\"," P, { "[redis scheme=0 " } },
	{ "an outage: memory", S R "arbiter = \"redis\", on_outage = "
	  "\"memory\"," P, { "outage=1 look=00 " } },
	{ "an outage: the database, which is looked into first", S R
	  "arbiter = \"redis\", on_outage = \"database\"," P,
	  { "outage=2 look=01 " } },
	{ "an outage: pass", S R "arbiter = \"redis\", on_outage = \"pass\"," P,
	  { "outage=3 look=00 " } },
	{ "an outage: reject", S R "arbiter = \"redis\", on_outage = "
	  "\"reject\"," P, { "outage=0 look=00 " } },
	{ "tokens", S T R "arbiter = \"token\"," P,
	  { "[token scheme=0 outage=0 look=00 claim=300 call=250 form=- "
	    "key=2] " } },
	{ "a form's token", S T R "arbiter = \"token\", form_token = true," P,
	  { "form=idem_token key=2+idem_token] " } },
	{ "a form's token by name", S T R "arbiter = \"token\", key = header "
	  "\"A\", form_token = \"t\"," P, { "form=t key=1+t] " } },
	{ "one that the key names already", S T R "arbiter = \"token\", key = "
	  "form \"t\", form_token = \"t\"," P, { "form=t key=0+t] " } },
	{ "none", S T R "arbiter = \"token\", form_token = false," P,
	  { "form=- key=2] " } },
	{ "the longest keep", R "keep = \"1h\"," P "route { path = \"/y\", "
	  "keep = \"2h\"," P "route { path = \"/z\", keep = \"1m\"," P,
	  { "keep=7200000 " } },
};

/* --- describing ----------------------------------------------------------- */

static const char *
or_none(const char *text)
{
	return text != NULL ? text : "-";
}

static void
describe_redis(struct idem_buf *b, const char *name,
    const struct conf_redis *r)
{
	static const char *const kinds[] = { "single", "sentinel", "cluster" };
	size_t i;

	if (r == NULL) {
		idem_buf_printf(b, "%s=- ", name);
		return;
	}
	idem_buf_printf(b, "%s=%s ", name, kinds[r->client.topology]);
	for (i = 0; i < r->client.urls_len; i++)
		idem_buf_printf(b, "%s ", r->client.urls[i]);
	idem_buf_printf(b, "(%s) prefix=%s name=%s %u/%u/%u/%u/%" PRIu64
	    " said=%d user=%s password=%s sentinel=%s,%s tls=%d%d%d%d ",
	    r->where, r->prefix, r->name, r->client.timeout_ms,
	    r->client.probe_ms, r->budget_ms, r->look_ms, r->answer_max,
	    r->secret_said, or_none(r->client.user),
	    or_none(r->client.password), or_none(r->client.sentinel_user),
	    or_none(r->client.sentinel_password), r->client.ca != NULL,
	    r->client.certificate != NULL, r->client.private_key != NULL,
	    r->client.server_name != NULL);
}

static void
describe_tokens(struct idem_buf *b, const struct conf_tokens *t)
{
	if (t == NULL)
		idem_buf_text(b, "tokens=- ");
	else
		idem_buf_printf(b, "tokens=%s keys=%zu %" PRId64 "/%u/%u ",
		    t->path != NULL ? t->path : "none", t->keys.len,
		    t->life_ms, t->rate, t->burst);
}

static void
describe_route(struct idem_buf *b, const struct conf_route *r)
{
	static const char *const arbiters[] = { "ledger", "token", "redis" };
	const struct idem_policy *p = &r->route.policy;
	size_t i, others = 0;

	for (i = 0; i < r->route.sources_len; i++)
		others += r->route.sources[i].kind != IDEM_SOURCE_FORM;
	idem_buf_printf(b, "[%s scheme=%d outage=%d look=%d%d claim=%u call=%u "
	    "form=%s key=%zu", arbiters[p->arbiter], (int)r->scheme,
	    (int)p->on_outage, p->look_redis, p->look_fallback, p->claim_ms,
	    r->route.times.call_ms, or_none(r->form_token), others);
	if (others < r->route.sources_len)
		idem_buf_printf(b, "+%s", r->route.sources[others].name);
	idem_buf_text(b, "] ");
}

static void
describe(struct idem_buf *b, const struct conf *c)
{
	size_t i;

	describe_redis(b, "shared", c->shared);
	if (c->cache != NULL && c->cache == c->shared)
		idem_buf_text(b, "cache=shared ");
	else
		describe_redis(b, "cache", c->cache);
	idem_buf_printf(b, "run=%s alert=%s ", or_none(c->run),
	    or_none(c->alert));
	describe_tokens(b, c->tokens);
	for (i = 0; i < c->routes_len; i++)
		describe_route(b, &c->routes[i]);
	idem_buf_printf(b, "keep=%" PRId64 " warnings=%zu ", c->keep_max_ms,
	    c->warnings.len);
	for (i = 0; i < c->warnings.len; i++)
		idem_buf_printf(b, "%s ", c->warnings.at[i]);
}

static void
check(const struct row *r)
{
	struct idem_buf b = { .at = NULL };
	char error[900] = "";
	struct conf *c = conf_files_read(r->text, error, sizeof error);
	size_t i, missing = 0;

	if (c != NULL)
		describe(&b, c);
	idem_buf_u8(&b, 0);
	for (i = 0; i < 4 && r->has[i] != NULL; i++)
		missing += strstr((char *)b.at, r->has[i]) == NULL;
	if (!ok(c != NULL && missing == 0, "read as said: %s", r->what))
		note("%s", c != NULL ? (char *)b.at : error);
	idem_buf_free(&b);
	conf_drop(c);
}

int
main(void)
{
	size_t i;

	conf_files_make();
	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		check(&rows[i]);
	conf_files_remove();
	return done();
}
