/* SPDX-License-Identifier: ISC */
#include "cgi_head.h"

#include <string.h>

struct field {
	struct idem_bytes line;		/* all of it, without its end */
	struct idem_bytes name, value;	/* the value without outer blanks */
};

/* What is wrong, or NULL. */
typedef const char *take_fn(struct idem_head *, const struct field *);

static struct idem_bytes
part(struct idem_bytes of, size_t from, size_t to)
{
	const uint8_t *at = of.at;

	return (struct idem_bytes){ at + from, to - from };
}

static bool
is_blank(uint8_t c)
{
	return c == ' ' || c == '\t';
}

static bool
is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static bool
is_alpha(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* RFC 9110, 5.6.2 */
static bool
is_token(struct idem_bytes name)
{
	static const char marks[] = "!#$%&'*+-.^_`|~";
	const uint8_t *at = name.at;
	size_t i;

	for (i = 0; i < name.len; i++)
		if (!is_alpha(at[i]) && !is_digit(at[i]) &&
		    memchr(marks, at[i], sizeof marks - 1) == NULL)
			return false;
	return name.len > 0;
}

static struct idem_bytes
trimmed(struct idem_bytes text)
{
	const uint8_t *at = text.at;
	size_t from = 0, to = text.len;

	while (from < to && is_blank(at[from]))
		from++;
	while (to > from && is_blank(at[to - 1]))
		to--;
	return part(text, from, to);
}

/* Take one line off the front; false if none has ended yet. */
static bool
next_line(struct idem_bytes *left, struct idem_bytes *line)
{
	const uint8_t *at = left->at, *end;
	size_t len;

	if (left->len == 0)
		return false;
	end = memchr(at, '\n', left->len);
	if (end == NULL)
		return false;
	len = (size_t)(end - at);
	*left = part(*left, len + 1, left->len);
	if (len > 0 && at[len - 1] == '\r')
		len--;
	*line = (struct idem_bytes){ at, len };
	return true;
}

/* "404", "404 Not Found": the code, or -1. */
static int
code_of(struct idem_bytes status)
{
	const uint8_t *at = status.at;
	int code;

	if (status.len < 3 || !is_digit(at[0]) || !is_digit(at[1]) ||
	    !is_digit(at[2]) || (status.len > 3 && !is_blank(at[3])))
		return -1;
	code = (at[0] - '0') * 100 + (at[1] - '0') * 10 + (at[2] - '0');
	return code >= 200 && code <= 599 ? code : -1;
}

static const char *
set_status(struct idem_head *h, struct idem_bytes status)
{
	int code = code_of(status);

	if (code < 0)
		return "Status is not 200 to 599";
	if (h->has_status)
		return code == h->code ? NULL : "two different Status";
	h->has_status = true;
	h->code = code;
	idem_buf_append(&h->status, status.at, status.len);
	return NULL;
}

static const char *
keep(struct idem_head *h, const struct field *f)
{
	idem_buf_append(&h->lines, f->line.at, f->line.len);
	idem_buf_text(&h->lines, "\r\n");
	return NULL;
}

static const char *
leave_out(struct idem_head *h, const struct field *f)
{
	(void)h;
	(void)f;
	return NULL;
}

/* A field without a value is as good as absent (RFC 3875, 6.3). */
static const char *
take_status(struct idem_head *h, const struct field *f)
{
	return f->value.len > 0 ? set_status(h, f->value) : NULL;
}

static bool
read_length(struct idem_bytes text, uint64_t *length)
{
	const uint8_t *at = text.at;
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < text.len; i++) {
		if (!is_digit(at[i]) || n > (INT64_MAX - 9) / 10)
			return false;
		n = n * 10 + (uint64_t)(at[i] - '0');
	}
	*length = n;
	return true;
}

static const char *
take_length(struct idem_head *h, const struct field *f)
{
	uint64_t length;

	if (f->value.len == 0)
		return NULL;
	if (!read_length(f->value, &length))
		return "Content-Length is not a number";
	if (h->has_length)
		/* Fronts refuse it twice, even when equal: once will do. */
		return length == h->length ? NULL :
		    "two different Content-Length";
	h->has_length = true;
	h->length = length;
	return keep(h, f);
}

/* We do not decode, and a front would encode it once more. */
static const char *
take_encoding(struct idem_head *h, const struct field *f)
{
	(void)h;
	if (f->value.len > 0 && !idem_bytes_is_nocase(f->value, "identity"))
		return "Transfer-Encoding";
	return NULL;
}

static const char *
take_type(struct idem_head *h, const struct field *f)
{
	if (f->value.len > 0)
		h->has_type = true;
	return keep(h, f);
}

/* A scheme and a colon (RFC 3986, 3.1). */
static bool
is_absolute(struct idem_bytes location)
{
	const uint8_t *at = location.at;
	size_t i;

	for (i = 0; i < location.len && at[i] != ':'; i++)
		if (!is_alpha(at[i]) && (i == 0 || (!is_digit(at[i]) &&
		    at[i] != '+' && at[i] != '-' && at[i] != '.')))
			return false;
	return i > 0 && i < location.len;
}

static const char *
take_location(struct idem_head *h, const struct field *f)
{
	if (f->value.len > 0)
		h->has_location = true;
	if (is_absolute(f->value))
		h->location_absolute = true;
	return keep(h, f);
}

static const char *
take_store(struct idem_head *h, const struct field *f)
{
	if (idem_bytes_is_nocase(f->value, "no"))
		h->no_store = true;
	return NULL;
}

static take_fn *
taker_of(struct idem_bytes name)
{
	static const struct {
		const char *name;
		take_fn *take;
	} takers[] = {
		{ "Status", take_status },
		{ "Content-Type", take_type },
		{ "Content-Length", take_length },
		{ "Location", take_location },
		{ "Idempotency-Store", take_store },
		{ "Idempotency-Status", leave_out },
		{ "Idempotent-Replayed", leave_out },
		{ "Idempotency-Keep", leave_out },
		{ "Transfer-Encoding", take_encoding },
		{ "Connection", leave_out },
		{ "Keep-Alive", leave_out },
		{ "Proxy-Connection", leave_out },
		{ "TE", leave_out },
		{ "Trailer", leave_out },
		{ "Upgrade", leave_out },
		{ "Date", leave_out },
		{ "Server", leave_out },
	};
	size_t i;

	for (i = 0; i < sizeof takers / sizeof *takers; i++)
		if (idem_bytes_is_nocase(name, takers[i].name))
			return takers[i].take;
	return keep;
}

static const char *
take_line(struct idem_head *h, struct idem_bytes line)
{
	const uint8_t *at = line.at, *colon;
	struct field f = { .line = line };
	size_t name_len;

	if (memchr(at, '\0', line.len) != NULL)
		return "NUL";
	if (memchr(at, '\r', line.len) != NULL)
		return "a CR inside a line";
	if (is_blank(at[0]))
		return "a folded line";
	colon = memchr(at, ':', line.len);
	if (colon == NULL)
		return "a line without colon";
	name_len = (size_t)(colon - at);
	if (name_len > 0 && is_blank(colon[-1]))
		return "a blank before the colon";
	f.name = part(line, 0, name_len);
	if (!is_token(f.name))
		return "a bad field name";
	f.value = trimmed(part(line, name_len + 1, line.len));
	return taker_of(f.name)(h, &f);
}

/* "HTTP/1.1 404 Not Found", from a program that thinks it is a server. */
static bool
is_http_line(struct idem_bytes line)
{
	const uint8_t *at = line.at;

	return line.len > 8 && memcmp(at, "HTTP/1.", 7) == 0 &&
	    is_digit(at[7]) && is_blank(at[8]);
}

static const char *
take_first(struct idem_head *h, struct idem_bytes line)
{
	struct idem_bytes status;

	if (!is_http_line(line))
		return take_line(h, line);
	status = trimmed(part(line, 8, line.len));
	if (memchr(status.at, '\0', status.len) != NULL)
		return "NUL";
	if (memchr(status.at, '\r', status.len) != NULL)
		return "a CR inside a line";
	return set_status(h, status);
}

/* `lines` is the head with its blank line. */
static const char *
take_lines(struct idem_head *h, struct idem_bytes lines)
{
	const char *wrong = NULL;
	struct idem_bytes line;
	bool first = true;

	while (wrong == NULL && next_line(&lines, &line) && line.len > 0) {
		wrong = first ? take_first(h, line) : take_line(h, line);
		first = false;
	}
	if (wrong != NULL)
		return wrong;
	if (!h->has_status && h->lines.len == 0)
		return "no field at all";
	if (h->location_absolute && !h->has_status)
		return set_status(h, idem_bytes_text("302 Found"));
	return NULL;
}

/*
 * Only looks for line ends, since it starts afresh each time the program has
 * written more; a field is looked at once, when the head is whole.
 */
static enum idem_head_state
find_end(struct idem_head *h, struct idem_bytes in, bool ended)
{
	size_t seen = in.len < IDEM_HEAD_MAX ? in.len : IDEM_HEAD_MAX;
	struct idem_bytes left = { in.at, seen }, line;
	size_t n = 0;

	while (next_line(&left, &line)) {
		if (line.len == 0) {
			h->size = seen - left.len;
			return IDEM_HEAD_WHOLE;
		}
		if (++n > IDEM_HEAD_LINES_MAX) {
			h->wrong = "a head of too many lines";
			return IDEM_HEAD_BROKEN;
		}
	}
	if (seen == IDEM_HEAD_MAX)
		h->wrong = "a head too long";
	else if (ended)
		h->wrong = seen > 0 ? "no blank line" : "no output";
	return h->wrong != NULL ? IDEM_HEAD_BROKEN : IDEM_HEAD_MORE;
}

/* As new, but the buffers keep their room. */
static void
restart(struct idem_head *h)
{
	struct idem_buf lines = h->lines, status = h->status;

	idem_buf_clear(&lines);
	idem_buf_clear(&status);
	*h = (struct idem_head){
		.lines = lines, .status = status, .code = 200
	};
}

enum idem_head_state
idem_head_parse(struct idem_head *h, struct idem_bytes in, bool ended)
{
	enum idem_head_state state;

	restart(h);
	state = find_end(h, in, ended);
	if (state == IDEM_HEAD_WHOLE) {
		in.len = h->size;
		h->wrong = take_lines(h, in);
		if (!idem_buf_ok(&h->lines) || !idem_buf_ok(&h->status))
			h->wrong = "out of memory";
	}
	if (h->wrong == NULL)
		return state;
	idem_buf_clear(&h->lines);
	idem_buf_clear(&h->status);
	return IDEM_HEAD_BROKEN;
}

void
idem_head_free(struct idem_head *h)
{
	idem_buf_free(&h->lines);
	idem_buf_free(&h->status);
	*h = (struct idem_head){ 0 };
}
