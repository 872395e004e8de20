/* SPDX-License-Identifier: ISC */
#include "caller_private.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define ID 1		/* one request at a time */

/* --- the request ---------------------------------------------------------- */

static void
pair(struct idem_buf *params, const char *name, const char *value)
{
	if (value != NULL)
		idem_fcgi_pair_write(params, idem_bytes_text(name),
		    idem_bytes_text(value));
}

/* "X-A" becomes HTTP_X_A (RFC 3875, 4.1.18). */
static void
pair_header(struct idem_buf *params, const struct plan_pair *header)
{
	char name[128] = "HTTP_";
	size_t i, n = strlen(name);

	if (strcasecmp(header->name, "Content-Type") == 0 ||
	    strcasecmp(header->name, "Content-Length") == 0)
		n = 0;
	for (i = 0; header->name[i] != '\0' && n + 1 < sizeof name; i++)
		name[n++] = header->name[i] == '-' ? '_' :
		    (char)toupper((unsigned char)header->name[i]);
	name[n] = '\0';
	pair(params, name, header->value);
}

static void
pair_given(struct idem_buf *params, const char *given)
{
	const char *equals = strchr(given, '=');

	if (equals != NULL)
		idem_fcgi_pair_write(params, (struct idem_bytes){ given,
		    (size_t)(equals - given) }, idem_bytes_text(equals + 1));
}

static bool
has_header(const struct call *call, const char *name)
{
	size_t i;

	for (i = 0; i < call->headers_n; i++)
		if (strcasecmp(call->headers[i].name, name) == 0)
			return true;
	return false;
}

static void
pair_body(struct idem_buf *params, const struct call *call)
{
	char length[24];

	snprintf(length, sizeof length, "%zu", call->body.len);
	if (!has_header(call, "Content-Length"))
		pair(params, "CONTENT_LENGTH", length);
	if (call->body.len > 0 && !has_header(call, "Content-Type"))
		pair(params, "CONTENT_TYPE", "text/plain");
}

static void
params_write(struct idem_buf *params, const struct call *call)
{
	const char *const *more = call->params;
	const char *query = strchr(call->path, '?');
	size_t i, len = query != NULL ? (size_t)(query - call->path) :
	    strlen(call->path);

	pair(params, "GATEWAY_INTERFACE", "CGI/1.1");
	pair(params, "SERVER_PROTOCOL", "HTTP/1.1");
	pair(params, "SERVER_NAME", "localhost");
	pair(params, "SERVER_PORT", "80");
	pair(params, "REMOTE_ADDR", "127.0.0.1");
	pair(params, "HTTP_HOST", "localhost");
	pair(params, "REQUEST_METHOD", call->method);
	pair(params, "REQUEST_URI", call->path);
	idem_fcgi_pair_write(params, idem_bytes_text("SCRIPT_NAME"),
	    (struct idem_bytes){ call->path, len });
	pair(params, "QUERY_STRING", query != NULL ? query + 1 : "");
	pair(params, "SCRIPT_FILENAME", call->program);
	pair_body(params, call);
	pair(params, "HTTP_IDEMPOTENCY_KEY", call->key);
	for (i = 0; i < call->headers_n; i++)
		pair_header(params, &call->headers[i]);
	for (; more != NULL && *more != NULL; more++)
		pair_given(params, *more);
}

void
caller_fcgi_request(const struct call *call, struct idem_buf *out)
{
	struct idem_buf params = { 0 };

	params_write(&params, call);
	idem_fcgi_begin_write(out, ID, IDEM_FCGI_RESPONDER, call->kept != NULL);
	idem_fcgi_stream_write(out, IDEM_FCGI_PARAMS, ID,
	    idem_buf_bytes(&params));
	idem_fcgi_stream_end(out, IDEM_FCGI_PARAMS, ID);
	idem_fcgi_stream_write(out, IDEM_FCGI_STDIN, ID, call->body);
	idem_fcgi_stream_end(out, IDEM_FCGI_STDIN, ID);
	if (!idem_buf_ok(&params))
		out->failed = true;
	idem_buf_free(&params);
}

void
caller_fcgi_abort(struct idem_buf *out)
{
	uint8_t header[8];

	idem_fcgi_header(header, IDEM_FCGI_ABORT_REQUEST, ID, 0, 0);
	idem_buf_append(out, header, sizeof header);
}

/* --- the answer ----------------------------------------------------------- */

/* What follows its end is nobody's: another's answer, perhaps. */
static enum caller_told
over(struct call_private *in, struct idem_bytes left)
{
	uint8_t padding = in->fcgi.frame.padding_left;

	/* What is on its way would be the begin of the next call's answer. */
	in->partial = left.len < padding;
	if (in->fcgi.status != IDEM_FCGI_REQUEST_COMPLETE)
		in->call->why = "overloaded";
	else if (left.len > padding)
		in->call->why = "more after it";
	else
		return CALLER_WHOLE;
	return CALLER_BROKEN;
}

enum caller_told
caller_fcgi_take(struct call_private *in, struct idem_bytes got)
{
	struct idem_bytes piece;

	in->fcgi.id = ID;
	for (;;) {
		switch (idem_fcgi_client_read(&in->fcgi, &got, &piece)) {
		case IDEM_FCGI_TOLD_MORE:
			return CALLER_MORE;
		case IDEM_FCGI_TOLD_STDOUT:
			idem_buf_append(&in->call->out, piece.at, piece.len);
			break;
		case IDEM_FCGI_TOLD_STDERR:
			break;
		case IDEM_FCGI_TOLD_END:
			return over(in, got);
		case IDEM_FCGI_TOLD_BROKEN:
			in->call->why = "not FastCGI";
			return CALLER_BROKEN;
		}
	}
}
