/* SPDX-License-Identifier: ISC */
#include "html_form_parts.h"

#include <string.h>

/*
 * Text that ends only at "</" and its element's name (13.2.5.2 to 5, 13.2.5.9
 * to 31).  In a script there is more:
 *
 *	UNESCAPED --"<!--"--> ESCAPED --"<script "--> TWICE_ESCAPED
 *	TWICE_ESCAPED --"</script "--> ESCAPED, --"-->"--> UNESCAPED
 *	ESCAPED --"-->"--> UNESCAPED
 *
 * and only in the first two does "</script" end it.
 */

static const char script[] = "script";

bool
idem_html_raw_begin(struct idem_html_raw *r, const struct idem_html_name *name)
{
	/* What stands in <plaintext> has no end. */
	static const char *const names[] = {
		script, "style", "textarea", "title", "xmp", "iframe",
		"noembed", "noframes", "plaintext"
	};
	size_t i;

	for (i = 0; i < sizeof names / sizeof *names; i++)
		if (idem_html_name_is(name, names[i])) {
			*r = (struct idem_html_raw){ .name = names[i] };
			return true;
		}
	return false;
}

static bool
is_script(const struct idem_html_raw *r)
{
	return r->name == script;
}

static bool
is_endless(const struct idem_html_raw *r)
{
	return strcmp(r->name, "plaintext") == 0;
}

static bool
ends_name(uint8_t byte)
{
	return idem_html_is_space(byte) || byte == '/' || byte == '>';
}

/* Plain text again, of which this byte is the first. */
static bool
text(struct idem_html_raw *r, uint8_t byte)
{
	r->place = byte == '<' ? IDEM_HTML_RAW_LESS : IDEM_HTML_RAW;
	if (byte == '>' && r->dashes == 2)
		r->escape = IDEM_HTML_UNESCAPED;
	if (byte != '-')
		r->dashes = 0;
	else if (r->dashes < 2)
		r->dashes++;
	return false;
}

static bool
go(struct idem_html_raw *r, enum idem_html_raw_place place)
{
	r->place = place;
	r->matched = 0;
	return false;
}

static bool
less(struct idem_html_raw *r, uint8_t byte)
{
	if (byte == '/')
		return go(r, r->escape == IDEM_HTML_TWICE_ESCAPED ?
		    IDEM_HTML_RAW_SCRIPT : IDEM_HTML_RAW_SLASH);
	if (byte == '!' && is_script(r) && r->escape == IDEM_HTML_UNESCAPED)
		return go(r, IDEM_HTML_RAW_BANG);
	if (r->escape != IDEM_HTML_ESCAPED || idem_html_lower(byte) != 's')
		return text(r, byte);
	go(r, IDEM_HTML_RAW_SCRIPT);
	r->matched = 1;
	return false;
}

/* Does it go on as the word does?  No letter of one begins anything else. */
static bool
matches(struct idem_html_raw *r, const char *word, uint8_t byte)
{
	if ((uint8_t)word[r->matched] != idem_html_lower(byte) || byte == '\0')
		return false;
	r->matched++;
	return true;
}

static bool
name(struct idem_html_raw *r, uint8_t byte)
{
	r->place = IDEM_HTML_RAW_NAME;
	if (matches(r, r->name, byte))
		return false;
	if (r->name[r->matched] == '\0' && ends_name(byte) && !is_endless(r))
		return true;
	return text(r, byte);
}

static bool
in_script(struct idem_html_raw *r, uint8_t byte)
{
	if (matches(r, script, byte))
		return false;
	if (script[r->matched] == '\0' && ends_name(byte))
		r->escape = r->escape == IDEM_HTML_ESCAPED ?
		    IDEM_HTML_TWICE_ESCAPED : IDEM_HTML_ESCAPED;
	return text(r, byte);
}

/* "<!" and one dash, or both: then a script is escaped. */
static bool
bang(struct idem_html_raw *r, uint8_t byte)
{
	if (byte != '-')
		return text(r, byte);
	if (r->place == IDEM_HTML_RAW_BANG)
		return go(r, IDEM_HTML_RAW_BANG_DASH);
	r->escape = IDEM_HTML_ESCAPED;
	r->dashes = 2;
	return go(r, IDEM_HTML_RAW);
}

bool
idem_html_raw_step(struct idem_html_raw *r, uint8_t byte)
{
	switch (r->place) {
	case IDEM_HTML_RAW:
		return text(r, byte);
	case IDEM_HTML_RAW_LESS:
		return less(r, byte);
	case IDEM_HTML_RAW_SLASH:
	case IDEM_HTML_RAW_NAME:
		return name(r, byte);
	case IDEM_HTML_RAW_BANG:
	case IDEM_HTML_RAW_BANG_DASH:
		return bang(r, byte);
	case IDEM_HTML_RAW_SCRIPT:
		return in_script(r, byte);
	}
	return false;
}
