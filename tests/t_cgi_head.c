/* SPDX-License-Identifier: ISC */
#include "cgi_head.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CT "Content-Type: text/plain\n"
#define CT_OUT "Content-Type: text/plain\r\n"

/* A text with its length, since some hold NUL. */
#define IN(text) { text, sizeof text - 1 }

/* Heads that are whole.  After the head each row has a body, "BODY". */
static const struct {
	const char *what;
	const char *in;
	const char *status;	/* NULL: none */
	const char *lines;
	const char *flags;	/* l: length, n: no store, o: location,
				   a: an absolute one, t: type */
	int code;
	uint64_t length;
} whole[] = {
	{ "a Content-Type is enough [R15]", CT "\n",
	  NULL, CT_OUT, "t", 200, 0 },
	{ "CRLF stays CRLF [R20]", "Content-Type: text/plain\r\n\r\n",
	  NULL, CT_OUT, "t", 200, 0 },
	{ "LF and CRLF may be mixed [R20]", "A: 1\r\nB: 2\n\r\n",
	  NULL, "A: 1\r\nB: 2\r\n", "", 200, 0 },
	{ "Status is taken out and kept as sent",
	  "Status: 404 Not Found\n" CT "\n",
	  "404 Not Found", CT_OUT, "t", 404, 0 },
	{ "Status alone is a head", "Status: 204\n\n",
	  "204", "", "", 204, 0 },
	{ "blanks around a Status are not part of it, its name has no case",
	  "A: 1\nsTATUS: \t201 Made  \n\n",
	  "201 Made", "A: 1\r\n", "", 201, 0 },
	{ "a Status may have a tab and any text", "Status: 599\t\xe9:;\n\n",
	  "599\t\xe9:;", "", "", 599, 0 },
	{ "an empty Status is none", "Status:\n" CT "\n",
	  NULL, CT_OUT, "t", 200, 0 },
	{ "two equal Status are one", "Status: 201 A\nStatus: 201 B\n\n",
	  "201 A", "", "", 201, 0 },
	{ "an HTTP/1.1 line becomes the Status [cgi:C86 R13 F18]",
	  "HTTP/1.1 404 Not Found\r\n" CT "\n",
	  "404 Not Found", CT_OUT, "t", 404, 0 },
	{ "an HTTP/1.0 line without text becomes the Status",
	  "HTTP/1.0 200\n" CT "\n",
	  "200", CT_OUT, "t", 200, 0 },
	{ "an HTTP/1.1 line and an equal Status agree",
	  "HTTP/1.1 404 Not Found\nStatus: 404\n\n",
	  "404 Not Found", "", "", 404, 0 },
	{ "order, case, blanks and duplicates are kept",
	  "set-cookie: b=2\nX:\t 1 \nSet-Cookie: a=1\nset-cookie: b=2\n\n",
	  NULL, "set-cookie: b=2\r\nX:\t 1 \r\nSet-Cookie: a=1\r\n"
	  "set-cookie: b=2\r\n", "", 200, 0 },
	{ "a value may be empty, hold colons and bytes over 127",
	  "A:\nB::\nC: \xff\n\n",
	  NULL, "A:\r\nB::\r\nC: \xff\r\n", "", 200, 0 },
	{ "every character of a token may stand in a name",
	  "a!#$%&'*+-.^_`|~Z09: x\n\n",
	  NULL, "a!#$%&'*+-.^_`|~Z09: x\r\n", "", 200, 0 },
	{ "connection-level fields, Date and Server are taken out "
	    "[R21 idem:E13]",
	  "Connection: close\nA: 1\nkeep-alive: x\nProxy-Connection: x\n"
	  "TE: x\nTrailer: x\nTransfer-Encoding: identity\nUpgrade: x\n"
	  "DATE: x\nServer: x\nB: 2\n\n",
	  NULL, "A: 1\r\nB: 2\r\n", "", 200, 0 },
	{ "fields that are ours to say are taken out",
	  "Idempotency-Status: stored\nA: 1\nidempotent-replayed: true\n"
	  "IDEMPOTENCY-STATUS: replayed\nB: 2\nIdempotency-Keep: 9\n\n",
	  NULL, "A: 1\r\nB: 2\r\n", "", 200, 0 },
	{ "names that only begin like those are kept",
	  "Dates: 1\nServe: 2\nT: 3\nStatus-Text: 4\n"
	  "Idempotency-Status-X: 5\n\n",
	  NULL, "Dates: 1\r\nServe: 2\r\nT: 3\r\nStatus-Text: 4\r\n"
	  "Idempotency-Status-X: 5\r\n", "", 200, 0 },
	{ "an empty Transfer-Encoding is none", CT "Transfer-Encoding:\n\n",
	  NULL, CT_OUT, "t", 200, 0 },
	{ "Content-Length is read and kept", CT "Content-Length: 4\n\n",
	  NULL, CT_OUT "Content-Length: 4\r\n", "lt", 200, 4 },
	{ "equal Content-Lengths are one",
	  "Content-Length: 4\ncontent-length: 04\n\n",
	  NULL, "Content-Length: 4\r\n", "l", 200, 4 },
	{ "a Content-Length of nothing is none", CT "Content-Length: \n\n",
	  NULL, CT_OUT, "t", 200, 0 },
	{ "a large Content-Length is a number",
	  "Content-Length: 9000000000000000000\n\n",
	  NULL, "Content-Length: 9000000000000000000\r\n", "l", 200,
	  UINT64_C(9000000000000000000) },
	{ "an absolute Location gets Status 302 [cgi:C29 R19]",
	  "Location: https://example.org/\n\n",
	  "302 Found", "Location: https://example.org/\r\n", "oa", 302, 0 },
	{ "any scheme is absolute", "Location: x+1-.y:z\n\n",
	  "302 Found", "Location: x+1-.y:z\r\n", "oa", 302, 0 },
	{ "an absolute Location with a Status keeps it",
	  "Status: 201 Created\nLocation: http://e/x\n\n",
	  "201 Created", "Location: http://e/x\r\n", "oa", 201, 0 },
	{ "a Status after the Location counts too",
	  "Location: http://e/x\nStatus: 303\n\n",
	  "303", "Location: http://e/x\r\n", "oa", 303, 0 },
	{ "a local Location gets no Status [cgi:C29 R18]",
	    "Location: /done:x\n\n",
	  NULL, "Location: /done:x\r\n", "o", 200, 0 },
	{ "a relative Location gets no Status", "Location: 1a:b\n\n",
	  NULL, "Location: 1a:b\r\n", "o", 200, 0 },
	{ "a colon alone is no scheme", "Location: :x\n\n",
	  NULL, "Location: :x\r\n", "o", 200, 0 },
	{ "an empty Location is none", "Location:\n\n",
	  NULL, "Location:\r\n", "", 200, 0 },
	{ "an empty Content-Type is none", "Content-Type: \n\n",
	  NULL, "Content-Type: \r\n", "", 200, 0 },
	{ "Idempotency-Store: no is heard and taken out",
	  CT "idempotency-store: No\n\n",
	  NULL, CT_OUT, "nt", 200, 0 },
	{ "any other Idempotency-Store is only taken out",
	  CT "Idempotency-Store: yes\n\n",
	  NULL, CT_OUT, "t", 200, 0 },
};

static const struct {
	const char *what;
	struct {
		const char *at;
		size_t len;
	} in;
	const char *wrong;
} broken[] = {
	{ "a blank line first", IN("\nhello"), "no field at all" },
	{ "a CRLF first", IN("\r\nhello"), "no field at all" },
	{ "only fields that are taken out", IN("Date: x\n\n"),
	  "no field at all" },
	{ "only fields without value", IN("Status:\nContent-Length:\n\n"),
	  "no field at all" },
	{ "only body", IN("hello\n\n"), "a line without colon" },
	{ "a line without colon", IN(CT "x\n\n"), "a line without colon" },
	{ "an HTTP/2 line", IN("HTTP/2 200\n" CT "\n"),
	  "a line without colon" },
	{ "an HTTP line that is not the first", IN(CT "HTTP/1.1 200 OK\n\n"),
	  "a line without colon" },
	{ "a folded line [R16]", IN("A: 1\n b: 2\n\n"), "a folded line" },
	{ "a line folded by a tab", IN("A: 1\n\tb\n\n"), "a folded line" },
	{ "a first line that is folded", IN(" A: 1\n\n"), "a folded line" },
	{ "a blank before the colon [R16]", IN("A : 1\n\n"),
	  "a blank before the colon" },
	{ "no name", IN(": 1\n\n"), "a bad field name" },
	{ "a comment for a name [cgi:C42]",
	    IN("<!--: spam\n\n"), "a bad field name" },
	{ "a blank within a name", IN("A B: 1\n\n"), "a bad field name" },
	{ "a name with a byte over 127", IN("\xc3\xa4: 1\n\n"),
	  "a bad field name" },
	{ "NUL in a value", IN("A: \0001\n\n"), "NUL" },
	{ "NUL in a name", IN("A\0: 1\n\n"), "NUL" },
	{ "NUL in an HTTP line", IN("HTTP/1.1 200 \0\n\n"), "NUL" },
	{ "CR in a value", IN("A: 1\rB: 2\n\n"), "a CR inside a line" },
	{ "CR twice before LF", IN("A: 1\r\r\n\n"), "a CR inside a line" },
	{ "CR in an HTTP line", IN("HTTP/1.1 200 \rx\n\n"),
	  "a CR inside a line" },
	{ "a Status that is no number", IN("Status: abc\n\n"),
	  "Status is not 200 to 599" },
	{ "a Status of two digits", IN("Status: 99\n\n"),
	  "Status is not 200 to 599" },
	{ "a Status of four digits", IN("Status: 2000\n\n"),
	  "Status is not 200 to 599" },
	{ "a Status whose text has no blank", IN("Status: 200OK\n\n"),
	  "Status is not 200 to 599" },
	{ "Status 100", IN("Status: 100 Continue\n\n"),
	  "Status is not 200 to 599" },
	{ "Status 199", IN("Status: 199\n\n"), "Status is not 200 to 599" },
	{ "Status 600", IN("Status: 600\n\n"), "Status is not 200 to 599" },
	{ "a negative Status", IN("Status: -20\n\n"),
	  "Status is not 200 to 599" },
	{ "an HTTP line of 100", IN("HTTP/1.1 100 Continue\n\n"),
	  "Status is not 200 to 599" },
	{ "an HTTP line without code", IN("HTTP/1.1 \n\n"),
	  "Status is not 200 to 599" },
	{ "two Status [cgi:C86 R16]", IN("Status: 201\nStatus: 404\n\n"),
	  "two different Status" },
	{ "an HTTP line and another Status",
	  IN("HTTP/1.1 200 OK\nStatus: 404\n\n"), "two different Status" },
	{ "a negative Content-Length", IN("Content-Length: -4\n\n"),
	  "Content-Length is not a number" },
	{ "a Content-Length with a sign", IN("Content-Length: +4\n\n"),
	  "Content-Length is not a number" },
	{ "a Content-Length with more", IN("Content-Length: 4x\n\n"),
	  "Content-Length is not a number" },
	{ "a list of Content-Lengths", IN("Content-Length: 4, 4\n\n"),
	  "Content-Length is not a number" },
	{ "a Content-Length over 64 bits",
	  IN("Content-Length: 18446744073709551620\n\n"),
	  "Content-Length is not a number" },
	{ "two Content-Lengths", IN("Content-Length: 2\nContent-Length: 4\n\n"),
	  "two different Content-Length" },
	{ "a chunked answer [cgi:C84]", IN(CT "Transfer-Encoding: chunked\n\n"),
	  "Transfer-Encoding" },
	{ "identity and chunked",
	  IN(CT "Transfer-Encoding: identity, chunked\n\n"),
	  "Transfer-Encoding" },
};

static struct idem_bytes
bytes(const void *at, size_t len)
{
	return (struct idem_bytes){ at, len };
}

static const char *
text_of(const struct idem_buf *b, char *out, size_t size)
{
	snprintf(out, size, "%.*s", (int)b->len,
	    b->len > 0 ? (const char *)b->at : "");
	return out;
}

static const char *
flags_of(const struct idem_head *h, char out[6])
{
	size_t n = 0;

	if (h->has_length)
		out[n++] = 'l';
	if (h->no_store)
		out[n++] = 'n';
	if (h->has_location)
		out[n++] = 'o';
	if (h->location_absolute)
		out[n++] = 'a';
	if (h->has_type)
		out[n++] = 't';
	out[n] = '\0';
	return out;
}

/* Whether every shorter input asks for more, and the last byte is needed. */
static bool
grows(struct idem_head *h, const char *in, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (idem_head_parse(h, bytes(in, i), false) !=
		    IDEM_HEAD_MORE || h->lines.len > 0 || h->has_status)
			return false;
	return true;
}

static void
check_whole(void)
{
	struct idem_head h = { 0 };
	char in[512], flags[6], lines[512], status[512];
	const char *what;
	size_t i, len;

	for (i = 0; i < sizeof whole / sizeof *whole; i++) {
		what = whole[i].what;
		len = strlen(whole[i].in);
		snprintf(in, sizeof in, "%sBODY\n\n", whole[i].in);
		ok(grows(&h, in, len), "%s, seen only at its end", what);
		ok(idem_head_parse(&h, bytes(in, strlen(in)), i % 2 == 0) ==
		    IDEM_HEAD_WHOLE && h.wrong == NULL, "%s", what);
		is_int((long long)h.size, (long long)len,
		    "%s: the body begins after it", what);
		is(text_of(&h.lines, lines, sizeof lines), whole[i].lines,
		    "%s: its lines", what);
		is(h.has_status ? text_of(&h.status, status, sizeof status) :
		    NULL, whole[i].status, "%s: its Status", what);
		is_int(h.code, whole[i].code, "%s: its code", what);
		is(flags_of(&h, flags), whole[i].flags, "%s: its flags", what);
		ok(h.length == whole[i].length, "%s: its length", what);
	}
	idem_head_free(&h);
	ok(h.lines.at == NULL && h.status.at == NULL,
	    "a freed head holds nothing");
}

static void
check_broken(void)
{
	struct idem_head h = { 0 };
	size_t i;

	for (i = 0; i < sizeof broken / sizeof *broken; i++) {
		ok(idem_head_parse(&h, bytes(broken[i].in.at,
		    broken[i].in.len), false) == IDEM_HEAD_BROKEN &&
		    h.lines.len == 0 && h.status.len == 0,
		    "%s is no head", broken[i].what);
		is(h.wrong, broken[i].wrong, "%s is said to be so",
		    broken[i].what);
	}
	idem_head_free(&h);
}

static void
check_ends(void)
{
	static const struct {
		const char *what, *in, *wrong;
	} ends[] = {
		{ "nothing", "", "no output" },
		{ "a head without blank line", CT, "no blank line" },
		{ "half a line", "Conte", "no blank line" },
		{ "half a blank line", CT "\r", "no blank line" },
	};
	struct idem_head h = { 0 };
	struct idem_bytes in;
	size_t i;

	for (i = 0; i < sizeof ends / sizeof *ends; i++) {
		in = idem_bytes_text(ends[i].in);
		ok(idem_head_parse(&h, in, false) == IDEM_HEAD_MORE &&
		    h.wrong == NULL, "%s may still become a head",
		    ends[i].what);
		ok(idem_head_parse(&h, in, true) == IDEM_HEAD_BROKEN,
		    "%s at the end is no head", ends[i].what);
		is(h.wrong, ends[i].wrong, "%s at the end is said to be so",
		    ends[i].what);
	}
	ok(idem_head_parse(&h, bytes(NULL, 0), false) == IDEM_HEAD_MORE,
	    "no bytes at all may still become a head");
	idem_head_free(&h);
}

static void
check_sizes(char *in)
{
	struct idem_head h = { 0 };
	size_t max = IDEM_HEAD_MAX;

	memset(in, 'x', 2 * max);
	memcpy(in, "A:", 2);
	ok(idem_head_parse(&h, bytes(in, max - 1), false) == IDEM_HEAD_MORE,
	    "a line one byte under the limit may still end");
	ok(idem_head_parse(&h, bytes(in, max), false) == IDEM_HEAD_BROKEN,
	    "a line of the limit may not [cgi:C77]");
	is(h.wrong, "a head too long", "and is said to be too long");
	memcpy(in + max - 2, "\n\n", 2);
	ok(idem_head_parse(&h, bytes(in, 2 * max), false) == IDEM_HEAD_WHOLE &&
	    h.size == max, "a head of exactly the limit is whole");
	memcpy(in + max - 2, "x\n\n", 3);
	ok(idem_head_parse(&h, bytes(in, 2 * max), false) == IDEM_HEAD_BROKEN,
	    "a head of one byte more is not");
	idem_head_free(&h);
}

static void
check_counts(char *in)
{
	struct idem_head h = { 0 };
	size_t len = IDEM_HEAD_LINES_MAX * 3, i;

	for (i = 0; i < len; i += 3)
		memcpy(in + i, "A:\n", 3);
	ok(idem_head_parse(&h, bytes(in, len), false) == IDEM_HEAD_MORE,
	    "as many lines as the limit may still become a head");
	in[len] = '\n';
	ok(idem_head_parse(&h, bytes(in, len + 1), false) == IDEM_HEAD_WHOLE,
	    "as many lines as the limit are a head");
	memcpy(in + len, "A:\n", 3);
	ok(idem_head_parse(&h, bytes(in, len + 3), false) == IDEM_HEAD_BROKEN,
	    "one line more is none, without waiting for its end [cgi:C77]");
	is(h.wrong, "a head of too many lines",
	    "and is said to be of too many");
	idem_head_free(&h);
}

static void
check_memory(void)
{
	struct idem_head h = { .lines = { .max = 8 } };

	ok(idem_head_parse(&h, idem_bytes_text(CT "\n"), false) ==
	    IDEM_HEAD_BROKEN, "a head for which there is no room is broken");
	is(h.wrong, "out of memory", "and is said to be so");
	ok(idem_head_parse(&h, idem_bytes_text("A: 1\n\n"), false) ==
	    IDEM_HEAD_WHOLE, "the next one that fits is whole");
	idem_head_free(&h);
}

int
main(void)
{
	char *in = malloc(2 * IDEM_HEAD_MAX);

	if (in == NULL)
		return 111;
	check_whole();
	check_broken();
	check_ends();
	check_sizes(in);
	check_counts(in);
	check_memory();
	free(in);
	return done();
}
