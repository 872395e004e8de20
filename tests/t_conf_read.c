/* SPDX-License-Identifier: ISC */
#include "conf.h"

#include "tap.h"

#include <inttypes.h>
#include <string.h>

/* What a text says is what is read: a part of a description of it all. */
#define P " program = cgi {} }"
#define R "route { path = \"/x\", "

static const struct row {
	const char *what, *text;
	const char *has[4];
} rows[] = {
	{ "nothing said is the defaults", R P, {
	  "listen=- ledger=- create=0 programs=8 workers=0 grace=5000 queue=64 "
	  "stderr=0 cache=67108864/60000 rest=- warnings=0 ",
	  "[/x for POST PATCH key=h:HTTP_IDEMPOTENCY_KEY,"
	  "h:HTTP_X_IDEMPOTENCY_KEY required=0 user=0 guard=11 parts=63 "
	  "unknown=block:3 progress=wait:10000 queue=30000 lease=60000 "
	  "limit=300000 keep=86400000/86400000 tombstone=604800000 body=0 "
	  "kept=16777216 anew=0 exit=0 spool=1 lost=0 probe=-:10000 auto=- "
	  "by-request", "max=60000/300000 keep-max=86400000/86400000 "
	  "reserve=67108864 " } },
	{ "listen", "listen = \"unix:/s\" " R P, { "listen=unix:/s " } },
	{ "a socket as fcgiwrap names it", "listen = \"tcp6:[::1]:9000\" " R P,
	  { "listen=tcp:[::1]:9000 " } },
	{ "the ledger", "ledger = sqlite { path = \"/l\", create = true } " R P,
	  { "ledger=/l create=1 " } },
	{ "numbers", "programs = 1 workers = 2 queue = 0 " R P,
	  { "programs=1 workers=2 ", "queue=0 " } },
	{ "grace, -f", "grace = \"250ms\" stderr_to_front = true " R P,
	  { "grace=250 ", "stderr=1 " } },
	{ "the cache", "local_cache = { size = \"64KiB\", age = \"1s\" } " R P,
	  { "cache=65536/1000 " } },
	{ "no cache", "local_cache = \"none\" " R P, { "cache=0/" } },
	{ "a setting that is nil is not said", "workers = nil " R P,
	  { "workers=0 " } },
	{ "a setting can be read", "queue = 3 programs = queue + 1 " R P,
	  { "programs=4 " } },
	{ "rest alone", "rest = cgi { \"/x.cgi\" }",
	  { "rest=argv:/x.cgi " } },
	{ "two routes keep their own settings [idem:D23]",
	  R "keep = \"1h\", fingerprint = { \"body\" }," P
	  "route { path = \"/y\", keep = \"2h\"," P,
	  { "[/x for POST PATCH key=h:HTTP_IDEMPOTENCY_KEY,"
	  "h:HTTP_X_IDEMPOTENCY_KEY required=0 user=0 guard=11 parts=32 ",
	  "keep=3600000/3600000 ", "[/y ", "keep=7200000/7200000 " } },
	{ "exceptions", R "except = { \"/x/a\", \"/x/b/**\" }," P,
	  { "[/x except /x/a /x/b/** for " } },
	{ "methods", R "methods = \"PUT\"," P, { " for PUT key" } },
	{ "a header as a text", R "key = header \"x-a1\"," P,
	  { "key=h:HTTP_X_A1 " } },
	{ "a borrowed header, since it says so [idem:D8]",
	  R "key = header { \"X-Request-Id\", borrowed = true }," P,
	  { "key=h:HTTP_X_REQUEST_ID " } },
	{ "all sources in a list", R "key = { header { \"A\", \"B\" }, query "
	  "\"q\", cookie \"c\", form \"f\", function() end }," P,
	  { "key=h:HTTP_A,h:HTTP_B,q:q,c:c,f:f,F0 " } },
	{ "a function of each of two routes", R "key = function() end," P
	  R "key = function() end," P, { "key=F0 ", "key=F1 " } },
	{ "content with a verified user [idem:D11]",
	  R "key = content { window = \"10m\" }, scope = { user = \"verified\" "
	  "}," P, { "key=content required", "user=1 ", "keep=600000/600000 ",
	  "anew=1 " } },
	{ "content with a session [idem:D12]",
	  R "key = content { window = \"1s\" }, scope = { cookies = \"sid\" },"
	  P, { "key=content ", "scope-cookies: sid" } },
	{ "the scope",
	  R "scope = { user = \"authenticated\", cookies = { "
	  "\"a\", \"b\" }, variables = \"SSL_CLIENT_S_DN\", "
	  "name = \"orders\" }," P,
	  { "user=0 ", "scope-cookies: a b", "scope-variables: SSL_CLIENT_S_DN",
	  "name=orders " } },
	{ "a header in the scope, with a warning",
	  R "scope = { variables = \"HTTP_X_TENANT\" }," P,
	  { "scope-variables: HTTP_X_TENANT", "warnings=1 ",
	  "HTTP_X_TENANT: a header" } },
	{ "the guard", R "guard = { user = false, cookies = \"sid\", "
	  "variables = { \"HTTP_X_KEY\" } }," P, { "guard=10 ",
	  "guard-cookies: sid", "guard-variables: HTTP_X_KEY" } },
	{ "no guard", R "guard = \"none\"," P, { "guard=00 " } },
	{ "the fingerprint",
	  R "fingerprint = { \"method\", \"path\", \"query\", "
	  "\"content-type\", \"content-encoding\" }," P, { "parts=31 " } },
	{ "no fingerprint, with a warning [idem:D15]",
	  R "fingerprint = \"none\"," P, { "parts=0 ", "warnings=1 ",
	  "a changed request" } },
	{ "required", R "required = true, arbiter = \"ledger\"," P,
	  { "required=1 " } },
	{ "retry", R "on_unknown = retry(5)," P, { "unknown=retry:5 " } },
	{ "block", R "on_unknown = \"block\"," P, { "unknown=block:" } },
	{ "wait with its time", R "in_progress = wait \"3s\"," P,
	  { "progress=wait:3000 " } },
	{ "wait and its time", R "in_progress = \"wait\", wait = \"4s\"," P,
	  { "progress=wait:4000 " } },
	{ "409", R "in_progress = \"409\"," P, { "progress=409:" } },
	{ "202", R "in_progress = \"202\"," P, { "progress=202:" } },
	{ "times", R "lease = \"100ms\", limit = \"15d\", keep = \"3650d\", "
	  "tombstone = \"1ms\", queue_wait = \"5m\"," P,
	  { "lease=100 limit=1296000000 ",
	  "keep=315360000000/315360000000 tombstone=1 ",
	  "queue=300000 ", "max=100/1296000000 " } },
	{ "a lease that is measured begins as any other",
	  R "lease = \"auto\"," P, { "lease=60000 ",
	  "auto=10000-300000+5000 ", "max=300000/300000 " } },
	{ "it begins within its bounds", R "lease = auto { max = \"20s\" }," P,
	  { "lease=20000 ", "auto=10000-20000+5000 ", "max=20000/" } },
	{ "so it does where they are higher", R "lease = auto { retry_delay = "
	  "\"1m\", min = \"2m\", max = \"1h\" }," P, { "lease=120000 ",
	  "auto=120000-3600000+60000 ", "max=3600000/" } },
	{ "a lease shorter than the limit, for it is renewed [idem:A5]",
	  R "lease = \"1s\", limit = \"5s\"," P, { "lease=1000 limit=5000 ",
	  "auto=- ", "warnings=0 " } },
	{ "the tier of what is quick", R "tier = \"quick\"," P,
	  { "lease=30000 limit=30000 ", "auto=10000-30000+5000 ",
	  "max=30000/30000 " } },
	{ "of what asks others", R "tier = \"external\"," P,
	  { "lease=60000 limit=300000 ", "auto=60000-300000+30000 " } },
	{ "and of a batch", R "tier = \"batch\"," P,
	  { "lease=600000 limit=1800000 ", "auto=600000-1800000+60000 ",
	  "max=1800000/1800000 " } },
	{ "what a route says wins over its tier",
	  R "limit = \"1m\", lease = auto { retry_delay = \"1s\" }, tier = "
	  "\"quick\"," P, { "limit=60000 ", "auto=10000-30000+1000 " } },
	{ "a lease of its own too", R "tier = \"batch\", lease = \"9s\"," P,
	  { "lease=9000 limit=1800000 ", "auto=- ", "max=9000/" } },
	{ "a tier, measured as it is", R "tier = \"quick\", lease = \"auto\","
	  P, { "auto=10000-30000+5000 " } },
	{ "a probe", R "on_unknown = \"probe\", probe = \"/p\"," P,
	  { "unknown=probe:3 ", "probe=/p:10000 ", "warnings=0 " } },
	{ "a probe and its limit", R "on_unknown = \"probe\", probe = \"/p\", "
	  "probe_limit = \"1s\"," P, { "probe=/p:1000 " } },
	{ "a probe before an application, with a warning", R "on_unknown = "
	  "\"probe\", probe = \"/p\", program = fastcgi { \"unix:/s\" } }",
	  { "probe=/p:", "warnings=1 ", "probe with fastcgi" } },
	{ "no spool", R "spool = false," P, { "spool=0 lost=0 " } },
	{ "an application has none", R "program = fastcgi \"unix:/s\" }",
	  { "spool=0 " } },
	{ "a signal", R "lost_signal = \"TERM\"," P, { "spool=1 lost=15 " } },
	{ "no signal", R "lost_signal = \"none\"," P, { "lost=0 " } },
	{ "a shorter keep when room is short", R "keep = \"1h\", keep_min = "
	  "\"1m\"," P, { "keep=3600000/60000 ", "keep-max=3600000/60000 " } },
	{ "the least of all routes is the largest", R "keep = \"1h\", keep_min "
	  "= \"1m\"," P "route { path = \"/y\", keep = \"2m\"," P,
	  { "keep=120000/120000 ", "keep-max=3600000/120000 " } },
	{ "a reserve", "reserve = \"1GiB\" " R P, { "reserve=1073741824 " } },
	{ "no reserve", "reserve = false " R P, { "reserve=0 " } },
	{ "nor with a 0", "reserve = \"0\" " R P, { "reserve=0 " } },
	{ "sizes", R "body_max = \"1KiB\", kept_max = \"512MiB\"," P,
	  { "body=1024 kept=536870912 " } },
	{ "keep no bodies", R "kept_max = \"0B\"," P, { "kept=0 " } },
	{ "releases", R "release = { 503, { 500, 599 } }," P,
	  { "release: 503-503 500-599" } },
	{ "retry before an application, with a warning",
	  R "on_unknown = retry(2), program = fastcgi { \"unix:/s\" } }",
	  { "warnings=1 ", "retry with fastcgi" } },
	{ "what sounds like success is released with a warning",
	  R "release = { 302 }," P, { "warnings=1 ", "holds 302" } },
	{ "fields that are not replayed", R "not_replayed = \"X-Trace\"," P,
	  { "not-replayed: X-Trace" } },
	{ "any exit status", R "store_exit = \"any\"," P, { "exit=1 " } },
	{ "a program with arguments",
	  R "program = cgi { \"/p\", \"-a\", \"\" } }", { "argv:/p,-a, " } },
	{ "a program as a text", R "program = cgi \"/p\" }",
	  { "argv:/p " } },
	{ "programs by request", R "program = cgi { root = \"/srv\", allow = { "
	  "\"/srv/a\", \"/srv/b\" }, pass = { \"GIT_*\", \"X\" }, "
	  "environment = \"fcgiwrap\", set = { B = \"2=\", A = \"\" } } }",
	  { "by-request root:/srv allow:/srv/a,/srv/b pass:GIT_*,X "
	  "set:A=,B=2= all " } },
	{ "an application", R "program = fastcgi \"unix:/s\" }",
	  { "fastcgi:unix:/s connections=64 keep=0 connect=1000 first=0 " } },
	{ "an application at several addresses", R "program = fastcgi { "
	  "\"unix:/s\", \"tcp:[::1]:9\", connections = 2, keep = 1, connect = "
	  "\"2s\", first_byte = \"3s\", set = { X = \"y\" } } }",
	  { "fastcgi:unix:/s,tcp:[::1]:9 connections=2 keep=1 connect=2000 "
	  "first=3000 ", "set:X=y " } },
	{ "locals, functions and loops", "local days = 3\n"
	  "for _, name in ipairs { \"a\", \"b\" } do\n"
	  "  route { path = \"/\" .. name, keep = days .. \"d\"," P "\nend",
	  { "[/a ", "keep=259200000", "[/b ", "routes=2 " } },
	{ "a route behind one like it, with a warning", R P "\n" R P,
	  { "warnings=1 ", "route at c:2 is never reached for POST: the route "
	  "at c:1" } },
	{ "one behind an exception, without one",
	  R "except = \"/x\"," P R P, { "warnings=0 " } },
	{ "its place", "\n\n" R P, { "\"route at c:3\"" } },
};

/* --- describing ----------------------------------------------------------- */

static void
words(struct idem_buf *b, const char *name, const struct idem_words *w)
{
	size_t i;

	if (w->len == 0)
		return;
	idem_buf_text(b, name);
	for (i = 0; i < w->len; i++)
		idem_buf_printf(b, " %s", w->at[i]);
}

static void
list(struct idem_buf *b, const char *name, char *const *at)
{
	const char *comma = "";

	if (at == NULL)
		return;
	idem_buf_text(b, name);
	for (; *at != NULL; at++, comma = ",")
		idem_buf_printf(b, "%s%s", comma, *at);
	idem_buf_text(b, " ");
}

static void
sources(struct idem_buf *b, const struct idem_route *r)
{
	static const char *const kinds[] = { "h:", "q:", "c:", "f:", "content",
	    "F" };
	const struct idem_source *s = r->sources;
	size_t i;

	idem_buf_text(b, " key=");
	for (i = 0; i < r->sources_len; i++, s++) {
		idem_buf_printf(b, "%s%s%s", i > 0 ? "," : "", kinds[s->kind],
		    s->name != NULL ? s->name : "");
		if (s->kind == IDEM_SOURCE_FUNCTION)
			idem_buf_printf(b, "%d", s->function);
	}
}

static void
program(struct idem_buf *b, const struct program_rule *p)
{
	switch (p->kind) {
	case PROGRAM_NAMED:
		break;
	case PROGRAM_BY_REQUEST:
		idem_buf_text(b, "by-request ");
		break;
	case PROGRAM_FASTCGI:
		list(b, "fastcgi:", p->backends);
		idem_buf_printf(b, "connections=%u keep=%u connect=%u "
		    "first=%u ", p->backend_connections, p->backend_kept,
		    p->connect_ms, p->first_ms);
		break;
	}
	list(b, "argv:", p->argv);
	if (p->root != NULL)
		idem_buf_printf(b, "root:%s ", p->root);
	list(b, "allow:", p->allowed);
	list(b, "pass:", p->pass);
	list(b, "set:", p->set);
	idem_buf_text(b, p->all_params ? "all " : "");
}

static void
policy(struct idem_buf *b, const struct idem_policy *p)
{
	static const char *const progress[] = { "wait", "409", "202" };
	static const char *const unknown[] = { "block", "retry", "probe" };

	idem_buf_printf(b, "unknown=%s:%u progress=%s:%u queue=%u lease=%u ",
	    unknown[p->on_unknown], p->attempts_max, progress[p->in_progress],
	    p->wait_ms, p->queue_ms, p->lease_ms);
}

static void
crash(struct idem_buf *b, const struct conf_route *c)
{
	idem_buf_printf(b, "spool=%d lost=%d probe=%s:%u ", c->spool,
	    c->lost_signal, c->probe != NULL ? c->probe : "-",
	    c->probe_limit_ms);
	if (c->lease_auto)
		idem_buf_printf(b, "auto=%u-%u+%u ", c->lease_min_ms,
		    c->lease_max_ms, c->retry_ms);
	else
		idem_buf_text(b, "auto=- ");
}

static void
route(struct idem_buf *b, const struct conf_route *c)
{
	const struct idem_route *r = &c->route;
	size_t i;

	idem_buf_printf(b, "\"%s\" [%s", c->text, r->path);
	words(b, " except", &r->except);
	words(b, " for", &r->methods);
	sources(b, r);
	idem_buf_printf(b, " required=%d user=%d guard=%d%d parts=%u ",
	    r->policy.required, r->user_verified, r->guard_authorization,
	    r->guard_user, r->parts);
	policy(b, &r->policy);
	idem_buf_printf(b, "limit=%u keep=%" PRId64 "/%" PRId64 " tombstone=%"
	    PRId64 " body=%" PRIu64 " kept=%zu anew=%d exit=%d ", r->limit_ms,
	    r->times.keep_ms, r->times.keep_min_ms, r->times.tombstone_ms,
	    r->body_max, r->kept_max, r->anew, r->any_exit);
	crash(b, c);
	program(b, &c->program);
	words(b, "scope-cookies:", &r->scope_cookies);
	words(b, " scope-variables:", &r->scope_variables);
	if (r->name != NULL)
		idem_buf_printf(b, " name=%s ", r->name);
	words(b, " guard-cookies:", &r->guard_cookies);
	words(b, " guard-variables:", &r->guard_variables);
	for (i = 0; i < r->released_len; i++)
		idem_buf_printf(b, "%s %d-%d", i == 0 ? " release:" : "",
		    r->released[i].from, r->released[i].to);
	words(b, " not-replayed:", &r->not_replayed);
	idem_buf_text(b, "] ");
}

static void
describe(struct idem_buf *b, const struct conf *c)
{
	size_t i;

	idem_buf_printf(b, "listen=%s ledger=%s create=%d programs=%u "
	    "workers=%u grace=%u queue=%u stderr=%d cache=%" PRIu64 "/%" PRId64
	    " rest=", c->socket != NULL ? c->socket : "-",
	    c->ledger != NULL ? c->ledger : "-", c->create, c->programs,
	    c->workers, c->grace_ms, c->queue, c->stderr_to_front,
	    c->cache_size, c->cache_age_ms);
	if (c->has_rest)
		program(b, &c->rest.program);
	else
		idem_buf_text(b, "- ");
	idem_buf_printf(b, "warnings=%zu ", c->warnings.len);
	words(b, "", &c->warnings);
	for (i = 0; i < c->routes_len; i++)
		route(b, &c->routes[i]);
	idem_buf_printf(b, "max=%u/%u keep-max=%" PRId64 "/%" PRId64
	    " reserve=%" PRIu64 " routes=%zu ", c->lease_max_ms,
	    c->limit_max_ms, c->keep_max_ms, c->keep_min_max_ms, c->reserve,
	    c->routes_len);
}

static void
check(const struct row *r)
{
	struct idem_buf b = { .at = NULL };
	char error[700] = "";
	struct conf *c = conf_read("c", (struct idem_bytes){ r->text,
	    strlen(r->text) }, error, sizeof error);
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

/* What it was made of may go. */
static void
check_text(void)
{
	char text[] = R "name_of_none = nil, " P, error[700];
	struct conf *c = conf_read("c", idem_bytes_text(text), error,
	    sizeof error);

	memset(text, 'x', sizeof text);
	ok(c != NULL && strcmp(c->routes[0].route.path, "/x") == 0,
	    "it borrows nothing from its text");
	conf_drop(conf_hold(c));
	is(c->routes[0].text, "route at c:1",
	    "who holds on to it has it until both have dropped it");
	conf_drop(c);
	conf_drop(NULL);
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		check(&rows[i]);
	check_text();
	return done();
}
