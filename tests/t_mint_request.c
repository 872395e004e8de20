/* SPDX-License-Identifier: ISC */
#include "mint.h"
#include "tap.h"

#include <string.h>

static int64_t boot_ms = 1000;

static int64_t
now_ms(void *arg)
{
	(void)arg;
	return boot_ms;
}

static const struct idem_clock fake = { now_ms, now_ms, NULL };

/* --- which route ---------------------------------------------------------- */

static const char *const put[] = { "PUT" };
static const char *const post_patch[] = { "POST", "PATCH" };

#define TOKENS .policy.arbiter = IDEM_ARBITER_TOKEN
#define ROUTE(PATH, METHODS, ...) { .route = { .path = PATH, \
    .methods = { METHODS, sizeof METHODS / sizeof *METHODS }, __VA_ARGS__ } }

static struct conf_route routes[] = {
	ROUTE("/order", post_patch, TOKENS),
	ROUTE("/shop/special", post_patch, .name = "special"),
	ROUTE("/shop/**", post_patch, TOKENS),
	ROUTE("/shop/**", put, TOKENS),
	ROUTE("/put/*", put, TOKENS),
	ROUTE("/free", post_patch, .name = "free"),
	ROUTE("/shop/never", post_patch, TOKENS),
};
static struct conf_route only[] = {
	ROUTE("/free", post_patch, .name = "free"),
	ROUTE("/form/**", post_patch, TOKENS),
};
static struct conf_route any[] = {
	ROUTE(NULL, post_patch, TOKENS),
};
static struct conf_tokens tokens = { .rate = 1000, .burst = 1000 };

#define CONF(R) { .tokens = &tokens, .routes = R, \
    .routes_len = sizeof R / sizeof *R }
static const struct conf many = CONF(routes), one = CONF(only),
    all = CONF(any), none = { .tokens = &tokens };

static const struct {
	const char *what;
	const struct conf *conf;
	const char *method, *query;
	const char *comes;	/* a problem's type, or the path */
	const struct conf_route *route;
} rows[] = {
	{ "a path has the route that covers it", &many, "POST", "path=/order",
	  "/order", &routes[0] },
	{ "by whichever method", &many, "POST", "path=/put/1", "/put/1",
	  &routes[4] },
	{ "the first of them", &many, "POST", "path=/shop/a", "/shop/a",
	  &routes[2] },
	{ "and the one that a request would come to", &many, "POST",
	  "path=/shop/special", "/shop/special", &routes[3] },
	{ "not one behind others", &many, "POST", "path=/shop/never",
	  "/shop/never", &routes[2] },
	{ "a path is read as in a query", &many, "POST",
	  "a=b&path=%2Fshop%2Fa+b%3Fc&d", "/shop/a b", &routes[2] },
	{ "and then as in a request", &many, "POST",
	  "path=//shop/x/../%2541", "/shop/A", &routes[2] },
	{ "what is behind it is not of it", &many, "POST",
	  "path=/order?a=1#b", "/order", &routes[0] },
	{ "the same path twice is one", &many, "POST",
	  "path=/order&path=%2forder", "/order", &routes[0] },
	{ "two paths are none", &many, "POST", "path=/order&path=/shop/a",
	  "token-path", NULL },
	{ "an empty one is none", &many, "POST", "path=", "token-path", NULL },
	{ "nor is one that does not begin as one", &many, "POST",
	  "path=http://host/order", "token-path", NULL },
	{ "nor one with a NUL", &many, "POST", "path=/order%2500",
	  "token-path", NULL },
	{ "without one it is not clear which of many", &many, "POST", "",
	  "token-path", NULL },
	{ "of one it is", &one, "POST", "", "/form/**", &only[1] },
	{ "also if other things are asked", &one, "POST", "paths=1",
	  "/form/**", &only[1] },
	{ "and if it stands for all paths", &all, "POST", "", "/**", &any[0] },
	{ "which any path is of", &all, "POST", "path=/x", "/x", &any[0] },
	{ "of none there is none", &none, "POST", "", "no-token-route", NULL },
	{ "a route without tokens has none", &many, "POST", "path=/free",
	  "no-token-route", NULL },
	{ "nor has a path without a route", &many, "POST", "path=/orders",
	  "no-token-route", NULL },
	{ "a token is not got", &one, "GET", "", "token-method", NULL },
	{ "nor asked about", &one, "HEAD", "", "token-method", NULL },
	{ "nor put", &one, "post", "", "token-method", NULL },
};

static void
test_rows(void)
{
	struct mint mint = { .clock = &fake };
	struct mint_wanted w;
	enum idem_problem p;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		p = mint_admit(&mint, rows[i].conf, rows[i].method,
		    idem_bytes_text(rows[i].query), &w);
		is(p == IDEM_PROBLEM_NONE ? w.path :
		    idem_problem_form(p)->type, rows[i].comes, "%s",
		    rows[i].what);
		ok(w.route == rows[i].route, "%s: it is that route",
		    rows[i].what);
	}
}

static void
test_long(void)
{
	struct mint mint = { .clock = &fake };
	char query[1100] = "path=/";
	struct mint_wanted w;

	memset(query + 6, 'x', IDEM_FORM_VALUE_MAX - 1);
	ok(mint_admit(&mint, &all, "POST", idem_bytes_text(query), &w) ==
	    IDEM_PROBLEM_NONE && strlen(w.path) == IDEM_FORM_VALUE_MAX,
	    "a path of 1024 bytes is one");
	query[strlen(query)] = 'x';
	is_int(mint_admit(&mint, &all, "POST", idem_bytes_text(query), &w),
	    IDEM_PROBLEM_TOKEN_PATH, "a longer one is none");
}

/* --- how many ------------------------------------------------------------- */

static unsigned
take_all(struct mint_bucket *b, uint32_t rate, uint32_t burst)
{
	unsigned n = 0;

	while (n < 1000 && mint_bucket_take(b, rate, burst, boot_ms))
		n++;
	return n;
}

static void
test_bucket(void)
{
	struct mint_bucket b = { 0 };

	is_int(take_all(&b, 20, 100), 100, "a burst may come at once");
	boot_ms += 49;
	is_int(take_all(&b, 20, 100), 0, "then the rate decides");
	boot_ms += 1;
	is_int(take_all(&b, 20, 100), 1, "20 a second are one in 50 ms");
	boot_ms += 25;
	is_int(take_all(&b, 20, 100), 0, "parts of one");
	boot_ms += 25;
	is_int(take_all(&b, 20, 100), 1, "add up");
	boot_ms += 1000;
	is_int(take_all(&b, 20, 100), 20, "a second has its rate");
	boot_ms += INT64_C(1) << 40;
	is_int(take_all(&b, 20, 100), 100, "a long pause is one burst");
	boot_ms -= 5000;
	is_int(take_all(&b, 20, 100), 0, "a clock that goes back gives none");
	boot_ms += 100;
	is_int(take_all(&b, 20, 100), 2, "and goes on from there");
	boot_ms += 60000;
	ok(mint_bucket_take(&b, 20, 100, boot_ms), "after a pause it is full");
	is_int(take_all(&b, 20, 5), 5, "a smaller burst holds at once");
	boot_ms += 1000;
	is_int(take_all(&b, 1, 5), 1, "so does another rate");
}

static void
test_rate(void)
{
	struct conf_tokens few = { .rate = 1, .burst = 2 };
	const struct conf conf = { .tokens = &few, .routes = only,
	    .routes_len = 2 };
	struct mint mint = { .clock = &fake };
	struct idem_bytes query = { NULL, 0 };
	struct mint_wanted w;

	mint_admit(&mint, &conf, "GET", query, &w);
	mint_admit(&mint, &conf, "POST", idem_bytes_text("path=x"), &w);
	ok(mint_admit(&mint, &conf, "POST", query, &w) == IDEM_PROBLEM_NONE &&
	    mint_admit(&mint, &conf, "POST", query, &w) == IDEM_PROBLEM_NONE,
	    "what is refused for other reasons is not counted");
	is_int(mint_admit(&mint, &conf, "POST", query, &w),
	    IDEM_PROBLEM_TOO_MANY_TOKENS, "over the rate there is none");
	boot_ms += 1000;
	is_int(mint_admit(&mint, &conf, "POST", query, &w), IDEM_PROBLEM_NONE,
	    "within a second there is");
}

/* --- the answer ----------------------------------------------------------- */

static void
test_answer(void)
{
	static const char want[] = "Status: 201 Created\r\n"
	    "Content-Type: application/json\r\n"
	    "Cache-Control: no-store\r\n"
	    "Content-Length: 81\r\n\r\n"
	    "{\"token\":\"AQIBAg\",\"expires\":\"2024-01-01T01:00:00Z\","
	    "\"path\":\"/a \\\"b\\\"\\u000a\xef\xbf\xbd\xc3\xa4\"}\n";
	const struct mint_made made = {
		.text = "AQIBAg",
		.expires_ms = INT64_C(1704070800999)
	};
	const struct mint_wanted w = { .path = "/a \"b\"\n\xff\xc3\xa4" };
	struct idem_buf out = { 0 };

	mint_answer(&out, &made, &w);
	ok(idem_buf_ok(&out), "an answer is written");
	is_bytes(out.at, out.len, want, sizeof want - 1, "as it should be");
	idem_buf_clear(&out);
	out.max = 10;
	mint_answer(&out, &made, &w);
	ok(!idem_buf_ok(&out), "or it says that it is not");
	idem_buf_free(&out);
}

int
main(void)
{
	test_rows();
	test_long();
	test_bucket();
	test_rate();
	test_answer();
	return done();
}
