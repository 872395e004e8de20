/* SPDX-License-Identifier: ISC */
#include "saved.h"

#include "tap.h"

#include <string.h>

#define HEAD_LEN 20	/* what stands before the status */

static const struct {
	const char *what;
	const char *status;	/* NULL: none was sent */
	const char *lines;
	const char *body;	/* NULL: not kept */
	int code;
} answers[] = {
	{ "an answer with everything", "404 Not Found", "A: 1\r\nB: 2\r\n",
	  "hello", 404 },
	{ "an answer without Status", NULL, "A: 1\r\n", "hello", 200 },
	{ "an answer without lines", "204", "", "", 204 },
	{ "an answer with an empty body", "200 OK", "A: 1\r\n", "", 200 },
	{ "an answer whose body is not kept", "201 Created", "A: 1\r\n",
	  NULL, 201 },
	{ "an answer with nothing but a code", NULL, "", NULL, 599 },
};

/* Bytes that are no saved answer: the first answer with one byte changed. */
static const struct {
	const char *what;
	size_t at;
	uint8_t value;
} changes[] = {
	{ "version 0", 0, 0 },
	{ "a later version", 0, IDEM_SAVED_VERSION + 1 },
	{ "a flag that nobody knows", 1, 7 },
	{ "a status, but no flag for it", 1, 2 },
	{ "a body, but no flag for it", 1, 1 },
	{ "a code over 599", 2, 3 },
	{ "a code under 200", 2, 0 },
	{ "a status longer than there is", 4, 0x80 },
	{ "a status one longer", 7, 14 },
	{ "lines longer than there are", 8, 0xff },
	{ "a body longer than memory", 12, 0xff },
	{ "a body one longer", 19, 6 },
	{ "a body one shorter", 19, 4 },
};

static struct idem_saved
answer(size_t i)
{
	struct idem_saved s = {
		.code = answers[i].code,
		.has_status = answers[i].status != NULL,
		.kept = answers[i].body != NULL,
		.lines = idem_bytes_text(answers[i].lines),
	};

	if (s.has_status)
		s.status = idem_bytes_text(answers[i].status);
	if (s.kept)
		s.body = idem_bytes_text(answers[i].body);
	return s;
}

static bool
same(const struct idem_saved *a, const struct idem_saved *b)
{
	return a->code == b->code && a->has_status == b->has_status &&
	    a->kept == b->kept && idem_bytes_equal(a->status, b->status) &&
	    idem_bytes_equal(a->lines, b->lines) &&
	    idem_bytes_equal(a->body, b->body);
}

/* Whether no beginning of it, and nothing longer, is read. */
static bool
read_only_whole(struct idem_buf *b)
{
	struct idem_saved s = { .code = -1 };
	size_t i, len = b->len;

	for (i = 0; i < len; i++)
		if (idem_saved_read((struct idem_bytes){ b->at, i }, &s))
			return false;
	idem_buf_u8(b, 0);
	return !idem_saved_read(idem_buf_bytes(b), &s) && s.code == -1;
}

/* A copy, to be changed. */
static struct idem_buf
written(const struct idem_saved *s)
{
	struct idem_blob *blob = idem_saved_blob(s);
	struct idem_buf b = { 0 };

	if (blob == NULL)
		bail_out("out of memory");
	idem_buf_append(&b, blob->at, blob->len);
	idem_blob_drop(blob);
	if (!idem_buf_ok(&b))
		bail_out("out of memory");
	return b;
}

static void
check_rows(void)
{
	struct idem_saved s, r;
	struct idem_buf b;
	size_t i;

	for (i = 0; i < sizeof answers / sizeof *answers; i++) {
		s = answer(i);
		b = written(&s);
		ok(b.len == HEAD_LEN + s.status.len + s.lines.len +
		    s.body.len, "%s takes its parts and %d bytes",
		    answers[i].what, HEAD_LEN);
		ok(idem_saved_read(idem_buf_bytes(&b), &r) && same(&r, &s),
		    "%s is read as it was written [idem:D4]", answers[i].what);
		ok(read_only_whole(&b), "%s is read only whole",
		    answers[i].what);
		idem_buf_free(&b);
	}
}

static void
check_changes(void)
{
	struct idem_saved s = answer(0), r = { .code = -1 };
	struct idem_buf b = written(&s);
	size_t i;
	uint8_t was;

	for (i = 0; i < sizeof changes / sizeof *changes; i++) {
		was = b.at[changes[i].at];
		b.at[changes[i].at] = changes[i].value;
		ok(!idem_saved_read(idem_buf_bytes(&b), &r) && r.code == -1,
		    "%s is not read, and nothing is set", changes[i].what);
		b.at[changes[i].at] = was;
	}
	ok(idem_saved_read(idem_buf_bytes(&b), &r),
	    "and unchanged it is read");
	idem_buf_free(&b);
}

/* The bytes live on in stores: they may not change within a version. */
static void
check_bytes(void)
{
	static const char packed[] =
	    "\x01\x03\x01\x94\0\0\0\x0d\0\0\0\x0c\0\0\0\0\0\0\0\x05"
	    "404 Not FoundA: 1\r\nB: 2\r\nhello";
	struct idem_saved s = answer(0);
	struct idem_buf b = written(&s);

	is_bytes(b.at, b.len, packed, sizeof packed - 1,
	    "version 1 is these bytes");
	idem_buf_free(&b);
}

int
main(void)
{
	struct idem_saved s;

	check_rows();
	check_changes();
	check_bytes();
	ok(!idem_saved_read((struct idem_bytes){ NULL, 0 }, &s),
	    "nothing is no saved answer");
	return done();
}
