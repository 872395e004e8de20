/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "rig_watch.h"
#include "tap.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * What programs write, how large or odd it may be, and what of it reaches the
 * web server, whole, in time, and without taking memory.
 */
#define WAIT_MS 20000
#define HEAD "printf 'Content-Type: text/plain\\n\\n'\n"
#define MEMORY_KB (32 * 1024)	/* max_kept, and as much again */

static pid_t lobby;

static struct rig_request
asks(struct rig *rig, const char *text)
{
	char program[2048];

	snprintf(program, sizeof program, "%s%s", COUNT, text);
	rig_program(rig, "p", program);
	return (struct rig_request){ .method = "POST", .path = "/p" };
}

/* --- sizes near those of records ------------------------------------------ */

static void
fill(char *at, size_t len)
{
	uint32_t x = 7;
	size_t i;

	for (i = 0; i < len; i++) {
		x = x * 1664525 + 1013904223;
		at[i] = (char)(x >> 24);
	}
}

static void
size(struct rig *rig, char *text, size_t len, const char *key)
{
	struct rig_request request = asks(rig, HEAD "exec cat\n");
	struct rig_answer answer;

	request.key = key;
	request.body = (struct idem_bytes){ text, len };
	rig_request(rig, &request, &answer);
	ok(answer.whole && answer.body.len == len &&
	    memcmp(answer.body.at, text, len) == 0,
	    "%zu bytes there and back, %s [cgi:C66 cgi:C62]", len,
	    key == NULL ? "without a key" : "with one");
	rig_answer_free(&answer);
}

static void
sizes(struct rig *rig)
{
	static const size_t lens[] = { 1, 16383, 16384, 16385, 31592, 65534,
		65535, 65536, 131072, 10000000 };
	char *text = malloc(lens[9]), key[32];
	size_t i;

	if (text == NULL)
		bail_out("no memory");
	fill(text, lens[9]);
	for (i = 0; i < sizeof lens / sizeof *lens; i++) {
		snprintf(key, sizeof key, "size-%zu", i);
		size(rig, text, lens[i], NULL);
		size(rig, text, lens[i], key);
	}
	free(text);
}

/* --- a body that came in chunks ------------------------------------------- */

#define CHUNKED 1350880		/* longer than memory keeps of a body */

static void
chunked(struct rig *rig, const char *key, const char *length)
{
	static const char *const more[] = {
		"HTTP_TRANSFER_ENCODING=chunked", NULL
	};
	static char text[CHUNKED];
	struct rig_request request = asks(rig, HEAD
	    "echo \"$CONTENT_LENGTH ${HTTP_TRANSFER_ENCODING-none}\"\nwc -c\n");
	struct rig_answer answer;

	request.key = key;
	request.more = more;
	request.body = (struct idem_bytes){ text, sizeof text };
	request.length = length;
	rig_request(rig, &request, &answer);
	is_bytes(answer.body.at, answer.body.len, "1350880 none\n1350880\n",
	    21, "the front has undone chunks and %s the length: the program "
	    "is told it [cgi:C22 R10]", length == NULL ? "told" :
	    "not told");
	rig_answer_free(&answer);
}

/* --- a slow client -------------------------------------------------------- */

#define LONG 52428800u
#define LINE "0123456789abcde\n"

static bool
is_long(struct idem_bytes body)
{
	const char *at = body.at;
	size_t i;

	for (i = 0; i + 16 <= body.len; i += 16)
		if (memcmp(at + i, LINE, 16) != 0)
			return false;
	return body.len == LONG;
}

/* While nobody reads: as much as the program can be rid of. */
static long
most_memory(long before_kb)
{
	long kb, most_kb = 0;
	int i;

	for (i = 0; i < 50; i++) {
		kb = rig_watch_memory_kb(lobby) - before_kb;
		if (kb > most_kb)
			most_kb = kb;
		poll(NULL, 0, 10);
	}
	return most_kb;
}

static void
slow_reader(struct rig *rig, const char *key)
{
	const char *how = key == NULL ? "without a key" : "with one";
	struct rig_request request = asks(rig, HEAD
	    "yes 0123456789abcde | head -c 52428800\n");
	long before_kb = rig_watch_memory_kb(lobby), before = starts(rig);
	struct rig_answer answer;
	long most_kb;
	int fd;

	request.key = key;
	fd = ask_begin(rig, &request);
	await_starts(rig, before + 1);
	most_kb = most_memory(before_kb);
	ask_end(rig, fd, &answer);
	ok(answer.whole && is_long(answer.body), "50 MB to one who reads "
	    "late, %s, are whole [cgi:C21]", how);
	rig_answer_free(&answer);
	if (rig_watch_sanitized)
		skip("a sanitizer's memory is not ours", "memory is bounded");
	else
		ok(most_kb < MEMORY_KB, "and %s took %ld kB of memory "
		    "meanwhile [cgi:C21]", how, most_kb);
}

/* --- as it is written ----------------------------------------------------- */

/* Read until text has come. */
static bool
comes(int fd, struct idem_buf *got, const char *text)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	char at[4096];
	ssize_t n;

	while (got->len == 0 ||
	    memmem(got->at, got->len, text, strlen(text)) == NULL) {
		if (poll(&ready, 1, WAIT_MS) != 1)
			return false;
		n = recv(fd, at, sizeof at, MSG_DONTWAIT);
		if (n <= 0)
			return false;
		idem_buf_append(got, at, (size_t)n);
	}
	return true;
}

/* A program that says its Status is not held back for that. */
static void
streams(struct rig *rig)
{
	struct rig_request request = asks(rig,
	    "printf 'Status: 200 OK\\nContent-Type: text/plain\\n\\n'\n"
	    "echo tick\n" HELD "echo tock\n");
	struct idem_buf got = { 0 };
	struct rig_answer answer;
	int fd;

	rig_file(rig, "hold", "");
	fd = ask_begin(rig, &request);
	ok(comes(fd, &got, "tick\n"), "what follows a Status is sent while "
	    "the program runs [cgi:C41]");
	unlink(rig_at(rig, "hold"));
	ask_end(rig, fd, &answer);
	ok(answer.whole && memmem(answer.out.at, answer.out.len, "tock\n", 5) !=
	    NULL, "and the rest when it comes [cgi:C41]");
	rig_answer_free(&answer);
	idem_buf_free(&got);
}

/* --- heads ---------------------------------------------------------------- */

#define FIELD(len) "printf 'X-Long: '\nhead -c " len " /dev/zero | " \
	"tr '\\0' x\nprintf '\\nContent-Type: text/plain\\n\\nok'\n"

static const struct {
	const char *what, *text, *want;
} heads[] = {
	{ "a field of 8 KB [cgi:C77]", FIELD("8192"), "200" },
	{ "a field of 64 KB [cgi:C77]", FIELD("65536"), "502" },
	{ "a field of 1 MB [cgi:C77]", FIELD("1000000"), "502" },
	{ "100,000 fields [cgi:C77]",
	  "yes 'X-A: b' | head -n 100000\nprintf '\\nok'\n", "502" },
	{ "10 MB without a line's end [cgi:C77]",
	  "head -c 10000000 /dev/zero | tr '\\0' x\n", "502" },
	{ "10 MB of a field that goes on [cgi:C77]",
	  "printf 'X-A: '\nhead -c 10000000 /dev/zero | tr '\\0' x\n", "502" },
};

static void
long_heads(struct rig *rig)
{
	long before_kb = rig_watch_memory_kb(lobby), more_kb;
	struct rig_request request;
	char key[32], want[32];
	size_t i;

	for (i = 0; i < sizeof heads / sizeof *heads; i++) {
		bool good = heads[i].want[0] == '2';

		request = asks(rig, heads[i].text);
		snprintf(want, sizeof want, "%s%s", heads[i].want,
		    good ? "" : " unknown");
		ask(rig, &request, want, "%s, without a key", heads[i].what);
		snprintf(key, sizeof key, "head-%zu", i);
		snprintf(want, sizeof want, "%s %s", heads[i].want,
		    good ? "stored" : "unknown");
		request.key = key;
		ask(rig, &request, want, "%s", heads[i].what);
	}
	more_kb = rig_watch_memory_kb(lobby) - before_kb;
	if (rig_watch_sanitized)
		skip("a sanitizer's memory is not ours", "memory is bounded");
	else
		ok(more_kb < MEMORY_KB, "all that took %ld kB of memory "
		    "[cgi:C77]", more_kb);
}

/* Fields that some server or other might take for its own. */
static void
extensions(struct rig *rig)
{
	struct rig_request request = asks(rig, "printf 'X-CGI-Note: 1\\n"
	    "Content-Type: text/plain\\n\\nok'\n");
	struct rig_answer answer;
	int i;

	request.key = "extension";
	for (i = 0; i < 2; i++) {
		rig_request(rig, &request, &answer);
		is(rig_field(&answer, "X-CGI-Note"), "1", "a field X-CGI- is "
		    "one as others, %s [R22]", i == 0 ? "at first" :
		    "and again");
		rig_answer_free(&answer);
	}
}

/* A script of another origin sees only fields that are named to it. */
static void
other_origin(struct rig *rig)
{
	static const char name[] = "Access-Control-Expose-Headers";
	struct rig_request request = asks(rig, "printf 'Content-Type: "
	    "text/plain\\nAccess-Control-Allow-Origin: *\\n\\nok'\n");
	struct rig_answer answer;
	int i;

	request.key = "origin";
	for (i = 0; i < 2; i++) {
		rig_request(rig, &request, &answer);
		ok(strstr(rig_field(&answer, name), "Idempotency-Status") !=
		    NULL, "scripts of other origins may see our mark, %s "
		    "[idem:E12]", i == 0 ? "at first" : "and again");
		rig_answer_free(&answer);
	}
	request = asks(rig, HEAD "echo ok\n");
	request.key = "no other origin";
	rig_request(rig, &request, &answer);
	is(rig_field(&answer, name), "", "where the program lets none of "
	    "them, there is no such field [idem:E12]");
	rig_answer_free(&answer);
}

/* The bytes and what they are coded in stay together. */
static void
coded(struct rig *rig)
{
	static const char *const accepts[] = {
		"HTTP_ACCEPT_ENCODING=gzip", NULL
	};
	struct rig_request request = asks(rig, "printf 'Content-Encoding: "
	    "gzip\\nContent-Type: text/plain\\n\\n'\n"
	    "echo plain text | gzip -n\n");
	struct rig_answer first, again;

	request.key = "coded";
	request.more = accepts;
	rig_request(rig, &request, &first);
	told(&first, "200 stored", "an answer in gzip");
	request.more = NULL;
	rig_request(rig, &request, &again);
	told(&again, "200 replayed", "a retry that accepts no gzip");
	is(rig_field(&again, "Content-Encoding"), "gzip", "is told that it is "
	    "gzip [idem:E9]");
	ok(first.body.len > 2 && memcmp(first.body.at, "\x1f\x8b", 2) == 0 &&
	    again.body.len == first.body.len &&
	    memcmp(again.body.at, first.body.at, first.body.len) == 0,
	    "and gets those bytes [idem:E9]");
	rig_answer_free(&first);
	rig_answer_free(&again);
}

/* --- the end -------------------------------------------------------------- */

static const struct {
	const char *what, *text;
	uint32_t status;
	const char *key;
} exits[] = {
	{ "exit 0", HEAD "exit 0\n", 0, NULL },
	{ "exit 3", HEAD "exit 3\n", 3, NULL },
	{ "exit 255", HEAD "exit 255\n", 255, NULL },
	{ "exit 7 after an answer of known length",
	  "printf 'Content-Length: 2\\n\\nok'\nexit 7\n", 7, "exit-7" },
};

static void
exit_status(struct rig *rig)
{
	struct rig_request request;
	struct rig_answer answer;
	size_t i;

	for (i = 0; i < sizeof exits / sizeof *exits; i++) {
		request = asks(rig, exits[i].text);
		request.key = exits[i].key;
		rig_request(rig, &request, &answer);
		is_int(answer.app_status, exits[i].status,
		    "%s is told in END_REQUEST [F16]", exits[i].what);
		rig_answer_free(&answer);
	}
}

/* The last records: STDOUT's empty one, and END_REQUEST. */
static void
streams_end(struct rig *rig)
{
	static const uint8_t end[] = {
		1, IDEM_FCGI_STDOUT, 0, 1, 0, 0, 0, 0,
		1, IDEM_FCGI_END_REQUEST, 0, 1, 0, 8, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 0
	};
	static const char *const texts[] = { HEAD "echo ok\n",
		"printf 'Status: 204\\n\\n'\n" };
	struct rig_request request;
	struct idem_buf got = { 0 };
	size_t i;
	int fd;

	for (i = 0; i < 2; i++) {
		idem_buf_clear(&got);
		request = asks(rig, texts[i]);
		fd = ask_begin(rig, &request);
		comes(fd, &got, "never");	/* until it is closed */
		ok(got.len > sizeof end && memcmp(got.at + got.len -
		    sizeof end, end, sizeof end) == 0, "STDOUT %s ends with "
		    "an empty record, then the request [F15]",
		    i == 0 ? "with a body" : "without one");
		close(fd);
	}
	idem_buf_free(&got);
}

/* --- HEAD ----------------------------------------------------------------- */

static const struct {
	const char *what, *text, *length;
} no_bodies[] = {
	{ "HEAD with a body", HEAD "echo ok\n", "" },
	{ "HEAD without one", HEAD, "" },
	{ "HEAD with a length and a body",
	  "printf 'Content-Length: 3\\n\\nok\\n'\n", "3" },
	{ "HEAD with a length alone", "printf 'Content-Length: 10\\n\\n'\n",
	  "10" },
};

static void
heads_only(struct rig *rig)
{
	struct rig_request request;
	struct rig_answer answer;
	size_t i;

	for (i = 0; i < sizeof no_bodies / sizeof *no_bodies; i++) {
		request = asks(rig, no_bodies[i].text);
		request.method = "HEAD";
		rig_request(rig, &request, &answer);
		told(&answer, "200", "%s", no_bodies[i].what);
		is(rig_field(&answer, "Content-Length"), no_bodies[i].length,
		    "its length stays [cgi:C44]");
		is_int((long long)answer.body.len, 0,
		    "and no body is sent [cgi:C44 R11]");
		rig_answer_free(&answer);
	}
}

int
main(void)
{
	struct rig rig;

	rig_open(&rig);
	rig_program(&rig, "p", "");
	ask_start(&rig, (const char *[]){ "--workers", "1", "--",
	    rig_at(&rig, "p"), NULL });
	rig_watch_lobbies(&rig, &lobby, 1);
	sizes(&rig);
	chunked(&rig, NULL, "");
	chunked(&rig, "chunked", "");
	chunked(&rig, "told", NULL);
	slow_reader(&rig, NULL);
	slow_reader(&rig, "slow");
	streams(&rig);
	long_heads(&rig);
	extensions(&rig);
	other_origin(&rig);
	coded(&rig);
	exit_status(&rig);
	streams_end(&rig);
	heads_only(&rig);
	is_int(rig_stop(&rig, WAIT_MS), 0, "idemd ends with status 0");
	rig_end(&rig);
	return done();
}
