/* SPDX-License-Identifier: ISC */
#include "report_private.h"

#include "arena.h"

#include <jansson.h>
#include <stdlib.h>

struct report_json {
	json_t *whole, *points;
};

/* What jansson has no memory for is NULL; then so is what would hold it. */
static json_t *
must(json_t *value)
{
	arena_must_have(value != NULL);
	return value;
}

static json_t *
text(const char *from)
{
	struct idem_buf clean = { 0 };
	json_t *value;

	if (from == NULL)
		return json_null();
	report_text(&clean, from, 0);
	value = must(json_string(report_buf_text(&clean)));
	idem_buf_free(&clean);
	return value;
}

static void
put(json_t *in, const char *name, json_t *value)
{
	if (json_object_set_new(in, name, value) != 0)
		(void)must(NULL);
}

static void
put_in(json_t *in, json_t *value)
{
	if (json_array_append_new(in, value) != 0)
		(void)must(NULL);
}

static json_t *
number(uint64_t n)
{
	return must(json_integer((json_int_t)n));
}

/* --- a point -------------------------------------------------------------- */

static json_t *
params(const struct plan *p)
{
	json_t *all = must(json_object());
	struct idem_buf name = { 0 };
	size_t i;

	for (i = 0; i < p->params_n; i++) {
		idem_buf_clear(&name);
		report_text(&name, p->params[i].name, 0);
		put(all, report_buf_text(&name), text(p->params[i].value));
	}
	idem_buf_free(&name);
	return all;
}

static json_t *
fired(const struct judge_point *p)
{
	json_t *all = must(json_array()), *one;
	char words[200];
	unsigned id;

	for (id = 0; p->fired != NULL && id < p->plan->actions_n; id++) {
		one = must(json_object());
		put(one, "fault", text(report_say_fault(p->plan, id, words,
		    sizeof words)));
		put(one, "times", number(p->fired[id]));
		put(one, "heals", must(json_boolean(report_say_heals(p->plan,
		    id))));
		put_in(all, one);
	}
	return all;
}

static json_t *
sometimes(const struct judge_point *p)
{
	const struct plan_expect *e = &p->plan->expect;
	json_t *all = must(json_object());
	struct idem_buf name = { 0 };
	size_t i;

	for (i = 0; p->sometimes != NULL && i < e->sometimes_n; i++) {
		idem_buf_clear(&name);
		report_text(&name, e->sometimes[i], 0);
		put(all, report_buf_text(&name),
		    must(json_boolean(p->sometimes[i])));
	}
	idem_buf_free(&name);
	return all;
}

static json_t *
invariants(const bool which[PLAN_INVARIANTS])
{
	json_t *all = must(json_array());
	size_t i;

	for (i = 0; i < PLAN_INVARIANTS; i++)
		if (which[i])
			put_in(all, text(plan_invariant_text(
			    (enum plan_invariant)i)));
	return all;
}

static json_t *
finding(const struct report_told *t, const struct check_finding *f)
{
	json_t *one, *events = must(json_array());
	char words[300];
	size_t i;

	for (i = 0; report_say_event(t->worst, f, i, words, sizeof words); i++)
		put_in(events, text(words));
	one = must(json_object());
	put(one, "invariant", text(plan_invariant_text(f->invariant)));
	put(one, "promise", text(check_promise(f->invariant)));
	put(one, "key", text(f->key));
	put(one, "message", text(f->message));
	put(one, "blames", text(f->blames));
	put(one, "events", events);
	return one;
}

static json_t *
artefacts(const struct report_files *files)
{
	json_t *all = must(json_array());
	char path[REPORT_PATH];
	size_t i;

	for (i = 0; files->folder != NULL && files->names[i] != NULL; i++) {
		snprintf(path, sizeof path, "%s/%s", files->folder,
		    files->names[i]);
		put_in(all, text(path));
	}
	return all;
}

static void
put_plan(json_t *one, const struct judge_point *p)
{
	if (p->plan == NULL)
		return;
	put(one, "file", text(p->plan->file));
	put(one, "params", params(p->plan));
	put(one, "holds", invariants(p->plan->expect.holds));
	put(one, "violates", invariants(p->plan->expect.violates));
	put(one, "fired", fired(p));
	put(one, "sometimes", sometimes(p));
}

static void
put_figures(json_t *one, const struct judge_point *p)
{
	put(one, "runs", number(p->runs));
	put(one, "tries", number(p->tries));
	put(one, "keys", number(p->keys));
	put(one, "starts", number(p->starts));
	put(one, "wall_ms", must(json_integer(p->wall_ms)));
	put(one, "exercised", invariants(p->exercised));
}

static void
put_worst(json_t *one, const struct report_told *t)
{
	const struct check_finding *f = report_say_finding(&t->point->worst);
	char seed[24];

	if (f != NULL)
		put(one, "finding", finding(t, f));
	if (t->worst != NULL) {
		snprintf(seed, sizeof seed, "0x%llx",
		    (unsigned long long)t->worst->head.seed);
		put(one, "run", number(t->worst->head.run));
		put(one, "seed", text(seed));
	}
	if (t->again != NULL)
		put(one, "reproduce", text(t->again));
	put(one, "artefacts", artefacts(t->files));
}

void
report_json_point(struct report_json *j, const struct report_told *t)
{
	const struct judge_point *p = t->point;
	json_t *one = must(json_object());

	put(one, "point", number(t->number));
	put(one, "name", text(t->title));
	put(one, "mode", text(t->mode));
	put(one, "verdict", text(judge_text(p->verdict)));
	put(one, "says", text(p->verdict == JUDGE_SKIP ? p->message :
	    t->sum));
	put(one, "control", must(json_boolean(report_say_control(p))));
	put_plan(one, p);
	put_figures(one, p);
	put_worst(one, t);
	put_in(j->points, one);
}

/* --- the whole ------------------------------------------------------------ */

struct report_json *
report_json_new(const struct report *r)
{
	struct report_json *j = calloc(1, sizeof *j);
	json_t *options;

	if (j == NULL)
		(void)must(NULL);
	j->whole = must(json_object());
	j->points = must(json_array());
	options = must(json_object());
	put(options, "command", text(r->command));
	put(options, "out", text(r->out));
	put(options, "junit", text(r->junit));
	put(options, "tap", number((uint64_t)r->tap_version));
	put(j->whole, "fmt", number(1));
	put(j->whole, "tool", text("idemsim " PACKAGE_VERSION));
	put(j->whole, "options", options);
	return j;
}

int
report_json_end(struct report_json *j, const char *path)
{
	FILE *file = fopen(path, "we");
	bool written = false;

	put(j->whole, "points", j->points);
	if (file != NULL) {
		written = json_dumpf(j->whole, file, JSON_INDENT(1)) == 0 &&
		    fputc('\n', file) != EOF && fflush(file) == 0;
		written = fclose(file) == 0 && written;
	}
	json_decref(j->whole);
	free(j);
	return written ? 0 : -1;
}
