/* SPDX-License-Identifier: ISC */
#include "report_below.h"
#include "report_private.h"
#include "report_style.h"
#include "report_svg.h"

#include <inttypes.h>

#define EVENTS_MAX 400u		/* more are not read by anybody */
#define EVENTS_MIN 20u
#define COLUMNS_MAX 36u
#define SIZE_MAX_BYTES (490u * 1000u)
#define WORDS_MAX 120u		/* characters of an event */
#define NAME_MAX_SHOWN 200u	/* of a title */

static void
put_all(struct idem_buf *out, const char *const *texts)
{
	for (; *texts != NULL; texts++)
		idem_buf_text(out, *texts);
}

/* --- what it is about ----------------------------------------------------- */

static void
put_eyebrow(struct idem_buf *out, const struct history_head *head)
{
	idem_buf_text(out, "<p class=\"eyebrow\">");
	report_text_html(out, head->tool != NULL ? head->tool : "idemsim", 60);
	if (head->mode != NULL) {
		idem_buf_text(out, " \xc2\xb7 ");
		report_text_html(out, head->mode, 20);
	}
	idem_buf_printf(out, " \xc2\xb7 run %u \xc2\xb7 seed 0x%" PRIx64,
	    head->run, head->seed);
	if (head->file != NULL) {
		idem_buf_text(out, " \xc2\xb7 ");
		report_text_html(out, head->file, NAME_MAX_SHOWN);
	}
	idem_buf_text(out, "</p>\n");
}

static void
put_title(struct idem_buf *out, const struct report_page *p)
{
	struct idem_buf title = { 0 };

	report_say_title(&title, p->point != NULL ? p->point->plan : NULL,
	    p->history);
	report_text_html(out, report_buf_text(&title), NAME_MAX_SHOWN);
	idem_buf_free(&title);
}

static void
put_tag(struct idem_buf *out, const char *class, const char *tag)
{
	idem_buf_printf(out, "<p class=\"verdict %s\"><span class=\"tag\">%s"
	    "</span><span>", class, tag);
}

static void
put_verdict(struct idem_buf *out, const struct judge_run *run)
{
	switch (run->verdict) {
	case JUDGE_PASS:
		put_tag(out, "good", "\xe2\x9c\x93 pass");
		idem_buf_text(out, run->controlled ?
		    "the violation that had to be" : "all of it holds");
		break;
	case JUDGE_FAIL:
		put_tag(out, "bad", "\xe2\x9c\x97 fail");
		if (report_say_finding(run) != NULL)
			idem_buf_printf(out, "<code>%s</code> is violated",
			    plan_invariant_text(run->finding.invariant));
		else
			idem_buf_text(out, "it is not as it had to be");
		break;
	case JUDGE_INCONCLUSIVE:
		put_tag(out, "open", "? inconclusive");
		idem_buf_text(out, "this run says neither yes nor no");
		break;
	case JUDGE_VACUOUS:
		put_tag(out, "open", "\xe2\x88\x85 vacuous");
		idem_buf_text(out, "what was to happen did not");
		break;
	case JUDGE_SKIP:
	case JUDGE_VERDICTS:
		put_tag(out, "open", "\xe2\x80\x93 skipped");
		break;
	}
	idem_buf_text(out, "</span></p>\n");
}

static void
put_message(struct idem_buf *out, const struct report_page *p)
{
	const struct check_finding *f = report_say_finding(p->run);
	const char *message = f != NULL && f->message[0] != '\0' ?
	    f->message : p->run->message;

	if (*message == '\0' && p->point != NULL)
		message = p->point->message;
	if (*message == '\0')
		return;
	idem_buf_text(out, "<p class=\"message\">");
	report_text_html(out, message, CHECK_WORDS);
	if (f != NULL && f->key != NULL) {
		idem_buf_text(out, " \xe2\x80\x94 key <code>");
		report_text_html(out, f->key, 60);
		idem_buf_text(out, "</code>");
	}
	if (f != NULL && f->blames != NULL) {
		idem_buf_text(out, ", and who is to blame is the ");
		report_text_html(out, f->blames, 60);
	}
	idem_buf_text(out, "</p>\n");
}

static void
put_conflict(struct idem_buf *out, const struct chart *c)
{
	const struct chart_row *r;
	unsigned n;

	idem_buf_text(out, "<ol class=\"conflict\">\n");
	for (n = 1; n <= CHECK_EVENTS; n++)
		for (r = c->rows; r < c->rows + c->n; r++) {
			if (r->conflict != n)
				continue;
			idem_buf_printf(out, "<li><a href=\"#r%zu\"><span "
			    "class=\"num\">%u</span><time>", (size_t)(r -
			    c->rows), n);
			report_text_time(out, r->e->t_ns);
			idem_buf_text(out, "</time><span>");
			report_svg_words(out, r->e, WORDS_MAX);
			idem_buf_text(out, "</span></a></li>\n");
		}
	idem_buf_text(out, "</ol>\n");
}

static void
put_definition(struct idem_buf *out, const struct check_finding *f)
{
	idem_buf_printf(out, "<p class=\"rule\"><b>%s</b>: ",
	    plan_invariant_text(f->invariant));
	report_text_html(out, check_definition(f->invariant), 0);
	idem_buf_text(out, " It is of the promise <b>");
	report_text_html(out, check_promise(f->invariant), 0);
	idem_buf_text(out, "</b>.</p>\n");
}

static void
put_head(struct idem_buf *out, const struct report_page *p,
    const struct chart *c)
{
	const struct check_finding *f = report_say_finding(p->run);

	idem_buf_text(out, "<header class=\"page\">\n");
	put_eyebrow(out, &p->history->head);
	idem_buf_text(out, "<h1>");
	put_title(out, p);
	idem_buf_text(out, "</h1>\n");
	if (p->run != NULL) {
		put_verdict(out, p->run);
		put_message(out, p);
	}
	if (f != NULL) {
		put_conflict(out, c);
		put_definition(out, f);
	}
	idem_buf_text(out, "</header>\n");
}

/* --- the diagram ---------------------------------------------------------- */

static void
put_tools(struct idem_buf *out, const struct chart *c)
{
	static const struct {
		const char *id, *name;
	} filters[] = {
		{ "by-key", "Key" }, { "by-lane", "Lane" },
		{ "by-kind", "Kind" }
	};
	size_t i;

	idem_buf_printf(out, "<div class=\"page\"><h2>What happened</h2>\n"
	    "<p>%zu events", c->n);
	if (c->pick.left_out > 0)
		idem_buf_printf(out, " of %zu: %sthe faults, and "
		    "what is nearest to them. %zu are left out; "
		    "<code>history.txt</code> has all of them", c->h->n,
		    c->conflict ? "the conflict, " : "", c->pick.left_out);
	idem_buf_text(out, ".");
	if (c->leases_left > 0)
		idem_buf_printf(out, " %zu lease%s not drawn.",
		    c->leases_left, c->leases_left == 1 ? " is" : "s are");
	idem_buf_text(out, "</p>\n");
	put_all(out, report_legend);
	idem_buf_text(out, "<div id=\"tools\" hidden>");
	for (i = 0; i < sizeof filters / sizeof *filters; i++)
		idem_buf_printf(out, "<label>%s <select id=\"%s\"><option "
		    "value=\"\">all</option></select></label>",
		    filters[i].name, filters[i].id);
	idem_buf_text(out, "<button id=\"all\" type=\"button\">Show all"
	    "</button><span id=\"say\" role=\"status\"></span></div></div>\n");
}

static void
put_figure(struct idem_buf *out, const struct chart *c)
{
	idem_buf_text(out, "<div class=\"fig\"><div class=\"corner\" "
	    "aria-hidden=\"true\"><span class=\"n\">#</span><span class=\"t\">"
	    "ms</span><span class=\"w\">what happened</span></div>"
	    "<div class=\"heads\">");
	report_svg_heads(out, c);
	idem_buf_text(out, "</div>\n");
	report_below_list(out, c);
	idem_buf_text(out, "<div>");
	report_svg(out, c);
	idem_buf_text(out, "</div></div>\n");
}

/* --- the script ----------------------------------------------------------- */

/*
 * Of each row, which rows it can know of, itself too: four of them a hex digit,
 * the first of them its lowest bit.
 */
static void
put_pasts(struct idem_buf *out, const struct chart *c)
{
	unsigned digit;
	size_t i, j;

	idem_buf_text(out, "var P=[");
	for (i = 0; i < c->n; i++) {
		idem_buf_text(out, i > 0 ? ",\n\"" : "\"");
		for (j = digit = 0; j < c->n; j++) {
			if (i == j || (j < i && history_before(c->rows[j].e,
			    c->rows[i].e)))
				digit |= 1u << (j & 3);
			if ((j & 3) == 3 || j + 1 == c->n) {
				idem_buf_printf(out, "%x", digit);
				digit = 0;
			}
		}
		idem_buf_u8(out, '"');
	}
	idem_buf_text(out, "];\n");
}

static void
put_script(struct idem_buf *out, const struct chart *c)
{
	if (c->n == 0)
		return;
	idem_buf_text(out, "<script>(function(){'use strict';\n");
	put_pasts(out, c);
	put_all(out, report_script);
	idem_buf_text(out, "})()</script>\n");
}

/* --- the whole ------------------------------------------------------------ */

static void
put_page(struct idem_buf *out, const struct report_page *p,
    const struct chart *c)
{
	idem_buf_text(out, "<!doctype html>\n<html lang=\"en\"><head>"
	    "<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
	    "content=\"width=device-width,initial-scale=1\">\n<title>");
	put_title(out, p);
	idem_buf_text(out, "</title>\n<style>\n");
	put_all(out, report_style);
	idem_buf_text(out, "</style></head><body>\n");
	idem_buf_text(out, report_shapes);
	put_head(out, p, c);
	idem_buf_text(out, "<main>\n");
	put_tools(out, c);
	put_figure(out, c);
	report_below(out, p, c);
	idem_buf_text(out, "</main>\n");
	put_script(out, c);
	idem_buf_text(out, "</body></html>\n");
}

/* Fewer events, until the page is as small as it must be. */
static void
make(struct idem_buf *out, const struct report_page *p)
{
	const struct check_finding *finding = report_say_finding(p->run);
	size_t max = EVENTS_MAX;
	bool fits;

	for (;;) {
		struct chart c = { .n = 0 };

		report_chart_make(&c, p->history, finding, max);
		put_page(out, p, &c);
		fits = c.columns_n <= COLUMNS_MAX && out->len < SIZE_MAX_BYTES;
		report_chart_free(&c);
		if (fits || max <= EVENTS_MIN)
			return;
		max = max * 3 / 4;
		idem_buf_clear(out);
	}
}

int
report_page(FILE *file, const struct report_page *p)
{
	struct idem_buf out = { 0 };
	bool written;

	make(&out, p);
	(void)report_buf_text(&out);
	written = fwrite(out.at, 1, out.len, file) == out.len;
	idem_buf_free(&out);
	return written ? 0 : -1;
}

int
report_html(FILE *file, const struct history *h, const struct judge_run *run,
    const char *reproduce)
{
	struct report_page page = { h, run, NULL, reproduce };
	struct idem_buf again = { 0 };
	int status;

	if (reproduce == NULL && h->head.file != NULL) {
		report_say_again(&again, "idemsim run --runs 1", NULL, h);
		page.again = report_buf_text(&again);
	}
	status = report_page(file, &page);
	idem_buf_free(&again);
	return status;
}
