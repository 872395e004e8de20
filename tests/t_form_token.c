/* SPDX-License-Identifier: ISC */
#include "ask.h"

#include "backend_app.h"
#include "mint.h"
#include "redis_rig.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Tokens in the forms of a program's pages, end to end: from the page to what
 * the program sees of what is submitted.
 */
static const char conf[] =
    "workers = 1\n"
    "run = '%s/run'\n"
    "shared = redis { url = '%s', timeout = '8s', budget = '8s' }\n"
    "tokens = { keys = '%s/keys' }\n"
    "local shop = cgi { '%s/shop' }\n"
    "route { path = '/shop/**', arbiter = 'token', form_token = true,\n"
    "    program = shop }\n"
    "route { path = '/app/**', arbiter = 'token', form_token = 't',\n"
    "    program = fastcgi { 'unix:%s/app' } }\n"
    "rest = shop\n";

/* What it gets is in files then, and its answer comes from one. */
static const char shop[] = "#!/bin/sh\n"
    "echo >>starts\n"
    "cat >body\n"
    "echo \"$CONTENT_LENGTH\" >length\n"
    "cat answer\n";

#define POST(action) "<form method=post action='" action "'>"
#define HTML "Content-Type: text/html\n"
#define URL "application/x-www-form-urlencoded"
#define PARTS "multipart/form-data; boundary=b"
#define DISP "Content-Disposition: form-data; name="
#define TOKEN_LEN 75
#define TOKEN_MS 60000
#define TRIES_MAX 5
#define WITHOUT "without tokens"	/* the log, once for each such page */

struct world {
	struct rig rig;
	struct redis_rig redis;
};

/* The token of the n-th field of that name, or "". */
static const char *
token_in(struct idem_bytes body, const char *name, int n,
    char token[TOKEN_LEN + 1])
{
	char start[80];
	const char *at = body.at, *end = at + body.len, *found = at;

	snprintf(start, sizeof start,
	    "<input type=\"hidden\" name=\"%s\" value=\"", name);
	token[0] = '\0';
	for (; n > 0 && found != NULL; n--) {
		found = memmem(at, (size_t)(end - at), start, strlen(start));
		if (found != NULL)
			at = found + strlen(start);
	}
	if (found != NULL && body.len > 0 && end - at > TOKEN_LEN &&
	    at[TOKEN_LEN] == '"') {
		memcpy(token, at, TOKEN_LEN);
		token[TOKEN_LEN] = '\0';
	}
	return token;
}

/*
 * A store has a second for a token; a form is given without one then, and the
 * log has a line more than before.  So where there are to be some, and Redis is
 * there, all is done once more; a token that is missing without such a line is
 * lost.
 */
static bool
is_late(struct world *w, const struct rig_answer *answer, const char *name,
    int n, int said, int64_t until_ms)
{
	char token[TOKEN_LEN + 1];

	return *token_in(answer->body, name, n, token) == '\0' &&
	    rig_now_ms() < until_ms &&
	    ask_await_logged(&w->rig, WITHOUT, said + 1);
}

static int
said_so_far(struct world *w)
{
	return ask_logged(&w->rig, WITHOUT);
}

static void
get(struct world *w, const char *path, struct rig_answer *answer)
{
	const char *more[] = { "HTTP_HOST=www.example.org", NULL };

	rig_request(&w->rig, &(struct rig_request){ .path = path,
	    .more = more }, answer);
}

/* With tokens of that name, n of them. */
static void
get_form(struct world *w, const char *path, const char *name, int n,
    struct rig_answer *answer)
{
	int64_t until_ms = rig_now_ms() + TOKEN_MS;
	int said = said_so_far(w);

	get(w, path, answer);
	while (is_late(w, answer, name, n, said, until_ms)) {
		rig_answer_free(answer);
		said = said_so_far(w);
		get(w, path, answer);
	}
}

static struct rig_request
submitted(const char *type, const char *body)
{
	return (struct rig_request){
		.method = "POST", .path = "/shop/order", .type = type,
		.body = idem_bytes_text(body)
	};
}

static bool
file_is(struct world *w, const char *name, const char *want, const char *what)
{
	char *text = rig_slurp(&w->rig, name);
	bool right = is(text != NULL ? text : "nothing", want, "%s", what);

	free(text);
	return right;
}

/* --- a page, and what is submitted from it -------------------------------- */

static void
get_token(struct world *w, char token[TOKEN_LEN + 1])
{
	struct rig_answer answer;

	rig_file(&w->rig, "answer", HTML "\n" POST("/shop/order"));
	get_form(w, "/shop/", "idem_token", 1, &answer);
	token_in(answer.body, "idem_token", 1, token);
	rig_answer_free(&answer);
}

#define PAGE POST("order") "%s</form>" POST("/elsewhere") "</form>" \
	POST("//www.example.org/shop/x") "%s</form>"
#define FIELD "<input type=\"hidden\" name=\"idem_token\" value=\"%s\">"

static void
check_page(struct world *w)
{
	char first[TOKEN_LEN + 1], second[TOKEN_LEN + 1], want[1024];
	struct rig_answer answer;

	snprintf(want, sizeof want, HTML "ETag: \"x\"\nContent-Length: %zu\n"
	    "Cache-Control: max-age=60\n\n" PAGE, strlen(PAGE) - 4, "", "");
	rig_file(&w->rig, "answer", want);
	get_form(w, "/shop/", "idem_token", 2, &answer);
	told(&answer, "200", "a page with forms is given");
	token_in(answer.body, "idem_token", 1, first);
	token_in(answer.body, "idem_token", 2, second);
	ok(*first != '\0' && *second != '\0' && strcmp(first, second) != 0,
	    "with a token for each that is sent to a route of tokens");
	snprintf(want, sizeof want, POST("order") FIELD "</form>"
	    POST("/elsewhere") "</form>" POST("//www.example.org/shop/x") FIELD
	    "</form>", first, second);
	is_bytes(answer.body.at, answer.body.len, want, strlen(want),
	    "and all else as it was");
	is(rig_field(&answer, "Cache-Control"), "no-store",
	    "no cache may keep it");
	is(rig_field(&answer, "ETag"), "", "it has no ETag");
	is(rig_field(&answer, "Content-Length"), "", "nor the old length");
	rig_answer_free(&answer);
}

static void
check_submit(struct world *w)
{
	char token[TOKEN_LEN + 1], next[TOKEN_LEN + 1], body[256];
	struct rig_answer answer = { 0 }, again;
	int64_t until_ms = rig_now_ms() + TOKEN_MS;
	struct rig_request request;
	char length[24];
	long before;
	int said;

	do {
		rig_answer_free(&answer);
		get_token(w, token);
		said = said_so_far(w);
		before = rig_lines(&w->rig, "starts", NULL);
		rig_file(&w->rig, "answer", "Status: 201\n" HTML "\nThanks"
		    POST(""));
		snprintf(body, sizeof body, "idem_token=%s&item=tea+%%26",
		    token);
		request = submitted(URL, body);
		rig_request(&w->rig, &request, &answer);
	} while (is_late(w, &answer, "idem_token", 1, said, until_ms));
	told(&answer, "201 stored", "a form is submitted");
	file_is(w, "body", "item=tea+%26",
	    "its program sees it without the token");
	file_is(w, "length", "12\n", "and its length is that");
	ok(*token_in(answer.body, "idem_token", 1, next) != '\0' &&
	    strcmp(next, token) != 0, "the form of its answer has a new one");
	snprintf(length, sizeof length, "%zu", answer.body.len);
	is(rig_field(&answer, "Content-Length"), length,
	    "and it is as long as it says");
	rig_request(&w->rig, &request, &again);
	told(&again, "201 replayed", "a double click on it is one order");
	is_bytes(again.body.at, again.body.len, answer.body.at,
	    answer.body.len, "with the same answer");
	is_int(rig_lines(&w->rig, "starts", NULL), before + 1, "and one start");
	rig_answer_free(&answer);
	rig_answer_free(&again);
}

static void
check_parts(struct world *w)
{
	char token[TOKEN_LEN + 1], body[512];
	struct rig_request request;

	get_token(w, token);
	rig_file(&w->rig, "answer", "Status: 201\n\n");
	snprintf(body, sizeof body, "--b\r\n" DISP "idem_token\r\n\r\n%s\r\n"
	    "--b\r\n" DISP "\"file\"; filename=x\r\n\r\nhello\r\n--b--\r\n",
	    token);
	request = submitted(PARTS, body);
	ask(&w->rig, &request, "201 stored", "a form of parts is one too");
	file_is(w, "body", "--b\r\n" DISP "\"file\"; filename=x\r\n\r\nhello"
	    "\r\n--b--\r\n", "its program sees it without that part");
}

/* A body in a file, with the field behind all else. */
static void
check_large(struct world *w)
{
	char token[TOKEN_LEN + 1], *text = malloc(300000);
	struct rig_request request;
	struct stat st;

	get_token(w, token);
	rig_file(&w->rig, "answer", "Status: 201\n\n");
	if (text == NULL)
		bail_out("no memory");
	memset(text, 'x', 200000);
	snprintf(text + 200000, 1000, "&idem_token=%s", token);
	request = submitted(URL, text);
	ask(&w->rig, &request, "201 stored", "a large form is submitted");
	ok(stat(rig_at(&w->rig, "body"), &st) == 0 && st.st_size == 200000,
	    "and its program sees all but the token");
	free(text);
}

static void
check_foreign(struct world *w)
{
	struct rig_request request = submitted(URL, "idem_token=abc&item=tea");
	long before = rig_lines(&w->rig, "starts", NULL);

	ask(&w->rig, &request, "403 rejected", "a token that is not ours");
	request = submitted(URL, "idem_token=a;b");
	ask(&w->rig, &request, "400 rejected",
	    "and a form that programs read this way and that");
	is_int(rig_lines(&w->rig, "starts", NULL), before, "start nothing");
	request = submitted(URL, "item=tea");
	ask(&w->rig, &request, "201", "a form without one is passed on");
	file_is(w, "body", "item=tea", "as it is");
}

/* --- answers that are left as they are ------------------------------------ */

static const struct {
	const char *what, *path, *answer, *body;
} plain[] = {
	{ "what is no HTML", "/shop/", "Content-Type: text/plain\nETag: x\n\n"
	  POST("/shop/"), POST("/shop/") },
	{ "a page that is packed", "/shop/", HTML "ETag: x\n"
	  "Content-Encoding: br\n\n" POST("/shop/"), POST("/shop/") },
	{ "a part of one", "/shop/", "Status: 206\nETag: x\n" HTML "\n"
	  POST("/shop/"), POST("/shop/") },
	{ "a page of another route", "/", HTML "ETag: x\n\n" POST("/shop/"),
	  POST("/shop/") },
	{ "an answer without body", "/shop/", "Status: 304\nETag: x\n" HTML
	  "\n", "" },
};

static void
check_plain(struct world *w)
{
	struct rig_answer answer;
	size_t i;

	for (i = 0; i < sizeof plain / sizeof *plain; i++) {
		rig_file(&w->rig, "answer", plain[i].answer);
		get(w, plain[i].path, &answer);
		is(rig_field(&answer, "ETag"), "x", "%s keeps its fields",
		    plain[i].what);
		is_bytes(answer.body.at, answer.body.len, plain[i].body,
		    strlen(plain[i].body), "and its body");
		rig_answer_free(&answer);
	}
	ok(ask_await_logged(&w->rig, "Content-Encoding", 1) &&
	    ask_logged(&w->rig, "Content-Encoding") == 1,
	    "of the packed one the log says so");
	rig_file(&w->rig, "answer", HTML "ETag: x\n\n" POST("/shop/"));
	rig_request(&w->rig, &(struct rig_request){ .method = "HEAD",
	    .path = "/shop/" }, &answer);
	is(rig_field(&answer, "ETag"), "x", "the answer to HEAD as well");
	rig_answer_free(&answer);
}

/* --- pages that are long, or cut ------------------------------------------ */

/* 600 KB with four forms; how long it would be without tokens. */
static size_t
long_page(struct world *w)
{
	struct idem_buf page = { 0 };
	size_t len;
	int i;

	idem_buf_text(&page, HTML "\n");
	for (i = 0; i < 40000; i++) {
		if (i % 10000 == 5000)
			idem_buf_text(&page, "</form>" POST("order"));
		idem_buf_text(&page, "some text here\n");
	}
	len = page.len - strlen(HTML "\n");
	idem_buf_u8(&page, '\0');
	rig_file(&w->rig, "answer", (const char *)page.at);
	idem_buf_free(&page);
	return len;
}

static void
has_four(const struct rig_answer *answer, size_t plain_len)
{
	char token[TOKEN_LEN + 1];

	is_int((long long)(answer->body.len - plain_len), 4 * (TOKEN_LEN +
	    (long long)strlen("<input type=\"hidden\" name=\"idem_token\" "
	    "value=\"\">")), "with tokens for its four forms");
	ok(*token_in(answer->body, "idem_token", 4, token) != '\0',
	    "each of which is one");
}

/* As it comes, and collected first: then it waits within a file. */
static void
check_long(struct world *w)
{
	char token[TOKEN_LEN + 1], body[128];
	struct rig_answer answer, again;
	int64_t until_ms = rig_now_ms() + TOKEN_MS;
	struct rig_request request;
	size_t len;
	int said;

	len = long_page(w);
	get_form(w, "/shop/", "idem_token", 4, &answer);
	told(&answer, "200", "a page of 600 KB is given");
	has_four(&answer, len);
	rig_answer_free(&answer);

	do {
		rig_answer_free(&answer);
		get_token(w, token);
		said = said_so_far(w);
		long_page(w);
		snprintf(body, sizeof body, "idem_token=%s", token);
		request = submitted(URL, body);
		rig_request(&w->rig, &request, &answer);
	} while (is_late(w, &answer, "idem_token", 4, said, until_ms));
	told(&answer, "200 stored", "one that answers a submission");
	has_four(&answer, len);
	rig_request(&w->rig, &request, &again);
	is_bytes(again.body.at, again.body.len, answer.body.at,
	    answer.body.len, "is replayed with the same");
	rig_answer_free(&answer);
	rig_answer_free(&again);
}

static void
check_cut(struct world *w)
{
	struct rig_answer answer;

	rig_file(&w->rig, "answer", HTML "Content-Length: 999\n\n"
	    POST("order"));
	get(w, "/shop/", &answer);
	told(&answer, "closed", "a page that is shorter than it says is cut");
	rig_answer_free(&answer);
}

/* --- FastCGI -------------------------------------------------------------- */

static void
play(struct world *w, struct app *app, const char *script)
{
	app_open(app, APP_UNIX, 16);
	unlink(rig_at(&w->rig, "app"));
	if (symlink(app->path, rig_at(&w->rig, "app")) == -1)
		bail_out("no symlink");
	app_play(app, script);
}

#define SLASHES "<form/method='post'/action='/app/x'>"

static void
check_app(struct world *w)
{
	char token[TOKEN_LEN + 1], body[256];
	struct app app = { .pid = -1 };
	int64_t until_ms = rig_now_ms() + TOKEN_MS;
	struct rig_answer answer;
	int said;

	for (;;) {
		said = said_so_far(w);
		play(w, &app, "accept params body STDOUT/1:Content-Type:"
		    "text/html\n\n" SLASHES "tea STDOUT/1 END/1:0.0 left ");
		get(w, "/app/", &answer);
		if (!is_late(w, &answer, "t", 1, said, until_ms))
			break;
		rig_answer_free(&answer);
		app_end(&app);
	}
	told(&answer, "200", "a page of an application is given");
	ok(*token_in(answer.body, "t", 1, token) != '\0' &&
	    memcmp((const char *)answer.body.at + answer.body.len - 3, "tea",
	    3) == 0, "whole, with a token");
	rig_answer_free(&answer);
	app_end(&app);
	play(w, &app, "accept params body STDOUT/1:Status:201\n\n "
	    "STDOUT/1 END/1:0.0 left ");
	snprintf(body, sizeof body, "item=tea&t=%s", token);
	ask(&w->rig, &(struct rig_request){ .method = "POST", .path = "/app/x",
	    .type = URL, .body = idem_bytes_text(body) }, "201 stored",
	    "its form is submitted");
	app_end(&app);
	is_int((long long)app.was.body_len, 8,
	    "and the application sees it without the token");
}

/* --- without a store ------------------------------------------------------ */

static void
check_gone(struct world *w)
{
	struct rig_answer answer;
	long before = rig_lines(&w->rig, "starts", NULL);
	int fd;

	rig_file(&w->rig, "answer", HTML "\n" POST("order") "tea");
	redis_rig_freeze(&w->redis);
	fd = ask_begin(&w->rig, &(struct rig_request){ .path = "/shop/" });
	await_starts(&w->rig, before + 1);
	close(fd);
	get(w, "/shop/", &answer);
	told(&answer, "200", "a page is given although Redis is frozen");
	is_bytes(answer.body.at, answer.body.len, POST("order") "tea",
	    strlen(POST("order") "tea"), "its form then has no token");
	ok(ask_await_logged(&w->rig, WITHOUT, 1),
	    "and the log says so");
	redis_rig_thaw(&w->redis);
	rig_answer_free(&answer);
}

static void
await_token(struct world *w, const char *what)
{
	char token[TOKEN_LEN + 1];

	get_token(w, token);
	ok(*token != '\0', "%s", what);
}

/* At once: another is asked for only where a store was slow. */
static void
get_token_here(struct world *w, char token[TOKEN_LEN + 1])
{
	struct rig_answer answer;
	int64_t took_ms;
	int tries = 0;

	rig_file(&w->rig, "answer", HTML "\n" POST("/shop/order"));
	do {
		get(w, "/shop/", &answer);
		token_in(answer.body, "idem_token", 1, token);
		took_ms = answer.ms;
		rig_answer_free(&answer);
	} while (*token == '\0' && took_ms >= MINT_STORE_MS &&
	    ++tries < TRIES_MAX);
}

/* With a ledger beside it. */
static void
check_ledger(struct world *w)
{
	char token[TOKEN_LEN + 1], body[128];
	struct rig_request request;

	redis_rig_kill(&w->redis);
	get_token_here(w, token);
	ok(*token != '\0', "while Redis is away the ledger gives tokens");
	snprintf(body, sizeof body, "idem_token=%s", token);
	request = submitted(URL, body);
	rig_file(&w->rig, "answer", "Status: 201\n\n");
	ask(&w->rig, &request, "201 stored", "which are good");
	file_is(w, "body", "", "and all that the form had");
	ask(&w->rig, &request, "201 replayed", "once");
}

static void
start(struct world *w, bool ledger)
{
	const char *options[] = { "--config", NULL, NULL };
	const char *folder = w->rig.folder;
	char text[sizeof conf + 5 * RIG_PATH];

	rig_program(&w->rig, "shop", shop);
	rig_file(&w->rig, "keys", "k1 0123456789abcdef0123456789abcdef\n");
	chmod(rig_at(&w->rig, "keys"), 0600);
	snprintf(text, sizeof text, conf, folder, w->redis.url, folder, folder,
	    folder);
	rig_file(&w->rig, "idem.conf", text);
	options[1] = rig_at(&w->rig, "idem.conf");
	w->rig.bare = !ledger;
	ask_start(&w->rig, options);
}

int
main(void)
{
	struct world w = { .redis = { .pid = 0 } };

	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	redis_rig_start(&w.redis, NULL);
	rig_open(&w.rig);
	start(&w, false);
	check_page(&w);
	check_submit(&w);
	check_parts(&w);
	check_large(&w);
	check_foreign(&w);
	check_plain(&w);
	check_long(&w);
	check_cut(&w);
	check_app(&w);
	check_gone(&w);
	await_token(&w, "once it is back, forms have tokens again");
	is_int(rig_stop(&w.rig, 20000), 0, "idemd ends with status 0");
	start(&w, true);
	check_ledger(&w);
	is_int(rig_stop(&w.rig, 20000), 0, "idemd ends with status 0 again");
	rig_end(&w.rig);
	redis_rig_end(&w.redis);
	return done();
}
