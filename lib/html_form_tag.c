/* SPDX-License-Identifier: ISC */
#include "html_form_parts.h"

#include <string.h>

/*
 *	NAME --SP--> BEFORE_ATTRIBUTE --x--> ATTRIBUTE --SP--> AFTER_ATTRIBUTE
 *	ATTRIBUTE --"="--> BEFORE_VALUE --x--> VALUE --SP--> BEFORE_ATTRIBUTE
 *	BEFORE_VALUE --quote--> QUOTED --quote--> AFTER_QUOTED
 *
 * (13.2.5.8, 13.2.5.32 to 40.)  Outside of quotes a '>' ends the tag, and a '/'
 * does but in a value lead to SLASH, which counts only just before the '>'.
 */

bool
idem_html_is_space(uint8_t byte)
{
	return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r' ||
	    byte == '\f';
}

bool
idem_html_is_alpha(uint8_t byte)
{
	byte = idem_html_lower(byte);
	return byte >= 'a' && byte <= 'z';
}

uint8_t
idem_html_lower(uint8_t byte)
{
	return byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte | 0x20) : byte;
}

void
idem_html_name_add(struct idem_html_name *name, uint8_t byte)
{
	if (name->len < sizeof name->at)
		name->at[name->len] = (char)idem_html_lower(byte);
	name->len++;
}

bool
idem_html_name_is(const struct idem_html_name *name, const char *word)
{
	return name->len > 0 && name->at[0] == word[0] &&
	    name->len == strlen(word) && name->len <= sizeof name->at &&
	    memcmp(name->at, word, name->len) == 0;
}

static void
add(struct idem_html_value *value, uint8_t byte)
{
	if (value == NULL)
		return;
	if (value->len < value->max)
		value->at[value->len++] = byte;
	else
		value->too_long = true;
}

/* What ends names and values alike, or goes on to `next`. */
static bool
ends(struct idem_html_tag *t, uint8_t byte, enum idem_html_tag_place next)
{
	if (idem_html_is_space(byte))
		t->place = next;
	else if (byte == '/')
		t->place = IDEM_HTML_SLASH;
	else
		return byte == '>';
	return false;
}

static bool
is_end(uint8_t byte)
{
	return idem_html_is_space(byte) || byte == '/' || byte == '>';
}

/* --- attributes ----------------------------------------------------------- */

static struct idem_html_value *
value_of(struct idem_html_tag *t)
{
	const struct idem_html_name *name = &t->attribute;

	if (idem_html_name_is(&t->name, "base"))
		return idem_html_name_is(name, "href") ? &t->action : NULL;
	if (!idem_html_name_is(&t->name, "form"))
		return NULL;
	if (idem_html_name_is(name, "method"))
		return &t->method;
	if (idem_html_name_is(name, "action"))
		return &t->action;
	return idem_html_name_is(name, "enctype") ? &t->enctype : NULL;
}

/* Of several of one name the first counts, though it had no value. */
static void
end_attribute(struct idem_html_tag *t)
{
	t->value = value_of(t);
	if (t->value != NULL && t->value->seen)
		t->value = NULL;
	if (t->value != NULL)
		t->value->seen = true;
}

static bool
in_attribute(struct idem_html_tag *t, uint8_t byte)
{
	if (byte == '=' || is_end(byte))
		end_attribute(t);
	else
		idem_html_name_add(&t->attribute, byte);
	if (byte == '=')
		t->place = IDEM_HTML_BEFORE_VALUE;
	return is_end(byte) && ends(t, byte, IDEM_HTML_AFTER_ATTRIBUTE);
}

static bool
begin_attribute(struct idem_html_tag *t, uint8_t byte)
{
	t->place = IDEM_HTML_ATTRIBUTE;
	t->attribute.len = 0;
	t->value = NULL;
	if (byte != '=')
		return in_attribute(t, byte);
	idem_html_name_add(&t->attribute, byte);	/* its name begins so */
	return false;
}

/* --- values --------------------------------------------------------------- */

static bool
before_value(struct idem_html_tag *t, uint8_t byte)
{
	if (idem_html_is_space(byte))
		return false;
	if (byte == '>')
		return true;
	t->quote = byte;
	t->place = IDEM_HTML_QUOTED;
	if (byte == '"' || byte == '\'')
		return false;
	t->place = IDEM_HTML_VALUE;
	add(t->value, byte);
	return false;
}

static bool
in_value(struct idem_html_tag *t, uint8_t byte)
{
	if (idem_html_is_space(byte))
		t->place = IDEM_HTML_BEFORE_ATTRIBUTE;
	else if (byte != '>')
		add(t->value, byte);
	return byte == '>';
}

static bool
in_quotes(struct idem_html_tag *t, uint8_t byte)
{
	if (byte == t->quote)
		t->place = IDEM_HTML_AFTER_QUOTED;
	else
		add(t->value, byte);
	return false;
}

static bool
step(struct idem_html_tag *t, uint8_t byte)
{
	switch (t->place) {
	case IDEM_HTML_TAG_NAME:
		if (is_end(byte))
			return ends(t, byte, IDEM_HTML_BEFORE_ATTRIBUTE);
		idem_html_name_add(&t->name, byte);
		return false;
	case IDEM_HTML_AFTER_ATTRIBUTE:
		if (byte == '=') {
			t->place = IDEM_HTML_BEFORE_VALUE;
			return false;
		}
		/* fallthrough */
	case IDEM_HTML_BEFORE_ATTRIBUTE:
	case IDEM_HTML_AFTER_QUOTED:
		return is_end(byte) ? ends(t, byte, t->place ==
		    IDEM_HTML_AFTER_ATTRIBUTE ? t->place :
		    IDEM_HTML_BEFORE_ATTRIBUTE) : begin_attribute(t, byte);
	case IDEM_HTML_ATTRIBUTE:
		return in_attribute(t, byte);
	case IDEM_HTML_BEFORE_VALUE:
		return before_value(t, byte);
	case IDEM_HTML_VALUE:
		return in_value(t, byte);
	case IDEM_HTML_QUOTED:
		return in_quotes(t, byte);
	case IDEM_HTML_SLASH:
		t->closes_itself = byte == '>';
		t->place = IDEM_HTML_BEFORE_ATTRIBUTE;
		return step(t, byte);
	}
	return false;
}

static void
begin_value(struct idem_html_value *value, uint8_t *room, size_t max)
{
	*value = (struct idem_html_value){ .at = room, .max = max };
}

void
idem_html_tag_begin(struct idem_html_tag *t, bool end)
{
	t->place = IDEM_HTML_TAG_NAME;
	t->end = end;
	t->closes_itself = false;
	t->name.len = 0;
	t->value = NULL;
	begin_value(&t->method, t->method_room, sizeof t->method_room);
	begin_value(&t->enctype, t->enctype_room, sizeof t->enctype_room);
	begin_value(&t->action, t->action_room, sizeof t->action_room);
}

static void
decode(struct idem_html_value *value)
{
	value->len = idem_html_entity_decode(value->at, value->len);
}

bool
idem_html_tag_step(struct idem_html_tag *t, uint8_t byte)
{
	if (!step(t, byte))
		return false;
	decode(&t->method);
	decode(&t->enctype);
	decode(&t->action);
	return true;
}
