/* SPDX-License-Identifier: ISC */
#include "plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * What a scenario may say of an instance's configuration (idem.conf(5)).  What
 * is not here is the topology's, or the simulator's own: sockets, paths, the
 * program.
 */
#define DAY (24 * 3600 * INT64_C(1000))
#define RUN (15 * DAY)		/* the longest time of a run */
#define KEPT (3650 * DAY)	/* ... and of what is kept */
#define CALL (60 * INT64_C(1000))	/* of what a request waits for */
#define RETRIES 3		/* of "retry" alone: starts in all */
#define MIB (INT64_C(1) << 20)

static const struct plan_config_word words[] = {
	{ "lease", "route", "lease", "time", 100, RUN, "auto" },
	{ "limit", "route", "limit", "time", 1, RUN, NULL },
	{ "on_unknown", "route", "on_unknown", "word", 0, 0,
	  "block retry" },	/* there is no program to probe with */
	{ "on_outage", "route", "on_outage", "word", 0, 0,
	  "reject memory database pass" },
	{ "scheme", "route", "scheme", "word", 0, 0, "script setnx check" },
	{ "in_progress", "route", "in_progress", "word", 1, RUN,
	  "wait 409 202" },
	{ "wait", "route", "wait", "time", 1, RUN, NULL },
	{ "queue_wait", "route", "queue_wait", "time", 1, RUN, NULL },
	{ "keep", "route", "keep", "time", 1, KEPT, NULL },
	{ "keep_min", "route", "keep_min", "time", 1, KEPT, NULL },
	{ "tombstone", "route", "tombstone", "time", 1, KEPT, NULL },
	{ "spool", "route", "spool", "flag", 0, 0, "true false" },
	{ "store_exit", "route", "store_exit", "word", 0, 0, "zero any" },
	{ "kept_max", "route", "kept_max", "size", 0, 512 * MIB, NULL },
	{ "max_kept", "route", "kept_max", "size", 0, 512 * MIB, NULL },
	{ "body_max", "route", "body_max", "size", 1, INT64_C(1) << 40, NULL },
	{ "lost_signal", "route", "lost_signal", "word", 0, 0,
	  "none HUP INT QUIT TERM USR1 USR2" },
	{ "required", "route", "required", "flag", 0, 0, "true false" },
	{ "grace", "top", "grace", "time", 1, RUN, NULL },
	{ "programs", "top", "programs", "number", 1, 1024, NULL },
	{ "queue", "top", "queue", "number", 0, 1000000, NULL },
	{ "reserve", "top", "reserve", "size", 1, INT64_C(1) << 40, "0" },
	{ "local_cache", "top", "local_cache", "size", 1, INT64_C(1) << 34,
	  "none" },
	{ "store_timeout", "redis", "timeout", "time", 1, CALL, NULL },
	{ "budget", "redis", "budget", "time", 1, CALL, NULL },
	{ "look", "redis", "look", "time", 1, CALL, NULL },
	{ "probe_every", "redis", "probe", "time", 10, RUN, NULL },
	{ "answer_max", "redis", "answer_max", "size", 0, 32 * MIB, NULL },
	{ "token_life", "tokens", "life", "time", 1000, KEPT, NULL },
	{ NULL, NULL, NULL, NULL, 0, 0, NULL }
};

struct unit {
	const char *name;
	int64_t is;
};
static const struct unit times[] = {
	{ "ms", 1 }, { "s", 1000 }, { "m", 60 * 1000 }, { "h", 3600 * 1000 },
	{ "d", DAY }, { NULL, 0 }
};
static const struct unit sizes[] = {
	{ "B", 1 }, { "KiB", 1 << 10 }, { "MiB", 1 << 20 },
	{ "GiB", 1 << 30 }, { NULL, 0 }
};

const struct plan_config_word *
plan_config_words(void)
{
	return words;
}

const struct plan_config_word *
plan_config_known(const char *name)
{
	const struct plan_config_word *w;

	for (w = words; w->name != NULL; w++)
		if (strcmp(w->name, name) == 0)
			return w;
	return NULL;
}

/* --- values --------------------------------------------------------------- */

/* Digits; what stands behind them.  NULL: there are none, or too many. */
static const char *
digits(const char *text, int64_t *n)
{
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	errno = 0;
	*n = strtoll(text, &end, 10);
	return errno == 0 ? end : NULL;
}

static bool
with_unit(const char *text, const struct unit *unit, int64_t *out)
{
	const char *end = digits(text, out);

	if (end == NULL)
		return false;
	while (unit->name != NULL && strcmp(end, unit->name) != 0)
		unit++;
	return unit->name != NULL &&
	    !__builtin_mul_overflow(*out, unit->is, out);
}

static bool
is_word(const char *all, const char *text)
{
	size_t len = strlen(text), n;

	for (; all != NULL && *all != '\0'; all += n + (all[n] == ' ')) {
		n = strcspn(all, " ");
		if (n == len && strncmp(all, text, n) == 0)
			return true;
	}
	return false;
}

/* "retry 3", "retry(3)" */
static bool
is_retry(const char *text, int64_t *n)
{
	const char *end;

	if (strncmp(text, "retry", 5) != 0 || strchr(" (", text[5]) == NULL ||
	    text[5] == '\0')
		return false;
	end = digits(text + 6, n);
	return end != NULL && strcmp(end, text[5] == '(' ? ")" : "") == 0 &&
	    *n >= 1 && *n <= 1000;
}

/* "one of a, b, c" */
static void
list_words(const char *all, char *out, size_t size)
{
	size_t len = 0, n;
	const char *at;

	for (at = all; *at != '\0' && len < size; at += n + (at[n] == ' ')) {
		n = strcspn(at, " ");
		len += (size_t)snprintf(out + len, size - len, "%s\"%.*s\"",
		    at > all ? ", " : "one of ", (int)n, at);
	}
}

static const char *
wrong_range(const struct plan_config_word *w, const char *value, int64_t n,
    char *out, size_t size)
{
	bool time = strcmp(w->kind, "time") == 0 || *w->kind == 'w';

	if (n >= w->min && n <= w->max)
		return NULL;
	if (n > w->max && time && w->max >= DAY)
		snprintf(out, size, "\"%s\" is more than %" PRId64 "d", value,
		    w->max / DAY);
	else
		snprintf(out, size, "\"%s\" is not between %" PRId64 "%s and %"
		    PRId64 "%s", value, w->min, time ? "ms" : "",
		    *w->kind == 's' ? w->max >> 20 : w->max,
		    time ? "ms" : *w->kind == 's' ? "MiB" : "");
	return out;
}

static const char *
wrong_unit(const struct plan_config_word *w, const char *value,
    const struct unit *units, char *out, size_t size)
{
	bool time = units == times;
	const char *end;
	int64_t n;

	if (with_unit(value, units, &n))
		return wrong_range(w, value, n, out, size);
	end = digits(value, &n);
	if (end != NULL && *end == '\0')
		snprintf(out, size, "%s has no unit; say \"%s%s\" or "
		    "\"%s%s\"", value, value, time ? "ms" : "KiB", value,
		    time ? "s" : "MiB");
	else
		snprintf(out, size, "\"%s\" is not a %s; say it with its "
		    "unit, as \"%s\" (%s)", value, time ? "time" : "size",
		    time ? "250ms" : "16MiB", time ? "ms, s, m, h, d" :
		    "B, KiB, MiB, GiB");
	return out;
}

static const char *
wrong_word(const struct plan_config_word *w, const char *value, char *out,
    size_t size)
{
	const char *all = w->words;
	size_t len;
	int64_t n;

	if (strcmp(w->name, "on_unknown") == 0 && is_retry(value, &n))
		return NULL;
	if (strcmp(w->name, "in_progress") == 0 && with_unit(value, times, &n))
		return wrong_range(w, value, n, out, size);
	len = (size_t)snprintf(out, size, "\"%s\" is not ", value);
	if (len < size)
		list_words(all, out + len, size - len);
	len = strlen(out);
	if (len < size && strcmp(w->name, "on_unknown") == 0)
		snprintf(out + len, size - len,
		    ", nor \"retry 3\" (so many starts in all, 1 to 1000)");
	if (len < size && strcmp(w->name, "in_progress") == 0)
		snprintf(out + len, size - len,
		    ", nor a time to wait, as \"250ms\"");
	return out;
}

static const char *
wrong_number(const struct plan_config_word *w, const char *value, char *out,
    size_t size)
{
	const char *end;
	int64_t n;

	end = digits(value, &n);
	if (end != NULL && *end == '\0')
		return wrong_range(w, value, n, out, size);
	snprintf(out, size, "\"%s\" is not a whole number", value);
	return out;
}

const char *
plan_config_wrong(const struct plan_config_word *w, const char *value,
    char *out, size_t size)
{
	if (is_word(w->words, value))
		return NULL;
	switch (*w->kind) {
	case 't':
		return wrong_unit(w, value, times, out, size);
	case 's':
		return wrong_unit(w, value, sizes, out, size);
	case 'w':
		return wrong_word(w, value, out, size);
	case 'n':
		return wrong_number(w, value, out, size);
	}
	snprintf(out, size, "\"%s\" is neither true nor false", value);
	return out;
}

const char *
plan_config_conf(const struct plan_config_word *w, const char *value,
    char *out, size_t size)
{
	const char *before = "\"", *after = "\"";
	int64_t n;

	if (*w->kind == 'n' || *w->kind == 'f')
		before = after = "";
	if (strcmp(w->name, "local_cache") == 0 && strcmp(value, "none") != 0) {
		before = "{ size = \"";
		after = "\" }";
	}
	if (strcmp(w->name, "in_progress") == 0 && with_unit(value, times, &n))
		before = "wait \"";
	if (strcmp(w->name, "on_unknown") == 0 && *value == 'r') {
		if (!is_retry(value, &n))
			n = RETRIES;
		snprintf(out, size, "retry(%" PRId64 ")", n);
	} else
		snprintf(out, size, "%s%s%s", before, value, after);
	return out;
}

/* --- what a plan says ----------------------------------------------------- */

const char *
plan_config_value(const struct plan *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->gates.configs; i++)
		if (strcmp(p->gates.config[i].name, name) == 0)
			return p->gates.config[i].value;
	return NULL;
}

int64_t
plan_config_ms(const struct plan *p, const char *name, int64_t otherwise_ms)
{
	const char *value = plan_config_value(p, name);
	int64_t ms;

	return value != NULL && with_unit(value, times, &ms) ? ms :
	    otherwise_ms;
}

int64_t
plan_config_bytes(const struct plan *p, const char *name, int64_t otherwise)
{
	const char *value = plan_config_value(p, name);
	int64_t bytes;

	return value != NULL && with_unit(value, sizes, &bytes) ? bytes :
	    otherwise;
}
