/* SPDX-License-Identifier: ISC */
#include "form_cut.h"

void
idem_form_cut_add(struct idem_form_cut *cut, uint64_t from, uint64_t to)
{
	if (cut->len > 0 && cut->at[cut->len - 1].to == from)
		cut->at[cut->len - 1].to = to;
	else if (cut->len < IDEM_FORM_CUT_MAX)
		cut->at[cut->len++] = (struct idem_form_span){ from, to };
	else
		cut->too_many = true;
}

static uint64_t
least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void
idem_form_cut_copy(const struct idem_form_cut *cut, uint64_t from,
    struct idem_bytes bytes, struct idem_buf *out)
{
	const uint64_t start = from, end = from + bytes.len;
	uint64_t stop;
	size_t i;

	for (i = 0; i <= cut->len && from < end; i++) {
		stop = i < cut->len ? least(cut->at[i].from, end) : end;
		if (stop > from)
			idem_buf_append(out, (const uint8_t *)bytes.at +
			    (from - start), (size_t)(stop - from));
		if (i < cut->len && cut->at[i].to > from)
			from = cut->at[i].to;
	}
}
