/* SPDX-License-Identifier: ISC */
#include "effects.h"

#include "names.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 12
#define LINE_MAX_LEN PIPE_BUF	/* what one write keeps whole */

enum phase { BEGIN, COMMIT, END, PHASES };

static const char *const phases[PHASES] = { "begin", "commit", "end" };

/* A line; texts are in the reading's arena, NULL for "-". */
struct line {
	int64_t t_ns;
	enum phase phase;
	size_t effect, store_key;	/* their numbers; NAMES_NONE */
	const char *key, *gate, *business, *nonce;
	int64_t attempt, try, life, pid;
	size_t number;		/* in the file */
};

struct reading {
	struct arena arena;
	struct line *lines;
	size_t n;
	struct names effects, store_keys;
	const char **keys;	/* symbolic, by number of the store key */
	size_t *order;		/* by effect: its place, from 1; 0: not yet */
	size_t ordered;
	const char **did;	/* by effect: its last phase; NULL: none yet */
	const struct effects_span *span;
	const char *path;
	char *wrong;		/* the first thing that is */
	size_t wrong_size;
	bool is_wrong;
};

static void __attribute__((format(printf, 2, 3)))
wrong(struct reading *r, const char *format, ...)
{
	va_list args;
	int n;

	if (r->is_wrong)
		return;
	r->is_wrong = true;
	n = snprintf(r->wrong, r->wrong_size, "%s: ", r->path);
	if (n < 0 || (size_t)n >= r->wrong_size)
		return;
	va_start(args, format);
	vsnprintf(r->wrong + n, r->wrong_size - (size_t)n, format, args);
	va_end(args);
}

/* --- one line ------------------------------------------------------------- */

static bool
read_number(const char *text, int64_t *n)
{
	char *end;

	*n = 0;
	if (strcmp(text, "-") == 0)
		return true;
	errno = 0;
	*n = strtoll(text, &end, 10);
	return end != text && *end == '\0' && errno == 0 && *n >= 0;
}

static bool
read_phase(const char *text, enum phase *phase)
{
	for (*phase = BEGIN; *phase < PHASES; ++*phase)
		if (strcmp(text, phases[*phase]) == 0)
			return true;
	return false;
}

static const char *
read_text(struct reading *r, const char *text)
{
	return strcmp(text, "-") == 0 ? NULL : arena_text(&r->arena, text);
}

static size_t
cut(char *text, char *words[WORDS + 1])
{
	size_t n = 0;

	while (n <= WORDS && (words[n] = strsep(&text, " ")) != NULL)
		n++;
	return n;
}

/* When the run began that has this name; -1: it does not say so. */
static int64_t
began(const char *effect)
{
	const char *dot = strchr(effect, '.');
	int64_t n;

	return dot != NULL && read_number(dot + 1, &n) ? n : -1;
}

/* Without its newline.  False: it is no line of a journal. */
static bool
read_line(struct reading *r, char *text, size_t number)
{
	char *w[WORDS + 1];
	struct line line = { .effect = NAMES_NONE, .store_key = NAMES_NONE,
	    .number = number };
	int64_t began_ns = r->span->began_ns;

	if (cut(text, w) != WORDS || w[0][0] == '-' ||
	    !read_number(w[0], &line.t_ns) ||
	    !read_phase(w[1], &line.phase) || *w[2] == '\0' ||
	    !read_number(w[5], &line.attempt) ||
	    !read_number(w[6], &line.try) ||
	    !read_number(w[8], &line.life) ||
	    !read_number(w[9], &line.pid) ||
	    line.attempt > INT32_MAX || line.try > INT32_MAX ||
	    line.life > INT32_MAX)
		return false;
	if (line.t_ns < began_ns ||
	    (began(w[2]) != -1 && began(w[2]) < began_ns))
		return true;
	if (line.t_ns > r->span->now_ns) {
		wrong(r, "line %zu has a time that is not yet: it is to be of "
		    "CLOCK_MONOTONIC", number);
		return true;
	}
	line.t_ns -= began_ns;
	line.effect = names_add(&r->effects, &r->arena, w[2]);
	line.key = read_text(r, w[3]);
	if (strcmp(w[4], "-") != 0)
		line.store_key = names_add(&r->store_keys, &r->arena, w[4]);
	line.gate = read_text(r, w[7]);
	line.business = read_text(r, w[10]);
	line.nonce = read_text(r, w[11]);
	*(struct line *)arena_more(&r->arena, &r->lines, &r->n,
	    sizeof *r->lines) = line;
	return true;
}

static bool
is_line(const char *text, size_t len)
{
	return len <= LINE_MAX_LEN && text[len - 1] == '\n' &&
	    memchr(text, '\0', len) == NULL;
}

/* Up to the first that is none. */
static void
read_lines(struct reading *r, FILE *file)
{
	char *text = NULL;
	size_t size = 0, number = 0;
	bool good = true;
	ssize_t len;

	while (good && (len = getline(&text, &size, file)) > 0) {
		number++;
		good = r->n < r->span->max;
		if (!good) {
			wrong(r, "it has more lines than a history has room "
			    "for");
			break;
		}
		good = is_line(text, (size_t)len);
		text[len - 1] = '\0';
		good = good && read_line(r, text, number);
		if (!good)
			wrong(r, "line %zu is none of a journal of effects",
			    number);
	}
	free(text);
}

/* --- all of them ---------------------------------------------------------- */

/* Those of one process stand in the file as it wrote them. */
static int
by_time(const void *a_, const void *b_)
{
	const struct line *a = a_, *b = b_;

	if (a->t_ns != b->t_ns)
		return a->t_ns < b->t_ns ? -1 : 1;
	if (a->effect != b->effect)
		return a->effect < b->effect ? -1 : 1;
	if (a->phase != b->phase)
		return a->phase < b->phase ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

/*
 * A program that was not told the symbolic key (its front took the client's
 * fields away) ran for the one that another run of that store key was told.
 */
static void
learn_keys(struct reading *r)
{
	size_t i;

	r->keys = arena_get(&r->arena,
	    (r->store_keys.n + 1) * sizeof *r->keys);
	for (i = 0; i < r->n; i++)
		if (r->lines[i].store_key != NAMES_NONE &&
		    r->keys[r->lines[i].store_key] == NULL)
			r->keys[r->lines[i].store_key] = r->lines[i].key;
}

static const char *
key_of(const struct reading *r, const struct line *l)
{
	return l->key != NULL || l->store_key == NAMES_NONE ? l->key :
	    r->keys[l->store_key];
}

/* A run's number, from 1: by the first that was heard of it. */
static size_t
order_of(struct reading *r, size_t effect)
{
	if (r->order[effect] == 0)
		r->order[effect] = ++r->ordered;
	return r->order[effect];
}

static const char *
numbered(struct history *h, char letter, size_t n)
{
	char text[24];

	snprintf(text, sizeof text, "%c%zu", letter, n);
	return history_text(h, text);
}

static const char *
copied(struct history *h, const char *text)
{
	return text != NULL ? history_text(h, text) : NULL;
}

/* Of two that cannot both be nobody knows which is true. */
static bool
can_be(struct reading *r, const struct line *l)
{
	const char *why = history_run_odd(r->did[l->effect],
	    phases[l->phase]);

	if (why != NULL)
		wrong(r, "line %zu: the run %.40s %s", l->number,
		    r->effects.at[l->effect], why);
	else
		r->did[l->effect] = phases[l->phase];
	return why == NULL;
}

static void
insert(struct history *h, struct reading *r, const struct line *l)
{
	size_t n = order_of(r, l->effect);
	struct history_event *ev = history_insert(h, HISTORY_EFFECT, l->t_ns,
	    numbered(h, 'h', n));

	ev->id = numbered(h, 'e', n);
	ev->ph = history_text(h, phases[l->phase]);
	ev->k = copied(h, key_of(r, l));
	ev->a = (int)l->try;
	ev->attempt = (int)l->attempt;
	ev->gate = copied(h, l->gate);
	ev->life = (int)l->life;
	ev->pid = l->pid;
	ev->business = copied(h, l->business);
	ev->nonce = copied(h, l->nonce);
}

/* An answer names a run as the program did. */
static void
rename_said(struct history *h, struct reading *r)
{
	size_t i, effect;

	for (i = 0; i < h->n; i++) {
		struct history_event *ev = &h->events[i];

		if (ev->kind != HISTORY_RET || ev->says_effect == NULL)
			continue;
		effect = names_find(&r->effects, ev->says_effect);
		if (effect != NAMES_NONE)
			ev->says_effect = numbered(h, 'e',
			    order_of(r, effect));
	}
}

static void
insert_all(struct history *h, struct reading *r)
{
	size_t i;

	if (r->n > 0)
		qsort(r->lines, r->n, sizeof *r->lines, by_time);
	learn_keys(r);
	r->order = arena_get(&r->arena, (r->effects.n + 1) * sizeof *r->order);
	r->did = arena_get(&r->arena, (r->effects.n + 1) * sizeof *r->did);
	for (i = 0; i < r->n; i++)
		if (can_be(r, &r->lines[i]))
			insert(h, r, &r->lines[i]);
	history_settle(h);
	rename_said(h, r);
}

int
effects_read(struct history *h, const char *path,
    const struct effects_span *span, char *why, size_t why_size)
{
	struct reading r = { .span = span, .path = path, .wrong = why,
	    .wrong_size = why_size };
	FILE *file = fopen(path, "re");

	if (file == NULL) {
		snprintf(why, why_size, "%s: %s", path, strerror(errno));
		return -1;
	}
	read_lines(&r, file);
	fclose(file);
	insert_all(h, &r);
	arena_free(&r.arena);
	return r.is_wrong ? -1 : 0;
}
