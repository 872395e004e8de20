/* SPDX-License-Identifier: ISC */
#include "history_private.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct saying {
	char *out;
	size_t size, len;
};

static void __attribute__((format(printf, 2, 3)))
add(struct saying *s, const char *format, ...)
{
	va_list args;
	int n;

	if (s->len >= s->size)
		return;
	va_start(args, format);
	n = vsnprintf(s->out + s->len, s->size - s->len, format, args);
	va_end(args);
	if (n > 0)
		s->len += (size_t)n;
}

/* " word", if there is one. */
static void
word(struct saying *s, const char *text)
{
	if (text != NULL && *text != '\0')
		add(s, " %s", text);
}

static void
try(struct saying *s, const struct history_event *e)
{
	if (e->a > 0)
		add(s, " (try %d)", e->a);
}

static void
on_inv(struct saying *s, const struct history_event *e)
{
	add(s, "%s -> %s", e->p, e->to != NULL ? e->to : "?");
	if (e->get != NULL)
		add(s, " asks for a token (%s), to be %s", e->get,
		    e->what != NULL ? e->what : "a key");
	else
		add(s, " %s", e->k != NULL ? e->k : "without a key");
	try(s, e);
	if (e->audit || e->fresh)
		add(s, ", %s", e->fresh ? "a fresh key" : "to look");
}

static void
on_ret(struct saying *s, const struct history_event *e)
{
	add(s, "%s <- ", e->p);
	if (e->status > 0)
		add(s, "%d ", e->status);
	if (e->mark != NULL && *e->mark != '\0')
		add(s, "%s ", e->mark);
	if (e->how != OUTCOME_WHOLE)
		add(s, "%s ", e->why != NULL && *e->why != '\0' ? e->why :
		    outcome_end_text(e->how));
	add(s, "= %s", outcome_text(e->class));
	try(s, e);
	if (e->get != NULL && e->class == OUTCOME_OK)
		add(s, ", has the token %s", e->what != NULL ? e->what : "?");
	else if (e->d != NULL)
		add(s, ", answer %.8s", e->d);
	if (e->says_effect != NULL)
		add(s, " of %s", e->says_effect);
}

static void
on_message(struct saying *s, const struct history_event *e)
{
	if (e->kind == HISTORY_SEND)
		add(s, "%s -> %s", e->p, e->to != NULL ? e->to : "?");
	else
		add(s, "%s gets", e->p);
	word(s, e->script != NULL ? e->script : e->cmd);
	word(s, e->k);
	if (e->code != NULL)
		add(s, " = %s", e->code);
	if (e->fate != NULL)
		add(s, ", %s", e->fate);
}

static void
on_store(struct saying *s, const struct history_event *e)
{
	add(s, "%s", e->p);
	word(s, e->script != NULL ? e->script : e->cmd);
	word(s, e->k);
	if (e->code != NULL)
		add(s, " = %s", e->code);
	if (e->what != NULL)
		add(s, " is %s", e->what);
	word(s, e->note);
}

static void
on_effect(struct saying *s, const struct history_event *e)
{
	add(s, "%s %s %s", e->p, e->ph != NULL ? e->ph : "?",
	    e->id != NULL ? e->id : "?");
	word(s, e->k);
	try(s, e);
	if (e->attempt > 1)
		add(s, ", attempt %d", e->attempt);
	if (e->gate != NULL)
		add(s, ", on %s", e->gate);
}

/* What is left: whose, and every word that it has. */
static void
on_other(struct saying *s, const struct history_event *e)
{
	add(s, "%s %s", e->p, history_kind_text(e->kind));
	word(s, e->what);
	if (e->what == NULL)
		word(s, e->cmd);
	if (e->label != NULL)
		add(s, " at %s", e->label);
	word(s, e->k);
	try(s, e);
	word(s, e->why);
	if (e->kind == HISTORY_EXIT && !e->wanted)
		add(s, ", which nobody wanted");
	word(s, e->mark);
	word(s, e->note);
}

const char *
history_event_text(const struct history_event *e, char *out, size_t size)
{
	struct saying s = { out, size, 0 };

	if (size > 0)
		*out = '\0';
	switch (e->kind) {
	case HISTORY_INV:
		on_inv(&s, e);
		break;
	case HISTORY_RET:
		on_ret(&s, e);
		break;
	case HISTORY_SEND:
	case HISTORY_RECV:
		on_message(&s, e);
		break;
	case HISTORY_STORE:
	case HISTORY_LEDGER:
		on_store(&s, e);
		break;
	case HISTORY_EFFECT:
		on_effect(&s, e);
		break;
	case HISTORY_LABEL:
	case HISTORY_FAULT:
	case HISTORY_HEAL:
	case HISTORY_SPAWN:
	case HISTORY_EXIT:
	case HISTORY_LOG:
	case HISTORY_NOTE:
	case HISTORY_END:
	case HISTORY_KINDS:
		on_other(&s, e);
		break;
	}
	return out;
}

static void
say_head(const struct history *h, FILE *out)
{
	const struct history_head *head = &h->head;
	size_t i;

	fprintf(out, "%s: run %u of %s, seed 0x%" PRIx64 "\n",
	    head->scenario != NULL ? head->scenario : "-", head->run,
	    head->mode != NULL ? head->mode : "-", head->seed);
	for (i = 0; i < head->params_n; i++)
		fprintf(out, "%s = %s\n", head->params[i].name,
		    head->params[i].value);
	putc('\n', out);
}

void
history_say(const struct history *h, FILE *out)
{
	const struct history_event *e;
	int number = 1, lane = 1;
	char text[400];
	size_t i;

	say_head(h, out);
	for (i = h->n; i >= 10; i /= 10)
		number++;
	for (i = 0; i < h->lanes_n; i++)
		if ((int)strnlen(h->lanes[i], 16) > lane)
			lane = (int)strnlen(h->lanes[i], 16);
	for (i = 0; i < h->n; i++) {
		e = &h->events[i];
		fprintf(out, "%*" PRIu32 " %6" PRId64 ".%03" PRId64
		    "  %-*s  %-6s  %s\n", number, e->i, e->t_ns / 1000000,
		    e->t_ns / 1000 % 1000, lane, e->p,
		    history_kind_text(e->kind), history_event_text(e, text,
		    sizeof text));
	}
}
