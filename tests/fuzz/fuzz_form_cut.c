/* SPDX-License-Identifier: ISC */

/* The first line is a Content-Type, the rest is the body. */
#include "form.h"

#include "fuzz.h"

#include <string.h>

#define NAME "key"

/* Taken twice: by the form, and then for what stays of it. */
struct body {
	struct idem_form *form;
	enum idem_form_state state;
	uint64_t at;
	struct idem_buf left;
};

static bool
take(void *arg, struct idem_bytes piece)
{
	struct body *b = arg;

	idem_form_add(b->form, piece);
	return true;
}

static bool
cut(void *arg, struct idem_bytes piece)
{
	struct body *b = arg;

	idem_form_cut_copy(idem_form_cut(b->form), b->at, piece, &b->left);
	b->at += piece.len;
	return true;
}

static void
read_body(struct idem_bytes type, struct idem_bytes bytes, bool whole,
    struct body *b)
{
	struct idem_bytes value;

	b->form = idem_form_new(type, NAME);
	fuzz_must(b->form != NULL);
	fuzz_feed(take, b, bytes, whole);
	b->state = idem_form_end(b->form, &value);
	fuzz_feed(cut, b, bytes, whole);
	fuzz_must(idem_buf_ok(&b->left));
}

static void
check(struct idem_bytes type, struct idem_bytes bytes, const struct body *b)
{
	const struct idem_form_cut *c = idem_form_cut(b->form);
	struct idem_bytes left = idem_buf_bytes(&b->left);
	struct body again = { 0 };

	if (b->state == IDEM_FORM_BROKEN || b->state == IDEM_FORM_NONE) {
		fuzz_must(idem_bytes_equal(left, bytes));
		return;
	}
	fuzz_must(c->len > 0 && left.len < bytes.len);
	if (c->too_many)
		return;
	read_body(type, left, true, &again);
	fuzz_must(again.state == IDEM_FORM_NONE);
	fuzz_must(idem_bytes_equal(idem_buf_bytes(&again.left), left));
	idem_form_free(again.form);
	idem_buf_free(&again.left);
}

int
LLVMFuzzerTestOneInput(const uint8_t *at, size_t len)
{
	const uint8_t *end = len > 0 ? memchr(at, '\n', len) : NULL;
	struct body whole = { 0 }, pieces = { 0 };
	struct idem_bytes type = { at, 0 }, bytes;

	if (end == NULL)
		return 0;
	type.len = (size_t)(end - at);
	bytes = (struct idem_bytes){ end + 1, len - type.len - 1 };
	read_body(type, bytes, true, &whole);
	read_body(type, bytes, false, &pieces);
	fuzz_must(whole.state == pieces.state && idem_bytes_equal(
	    idem_buf_bytes(&whole.left), idem_buf_bytes(&pieces.left)));
	check(type, bytes, &whole);
	idem_form_free(whole.form);
	idem_form_free(pieces.form);
	idem_buf_free(&whole.left);
	idem_buf_free(&pieces.left);
	return 0;
}
