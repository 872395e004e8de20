/* SPDX-License-Identifier: ISC */
#include "problem.h"

#include "tap.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- a strict reader of JSON texts (RFC 8259) ----------------------------- */

static bool json_value(const uint8_t **at);

static void
json_blanks(const uint8_t **at)
{
	while (**at == ' ' || **at == '\t' || **at == '\n' || **at == '\r')
		++*at;
}

static bool
json_eat(const uint8_t **at, const char *text)
{
	size_t len = strlen(text);

	if (strncmp((const char *)*at, text, len) != 0)
		return false;
	*at += len;
	return true;
}

static bool
json_digits(const uint8_t **at)
{
	if (!isdigit(**at))
		return false;
	while (isdigit(**at))
		++*at;
	return true;
}

static bool
json_number(const uint8_t **at)
{
	(void)json_eat(at, "-");
	if (!json_eat(at, "0") && !json_digits(at))
		return false;
	return !json_eat(at, ".") || json_digits(at);
}

static bool
json_escape(const uint8_t **at)
{
	size_t i;

	if (**at != 'u')
		return **at != '\0' && strchr("\"\\/bfnrt", *(*at)++) != NULL;
	++*at;
	for (i = 0; i < 4; i++)
		if (!isxdigit(*(*at)++))
			return false;
	return true;
}

/* One character beyond ASCII; written unlike the code that is tested. */
static bool
json_utf8(const uint8_t **at)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint8_t first = *(*at)++;
	size_t len = first >= 0xf8 ? 0 : first >= 0xf0 ? 4 :
	    first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 0;
	uint32_t c = len > 0 ? first & (0xffu >> (len + 1)) : 0;
	size_t i;

	for (i = 1; i < len; i++, ++*at) {
		if ((**at & 0xc0) != 0x80)
			return false;
		c = c << 6 | (**at & 0x3f);
	}
	return len > 0 && c >= least[len] && c <= 0x10ffff &&
	    (c < 0xd800 || c > 0xdfff);
}

static bool
json_string(const uint8_t **at)
{
	if (!json_eat(at, "\""))
		return false;
	while (!json_eat(at, "\"")) {
		if (**at < 0x20)
			return false;
		if (json_eat(at, "\\") ? !json_escape(at) : **at < 0x80 ?
		    (++*at, false) : !json_utf8(at))
			return false;
	}
	return true;
}

static bool
json_members(const uint8_t **at)
{
	json_blanks(at);
	if (json_eat(at, "}"))
		return true;
	do {
		json_blanks(at);
		if (!json_string(at))
			return false;
		json_blanks(at);
		if (!json_eat(at, ":") || !json_value(at))
			return false;
	} while (json_eat(at, ","));
	return json_eat(at, "}");
}

static bool
json_value(const uint8_t **at)
{
	bool good;

	json_blanks(at);
	if (json_eat(at, "{"))
		good = json_members(at);
	else if (**at == '"')
		good = json_string(at);
	else
		good = json_number(at);
	json_blanks(at);
	return good;
}

static bool
is_json(const char *text)
{
	const uint8_t *at = (const uint8_t *)text;

	json_blanks(&at);
	return *at == '{' && json_value(&at) && *at == '\0';
}

static void
check_checker(void)
{
	static const char *const good[] = {
		"{}", " { \"a\" : 1 , \"b\":-0.5}\n", "{\"a\":{\"b\":\"\"}}",
		"{\"\\u00e9\\n\\\"\xc3\xa9\xf0\x9f\x98\x80\":409}",
	};
	static const char *const bad[] = {
		"", "1", "{", "{}x", "{\"a\"}", "{\"a\":}", "{\"a\":1,}",
		"{a:1}", "{\"a\":01}", "{\"a\":\"\n\"}", "{\"a\":\"\\x\"}",
		"{\"a\":\"\\u00g0\"}", "{\"a\":\"\xff\"}", "{\"a\":\"\xc3\"}",
		"{\"a\":\"\xc0\x80\"}", "{\"a\":\"\xed\xa0\x80\"}",
		"{\"a\":\"\xf4\x90\x80\x80\"}", "{\"a\":\"b}",
	};
	size_t i;

	for (i = 0; i < sizeof good / sizeof *good; i++)
		ok(is_json(good[i]), "the checker takes good text %zu", i);
	for (i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(!is_json(bad[i]), "the checker refuses bad text %zu", i);
}

/* --- documents ------------------------------------------------------------ */

static const struct {
	const char *what, *detail;
	const char *json, *html;	/* what it must become */
} details[] = {
	{ "plain text", "The body differs.", "The body differs.",
	  "<p>The body differs.</p>" },
	{ "quotes and backslashes", "\"a\\b\"", "\\\"a\\\\b\\\"",
	  "<p>&#34;a\\b&#34;</p>" },
	{ "markup", "</p><script>'&", "</p><script>'&",
	  "<p>&#60;/p&#62;&#60;script&#62;&#39;&#38;</p>" },
	{ "control characters", "\x01\t\n\r\x1f\x7f",
	  "\\u0001\\u0009\\u000a\\u000d\\u001f\x7f",
	  "<p>\xef\xbf\xbd\t\n\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd</p>" },
	{ "good UTF-8", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
	  "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
	  "<p>\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80</p>" },
	{ "the first and last characters of each length",
	  "\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf"
	  "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
	  "\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf"
	  "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "<p>\xc2\x80" },
	{ "a stray continuation byte", "a\x80z", "a\xef\xbf\xbdz",
	  "<p>a\xef\xbf\xbdz</p>" },
	{ "a byte that is never UTF-8", "a\xffz", "a\xef\xbf\xbdz",
	  "<p>a\xef\xbf\xbdz</p>" },
	{ "a character cut off", "a\xe2\x82", "a\xef\xbf\xbd\xef\xbf\xbd",
	  "<p>a\xef\xbf\xbd\xef\xbf\xbd</p>" },
	{ "a character cut off by a quote", "\xf0\x9f\x98\"",
	  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\\\"", "&#34;</p>" },
	{ "an overlong character", "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd",
	  "<p>\xef\xbf\xbd\xef\xbf\xbd</p>" },
	{ "an overlong character of three bytes", "\xe0\x9f\xbf",
	  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "</p>" },
	{ "an overlong character of four bytes", "\xf0\x8f\xbf\xbf",
	  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "</p>" },
	{ "a surrogate", "\xed\xa0\x80",
	  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "</p>" },
	{ "a character beyond Unicode", "\xf4\x90\x80\x80",
	  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "</p>" },
};

/* What is written, as C strings; zeroes after free. */
struct written {
	struct idem_buf lines, body;
	const char *fields, *document;
};

static void
discard(struct written *w)
{
	idem_buf_free(&w->lines);
	idem_buf_free(&w->body);
	w->fields = w->document = NULL;
}

static void
write_it(struct written *w, enum idem_problem problem,
    const struct idem_problem_more *more)
{
	discard(w);
	idem_problem_write(problem, more, &w->lines, &w->body);
	idem_buf_u8(&w->lines, 0);
	idem_buf_u8(&w->body, 0);
	if (!idem_buf_ok(&w->lines) || !idem_buf_ok(&w->body))
		bail_out("out of memory");
	w->fields = (const char *)w->lines.at;
	w->document = (const char *)w->body.at;
}

static bool
has(const char *text, const char *part)
{
	return strstr(text, part) != NULL;
}

static bool
has_length(const struct written *w)
{
	char field[64];

	snprintf(field, sizeof field, "\r\nContent-Length: %zu\r\n",
	    w->body.len - 1);
	return has(w->fields, field);
}

static void
check_details(struct written *w)
{
	struct idem_problem_more more = { 0 };
	char end[256];
	size_t i;
	int p, wrong;

	for (i = 0; i < sizeof details / sizeof *details; i++) {
		more.detail = details[i].detail;
		more.html = false;
		wrong = 0;
		for (p = IDEM_PROBLEM_NONE + 1; p < IDEM_PROBLEMS; p++) {
			write_it(w, (enum idem_problem)p, &more);
			wrong += !is_json(w->document) || !has_length(w);
		}
		is_int(wrong, 0, "%s in a detail keep all JSON "
		    "valid and Content-Length right", details[i].what);
		snprintf(end, sizeof end, " %s\"}\n", details[i].json);
		ok(has(w->document, end), "%s are written to JSON as they "
		    "should", details[i].what);
		more.html = true;
		write_it(w, IDEM_PROBLEM_MISMATCH, &more);
		ok(has(w->document, details[i].html) && has_length(w),
		    "%s are written to HTML as they should", details[i].what);
	}
}

static void
check_documents(struct written *w)
{
	struct idem_problem_more more = { 0 };
	const struct idem_problem_form *form;
	char text[512];
	int p;

	for (p = IDEM_PROBLEM_NONE + 1; p < IDEM_PROBLEMS; p++) {
		form = idem_problem_form((enum idem_problem)p);
		more.html = false;
		write_it(w, (enum idem_problem)p, &more);
		snprintf(text, sizeof text, "{\"type\":\"urn:idem:problem:%s\","
		    "\"title\":\"%s\",\"status\":%d,\"detail\":\"%s\"}\n",
		    form->type, form->title, form->code, form->detail);
		is(w->document, text, "%s is this JSON", form->type);
		ok(is_json(w->document), "%s is valid JSON [idem:E11]",
		    form->type);
		more.html = true;
		write_it(w, (enum idem_problem)p, &more);
		ok(has(w->document, "<!DOCTYPE html>\n<html lang=\"en\">") &&
		    has(w->document, "<meta charset=\"utf-8\">") &&
		    has(w->document, "content=\"light dark\">") &&
		    has(w->document, "<title>") && has(w->document, "<h1>") &&
		    has(w->document, "<p>") &&
		    has(w->document, "</main>\n</body>\n</html>\n"),
		    "%s is a whole page", form->type);
	}
}

static void
check_fields(struct written *w)
{
	struct idem_problem_more more = { .retry_after_s = 7 };
	const struct idem_problem_form *form;
	char text[256];
	int p;

	for (p = IDEM_PROBLEM_NONE + 1; p < IDEM_PROBLEMS; p++) {
		form = idem_problem_form((enum idem_problem)p);
		more.html = p % 2 == 1;
		write_it(w, (enum idem_problem)p, &more);
		snprintf(text, sizeof text, "Content-Type: %s\r\n"
		    "Content-Language: en\r\nCache-Control: no-store\r\n"
		    "Content-Length: %zu\r\n%s", more.html ?
		    "text/html; charset=utf-8" : "application/problem+json",
		    w->body.len - 1,
		    form->retry_after ? "Retry-After: 7\r\n" :
		    form->code == 405 ? "Allow: POST\r\n" : "");
		is(w->fields, text, "%s has these fields", form->type);
	}
	more = (struct idem_problem_more){ 0 };
	write_it(w, IDEM_PROBLEM_BUSY, &more);
	ok(has(w->fields, "Retry-After: 1\r\n"),
	    "Retry-After is never 0, which would mean at once");
}

static void
check_append(void)
{
	struct idem_problem_more more = { 0 };
	struct idem_buf lines = { 0 }, body = { 0 };
	char length[64];

	idem_buf_text(&lines, "A: 1\r\n");
	idem_buf_text(&body, "before");
	idem_problem_write(IDEM_PROBLEM_BUSY, &more, &lines, &body);
	idem_buf_u8(&lines, 0);
	snprintf(length, sizeof length, "Content-Length: %zu\r\n",
	    body.len - 6);
	ok(strncmp((char *)lines.at, "A: 1\r\nContent-Type", 18) == 0 &&
	    has((char *)lines.at, length) &&
	    memcmp(body.at, "before{", 7) == 0,
	    "what stood in the buffers stays, and is not counted");
	idem_buf_free(&lines);
	idem_buf_free(&body);
	body.max = 10;
	idem_problem_write(IDEM_PROBLEM_BUSY, &more, &lines, &body);
	ok(!idem_buf_ok(&body), "a body that does not fit says so");
	idem_buf_free(&lines);
	idem_buf_free(&body);
}

static const struct {
	const char *what;
	int64_t ms;
	const char *text;	/* NULL: left out */
} times[] = {
	{ "no time", 0, NULL },
	{ "a negative time", -1, NULL },
	{ "the first millisecond", 1, "1970-01-01T00:00:00Z" },
	{ "the end of a year", 94694399999, "1972-12-31T23:59:59Z" },
	{ "a leap day", 951782400000, "2000-02-29T00:00:00Z" },
	{ "the day after one", 951868800000, "2000-03-01T00:00:00Z" },
	{ "the last of February in another year", 1677628799000,
	  "2023-02-28T23:59:59Z" },
	{ "a time of day", 1735787045678, "2025-01-02T03:04:05Z" },
	{ "a century without leap day", 4107542400000,
	  "2100-03-01T00:00:00Z" },
	{ "the last second of four-digit years", 253402300799999,
	  "9999-12-31T23:59:59Z" },
	{ "the first one after it", 253402300800000, NULL },
	{ "the last of all", INT64_MAX, NULL },
};

static void
check_times(struct written *w)
{
	struct idem_problem_more more = { 0 };
	char text[64];
	size_t i;

	for (i = 0; i < sizeof times / sizeof *times; i++) {
		more.since_ms = times[i].ms;
		more.html = false;
		write_it(w, IDEM_PROBLEM_UNKNOWN, &more);
		snprintf(text, sizeof text, ",\"since\":\"%s\"}\n",
		    times[i].text != NULL ? times[i].text : "");
		ok(is_json(w->document) &&
		    (times[i].text != NULL ? has(w->document, text) :
		    !has(w->document, "since")), "%s is right in JSON",
		    times[i].what);
		more.html = true;
		write_it(w, IDEM_PROBLEM_UNKNOWN, &more);
		snprintf(text, sizeof text, "<time>%s</time>",
		    times[i].text != NULL ? times[i].text : "");
		ok(times[i].text != NULL ? has(w->document, text) :
		    !has(w->document, "<time>"), "%s is right in HTML",
		    times[i].what);
	}
}

static void
check_attempt(struct written *w)
{
	struct idem_problem_more more = {
		.detail = "x", .attempt = UINT32_MAX,
		.since_ms = 1735787045678,
	};

	write_it(w, IDEM_PROBLEM_UNKNOWN, &more);
	ok(is_json(w->document) && has(w->document, " x\",\"attempt\":"
	    "4294967295,\"since\":\"2025-01-02T03:04:05Z\"}\n"),
	    "attempt is a number, and stands before the time");
	more.html = true;
	write_it(w, IDEM_PROBLEM_UNKNOWN, &more);
	ok(has(w->document, "<p>Attempt: 4294967295</p>"),
	    "a page says the attempt too");
}

int
main(void)
{
	struct written w = { 0 };

	check_checker();
	check_details(&w);
	check_documents(&w);
	check_fields(&w);
	check_append();
	check_times(&w);
	check_attempt(&w);
	discard(&w);
	return done();
}
