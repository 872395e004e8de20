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

/* The length of the character that text begins with, 0 if it is not well formed
   (RFC 3629, 4).  Its NUL ends any character cut off. */
size_t idem_text_char_len(const uint8_t *text);

/* Append a time of the wall clock, milliseconds, in seconds and UTC (RFC 3339,
   5.6).  It can be said if it is after 1970 and before 10000. */
bool idem_text_is_time(int64_t ms);
void idem_text_time(struct idem_buf *, int64_t ms);

#endif
