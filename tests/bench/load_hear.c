/* SPDX-License-Identifier: ISC */
#include "load.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Any that tells two answers apart will do; eight bytes at a time. */
static uint64_t
digest_of(struct idem_bytes bytes)
{
	const uint8_t *at = bytes.at;
	uint64_t digest = bytes.len + 1, word;
	size_t len = bytes.len, some;

	for (; len > 0; len -= some, at += some) {
		some = len < 8 ? len : 8;
		word = 0;
		memcpy(&word, at, some);
		digest = (digest ^ word) * 0x9e3779b97f4a7c15u;
		digest ^= digest >> 29;
	}
	return digest != 0 ? digest : 1;
}

/* --- heads ---------------------------------------------------------------- */

/* Where the body begins; 0: the head is not whole. */
static size_t
head_len(const struct idem_buf *out)
{
	const char *crlf, *lf;

	if (out->len == 0)
		return 0;
	crlf = memmem(out->at, out->len, "\r\n\r\n", 4);
	lf = memmem(out->at, out->len, "\n\n", 2);
	if (crlf != NULL && (lf == NULL || crlf < lf))
		return (size_t)(crlf - (const char *)out->at) + 4;
	return lf == NULL ? 0 : (size_t)(lf - (const char *)out->at) + 2;
}

/* The first field of that name in a head; at NULL: none. */
static struct idem_bytes
field(const struct idem_buf *out, size_t head, const char *name)
{
	const char *at = (const char *)out->at, *end = at + head, *line_end;
	size_t len = strlen(name);

	for (; at < end; at = line_end + 1) {
		line_end = memchr(at, '\n', (size_t)(end - at));
		if (line_end == NULL)
			break;
		if ((size_t)(line_end - at) <= len || at[len] != ':' ||
		    strncasecmp(at, name, len) != 0)
			continue;
		for (at += len + 1; *at == ' '; at++)
			;
		len = (size_t)(line_end - at);
		return (struct idem_bytes){ at, len - (len > 0 &&
		    at[len - 1] == '\r') };
	}
	return (struct idem_bytes){ 0 };
}

/* Digits and what ends them; a head always holds something after them. */
static long
number(struct idem_bytes bytes, long otherwise)
{
	return bytes.at == NULL ? otherwise : strtol(bytes.at, NULL, 10);
}

/* --- FastCGI -------------------------------------------------------------- */

static enum load_heard
ended(struct load_answer *a)
{
	size_t head = head_len(&a->out);

	if (head == 0 || a->reader.status != IDEM_FCGI_REQUEST_COMPLETE)
		return LOAD_BROKEN;
	a->status = (int)number(field(&a->out, head, "Status"), 200);
	a->says = field(&a->out, head, "Idempotency-Status");
	a->body = (struct idem_bytes){ a->out.at + head, a->out.len - head };
	a->digest = digest_of(a->body);
	return LOAD_WHOLE;
}

static enum load_heard
take_fcgi(struct load_answer *a, struct idem_bytes got)
{
	struct idem_bytes piece;

	for (;;)
		switch (idem_fcgi_client_read(&a->reader, &got, &piece)) {
		case IDEM_FCGI_TOLD_MORE:
			return LOAD_MORE;
		case IDEM_FCGI_TOLD_STDOUT:
			idem_buf_append(&a->out, piece.at, piece.len);
			break;
		case IDEM_FCGI_TOLD_STDERR:
			break;
		case IDEM_FCGI_TOLD_END:
			return ended(a);
		case IDEM_FCGI_TOLD_BROKEN:
			return LOAD_BROKEN;
		}
}

/* --- HTTP (RFC 9112) ------------------------------------------------------ */

/*
 * Put a chunked body together where it stands (7.1).  False: its end is not
 * there yet, and nothing was moved.
 */
static bool
dechunk(struct load_answer *a, size_t head, bool move, size_t *body_len)
{
	uint8_t *to = a->out.at + head, *at = to, *end = a->out.at + a->out.len;
	uint8_t *line_end;
	size_t len;

	for (;;) {
		line_end = memmem(at, (size_t)(end - at), "\r\n", 2);
		if (line_end == NULL)
			return false;
		len = strtoul((const char *)at, NULL, 16);
		at = line_end + 2;
		if (len >= (size_t)(end - at) || (size_t)(end - at) - len < 2)
			return false;
		if (len == 0)
			break;
		if (move)
			memmove(to, at, len);
		to += len;
		at += len + 2;
	}
	*body_len = (size_t)(to - a->out.at) - head;
	return true;
}

static enum load_heard
look_http(struct load_answer *a, bool closed)
{
	size_t head = head_len(&a->out), body_len, have;
	struct idem_bytes length, coding, connection;

	if (head == 0)
		return closed || a->out.len > 65536 ? LOAD_BROKEN : LOAD_MORE;
	if (head < sizeof "HTTP/1.1 200")
		return LOAD_BROKEN;
	have = a->out.len - head;
	length = field(&a->out, head, "Content-Length");
	coding = field(&a->out, head, "Transfer-Encoding");
	connection = field(&a->out, head, "Connection");
	a->closes = closed || idem_bytes_is_nocase(connection, "close");
	if (coding.at != NULL) {
		if (!dechunk(a, head, false, &body_len))
			return closed ? LOAD_BROKEN : LOAD_MORE;
		dechunk(a, head, true, &body_len);
	} else if (length.at != NULL) {
		body_len = (size_t)number(length, 0);
		if (have < body_len)
			return closed ? LOAD_BROKEN : LOAD_MORE;
	} else {
		if (!closed)
			return LOAD_MORE;
		body_len = have;
	}
	a->status = (int)strtol((const char *)a->out.at + 9, NULL, 10);
	a->says = field(&a->out, head, "Idempotency-Status");
	a->body = (struct idem_bytes){ a->out.at + head, body_len };
	a->digest = digest_of(a->body);
	return LOAD_WHOLE;
}

/* --- both ----------------------------------------------------------------- */

void
load_answer_reset(struct load_answer *a)
{
	struct idem_buf out = a->out;

	idem_buf_clear(&out);
	*a = (struct load_answer){ .out = out, .reader.id = 1 };
}

enum load_heard
load_answer_take(struct load_answer *a, bool http, struct idem_bytes got)
{
	if (!http)
		return take_fcgi(a, got);
	idem_buf_append(&a->out, got.at, got.len);
	return look_http(a, false);
}

enum load_heard
load_answer_closed(struct load_answer *a, bool http)
{
	return http && a->out.len > 0 ? look_http(a, true) : LOAD_BROKEN;
}
