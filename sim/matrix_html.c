/* SPDX-License-Identifier: ISC */
#include "matrix.h"

#include "folder.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Colours are text on ground of at least 4.5:1 in both schemes, and never the
   only sign: what is bad has a mark before it. */
static const char *const style[] = {
":root{color-scheme:light dark;--bg:#fff;--panel:#f5f6f8;--text:#1a1f26;"
"--soft:#566070;--rule:#d5dae1;--some:#fff3d6;--somet:#6b4700;--much:#fbdcd8;"
"--mucht:#8c150f;--bad:#a3120b;--badt:#fff;--good:#17683a;--link:#0b57b0}\n",
"@media(prefers-color-scheme:dark){:root{--bg:#14171c;--panel:#1d2128;"
"--text:#e7eaef;--soft:#a3adba;--rule:#343b46;--some:#3a3015;--somet:#f3cf79;"
"--much:#4c1f1d;--mucht:#ffb3ac;--bad:#ff8f86;--badt:#2a0705;--good:#7cdb9c;"
"--link:#7fb8ff}}\n",
"*{box-sizing:border-box}body{margin:0 auto;max-width:1180px;padding:0 28px "
"60px;background:var(--bg);color:var(--text);font:15px/1.5 system-ui,"
"-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",\"Noto Sans\","
"\"DejaVu Sans\",sans-serif}\n",
".eyebrow{margin:30px 0 0;color:var(--soft);font-size:13px}"
"h1{font-size:28px;line-height:1.2;margin:2px 0 14px;letter-spacing:-.01em}"
"h2{font-size:19px;margin:44px 0 2px}"
"p{max-width:46em;margin:0 0 12px}.about{color:var(--soft)}"
".verdict{display:flex;gap:12px;align-items:baseline;font-size:18px;"
"font-weight:600;margin:0 0 14px}"
".tag{flex:none;border:2px solid;border-radius:5px;padding:0 9px;"
"font-size:14px}.good{color:var(--good)}.ill{color:var(--bad)}\n",
".wide{overflow-x:auto;margin:0 -8px;padding:0 8px}"
".wide:focus-visible{outline:3px solid var(--link)}"
"table{border-collapse:separate;border-spacing:0;width:100%;font-size:14px}"
"th,td{padding:6px 10px;border-bottom:1px solid var(--rule)}"
"thead th{font-weight:600;font-size:13px;line-height:1.25;color:var(--soft);"
"vertical-align:bottom;border-bottom:2px solid var(--rule)}"
".n thead th{text-align:right}.n th:first-child,.w th,.w td{text-align:left}"
".n td{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}"
"tbody th{font-weight:500;white-space:nowrap;text-align:left}"
".n tbody th,.n thead th:first-child{position:sticky;left:0;"
"background:var(--bg)}"
".group th,.group td{border-top:2px solid var(--rule)}\n",
".some{background:var(--some);color:var(--somet)}"
".much{background:var(--much);color:var(--mucht);font-weight:600}"
".broken{background:var(--bad);color:var(--badt);font-weight:700}"
".mark{margin-right:6px;font-weight:400}.none{color:var(--soft)}"
".key{list-style:none;display:flex;flex-wrap:wrap;gap:6px 18px;padding:0;"
"margin:10px 0 0;font-size:14px;color:var(--soft)}"
".key span{padding:1px 7px;border-radius:3px}\n",
".even,.w{table-layout:fixed;min-width:900px}.even th:first-child{"
"width:190px}.w th:first-child{width:170px}.w td{vertical-align:top}"
".w th{vertical-align:top;white-space:normal;overflow-wrap:break-word}"
".w .measured th{padding-left:24px;font-weight:400;color:var(--soft)}"
".w .measured td:not(.broken){background:var(--panel);"
"font-variant-numeric:tabular-nums}"
".w .promised th,.w .promised td{font-weight:600}"
".w tr.said:has(+.measured)>*{border-bottom:0}"
"dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 20px;"
"margin:12px 0}dt{font-weight:600}dd{margin:0;color:var(--soft)}"
"summary{cursor:pointer;color:var(--link);margin:34px 0 8px}"
"code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"
"\"DejaVu Sans Mono\",monospace;font-size:13px;overflow-wrap:anywhere}\n",
"@media(max-width:640px){body{padding:0 14px 40px}dl{display:block}"
"dd{margin:0 0 8px}}@media print{.wide{overflow:visible}}\n",
NULL
};

/* --- texts ---------------------------------------------------------------- */

static void
put(struct idem_buf *out, const char *text)
{
	for (; *text != '\0'; text++)
		switch (*text) {
		case '<':
			idem_buf_text(out, "&lt;");
			break;
		case '&':
			idem_buf_text(out, "&amp;");
			break;
		case '"':
			idem_buf_text(out, "&quot;");
			break;
		default:
			idem_buf_u8(out, (uint8_t)*text);
		}
}

static void
put_in(struct idem_buf *out, const char *element, const char *text)
{
	idem_buf_printf(out, "<%s>", element);
	put(out, text);
	idem_buf_printf(out, "</%.*s>", (int)strcspn(element, " "), element);
}

static const struct {
	const char *class, *mark, *words;
} levels[] = {
	[MATRIX_PLAIN] = { "", "", "" },
	[MATRIX_SOME] = { "some", "\xe2\x96\xb3", "worse than it has to be" },
	[MATRIX_MUCH] = { "much", "\xe2\x96\xb2", "much worse" },
	[MATRIX_BROKEN] = { "broken", "\xe2\x9c\x97", "a promise is broken" }
};

static void
put_mark(struct idem_buf *out, enum matrix_level l)
{
	if (l != MATRIX_PLAIN)
		idem_buf_printf(out, "<span class=\"mark\" role=\"img\" "
		    "aria-label=\"%s\">%s</span>", levels[l].words,
		    levels[l].mark);
}

/* --- tables of numbers ---------------------------------------------------- */

static void
put_heads(struct idem_buf *out)
{
	size_t f;

	idem_buf_text(out, "<thead><tr><th>way to deploy</th>");
	for (f = 0; f < MATRIX_FAULTS; f++) {
		idem_buf_text(out, "<th scope=\"col\" title=\"");
		put(out, matrix_columns[f].about);
		idem_buf_text(out, "\">");
		put(out, matrix_columns[f].head[0]);
		idem_buf_text(out, "<br>");
		put(out, matrix_columns[f].head[1]);
		idem_buf_text(out, "</th>");
	}
	idem_buf_text(out, "</tr></thead>\n");
}

static void
put_cell(struct idem_buf *out, struct matrix *m, enum matrix_view v,
    enum matrix_deploy d, enum matrix_fault f)
{
	char text[80];
	enum matrix_level bad = matrix_say(m, v, d, f, text, sizeof text);
	bool none = m->cells[d][f].runs == 0 || strcmp(text, "none") == 0;

	idem_buf_printf(out, "<td class=\"%s\">", none ? "none" :
	    levels[bad].class);
	put_mark(out, bad);
	put(out, strcmp(text, "-") == 0 ? "\xe2\x80\x93" : text);
	idem_buf_text(out, "</td>");
}

static void
put_view(struct idem_buf *out, struct matrix *m, enum matrix_view v)
{
	size_t d, f;

	put_in(out, "h2", matrix_titles[v].title);
	put_in(out, "p class=\"about\"", matrix_titles[v].about);
	idem_buf_text(out, "<div class=\"wide\" tabindex=\"0\">"
	    "<table class=\"n even\">");
	put_heads(out);
	idem_buf_text(out, "<tbody>\n");
	for (d = 0; d < MATRIX_DEPLOYS; d++) {
		idem_buf_text(out, d == MATRIX_SCRIPT || d == MATRIX_MEMORY ?
		    "<tr class=\"group\">" : "<tr>");
		put_in(out, "th scope=\"row\"", matrix_rows[d].title);
		for (f = 0; f < MATRIX_FAULTS; f++)
			put_cell(out, m, v, (enum matrix_deploy)d,
			    (enum matrix_fault)f);
		idem_buf_text(out, "</tr>\n");
	}
	idem_buf_text(out, "</tbody></table></div>\n");
}

/* --- tables of words ------------------------------------------------------ */

/* Of what was measured each thing has a line. */
static void
put_word(struct idem_buf *out, const struct matrix_said_row *r, size_t i)
{
	char one[MATRIX_SAID_WORDS];
	const char *at = r->cells[i], *end;

	idem_buf_text(out, r->broken[i] ? "<td class=\"broken\">" : "<td>");
	put_mark(out, r->broken[i] ? MATRIX_BROKEN : MATRIX_PLAIN);
	while (r->source == MATRIX_MEASURED &&
	    (end = strstr(at, "; ")) != NULL) {
		snprintf(one, sizeof one, "%.*s", (int)(end - at), at);
		put(out, one);
		idem_buf_text(out, "<br>");
		at = end + 2;
	}
	put(out, strcmp(at, "-") == 0 ? "\xe2\x80\x93" : at);
	idem_buf_text(out, "</td>");
}

static void
put_said(struct idem_buf *out, const struct matrix_said *t)
{
	size_t r, i;

	put_in(out, "h2", t->title);
	put_in(out, "p class=\"about\"", t->about);
	idem_buf_text(out, "<div class=\"wide\" tabindex=\"0\">"
	    "<table class=\"w\"><thead><tr><th></th>");
	for (i = 0; i < t->columns; i++)
		put_in(out, "th scope=\"col\"", t->heads[i]);
	idem_buf_text(out, "</tr></thead><tbody>\n");
	for (r = 0; r < t->rows; r++) {
		idem_buf_printf(out, "<tr class=\"%s\">",
		    matrix_source_text(t->row[r].source));
		put_in(out, "th scope=\"row\"", t->row[r].name);
		for (i = 0; i < t->columns; i++)
			put_word(out, &t->row[r], i);
		idem_buf_text(out, "</tr>\n");
	}
	idem_buf_text(out, "</tbody></table></div>\n");
}

/* --- the rest of the page ------------------------------------------------- */

static void
put_verdict(struct idem_buf *out, const struct matrix *m)
{
	size_t broken = matrix_broken(m), open = matrix_open(m);

	if (broken > 0)
		idem_buf_printf(out, "<p class=\"verdict ill\"><span "
		    "class=\"tag\">\xe2\x9c\x97 broken</span><span>in %zu of "
		    "%zu cells idem does not do what it promises</span></p>\n",
		    broken, matrix_run(m));
	else if (open > 0)
		idem_buf_printf(out, "<p class=\"verdict open\"><span "
		    "class=\"tag\">? open</span><span>in %zu of %zu cells it "
		    "did not come to what was to be shown</span></p>\n", open,
		    matrix_run(m));
	else
		idem_buf_printf(out, "<p class=\"verdict good\"><span "
		    "class=\"tag\">\xe2\x9c\x93 held</span><span>what idem "
		    "promises held in %s%zu cell%s</span></p>\n",
		    matrix_run(m) == 1 ? "" : "all ", matrix_run(m),
		    matrix_run(m) == 1 ? "" : "s");
}

static void
put_about(struct idem_buf *out, size_t d, size_t f, const char *text,
    const char *file)
{
	idem_buf_text(out, "<p><b>");
	put(out, matrix_rows[d].title);
	idem_buf_text(out, ", ");
	put(out, matrix_columns[f].param);
	idem_buf_text(out, ":</b> ");
	put(out, text);
	if (file != NULL)
		put_in(out, "code", file);
	idem_buf_text(out, "</p>\n");
}

static void
put_bad(struct idem_buf *out, const struct matrix *m)
{
	char why[MATRIX_WORDS];
	const struct matrix_cell *c;
	size_t d, f;

	for (d = 0; d < MATRIX_DEPLOYS; d++)
		for (f = 0; f < MATRIX_FAULTS; f++) {
			c = &m->cells[d][f];
			if (matrix_open_text(c, why, sizeof why) != NULL)
				put_about(out, d, f, why, NULL);
			if (c->broken != 0)
				put_about(out, d, f, c->message, c->file);
		}
}

static void
put_key(struct idem_buf *out)
{
	size_t l;

	idem_buf_text(out, "<ul class=\"key\">");
	for (l = MATRIX_SOME; l <= MATRIX_BROKEN; l++)
		idem_buf_printf(out, "<li><span class=\"%s\">%s</span> %s"
		    "</li>", levels[l].class, levels[l].mark,
		    levels[l].words);
	idem_buf_text(out, "<li>\xe2\x80\x93 there is no Redis that could "
	    "fail</li><li>? it could not be run, or "
	    "nothing can be said of it</li></ul>\n");
}

static void
put_columns(struct idem_buf *out)
{
	size_t i;

	idem_buf_text(out, "<h2>The situations</h2><dl>");
	for (i = 0; i < MATRIX_FAULTS; i++) {
		idem_buf_text(out, "<dt>");
		put(out, matrix_columns[i].head[0]);
		idem_buf_text(out, " ");
		put(out, matrix_columns[i].head[1]);
		idem_buf_text(out, "</dt>");
		put_in(out, "dd", matrix_columns[i].about);
	}
	idem_buf_text(out, "</dl>\n<h2>What idem promises of each way</h2>"
	    "<dl>");
	for (i = 0; i < MATRIX_DEPLOYS; i++) {
		put_in(out, "dt", matrix_rows[i].title);
		put_in(out, "dd", matrix_rows[i].promised);
	}
	idem_buf_text(out, "</dl>\n");
}

static void
put_all_row(struct idem_buf *out, struct matrix_cell *c, size_t d, size_t f)
{
	const size_t numbers[] = { c->runs, c->keys, c->starts, c->most,
	    c->again, c->unserved, c->lost, c->unknown, c->window, c->served,
	    c->unprotected };
	const double times[] = { matrix_ms(&c->first, 0.5),
	    matrix_ms(&c->first, 0.99), matrix_ms(&c->own, 0.5),
	    matrix_ms(&c->own, 0.99) };
	size_t i;

	idem_buf_text(out, "<tr>");
	put_in(out, "th scope=\"row\"", matrix_rows[d].title);
	put_in(out, "td", matrix_columns[f].param);
	for (i = 0; i < sizeof numbers / sizeof *numbers; i++)
		idem_buf_printf(out, "<td>%zu</td>", numbers[i]);
	for (i = 0; i < sizeof times / sizeof *times; i++)
		idem_buf_printf(out, "<td>%.1f</td>", times[i]);
	idem_buf_text(out, "</tr>\n");
}

static void
put_all(struct idem_buf *out, struct matrix *m)
{
	size_t d, f;

	idem_buf_text(out, "<details><summary>All numbers</summary>"
	    "<div class=\"wide\" tabindex=\"0\"><table class=\"n\"><thead><tr>"
	    "<th>way</th><th>situation</th><th>runs</th><th>keys</th>"
	    "<th>starts</th><th>most of<br>a key</th><th>keys<br>again</th>"
	    "<th>keys<br>unserved</th><th>answers<br>lost</th><th>unknown</th>"
	    "<th>asked in<br>the window</th><th>answered</th>"
	    "<th>unprotected</th><th>median<br>ms</th><th>99 %<br>ms</th>"
	    "<th>program<br>median</th><th>program<br>99 %</th></tr></thead>"
	    "<tbody>\n");
	for (d = 0; d < MATRIX_DEPLOYS; d++)
		for (f = 0; f < MATRIX_FAULTS; f++)
			if (m->cells[d][f].runs > 0)
				put_all_row(out, &m->cells[d][f], d, f);
	idem_buf_text(out, "</tbody></table></div></details>\n");
}

static void
put_page(struct idem_buf *out, struct matrix *m)
{
	struct matrix_said said;
	size_t i;

	idem_buf_text(out, "<!DOCTYPE html>\n<html lang=\"en\"><head>"
	    "<meta charset=\"utf-8\"><meta name=\"viewport\" content=\""
	    "width=device-width,initial-scale=1\"><title>idem: what it costs "
	    "and what it keeps</title>\n<style>\n");
	for (i = 0; style[i] != NULL; i++)
		idem_buf_text(out, style[i]);
	idem_buf_printf(out, "</style></head><body>\n<p class=\"eyebrow\">"
	    "idemsim " VERSION " matrix \xc2\xb7 %zu cell%s, at most %u run%s "
	    "of each \xc2\xb7 seed 0x%" PRIx64 " \xc2\xb7 %.0f s</p>\n"
	    "<h1>What each way costs, and what it keeps</h1>\n",
	    matrix_run(m), matrix_run(m) == 1 ? "" : "s", m->runs,
	    m->runs == 1 ? "" : "s", m->seed, (double)m->wall_ms / 1000);
	put_verdict(out, m);
	put_bad(out, m);
	idem_buf_text(out, "<p>Two real instances of idemd, a real Redis and "
	    "real kills. Each way to deploy is put into each situation under "
	    "the same load: 90 requests a second for 1.6 s, on 60 keys, by "
	    "clients that try up to six times with the same key.</p>\n");
	put_key(out);
	matrix_said_schemes(m, &said);
	put_said(out, &said);
	matrix_said_policies(m, &said);
	put_said(out, &said);
	for (i = 0; i < MATRIX_VIEWS; i++)
		put_view(out, m, (enum matrix_view)i);
	put_columns(out);
	put_all(out, m);
	idem_buf_text(out, "</body></html>\n");
}

static int
write_page(FILE *file, const void *arg)
{
	const struct idem_buf *page = arg;

	if (!idem_buf_ok(page)) {
		errno = ENOMEM;
		return -1;
	}
	return fwrite(page->at, 1, page->len, file) == page->len ? 0 : -1;
}

int
matrix_html(struct matrix *m, const char *path)
{
	struct idem_buf page = { 0 };
	int status;

	put_page(&page, m);
	status = folder_file(path, write_page, &page);
	idem_buf_free(&page);
	return status;
}
