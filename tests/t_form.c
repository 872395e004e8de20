/* SPDX-License-Identifier: ISC */
#include "form.h"

#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define URL "application/x-www-form-urlencoded"
#define DATA "multipart/form-data; boundary=A"
#define CR "\r\n"
#define DISP "Content-Disposition: form-data; "
#define PART(params, value) \
	"--A" CR DISP params CR CR value CR
#define FIELD(name, value) PART("name=\"" name "\"", value)
#define END "--A--" CR

#define NONE IDEM_FORM_NONE
#define ONE IDEM_FORM_ONE
#define DIFFER IDEM_FORM_DIFFER
#define TOO_LONG IDEM_FORM_TOO_LONG
#define BROKEN IDEM_FORM_BROKEN

#define BIG (64 * 1024)

struct row {
	const char *what;
	const char *type, *body, *value;	/* value: of ONE */
	enum idem_form_state state;
};

/* The field is called "key". */
static const struct row rows[] = {
	/* types */
	{ "no type is no form", "", "key=a", NULL, NONE },
	{ "another type is none", "text/plain", "key=a", NULL, NONE },
	{ "nor one that only begins so", URL "x", "key=a", NULL, NONE },
	{ "nor one of two", URL ", text/plain", "key=a", NULL, NONE },
	{ "nor another multipart", "multipart/mixed; boundary=A",
	  FIELD("key", "a") END, NULL, NONE },
	{ "a type has no case", "Application/X-WWW-Form-URLencoded", "key=a",
	  "a", ONE },
	{ "and may have parameters", URL ";charset=UTF-8", "key=a", "a", ONE },
	{ "behind a space too", URL " ; charset=UTF-8", "key=a", "a", ONE },

	/* urlencoded */
	{ "an empty body has no field", URL, "", NULL, NONE },
	{ "a field is found alone", URL, "key=k-1", "k-1", ONE },
	{ "and first", URL, "key=k-1&item=book", "k-1", ONE },
	{ "and last", URL, "item=book&n=1&key=k-1", "k-1", ONE },
	{ "but not in another's name", URL, "akey=1&keya=2&ke=3&Key=4",
	  NULL, NONE },
	{ "nor in a value", URL, "a=key=1&b=key", NULL, NONE },
	{ "a value may hold =", URL, "key=a=b=", "a=b=", ONE },
	{ "and be empty", URL, "key=", "", ONE },
	{ "without a = it is empty too", URL, "a=1&key&b", "", ONE },
	{ "empty pairs are none", URL, "&&key=a&&", "a", ONE },
	{ "a nameless value is not it", URL, "=key&=", NULL, NONE },
	{ "a plus is a space", URL, "key=a+b", "a b", ONE },
	{ "an escape is its byte", URL, "key=%61%2B%2b%26%3B", "a++&;", ONE },
	{ "in a name too", URL, "%6B%65y=a", "a", ONE },
	{ "once", URL, "key=%2561", "%61", ONE },
	{ "what is no escape stays", URL, "key=%zz%4%%61%", "%zz%4%a%", ONE },
	{ "also in a name", URL, "%6Be%=1&key%=2", NULL, NONE },
	{ "also before the end of one", URL, "key=%4&a=%", "%4", ONE },
	{ "bytes over 127 are themselves", URL, "key=%c3%a4\xc3\xa4",
	  "\xc3\xa4\xc3\xa4", ONE },
	{ "so are line ends", URL, "key=a\r\n", "a\r\n", ONE },
	{ "two equal ones are one", URL, "key=ab&x=1&key=%61b", "ab", ONE },
	{ "two that differ, differ", URL, "key=ab&key=ac", NULL, DIFFER },
	{ "in length as well", URL, "key=ab&key=a", NULL, DIFFER },
	{ "either way", URL, "key=a&key=ab", NULL, DIFFER },
	{ "an empty one beside a value differs", URL, "key=&key=a", NULL,
	  DIFFER },
	{ "and so it stays", URL, "key=a&key=b&key=a", NULL, DIFFER },
	{ "a pair that ends in ; some programs end there", URL, "key=a;b", NULL,
	  BROKEN },
	{ "or begin there", URL, "a=1;key=b", NULL, BROKEN },
	{ "as browsers' &amp; makes one", URL, "a=1&amp;key=b", NULL, BROKEN },
	{ "a ; elsewhere does not matter", URL, "a=1;b=2&key=c&d;e", "c", ONE },
	{ "nor an escaped one", URL, "a=1%3Bkey=2&key=c%3B", "c;", ONE },

	/* multipart */
	{ "a part is a field", DATA, FIELD("key", "k-1") END, "k-1", ONE },
	{ "between others", DATA, FIELD("item", "book") FIELD("key", "k-1")
	  FIELD("n", "1") END, "k-1", ONE },
	{ "a form without it has none", DATA, FIELD("item", "key") END, NULL,
	  NONE },
	{ "one without parts too", DATA, END, NULL, NONE },
	{ "a name has case", DATA, FIELD("Key", "a") FIELD("keys", "b")
	  FIELD("ke", "c") END, NULL, NONE },
	{ "all else of a header has not", DATA, "--A" CR
	  "content-DISPOSITION:FORM-data;NAME=key" CR CR "a" CR END, "a", ONE },
	{ "blanks are let pass", DATA, "--A" CR
	  "Content-Disposition: \t form-data ; name =\t\"key\" ; " CR CR "a" CR
	  END, "a", ONE },
	{ "other lines too", DATA, "--A" CR "X: \"y" CR DISP "name=key" CR
	  "Content-Type: text/plain" CR " ; charset=utf-8" CR CR "a" CR END,
	  "a", ONE },
	{ "other parameters too", DATA, PART("x=\"; name=no\"; name=key; y=z",
	  "a") END, "a", ONE },
	{ "a quote in one does not end it", DATA,
	  PART("x=\"\\\"; name=no\"; name=key", "a") END, "a", ONE },
	{ "a value is any bytes", DATA, FIELD("key", "\r\r\n--\r\n-A\n\xff--B")
	  END, "\r\r\n--\r\n-A\n\xff--B", ONE },
	{ "also none", DATA, FIELD("key", "") END, "", ONE },
	{ "two equal ones are one part", DATA, FIELD("key", "a")
	  FIELD("key", "a") END, "a", ONE },
	{ "two that differ are not", DATA, FIELD("key", "a") FIELD("key", "b")
	  END, NULL, DIFFER },
	{ "a file is not it", DATA, PART("name=\"key\"; filename=\"x\"", "a")
	  END, NULL, NONE },
	{ "nor an empty file", DATA, PART("filename=\"\"; name=\"key\"", "a")
	  END, NULL, NONE },
	{ "a file beside it does not matter", DATA,
	  PART("name=\"key\"; filename=\"a\\\"b.txt\"", "b") FIELD("key", "a")
	  END, "a", ONE },
	{ "name* is not its name", DATA, PART("name*=utf-8''key", "a") END,
	  NULL, NONE },
	{ "beside its name it is nothing", DATA,
	  PART("name*=utf-8''no; name=key", "a") END, "a", ONE },
	{ "a part without a disposition is none", DATA,
	  "--A" CR "X: y" CR CR "a" CR "--A" CR CR "key" CR END, NULL, NONE },
	{ "preamble, epilogue and padding are let pass", DATA, "hello" CR
	  "--A \t" CR DISP "name=key" CR CR "a" CR "--A-- " CR "key=b",
	  "a", ONE },
	{ "a body may end with its last delimiter", DATA,
	  FIELD("key", "a") "--A--", "a", ONE },
	{ "a value may be 8bit", DATA, "--A" CR DISP "name=key" CR
	  "Content-Transfer-Encoding: 8BIT" CR CR "a" CR END, "a", ONE },
	{ "a quoted boundary is one", "multipart/form-data; boundary=\"A\"",
	  FIELD("key", "a") END, "a", ONE },

	/* multipart that programs read in more than one way */
	{ "no boundary is broken", "multipart/form-data", FIELD("key", "a") END,
	  NULL, BROKEN },
	{ "so are two", DATA "; boundary=B", FIELD("key", "a") END, NULL,
	  BROKEN },
	{ "and an empty body", DATA, "", NULL, BROKEN },
	{ "and one that is not closed", DATA, FIELD("key", "a"), NULL, BROKEN },
	{ "or cut in its delimiter", DATA, FIELD("key", "a") "--A-", NULL,
	  BROKEN },
	{ "or in a header", DATA, "--A" CR DISP "name=key", NULL, BROKEN },
	{ "and a delimiter in a line", DATA, FIELD("key", "a--A") END, NULL,
	  BROKEN },
	{ "and one that goes on", DATA, FIELD("key", "a" CR "--AB") END, NULL,
	  BROKEN },
	{ "and one with anything behind it", DATA, "--Ax" CR DISP "name=key" CR
	  CR "a" CR END, NULL, BROKEN },
	{ "and a last one with less than two dashes", DATA, FIELD("key", "a")
	  "--A-x", NULL, BROKEN },
	{ "and bare line feeds", DATA, "--A\n" DISP "name=key\n\na\n--A--\n",
	  NULL, BROKEN },
	{ "also in a header alone", DATA, "--A" CR "X: y\n" DISP "name=key" CR
	  CR "a" CR END, NULL, BROKEN },
	{ "and a bare CR there", DATA, "--A" CR "X: y\r" DISP "name=key" CR
	  CR "a" CR END, NULL, BROKEN },
	{ "and a part without an empty line", DATA, "--A" CR DISP "name=key" CR
	  END, NULL, BROKEN },
	{ "and one whose content has no line end before the delimiter", DATA,
	  "--A" CR DISP "name=key" CR CR END, NULL, BROKEN },
	{ "and delimiters behind the last", DATA, FIELD("key", "a") END CR
	  FIELD("key", "a") END, NULL, BROKEN },
	{ "and a name given twice", DATA, PART("name=key; name=key", "a") END,
	  NULL, BROKEN },
	{ "and two dispositions", DATA, "--A" CR DISP "name=x" CR DISP
	  "name=key" CR CR "a" CR END, NULL, BROKEN },
	{ "and one that is folded", DATA, "--A" CR "Content-Disposition:"
	  " form-data;" CR " name=key" CR CR "a" CR END, NULL, BROKEN },
	{ "and a header without a colon", DATA, "--A" CR DISP "name=key" CR
	  "x" CR CR "a" CR END, NULL, BROKEN },
	{ "or with a blank before it", DATA, "--A" CR
	  "Content-Disposition : form-data; name=key" CR CR "a" CR END, NULL,
	  BROKEN },
	{ "or without a name", DATA, "--A" CR ": x" CR DISP "name=key" CR CR
	  "a" CR END, NULL, BROKEN },
	{ "and a disposition that is not a form's", DATA, "--A" CR
	  "Content-Disposition: attachment; name=key" CR CR "a" CR END, NULL,
	  BROKEN },
	{ "or whose quotes do not end", DATA, PART("name=\"key", "a") END, NULL,
	  BROKEN },
	{ "or end in an escape", DATA, PART("name=\"key\\", "a") END, NULL,
	  BROKEN },
	{ "or go on behind them", DATA, PART("name=\"key\"x", "a") END, NULL,
	  BROKEN },
	{ "or that has no value", DATA, PART("name", "a") END, NULL, BROKEN },
	{ "or an empty one", DATA, PART("name=", "a") END, NULL, BROKEN },
	{ "or one in single quotes", DATA, PART("name='key'", "a") END, NULL,
	  BROKEN },
	{ "and a name that is it only if unescaped", DATA,
	  PART("name=\"k\\ey\"", "a") END, NULL, BROKEN },
	{ "and a file only by its filename*", DATA,
	  PART("name=key; filename*=utf-8''x", "a") END, NULL, BROKEN },
	{ "and an encoded value", DATA, "--A" CR DISP "name=key" CR
	  "Content-Transfer-Encoding: base64" CR CR "YQ==" CR END, NULL,
	  BROKEN },
	{ "but not another's", DATA, "--A" CR DISP "name=x" CR
	  "Content-Transfer-Encoding: base64" CR CR "YQ==" CR
	  FIELD("key", "a") END, "a", ONE },
};

/* What a body comes to, cut into pieces of this size. */
static enum idem_form_state
read_form(const char *type, const char *name, struct idem_bytes body,
    size_t piece, struct idem_buf *value)
{
	struct idem_form *form = idem_form_new(idem_bytes_text(type), name);
	const uint8_t *at = body.at;
	struct idem_bytes found;
	enum idem_form_state state;
	size_t i, len;

	if (form == NULL)
		bail_out("no form");
	for (i = 0; i < body.len; i += len) {
		len = piece < body.len - i ? piece : body.len - i;
		idem_form_add(form, (struct idem_bytes){ at + i, len });
	}
	state = idem_form_end(form, &found);
	idem_buf_clear(value);
	idem_buf_append(value, found.at, found.len);
	idem_form_free(form);
	return state;
}

static void
test_rows(void)
{
	struct idem_buf value = { 0 };
	const struct row *r;

	for (r = rows; r < rows + sizeof rows / sizeof *rows; r++) {
		ok(read_form(r->type, "key", idem_bytes_text(r->body), SIZE_MAX,
		    &value) == r->state, "%s", r->what);
		if (r->value != NULL)
			is_bytes(value.at, value.len, r->value,
			    strlen(r->value), "and its value is all there");
	}
	idem_buf_free(&value);
}

static void
test_cuts(void)
{
	struct idem_buf value = { 0 };
	const struct row *r;
	size_t piece, differ = 0;

	for (r = rows; r < rows + sizeof rows / sizeof *rows; r++)
		for (piece = 1; piece <= strlen(r->body); piece++)
			differ += read_form(r->type, "key",
			    idem_bytes_text(r->body), piece, &value) !=
			    r->state || (r->value != NULL &&
			    !idem_bytes_is(idem_buf_bytes(&value), r->value));
	is_int((long long)differ, 0,
	    "every body above is the same in pieces of every size");
	idem_buf_free(&value);
}

static void
test_names(void)
{
	struct idem_buf value = { 0 };
	char longest[IDEM_FORM_NAME_MAX + 2];

	memset(longest, 'n', sizeof longest);
	longest[sizeof longest - 1] = '\0';
	ok(idem_form_new(idem_bytes_text(URL), longest) == NULL,
	    "a name of 256 bytes is no field's");
	ok(idem_form_new(idem_bytes_text(URL), "") == NULL, "nor an empty one");
	is_int(read_form(URL, longest + 1, idem_bytes_text("a=b"), 1, &value),
	    NONE, "one of 255 may be");
	is_int(read_form(URL, "a&;b", idem_bytes_text("a%26%3bb=c"), 1, &value),
	    ONE, "a name may hold what parts pairs");
	is_int(read_form(DATA, "a b", idem_bytes_text(FIELD("a b", "c") END), 1,
	    &value), ONE, "and blanks");
	is_int(read_form(DATA, "k\\e", idem_bytes_text(
	    FIELD("k\\e", "c") END), 1, &value), BROKEN,
	    "a backslash in it is what browsers and RFC 9110 differ on");
	idem_form_free(NULL);
	idem_buf_free(&value);
}

/* A head, `len` times the byte, and a tail. */
static struct idem_bytes
around(struct idem_buf *b, const char *head, char byte, size_t len,
    const char *tail)
{
	size_t i;

	idem_buf_clear(b);
	idem_buf_text(b, head);
	for (i = 0; i < len; i++)
		idem_buf_u8(b, (uint8_t)byte);
	idem_buf_text(b, tail);
	return idem_buf_bytes(b);
}

static void
test_lengths(void)
{
	struct idem_buf body = { 0 }, value = { 0 };

	is_int(read_form(URL, "key", around(&body, "key=", 'a', 1024, ""), 7,
	    &value), ONE, "1024 bytes are a value");
	is_int((long long)value.len, 1024, "all of them");
	is_int(read_form(URL, "key", around(&body, "key=", 'a', 1025, ""), 7,
	    &value), TOO_LONG, "1025 are too long");
	is_int(read_form(URL, "key", around(&body, "key=a&key=", 'a', BIG, ""),
	    SIZE_MAX, &value), TOO_LONG, "too long comes before different");
	is_int(read_form(URL, "key", around(&body, "key=", 'a', BIG,
	    ";x"), SIZE_MAX, &value), BROKEN, "and broken before that");
	is_int(read_form(DATA, "key", around(&body, "--A" CR DISP "name=key" CR
	    CR, '\r', 1025, CR END), SIZE_MAX, &value), TOO_LONG,
	    "so it is in a part");
	is_int(read_form(DATA, "key", around(&body, "--A" CR "X: ", 'a', BIG,
	    CR DISP "name=key" CR CR "a" CR END), 1000, &value), ONE,
	    "a header line of 64 KB is passed over");
	is_int(read_form(DATA, "key", around(&body, "--A" CR DISP
	    "name=key; x=", 'a', BIG, CR CR "a" CR END), 1000, &value), BROKEN,
	    "but no disposition is so long");
	is_int(read_form(DATA, "key", around(&body, PART("name=x; filename=y",
	    "--") "--A" CR DISP "name=key" CR CR "a" CR "--A" CR DISP "name=z"
	    CR CR, '\n', BIG, CR END), 999, &value), ONE,
	    "files of any size may stand beside it");
	idem_buf_free(&body);
	idem_buf_free(&value);
}

static void
test_query(void)
{
	uint8_t room[IDEM_FORM_VALUE_MAX];
	struct idem_bytes value;

	is_int(idem_form_query(idem_bytes_text("a=1&key=k%2b1"), "key", room,
	    &value), ONE, "a query is read as a form");
	ok(idem_bytes_is(value, "k+1"), "and decoded");
	is_int(idem_form_query((struct idem_bytes){ NULL, 0 }, "key", room,
	    &value), NONE, "none has no field");
	is_int(idem_form_query(idem_bytes_text("key=1&key=2"), "key", room,
	    &value), DIFFER, "two values differ there too");
}

int
main(void)
{
	test_rows();
	test_cuts();
	test_names();
	test_lengths();
	test_query();
	return done();
}
