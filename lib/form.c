/* SPDX-License-Identifier: ISC */
#include "form_parts.h"

#include <stdlib.h>
#include <string.h>

enum form_kind { FORM_OTHER, FORM_URL, FORM_MULTIPART };

struct idem_form {
	enum form_kind kind;
	struct idem_form_field field;
	union {
		struct idem_form_url url;
		struct idem_form_multipart multipart;
	} as;
	uint8_t value[IDEM_FORM_VALUE_MAX];
	char name[IDEM_FORM_NAME_MAX + 1];
};

/* --- the field ------------------------------------------------------------ */

void
idem_form_field_begin(struct idem_form_field *f)
{
	f->len = 0;
	f->other = false;
}

void
idem_form_field_add(struct idem_form_field *f, const uint8_t *at, size_t len)
{
	if (len > IDEM_FORM_VALUE_MAX - f->len) {
		f->too_long = true;
		len = IDEM_FORM_VALUE_MAX - f->len;
	}
	if (len == 0)
		return;
	if (!f->found)
		memcpy(f->first + f->len, at, len);
	else if (f->len + len > f->first_len ||
	    memcmp(f->first + f->len, at, len) != 0)
		f->other = true;
	f->len += len;
}

void
idem_form_field_end(struct idem_form_field *f)
{
	if (!f->found)
		f->first_len = f->len;
	else if (f->other || f->len != f->first_len)
		f->differ = true;
	f->found = true;
}

static enum idem_form_state
state_of(const struct idem_form_field *f, struct idem_bytes *value)
{
	*value = (struct idem_bytes){ NULL, 0 };
	if (f->broken)
		return IDEM_FORM_BROKEN;
	if (f->too_long)
		return IDEM_FORM_TOO_LONG;
	if (f->differ)
		return IDEM_FORM_DIFFER;
	if (!f->found)
		return IDEM_FORM_NONE;
	*value = (struct idem_bytes){ f->first, f->first_len };
	return IDEM_FORM_ONE;
}

/* --- the form ------------------------------------------------------------- */

static bool
is_type(struct idem_bytes type, const char *word)
{
	struct idem_bytes start = { type.at, strlen(word) };
	const char *at = type.at;

	return type.len >= start.len && idem_bytes_is_nocase(start, word) &&
	    (type.len == start.len || strchr("; \t", at[start.len]) != NULL);
}

/* Programs find some boundary even where no certain one is named. */
static void
begin_multipart(struct idem_form *form, struct idem_bytes type)
{
	struct idem_multipart_type parts;

	if (!idem_multipart_type(type, &parts)) {
		form->field.broken = true;
		return;
	}
	form->kind = FORM_MULTIPART;
	idem_form_multipart_init(&form->as.multipart, parts.boundary);
}

struct idem_form *
idem_form_new(struct idem_bytes type, const char *name)
{
	struct idem_form *form;
	size_t len = strlen(name);

	if (len == 0 || len > IDEM_FORM_NAME_MAX)
		return NULL;
	form = calloc(1, sizeof *form);
	if (form == NULL)
		return NULL;
	memcpy(form->name, name, len);
	form->field.name = form->name;
	form->field.name_len = len;
	form->field.first = form->value;
	if (is_type(type, "application/x-www-form-urlencoded")) {
		form->kind = FORM_URL;
		idem_form_url_init(&form->as.url);
	} else if (is_type(type, "multipart/form-data")) {
		begin_multipart(form, type);
	}
	return form;
}

void
idem_form_add(struct idem_form *form, struct idem_bytes bytes)
{
	if (bytes.len == 0 || form->field.broken)
		return;
	switch (form->kind) {
	case FORM_OTHER:
		break;
	case FORM_URL:
		idem_form_url_add(&form->as.url, &form->field, bytes);
		break;
	case FORM_MULTIPART:
		idem_form_multipart_add(&form->as.multipart, &form->field,
		    bytes);
		break;
	}
}

enum idem_form_state
idem_form_end(struct idem_form *form, struct idem_bytes *value)
{
	switch (form->kind) {
	case FORM_OTHER:
		break;
	case FORM_URL:
		idem_form_url_end(&form->as.url, &form->field);
		break;
	case FORM_MULTIPART:
		idem_form_multipart_end(&form->as.multipart, &form->field);
		break;
	}
	form->kind = FORM_OTHER;	/* the end comes once */
	if (form->field.broken)
		form->field.cut = (struct idem_form_cut){ .len = 0 };
	return state_of(&form->field, value);
}

const struct idem_form_cut *
idem_form_cut(const struct idem_form *form)
{
	return &form->field.cut;
}

void
idem_form_free(struct idem_form *form)
{
	free(form);
}

enum idem_form_state
idem_form_query(struct idem_bytes query, const char *name, uint8_t *room,
    struct idem_bytes *value)
{
	struct idem_form_field field = {
		.name = name, .name_len = strlen(name), .first = room
	};
	struct idem_form_url url;

	idem_form_url_init(&url);
	if (query.len > 0)
		idem_form_url_add(&url, &field, query);
	idem_form_url_end(&url, &field);
	return state_of(&field, value);
}
