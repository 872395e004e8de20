/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "tap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * Requests that did not come whole, or lie about their length: nothing is run
 * for them, and their key is as free as before.
 */

#define ID 1
#define WAIT_MS 30000
#define BODY "0123456789"

static const char place[] = COUNT HELD
    "printf 'Status: 201 Created\\nContent-Type: text/plain\\n\\n'\n"
    "echo \"$CONTENT_LENGTH\"\n"
    "cat\n";

/* --- cut ------------------------------------------------------------------ */

enum then { CLOSES, WAITS };	/* what we do after the last byte */

/* What is sent, in the order of the members. */
static const struct cut {
	const char *what;
	const char *want;
	int begin;		/* bytes of BEGIN_REQUEST; 0: all */
	int pairs;		/* of PARAMS, whole; 0: all */
	int more;		/* and bytes of the pair after them */
	int missing;		/* bytes that the record promised besides */
	bool params_end;
	int body;		/* bytes, in a record of their own; -1: none */
	int body_missing;	/* that it promised besides */
	bool body_end, abort;
	enum then then;
} cuts[] = {
	{ .what = "cut off in BEGIN_REQUEST", .begin = 12 },
	{ .what = "BEGIN_REQUEST alone", .begin = 16 },
	{ .what = "PARAMS cut off after one pair [cgi:C52]",
	    .pairs = 1, .body = -1 },
	{ .what = "PARAMS cut off after two pairs", .pairs = 2, .body = -1 },
	{ .what = "PARAMS cut off before their end", .body = -1 },
	{ .what = "PARAMS cut off in a pair", .pairs = 2, .more = 9,
	    .body = -1 },
	{ .what = "PARAMS cut off in a record [cgi:C52]",
	    .pairs = 2, .missing = 100,
	    .body = -1 },
	{ .what = "PARAMS that end in a pair", .pairs = 2, .more = 9,
	    .params_end = true, .body = 10, .body_end = true, .then = WAITS,
	    .want = "closed" },
	{ .what = "PARAMS without end, then STDIN [cgi:C52]", .body = 10,
	    .body_end = true, .then = WAITS, .want = "closed" },
	{ .what = "PARAMS without end, then an empty STDIN", .body = -1,
	    .body_end = true, .then = WAITS, .want = "closed" },
	{ .what = "no body", .params_end = true, .body = -1 },
	{ .what = "STDIN of 3 bytes of 10 [cgi:C53 F17]",
	    .params_end = true, .body = 3 },
	{ .what = "STDIN cut off in a record", .params_end = true, .body = 3,
	    .body_missing = 7 },
	{ .what = "STDIN without its end", .params_end = true, .body = 10 },
	{ .what = "STDIN that ends after 3 of 10 bytes [cgi:C53 F17]",
	    .params_end = true,
	    .body = 3, .body_end = true, .then = WAITS,
	    .want = "400 rejected" },
	{ .what = "STDIN that ends at once [cgi:C53 F17]",
	    .params_end = true, .body = -1,
	    .body_end = true, .then = WAITS, .want = "400 rejected" },
	{ .what = "aborted in PARAMS [cgi:C70 F13]",
	    .pairs = 2, .body = -1, .abort = true,
	    .then = WAITS, .want = "0" },
	{ .what = "aborted after PARAMS [cgi:C70 F13]",
	    .params_end = true, .body = -1,
	    .abort = true, .then = WAITS, .want = "0" },
	{ .what = "aborted in STDIN [cgi:C70 F13]",
	    .params_end = true, .body = 3,
	    .abort = true, .then = WAITS, .want = "0" },
	{ .what = "aborted and closed", .params_end = true, .body = 3,
	    .abort = true },
};

#define CUTS (sizeof cuts / sizeof *cuts)

struct pair {
	const char *name, *value;
};

/* All but those that some front may leave out come first. */
static size_t
write_pairs(struct idem_buf *out, const char *key, size_t first, size_t n)
{
	const struct pair pairs[] = {
		{ "REQUEST_METHOD", "POST" },
		{ "SCRIPT_NAME", "/place" },
		{ "QUERY_STRING", "" },
		{ "CONTENT_LENGTH", "10" },
		{ "HTTP_IDEMPOTENCY_KEY", key },
	};
	size_t all = sizeof pairs / sizeof *pairs, i;

	for (i = first; i < first + n && i < all; i++)
		idem_fcgi_pair_write(out, idem_bytes_text(pairs[i].name),
		    idem_bytes_text(pairs[i].value));
	return all;
}

static void
record(struct idem_buf *out, enum idem_fcgi_type type,
    struct idem_bytes content, int missing)
{
	uint8_t header[8];

	idem_fcgi_header(header, type, ID,
	    (uint16_t)(content.len + (size_t)missing), 0);
	idem_buf_append(out, header, sizeof header);
	idem_buf_append(out, content.at, content.len);
}

static void
write_params(struct idem_buf *out, const struct cut *cut, const char *key)
{
	struct idem_buf stream = { 0 }, next = { 0 };
	size_t pairs = cut->pairs != 0 ? (size_t)cut->pairs : 100;

	write_pairs(&stream, key, 0, pairs);
	write_pairs(&next, key, pairs, 1);
	if (cut->more > 0)
		idem_buf_append(&stream, next.at, (size_t)cut->more);
	record(out, IDEM_FCGI_PARAMS, idem_buf_bytes(&stream), cut->missing);
	if (cut->params_end)
		idem_fcgi_stream_end(out, IDEM_FCGI_PARAMS, ID);
	idem_buf_free(&stream);
	idem_buf_free(&next);
}

static void
write_cut(struct idem_buf *out, const struct cut *cut, const char *key)
{
	idem_fcgi_begin_write(out, ID, IDEM_FCGI_RESPONDER, false);
	if (cut->begin != 0) {
		out->len = (size_t)cut->begin;
		return;
	}
	write_params(out, cut, key);
	if (cut->body >= 0)
		record(out, IDEM_FCGI_STDIN,
		    (struct idem_bytes){ BODY, (size_t)cut->body },
		    cut->body_missing);
	if (cut->body_end)
		idem_fcgi_stream_end(out, IDEM_FCGI_STDIN, ID);
	if (cut->abort)
		record(out, IDEM_FCGI_ABORT_REQUEST, (struct idem_bytes){ 0 },
		    0);
}

static void
send_cut(struct rig *rig, const struct cut *cut, const char *key)
{
	struct idem_buf out = { 0 };
	struct rig_answer answer;
	int fd = rig_connect(rig);

	write_cut(&out, cut, key);
	if (fd == -1 || !idem_buf_ok(&out))
		bail_out("no means for a request");
	rig_send(fd, idem_buf_bytes(&out), 0, WAIT_MS);
	if (cut->then == WAITS) {
		rig_receive(fd, ID, (struct idem_bytes){ 0 }, WAIT_MS, &answer);
		told(&answer, cut->want, "%s", cut->what);
		rig_answer_free(&answer);
	}
	close(fd);
	idem_buf_free(&out);
}

/* The very request that was cut, whole. */
static const struct cut whole = {
	.what = "it whole", .params_end = true, .body = 10, .body_end = true,
	.then = WAITS
};

static void
each_cut(struct rig *rig)
{
	struct cut good = whole;
	char key[32], what[128];
	long before = starts(rig);
	size_t i;

	for (i = 0; i < CUTS; i++) {
		snprintf(key, sizeof key, "cut-%zu", i);
		send_cut(rig, &cuts[i], key);
		snprintf(what, sizeof what, "%s, and then whole",
		    cuts[i].what);
		good.what = what;
		good.want = "201 stored";
		send_cut(rig, &good, key);
	}
	is_int(starts(rig) - before, (long long)CUTS,
	    "only what came whole was started [cgi:C52 cgi:C53 F17]");
}

/* --- what no CGI variable can hold ---------------------------------------- */

static const struct {
	const char *what;
	struct idem_bytes name, value;
} wrong_pairs[] = {
	{ "a NUL in a key", { "HTTP_IDEMPOTENCY_KEY", 20 }, { "a\0b", 3 } },
	{ "a NUL after a key", { "HTTP_IDEMPOTENCY_KEY", 20 }, { "a\0", 2 } },
	{ "a NUL in a name", { "HTTP\0_A", 7 }, { "a", 1 } },
	{ "a name with =", { "HTTP_A=b", 8 }, { "a", 1 } },
	{ "no name", { "", 0 }, { "a", 1 } },
};

static void
each_wrong_pair(struct rig *rig)
{
	size_t i;

	for (i = 0; i < sizeof wrong_pairs / sizeof *wrong_pairs; i++) {
		struct idem_buf out = { 0 }, stream = { 0 };
		struct rig_answer answer;
		int fd = rig_connect(rig);

		write_pairs(&stream, "wrong", 0, 4);
		idem_fcgi_pair_write(&stream, wrong_pairs[i].name,
		    wrong_pairs[i].value);
		idem_fcgi_begin_write(&out, ID, IDEM_FCGI_RESPONDER, false);
		record(&out, IDEM_FCGI_PARAMS, idem_buf_bytes(&stream), 0);
		idem_fcgi_stream_end(&out, IDEM_FCGI_PARAMS, ID);
		record(&out, IDEM_FCGI_STDIN, idem_bytes_text(BODY), 0);
		idem_fcgi_stream_end(&out, IDEM_FCGI_STDIN, ID);
		rig_receive(fd, ID, idem_buf_bytes(&out), WAIT_MS, &answer);
		told(&answer, "400 rejected", "%s [R24]", wrong_pairs[i].what);
		rig_answer_free(&answer);
		idem_buf_free(&out);
		idem_buf_free(&stream);
		close(fd);
	}
}

/* --- lengths -------------------------------------------------------------- */

static const struct {
	const char *length, *want;
} lengths[] = {
	{ "10", "201 stored" },
	{ "", "201 stored" },		/* none: all that comes */
	{ "010", "201 stored" },
	{ "9", "400 rejected" },
	{ "11", "400 rejected" },
	{ "0", "400 rejected" },
	{ "-5", "400 rejected" },
	{ "-10", "400 rejected" },
	{ "+10", "400 rejected" },
	{ " 10", "400 rejected" },
	{ "10 ", "400 rejected" },
	{ "10, 10", "400 rejected" },
	{ "abc", "400 rejected" },
	{ "0xa", "400 rejected" },
	{ "10.0", "400 rejected" },
	{ "1e1", "400 rejected" },
	{ "99999999999999999999", "400 rejected" },
	{ "18446744073709551626", "400 rejected" },	/* 2^64 + 10 */
	{ "4294967306", "400 rejected" },		/* 2^32 + 10 */
};

#define LENGTHS (sizeof lengths / sizeof *lengths)

/* With a key; then, for every length but those that are right, the right one;
   and without a key. */
static void
each_length(struct rig *rig)
{
	struct rig_request request = { .method = "POST", .path = "/place",
		.body = idem_bytes_text(BODY) };
	long before = starts(rig), right = 0;
	char key[32];
	size_t i;

	for (i = 0; i < LENGTHS; i++) {
		bool refused = lengths[i].want[0] == '4';

		snprintf(key, sizeof key, "length-%zu", i);
		request.key = key;
		request.length = lengths[i].length;
		ask(rig, &request, lengths[i].want, "CONTENT_LENGTH \"%s\" "
		    "[cgi:C53]",
		    lengths[i].length);
		request.length = NULL;
		ask(rig, &request, refused ? "201 stored" : "201 replayed",
		    "then with its length");
		request.key = NULL;
		request.length = lengths[i].length;
		ask(rig, &request, refused ? "400 rejected" : "201",
		    "\"%s\" without a key", lengths[i].length);
		right += !refused;
	}
	is_int(starts(rig) - before, (long long)LENGTHS + right,
	    "nothing was started with a wrong length [cgi:C53 F17]");
}

/* The program is told the length of what it gets, and reads it to its end. */
static void
length_given(struct rig *rig)
{
	static const struct {
		const char *length, *body, *want;
	} rows[] = {
		{ NULL, "12345", "5\n12345" },
		{ "", "12345", "5\n12345" },
		{ NULL, "", "\n" },
		{ "", "", "\n" },
	};
	struct rig_request request = { .method = "POST", .path = "/place" };
	struct rig_answer answer;
	char key[32];
	size_t i;

	for (i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
		snprintf(key, sizeof key, "given-%zu", i);
		request.key = i % 2 == 0 ? key : NULL;
		request.length = rows[i / 2].length;
		request.body = idem_bytes_text(rows[i / 2].body);
		rig_request(rig, &request, &answer);
		is_bytes(answer.body.at, answer.body.len, rows[i / 2].want,
		    strlen(rows[i / 2].want), "a body of %zu bytes, %s "
		    "[cgi:C46 R4 R9]",
		    request.body.len, i % 2 == 0 ? "keyed" : "not keyed");
		rig_answer_free(&answer);
	}
}

/* --- the client goes ------------------------------------------------------ */

static void
send_abort(int fd)
{
	struct idem_buf out = { 0 };

	record(&out, IDEM_FCGI_ABORT_REQUEST, (struct idem_bytes){ 0 }, 0);
	if (rig_send(fd, idem_buf_bytes(&out), 0, WAIT_MS) == -1)
		bail_out("cannot abort: %s", strerror(errno));
	idem_buf_free(&out);
}

/* While it runs: the run goes on, and its answer waits for the retry. */
static void
goes(struct rig *rig, bool aborts)
{
	struct rig_request request = { .method = "POST", .path = "/place",
		.key = aborts ? "aborts" : "closes",
		.body = idem_bytes_text(BODY) };
	struct rig_answer answer;
	long before = starts(rig);
	int fd, retry;

	rig_file(rig, "hold", "");
	fd = ask_begin(rig, &request);
	await_starts(rig, before + 1);
	if (aborts) {
		send_abort(fd);
		rig_receive(fd, ID, (struct idem_bytes){ 0 }, WAIT_MS, &answer);
		told(&answer, "0", "an abort is answered at once "
		    "[cgi:C70 F13]");
		rig_answer_free(&answer);
	}
	close(fd);
	retry = ask_begin(rig, &request);	/* at once, and later */
	unlink(rig_at(rig, "hold"));
	ask_end(rig, retry, &answer);
	told(&answer, "201 replayed", "the retry of one who %s",
	    aborts ? "aborts" : "closes");
	rig_answer_free(&answer);
	ask(rig, &request, "201 replayed", "and once more");
	is_int(starts(rig) - before, 1, "there was one start [cgi:C70]");
}

int
main(void)
{
	struct rig rig;
	long before;

	rig_open(&rig);
	rig_program(&rig, "place", place);
	ask_start(&rig, (const char *[]){ "--in-progress", "wait:60s", "--",
	    rig_at(&rig, "place"), NULL });
	each_cut(&rig);
	before = starts(&rig);
	each_wrong_pair(&rig);
	is_int(starts(&rig) - before, 0, "nothing was started for them");
	each_length(&rig);
	length_given(&rig);
	goes(&rig, false);
	goes(&rig, true);
	is_int(rig_stop(&rig, WAIT_MS), 0, "idemd ends with status 0");
	rig_end(&rig);
	return done();
}
