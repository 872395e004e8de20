/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "backend_front.h"
#include "journal.h"
#include "redis_rig.h"
#include "rig_watch.h"
#include "tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * What lies in the run folder while requests come and go: a note for what runs,
 * none for what is settled, one that is spare, and those of unknown keys.
 */
#define HEAD "printf 'Content-Type: text/plain\\n\\n'\n"
#define WAIT_MS 30000
#define MOST 16

struct found {
	struct idem_owner owner;
	struct idem_evidence e;
};

/* --- looking -------------------------------------------------------------- */

static int
open_folder(struct rig *rig)
{
	char path[RIG_PATH + 8];
	int fd;

	snprintf(path, sizeof path, "%s-run", rig->ledger);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1)
		bail_out("%s: %s", path, strerror(errno));
	return fd;
}

/* How many there are; the first one in *first, if there is one. */
static int
look(struct rig *rig, bool unknown, struct found *first)
{
	int folder = open_folder(rig), n = 0;
	struct idem_journal_walk walk;
	struct idem_owner owner;

	if (!idem_journal_walk(folder, unknown, &walk))
		bail_out("the run folder: %s", strerror(errno));
	while (idem_journal_next(&walk, &owner))
		if (n++ == 0 && first != NULL) {
			first->owner = owner;
			idem_evidence(folder, &owner, &first->e, NULL);
		}
	idem_journal_walk_end(&walk);
	close(folder);
	return n;
}

/* What is settled goes when all is said, a moment after its answer. */
static bool
await(struct rig *rig, bool unknown, int n)
{
	int64_t until_ms = rig_now_ms() + WAIT_MS;

	while (look(rig, unknown, NULL) != n) {
		if (rig_now_ms() > until_ms)
			return false;
		usleep(5000);
	}
	return true;
}

static bool
await_state(struct rig *rig, enum idem_note_state state, struct found *f)
{
	int64_t until_ms = rig_now_ms() + WAIT_MS;

	while (look(rig, false, f) != 1 || !f->e.noted ||
	    f->e.note.state != state) {
		if (rig_now_ms() > until_ms)
			return false;
		usleep(5000);
	}
	return true;
}

/* --- while it runs -------------------------------------------------------- */

static const struct rig_request request = {
	.method = "POST", .path = "/o", .key = "one", .body = { "tea", 3 }
};

static const struct rig_request other = {
	.method = "POST", .path = "/o", .key = "one", .body = { "milk", 4 }
};

static const struct rig_request next = {
	.method = "POST", .path = "/o", .key = "two", .body = { "tea", 3 }
};

static void
check_note(const struct found *f)
{
	const struct idem_note *n = &f->e.note;

	is_int(f->e.lock, IDEM_RUN_HELD, "it is held");
	is_int(n->attempt, 1, "its attempt is noted");
	is(n->what, "POST /o", "what was asked");
	ok(n->store[0] != '\0', "who permitted it: %s", n->store);
	is_int(n->lease_ms, 60000, "its lease");
	is_int(n->limit_ms, 90000, "its limit");
	is_int(n->keep_ms, 86400000, "how long its answer is kept");
	ok(!f->e.ended, "and no end of it");
}

static void
test_runs(struct rig *rig, const char *how)
{
	struct rig_answer answer;
	struct found f;
	int fd;

	rig_program(rig, "p", COUNT HELD HEAD "echo done\n");
	rig_file(rig, "hold", "");
	fd = ask_begin(rig, &request);
	await_starts(rig, 1);
	ok(await_state(rig, IDEM_NOTE_BEGUN, &f),
	    "%s: what runs is noted as begun", how);
	check_note(&f);
	unlink(rig_at(rig, "hold"));
	ask_end(rig, fd, &answer);
	told(&answer, "200 stored", "%s: its answer", how);
	rig_answer_free(&answer);
	ok(await(rig, false, 0), "%s: what is stored needs no note", how);
}

/* --- a claim that wins nothing -------------------------------------------- */

static void
test_spare(struct rig *rig)
{
	struct rig_answer answer;
	struct found spare, used;
	int fd, i;

	for (i = 0; i < 3; i++)
		ask(rig, &other, "422 mismatch", "a claim that wins nothing");
	ok(await_state(rig, IDEM_NOTE_CLAIMING, &spare),
	    "leaves one note for the next, of something not begun");
	is_int(spare.e.lock, IDEM_RUN_HELD, "which nobody takes for dead");
	rig_file(rig, "hold", "");
	fd = ask_begin(rig, &next);
	ok(await_state(rig, IDEM_NOTE_BEGUN, &used), "the next that runs");
	is_bytes(used.owner.at, sizeof used.owner.at, spare.owner.at,
	    sizeof spare.owner.at, "has it");
	unlink(rig_at(rig, "hold"));
	ask_end(rig, fd, &answer);
	told(&answer, "200 stored", "and its answer");
	rig_answer_free(&answer);
	ok(await(rig, false, 0), "so none is left");
	ask(rig, &other, "422 mismatch", "one more");
	ok(await(rig, false, 1), "is spare again");
}

static void
test_end(struct rig *rig, int unknown)
{
	is_int(rig_stop(rig, WAIT_MS), 0, "idemd ends with status 0");
	is_int(look(rig, false, NULL), 0, "and takes the spare ones with it");
	is_int(look(rig, true, NULL), unknown, "but not the unknown ones");
}

static void
start_shared(struct rig *rig, const struct redis_rig *redis)
{
	char text[1024];

	snprintf(text, sizeof text, "workers = 1\n"
	    "shared = redis { url = '%s', timeout = '4s', budget = '3s' }\n"
	    "route { path = '/**', arbiter = 'redis',\n"
	    "    program = cgi { '%s/p' } }\n", redis->url, rig->folder);
	rig_file(rig, "idem.conf", text);
	ask_start(rig, (const char *[]){ "--config", rig_at(rig, "idem.conf"),
	    NULL });
}

/* Is its note seen when it is nobody's any more, and has not gone? */
static bool
leave_ghost(struct rig *rig, struct redis_rig *redis, int number)
{
	int64_t until_ms = rig_now_ms() + WAIT_MS;
	struct rig_request asked = request;
	struct found f = { .e.lock = IDEM_RUN_HELD };
	char key[32];

	snprintf(key, sizeof key, "ghost-%d", number);
	asked.key = key;
	redis_rig_freeze(redis);
	ask(rig, &asked, "503 not-started", "one that it does not answer");
	redis_rig_thaw(redis);
	while (look(rig, false, &f) == 1 && f.e.lock == IDEM_RUN_HELD &&
	    rig_now_ms() < until_ms)
		usleep(5000);
	return f.e.lock == IDEM_RUN_FREE &&
	    f.e.note.state == IDEM_NOTE_CLAIMING;
}

/* A claim of which nothing was heard, and then its release; but a server that
   several share may yet hear of the claim by another way.  It stays for some
   seconds, which we may miss where they are short for us. */
static void
test_ghost(void)
{
	struct redis_rig redis;
	bool seen = false;
	struct rig rig;
	int i;

	if (redis_rig_missing() != NULL) {
		skip(redis_rig_missing(), "claims whose answer is lost");
		return;
	}
	redis_rig_start(&redis, NULL);
	rig_open(&rig);
	rig_program(&rig, "p", COUNT HEAD);
	start_shared(&rig, &redis);
	ask(&rig, &next, "200 stored", "a run by Redis");
	for (i = 0; i < 5 && !seen; i++) {
		seen = leave_ghost(&rig, &redis, i);
		ok(await(&rig, false, 0), "its note goes");
	}
	ok(seen, "but not before it was left to who settles for a while");
	test_end(&rig, 0);
	rig_end(&rig);
	redis_rig_end(&redis);
}

/* --- what is not started -------------------------------------------------- */

static void
test_not_started(struct rig *rig)
{
	struct rig_request missing = request;

	missing.key = "missing";
	rig_program(rig, "p", "no program\n");
	ask(rig, &missing, "500 not-started", "a program that is none");
	ok(await(rig, false, 0), "nor is there a note of it");
	is_int(look(rig, true, NULL), 0, "nor an unknown one");
}

/* --- what is unknown ------------------------------------------------------ */

static const struct row {
	const char *what, *program, *want;
	enum idem_note_why why;
	int code;
} rows[] = {
	{ "killed", COUNT "kill -9 $$\n", "504 unknown", IDEM_WHY_SIGNAL,
	  SIGKILL },
	{ "crashed, with an answer", COUNT HEAD "kill -SEGV $$\n",
	  "502 unknown", IDEM_WHY_SIGNAL, SIGSEGV },
	{ "without an answer", COUNT, "502 unknown", IDEM_WHY_EXIT, 0 },
	{ "with an exit status", COUNT HEAD "exit 3\n", "502 unknown",
	  IDEM_WHY_EXIT, 3 },
	/* Where the limit is short; those above may be slow to begin. */
	{ "over its limit", COUNT "exec sleep 60\n", "504 unknown",
	  IDEM_WHY_LIMIT, 0 },
};
#define ROWS (sizeof rows / sizeof *rows)

static void
remove_unknown(struct rig *rig, const struct idem_owner *owner)
{
	int folder = open_folder(rig);

	idem_run_file_remove(folder, owner);
	close(folder);
}

static void
test_unknown(struct rig *rig, const struct row *row)
{
	struct rig_request asked = request;
	struct found f;
	char key[32];

	snprintf(key, sizeof key, "row-%d", (int)(row - rows));
	asked.key = key;
	rig_program(rig, "p", row->program);
	ask(rig, &asked, row->want, "%s", row->what);
	ok(await(rig, true, 1) && await(rig, false, 0),
	    "its note stays for people to read");
	look(rig, true, &f);
	ok(f.e.unknown && f.e.noted, "as that of an unknown key");
	is_int(f.e.note.why, row->why, "it says why");
	is_int(f.e.note.why_code, row->code, "and what exactly");
	ok(f.e.note.why_ms > 0, "and when");
	remove_unknown(rig, &f.owner);
}

static pid_t
keeper_of(struct rig *rig)
{
	pid_t lobby, children[8];
	size_t n = rig_children(rig->pid, children, 8), i;

	rig_watch_lobbies(rig, &lobby, 1);
	for (i = 0; i < n; i++)
		if (children[i] != lobby)
			return children[i];
	bail_out("no keeper is seen");
}

static void
test_keeper(struct rig *rig)
{
	struct rig_request asked = request;
	struct rig_answer answer;
	struct found f;
	long before = starts(rig);
	int fd;

	asked.key = "keeper";
	rig_program(rig, "p", COUNT HELD HEAD);
	rig_file(rig, "hold", "");
	fd = ask_begin(rig, &asked);
	await_starts(rig, before + 1);
	kill(keeper_of(rig), SIGKILL);
	ask_end(rig, fd, &answer);
	told(&answer, "504 unknown", "a run whose keeper is killed");
	rig_answer_free(&answer);
	ok(await(rig, true, 1), "its note stays");
	look(rig, true, &f);
	is_int(f.e.note.why, IDEM_WHY_KEEPER, "and says so");
	unlink(rig_at(rig, "hold"));
}

/* --- where none can be made ----------------------------------------------- */

static void
empty(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	char name[RIG_PATH + 300];

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
		unlink(name);
	}
	if (dir != NULL)
		closedir(dir);
}

static void
test_no_folder(void)
{
	char path[RIG_PATH + 8], said[RIG_PATH + 100];
	struct rig rig;
	pid_t lobby;

	rig_open(&rig);
	rig_program(&rig, "p", COUNT HEAD);
	ask_start(&rig, (const char *[]){ "--workers", "1", "--",
	    rig_at(&rig, "p"), NULL });
	rig_watch_lobbies(&rig, &lobby, 1);	/* it has begun with it */
	snprintf(path, sizeof path, "%s-run", rig.ledger);
	empty(path);
	if (rmdir(path) == -1)
		bail_out("%s: %s", path, strerror(errno));
	ask(&rig, &request, "503 not-started",
	    "what cannot be noted is not run");
	is_int(starts(&rig), 0, "indeed");
	snprintf(said, sizeof said, "note=not-made error=\"the run folder "
	    "%s is gone: restart idemd", path);
	ok(ask_await_logged(&rig, said, 1), "the log says what is gone, where, "
	    "and what to do");
	ask(&rig, &(struct rig_request){ .method = "POST", .path = "/o" },
	    "200", "without a key nothing is noted");
	rig_stop(&rig, WAIT_MS);
	rig_end(&rig);
}

/* --- an application elsewhere --------------------------------------------- */

static void
test_fastcgi(void)
{
	struct rig_request asked = request;
	struct rig_answer answer;
	struct front_rig f;
	struct found found;
	int fd;

	front_rig_begin(&f, "one", "", NULL);
	front_rig_play(&f, 0, "accept params body wait "
	    "STDOUT/1:Status:201\n\n STDOUT/1:tea STDOUT/1 END/1:0.0");
	fd = ask_begin(&f.rig, &asked);
	ok(await_state(&f.rig, IDEM_NOTE_BEGUN, &found),
	    "what is sent to a FastCGI application is noted as begun");
	app_go(&f.app[0]);
	ask_end(&f.rig, fd, &answer);
	told(&answer, "201 stored", "its answer");
	rig_answer_free(&answer);
	ok(await(&f.rig, false, 0), "needs no note any more");

	asked.key = "overloaded";
	front_rig_play(&f, 0, "accept params body END/1:0.2");
	ask(&f.rig, &asked, "503 not-started", "one that it refuses");
	ok(await(&f.rig, false, 0), "nor does that");

	asked.key = "cut";
	front_rig_play(&f, 0, "accept params body STDOUT/1:Status:201\n\n");
	ask(&f.rig, &asked, "502 unknown", "one whose connection breaks");
	ok(await(&f.rig, true, 1), "is noted as unknown");
	look(&f.rig, true, &found);
	is_int(found.e.note.why, IDEM_WHY_BACKEND, "for that reason");
	ok(found.e.note.fastcgi, "and as an application elsewhere");
	front_rig_end(&f);
}

#ifdef IDEM_FAILPOINTS
/* Its worker stands still between what it noted and the first byte. */
static void
test_late(void)
{
	struct rig_request asked = request;
	struct front_rig f;

	setenv("IDEM_FAILPOINTS", "backend.begin=1*sleep(2500)", 1);
	front_rig_begin(&f, "one", "lease = '2s',", NULL);
	unsetenv("IDEM_FAILPOINTS");
	front_rig_play(&f, 0, "accept params body "
	    "STDOUT/1:Status:201\n\n STDOUT/1:tea STDOUT/1 END/1:0.0");
	asked.key = "late";
	ask(&f.rig, &asked, "503 not-started", "nothing is sent to an "
	    "application when its lease is over");
	ok(await(&f.rig, false, 0), "and no note is left of it");
	app_kill(&f.app[0]);
	front_rig_end(&f);
}
#endif

int
main(void)
{
	struct rig rig;
	size_t i;

	rig_open(&rig);
	rig_program(&rig, "p", HEAD);
	ask_start(&rig, (const char *[]){ "--workers", "1", "--limit", "90s",
	    "--", rig_at(&rig, "p"), NULL });
	test_runs(&rig, "spooled");
	test_spare(&rig);
	test_end(&rig, 0);
	rig_end(&rig);

	rig_open(&rig);
	rig_program(&rig, "p", HEAD);
	ask_start(&rig, (const char *[]){ "--workers", "1", "--limit", "90s",
	    "--no-spool", "--", rig_at(&rig, "p"), NULL });
	test_runs(&rig, "not spooled");
	test_end(&rig, 0);
	rig_end(&rig);

	rig_open(&rig);
	rig_program(&rig, "p", HEAD);
	ask_start(&rig, (const char *[]){ "--workers", "1", "--limit", "1s",
	    "--grace", "1s", "--", rig_at(&rig, "p"), NULL });
	test_unknown(&rig, &rows[ROWS - 1]);
	test_end(&rig, 0);
	rig_end(&rig);

	rig_open(&rig);
	rig_program(&rig, "p", HEAD);
	ask_start(&rig, (const char *[]){ "--workers", "1", "--limit", "90s",
	    "--grace", "1s", "--", rig_at(&rig, "p"), NULL });
	test_not_started(&rig);
	for (i = 0; i < ROWS - 1; i++)
		test_unknown(&rig, &rows[i]);
	test_keeper(&rig);
	test_end(&rig, 1);
	rig_end(&rig);

	test_ghost();
	test_no_folder();
	test_fastcgi();
#ifdef IDEM_FAILPOINTS
	test_late();
#endif
	return done();
}
