/* SPDX-License-Identifier: ISC */

/* The first line is a Content-Type, the rest is the body. */
#include "form.h"

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#define NAME "key"

/* Each answer in a buf of its own. */
struct answer {
	enum idem_form_state state;
	struct idem_buf value;
};

static bool
take(void *arg, struct idem_bytes piece)
{
	idem_form_add(arg, piece);
	return true;
}

static void
read_form(struct idem_bytes type, struct idem_bytes body, bool whole,
    struct answer *answer)
{
	struct idem_form *form = idem_form_new(type, NAME);
	struct idem_bytes value;

	fuzz_must(form != NULL);
	fuzz_feed(take, form, body, whole);
	answer->state = idem_form_end(form, &value);
	fuzz_must(value.len <= IDEM_FORM_VALUE_MAX);
	fuzz_must(answer->state == IDEM_FORM_ONE || value.len == 0);
	idem_buf_append(&answer->value, value.at, value.len);
	fuzz_must(idem_buf_ok(&answer->value));
	idem_form_free(form);
}

static bool
alike(const struct answer *a, const struct answer *b)
{
	return a->state == b->state && idem_bytes_equal(
	    idem_buf_bytes(&a->value), idem_buf_bytes(&b->value));
}

/* --- urlencoded, read once more in the plainest way ----------------------- */

static void
decode(struct idem_buf *out, const uint8_t *at, const uint8_t *end)
{
	char digits[3] = "";
	uint8_t byte;

	idem_buf_clear(out);
	while (at < end) {
		byte = *at == '+' ? ' ' : *at;
		if (*at++ == '%' && end - at >= 2) {
			memcpy(digits, at, 2);
			if (idem_unhex(digits, &byte, 1))
				at += 2;
			else
				byte = '%';
		}
		idem_buf_u8(out, byte);
	}
}

static void
note(struct answer *plain, const struct idem_buf *value)
{
	if (value->len > IDEM_FORM_VALUE_MAX)
		plain->state = IDEM_FORM_TOO_LONG;
	if (plain->state == IDEM_FORM_NONE) {
		plain->state = IDEM_FORM_ONE;
		idem_buf_append(&plain->value, value->at, value->len);
	} else if (plain->state == IDEM_FORM_ONE && !idem_bytes_equal(
	    idem_buf_bytes(value), idem_buf_bytes(&plain->value))) {
		plain->state = IDEM_FORM_DIFFER;
	}
}

static void
read_plainly(struct idem_bytes body, struct answer *plain)
{
	const uint8_t *at = body.at, *end = at + body.len, *pair_end, *equals;
	struct idem_buf part = { 0 };

	for (; at < end; at = pair_end < end ? pair_end + 1 : end) {
		pair_end = memchr(at, '&', (size_t)(end - at));
		if (pair_end == NULL)
			pair_end = end;
		equals = memchr(at, '=', (size_t)(pair_end - at));
		if (equals == NULL)
			equals = pair_end;
		decode(&part, at, equals);
		if (!idem_bytes_is(idem_buf_bytes(&part), NAME))
			continue;
		decode(&part, equals < pair_end ? equals + 1 : pair_end,
		    pair_end);
		note(plain, &part);
	}
	if (plain->state != IDEM_FORM_ONE)
		idem_buf_clear(&plain->value);
	idem_buf_free(&part);
}

int
LLVMFuzzerTestOneInput(const uint8_t *at, size_t len)
{
	struct answer whole = { 0 }, cut = { 0 }, plain = { 0 };
	const uint8_t *end = len > 0 ? memchr(at, '\n', len) : NULL;
	struct idem_bytes type = { at, 0 }, body;

	if (end == NULL)
		return 0;
	type.len = (size_t)(end - at);
	body = (struct idem_bytes){ end + 1, len - type.len - 1 };
	read_form(type, body, true, &whole);
	read_form(type, body, false, &cut);
	fuzz_must(alike(&whole, &cut));
	if (idem_bytes_is(type, "application/x-www-form-urlencoded") &&
	    body.len > 0 && memchr(body.at, ';', body.len) == NULL) {
		read_plainly(body, &plain);
		fuzz_must(alike(&whole, &plain));
	}
	idem_buf_free(&whole.value);
	idem_buf_free(&cut.value);
	idem_buf_free(&plain.value);
	return 0;
}
