/* SPDX-License-Identifier: ISC */
#include "backend_front.h"

#include "backend_rig.h"
#include "holds.h"
#include "tap.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/*
 * Applications that die, hang or are away, clients and workers that leave:
 * whatever happens, a key starts once, and what became of it can be learned.
 */
#define OK "STDOUT/1:Status:201\n\nok STDOUT/1 END/1:0.0 "

static void
nap(void)
{
	const struct timespec pause = { 0, 20 * 1000 * 1000 };

	nanosleep(&pause, NULL);
}

static const struct death {
	const char *what, *script;
	const char *first, *again;
} deaths[] = {
	{ "a death before any answer", "accept params body close",
	  "502 unknown", "409 unknown" },
	{ "a death in the middle of it",
	  "accept params body STDOUT/1:Status:201\n\no close",
	  "502 unknown", "409 unknown" },
	{ "a death with all of it, but END_REQUEST",
	  "accept params body STDOUT/1:Content-Length:2\n\nok STDOUT/1 close",
	  "502 unknown", "409 unknown" },
	{ "what is not FastCGI", "accept params body RAW:0b0b0b0b0b0b0b0b left",
	  "502 unknown", "409 unknown" },
}, overdue[] = {
	{ "more time than there is", "accept params body left",
	  "504 unknown", "409 unknown" },
	{ "more time than there is, after its head",
	  "accept params body STDOUT/1:Status:201\n\no left",
	  "504 unknown", "409 unknown" },
};

static void
test_deaths(const struct death *d, size_t len, const char *limit)
{
	struct rig_request request;
	struct front_rig f;
	char key[] = "death-0";
	size_t i;

	front_rig_begin(&f, "one", limit, NULL);
	for (i = 0; i < len; i++) {
		key[6] = (char)('0' + i);
		request = front_rig_post("/death", key);
		front_rig_play(&f, 0, d[i].script);
		ask(&f.rig, &request, d[i].first, "%s", d[i].what);
		front_rig_over(&f, 0, 1);
		front_rig_play(&f, 0, "accept params body " OK);
		ask(&f.rig, &request, d[i].again, "... nobody runs it "
		    "again");
		app_kill(&f.app[0]);
		is_int(f.app[0].was.accepts, 0, "... nor was it tried");
	}
	front_rig_end(&f);
}

/* --- addresses ------------------------------------------------------------ */

static void
test_away(void)
{
	struct rig_request request = front_rig_post("/away", "k");
	struct front_rig f;

	front_rig_begin(&f, "one", "", NULL);
	ask(&f.rig, &request, "503 not-started", "nobody is there");
	front_rig_play(&f, 0, "accept params body " OK);
	ask(&f.rig, &request, "201 stored", "then somebody is, and runs it");
	front_rig_over(&f, 0, 1);
	front_rig_nobody(&f, 0);
	ask(&f.rig, &request, "201 replayed", "a replay needs nobody");
	front_rig_end(&f);
}

static void
test_two(void)
{
	struct rig_request post = front_rig_post("/two", "a");
	struct front_rig f;

	front_rig_begin(&f, "one, two", "", NULL);
	front_rig_play(&f, 1, "accept params body " OK "accept params body "
	    OK);
	ask(&f.rig, &post, "201 stored", "of two the first is away");
	post.key = "b";
	ask(&f.rig, &post, "201 stored", "as it is at its turn");
	front_rig_over(&f, 1, 2);
	front_rig_end(&f);
}

/* The first has done it and cannot say so: never the other too. */
static void
test_first_resets(const char *key)
{
	struct rig_request post = front_rig_post("/reset", key);
	struct front_rig f;

	front_rig_begin(&f, "one, two", "", NULL);
	front_rig_play(&f, 0, "accept params body close");
	front_rig_play(&f, 1, "accept params body " OK);
	ask(&f.rig, &post, "502 unknown", "the first of two runs it and "
	    "closes");
	front_rig_over(&f, 0, 1);
	app_kill(&f.app[1]);
	is_int(f.app[1].was.accepts, 0, "the other was not asked, %s key "
	    "[idem:G1]", key != NULL ? "with a" : "without a");
	front_rig_end(&f);
}

/* --- the lease ------------------------------------------------------------ */

/* Leases here are short enough to be waited for, and not over when a worker is
   held up for a moment between its claim and the start. */

#define FILLERS 64

static size_t
fill(const struct app *app, int fillers[FILLERS])
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	size_t n;

	memcpy(at.sun_path, app->path, strlen(app->path) + 1);
	for (n = 0; n < FILLERS; n++) {
		fillers[n] = socket(AF_UNIX,
		    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		if (connect(fillers[n], (const struct sockaddr *)&at,
		    sizeof at) == -1)
			break;
	}
	if (n == FILLERS || errno != EAGAIN)
		bail_out("the backlog is not full");
	close(fillers[n]);
	return n;
}

/* After the lease others may have made it unknown: it must not begin then. */
static void
test_lease(void)
{
	struct rig_request post = front_rig_post("/lease", "k");
	int fillers[FILLERS];
	struct rig_answer answer;
	struct front_rig f;
	struct app full;
	size_t n;

	front_rig_begin(&f, "one, connect = '120s'", "lease = '3s'", NULL);
	app_open(&full, APP_UNIX, 1);
	if (symlink(full.path, rig_at(&f.rig, "one")) == -1)
		bail_out("symlink: %s", strerror(errno));
	n = fill(&full, fillers);
	rig_request(&f.rig, &post, &answer);
	told(&answer, "503 not-started", "an application cannot be reached "
	    "within the lease");
	ok(answer.ms < 60000, "... and that is said when it is over, after "
	    "%lld ms", (long long)answer.ms);
	rig_answer_free(&answer);
	while (n > 0)
		close(fillers[--n]);
	app_end(&full);
	front_rig_play(&f, 0, "accept params body " OK);
	ask(&f.rig, &post, "201 stored", "the key is free then");
	front_rig_over(&f, 0, 1);
	front_rig_end(&f);
}

/* --- who leaves ----------------------------------------------------------- */

static void
test_client_leaves(void)
{
	struct rig_request post = front_rig_post("/leave", "k");
	struct front_rig f;
	int fd;

	front_rig_begin(&f, "one", "", NULL);
	front_rig_play(&f, 0, "accept params body wait " OK);
	fd = ask_begin(&f.rig, &post);
	back_await_words(NULL, &f.app[0], 3);
	close(fd);
	app_go(&f.app[0]);
	front_rig_over(&f, 0, 1);
	ask(&f.rig, &post, "201 replayed", "a keyed run whose client left is "
	    "stored");
	post.key = NULL;
	front_rig_play(&f, 0, "accept params body STDOUT/1:A:b\n\n left");
	fd = ask_begin(&f.rig, &post);
	back_await_words(NULL, &f.app[0], 4);
	close(fd);
	front_rig_over(&f, 0, 1);
	ok(f.app[0].was.over, "the connection of one without a key is closed");
	front_rig_end(&f);
}

/* No keeper holds such a run, and no slot; an instance that is told to stop
   finishes it, whatever else it is told. */
static void
test_others_end(void)
{
	struct rig_request post = front_rig_post("/others", "k");
	struct rig_answer answer;
	struct worker worker;
	struct front_rig f;
	int fd;

	front_rig_begin(&f, "one", "", NULL);
	front_rig_play(&f, 0, "accept params body wait " OK
	    "accept params body wait " OK);
	holds_worker(&f.rig, &worker);
	fd = ask_begin(&f.rig, &post);
	back_await_words(NULL, &f.app[0], 3);
	kill(worker.keeper, SIGKILL);
	ok(ask_await_logged(&f.rig, "lost, its runs are unknown", 1),
	    "the keeper is lost");
	app_go(&f.app[0]);
	ask_end(&f.rig, fd, &answer);
	told(&answer, "201 stored", "but not a run of an application");
	rig_answer_free(&answer);
	post.key = "l";
	fd = ask_begin(&f.rig, &post);
	back_await_words(NULL, &f.app[0], 10);
	kill(f.rig.pid, SIGTERM);
	ok(ask_await_logged(&f.rig, "stopping, 1 requests", 1),
	    "idemd is told to stop");
	kill(f.rig.pid, SIGHUP);
	app_go(&f.app[0]);
	ask_end(&f.rig, fd, &answer);
	told(&answer, "201 stored", "and finishes what runs");
	rig_answer_free(&answer);
	front_rig_over(&f, 0, 2);
	front_rig_end(&f);
}

/* Asked for until so, at most a minute; nothing else is right. */
static void
await_unknown(struct front_rig *f, const struct rig_request *request)
{
	int64_t until_ms = rig_now_ms() + 60000;
	struct rig_answer answer;
	const char *says;
	bool unknown = false, wrong = false;

	while (!unknown && !wrong && rig_now_ms() < until_ms) {
		rig_request(&f->rig, request, &answer);
		says = rig_field(&answer, "Idempotency-Status");
		unknown = strcmp(says, "unknown") == 0;
		wrong = answer.status == 201 ||
		    (answer.whole && answer.status != 409);
		rig_answer_free(&answer);
		nap();
	}
	ok(unknown && !wrong, "the key is in progress, and then unknown");
}

static void
test_worker_dies(void)
{
	struct rig_request post = front_rig_post("/worker", "k");
	struct worker worker;
	struct front_rig f;
	int fd;

	front_rig_begin(&f, "one", "lease = '3s', in_progress = '409'",
	    NULL);
	front_rig_play(&f, 0, "accept params body left accept params body " OK);
	holds_worker(&f.rig, &worker);
	fd = ask_begin(&f.rig, &post);
	back_await_words(NULL, &f.app[0], 3);
	kill(worker.lobby, SIGKILL);
	close(fd);
	await_unknown(&f, &post);
	is_int(f.app[0].seen->accepts, 1, "a worker that is killed has started "
	    "it, and nobody else has [cgi:C88]");
	app_kill(&f.app[0]);
	front_rig_end(&f);
}

/*
 * A run has the limit under which it began, also where a worker came later
 * that has only seen a smaller one.
 */
#define LEASE_MS 3000
#define SMALL_MS 300
#define GRACE_MS 200

static void
test_smaller_limit(void)
{
#define RETRY "on_unknown = retry(3), lease = '3s', in_progress = '409', "
	struct rig_request post = front_rig_post("/smaller", "k");
	struct rig_answer answer;
	struct worker worker;
	struct front_rig f;
	int64_t until_ms;
	int fd, wrong = 0;

	front_rig_begin(&f, "one", RETRY "limit = '60s'", NULL);
	front_rig_play(&f, 0, "accept params body left accept params body " OK);
	holds_worker(&f.rig, &worker);
	fd = ask_begin(&f.rig, &post);
	back_await_words(NULL, &f.app[0], 3);
	front_rig_write(&f, "one", RETRY "limit = '300ms'");
	kill(f.rig.pid, SIGHUP);
	ok(ask_await_logged(&f.rig, "reloaded routes=1", 1), "a smaller limit "
	    "is read while it runs");
	kill(worker.lobby, SIGKILL);
	close(fd);
	until_ms = rig_now_ms() + 2 * (LEASE_MS + SMALL_MS + GRACE_MS);
	while (rig_now_ms() < until_ms) {
		rig_request(&f.rig, &post, &answer);
		wrong += answer.whole && answer.status != 409;
		rig_answer_free(&answer);
		nap();
	}
	is_int(wrong, 0, "its key is not run again before its own limit");
	is_int(f.app[0].seen->accepts, 1, "nor has it been started");
	app_kill(&f.app[0]);
	front_rig_end(&f);
}

int
main(void)
{
	test_deaths(deaths, sizeof deaths / sizeof *deaths, "limit = '60s'");
	test_deaths(overdue, sizeof overdue / sizeof *overdue,
	    "limit = '2s'");
	test_away();
	test_two();
	test_first_resets("k");
	test_first_resets(NULL);
	test_lease();
	test_client_leaves();
	test_others_end();
	test_worker_dies();
	test_smaller_limit();
	return done();
}
