/* SPDX-License-Identifier: ISC */
#include "backend_front.h"

#include "backend_rig.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Answers of FastCGI applications, from their records to the front: first as
 * they come, then as they are replayed.
 */
#define HEAD "STDOUT/1:Status:201\n\n"
#define END "STDOUT/1 END/1:0.0 "

static const struct row {
	const char *what, *script, *method;
	const char *first, *again;	/* words; NULL: it is not asked again */
	const char *body;
	bool keyed;
} rows[] = {
	{ "a keyed answer", "params body " HEAD "tea STDOUT/1:\n " END, "POST",
	  "201 stored", "201 replayed", "tea\n", true },
	{ "one without a key", "params body " HEAD "tea " END, "POST",
	  "201", NULL, "tea", false },
	{ "a key where it does not count", "params body " HEAD "tea " END,
	  "GET", "201 ignored", NULL, "tea", true },
	{ "without STDOUT's end", "params body " HEAD "tea END/1:0.0", "POST",
	  "201 stored", "201 replayed", "tea", true },
	{ "with another exit status, whole by its length",
	  "params body STDOUT/1:Content-Length:3\n\ntea STDOUT/1 END/1:3.0",
	  "POST", "200 stored", "200 replayed", "tea", true },
	{ "an exit status and no length is no whole answer",
	  "params body " HEAD "tea STDOUT/1 END/1:3.0", "POST",
	  "502 unknown", "409 unknown", NULL, true },
	{ "less than its length neither",
	  "params body STDOUT/1:Content-Length:4\n\ntea " END, "POST",
	  "502 unknown", "409 unknown", NULL, true },
	{ "nor is one without a head", "params body " END, "POST",
	  "502 unknown", "409 unknown", NULL, true },
	{ "what comes after its length is cut",
	  "params body STDOUT/1:Content-Length:2\n\ntea " END, "POST",
	  "200 stored", "200 replayed", "te", true },
	{ "204 has no body", "params body STDOUT/1:Status:204\n\ntea " END,
	  "POST", "204 stored", "204 replayed", "", true },
	{ "nor has 304", "params body STDOUT/1:Status:304\n\ntea " END,
	  "GET", "304", NULL, "", false },
	{ "nor the answer to HEAD",
	  "params body STDOUT/1:Content-Length:3\n\ntea " END, "HEAD",
	  "200", NULL, "", false },

	/* the end of STDIN */
	{ "a GET's empty body has an end [cgi:C61]",
	  "params body " HEAD " " END, "GET", "201", NULL, "", false },
	{ "a POST's too [cgi:C61]", "params body " HEAD " " END,
	  "POST", "201 stored", "201 replayed", "", true },
	{ "and a PUT's [cgi:C61]", "params body " HEAD " " END,
	  "PUT", "201", NULL, "", false },

	/* STDERR in between */
	{ "STDERR before all else [cgi:C64]", "params body STDERR/1:1 "
	  "STDERR/1:2+7 STDERR/1:3 STDERR/1:4 STDERR/1:5 STDERR/1:6 "
	  "STDERR/1:7 STDERR/1:8\n " HEAD "tea " END, "POST",
	  "201 stored", "201 replayed", "tea", true },
	{ "STDERR within the head [cgi:C64]", "params body STDOUT/1:Sta "
	  "STDERR/1:no STDOUT/1:tus:201\n STDERR/1:no STDOUT/1:\ntea " END,
	  "POST", "201 stored", "201 replayed", "tea", true },
	{ "STDERR after STDOUT's end [cgi:C64]", "params body " HEAD "tea "
	  "STDOUT/1 STDERR/1:late STDERR/1 END/1:0.0", "POST",
	  "201 stored", "201 replayed", "tea", true },

	/* not started */
	{ "OVERLOADED", "params body END/1:0.2", "POST", "503 not-started",
	  NULL, NULL, true },
	{ "CANT_MPX_CONN", "params body END/1:0.1", "POST", "503 not-started",
	  NULL, NULL, true },
	{ "UNKNOWN_ROLE", "params body END/1:0.3", "POST", "503 not-started",
	  NULL, NULL, true },
	{ "OVERLOADED after a byte of answer is an end",
	  "params body " HEAD "t STDOUT/1 END/1:0.2", "POST",
	  "502 unknown", "409 unknown", NULL, true },
};

#define ROWS (sizeof rows / sizeof *rows)

static void
ask_row(struct front_rig *f, size_t i, const char *want)
{
	char key[24];
	struct rig_request request = {
		.method = rows[i].method, .path = "/row",
		.key = rows[i].keyed ? key : NULL
	};
	struct rig_answer answer;

	snprintf(key, sizeof key, "row-%zu", i);
	rig_request(&f->rig, &request, &answer);
	told(&answer, want, "%s", rows[i].what);
	if (rows[i].body != NULL)
		is_bytes(answer.body.at, answer.body.len, rows[i].body,
		    strlen(rows[i].body), "... with its body");
	rig_answer_free(&answer);
}

static void
test_rows(void)
{
	struct front_rig f;
	char script[512];
	size_t i;

	front_rig_begin(&f, "one", "", NULL);
	for (i = 0; i < ROWS; i++) {
		snprintf(script, sizeof script, "accept %s", rows[i].script);
		front_rig_play(&f, 0, script);
		ask_row(&f, i, rows[i].first);
		if (rows[i].again != NULL)
			ask_row(&f, i, rows[i].again);
		front_rig_over(&f, 0, 1);
		if (strncmp(rows[i].first, "503", 3) != 0)
			continue;
		front_rig_play(&f, 0, "accept params body " HEAD "tea " END);
		ask_row(&f, i, "201 stored");
		front_rig_over(&f, 0, 1);
	}
	front_rig_end(&f);
}

/* Cut between two records at each byte, with padding. */
static void
test_head_cut(void)
{
	static const char head[] = "Status:201\nX-A:b\n\nok";
	char script[160];
	struct front_rig f;
	struct rig_answer answer;
	struct rig_request request = front_rig_post("/cut", NULL);
	size_t at, wrong = 0;

	front_rig_begin(&f, "one", "", NULL);
	for (at = 1; at < sizeof head - 1; at++) {
		snprintf(script, sizeof script, "accept params body "
		    "STDOUT/1:%.*s+%zu STDOUT/1:%s+3 " END, (int)at, head,
		    at % 9, head + at);
		front_rig_play(&f, 0, script);
		rig_request(&f.rig, &request, &answer);
		wrong += answer.status != 201 || answer.body.len != 2 ||
		    strcmp(rig_field(&answer, "X-A"), "b") != 0;
		rig_answer_free(&answer);
		wrong += !app_end(&f.app[0]);
	}
	is_int((long long)wrong, 0, "a head is the same wherever records cut "
	    "it [cgi:C65]");
	front_rig_end(&f);
}

static bool
is_pattern(struct idem_bytes body, size_t len)
{
	const uint8_t *at = body.at;
	size_t i;

	if (body.len != len)
		return false;
	for (i = 0; i < len; i++)
		if (at[i] != app_pattern(i))
			return false;
	return true;
}

static void
test_sizes(void)
{
	static const size_t sizes[] = { 31592, 16383, 16384, 16385, 65534,
	    65535, 65536, 10000000 };
	struct front_rig f;
	struct rig_answer answer;
	char script[120], key[24];
	struct rig_request request;
	size_t i;
	int n;

	front_rig_begin(&f, "one", "", NULL);
	for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		snprintf(script, sizeof script, "accept params body STDOUT/1:"
		    "A:b\n\n out:%zu " END, sizes[i]);
		snprintf(key, sizeof key, "size-%zu", i);
		for (n = 0; n < 3; n++) {	/* keyed twice, then not */
			request = front_rig_post("/size", n < 2 ? key : NULL);
			if (n != 1)
				front_rig_play(&f, 0, script);
			rig_request(&f.rig, &request, &answer);
			told(&answer, n == 0 ? "200 stored" : n == 1 ?
			    "200 replayed" : "200", "%zu bytes", sizes[i]);
			ok(is_pattern(answer.body, sizes[i]),
			    "... and each of them is right [cgi:C66]");
			rig_answer_free(&answer);
			if (n != 1)
				app_end(&f.app[0]);
		}
	}
	front_rig_end(&f);
}

/* With -f the front gets STDERR, else the log has it. */
static void
test_stderr(const char *option)
{
	struct rig_request request = front_rig_post("/err", "k");
	struct rig_answer answer;
	struct front_rig f;

	front_rig_begin(&f, "one", "", option);
	front_rig_play(&f, 0, "accept params body STDERR/1:a-word\n " HEAD
	    "tea STDERR/1:another\n " END);
	rig_request(&f.rig, &request, &answer);
	told(&answer, "201 stored", "an answer with STDERR beside it");
	if (option != NULL)
		is_bytes(answer.err.at, answer.err.len, "a-word\nanother\n",
		    15, "with -f it goes to the front");
	rig_answer_free(&answer);
	app_end(&f.app[0]);
	if (option == NULL)
		ok(ask_await_logged(&f.rig, "stderr=\"another\"", 1),
		    "... and is in the log [cgi:C64]");
	is_int(rig_stop(&f.rig, 20000), 0, "idemd ends with status 0");
	if (option != NULL)
		is_int(ask_logged(&f.rig, "stderr=\"another\""), 0,
		    "... and is not in the log [cgi:C64]");
	rig_end(&f.rig);
}

/* --- connections ---------------------------------------------------------- */

static void
test_kept(void)
{
	static const char answer[] = "params body " HEAD "tea " END;
	struct rig_request get = { .method = "GET", .path = "/get" };
	struct rig_request post = front_rig_post("/post", "k");
	struct front_rig f;
	char script[256];

	front_rig_begin(&f, "one, keep = 2", "", NULL);
	snprintf(script, sizeof script, "accept %s%saccept %sleft",
	    answer, answer, answer);
	front_rig_play(&f, 0, script);
	ask(&f.rig, &get, "201", "a GET");
	ask(&f.rig, &get, "201", "a second has the same connection");
	ask(&f.rig, &post, "201 stored", "a keyed POST has one of its own");
	front_rig_over(&f, 0, 2);
	ask(&f.rig, &post, "201 replayed", "its answer needs none");
	front_rig_play(&f, 0, script);
	ask(&f.rig, &get, "201", "the application has been started again");
	ask(&f.rig, &get, "201", "and its connections are kept again");
	app_kill(&f.app[0]);
	front_rig_end(&f);
}

static void
test_limit(void)
{
	struct rig_request first = front_rig_post("/limit", "first");
	struct rig_request second = front_rig_post("/limit", "second");
	struct rig_answer answer;
	struct front_rig f;
	int fd;

	front_rig_begin(&f, "one, connections = 1", "", NULL);
	front_rig_play(&f, 0, "accept params body wait " HEAD "tea " END
	    "accept params body " HEAD "rum " END);
	fd = ask_begin(&f.rig, &first);
	back_await_words(NULL, &f.app[0], 3);
	ask(&f.rig, &second, "503 not-started", "over the limit of connections "
	    "nothing is started");
	app_go(&f.app[0]);
	ask_end(&f.rig, fd, &answer);
	told(&answer, "201 stored", "the one within it is answered");
	rig_answer_free(&answer);
	ask(&f.rig, &second, "201 stored", "and then the other");
	front_rig_over(&f, 0, 2);
	front_rig_end(&f);
}

int
main(void)
{
	test_rows();
	test_head_cut();
	test_sizes();
	test_stderr(NULL);
	test_stderr("-f");
	test_kept();
	test_limit();
	return done();
}
