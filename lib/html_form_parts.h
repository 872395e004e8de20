/* SPDX-License-Identifier: ISC */
#ifndef IDEM_HTML_FORM_PARTS_H
#define IDEM_HTML_FORM_PARTS_H

#include "html_form.h"

/*
 * Private to html_form*.c: a page is text with tags, markup that is neither,
 * and raw text, each read by a machine of its own, byte by byte.
 */

bool idem_html_is_space(uint8_t);
bool idem_html_is_alpha(uint8_t);
uint8_t idem_html_lower(uint8_t);	/* ASCII only */

/* --- html_form_tag.c: from a tag's name to its '>' ------------------------ */

#define IDEM_HTML_NAME_MAX 9u	/* of tags and attributes that matter */
#define IDEM_HTML_WORD_MAX 64u	/* of "post" and "text/plain", in entities */

struct idem_html_name {		/* in lower case */
	char at[IDEM_HTML_NAME_MAX];
	size_t len;		/* may be more than NAME_MAX */
};
void idem_html_name_add(struct idem_html_name *, uint8_t);
bool idem_html_name_is(const struct idem_html_name *, const char *);

struct idem_html_value {
	uint8_t *at;
	size_t len, max;
	bool seen;		/* the attribute is there */
	bool too_long;
};

enum idem_html_tag_place {
	IDEM_HTML_TAG_NAME,
	IDEM_HTML_BEFORE_ATTRIBUTE,
	IDEM_HTML_ATTRIBUTE,
	IDEM_HTML_AFTER_ATTRIBUTE,
	IDEM_HTML_BEFORE_VALUE,
	IDEM_HTML_VALUE,		/* up to a space or '>' */
	IDEM_HTML_QUOTED,
	IDEM_HTML_AFTER_QUOTED,
	IDEM_HTML_SLASH
};

struct idem_html_tag {
	enum idem_html_tag_place place;
	struct idem_html_name name, attribute;
	struct idem_html_value *value;	/* of the attribute; or NULL */
	uint8_t quote;
	bool end, closes_itself;
	/* of a form; of a base: href is the action */
	struct idem_html_value method, action, enctype;
	uint8_t method_room[IDEM_HTML_WORD_MAX];
	uint8_t enctype_room[IDEM_HTML_WORD_MAX];
	uint8_t action_room[IDEM_HTML_ACTION_MAX];
};

void idem_html_tag_begin(struct idem_html_tag *, bool end);
/* True: that was its '>', and its values are decoded. */
bool idem_html_tag_step(struct idem_html_tag *, uint8_t);

/* --- html_form_markup.c: comments, <!DOCTYPE>, <?x>, CDATA ---------------- */

enum idem_html_markup_place {
	IDEM_HTML_MARKUP_OPEN,		/* after "<!" */
	IDEM_HTML_MARKUP_DASH,		/* "<!-" */
	IDEM_HTML_MARKUP_CDATA_OPEN,	/* "<!" and `matched` of "[CDATA[" */
	IDEM_HTML_COMMENT_START,	/* "<!--" */
	IDEM_HTML_COMMENT_START_DASH,	/* "<!---" */
	IDEM_HTML_COMMENT,
	IDEM_HTML_COMMENT_DASH,
	IDEM_HTML_COMMENT_END,		/* "--" */
	IDEM_HTML_COMMENT_BANG,		/* "--!" */
	IDEM_HTML_BOGUS,		/* to the next '>' */
	IDEM_HTML_CDATA			/* with `matched` of "]]" */
};

struct idem_html_markup {
	enum idem_html_markup_place place;
	uint8_t matched;
	bool cdata;		/* there is such a thing */
};

void idem_html_markup_begin(struct idem_html_markup *, bool cdata);
void idem_html_markup_bogus(struct idem_html_markup *);
bool idem_html_markup_step(struct idem_html_markup *, uint8_t);	/* the last? */

/* --- html_form_raw.c: what ends only at its own end tag ------------------- */

enum idem_html_raw_place {
	IDEM_HTML_RAW,
	IDEM_HTML_RAW_LESS,		/* "<" */
	IDEM_HTML_RAW_SLASH,		/* "</" */
	IDEM_HTML_RAW_NAME,		/* "</" and `matched` of its name */
	IDEM_HTML_RAW_BANG,		/* "<!" */
	IDEM_HTML_RAW_BANG_DASH,	/* "<!-" */
	IDEM_HTML_RAW_SCRIPT		/* "<" or "</" and `matched` of
					   "script" */
};

/* What a script that looks like a comment does (13.1.2, 13.2.5.18 to 31). */
enum idem_html_escape {
	IDEM_HTML_UNESCAPED,
	IDEM_HTML_ESCAPED,		/* after "<!--" */
	IDEM_HTML_TWICE_ESCAPED		/* and "<script" in it */
};

struct idem_html_raw {
	enum idem_html_raw_place place;
	enum idem_html_escape escape;
	const char *name;		/* a constant */
	uint8_t matched;
	uint8_t dashes;			/* up to two */
};

/* False: no element of raw text has that name. */
bool idem_html_raw_begin(struct idem_html_raw *, const struct idem_html_name *);
/* True: its end tag's name is over, and this byte is the first after it. */
bool idem_html_raw_step(struct idem_html_raw *, uint8_t);

/* --- html_form_entity.c --------------------------------------------------- */

/* Decode an attribute's value in place (13.2.5.72 to 80); its new length.  Of
   the named ones those that are ASCII: paths have no others. */
size_t idem_html_entity_decode(uint8_t *, size_t len);

#endif
