/* SPDX-License-Identifier: ISC */
#include "ask.h"

#include "fcgi_words.h"
#include "holds.h"
#include "tap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * What a review of the request path and of reloading has found: each of these
 * was wrong once.
 */
static const char program[] = COUNT
    "cat >/dev/null\nprintf 'Status: 201\\n\\nok\\n'\n";

static const char *const as_in_file[] = {
	"-f", "--config", "idem.conf", NULL
};

static void
write_conf(struct rig *rig, const char *text)
{
	char routes[1024];

	snprintf(routes, sizeof routes, "workers = 1\nlocal folder = '%s/'\n%s",
	    rig->folder, text);
	rig_file(rig, "idem.conf", routes);
}

static void
begin(struct rig *rig, const char *text)
{
	const char *options[4];

	rig_open(rig);
	rig_program(rig, "order", program);
	write_conf(rig, text);
	memcpy(options, as_in_file, sizeof options);
	options[2] = rig_at(rig, "idem.conf");
	ask_start(rig, options);
}

static void
end(struct rig *rig)
{
	is_int(rig_stop(rig, 30000), 0, "idemd ends with status 0");
	rig_end(rig);
}

/* --- requests ------------------------------------------------------------- */

/* The path's buffer is full before its NUL comes at 64, 128 and so on. */
static void
test_path_sizes(void)
{
	char path[1024 + 1] = "/p/";
	struct rig_answer answer;
	size_t len, wrong = 0;
	struct rig rig;

	begin(&rig, "route { path = '/p/**', "
	    "program = cgi { folder .. 'order' } }\n");
	memset(path + 3, 'a', sizeof path - 3);
	for (len = 1024; len > 3; len = len > 130 ? len / 2 : len - 1) {
		path[len] = '\0';
		rig_request(&rig, &(struct rig_request){
		    .method = "POST", .path = path }, &answer);
		wrong += answer.status != 201;
		rig_answer_free(&answer);
	}
	ok(wrong == 0, "a path of any length finds its route");
	end(&rig);
}

/* There are fronts that leave out the end of a body that is not there. */
static void
test_refused_without_end(void)
{
	static const char *const rows[][2] = {
		{ "404 not-started", "CLOSING/1 PARAMS/1:REQUEST_METHOD=GET,"
		  "SCRIPT_NAME=/none PARAMS/1" },
		{ "404 not-started", "CLOSING/1 PARAMS/1:REQUEST_METHOD=POST,"
		  "CONTENT_LENGTH=0,SCRIPT_NAME=/none PARAMS/1" },
		{ "400 rejected", "BEGIN/1 PARAMS/1:REQUEST_METHOD=POST,"
		  "CONTENT_LENGTH=0,SCRIPT_NAME=/p/x,HTTP_IDEMPOTENCY_KEY= "
		  "PARAMS/1" },
	};
	struct rig_answer answer;
	struct idem_buf out;
	struct rig rig;
	size_t i;
	int fd;

	begin(&rig, "route { path = '/p/**', "
	    "program = cgi { folder .. 'order' } }\n");
	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		out = (struct idem_buf){ 0 };
		fcgi_words(&out, rows[i][1]);
		fd = rig_connect(&rig);
		if (fd == -1 || rig_send(fd, idem_buf_bytes(&out), 0,
		    rig.request_ms) == -1)
			bail_out("not sent");
		idem_buf_free(&out);
		ask_end(&rig, fd, &answer);
		told(&answer, rows[i][0], "what is refused is answered without "
		    "the end of its body [cgi:C61]");
		rig_answer_free(&answer);
	}
	is_int(starts(&rig), 0, "and nothing was started");
	end(&rig);
}

/* --- standard error ------------------------------------------------------- */

#define LOUD 40000
#define LOUD_TIMES 20
#define FLOOD "200000000"
#define FLOOD_KB_MAX (150 * 1024)

static void
test_loud_end(struct rig *rig)
{
	struct rig_answer answer;
	int i, wrong = 0;

	for (i = 0; i < LOUD_TIMES; i++) {
		rig_request(rig, &(struct rig_request){
		    .method = "POST", .path = "/loud" }, &answer);
		wrong += !answer.whole || answer.err.len != LOUD;
		rig_answer_free(&answer);
	}
	is_int(wrong, 0, "with -f the front gets all that a program says at "
	    "its end");
}

/* A client that does not read must not fill our memory with it. */
static void
test_flood(struct rig *rig)
{
	struct rig_answer answer;
	struct worker worker;
	int fd;

	holds_worker(rig, &worker);
	fd = ask_begin(rig, &(struct rig_request){
	    .method = "POST", .path = "/flood", .key = "f" });
	ok(rig_await_lines(rig, "flooded", 1, 120000), "a program that floods "
	    "standard error goes on while nobody reads");
	ok(holds_status_kb(worker.lobby, "VmHWM") < FLOOD_KB_MAX,
	    "and its worker does not keep what was said");
	ask_end(rig, fd, &answer);
	told(&answer, "201 stored", "the answer comes all the same");
	rig_answer_free(&answer);
}

static void
test_stderr(void)
{
	struct rig rig;

	begin(&rig,
	    "route { path = '/loud', program = cgi { folder .. 'loud' } }\n"
	    "route { path = '/flood', program = cgi { folder .. 'flood' } }\n");
	rig_program(&rig, "loud", "#!/bin/sh\nprintf 'Status: 201\\n\\nok\\n'\n"
	    "head -c 40000 /dev/zero | tr '\\0' e >&2\n");
	rig_program(&rig, "flood", "#!/bin/sh\n"
	    "head -c " FLOOD " /dev/zero >&2\necho >>flooded\n"
	    "printf 'Status: 201\\n\\nok\\n'\n");
	test_loud_end(&rig);
	test_flood(&rig);
	end(&rig);
}

/* --- reload --------------------------------------------------------------- */

#define ONE "local p = cgi { folder .. 'order' }\nrest = p\n" \
    "route { path = '/one', program = p }\n"
#define TWO ONE "route { path = '/two', program = p }\n"

/* The next one that it would get. */
static unsigned
free_descriptor(pid_t pid)
{
	char path[64];
	struct stat st;
	unsigned n = 0;

	do
		snprintf(path, sizeof path, "/proc/%d/fd/%u", (int)pid, n);
	while (lstat(path, &st) == 0 && ++n < 1000);
	return n;
}

static void
rewrite(struct rig *rig, const char *text)
{
	write_conf(rig, text);
	kill(rig->pid, SIGHUP);
}

static bool
await_covered(struct rig *rig, const char *path)
{
	int64_t until_ms = rig_now_ms() + 60000;
	struct rig_answer answer;
	bool covered = false;
	char key[32];
	int i;

	for (i = 0; !covered && rig_now_ms() < until_ms; i++) {
		snprintf(key, sizeof key, "await-%d", i);
		rig_request(rig, &(struct rig_request){ .method = "POST",
		    .path = path, .key = key }, &answer);
		covered = strcmp(rig_field(&answer, "Idempotency-Status"),
		    "stored") == 0;
		rig_answer_free(&answer);
	}
	return covered;
}

/* The new text comes as a descriptor, for which there is no room. */
static void
test_no_descriptor(void)
{
	struct rlimit limit;
	struct worker worker;
	struct rig rig;

	begin(&rig, ONE);
	ask(&rig, &(struct rig_request){ .method = "POST", .path = "/two",
	    .key = "k" }, "201 ignored", "/two has no route yet");
	holds_worker(&rig, &worker);
	holds_at_rest(&worker);		/* what it closes is closed */
	if (prlimit(worker.lobby, RLIMIT_NOFILE, NULL, &limit) == -1)
		bail_out("prlimit");
	limit.rlim_cur = free_descriptor(worker.lobby);
	prlimit(worker.lobby, RLIMIT_NOFILE, &limit, NULL);
	rewrite(&rig, TWO);
	ok(ask_await_logged(&rig, "reloaded routes=2", 1), "a second route is "
	    "read");
	ok(await_covered(&rig, "/two"), "a worker without a descriptor left "
	    "makes way for one that has the new configuration");
	end(&rig);
}

static void
test_no_file(void)
{
	struct rig rig;

	begin(&rig, ONE);
	unlink(rig_at(&rig, "idem.conf"));
	if (mkfifo(rig_at(&rig, "idem.conf"), 0600) == -1)
		bail_out("mkfifo");
	kill(rig.pid, SIGHUP);
	ok(ask_await_logged(&rig, "reload refused", 1),
	    "a pipe in the file's place is not waited for");
	unlink(rig_at(&rig, "idem.conf"));
	if (symlink("/dev/zero", rig_at(&rig, "idem.conf")) == -1)
		bail_out("symlink");
	kill(rig.pid, SIGHUP);
	ok(ask_await_logged(&rig, "reload refused", 2),
	    "nor is a file without an end read to it");
	unlink(rig_at(&rig, "idem.conf"));
	rewrite(&rig, TWO);
	ok(await_covered(&rig, "/two"), "the next one is in force");
	end(&rig);
}

/* Who waits is parked, and all that is left of its request is a few words. */
static void
test_head_that_waits(void)
{
	static const char text[] = "route { path = '/**', methods = { 'HEAD' "
	    "}, in_progress = 'wait', wait = '10ms', lease = '120s',\n"
	    "    program = cgi { folder .. 'order' } }\n";
	const struct rig_request request = { .method = "HEAD", .path = "/o",
		.key = "head" };
	struct rig_answer answer;
	struct rig rig;
	int first;

	begin(&rig, text);
	rig_program(&rig, "order", COUNT HELD
	    "printf 'Status: 201\\n\\n'\n");
	rig_file(&rig, "hold", "");
	first = ask_await_starts(&rig, ask_begin(&rig, &request), &request, 1);
	rig_request(&rig, &request, &answer);
	told(&answer, "409 in-progress", "a HEAD waits in vain");
	is_int((long long)answer.body.len, 0, "and is told so without a body");
	rig_answer_free(&answer);
	unlink(rig_at(&rig, "hold"));
	ask_end(&rig, first, &answer);
	told(&answer, "201 stored", "the one that it waited for ends");
	rig_answer_free(&answer);
	end(&rig);
}

int
main(void)
{
	test_path_sizes();
	test_refused_without_end();
	test_stderr();
	test_no_descriptor();
	test_no_file();
	test_head_that_waits();
	return done();
}
