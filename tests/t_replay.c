/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A replay is the answer that was stored: status, fields, order, every byte. */

static const struct {
	const char *what;
	const char *text;	/* after COUNT */
	const char *head;	/* without what we add or leave out */
	const char *want;	/* the first time */
	size_t len;		/* of the body */
} answers[] = {
	{ "204 without body", "printf 'Status: 204 No Content\\n\\n'\n",
	    "Status: 204 No Content\r\n", "204 stored", 0 },
	{ "204 with a body that it may not have",
	    "printf 'Status: 204 No Content\\n\\nbody'\n",
	    "Status: 204 No Content\r\n", "204 stored", 0 },
	{ "304", "printf 'Status: 304 Not Modified\\nETag: \"a\"\\n\\n'\n",
	    "Status: 304 Not Modified\r\nETag: \"a\"\r\n", "304 stored", 0 },
	{ "303 and Location", "printf 'Status: 303 See Other\\n"
	    "Location: http://localhost/done?n=1\\n\\n'\n",
	    "Status: 303 See Other\r\nLocation: http://localhost/done?n=1\r\n"
	    "Content-Length: 0\r\n", "303 stored", 0 },
	{ "an absolute Location alone [cgi:C29 R19]",
	    "printf 'Location: http://localhost/done\\n\\n'\n",
	    "Status: 302 Found\r\nLocation: http://localhost/done\r\n"
	    "Content-Length: 0\r\n", "302 stored", 0 },
	{ "a Location of a path alone [cgi:C29 R18]",
	    "printf 'Location: /done\\n\\n'\n",
	    "Location: /done\r\nContent-Length: 0\r\n", "200 stored", 0 },
	{ "201, Location, ETag and Link [cgi:C29 idem:E5]",
	    "printf 'Status: 201 Made\\n"
	    "Location: /orders/1\\nETag: W/\"1\"\\nLink: </a>; rel=\"next\"\\n"
	    "\\nmade'\n",
	    "Status: 201 Made\r\nLocation: /orders/1\r\nETag: W/\"1\"\r\n"
	    "Link: </a>; rel=\"next\"\r\nContent-Length: 4\r\n",
	    "201 stored", 4 },
	{ "fields twice, with commas, in their order [idem:E1]",
	    "printf 'X-B: 2\\nX-A: 1, 1\\nx-b: 3\\n"
	    "Content-Disposition: attachment; filename=\"a,b.txt\"\\n"
	    "X-A: 1, 1\\nX-Empty:\\nX-Colon: a:b\\nWarning:   x \\n\\nok'\n",
	    "X-B: 2\r\nX-A: 1, 1\r\nx-b: 3\r\n"
	    "Content-Disposition: attachment; filename=\"a,b.txt\"\r\n"
	    "X-A: 1, 1\r\nX-Empty:\r\nX-Colon: a:b\r\nWarning:   x \r\n"
	    "Content-Length: 2\r\n", "200 stored", 2 },
	{ "fields of the connection [R21 idem:E13]",
	    "printf 'Connection: close, X-A\\n"
	    "Keep-Alive: 5\\nDate: Mon, 01 Jan 2024 00:00:00 GMT\\n"
	    "Server: old\\nX-A: 1\\nContent-Length: 2\\n\\nok'\n",
	    "X-A: 1\r\nContent-Length: 2\r\n", "200 stored", 2 },
	{ "words that are ours to say", "printf 'X-A: 1\\n"
	    "Idempotency-Status: replayed\\nidempotent-replayed: true\\n"
	    "\\nok'\n",
	    "X-A: 1\r\nContent-Length: 2\r\n", "200 stored", 2 },
	{ "a status without text", "printf 'Status: 202\\n\\nok'\n",
	    "Status: 202\r\nContent-Length: 2\r\n", "202 stored", 2 },
	{ "all bytes, a thousand times [idem:E3]", "printf 'X-A: 1\\n\\n'\n"
	    "perl -e 'binmode STDOUT; "
	    "print map { chr } 0..255 for 1..1000'\n",
	    "X-A: 1\r\nContent-Length: 256000\r\n", "200 stored", 256000 },
	{ "a body that looks like a head", "printf 'X-A: 1\\n\\n"
	    "Status: 500\\n\\nStatus: 500\\n'\n",
	    "X-A: 1\r\nContent-Length: 25\r\n", "200 stored", 25 },
	{ "1 MB", "printf 'X-A: 1\\n\\n'\nhead -c 1048576 /dev/zero\n",
	    "X-A: 1\r\nContent-Length: 1048576\r\n", "200 stored", 1048576 },
};

#define ANSWERS (sizeof answers / sizeof *answers)

/* The head without the fields that say what we did. */
static void
head_of(const struct rig_answer *answer, struct idem_buf *out)
{
	const char *at = (const char *)answer->out.at;
	const char *body = answer->body.at, *end;

	idem_buf_clear(out);
	while (at < body && (end = memchr(at, '\n', (size_t)(body - at)))) {
		end++;
		if (end < body && strncasecmp(at, "Idempotency-Status:", 19) &&
		    strncasecmp(at, "Idempotency-Keep:", 17) &&
		    strncasecmp(at, "Idempotent-Replayed:", 20))
			idem_buf_append(out, at, (size_t)(end - at));
		at = end;
	}
}

static int
count_of(const struct rig_answer *answer, const char *name)
{
	const char *at = (const char *)answer->out.at;
	const char *body = answer->body.at, *end;
	int n = 0;

	while (at < body && (end = memchr(at, '\n', (size_t)(body - at)))) {
		n += strncasecmp(at, name, strlen(name)) == 0;
		at = end + 1;
	}
	return n;
}

static void
one(struct rig *rig, size_t i)
{
	char key[32], again[64], text[1024];
	struct rig_request request = { .method = "POST", .path = "/replay",
		.key = key };
	struct rig_answer first, answer;
	struct idem_buf head = { 0 };

	snprintf(text, sizeof text, "%s%s", COUNT, answers[i].text);
	rig_program(rig, "program", text);
	snprintf(key, sizeof key, "replay-%zu", i);
	snprintf(again, sizeof again, "%.3s replayed", answers[i].want);

	rig_request(rig, &request, &first);
	told(&first, answers[i].want, "%s", answers[i].what);
	head_of(&first, &head);
	is_bytes(head.at, head.len, answers[i].head, strlen(answers[i].head),
	    "its head");
	is_int((long long)first.body.len, (long long)answers[i].len,
	    "its body's length");
	is_int(count_of(&first, "Idempotency-Status:"), 1, "our word, once");

	rig_request(rig, &request, &answer);
	told(&answer, again, "%s again", answers[i].what);
	head_of(&answer, &head);
	is_bytes(head.at, head.len, answers[i].head, strlen(answers[i].head),
	    "the same head");
	is_bytes(answer.body.at, answer.body.len, first.body.at,
	    first.body.len, "the same body");
	is_int(count_of(&answer, "Idempotency-Status:"), 1, "our word, once");
	is(rig_field(&answer, "Idempotent-Replayed"), "true",
	    "it is said to be replayed [idem:E4]");
	rig_answer_free(&first);
	rig_answer_free(&answer);
	idem_buf_free(&head);
}

static void
each_answer(struct rig *rig)
{
	long before = starts(rig);
	size_t i;

	for (i = 0; i < ANSWERS; i++)
		one(rig, i);
	is_int(starts(rig) - before, (long long)ANSWERS, "one start for each "
	    "[idem:E4]");
}

/* --- where it is collected ------------------------------------------------ */

#define LONGEST 300000

/* Of its output, around what comes with the keeper's word, what is read of a
   file at once, and what is kept in memory. */
static const size_t lengths[] = {
	9, 16383, 16384, 16385, 65535, 65536, 65537, 131072, 262144, 262153,
	LONGEST
};

static void
numbers(char *to, size_t len)
{
	char number[16];
	size_t at = 0, i, n;

	for (i = 1; at < len; i++) {
		n = (size_t)snprintf(number, sizeof number, "%zu,", i);
		if (n > len - at)
			n = len - at;
		memcpy(to + at, number, n);
		at += n;
	}
}

static void
each_length(struct rig *rig)
{
	static const char head[] = "X-A: 1\n\n";
	static char want[LONGEST];
	char key[32], text[256];
	struct rig_request request = { .method = "POST", .path = "/replay",
		.key = key };
	struct rig_answer answer;
	size_t i, len;

	numbers(want, sizeof want);
	for (i = 0; i < 2 * sizeof lengths / sizeof *lengths; i++) {
		len = lengths[i / 2] - strlen(head);
		snprintf(text, sizeof text, "#!/bin/sh\nexec perl -e 'print "
		    "\"X-A: 1\\n\\n\", substr(join(\"\", map { \"$_,\" } "
		    "1..60000), 0, %zu)'\n", len);
		rig_program(rig, "program", text);
		snprintf(key, sizeof key, "length-%zu", i / 2);
		rig_request(rig, &request, &answer);
		is_bytes(answer.body.at, answer.body.len, want, len,
		    "output of %zu bytes is an answer of %zu, %s",
		    lengths[i / 2], len, i % 2 == 0 ? "as it was written" :
		    "and when it is replayed");
		rig_answer_free(&answer);
	}
}

/* --- cookies -------------------------------------------------------------- */

#define COOKIES \
	"Set-Cookie: a=1; Expires=Wed, 01 Jan 2031 00:00:00 GMT\r\n" \
	"Set-Cookie: b=2; Path=/\r\n"

static void
cookies(struct rig *rig, const char *key, const char *const *who, bool replayed)
{
	static const char with[] = "X-A: 1\r\n" COOKIES "X-B: 2\r\n"
	    "Content-Length: 2\r\n";
	static const char without[] = "X-A: 1\r\nX-B: 2\r\n"
	    "Content-Length: 2\r\n";
	const char *again = replayed ? with : without;
	struct rig_request request = { .method = "POST", .path = "/replay",
		.key = key, .more = who };
	struct rig_answer answer;
	struct idem_buf head = { 0 };

	rig_request(rig, &request, &answer);
	told(&answer, "200 stored", "two cookies for %s", key);
	head_of(&answer, &head);
	is_bytes(head.at, head.len, with, strlen(with), "both, in their order");
	rig_answer_free(&answer);
	rig_request(rig, &request, &answer);
	told(&answer, "200 replayed", "two cookies for %s again", key);
	head_of(&answer, &head);
	is_bytes(head.at, head.len, again, strlen(again), replayed ?
	    "both, in their order" : "none: nobody knows whose they are");
	rig_answer_free(&answer);
	idem_buf_free(&head);
}

static void
all_cookies(struct rig *rig)
{
	rig_program(rig, "program", COUNT
	    "printf 'X-A: 1\\n"
	    "Set-Cookie: a=1; Expires=Wed, 01 Jan 2031 00:00:00 GMT\\n"
	    "Set-Cookie: b=2; Path=/\\nX-B: 2\\n\\nok'\n");
	cookies(rig, "anybody", NULL, false);
	cookies(rig, "unverified", (const char *[]){ "REMOTE_USER=ann", NULL },
	    false);
	cookies(rig, "ann", (const char *[]){ "AUTH_TYPE=Basic",
	    "REMOTE_USER=ann", NULL }, true);
}

/* --- answers whose bodies are not kept ------------------------------------ */

#define KEPT_MAX (16 * 1024 * 1024)

static void
large(struct rig *rig, size_t len, bool kept)
{
	char key[32], text[256];
	struct rig_request request = { .method = "POST", .path = "/large",
		.key = key };
	struct rig_answer answer;
	long before = starts(rig);
	size_t i, wrong = 0;

	snprintf(text, sizeof text, "%sprintf 'X-A: 1\\n\\n'\n"
	    "head -c %zu /dev/zero | tr '\\0' x\n", COUNT, len);
	rig_program(rig, "program", text);
	snprintf(key, sizeof key, "large-%zu", len);
	rig_request(rig, &request, &answer);
	told(&answer, kept ? "200 stored" : "200 stored-without-body",
	    "an answer of %zu bytes", len);
	is_int((long long)answer.body.len, (long long)len,
	    "it reaches its client whole");
	for (i = 0; i < answer.body.len; i++)
		wrong += ((const char *)answer.body.at)[i] != 'x';
	is_int((long long)wrong, 0, "every byte of it");
	is_int(strtol(rig_field(&answer, "Content-Length"), NULL, 10),
	    (long long)len, "with its length");
	rig_answer_free(&answer);
	ask(rig, &request, kept ? "200 replayed" : "409 not-kept", "and later");
	ask(rig, &request, kept ? "200 replayed" : "409 not-kept", "for ever");
	is_int(starts(rig) - before, 1, "there was one start");
}

/* The program may ask for it. */
static void
store_no(struct rig *rig)
{
	struct rig_request request = { .method = "POST", .path = "/secret",
		.key = "secret" };
	struct rig_answer answer;
	long before = starts(rig);

	rig_program(rig, "program", COUNT "printf 'X-A: 1\\n"
	    "Idempotency-Store: no\\n\\nshown once'\n");
	rig_request(rig, &request, &answer);
	told(&answer, "200 stored-without-body", "Idempotency-Store: no");
	is_bytes(answer.body.at, answer.body.len, "shown once", 10,
	    "the first client gets the body");
	is(rig_field(&answer, "Idempotency-Store"), "",
	    "and not the program's word to us");
	rig_answer_free(&answer);
	ask(rig, &request, "409 not-kept", "later");
	is_int(starts(rig) - before, 1, "there was one start");
}

int
main(void)
{
	const char *options[] = { "--", NULL, NULL };
	struct rig rig;

	rig_open(&rig);
	options[1] = rig_at(&rig, "program");
	ask_start(&rig, options);
	each_answer(&rig);
	each_length(&rig);
	all_cookies(&rig);
	large(&rig, KEPT_MAX, true);
	large(&rig, KEPT_MAX + 1, false);
	large(&rig, 17 * 1024 * 1024, false);
	store_no(&rig);
	is_int(rig_stop(&rig, 20000), 0, "idemd ends with status 0");
	rig_end(&rig);
	return done();
}
