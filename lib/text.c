/* SPDX-License-Identifier: ISC */
#include "text.h"

#define DAY_S 86400
#define YEAR_10000_S INT64_C(253402300800)
#define REPLACEMENT "\xef\xbf\xbd"	/* U+FFFD, for what is not text */

/* Append one byte of a text so that it means itself. */
typedef void escape_fn(struct idem_buf *, uint8_t);

static void
json_escape(struct idem_buf *out, uint8_t c)
{
	if (c < 0x20) {
		idem_buf_printf(out, "\\u%04x", (unsigned)c);
		return;
	}
	if (c == '"' || c == '\\')
		idem_buf_u8(out, '\\');
	idem_buf_u8(out, c);
}

static void
html_escape(struct idem_buf *out, uint8_t c)
{
	if (c == '&' || c == '<' || c == '>' || c == '"' || c == '\'')
		idem_buf_printf(out, "&#%u;", (unsigned)c);
	else if ((c < 0x20 && c != '\t' && c != '\n') || c == 0x7f)
		idem_buf_text(out, REPLACEMENT);
	else
		idem_buf_u8(out, c);
}

size_t
idem_text_char_len(const uint8_t *text)
{
	uint8_t low = 0x80, high = 0xbf;
	size_t len, i;

	if (text[0] < 0x80)
		return 1;
	if (text[0] < 0xc2 || text[0] > 0xf4)
		return 0;
	len = text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
	if (text[0] == 0xe0)
		low = 0xa0;		/* else it is longer than needed */
	else if (text[0] == 0xed)
		high = 0x9f;		/* else a surrogate */
	else if (text[0] == 0xf0)
		low = 0x90;		/* longer than needed */
	else if (text[0] == 0xf4)
		high = 0x8f;		/* beyond U+10FFFF */
	for (i = 1; i < len; i++) {
		if (text[i] < low || text[i] > high)
			return 0;
		low = 0x80;
		high = 0xbf;
	}
	return len;
}

static void
put(struct idem_buf *out, const char *text, escape_fn *escape)
{
	const uint8_t *at = (const uint8_t *)text;
	size_t len, i;

	while (*at != '\0') {
		len = idem_text_char_len(at);
		for (i = 0; i < len; i++)
			escape(out, at[i]);
		if (len == 0)
			idem_buf_text(out, REPLACEMENT);
		at += len > 0 ? len : 1;
	}
}

void
idem_text_json(struct idem_buf *out, const char *text)
{
	put(out, text, json_escape);
}

void
idem_text_html(struct idem_buf *out, const char *text)
{
	put(out, text, html_escape);
}

bool
idem_text_is_time(int64_t ms)
{
	return ms > 0 && ms / 1000 < YEAR_10000_S;
}

/*
 * Not gmtime(), which reads the machine's time zone.  The date is counted in
 * years that begin in March, so that the leap day is their last, in cycles of
 * 400 years.
 */
void
idem_text_time(struct idem_buf *out, int64_t ms)
{
	int64_t s = ms / 1000;
	int days = (int)(s / DAY_S) + 719468;	/* since March 1, year 0 */
	int of_day = (int)(s % DAY_S);
	int cycle = days / 146097, day = days % 146097;
	int year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	int month;

	day -= 365 * year + year / 4 - year / 100;
	month = (5 * day + 2) / 153;
	day -= (153 * month + 2) / 5;
	year += cycle * 400 + (month >= 10);
	month += month < 10 ? 3 : -9;
	idem_buf_printf(out, "%04d-%02d-%02dT%02d:%02d:%02dZ", year, month,
	    day + 1, of_day / 3600, of_day / 60 % 60, of_day % 60);
}
