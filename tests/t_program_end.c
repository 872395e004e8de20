/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The ways in which a program can end: which are a whole answer, to be kept,
 * and which leave nobody knowing.  Either way it never runs again.
 */

#define TYPE "Content-Type: text/plain\\n"
#define OK "printf '" TYPE "\\nok'\n"

/* Only what is "over its limit" has one that it can come to.  Under the first
   there is time for a program to say that it was started. */
#define OVER "/over"
#define SOON "/soon"
static const char conf[] = "grace = '1s'\n"
    "local programs = cgi { root = '%s' }\n"
    "route { path = '" OVER "', limit = '10s', program = programs }\n"
    "route { path = '" SOON "', limit = '1s', program = programs }\n"
    "route { path = '/**', program = programs }\n";

static const struct {
	const char *what;
	const char *first, *again;
	const char *text;	/* after COUNT */
	const char *body;	/* if it is whole */
} ends[] = {
	/* ended by somebody else */
	{ "killed", "504 unknown", "409 unknown", "kill -KILL $$\n", NULL },
	{ "killed after a whole answer", "504 unknown", "409 unknown",
	    OK "kill -KILL $$\n", NULL },
	{ "killed after its declared length", "504 unknown", "409 unknown",
	    "printf 'Content-Length: 2\\n\\nok'\nkill -KILL $$\n", NULL },
	{ "terminated", "504 unknown", "409 unknown", "kill -TERM $$\n", NULL },
	{ "over its limit [R2]", "504 unknown", "409 unknown",
	    "while :; do sleep 1; done\n", NULL },
	{ "over its limit after a whole answer", "504 unknown", "409 unknown",
	    OK "while :; do sleep 1; done\n", NULL },
	{ "over its limit and deaf to SIGTERM [cgi:C01 cgi:C40]",
	    "504 unknown", "409 unknown",
	    "trap '' TERM\nwhile :; do sleep 1; done\n", NULL },
	{ "over its limit and ends well then", "504 unknown", "409 unknown",
	    "trap 'printf \"Status: 200\\n\\nok\"; exit 0' TERM\n"
	    "while :; do sleep 0.1; done\n", NULL },

	/* fell over by itself */
	{ "dead of SIGSEGV", "502 unknown", "409 unknown",
	    "kill -SEGV $$\n", NULL },
	{ "dead of SIGSEGV after a whole answer", "502 unknown", "409 unknown",
	    OK "kill -SEGV $$\n", NULL },
	{ "dead of SIGPIPE", "502 unknown", "409 unknown",
	    "kill -PIPE $$\n", NULL },
	{ "exit 1 [idem:E7]",
	    "502 unknown", "409 unknown", OK "exit 1\n", NULL },
	{ "exit 255", "502 unknown", "409 unknown", OK "exit 255\n", NULL },
	{ "exit 1 and no output", "502 unknown", "409 unknown",
	    "exit 1\n", NULL },
	{ "exit 1 with its declared length met", "200 stored", "200 replayed",
	    "printf 'Content-Length: 2\\n\\nok'\nexit 1\n", "ok" },
	{ "exit 1 with its declared length of 0 met", "404 stored",
	    "404 replayed",
	    "printf 'Status: 404\\nContent-Length: 0\\n\\n'\nexit 1\n", "" },
	{ "exit 1 with its declared length not met", "502 unknown",
	    "409 unknown",
	    "printf 'Content-Length: 3\\n\\nok'\nexit 1\n", NULL },

	/* heads that are none */
	{ "nothing [cgi:C10 R14]",
	    "502 unknown", "409 unknown", "exit 0\n", NULL },
	{ "a body without head [cgi:C10 R15]", "502 unknown", "409 unknown",
	    "echo hello\n", NULL },
	{ "a long body without head", "502 unknown", "409 unknown",
	    "head -c 300000 /dev/zero | tr '\\0' x\n", NULL },
	{ "a blank line first [cgi:C10]", "502 unknown", "409 unknown",
	    "printf '\\nhello\\n'\n", NULL },
	{ "half a head [R15]", "502 unknown", "409 unknown",
	    "printf '" TYPE "'\n", NULL },
	{ "half a line of a head", "502 unknown", "409 unknown",
	    "printf 'Content-Ty'\n", NULL },
	{ "a line without colon [R1 R15]", "502 unknown", "409 unknown",
	    "printf 'hello\\n\\nok'\n", NULL },
	{ "a NUL in the head [R24]", "502 unknown", "409 unknown",
	    "printf 'X-A: b\\0c\\n\\nok'\n", NULL },
	{ "a head of 1 MB [cgi:C77]", "502 unknown", "409 unknown",
	    "printf 'X-A: '\nhead -c 1000000 /dev/zero | tr '\\0' x\n"
	    "printf '\\n\\nok'\n", NULL },
	{ "Status: abc [cgi:C86]", "502 unknown", "409 unknown",
	    "printf 'Status: abc\\n\\nok'\n", NULL },
	{ "Status: 99 [cgi:C86]", "502 unknown", "409 unknown",
	    "printf 'Status: 99\\n\\nok'\n", NULL },
	{ "Status: 100 [cgi:C86]", "502 unknown", "409 unknown",
	    "printf 'Status: 100 Continue\\n\\nok'\n", NULL },
	{ "Status: 2000", "502 unknown", "409 unknown",
	    "printf 'Status: 2000\\n\\nok'\n", NULL },
	{ "two different Status [cgi:C86 R16]", "502 unknown", "409 unknown",
	    "printf 'Status: 200\\nStatus: 404\\n\\nok'\n", NULL },
	{ "a Content-Length of -4 [cgi:C85]", "502 unknown", "409 unknown",
	    "printf 'Content-Length: -4\\n\\nok'\n", NULL },
	{ "a Content-Length of 4x [cgi:C85]", "502 unknown", "409 unknown",
	    "printf 'Content-Length: 4x\\n\\nok'\n", NULL },
	{ "two different Content-Lengths [cgi:C85]",
	    "502 unknown", "409 unknown",
	    "printf 'Content-Length: 2\\nContent-Length: 3\\n\\nok'\n", NULL },

	/* heads that are odd, and good enough */
	{ "Status without a reason", "299 stored", "299 replayed",
	    "printf 'Status: 299\\n\\nok'\n", "ok" },
	{ "Status twice [cgi:C86]", "404 stored", "404 replayed",
	    "printf 'Status: 404 A\\nStatus: 404 A\\n\\nok'\n", "ok" },
	{ "Content-Length twice, and equal", "200 stored", "200 replayed",
	    "printf 'Content-Length: 2\\nContent-Length: 2\\n\\nok'\n", "ok" },
	{ "a server's first line [cgi:C86 R13 F18]",
	    "404 stored", "404 replayed",
	    "printf 'HTTP/1.1 404 Not Found\\nX-A: b\\n\\nok'\n", "ok" },
	{ "CRLF [R20]", "201 stored", "201 replayed",
	    "printf 'Status: 201\\r\\nX-A: b\\r\\n\\r\\nok'\n", "ok" },
	{ "a head byte by byte", "201 stored", "201 replayed",
	    "for c in S t a t u s : ' ' 2 0 1 '\\n' '\\n' o k; do\n"
	    "printf \"$c\"; sleep 0.01; done\n", "ok" },

	/* bodies */
	{ "a body shorter than declared [cgi:C85]",
	    "502 unknown", "409 unknown",
	    "printf 'Content-Length: 5\\n\\nok'\n", NULL },
	{ "no body where one was declared", "502 unknown", "409 unknown",
	    "printf 'Content-Length: 5\\n\\n'\n", NULL },
	{ "a body longer than declared [cgi:C85 idem:E8]",
	    "200 stored", "200 replayed",
	    "printf 'Content-Length: 2\\n\\nok, and more'\n", "ok" },
	{ "a much longer one", "200 stored", "200 replayed",
	    "printf 'Content-Length: 2\\n\\nok'\n"
	    "head -c 1000000 /dev/zero\n", "ok" },
	{ "no body [R17]", "200 stored", "200 replayed",
	    "printf 'X-A: b\\n\\n'\n", "" },

	/* failures that say so are answers as any others */
	{ "Status: 500 [idem:E7]", "500 stored", "500 replayed",
	    "printf 'Status: 500 Oh\\n\\nok'\n", "ok" },
	{ "Status: 503", "503 stored", "503 replayed",
	    "printf 'Status: 503 Later\\n\\nok'\n", "ok" },
	{ "Status: 429", "429 stored", "429 replayed",
	    "printf 'Status: 429 Slowly\\n\\nok'\n", "ok" },
	{ "Status: 400", "400 stored", "400 replayed",
	    "printf 'Status: 400 No\\n\\nok'\n", "ok" },
};

#define ENDS (sizeof ends / sizeof *ends)

static const char *
write_program(struct rig *rig, size_t i)
{
	char name[32], text[1024];

	snprintf(name, sizeof name, "end-%zu", i);
	snprintf(text, sizeof text, "%s%s", COUNT, ends[i].text);
	rig_program(rig, name, text);
	return rig_at(rig, name);
}

static bool
is_over(const char *what)
{
	static const char over[] = "over its limit";

	return strncmp(what, over, sizeof over - 1) == 0;
}

/* What asks for it. */
struct asking {
	char row[40], key[32];
	const char *more[2];
	struct rig_request request;
};

static void
ask_for(struct rig *rig, size_t i, struct asking *a)
{
	snprintf(a->row, sizeof a->row, "HTTP_X_ROW=row-%zu", i);
	snprintf(a->key, sizeof a->key, "end-%zu", i);
	a->more[0] = a->row;
	a->more[1] = NULL;
	a->request = (struct rig_request){ .method = "POST",
		.path = is_over(ends[i].what) ? OVER : "/end",
		.more = a->more, .key = a->key,
		.program = write_program(rig, i) };
}

static void
is_right(size_t i, bool later, const struct rig_answer *answer)
{
	told(answer, later ? ends[i].again : ends[i].first, "%s, %s",
	    ends[i].what, later ? "later" : "first");
	if (ends[i].body != NULL)
		is_bytes(answer->body.at, answer->body.len, ends[i].body,
		    strlen(ends[i].body), "its body is \"%s\"", ends[i].body);
	else
		is(rig_field(answer, "Retry-After"), "",
		    "nobody is told to come again");
}

static void
one(struct rig *rig, size_t i, bool later)
{
	struct rig_answer answer;
	struct asking a;

	ask_for(rig, i, &a);
	rig_request(rig, &a.request, &answer);
	is_right(i, later, &answer);
	if (later)
		is_int(rig_lines(rig, "starts", a.row + strlen("HTTP_X_ROW=")),
		    1, "it was started once");
	rig_answer_free(&answer);
}

static void
start(struct rig *rig)
{
	ask_start(rig, (const char *[]){ "--config", rig_at(rig, "idem.conf"),
	    NULL });
}

/* Those that run into their limit do so beside all others. */
static void
each_end(struct rig *rig)
{
	struct rig_answer answer;
	struct asking a;
	int fd[ENDS];
	size_t i;

	for (i = 0; i < ENDS; i++)
		if (is_over(ends[i].what)) {
			ask_for(rig, i, &a);
			fd[i] = ask_begin(rig, &a.request);
		}
	for (i = 0; i < ENDS; i++)
		if (!is_over(ends[i].what)) {
			one(rig, i, false);
			one(rig, i, true);
		}
	for (i = 0; i < ENDS; i++)
		if (is_over(ends[i].what)) {
			ask_end(rig, fd[i], &answer);
			is_right(i, false, &answer);
			rig_answer_free(&answer);
			one(rig, i, true);
		}
}

/* Retried at once; by somebody who had no answer yet; and after a restart. */
static void
every_end(struct rig *rig)
{
	size_t i;

	start(rig);
	each_end(rig);
	is_int(rig_stop(rig, 20000), 0, "idemd ends with status 0");
	start(rig);
	for (i = 0; i < ENDS; i++)
		one(rig, i, true);
	is_int((long long)starts(rig), (long long)ENDS, "nothing ran twice");
}

/* Without a key the front gets what there is, as from fcgiwrap. */
static const struct {
	const char *what, *want, *text, *body;
} passed[] = {
	{ "exit 1 [idem:E7]", "200", OK "exit 1\n", "ok" },
	{ "dead of SIGSEGV after a head", "200", OK "kill -SEGV $$\n", "ok" },
	{ "killed after a head", "200", OK "kill -KILL $$\n", "ok" },
	{ "exit 1 and no output", "502 unknown", "exit 1\n", NULL },
	{ "killed before a head", "504 unknown", "kill -KILL $$\n", NULL },
	{ "nothing [cgi:C10 R14]", "502 unknown", "exit 0\n", NULL },
	{ "a body without head [cgi:C10 R15]",
	    "502 unknown", "echo hello\n", NULL },
	{ "over its limit before a head", "504 unknown",
	    "while :; do sleep 1; done\n", NULL },
	{ "a body shorter than declared [cgi:C85]", "closed",
	    "printf 'Content-Length: 5\\n\\nok'\n", NULL },
	{ "a body longer than declared [cgi:C85 idem:E8]", "200",
	    "printf 'Content-Length: 2\\n\\nok, and more'\n", "ok" },
};

static void
every_passed(struct rig *rig)
{
	struct rig_request request = { .method = "POST" };
	struct rig_answer answer;
	char text[1024];
	size_t i;

	for (i = 0; i < sizeof passed / sizeof *passed; i++) {
		snprintf(text, sizeof text, "%s%s", COUNT, passed[i].text);
		rig_program(rig, "passed", text);
		request.program = rig_at(rig, "passed");
		request.path = is_over(passed[i].what) ? SOON : "/end";
		rig_request(rig, &request, &answer);
		told(&answer, passed[i].want, "without a key, %s",
		    passed[i].what);
		if (passed[i].body != NULL)
			is_bytes(answer.body.at, answer.body.len,
			    passed[i].body, strlen(passed[i].body),
			    "and its body");
		rig_answer_free(&answer);
	}
}

int
main(void)
{
	struct rig rig;
	char text[1000];

	rig_open(&rig);
	snprintf(text, sizeof text, conf, rig.folder);
	rig_file(&rig, "idem.conf", text);
	every_end(&rig);
	every_passed(&rig);
	is_int(rig_stop(&rig, 20000), 0, "idemd ends with status 0");
	rig_end(&rig);
	return done();
}
