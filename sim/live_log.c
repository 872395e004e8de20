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
	if (!word(line, "key", hex))
		return;
	if (word(line, "request", number))
		request_line(l, g, line, hex);
	else if (tells_two_runs(line))
		(void)add(l, g, "two-runs", hex);
}

/* --- whose line is it? ---------------------------------------------------- */

/* An answer, or a line of one; those of one instance, key and status are a
   group. */
struct said {
	const char *gate, *key;	/* key NULL: none, or not known */
	int status;
	size_t at;		/* in the history */
	bool line;
};

static int
by_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? (a != NULL) - (b != NULL) :
	    strcmp(a, b);
}

static int
by_group(const struct said *a, const struct said *b)
{
	int order = by_text(a->gate, b->gate);

	order = order != 0 ? order : by_text(a->key, b->key);
	return order != 0 ? order : (a->status > b->status) -
	    (a->status < b->status);
}

static int
by_place(const void *a_, const void *b_)
{
	const struct said *a = a_, *b = b_;
	int order = by_group(a, b);

	return order != 0 ? order : (a->at > b->at) - (a->at < b->at);
}

/* The n-th answer has the n-th line; where all say the same, any. */
static void
fill(struct history *h, const struct said *group, size_t n)
{
	size_t lines = 0, answers = 0, line = 0, i;
	const char *source = NULL;
	bool same = true;

	for (i = 0; i < n; i++) {
		answers += !group[i].line;
		lines += group[i].line;
		if (!group[i].line)
			continue;
		same = same && (source == NULL || strcmp(source,
		    h->events[group[i].at].source) == 0);
		source = h->events[group[i].at].source;
	}
	if (lines == 0 || (!same && lines != answers))
		return;
	for (i = 0; i < n; i++) {
		if (group[i].line)
			continue;
		while (line < n && !group[line].line)
			line++;
		if (line < n)
			source = h->events[group[line++].at].source;
		h->events[group[i].at].source = source;
	}
}

/* Where each try went, by its number. */
static const char **
targets(struct live *l)
{
	const char **to = arena_get(&l->arena, (l->clients_n + 1) *
	    sizeof *to);
	const struct history_event *e;
	size_t i;

	for (i = 0; i < l->h->n; i++) {
		e = &l->h->events[i];
		if (e->kind == HISTORY_INV && (size_t)e->a <= l->clients_n)
			to[e->a] = e->to;
	}
	return to;
}

static size_t
collect(struct live *l, struct said *all)
{
	const char **to = targets(l);
	const struct history_event *e;
	size_t i, n = 0;

	for (i = 0; i < l->h->n; i++) {
		e = &l->h->events[i];
		if (e->kind == HISTORY_LOG && e->source != NULL)
			all[n++] = (struct said){ e->p, e->k, e->status, i,
				true };
		else if (e->kind == HISTORY_RET && e->status != 0 &&
		    (size_t)e->a <= l->clients_n)
			all[n++] = (struct said){ to[e->a], e->k, e->status,
				i, false };
	}
	return n;
}

/*
 * Lines and answers come in one order where there are as many of both; and
 * where all lines say the same, it does not matter whose is whose.
 */
void
live_log_sources(struct live *l)
{
	struct said *all = arena_get(&l->arena, (l->h->n + 1) * sizeof *all);
	size_t n = collect(l, all), from, to;

	qsort(all, n, sizeof *all, by_place);
	for (from = 0; from < n; from = to) {
		for (to = from + 1; to < n && by_group(&all[from], &all[to]) ==
		    0; to++)
			;
		fill(l->h, &all[from], to - from);
	}
}
