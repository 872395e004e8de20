/* SPDX-License-Identifier: ISC */
#include "caller_rig.h"
#include "fcgi_rec.h"
#include "params.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATIENT_MS 50000	/* who is not to wait in vain */

static struct caller_rig rig;

/* --- how a call ends ------------------------------------------------------ */

#define FIELDS "Idempotency-Status: stored\r\nRetry-After: 7\r\n"
#define LONG_KEY "0123456789012345678901234567890123456789"

static const struct {
	const char *what;
	bool http;
	const char *method;
	const char *says;
	bool end;		/* FastCGI: END_REQUEST follows */
	enum caller_rig_then then;
	enum outcome_end how;
	const char *why;
	int status;
	bool met;		/* a promised length */
} rows[] = {
	{ "a whole answer", false, NULL, "Status: 201 Created\r\n\r\nhi", true,
	  CALLER_STAYS, OUTCOME_WHOLE, NULL, 201, true },
	{ "one without a status", false, NULL, "X: y\n\nhi", true, CALLER_STAYS,
	  OUTCOME_WHOLE, NULL, 200, true },
	{ "one that meets its length", false, NULL,
	  "Content-Length: 2\r\n\r\nhi", true, CALLER_STAYS, OUTCOME_WHOLE,
	  NULL, 200, true },
	{ "one that is shorter than it promises", false, NULL,
	  "Content-Length: 3\r\n\r\nhi", true, CALLER_STAYS, OUTCOME_CUT,
	  "short", 200, false },
	{ "one that is longer than it promises", false, NULL,
	  "Content-Length: 1\r\n\r\nhi", true, CALLER_STAYS, OUTCOME_CUT,
	  "long", 200, false },
	{ "one to HEAD, which has no body", false, "HEAD",
	  "Content-Length: 3\r\n\r\n", true, CALLER_STAYS, OUTCOME_WHOLE, NULL,
	  200, true },
	{ "one without a head", false, NULL, "hi", true, CALLER_STAYS,
	  OUTCOME_CUT, "no head", 0, true },
	{ "one without END_REQUEST", false, NULL, "X: y\r\n\r\nhi", false,
	  CALLER_CLOSES, OUTCOME_CUT, "closed", 200, true },
	{ "none at all", false, NULL, "", false, CALLER_CLOSES, OUTCOME_CUT,
	  "closed", 0, true },
	{ "a reset", false, NULL, "", false, CALLER_RESETS, OUTCOME_CUT,
	  "ECONNRESET", 0, true },
	{ "silence", false, NULL, "", false, CALLER_STAYS, OUTCOME_TIMEOUT,
	  "timeout", 0, true },
	{ "half of one, and silence", false, NULL,
	  "Content-Length: 3\r\n\r\nhi", false, CALLER_STAYS, OUTCOME_TIMEOUT,
	  "timeout", 200, false },
	{ "a whole answer by HTTP", true, NULL,
	  "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nhi", false,
	  CALLER_STAYS, OUTCOME_WHOLE, NULL, 201, true },
	{ "one of no length that the server's close ends", true, NULL,
	  "HTTP/1.1 200 OK\r\n\r\nhi", false, CALLER_CLOSES, OUTCOME_WHOLE,
	  NULL, 200, true },
	{ "one in chunks", true, NULL, "HTTP/1.1 200 OK\r\n"
	  "Transfer-Encoding: chunked\r\n\r\n1\r\nh\r\n1;x=y\r\ni\r\n0\r\n"
	  "Trailer: x\r\n\r\n", false, CALLER_STAYS, OUTCOME_WHOLE, NULL, 200,
	  true },
	{ "one in chunks without the last", true, NULL, "HTTP/1.1 200 OK\r\n"
	  "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n", false,
	  CALLER_CLOSES, OUTCOME_CUT, "closed", 200, true },
	{ "one with wrong chunks", true, NULL, "HTTP/1.1 200 OK\r\n"
	  "Transfer-Encoding: chunked\r\n\r\nhi\r\n", false, CALLER_STAYS,
	  OUTCOME_CUT, "not HTTP", 200, true },
	{ "one that is shorter than it promises by HTTP", true, NULL,
	  "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi", false,
	  CALLER_CLOSES, OUTCOME_CUT, "closed", 200, false },
	{ "one after another that is preliminary", true, NULL,
	  "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 No\r\n"
	  "Content-Length: 0\r\n\r\n", false, CALLER_STAYS, OUTCOME_WHOLE,
	  NULL, 404, true },
	{ "one that has no body by its status", true, NULL,
	  "HTTP/1.1 204 No Content\r\n\r\n", false, CALLER_STAYS,
	  OUTCOME_WHOLE, NULL, 204, true },
	{ "something that is no HTTP", true, NULL, "hello\r\n\r\n", false,
	  CALLER_STAYS, OUTCOME_CUT, "not HTTP", 0, true },
	{ "no answer by HTTP", true, NULL, "", false, CALLER_CLOSES,
	  OUTCOME_CUT, "closed", 0, true },
};

static void
test_ends(bool tcp)
{
	struct idem_buf says = { 0 };
	struct call call;
	size_t i;

	caller_rig_open(&rig, tcp);
	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		idem_buf_clear(&says);
		rig.http = rows[i].http;
		rig.then = rows[i].then;
		if (rig.http)
			idem_buf_text(&says, rows[i].says);
		else
			caller_rig_records(&says,
			    idem_bytes_text(rows[i].says), rows[i].end);
		rig.says = idem_buf_bytes(&says);
		rig.enough = rows[i].how == OUTCOME_TIMEOUT ?
		    strlen(rows[i].says) : 0;
		call = (struct call){ .http = rig.http,
			.method = rows[i].method, .timeout_ms =
			rows[i].how != OUTCOME_TIMEOUT ||
			rig.enough > 0 ? PATIENT_MS : 20 };
		caller_rig_call(&rig, &call);
		is_int(call.end, rows[i].how, "%s", rows[i].what);
		is(call.why != NULL ? call.why : "", rows[i].why != NULL ?
		    rows[i].why : "", "%s (why)", rows[i].what);
		is_int(call.status, rows[i].status, "%s (its status)",
		    rows[i].what);
		is_int(call.length_met, rows[i].met, "%s (its length)",
		    rows[i].what);
		is_int(strlen(call.digest) == 16, rows[i].how == OUTCOME_WHOLE,
		    "%s (it has a digest if it is whole)", rows[i].what);
		call_free(&call);
	}
	idem_buf_free(&says);
	caller_rig_close(&rig);
}

static void
test_refused(void)
{
	struct call call = { .socket = "/nonexistent/socket" };
	char path[80];

	caller_rig_open(&rig, false);
	caller_rig_call(&rig, &call);
	is_int(call.end, OUTCOME_REFUSED, "where no socket is a call is "
	    "refused");
	is(call.why, "ENOENT", "as the system says");
	call_free(&call);
	memcpy(path, rig.socket, sizeof path);
	close(rig.listener.fd);
	rig.listener.fd = -1;
	rig.port = -1;
	call = (struct call){ .socket = path };
	caller_rig_call(&rig, &call);
	is_int(call.end, OUTCOME_REFUSED, "where nobody listens too");
	is(call.why, "ECONNREFUSED", "as the system says");
	call_free(&call);
	call = (struct call){ .socket = "127.0.0.1:1" };
	caller_rig_call(&rig, &call);
	is_int(call.end, OUTCOME_REFUSED, "so it is by TCP");
	call_free(&call);
	call = (struct call){ .socket = "somewhere" };
	caller_rig_call(&rig, &call);
	is_int(call.end, OUTCOME_REFUSED, "and where there is no address");
	call_free(&call);
	unlink(path);
	caller_rig_close(&rig);
}

/* --- what an answer says -------------------------------------------------- */

static void
answer(struct call *call, const char *says, bool end)
{
	struct idem_buf records = { 0 };

	caller_rig_open(&rig, false);
	caller_rig_records(&records, idem_bytes_text(says), end);
	rig.says = idem_buf_bytes(&records);
	rig.then = CALLER_CLOSES;
	*call = (struct call){ .timeout_ms = PATIENT_MS };
	caller_rig_call(&rig, call);
	idem_buf_free(&records);
	caller_rig_close(&rig);
}

static void
test_head(void)
{
	struct call call;

	answer(&call, "Status: 503 No\r\nRETRY-AFTER:  12 \r\nRetry-After: 99"
	    "\r\nidempotency-status: not-started\r\nIdempotency-Status: stored"
	    "\r\n\r\n", true);
	is_int(call.status, 503, "the status is read");
	is(call.mark, "not-started", "the first mark counts");
	is_int(call.retry_after_s, 12, "so does the first Retry-After");
	call_free(&call);
	answer(&call, "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n\r\n",
	    true);
	is_int(call.retry_after_s, -1, "a date is no number of seconds");
	call_free(&call);
	answer(&call, "X-Sim-Key: k1\r\nX-Sim-Nonce: n1\r\nX-Sim-Effect: e1\r\n"
	    "\r\nkey k2\nnonce n2\neffect e2\n", true);
	is(call.says_key, "k1", "the key is what the head names");
	is(call.says_nonce, "n1", "so is the nonce");
	is(call.says_effect, "e1", "and the effect");
	call_free(&call);
	answer(&call, "X: y\r\n\r\nkey k2\nnonce n2\neffect e2", true);
	is(call.says_key, "k2", "or what the body names");
	is(call.says_nonce, "n2", "or its nonce");
	is(call.says_effect, "e2", "or its effect, also without a line's end");
	call_free(&call);
	answer(&call, "X: y\r\n\r\nkey k2\nnonce n", false);
	is(call.says_key, "k2", "of a cut answer whole lines count");
	is(call.says_nonce, "", "and no part of one");
	call_free(&call);
	answer(&call, "X: y\r\n\r\nother\nkey k2\n", true);
	is(call.says_key, "", "only the first lines of a body name anything");
	call_free(&call);
	answer(&call, "Idempotency-Status: " LONG_KEY "\r\nX-Sim-Nonce: "
	    LONG_KEY LONG_KEY "\r\n\r\n", true);
	is_int((long long)strlen(call.mark), sizeof call.mark - 1,
	    "a mark that is too long is cut");
	is_int((long long)strlen(call.says_nonce), sizeof call.says_nonce - 1,
	    "so is a nonce");
	call_free(&call);
}

static const struct {
	const char *one, *other, *what;
	bool same;
} digests[] = {
	{ "Status: 200 OK\r\nX: y\r\n\r\nhi", "X: y\r\n\r\nhi",
	  "an answer without a status is one with 200", true },
	{ "X: y\r\n\r\nhi", "x:y\n\nhi",
	  "blanks and the case of names do not count", true },
	{ "X: y\r\n\r\nhi", "X: y\r\nDate: now\r\nServer: a\r\n"
	  "Connection: b\r\nKeep-Alive: c\r\nTransfer-Encoding: identity\r\n"
	  "Content-Length: 2\r\n\r\nhi", "what a front says does not count",
	  true },
	{ "X: y\r\nIdempotency-Status: stored\r\nIdempotency-Keep: 3\r\n\r\nhi",
	  "X: y\r\nIdempotency-Status: replayed\r\nIdempotent-Replayed: true"
	  "\r\n\r\nhi", "what idem says does not count", true },
	{ "X: y\r\n\r\nhi", "X: z\r\n\r\nhi", "a value counts", false },
	{ "X: y\r\n\r\nhi", "Y: y\r\n\r\nhi", "a name counts", false },
	{ "X: y\r\n\r\nhi", "X: y\r\n\r\nho", "the body counts", false },
	{ "X: y\r\n\r\nhi", "Status: 201\r\nX: y\r\n\r\nhi",
	  "the status counts", false },
	{ "X: y\r\nSet-Cookie: a\r\n\r\nhi", "X: y\r\n\r\nhi",
	  "a cookie counts", false },
	{ "X: y\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n\r\nhi",
	  "X: y\r\nSet-Cookie: b\r\nSet-Cookie: a\r\n\r\nhi",
	  "so does the order of lines", false },
	{ "X: y\r\nRetry-After: 1\r\n\r\nhi",
	  "X: y\r\nRetry-After: 2\r\n\r\nhi", "a program's Retry-After counts",
	  false },
	{ "X: y\r\nIdempotency-Status: in-progress\r\nRetry-After: 1\r\n\r\nhi",
	  "X: y\r\nIdempotency-Status: in-progress\r\nRetry-After: 2\r\n\r\nhi",
	  "idem's does not", true },
};

static void
test_digests(void)
{
	struct call one, other;
	size_t i;

	for (i = 0; i < sizeof digests / sizeof *digests; i++) {
		answer(&one, digests[i].one, true);
		answer(&other, digests[i].other, true);
		is_int(strcmp(one.digest, other.digest) == 0, digests[i].same,
		    "%s", digests[i].what);
		call_free(&one);
		call_free(&other);
	}
}

/* --- what a request says -------------------------------------------------- */

static const struct plan_pair headers[] = {
	{ "X-Ab-c", "v1" }, { "Content-Type", "text/x" }
};
static const char *const more[] = { "HTTP_X_SIM_TRY=3", "PLAIN=p", NULL };

static void
test_params(void)
{
	static const struct { const char *name, *value; } want[] = {
		{ "REQUEST_METHOD", "PUT" }, { "SCRIPT_NAME", "/order" },
		{ "QUERY_STRING", "a=b" }, { "REQUEST_URI", "/order?a=b" },
		{ "SCRIPT_FILENAME", "/bin/x" }, { "CONTENT_LENGTH", "5" },
		{ "CONTENT_TYPE", "text/x" }, { "HTTP_X_AB_C", "v1" },
		{ "HTTP_IDEMPOTENCY_KEY", "\"k\"" },
		{ "HTTP_X_SIM_TRY", "3" }, { "PLAIN", "p" }
	};
	struct idem_fcgi_reader reader = { .params_max = 65536 };
	struct call call = { .method = "PUT", .path = "/order?a=b",
		.program = "/bin/x", .key = "\"k\"", .headers = headers,
		.headers_n = 2, .params = more, .timeout_ms = PATIENT_MS };
	struct idem_bytes left, body = { 0 };
	struct idem_params params = { 0 };
	const char *got;
	size_t i;

	caller_rig_open(&rig, false);
	rig.then = CALLER_CLOSES;
	caller_rig_call(&rig, &call);
	left = idem_buf_bytes(&rig.heard);
	is_int(idem_fcgi_read(&reader, &left, &body), IDEM_FCGI_BEGUN,
	    "a request begins");
	is_int(idem_fcgi_read(&reader, &left, &body), IDEM_FCGI_PARAMS_WHOLE,
	    "has parameters");
	idem_params_read(idem_buf_bytes(&reader.params), &params);
	for (i = 0; i < sizeof want / sizeof *want; i++) {
		got = idem_params_get(&params, want[i].name);
		is(got != NULL ? got : "(none)", want[i].value, "%s is as it "
		    "should be", want[i].name);
	}
	is_int(idem_fcgi_read(&reader, &left, &body), IDEM_FCGI_BODY,
	    "and a body");
	ok(idem_bytes_is(body, "hello"), "which is the call's");
	idem_params_free(&params);
	idem_fcgi_reader_free(&reader);
	call_free(&call);
	caller_rig_close(&rig);
}

static void
test_fields(void)
{
	struct call call = { .http = true, .method = "PUT",
		.path = "/order?a=b", .key = "\"k\"", .headers = headers,
		.headers_n = 2, .params = more, .timeout_ms = PATIENT_MS };

	caller_rig_open(&rig, false);
	rig.http = true;
	rig.then = CALLER_CLOSES;
	caller_rig_call(&rig, &call);
	idem_buf_u8(&rig.heard, '\0');
	is((const char *)rig.heard.at, "PUT /order?a=b HTTP/1.1\r\n"
	    "Host: localhost\r\nConnection: close\r\nIdempotency-Key: \"k\"\r\n"
	    "X-Ab-c: v1\r\nContent-Type: text/x\r\nX-Sim-Try: 3\r\n"
	    "Content-Length: 5\r\n\r\nhello",
	    "by HTTP a request has fields for all that is a field");
	call_free(&call);
	caller_rig_close(&rig);
}

/* --- clients who behave in their own way ---------------------------------- */

static void
await_heard(void)
{
	int64_t until_ms = idem_boot_ms(&rig.clock) + PATIENT_MS;

	while (rig.heard.len == 0) {
		if (idem_boot_ms(&rig.clock) > until_ms)
			bail_out("the server hears nothing");
		loop_turn(rig.loop, until_ms);
	}
}

static void
test_leaving(void)
{
	struct call call = { .give_up_ms = 20, .timeout_ms = PATIENT_MS };
	unsigned n = 0;

	caller_rig_open(&rig, false);
	caller_rig_call(&rig, &call);
	is_int(call.end, OUTCOME_GAVE_UP, "a client may give up by itself");
	call_free(&call);
	caller_rig_close(&rig);
	caller_rig_open(&rig, false);	/* who has not heard of that one */
	call = (struct call){ .socket = rig.socket, .method = "POST",
		.path = "/", .done = caller_rig_done, .arg = &n };
	call_start(rig.loop, &call);
	await_heard();
	call_leave(&call, true);
	is_int(n, 1, "or be made to, and is done then");
	is_int(call.end, OUTCOME_GAVE_UP, "as one that gave up");
	loop_turn(rig.loop, 0);
	loop_turn(rig.loop, 0);
	ok(rig.aborted, "the server hears that the request is aborted");
	call_leave(&call, true);
	is_int(n, 1, "who has left leaves no more");
	call_free(&call);
	call_start(rig.loop, &call);
	call_free(&call);
	is_int(n, 1, "a call that is freed is not done");
	caller_rig_close(&rig);
}

/* The loop's time is that of its last turn. */
static void
test_patience(void)
{
	const struct timespec busy = { 0, 80 * 1000000 };
	struct call call = { .timeout_ms = 40 };
	int64_t from_ms;

	caller_rig_open(&rig, false);
	loop_turn(rig.loop, 0);
	nanosleep(&busy, NULL);
	from_ms = idem_boot_ms(&idem_clock_real);
	caller_rig_call(&rig, &call);
	is_int(call.end, OUTCOME_TIMEOUT, "who is not answered waits");
	ok(idem_boot_ms(&idem_clock_real) - from_ms >= 40,
	    "as long as it says, from when it called");
	call_free(&call);
	caller_rig_close(&rig);
}

static void
test_slow(void)
{
	struct call call = { .slow_bytes = 100, .timeout_ms = PATIENT_MS };
	struct idem_buf out = { 0 }, records = { 0 };
	int64_t from_ms = idem_boot_ms(&idem_clock_real);

	idem_buf_printf(&out, "X: y\r\n\r\n%900d", 1);
	caller_rig_open(&rig, false);
	caller_rig_records(&records, idem_buf_bytes(&out), true);
	rig.says = idem_buf_bytes(&records);
	rig.then = CALLER_CLOSES;
	caller_rig_call(&rig, &call);
	is_int(call.end, OUTCOME_WHOLE, "a slow reader gets all of it");
	ok(idem_boot_ms(&idem_clock_real) - from_ms >= 90,
	    "100 bytes each 10 ms");
	call_free(&call);
	caller_rig_close(&rig);
	idem_buf_free(&records);
	idem_buf_free(&out);
}

static void
test_flood(void)
{
	static char much[65000];
	struct call call = { .timeout_ms = PATIENT_MS };
	struct idem_buf records = { 0 };

	memset(much, 'x', sizeof much);
	caller_rig_open(&rig, false);
	caller_rig_records(&records, (struct idem_bytes){ much, sizeof much },
	    false);
	rig.says = idem_buf_bytes(&records);
	rig.then = CALLER_FLOODS;
	caller_rig_call(&rig, &call);
	is_int(call.end, OUTCOME_CUT, "an answer without end is cut");
	is(call.why, "too large", "as too large");
	ok(call.out.len <= 64u << 20 && call.out.len > 63u << 20,
	    "at 64 MiB");
	call_free(&call);
	caller_rig_close(&rig);
	idem_buf_free(&records);
}

#define MANY 400u

static void
test_many(void)
{
	struct call *calls = calloc(MANY, sizeof *calls);
	struct idem_buf records = { 0 };
	unsigned i, n = 0, whole = 0;

	caller_rig_open(&rig, false);
	caller_rig_records(&records, idem_bytes_text("X: y\r\n\r\nhi"), true);
	rig.says = idem_buf_bytes(&records);
	for (i = 0; i < MANY && calls != NULL; i++) {
		calls[i] = (struct call){ .socket = rig.socket,
			.method = "POST", .path = "/", .timeout_ms = PATIENT_MS,
			.done = caller_rig_done, .arg = &n };
		call_start(rig.loop, &calls[i]);
	}
	ok(caller_rig_await(&rig, &n, MANY), "%u calls at once are done",
	    MANY);
	for (i = 0; i < MANY && calls != NULL; i++) {
		whole += calls[i].end == OUTCOME_WHOLE;
		call_free(&calls[i]);
	}
	is_int(whole, MANY, "each with a whole answer, however few the server "
	    "takes in at once");
	free(calls);
	idem_buf_free(&records);
	caller_rig_close(&rig);
}

int
main(void)
{
	test_ends(false);
	test_ends(true);
	test_refused();
	test_head();
	test_digests();
	test_params();
	test_fields();
	test_leaving();
	test_patience();
	test_slow();
	test_flood();
	test_many();
	return done();
}
