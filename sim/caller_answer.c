/* SPDX-License-Identifier: ISC */
#include "caller_private.h"

#include "digest.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define DIGEST_SHOWN 8		/* bytes: 16 hex digits */
#define SAYS_LINES 8		/* of the program's body that are looked at */

/* --- lines ---------------------------------------------------------------- */

static struct idem_bytes
trimmed(struct idem_bytes text)
{
	const char *at = text.at;

	while (text.len > 0 && isspace((unsigned char)*at)) {
		at++;
		text.len--;
	}
	while (text.len > 0 && isspace((unsigned char)at[text.len - 1]))
		text.len--;
	text.at = at;
	return text;
}

/* Up to its line feed; false: nothing is left. */
static bool
cut_line(struct idem_bytes *left, struct idem_bytes *line)
{
	const char *end;

	if (left->len == 0)
		return false;
	*line = *left;
	end = memchr(left->at, '\n', left->len);
	if (end != NULL)
		line->len = (size_t)(end + 1 - (const char *)line->at);
	left->at = (const char *)left->at + line->len;
	left->len -= line->len;
	return true;
}

bool
caller_line_next(struct idem_bytes *left, struct caller_line *line)
{
	struct idem_bytes whole;
	const char *colon;

	if (!cut_line(left, &whole))
		return false;
	colon = memchr(whole.at, ':', whole.len);
	line->name = (struct idem_bytes){ whole.at, 0 };
	line->value = whole;
	if (colon != NULL) {
		line->name.len = (size_t)(colon - (const char *)whole.at);
		line->value.at = colon + 1;
		line->value.len -= line->name.len + 1;
	}
	line->value = trimmed(line->value);
	return true;
}

bool
caller_head_end(struct idem_bytes bytes, size_t *head, size_t *with_blank)
{
	const char *crlf = bytes.len == 0 ? NULL :
	    memmem(bytes.at, bytes.len, "\r\n\r\n", 4);
	const char *lf = bytes.len == 0 ? NULL :
	    memmem(bytes.at, bytes.len, "\n\n", 2);
	bool is_crlf = crlf != NULL && (lf == NULL || crlf < lf);
	const char *end = is_crlf ? crlf : lf;

	if (end == NULL)
		return false;
	*head = (size_t)(end - (const char *)bytes.at);
	*with_blank = *head + (is_crlf ? 4 : 2);
	return true;
}

bool
caller_number(struct idem_bytes text, uint64_t *n)
{
	const char *at = text.at;
	size_t i;

	*n = 0;
	for (i = 0; i < text.len && i < 18; i++) {
		if (at[i] < '0' || at[i] > '9')
			return false;
		*n = *n * 10 + (uint64_t)(at[i] - '0');
	}
	return text.len > 0 && i == text.len;
}

static void
copy(struct idem_bytes from, char *to, size_t size)
{
	size_t len = from.len < size ? from.len : size - 1;

	if (len > 0)
		memcpy(to, from.at, len);
	to[len] = '\0';
}

/* --- what the head says --------------------------------------------------- */

/* What is found out on the way. */
struct reading {
	struct call *call;
	struct idem_bytes body;
	bool promised, marked, retry;
	uint64_t length;
};

static bool
starts(struct idem_bytes text, const char *with)
{
	return text.len >= strlen(with) &&
	    strncasecmp(text.at, with, strlen(with)) == 0;
}

/* The first of its name counts. */
static void
read_line(struct reading *r, const struct caller_line *line)
{
	struct call *call = r->call;
	uint64_t n;

	if (idem_bytes_is_nocase(line->name, "Status") && !call->http) {
		call->status = line->value.len >= 3 &&
		    caller_number((struct idem_bytes){ line->value.at, 3 },
		    &n) ? (int)n : 0;
	} else if (idem_bytes_is_nocase(line->name, "Idempotency-Status")) {
		if (!r->marked)
			copy(line->value, call->mark, sizeof call->mark);
		r->marked = true;
	} else if (idem_bytes_is_nocase(line->name, "Retry-After")) {
		if (!r->retry && caller_number(line->value, &n))
			call->retry_after_s = (int64_t)n;
		r->retry = true;
	} else if (idem_bytes_is_nocase(line->name, "Content-Length")) {
		/* What is no number is a promise that nothing keeps. */
		if (!r->promised && !caller_number(line->value, &r->length))
			r->length = UINT64_MAX;
		r->promised = true;
	} else if (idem_bytes_is_nocase(line->name, "X-Sim-Key")) {
		copy(line->value, call->says_key, sizeof call->says_key);
	} else if (idem_bytes_is_nocase(line->name, "X-Sim-Nonce")) {
		copy(line->value, call->says_nonce, sizeof call->says_nonce);
	} else if (idem_bytes_is_nocase(line->name, "X-Sim-Effect")) {
		copy(line->value, call->says_effect, sizeof call->says_effect);
	}
}

/* "HTTP/1.1 200 OK"; CGI: 200 where it says nothing (RFC 3875, 6.3.3). */
static void
read_status(struct call *call, struct idem_bytes head)
{
	uint64_t code = 0;

	if (call->http && head.len >= 12)
		(void)caller_number((struct idem_bytes){
		    (const char *)head.at + 9, 3 }, &code);
	call->status = call->http ? (int)code : 200;
}

/* --- what the body says --------------------------------------------------- */

static bool
said(struct idem_bytes line, const char *word, char *to, size_t size)
{
	size_t len = strlen(word);

	if (!starts(line, word))
		return false;
	line.at = (const char *)line.at + len;
	line.len -= len;
	if (to[0] == '\0')
		copy(trimmed(line), to, size);
	return true;
}

/* A line that was cut says nothing: a part of a key is another key. */
static void
read_says(struct call *call, struct idem_bytes body, bool whole)
{
	struct idem_bytes line;
	unsigned i;

	for (i = 0; i < SAYS_LINES && cut_line(&body, &line); i++) {
		if (((const char *)line.at)[line.len - 1] != '\n' && !whole)
			return;
		if (!said(line, "key ", call->says_key,
		    sizeof call->says_key) &&
		    !said(line, "nonce ", call->says_nonce,
		    sizeof call->says_nonce) &&
		    !said(line, "effect ", call->says_effect,
		    sizeof call->says_effect))
			return;
	}
}

/* --- its digest ----------------------------------------------------------- */

static bool
is_among(struct idem_bytes text, const char *const *words)
{
	for (; *words != NULL; words++)
		if (idem_bytes_is_nocase(text, *words))
			return true;
	return false;
}

/* Did the program say it, or idem in its place? */
static bool
is_programs(const struct call *call)
{
	static const char *const marks[] = { "", "stored", "replayed",
		"released", "stored-without-body", "unprotected", "ignored",
		NULL };

	return is_among(idem_bytes_text(call->mark), marks);
}

/* What a replay may say otherwise, or a front. */
static bool
is_left_out(const struct call *call, const struct caller_line *line)
{
	static const char *const names[] = { "Status", "Date", "Server",
		"Connection", "Keep-Alive", "Transfer-Encoding",
		"Content-Length", "Idempotent-Replayed", NULL };

	if (is_among(line->name, names) || starts(line->name, "Idempotency-"))
		return true;
	if (idem_bytes_is_nocase(line->name, "Retry-After"))
		return !is_programs(call);
	return idem_bytes_is_nocase(line->name,
	    "Access-Control-Expose-Headers") &&
	    starts(line->value, "Idempotency-");
}

static void
hash_name(struct idem_hash *hash, struct idem_bytes name)
{
	const unsigned char *at = name.at;
	unsigned char lower;
	size_t i;

	idem_hash_u64(hash, name.len);
	for (i = 0; i < name.len; i++) {
		lower = (unsigned char)tolower(at[i]);
		idem_hash_add(hash, &lower, 1);
	}
}

static void
digest(struct call *call, struct idem_bytes head, struct idem_bytes body)
{
	struct idem_digest digest_of_it;
	struct caller_line line;
	struct idem_hash hash;

	idem_hash_init(&hash);
	idem_hash_u64(&hash, (uint64_t)call->status);
	while (caller_line_next(&head, &line))
		if (line.name.len > 0 && !is_left_out(call, &line)) {
			hash_name(&hash, line.name);
			idem_hash_part(&hash, line.value);
		}
	idem_hash_part(&hash, body);
	if (idem_hash_final(&hash, &digest_of_it))
		idem_hex(digest_of_it.at, DIGEST_SHOWN, call->digest);
}

/* --- all of it ------------------------------------------------------------ */

bool
caller_is_bodyless(const struct call *call, int status)
{
	return strcmp(call->method, "HEAD") == 0 || status == 204 ||
	    status == 304;
}

static const char *
wrong_with(const struct call *call, const struct reading *r, bool met)
{
	if (call->status == 0)
		return "no head";
	if (!met)
		return r->body.len < r->length ? "short" : "long";
	return NULL;
}

static void
read_head(struct reading *r, struct idem_bytes head)
{
	struct caller_line line;

	read_status(r->call, head);
	if (r->call->http)	/* its first line may have a colon */
		(void)cut_line(&head, &line.value);
	while (caller_line_next(&head, &line))
		read_line(r, &line);
}

void
caller_answer_read(struct call *call, bool whole)
{
	struct reading r = { .call = call };
	struct idem_bytes head = idem_buf_bytes(&call->out);
	size_t len, with_blank;

	if (caller_head_end(head, &len, &with_blank)) {
		r.body.at = (const char *)head.at + with_blank;
		r.body.len = head.len - with_blank;
		head.len = len;
		read_head(&r, head);
	}
	call->length_met = !r.promised || r.body.len == r.length ||
	    (caller_is_bodyless(call, call->status) && r.body.len == 0);
	if (whole) {
		call->why = wrong_with(call, &r, call->length_met);
		whole = call->why == NULL;
		call->end = whole ? OUTCOME_WHOLE : OUTCOME_CUT;
	}
	if (call->status != 0)
		read_says(call, r.body, whole);
	if (!whole)
		return;
	if (call->http)
		(void)cut_line(&head, &(struct idem_bytes){ 0 });
	digest(call, head, r.body);
}
