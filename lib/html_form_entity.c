/* SPDX-License-Identifier: ISC */
#include "html_form_parts.h"

#include <string.h>

struct left {
	const uint8_t *at, *end;	/* behind the '&' */
};

struct entity {
	const char *name;
	char byte;
	bool bare;		/* it needs no ';' (13.5) */
};

static bool
is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* --- named ---------------------------------------------------------------- */

static const struct entity *
find(const uint8_t *name, size_t len)
{
	static const struct entity all[] = {
		{ "amp", '&', true }, { "AMP", '&', true },
		{ "lt", '<', true }, { "LT", '<', true },
		{ "gt", '>', true }, { "GT", '>', true },
		{ "quot", '"', true }, { "QUOT", '"', true },
		{ "apos", '\'', false }, { "Tab", '\t', false },
		{ "NewLine", '\n', false }, { "excl", '!', false },
		{ "num", '#', false }, { "dollar", '$', false },
		{ "percnt", '%', false }, { "lpar", '(', false },
		{ "rpar", ')', false }, { "ast", '*', false },
		{ "midast", '*', false }, { "plus", '+', false },
		{ "comma", ',', false }, { "period", '.', false },
		{ "sol", '/', false }, { "colon", ':', false },
		{ "semi", ';', false }, { "equals", '=', false },
		{ "quest", '?', false }, { "commat", '@', false },
		{ "lsqb", '[', false }, { "lbrack", '[', false },
		{ "bsol", '\\', false }, { "rsqb", ']', false },
		{ "rbrack", ']', false }, { "Hat", '^', false },
		{ "lowbar", '_', false }, { "UnderBar", '_', false },
		{ "grave", '`', false }, { "DiacriticalGrave", '`', false },
		{ "lcub", '{', false }, { "lbrace", '{', false },
		{ "verbar", '|', false }, { "vert", '|', false },
		{ "VerticalLine", '|', false }, { "rcub", '}', false },
		{ "rbrace", '}', false }
	};
	size_t i;

	for (i = 0; i < sizeof all / sizeof *all; i++)
		if (strlen(all[i].name) == len &&
		    memcmp(all[i].name, name, len) == 0)
			return &all[i];
	return NULL;
}

/*
 * Without its ';' one counts only where neither '=' nor a letter or digit
 * follows: as queries have them.
 */
static bool
read_named(struct left *left, uint8_t *byte)
{
	const uint8_t *end = left->at;
	const struct entity *e;
	bool whole;

	while (end < left->end && (idem_html_is_alpha(*end) || is_digit(*end)))
		end++;
	whole = end < left->end && *end == ';';
	e = find(left->at, (size_t)(end - left->at));
	if (e == NULL || (!whole && (!e->bare ||
	    (end < left->end && *end == '='))))
		return false;
	*byte = (uint8_t)e->byte;
	left->at = end + whole;
	return true;
}

/* --- numbers -------------------------------------------------------------- */

static int
digit(uint8_t c, bool hex)
{
	if (is_digit(c))
		return c - '0';
	c = idem_html_lower(c);
	return hex && c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool
read_number(struct left *left, uint32_t *code)
{
	const uint8_t *at = left->at + 1;
	bool hex = at < left->end && idem_html_lower(*at) == 'x';
	const uint8_t *first = at + hex;

	*code = 0;
	for (at = first; at < left->end && digit(*at, hex) != -1; at++)
		if (*code <= 0x10ffff)
			*code = *code * (hex ? 16 : 10) +
			    (uint32_t)digit(*at, hex);
	if (at == first)
		return false;
	left->at = at < left->end && *at == ';' ? at + 1 : at;
	return true;
}

/* No longer than the number was, which has "&#" before it. */
static size_t
write_utf8(uint8_t *to, uint32_t code)
{
	size_t len, i;

	if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		code = 0xfffd;
	if (code < 0x80) {
		*to = (uint8_t)code;
		return 1;
	}
	len = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	for (i = len - 1; i > 0; i--, code >>= 6)
		to[i] = (uint8_t)(0x80 | (code & 0x3f));
	to[0] = (uint8_t)((0xf00 >> len & 0xff) | code);
	return len;
}

/* --- a value -------------------------------------------------------------- */

size_t
idem_html_entity_decode(uint8_t *at, size_t len)
{
	struct left left = { at, at + len };
	uint8_t *to = at;
	uint32_t code;

	while (left.at < left.end) {
		if (*left.at++ != '&')
			*to++ = left.at[-1];
		else if (left.at < left.end && *left.at == '#' &&
		    read_number(&left, &code))
			to += write_utf8(to, code);
		else if (read_named(&left, to))
			to++;
		else
			*to++ = '&';
	}
	return (size_t)(to - at);
}
