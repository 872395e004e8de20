/* SPDX-License-Identifier: ISC */
#include "report_below.h"

#include <inttypes.h>

#define TEXT_MAX 120u		/* characters of a value */

static const char *const kinds[HISTORY_KINDS] = {
	[HISTORY_INV] = "request", [HISTORY_RET] = "answer",
	[HISTORY_SEND] = "command", [HISTORY_RECV] = "reply",
	[HISTORY_LABEL] = "label", [HISTORY_STORE] = "store",
	[HISTORY_LEDGER] = "ledger", [HISTORY_EFFECT] = "program",
	[HISTORY_FAULT] = "fault", [HISTORY_HEAL] = "heal",
	[HISTORY_SPAWN] = "start", [HISTORY_EXIT] = "exit",
	[HISTORY_LOG] = "log", [HISTORY_NOTE] = "note", [HISTORY_END] = "end"
};

/* --- the list ------------------------------------------------------------- */

static void
put_lane(struct idem_buf *out, const struct chart *c,
    const struct chart_row *r)
{
	const struct chart_lane *l;

	if (r->lane == CHART_NO_LANE)
		return;
	l = &c->lanes[r->lane];
	report_text_html(out, l->name, 40);
	if (l->life > 1)
		idem_buf_printf(out, " life %d", l->life);
}

static void
put_gap(struct idem_buf *out, const struct chart_row *r)
{
	idem_buf_text(out, "<li class=\"gp\">\xe2\x8b\xae ");
	report_text_time(out, r->gap_ns);
	idem_buf_text(out, " later");
	if (r->left_out > 0)
		idem_buf_printf(out, ", %zu event%s not shown", r->left_out,
		    r->left_out == 1 ? "" : "s");
	idem_buf_text(out, "</li>\n");
}

static void
put_ms(struct idem_buf *out, int64_t ns)
{
	idem_buf_printf(out, "%" PRId64 ".%" PRId64, ns / 1000000,
	    ns / 100000 % 10);
}

static void
put_item(struct idem_buf *out, const struct chart *c, size_t row)
{
	const struct chart_row *r = &c->rows[row];
	const char *class = r->conflict > 0 ? " class=\"cf\"" :
	    r->e->kind == HISTORY_FAULT ? " class=\"xf\"" :
	    r->e->kind == HISTORY_HEAL ? " class=\"xh\"" : "";

	idem_buf_printf(out, "<li%s data-e=\"%zu\" data-i=\"%u\" data-t=\"%s\" "
	    "data-l=\"", class, row, (unsigned)r->e->i, kinds[r->e->kind]);
	put_lane(out, c, r);
	if (r->e->k != NULL) {
		idem_buf_text(out, "\" data-k=\"");
		report_text_html(out, r->e->k, 40);
	}
	idem_buf_printf(out, "\"><a href=\"#t%zu\" id=\"r%zu\"><span "
	    "class=\"n\">%u</span><span class=\"t\">", row, row,
	    (unsigned)r->e->i);
	put_ms(out, r->e->t_ns);
	idem_buf_text(out, "</span>");
	if (r->conflict > 0)
		idem_buf_printf(out, "<span class=\"num\">%u</span>",
		    r->conflict);
	else
		idem_buf_printf(out, "<svg width=\"16\" height=\"16\" "
		    "viewBox=\"-8 -8 16 16\" class=\"%s\"><use href=\"#%s\"/>"
		    "</svg>", report_svg_class(r->e), report_svg_shape(r->e));
	idem_buf_text(out, "<span class=\"w\">");
	report_svg_words(out, r->e, TEXT_MAX);
	idem_buf_text(out, "</span></a></li>\n");
}

void
report_below_list(struct idem_buf *out, const struct chart *c)
{
	size_t i;

	idem_buf_text(out, "<ol class=\"list\" aria-label=\"Events in their "
	    "order\">\n");
	for (i = 0; i < c->n; i++) {
		if (c->rows[i].gap_ns > 0)
			put_gap(out, &c->rows[i]);
		put_item(out, c, i);
	}
	idem_buf_text(out, "</ol>\n");
}

/* --- what was asked for --------------------------------------------------- */

static void
put_pair(struct idem_buf *out, const char *name, const char *value)
{
	if (value == NULL || *value == '\0')
		return;
	idem_buf_text(out, "<tr><th scope=\"row\">");
	report_text_html(out, name, 60);
	idem_buf_text(out, "</th><td>");
	report_text_html(out, value, TEXT_MAX);
	idem_buf_text(out, "</td></tr>\n");
}

static void
put_span(struct idem_buf *out, const char *name, int64_t ms)
{
	struct idem_buf time = { 0 };

	/* A history that was read may say anything. */
	if (ms <= 0 || ms > INT64_MAX / 1000000)
		return;
	report_text_time(&time, ms * 1000000);
	put_pair(out, name, report_buf_text(&time));
	idem_buf_free(&time);
}

static void
put_asked(struct idem_buf *out, const struct history_head *h)
{
	char number[24];
	size_t i;

	if (h->params_n > 0) {
		idem_buf_text(out, "<section><h2>Parameters</h2><table "
		    "class=\"asked\">\n");
		for (i = 0; i < h->params_n; i++)
			put_pair(out, h->params[i].name, h->params[i].value);
		idem_buf_text(out, "</table></section>\n");
	}
	idem_buf_text(out, "<section><h2>Configuration</h2><table "
	    "class=\"asked\">\n");
	snprintf(number, sizeof number, "%zu", h->gates);
	put_pair(out, "gates", h->gates > 0 ? number : NULL);
	put_pair(out, "arbiter", h->arbiter);
	put_pair(out, "of an unknown key", h->on_unknown);
	put_pair(out, "in an outage", h->on_outage);
	put_span(out, "lease", h->lease_ms);
	put_span(out, "grace", h->grace_ms);
	put_span(out, "wait", h->wait_ms);
	put_span(out, "limit of a run", h->limit_ms);
	put_pair(out, "plan", h->plan);
	idem_buf_text(out, "</table></section>\n");
}

/* --- what went wrong ------------------------------------------------------ */

static const char *
must_text(int must)
{
	return must == 1 ? "must happen" : must == 2 ? "may happen" :
	    "ends a fault";
}

/* Of what only ends another its events are all there is. */
static unsigned
times_of(const struct history *h, size_t i)
{
	const struct history_event *e;
	unsigned n = 0;

	for (e = h->events; e < h->events + h->n; e++)
		n += e->kind == HISTORY_HEAL && e->fault >= 0 &&
		    (size_t)e->fault == i;
	return n > h->head.faults[i].fired ? n : h->head.faults[i].fired;
}

static void
put_fault(struct idem_buf *out, const struct report_page *p, size_t i)
{
	const struct history_fault *f = &p->history->head.faults[i];
	const struct judge_point *point = p->point;

	idem_buf_text(out, "<tr><td>");
	report_text_html(out, f->text, TEXT_MAX);
	idem_buf_printf(out, "</td><td>%s</td><td class=\"r\">%u</td>",
	    must_text(f->must), times_of(p->history, i));
	if (point != NULL && point->fired != NULL && point->plan != NULL &&
	    i < point->plan->actions_n)
		idem_buf_printf(out, "<td class=\"r\">%u</td>",
		    point->fired[i]);
	idem_buf_text(out, "</tr>\n");
}

static void
put_faults(struct idem_buf *out, const struct report_page *p)
{
	size_t i;

	if (p->history->head.faults_n == 0)
		return;
	idem_buf_text(out, "<section class=\"page\"><h2>Faults</h2><table "
	    "class=\"faults\"><tr><th scope=\"col\">what</th><th scope=\"col\">"
	    "</th><th scope=\"col\">in this run</th>");
	if (p->point != NULL && p->point->fired != NULL)
		idem_buf_text(out, "<th scope=\"col\">in all</th>");
	idem_buf_text(out, "</tr>\n");
	for (i = 0; i < p->history->head.faults_n; i++)
		put_fault(out, p, i);
	idem_buf_text(out, "</table></section>\n");
}

static void
put_sometimes(struct idem_buf *out, const struct judge_point *p)
{
	size_t i;

	if (p == NULL || p->plan == NULL || p->sometimes == NULL ||
	    p->plan->expect.sometimes_n == 0)
		return;
	idem_buf_text(out, "<section><h2>Sometimes</h2><p>Each of them must "
	    "be true of at least one run.</p><table>\n");
	for (i = 0; i < p->plan->expect.sometimes_n; i++)
		put_pair(out, p->plan->expect.sometimes[i],
		    p->sometimes[i] ? "\xe2\x9c\x93 it was" :
		    "\xe2\x9c\x97 it never was");
	idem_buf_text(out, "</table></section>\n");
}

/* --- what had to hold ----------------------------------------------------- */

static void
put_promise(struct idem_buf *out, const struct history_head *h,
    enum plan_invariant i)
{
	idem_buf_printf(out, "<tr><td><code>%s</code></td><td>",
	    plan_invariant_text(i));
	report_text_html(out, check_promise(i), 0);
	idem_buf_text(out, "</td><td>");
	if (h->violates[i])
		idem_buf_text(out, "had to be violated. ");
	if (h->relaxed[i] != NULL) {
		idem_buf_text(out, "need not hold: ");
		report_text_html(out, h->relaxed[i], TEXT_MAX);
		idem_buf_text(out, ". ");
	}
	report_text_html(out, check_definition(i), 0);
	idem_buf_text(out, "</td></tr>\n");
}

static void
put_promises(struct idem_buf *out, const struct history_head *h)
{
	size_t i, n = 0;

	for (i = 0; i < PLAN_INVARIANTS; i++)
		n += h->holds[i] || h->violates[i] || h->relaxed[i] != NULL;
	if (n == 0)
		return;
	idem_buf_text(out, "<section class=\"page\"><h2>What had to hold</h2>"
	    "<table><tr><th scope=\"col\">invariant</th><th scope=\"col\">"
	    "promise</th><th scope=\"col\">what it says</th></tr>\n");
	for (i = 0; i < PLAN_INVARIANTS; i++)
		if (h->holds[i] || h->violates[i] || h->relaxed[i] != NULL)
			put_promise(out, h, (enum plan_invariant)i);
	idem_buf_text(out, "</table></section>\n");
}

/* --- the events as a table ------------------------------------------------ */

static void
put_table_row(struct idem_buf *out, const struct chart *c, size_t row)
{
	const struct chart_row *r = &c->rows[row];

	idem_buf_printf(out, "<tr id=\"t%zu\"%s><td class=\"r\"><a href="
	    "\"#r%zu\">%u</a><td class=\"r\">", row, r->conflict > 0 ?
	    " class=\"cf\"" : r->e->kind == HISTORY_FAULT ?
	    " class=\"xf\"" : "", row, (unsigned)r->e->i);
	put_ms(out, r->e->t_ns);
	idem_buf_text(out, "<td>");
	put_lane(out, c, r);
	idem_buf_printf(out, "<td>%s<td>", kinds[r->e->kind]);
	report_text_html(out, r->e->k, 24);
	idem_buf_text(out, "<td>");
	if (r->e->a > 0)
		idem_buf_printf(out, "%d", r->e->a);
	idem_buf_text(out, "<td>");
	report_svg_words(out, r->e, TEXT_MAX);
	idem_buf_u8(out, '\n');
}

static void
put_table(struct idem_buf *out, const struct chart *c)
{
	size_t i;

	idem_buf_text(out, "<section class=\"page\"><h2>The events as a table"
	    "</h2><table id=\"table\"><thead><tr><th scope=\"col\">#</th>"
	    "<th scope=\"col\">ms</th><th scope=\"col\">lane</th>"
	    "<th scope=\"col\">kind</th><th scope=\"col\">key</th>"
	    "<th scope=\"col\">try</th><th scope=\"col\">what happened</th>"
	    "</tr></thead><tbody>\n");
	for (i = 0; i < c->n; i++)
		put_table_row(out, c, i);
	idem_buf_text(out, "</tbody></table></section>\n");
}

void
report_below(struct idem_buf *out, const struct report_page *p,
    const struct chart *c)
{
	if (p->again != NULL) {
		idem_buf_text(out, "<section class=\"page\"><h2>Again</h2>"
		    "<pre>");
		report_text_html(out, p->again, 2000);
		idem_buf_text(out, "</pre></section>\n");
	}
	put_faults(out, p);
	idem_buf_text(out, "<div class=\"page two\">\n");
	put_sometimes(out, p->point);
	put_asked(out, &p->history->head);
	idem_buf_text(out, "</div>\n");
	put_promises(out, &p->history->head);
	put_table(out, c);
}
