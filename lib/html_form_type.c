/* SPDX-License-Identifier: ISC */
#include "html_form.h"

#include <string.h>

static bool
is_space(char c)
{
	return c == ' ' || c == '\t';
}

static void
skip(struct idem_bytes *left, size_t len)
{
	left->at = (const char *)left->at + len;
	left->len -= len;
}

static struct idem_bytes
trimmed(struct idem_bytes text)
{
	const char *at = text.at;

	while (text.len > 0 && is_space(at[text.len - 1]))
		text.len--;
	for (; text.len > 0 && is_space(*at); at++)
		skip(&text, 1);
	return text;
}

/* What stands before the next ';', which is taken too.  Quoted ones are not
   looked for: no charset has one. */
static struct idem_bytes
next_part(struct idem_bytes *left)
{
	struct idem_bytes part = *left;
	const char *end = left->len > 0 ? memchr(left->at, ';', left->len) :
	    NULL;

	if (end != NULL)
		part.len = (size_t)(end - (const char *)part.at);
	skip(left, part.len + (end != NULL));
	return trimmed(part);
}

static bool
begins(struct idem_bytes text, const char *word)
{
	size_t len = strlen(word);

	return text.len >= len &&
	    idem_bytes_is_nocase((struct idem_bytes){ text.at, len }, word);
}

static struct idem_bytes
unquoted(struct idem_bytes text)
{
	const char *at = text.at;

	if (text.len >= 2 && at[0] == '"' && at[text.len - 1] == '"')
		return (struct idem_bytes){ at + 1, text.len - 2 };
	return text;
}

/*
 * Not in UTF-16 and 32, ISO-2022, HZ and UTF-7, where what looks like a tag may
 * be text.  In those of East Asia no second byte is one that tags are made of.
 */
static bool
is_readable(struct idem_bytes charset)
{
	static const char *const whole[] = {
		"utf-8", "utf8", "us-ascii", "ascii", "latin1", "koi8-r",
		"koi8-u", "euc-jp", "euc-kr", "gb2312", "gbk", "gb18030",
		"big5", "shift_jis"
	};
	size_t i;

	if (begins(charset, "iso-8859-") || begins(charset, "windows-125"))
		return true;
	for (i = 0; i < sizeof whole / sizeof *whole; i++)
		if (idem_bytes_is_nocase(charset, whole[i]))
			return true;
	return false;
}

enum idem_html_type
idem_html_form_type(struct idem_bytes type)
{
	static const char charset[] = "charset=";
	struct idem_bytes part = next_part(&type);
	enum idem_html_type found = IDEM_HTML_NOT;

	if (idem_bytes_is_nocase(part, "text/html"))
		found = IDEM_HTML_TEXT;
	else if (idem_bytes_is_nocase(part, "application/xhtml+xml"))
		found = IDEM_HTML_XML;
	while (type.len > 0) {
		part = next_part(&type);
		if (!begins(part, charset))
			continue;
		skip(&part, sizeof charset - 1);
		if (!is_readable(unquoted(trimmed(part))))
			return IDEM_HTML_NOT;
	}
	return found;
}
