/* SPDX-License-Identifier: ISC */
#include "route.h"

#include "tap.h"

#include <string.h>

#define PARAMS_MAX 12
#define WORDS(...) { (const char *const[]){ __VA_ARGS__ }, \
	sizeof (const char *const[]){ __VA_ARGS__ } / sizeof (char *) }

/* A request of "NAME=value"s, up to a NULL. */
struct request {
	char text[PARAMS_MAX][200];
	char *at[PARAMS_MAX + 1];
	struct idem_params params;
};

static const struct idem_params *
request(struct request *r, const char *const *params)
{
	size_t i;

	for (i = 0; i < PARAMS_MAX && params[i] != NULL; i++) {
		if (strlen(params[i]) >= sizeof r->text[i])
			bail_out("a long parameter");
		memcpy(r->text[i], params[i], strlen(params[i]) + 1);
		r->at[i] = r->text[i];
	}
	r->at[i] = NULL;
	r->params = (struct idem_params){ r->at, i };
	return &r->params;
}

/* --- which route ---------------------------------------------------------- */

static const struct {
	const char *method, *path;
	enum idem_route_why why;
	const char *what;
} judged[] = {
	{ "POST", "/api/a", IDEM_ROUTE_APPLIES, "path and method are its" },
	{ "POST", "/apis", IDEM_ROUTE_OTHER_PATH, "another path is not" },
	{ "GET", "/apis", IDEM_ROUTE_OTHER_PATH, "whatever the method" },
	{ "POST", "/api/health", IDEM_ROUTE_EXCEPTED, "nor is an exception" },
	{ "GET", "/api/health", IDEM_ROUTE_EXCEPTED, "of any method" },
	{ "POST", "/api/x/open", IDEM_ROUTE_EXCEPTED, "also the second" },
	{ "GET", "/api/a", IDEM_ROUTE_OTHER_METHOD, "a method may not be" },
	{ "post", "/api/a", IDEM_ROUTE_OTHER_METHOD, "and methods have case" },
	{ "", "/api/a", IDEM_ROUTE_OTHER_METHOD, "and may be missing" },
	{ "PUT", "/api/a", IDEM_ROUTE_APPLIES, "the last one counts too" },
};

static void
test_judge(void)
{
	const struct idem_route route = {
		.path = "/api/**",
		.except = WORDS("/api/health", "/api/*/open"),
		.methods = WORDS("POST", "PUT"),
	};
	size_t i;

	for (i = 0; i < sizeof judged / sizeof *judged; i++)
		is_int(idem_route_judge(&route, idem_bytes_text(judged[i].path),
		    judged[i].method), judged[i].why, "%s", judged[i].what);
	is_int(idem_route_judge(&idem_route_default, idem_bytes_text("*"),
	    "PATCH"), IDEM_ROUTE_APPLIES, "without a path it is every path's");
	ok(!idem_route_covers(&idem_route_default, "PUT"),
	    "by default PUT is not covered");
}

static void
test_releases(void)
{
	static const struct idem_codes codes[] = { { 429, 429 }, { 500, 503 } };
	const struct idem_route route = {
		.released = codes, .released_len = 2
	};
	static const int in[] = { 429, 500, 501, 503 };
	static const int out[] = { 200, 428, 430, 499, 504 };
	size_t i, n = 0;

	for (i = 0; i < sizeof in / sizeof *in; i++)
		n += idem_route_releases(&route, in[i]);
	for (i = 0; i < sizeof out / sizeof *out; i++)
		n += !idem_route_releases(&route, out[i]);
	is_int((long long)n, sizeof in / sizeof *in + sizeof out / sizeof *out,
	    "statuses are released from the first to the last of each range");
	ok(!idem_route_releases(&idem_route_default, 500),
	    "by default none is");
}

static void
test_default(void)
{
	const struct idem_route *d = &idem_route_default;

	ok(memcmp(&d->policy, &idem_policy_default, sizeof d->policy) == 0,
	    "the default's policy is the gate's");
	ok(d->name == NULL && d->path == NULL && d->except.len == 0,
	    "it has no name nor path");
	is(d->sources[0].name, "HTTP_IDEMPOTENCY_KEY", "a key is of one field");
	is(d->sources[1].name, "HTTP_X_IDEMPOTENCY_KEY", "or of the other");
	is_int((long long)d->sources_len, 2, "and of nothing else");
	is_int(d->times.keep_ms, 86400000, "an answer is kept for a day");
	is_int(d->times.keep_min_ms, 86400000, "it is never kept for less");
	is_int(d->times.tombstone_ms, 604800000, "its tombstone for a week");
	ok(idem_route_source(d, IDEM_SOURCE_HEADER) == &d->sources[0],
	    "the first source of a kind is found");
	ok(idem_route_source(d, IDEM_SOURCE_FORM) == NULL,
	    "and none of another");
}

/* --- the scope ------------------------------------------------------------ */

static const struct idem_key key = { .at = "k", .len = 1 };

static struct idem_digest
store_key(const struct idem_route *route, const char *const *params,
    bool *identity)
{
	struct request r;
	struct idem_digest d;

	if (!idem_route_store_key(route, request(&r, params), "/p.cgi", &key,
	    &d, identity))
		bail_out("no store key");
	return d;
}

static bool
is_scope(const struct idem_route *route, const char *const *params,
    const char *route_part, const char *user)
{
	const struct idem_scope scope = {
		.route = idem_bytes_text(route_part),
		.method = idem_bytes_text("POST"),
		.user = idem_bytes_text(user),
	};
	struct idem_digest got, want;
	bool identity;

	got = store_key(route, params, &identity);
	if (!idem_store_key(&scope, &key, &want))
		bail_out("no store key");
	return idem_digest_equal(&got, &want) && identity == (*user != '\0');
}

#define POST "REQUEST_METHOD=POST"

static void
test_scope(void)
{
	static const char *const plain[] = { POST, NULL };
	static const char *const said[] = { POST, "REMOTE_USER=foo",
	    "HTTP_AUTHORIZATION=Basic Zm9vOng=", NULL };
	static const char *const empty[] = { POST, "AUTH_TYPE=",
	    "REMOTE_USER=foo", NULL };
	static const char *const verified[] = { POST, "AUTH_TYPE=Basic",
	    "REMOTE_USER=foo", NULL };
	static const char *const spoofed[] = { POST, "AUTH_TYPE=Basic",
	    "HTTP_REMOTE_USER=bar", "REDIRECT_REMOTE_USER=bar",
	    "REMOTE_USER=foo", NULL };
	static const char *const unnamed[] = { POST, "HTTP_REMOTE_USER=bar",
	    "HTTP_AUTH_TYPE=Basic", "HTTP_X_API_KEY=1", NULL };
	struct idem_route route = idem_route_default;

	ok(is_scope(&route, plain, "/p.cgi", ""),
	    "without a name the scope is of the program's path [idem:D9]");
	ok(is_scope(&route, said, "/p.cgi", ""),
	    "a user that nobody verified is not in it [cgi:C33 C34]");
	ok(is_scope(&route, empty, "/p.cgi", ""),
	    "nor with an empty AUTH_TYPE [cgi:C33 C34]");
	ok(is_scope(&route, verified, "/p.cgi", "foo"),
	    "one that the front has verified is [cgi:C33]");
	ok(is_scope(&route, spoofed, "/p.cgi", "foo"),
	    "whatever header fields say [idem:D20]");
	ok(is_scope(&route, unnamed, "/p.cgi", ""),
	    "which alone are nobody [idem:D20]");
	route.user_verified = true;
	ok(is_scope(&route, said, "/p.cgi", "foo"),
	    "or if the operator says that it is [cgi:C33]");
	ok(is_scope(&route, unnamed, "/p.cgi", ""),
	    "header fields are nobody then too [idem:D20]");
	route.name = "orders";
	ok(is_scope(&route, plain, "orders", ""),
	    "a name takes the program's place");
}

struct named_row {
	struct idem_words cookies, variables;
	const char *params[6];
	bool identity;
};

static const struct named_row named[] = {
	{ { NULL, 0 }, { NULL, 0 }, { POST, NULL }, false },
	{ WORDS("sid"), { NULL, 0 }, { POST, NULL }, false },
	{ WORDS("sid"), { NULL, 0 }, { POST, "HTTP_COOKIE=sid=1", NULL },
	  true },
	{ WORDS("sid"), { NULL, 0 }, { POST, "HTTP_COOKIE=x=1; sid=2", NULL },
	  true },
	{ WORDS("id"), { NULL, 0 }, { POST, "HTTP_COOKIE=sid=1; id=1", NULL },
	  true },
	{ { NULL, 0 }, WORDS("sid"), { POST, "sid=1", NULL }, true },
	{ { NULL, 0 }, WORDS("SSL_CLIENT_S_DN"), { POST, NULL }, false },
	{ { NULL, 0 }, WORDS("SSL_CLIENT_S_DN"),
	  { POST, "SSL_CLIENT_S_DN=CN=a", NULL }, true },
	{ { NULL, 0 }, WORDS("SSL_CLIENT_S_DN"),
	  { POST, "SSL_CLIENT_S_DN=CN=b", NULL }, true },
	{ WORDS("a", "b"), { NULL, 0 }, { POST, "HTTP_COOKIE=a=1", NULL },
	  true },
	{ WORDS("a", "b"), { NULL, 0 }, { POST, "HTTP_COOKIE=b=1", NULL },
	  true },
	{ WORDS("a"), WORDS("b"), { POST, "HTTP_COOKIE=a=1", NULL }, true },
	{ WORDS("a"), WORDS("b"), { POST, "b=1", NULL }, true },
	{ WORDS("sid"), { NULL, 0 }, { POST, "AUTH_TYPE=Basic",
	  "REMOTE_USER=u", NULL }, true },
	{ WORDS("1", "2", "3"), WORDS("4", "5", "6"),
	  { POST, "5=x", NULL }, true },
};

#define NAMED (sizeof named / sizeof *named)

static void
test_named(void)
{
	struct idem_digest seen[NAMED];
	struct idem_route route = idem_route_default;
	size_t i, j, alike = 0, wrong = 0;
	bool identity;

	for (i = 0; i < NAMED; i++) {
		route.scope_cookies = named[i].cookies;
		route.scope_variables = named[i].variables;
		seen[i] = store_key(&route, named[i].params, &identity);
		wrong += identity != named[i].identity;
		for (j = 0; j < i; j++)
			alike += idem_digest_equal(&seen[i], &seen[j]);
	}
	is_int((long long)alike, 0, "no two scopes of named cookies and "
	    "variables share a key [idem:D12]");
	is_int((long long)wrong, 0,
	    "each names somebody if a value is there [idem:D11 D12]");
}

static void
test_cookie_only(void)
{
	static const char *const a[] = { POST, "HTTP_COOKIE=sid=a", NULL };
	static const char *const b[] = { POST, "HTTP_COOKIE=sid=b", NULL };
	static const char *const none[] = { POST, "HTTP_COOKIE=sid=", NULL };
	struct idem_route route = idem_route_default;
	struct idem_digest one, other;
	bool identity;

	one = store_key(&route, a, &identity);
	other = store_key(&route, b, &identity);
	ok(idem_digest_equal(&one, &other) && !identity,
	    "cookies that a route does not name are not in it, and its callers "
	    "are nobody [idem:D11]");
	route.scope_cookies = (struct idem_words)WORDS("sid");
	one = store_key(&route, a, &identity);
	other = store_key(&route, b, &identity);
	ok(!idem_digest_equal(&one, &other) && identity,
	    "where only a session differs that is named, records do "
	    "[idem:D12]");
	one = store_key(&route, none, &identity);
	ok(!identity, "an empty cookie is nobody");
	other = store_key(&route, (const char *const[]){ POST, NULL },
	    &identity);
	ok(idem_digest_equal(&one, &other), "and as none at all");
}

/* --- the guard ------------------------------------------------------------ */

static struct idem_digest
guard(const struct idem_route *route, const char *const *params)
{
	struct request r;
	struct idem_digest d;

	if (!idem_route_guard(route, request(&r, params), &d))
		bail_out("no guard");
	return d;
}

static bool
is_guard(const struct idem_route *route, const char *const *params,
    const struct idem_bytes *parts, size_t n)
{
	struct idem_digest got = guard(route, params), want;

	if (!idem_guard(parts, n, &want))
		bail_out("no guard");
	return idem_digest_equal(&got, &want);
}

static void
test_guard(void)
{
	static const char *const all[] = { POST, "REMOTE_USER=u",
	    "HTTP_AUTHORIZATION=Basic eA==", "HTTP_COOKIE=s=1; t=2", "V=3",
	    NULL };
	const struct idem_bytes parts[] = {
		idem_bytes_text("Basic eA=="), idem_bytes_text("u"),
		idem_bytes_text("cookie"), idem_bytes_text("t"),
		idem_bytes_text("2"), idem_bytes_text("variable"),
		idem_bytes_text("V"), idem_bytes_text("3"),
	};
	struct idem_bytes some[2] = { parts[0], parts[1] };
	struct idem_route route = idem_route_default;

	ok(is_guard(&route, all, parts, 2),
	    "by default Authorization and REMOTE_USER are the guard");
	some[0].len = some[1].len = 0;
	ok(is_guard(&route, (const char *const[]){ POST, NULL }, some, 2),
	    "also empty");
	route.guard_cookies = (struct idem_words)WORDS("t");
	route.guard_variables = (struct idem_words)WORDS("V");
	ok(is_guard(&route, all, parts, 8),
	    "named cookies and variables come behind them");
	route = idem_route_default;
	route.guard_user = false;
	some[0] = parts[0];
	ok(is_guard(&route, all, some, 2), "the user may be left out");
	route.guard_authorization = false;
	some[0].len = 0;
	ok(is_guard(&route, all, some, 2), "and Authorization too");
}

/* --- the fingerprint ------------------------------------------------------ */

static struct idem_digest
fingerprint(const struct idem_route *route, const char *const *params,
    const char *path, const char *body)
{
	struct idem_fingerprint f;
	struct request r;
	struct idem_digest d;

	idem_route_fingerprint(route, request(&r, params),
	    idem_bytes_text(path), &f);
	idem_fingerprint_body(&f, body, strlen(body));
	if (!idem_fingerprint_final(&f, &d))
		bail_out("no fingerprint");
	return d;
}

static const struct {
	const char *what, *cases;
	unsigned part;
	const char *path, *body;
	const char *params[7];
} asked[] = {
	{ "the first", "", 0,
	  "/a", "b",
	  { POST, "SCRIPT_NAME=/a", "QUERY_STRING=q", "CONTENT_TYPE=t",
	    "HTTP_CONTENT_ENCODING=gzip", NULL } },
	{ "another method", "", IDEM_PART_METHOD,
	  "/a", "b",
	  { "REQUEST_METHOD=PATCH", "SCRIPT_NAME=/a", "QUERY_STRING=q",
	    "CONTENT_TYPE=t", "HTTP_CONTENT_ENCODING=gzip", NULL } },
	{ "another request path", "", IDEM_PART_PATH,
	  "/b", "b",
	  { POST, "SCRIPT_NAME=/a", "QUERY_STRING=q", "CONTENT_TYPE=t",
	    "HTTP_CONTENT_ENCODING=gzip", NULL } },
	{ "another SCRIPT_NAME", "", IDEM_PART_PATH,
	  "/a", "b",
	  { POST, "SCRIPT_NAME=/b", "QUERY_STRING=q", "CONTENT_TYPE=t",
	    "HTTP_CONTENT_ENCODING=gzip", NULL } },
	{ "another PATH_INFO", "", IDEM_PART_PATH,
	  "/a", "b",
	  { POST, "SCRIPT_NAME=/a", "PATH_INFO=/", "QUERY_STRING=q",
	    "CONTENT_TYPE=t", "HTTP_CONTENT_ENCODING=gzip", NULL } },
	{ "another query", "", IDEM_PART_QUERY,
	  "/a", "b",
	  { POST, "SCRIPT_NAME=/a", "QUERY_STRING=", "CONTENT_TYPE=t",
	    "HTTP_CONTENT_ENCODING=gzip", NULL } },
	{ "another Content-Type", " [idem:D13]", IDEM_PART_TYPE,
	  "/a", "b",
	  { POST, "SCRIPT_NAME=/a", "QUERY_STRING=q", "CONTENT_TYPE=u",
	    "HTTP_CONTENT_ENCODING=gzip", NULL } },
	{ "another Content-Encoding", " [cgi:C45]", IDEM_PART_ENCODING,
	  "/a", "b",
	  { POST, "SCRIPT_NAME=/a", "QUERY_STRING=q", "CONTENT_TYPE=t", NULL }
	},
	{ "another body", " [idem:D24]", IDEM_PART_BODY,
	  "/a", "c",
	  { POST, "SCRIPT_NAME=/a", "QUERY_STRING=q", "CONTENT_TYPE=t",
	    "HTTP_CONTENT_ENCODING=gzip", NULL } },
};

#define ASKED (sizeof asked / sizeof *asked)

static struct idem_digest
fingerprint_row(const struct idem_route *route, size_t i)
{
	return fingerprint(route, asked[i].params, asked[i].path,
	    asked[i].body);
}

static void
test_fingerprint(void)
{
	struct idem_route route = idem_route_default;
	struct idem_digest first = fingerprint_row(&route, 0), d;
	size_t i;

	for (i = 1; i < ASKED; i++) {
		d = fingerprint_row(&route, i);
		ok(!idem_digest_equal(&first, &d),
		    "with %s it is another request%s", asked[i].what,
		    asked[i].cases);
	}
	for (i = 1; i < ASKED; i++) {
		route.parts = IDEM_PARTS_ALL & ~asked[i].part;
		first = fingerprint_row(&route, 0);
		d = fingerprint_row(&route, i);
		ok(idem_digest_equal(&first, &d),
		    "but not if that does not count: %s", asked[i].what);
	}
	route.parts = 0;
	first = fingerprint_row(&route, 0);
	d = fingerprint(&route, (const char *const[]){ NULL }, "", "");
	ok(idem_digest_equal(&first, &d),
	    "with no part at all every request is the same [idem:D15]");
}

/* --- what a reload may not change ----------------------------------------- */

static struct idem_digest
rekey(const struct idem_route *route)
{
	struct idem_digest d;

	if (!idem_route_rekey(route, &d))
		bail_out("no digest");
	return d;
}

#define OTHERS 15

static size_t
make_others(struct idem_route *r)
{
	static const struct idem_source one[] = {
		{ .kind = IDEM_SOURCE_HEADER, .name = "HTTP_IDEMPOTENCY_KEY" },
	};
	static const struct idem_source query[] = {
		{ .kind = IDEM_SOURCE_QUERY, .name = "HTTP_IDEMPOTENCY_KEY" },
	};
	static const struct idem_source content[] = {
		{ .kind = IDEM_SOURCE_CONTENT }
	};
	static const char *const letters[] = { "a", "b", "a" };
	const struct idem_words ab = { letters, 2 }, ba = { letters + 1, 2 };
	size_t i;

	for (i = 0; i < OTHERS; i++)
		r[i] = idem_route_default;
	r[1].name = "";
	r[2].name = "x";
	r[3].sources = one;
	r[4].sources = query;
	r[5].sources = content;
	r[3].sources_len = r[4].sources_len = r[5].sources_len = 1;
	r[6].user_verified = true;
	r[7].scope_cookies = ab;
	r[8].scope_cookies = ba;
	r[9].scope_variables = ab;
	r[10].guard_authorization = false;
	r[11].guard_user = false;
	r[12].guard_cookies = ab;
	r[13].parts = IDEM_PARTS_ALL & ~(unsigned)IDEM_PART_BODY;
	r[14].policy.arbiter = IDEM_ARBITER_REDIS;
	return OTHERS;
}

static void
test_rekey(void)
{
	static const struct idem_codes codes[] = { { 500, 599 } };
	struct idem_route others[OTHERS], same = idem_route_default;
	struct idem_digest seen[OTHERS], d;
	size_t i, j, n = make_others(others), alike = 0;

	for (i = 0; i < n; i++) {
		seen[i] = rekey(&others[i]);
		for (j = 0; j < i; j++)
			alike += idem_digest_equal(&seen[i], &seen[j]);
	}
	is_int((long long)alike, 0,
	    "sources, scope, guard, parts, arbiter and name each count");
	same.path = "/other";
	same.methods.len = 1;
	same.policy.required = true;
	same.policy.on_unknown = IDEM_RETRY;
	same.times.keep_ms = 1;
	same.limit_ms = 1;
	same.body_max = same.kept_max = 1;
	same.released = codes;
	same.released_len = 1;
	same.anew = same.any_exit = true;
	d = rekey(&same);
	ok(idem_digest_equal(&d, &seen[0]), "and nothing else does");
}

int
main(void)
{
	test_judge();
	test_releases();
	test_default();
	test_scope();
	test_named();
	test_cookie_only();
	test_guard();
	test_fingerprint();
	test_rekey();
	return done();
}
