/* SPDX-License-Identifier: ISC */
#include "conf.h"

#include "tap.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ALARM_S 300	/* what is not stopped would run for ever */

/* Keys that a function of the configuration makes. */

static char *params_at[] = {
	(char[]){ "REQUEST_METHOD=POST" }, (char[]){ "QUERY_STRING=a=1&b=2" },
	(char[]){ "HTTP_COOKIE=sid=abc; lang=en" },
	(char[]){ "HTTP_X_ID=first" }, (char[]){ "HTTP_X_ID=second" },
	(char[]){ "EMPTY=" }, NULL
};
static const struct idem_params params = { params_at, 6 };

static const struct row {
	const char *what, *body;
	int answer;
	const char *value;	/* the key; or a part of the error */
} rows[] = {
	{ "a text is the key", "return \"k\"", 1, "k" },
	{ "nil is none", "return nil", 0, NULL },
	{ "nothing is none", "", 0, NULL },
	{ "an empty text is a text", "return \"\"", 1, "" },
	{ "the method", "return r.method", 1, "POST" },
	{ "the path", "return r.path", 1, "/orders/17" },
	{ "the query", "return r.query", 1, "a=1&b=2" },
	{ "a parameter, the first of its name", "return r.params.HTTP_X_ID", 1,
	  "first" },
	{ "an empty parameter", "return r.params.EMPTY", 1, "" },
	{ "a parameter that is not there", "return r.params.NONE", 0, NULL },
	{ "a cookie", "return r.cookie(\"sid\")", 1, "abc" },
	{ "a cookie that is not there", "return r.cookie(\"none\")", 0, NULL },
	{ "a part of the path", "return r.path:match(\"^/orders/(%d+)$\")", 1,
	  "17" },
	{ "several together", "return r.method .. r.cookie(\"lang\")", 1,
	  "POSTen" },
	{ "pairs goes in order",
	  "local s = \"\" for k in pairs { b = 1, a = 2, [2] = 3, "
	  "[1] = 4 } do s = s .. k end return s", 1, "12ab" },
	{ "what it has caught is no error", "pcall(error, \"x\") return \"k\"",
	  1, "k" },
	{ "a number is no key", "return 17", -1, "c: a key's function gave a "
	  "number" },
	{ "an error", "\nerror(\"so not\")", -1, "c:2: so not" },
	{ "a mistake", "\n\nreturn r.none.x", -1,
	  "c:3: a request has no `none`" },
	{ "nothing to be added to", "return \"a\" .. nil", -1,
	  "c:1: attempt to concatenate" },
	{ "for ever", "while true do end", -1, "c:1: it runs too long" },
	{ "for ever, and catching it",
	  "while true do pcall(function() while true do end end) end", -1,
	  "c:1: it runs too long" },
	{ "more than there is", "local s = \"a\" while true do s = s .. s end",
	  -1, "64 MiB" },
	{ "a pattern with too much to try",
	  "return (\"a\"):rep(1000):match(\".-.-.-b\")", -1,
	  "c:1: this pattern" },
	{ "a setting cannot be made", "queue = 1", -1, "c:1: a key's function "
	  "cannot set `queue`" },
	{ "nor a global", "x = 1", -1, "c:1: a key's function cannot set `x`" },
	{ "nor a route", "route { path = \"/y\", program = {} }", -1,
	  "c:1: route: a key's function cannot" },
	{ "nor a word be had", "return header \"A\"", -1,
	  "c:1: header: a key's function cannot" },
	{ "nor read", "return x", -1, "c:1: there is no `x`" },
};

static struct conf *
made_of(const char *function)
{
	char text[1000], error[700] = "";
	struct conf *c;

	snprintf(text, sizeof text, "route { path = \"/**\", key = function(r) "
	    "%s end, program = cgi {} }", function);
	c = conf_read("c", idem_bytes_text(text), error, sizeof error);
	if (c == NULL)
		note("%s", error);
	return c;
}

static int
call(struct conf *c, struct idem_bytes *value, char *error, size_t size)
{
	return conf_call(c, c->routes[0].route.sources[0].function, &params,
	    idem_bytes_text("/orders/17"), value, error, size);
}

static void
check(const struct row *r)
{
	struct conf *c = made_of(r->body);
	struct idem_bytes value = { NULL, 0 };
	char error[700] = "";
	int answer = c != NULL ? call(c, &value, error, sizeof error) : -2;
	bool good = answer == r->answer;

	if (good && answer == 1)
		good = idem_bytes_is(value, r->value);
	if (good && answer == -1)
		good = strstr(error, r->value) != NULL;
	if (!ok(good, "a key's function: %s", r->what))
		note("%d %s", answer, error);
	conf_drop(c);
}

/* Bytes that malloc has given out, of Lua's too. */
static size_t
in_use(void)
{
	return mallinfo2().uordblks;
}

static void
many(struct conf *c, int n)
{
	struct idem_bytes value;
	char error[700];
	int i;

	for (i = 0; i < n; i++)
		call(c, &value, error, sizeof error);
}

static void
check_growth(const char *what, const char *body)
{
	struct conf *c = made_of(body);
	size_t before, after;

	many(c, 2000);
	before = in_use();
	many(c, 20000);
	after = in_use();
	/* Collections come and go: what one of them frees is no growth. */
	if (!ok(after < before + 300000, "20,000 calls later as much memory is "
	    "used: %s", what))
		note("%zu, then %zu", before, after);
	conf_drop(c);
}

/* What one call has spent another has not. */
static void
check_again(void)
{
	struct conf *c = made_of("if r.cookie(\"sid\") == \"abc\" then "
	    "while true do end end return \"k\"");
	struct idem_params none = { params_at + 6, 0 };
	struct idem_bytes value = { NULL, 0 };
	char error[700];

	is_int(call(c, &value, error, sizeof error), -1,
	    "a call that runs for ever is stopped");
	ok(conf_call(c, 0, &none, idem_bytes_text("/x"), &value, error,
	    sizeof error) == 1 && idem_bytes_is(value, "k"),
	    "and the next one is a call like any other");
	conf_drop(c);
}

/* A request that the function has kept says so. */
static void
check_over(void)
{
	static const char text[] = "local old\nroute { path = \"/**\", "
	    "key = function(r) old = old or r return old.params.X end, "
	    "program = cgi {} }";
	char error[700] = "";
	struct conf *c = conf_read("c", idem_bytes_text(text), error,
	    sizeof error);
	struct idem_bytes value;

	ok(c != NULL && call(c, &value, error, sizeof error) == 0 &&
	    call(c, &value, error, sizeof error) == 0,
	    "what a function keeps of a request stays as it was");
	conf_drop(c);
}

int
main(void)
{
	size_t i;

	alarm(ALARM_S);
	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		check(&rows[i]);
	check_again();
	check_over();
	check_growth("a key of each request",
	    "return r.method .. r.path .. r.params.HTTP_X_ID");
	check_growth("errors", "error(\"x\" .. r.path)");
	check_growth("errors that are tables", "error({ r.params })");
	return done();
}
