/* SPDX-License-Identifier: ISC */
#include "redis_wire_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
idem_redis_wire_drop_met(struct idem_redis_wire *w)
{
	size_t i;

	for (i = 0; i < w->o.hello_len; i++) {
		free(w->copies[i]);
		w->copies[i] = NULL;
	}
}

void
idem_redis_wire_greet(struct idem_redis_wire *w)
{
	w->reply = idem_redis_reply_new();
	w->greeting = idem_redis_item_greeting(w);
	if (w->reply == NULL || w->greeting == NULL) {
		idem_redis_wire_break(w, IDEM_REDIS_NOT_CONNECTED,
		    "no memory to connect");
		return;
	}
	w->state = IDEM_REDIS_WIRE_GREETING;
	if (w->greeting->replies > 0)
		return;
	free(w->greeting);
	w->greeting = NULL;
	w->state = IDEM_REDIS_WIRE_READY;
}

/* A server without AUTH repeats what it was given, which is a password. */
static void
why_away(const struct idem_redis_value *value, char *why, size_t size)
{
	static const char given[] = ", with args";
	const char *at = value->text.at, *end;

	end = memmem(at, value->text.len, given, sizeof given - 1);
	snprintf(why, size, "%.*s", (int)(end != NULL ? (size_t)(end - at) :
	    value->text.len), at);
}

/* What is known to be wrong with us will be so next time. */
static void
turned_away(struct idem_redis_wire *w, const struct idem_redis_value *value)
{
	struct idem_redis_meaning meaning =
	    idem_redis_error_means(value->text);
	char why[sizeof w->why];

	if (meaning.class == IDEM_CLASS_MAYBE) {
		meaning.class = IDEM_CLASS_CONFIG;
		meaning.away = true;
	}
	why_away(value, why, sizeof why);
	idem_redis_wire_refuse(w, meaning, why);
}

static bool
turns_away(const struct idem_redis_value *value, bool login)
{
	struct idem_redis_meaning meaning;

	if (value->type != IDEM_REDIS_ERROR)
		return false;
	meaning = idem_redis_error_means(value->text);
	return login || meaning.drop || meaning.class == IDEM_CLASS_CONFIG;
}

static void
introduced(struct idem_redis_wire *w)
{
	const struct idem_redis_value all = {
		.type = IDEM_REDIS_ARRAY, .at = w->met, .len = w->o.hello_len
	};
	const char *why = NULL;

	if (w->o.met != NULL && w->o.hello_len > 0)
		why = w->o.met(w->o.arg, &all);
	if (why != NULL) {
		idem_redis_wire_break(w, IDEM_REDIS_NOT_CONNECTED, "%s", why);
		return;
	}
	idem_redis_wire_drop_met(w);
	w->state = IDEM_REDIS_WIRE_READY;
}

static bool
keep(struct idem_redis_wire *w, const struct idem_redis_value *value, size_t i)
{
	w->copies[i] = idem_redis_value_copy(value);
	if (w->copies[i] == NULL)
		return false;
	w->met[i] = *w->copies[i];
	return true;
}

void
idem_redis_wire_greeted(struct idem_redis_wire *w,
    const struct idem_redis_value *value)
{
	struct idem_redis_item *item = w->awaited.first;
	size_t left = item->replies--;
	bool login = left > w->o.hello_len;

	if (turns_away(value, login)) {
		turned_away(w, value);
		return;
	}
	if (!login && !keep(w, value, w->o.hello_len - left)) {
		idem_redis_wire_break(w, IDEM_REDIS_NOT_CONNECTED,
		    "no memory to connect");
		return;
	}
	if (item->replies > 0)
		return;
	if (w->writing != NULL) {
		idem_redis_wire_break(w, IDEM_REDIS_GARBAGE,
		    "a reply before the command");
		return;
	}
	free(idem_redis_items_pop(&w->awaited));
	introduced(w);
}
