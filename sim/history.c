/* SPDX-License-Identifier: ISC */
#include "history_private.h"

#include "text.h"

#include <stdlib.h>
#include <string.h>

#define WORDS_FEWEST 256u
#define EVENTS_FEWEST 64u
#define SHORT_WAY 512u		/* events that are moved for one */

static const char *const kinds[HISTORY_KINDS] = {
	[HISTORY_INV] = "inv",
	[HISTORY_RET] = "ret",
	[HISTORY_SEND] = "send",
	[HISTORY_RECV] = "recv",
	[HISTORY_LABEL] = "lbl",
	[HISTORY_STORE] = "store",
	[HISTORY_LEDGER] = "ledger",
	[HISTORY_EFFECT] = "effect",
	[HISTORY_FAULT] = "fault",
	[HISTORY_HEAL] = "heal",
	[HISTORY_SPAWN] = "spawn",
	[HISTORY_EXIT] = "exit",
	[HISTORY_LOG] = "log",
	[HISTORY_NOTE] = "note",
	[HISTORY_END] = "end"
};

const char *
history_kind_text(enum history_kind kind)
{
	return kinds[kind];
}

bool
history_kind_find(const char *word, enum history_kind *out)
{
	size_t i;

	for (i = 0; i < HISTORY_KINDS; i++)
		if (strcmp(kinds[i], word) == 0) {
			*out = (enum history_kind)i;
			return true;
		}
	return false;
}

/* --- texts ---------------------------------------------------------------- */

static void
make_room(struct history *h, size_t room)
{
	struct history_event *events = realloc(h->events,
	    room * sizeof *events);

	arena_must_have(events != NULL);
	h->events = events;
	h->in->room = room;
}

/* With room from the first: nobody adds to a null pointer where none came. */
static struct history_private *
private_of(struct history *h)
{
	if (h->in == NULL) {
		h->in = arena_get(&h->arena, sizeof *h->in);
		make_room(h, EVENTS_FEWEST);
	}
	return h->in;
}

/* FNV-1a: order and place do not show anywhere. */
static uint32_t
hash(const char *text)
{
	uint32_t sum = 2166136261u;

	for (; *text != '\0'; text++)
		sum = (sum ^ (unsigned char)*text) * 16777619u;
	return sum;
}

static struct history_word *
place(const struct history_private *in, const char *text)
{
	size_t at = hash(text) & (in->places - 1);

	while (in->words[at].text != NULL &&
	    strcmp(in->words[at].text, text) != 0)
		at = (at + 1) & (in->places - 1);
	return &in->words[at];
}

static void
more_places(struct history *h, struct history_private *in)
{
	struct history_private old = *in;
	size_t i;

	in->places = old.places > 0 ? 2 * old.places : WORDS_FEWEST;
	in->words = arena_get(&h->arena, in->places * sizeof *in->words);
	for (i = 0; i < old.places; i++)
		if (old.words[i].text != NULL)
			*place(in, old.words[i].text) = old.words[i];
}

/*
 * A file has UTF-8 only (JSON); so that two texts that are not the same are not
 * in it either, bytes that are none are "\xff" from the first.  NULL: there are
 * none.
 */
static const char *
as_utf8(struct history *h, const char *text)
{
	const uint8_t *at = (const uint8_t *)text;
	char *copy, *to;
	size_t len;

	while (*at != '\0' && (len = idem_text_char_len(at)) > 0)
		at += len;
	if (*at == '\0')
		return NULL;
	copy = to = arena_get(&h->arena, 4 * strlen(text) + 1);
	for (at = (const uint8_t *)text; *at != '\0'; at += len) {
		len = idem_text_char_len(at);
		memcpy(to, at, len);
		to += len;
		if (len == 0) {
			to += snprintf(to, 5, "\\x%02x", *at);
			len = 1;
		}
	}
	return copy;
}

struct history_word *
history_word(struct history *h, const char *text)
{
	struct history_private *in = private_of(h);
	struct history_word *word;
	const char *utf8;

	if (2 * in->words_n >= in->places)
		more_places(h, in);
	word = place(in, text);
	utf8 = word->text == NULL ? as_utf8(h, text) : NULL;
	if (utf8 != NULL) {
		text = utf8;
		word = place(in, text);
	}
	if (word->text == NULL) {
		word->text = arena_text(&h->arena, text);
		in->words_n++;
	}
	return word;
}

const char *
history_text(struct history *h, const char *text)
{
	return text != NULL ? history_word(h, text)->text : NULL;
}

uint32_t
history_lane(struct history *h, const char *name)
{
	struct history_word *word = history_word(h, name);
	const char **lane;

	if (word->lane == 0) {
		lane = arena_more(&h->arena, &h->lanes, &h->lanes_n,
		    sizeof *h->lanes);
		*lane = word->text;
		word->lane = (uint32_t)h->lanes_n;
	}
	return word->lane;
}

/* --- events --------------------------------------------------------------- */

static struct history_event *
more(struct history *h)
{
	struct history_private *in = private_of(h);

	if (h->n == in->room)
		make_room(h, 2 * in->room);
	return &h->events[h->n++];
}

static void
begin(struct history *h, struct history_event *e, enum history_kind kind,
    int64_t t_ns, const char *p)
{
	history_lane(h, p);
	memset(e, 0, sizeof *e);
	e->kind = kind;
	e->t_ns = t_ns;
	e->p = history_text(h, p);
	e->fault = -1;
	e->retry_after_s = -1;
}

struct history_event *
history_add(struct history *h, enum history_kind kind, int64_t t_ns,
    const char *p)
{
	struct history_event *e = more(h);

	if (t_ns < h->in->last_ns)
		t_ns = h->in->last_ns;
	h->in->last_ns = t_ns;
	begin(h, e, kind, t_ns, p);
	e->i = (uint32_t)h->n;
	return e;
}

static void
number(struct history *h, size_t from)
{
	for (; from < h->n; from++)
		h->events[from].i = (uint32_t)from + 1;
}

/* Behind those of the same time. */
static size_t
place_of(const struct history *h, int64_t t_ns)
{
	size_t low = 0, high = h->n, at;

	while (low < high) {
		at = low + (high - low) / 2;
		if (h->events[at].t_ns <= t_ns)
			low = at + 1;
		else
			high = at;
	}
	return low;
}

struct history_event *
history_insert(struct history *h, enum history_kind kind, int64_t t_ns,
    const char *p)
{
	struct history_private *in = private_of(h);
	size_t at = in->late ? h->n : place_of(h, t_ns);
	struct history_event *e = more(h);

	if (h->n - 1 - at > SHORT_WAY) {
		in->late = true;
		at = h->n - 1;
	}
	e = &h->events[at];
	memmove(e + 1, e, (h->n - 1 - at) * sizeof *e);
	begin(h, e, kind, t_ns, p);
	number(h, at);
	if (t_ns > in->last_ns)
		in->last_ns = t_ns;
	return e;
}

struct order {
	int64_t t_ns;
	size_t at;
};

static int
by_time(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->t_ns != y->t_ns)
		return x->t_ns < y->t_ns ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

void
history_settle(struct history *h)
{
	struct history_private *in = private_of(h);
	struct history_event *events;
	struct order *order;
	size_t i;

	if (!in->late)
		return;
	order = calloc(h->n, sizeof *order);
	events = calloc(in->room, sizeof *events);
	arena_must_have(order != NULL && events != NULL);
	for (i = 0; i < h->n; i++)
		order[i] = (struct order){ h->events[i].t_ns, i };
	qsort(order, h->n, sizeof *order, by_time);
	for (i = 0; i < h->n; i++)
		events[i] = h->events[order[i].at];
	free(order);
	free(h->events);
	h->events = events;
	in->late = false;
	number(h, 0);
}

void
history_free(struct history *h)
{
	free(h->events);
	arena_free(&h->arena);
	memset(h, 0, sizeof *h);
}
