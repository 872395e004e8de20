/* SPDX-License-Identifier: ISC */
#include "caller_private.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define LINE_LONGEST 65536u

/* --- the request ---------------------------------------------------------- */

static void
field(struct idem_buf *out, const char *name, const char *value)
{
	idem_buf_text(out, name);
	idem_buf_text(out, ": ");
	idem_buf_text(out, value);
	idem_buf_text(out, "\r\n");
}

/* HTTP_X_A=v becomes "X-A: v"; other parameters are the front's to say. */
static void
field_given(struct idem_buf *out, const char *given)
{
	const char *equals = strchr(given, '=');
	bool first = true;

	if (strncmp(given, "HTTP_", 5) != 0 || equals == NULL)
		return;
	for (given += 5; given < equals; given++) {
		idem_buf_u8(out, (uint8_t)(*given == '_' ? '-' : first ?
		    *given : tolower((unsigned char)*given)));
		first = *given == '_';
	}
	idem_buf_text(out, ": ");
	idem_buf_text(out, equals + 1);
	idem_buf_text(out, "\r\n");
}

void
caller_http_request(const struct call *call, struct idem_buf *out)
{
	const char *const *more = call->params;
	bool length = true, type = call->body.len > 0;
	size_t i;

	idem_buf_printf(out, "%s %s HTTP/1.1\r\n", call->method, call->path);
	field(out, "Host", "localhost");
	field(out, "Connection", "close");
	if (call->key != NULL)
		field(out, "Idempotency-Key", call->key);
	for (i = 0; i < call->headers_n; i++) {
		field(out, call->headers[i].name, call->headers[i].value);
		if (strcasecmp(call->headers[i].name, "Content-Type") == 0)
			type = false;
		if (strcasecmp(call->headers[i].name, "Content-Length") == 0)
			length = false;
	}
	for (; more != NULL && *more != NULL; more++)
		field_given(out, *more);
	if (type)
		field(out, "Content-Type", "text/plain");
	if (length)
		idem_buf_printf(out, "Content-Length: %zu\r\n", call->body.len);
	idem_buf_text(out, "\r\n");
	idem_buf_append(out, call->body.at, call->body.len);
}

/* --- the head ------------------------------------------------------------- */

static enum caller_told
broken(struct call_private *in)
{
	in->call->why = "not HTTP";
	return CALLER_BROKEN;
}

static int
status_of(struct idem_bytes head)
{
	const char *at = head.at;
	uint64_t code;

	if (head.len < 12 || memcmp(at, "HTTP/1.", 7) != 0 || at[8] != ' ' ||
	    !caller_number((struct idem_bytes){ at + 9, 3 }, &code))
		return 0;
	return (int)code;
}

/* How the body ends (RFC 9112, 6.3). */
static void
body_follows(struct caller_http *h, struct idem_bytes head)
{
	struct caller_line line;

	h->state = CALLER_TO_CLOSE;
	while (caller_line_next(&head, &line)) {
		if (idem_bytes_is_nocase(line.name, "Transfer-Encoding") &&
		    idem_bytes_is_nocase(line.value, "chunked")) {
			h->state = CALLER_SIZE;
			return;
		}
		if (idem_bytes_is_nocase(line.name, "Content-Length") &&
		    caller_number(line.value, &h->left))
			h->state = CALLER_LENGTH;
	}
}

static enum caller_told
head_over(struct call_private *in, size_t head, size_t with_blank)
{
	struct caller_http *h = &in->http;
	struct idem_bytes bytes = { h->line.at, head };
	int status = status_of(bytes);

	if (status < 100)
		return broken(in);
	if (status >= 200) {
		idem_buf_append(&in->call->out, h->line.at, with_blank);
		body_follows(h, bytes);
	}
	idem_buf_clear(&h->line);
	if (status < 200)
		return CALLER_MORE;
	if (caller_is_bodyless(in->call, status) ||
	    (h->state == CALLER_LENGTH && h->left == 0))
		return CALLER_WHOLE;
	return CALLER_MORE;
}

/* Up to its end; what follows stays in *got. */
static enum caller_told
take_head(struct call_private *in, struct idem_bytes *got)
{
	struct idem_buf *line = &in->http.line;
	size_t before = line->len, head, with_blank;

	idem_buf_append(line, got->at, got->len);
	if (!caller_head_end(idem_buf_bytes(line), &head, &with_blank)) {
		got->len = 0;
		return line->len > LINE_LONGEST ? broken(in) : CALLER_MORE;
	}
	got->at = (const char *)got->at + (with_blank - before);
	got->len -= with_blank - before;
	return head_over(in, head, with_blank);
}

/* --- the body ------------------------------------------------------------- */

static void
take_body(struct call_private *in, struct idem_bytes *got)
{
	struct caller_http *h = &in->http;
	size_t n = got->len;

	if (h->state != CALLER_TO_CLOSE) {
		n = h->left < n ? (size_t)h->left : n;
		h->left -= n;
	}
	idem_buf_append(&in->call->out, got->at, n);
	got->at = (const char *)got->at + n;
	got->len -= n;
}

/* False: it is not whole yet.  The line is without its end. */
static bool
take_line(struct caller_http *h, struct idem_bytes *got)
{
	const char *end = memchr(got->at, '\n', got->len);
	size_t n = end != NULL ? (size_t)(end + 1 - (const char *)got->at) :
	    got->len;

	idem_buf_append(&h->line, got->at, n);
	got->at = (const char *)got->at + n;
	got->len -= n;
	if (end == NULL)
		return false;
	h->line.len--;
	if (h->line.len > 0 && h->line.at[h->line.len - 1] == '\r')
		h->line.len--;
	return true;
}

/* Hex digits, then nothing or an extension (RFC 9112, 7.1). */
static bool
chunk_size(struct caller_http *h)
{
	size_t i;

	h->left = 0;
	for (i = 0; i < h->line.len && isxdigit(h->line.at[i]) && i < 15; i++)
		h->left = h->left * 16 + (uint64_t)(h->line.at[i] <= '9' ?
		    h->line.at[i] - '0' : (h->line.at[i] | 32) - 'a' + 10);
	return i > 0 && (i == h->line.len || h->line.at[i] == ';' ||
	    h->line.at[i] == ' ');
}

static enum caller_told
line_over(struct call_private *in)
{
	struct caller_http *h = &in->http;
	bool empty = h->line.len == 0;

	if (h->state == CALLER_SIZE) {
		if (!chunk_size(h))
			return broken(in);
		h->state = h->left > 0 ? CALLER_CHUNK : CALLER_TRAILER;
	} else if (h->state == CALLER_CHUNK_END) {
		if (!empty)
			return broken(in);
		h->state = CALLER_SIZE;
	} else if (empty) {
		return CALLER_WHOLE;
	}
	idem_buf_clear(&h->line);
	return CALLER_MORE;
}

static enum caller_told
take_framing(struct call_private *in, struct idem_bytes *got)
{
	if (take_line(&in->http, got))
		return line_over(in);
	return in->http.line.len > LINE_LONGEST ? broken(in) : CALLER_MORE;
}

static enum caller_told
take_some(struct call_private *in, struct idem_bytes *got)
{
	struct caller_http *h = &in->http;

	switch (h->state) {
	case CALLER_HEAD:
		return take_head(in, got);
	case CALLER_LENGTH:
		take_body(in, got);
		return h->left == 0 ? CALLER_WHOLE : CALLER_MORE;
	case CALLER_CHUNK:
		take_body(in, got);
		if (h->left == 0)
			h->state = CALLER_CHUNK_END;
		return CALLER_MORE;
	case CALLER_SIZE:
	case CALLER_CHUNK_END:
	case CALLER_TRAILER:
		return take_framing(in, got);
	case CALLER_TO_CLOSE:
		take_body(in, got);
		return CALLER_MORE;
	}
	return CALLER_MORE;
}

enum caller_told
caller_http_take(struct call_private *in, struct idem_bytes got)
{
	enum caller_told told = CALLER_MORE;

	while (got.len > 0 && told == CALLER_MORE)
		told = take_some(in, &got);
	if (told != CALLER_WHOLE || got.len == 0)
		return told;
	in->call->why = "more after it";
	return CALLER_BROKEN;
}

enum caller_told
caller_http_closed(const struct call_private *in)
{
	return in->http.state == CALLER_TO_CLOSE ? CALLER_WHOLE : CALLER_MORE;
}

void
caller_http_free(struct caller_http *h)
{
	idem_buf_free(&h->line);
}
