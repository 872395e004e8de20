/* SPDX-License-Identifier: ISC */
#include "report_private.h"
#include "report_svg.h"

#include <math.h>
#include <string.h>

#define SLOPE 8			/* what time a message takes, if nobody knows */
#define CLEAR 7.0		/* of the marks at its ends */
#define LOST_AT 0.62		/* of its way */
#define HALF_BREAK 5.0

struct point {
	double x, y;
};

struct arrow {
	const char *class;	/* q request, r reply, c command, s store's
				   reply, u start and end of a program */
	struct point from, to;
	const char *fate;	/* as history_event has it; or NULL */
	size_t rows[2];		/* of its ends */
	const struct history_event *e;	/* whose words it has */
};

static struct point
between(const struct arrow *a, double part)
{
	return (struct point){
		a->from.x + (a->to.x - a->from.x) * part,
		a->from.y + (a->to.y - a->from.y) * part
	};
}

static bool
is_fate(const struct arrow *a, const char *fate)
{
	return a->fate != NULL && strcmp(a->fate, fate) == 0;
}

static bool
ends_early(const struct arrow *a)
{
	return is_fate(a, "lost") || is_fate(a, "cut") ||
	    is_fate(a, "refused");
}

/* --- one ------------------------------------------------------------------ */

static void
line(struct idem_buf *out, const struct arrow *a, double from, double to,
    bool head)
{
	struct point f = between(a, from), t = between(a, to);

	idem_buf_printf(out, "<path class=\"%s%s\" d=\"M%.1f %.1fL%.1f %.1f"
	    "\"/>", a->class, head ? "" : " nh", f.x, f.y, t.x, t.y);
}

static void
shape(struct idem_buf *out, const struct arrow *a, const char *name,
    double part)
{
	struct point p = between(a, part);

	idem_buf_printf(out, "<use href=\"#%s\" x=\"%.1f\" y=\"%.1f\" "
	    "class=\"f%s\"/>", name, p.x, p.y, a->class);
}

/* It ends in a cross, has a break, or a mark on its way. */
static void
body(struct idem_buf *out, const struct arrow *a)
{
	double len = hypot(a->to.x - a->from.x, a->to.y - a->from.y);
	double rim = len > 3 * CLEAR ? CLEAR / len : 0;
	double half = len > 0 ? HALF_BREAK / len : 0;

	if (ends_early(a)) {
		line(out, a, rim, LOST_AT - half, false);
		shape(out, a, "mx", LOST_AT);
	} else if (is_fate(a, "held")) {
		line(out, a, rim, 0.5 - half, false);
		line(out, a, 0.5 + half, 1 - rim, true);
		shape(out, a, "mh", 0.5);
	} else {
		line(out, a, rim, 1 - rim, true);
		if (is_fate(a, "delayed"))
			shape(out, a, "md", 0.5);
		else if (is_fate(a, "answered"))
			shape(out, a, "ma", 0.5);
	}
}

static void
draw(struct idem_buf *out, const struct arrow *a)
{
	idem_buf_printf(out, "<g data-e=\"%zu", a->rows[0]);
	if (a->rows[1] != a->rows[0])
		idem_buf_printf(out, " %zu", a->rows[1]);
	idem_buf_text(out, "\"><title>");
	report_svg_words(out, a->e, 120);
	idem_buf_text(out, "</title>");
	body(out, a);
	idem_buf_text(out, "</g>");
}

/* --- between clients and gates, gates and programs ------------------------ */

/* How the try ended that begins here. */
static const struct history_event *
end_of(const struct chart *c, const struct history_event *inv)
{
	const struct history_event *e;

	for (e = inv; e < c->h->events + c->h->n; e++)
		if (e->kind == HISTORY_RET && e->a == inv->a)
			return e;
	return NULL;
}

static struct arrow
from_row(const struct chart *c, size_t row, const char *class)
{
	const struct chart_row *r = &c->rows[row];

	return (struct arrow){
		.class = class, .e = r->e, .rows = { row, row },
		.from = { report_chart_x(c, r->lane) + r->aside, r->y },
		.to = { report_chart_x(c, r->other), r->y + SLOPE }
	};
}

static struct arrow
to_row(const struct chart *c, size_t row, const char *class)
{
	const struct chart_row *r = &c->rows[row];

	return (struct arrow){
		.class = class, .e = r->e, .rows = { row, row },
		.from = { report_chart_x(c, r->other), r->y - SLOPE },
		.to = { report_chart_x(c, r->lane) + r->aside, r->y }
	};
}

static void
request(struct idem_buf *out, const struct chart *c, size_t row)
{
	const struct history_event *end = end_of(c, c->rows[row].e);
	struct arrow a = from_row(c, row, "q");

	if (end != NULL && end->how == OUTCOME_REFUSED)
		a.fate = "refused";
	draw(out, &a);
}

static void
reply(struct idem_buf *out, const struct chart *c, size_t row)
{
	struct arrow a = to_row(c, row, "r");

	switch (c->rows[row].e->how) {
	case OUTCOME_CUT:
		a.fate = "cut";
		break;
	case OUTCOME_WHOLE:
		break;
	case OUTCOME_REFUSED:
	case OUTCOME_TIMEOUT:
	case OUTCOME_GAVE_UP:
		return;		/* nothing came */
	}
	draw(out, &a);
}

static void
run(struct idem_buf *out, const struct chart *c, size_t row)
{
	const char *phase = c->rows[row].e->ph;
	struct arrow a;

	if (phase == NULL || strcmp(phase, "commit") == 0)
		return;
	a = strcmp(phase, "begin") == 0 ? to_row(c, row, "u") :
	    from_row(c, row, "u");
	draw(out, &a);
}

/* --- between gates and stores --------------------------------------------- */

static const struct chart_row *
before_it(const struct chart *c, size_t row)
{
	const struct chart_row *r;

	for (r = &c->rows[row]; r > c->rows; r--)
		if (r[-1].e->m == c->rows[row].e->m)
			return r - 1;
	return NULL;
}

static bool
goes_on(const struct chart *c, size_t row)
{
	size_t i;

	for (i = row + 1; i < c->n; i++)
		if (c->rows[i].e->m == c->rows[row].e->m)
			return c->rows[i].lane != c->rows[row].lane;
	return false;
}

/* From where it was last heard of; else only as far as is known. */
static void
message(struct idem_buf *out, const struct chart *c, size_t row)
{
	const struct chart_row *r = &c->rows[row], *b = before_it(c, row);
	struct arrow a;

	if (b != NULL && b->lane != CHART_NO_LANE && b->lane != r->lane) {
		a = (struct arrow){
			.class = b->e->kind == HISTORY_SEND ? "c" : "s",
			.from = { report_chart_x(c, b->lane), b->y },
			.to = { report_chart_x(c, r->lane), r->y },
			.rows = { (size_t)(b - c->rows), row },
			.fate = r->e->kind == HISTORY_RECV ? r->e->fate :
			    b->e->fate, .e = r->e
		};
		draw(out, &a);
	}
	if (r->e->kind != HISTORY_SEND || r->other == CHART_NO_LANE ||
	    goes_on(c, row))
		return;
	a = from_row(c, row, "c");
	a.fate = r->e->fate;
	draw(out, &a);
}

void
report_svg_arrows(struct idem_buf *out, const struct chart *c)
{
	const struct chart_row *r;
	size_t i;

	for (i = 0; i < c->n; i++) {
		r = &c->rows[i];
		if (r->lane == CHART_NO_LANE)
			continue;
		if (r->e->m > 0)
			message(out, c, i);
		if (r->other == CHART_NO_LANE || r->other == r->lane)
			continue;
		if (r->e->kind == HISTORY_INV)
			request(out, c, i);
		else if (r->e->kind == HISTORY_RET)
			reply(out, c, i);
		else if (r->e->kind == HISTORY_EFFECT)
			run(out, c, i);
	}
	idem_buf_u8(out, '\n');
}
