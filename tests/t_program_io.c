/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "tap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Programs that read and write in an unusual order, or leave something open. */

#define HEAD "printf 'Content-Type: text/plain\\n\\n'\n"
#define MB 1000000

/* Every program gets a body of 1 MB. */
static const struct {
	const char *what;
	const char *text;	/* after COUNT */
	size_t len;		/* of its answer's body */
	const char *end;	/* what that ends in */
} programs[] = {
	{ "reads all and counts it [cgi:C46 R9]",
	    HEAD "wc -c\n", 8, "1000000\n" },
	{ "never reads its input [cgi:C17 R9]", HEAD "echo ok\n", 3, "ok\n" },
	{ "reads a part of its input", HEAD "head -c 10 >/dev/null\necho ok\n",
	    3, "ok\n" },
	{ "closes its input at once [cgi:C17]",
	    "exec <&-\n" HEAD "echo ok\n", 3,
	    "ok\n" },
	{ "writes 300 KB before it reads, and after [cgi:C18]",
	    HEAD "head -c 300000 /dev/zero\nwc -c\n"
	    "head -c 300000 /dev/zero\necho ok\n", 600011, "ok\n" },
	{ "gives back what it gets", HEAD "cat\n", MB, "xxx" },
	{ "writes 3 MB", HEAD "cat\nhead -c 2000000 /dev/zero\n", 3 * MB,
	    "\0\0" },
	{ "writes 1 MB to standard error first [cgi:C20]",
	    "head -c 1000000 /dev/zero | tr '\\0' e >&2\n" HEAD "echo ok\n", 3,
	    "ok\n" },
	{ "writes 1 MB of lines to standard error, between [F14]",
	    HEAD "echo o\nyes error | head -c 1000000 >&2\necho ok\n", 5,
	    "ok\n" },
	{ "writes to standard error what looks like an answer",
	    "printf 'Status: 500\\n\\n\\0\\1\\2\\377bad' >&2\n" HEAD
	    "echo ok\n", 3, "ok\n" },
	{ "closes standard error", "exec 2>&-\n" HEAD "echo ok\n", 3, "ok\n" },
	{ "uses descriptors of its own [cgi:C16]", "exec 3<&0 4>&1\n"
	    HEAD "wc -c <&3 >&4\n", 8, "1000000\n" },
};

#define PROGRAMS (sizeof programs / sizeof *programs)

static char body[MB];

static bool
ends_in(struct idem_bytes text, const char *end)
{
	size_t len = *end == '\0' ? 2 : strlen(end);	/* "\0\0" */

	return text.len >= len && memcmp((const char *)text.at + text.len - len,
	    end, len) == 0;
}

static void
run(struct rig *rig, size_t i, const char *key, const char *want)
{
	struct rig_request request = { .method = "POST", .path = "/io",
		.key = key, .program = rig_at(rig, "io"),
		.body = { body, sizeof body } };
	struct rig_answer answer;

	rig_request(rig, &request, &answer);
	told(&answer, want, "a program that %s", programs[i].what);
	is_int((long long)answer.body.len, (long long)programs[i].len,
	    "its answer is whole");
	ok(ends_in(answer.body, programs[i].end), "to its end");
	rig_answer_free(&answer);
}

static void
each_program(struct rig *rig)
{
	char key[32], text[1024];
	long before;
	size_t i;

	memset(body, 'x', sizeof body);
	for (i = 0; i < PROGRAMS; i++) {
		before = starts(rig);
		snprintf(text, sizeof text, "%s%s", COUNT, programs[i].text);
		rig_program(rig, "io", text);
		snprintf(key, sizeof key, "io-%zu", i);
		run(rig, i, key, "200 stored");
		run(rig, i, key, "200 replayed");
		run(rig, i, NULL, "200");
		is_int(starts(rig) - before, 2, "once with a key, once not");
	}
}

/* --- standard error, in the log ------------------------------------------- */

#define LAST 40		/* programs with last words */
#define TRIES 10	/* of what a slow machine may spoil */
#define WAITED_MS 1000	/* for who holds the output after the program's end */

/* What it says last is what an administrator looks for. */
static void
last_words(struct rig *rig)
{
	static const char *const ways[] = {
		"exit 0\n", "exit 1\n", "kill -SEGV $$\n", "kill -KILL $$\n"
	};
	struct rig_request request = { .method = "POST", .path = "/io" };
	char text[1024];
	int i;

	for (i = 0; i < LAST; i++) {
		snprintf(text, sizeof text, "%s%s"
		    "head -c 40000 /dev/zero | tr '\\0' w >words\n"
		    "echo 'last-%d.\" status=666' >>words\n"
		    "cat words >&2\n%s", COUNT, HEAD, i, ways[i % 4]);
		rig_program(rig, "io", text);
		request.program = rig_at(rig, "io");
		ask(rig, &request, "200", "a program with last words");
	}
}

/* A child that is held up for a second is not waited for: then once more.  An
   answer that is short sooner than that is wrong. */
static void
many_words(struct rig *rig, const struct rig_request *request)
{
	struct rig_answer answer = { 0 };
	int i = 0;

	rig_program(rig, "io", COUNT HEAD "echo ok\n"
	    "(head -c 300000 /dev/zero | tr '\\0' e >&2; echo late) &\n");
	do {
		rig_answer_free(&answer);
		rig_request(rig, request, &answer);
		i++;
	} while (i < TRIES && answer.body.len < 8 && answer.ms >= WAITED_MS);
	note("in the %d. try", i);
	is_bytes(answer.body.at, answer.body.len, "ok\nlate\n", 8,
	    "a child it leaves may say much before it answers the rest");
	rig_answer_free(&answer);
}

/* It is heard while the program runs, and so is a child that it left. */
static void
first_words(struct rig *rig)
{
	struct rig_request request = { .method = "POST", .path = "/io" };
	struct rig_answer answer;

	rig_program(rig, "io", COUNT HEAD "echo first-words. >&2\n"
	    "for i in $(seq 1500); do\n"
	    "grep -q first-words log && echo heard && break\n"
	    "sleep 0.02\ndone\n");
	request.program = rig_at(rig, "io");
	rig_request(rig, &request, &answer);
	is_bytes(answer.body.at, answer.body.len, "heard\n", 6,
	    "what a program says is in the log while it runs");
	rig_answer_free(&answer);
	many_words(rig, &request);
}

/* Once idemd has ended: it writes its log in pieces. */
static void
log_tells(struct rig *rig)
{
	char *log = rig_slurp(rig, "log");
	char text[32];
	int i, found = 0;

	if (log == NULL)
		bail_out("no log");
	for (i = 0; i < LAST; i++) {
		snprintf(text, sizeof text, "last-%d.\\\" status=666\"", i);
		found += strstr(log, text) != NULL;
	}
	is_int(found, LAST, "all last words are in the log");
	ok(strstr(log, ".\" status=666") == NULL,
	    "none looks like a word of ours");
	ok(strstr(log, "stderr=\"eeee") != NULL, "and what was not the last");
	ok(strstr(log, "stderr-left-out=") != NULL,
	    "where it was too much the log says how much [cgi:C20]");
	note("4 MB on standard error made a log of %zu bytes", strlen(log));
	free(log);
}

/* A program that writes 1 MB is not logged as that, nor as many lines. */
static void
log_is_short(struct rig *rig)
{
	struct rig_request request = { .method = "POST", .path = "/io" };
	char *log;

	rig_program(rig, "io", COUNT HEAD "yes e | head -c 1000000 >&2\n");
	request.program = rig_at(rig, "io");
	ask(rig, &request, "200", "a program that writes short lines");
	rig_stop(rig, 30000);
	log = rig_slurp(rig, "log");
	ok(log != NULL && strlen(log) < 200000,
	    "short lines are not more of them in the log (%zu bytes)",
	    log != NULL ? strlen(log) : 0);
	free(log);
}

/* --- what goes on after the output is closed ------------------------------ */

static const struct {
	const char *what, *text, *first, *again;
} early[] = {
	{ "closes its ends and goes on", HEAD "echo ok\nexec <&- >&- 2>&-\n"
	    "sleep 0.3\necho after >>after\n", "200 stored", "200 replayed" },
	{ "closes its ends, goes on and fails", HEAD "echo ok\n"
	    "exec <&- >&- 2>&-\nsleep 0.3\necho after >>after\nexit 1\n",
	    "502 unknown", "409 unknown" },
	{ "closes its ends, goes on and is killed", HEAD "echo ok\n"
	    "exec <&- >&- 2>&-\nsleep 0.3\necho after >>after\n"
	    "kill -KILL $$\n", "504 unknown", "409 unknown" },
	{ "closes its ends before it has answered", "exec <&- >&- 2>&-\n"
	    "sleep 0.3\necho after >>after\n", "502 unknown", "409 unknown" },
};

static void
closes_early(struct rig *rig)
{
	struct rig_request request = { .method = "POST", .path = "/io" };
	char key[32], text[1024];
	long n = sizeof early / sizeof *early, i;
	long before = starts(rig);

	for (i = 0; i < n; i++) {
		snprintf(text, sizeof text, "%s%s", COUNT, early[i].text);
		rig_program(rig, "io", text);
		snprintf(key, sizeof key, "early-%ld", i);
		request.key = key;
		request.program = rig_at(rig, "io");
		ask(rig, &request, early[i].first, "a program that %s",
		    early[i].what);
		is_int(rig_lines(rig, "after", NULL), i + 1,
		    "it had ended before that was said [R23]");
		ask(rig, &request, early[i].again, "and again");
	}
	is_int(starts(rig) - before, n, "each was started once");
}

/* --- a small body, a pipe; a larger one, a file --------------------------- */

static void
sizes(struct rig *rig)
{
	static const size_t lens[] = { 0, 1, 4095, 4096, 4097, 65536, 65537 };
	struct rig_request request = { .method = "POST", .path = "/io" };
	struct rig_answer answer;
	char want[32];
	size_t i;

	rig_program(rig, "io", COUNT HEAD "wc -c\n");
	request.program = rig_at(rig, "io");
	for (i = 0; i < sizeof lens / sizeof *lens; i++) {
		request.body = (struct idem_bytes){ body, lens[i] };
		snprintf(want, sizeof want, "%zu\n", lens[i]);
		rig_request(rig, &request, &answer);
		is_bytes(answer.body.at, answer.body.len, want, strlen(want),
		    "a program reads %zu bytes and their end", lens[i]);
		rig_answer_free(&answer);
	}
}

/* --- children that stay --------------------------------------------------- */

static const struct {
	const char *what, *text;
} children[] = {
	{ "leaves a child that holds its output [cgi:C26]", HEAD
	    "sleep 60 &\necho $! >child\necho ok\n" },
	{ "leaves a child that has left its group", HEAD
	    "setsid sleep 60 &\necho $! >child\necho ok\n" },
	{ "leaves a child that holds its input", HEAD
	    "sleep 60 >/dev/null 2>&1 &\necho $! >child\necho ok\n" },
	{ "leaves a child that holds standard error", HEAD
	    "sleep 60 </dev/null >/dev/null &\necho $! >child\necho ok\n" },
	{ "leaves a child and says how long its answer is",
	    "printf 'Content-Length: 3\\n\\n'\n"
	    "sleep 60 &\necho $! >child\necho ok\n" },
};

static void
end_child(struct rig *rig)
{
	char *text = rig_slurp(rig, "child");
	long pid = text != NULL ? strtol(text, NULL, 10) : 0;

	if (pid > 1)
		kill((pid_t)pid, SIGKILL);
	free(text);
}

static void
child_run(struct rig *rig, size_t i, const char *key, const char *want)
{
	struct rig_request request = { .method = "POST", .path = "/io",
		.key = key, .program = rig_at(rig, "io") };
	struct rig_answer answer;

	rig_request(rig, &request, &answer);
	told(&answer, want, "a program that %s", children[i].what);
	is_bytes(answer.body.at, answer.body.len, "ok\n", 3, "all it wrote");
	ok(answer.ms < 20000, "long before the child ends (%lld ms)",
	    (long long)answer.ms);
	rig_answer_free(&answer);
}

static void
leaves_children(struct rig *rig)
{
	char key[32], text[1024];
	long n = sizeof children / sizeof *children, before = starts(rig), i;

	for (i = 0; i < n; i++) {
		snprintf(text, sizeof text, "%s%s", COUNT, children[i].text);
		rig_program(rig, "io", text);
		snprintf(key, sizeof key, "child-%ld", i);
		child_run(rig, (size_t)i, key, "200 stored");
		child_run(rig, (size_t)i, key, "200 replayed");
		end_child(rig);
		child_run(rig, (size_t)i, NULL, "200");
		end_child(rig);
	}
	is_int(starts(rig) - before, 2 * n, "none ran again for its key");
}

int
main(void)
{
	const char *options[] = { "--root", NULL, NULL };
	struct rig rig;

	rig_open(&rig);
	options[1] = rig.folder;
	ask_start(&rig, options);
	log_is_short(&rig);
	ask_start(&rig, options);
	each_program(&rig);
	sizes(&rig);
	closes_early(&rig);
	leaves_children(&rig);
	first_words(&rig);
	last_words(&rig);
	is_int(rig_stop(&rig, 30000), 0, "idemd ends with status 0");
	log_tells(&rig);
	rig_end(&rig);
	return done();
}
