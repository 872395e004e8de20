/* SPDX-License-Identifier: ISC */
#include "matrix.h"

#include <inttypes.h>
#include <string.h>

#define NAME 24			/* columns of a row's name */
#define CELL 13			/* of a cell, its mark and a blank */
#define LINE 120
#define SAID_NAME 20

/* Characters of UTF-8 that a terminal shows: none of ours is wide. */
static int
columns(const char *text)
{
	int n = 0;

	for (; *text != '\0'; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static void
put_left(FILE *out, const char *text, int width)
{
	fprintf(out, "%s%*s", text, width > columns(text) ? width -
	    columns(text) : 0, "");
}

static void
put_right(FILE *out, const char *text, int width)
{
	fprintf(out, "%*s%s", width > columns(text) ? width - columns(text) :
	    0, "", text);
}

static void
put_rule(FILE *out, int width)
{
	for (; width > 0; width--)
		putc('-', out);
	putc('\n', out);
}

/* The next line of a text in so many columns; NULL: there is none.  A word that
   is too long is not cut. */
static const char *
next_line(const char *at, int width, char *out, size_t size)
{
	const char *end = at, *next;
	size_t len;

	while (*at == ' ')
		at++;
	if (*at == '\0')
		return NULL;
	for (next = at; *next != '\0'; ) {
		next += strspn(next, " ");
		next += strcspn(next, " ");
		if (end > at && next - at > width)
			break;
		end = next;
	}
	len = (size_t)(end - at) < size ? (size_t)(end - at) : size - 1;
	memcpy(out, at, len);
	out[len] = '\0';
	return end;
}

static void
put_paragraph(FILE *out, const char *text)
{
	char line[LINE + 80];

	while ((text = next_line(text, LINE, line, sizeof line)) != NULL)
		fprintf(out, "%s\n", line);
}

/* --- a table of numbers --------------------------------------------------- */

static const char *
mark(enum matrix_level l)
{
	switch (l) {
	case MATRIX_PLAIN:
		return "  ";
	case MATRIX_SOME:
		return "* ";
	case MATRIX_MUCH:
		return "**";
	case MATRIX_BROKEN:
		return "!!";
	}
	return "";
}

static void
put_heads(FILE *out)
{
	size_t f, line;

	for (line = 0; line < 2; line++) {
		put_left(out, "", NAME);
		for (f = 0; f < MATRIX_FAULTS; f++) {
			put_right(out, matrix_columns[f].head[line],
			    CELL - 2);
			fputs(f + 1 < MATRIX_FAULTS ? "  " : "\n", out);
		}
	}
	put_rule(out, NAME + MATRIX_FAULTS * CELL);
}

static void
put_view(struct matrix *m, FILE *out, enum matrix_view v)
{
	enum matrix_level bad;
	char cell[80];
	size_t d, f;

	fprintf(out, "\n%s\n", matrix_titles[v].title);
	put_paragraph(out, matrix_titles[v].about);
	putc('\n', out);
	put_heads(out);
	for (d = 0; d < MATRIX_DEPLOYS; d++) {
		put_left(out, matrix_rows[d].title, NAME);
		for (f = 0; f < MATRIX_FAULTS; f++) {
			bad = matrix_say(m, v, (enum matrix_deploy)d,
			    (enum matrix_fault)f, cell, sizeof cell);
			put_right(out, cell, CELL - 2);
			fputs(f + 1 < MATRIX_FAULTS || bad != MATRIX_PLAIN ?
			    mark(bad) : "", out);
		}
		putc('\n', out);
	}
}

/* --- a table of words ----------------------------------------------------- */

/* One line of a row, from where each text was left; false: all are over. */
static bool
put_said_line(FILE *out, const char **at, size_t n, const int *width,
    int indent)
{
	char lines[MATRIX_SAID_COLUMNS + 1][MATRIX_SAID_WORDS];
	bool more = false;
	size_t i;

	for (i = 0; i < n; i++) {
		lines[i][0] = '\0';
		if (at[i] != NULL)
			at[i] = next_line(at[i], width[i] - 2 - (i == 0 ?
			    indent : 0), lines[i], MATRIX_SAID_WORDS);
		more = more || at[i] != NULL;
	}
	for (i = 0; i < n && more; i++) {
		put_left(out, "", i == 0 ? indent : 0);
		put_left(out, lines[i], i + 1 == n ? 0 : width[i] - (i == 0 ?
		    indent : 0));
	}
	return more;
}

static void
put_said_row(FILE *out, const struct matrix_said_row *r, size_t n,
    const int *width)
{
	const char *at[MATRIX_SAID_COLUMNS + 1] = { r->name };
	char cells[MATRIX_SAID_COLUMNS][MATRIX_SAID_WORDS + 4];
	size_t i;

	for (i = 0; i < n; i++) {
		snprintf(cells[i], sizeof cells[i], "%s%s", r->broken[i] ?
		    "!! " : "", r->cells[i]);
		at[i + 1] = cells[i];
	}
	if (r->source != MATRIX_MEASURED)
		putc('\n', out);
	while (put_said_line(out, at, n + 1, width, r->source ==
	    MATRIX_MEASURED ? 2 : 0))
		putc('\n', out);
}

static void
put_said(FILE *out, const struct matrix_said *t)
{
	int width[MATRIX_SAID_COLUMNS + 1] = { SAID_NAME };
	size_t i;

	fprintf(out, "\n%s\n", t->title);
	put_paragraph(out, t->about);
	putc('\n', out);
	put_left(out, "", SAID_NAME);
	for (i = 0; i < t->columns; i++) {
		width[i + 1] = (LINE - SAID_NAME) / (int)t->columns;
		put_left(out, t->heads[i], i + 1 < t->columns ? width[i + 1] :
		    0);
	}
	putc('\n', out);
	put_rule(out, LINE);
	for (i = 0; i < t->rows; i++)
		put_said_row(out, &t->row[i], t->columns, width);
}

/* --- all of it ------------------------------------------------------------ */

static void
put_columns(FILE *out)
{
	char name[40];
	size_t f;

	for (f = 0; f < MATRIX_FAULTS; f++) {
		snprintf(name, sizeof name, "%s %s", matrix_columns[f].head[0],
		    matrix_columns[f].head[1]);
		put_left(out, name, NAME);
		fprintf(out, "%s\n", matrix_columns[f].about);
	}
	fprintf(out, "\n*: worse than it has to be; **: much worse; !!: a "
	    "promise is broken;\n-: there is no Redis that could fail, or it "
	    "was not chosen; ?: it could not be run.\n");
}

static void
put_broken(const struct matrix *m, FILE *out)
{
	const struct matrix_cell *c;
	size_t d, f;

	for (d = 0; d < MATRIX_DEPLOYS; d++)
		for (f = 0; f < MATRIX_FAULTS; f++) {
			c = &m->cells[d][f];
			if (c->broken != 0)
				fprintf(out, "!! %s, %s: %s\n"
				    "   %s (seed 0x%" PRIx64 ")\n",
				    matrix_rows[d].title,
				    matrix_columns[f].param, c->message,
				    c->file, c->seed);
		}
}

static void
put_open(const struct matrix *m, FILE *out)
{
	char why[MATRIX_WORDS];
	size_t d, f;

	for (d = 0; d < MATRIX_DEPLOYS; d++)
		for (f = 0; f < MATRIX_FAULTS; f++)
			if (matrix_open_text(&m->cells[d][f], why,
			    sizeof why) != NULL)
				fprintf(out, "?? %s, %s: %s\n",
				    matrix_rows[d].title,
				    matrix_columns[f].param, why);
}

void
matrix_text(struct matrix *m, FILE *out)
{
	struct matrix_said said;
	size_t v;

	fprintf(out, "idemsim matrix: %zu cell%s, %u run%s of each at most, "
	    "seed 0x%" PRIx64 ", %.0f s\n\n", matrix_run(m),
	    matrix_run(m) == 1 ? "" : "s", m->runs, m->runs == 1 ? "" : "s",
	    m->seed, (double)m->wall_ms / 1000);
	put_columns(out);
	matrix_said_schemes(m, &said);
	put_said(out, &said);
	matrix_said_policies(m, &said);
	put_said(out, &said);
	for (v = 0; v < MATRIX_VIEWS; v++)
		put_view(m, out, (enum matrix_view)v);
	putc('\n', out);
	put_open(m, out);
	put_broken(m, out);
	if (matrix_broken(m) > 0)
		fprintf(out, "\nIn %zu cells a promise was broken.\n",
		    matrix_broken(m));
	else if (matrix_run(m) == 0)
		fputs("Nothing was run.\n", out);
	else
		fprintf(out, "No promise was broken%s.\n", matrix_open(m) > 0 ?
		    ", as far as anything can be said" : "");
}
