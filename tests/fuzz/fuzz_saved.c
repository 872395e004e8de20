/* SPDX-License-Identifier: ISC */
#include "saved.h"

#include "fuzz.h"

static bool
same(const struct idem_saved *a, const struct idem_saved *b)
{
	return a->code == b->code && a->has_status == b->has_status &&
	    a->kept == b->kept && idem_bytes_equal(a->status, b->status) &&
	    idem_bytes_equal(a->lines, b->lines) &&
	    idem_bytes_equal(a->body, b->body);
}

/* Whatever is read is written as the same bytes. */
static void
check_bytes(struct idem_bytes in)
{
	struct idem_blob *b;
	struct idem_saved s;

	if (!idem_saved_read(in, &s))
		return;
	fuzz_must(s.code >= 200 && s.code <= 599);
	b = idem_saved_blob(&s);
	fuzz_must(b != NULL && idem_bytes_equal(idem_blob_bytes(b), in));
	idem_blob_drop(b);
}

static struct idem_bytes
first(struct idem_bytes *of, uint8_t len)
{
	struct idem_bytes part = { of->at, len < of->len ? len : of->len };

	of->at = (const uint8_t *)of->at + part.len;
	of->len -= part.len;
	return part;
}

/* Whatever is written is read as the same answer. */
static void
check_answer(const uint8_t *at, size_t len)
{
	struct idem_bytes left = { at + 4, len - 4 };
	struct idem_saved s = { 0 }, back;
	struct idem_blob *b;

	s.code = 200 + at[0] % 400;
	s.has_status = (at[1] & 1) != 0;
	s.kept = (at[1] & 2) != 0;
	if (s.has_status)
		s.status = first(&left, at[2]);
	s.lines = first(&left, at[3]);
	if (s.kept)
		s.body = left;
	b = idem_saved_blob(&s);
	fuzz_must(b != NULL && idem_saved_read(idem_blob_bytes(b), &back) &&
	    same(&s, &back));
	idem_blob_drop(b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *at, size_t len)
{
	check_bytes((struct idem_bytes){ at, len });
	if (len >= 4)
		check_answer(at, len);
	return 0;
}
