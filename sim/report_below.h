/* SPDX-License-Identifier: ISC */
#ifndef REPORT_BELOW_H
#define REPORT_BELOW_H

#include "report_private.h"
#include "report_svg.h"

/* The list beside the diagram: a line a row, of the row's height. */
void report_below_list(struct idem_buf *, const struct chart *);
/* What was asked for, what went wrong, what had to hold, how to do it again;
   and the events as a table. */
void report_below(struct idem_buf *, const struct report_page *,
    const struct chart *);

#endif
