/* SPDX-License-Identifier: ISC */
#include "fingerprint.h"
#include "tap.h"

#include <string.h>

#define FORM "multipart/form-data; boundary="
#define CR "\r\n"
#define BODY(b) "--" b CR CR "x" CR "--" b "--" CR

/* Where one part's bytes go to the next, the digest goes elsewhere. */
static void
test_asked(void)
{
	static const struct {
		const char *method, *path, *script, *query, *type, *encoding;
	} rows[] = {
		{ "", "", "", "", "", "" },
		{ "x", "", "", "", "", "" },
		{ "", "x", "", "", "", "" },
		{ "", "", "x", "", "", "" },
		{ "", "", "", "x", "", "" },
		{ "", "", "", "", "x", "" },
		{ "", "", "", "", "", "x" },
		{ "xx", "", "", "", "", "" },
		{ "x", "x", "", "", "", "" },
		{ "", "xx", "", "", "", "" },
		{ "", "x", "x", "", "", "" },
		{ "", "", "xx", "", "", "" },
		{ "", "", "x", "x", "", "" },
		{ "", "", "", "xx", "", "" },
		{ "", "", "", "x", "x", "" },
		{ "", "", "", "", "xx", "" },
		{ "", "", "", "", "x", "x" },
		{ "", "", "", "", "", "xx" },
	};
	struct idem_digest seen[sizeof rows / sizeof *rows];
	struct idem_bytes none = { NULL, 0 };
	struct idem_asked asked = { .parts = IDEM_PARTS_ALL };
	size_t i, j, alike = 0;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		asked.method = idem_bytes_text(rows[i].method);
		asked.path = idem_bytes_text(rows[i].path);
		asked.script = idem_bytes_text(rows[i].script);
		asked.query = idem_bytes_text(rows[i].query);
		asked.type = idem_bytes_text(rows[i].type);
		asked.encoding = idem_bytes_text(rows[i].encoding);
		seen[i] = fingerprint_of(&asked, none, 1);
		for (j = 0; j < i; j++)
			alike += idem_digest_equal(&seen[i], &seen[j]);
	}
	is_int((long long)alike, 0, "method, path, SCRIPT_NAME, query, type "
	    "and encoding each count by themselves");
}

/* Fronts split the program's path in different places. */
static void
test_script(void)
{
	struct idem_bytes none = { NULL, 0 };
	const struct idem_asked one = {
		.parts = IDEM_PARTS_ALL, .script = idem_bytes_text("/a"),
		.info = idem_bytes_text("/b")
	}, whole = {
		.parts = IDEM_PARTS_ALL, .script = idem_bytes_text("/a/b")
	}, other = {
		.parts = IDEM_PARTS_ALL, .script = idem_bytes_text("/a"),
		.info = idem_bytes_text("/c")
	};
	struct idem_digest a = fingerprint_of(&one, none, 1);
	struct idem_digest b = fingerprint_of(&whole, none, 1);
	struct idem_digest c = fingerprint_of(&other, none, 1);

	ok(idem_digest_equal(&a, &b),
	    "SCRIPT_NAME and PATH_INFO count as one path");
	ok(!idem_digest_equal(&a, &c), "of which every byte counts");
}

/* Every choice of parts, of two requests that differ in everything. */
static void
test_parts(void)
{
	struct idem_bytes x = idem_bytes_text("x"), y = idem_bytes_text("y");
	struct idem_asked asked = { 0, x, x, x, x, x, x, x };
	struct idem_asked other = { 0, y, y, y, y, y, y, y };
	struct idem_digest seen[IDEM_PARTS_ALL + 1], d;
	unsigned i, j, alike = 0, chosen = 0;

	for (i = 0; i <= IDEM_PARTS_ALL; i++) {
		asked.parts = other.parts = i;
		seen[i] = fingerprint_of(&asked, x, 1);
		for (j = 0; j < i; j++)
			alike += idem_digest_equal(&seen[i], &seen[j]);
		d = fingerprint_of(&other, y, 1);
		chosen += idem_digest_equal(&d, &seen[i]) == (i == 0);
	}
	is_int(alike, 0, "no two choices of parts share a fingerprint");
	is_int(chosen, IDEM_PARTS_ALL + 1,
	    "and each sees what it chose, but for none at all [idem:D15]");
}

/* The boundary is in the type, but its delimiters are in the body. */
static void
test_apart(void)
{
	static const char a[] = BODY("A"), b[] = BODY("B");
	struct idem_asked one = { .type = idem_bytes_text(FORM "A") };
	struct idem_asked other = { .type = idem_bytes_text(FORM "B") };
	struct idem_digest d, e;

	one.parts = other.parts = IDEM_PART_TYPE;
	d = fingerprint_of(&one, idem_bytes_text(a), 1);
	e = fingerprint_of(&other, idem_bytes_text(b), 1);
	ok(idem_digest_equal(&d, &e),
	    "a type without its body has no boundary");
	one.parts = other.parts = IDEM_PART_BODY;
	e = fingerprint_of(&other, idem_bytes_text(b), 1);
	d = fingerprint_of(&one, idem_bytes_text(a), 1);
	ok(!idem_digest_equal(&d, &e),
	    "a body without its type is what it is, boundaries too");
	e = fingerprint_of(&other, idem_bytes_text(a), SIZE_MAX);
	ok(idem_digest_equal(&d, &e), "and nothing else");
}

/* A mismatch says in what: by short hints in the fingerprints themselves. */
static void
test_differs(void)
{
	static const char form[] = BODY("A");
	struct idem_bytes x = idem_bytes_text("x"), y = idem_bytes_text("y");
	const struct {
		struct idem_asked asked;
		struct idem_bytes body;
		const char *text;
	} rows[] = {
		{ { IDEM_PARTS_ALL, x, x, x, x, x, x, x }, x, "" },
		{ { IDEM_PARTS_ALL, y, x, x, x, x, x, x }, x, "method" },
		{ { IDEM_PARTS_ALL, x, y, x, x, x, x, x }, x, "path" },
		{ { IDEM_PARTS_ALL, x, x, x, x, y, x, x }, x, "query" },
		{ { IDEM_PARTS_ALL, x, x, x, x, x, y, x }, x, "Content-Type" },
		{ { IDEM_PARTS_ALL, x, x, x, x, x, x, y }, x,
		  "Content-Encoding" },
		{ { IDEM_PARTS_ALL, x, x, x, x, x, x, x }, y, "body" },
		{ { IDEM_PARTS_ALL, x, x, x, x, y, x, y }, y,
		  "query, Content-Encoding" }
	};
	struct idem_asked one = rows[0].asked, other = rows[0].asked;
	struct idem_digest first = fingerprint_of(&one, x, 1), d;
	char text[80];
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		d = fingerprint_of(&rows[i].asked, rows[i].body, 1);
		idem_parts_text(idem_fingerprint_differs(&first, &d), text,
		    sizeof text);
		is(text, rows[i].text, "what differs is told: %s [idem:D24]",
		    *rows[i].text != '\0' ? rows[i].text : "nothing");
	}
	one.type = idem_bytes_text(FORM "A");
	other.type = idem_bytes_text(FORM "B");
	first = fingerprint_of(&one, idem_bytes_text(form), 1);
	d = fingerprint_of(&other, x, 1);
	idem_parts_text(idem_fingerprint_differs(&first, &d), text,
	    sizeof text);
	is(text, "body", "another boundary is not told as another type");
	idem_parts_text(IDEM_PARTS_ALL, text, 12);
	ok(strlen(text) < 12, "a text that has no room for all is cut");
}

int
main(void)
{
	test_differs();
	test_asked();
	test_script();
	test_parts();
	test_apart();
	return done();
}
