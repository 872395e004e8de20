/* SPDX-License-Identifier: ISC */
#include "server.h"

#include "folder.h"
#include "record.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define UP_MS 90000	/* a sentinel that was held up rests for 30 s */
#define SAY_MS 10000	/* for a reply, where nobody waits less */
#define RESETS 20
#define RECORDS 1500

static struct loop *loop;
static const char *folder;

static int64_t
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* --- one server ----------------------------------------------------------- */

/* The reply to a command of at most five words. */
static const char *
say(struct server *s, const char *a, const char *b, const char *c,
    const char *d, const char *e)
{
	static char out[200];
	const char *const words[] = { a, b, c, d, e, NULL };

	return server_say(s, out, sizeof out, words);
}

static void
start(struct server *s, const struct plan_store *plan, int master_port)
{
	memset(s, 0, sizeof *s);
	if (server_start(loop, s, plan, folder, master_port, NULL) == -1)
		bail_out("redis-server: %s", strerror(errno));
}

static void
up(struct server *s, const struct plan_store *plan)
{
	start(s, plan, 0);
	if (server_await(loop, s, UP_MS) == -1)
		bail_out("redis-server does not come up: %s", strerror(errno));
}

/* What a server that syncs each second is told while it syncs it answers at
   once, and writes later. */
static void
await_written(struct server *s)
{
	static const char *const words[] = { "INFO", "persistence", NULL };
	static char out[8192];
	int64_t until_ms = idem_boot_ms(&idem_clock_real) + UP_MS;
	const char *at;

	do {
		at = strstr(server_say(s, out, sizeof out, words),
		    "aof_buffer_length:");
		loop_turn(loop, idem_boot_ms(&idem_clock_real) + 2);
	} while (at != NULL && strncmp(at, "aof_buffer_length:0", 19) != 0 &&
	    idem_boot_ms(&idem_clock_real) < until_ms);
}

static bool
again(struct server *s, bool empty, bool older)
{
	return server_again(loop, s, empty, older) == 0 &&
	    server_await(loop, s, UP_MS) == 0;
}

/* --- tests ---------------------------------------------------------------- */

static void
count_end(struct server *s)
{
	int *ends = s->arg;

	++*ends;
}

static void
test_life(void)
{
	static const struct plan_store plan = { .name = "a" };
	int64_t from_us = now_us(), until_ms;
	struct server s;
	struct child_stat ps;
	struct stat st;
	int ends = 0;

	up(&s, &plan);
	note("spawn to ready: %.1f ms", (double)(now_us() - from_us) / 1e3);
	ok(s.life == 1 && s.port > 0 && s.version[0] >= '1' &&
	    strncmp(s.url, "unix:/", 6) == 0,
	    "a server is up, and its port and version %s are known",
	    s.version);
	ok(stat(s.socket, &st) == 0 && S_ISSOCK(st.st_mode),
	    "it is at its socket");
	is(say(&s, "SET", "k", "v", NULL, NULL), "OK", "it does as it is told");
	is(say(&s, "GET", "k", NULL, NULL, NULL), "v", "and answers");
	is(say(&s, "GET", "other", NULL, NULL, NULL), "(nil)",
	    "with nothing too");
	ok(say(&s, "NO-SUCH", NULL, NULL, NULL, NULL)[0] == '-',
	    "or with an error");
	is_int((long long)child_find("a", &(pid_t){ 0 }, 1), 1,
	    "it bears the marks of its run");

	s.ended = count_end;
	s.arg = &ends;
	server_kill(&s);
	ok(child_stat(s.child.pid, &ps) && ps.state == 'Z',
	    "one that is killed is dead at once");
	is(say(&s, "PING", NULL, NULL, NULL, NULL), "(closed)",
	    "and does not answer");
	until_ms = idem_boot_ms(&idem_clock_real) + UP_MS;
	while (ends == 0 && idem_boot_ms(&idem_clock_real) < until_ms)
		loop_turn(loop, until_ms);
	ok(ends == 1 && s.child.pid == 0 && s.child.doomed &&
	    WIFSIGNALED(s.child.status), "its end is told");
	ok(server_await(loop, &s, 100) == -1, "nobody need wait for it");
	ok(again(&s, false, false) && s.life == 2, "it has a second life");
	is(say(&s, "GET", "k", NULL, NULL, NULL), "(nil)",
	    "and has forgotten all, for it keeps nothing");
	server_end(&s);
	server_end(&s);
	is_int((long long)child_find("a", &(pid_t){ 0 }, 1), 0,
	    "after its end it is gone");
}

static void
test_freeze(void)
{
	static const struct plan_store plan = { .name = "a" };
	struct server s;

	up(&s, &plan);
	server_freeze(&s);
	is(say(&s, "PING", NULL, NULL, NULL, NULL), "(silence)",
	    "one that is frozen says nothing");
	is_int(server_reset(&s), -1, "and is not made fresh");
	server_thaw(&s);
	is(say(&s, "PING", NULL, NULL, NULL, NULL), "PONG",
	    "one that is thawed answers");
	server_freeze(&s);
	server_kill(&s);
	ok(again(&s, false, false) &&
	    strcmp(say(&s, "PING", NULL, NULL, NULL, NULL), "PONG") == 0,
	    "one that died frozen lives again");
	server_end(&s);
}

/* Its socket takes what is asked, as that of one which is held up. */
static void
test_silent(void)
{
	static const struct plan_store plan = { .name = "a" };
	struct server s;
	int64_t from_ms;

	up(&s, &plan);
	child_signal(&s.child, SIGSTOP);
	from_ms = idem_boot_ms(&idem_clock_real);
	ok(server_await(loop, &s, 100) == -1 && errno == ETIMEDOUT &&
	    idem_boot_ms(&idem_clock_real) - from_ms < SAY_MS,
	    "one that is silent is not waited for longer than is asked");
	child_signal(&s.child, SIGCONT);
	server_end(&s);
}

/* What a server knows after its end, by how it keeps it: `late` was written
   after the save. */
static void
test_data(void)
{
	static const struct {
		enum plan_persistence keeps;
		const char *what;
		const char *late, *early;	/* after a restart */
	} rows[] = {
		{ PLAN_PERSIST_NONE, "none", "(nil)", "(nil)" },
		{ PLAN_PERSIST_RDB, "rdb", "(nil)", "1" },
		{ PLAN_PERSIST_AOF_EVERYSEC, "aof_everysec", "2", "1" },
		{ PLAN_PERSIST_AOF_ALWAYS, "aof_always", "2", "1" }
	};
	struct plan_store plan;
	struct server s;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		plan = (struct plan_store){ .name = rows[i].what,
			.persistence = rows[i].keeps };
		up(&s, &plan);
		server_kill(&s);
		ok(server_again(loop, &s, false, true) == -1 &&
		    errno == ENOENT, "%s: nothing was put by yet",
		    rows[i].what);
		again(&s, false, false);
		say(&s, "SET", "early", "1", NULL, NULL);
		ok(server_save(&s) == 0, "%s: its data is put by",
		    rows[i].what);
		say(&s, "SET", "late", "2", NULL, NULL);
		await_written(&s);
		server_kill(&s);
		again(&s, false, false);
		is(say(&s, "GET", "early", NULL, NULL, NULL), rows[i].early,
		    "%s: of what was there at the save it has after its end "
		    "what it should", rows[i].what);
		is(say(&s, "GET", "late", NULL, NULL, NULL), rows[i].late,
		    "%s: and of what came later", rows[i].what);
		server_kill(&s);
		again(&s, false, true);
		is(say(&s, "GET", "early", NULL, NULL, NULL), "1",
		    "%s: with older data it knows what was put by",
		    rows[i].what);
		is(say(&s, "GET", "late", NULL, NULL, NULL), "(nil)",
		    "%s: and nothing later", rows[i].what);
		server_kill(&s);
		again(&s, true, false);
		is(say(&s, "DBSIZE", NULL, NULL, NULL, NULL), "0",
		    "%s: it may come back empty", rows[i].what);
		server_end(&s);
	}
}

static void
test_memory(void)
{
	static const struct plan_pair config[] = { { "maxclients", "77" } };
	static const struct plan_store plan = { .name = "a",
		.maxmemory = "100mb", .maxmemory_policy = "allkeys-lru",
		.config = config, .configs = 1 };
	struct server s;

	up(&s, &plan);
	is(say(&s, "CONFIG", "GET", "maxclients", NULL, NULL), "maxclients",
	    "more of redis.conf is in it");
	server_oom(&s, true);
	ok(strncmp(say(&s, "SET", "k", "v", NULL, NULL), "-OOM", 4) == 0,
	    "one whose memory is full refuses writes");
	server_oom(&s, false);
	is(say(&s, "SET", "k", "v", NULL, NULL), "OK",
	    "and takes them when it is not");
	server_end(&s);
}

static void
test_reset(void)
{
	static const struct plan_store plan = { .name = "a",
		.persistence = PLAN_PERSIST_AOF_EVERYSEC };
	int64_t from_us, us, best_us = INT64_MAX;
	bool fresh = true;
	struct server s;
	pid_t pid;
	int i;

	up(&s, &plan);
	pid = s.child.pid;
	for (i = 0; i < RESETS; i++) {
		say(&s, "SET", "k", "v", NULL, NULL);
		say(&s, "SCRIPT", "LOAD", "return 1", NULL, NULL);
		say(&s, "CLIENT", "PAUSE", "100000", "WRITE", NULL);
		server_oom(&s, true);
		server_save(&s);
		from_us = now_us();
		fresh = server_reset(&s) == 0 && fresh;
		us = now_us() - from_us;
		if (us < best_us)
			best_us = us;
	}
	note("a reset: %.2f ms", (double)best_us / 1e3);
	ok(fresh && s.child.pid == pid,
	    "one that is up is made as a fresh one, and stays up");
	is(say(&s, "DBSIZE", NULL, NULL, NULL, NULL), "0", "it is empty");
	ok(strncmp(say(&s, "EVALSHA",
	    "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "0", NULL, NULL),
	    "-NOSCRIPT", 9) == 0, "it knows no script");
	is(say(&s, "SET", "k", "v", NULL, NULL), "OK", "it has room");
	server_kill(&s);
	ok(server_again(loop, &s, false, true) == -1 && errno == ENOENT,
	    "and nothing is put by");
	is_int(server_reset(&s), -1, "one that is away is not made fresh");
	server_end(&s);
}

static bool
follows(struct server *replica, const char *want)
{
	int64_t until_ms = idem_boot_ms(&idem_clock_real) + UP_MS;

	while (strcmp(say(replica, "GET", "k", NULL, NULL, NULL), want) != 0) {
		if (idem_boot_ms(&idem_clock_real) > until_ms)
			return false;
		loop_turn(loop, idem_boot_ms(&idem_clock_real) + 2);
	}
	return true;
}

static bool
becomes_master(struct server *replica)
{
	int64_t until_ms = idem_boot_ms(&idem_clock_real) + UP_MS;

	while (strcmp(say(replica, "ROLE", NULL, NULL, NULL, NULL), "master")
	    != 0) {
		if (idem_boot_ms(&idem_clock_real) > until_ms)
			return false;
		loop_turn(loop, idem_boot_ms(&idem_clock_real) + 5);
	}
	return true;
}

/* One that was held up for half a second is down for the others until it has
   said something. */
static bool
are_enough(struct server *sentinel)
{
	int64_t until_ms = idem_boot_ms(&idem_clock_real) + UP_MS;

	while (strncmp(say(sentinel, "SENTINEL", "CKQUORUM", "a", NULL, NULL),
	    "OK 3 usable", 11) != 0) {
		if (idem_boot_ms(&idem_clock_real) > until_ms)
			return false;
		loop_turn(loop, idem_boot_ms(&idem_clock_real) + 5);
	}
	return true;
}

static void
test_together(void)
{
	static const struct plan_store a = { .name = "a", .sentinel = true };
	static const struct plan_store b = { .name = "b", .replica_of = 0 };
	struct server sentinels[SERVER_SENTINELS] = { 0 };
	struct server master, replica;
	int64_t from_us = now_us();
	int i;

	up(&master, &a);
	start(&replica, &b, master.port);
	ok(server_await(loop, &replica, UP_MS) == 0, "a replica comes up");
	say(&master, "SET", "k", "1", NULL, NULL);
	ok(follows(&replica, "1"), "it has what its master has");
	note("with a replica: %.1f ms", (double)(now_us() - from_us) / 1e3);
	is_int(server_reset(&replica), -1, "it is not made fresh by itself");
	ok(server_reset(&master) == 0 && follows(&replica, "(nil)"),
	    "but with its master");

	from_us = now_us();
	ok(server_watch(loop, sentinels, &master, folder) == 0 &&
	    server_await(loop, &sentinels[0], UP_MS) == 0 &&
	    server_await(loop, &sentinels[1], UP_MS) == 0 &&
	    server_await(loop, &sentinels[2], UP_MS) == 0,
	    "sentinels come up");
	ok(server_await_watched(loop, sentinels, 1, UP_MS) == 0,
	    "they find each other and the replica");
	note("sentinels: %.1f ms", (double)(now_us() - from_us) / 1e3);
	ok(are_enough(&sentinels[1]), "enough of them are there");
	from_us = now_us();
	server_kill(&master);
	ok(becomes_master(&replica), "they make the replica the master");
	note("failover: %.1f ms", (double)(now_us() - from_us) / 1e3);
	for (i = 0; i < SERVER_SENTINELS; i++)
		server_end(&sentinels[i]);
	server_end(&replica);
	server_end(&master);
}

/* Several at once need not wait for each other. */
static void
test_at_once(void)
{
	static const struct plan_store plans[] = { { .name = "a" },
		{ .name = "b" }, { .name = "c" }, { .name = "d" } };
	int64_t from_us = now_us();
	struct server s[4];
	bool all = true;
	int i;

	for (i = 0; i < 4; i++)
		start(&s[i], &plans[i], 0);
	for (i = 0; i < 4; i++)
		all = server_await(loop, &s[i], UP_MS) == 0 && all;
	note("four at once: %.1f ms", (double)(now_us() - from_us) / 1e3);
	ok(all, "several come up at once");
	for (i = 0; i < 4; i++)
		server_end(&s[i]);
}

/* --- records -------------------------------------------------------------- */

struct seen {
	size_t n, completed, running, unreadable;
	unsigned attempts;
	char last[80];
};

static void
see(void *arg, const char *hex, const char *state, unsigned attempt)
{
	struct seen *seen = arg;

	seen->n++;
	seen->completed += strcmp(state, "completed") == 0;
	seen->running += strcmp(state, "in progress") == 0;
	seen->unreadable += strcmp(state, "unreadable") == 0;
	seen->attempts += attempt;
	snprintf(seen->last, sizeof seen->last, "%s", hex);
}

static void
put(struct server *s, const char *key, struct idem_buf *packed)
{
	char hex[1024];

	idem_hex(packed->at, packed->len, hex);
	idem_buf_free(packed);
	say(s, "EVAL", "return redis.call('SET', KEYS[1], (string.gsub("
	    "ARGV[1], '..', function(h) return string.char(tonumber(h, 16)) "
	    "end)) .. 'an answer')", "1", key, hex);
}

static void
put_record(struct server *s, unsigned i, enum idem_state state)
{
	struct idem_record record = { .state = state, .attempt = 2 };
	struct idem_buf packed = { 0 };
	char key[80];

	idem_record_write(&packed, &record);
	snprintf(key, sizeof key, "p:%064x", i);
	put(s, key, &packed);
}

/* As a ledger's cache has it. */
static void
put_cached(struct server *s, unsigned i)
{
	struct idem_record record = { .state = IDEM_STATE_COMPLETED,
		.attempt = 2 };
	struct idem_buf packed = { 0 };
	char key[100];

	idem_buf_u64(&packed, 7);
	idem_record_write(&packed, &record);
	snprintf(key, sizeof key, "p:c:0123456789abcdef:%064x", i);
	put(s, key, &packed);
}

static void
test_records(void)
{
	static const struct plan_store plan = { .name = "a" };
	struct seen seen = { 0 };
	char key[80], many[16];
	struct server s;

	up(&s, &plan);
	is_int(server_records(&s, "p:", see, &seen), 0,
	    "a server without records has none");
	put_record(&s, 1, IDEM_STATE_COMPLETED);
	put_record(&s, 2, IDEM_STATE_IN_PROGRESS);
	snprintf(key, sizeof key, "p:%064x", 3);
	say(&s, "SET", key, "not a record", NULL, NULL);
	put_cached(&s, 5);
	say(&s, "SET", "p:purges", "1", NULL, NULL);
	snprintf(key, sizeof key, "other:%064x", 4);
	say(&s, "SET", key, "1", NULL, NULL);
	is_int(server_records(&s, "p:", see, &seen), 0, "records are read");
	ok(seen.n == 4 && seen.completed == 2 && seen.running == 1 &&
	    seen.unreadable == 1 && seen.attempts == 6,
	    "each key of the prefix is told with its state and attempt");

	snprintf(many, sizeof many, "%d", RECORDS);
	say(&s, "EVAL", "for i = 1, ARGV[1] do redis.call('SET', string.format("
	    "'q:%064x', i), '') end", "0", many, NULL);
	seen = (struct seen){ 0 };
	ok(server_records(&s, "q:", see, &seen) == 0 && seen.n == RECORDS,
	    "many are told, page by page");
	server_freeze(&s);
	is_int(server_records(&s, "p:", see, &seen), -1,
	    "of one that is frozen they are not known");
	server_kill(&s);
	server_thaw(&s);
	is_int(server_records(&s, "p:", see, &seen), -1, "nor of a dead one");
	server_end(&s);
}

int
main(void)
{
	if (server_missing(false) != NULL)
		skip_all(server_missing(false));
	loop = loop_new(&idem_clock_real);
	folder = child_warden_start();
	if (loop == NULL || folder == NULL)
		bail_out("no folder: %s", strerror(errno));
	test_life();
	test_freeze();
	test_silent();
	test_data();
	test_memory();
	test_reset();
	test_together();
	test_at_once();
	test_records();
	loop_free(loop);
	child_warden_end(false);
	ok(access(folder, F_OK) == -1, "nothing is left");
	return done();
}
