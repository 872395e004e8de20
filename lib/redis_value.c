/* SPDX-License-Identifier: ISC */
#include "redis.h"

#include <stdlib.h>
#include <string.h>

struct sizes {
	size_t values, text;
};

static void
measure(const struct idem_redis_value *v, struct sizes *s)
{
	size_t i;

	s->values++;
	s->text += v->text.len + 1;
	for (i = 0; i < v->len; i++)
		measure(&v->at[i], s);
}

/* What is not taken yet of the one allocation. */
struct room {
	struct idem_redis_value *values;
	char *text;
};

static struct idem_bytes
copy_text(struct idem_bytes text, struct room *room)
{
	char *at = room->text;

	if (text.len > 0)
		memcpy(at, text.at, text.len);
	at[text.len] = '\0';
	room->text += text.len + 1;
	return (struct idem_bytes){ at, text.len };
}

static void
copy(struct idem_redis_value *to, const struct idem_redis_value *from,
    struct room *room)
{
	struct idem_redis_value *members = room->values;
	size_t i;

	*to = *from;
	to->text = copy_text(from->text, room);
	to->at = members;
	room->values += from->len;
	for (i = 0; i < from->len; i++)
		copy(&members[i], &from->at[i], room);
}

struct idem_redis_value *
idem_redis_value_copy(const struct idem_redis_value *from)
{
	struct sizes s = { 0 };
	struct idem_redis_value *to;
	struct room room;

	measure(from, &s);
	to = malloc(s.values * sizeof *to + s.text);
	if (to == NULL)
		return NULL;
	room.values = to + 1;
	room.text = (char *)(to + s.values);
	copy(to, from, &room);
	return to;
}

static bool
is_text(enum idem_redis_type type)
{
	switch (type) {
	case IDEM_REDIS_STRING:
	case IDEM_REDIS_STATUS:
	case IDEM_REDIS_ERROR:
		return true;
	case IDEM_REDIS_NIL:
	case IDEM_REDIS_INTEGER:
	case IDEM_REDIS_ARRAY:
		return false;
	}
	abort();
}

bool
idem_redis_is(const struct idem_redis_value *v, const char *text)
{
	return v != NULL && is_text(v->type) && idem_bytes_is(v->text, text);
}
