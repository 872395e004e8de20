/* SPDX-License-Identifier: ISC */
#ifndef IDEM_FORM_CUT_H
#define IDEM_FORM_CUT_H

#include "buf.h"

/*
 * A submitted form without one of its fields: what is left is, byte for byte,
 * what it was.  Whether a body is broken is known at its end only, and then
 * nothing goes; so a form notes on its way where the field stands (form.h), and
 * what is to go goes after its end.  Pure, bounded.
 *
 * A pair goes with the '&' before it, or behind it if no pair before it stays.
 * A part goes with the delimiter before it.
 */
#define IDEM_FORM_CUT_MAX 16u

struct idem_form_span {
	uint64_t from, to;	/* bytes of the body; `to` stays */
};

struct idem_form_cut {
	struct idem_form_span at[IDEM_FORM_CUT_MAX];	/* in order, apart */
	size_t len;
	bool too_many;		/* there are more: `at` is not all */
};

/* These go, too: behind all those that do, or right at the last one's end. */
void idem_form_cut_add(struct idem_form_cut *, uint64_t from, uint64_t to);

/* Append what stays of a body's bytes, of which the first is its `from`th. */
void idem_form_cut_copy(const struct idem_form_cut *, uint64_t from,
    struct idem_bytes, struct idem_buf *out);

#endif
