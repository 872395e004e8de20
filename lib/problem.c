/* SPDX-License-Identifier: ISC */
#include "problem.h"

#include "text.h"

static void
put_json(struct idem_buf *out, const struct idem_problem_form *form,
    const struct idem_problem_more *more)
{
	idem_buf_text(out, "{\"type\":\"" IDEM_PROBLEM_URN);
	idem_text_json(out, form->type);
	idem_buf_text(out, "\",\"title\":\"");
	idem_text_json(out, form->title);
	idem_buf_printf(out, "\",\"status\":%d,\"detail\":\"", form->code);
	idem_text_json(out, form->detail);
	if (more->detail != NULL) {
		idem_buf_text(out, " ");
		idem_text_json(out, more->detail);
	}
	idem_buf_text(out, "\"");
	if (more->attempt > 0)
		idem_buf_printf(out, ",\"attempt\":%lu",
		    (unsigned long)more->attempt);
	if (idem_text_is_time(more->since_ms)) {
		idem_buf_text(out, ",\"since\":\"");
		idem_text_time(out, more->since_ms);
		idem_buf_text(out, "\"");
	}
	idem_buf_text(out, "}\n");
}

static void
put_paragraph(struct idem_buf *out, const char *text)
{
	idem_buf_text(out, "<p>");
	idem_text_html(out, text);
	idem_buf_text(out, "</p>\n");
}

/* Where a policy of the site forbids the style, it is as readable without. */
static void
put_html(struct idem_buf *out, const struct idem_problem_form *form,
    const struct idem_problem_more *more)
{
	idem_buf_text(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	    "<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
	    "content=\"width=device-width, initial-scale=1\">\n"
	    "<meta name=\"color-scheme\" content=\"light dark\">\n<style>\n"
	    "body { font: 1.125rem/1.5 sans-serif; max-width: 36rem; "
	    "margin: 3rem auto; padding: 0 1rem }\n"
	    "h1 { font-size: 1.625rem; line-height: 1.25 }\n</style>\n<title>");
	idem_text_html(out, form->title);
	idem_buf_text(out, "</title>\n</head>\n<body>\n<main>\n<h1>");
	idem_text_html(out, form->title);
	idem_buf_text(out, "</h1>\n");
	put_paragraph(out, form->detail);
	if (more->detail != NULL)
		put_paragraph(out, more->detail);
	if (more->attempt > 0)
		idem_buf_printf(out, "<p>Attempt: %lu</p>\n",
		    (unsigned long)more->attempt);
	if (idem_text_is_time(more->since_ms)) {
		idem_buf_text(out, "<p>Since: <time>");
		idem_text_time(out, more->since_ms);
		idem_buf_text(out, "</time></p>\n");
	}
	idem_buf_text(out, "</main>\n</body>\n</html>\n");
}

void
idem_problem_write(enum idem_problem problem,
    const struct idem_problem_more *more, struct idem_buf *lines,
    struct idem_buf *body)
{
	const struct idem_problem_form *form = idem_problem_form(problem);
	size_t before = body->len;
	uint32_t wait_s = more->retry_after_s;

	if (more->html)
		put_html(body, form, more);
	else
		put_json(body, form, more);
	idem_buf_printf(lines, "Content-Type: %s\r\n", more->html ?
	    "text/html; charset=utf-8" : "application/problem+json");
	idem_buf_text(lines, "Content-Language: en\r\n"
	    "Cache-Control: no-store\r\n");
	idem_buf_printf(lines, "Content-Length: %zu\r\n", body->len - before);
	if (form->retry_after)
		idem_buf_printf(lines, "Retry-After: %lu\r\n",
		    (unsigned long)(wait_s > 0 ? wait_s : 1));
	if (problem == IDEM_PROBLEM_TOKEN_METHOD)	/* RFC 9110, 15.5.6 */
		idem_buf_text(lines, "Allow: POST\r\n");
}
