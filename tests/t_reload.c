/* SPDX-License-Identifier: ISC */
#include "ask.h"

#include "tap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * A new configuration takes the place of the old one while requests come and
 * go, or is refused and changes nothing.
 */
static const char program[] = COUNT HELD
    "cat >/dev/null\nprintf 'Status: 201\\n\\nok\\n'\n";

#define ONE "route { path = '/one', program = p }\n"
#define TWO "route { path = '/two', program = p }\n"
#define GONE "route { path = '/gone', program = cgi { '/nowhere/order' } }\n"
#define SESSION "route { path = '/one', program = p, " \
    "scope = { cookies = { 's' } } }\n"

static void
write_conf(struct rig *rig, const char *routes)
{
	size_t size = 1024 + strlen(routes);
	char *text = malloc(size);

	if (text == NULL)
		bail_out("no memory");
	snprintf(text, size, "workers = 2\nlocal p = cgi { '%s/order' "
	    "}\nrest = p\n%s", rig->folder, routes);
	/* Whole, whenever it is read: the last reload may still go on. */
	rig_file(rig, "idem.conf.new", text);
	if (rename(rig_at(rig, "idem.conf.new"), rig_at(rig, "idem.conf")) ==
	    -1)
		bail_out("rename");
	free(text);
}

/* SIGHUP, and its outcome in the log. */
static void
reload(struct rig *rig, const char *routes, const char *outcome,
    const char *what)
{
	int before = ask_logged(rig, outcome);

	write_conf(rig, routes);
	kill(rig->pid, SIGHUP);
	ok(ask_await_logged(rig, outcome, before + 1), "%s", what);
}

static void
post(struct rig *rig, const char *path, const char *key, const char *want,
    const char *what)
{
	ask(rig, &(struct rig_request){
	    .method = "POST", .path = path, .key = key }, want, "%s", what);
}

/* The workers read the new one a moment after the master. */
static void
await_covered(struct rig *rig, const char *path, bool covered)
{
	int64_t until_ms = rig_now_ms() + 60000;
	struct rig_answer answer;
	const char *want = covered ? "stored" : "ignored";
	int in_a_row = 0, i;
	char key[32];

	for (i = 0; in_a_row < 20 && rig_now_ms() < until_ms; i++) {
		snprintf(key, sizeof key, "await-%s-%d", path + 1, i);
		rig_request(rig, &(struct rig_request){ .method = "POST",
		    .path = path, .key = key }, &answer);
		in_a_row = strcmp(rig_field(&answer, "Idempotency-Status"),
		    want) == 0 ? in_a_row + 1 : 0;
		rig_answer_free(&answer);
	}
	ok(in_a_row == 20, "%s is %scovered in all workers", path,
	    covered ? "" : "not ");
}

/* As many bytes as it may have at start: it is the same file. */
static void
test_long(struct rig *rig)
{
	static const char line[] = "-- what nobody reads\n";
	size_t len = sizeof line - 1, times = 3u * 1024 * 1024 / len, i;
	char *text = malloc(times * len + sizeof ONE TWO);

	if (text == NULL)
		bail_out("no memory");
	for (i = 0; i < times; i++)
		memcpy(text + i * len, line, len);
	memcpy(text + times * len, ONE TWO, sizeof ONE TWO);
	reload(rig, text, "reloaded routes=2", "a long file is read again");
	free(text);
}

static void
test_new_route(struct rig *rig)
{
	struct rig_answer answer;
	long before;
	int held;

	post(rig, "/one", "a", "201 stored", "the first one is in force");
	post(rig, "/two", "a", "201 ignored", "and says nothing of /two");
	before = starts(rig);
	rig_file(rig, "hold", "");
	held = ask_begin(rig, &(struct rig_request){
	    .method = "POST", .path = "/two", .key = "held" });
	await_starts(rig, before + 1);
	reload(rig, ONE TWO, "reloaded routes=2", "a reload with a route more "
	    "is told of");
	unlink(rig_at(rig, "hold"));
	ask_end(rig, held, &answer);
	told(&answer, "201 ignored", "a request that came before goes on as "
	    "it began");
	rig_answer_free(&answer);
	await_covered(rig, "/two", true);
	post(rig, "/one", "a", "201 replayed", "what was stored before is "
	    "replayed");
}

static void
test_refused(struct rig *rig)
{
	char gone[300];

	reload(rig, ONE TWO "rout {}\n", "reload refused: ", "a file with an "
	    "error is refused");
	ok(ask_logged(rig, "idem.conf:6:") > 0, "with its file and line");
	reload(rig, SESSION TWO, "--accept-rekey", "a reload that would "
	    "re-key a live route is refused [idem:D23]");
	reload(rig, TWO, "--accept-rekey", "so is one that takes the route "
	    "away");
	reload(rig, "grace = '7s'\n" ONE TWO, "that needs a restart", "and one "
	    "that needs a restart");
	post(rig, "/one", "a", "201 replayed", "the old one is in force still");
	unlink(rig_at(rig, "idem.conf"));
	kill(rig->pid, SIGHUP);
	snprintf(gone, sizeof gone, "reload refused: %s: No such file",
	    rig_at(rig, "idem.conf"));
	ok(ask_await_logged(rig, gone, 1) &&
	    ask_logged(rig, "reload error") == 0, "a file that is gone is told "
	    "of, as every other refusal is");
	post(rig, "/two", "b", "201 stored", "and changes nothing either");
}

static bool
kill_lobbies(struct rig *rig)
{
	pid_t children[16];
	size_t n = rig_children(rig->pid, children, 16), i;

	for (i = 0; i < n; i++)
		kill(children[i], SIGKILL);
	return n > 0;
}

static void
test_new_workers(struct rig *rig)
{
	int before = ask_logged(rig, "lobby=");

	reload(rig, ONE TWO "route { path = '/three', program = p }\n",
	    "reloaded routes=3", "a third route is added");
	ok(kill_lobbies(rig), "the workers are killed");
	ask_await_logged(rig, "lobby=", before + 2);
	await_covered(rig, "/three", true);
}

/* --- under load ----------------------------------------------------------- */

#define REQUESTS 3000
#define RELOADS 20

struct load {
	struct rig *rig;
	int sent, reloads, wrong;
	char key[32];
};

static enum rig_next
load_next(void *arg, int64_t now_ms, struct rig_request *request, void **user)
{
	struct load *load = arg;

	(void)now_ms;
	*user = NULL;
	if (load->sent == REQUESTS)
		return RIG_OVER;
	snprintf(load->key, sizeof load->key, "load-%d", load->sent / 2);
	*request = (struct rig_request){
		.method = "POST", .path = "/one", .key = load->key
	};
	load->sent++;
	return RIG_SEND;
}

static void
load_answered(void *arg, void *user, const struct rig_answer *answer)
{
	struct load *load = arg;

	(void)user;
	if (!answer->whole || answer->status != 201)
		load->wrong++;
}

static void
load_turn(void *arg, int64_t now_ms)
{
	struct load *load = arg;

	(void)now_ms;
	if (load->reloads < load->sent * RELOADS / REQUESTS) {
		write_conf(load->rig, load->reloads % 2 ? ONE TWO : ONE TWO
		    "route { path = '/three', program = p }\n"
		    "route { path = '/four', program = p }\n");
		kill(load->rig->pid, SIGHUP);
		load->reloads++;
	}
}

static void
test_load(void)
{
	const char *options[] = { "--accept-rekey", "--config", NULL, NULL };
	struct load load = { 0 };
	struct rig_many many = {
		.connections_max = 8, .limit_ms = 300000, .next = load_next,
		.answered = load_answered, .turn = load_turn, .arg = &load
	};
	struct rig rig;
	int result;

	rig_open(&rig);
	load.rig = &rig;
	rig_program(&rig, "order", program);
	write_conf(&rig, ONE TWO GONE);
	options[2] = rig_at(&rig, "idem.conf");
	ask_start(&rig, options);
	ok(ask_await_logged(&rig, "program /nowhere/order: No such file", 1),
	    "a program that is not there is warned of at start");
	result = rig_many(&rig, &many);
	ok(result == 0 && many.failed == 0 && load.wrong == 0,
	    "%d requests over %d reloads: each is answered, and as ever",
	    load.sent, load.reloads);
	is_int(starts(&rig), REQUESTS / 2, "and each key ran once");
	ok(ask_await_logged(&rig, "reloaded routes=", 2), "reloads did happen");
	reload(&rig, SESSION TWO, "reloaded routes=2", "with --accept-rekey "
	    "a route may be re-keyed");
	reload(&rig, ONE TWO GONE, "program /nowhere/order: No such file",
	    "and whenever it is said anew");
	is_int(rig_stop(&rig, 20000), 0, "idemd ends with status 0");
	rig_end(&rig);
}

int
main(void)
{
	const char *options[] = { "--config", NULL, NULL };
	struct rig rig;

	rig_open(&rig);
	rig_program(&rig, "order", program);
	write_conf(&rig, ONE);
	options[1] = rig_at(&rig, "idem.conf");
	ask_start(&rig, options);
	test_new_route(&rig);
	test_long(&rig);
	test_refused(&rig);
	test_new_workers(&rig);
	is_int(rig_stop(&rig, 20000), 0, "idemd ends with status 0");
	rig_end(&rig);
	test_load();
	return done();
}
