/* SPDX-License-Identifier: ISC */
#include "history_private.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* What is no UTF-8 is shown by its place only. */
static json_t *
text(const char *at)
{
	json_t *value = json_string(at);
	char *copy, *p;

	if (value != NULL)
		return value;
	copy = strdup(at);
	if (copy == NULL)
		return NULL;
	for (p = copy; *p != '\0'; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	value = json_string(copy);
	free(copy);
	return value;
}

static void
put(json_t *to, const char *name, json_t *value)
{
	if (value != NULL)
		json_object_set_new(to, name, value);
}

static void
put_text(json_t *to, const char *name, const char *value)
{
	if (value != NULL)
		put(to, name, text(value));
}

static void
put_bound(json_t *to, const char *name, const struct history_bound *b)
{
	json_t *bound;

	if (!b->set)
		return;
	bound = json_object();
	put(bound, "value", json_integer(b->value));
	put_text(bound, "per_fault", b->per_fault);
	put(to, name, bound);
}

static void
put_member(json_t *to, const struct history_member *m, const void *of)
{
	int64_t n = history_member_get(m, of);

	if (m->kind == HISTORY_M_TEXT)
		put_text(to, m->name, history_member_text(m, of));
	else if (m->kind == HISTORY_M_BOUND)
		put_bound(to, m->name, (const void *)((const char *)of +
		    m->at));
	else if (n != m->none)
		put(to, m->name, m->kind == HISTORY_M_FLAG ? json_true() :
		    json_integer(n));
}

static json_t *
stamps(const struct history *h, const struct history_event *e)
{
	json_t *v = json_object();
	size_t i;

	for (i = 0; i < e->v_n; i++)
		put(v, h->lanes[e->v[i].lane], json_integer(e->v[i].n));
	return v;
}

static json_t *
event(const struct history *h, const struct history_event *e)
{
	const struct history_member *m;
	json_t *to = json_object();

	put(to, "i", json_integer(e->i));
	put(to, "t", json_integer(e->t_ns));
	put_text(to, "p", e->p);
	put_text(to, "e", history_kind_text(e->kind));
	if (e->kind == HISTORY_RET) {
		put_text(to, "class", outcome_text(e->class));
		put_text(to, "how", outcome_end_text(e->how));
	}
	for (m = history_event_members(); m->name != NULL; m++)
		put_member(to, m, e);
	if (e->v_n > 0)
		put(to, "v", stamps(h, e));
	return to;
}

static json_t *
invariants(const bool *which)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < PLAN_INVARIANTS; i++)
		if (which[i])
			json_array_append_new(list, json_string(
			    plan_invariant_text((enum plan_invariant)i)));
	return list;
}

static json_t *
relaxed(const struct history_head *head)
{
	json_t *to = json_object();
	size_t i;

	for (i = 0; i < PLAN_INVARIANTS; i++)
		put_text(to, plan_invariant_text((enum plan_invariant)i),
		    head->relaxed[i]);
	return to;
}

static json_t *
faults(const struct history_head *head)
{
	json_t *list = json_array(), *to;
	size_t i;

	for (i = 0; i < head->faults_n; i++) {
		to = json_object();
		put_text(to, "text", head->faults[i].text);
		put_text(to, "act", head->faults[i].act);
		put(to, "must", json_integer(head->faults[i].must));
		put(to, "fired", json_integer(head->faults[i].fired));
		json_array_append_new(list, to);
	}
	return list;
}

/* In their order, in which a name may come twice: a list of pairs. */
static json_t *
params(const struct history_head *head)
{
	json_t *list = json_array(), *pair;
	size_t i;

	for (i = 0; i < head->params_n; i++) {
		pair = json_array();
		json_array_append_new(pair, text(head->params[i].name));
		json_array_append_new(pair, text(head->params[i].value));
		json_array_append_new(list, pair);
	}
	return list;
}

static json_t *
head_line(const struct history_head *head)
{
	const struct history_member *m;
	json_t *to = json_object();
	char seed[24];

	snprintf(seed, sizeof seed, "0x%" PRIx64, head->seed);
	put(to, "i", json_integer(0));
	put(to, "e", json_string("hdr"));
	put(to, "fmt", json_integer(HISTORY_FMT));
	put(to, "seed", json_string(seed));	/* no JSON number has 64 bits */
	for (m = history_head_members(); m->name != NULL; m++)
		put_member(to, m, head);
	put(to, "params", params(head));
	put(to, "holds", invariants(head->holds));
	put(to, "violates", invariants(head->violates));
	put(to, "relaxed", relaxed(head));
	put(to, "faults", faults(head));
	return to;
}

static bool
write_line(json_t *line, FILE *out)
{
	bool written = line != NULL && json_dumpf(line, out, JSON_COMPACT) == 0;

	json_decref(line);
	return written && putc('\n', out) != EOF;
}

int
history_write(const struct history *h, FILE *out)
{
	bool written;
	size_t i;

	errno = 0;
	written = write_line(head_line(&h->head), out);
	for (i = 0; written && i < h->n; i++)
		written = write_line(event(h, &h->events[i]), out);
	if (written && fflush(out) == 0)
		return 0;
	if (errno == 0)
		errno = EIO;
	return -1;
}
