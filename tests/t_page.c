/* SPDX-License-Identifier: ISC */
#include "page.h"

#include "tap.h"

#include <stdio.h>
#include <string.h>

/* --- heads ---------------------------------------------------------------- */

#define HTML "Content-Type: text/html\n"

static const struct {
	const char *what, *head;
	enum page_kind kind;
} heads[] = {
	{ "an answer without type is no page", "Status: 200\n\n", PAGE_NOT },
	{ "HTML is one", HTML "\n", PAGE_HTML },
	{ "in any case", "content-type:TEXT/HTML;charset=utf-8\n\n",
	  PAGE_HTML },
	{ "of any status", "Status: 404 Not Found\n" HTML "\n", PAGE_HTML },
	{ "XHTML is one too", "Content-Type: application/xhtml+xml\n\n",
	  PAGE_XML },
	{ "plain text is none", "Content-Type: text/plain\n\n", PAGE_NOT },
	{ "nor what has two types", HTML "Content-Type: text/plain\n\n",
	  PAGE_NOT },
	{ "in either order", "Content-Type: text/plain\n" HTML "\n",
	  PAGE_NOT },
	{ "nor a part", "Status: 206 Partial Content\n" HTML "\n", PAGE_NOT },
	{ "nor what says that it is one", HTML
	  "Content-Range: bytes 0-1/2\n\n", PAGE_NOT },
	{ "what is packed cannot be read", HTML "Content-Encoding: gzip\n\n",
	  PAGE_ENCODED },
	{ "in another type it does not matter", "Content-Type: text/css\n"
	  "Content-Encoding: gzip\n\n", PAGE_NOT },
	{ "identity is no coding", HTML "Content-Encoding: Identity\n\n",
	  PAGE_HTML },
	{ "nor an empty one", HTML "Content-Encoding: \n\n", PAGE_HTML },
};

static void
parse(struct idem_head *h, const char *text)
{
	if (idem_head_parse(h, idem_bytes_text(text), true) != IDEM_HEAD_WHOLE)
		bail_out("a head of this test is broken: %s", text);
}

static void
test_heads(void)
{
	static const char said[] = "Status: 201 Created\n" HTML
	    "Set-Cookie: a\nCONTENT-LENGTH: 7\nETag: \"x\"\nLast-Modified: x\n"
	    "Accept-Ranges: bytes\nContent-MD5: x\nDigest: x\n"
	    "Content-Digest: x\nRepr-Digest: x\nCache-Control: max-age=60\n"
	    "Cache-Control: public\nExpires: x\nSurrogate-Control: x\n"
	    "CDN-Cache-Control: x\nX-Accel-Expires: 9\nETags: x\nPragma: x\n"
	    "Set-Cookie:b \n\n";
	static const char left[] = "Content-Type: text/html\r\n"
	    "Set-Cookie: a\r\nETags: x\r\nPragma: x\r\nSet-Cookie:b \r\n"
	    "Cache-Control: no-store\r\n";
	struct idem_head h = { 0 };
	size_t i;

	for (i = 0; i < sizeof heads / sizeof *heads; i++) {
		parse(&h, heads[i].head);
		ok(page_kind(&h) == heads[i].kind, "%s", heads[i].what);
	}
	parse(&h, said);
	page_head(&h);
	is_bytes(h.lines.at, h.lines.len, left, sizeof left - 1,
	    "fields of its bytes and of caches go, and it is no-store");
	ok(h.has_length && h.length == 7 && h.code == 201,
	    "the program's own length is still known");
	idem_head_free(&h);
}

/* --- pages ---------------------------------------------------------------- */

static const char *const post[] = { "POST" };
static struct conf_route routes[] = {
	{ .route = { .path = "/buy/**", .methods = { post, 1 } },
	  .form_token = "idem_token" },
	{ .route = { .path = "/pay", .methods = { post, 1 } },
	  .form_token = "t" },
	{ .route = { .path = "/find", .methods = { post, 1 } } },
};

#define POST(action) "<form method=post action='" action "'>"
#define FIELD(name, n) \
	"<input type=\"hidden\" name=\"" name "\" value=\"T" n "\">"
#define BUY(n) FIELD("idem_token", n)
#define PAY(n) FIELD("t", n)

/* Of a page at /buy/page; its tokens are T1, T2, ... */
static const struct row {
	const char *what, *page, *out;
	int tokens;
} rows[] = {
	{ "a page without forms stays", "<p>x</p>", "<p>x</p>", 0 },
	{ "a form gets a field", "<p>" POST("/buy/x") "<input></form>",
	  "<p>" POST("/buy/x") BUY("1") "<input></form>", 1 },
	{ "named as its route says", POST("../pay"), POST("../pay") PAY("1"),
	  1 },
	{ "each gets its own", POST("x") "</form>" POST("/pay") "</form>"
	  POST(""), POST("x") BUY("1") "</form>" POST("/pay") PAY("2")
	  "</form>" POST("") BUY("3"), 3 },
	{ "one to a route without tokens gets none", POST("/find"),
	  POST("/find"), 0 },
	{ "nor one to no route", POST("/sell"), POST("/sell"), 0 },
	{ "nor one to another host", POST("//other/buy/x"),
	  POST("//other/buy/x"), 0 },
	{ "but one to this", POST("http://host/buy/x"),
	  POST("http://host/buy/x") BUY("1"), 1 },
	{ "nor one by get", "<form action=/buy/x>", "<form action=/buy/x>",
	  0 },
	{ "nor one in a script", "<script>" POST("/buy/x") "</script>",
	  "<script>" POST("/buy/x") "</script>", 0 },
	{ "a base leads elsewhere", "<base href=/>" POST("pay") "</form>"
	  POST("x"), "<base href=/>" POST("pay") PAY("1") "</form>" POST("x"),
	  1 },
};

/* Who gives tokens: at once, or when the page has come so far. */
enum when { AT_ONCE, AFTER_ADD, AT_END, NEVER };

struct giver {
	enum when when;
	struct page *page;
	struct idem_buf out;
	const struct conf_route *route;
	int asked;
};

static void
give(struct giver *g)
{
	char text[16];

	snprintf(text, sizeof text, "T%d", g->asked);
	page_token(g->page, g->when == NEVER ? NULL : text);
}

static void
pass(void *arg, struct idem_bytes bytes)
{
	struct giver *g = arg;

	idem_buf_append(&g->out, bytes.at, bytes.len);
}

static void
need(void *arg, const struct conf_route *route)
{
	struct giver *g = arg;

	g->asked++;
	g->route = route;
	if (g->when == AT_ONCE || g->when == NEVER)
		give(g);
}

static const struct page_user user = { .pass = pass, .need = need };

static struct page *
page_of(struct conf *conf, enum page_kind kind, struct giver *g)
{
	const struct page_place place = {
		.conf = conf,
		.target = idem_bytes_text("/buy/page?x=/y"),
		.host = idem_bytes_text("host"),
		.kind = kind
	};

	g->page = page_new(&place, &user, g);
	if (g->page == NULL)
		bail_out("no memory");
	g->asked = 0;
	idem_buf_clear(&g->out);
	return g->page;
}

static void
read_page(struct conf *conf, const char *text, size_t piece, struct giver *g)
{
	struct page *p = page_of(conf, PAGE_HTML, g);
	size_t i, len, all = strlen(text);

	for (i = 0; i < all; i += len) {
		len = piece < all - i ? piece : all - i;
		page_add(p, (struct idem_bytes){ text + i, len });
		while (g->when == AFTER_ADD && page_waits(p))
			give(g);
	}
	while (page_waits(p))
		give(g);
	if (page_failed(p))
		bail_out("no memory");
	page_free(p);
}

static void
test_rows(struct conf *conf)
{
	struct giver g = { .when = AT_ONCE };
	const struct row *r;
	size_t piece, differ = 0;

	for (r = rows; r < rows + sizeof rows / sizeof *rows; r++) {
		g.when = AT_ONCE;
		read_page(conf, r->page, SIZE_MAX, &g);
		is_bytes(g.out.at, g.out.len, r->out, strlen(r->out), "%s",
		    r->what);
		is_int(g.asked, r->tokens, "and so many tokens are asked for");
		for (piece = 1; piece <= strlen(r->page); piece++)
			for (g.when = AT_ONCE; g.when <= AT_END; g.when++) {
				read_page(conf, r->page, piece, &g);
				differ += !idem_bytes_is(idem_buf_bytes(
				    &g.out), r->out) || g.asked != r->tokens;
			}
		g.when = NEVER;
		read_page(conf, r->page, 3, &g);
		ok(idem_bytes_is(idem_buf_bytes(&g.out), r->page) &&
		    g.asked <= 1, "without tokens it stays as it was");
	}
	is_int((long long)differ, 0, "in pieces of every size, whenever the "
	    "tokens come, each page is the same");
	idem_buf_free(&g.out);
}

static void
test_waiting(struct conf *conf)
{
	struct giver g = { .when = AFTER_ADD };
	struct page *p = page_of(conf, PAGE_HTML, &g);
	char more[65536];
	int i;

	memset(more, 'x', sizeof more);
	ok(!page_waits(p), "a new page waits for nothing");
	page_add(p, idem_bytes_text("a" POST("/pay") "b"));
	ok(page_waits(p) && g.route == &routes[1],
	    "at a form it waits for a token of that form's route");
	ok(idem_bytes_is(idem_buf_bytes(&g.out), "a" POST("/pay")),
	    "what is before it has passed");
	page_add(p, idem_bytes_text("c"));
	page_token(p, "T1");
	ok(idem_bytes_is(idem_buf_bytes(&g.out), "a" POST("/pay") PAY("1")
	    "bc"), "and the rest passes behind the token");
	page_add(p, idem_bytes_text("</form>" POST("/pay")));
	for (i = 0; i < 16; i++)
		page_add(p, (struct idem_bytes){ more, sizeof more });
	ok(page_waits(p) && !page_failed(p), "a megabyte may come meanwhile");
	page_add(p, (struct idem_bytes){ more, 1 });
	ok(page_failed(p), "but no more");
	page_free(p);
	page_of(conf, PAGE_HTML, &g);
	page_add(g.page, idem_bytes_text(POST("/pay")));
	page_free(g.page);
	page_free(NULL);
	idem_buf_free(&g.out);
}

#define LAST PAY("256") "</form>" POST("/pay") "</form>" POST("/pay") "</form>"

static void
test_many(struct conf *conf)
{
	struct giver g = { .when = AT_ONCE };
	struct idem_buf page = { 0 };
	int i;

	for (i = 0; i < 258; i++)
		idem_buf_text(&page, POST("/pay") "</form>");
	idem_buf_u8(&page, '\0');
	read_page(conf, (const char *)page.at, SIZE_MAX, &g);
	is_int(g.asked, PAGE_FORMS_MAX, "of 258 forms 256 get tokens");
	ok(g.out.len > strlen(LAST) && memcmp(g.out.at + g.out.len -
	    strlen(LAST), LAST, strlen(LAST)) == 0,
	    "and the others stay as they were");
	g.when = NEVER;
	read_page(conf, (const char *)page.at, SIZE_MAX, &g);
	is_int(g.asked, 1, "after a first refusal no second is asked for");
	idem_buf_free(&page);
	idem_buf_free(&g.out);
}

static void
test_xml(struct conf *conf)
{
	static const char page[] = "<script src='x'/><form method='post' "
	    "action='/pay'>";
	struct giver g = { .when = AT_ONCE };

	page_of(conf, PAGE_XML, &g);
	page_add(g.page, idem_bytes_text(page));
	ok(g.out.len > sizeof page && memcmp(g.out.at + g.out.len - 3, "\"/>",
	    3) == 0, "in XML the field is closed");
	page_free(g.page);
	idem_buf_free(&g.out);
}

int
main(void)
{
	struct conf *conf = conf_new();

	if (conf == NULL)
		bail_out("no memory");
	conf->routes = routes;
	conf->routes_len = sizeof routes / sizeof *routes;
	test_heads();
	test_rows(conf);
	test_waiting(conf);
	test_many(conf);
	test_xml(conf);
	conf_drop(conf);
	return done();
}
