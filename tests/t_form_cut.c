/* SPDX-License-Identifier: ISC */
#include "form.h"

#include "tap.h"

#include <string.h>

#define URL "application/x-www-form-urlencoded"
#define DATA "multipart/form-data; boundary=A"
#define CR "\r\n"
#define DISP "Content-Disposition: form-data; "
#define PART(params, value) "--A" CR DISP params CR CR value CR
#define FIELD(name, value) PART("name=\"" name "\"", value)
#define END "--A--" CR

/* The field that goes is called "key". */
static const struct {
	const char *what, *type, *body, *left;	/* NULL: all of it */
} rows[] = {
	/* urlencoded */
	{ "of no form nothing goes", "text/plain", "key=a", NULL },
	{ "nor of an empty one", URL, "", NULL },
	{ "nor where no such field is", URL, "a=key&akey=b&ke=y&&=", NULL },
	{ "a field alone leaves nothing", URL, "key=a", "" },
	{ "a first one takes the & behind it", URL, "key=a&b=c&d", "b=c&d" },
	{ "a last one the & before it", URL, "b=c&key=a", "b=c" },
	{ "one between them one of both", URL, "b=c&key=a&d=e", "b=c&d=e" },
	{ "all of them go", URL, "key=a&b=c&key=a&key=a&d=e&key=a", "b=c&d=e" },
	{ "also if they differ", URL, "key=a&b&key=&key=c", "b" },
	{ "and leave nothing", URL, "key=a&key=a&key", "" },
	{ "empty pairs stay", URL, "&&key=a&&b&", "&&&b&" },
	{ "before it", URL, "&key=a", "" },
	{ "and behind it", URL, "key=a&", "" },
	{ "also two", URL, "key=a&&", "&" },
	{ "what stays is not decoded", URL, "a=%41+%zz&key=a&%",
	  "a=%41+%zz&%" },
	{ "a name is", URL, "a&%6b%65y=a&b", "a&b" },
	{ "one that is not it in the end stays", URL, "a&%6b%65%7=a&keys=b",
	  NULL },
	{ "an escape at its end is not it", URL, "key%", NULL },
	{ "a field without a value goes", URL, "a&key&b", "a&b" },
	{ "a ; elsewhere stays", URL, "a;b&key=c&d;e", "a;b&d;e" },
	{ "beside it all stays", URL, "a&key=b;c&key=b", NULL },
	{ "on either side", URL, "key=b&a;key=b", NULL },

	/* multipart */
	{ "a part alone leaves a form without parts", DATA, FIELD("key", "a")
	  END, END },
	{ "a first one leaves the others", DATA, FIELD("key", "a")
	  FIELD("b", "c") END, FIELD("b", "c") END },
	{ "a last one too", DATA, FIELD("b", "c") FIELD("key", "a") END,
	  FIELD("b", "c") END },
	{ "and one between", DATA, FIELD("b", "c") FIELD("key", "a")
	  FIELD("d", "e") END, FIELD("b", "c") FIELD("d", "e") END },
	{ "all go", DATA, FIELD("key", "a") FIELD("b", "c") FIELD("key", "b")
	  FIELD("key", "") FIELD("d", "e") END,
	  FIELD("b", "c") FIELD("d", "e") END },
	{ "where no such part is all stays", DATA, FIELD("b", "key")
	  FIELD("Key", "a") END, NULL },
	{ "a file is another", DATA, PART("name=key; filename=x", "a")
	  FIELD("b", "c") END, NULL },
	{ "other lines of its header go along", DATA, FIELD("b", "c") "--A" CR
	  "X: y" CR DISP "name=key" CR "Content-Type: text/plain" CR CR "a" CR
	  END, FIELD("b", "c") END },
	{ "so does a value of any bytes", DATA, FIELD("b", "c")
	  FIELD("key", "\r\r\n--\r\n-A\n\xff--B") END, FIELD("b", "c") END },
	{ "preamble, epilogue and padding stay", DATA, "hello" CR "--A \t" CR
	  DISP "name=x" CR CR "y" CR FIELD("key", "a") "--A-- " CR "key=b",
	  "hello" CR "--A \t" CR DISP "name=x" CR CR "y" CR "--A-- " CR
	  "key=b" },
	{ "but a delimiter's own goes with it", DATA, "hello" CR "--A \t" CR
	  DISP "name=key" CR CR "y" CR "--A--", "hello" CR "--A--" },
	{ "another boundary's text stays", "multipart/form-data; boundary=\"-b "
	  "c\"", "---b c" CR DISP "name=x" CR CR "--A" CR "--b c" CR "---b c" CR
	  DISP "name=key" CR CR "-b c" CR "---b c--", "---b c" CR DISP "name=x"
	  CR CR "--A" CR "--b c" CR "---b c--" },

	/* what form.h calls broken stays whole */
	{ "of a body without an end all stays", DATA, FIELD("key", "a")
	  FIELD("b", "c"), NULL },
	{ "or with a delimiter in a line", DATA, FIELD("key", "a")
	  FIELD("b", "c--A") END, NULL },
	{ "or with parts behind its end", DATA, FIELD("key", "a") END CR
	  FIELD("key", "a") END, NULL },
	{ "or of no boundary", "multipart/form-data", FIELD("key", "a") END,
	  NULL },
};

/* The form of a body that came in pieces of this size. */
static struct idem_form *
form_of(const char *type, struct idem_bytes body, size_t piece)
{
	struct idem_form *form = idem_form_new(idem_bytes_text(type), "key");
	const uint8_t *at = body.at;
	struct idem_bytes value;
	size_t i, len;

	if (form == NULL)
		bail_out("no form");
	for (i = 0; i < body.len; i += len) {
		len = piece < body.len - i ? piece : body.len - i;
		idem_form_add(form, (struct idem_bytes){ at + i, len });
	}
	idem_form_end(form, &value);
	return form;
}

static void
cut(const struct idem_form *form, struct idem_bytes body, size_t piece,
    struct idem_buf *left)
{
	const struct idem_form_cut *c = idem_form_cut(form);
	const uint8_t *at = body.at;
	size_t i, len;

	idem_buf_clear(left);
	for (i = 0; i < body.len; i += len) {
		len = piece < body.len - i ? piece : body.len - i;
		idem_form_cut_copy(c, i, (struct idem_bytes){ at + i, len },
		    left);
	}
}

static bool
is_clean(const char *type, struct idem_bytes left)
{
	struct idem_form *form = form_of(type, left, SIZE_MAX);
	const struct idem_form_cut *c = idem_form_cut(form);
	struct idem_bytes value;
	bool clean = idem_form_end(form, &value) == IDEM_FORM_NONE &&
	    c->len == 0 && !c->too_many;

	idem_form_free(form);
	return clean;
}

static void
test_rows(void)
{
	struct idem_buf left = { 0 };
	struct idem_form *form;
	struct idem_bytes body;
	const char *want;
	size_t i, piece, differ = 0;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		body = idem_bytes_text(rows[i].body);
		want = rows[i].left != NULL ? rows[i].left : rows[i].body;
		form = form_of(rows[i].type, body, SIZE_MAX);
		cut(form, body, SIZE_MAX, &left);
		is_bytes(left.at, left.len, want, strlen(want), "%s",
		    rows[i].what);
		if (rows[i].left != NULL)
			ok(is_clean(rows[i].type, idem_buf_bytes(&left)),
			    "and then there is no such field");
		idem_form_free(form);
		for (piece = 1; piece <= body.len; piece++) {
			form = form_of(rows[i].type, body, piece);
			cut(form, body, piece, &left);
			differ += !idem_bytes_is(idem_buf_bytes(&left), want);
			idem_form_free(form);
		}
	}
	is_int((long long)differ, 0,
	    "each body above is the same in pieces of every size");
	idem_buf_free(&left);
}

/* Of a body that ends in the field. */
static void
test_end(void)
{
	struct idem_bytes body = idem_bytes_text("key=a&key=b");
	struct idem_form *form = form_of(URL, body, SIZE_MAX);
	const struct idem_form_cut *c = idem_form_cut(form);

	ok(c->len == 1 && c->at[0].from == 0 && c->at[0].to == body.len,
	    "what goes ends where the body does");
	idem_form_free(form);
}

/* `n` times the field, with another between each two. */
static bool
goes(size_t n, bool apart)
{
	struct idem_buf body = { 0 };
	struct idem_form *form;
	bool all;
	size_t i;

	for (i = 0; i < n; i++)
		idem_buf_text(&body, apart ? "key=a&b&" : "key=a&");
	form = form_of(URL, idem_buf_bytes(&body), SIZE_MAX);
	all = !idem_form_cut(form)->too_many;
	idem_form_free(form);
	idem_buf_free(&body);
	return all;
}

int
main(void)
{
	test_rows();
	test_end();
	ok(goes(16, true), "a field may stand in 16 places");
	ok(!goes(17, true), "and of 17 it is said that they are too many");
	ok(goes(10000, false), "those side by side are one place");
	return done();
}
