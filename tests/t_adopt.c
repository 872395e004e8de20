/* SPDX-License-Identifier: ISC */
#include "ask.h"

#include "journal.h"
#include "redis_rig.h"
#include "rig_watch.h"
#include "tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * Runs that outlive their lobby, with each arbiter: whoever comes next, or
 * nobody at all, the key gets the answer of the one run that there was; and
 * where that cannot be known it is unknown, and never started again.
 */
#define WORKERS 2
#define END_MS 60000
#define LEASE_MS 10000		/* longer than a test takes on a busy machine */
#define ENDS_LEASE_MS 2000	/* where its end is waited for */
#define LIVES_LEASE_MS 8000	/* where it is outlived, and renewed in time */

static const char conf[] =
    "workers = %d\n"
    "local_cache = 'none'\n"
    "grace = '500ms'\n"
    "ledger = sqlite { path = '%s/ledger.db', create = true }\n"
    "shared = redis { url = '%s', timeout = '20s', budget = '20s' }\n"
    "local function on(path, arbiter)\n"
    "  route { path = path, arbiter = arbiter, lease = '%ums',\n"
    "      limit = '60s', program = cgi { '%s/order' } }\n"
    "end\n"
    "on('/ledger', 'ledger')\n";
static const char conf_redis[] = "on('/redis', 'redis')\n";

static struct redis_rig redis;
static bool has_redis;
static struct rig rig;
static unsigned lease_ms;
static int64_t took_ms;		/* of the last end that was waited for */

static const char *
arbiter_of(const char *path)
{
	return path + 1;
}

/* --- the instance --------------------------------------------------------- */

static void
start(void)
{
	ask_start(&rig, (const char *[]){ "--config", rig_at(&rig, "idem.conf"),
	    NULL });
}

/* With the server by that name. */
static void
configure(const char *url)
{
	char text[2000];

	snprintf(text, sizeof text, conf, WORKERS, rig.folder, url, lease_ms,
	    rig.folder);
	if (has_redis)
		strncat(text, conf_redis, sizeof text - strlen(text) - 1);
	rig_file(&rig, "idem.conf", text);
}

static void
begin_leased(unsigned ms)
{
	lease_ms = ms;
	rig_open(&rig);
	rig.bare = true;
	rig_program(&rig, "order", COUNT HELD
	    "echo over >>ends\nprintf 'Status: 201\\n\\nrun %s' $$\n");
	configure(has_redis ? redis.url : "unix:/nonexistent");
	rig_file(&rig, "hold", "");
	start();
}

static void
begin(void)
{
	begin_leased(LEASE_MS);
}

static void
let_go(void)
{
	unlink(rig_at(&rig, "hold"));
}

static void
kill_lobbies(void)
{
	pid_t lobby[WORKERS];
	int i;

	rig_watch_lobbies(&rig, lobby, WORKERS);
	for (i = 0; i < WORKERS; i++)
		kill(lobby[i], SIGKILL);
}

/* Its keepers live on with what they run.  The master is who names lobbies. */
static void
kill_instance(void)
{
	pid_t lobby[WORKERS];
	int i;

	rig_watch_lobbies(&rig, lobby, WORKERS);
	rig_kill(&rig);
	for (i = 0; i < WORKERS; i++)
		kill(lobby[i], SIGKILL);
}

/* And its keepers, and with them all that runs. */
static void
kill_all(void)
{
	kill(-rig.pid, SIGKILL);
	waitpid(rig.pid, NULL, 0);
	rig.pid = 0;
}

static struct rig_request
order(const char *path)
{
	static const char *more[] = { "HTTP_X_ROW=order", NULL };

	return (struct rig_request){ .method = "POST", .path = path,
		.key = "\"k\"", .more = more, .body = idem_bytes_text("tea") };
}

/* Its program runs; the connection is of no more use. */
static void
order_begun(const char *path)
{
	const struct rig_request request = order(path);

	close(ask_await_starts(&rig, ask_begin(&rig, &request), &request, 1));
}

/* Until a request is told that, which it may not be at once. */
static bool
comes_to(const char *path, const char *says)
{
	const struct rig_request request = order(path);
	int64_t begun_ms = rig_now_ms();
	struct rig_answer answer;
	bool there = false;

	while (!there && rig_now_ms() < begun_ms + END_MS) {
		rig_request(&rig, &request, &answer);
		there = strcmp(rig_field(&answer, "Idempotency-Status"),
		    says) == 0;
		rig_answer_free(&answer);
		if (!there)
			redis_rig_turn();
	}
	took_ms = rig_now_ms() - begun_ms;
	return there;
}

static bool
await_logged(const char *text)
{
	int64_t begun_ms = rig_now_ms();
	bool there = ask_await_logged(&rig, text, 1);

	took_ms = rig_now_ms() - begun_ms;
	return there;
}

static void
once(const char *path)
{
	is_int(starts(&rig), 1, "%s: it was started once", arbiter_of(path));
}

/* --- the folder of runs --------------------------------------------------- */

static int
run_folder(void)
{
	int fd = open(rig_at(&rig, "ledger.db-run"),
	    O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd == -1)
		bail_out("no run folder");
	return fd;
}

/* The one that is there; false: none, or more than one. */
static bool
find_run(int folder, struct idem_owner *owner)
{
	struct idem_journal_walk walk;
	struct idem_evidence e;
	struct idem_owner at;
	int begun = 0;

	if (!idem_journal_walk(folder, false, &walk))
		bail_out("the run folder cannot be read");
	while (idem_journal_next(&walk, &at)) {
		idem_evidence(folder, &at, &e, NULL);
		if (e.noted && (e.note.state == IDEM_NOTE_BEGUN ||
		    e.note.state == IDEM_NOTE_ORPHAN)) {
			*owner = at;
			begun++;
		}
	}
	idem_journal_walk_end(&walk);
	return begun == 1;
}

static void
wipe(int folder)
{
	DIR *dir = fdopendir(dup(folder));
	const struct dirent *e;

	while (dir != NULL && (e = readdir(dir)) != NULL)
		unlinkat(folder, e->d_name, 0);
	if (dir != NULL)
		closedir(dir);
}

/* --- scenarios ------------------------------------------------------------ */

/* The next request comes while the program still runs. */
static void
test_asked(const char *path)
{
	const struct rig_request request = order(path);
	struct rig_answer answer;
	int fd;

	begin();
	order_begun(path);
	kill_lobbies();
	fd = ask_begin(&rig, &request);
	let_go();
	ask_end(&rig, fd, &answer);
	if (strcmp(rig_field(&answer, "Idempotency-Status"), "replayed") != 0)
		ok(comes_to(path, "replayed"), "%s: a run whose lobby was "
		    "killed gives its answer to the next [idem:B9]",
		    arbiter_of(path));
	else
		ok(answer.status == 201 && answer.body.len > 4 &&
		    memcmp(answer.body.at, "run ", 4) == 0,
		    "%s: a run whose lobby was killed gives its answer to the "
		    "next [idem:B9]", arbiter_of(path));
	note("after %lld ms", (long long)answer.ms);
	rig_answer_free(&answer);
	once(path);
	is_int(ask_logged(&rig, "state=unknown"), 0,
	    "%s: and was never unknown", arbiter_of(path));
	rig_end(&rig);
}

static void
test_not_asked(const char *path)
{
	begin();
	order_begun(path);
	kill_lobbies();
	let_go();
	ok(await_logged("state=completed source=journal"),
	    "%s: a run whose lobby was killed is completed without anybody "
	    "asking [idem:A17]", arbiter_of(path));
	note("after %lld ms", (long long)took_ms);
	ok(comes_to(path, "replayed"), "%s: its answer is there then",
	    arbiter_of(path));
	once(path);
	rig_end(&rig);
}

/* Longer than its lease; nobody but the settlers renews it. */
static void
test_lease(const char *path)
{
	const struct timespec long_ = { 2 * LIVES_LEASE_MS / 1000 + 1, 0 };

	begin_leased(LIVES_LEASE_MS);
	order_begun(path);
	kill_lobbies();
	nanosleep(&long_, NULL);	/* the time that this is about */
	is_int(ask_logged(&rig, "state=unknown"), 0,
	    "%s: it goes on for more than two leases", arbiter_of(path));
	let_go();
	ok(comes_to(path, "replayed"), "%s: and then its answer is there",
	    arbiter_of(path));
	once(path);
	rig_end(&rig);
}

static void
test_instance(const char *path)
{
	begin();
	order_begun(path);
	kill_instance();
	let_go();
	ok(rig_await_lines(&rig, "ends", 1, END_MS),
	    "%s: a program goes on without its instance", arbiter_of(path));
	start();
	ok(await_logged("state=completed source=journal"),
	    "%s: the next instance finds its answer", arbiter_of(path));
	note("after %lld ms", (long long)took_ms);
	ok(comes_to(path, "replayed"), "%s: and gives it to who asks",
	    arbiter_of(path));
	once(path);
	rig_end(&rig);
}

static void
test_killed(const char *path)
{
	begin();
	order_begun(path);
	kill_all();
	start();
	ok(await_logged("state=unknown source=journal"),
	    "%s: a run that died with its keeper is unknown",
	    arbiter_of(path));
	note("after %lld ms", (long long)took_ms);
	ok(comes_to(path, "unknown"), "%s: who asks is told so",
	    arbiter_of(path));
	once(path);
	rig_end(&rig);
}

static void
test_wiped(const char *path)
{
	int folder;

	begin_leased(ENDS_LEASE_MS);
	order_begun(path);
	folder = run_folder();
	wipe(folder);
	kill_lobbies();
	let_go();
	ok(comes_to(path, "unknown"), "%s: without its file a run is unknown "
	    "in the end", arbiter_of(path));
	note("after %lld ms", (long long)took_ms);
	once(path);
	close(folder);
	rig_end(&rig);
}

/* As if it had been written before the host went down. */
static void
test_other_boot(const char *path)
{
	struct idem_run_file f;
	struct idem_evidence e;
	struct idem_owner owner;
	bool taken = false;
	int64_t until_ms;
	int folder;

	begin();
	order_begun(path);
	kill_instance();
	let_go();
	rig_await_lines(&rig, "ends", 1, END_MS);
	folder = run_folder();
	until_ms = rig_now_ms() + END_MS;
	/* Its keeper has to write it down yet. */
	while (rig_now_ms() < until_ms) {
		taken = find_run(folder, &owner) &&
		    idem_journal_take(folder, &owner, &f, &e);
		if (taken)
			break;
		redis_rig_turn();
	}
	if (!ok(taken && e.ended, "%s: its output lies in the journal",
	    arbiter_of(path)))
		bail_out("without it the rest says nothing");
	e.note.boot.at[0] ^= 0xff;
	idem_note_write(f.file, &e.note);
	idem_run_file_free(&f);
	start();
	ok(await_logged("state=unknown source=journal"),
	    "%s: but the host went down since then, and it is unknown",
	    arbiter_of(path));
	ok(comes_to(path, "unknown"), "%s: who asks is told so",
	    arbiter_of(path));
	once(path);
	close(folder);
	rig_end(&rig);
}

/* The store is away when the run ends, and when its instance does. */
static void
test_redis_away(void)
{
	begin();
	order_begun("/redis");
	redis_rig_freeze(&redis);
	kill_instance();
	let_go();
	ok(rig_await_lines(&rig, "ends", 1, END_MS),
	    "a program ends while Redis is away");
	start();
	redis_rig_thaw(&redis);
	ok(await_logged("state=completed source=journal"),
	    "its answer waits for Redis, over a start of idemd [idem:C15]");
	note("after %lld ms", (long long)took_ms);
	ok(comes_to("/redis", "replayed"), "and is there for who asks");
	once("/redis");
	rig_end(&rig);
}

/* Its file says where it is by another name, so that it is taken for none of
   ours; its record is there all the same. */
static void
test_renamed(void)
{
	char url[60];

	begin_leased(ENDS_LEASE_MS);
	order_begun("/redis");
	kill_instance();
	let_go();
	ok(rig_await_lines(&rig, "ends", 1, END_MS),
	    "redis: a program goes on without its instance");
	snprintf(url, sizeof url, "redis://127.0.0.1:%d", redis.port);
	configure(url);
	start();
	ok(await_logged("state=unknown source=sweep"),
	    "redis: the next one, which calls the server by another name, does "
	    "not leave it in progress");
	ok(comes_to("/redis", "replayed"),
	    "redis: and who asks gets its answer");
	once("/redis");
	rig_end(&rig);
}

static void
test_all(const char *path)
{
	test_asked(path);
	test_not_asked(path);
	test_instance(path);
	test_killed(path);
	test_wiped(path);
	test_other_boot(path);
}

int
main(void)
{
	has_redis = redis_rig_missing() == NULL;
	if (has_redis)
		redis_rig_start(&redis, NULL);
	test_all("/ledger");
	if (has_redis) {
		test_all("/redis");
		test_lease("/redis");
		test_redis_away();
		test_renamed();
		redis_rig_end(&redis);
	} else
		skip(redis_rig_missing(), "the same with Redis");
	return done();
}
