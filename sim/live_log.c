/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include <stdlib.h>
#include <string.h>

#define WORD 80

/* A word of "NAME=value"; false: the line has none. */
static bool
word(const char *line, const char *name, char out[WORD])
{
	size_t len = strlen(name), n;
	const char *at;

	for (at = line; (at = strstr(at, name)) != NULL; at += len) {
		if ((at != line && at[-1] != ' ') || at[len] != '=')
			continue;
		at += len + 1;
		n = strcspn(at, " ");
		n = n < WORD ? n : WORD - 1;
		memcpy(out, at, n);
		out[n] = '\0';
		return true;
	}
	return false;
}

/* The log's words, and the history's. */
static const char *
source_of(const char *word)
{
	static const struct {
		const char *log, *is;
	} words[] = {
		{ "run", "fresh" }, { "cache", "local" }, { "wait", "waited" }
	};
	size_t i;

	for (i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(words[i].log, word) == 0)
			return words[i].is;
	return word;
}

static struct history_event *
add(struct live *l, const struct live_gate *g, const char *what,
    const char *hex)
{
	struct history_event *e = history_add(l->h, HISTORY_LOG,
	    live_now_ns(l), g->instance.name);
	const struct live_key *key = live_key_stored(l, hex, strlen(hex));

	e->gate = e->p;
	e->life = (int)g->instance.life;
	e->what = what;
	e->k = key != NULL ? key->name : NULL;
	return e;
}

static void
request_line(struct live *l, struct live_gate *g, const char *line,
    const char *hex)
{
	struct history_event *e;
	char text[WORD];

	/* Of others no answer is counted. */
	g->lines += !word(line, "listener", text);
	e = add(l, g, "request", hex);
	if (word(line, "status", text))
		e->status = (int)strtol(text, NULL, 10);
	if (word(line, "attempt", text))
		e->attempt = (int)strtol(text, NULL, 10);
	if (word(line, "source", text))
		e->source = history_text(l->h, source_of(text));
	if (word(line, "idempotency-status", text) && text[0] != '-')
		e->mark = history_text(l->h, text);
	if (e->mark != NULL && strcmp(e->mark, "unprotected") == 0)
		(void)add(l, g, "unprotected", hex);
}

/* A completion that another run has made useless: there were two. */
static bool
tells_two_runs(const char *line)
{
	char text[WORD];

	return word(line, "lost", text) && strcmp(text, "completion") == 0 &&
	    word(line, "record", text) && strcmp(text, "taken") == 0;
}

void
live_log(struct live *l, struct live_gate *g, const char *text, size_t len)
{
	char line[1024], hex[WORD], number[WORD];

	len = len < sizeof line ? len : sizeof line - 1;
	memcpy(line, text, len);
	line[len] = '\0';
	g->refused += strstr(line, "Connection refused") != NULL;
	if (!word(line, "key", hex))
		return;
	if (word(line, "request", number))
		request_line(l, g, line, hex);
	else if (tells_two_runs(line))
		(void)add(l, g, "two-runs", hex);
}

/* --- whose line is it? ---------------------------------------------------- */

/* Answers and lines of one instance, key and status. */
struct group {
	struct history *h;
	const char *gate, *key;
	int status;
};

static bool
same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool
is_line(const struct group *g, const struct history_event *e)
{
	return e->kind == HISTORY_LOG && e->source != NULL &&
	    e->status == g->status && same(e->p, g->gate) &&
	    same(e->k, g->key);
}

static bool
is_answer(const struct group *g, const struct history_event *e,
    const char *const *to)
{
	return e->kind == HISTORY_RET && e->status == g->status &&
	    same(e->k, g->key) && same(to[e->a], g->gate);
}

/* The n-th line of it; NULL: there are no more. */
static const struct history_event *
line_at(const struct group *g, size_t *from)
{
	const struct history_event *e;

	while (*from < g->h->n) {
		e = &g->h->events[(*from)++];
		if (is_line(g, e))
			return e;
	}
	return NULL;
}

static bool
all_say_the_same(const struct group *g)
{
	const struct history_event *e, *first = NULL;
	size_t at = 0;

	while ((e = line_at(g, &at)) != NULL) {
		if (first != NULL && strcmp(first->source, e->source) != 0)
			return false;
		first = e;
	}
	return first != NULL;
}

static void
fill(const struct group *g, const char *const *to)
{
	size_t i, at = 0, lines = 0, answers = 0;
	bool same = all_say_the_same(g);
	const struct history_event *e, *last = NULL;

	for (i = 0; i < g->h->n; i++) {
		lines += is_line(g, &g->h->events[i]);
		answers += is_answer(g, &g->h->events[i], to);
	}
	if (!same && lines != answers)
		return;
	for (i = 0; i < g->h->n; i++)
		if (is_answer(g, &g->h->events[i], to)) {
			e = line_at(g, &at);
			last = e != NULL ? e : last;
			g->h->events[i].source = last != NULL ? last->source :
			    NULL;
		}
}

/*
 * Lines and answers come in one order where there are as many of both; and
 * where all lines say the same, it does not matter whose is whose.
 */
void
live_log_sources(struct live *l)
{
	const char **to = arena_get(&l->arena, (l->clients_n + 1) *
	    sizeof *to);
	struct history *h = l->h;
	struct history_event *e;
	size_t i;

	for (i = 0; i < h->n; i++)
		if (h->events[i].kind == HISTORY_INV &&
		    (size_t)h->events[i].a <= l->clients_n)
			to[h->events[i].a] = h->events[i].to;
	for (i = 0; i < h->n; i++) {
		e = &h->events[i];
		if (e->kind == HISTORY_RET && e->source == NULL &&
		    e->status != 0 && (size_t)e->a <= l->clients_n)
			fill(&(struct group){
				.h = h, .gate = to[e->a], .key = e->k,
				.status = e->status
			}, to);
	}
}
