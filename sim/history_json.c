/* SPDX-License-Identifier: ISC */
#include "history_private.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct reading {
	struct history *h;
	const char *name;
	size_t line;
	char *wrong;
	size_t wrong_size;
};

static int __attribute__((format(printf, 2, 3)))
wrong(struct reading *r, const char *format, ...)
{
	va_list args;
	int n;

	n = snprintf(r->wrong, r->wrong_size, "%s:%zu: ", r->name, r->line);
	if (n < 0 || (size_t)n >= r->wrong_size)
		return -1;
	va_start(args, format);
	vsnprintf(r->wrong + n, r->wrong_size - (size_t)n, format, args);
	va_end(args);
	return -1;
}

/* A text; NULL: there is none.  -1: it is something else. */
static int
get_text(struct reading *r, const json_t *of, const char *name,
    const char **out)
{
	const json_t *value = json_object_get(of, name);

	*out = NULL;
	if (value == NULL || json_is_null(value))
		return 0;
	if (!json_is_string(value))
		return wrong(r, "\"%s\" is not a text", name);
	*out = history_text(r->h, json_string_value(value));
	return 0;
}

static int
get_number(struct reading *r, const json_t *of, const char *name,
    int64_t otherwise, int64_t *out)
{
	const json_t *value = json_object_get(of, name);

	*out = otherwise;
	if (value == NULL || json_is_null(value))
		return 0;
	if (json_is_boolean(value))
		*out = json_is_true(value);
	else if (json_is_integer(value))
		*out = json_integer_value(value);
	else
		return wrong(r, "\"%s\" is not a whole number", name);
	return 0;
}

static int
get_bound(struct reading *r, const json_t *of, const char *name,
    struct history_bound *out)
{
	const json_t *value = json_object_get(of, name);

	if (value == NULL)
		return 0;
	if (!json_is_object(value))
		return wrong(r, "\"%s\" is not an object", name);
	out->set = true;
	if (get_number(r, value, "value", 0, &out->value) == -1)
		return -1;
	return get_text(r, value, "per_fault", &out->per_fault);
}

static int
get_member(struct reading *r, const json_t *from,
    const struct history_member *m, void *of)
{
	const char *string;
	int64_t n;

	switch (m->kind) {
	case HISTORY_M_TEXT:
		if (get_text(r, from, m->name, &string) == -1)
			return -1;
		memcpy((char *)of + m->at, &string, sizeof string);
		return 0;
	case HISTORY_M_BOUND:
		return get_bound(r, from, m->name,
		    (void *)((char *)of + m->at));
	case HISTORY_M_INT:
	case HISTORY_M_UNSIGNED:
	case HISTORY_M_SIZE:
	case HISTORY_M_LONG:
	case HISTORY_M_FLAG:
		break;
	}
	if (get_number(r, from, m->name, m->none, &n) == -1)
		return -1;
	if (!history_member_set(m, of, n))
		return wrong(r, "\"%s\" is out of range", m->name);
	return 0;
}

static int
get_class(struct reading *r, const json_t *line, struct history_event *e)
{
	const char *class, *how;

	if (get_text(r, line, "class", &class) == -1 ||
	    get_text(r, line, "how", &how) == -1)
		return -1;
	if (class == NULL || !outcome_find(class, &e->class))
		return wrong(r, "\"class\" is not one of ok, fail, busy, "
		    "unknown, info, none");
	if (how != NULL && !history_end_find(how, &e->how))
		return wrong(r, "\"how\" is not one of whole, refused, cut, "
		    "timeout, gave-up");
	return 0;
}

static int
get_event(struct reading *r, const json_t *line)
{
	const char *word, *p;
	const struct history_member *m;
	struct history_event *e;
	enum history_kind kind;
	int64_t i, t_ns;

	if (get_text(r, line, "e", &word) == -1 ||
	    get_text(r, line, "p", &p) == -1 ||
	    get_number(r, line, "t", 0, &t_ns) == -1 ||
	    get_number(r, line, "i", 0, &i) == -1)
		return -1;
	if (word == NULL || !history_kind_find(word, &kind))
		return wrong(r, "there is no event \"%s\"",
		    word != NULL ? word : "");
	if (p == NULL || json_object_get(line, "t") == NULL ||
	    json_object_get(line, "i") == NULL)
		return wrong(r, "an event has \"i\", its number, \"t\", its "
		    "time, and \"p\", whose it is");
	if (i != (int64_t)r->h->n + 1)
		return wrong(r, "\"i\" is %" PRId64 "; here it is %zu", i,
		    r->h->n + 1);
	if (t_ns < 0 || (r->h->n > 0 && t_ns < r->h->events[r->h->n - 1].t_ns))
		return wrong(r, "its time is before that of the event before");
	if (t_ns > HISTORY_T_MAX_NS)
		return wrong(r, "no history is longer than %" PRId64 " s",
		    HISTORY_T_MAX_NS / 1000000000);
	if (r->h->n >= HISTORY_EVENTS_MAX)
		return wrong(r, "no history has more than %u events",
		    HISTORY_EVENTS_MAX);
	e = history_add(r->h, kind, t_ns, p);
	for (m = history_event_members(); m->name != NULL; m++)
		if (get_member(r, line, m, e) == -1)
			return -1;
	return kind == HISTORY_RET ? get_class(r, line, e) : 0;
}

/* A list, or an object, or nothing at all: NULL. */
static int
get_some(struct reading *r, const json_t *line, const char *name,
    json_type type, const json_t **out)
{
	*out = json_object_get(line, name);
	if (*out == NULL || json_typeof(*out) == type)
		return 0;
	return wrong(r, "\"%s\" is not %s", name, type == JSON_ARRAY ?
	    "a list" : "an object");
}

static int
get_invariants(struct reading *r, const json_t *line, const char *name,
    bool *out)
{
	enum plan_invariant invariant;
	const json_t *list;
	const char *word;
	size_t i;

	if (get_some(r, line, name, JSON_ARRAY, &list) == -1)
		return -1;
	for (i = 0; i < json_array_size(list); i++) {
		word = json_string_value(json_array_get(list, i));
		if (word == NULL || !plan_invariant_find(word, &invariant))
			return wrong(r, "there is no invariant \"%s\"",
			    word != NULL ? word : "");
		out[invariant] = true;
	}
	return 0;
}

static int
get_relaxed(struct reading *r, const json_t *line)
{
	const json_t *of;
	size_t i;

	if (get_some(r, line, "relaxed", JSON_OBJECT, &of) == -1)
		return -1;
	for (i = 0; i < PLAN_INVARIANTS; i++)
		if (get_text(r, of, plan_invariant_text((enum plan_invariant)i),
		    &r->h->head.relaxed[i]) == -1)
			return -1;
	return 0;
}

static int
get_faults(struct reading *r, const json_t *line)
{
	struct history_head *head = &r->h->head;
	struct history_fault *fault;
	const json_t *list, *of;
	int64_t must, fired;
	size_t i;

	if (get_some(r, line, "faults", JSON_ARRAY, &list) == -1)
		return -1;
	for (i = 0; i < json_array_size(list); i++) {
		of = json_array_get(list, i);
		if (!json_is_object(of))
			return wrong(r, "a fault is an object: {...}");
		fault = arena_more(&r->h->arena, &head->faults,
		    &head->faults_n, sizeof *fault);
		if (get_text(r, of, "text", &fault->text) == -1 ||
		    get_text(r, of, "act", &fault->act) == -1 ||
		    get_number(r, of, "must", 1, &must) == -1 ||
		    get_number(r, of, "fired", 0, &fired) == -1)
			return -1;
		if (must < 0 || must > 2 || fired < 0 || fired > UINT32_MAX)
			return wrong(r, "a fault's number is out of range");
		fault->must = (int)must;
		fault->fired = (unsigned)fired;
	}
	return 0;
}

static int
get_params(struct reading *r, const json_t *line)
{
	struct history_head *head = &r->h->head;
	const char *name, *value;
	const json_t *list, *of;
	struct plan_pair *pair;
	size_t i;

	if (get_some(r, line, "params", JSON_ARRAY, &list) == -1)
		return -1;
	for (i = 0; i < json_array_size(list); i++) {
		of = json_array_get(list, i);
		name = json_string_value(json_array_get(of, 0));
		value = json_string_value(json_array_get(of, 1));
		if (name == NULL || value == NULL)
			return wrong(r, "a parameter is a name and a value");
		pair = arena_more(&r->h->arena, &head->params,
		    &head->params_n, sizeof *pair);
		pair->name = history_text(r->h, name);
		pair->value = history_text(r->h, value);
	}
	return 0;
}

static int
get_seed(struct reading *r, const json_t *line)
{
	const char *seed;
	char *end;

	if (get_text(r, line, "seed", &seed) == -1)
		return -1;
	if (seed == NULL)
		return 0;
	errno = 0;
	r->h->head.seed = strtoull(seed, &end, 0);
	if (errno != 0 || *seed < '0' || *seed > '9' || *end != '\0')
		return wrong(r, "\"seed\" is not a number, as \"0x1f\"");
	return 0;
}

static int
get_head(struct reading *r, const json_t *line)
{
	const struct history_member *m;
	const char *word;
	int64_t fmt;

	if (get_text(r, line, "e", &word) == -1 ||
	    get_number(r, line, "fmt", 0, &fmt) == -1)
		return -1;
	if (word == NULL || strcmp(word, "hdr") != 0)
		return wrong(r, "this is no history: its first line has no "
		    "\"e\": \"hdr\"");
	if (fmt != HISTORY_FMT)
		return wrong(r, "its format is %" PRId64 ", and %d is what is "
		    "understood here", fmt, HISTORY_FMT);
	for (m = history_head_members(); m->name != NULL; m++)
		if (get_member(r, line, m, &r->h->head) == -1)
			return -1;
	if (get_seed(r, line) == -1 || get_params(r, line) == -1 ||
	    get_relaxed(r, line) == -1 || get_faults(r, line) == -1 ||
	    get_invariants(r, line, "holds", r->h->head.holds) == -1)
		return -1;
	return get_invariants(r, line, "violates", r->h->head.violates);
}

static int
get_line(struct reading *r, const char *at, size_t len)
{
	json_error_t error;
	json_t *line;
	int got;

	line = json_loadb(at, len, JSON_REJECT_DUPLICATES, &error);
	if (line == NULL)
		return wrong(r, "column %d: %s", error.column, error.text);
	if (!json_is_object(line))
		got = wrong(r, "an event is an object: {...}");
	else
		got = r->line == 1 ? get_head(r, line) : get_event(r, line);
	json_decref(line);
	return got;
}

/* A line without its end; whole lines only.  0: there are no more. */
static int
next_line(struct reading *r, FILE *in, char *at, size_t *len)
{
	int c;

	r->line++;
	*len = 0;
	while ((c = getc_unlocked(in)) != EOF && c != '\n') {
		if (*len == HISTORY_LINE_MAX)
			return wrong(r, "a line of more than %u bytes",
			    HISTORY_LINE_MAX);
		at[(*len)++] = (char)c;
	}
	if (ferror(in))
		return wrong(r, "%s", strerror(errno));
	return c == '\n' || *len > 0;
}

int
history_read(struct history *h, FILE *in, const char *name, char *why,
    size_t why_size)
{
	struct reading r = { h, name, 0, why, why_size };
	char *at = malloc(HISTORY_LINE_MAX);
	int got = -1;
	size_t len;

	memset(h, 0, sizeof *h);
	if (at == NULL) {
		r.line = 1;
		return wrong(&r, "%s", strerror(errno));
	}
	while ((got = next_line(&r, in, at, &len)) == 1 &&
	    get_line(&r, at, len) == 0)
		;
	if (got == 0 && r.line == 1)
		got = wrong(&r, "it is empty");
	else if (got == 1)
		got = -1;
	free(at);
	if (got == -1) {
		history_free(h);
		return -1;
	}
	history_stamp_all(h);
	return 0;
}
