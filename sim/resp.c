/* SPDX-License-Identifier: ISC */
#include "resp.h"

#include <string.h>

#define LENGTH_MAX (512L * 1024 * 1024)
#define LINE_LONGEST (64u * 1024u)
#define DIGITS_MAX 10u

/* --- lines and numbers ---------------------------------------------------- */

/* The first line with its CRLF; 0: more of it is to come; -1: never a line. */
static long
line_len(const char *at, size_t len)
{
	size_t look = len < LINE_LONGEST ? len : LINE_LONGEST;
	const char *end = memchr(at, '\n', look);

	if (end == NULL)
		return look == LINE_LONGEST ? -1 : 0;
	if (end == at || end[-1] != '\r')
		return -1;
	return end + 1 - at;
}

/* What stands between the type and the CRLF; -2: no length. */
static long
length(const char *line, long len)
{
	long n = 0, i;

	if (len == 5 && memcmp(line + 1, "-1", 2) == 0)
		return -1;
	if (len < 4 || len - 3 > (long)DIGITS_MAX)
		return -2;
	for (i = 1; i < len - 2; i++) {
		if (line[i] < '0' || line[i] > '9')
			return -2;
		n = 10 * n + (line[i] - '0');
	}
	return n <= LENGTH_MAX ? n : -2;
}

/* --- where a value ends --------------------------------------------------- */

struct head {
	long len;	/* of the value, or of the line before its elements; 0:
			   not whole; -1: broken */
	long n;		/* length, number of elements; -1: null */
	size_t elements;	/* that follow */
};

static struct head
bulk(struct head h, size_t len, bool may_be_null)
{
	if (h.n < 0) {
		if (h.n == -2 || !may_be_null)
			h.len = -1;
		return h;
	}
	if ((size_t)h.len + (size_t)h.n + 2 > len)
		h.len = 0;
	else
		h.len += h.n + 2;
	return h;
}

static struct head
aggregate(struct head h, char type)
{
	if (h.n < 0) {
		if (h.n == -2 || type != '*')
			h.len = -1;
		return h;
	}
	h.elements = (size_t)h.n;
	if (type == '%' || type == '|')
		h.elements *= 2;
	if (type == '|')
		h.elements++;
	return h;
}

static struct head
head(const char *at, size_t len)
{
	struct head h = { 0 };

	if (len == 0)
		return h;
	if (memchr("+-:$*_#,(!=~%|>", at[0], 15) == NULL) {
		h.len = -1;
		return h;
	}
	h.len = line_len(at, len);
	if (h.len <= 0 || memchr("+-:_#,(", at[0], 7) != NULL)
		return h;
	h.n = length(at, h.len);
	if (memchr("$!=", at[0], 3) != NULL)
		return bulk(h, len, at[0] == '$');
	return aggregate(h, at[0]);
}

long
resp_len(struct idem_bytes bytes)
{
	const char *at = bytes.at;
	size_t left[RESP_DEPTH], depth = 0, pos = 0;
	struct head h;

	for (;;) {
		if (pos == bytes.len)
			return 0;
		h = head(at + pos, bytes.len - pos);
		if (h.len <= 0)
			return h.len;
		pos += (size_t)h.len;
		if (h.elements > 0) {
			if (depth == RESP_DEPTH)
				return -1;
			left[depth++] = h.elements;
			continue;
		}
		while (depth > 0 && --left[depth - 1] == 0)
			depth--;
		if (depth == 0)
			return (long)pos;
	}
}

long
resp_command_len(struct idem_bytes bytes)
{
	const char *at = bytes.at, *end;
	size_t look = bytes.len < LINE_LONGEST ? bytes.len : LINE_LONGEST;

	if (bytes.len == 0)
		return 0;
	if (at[0] == '*')
		return resp_len(bytes);
	end = memchr(at, '\n', look);
	if (end != NULL)
		return end + 1 - at;
	return look == LINE_LONGEST ? -1 : 0;
}

/* --- a reply in words ----------------------------------------------------- */

static const char *
say(char *out, size_t size, const char *before, struct idem_bytes text)
{
	const unsigned char *at;
	size_t n = 0, i;

	if (text.len == 0 && before[0] == '\0')
		text = idem_bytes_text("(empty)");
	at = text.at;
	for (; *before != '\0' && n + 1 < size; before++)
		out[n++] = *before;
	for (i = 0; i < text.len && n + 1 < size; i++)
		out[n++] = at[i] >= ' ' && at[i] <= '~' ? (char)at[i] : '?';
	if (size > 0)
		out[n] = '\0';
	return out;
}

static const char *
say_count(char *out, size_t size, long n)
{
	char text[24], *at = text + sizeof text;

	*--at = ']';
	do {
		*--at = (char)('0' + n % 10);
		n /= 10;
	} while (n > 0);
	*--at = '[';
	return say(out, size, "", (struct idem_bytes){ at,
	    (size_t)(text + sizeof text - at) });
}

/* What a value that is no aggregate says; its line's or its bulk's bytes. */
static struct idem_bytes
text_of(const char *at, const struct head *h)
{
	size_t kind = at[0] == '=' && h->n >= 4 ? 4 : 0;	/* "txt:" */

	if (memchr("$!=", at[0], 3) == NULL)
		return (struct idem_bytes){ at + 1, (size_t)h->len - 3 };
	return (struct idem_bytes){ at + h->len - 2 - h->n + kind,
	    (size_t)h->n - kind };
}

/* Past an attribute; NULL: what is behind it is not whole. */
static const char *
decorated(const char *at, const char *end, struct head *h)
{
	size_t left = h->elements - 1;
	long len;

	at += h->len;
	for (; left > 0; left--) {
		len = resp_len((struct idem_bytes){ at, (size_t)(end - at) });
		if (len <= 0)
			return NULL;
		at += len;
	}
	*h = head(at, (size_t)(end - at));
	return h->len > 0 && at[0] != '|' ? at : NULL;
}

static const char *
say_list(char *out, size_t size, const char *at, const char *end,
    const struct head *h)
{
	const char *first = at + h->len;
	struct head inner;

	if (at[0] != '%' && first < end && memchr("+$=", first[0], 3) != NULL) {
		inner = head(first, (size_t)(end - first));
		if (inner.len > 0 && inner.n >= 0)
			return say(out, size, "", text_of(first, &inner));
	}
	return say_count(out, size, h->n);
}

const char *
resp_reply_text(struct idem_bytes whole, char *out, size_t size)
{
	const char *at = whole.at, *end;
	struct head h = head(at, whole.len);

	if (h.len <= 0)
		return say(out, size, "(no reply)", (struct idem_bytes){ 0 });
	end = at + whole.len;
	if (at[0] == '|')
		at = decorated(at, end, &h);
	if (at == NULL)
		return say(out, size, "(no reply)", (struct idem_bytes){ 0 });
	if (at[0] == '_' || h.n == -1)
		return say(out, size, "(nil)", (struct idem_bytes){ 0 });
	if (memchr("*~>%", at[0], 4) != NULL)
		return say_list(out, size, at, end, &h);
	if (at[0] == '#')
		return say(out, size, at[1] == 't' ? "true" : "false",
		    (struct idem_bytes){ 0 });
	return say(out, size, at[0] == '-' || at[0] == '!' ? "-" : "",
	    text_of(at, &h));
}
