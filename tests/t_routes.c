/* SPDX-License-Identifier: ISC */
#include "ask.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Routes of a configuration file, from request to answer: each row is sent to
 * the same instance, in this order, and says what comes of it and how often the
 * program has been started then.
 */
static const char conf[] =
    "workers = 1\n"
    "local order = cgi { '%s/order' }\n"
    "route { path = '/form/**', program = order, release = { 503 },\n"
    "    key = { header { 'Idempotency-Key' }, form 'token' },\n"
    "    not_replayed = { 'X-Trace' }, body_max = '64KiB' }\n"
    "route { path = '/query', program = order, required = true,\n"
    "    key = query 'id' }\n"
    "route { path = '/cookie', program = order, key = cookie 'order' }\n"
    "route { path = '/function', program = order,\n"
    "    key = function(request)\n"
    "        if request.query == 'bad' then error('on purpose') end\n"
    "        return request.query:match('^n=(%%w+)$')\n"
    "    end }\n"
    "route { path = '/user', program = order,\n"
    "    scope = { cookies = { 'session' } } }\n"
    "route { path = '/loose', program = order, fingerprint = 'none' }\n"
    "route { path = '/put', methods = { 'PUT' }, program = order }\n"
    "route { path = '/any', program = order, store_exit = 'any' }\n"
    "route { path = '/small', program = order, kept_max = '8B' }\n"
    "route { path = '/all/**', except = { '/all/but/**' },\n"
    "    program = order, scope = { name = 'all' } }\n"
    "rest = order\n";

static const char program[] = "#!/bin/sh\n"
    "echo >>starts\n"
    "n=$(wc -l <starts)\n"
    "cat >/dev/null\n"
    "printf 'Status: %s\\nX-Trace: %s\\nSet-Cookie: c=%s\\n\\norder %s\\n' \\\n"
    "    \"${HTTP_X_STATUS:-201}\" $n $n $n\n"
    "exit ${HTTP_X_EXIT:-0}\n";

#define FORM "application/x-www-form-urlencoded"
#define PARTS "multipart/form-data; boundary=b"

static const struct {
	const char *what, *method, *path, *query, *key, *type, *body, *more;
	const char *want;
	int order;		/* the answer is of this start; 0: of none; -n:
				   start n gave none */
} rows[] = {
	/* a field of the form */
	{ "a form's field is a key", "POST", "/form/a", "", NULL, FORM,
	  "item=tea&token=t1", NULL, "201 stored", 1 },
	{ "sent again, it is replayed", "POST", "/form/a", "", NULL, FORM,
	  "item=tea&token=t1", NULL, "201 replayed", 1 },
	{ "the same key for another item is refused", "POST", "/form/a", "",
	  NULL, FORM, "item=rum&token=t1", NULL, "422 mismatch", 0 },
	{ "a field of a multipart form is one too", "POST", "/form/a", "",
	  NULL, PARTS, "--b\r\nContent-Disposition: form-data; name=\"token\""
	  "\r\n\r\nt2\r\n--b--\r\n", NULL, "201 stored", 2 },
	{ "header and field that agree are one key", "POST", "/form/a", "",
	  "t3", FORM, "token=t3", NULL, "201 stored", 3 },
	{ "header and field that differ are refused", "POST", "/form/a", "",
	  "t4", FORM, "token=t5", NULL, "400 rejected", 0 },
	{ "without either the program just runs", "POST", "/form/a", "", NULL,
	  FORM, "item=tea", NULL, "201", 4 },
	{ "a field with a bad value is refused", "POST", "/form/a", "", NULL,
	  FORM, "token=%0a", NULL, "400 rejected", 0 },
	{ "what the route releases is given to the client", "POST", "/form/a",
	  "", "t6", FORM, "", "HTTP_X_STATUS=503", "503 released", 5 },
	{ "and its key runs again", "POST", "/form/a", "", "t6", FORM, "",
	  "HTTP_X_STATUS=503", "503 released", 6 },
	{ "a path that is spelt another way has the same route", "POST",
	  "/x/..//form/%61", "", NULL, FORM, "token=t7", NULL, "201 stored",
	  7 },

	/* other sources */
	{ "a key in the query", "POST", "/query", "id=a%20b", NULL, NULL, "",
	  NULL, "201 stored", 8 },
	{ "is the same however it is written", "POST", "/query", "id=a%20b",
	  NULL, NULL, "", NULL, "201 replayed", 8 },
	{ "one that is required and missing is asked for", "POST", "/query",
	  "", "ignored", NULL, "", NULL, "400 rejected", 0 },
	{ "a key in a cookie", "POST", "/cookie", "", NULL, NULL, "",
	  "HTTP_COOKIE=a=b; order=c1", "201 stored", 9 },
	{ "beside others", "POST", "/cookie", "", NULL, NULL, "",
	  "HTTP_COOKIE=order=c1; z=1", "201 replayed", 9 },
	{ "a function's key", "POST", "/function", "n=7", NULL, NULL, "",
	  NULL, "201 stored", 10 },
	{ "is asked each time", "POST", "/function", "n=7", NULL, NULL, "",
	  NULL, "201 replayed", 10 },
	{ "a function may say that there is none", "POST", "/function", "x",
	  NULL, NULL, "", NULL, "201", 11 },
	{ "a function that fails starts nothing", "POST", "/function", "bad",
	  NULL, NULL, "", NULL, "500 not-started", 0 },

	/* scope, fingerprint, methods, answers */
	{ "a session that the scope names", "POST", "/user", "", "u1", NULL,
	  "", "HTTP_COOKIE=session=ann", "201 stored", 12 },
	{ "makes another key of the same text [idem:D12]", "POST", "/user", "",
	  "u1", NULL, "", "HTTP_COOKIE=session=bob", "201 stored", 13 },
	{ "and its answer is its own", "POST", "/user", "", "u1", NULL, "",
	  "HTTP_COOKIE=session=ann", "201 replayed", 12 },
	{ "without a fingerprint the key is enough [idem:D15]", "POST",
	  "/loose", "", "l1", NULL, "a", NULL, "201 stored", 14 },
	{ "also for another body [idem:D15]", "POST", "/loose", "", "l1",
	  NULL, "b", NULL, "201 replayed", 14 },
	{ "a method that the route lists", "PUT", "/put", "", "p1", NULL, "",
	  NULL, "201 stored", 15 },
	{ "one that it does not list", "POST", "/put", "", "p1", NULL, "",
	  NULL, "201 ignored", 16 },
	{ "any exit status, where that is said", "POST", "/any", "", "e1",
	  NULL, "", "HTTP_X_EXIT=3", "201 stored", 17 },
	{ "is replayed", "POST", "/any", "", "e1", NULL, "", "HTTP_X_EXIT=3",
	  "201 replayed", 17 },
	{ "and elsewhere is unknown", "POST", "/loose", "", "e2", NULL, "",
	  "HTTP_X_EXIT=3", "502 unknown", -18 },
	{ "an answer over the route's limit", "POST", "/small", "", "s1", NULL,
	  "", NULL, "201 stored-without-body", 19 },
	{ "is not kept", "POST", "/small", "", "s1", NULL, "", NULL,
	  "409 not-kept", 0 },
	{ "two paths of a named scope are one [idem:D9]", "POST", "/all/a", "",
	  "n1", NULL, "", NULL, "201 stored", 20 },
	{ "so another of them is a mismatch [idem:D9]", "POST", "/all/b", "",
	  "n1", NULL, "", NULL, "422 mismatch", 0 },
	{ "what is excepted has no route", "POST", "/all/but/c", "", "n1",
	  NULL, "", NULL, "201 ignored", 21 },
	{ "what has no route runs", "GET", "/else", "", NULL, NULL, "", NULL,
	  "201", 22 },
};

#define ROWS (sizeof rows / sizeof *rows)

static void
send_row(struct rig *rig, size_t i, struct rig_answer *answer)
{
	const char *more[] = { NULL, rows[i].more, NULL };
	char uri[256];
	struct rig_request request = {
		.method = rows[i].method,
		.path = rows[i].path,
		.query = rows[i].query,
		.key = rows[i].key,
		.type = rows[i].type,
		.body = idem_bytes_text(rows[i].body),
		.more = more
	};

	snprintf(uri, sizeof uri, "REQUEST_URI=%s?%s", rows[i].path,
	    rows[i].query);
	more[0] = uri;
	rig_request(rig, &request, answer);
}

static void
check_rows(struct rig *rig)
{
	struct rig_answer answer;
	char body[32], trace[32];
	long started = 0;
	bool replayed;
	size_t i;

	for (i = 0; i < ROWS; i++) {
		send_row(rig, i, &answer);
		told(&answer, rows[i].want, "%s", rows[i].what);
		if (abs(rows[i].order) > started)
			started = abs(rows[i].order);
		is_int(rig_lines(rig, "starts", NULL), started,
		    "so many starts by then");
		snprintf(body, sizeof body, "order %d\n", rows[i].order);
		if (rows[i].order > 0)
			is_bytes(answer.body.at, answer.body.len, body,
			    strlen(body), "the answer is that start's");
		snprintf(trace, sizeof trace, "%d", rows[i].order);
		replayed = strcmp(rig_field(&answer, "Idempotent-Replayed"),
		    "true") == 0;
		if (strncmp(rows[i].path, "/form", 5) == 0 && replayed)
			is(rig_field(&answer, "X-Trace"), "",
			    "a field that is not to be replayed is not");
		rig_answer_free(&answer);
	}
}

static void
check_limits(struct rig *rig)
{
	static char large[64 * 1024 + 1];
	struct rig_request request = {
		.method = "POST", .path = "/form/large", .key = "large",
		.body = { large, sizeof large }
	};
	long before = rig_lines(rig, "starts", NULL);

	memset(large, 'x', sizeof large);
	ask(rig, &request, "413 not-started",
	    "a body over its route's limit is refused");
	request.length = "";
	ask(rig, &request, "413 not-started",
	    "also when its length was not said");
	request.length = NULL;
	request.body.len--;
	ask(rig, &request, "201 stored", "one at the limit is not");
	is_int(rig_lines(rig, "starts", NULL), before + 1,
	    "nothing was started for what was refused");
}

int
main(void)
{
	const char *options[] = { "--config", NULL, NULL };
	char text[sizeof conf + RIG_PATH];
	struct rig rig;

	rig_open(&rig);
	rig_program(&rig, "order", program);
	snprintf(text, sizeof text, conf, rig.folder);
	rig_file(&rig, "idem.conf", text);
	options[1] = rig_at(&rig, "idem.conf");
	ask_start(&rig, options);
	check_rows(&rig);
	check_limits(&rig);
	is_int(rig_stop(&rig, 20000), 0, "idemd ends with status 0");
	rig_end(&rig);
	return done();
}
