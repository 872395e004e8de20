/* SPDX-License-Identifier: ISC */
#include "reply.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP "Idempotency-Keep: 3600\r\n"
#define REPLAY "Idempotency-Status: replayed\r\nIdempotent-Replayed: true\r\n" \
	KEEP
#define COOKIES "A: 1\r\nSet-Cookie: a=1\r\nB: 2\r\nset-cookie:b=2\r\n" \
	"SET-COOKIE: c=3\r\n"

static const struct {
	const char *what;
	const char *status;	/* NULL: none was sent */
	const char *lines;
	enum idem_mark says;
	bool identity;
	const char *head;
} answers[] = {
	{ "a first answer says that it is stored, and only that",
	  "201 Made", "A: 1\r\n", IDEM_SAYS_STORED, false,
	  "Status: 201 Made\r\nA: 1\r\n"
	  "Idempotency-Status: stored\r\n" KEEP "\r\n" },
	{ "a replay says so in both fields",
	  "201 Made", "A: 1\r\n", IDEM_SAYS_REPLAYED, false,
	  "Status: 201 Made\r\nA: 1\r\n" REPLAY "\r\n" },
	{ "without a Status none is made up",
	  NULL, "A: 1\r\n", IDEM_SAYS_REPLAYED, false,
	  "A: 1\r\n" REPLAY "\r\n" },
	{ "without a mark there is no field of ours",
	  NULL, "A: 1\r\n", IDEM_SAYS_NONE, false, "A: 1\r\n\r\n" },
	{ "an answer without lines has ours",
	  "204", "", IDEM_SAYS_STORED, false,
	  "Status: 204\r\nIdempotency-Status: stored\r\n" KEEP "\r\n" },
	{ "an answer without a body says so",
	  NULL, "A: 1\r\n", IDEM_SAYS_STORED_WITHOUT_BODY, false,
	  "A: 1\r\nIdempotency-Status: stored-without-body\r\n" KEEP "\r\n" },
	{ "a first answer has its cookies",
	  NULL, COOKIES, IDEM_SAYS_STORED, false,
	  COOKIES "Idempotency-Status: stored\r\n" KEEP "\r\n" },
	{ "so has one that could not be recorded",
	  NULL, COOKIES, IDEM_SAYS_UNRECORDED, false,
	  COOKIES "Idempotency-Status: unrecorded\r\n\r\n" },
	{ "a replay to an identity has them too",
	  NULL, COOKIES, IDEM_SAYS_REPLAYED, true, COOKIES REPLAY "\r\n" },
	{ "any other replay has none of them, in whatever case",
	  NULL, COOKIES, IDEM_SAYS_REPLAYED, false,
	  "A: 1\r\nB: 2\r\n" REPLAY "\r\n" },
	{ "a replay of nothing but a cookie has fields of ours",
	  NULL, "Set-Cookie: a=1\r\n", IDEM_SAYS_REPLAYED, false,
	  REPLAY "\r\n" },
	{ "names that only begin or end like a cookie's are kept",
	  NULL, "Set-Cookie2: 1\r\nSet-Cooki: 2\r\nX-Set-Cookie: 3\r\n"
	  "X: Set-Cookie: 4\r\n", IDEM_SAYS_REPLAYED, false,
	  "Set-Cookie2: 1\r\nSet-Cooki: 2\r\nX-Set-Cookie: 3\r\n"
	  "X: Set-Cookie: 4\r\n" REPLAY "\r\n" },
	{ "a replay leaves out what its route says, in whatever case",
	  NULL, "X-Trace: 1\r\nx-tRACE:2\r\nX-Trace-Id: 3\r\n",
	  IDEM_SAYS_REPLAYED, false, "X-Trace-Id: 3\r\n" REPLAY "\r\n" },
	{ "where another origin may see the answer it may see our fields "
	  "[idem:E12]", NULL, "access-control-allow-origin: *\r\n",
	  IDEM_SAYS_STORED, false, "access-control-allow-origin: *\r\n"
	  "Idempotency-Status: stored\r\n" KEEP
	  "Access-Control-Expose-Headers: Idempotency-Status, "
	  "Idempotent-Replayed, Idempotency-Keep\r\n\r\n" },
	{ "where we say nothing there is nothing to see", NULL,
	  "Access-Control-Allow-Origin: *\r\n", IDEM_SAYS_NONE, false,
	  "Access-Control-Allow-Origin: *\r\n\r\n" },
	{ "a first answer leaves out none of it",
	  NULL, "X-Trace: 1\r\n", IDEM_SAYS_STORED, false,
	  "X-Trace: 1\r\nIdempotency-Status: stored\r\n" KEEP "\r\n" },
};

static struct idem_saved
saved(const char *status, const char *lines)
{
	struct idem_saved s = {
		.code = 200, .kept = true, .has_status = status != NULL,
		.lines = idem_bytes_text(lines)
	};

	if (status != NULL)
		s.status = idem_bytes_text(status);
	return s;
}

static void
check_answers(void)
{
	static const char *const left_out[] = { "X-Trace" };
	struct idem_reply_rule rule = { .keep_ms = 3600999,
		.left_out = left_out, .left_out_len = 1 };
	struct idem_saved s;
	struct idem_buf head;
	size_t i;

	for (i = 0; i < sizeof answers / sizeof *answers; i++) {
		head = (struct idem_buf){ 0 };
		rule.identity = answers[i].identity;
		s = saved(answers[i].status, answers[i].lines);
		idem_reply_answer(&head, &s, answers[i].says, &rule);
		is_bytes(head.at, head.len, answers[i].head,
		    strlen(answers[i].head), "%s", answers[i].what);
		idem_buf_free(&head);
	}
}

/* How long it is kept, as each mark says it. */
static void
check_keep(void)
{
	static const struct {
		const char *what;
		enum idem_mark says;
		int64_t keep_ms;
		const char *has;	/* NULL: it is not said */
	} rows[] = {
		{ "a first answer says how long it is kept [idem:B17]",
		  IDEM_SAYS_STORED, 86400000,
		  "\r\nIdempotency-Keep: 86400\r\n" },
		{ "so does a replay [idem:B17]", IDEM_SAYS_REPLAYED, 1000,
		  "\r\nIdempotency-Keep: 1\r\n" },
		{ "and one of which only the head is",
		  IDEM_SAYS_STORED_WITHOUT_BODY, 2999,
		  "\r\nIdempotency-Keep: 2\r\n" },
		{ "less than a second is none", IDEM_SAYS_STORED, 999,
		  "\r\nIdempotency-Keep: 0\r\n" },
		{ "ten years are no longer than they are", IDEM_SAYS_STORED,
		  INT64_C(315360000000),
		  "\r\nIdempotency-Keep: 315360000\r\n" },
		{ "where nothing is promised nothing is said", IDEM_SAYS_STORED,
		  0, NULL },
		{ "nor of what could not be recorded", IDEM_SAYS_UNRECORDED,
		  1000, NULL },
		{ "nor of what ran unprotected", IDEM_SAYS_UNPROTECTED, 1000,
		  NULL },
		{ "nor of what is free again", IDEM_SAYS_RELEASED, 1000, NULL },
		{ "nor where a key is ignored", IDEM_SAYS_IGNORED, 1000, NULL },
	};
	struct idem_saved s = saved("200 OK", "A: 1\r\n");
	struct idem_buf head;
	const char *found;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct idem_reply_rule rule = {
			.keep_ms = rows[i].keep_ms
		};

		head = (struct idem_buf){ 0 };
		idem_reply_answer(&head, &s, rows[i].says, &rule);
		idem_buf_u8(&head, '\0');
		found = strstr((char *)head.at, rows[i].has != NULL ?
		    rows[i].has : "Idempotency-Keep");
		ok((found != NULL) == (rows[i].has != NULL), "%s",
		    rows[i].what);
		idem_buf_free(&head);
	}
}

/* How often a field stands in a head, and the value of the last. */
static int
count(const char *head, const char *name, char *value, size_t size)
{
	size_t len = strlen(name), line_len;
	const char *line = head;
	int n = 0;

	value[0] = '\0';
	for (; (line_len = strcspn(line, "\r")) > 0; line += line_len + 2) {
		if (strncmp(line, name, len) != 0 || line[len] != ':')
			continue;
		n++;
		snprintf(value, size, "%.*s", (int)(line_len - len - 2),
		    line + len + 2);
	}
	return n;
}

/* The value of a field that must be there once; "" otherwise. */
static const char *
field(const char *head, const char *name, char *value, size_t size)
{
	if (count(head, name, value, size) != 1)
		value[0] = '\0';
	return value;
}

static char *
problem(enum idem_problem p, enum idem_mark says, bool html, bool no_body)
{
	const struct idem_problem_more more = {
		.attempt = 2, .since_ms = 1000000, .html = html
	};
	struct idem_buf head = { 0 };

	idem_reply_problem(&head, p, says, &more, no_body);
	idem_buf_u8(&head, '\0');
	if (!idem_buf_ok(&head))
		bail_out("out of memory");
	return (char *)head.at;		/* from malloc: the caller frees it */
}

static bool
is_whole(const char *text)
{
	char value[64];
	const char *body = strstr(text, "\r\n\r\n");

	field(text, "Content-Length", value, sizeof value);
	return body != NULL && strlen(body + 4) > 0 &&
	    strtoul(value, NULL, 10) == strlen(body + 4);
}

/* The same head, byte for byte, and nothing after it. */
static bool
is_only_head_of(const char *head, const char *text)
{
	size_t len = strlen(head);

	return len > 4 && strncmp(head, text, len) == 0 &&
	    strcmp(head + len - 4, "\r\n\r\n") == 0 && text[len] != '\0';
}

static void
check_problem(enum idem_problem p, bool html)
{
	const struct idem_problem_form *form = idem_problem_form(p);
	char *text = problem(p, form->mark, html, false);
	char *head = problem(p, form->mark, html, true);
	const char *kind = html ? "HTML" : "JSON";
	char value[64];
	char code[8];

	snprintf(code, sizeof code, "%d ", form->code);
	field(text, "Status", value, sizeof value);
	ok(strncmp(value, code, 4) == 0 && strlen(value) > 4 &&
	    strstr(value, "Unknown") == NULL,
	    "%s as %s has its Status with words: %s", form->type, kind, value);
	is(field(text, "Idempotency-Status", value, sizeof value),
	    idem_mark_text(form->mark), "%s as %s says its mark once",
	    form->type, kind);
	ok(is_whole(text), "%s as %s has the length of its body", form->type,
	    kind);
	ok(is_only_head_of(head, text),
	    "%s as %s to HEAD is the same without the body", form->type, kind);
	ok(count(text, "Idempotent-Replayed", value, sizeof value) == 0,
	    "%s as %s is no replay", form->type, kind);
	ok((count(text, "Retry-After", value, sizeof value) == 1) ==
	    form->retry_after, "%s as %s says when to come again if it may",
	    form->type, kind);
	free(text);
	free(head);
}

static void
check_memory(void)
{
	const struct idem_problem_more more = { 0 };
	struct idem_saved s = saved("200 OK", "A: 1\r\n");
	const struct idem_reply_rule rule = { .keep_ms = 1000 };
	struct idem_buf head = { .max = 16 };

	idem_reply_answer(&head, &s, IDEM_SAYS_STORED, &rule);
	ok(!idem_buf_ok(&head), "an answer for which there is no room says so");
	idem_buf_clear(&head);
	idem_reply_problem(&head, IDEM_PROBLEM_BUSY, IDEM_SAYS_NOT_STARTED,
	    &more, false);
	ok(!idem_buf_ok(&head), "a problem for which there is none, too");
	idem_buf_free(&head);
}

static void
check_codes(void)
{
	const struct idem_effect refused = {
		.body = IDEM_BODY_PROBLEM, .problem = IDEM_PROBLEM_MISMATCH
	};
	const struct idem_effect fresh = { .body = IDEM_BODY_FRESH };
	struct idem_saved s = saved(NULL, "");

	s.code = 201;
	is_int(idem_reply_code(&refused, &s), 422,
	    "the code of a problem is its own");
	is_int(idem_reply_code(&fresh, &s), 201,
	    "the code of an answer is the program's");
	is_int(idem_reply_code(&fresh, NULL), 200,
	    "and 200 where none is at hand");
}

int
main(void)
{
	int p;

	check_answers();
	check_keep();
	for (p = IDEM_PROBLEM_NONE + 1; p < IDEM_PROBLEMS; p++) {
		check_problem((enum idem_problem)p, false);
		check_problem((enum idem_problem)p, true);
	}
	check_memory();
	check_codes();
	return done();
}
