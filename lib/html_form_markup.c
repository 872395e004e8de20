/* SPDX-License-Identifier: ISC */
#include "html_form_parts.h"

/*
 *	"<!" --"--"--> COMMENT_START ... --"-->" or "--!>"-->
 *	"<!" --"[CDATA["--> CDATA ... --"]]>"-->	only where there is one
 *	"<!" --x--> BOGUS --">"-->			<!DOCTYPE too
 *
 * (13.2.5.41 to 52, 13.2.5.69.)  A comment may also end right after its start,
 * in "<!-->" and "<!--->".
 */

void
idem_html_markup_begin(struct idem_html_markup *m, bool cdata)
{
	*m = (struct idem_html_markup){
		.place = IDEM_HTML_MARKUP_OPEN, .cdata = cdata
	};
}

void
idem_html_markup_bogus(struct idem_html_markup *m)
{
	*m = (struct idem_html_markup){ .place = IDEM_HTML_BOGUS };
}

static bool
bogus(struct idem_html_markup *m, uint8_t byte)
{
	m->place = IDEM_HTML_BOGUS;
	return byte == '>';
}

static bool
open(struct idem_html_markup *m, uint8_t byte)
{
	if (byte != '-' && (byte != '[' || !m->cdata))
		return bogus(m, byte);
	m->place = byte == '-' ? IDEM_HTML_MARKUP_DASH :
	    IDEM_HTML_MARKUP_CDATA_OPEN;
	m->matched = 1;
	return false;
}

static bool
cdata_open(struct idem_html_markup *m, uint8_t byte)
{
	static const char word[] = "[CDATA[";

	if (byte != (uint8_t)word[m->matched])
		return bogus(m, byte);
	if (++m->matched == sizeof word - 1) {
		m->place = IDEM_HTML_CDATA;
		m->matched = 0;
	}
	return false;
}

static bool
in_cdata(struct idem_html_markup *m, uint8_t byte)
{
	if (byte == '>' && m->matched == 2)
		return true;
	if (byte != ']')
		m->matched = 0;
	else if (m->matched < 2)
		m->matched++;
	return false;
}

/* A dash leads to `dash`, all else but a '>' back to the comment. */
static bool
in_comment(struct idem_html_markup *m, uint8_t byte,
    enum idem_html_markup_place dash)
{
	m->place = byte == '-' ? dash : IDEM_HTML_COMMENT;
	return false;
}

bool
idem_html_markup_step(struct idem_html_markup *m, uint8_t byte)
{
	switch (m->place) {
	case IDEM_HTML_MARKUP_OPEN:
		return open(m, byte);
	case IDEM_HTML_MARKUP_DASH:
		if (byte != '-')
			return bogus(m, byte);
		m->place = IDEM_HTML_COMMENT_START;
		return false;
	case IDEM_HTML_MARKUP_CDATA_OPEN:
		return cdata_open(m, byte);
	case IDEM_HTML_COMMENT_START:
		return byte == '>' ||
		    in_comment(m, byte, IDEM_HTML_COMMENT_START_DASH);
	case IDEM_HTML_COMMENT_START_DASH:
		return byte == '>' ||
		    in_comment(m, byte, IDEM_HTML_COMMENT_END);
	case IDEM_HTML_COMMENT:
		return in_comment(m, byte, IDEM_HTML_COMMENT_DASH);
	case IDEM_HTML_COMMENT_DASH:
		return in_comment(m, byte, IDEM_HTML_COMMENT_END);
	case IDEM_HTML_COMMENT_END:
		if (byte == '!') {
			m->place = IDEM_HTML_COMMENT_BANG;
			return false;
		}
		return byte == '>' ||
		    in_comment(m, byte, IDEM_HTML_COMMENT_END);
	case IDEM_HTML_COMMENT_BANG:
		return byte == '>' ||
		    in_comment(m, byte, IDEM_HTML_COMMENT_DASH);
	case IDEM_HTML_BOGUS:
		return bogus(m, byte);
	case IDEM_HTML_CDATA:
		return in_cdata(m, byte);
	}
	return false;
}
