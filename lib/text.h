/* SPDX-License-Identifier: ISC */
#ifndef IDEM_TEXT_H
#define IDEM_TEXT_H

#include "buf.h"

/*
 * Append a text so that it means itself there; bytes that are not UTF-8 (RFC
 * 3629) become U+FFFD each.
 */
void idem_text_json(struct idem_buf *, const char *text);	/* in quotes */
void idem_text_html(struct idem_buf *, const char *text);

/* Append a time of the wall clock, milliseconds, in seconds and UTC (RFC 3339,
   5.6).  It can be said if it is after 1970 and before 10000. */
bool idem_text_is_time(int64_t ms);
void idem_text_time(struct idem_buf *, int64_t ms);

#endif
