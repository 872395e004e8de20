/* SPDX-License-Identifier: ISC */
/*
 * What a server may send, in any pieces: no bytes make an answer whole that is
 * not, and none end the simulator.
 */
#include "caller_private.h"
#include "draw.h"
#include "tap.h"

#include <string.h>

#define ID 1
#define PADDING 9	/* of the last record: it may come later */
#define RANDOM 20000
#define PART(text) { text, sizeof text - 1 }

static struct call call;
static struct call_private in;

static void
begin(bool http)
{
	idem_buf_free(&call.out);
	caller_http_free(&in.http);
	call = (struct call){ .http = http, .method = "POST" };
	in = (struct call_private){ .call = &call };
}

static enum caller_told
take(struct idem_bytes piece)
{
	return (call.http ? caller_http_take : caller_fcgi_take)(&in, piece);
}

/* In pieces of that length, until it says something; *at: where. */
static enum caller_told
feed(bool http, struct idem_bytes all, size_t piece, size_t *at)
{
	enum caller_told told = CALLER_MORE;
	const char *from = all.at;
	size_t n;

	begin(http);
	for (*at = 0; *at < all.len && told == CALLER_MORE; *at += n) {
		n = all.len - *at < piece ? all.len - *at : piece;
		told = take((struct idem_bytes){ from + *at, n });
	}
	return told;
}

static const char *
told_text(enum caller_told told)
{
	return told == CALLER_WHOLE ? "whole" : told == CALLER_MORE ? "more" :
	    call.why != NULL ? call.why : "broken, and nobody says why";
}

/* --- records -------------------------------------------------------------- */

static void
record(struct idem_buf *out, enum idem_fcgi_type type, uint16_t id,
    const char *content, size_t len, uint8_t padding)
{
	static const char zeroes[255];
	uint8_t header[8];

	idem_fcgi_header(header, type, id, (uint16_t)len, padding);
	idem_buf_append(out, header, sizeof header);
	idem_buf_append(out, content, len);
	idem_buf_append(out, zeroes, padding);
}

static void
text(struct idem_buf *out, enum idem_fcgi_type type, uint16_t id,
    const char *content, uint8_t padding)
{
	record(out, type, id, content, strlen(content), padding);
}

static void
end(struct idem_buf *out, uint16_t id, uint8_t padding)
{
	record(out, IDEM_FCGI_END_REQUEST, id, "\0\0\0\0\0\0\0\0", 8, padding);
}

static void
good(struct idem_buf *out)
{
	idem_buf_clear(out);
	text(out, IDEM_FCGI_STDOUT, ID, "X: y\r\n", 255);
	text(out, IDEM_FCGI_STDERR, ID, "oh", 6);
	text(out, IDEM_FCGI_STDOUT, 2, "another's", 7);
	text(out, IDEM_FCGI_STDOUT, ID, "\r\nhi", 0);
	end(out, 2, 0);
	text(out, IDEM_FCGI_STDOUT, ID, "", 0);
	end(out, ID, PADDING);
}

static void
test_pieces(void)
{
	struct idem_buf b = { 0 };
	size_t piece, at, wrong = 0;

	good(&b);
	for (piece = 1; piece <= b.len; piece++) {
		wrong += feed(false, idem_buf_bytes(&b), piece, &at) !=
		    CALLER_WHOLE || at < b.len - PADDING;
		wrong += call.out.len != 10 ||
		    memcmp(call.out.at, "X: y\r\n\r\nhi", 10) != 0;
	}
	is_int((long long)wrong, 0, "records may be cut anywhere, be padded, "
	    "and lie between another's");
	for (wrong = 0, piece = 0; piece < b.len - PADDING; piece++)
		wrong += feed(false, (struct idem_bytes){ b.at, piece },
		    b.len, &at) != CALLER_MORE;
	is_int((long long)wrong, 0, "and no part of them is a whole answer");
	idem_buf_free(&b);
}

static void
test_records(void)
{
	struct idem_buf b = { 0 };
	size_t at;

	record(&b, IDEM_FCGI_END_REQUEST, ID, NULL, 0, 0);
	is(told_text(feed(false, idem_buf_bytes(&b), 99, &at)), "not FastCGI",
	    "an END_REQUEST without content is none");
	idem_buf_clear(&b);
	end(&b, 7, 0);
	is(told_text(feed(false, idem_buf_bytes(&b), 99, &at)), "more",
	    "one of another request ends nothing");
	idem_buf_clear(&b);
	record(&b, IDEM_FCGI_END_REQUEST, ID, "\0\0\0\0\2\0\0\0", 8, 0);
	is(told_text(feed(false, idem_buf_bytes(&b), 99, &at)), "overloaded",
	    "one that says overloaded is no answer");
	good(&b);
	good(&b);
	text(&b, IDEM_FCGI_STDOUT, ID, "X: z\r\n\r\nho", 0);
	end(&b, ID, 0);
	is(told_text(feed(false, idem_buf_bytes(&b), 9999, &at)),
	    "more after it", "two answers in one are not whole");
	idem_buf_free(&b);
}

/* --- HTTP ----------------------------------------------------------------- */

#define OK "HTTP/1.1 200 OK\r\n"

static const struct {
	const char *what, *says, *told;
} rows[] = {
	{ "any number of preliminary answers comes before one",
	  "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nA: b\r\n\r\n"
	  OK "Content-Length: 2\r\n\r\nhi", "whole" },
	{ "without one they are none", "HTTP/1.1 100 Continue\r\n\r\n",
	  "more" },
	{ "two answers in one are not whole", OK "Content-Length: 2\r\n\r\nhi"
	  OK "Content-Length: 2\r\n\r\nho", "more after it" },
	{ "nor is one without a body that has one",
	  "HTTP/1.1 204 No\r\n\r\nhi", "more after it" },
	{ "nor is one in chunks with another behind it",
	  OK "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" OK,
	  "more after it" },
	{ "a chunk that is longer than it says is none",
	  OK "Transfer-Encoding: chunked\r\n\r\n1\r\nhi\r\n0\r\n\r\n",
	  "not HTTP" },
	{ "a size of too many digits is none",
	  OK "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n",
	  "not HTTP" },
	{ "a negative one neither",
	  OK "Transfer-Encoding: chunked\r\n\r\n-1\r\n", "not HTTP" },
	{ "an answer of another protocol is none", "HTTP/2 200\r\n\r\n",
	  "not HTTP" },
	{ "nor is one with a status of letters", "HTTP/1.1 abc OK\r\n\r\n",
	  "not HTTP" }
};

static void
test_http(void)
{
	size_t i, piece, len, at, same;
	const char *first;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		len = strlen(rows[i].says);
		first = told_text(feed(true, idem_bytes_text(rows[i].says),
		    len, &at));
		is(first, rows[i].told, "%s", rows[i].what);
		if (strcmp(first, "more after it") == 0)
			continue;	/* the rest is not there yet */
		for (same = 0, piece = 1; piece <= len; piece++)
			same += strcmp(first, told_text(feed(true,
			    idem_bytes_text(rows[i].says), piece, &at))) == 0;
		is_int((long long)same, (long long)len,
		    "%s, in whatever pieces", rows[i].what);
	}
}

/* --- lengths and statuses that are none ----------------------------------- */

static const char *
read_of(const char *answer, bool http)
{
	begin(http);
	idem_buf_text(&call.out, answer);
	caller_answer_read(&call, true);
	return call.why != NULL ? call.why : "whole";
}

static void
test_heads(void)
{
	is(read_of("Content-Length: two\r\n\r\nhi", false), "short",
	    "a length that is no number is not met");
	is(read_of("Content-Length: -2\r\n\r\n", false), "short",
	    "nor one below 0");
	is(read_of("Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi!", false),
	    "long", "of two lengths the first counts");
	is(read_of("Status: fine\r\n\r\nhi", false), "no head",
	    "a status of letters is none");
	is(read_of("Status: 200\r\n\r\nhi", false), "whole", "a number is");
	is(read_of("\r\n\r\n", false), "whole", "an empty head is a head");
	is(read_of(":\n:\n\n", false), "whole", "so are lines without a name");
}

/* --- anything ------------------------------------------------------------- */

static void
test_anything(void)
{
	static const struct idem_bytes parts[] = {
		PART(OK), PART("\r\n"), PART("\n\n"), PART("\r\n\r\n"),
		PART("Content-Length: 3\r\n"), PART("0\r\n"), PART("3\r\n"),
		PART("Transfer-Encoding: chunked\r\n"), PART("abc"),
		PART("HTTP/1.1 100 C\r\n\r\n"), PART("Status: 1"), PART(":"),
		PART("\1\6\0\1\0\3\0\0"), PART("\1\3\0\1\0\10\0\0")
	};
	struct idem_buf b = { 0 };
	unsigned i, j, whole = 0;
	struct draw d;
	size_t at;

	draw_seed(&d, 7);
	for (i = 0; i < RANDOM; i++) {
		idem_buf_clear(&b);
		for (j = 0; j < 8; j++) {
			at = draw_below(&d, sizeof parts / sizeof *parts + 1);
			if (at < sizeof parts / sizeof *parts)
				idem_buf_append(&b, parts[at].at,
				    parts[at].len);
			else
				idem_buf_u8(&b, (uint8_t)draw_bits(&d));
		}
		whole += feed(i % 2 == 0, idem_buf_bytes(&b), 1 +
		    (size_t)draw_below(&d, 9), &at) == CALLER_WHOLE;
		caller_answer_read(&call, false);
	}
	ok(whole < RANDOM, "%u answers of anything end nobody", RANDOM);
	begin(false);
	idem_buf_free(&b);
}

int
main(void)
{
	test_pieces();
	test_records();
	test_http();
	test_heads();
	test_anything();
	return done();
}
