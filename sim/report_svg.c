/* SPDX-License-Identifier: ISC */
#include "report_private.h"
#include "report_svg.h"

#define NAME_SHOWN 13u		/* characters of a lane's name */
#define DOWN_HALF 8		/* a dead lane's breadth */
#define RULE_AFTER 40		/* below the names of a group's last lane */

/* --- heads ---------------------------------------------------------------- */

static const char *const groups[CHART_KINDS] = {
	[CHART_CLIENT] = "clients", [CHART_GATE] = "gates",
	[CHART_STORE] = "stores", [CHART_LEDGER] = "ledger",
	[CHART_LEASE] = "leases", [CHART_PROGRAM] = "programs"
};

static void
head(struct idem_buf *out, const struct chart_column *column)
{
	const struct chart_lane *l = column->lane;

	if (column->shared)
		return;
	idem_buf_printf(out, "<text class=\"ln\" x=\"%d\" y=\"%d\">",
	    column->x, l->life > 1 ? 34 : 40);
	report_text_html(out, l->name, NAME_SHOWN);
	idem_buf_text(out, "<title>");
	report_text_html(out, l->name, 80);
	idem_buf_text(out, "</title></text>");
	if (l->life > 1)
		idem_buf_printf(out, "<text class=\"ll\" x=\"%d\" y=\"48\">"
		    "life %d</text>", column->x, l->life);
}

static void
group(struct idem_buf *out, const struct chart *c, size_t from, size_t to)
{
	idem_buf_printf(out, "<text class=\"lg\" x=\"%d\" y=\"14\">%s</text>"
	    "<path class=\"lr\" d=\"M%d 20H%d\"/>", c->columns[from].x - 40,
	    groups[c->columns[from].kind], c->columns[from].x - 40,
	    c->columns[to].x + RULE_AFTER);
}

void
report_svg_heads(struct idem_buf *out, const struct chart *c)
{
	size_t from = 0, i;

	idem_buf_printf(out, "<svg width=\"%d\" height=\"%d\" role=\"img\" "
	    "aria-label=\"Names of the lanes\">", c->width, CHART_HEAD);
	for (i = 0; i < c->columns_n; i++) {
		if (i + 1 == c->columns_n ||
		    c->columns[i + 1].kind != c->columns[from].kind) {
			group(out, c, from, i);
			from = i + 1;
		}
		head(out, &c->columns[i]);
	}
	idem_buf_text(out, "</svg>\n");
}

/* --- lanes ---------------------------------------------------------------- */

/* From y to y, but dotted where time was left out. */
static void
life_line(struct idem_buf *out, const struct chart *c, int x, int from, int to)
{
	const struct chart_row *r;
	int gap;

	idem_buf_printf(out, "<path class=\"lane\" d=\"M%d %d", x, from);
	for (r = c->rows; r < c->rows + c->n; r++) {
		gap = r->y - CHART_ROW / 2 - CHART_GAP;
		if (r->gap_ns > 0 && gap >= from && gap + CHART_GAP <= to)
			idem_buf_printf(out, "V%dm0 %d", gap + 3,
			    CHART_GAP - 6);
	}
	idem_buf_printf(out, "V%d\"/>", to);
}

/* A life ends where the next one begins: there, or with its last sign. */
static int
end_of(const struct chart *c, size_t at)
{
	const struct chart_lane *l = &c->lanes[at];
	int to = report_chart_foot(c);
	size_t i;

	for (i = 0; i < c->downs_n; i++)
		if (l->kind == CHART_GATE && c->downs[i].lane == (int)at &&
		    !c->downs[i].paused && c->downs[i].to < c->n)
			to = c->rows[c->downs[i].to].y;
	return to > c->rows[l->last].y ? to : c->rows[l->last].y;
}

static void
lane(struct idem_buf *out, const struct chart *c, size_t at)
{
	const struct chart_lane *l = &c->lanes[at];
	bool shared = c->columns[l->column].shared;
	int from = shared ? c->rows[l->first].y : 0;
	int to = shared ? c->rows[l->last].y : end_of(c, at);

	/* Of a later life, where it begins. */
	if (l->life > 1)
		from = c->rows[l->first].y;
	life_line(out, c, report_chart_x(c, (int)at), from, to);
}

static void
gaps(struct idem_buf *out, const struct chart *c)
{
	const struct chart_row *r;
	int y;

	for (r = c->rows; r < c->rows + c->n; r++) {
		if (r->gap_ns == 0)
			continue;
		y = r->y - CHART_ROW / 2 - CHART_GAP;
		idem_buf_printf(out, "<path class=\"gap\" d=\"M0 %dH%dM0 %dH%d"
		    "\"/>", y + 4, c->width, y + CHART_GAP - 4, c->width);
	}
}

static void
down(struct idem_buf *out, const struct chart *c, const struct chart_down *d)
{
	int x = report_chart_x(c, d->lane), from = c->rows[d->from].y;
	int to = d->to < c->n ? c->rows[d->to].y : report_chart_foot(c);

	idem_buf_printf(out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width="
	    "\"%d\" height=\"%d\" rx=\"3\"><title>",
	    d->paused ? "paused" : "dead", x - DOWN_HALF, from, 2 * DOWN_HALF,
	    to - from);
	report_text_html(out, c->lanes[d->lane].name, 80);
	idem_buf_printf(out, " is %s</title></rect>", d->paused ? "paused" :
	    "dead");
}

/* Of a fault, of its end, of a conflict: over all lanes. */
static void
band(struct idem_buf *out, const struct chart *c, size_t row)
{
	const struct chart_row *r = &c->rows[row];
	int top = r->y - CHART_ROW / 2 + 1, foot = top + CHART_ROW - 2;
	bool heals = r->e->kind == HISTORY_HEAL;

	if (r->conflict > 0)
		idem_buf_printf(out, "<rect data-e=\"%zu\" class=\"cb\" "
		    "x=\"0\" y=\"%d\" width=\"%d\" height=\"%d\"/>", row, top,
		    c->width, foot - top);
	if (r->e->kind != HISTORY_FAULT && !heals)
		return;
	idem_buf_printf(out, "<g data-e=\"%zu\" class=\"band %s\"><rect "
	    "x=\"0\" y=\"%d\" width=\"%d\" height=\"%d\"/>"
	    "<path d=\"M0 %dh%dM0 %dh%d\"/></g>", row, heals ? "h" : "f", top,
	    c->width, foot - top, top, c->width, foot, c->width);
}

static void
put_lanes(struct idem_buf *out, const struct chart *c)
{
	size_t i;

	for (i = 0; i < c->lanes_n; i++)
		lane(out, c, i);
	gaps(out, c);
	for (i = 0; i < c->n; i++)
		band(out, c, i);
	report_svg_rows(out, c);
	for (i = 0; i < c->downs_n; i++)
		down(out, c, &c->downs[i]);
	idem_buf_u8(out, '\n');
}

/* --- all of it ------------------------------------------------------------ */

void
report_svg(struct idem_buf *out, const struct chart *c)
{
	idem_buf_printf(out, "<svg id=\"pic\" width=\"%d\" height=\"%d\" "
	    "role=\"img\" aria-label=\"Space-time diagram: %zu events on %zu "
	    "lanes. The list beside it and the table below say the same in "
	    "words.\">\n", c->width, c->height, c->n, c->lanes_n);
	put_lanes(out, c);
	report_svg_leases(out, c);
	report_svg_spans(out, c);
	report_svg_arrows(out, c);
	report_svg_marks(out, c);
	idem_buf_text(out, "</svg>\n");
}
