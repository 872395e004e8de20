/* SPDX-License-Identifier: ISC */
#include "report_private.h"
#include "report_svg.h"

#include <string.h>

#define BREADTH 8
#define ASIDE 8			/* between tries of a client at the same time */
#define SIDES 5

static struct chart_span *
add(struct chart *c, struct chart_span **at, size_t *n, size_t row)
{
	struct chart_span *span = arena_more(&c->arena, at, n, sizeof *span);

	*span = (struct chart_span){ .lane = c->rows[row].lane, .first = row,
	    .last = c->n };
	return span;
}

static bool
is_phase(const struct history_event *e, const char *phase)
{
	return e->ph != NULL && strcmp(e->ph, phase) == 0;
}

/* --- tries ---------------------------------------------------------------- */

static struct chart_span *
begun(const struct chart *c, size_t row)
{
	const struct chart_row *r = &c->rows[row];
	size_t i;

	for (i = c->tries_n; i > 0; i--)
		if (c->tries[i - 1].lane == r->lane &&
		    c->rows[c->tries[i - 1].first].e->a == r->e->a)
			return &c->tries[i - 1];
	return NULL;
}

/* Its end is not among the rows: where it would be, and what it was. */
static void
end_unseen(const struct chart *c, struct chart_span *s)
{
	const struct history_event *begin = c->rows[s->first].e, *e;

	for (e = begin; e < c->h->events + c->h->n; e++)
		if (e->kind == HISTORY_RET && e->a == begin->a) {
			s->last = report_chart_row_of(c, e->i);
			s->open = e->class == OUTCOME_INFO;
			if (s->last == c->n)
				s->last--;
			return;
		}
	s->open = true;
}

/* Beside those that go on. */
static unsigned
side_of(const struct chart *c, const struct chart_span *of)
{
	bool taken[SIDES] = { false };
	const struct chart_span *o;
	unsigned side = 0;

	for (o = c->tries; o < of; o++)
		if (o->lane == of->lane && (o->open || o->last > of->first))
			taken[o->side] = true;
	while (side + 1 < SIDES && taken[side])
		side++;
	return side;
}

static void
find_tries(struct chart *c)
{
	const struct chart_row *r;
	struct chart_span *span;
	size_t i;

	for (i = 0; i < c->n; i++) {
		r = &c->rows[i];
		if (r->lane == CHART_NO_LANE || r->e->a == 0)
			continue;
		if (r->e->kind == HISTORY_INV)
			(void)add(c, &c->tries, &c->tries_n, i);
		else if (r->e->kind == HISTORY_RET &&
		    (span = begun(c, i)) != NULL) {
			span->last = i;
			span->open = r->e->class == OUTCOME_INFO;
		}
	}
}

static void
place_tries(struct chart *c)
{
	struct chart_span *span;
	int aside;

	for (span = c->tries; span < c->tries + c->tries_n; span++) {
		if (span->last == c->n)
			end_unseen(c, span);
		span->side = side_of(c, span);
		aside = (int)span->side * ASIDE;
		c->rows[span->first].aside = aside;
		if (span->last < c->n &&
		    c->rows[span->last].e->kind == HISTORY_RET &&
		    c->rows[span->last].e->a == c->rows[span->first].e->a)
			c->rows[span->last].aside = aside;
	}
}

/* --- runs of programs ----------------------------------------------------- */

static void
find_runs(struct chart *c)
{
	const struct chart_row *r;
	struct chart_span *span;
	size_t i, j;

	for (i = 0; i < c->n; i++) {
		r = &c->rows[i];
		if (r->e->kind != HISTORY_EFFECT || r->lane == CHART_NO_LANE)
			continue;
		for (j = c->runs_n; j > 0; j--)
			if (c->runs[j - 1].lane == r->lane)
				break;
		span = j > 0 ? &c->runs[j - 1] : add(c, &c->runs, &c->runs_n,
		    i);
		span->last = i;
		span->open = !is_phase(r->e, "end");
	}
}

/* Its end may be where no row is. */
static void
close_runs(struct chart *c)
{
	const struct history_event *e, *last;
	size_t i;

	for (i = 0; i < c->runs_n && c->pick.left_out > 0; i++) {
		last = c->rows[c->runs[i].last].e;
		for (e = last; e < c->h->events + c->h->n &&
		    c->runs[i].open; e++)
			if (e->kind == HISTORY_EFFECT && is_phase(e, "end") &&
			    strcmp(e->p, last->p) == 0)
				c->runs[i].open = false;
	}
}

void
report_span_find(struct chart *c)
{
	find_tries(c);
	if (c->tries_n > 0)
		place_tries(c);
	find_runs(c);
	close_runs(c);
}

/* --- drawn ---------------------------------------------------------------- */

/*
 * A try that has not come back at all, and one of which its client does not
 * know what became, may act for ever: dashed, to the lane's foot.
 */
static int
foot_of(const struct chart *c, int lane)
{
	const struct chart_lane *l = &c->lanes[lane];

	return c->columns[l->column].shared ? c->rows[l->last].y +
	    CHART_ROW / 2 : report_chart_foot(c);
}

static void
draw_try(struct idem_buf *out, const struct chart *c,
    const struct chart_span *s)
{
	int x = report_chart_x(c, s->lane) + (int)s->side * ASIDE;
	int from = c->rows[s->first].y;
	int to = s->last < c->n ? c->rows[s->last].y : from;

	idem_buf_printf(out, "<g data-e=\"%zu", s->first);
	if (s->last < c->n)
		idem_buf_printf(out, " %zu", s->last);
	idem_buf_text(out, "\" data-any>");
	if (to > from)
		idem_buf_printf(out, "<rect class=\"try\" x=\"%d\" y=\"%d\" "
		    "width=\"%d\" height=\"%d\" rx=\"4\"/>", x - BREADTH / 2,
		    from, BREADTH, to - from);
	if (s->open)
		idem_buf_printf(out, "<path class=\"open\" d=\"M%d %dV%d\">"
		    "<title>nobody knows what became of try %d</title>"
		    "</path>", x, to, foot_of(c, s->lane),
		    c->rows[s->first].e->a);
	idem_buf_text(out, "</g>");
}

static void
draw_run(struct idem_buf *out, const struct chart *c,
    const struct chart_span *s)
{
	int x = report_chart_x(c, s->lane), from = c->rows[s->first].y;
	int to = c->rows[s->last].y;

	idem_buf_printf(out, "<g data-e=\"%zu %zu\" data-any>", s->first,
	    s->last);
	if (to > from)
		idem_buf_printf(out, "<rect class=\"run\" x=\"%d\" y=\"%d\" "
		    "width=\"%d\" height=\"%d\" rx=\"2\"/>", x - BREADTH / 2,
		    from, BREADTH, to - from);
	if (s->open)
		idem_buf_printf(out, "<path class=\"torn\" d=\"M%d %dv%d\">"
		    "<title>its end was not seen</title></path>", x, to,
		    CHART_ROW / 2);
	idem_buf_text(out, "</g>");
}

void
report_svg_spans(struct idem_buf *out, const struct chart *c)
{
	size_t i;

	for (i = 0; i < c->tries_n; i++)
		draw_try(out, c, &c->tries[i]);
	for (i = 0; i < c->runs_n; i++)
		draw_run(out, c, &c->runs[i]);
	idem_buf_u8(out, '\n');
}
