/* SPDX-License-Identifier: ISC */
#include "form_parts.h"

#include <string.h>

/*
 *	form-data *( ";" name "=" ( token | quoted ) )		RFC 7578, 4.2
 *
 * In quotes a backslash escapes the byte after it (RFC 9110, 5.6.4); browsers
 * do not know that, and mean the backslash itself.
 */

struct param {
	struct idem_bytes name;
	struct idem_bytes value;	/* without its quotes */
	bool quoted;
};

struct cursor {
	const uint8_t *at, *end;
};

static void
skip_space(struct cursor *c)
{
	while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
		c->at++;
}

/* More than a token may be: programs take what comes up to the ';'. */
static struct idem_bytes
read_token(struct cursor *c)
{
	struct idem_bytes token = { c->at, 0 };

	while (c->at < c->end && *c->at > ' ' && *c->at != 0x7f &&
	    strchr(";=\"\\", *c->at) == NULL)
		c->at++;
	token.len = (size_t)(c->at - (const uint8_t *)token.at);
	return token;
}

static bool
read_quoted(struct cursor *c, struct idem_bytes *value)
{
	const uint8_t *start = ++c->at;

	for (; c->at < c->end && *c->at != '"'; c->at++)
		if (*c->at == '\\' && ++c->at == c->end)
			return false;
	*value = (struct idem_bytes){ start, (size_t)(c->at - start) };
	if (c->at == c->end)
		return false;
	c->at++;
	return true;
}

/* What stands after a ';'.  Some programs take '...' for a quoted string. */
static bool
read_param(struct cursor *c, struct param *p)
{
	p->name = read_token(c);
	skip_space(c);
	if (p->name.len == 0 || c->at == c->end || *c->at++ != '=')
		return false;
	skip_space(c);
	p->quoted = c->at < c->end && *c->at == '"';
	if (p->quoted)
		return read_quoted(c, &p->value);
	p->value = read_token(c);
	return p->value.len > 0 && *(const char *)p->value.at != '\'';
}

static bool
is_unescaped(struct idem_bytes quoted, struct idem_bytes name)
{
	const uint8_t *at = quoted.at, *want = name.at;
	size_t i, n = 0;

	for (i = 0; i < quoted.len; i++, n++) {
		if (at[i] == '\\')
			i++;
		if (n == name.len || at[i] != want[n])
			return false;
	}
	return n == name.len;
}

static enum idem_form_says
compare(const struct param *p, struct idem_bytes name)
{
	bool raw = idem_bytes_equal(p->value, name);

	if (p->quoted && is_unescaped(p->value, name) != raw)
		return IDEM_FORM_SAYS_UNSURE;
	return raw ? IDEM_FORM_SAYS_WANTED : IDEM_FORM_SAYS_OTHER;
}

/* All parameters so far. */
struct said {
	enum idem_form_says name;
	bool named;
	bool file;		/* to every program */
	bool file_star;		/* to some: filename* (RFC 5987) */
};

/* False: not to be read for certain. */
static bool
note(struct said *said, const struct param *p, struct idem_bytes name)
{
	if (idem_bytes_is_nocase(p->name, "filename"))
		said->file = true;
	if (idem_bytes_is_nocase(p->name, "filename*"))
		said->file_star = true;
	if (!idem_bytes_is_nocase(p->name, "name"))
		return true;
	if (said->named)
		return false;
	said->named = true;
	said->name = compare(p, name);
	return true;
}

static enum idem_form_says
come_to(const struct said *said)
{
	if (said->file)
		return IDEM_FORM_SAYS_OTHER;
	if (said->file_star && said->name == IDEM_FORM_SAYS_WANTED)
		return IDEM_FORM_SAYS_UNSURE;
	return said->name;
}

enum idem_form_says
idem_form_disposition(struct idem_bytes value, struct idem_bytes name)
{
	struct cursor c = { value.at, (const uint8_t *)value.at + value.len };
	struct said said = { .name = IDEM_FORM_SAYS_OTHER };
	struct param p;

	skip_space(&c);
	if (!idem_bytes_is_nocase(read_token(&c), "form-data"))
		return IDEM_FORM_SAYS_UNSURE;
	for (skip_space(&c); c.at < c.end; skip_space(&c)) {
		if (*c.at++ != ';')
			return IDEM_FORM_SAYS_UNSURE;
		skip_space(&c);
		if (c.at == c.end || *c.at == ';')
			continue;
		if (!read_param(&c, &p) || !note(&said, &p, name))
			return IDEM_FORM_SAYS_UNSURE;
	}
	return come_to(&said);
}
