/* SPDX-License-Identifier: ISC */
#include "report_private.h"
#include "report_svg.h"

#include <string.h>

#define ASIDE 11
#define MARK 7			/* half of the largest */
#define RING 11			/* around one of a conflict */
#define EDGE 6

/* --- what it looks like --------------------------------------------------- */

static const char *
shape_of_outcome(enum outcome class)
{
	static const char *const shapes[OUTCOMES] = {
		[OUTCOME_NONE] = "mn", [OUTCOME_OK] = "mo",
		[OUTCOME_FAIL] = "mf", [OUTCOME_BUSY] = "mb",
		[OUTCOME_UNKNOWN] = "mu", [OUTCOME_INFO] = "mn"
	};

	return shapes[class];
}

static const char *
shape_of_phase(const char *phase)
{
	if (phase == NULL || strcmp(phase, "begin") == 0)
		return "me";
	return strcmp(phase, "commit") == 0 ? "mc" : "mz";
}

static const struct {
	const char *shape, *class;
} looks[HISTORY_KINDS] = {
	[HISTORY_INV] = { "mi", "fq" },
	[HISTORY_RET] = { "mo", "fr" },
	[HISTORY_SEND] = { "mm", "fc" },
	[HISTORY_RECV] = { "mm", "fs" },
	[HISTORY_LABEL] = { "ml", "fn" },
	[HISTORY_STORE] = { "ms", "fs" },
	[HISTORY_LEDGER] = { "mw", "fs" },
	[HISTORY_EFFECT] = { "me", "fu" },
	[HISTORY_FAULT] = { "mt", "ff" },
	[HISTORY_HEAL] = { "mg", "fh" },
	[HISTORY_SPAWN] = { "mp", "fh" },
	[HISTORY_EXIT] = { "mk", "ff" },
	[HISTORY_LOG] = { "my", "fn" },
	[HISTORY_NOTE] = { "my", "fn" },
	[HISTORY_END] = { "mz", "fn" }
};

/* No server says so: it is when it was. */
static bool
is_expiry(const struct history_event *e)
{
	return e->note != NULL && strcmp(e->note, "lease_expired_running") == 0;
}

const char *
report_svg_shape(const struct history_event *e)
{
	return is_expiry(e) ? "mv" :
	    e->kind == HISTORY_RET ? shape_of_outcome(e->class) :
	    e->kind == HISTORY_EFFECT ? shape_of_phase(e->ph) :
	    looks[e->kind].shape;
}

const char *
report_svg_class(const struct history_event *e)
{
	return is_expiry(e) ? "ff" : looks[e->kind].class;
}

/* --- what it says --------------------------------------------------------- */

static const char *
first(const char *a, const char *b)
{
	return a != NULL && *a != '\0' ? a : b != NULL ? b : "";
}

/* Of some kinds the diagram says more briefly what they are. */
static const char *
words_of(const struct history_event *e, char *out, size_t size)
{
	bool from = e->source != NULL && strcmp(e->source, "none") != 0;

	if ((e->kind == HISTORY_FAULT || e->kind == HISTORY_HEAL) &&
	    e->what != NULL)
		return e->what;
	if (e->kind == HISTORY_END)
		return "the end of the run";
	if (is_expiry(e))
		snprintf(out, size, "the lease of %s expires, its program "
		    "runs on", first(e->k, "a key"));
	else if (e->note != NULL && strcmp(e->note, "lost_ack") == 0)
		snprintf(out, size, "%s has lost what it acknowledged of %s",
		    e->p, first(e->k, "a key"));
	else if (e->kind == HISTORY_LABEL)
		snprintf(out, size, "%s is at %s%s%s", e->p, e->label != NULL ?
		    e->label : "a label", e->k != NULL ? " of " : "",
		    e->k != NULL ? e->k : "");
	else if (e->kind == HISTORY_LOG)
		snprintf(out, size, "%s logs: %s %s%s%s%s", e->p, e->k != NULL ?
		    e->k : "", first(e->mark, first(e->what, "a line")),
		    from ? " (" : "", from ? e->source : "", from ? ")" : "");
	else if (e->kind == HISTORY_SPAWN && e->life > 1)
		snprintf(out, size, "%s starts, life %d", e->p, e->life);
	else if (e->kind == HISTORY_SPAWN)
		snprintf(out, size, "%s starts", e->p);
	else
		history_event_text(e, out, size);
	return out;
}

/* "->" of a text is drawn as an arrow. */
void
report_svg_words(struct idem_buf *out, const struct history_event *e,
    size_t max)
{
	struct idem_buf html = { 0 };
	char words[500];
	const char *at;

	report_text_html(&html, words_of(e, words, sizeof words), max);
	for (at = report_buf_text(&html); *at != '\0'; at++)
		if (strncmp(at, " -&#62; ", 8) == 0) {
			idem_buf_text(out, " \xe2\x86\x92 ");
			at += 7;
		} else if (strncmp(at, " &#60;- ", 8) == 0) {
			idem_buf_text(out, " \xe2\x86\x90 ");
			at += 7;
		} else
			idem_buf_u8(out, (uint8_t)*at);
	idem_buf_free(&html);
}

static void
label_of_end(struct idem_buf *out, const struct history_event *e)
{
	if (e->how != OUTCOME_WHOLE)
		idem_buf_text(out, e->why != NULL && *e->why != '\0' &&
		    e->how == OUTCOME_CUT ? e->why :
		    outcome_end_text(e->how));
	else if (e->mark != NULL && *e->mark != '\0')
		idem_buf_text(out, e->mark);
	else
		idem_buf_printf(out, "%d", e->status);
}

static void
label_of(struct idem_buf *out, const struct history_event *e)
{
	switch (e->kind) {
	case HISTORY_INV:
		idem_buf_text(out, first(e->k, "no key"));
		break;
	case HISTORY_RET:
		label_of_end(out, e);
		break;
	case HISTORY_SEND:
		idem_buf_text(out, first(e->script, e->cmd));
		break;
	case HISTORY_RECV:
		idem_buf_text(out, first(e->fate, ""));
		break;
	case HISTORY_LABEL:
		idem_buf_text(out, first(e->label, ""));
		break;
	case HISTORY_STORE:
	case HISTORY_LEDGER:
		idem_buf_text(out, is_expiry(e) ? "lease over" :
		    first(e->what, first(e->code, first(e->cmd, e->note))));
		break;
	case HISTORY_EFFECT:
		idem_buf_printf(out, "%s %s", first(e->id, ""),
		    first(e->ph, ""));
		break;
	case HISTORY_SPAWN:
		idem_buf_text(out, "starts");
		break;
	case HISTORY_EXIT:
		idem_buf_text(out, first(e->why, first(e->what, "ends")));
		break;
	case HISTORY_LOG:
		idem_buf_text(out, first(e->mark, first(e->what, "")));
		break;
	case HISTORY_FAULT:
	case HISTORY_HEAL:
	case HISTORY_NOTE:
		idem_buf_text(out, first(e->what, history_kind_text(e->kind)));
		break;
	case HISTORY_END:
		idem_buf_text(out, "end");
		break;
	case HISTORY_KINDS:
		break;
	}
}

/* Bands have room for all of it, others for the way to the next lane. */
static bool
is_wide(const struct history_event *e)
{
	return e->kind == HISTORY_FAULT || e->kind == HISTORY_HEAL ||
	    strcmp(e->p, "-") == 0;
}

/*
 * On the side where no arrow is: of what goes to the right that is the left.  A
 * wide one goes where there is more room.
 */
static bool
stands_left(const struct chart *c, const struct chart_row *r, size_t len)
{
	int x = r->lane != CHART_NO_LANE ? report_chart_x(c, r->lane) : 0;
	int to = r->other != CHART_NO_LANE ? report_chart_x(c, r->other) : 0;

	switch (r->e->kind) {
	case HISTORY_INV:
	case HISTORY_RET:
	case HISTORY_SEND:
	case HISTORY_RECV:
		return r->lane != CHART_NO_LANE;
	case HISTORY_EFFECT:
		return to > x;
	case HISTORY_FAULT:
	case HISTORY_HEAL:
		return x + ASIDE + (int)((double)len * REPORT_SVG_CHARACTER) >
		    c->width && x > c->width / 2;
	case HISTORY_LABEL:
	case HISTORY_STORE:
	case HISTORY_LEDGER:
	case HISTORY_SPAWN:
	case HISTORY_EXIT:
	case HISTORY_LOG:
	case HISTORY_NOTE:
	case HISTORY_END:
	case HISTORY_KINDS:
		return false;
	}
	return false;
}

static void
label(struct idem_buf *out, const struct chart *c, const struct chart_row *r)
{
	int x = r->lane != CHART_NO_LANE ? report_chart_x(c, r->lane) : EDGE;
	int aside = r->conflict > 0 ? ASIDE + RING - MARK : ASIDE;
	int room = r->e->kind == HISTORY_LABEL ? c->column_width + ASIDE :
	    c->column_width - 2 * ASIDE;	/* up to the next lane, or
						   across it */
	size_t max = is_wide(r->e) ? 80 : (size_t)(room / REPORT_SVG_CHARACTER);
	struct idem_buf text = { 0 }, cut = { 0 };
	bool left;

	/* A lane that shares a column has its name nowhere else. */
	if (r->e->kind == HISTORY_INV && r->lane != CHART_NO_LANE &&
	    c->columns[c->lanes[r->lane].column].shared)
		idem_buf_printf(&text, "%s ", r->e->p);
	label_of(&text, r->e);
	report_text(&cut, report_buf_text(&text), max);
	idem_buf_clear(&text);
	left = stands_left(c, r, report_text_columns(report_buf_text(&cut)));
	if (cut.len > 0) {
		idem_buf_printf(out, "<text%s x=\"%d\" y=\"%d\">",
		    left ? " class=\"al\"" : is_wide(r->e) ?
		    " class=\"bl\"" : "", left ? x - aside : x + aside +
		    r->aside, r->y + 4);
		report_text_html(out, report_buf_text(&cut), 0);
		idem_buf_text(out, "</text>");
	}
	idem_buf_free(&text);
	idem_buf_free(&cut);
}

/* --- a row ---------------------------------------------------------------- */

/* The number of a conflict stands in the margin, and its mark has a ring. */
static void
conflict(struct idem_buf *out, const struct chart_row *r, int x)
{
	idem_buf_printf(out, "<circle class=\"ring\" cx=\"%d\" cy=\"%d\" "
	    "r=\"%d\"/><g class=\"cn\"><circle cx=\"%d\" cy=\"%d\" r=\"9\"/>"
	    "<text x=\"%d\" y=\"%d\">%u</text></g>", x, r->y, RING, EDGE + 8,
	    r->y, EDGE + 8, r->y + 4, r->conflict);
}

static void
mark(struct idem_buf *out, const struct chart *c, size_t row)
{
	const struct chart_row *r = &c->rows[row];
	int x = r->lane != CHART_NO_LANE ? report_chart_x(c, r->lane) +
	    r->aside : EDGE + 8;

	idem_buf_printf(out, "<g class=\"m%s\" data-e=\"%zu\"><title>",
	    r->conflict > 0 ? " cf" : "", row);
	report_svg_words(out, r->e, 160);
	idem_buf_text(out, "</title>");
	if (r->lane != CHART_NO_LANE)
		idem_buf_printf(out, "<use href=\"#%s\" class=\"%s\" x=\"%d\" "
		    "y=\"%d\"/>", report_svg_shape(r->e),
		    report_svg_class(r->e), x, r->y);
	label(out, c, r);
	if (r->conflict > 0)
		conflict(out, r, x);
	idem_buf_text(out, "</g>\n");
}

/* Below all that has words of its own, or the pointer would not get at it. */
void
report_svg_rows(struct idem_buf *out, const struct chart *c)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		idem_buf_printf(out, "<g class=\"e\" data-e=\"%zu\"><rect "
		    "y=\"%d\" width=\"%d\" height=\"%d\"/></g>\n", i,
		    c->rows[i].y - CHART_ROW / 2, c->width, CHART_ROW);
}

void
report_svg_marks(struct idem_buf *out, const struct chart *c)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		mark(out, c, i);
}
