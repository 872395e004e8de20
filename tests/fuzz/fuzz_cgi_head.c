/* SPDX-License-Identifier: ISC */
#include "cgi_head.h"

#include "fuzz.h"

#include <string.h>

static bool
same_bufs(const struct idem_buf *a, const struct idem_buf *b)
{
	return idem_bytes_equal(idem_buf_bytes(a), idem_buf_bytes(b));
}

/* In all that the head says of the answer. */
static bool
same(const struct idem_head *a, const struct idem_head *b)
{
	return same_bufs(&a->lines, &b->lines) &&
	    same_bufs(&a->status, &b->status) &&
	    a->has_status == b->has_status && a->code == b->code &&
	    a->has_length == b->has_length && a->length == b->length &&
	    a->has_location == b->has_location && a->has_type == b->has_type &&
	    a->location_absolute == b->location_absolute;
}

/* What comes later changes nothing that was certain before. */
static void
check_prefix(const struct idem_head *whole, enum idem_head_state state,
    struct idem_bytes prefix)
{
	struct idem_head h = { 0 };

	switch (idem_head_parse(&h, prefix, false)) {
	case IDEM_HEAD_MORE:
		fuzz_must(state != IDEM_HEAD_WHOLE || prefix.len < whole->size);
		break;
	case IDEM_HEAD_WHOLE:
		fuzz_must(state == IDEM_HEAD_WHOLE && same(&h, whole) &&
		    h.size == whole->size && h.no_store == whole->no_store);
		break;
	case IDEM_HEAD_BROKEN:
		fuzz_must(state == IDEM_HEAD_BROKEN && h.wrong != NULL);
		break;
	}
	idem_head_free(&h);
}

static void
check_prefixes(const struct idem_head *whole, enum idem_head_state state,
    const uint8_t *at, size_t len)
{
	size_t step = len / 64 + 1, i;

	for (i = 0; i < len; i += step)
		check_prefix(whole, state, (struct idem_bytes){ at, i });
	for (i = 0; i < 4 && i <= whole->size; i++)
		check_prefix(whole, state,
		    (struct idem_bytes){ at, whole->size - i });
}

/* CRLF at every end and nowhere else, and no NUL; gives their number. */
static size_t
check_lines(const struct idem_buf *lines)
{
	size_t i, n = 0;

	for (i = 0; i < lines->len; i++) {
		fuzz_must(lines->at[i] != '\0');
		if (lines->at[i] == '\r')
			fuzz_must(i + 1 < lines->len &&
			    lines->at[i + 1] == '\n');
		if (lines->at[i] != '\n')
			continue;
		fuzz_must(i > 1 && lines->at[i - 1] == '\r' &&
		    lines->at[i - 2] != '\n');
		n++;
	}
	fuzz_must(lines->len == 0 || lines->at[lines->len - 1] == '\n');
	return n;
}

/* A front that reads what we send reads what we read. */
static void
check_again(const struct idem_head *whole, size_t lines)
{
	struct idem_head h = { 0 };
	struct idem_buf b = { 0 };

	if (whole->has_status) {
		idem_buf_text(&b, "Status: ");
		idem_buf_append(&b, whole->status.at, whole->status.len);
		idem_buf_text(&b, "\r\n");
	}
	idem_buf_append(&b, whole->lines.at, whole->lines.len);
	idem_buf_text(&b, "\r\n");
	fuzz_must(idem_buf_ok(&b));
	/* With CRs and our Status it may be just over the limits. */
	if (b.len <= IDEM_HEAD_MAX && lines < IDEM_HEAD_LINES_MAX)
		fuzz_must(idem_head_parse(&h, idem_buf_bytes(&b), true) ==
		    IDEM_HEAD_WHOLE && h.size == b.len && same(&h, whole));
	idem_head_free(&h);
	idem_buf_free(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *at, size_t len)
{
	struct idem_head h = { 0 }, ended = { 0 };
	struct idem_bytes in = { at, len };
	enum idem_head_state state = idem_head_parse(&h, in, false);
	enum idem_head_state end = idem_head_parse(&ended, in, true);

	fuzz_must(end == (state == IDEM_HEAD_MORE ? IDEM_HEAD_BROKEN : state));
	fuzz_must(h.size <= len);
	fuzz_must((state == IDEM_HEAD_BROKEN) == (h.wrong != NULL));
	check_prefixes(&h, state, at, len);
	if (state == IDEM_HEAD_WHOLE) {
		fuzz_must(h.code >= 200 && h.code <= 599 && h.size > 0);
		fuzz_must(memchr(h.status.at != NULL ? h.status.at : at, '\n',
		    h.status.len) == NULL);
		check_again(&h, check_lines(&h.lines));
	}
	idem_head_free(&h);
	idem_head_free(&ended);
	return 0;
}
