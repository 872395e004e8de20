/* SPDX-License-Identifier: ISC */
#include "form_parts.h"

#include <string.h>

/*
 * Pairs are parted by '&'.  Some programs (CGI.pm is one) also part them at a
 * ';', which browsers escape: so one there ends a pair here as well, but if the
 * field is beside it, programs differ on where it is or what it holds.
 */

static void
begin_pair(struct idem_form_url *u)
{
	u->place = IDEM_FORM_URL_NAME;
	u->name_len = 0;
	u->matches = true;
}

/* A byte that is itself, or was escaped. */
static void
take(struct idem_form_url *u, struct idem_form_field *f, uint8_t byte)
{
	if (u->place == IDEM_FORM_URL_NAME) {
		u->matches = u->matches && u->name_len < f->name_len &&
		    (uint8_t)f->name[u->name_len] == byte;
		u->name_len++;
	} else if (u->matches) {
		idem_form_field_add(f, &byte, 1);
	}
}

/* An escape that is none is the bytes that it is made of. */
static void
take_held(struct idem_form_url *u, struct idem_form_field *f)
{
	uint8_t i, held = u->escape_len;

	u->escape_len = 0;
	for (i = 0; i < held; i++)
		take(u, f, u->escape[i]);
}

static void
end_name(struct idem_form_url *u, struct idem_form_field *f)
{
	u->place = IDEM_FORM_URL_VALUE;
	u->matches = u->matches && u->name_len == f->name_len;
	if (u->matches)
		idem_form_field_begin(f);
}

/* `u->at` is its separator, or the body's end. */
static void
cut_pair(const struct idem_form_url *u, struct idem_form_field *f, bool last)
{
	if (u->stays)
		idem_form_cut_add(&f->cut, u->pair - 1, u->at);
	else
		idem_form_cut_add(&f->cut, u->pair, last ? u->at : u->at + 1);
}

/* NUL: the body ends. */
static void
end_pair(struct idem_form_url *u, struct idem_form_field *f, uint8_t separator)
{
	if (u->place == IDEM_FORM_URL_NAME)
		end_name(u, f);
	if (u->matches) {
		idem_form_field_end(f);
		cut_pair(u, f, separator == '\0');
		if (u->semicolon || separator == ';')
			f->broken = true;
	} else
		u->stays = true;
	u->semicolon = separator == ';';
	u->pair = u->at + 1;
	begin_pair(u);
}

static void
pass(struct idem_form_url *u, struct idem_form_field *f, uint8_t byte)
{
	if (byte == '%')
		u->escape[u->escape_len++] = byte;
	else if (byte == '&' || byte == ';')
		end_pair(u, f, byte);
	else if (byte == '=' && u->place == IDEM_FORM_URL_NAME)
		end_name(u, f);
	else
		take(u, f, byte == '+' ? ' ' : byte);
}

static bool
is_hex(uint8_t byte)
{
	return (byte >= '0' && byte <= '9') ||
	    (byte >= 'A' && byte <= 'F') || (byte >= 'a' && byte <= 'f');
}

static void
end_escape(struct idem_form_url *u, struct idem_form_field *f, uint8_t low)
{
	const char digits[] = { (char)u->escape[1], (char)low, '\0' };
	uint8_t byte = 0;

	idem_unhex(digits, &byte, 1);
	u->escape_len = 0;
	take(u, f, byte);
}

void
idem_form_url_init(struct idem_form_url *u)
{
	*u = (struct idem_form_url){ 0 };
	begin_pair(u);
}

/* Over what is not the field: most of a body. */
static const uint8_t *
skip(const struct idem_form_url *u, const uint8_t *at, const uint8_t *end)
{
	bool name = u->place == IDEM_FORM_URL_NAME;

	if (u->matches || u->escape_len > 0)
		return at;
	while (at < end && *at != '&' && *at != ';' && !(name && *at == '='))
		at++;
	return at;
}

void
idem_form_url_add(struct idem_form_url *u, struct idem_form_field *f,
    struct idem_bytes bytes)
{
	const uint8_t *at = bytes.at, *end = at + bytes.len;
	const uint64_t from = u->at;

	for (at = skip(u, at, end); at < end; at = skip(u, at + 1, end)) {
		u->at = from + (uint64_t)(at - (const uint8_t *)bytes.at);
		if (u->escape_len > 0 && !is_hex(*at))
			take_held(u, f);
		if (u->escape_len == 2)
			end_escape(u, f, *at);
		else if (u->escape_len == 1)
			u->escape[u->escape_len++] = *at;
		else
			pass(u, f, *at);
	}
	u->at = from + bytes.len;
}

void
idem_form_url_end(struct idem_form_url *u, struct idem_form_field *f)
{
	take_held(u, f);
	end_pair(u, f, '\0');
}
