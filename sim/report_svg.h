/* SPDX-License-Identifier: ISC */
#ifndef REPORT_SVG_H
#define REPORT_SVG_H

#include "buf.h"
#include "report_chart.h"

#define REPORT_SVG_CHARACTER 6.7	/* its breadth in a label */

/*
 * The diagram's two pictures: the lanes' heads, which stay in sight, and all
 * that is below.  Each thing says by data-e which rows it is of, so that the
 * script can dim the others.
 */
void report_svg_heads(struct idem_buf *, const struct chart *);
void report_svg(struct idem_buf *, const struct chart *);

/* Layers, from below to above, over the lanes.  Rows are there to be pointed
   at: of the lanes' layer, over their bands. */
void report_svg_rows(struct idem_buf *, const struct chart *);
void report_svg_spans(struct idem_buf *, const struct chart *);
void report_svg_leases(struct idem_buf *, const struct chart *);
void report_svg_arrows(struct idem_buf *, const struct chart *);
void report_svg_marks(struct idem_buf *, const struct chart *);

/* An event in words, with arrows: escaped. */
void report_svg_words(struct idem_buf *, const struct history_event *,
    size_t max);
/* Its mark: the id of a shape, and the class that gives the colour. */
const char *report_svg_shape(const struct history_event *);
const char *report_svg_class(const struct history_event *);

#endif
