/* SPDX-License-Identifier: ISC */
#include "ledger.h"
#include "redis_store.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* A store that is short of room says so, until enough answers have gone. */

#define MASTERS 2
#define ANSWERS 3		/* of 16 MiB */
#define MIB (UINT64_C(1) << 20)
#define RESERVE (64 * MIB)
#define AWAIT_MS 20000

static int64_t
now_ms(void)
{
	return idem_boot_ms(&idem_clock_real);
}

/* --- a disk --------------------------------------------------------------- */

static uint64_t disk_free;

/* In place of the C library's: the disk's room is what a test says. */
int
statvfs(const char *path, struct statvfs *fs)
{
	(void)path;
	memset(fs, 0, sizeof *fs);
	fs->f_frsize = 4096;
	fs->f_bavail = (fsblkcnt_t)(disk_free / fs->f_frsize);
	return 0;
}

/* --- a ledger ------------------------------------------------------------- */

static struct idem_store *
open_with(struct trace *t, const char *path, uint64_t reserve)
{
	const struct idem_sqlite_options options = {
		.path = path,
		.clock = &t->clock,
		.boot = t->boot,
		.reserve = reserve,
	};
	char error[300];

	t->store = idem_store_sqlite(&options, error, sizeof error);
	if (t->store == NULL)
		bail_out("%s", error);
	return t->store;
}

static bool
pressed_with(const char *path, uint64_t reserve)
{
	struct trace t;
	bool pressed;

	trace_init(&t);
	open_with(&t, path, reserve);
	pressed = t.store->ops->pressed(t.store);
	t.store->ops->close(t.store);
	return pressed;
}

static void
sweep_all(struct trace *t, const char *line)
{
	char out[100];

	do
		trace_run(t, line, out, sizeof out);
	while (strstr(out, "more") != NULL);
}

/* Answers that are far from the end of their keep. */
static void
keep_answers(struct trace *t)
{
	char line[100], out[100];
	int k;

	for (k = 1; k <= ANSWERS; k++) {
		snprintf(line, sizeof line, "claim k%d o1 f1 g1", k);
		trace_run(t, line, out, sizeof out);
		snprintf(line, sizeof line, "complete k%d o1 1 big:16777216 "
		    "keep=1000000", k);
		trace_run(t, line, out, sizeof out);
	}
}

static void
test_shrinking(const char *path)
{
	int64_t end_ms;
	struct trace t;
	char out[100];

	trace_init(&t);
	open_with(&t, path, RESERVE);
	keep_answers(&t);
	t.store->ops->close(t.store);
	disk_free = 2 * RESERVE - MIB;
	open_with(&t, path, RESERVE);
	ok(t.store->ops->pressed(t.store),
	    "a ledger is short of room when less than twice the reserve is "
	    "free");
	trace_run(&t, "wall +100", out, sizeof out);
	sweep_all(&t, "sweep shrink=100");
	trace_run(&t, "list tombstone", out, sizeof out);
	is(out, "k1 k2 k3", "then answers go early");
	for (end_ms = now_ms() + AWAIT_MS; now_ms() < end_ms &&
	    t.store->ops->pressed(t.store); usleep(10000))
		trace_run(&t, "sweep shrink=100", out, sizeof out);
	ok(!t.store->ops->pressed(t.store),
	    "their room in the file is room, so that it is short no longer");
	t.store->ops->close(t.store);
	disk_free -= ANSWERS * 16 * MIB;
	ok(pressed_with(path, RESERVE), "until even that is too little");
}

static void
test_ledger(void)
{
	char folder[] = "/tmp/t_store_room.XXXXXX", path[100];

	if (mkdtemp(folder) == NULL)
		bail_out("no folder for the test");
	snprintf(path, sizeof path, "%s/ledger.db", folder);
	ledger_make(path);
	disk_free = 0;
	ok(!pressed_with(path, 0), "without a reserve no ledger is short of "
	    "room");
	disk_free = 2 * RESERVE;
	ok(!pressed_with(path, RESERVE), "nor is one with twice as much free");
	ok(pressed_with(path, UINT64_MAX), "one that can never have it is");
	test_shrinking(path);
	ledger_remove(path);
	rmdir(folder);
}

/* --- Redis ---------------------------------------------------------------- */

static long long
used_memory(struct redis_rig *server)
{
	return redis_store_info(server, "memory", "used_memory:");
}

/* Of all that there is it may use so many parts of 100. */
static void
limit(struct redis_rig *server, int percent)
{
	char bytes[32];

	snprintf(bytes, sizeof bytes, "%lld",
	    used_memory(server) * 100 / percent);
	redis_rig_say(server, "CONFIG", "SET", "maxmemory", bytes, NULL);
}

static bool
becomes_pressed(struct redis_store *s)
{
	int64_t end_ms = now_ms() + AWAIT_MS;

	while (!s->t.store->ops->pressed(s->t.store) && now_ms() < end_ms)
		redis_store_poll(s, 10);
	return s->t.store->ops->pressed(s->t.store);
}

/* Once it was asked. */
static bool
stays_so(struct redis_rig *server, struct redis_store *s)
{
	int64_t end_ms = now_ms() + AWAIT_MS;

	while (redis_store_info(server, "commandstats",
	    "cmdstat_info:calls=") < 2 && now_ms() < end_ms)
		redis_store_poll(s, 10);
	redis_store_poll(s, 50);
	return !s->t.store->ops->pressed(s->t.store);
}

static void
open_store(struct redis_store *s, struct redis_rig *server,
    enum idem_redis_scheme scheme)
{
	redis_rig_say(server, "CONFIG", "RESETSTAT", NULL);
	*s = (struct redis_store){
		.server = server,
		.options = { .scheme = scheme },
	};
	redis_store_open(s);
}

static void
test_shrinking_redis(struct redis_rig *server, struct redis_store *s)
{
	long long ms, len;

	redis_store_say(s, "claim k1 o1 f1 g1");
	redis_store_say(s, "complete k1 o1 1 big:50000 keep=60000 "
	    "tombstone=60000");
	is(redis_store_say(s, "sweep shrink=60000"), "0",
	    "an answer is not shorter kept than it has to be");
	redis_store_poll(s, 5);
	is(redis_store_say(s, "sweep shrink=1"), "1", "then it goes");
	len = atoll(redis_rig_say(server, "STRLEN", redis_store_key("k1"),
	    NULL));
	ms = atoll(redis_rig_say(server, "PTTL", redis_store_key("k1"), NULL));
	ok(len > 0 && len < 200 && ms > 110000 && ms <= 120000,
	    "its tombstone stays for as long as it was to");
	is(redis_store_say(s, "claim k1 o2 f1 g1"), "expired 1",
	    "and refuses");
}

static void
test_server(void)
{
	static const char *const names[] = {
		[IDEM_SCHEME_SCRIPT] = "the script's",
		[IDEM_SCHEME_SETNX] = "SET NX's",
		[IDEM_SCHEME_CHECK] = "the check's",
	};
	struct redis_rig server;
	struct redis_store s;
	enum idem_redis_scheme scheme;

	redis_rig_start(&server, NULL);
	open_store(&s, &server, IDEM_SCHEME_SCRIPT);
	ok(stays_so(&server, &s), "a server without a limit is never short of "
	    "room");
	redis_store_close(&s);
	limit(&server, 50);
	open_store(&s, &server, IDEM_SCHEME_SCRIPT);
	ok(stays_so(&server, &s), "nor is one that has used half of it");
	redis_store_close(&s);
	for (scheme = IDEM_SCHEME_SCRIPT; scheme <= IDEM_SCHEME_CHECK;
	    scheme++) {
		limit(&server, 200);
		open_store(&s, &server, scheme);
		ok(becomes_pressed(&s), "one over 90 of 100 is, says %s store",
		    names[scheme]);
		redis_rig_say(&server, "CONFIG", "SET", "maxmemory", "0",
		    NULL);
		if (scheme == IDEM_SCHEME_SCRIPT)
			test_shrinking_redis(&server, &s);
		redis_store_close(&s);
	}
	redis_rig_end(&server);
}

static void
test_cluster(void)
{
	struct redis_rig nodes[MASTERS];
	struct redis_store s;
	const char *urls[MASTERS];
	int i;

	redis_rig_cluster(nodes, MASTERS, (const char *[]){
	    "--cluster-node-timeout", "60000", NULL });
	for (i = 0; i < MASTERS; i++)
		urls[i] = nodes[i].url;
	limit(&nodes[0], 50);
	limit(&nodes[1], 200);
	s = (struct redis_store){
		.server = &nodes[0],
		.client_options = {
			.topology = IDEM_REDIS_CLUSTER,
			.urls = urls,
			.urls_len = MASTERS,
		},
	};
	redis_store_open(&s);
	ok(becomes_pressed(&s), "of a cluster one full master is enough");
	redis_store_close(&s);
	for (i = 0; i < MASTERS; i++)
		redis_rig_end(&nodes[i]);
}

int
main(void)
{
	test_ledger();
	if (redis_rig_missing() != NULL) {
		skip(redis_rig_missing(), "Redis short of room");
		return done();
	}
	test_server();
	test_cluster();
	return done();
}
