/* SPDX-License-Identifier: ISC */
#include "cgi_rig.h"
#include "tap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* idem-cgi: how it is called, what it runs, and what it refuses. */

#define SAY "#!/bin/sh\n" \
    "printf 'Content-Type: text/plain\\n\\n'\n" \
    "echo \"cwd=$(pwd)\"; for a; do echo \"arg=$a\"; done\n" \
    "env | LC_ALL=C sort | grep -v '^_='\n"

static bool
says(const struct rig_answer *answer, const char *line)
{
	struct idem_bytes body = answer->body;
	size_t len = strlen(line);
	const char *at = body.at, *end = at + body.len, *next;

	for (; at < end; at = next + 1) {
		next = memchr(at, '\n', (size_t)(end - at));
		if (next == NULL)
			next = end;
		if ((size_t)(next - at) == len && memcmp(at, line, len) == 0)
			return true;
	}
	return false;
}

static bool
body_has(const struct rig_answer *answer, const char *text)
{
	return answer->body.len > 0 && memmem(answer->body.at,
	    answer->body.len, text, strlen(text)) != NULL;
}

static bool
err_has(const struct rig_answer *answer, const char *text)
{
	return answer->err.len > 0 &&
	    memmem(answer->err.at, answer->err.len, text, strlen(text)) != NULL;
}

static void
make_ledger(struct rig *rig)
{
	struct cgi_ask ask = { .program = "order", .key = "made" };
	char config[RIG_PATH + 128], variable[RIG_PATH + 32];
	struct rig_answer answer;

	snprintf(config, sizeof config, "ledger = sqlite { path = \"%s\", "
	    "create = true }\nroute { path = \"/**\", program = cgi {} }\n",
	    rig->ledger);
	rig_file(rig, "create.conf", config);
	snprintf(variable, sizeof variable, "IDEM_CONFIG=%s",
	    rig_at(rig, "create.conf"));
	ask.env = (const char *const[]){ "IDEM_LEDGER", variable, NULL };
	cgi_ask(rig, &ask, &answer);
	is(rig_field(&answer, "Idempotency-Status"), "stored",
	    "the file of IDEM_CONFIG has the ledger made");
	is_int(answer.app_status, 0, "and the exit status is 0");
	rig_answer_free(&answer);
}

/* --- the three ways ------------------------------------------------------- */

static const struct {
	const char *what;
	enum cgi_way way;
	const char *interpreter;
} ways[] = {
	{ "as a handler", CGI_HANDLER, NULL },
	{ "as an action", CGI_ACTION, NULL },
	{ "in a first line", CGI_SHEBANG, "/bin/sh" },
};

#define WAYS (sizeof ways / sizeof *ways)

static void
test_once(struct rig *rig, size_t i)
{
	char key[16];
	struct cgi_ask ask = {
		.way = ways[i].way, .interpreter = ways[i].interpreter,
		.program = "say", .key = key, .query = "a=b",
		.info = "/x y/z", .type = "text/plain",
		.body = idem_bytes_text("tea")
	};
	struct rig_answer first, second, other;

	snprintf(key, sizeof key, "once-%zu", i);
	cgi_ask(rig, &ask, &first);
	cgi_ask(rig, &ask, &second);
	is(rig_field(&first, "Idempotency-Status"), "stored",
	    "%s: the first answer is stored", ways[i].what);
	is(rig_field(&second, "Idempotency-Status"), "replayed",
	    "%s: the second is replayed", ways[i].what);
	is_bytes(second.body.at, second.body.len, first.body.at,
	    first.body.len, "%s: byte for byte", ways[i].what);
	ask.body = idem_bytes_text("coffee");
	cgi_ask(rig, &ask, &other);
	is_int(other.status, 422, "%s: another body is refused", ways[i].what);
	rig_answer_free(&first);
	rig_answer_free(&second);
	rig_answer_free(&other);
}

/* The same answer with a key and without, but for what is said of the key. */
static void
test_given(struct rig *rig, size_t i, const char *key)
{
	static const char *const env[] = {
		"HTTP_PROXY=http://evil/", "HTTP_X_RUN=() { :;}; echo",
		"PERL5LIB=/srv/lib", "ORDERS=here", NULL
	};
	struct cgi_ask ask = {
		.way = ways[i].way, .interpreter = ways[i].interpreter,
		.program = "say", .key = key, .info = "/a/b",
		.env = env, .body = idem_bytes_text("tea")
	};
	const char *how = key != NULL ? "with a key" : "without";
	char line[RIG_PATH + 64];
	struct rig_answer a;

	cgi_ask(rig, &ask, &a);
	snprintf(line, sizeof line, "cwd=%s", rig->folder);
	ok(says(&a, line), "%s, %s: it runs in its folder [R24]",
	    ways[i].what, how);
	snprintf(line, sizeof line, "SCRIPT_FILENAME=%s/say", rig->folder);
	ok(says(&a, "SCRIPT_NAME=/say") && says(&a, "PATH_INFO=/a/b") &&
	    says(&a, line), "%s, %s: it has its own names [R6]", ways[i].what,
	    how);
	snprintf(line, sizeof line, "PATH_TRANSLATED=%s/a/b", rig->folder);
	ok(says(&a, line), "%s, %s: and PATH_TRANSLATED [R6]",
	    ways[i].what, how);
	ok(says(&a, "ORDERS=here") && says(&a, "PERL5LIB=/srv/lib") &&
	    says(&a, "PATH=/usr/bin:/bin") && says(&a, "CONTENT_LENGTH=3"),
	    "%s, %s: it has what the web server sets", ways[i].what, how);
	if (key != NULL)
		ok(!says(&a, env[0]) && !says(&a, env[1]) &&
		    !body_has(&a, "IDEM_") && body_has(&a, "IDEMPOTENCY_KEY="),
		    "%s, %s: nothing that a client could slip in",
		    ways[i].what, how);
	if (!ok(a.app_status == 0 && a.status == 200, "%s, %s: it is answered",
	    ways[i].what, how))
		note("%.*s", (int)a.err.len, (const char *)a.err.at);
	rig_answer_free(&a);
}

static void
test_interpreter(struct rig *rig)
{
	struct cgi_ask ask = {
		.way = CGI_SHEBANG, .program = "args",
		.interpreter = "/bin/sh \t-eu ", .key = "args"
	};
	struct rig_answer a;

	rig_program(rig, "args", "#!/usr/bin/idem-cgi /bin/sh -eu\n"
	    "printf 'Status: 200\\n\\n%s %s %s\\n' \"$-\" \"$#\" \"$0\"\n");
	cgi_ask(rig, &ask, &a);
	ok(a.status == 200 &&
	    (body_has(&a, "eu 0 /") || body_has(&a, "ue 0 /")),
	    "an interpreter has its argument and the program's path");
	rig_answer_free(&a);
}

/* --- without a key -------------------------------------------------------- */

static void
test_in_place(struct rig *rig)
{
	struct cgi_ask ask = { .program = "nph-raw", .method = "GET" };
	struct cgi_call call;
	struct rig_answer a;
	char raw[64];

	rig_program(rig, "nph-raw", "#!/bin/sh\n"
	    "printf 'HTTP/1.1 299 Odd\\r\\n\\r\\n%s %s' $$ \"$*\"\n"
	    "echo oops >&2\nexit 7\n");
	ask.args = (const char *const[]){ rig_at(rig, "nph-raw"), "one", "two",
	    NULL };
	cgi_begin(rig, &ask, &call);
	snprintf(raw, sizeof raw, "HTTP/1.1 299 Odd\r\n\r\n%d one two",
	    (int)call.pid);
	cgi_finish(&call, &a);
	is_bytes(a.out.at, a.out.len, raw, strlen(raw),
	    "without a key it becomes the program, with its arguments "
	    "[R12 R13]");
	is_int(a.app_status, 7, "and its exit status is the program's");
	is_bytes(a.err.at, a.err.len, "oops\n", 5, "and its standard error");
	rig_answer_free(&a);

	ask = (struct cgi_ask){ .program = "order", .method = "GET",
	    .key = "g" };
	cgi_ask(rig, &ask, &a);
	is(rig_field(&a, "Idempotency-Status"), "",
	    "a key of a method that is not covered changes nothing");
	rig_answer_free(&a);
}

/* Idemd, or another idem-cgi, has begun it for a key. */
static void
test_inside(struct rig *rig)
{
	struct cgi_ask ask = {
		.program = "order", .key = "inside",
		.env = (const char *const[]){ "IDEMPOTENCY_KEY=00",
		    "IDEM_LEDGER", NULL }
	};
	struct rig_answer a;

	cgi_ask(rig, &ask, &a);
	ok(a.status == 201 &&
	    *rig_field(&a, "Idempotency-Status") == '\0',
	    "a program that is run for a key already is just run");
	rig_answer_free(&a);
}

/* --- what it refuses ------------------------------------------------------ */

static const struct {
	const char *what;
	const char *key;
	const char *env[4];
	const char *args[3];
	enum cgi_way way;
	int status;
	uint32_t exit;
	const char *mark;
	const char *log;	/* part of what standard error has */
} refused[] = {
	{ "a call of its own URL is refused", "r1",
	    { "REDIRECT_STATUS", NULL }, { NULL }, CGI_ACTION, 403, 1,
	    "not-started", "called directly" },
	{ "so is one with a query that names a program [cgi:C37]", "r2",
	    { "REDIRECT_STATUS", "QUERY_STRING=/bin/sh", NULL },
	    { "/bin/sh", "order" }, CGI_ACTION, 403, 1, "not-started",
	    "called directly" },
	{ "so is one to which nobody redirected", "r8",
	    { "REDIRECT_URL", NULL }, { NULL }, CGI_ACTION, 403, 1,
	    "not-started", "called directly" },
	{ "and one that another URL was redirected to", "r9",
	    { "REDIRECT_URL=/missing.html", NULL }, { NULL }, CGI_ACTION, 403,
	    1, "not-started", "called directly" },
	{ "a program that a server names by half is not looked for", "r10",
	    { "SCRIPT_FILENAME=order", NULL }, { NULL }, CGI_HANDLER, 404, 1,
	    "not-started", "not an absolute path" },
	{ "a query's words name no program of a redirected call", NULL,
	    { "PATH_TRANSLATED=/nowhere/x", NULL }, { "/bin/sh", NULL },
	    CGI_ACTION, 404, 1, "not-started", "nothing at this address" },
	{ "nor without a name of the server's", "r3",
	    { "SCRIPT_FILENAME", "DOCUMENT_ROOT", "SCRIPT_NAME=/idem-cgi",
	    NULL }, { "/bin/sh", NULL }, CGI_HANDLER, 404, 1, "not-started",
	    "nothing at this address" },
	{ "an argument that the server does not name is not run", "r4",
	    { NULL }, { "/bin/sh", NULL }, CGI_HANDLER, 403, 1, "not-started",
	    "not the program that the web server names" },
	{ "it does not run itself", "r5", { NULL },
	    { NULL }, CGI_ACTION, 403, 1, "not-started", "itself" },
	{ "a key that cannot be read is refused", "a\"b", { NULL }, { NULL },
	    CGI_HANDLER, 400, 0, "rejected", "" },
	{ "without a ledger nothing runs with a key", "r6",
	    { "IDEM_LEDGER", NULL }, { NULL }, CGI_HANDLER, 500, 1,
	    "not-started", "no ledger" },
	{ "nor without a key", NULL, { "IDEM_LEDGER", NULL },
	    { NULL }, CGI_HANDLER, 500, 1, "not-started", "IDEM_LEDGER=" },
	{ "a ledger of another kind is refused", "r7",
	    { "IDEM_LEDGER=redis:x", NULL }, { NULL }, CGI_HANDLER, 500, 1,
	    "not-started", "not sqlite:PATH" },
	{ "and one that each program would look for elsewhere", "r7",
	    { "IDEM_LEDGER=sqlite:x", NULL }, { NULL }, CGI_HANDLER, 500, 1,
	    "not-started", "not an absolute path" },
	{ "a ledger that is not there: nothing runs", "r8",
	    { "IDEM_LEDGER=sqlite:/nowhere/l.db", NULL }, { NULL },
	    CGI_HANDLER, 503, 1, "not-started", "/nowhere" },
	{ "a file that is not there: nothing runs", "r9",
	    { "IDEM_CONFIG=/nowhere/idem.conf", NULL }, { NULL }, CGI_HANDLER,
	    500, 1, "not-started", "/nowhere/idem.conf" },
	{ "the file may be of the folder's only", "r9",
	    { "REDIRECT_IDEM_CONFIG=/nowhere/of-folder", NULL }, { NULL },
	    CGI_ACTION, 500, 1, "not-started", "/nowhere/of-folder" },
};

static void
test_refused(struct rig *rig, size_t i)
{
	const bool itself = strcmp(refused[i].what,
	    "it does not run itself") == 0;
	struct cgi_ask ask = {
		.way = refused[i].way, .program = itself ? "idem-cgi" : "order",
		.key = refused[i].key, .env = refused[i].env,
		.args = refused[i].args[0] != NULL ? refused[i].args : NULL
	};
	long before = rig_lines(rig, "orders", NULL);
	struct rig_answer a;

	cgi_ask(rig, &ask, &a);
	is_int(a.status, refused[i].status, "%s", refused[i].what);
	is(rig_field(&a, "Idempotency-Status"), refused[i].mark,
	    "... %s", refused[i].mark);
	ok(refused[i].log[0] == '\0' || err_has(&a, refused[i].log),
	    "... the log says: %s", refused[i].log);
	is_int(a.app_status, refused[i].exit, "... the exit status is %u",
	    refused[i].exit);
	is_int(rig_lines(rig, "orders", NULL), before, "... nothing ran");
	rig_answer_free(&a);
}

static void
test_usage(struct rig *rig)
{
	struct cgi_ask ask = {
		.program = "order",
		.env = (const char *const[]){ "GATEWAY_INTERFACE", NULL }
	};
	struct rig_answer a;

	cgi_ask(rig, &ask, &a);
	ok(a.app_status == 2 && a.out.len == 0 &&
	    err_has(&a, "usage: idem-cgi"),
	    "where no web server calls it says how it is used");
	rig_answer_free(&a);
}

/* --- the configuration ---------------------------------------------------- */

static const char routes[] =
    "ledger = sqlite { path = \"%s\" }\n"
    "route { path = \"/order\", methods = { \"POST\" },\n"
    "  key = { header { \"Idempotency-Key\" }, form \"token\" },\n"
    "  program = cgi { set = { SHOP = \"tea\" } } }\n"
    "route { path = \"/say\", required = true,\n"
    "  program = cgi { set = { SHOP = \"tea\" } } }\n"
    "route { path = \"/free\", program = cgi { set = { SHOP = \"tea\" } } }\n"
    "route { path = \"/up/**\", program = cgi { root = \"/nowhere\" } }\n";

static void
ask_configured(struct rig *rig, struct cgi_ask ask, struct rig_answer *a)
{
	char variable[RIG_PATH + 32];
	const char *env[] = { variable, NULL };

	snprintf(variable, sizeof variable, "IDEM_CONFIG=%s",
	    rig_at(rig, "idem.conf"));
	ask.env = env;
	cgi_ask(rig, &ask, a);
}

static void
test_configured(struct rig *rig)
{
	const struct cgi_ask form = {
		.program = "order", .type = "application/x-www-form-urlencoded",
		.body = idem_bytes_text("token=t1&item=tea")
	};
	struct rig_answer a, b;
	char text[1024];

	snprintf(text, sizeof text, routes, rig->ledger);
	rig_file(rig, "idem.conf", text);
	rig_program(rig, "free", SAY);
	if (mkdir(rig_at(rig, "up"), 0755) == -1)
		bail_out("mkdir: %s", strerror(errno));
	rig_program(rig, "up/order", SAY);

	ask_configured(rig, form, &a);
	ask_configured(rig, form, &b);
	if (!is(rig_field(&a, "Idempotency-Status"), "stored",
	    "a key of a form is found"))
		note("%.*s", (int)a.err.len, (const char *)a.err.at);
	is(rig_field(&b, "Idempotency-Status"), "replayed", "and replayed");
	rig_answer_free(&a);
	rig_answer_free(&b);

	ask_configured(rig, (struct cgi_ask){ .program = "order",
	    .type = "text/plain", .body = idem_bytes_text("tea") }, &a);
	ok(a.status == 201 && *rig_field(&a, "Idempotency-Status") == '\0',
	    "a form that has none is passed on");
	rig_answer_free(&a);

	ask_configured(rig, (struct cgi_ask){ .program = "say" }, &a);
	is_int(a.status, 400, "a key that is required is missed");
	rig_answer_free(&a);

	ask_configured(rig, (struct cgi_ask){ .program = "say", .key = "s" },
	    &a);
	ask_configured(rig, (struct cgi_ask){ .program = "free" }, &b);
	ok(says(&a, "SHOP=tea") && says(&b, "SHOP=tea"),
	    "what the route sets is there with a key and without");
	rig_answer_free(&a);
	rig_answer_free(&b);

	ask_configured(rig, (struct cgi_ask){ .program = "order",
	    .env = NULL, .key = "u", .way = CGI_ACTION }, &a);
	is(rig_field(&a, "Idempotency-Status"), "stored",
	    "an action's route is that of the URL that was asked for");
	rig_answer_free(&a);

	ask_configured(rig, (struct cgi_ask){ .program = "up/order",
	    .key = "x" }, &a);
	is_int(a.status, 403,
	    "a program not below its route's root is not run");
	rig_answer_free(&a);

	ask_configured(rig, (struct cgi_ask){ .program = "up/order" }, &a);
	is_int(a.status, 403, "neither without a key");
	rig_answer_free(&a);
}

int
main(void)
{
	struct rig rig;
	char key[16];
	size_t i;

	rig_open(&rig);
	if (!cgi_open(&rig)) {
		rig_end(&rig);
		skip_all("idem-cgi is not built");
	}
	rig_order(&rig);
	rig_program(&rig, "say", SAY);
	make_ledger(&rig);
	for (i = 0; i < WAYS; i++) {
		snprintf(key, sizeof key, "given-%zu", i);
		test_once(&rig, i);
		test_given(&rig, i, NULL);
		test_given(&rig, i, key);
	}
	test_interpreter(&rig);
	test_in_place(&rig);
	test_inside(&rig);
	for (i = 0; i < sizeof refused / sizeof *refused; i++)
		test_refused(&rig, i);
	test_usage(&rig);
	test_configured(&rig);
	ok(cgi_await_none(&rig), "no process is left");
	rig_end(&rig);
	return done();
}
