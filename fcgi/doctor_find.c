/* SPDX-License-Identifier: ISC */
#include "doctor.h"

#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static bool
has_room(struct doctor_findings *f)
{
	size_t size = f->size == 0 ? 32 : 2 * f->size;
	struct doctor_finding *at;

	if (f->len < f->size)
		return true;
	at = reallocarray(f->at, size, sizeof *at);
	if (at == NULL)
		return false;
	f->at = at;
	f->size = size;
	return true;
}

void
doctor_find(struct doctor_findings *f, enum doctor_level level,
    enum doctor_check check, const char *what, ...)
{
	struct doctor_finding one = { .level = level, .check = check };
	va_list args;

	va_start(args, what);
	if (f->failed || !has_room(f) || vasprintf(&one.what, what, args) < 0)
		f->failed = true;
	else
		f->at[f->len++] = one;
	va_end(args);
}

void
doctor_findings_free(struct doctor_findings *f)
{
	size_t i;

	for (i = 0; i < f->len; i++)
		free(f->at[i].what);
	free(f->at);
	*f = (struct doctor_findings){ .at = NULL };
}

enum doctor_level
doctor_worst(const struct doctor_findings *f)
{
	enum doctor_level worst = DOCTOR_OK;
	size_t i;

	for (i = 0; i < f->len; i++)
		if (f->at[i].level > worst)
			worst = f->at[i].level;
	return worst;
}

/* --- said ----------------------------------------------------------------- */

/* A server's words may hold anything; a line stays one. */
static void
say_plain(const char *text, struct idem_buf *out)
{
	for (; *text != '\0'; text++)
		idem_buf_u8(out, (unsigned char)*text < ' ' || *text == 127 ?
		    '?' : (uint8_t)*text);
}

static void
say_line(const struct doctor_finding *one, struct idem_buf *out)
{
	const struct doctor_meaning *m = doctor_meaning(one->check);

	idem_buf_printf(out, "%-4s  ", doctor_level_text(one->level));
	say_plain(one->what, out);
	if (one->level != DOCTOR_OK)
		idem_buf_printf(out, ": %s: costs %s: %s", m->why, m->costs,
		    m->todo);
	idem_buf_u8(out, '\n');
}

void
doctor_say_lines(const struct doctor_findings *f, struct idem_buf *out)
{
	size_t i;

	for (i = 0; i < f->len; i++)
		say_line(&f->at[i], out);
}

static void
say_string(const char *name, const char *text, struct idem_buf *out)
{
	idem_buf_printf(out, "\"%s\":\"", name);
	idem_text_json(out, text);
	idem_buf_u8(out, '"');
}

static void
say_object(const struct doctor_finding *one, struct idem_buf *out)
{
	const struct doctor_meaning *m = doctor_meaning(one->check);

	idem_buf_u8(out, '{');
	say_string("level", doctor_level_text(one->level), out);
	idem_buf_u8(out, ',');
	say_string("check", m->name, out);
	idem_buf_u8(out, ',');
	say_string("what", one->what, out);
	if (one->level != DOCTOR_OK) {
		idem_buf_u8(out, ',');
		say_string("why", m->why, out);
		idem_buf_u8(out, ',');
		say_string("costs", m->costs, out);
		idem_buf_u8(out, ',');
		say_string("todo", m->todo, out);
	}
	idem_buf_u8(out, '}');
}

void
doctor_say_json(const struct doctor_findings *f, struct idem_buf *out)
{
	size_t i;

	idem_buf_u8(out, '[');
	for (i = 0; i < f->len; i++) {
		if (i > 0)
			idem_buf_text(out, ",\n");
		say_object(&f->at[i], out);
	}
	idem_buf_text(out, "]\n");
}
