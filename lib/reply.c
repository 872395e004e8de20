/* SPDX-License-Identifier: ISC */
#include "reply.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

/* Up to and with the CRLF that every line of a saved answer ends in. */
static struct idem_bytes
next_line(struct idem_bytes *left)
{
	struct idem_bytes line = *left;
	const char *end = memchr(line.at, '\n', line.len);

	if (end != NULL)
		line.len = (size_t)(end + 1 - (const char *)line.at);
	left->at = (const char *)left->at + line.len;
	left->len -= line.len;
	return line;
}

static bool
is_named(struct idem_bytes line, const char *name)
{
	size_t len = strlen(name);

	return line.len > len && strncasecmp(line.at, name, len) == 0 &&
	    ((const char *)line.at)[len] == ':';
}

/* Whether a page of another origin may see the answer (Fetch, 3.2). */
static bool
is_shared(struct idem_bytes lines)
{
	struct idem_bytes line;

	while (lines.len > 0) {
		line = next_line(&lines);
		if (is_named(line, "Access-Control-Allow-Origin"))
			return true;
	}
	return false;
}

static void
mark(struct idem_buf *head, enum idem_mark says)
{
	if (says == IDEM_SAYS_NONE)
		return;
	idem_buf_text(head, "Idempotency-Status: ");
	idem_buf_text(head, idem_mark_text(says));
	idem_buf_text(head, "\r\n");
	if (says == IDEM_SAYS_REPLAYED)
		idem_buf_text(head, "Idempotent-Replayed: true\r\n");
}

static bool
is_kept(enum idem_mark says)
{
	return says == IDEM_SAYS_STORED || says == IDEM_SAYS_REPLAYED ||
	    says == IDEM_SAYS_STORED_WITHOUT_BODY;
}

static bool
is_left_out(struct idem_bytes line, const struct idem_reply_rule *rule)
{
	size_t i;

	/* Somebody else's: without an identity a replay may not carry it. */
	if (!rule->identity && is_named(line, "Set-Cookie"))
		return true;
	for (i = 0; i < rule->left_out_len; i++)
		if (is_named(line, rule->left_out[i]))
			return true;
	return false;
}

static void
replayed_lines(struct idem_buf *head, struct idem_bytes lines,
    const struct idem_reply_rule *rule)
{
	struct idem_bytes line;

	while (lines.len > 0) {
		line = next_line(&lines);
		if (!is_left_out(line, rule))
			idem_buf_append(head, line.at, line.len);
	}
}

void
idem_reply_answer(struct idem_buf *head, const struct idem_saved *saved,
    enum idem_mark says, const struct idem_reply_rule *rule)
{
	if (saved->has_status) {
		idem_buf_text(head, "Status: ");
		idem_buf_append(head, saved->status.at, saved->status.len);
		idem_buf_text(head, "\r\n");
	}
	if (says == IDEM_SAYS_REPLAYED)
		replayed_lines(head, saved->lines, rule);
	else
		idem_buf_append(head, saved->lines.at, saved->lines.len);
	mark(head, says);
	if (is_kept(says) && rule->keep_ms > 0)
		idem_buf_printf(head, "Idempotency-Keep: %" PRId64 "\r\n",
		    rule->keep_ms / 1000);
	if (says != IDEM_SAYS_NONE && is_shared(saved->lines))
		idem_buf_text(head, "Access-Control-Expose-Headers: "
		    "Idempotency-Status, Idempotent-Replayed, "
		    "Idempotency-Keep\r\n");
	idem_buf_text(head, "\r\n");
}

static const char *
phrase(int code)
{
	switch (code) {	/* RFC 9110, 15 */
	case 202: return "Accepted";
	case 400: return "Bad Request";
	case 403: return "Forbidden";
	case 404: return "Not Found";
	case 405: return "Method Not Allowed";
	case 409: return "Conflict";
	case 410: return "Gone";
	case 413: return "Content Too Large";
	case 422: return "Unprocessable Content";
	case 429: return "Too Many Requests";
	case 431: return "Request Header Fields Too Large";
	case 500: return "Internal Server Error";
	case 502: return "Bad Gateway";
	case 503: return "Service Unavailable";
	case 504: return "Gateway Timeout";
	default: return "Unknown";
	}
}

void
idem_reply_problem(struct idem_buf *head, enum idem_problem problem,
    enum idem_mark says, const struct idem_problem_more *more, bool no_body)
{
	const struct idem_problem_form *form = idem_problem_form(problem);
	struct idem_buf body = { 0 };

	idem_buf_printf(head, "Status: %d %s\r\n", form->code,
	    phrase(form->code));
	idem_problem_write(problem, more, head, &body);
	mark(head, says);
	idem_buf_text(head, "\r\n");
	if (!no_body)
		idem_buf_append(head, body.at, body.len);
	if (!idem_buf_ok(&body))
		head->failed = true;
	idem_buf_free(&body);
}

int
idem_reply_code(const struct idem_effect *fx, const struct idem_saved *saved)
{
	if (fx->body == IDEM_BODY_PROBLEM)
		return idem_problem_form(fx->problem)->code;
	return saved != NULL ? saved->code : 200;
}
