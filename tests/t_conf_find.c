/* SPDX-License-Identifier: ISC */
#include "conf.h"

#include "tap.h"

#include <string.h>

/* Which route a request has, and what is said about it. */

static const char text[] =
    "route { path = \"/api/**\", except = { \"/api/health\" },\n"
    "  program = cgi \"/api\" }\n"
    "route { path = \"/api/**\", methods = { \"PUT\" }, program = cgi "
    "\"/put\" }\n"
    "route { path = \"/*/order\", methods = { \"POST\" }, scope = { name = "
    "\"o\", cookies = \"sid\", user = \"verified\" }, required = true,\n"
    "  key = { header \"A\", form \"t\" }, release = { 503, { 500, 502 } },\n"
    "  on_unknown = retry(2), in_progress = \"409\", fingerprint = { \"path\","
    " \"body\" }, guard = \"none\", not_replayed = \"X-T\",\n"
    "  keep = \"90s\", body_max = \"1MiB\",\n"
    "  program = fastcgi { \"unix:/f\" } }";
static const char rest[] = "\nrest = cgi { root = \"/srv\" }";

static const struct {
	const char *what, *method, *path;
	enum conf_found found;
	const char *program;	/* argv[0] or the first address; NULL: rest */
} rows[] = {
	{ "the first route of path and method", "POST", "/api/x",
	  CONF_COVERED, "/api" },
	{ "its folder itself", "PATCH", "/api", CONF_COVERED, "/api" },
	{ "a later one, of another method", "PUT", "/api/x", CONF_COVERED,
	  "/put" },
	{ "no route's method: the program of the first with that path", "GET",
	  "/api/x", CONF_EXEMPT, "/api" },
	{ "an exception of the first is the second's", "GET", "/api/health",
	  CONF_EXEMPT, "/put" },
	{ "an exception of the first, covered by the second", "PUT",
	  "/api/health", CONF_COVERED, "/put" },
	{ "a path with a star", "POST", "/x/order", CONF_COVERED, "unix:/f" },
	{ "a star is one segment", "POST", "/x/y/order", CONF_EXEMPT, NULL },
	{ "no route: the rest", "POST", "/", CONF_EXEMPT, NULL },
	{ "methods are case-sensitive", "post", "/api/x", CONF_EXEMPT, "/api" },
};

static const char *
program_of(const struct conf *c, const struct conf_route *r)
{
	if (r == NULL || r == &c->rest)
		return NULL;
	return r->program.kind == PROGRAM_FASTCGI ? r->program.backends[0] :
	    r->program.argv[0];
}

static struct conf *
made_of(const char *a, const char *b)
{
	struct idem_buf all = { .at = NULL };
	char error[700];
	struct conf *c;

	idem_buf_text(&all, a);
	idem_buf_text(&all, b);
	c = conf_read("c", idem_buf_bytes(&all), error, sizeof error);
	if (c == NULL)
		bail_out("%s", error);
	idem_buf_free(&all);
	return c;
}

static void
check_find(const struct conf *c, const struct conf *alone)
{
	const struct conf_route *r;
	const char *program;
	enum conf_found found;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		found = conf_find(c, idem_bytes_text(rows[i].path),
		    rows[i].method, &r);
		program = program_of(c, r);
		ok(found == rows[i].found && (program == NULL ?
		    rows[i].program == NULL : rows[i].program != NULL &&
		    strcmp(program, rows[i].program) == 0), "found: %s",
		    rows[i].what);
	}
	ok(conf_find(alone, idem_bytes_text("/"), "POST", &r) == CONF_NONE,
	    "without a rest there is no program for what no route has");
}

static const struct {
	const char *what, *method, *path;
	enum conf_found found;
	const char *says[6];
} told[] = {
	{ "the route that applies, and those before it", "POST", "/x/order",
	  CONF_COVERED, { "POST /x/order\n",
	  "route at c:1, \"/api/**\" for POST PATCH: is for another path\n",
	  "route at c:3, \"/api/**\" for PUT: is for another path\n",
	  "route at c:4, \"/*/order\" for POST: applies\n",
	  "  key          header HTTP_A, form t; required\n",
	  "  scope        name o, method, user (verified), cookies sid\n" } },
	{ "what it means", "POST", "/x/order", CONF_COVERED, {
	  "  guard        none\n", "  fingerprint  path, body\n",
	  "  in progress  409\n  on unknown   retry, 2 starts in all\n",
	  "lease 1m, limit 5m, keep 90s, tombstone 7d, queue 30s\n",
	  "body_max 1MiB, kept_max 16MiB, release 503 500-502, not replayed "
	  "X-T\n", "  program      fastcgi: unix:/f\n" } },
	{ "an exception and another method", "POST", "/api/health",
	  CONF_EXEMPT, { "\"/api/**\" for POST PATCH: excepts this path\n",
	  "\"/api/**\" for PUT: is for other methods\n",
	  "No route applies: keys are ignored, and the program of route at c:3 "
	  "is run.\n", "cgi: /put\n" } },
	{ "the path as requests have it", "POST", "//api/./x/../y%41?q=1",
	  CONF_COVERED, { "POST /api/yA\n", "applies" } },
	{ "the rest", "POST", "/", CONF_EXEMPT, { "program of rest is run",
	  "below /srv" } },
	{ "a path that holds a NUL", "POST", "/x%00", CONF_NONE,
	  { "400" } },
};

static void
check_explain(const struct conf *c, const struct conf *alone)
{
	struct idem_buf b;
	enum conf_found found;
	size_t i, j, missing;

	for (i = 0; i < sizeof told / sizeof *told; i++) {
		b = (struct idem_buf){ .at = NULL };
		found = conf_explain(c, told[i].method, told[i].path, &b);
		idem_buf_u8(&b, 0);
		for (j = missing = 0; j < 6 && told[i].says[j] != NULL; j++)
			missing += strstr((char *)b.at, told[i].says[j]) ==
			    NULL;
		if (!ok(found == told[i].found && missing == 0, "explained: %s",
		    told[i].what))
			note("%s", (char *)b.at);
		idem_buf_free(&b);
	}
	b = (struct idem_buf){ .at = NULL };
	ok(conf_explain(alone, "POST", "/", &b) == CONF_NONE &&
	    memmem(b.at, b.len, "404", 3) != NULL,
	    "explained: nothing is there");
	idem_buf_free(&b);
}

int
main(void)
{
	struct conf *c = made_of(text, rest), *alone = made_of(text, "");

	check_find(c, alone);
	check_explain(c, alone);
	conf_drop(c);
	conf_drop(alone);
	return done();
}
