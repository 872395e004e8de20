/* SPDX-License-Identifier: ISC */
#include "report_private.h"
#include "report_svg.h"

#define HOOK 7			/* of a bracket's ends */
#define TICK 4			/* where it was renewed */
#define ASIDE 11		/* of its labels */

static const struct {
	const char *words;	/* behind "the lease of k1, which g1 had," */
	const char *label;	/* or NULL */
	const char *mark;	/* or NULL: a hook */
} ends[CHART_LEASE_ENDS] = {
	[CHART_LEASE_OPEN] = { "goes on", NULL, NULL },
	[CHART_LEASE_COMPLETED] = { "ended with its answer", NULL, NULL },
	[CHART_LEASE_RAN] = { "ended with its program", NULL, NULL },
	[CHART_LEASE_RELEASED] = { "was given back", "released", NULL },
	[CHART_LEASE_UNKNOWN] = { "ended: how its run did is not known",
	    "unknown", NULL },
	[CHART_LEASE_EXPIRED] = { "expired", "expired", "mv" },
	[CHART_LEASE_TAKEN] = { "was given to another before its time",
	    NULL, "mx" },
	[CHART_LEASE_FORGOTTEN] = { "was forgotten by the server",
	    "forgotten", "mx" },
	[CHART_LEASE_DIED] = { "ended with its instance", "died", "mx" }
};

static void
put_rows(struct idem_buf *out, const struct chart *c,
    const struct chart_lease *l)
{
	const char *before = "";
	size_t i, row;
	uint32_t of;

	for (i = 0; i < l->renewed_n + 2; i++) {
		of = i == 0 ? l->from : i <= l->renewed_n ?
		    l->renewed[i - 1] : l->to;
		row = of > 0 ? report_chart_row_of(c, of) : c->n;
		if (row == c->n || c->rows[row].e->i != of)
			continue;
		idem_buf_printf(out, "%s%zu", before, row);
		before = " ";
	}
	/* Its end is nobody's event: it goes with the one before. */
	if (*before == '\0')
		idem_buf_printf(out, "%zu", l->first);
}

static void
put_title(struct idem_buf *out, const struct chart_lease *l)
{
	idem_buf_text(out, "<title>the lease of ");
	report_text_html(out, l->key, 40);
	if (l->gate != NULL) {
		idem_buf_text(out, ", which ");
		report_text_html(out, l->gate, 40);
		idem_buf_text(out, " had,");
	}
	idem_buf_text(out, " began at ");
	report_text_time(out, l->from_ns);
	if (l->renewed_n > 0)
		idem_buf_printf(out, ", was renewed %zu time%s",
		    l->renewed_n, l->renewed_n == 1 ? "" : "s");
	idem_buf_printf(out, " and %s", ends[l->end].words);
	if (l->end != CHART_LEASE_OPEN) {
		idem_buf_text(out, " at ");
		report_text_time(out, l->end_ns);
	}
	idem_buf_text(out, "</title>");
}

static void
put_label(struct idem_buf *out, const struct chart *c, int x, int y,
    const char *key, const char *text)
{
	struct idem_buf both = { 0 };

	if (key != NULL)
		idem_buf_printf(&both, "%s ", key);
	idem_buf_text(&both, text);
	idem_buf_printf(out, "<text x=\"%d\" y=\"%d\">", x + ASIDE, y + 4);
	report_text_html(out, report_buf_text(&both), (size_t)((
	    c->column_width - 2 * ASIDE) / REPORT_SVG_CHARACTER));
	idem_buf_text(out, "</text>");
	idem_buf_free(&both);
}

static void
draw(struct idem_buf *out, const struct chart *c, const struct chart_lease *l)
{
	int x = report_chart_x(c, l->lane), y;
	bool hook = ends[l->end].mark == NULL && l->end != CHART_LEASE_OPEN;
	size_t i, row;

	idem_buf_text(out, "<g data-any class=\"le\" data-e=\"");
	put_rows(out, c, l);
	idem_buf_text(out, "\">");
	put_title(out, l);
	idem_buf_printf(out, "<path d=\"M%d %dH%dV%d", x + HOOK, l->y, x,
	    l->foot);
	if (hook)
		idem_buf_printf(out, "H%d", x + HOOK);
	for (i = 0; i < l->renewed_n; i++) {
		row = report_chart_row_of(c, l->renewed[i]);
		y = row < c->n && c->rows[row].e->i == l->renewed[i] ?
		    c->rows[row].y : 0;
		if (y > l->y && y < l->foot)
			idem_buf_printf(out, "M%d %dh%d", x - TICK, y,
			    2 * TICK);
	}
	idem_buf_text(out, "\"/>");
	if (ends[l->end].mark != NULL)
		idem_buf_printf(out, "<use href=\"#%s\" class=\"ff\" x=\"%d\""
		    " y=\"%d\"/>", ends[l->end].mark, x, l->foot);
	put_label(out, c, x, l->y, l->key, l->gate != NULL ? l->gate : "?");
	if (ends[l->end].label != NULL)
		put_label(out, c, x, l->foot, NULL, ends[l->end].label);
	idem_buf_text(out, "</g>");
}

void
report_svg_leases(struct idem_buf *out, const struct chart *c)
{
	size_t i;

	for (i = 0; i < c->leases_n; i++)
		draw(out, c, &c->leases[i]);
	idem_buf_u8(out, '\n');
}
