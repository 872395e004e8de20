/* SPDX-License-Identifier: ISC */
#include "conf.h"

#include "conf_files.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

/* Which configuration may take another's place while keys are live. */
#define P " program = cgi { \"/p\" } }\n"
#define A "route { path = \"/a\", "
#define R A "arbiter = \"redis\", "
#define S "shared = redis { url = \"unix:/r\" }\n"
#define ALL "route { path = \"/**\", "

static const struct row {
	const char *what, *now, *next;
	const char *why;	/* a part of the reason; NULL: it may */
	const char *which;	/* another part; or NULL */
	bool even_so;		/* --accept-rekey does not help */
} rows[] = {
	{ "the same", A P, A P, NULL, NULL, false },
	{ "other times and limits", A P, A "keep = \"1h\", lease = \"1s\", "
	  "required = true, on_unknown = retry(2)," P, NULL, NULL, false },
	{ "another lease, tier and probe", A P, A "tier = \"quick\", lease = "
	  "auto { max = \"1m\" }, on_unknown = \"probe\", probe = \"/q\", "
	  "probe_limit = \"1s\"," P, NULL, NULL, false },
	{ "another spool, signal and least keep", A P, A "spool = false, "
	  "lost_signal = \"TERM\", keep_min = \"1m\"," P, NULL, NULL, false },
	{ "another reserve", A P, "reserve = \"1GiB\"\n" A P,
	  "reserve was 67108864 bytes and is now 1073741824", "restart", true },
	{ "another queue", A P, "queue = 3\n" A P, NULL, NULL, false },
	{ "another cache, a rest", A P, "local_cache = \"none\" rest = cgi {}\n"
	  A P, NULL, NULL, false },
	{ "another socket", "listen = \"/s\"\n" A P, "listen = \"/t\"\n" A P,
	  "listen was /s and is now /t", "restart", true },
	{ "a socket, where one was inherited", A P, "listen = \"/t\"\n" A P,
	  "listen was inherited", "restart", true },
	{ "another ledger", "ledger = sqlite { path = \"/l\" }\n" A P,
	  "ledger = sqlite { path = \"/m\" }\n" A P, "ledger was /l",
	  "restart", true },
	{ "more programs", A P, "programs = 9\n" A P, "programs was 8",
	  "restart", true },
	{ "more workers", A P, "workers = 9\n" A P, "workers was 0",
	  "restart", true },
	{ "another grace", A P, "grace = \"1s\"\n" A P, "grace (ms) was 5000",
	  "restart", true },

	{ "another folder for runs", A P, "run = \"/r\"\n" A P,
	  "run was the ledger's and is now /r", "restart", true },
	{ "another alert", "alert = \"/a\"\n" A P, A P,
	  "alert was /a and is now none", "restart", true },
	{ "a Redis more", A P, S A P, "shared is new", "restart", true },
	{ "a Redis less", S A P, A P, "shared is gone", "restart", true },
	{ "a cache more", A P, "cache = redis { url = \"unix:/r\" }\n" A P,
	  "cache is new", "restart", true },
	{ "a cache that is no longer the shared one", S "cache = shared\n" A P,
	  S "cache = redis { url = \"unix:/c\" }\n" A P,
	  "cache: `url` has changed", "restart", true },
	{ "the same Redis", S R P, S R P, NULL, NULL, false },
	{ "another budget", S R P, "shared = redis { url = \"unix:/r\", budget "
	  "= \"1s\" }\n" R P, NULL, NULL, false },
	{ "another Redis", S R P, "shared = redis { url = \"unix:/q\" }\n" R P,
	  "shared: `url` has changed", "restart", true },
	{ "a Redis that becomes a cluster", "shared = redis { url = \"h:1\" }\n"
	  R P, "shared = redis { cluster = \"h:1\" }\n" R P,
	  "shared: `cluster` has changed", "restart", true },
	{ "a sentinel more", "shared = redis { sentinels = \"a:1\", master = "
	  "\"m\" }\n" R P, "shared = redis { sentinels = { \"a:1\", \"b:1\" "
	  "}, master = \"m\" }\n" R P, "shared: `sentinels` has changed",
	  NULL, true },
	{ "another master", "shared = redis { sentinels = \"a:1\", master = "
	  "\"m\" }\n" R P, "shared = redis { sentinels = \"a:1\", master = "
	  "\"n\" }\n" R P, "shared: `master`", NULL, true },
	{ "another prefix", S R P, "shared = redis { url = \"unix:/r\", prefix "
	  "= \"a:\" }\n" R P, "shared: `prefix`", NULL, true },
	{ "another name", S R P, "shared = redis { url = \"unix:/r\", name = "
	  "\"a\" }\n" R P, "shared: `name`", NULL, true },
	{ "another time-out", S R P, "shared = redis { url = \"unix:/r\", "
	  "timeout = \"1s\" }\n" R P, "shared: `timeout`", NULL, true },
	{ "another password", "shared = redis { url = \"unix:/r\", password = "
	  "\"s3cret\" }\n" R P, "shared = redis { url = \"unix:/r\", password "
	  "= \"t\" }\n" R P, "shared: `password` has changed: that needs a "
	  "restart", NULL, true },

	{ "another arbiter", S A P, S R P, "its arbiter", "--accept-rekey",
	  false },
	{ "another scheme", S R P, S R "scheme = \"setnx\"," P, "its scheme",
	  "run again", false },
	{ "another way through an outage", S R P, S R "on_outage = \"pass\"," P,
	  NULL, NULL, false },
	{ "the ledger as a way through it", S R P, S R
	  "on_outage = \"database\"," P, NULL, NULL, false },
	{ "that ledger no longer", S R "on_outage = \"database\"," P, S R P,
	  "its on_outage", "run again", false },
	{ "a token in forms", S "route { path = \"/a\", arbiter = \"token\", "
	  P, S "route { path = \"/a\", arbiter = \"token\", form_token = "
	  "true," P, "its key", NULL, false },

	{ "another key", A P, A "key = header \"X-K\"," P, "its key",
	  "--accept-rekey", false },
	{ "a further key", A "key = header \"A\"," P,
	  A "key = header { \"A\", \"B\" }," P, "its key", "\"/a\"", false },
	{ "another scope", A P, A "scope = { cookies = \"s\" }," P, "its scope",
	  "route at c:1 (\"/a\")", false },
	{ "another name", A P, A "scope = { name = \"s\" }," P, "its scope",
	  NULL, false },
	{ "a verified user", A P, A "scope = { user = \"verified\" }," P,
	  "its scope", NULL, false },
	{ "another guard", A P, A "guard = \"none\"," P, "its guard", "refused",
	  false },
	{ "another fingerprint", A P, A "fingerprint = { \"body\" }," P,
	  "its fingerprint", NULL, false },
	{ "another program", A P, A "program = cgi { \"/q\" } }", "its program",
	  NULL, false },
	{ "the same with another argument", A P, A "program = cgi { \"/p\", "
	  "\"-x\" } }", NULL, NULL, false },
	{ "another kind of program", A P, A "program = cgi {} }", "its program",
	  NULL, false },
	{ "another address of an application",
	  A "program = fastcgi \"unix:/f\" }", A "program = fastcgi "
	  "\"unix:/g\" }", NULL, NULL, false },
	{ "another function", A "key = function(r) return r.path end," P,
	  A "key = function(r) return r.query end," P, "its key", NULL, false },
	{ "the same function elsewhere, behind another one",
	  A "\nkey = function(r) return r.path end,\n" P,
	  "route { path = \"/b\",\nkey = function(r) return r.query end,\n" P
	  "\n" A "\nkey = function(r) return r.path end,\n" P, NULL, NULL,
	  false },

	{ "a function that uses another text",
	  "local x = 'a'\n" A "key = function(r) return x .. r.path end," P,
	  "local x = 'b'\n" A "key = function(r) return x .. r.path end," P,
	  "its key", NULL, false },
	{ "one that calls another function",
	  "local function f(r) return r.path end\n"
	  A "key = function(r) return f(r) end," P,
	  "local function f(r) return r.query end\n"
	  A "key = function(r) return f(r) end," P, "its key", NULL, false },
	{ "one that calls itself, and uses what it did",
	  "local x, f = 'a'\nf = function(r) return r and x or f(r) end\n"
	  A "key = f," P,
	  "local x, f = 'a'\nf = function(r) return r and x or f(r) end\n"
	  A "keep = '1h', key = f," P, NULL, NULL, false },

	{ "a named route whose program moves", A "scope = { name = \"n\" }," P,
	  A "scope = { name = \"n\" }, program = cgi { \"/q\" } }", NULL, NULL,
	  false },
	{ "a rest that becomes a route", "rest = cgi { \"/p\" }", A P, NULL,
	  NULL, false },
	{ "another window of what is its own key",
	  A "scope = { user = \"verified\" }, key = content { window = \"1m\" "
	  "}," P,
	  A "scope = { user = \"verified\" }, key = content { window = \"9m\" "
	  "}," P, NULL, NULL, false },

	{ "a route less", A P ALL P, ALL P, "(\"/a\") is gone", "route at c:1",
	  false },
	{ "a route more", A P, A P "route { path = \"/b\"," P, NULL, NULL,
	  false },
	{ "other methods", A P, A "methods = { \"POST\" }," P,
	  "lacks a method", NULL, false },
	{ "a method more", A P,
	  A "methods = { \"PUT\", \"PATCH\", \"POST\" }," P, NULL, NULL,
	  false },
	{ "a method more, which was another route's",
	  A P ALL "methods = \"PUT\", fingerprint = { \"body\" }," P,
	  A "methods = { \"POST\", \"PATCH\", \"PUT\" }," P
	  ALL "methods = \"PUT\", fingerprint = { \"body\" }," P,
	  "(\"/a\") takes requests of", "(\"/**\")", false },
	{ "the same methods in another order", A "methods = { \"PUT\", "
	  "\"POST\" }," P, A "methods = { \"POST\", \"PUT\" }," P, NULL, NULL,
	  false },
	{ "another exception", ALL "except = \"/x\"," P, ALL P,
	  "has another except", NULL, false },
	{ "a route in front that takes some of its requests", ALL P,
	  A "fingerprint = { \"body\" }," P ALL P, "(\"/a\") takes requests of",
	  "(\"/**\")", false },
	{ "one in front that makes the same keys", ALL P, A P ALL P, NULL, NULL,
	  false },
	{ "one in front of other methods", ALL P,
	  A "methods = { \"PUT\" }, fingerprint = { \"body\" }," P ALL P, NULL,
	  NULL, false },
	{ "one in front of other paths", "route { path = \"/b/*\"," P,
	  A "fingerprint = { \"body\" }," P "route { path = \"/b/*\"," P, NULL,
	  NULL, false },
	{ "one behind", A P, A P ALL "fingerprint = { \"body\" }," P, NULL,
	  NULL, false },
	{ "two that change places", A "fingerprint = { \"body\" }," P ALL P,
	  ALL P A "fingerprint = { \"body\" }," P,
	  "(\"/**\") takes requests of", "(\"/a\")", false },
	{ "two of one path, by an exception", ALL "except = \"/a\"," P
	  ALL "fingerprint = { \"body\" }," P, ALL "except = \"/a\"," P
	  ALL "fingerprint = { \"body\" }," P, NULL, NULL, false },
	{ "a route that nobody has ever reached",
	  A P A "fingerprint = { \"body\" }," P, A P, NULL, NULL, false },
	{ "no route of the file any more", A P, "rest = cgi {}",
	  "is gone", NULL, false },
};

static struct conf *
made_of(const char *text)
{
	char error[700];
	struct conf *c = conf_read("c", idem_bytes_text(text), error,
	    sizeof error);

	if (c == NULL)
		bail_out("%s: %s", text, error);
	return c;
}

static void
check(const struct row *r)
{
	struct conf *now = made_of(r->now), *next = made_of(r->next);
	char why[700] = "";
	bool may = conf_may_follow(now, next, false, why, sizeof why), good;

	good = r->why == NULL ? may : !may && strstr(why, r->why) != NULL &&
	    (r->which == NULL || strstr(why, r->which) != NULL);
	good = good && strstr(why, "s3cret") == NULL;
	if (!ok(good, "%s: %s", r->why == NULL ? "may follow" : "may not",
	    r->what))
		note("%s", why);
	if (r->why != NULL)
		ok(conf_may_follow(now, next, true, why, sizeof why) !=
		    r->even_so, "with --accept-rekey %s: %s",
		    r->even_so ? "it may not either" : "it may", r->what);
	conf_drop(now);
	conf_drop(next);
}

/* What signs tokens, and how many there are of them. */
static void
check_tokens(void)
{
	static const char route[] = "shared = redis { url = \"unix:/r\" }\n"
	    "route { path = \"/a\", arbiter = \"token\"," P;
	static const char *const tokens[] = {
		"keys = \"@/good\"",
		"keys = \"@/other\"",
		"keys = \"@/good\", life = \"2h\", rate = 1, path = \"/t\"",
		"keys = \"@/good\", path = false"
	};
	struct conf *c[4];
	char text[400], error[700];
	size_t i;

	conf_files_make();
	for (i = 0; i < 4; i++) {
		snprintf(text, sizeof text, "tokens = { %s }\n%s",
		    tokens[i], route);
		c[i] = conf_files_read(text, error, sizeof error);
		if (c[i] == NULL)
			bail_out("%s", error);
	}
	ok(conf_may_follow(c[0], c[1], false, error, sizeof error),
	    "other keys may follow");
	ok(conf_may_follow(c[0], c[2], false, error, sizeof error),
	    "another life, rate and path of tokens may follow");
	ok(conf_may_follow(c[2], c[3], false, error, sizeof error),
	    "an endpoint may go");
	for (i = 0; i < 4; i++)
		conf_drop(c[i]);
	conf_files_remove();
}

int
main(void)
{
	size_t i;

	check_tokens();
	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		check(&rows[i]);
	return done();
}
