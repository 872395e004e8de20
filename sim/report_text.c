/* SPDX-License-Identifier: ISC */
#include "report_private.h"

#include "arena.h"
#include "text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"	/* U+FFFD */
#define ELLIPSIS "\xe2\x80\xa6"
#define MS INT64_C(1000000)
#define SECOND (1000 * MS)

const char *
report_buf_text(struct idem_buf *b)
{
	idem_buf_u8(b, '\0');
	arena_must_have(idem_buf_ok(b));
	b->len--;
	return (const char *)b->at;
}

/* --- plain text ----------------------------------------------------------- */

/* Of a well-formed character, by its first byte. */
static size_t
char_len(uint8_t first)
{
	return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/*
 * Controls of the second kind (U+0080-9F), ends of lines and turns of the
 * direction (U+200E-F, U+2028-2E, U+2066-69), and what XML has no room for
 * (U+FFFE-F): each would make a reader see something else than what is there.
 */
static bool
misleads(const uint8_t *at, size_t len)
{
	if (len == 2)
		return at[0] == 0xc2 && at[1] < 0xa0;
	if (len != 3)
		return false;
	if (at[0] == 0xe2 && at[1] == 0x80)
		return at[2] == 0x8e || at[2] == 0x8f ||
		    (at[2] >= 0xa8 && at[2] <= 0xae);
	if (at[0] == 0xe2 && at[1] == 0x81)
		return at[2] >= 0xa6 && at[2] <= 0xa9;
	return at[0] == 0xef && at[1] == 0xbf && at[2] >= 0xbe;
}

/* One character of a text in JSON, after which it goes on. */
static const uint8_t *
one(struct idem_buf *out, const uint8_t *at)
{
	size_t len = char_len(*at);

	if (*at == '\\' && at[1] == 'u') {
		if (memcmp(at, "\\u0009", 6) == 0 ||
		    memcmp(at, "\\u000a", 6) == 0)
			idem_buf_u8(out, ' ');
		else
			idem_buf_text(out, REPLACEMENT);
		return at + 6;
	}
	if (*at == '\\')
		at++;
	if (misleads(at, len) || *at == 0x7f)
		idem_buf_text(out, REPLACEMENT);
	else
		idem_buf_append(out, at, len);
	return at + len;
}

/*
 * A text in JSON is UTF-8 for certain, and its only escapes are those of
 * quotes, backslashes and control characters: taken apart again, it is clean.
 */
void
report_text(struct idem_buf *out, const char *text, size_t max)
{
	struct idem_buf json = { 0 };
	const uint8_t *at;
	size_t n = 0;

	idem_text_json(&json, text != NULL ? text : "");
	at = (const uint8_t *)report_buf_text(&json);
	for (; *at != '\0' && (max == 0 || n < max); n++)
		at = one(out, at);
	if (*at != '\0')
		idem_buf_text(out, ELLIPSIS);
	idem_buf_free(&json);
}

size_t
report_text_columns(const char *text)
{
	size_t n = 0;

	for (; *text != '\0'; text++)
		n += ((uint8_t)*text & 0xc0) != 0x80;
	return n;
}

/* --- the languages -------------------------------------------------------- */

void
report_text_html(struct idem_buf *out, const char *text, size_t max)
{
	struct idem_buf plain = { 0 };

	report_text(&plain, text, max);
	idem_text_html(out, report_buf_text(&plain));
	idem_buf_free(&plain);
}

void
report_text_tap(struct idem_buf *out, const char *text, int version)
{
	struct idem_buf plain = { 0 };
	const char *at;

	report_text(&plain, text, REPORT_LINE);
	for (at = report_buf_text(&plain); *at != '\0'; at++) {
		if (*at == '#' || (*at == '\\' && version >= 14))
			idem_buf_u8(out, '\\');
		idem_buf_u8(out, (uint8_t)*at);
	}
	idem_buf_free(&plain);
}

/* A word that no reader takes for a number, a truth or nothing. */
static bool
is_word(const char *text)
{
	static const char *const meant[] = {
		"true", "false", "null", "yes", "no", "on", "off", "y", "n",
		"nan", "inf"
	};
	size_t i;

	if (!((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z')))
		return false;
	for (i = 0; i < sizeof meant / sizeof *meant; i++)
		if (strcasecmp(text, meant[i]) == 0)
			return false;
	return text[strspn(text, "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/")] == '\0';
}

void
report_text_yaml(struct idem_buf *out, const char *text, size_t max)
{
	struct idem_buf plain = { 0 };
	const char *at;

	report_text(&plain, text, max);
	at = report_buf_text(&plain);
	if (is_word(at))
		idem_buf_text(out, at);
	else {
		idem_buf_u8(out, '\'');
		for (; *at != '\0'; at++) {
			if (*at == '\'')
				idem_buf_u8(out, '\'');
			idem_buf_u8(out, (uint8_t)*at);
		}
		idem_buf_u8(out, '\'');
	}
	idem_buf_free(&plain);
}

/* Not cleaned: it must be the same bytes again. */
void
report_text_shell(struct idem_buf *out, const char *text)
{
	if (*text != '\0' && text[strspn(text, "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,-/=+:@%")] == '\0') {
		idem_buf_text(out, text);
		return;
	}
	idem_buf_u8(out, '\'');
	for (; *text != '\0'; text++)
		if (*text == '\'')
			idem_buf_text(out, "'\\''");
		else
			idem_buf_u8(out, (uint8_t)*text);
	idem_buf_u8(out, '\'');
}

void
report_text_slug(struct idem_buf *out, const char *text, size_t max)
{
	size_t from = out->len;
	bool dash = false;
	char c;

	for (; *text != '\0' && out->len - from < max; text++) {
		c = *text;
		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if ((c < 'a' || c > 'z') && (c < '0' || c > '9')) {
			dash = out->len > from;
			continue;
		}
		if (dash)
			idem_buf_u8(out, '-');
		dash = false;
		idem_buf_u8(out, (uint8_t)c);
	}
	if (out->len == from)
		idem_buf_text(out, "point");
}

void
report_text_time(struct idem_buf *out, int64_t ns)
{
	int64_t s = ns / SECOND;

	if (ns < 10 * MS)
		idem_buf_printf(out, "%" PRId64 ".%02" PRId64 " ms", ns / MS,
		    ns % MS * 100 / MS);
	else if (ns < SECOND)
		idem_buf_printf(out, "%" PRId64 ".%" PRId64 " ms", ns / MS,
		    ns % MS * 10 / MS);
	else if (s < 60)
		idem_buf_printf(out, "%" PRId64 ".%03" PRId64 " s", s,
		    ns % SECOND / MS);
	else
		idem_buf_printf(out, "%" PRId64 " min %" PRId64 " s", s / 60,
		    s % 60);
}
