/* SPDX-License-Identifier: ISC */
#include "fingerprint.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define FORM "multipart/form-data; boundary="
#define CR "\r\n"
#define PARTS_MAX 3
#define BIG (2 * 1024 * 1024)

/* A body of two parts, an item and its count, between any boundary. */
#define ITEM(b, item) \
	"--" b CR "Content-Disposition: form-data; name=\"item\"" CR CR \
	item CR \
	"--" b CR "Content-Disposition: form-data; name=\"n\"" CR CR "1" CR \
	"--" b "--" CR

struct request {
	const char *type, *body;
};

static struct idem_digest
fingerprint(const struct request *r, size_t piece)
{
	const struct idem_asked asked = {
		.parts = IDEM_PARTS_ALL,
		.method = idem_bytes_text("POST"),
		.path = idem_bytes_text("/cgi-bin/order.cgi"),
		.type = idem_bytes_text(r->type),
	};

	return fingerprint_of(&asked, idem_bytes_text(r->body), piece);
}

static bool
same(const struct request *a, const struct request *b)
{
	struct idem_digest first = fingerprint(a, SIZE_MAX);
	struct idem_digest second = fingerprint(b, SIZE_MAX);

	return idem_digest_equal(&first, &second);
}

static const struct {
	const char *what;
	struct request a, b;
	bool same;
} pairs[] = {
	{ "a form sent again is the same request",
	  { "application/x-www-form-urlencoded", "item=book&n=1" },
	  { "application/x-www-form-urlencoded", "item=book&n=1" }, true },
	{ "another body is another",
	  { "text/plain", "a" }, { "text/plain", "b" }, false },
	{ "so is a longer one",
	  { "text/plain", "a" }, { "text/plain", "aa" }, false },
	{ "the same bytes with another Content-Type are another request",
	  { "text/plain", "{}" }, { "application/json", "{}" }, false },
	{ "a type's end and a body's start are not one",
	  { "text/plain", "x" }, { "text/plainx", "" }, false },

	{ "multipart with a new boundary is the same request",
	  { FORM "AaB03x", ITEM("AaB03x", "book") },
	  { FORM "9051914041544843365972754266",
	    ITEM("9051914041544843365972754266", "book") }, true },
	{ "with a browser's boundaries too",
	  { FORM "----WebKitFormBoundary7MA4YWxkTrZu0gW",
	    ITEM("----WebKitFormBoundary7MA4YWxkTrZu0gW", "book") },
	  { FORM "----WebKitFormBoundaryp7Ye2bRzTkQw91Lx",
	    ITEM("----WebKitFormBoundaryp7Ye2bRzTkQw91Lx", "book") }, true },
	{ "but another part makes it another request",
	  { FORM "A", ITEM("A", "book") }, { FORM "B", ITEM("B", "lamp") },
	  false },
	{ "and so does another multipart type",
	  { FORM "A", ITEM("A", "book") },
	  { "multipart/mixed; boundary=A", ITEM("A", "book") }, false },
	{ "or one part less",
	  { FORM "A", ITEM("A", "book") },
	  { FORM "A", "--A" CR CR "book" CR "--A--" CR }, false },
	{ "or the end of the body",
	  { FORM "A", "--A" CR CR "x" CR "--A--" },
	  { FORM "A", "--A" CR CR "x" CR "--A--" CR }, false },

	{ "a quoted boundary is the same boundary",
	  { FORM "\"A\"", ITEM("A", "book") }, { FORM "A", ITEM("A", "book") },
	  true },
	{ "quoted, it may hold a space",
	  { FORM "\"A B\"", ITEM("A B", "book") },
	  { FORM "C", ITEM("C", "book") }, true },
	{ "unquoted, it ends at one",
	  { FORM "A B", ITEM("A B", "book") },
	  { FORM "C D", ITEM("C D", "book") }, false },
	{ "the parameter's name has no case",
	  { "multipart/form-data; BounDary=A", ITEM("A", "book") },
	  { "multipart/form-data; boundary=B", ITEM("B", "book") }, true },
	{ "nor has the type's",
	  { "Multipart/Form-Data; boundary=A", ITEM("A", "book") },
	  { "Multipart/Form-Data; boundary=B", ITEM("B", "book") }, true },
	{ "other parameters may stand before and after it",
	  { "multipart/form-data; charset=\"a;b\"; boundary=A;c=d",
	    ITEM("A", "book") },
	  { "multipart/form-data; charset=\"a;b\"; boundary=B;c=d",
	    ITEM("B", "book") }, true },
	{ "and count",
	  { "multipart/form-data; charset=a; boundary=A", ITEM("A", "book") },
	  { "multipart/form-data; charset=b; boundary=A", ITEM("A", "book") },
	  false },
	{ "also on which side they are",
	  { "multipart/form-data; x=y; boundary=A", ITEM("A", "book") },
	  { "multipart/form-data; boundary=A; x=y", ITEM("A", "book") },
	  false },
	{ "a boundary of 70 bytes is canonicalised",
	  { FORM "A23456789012345678901234567890123456789012345678901234567890"
	    "1234567890", ITEM("A2345678901234567890123456789012345678901234567"
	    "8901234567890" "1234567890", "book") },
	  { FORM "B", ITEM("B", "book") }, true },

	{ "a missing boundary is hashed as it stands",
	  { "multipart/form-data", ITEM("A", "book") },
	  { "multipart/form-data", ITEM("B", "book") }, false },
	{ "an empty one too",
	  { FORM, ITEM("A", "book") }, { FORM, ITEM("B", "book") }, false },
	{ "and one in empty quotes",
	  { FORM "\"\"", ITEM("A", "book") },
	  { FORM "\"\"", ITEM("B", "book") }, false },
	{ "and one whose quotes do not end",
	  { FORM "\"A", ITEM("A", "book") },
	  { FORM "\"B", ITEM("B", "book") }, false },
	{ "and one with an escape",
	  { FORM "\"A\\\"\"", ITEM("A\"", "book") },
	  { FORM "\"B\\\"\"", ITEM("B\"", "book") }, false },
	{ "and one of 71 bytes",
	  { FORM "A23456789012345678901234567890123456789012345678901234567890"
	    "12345678901", ITEM("A234567890123456789012345678901234567890123456"
	    "78901234567890" "12345678901", "book") },
	  { FORM "B", ITEM("B", "book") }, false },
	{ "and two of them",
	  { FORM "A; boundary=B", ITEM("A", "book") },
	  { FORM "B; boundary=A", ITEM("B", "book") }, false },
	{ "and a second of another form",
	  { FORM "A; boundary*=utf-8''B", ITEM("A", "book") },
	  { FORM "B; boundary*=utf-8''B", ITEM("B", "book") }, false },
	{ "and a second inside the first",
	  { FORM "Aboundary=C", ITEM("Aboundary=C", "book") },
	  { FORM "Bboundary=C", ITEM("Bboundary=C", "book") }, false },
	{ "and one inside another parameter's quotes",
	  { "multipart/form-data; x=\"; boundary=A\"", ITEM("A", "book") },
	  { "multipart/form-data; x=\"; boundary=B\"", ITEM("B", "book") },
	  false },
	{ "and one in the midst of another's quotes",
	  { "multipart/form-data; x=\"; boundary=A; \"", ITEM("A", "book") },
	  { "multipart/form-data; x=\"; boundary=B; \"", ITEM("B", "book") },
	  false },
	{ "and one behind an escaped quote",
	  { "multipart/form-data; x=\"\\\"; boundary=A; y=\"",
	    ITEM("A", "book") },
	  { "multipart/form-data; x=\"\\\"; boundary=B; y=\"",
	    ITEM("B", "book") }, false },
	{ "and one with a bare comma",
	  { FORM "A,C", ITEM("A,C", "book") },
	  { FORM "B,C", ITEM("B,C", "book") }, false },
	{ "and two types joined by a comma",
	  { FORM "A, text/plain", ITEM("A", "book") },
	  { FORM "B, text/plain", ITEM("B", "book") }, false },
	{ "and one of a type that is not multipart",
	  { "text/plain; boundary=A", ITEM("A", "book") },
	  { "text/plain; boundary=B", ITEM("B", "book") }, false },
	{ "and one that is only the end of a name",
	  { "multipart/form-data; xboundary=A", ITEM("A", "book") },
	  { "multipart/form-data; xboundary=B", ITEM("B", "book") }, false },

	{ "a boundary in mid-line is part of what was asked",
	  { FORM "A", ITEM("A", "a--A b") }, { FORM "B", ITEM("B", "a--B b") },
	  false },
	{ "and makes the boundary count: some programs split there",
	  { FORM "A", ITEM("A", "a--A b") }, { FORM "B", ITEM("B", "a--A b") },
	  false },
	{ "with the same boundary it is the same request",
	  { FORM "A", ITEM("A", "a--A b") }, { FORM "A", ITEM("A", "a--A b") },
	  true },
	{ "a boundary in a part without its dashes is content",
	  { FORM "AA", ITEM("AA", "AA") }, { FORM "BB", ITEM("BB", "AA") },
	  true },
	{ "which differs if it changes",
	  { FORM "AA", ITEM("AA", "AA") }, { FORM "BB", ITEM("BB", "BB") },
	  false },
	{ "a line that begins with the boundary and goes on is doubtful",
	  { FORM "A", ITEM("A", "x" CR "--AB" CR "y") },
	  { FORM "C", ITEM("C", "x" CR "--CB" CR "y") }, false },
	{ "so are lines that end in LF alone",
	  { FORM "A", "--A\n\nx\n--A--\n" }, { FORM "B", "--B\n\nx\n--B--\n" },
	  false },
	{ "and a delimiter after the last",
	  { FORM "A", ITEM("A", "x") CR "--A" CR },
	  { FORM "B", ITEM("B", "x") CR "--B" CR }, false },
	{ "also if it is a last one again",
	  { FORM "A", ITEM("A", "x") CR "--A--" CR },
	  { FORM "B", ITEM("B", "x") CR "--B--" CR }, false },
	{ "and one after a bare LF",
	  { FORM "A", "--A" CR CR "x\n--A--" CR },
	  { FORM "B", "--B" CR CR "x\n--B--" CR }, false },
	{ "and one whose CR has no LF",
	  { FORM "A", "--A" CR CR "x" CR "--A\ry" CR "--A--" CR },
	  { FORM "B", "--B" CR CR "x" CR "--B\ry" CR "--B--" CR }, false },
	{ "also the last one's",
	  { FORM "A", "--A" CR CR "x" CR "--A--\ry" },
	  { FORM "B", "--B" CR CR "x" CR "--B--\ry" }, false },
	{ "and a body without a last one",
	  { FORM "A", "--A" CR CR "x" CR "--A" CR },
	  { FORM "B", "--B" CR CR "x" CR "--B" CR }, false },
	{ "and a last one that goes on",
	  { FORM "A", "--A" CR CR "x" CR "--A--x" },
	  { FORM "B", "--B" CR CR "x" CR "--B--x" }, false },
	{ "and one with one dash",
	  { FORM "A", "--A" CR CR "x" CR "--A-" CR },
	  { FORM "B", "--B" CR CR "x" CR "--B-" CR }, false },
	{ "and one with a dash and a space",
	  { FORM "A", "--A" CR CR "x" CR "--A- " CR },
	  { FORM "B", "--B" CR CR "x" CR "--B- " CR }, false },
	{ "and a part with neither header nor body",
	  { FORM "A", "--A" CR "--A" CR CR "x" CR "--A--" },
	  { FORM "B", "--B" CR "--B" CR CR "x" CR "--B--" }, false },
	{ "also after a whole one",
	  { FORM "A", "--A" CR CR "x" CR "--A" CR "--A--" CR },
	  { FORM "B", "--B" CR CR "x" CR "--B" CR "--B--" CR }, false },
	{ "preamble and epilogue do not hide delimiters",
	  { FORM "A", "Hello" CR ITEM("A", "x") "bye" },
	  { FORM "B", "Hello" CR ITEM("B", "x") "bye" }, true },
	{ "and count",
	  { FORM "A", "Hello" CR ITEM("A", "x") "bye" },
	  { FORM "A", "Hello" CR ITEM("A", "x") "Bye" }, false },
	{ "a preamble that does not end its line is doubtful",
	  { FORM "A", "Hello" ITEM("A", "x") },
	  { FORM "B", "Hello" ITEM("B", "x") }, false },
	{ "spaces after a delimiter are let pass",
	  { FORM "A", "--A \t" CR CR "x" CR "--A-- " CR },
	  { FORM "B", "--B \t" CR CR "x" CR "--B-- " CR }, true },
	{ "and are not the same as none",
	  { FORM "A", "--A " CR CR "x" CR "--A--" CR },
	  { FORM "A", "--A" CR CR "x" CR "--A--" CR }, false },
	{ "a delimiter that repeats itself is found",
	  { FORM "-a-a-", ITEM("-a-a-", CR "---a---a-a" CR) },
	  { FORM "B", ITEM("B", CR "---a---a-a" CR) }, true },
	{ "also in mid-line, after a false start",
	  { FORM "-a-a-", ITEM("-a-a-", "x----a-a-") },
	  { FORM "B", ITEM("B", "x---B") }, false },
	{ "the start of one at the body's end counts",
	  { FORM "A", ITEM("A", "x") "-" }, { FORM "A", ITEM("A", "x") "--" },
	  false },

	{ "a part that holds the other's delimiters does not make them one",
	  { FORM "A", "--A" CR CR "x" CR "--B" CR CR "y" CR "--A--" CR },
	  { FORM "B", "--B" CR CR "x" CR "--A" CR CR "y" CR "--B--" CR },
	  false },
	{ "nor if the delimiters are all the same places",
	  { FORM "A", "--A" CR CR "--B" CR "--A--" CR },
	  { FORM "B", "--A" CR CR "--B" CR "--A--" CR }, false },
	{ "nor if one has a part where the other has a line",
	  { FORM "A", "--A" CR CR "x" CR "--A" CR CR "y" CR "--A--" CR },
	  { FORM "B", "--B" CR CR "x" CR "--A" CR CR "y" CR "--B--" CR },
	  false },
	{ "nested parts keep their own boundary",
	  { FORM "A", ITEM("A", "--in" CR CR "x" CR "--in--") },
	  { FORM "B", ITEM("B", "--in" CR CR "x" CR "--in--") }, true },
};

static void
test_pairs(void)
{
	size_t i;

	for (i = 0; i < sizeof pairs / sizeof *pairs; i++)
		ok(same(&pairs[i].a, &pairs[i].b) == pairs[i].same,
		    "%s", pairs[i].what);
}

/* Every two-way cut, and pieces of every length. */
static bool
cuts_agree(const struct request *r)
{
	const struct idem_asked asked = {
		.parts = IDEM_PARTS_ALL, .type = idem_bytes_text(r->type)
	};
	const struct idem_bytes body = idem_bytes_text(r->body);
	struct idem_digest whole = fingerprint_of(&asked, body, SIZE_MAX), d;
	struct idem_fingerprint f;
	size_t i;

	for (i = 0; i <= body.len; i++) {
		idem_fingerprint_init(&f, &asked);
		idem_fingerprint_body(&f, r->body, i);
		idem_fingerprint_body(&f, r->body + i, body.len - i);
		if (!idem_fingerprint_final(&f, &d) ||
		    !idem_digest_equal(&d, &whole))
			return false;
		d = fingerprint_of(&asked, body, i + 1);
		if (!idem_digest_equal(&d, &whole))
			return false;
	}
	return true;
}

static void
test_cuts(void)
{
	size_t i, agree = 0, n = sizeof pairs / sizeof *pairs;

	for (i = 0; i < n; i++)
		agree += cuts_agree(&pairs[i].a) && cuts_agree(&pairs[i].b);
	is_int((long long)agree, (long long)n,
	    "every cut of every body above gives the same fingerprint");
}

static void
check_big(const struct idem_asked *asked, uint8_t *body, const char *kind)
{
	struct idem_bytes bytes = { body, BIG };
	struct idem_digest a, b, c;

	a = fingerprint_of(asked, bytes, SIZE_MAX);
	c = fingerprint_of(asked, bytes, 65536);
	body[BIG - 1] ^= 1;
	b = fingerprint_of(asked, bytes, SIZE_MAX);
	ok(!idem_digest_equal(&a, &b),
	    "two %s bodies of 2 MB that differ in the last byte differ", kind);
	ok(idem_digest_equal(&a, &c), "and 64 KB at a time are the whole");
}

static void
test_big(void)
{
	struct idem_asked asked = {
		.parts = IDEM_PARTS_ALL, .type = idem_bytes_text("text/plain")
	};
	uint8_t *body = malloc(BIG);

	if (body == NULL)
		bail_out("no memory");
	memset(body, '-', BIG);
	check_big(&asked, body, "plain");
	asked.type = idem_bytes_text(FORM "---------------------------x");
	check_big(&asked, body, "multipart");
	free(body);
}

struct scope_row {
	const char *route, *method, *user, *named[PARTS_MAX];
	const char *key;
};

static struct idem_digest
store_key(const struct scope_row *row)
{
	struct idem_bytes named[PARTS_MAX];
	struct idem_scope scope = {
		.route = idem_bytes_text(row->route),
		.method = idem_bytes_text(row->method),
		.user = idem_bytes_text(row->user),
		.named = named,
	};
	struct idem_bytes value = idem_bytes_text(row->key);
	struct idem_digest d;
	struct idem_key key;

	for (; scope.named_len < PARTS_MAX &&
	    row->named[scope.named_len] != NULL; scope.named_len++)
		named[scope.named_len] =
		    idem_bytes_text(row->named[scope.named_len]);
	if (idem_key_parse(&value, 1, &key) != IDEM_KEY_GOOD ||
	    !idem_store_key(&scope, &key, &d))
		bail_out("no store key");
	return d;
}

static void
test_store_key(void)
{
	static const struct scope_row rows[] = {
		{ "/a", "POST", "", { NULL }, "k" },
		{ "/b", "POST", "", { NULL }, "k" },
		{ "/a", "PATCH", "", { NULL }, "k" },
		{ "/a", "POST", "u", { NULL }, "k" },
		{ "/a", "POST", "", { "u" }, "k" },
		{ "/a", "POST", "", { "" }, "k" },
		{ "/a", "POST", "", { "", "" }, "k" },
		{ "/a", "POST", "", { "u", "" }, "k" },
		{ "/a", "POST", "", { "", "u" }, "k" },
		{ "/a", "POST", "", { NULL }, "uk" },
		{ "/aP", "OST", "", { NULL }, "k" },
		{ "/a", "POS", "T", { NULL }, "k" },
		{ "/a", "POST", "", { "k" }, "k" },
		{ "/a", "POST", "", { NULL }, "kk" },
		{ "/a", "POST", "", { NULL }, "K" },
	};
	static const struct scope_row quoted =
		{ "/a", "POST", "", { NULL }, "\"k\"" };
	struct idem_digest seen[sizeof rows / sizeof *rows], d;
	size_t i, j, alike = 0;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		seen[i] = store_key(&rows[i]);
		for (j = 0; j < i; j++)
			alike += idem_digest_equal(&seen[i], &seen[j]);
	}
	is_int((long long)alike, 0,
	    "no two scopes and keys share a store key, however they split");
	d = store_key(&quoted);
	ok(idem_digest_equal(&d, &seen[0]), "quoted or bare, a key is one");
}

static void
test_guard(void)
{
	static const char *const rows[][PARTS_MAX] = {
		{ NULL },
		{ "" },
		{ "", "" },
		{ "Basic YTpi" },
		{ "Basic YTpj" },
		{ "Basic ", "YTpi" },
		{ "", "Basic YTpi" },
		{ "Basic YTpi", "" },
	};
	struct idem_digest seen[sizeof rows / sizeof *rows];
	struct idem_bytes parts[PARTS_MAX];
	size_t i, j, n, alike = 0;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		for (n = 0; n < PARTS_MAX && rows[i][n] != NULL; n++)
			parts[n] = idem_bytes_text(rows[i][n]);
		if (!idem_guard(parts, n, &seen[i]))
			bail_out("no guard");
		for (j = 0; j < i; j++)
			alike += idem_digest_equal(&seen[i], &seen[j]);
	}
	is_int((long long)alike, 0, "no two lists of parts share a guard");
}

/* Records outlive the program that wrote them: these must never change. */
static void
test_stable(void)
{
	static const struct request form = { FORM "A", ITEM("A", "book") };
	static const struct request plain = { "text/plain", "n=1" };
	static const struct scope_row row =
		{ "/a", "POST", "u", { "c" }, "k" };
	struct idem_digest d;
	char text[2 * IDEM_DIGEST_LEN + 1];

	d = store_key(&row);
	idem_hex(d.at, sizeof d.at, text);
	is(text,
	    "06bf7dabf4b913d9dd74350d8c91c56eb6b9f791d204416559adc2831760171f",
	    "a store key is what it was");
	d = fingerprint(&form, SIZE_MAX);
	idem_hex(d.at, sizeof d.at, text);
	is(text,
	    "3f2f8437225b073a7b019a81706f9ba280d255bd93a1da85a74c1cd977dd1cd9",
	    "a fingerprint is what it was");
	d = fingerprint(&plain, SIZE_MAX);
	idem_hex(d.at, sizeof d.at, text);
	is(text,
	    "b6f536bbec4ef3c045f2a76b11ab7aa1762a9aa39c5cda85a74c1cd904be1cd9",
	    "of a plain body too");
	idem_guard(NULL, 0, &d);
	idem_hex(d.at, sizeof d.at, text);
	is(text,
	    "95b21b88050d8e02a21cbea53cb05a1a9b0ad8e414b3620509e2e16622618165",
	    "a guard is what it was");
}

static void
test_free(void)
{
	const struct idem_asked asked = {
		.parts = IDEM_PARTS_ALL, .type = idem_bytes_text(FORM "A")
	};
	struct idem_fingerprint f;
	struct idem_digest d;

	idem_fingerprint_init(&f, &asked);
	idem_fingerprint_body(&f, "--A", 3);
	is_int((long long)f.body_len, 3, "the body's bytes are counted");
	idem_fingerprint_free(&f);
	idem_fingerprint_free(&f);
	ok(f.multipart == NULL, "a fingerprint may be given up, and twice");
	ok(!idem_fingerprint_final(&f, &d), "then it has no digest");
}

int
main(void)
{
	test_pairs();
	test_cuts();
	test_big();
	test_store_key();
	test_guard();
	test_stable();
	test_free();
	return done();
}
