/* SPDX-License-Identifier: ISC */
#include "matrix.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>

/* What could not be put says so once, at the end. */
struct sheet {
	bool failed;
};

static void
put(struct sheet *s, json_t *in, const char *name, json_t *value)
{
	if (json_object_set_new(in, name, value) != 0)
		s->failed = true;
}

static void
put_number(struct sheet *s, json_t *in, const char *name, size_t n)
{
	put(s, in, name, json_integer((json_int_t)n));
}

/* -1 is that there is none. */
static void
put_real(struct sheet *s, json_t *in, const char *name, double x)
{
	put(s, in, name, x < 0 ? json_null() : json_real(x));
}

static void
put_seed(struct sheet *s, json_t *in, uint64_t seed)
{
	put(s, in, "seed", json_sprintf("0x%" PRIx64, seed));
}

static void
put_promises(struct sheet *s, json_t *in, const char *name, unsigned bits)
{
	json_t *all = json_array();
	size_t i;

	for (i = 0; i < MATRIX_PROMISES; i++)
		if ((bits >> i & 1) != 0 && json_array_append_new(all,
		    json_string(matrix_promise_words[i])) != 0)
			s->failed = true;
	put(s, in, name, all);
}

static void
put_latency(struct sheet *s, json_t *in, struct matrix_cell *c)
{
	json_t *all = json_object();

	put_number(s, all, "first_runs", c->first.n);
	put_real(s, all, "median_ms", matrix_ms(&c->first, 0.5));
	put_real(s, all, "p99_ms", matrix_ms(&c->first, 0.99));
	put_real(s, all, "program_median_ms", matrix_ms(&c->own, 0.5));
	put_real(s, all, "program_p99_ms", matrix_ms(&c->own, 0.99));
	put_real(s, all, "added_median_ms", matrix_ms(&c->added, 0.5));
	put_real(s, all, "added_p99_ms", matrix_ms(&c->added, 0.99));
	put(s, in, "latency", all);
}

static void
put_broken(struct sheet *s, json_t *in, const struct matrix_cell *c)
{
	put_promises(s, in, "promised", c->promised);
	put_promises(s, in, "tried", c->tried);
	put_promises(s, in, "broken", c->broken);
	if (c->broken == 0)
		return;
	put(s, in, "message", json_string(c->message));
	put(s, in, "history", json_string(c->file));
	put_seed(s, in, c->seed);
}

static json_t *
cell(struct sheet *s, struct matrix_cell *c, size_t d, size_t f)
{
	const struct {
		const char *name;
		size_t n;
	} numbers[] = {
		{ "runs", c->runs }, { "inconclusive", c->open },
		{ "keys", c->keys }, { "starts", c->starts },
		{ "starts_most", c->most },
		{ "keys_started_again", c->again },
		{ "keys_unserved", c->unserved },
		{ "keys_answered", c->answered }, { "answers_lost", c->lost },
		{ "tries", c->tries }, { "unknown", c->unknown },
		{ "repeats", c->repeats }, { "repeats_replayed", c->replayed },
		{ "window_tries", c->window }, { "window_answered", c->served },
		{ "window_unprotected", c->unprotected },
		{ "commands", c->commands }
	};
	json_t *one = json_object();
	char why[MATRIX_WORDS];
	size_t i;

	put(s, one, "deploy", json_string(matrix_rows[d].param));
	put(s, one, "situation", json_string(matrix_columns[f].param));
	if (c->skipped != NULL)
		put(s, one, "skipped", json_string(c->skipped));
	if (matrix_open_text(c, why, sizeof why) != NULL)
		put(s, one, "says_nothing", json_string(why));
	for (i = 0; i < sizeof numbers / sizeof *numbers; i++)
		put_number(s, one, numbers[i].name, numbers[i].n);
	put_real(s, one, "starts_mean", c->keys > 0 ? (double)c->starts /
	    (double)c->keys : -1);
	put_real(s, one, "availability", matrix_available(c));
	put_latency(s, one, c);
	put_broken(s, one, c);
	return one;
}

static json_t *
cells(struct sheet *s, struct matrix *m)
{
	json_t *all = json_array();
	size_t d, f;

	for (d = 0; d < MATRIX_DEPLOYS; d++)
		for (f = 0; f < MATRIX_FAULTS; f++)
			if (m->cells[d][f].here && json_array_append_new(all,
			    cell(s, &m->cells[d][f], d, f)) != 0)
				s->failed = true;
	return all;
}

static json_t *
said(struct sheet *s, const struct matrix_said *t)
{
	json_t *all = json_array(), *one, *row;
	size_t r, i;

	for (r = 0; r < t->rows; r++) {
		row = json_object();
		put(s, row, "name", json_string(t->row[r].name));
		put(s, row, "is",
		    json_string(matrix_source_text(t->row[r].source)));
		one = json_object();
		for (i = 0; i < t->columns; i++)
			put(s, one, t->heads[i], json_string(
			    t->row[r].cells[i]));
		put(s, row, "cells", one);
		if (json_array_append_new(all, row) != 0)
			s->failed = true;
	}
	return all;
}

int
matrix_json(struct matrix *m, const char *path)
{
	struct sheet s = { false };
	json_t *all = json_object();
	struct matrix_said t;

	put(&s, all, "fmt", json_integer(1));
	put(&s, all, "tool", json_string("idemsim " VERSION));
	put_seed(&s, all, m->seed);
	put_number(&s, all, "runs", m->runs);
	put_number(&s, all, "wall_ms", (size_t)m->wall_ms);
	put_number(&s, all, "cells_broken", matrix_broken(m));
	put_number(&s, all, "cells_open", matrix_open(m));
	put(&s, all, "cells", cells(&s, m));
	matrix_said_schemes(m, &t);
	put(&s, all, "schemes", said(&s, &t));
	matrix_said_policies(m, &t);
	put(&s, all, "policies", said(&s, &t));
	errno = ENOMEM;
	if (!s.failed)
		s.failed = json_dump_file(all, path, JSON_INDENT(1) |
		    JSON_REAL_PRECISION(6)) != 0;
	json_decref(all);
	return s.failed ? -1 : 0;
}
