/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "tap.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Without a key a request is answered as if the program stood there alone. */

#define HEAD "printf 'Content-Type: text/plain\\n\\n'\n"
#define WAIT_MS 20000

/* --- as it comes ---------------------------------------------------------- */

/* Read until text has come, which is raw records and all. */
static bool
read_until(int fd, const char *text, int64_t *ms)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	int64_t begun_ms = rig_now_ms();
	char at[4096];
	size_t len = 0;
	ssize_t n;

	while (len < sizeof at && poll(&ready, 1, WAIT_MS) == 1) {
		n = recv(fd, at + len, sizeof at - len, MSG_DONTWAIT);
		if (n <= 0)
			return false;
		len += (size_t)n;
		*ms = rig_now_ms() - begun_ms;
		if (memmem(at, len, text, strlen(text)) != NULL)
			return true;
	}
	return false;
}

/* It writes, waits until we have seen it, and writes on. */
static void
streamed(struct rig *rig, const char *method, const char *key)
{
	struct rig_request request = { .method = method, .path = "/stream",
		.key = key };
	struct rig_answer answer;
	int64_t ms = 0;
	int fd;

	rig_program(rig, "program", COUNT HEAD "echo tick\n" HELD
	    "echo tock\n"
	    "while [ -e hold2 ]; do sleep 0.02; done\necho last\n");
	rig_file(rig, "hold", "");
	rig_file(rig, "hold2", "");
	fd = ask_begin(rig, &request);
	ok(read_until(fd, "tick\n", &ms),
	    "%s: what is written is sent while it runs [cgi:C06]", method);
	note("the first bytes came after %lld ms", (long long)ms);
	unlink(rig_at(rig, "hold"));
	ok(read_until(fd, "tock\n", &ms), "and what is written later "
	    "[cgi:C06]");
	unlink(rig_at(rig, "hold2"));
	ask_end(rig, fd, &answer);
	ok(answer.whole, "to its end");
	is_bytes(answer.out.at, answer.out.len, "last\n", 5, "and no more");
	rig_answer_free(&answer);
}

/* --- large ---------------------------------------------------------------- */

#define LARGE (20u * 1000 * 1000)

static void
fill(char *at, size_t len)
{
	uint32_t x = 1;
	size_t i;

	for (i = 0; i < len; i++) {
		x = x * 1664525 + 1013904223;
		at[i] = (char)(x >> 24);
	}
}

static void
large(struct rig *rig, const char *key, const char *want)
{
	char *text = malloc(LARGE);
	struct rig_request request = { .method = "POST", .path = "/large",
		.key = key, .body = { text, LARGE } };
	struct rig_answer answer;

	if (text == NULL)
		bail_out("no memory");
	fill(text, LARGE);
	rig_program(rig, "program", COUNT HEAD "cat\n");
	rig_request(rig, &request, &answer);
	told(&answer, want, "20 MB there and back");
	ok(answer.body.len == LARGE &&
	    memcmp(answer.body.at, text, LARGE) == 0, "every byte of them");
	note("in %lld ms", (long long)answer.ms);
	rig_answer_free(&answer);
	free(text);
}

/* A client that reads late gets all of it, and stops nobody else meanwhile. */
static void
slow_reader(struct rig *rig)
{
	struct rig_request request = { .method = "POST", .path = "/large" };
	struct rig_answer answer;
	long before = starts(rig);
	int fd;

	rig_program(rig, "program", COUNT HEAD
	    "head -c 20000000 /dev/zero\necho end\n");
	fd = ask_begin(rig, &request);
	await_starts(rig, before + 1);
	remove(rig_at(rig, "program"));	/* a shell may read it still */
	rig_program(rig, "program", COUNT HEAD "echo quick\n");
	ask(rig, &request, "200", "another, while one does not read");
	ask_end(rig, fd, &answer);
	told(&answer, "200", "20 MB to one who reads late");
	is_int((long long)answer.body.len, 20000004, "all of them");
	rig_answer_free(&answer);
}

/* --- the client goes ------------------------------------------------------ */

/* The program is let run to its end, as by a web server's own CGI. */
static void
goes(struct rig *rig, const char *what, const char *text)
{
	struct rig_request request = { .method = "POST", .path = "/gone" };
	long before = starts(rig), after = rig_lines(rig, "after", NULL);
	char program[512];
	int fd;

	snprintf(program, sizeof program, "%s%s", COUNT, text);
	rig_program(rig, "program", program);
	rig_file(rig, "hold", "");
	fd = ask_begin(rig, &request);
	await_starts(rig, before + 1);
	close(fd);
	unlink(rig_at(rig, "hold"));
	ok(rig_await_lines(rig, "after", after + 1, WAIT_MS),
	    "a program whose client has gone %s", what);
	rig_program(rig, "program", COUNT HEAD "echo ok\n");
	ask(rig, &request, "200", "and the next is served");
}

/* --- empty and odd -------------------------------------------------------- */

static const struct {
	const char *what, *method, *want, *text, *body;
} rows[] = {
	{ "an empty body", "POST", "200", HEAD, "" },
	{ "204", "POST", "204", "printf 'Status: 204\\n\\n'\n", "" },
	{ "an absolute Location alone [cgi:C29 R19]", "POST", "302",
	    "printf 'Location: http://localhost/\\n\\n'\n", "" },
	{ "a Location of a path alone [cgi:C29 R18]", "GET", "200",
	    "printf 'Location: /x\\n\\n'\n", "" },
	{ "HEAD with a length and no body", "HEAD", "200",
	    "printf 'Content-Length: 10\\n\\n'\n", "" },
	{ "HEAD with a body [cgi:C44 R11]", "HEAD", "200", HEAD "echo ok\n",
	    "" },
	{ "a method nobody knows", "BREW", "200", HEAD "echo ok\n", "ok\n" },
	{ "a method of the empty string", "", "200", HEAD "echo ok\n", "ok\n" },
};

static void
odd(struct rig *rig)
{
	struct rig_request request = { .path = "/odd" };
	struct rig_answer answer;
	char program[512];
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		snprintf(program, sizeof program, "%s%s", COUNT, rows[i].text);
		rig_program(rig, "program", program);
		request.method = rows[i].method;
		rig_request(rig, &request, &answer);
		told(&answer, rows[i].want, "%s", rows[i].what);
		is_bytes(answer.body.at, answer.body.len, rows[i].body,
		    strlen(rows[i].body), "and its body");
		rig_answer_free(&answer);
	}
}

int
main(void)
{
	const char *options[] = { "--", NULL, NULL };
	struct rig rig;

	rig_open(&rig);
	rig.request_ms = 120000;	/* 20 MB, on a busy machine */
	options[1] = rig_at(&rig, "program");
	ask_start(&rig, options);
	streamed(&rig, "POST", NULL);
	streamed(&rig, "GET", NULL);
	streamed(&rig, "GET", "ignored");
	large(&rig, NULL, "200");
	large(&rig, "large", "200 stored-without-body");
	slow_reader(&rig);
	goes(&rig, "and that writes nothing", HELD "echo after >>after\n");
	goes(&rig, "and that minds no SIGPIPE", "trap '' PIPE\n" HELD HEAD
	    "echo tick\nsleep 0.1\necho tock\necho after >>after\n");
	odd(&rig);
	is_int(rig_stop(&rig, 20000), 0, "idemd ends with status 0");
	rig_end(&rig);
	return done();
}
