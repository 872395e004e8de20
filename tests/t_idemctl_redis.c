/* SPDX-License-Identifier: ISC */
#include "ctl_run.h"
#include "journal.h"
#include "redis_store.h"
#include "relay.h"
#include "run_lock.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Records in a Redis, looked at and settled by idemctl. */
#define PATIENCE_MS 20000	/* with a server that is held up */
#define SLOW_MS 520		/* each way */
#define ASKS_MAX 5

static struct redis_rig redis;
static struct redis_store store;
static char folder[] = "/tmp/t_idemctl_redis.XXXXXX";

static const char *
hex_of(const char *name)
{
	static char out[4][2 * IDEM_DIGEST_LEN + 1];
	static unsigned at;
	struct idem_digest key = trace_digest(name);
	char *hex = out[at++ % 4];

	idem_hex(key.at, sizeof key.at, hex);
	return hex;
}

static void
say(const char *line, const char *want)
{
	if (strcmp(redis_store_say(&store, "%s", line), want) != 0)
		bail_out("%s: %s, not %s", line, store.out, want);
}

/* --- a row of records ----------------------------------------------------- */

/* Nothing of them is over before it has been looked at. */
#define KEEP " keep=86400000 tombstone=86400000"

static void
make_records(void)
{
	say("issue k1 o1 keep=600000", "written");
	say("claim k2 o2 f2 g2", "won 1");
	say("claim k3 o3 f3 g3", "won 1");
	say("complete k3 o3 1 hello" KEEP, "written");
	say("claim k4 o4 f4 g4", "won 1");
	say("unknown k4 o4 1", "written");
	say("claim k5 o5 f5 g5", "won 1");
	say("complete k5 o5 1 -" KEEP, "written");
}

static const struct {
	const char *args, *key;
	int status;
	const char *says, *what;
} looks[] = {
	{ "list", NULL, 0, "in-progress", "a list has what is in progress" },
	{ "list", NULL, 0, "issued", "and what is issued" },
	{ "list --state unknown", NULL, 0, "!completed",
	  "but not what was not asked for" },
	{ "list --state unknown", NULL, 0, "unknown", "and what was" },
	{ "list --json", NULL, 0, "\"in\":\"redis\"", "JSON says where" },
	{ "stats", NULL, 0, "records completed                 2",
	  "records are counted" },
	{ "stats", NULL, 0, "records issued                    1",
	  "each by its state" },
	{ "show", "k3", 0, "answer    5 bytes",
	  "a whole key is shown with the length of its answer" },
	{ "show", "k5", 0, "answer    not kept", "or that there is none" },
	{ "show", "k2", 0, "run       not known",
	  "of another host's run nothing is known" },
	{ "show", "k2", 0, "host      another",
	  "and it is said that it is another's" },
	{ "show", "k1", 0, "state     issued", "a token is shown" },
	{ "show", "k7", 1, "no such key", "what is not there is not" },
	{ "forget", "k7", 1, "no such key", "nor forgotten" },
	{ "show --in ledger", "k3", 2, "no such store",
	  "nor sought where there is nothing" },
	{ "show --in nowhere", "k3", 2, "ledger or redis",
	  "and another place is wrong use" },
	{ "list --prefix other:", NULL, 0, "", "another prefix is another "
	  "store" },
	{ "show --prefix other:", "k3", 1, "no such key",
	  "that does not have the key" },
	{ "resolve k3 done", NULL, 2, "not a store key",
	  "a key has its digits" },
	{ "resolve %s done", "k3", 1, "it is completed",
	  "what is completed is not resolved" },
	{ "resolve %s done", "k2", 1, "perhaps on another host",
	  "another host's run is not decided over while it may go on" },
	{ "resolve %s not-done", "k4", 1, "wait for",
	  "an unknown one neither" },
	{ "forget", "k2", 1, "wait for", "nor forgotten" },
};

static void
check_looks(void)
{
	char args[300];
	size_t i;

	for (i = 0; i < sizeof looks / sizeof *looks; i++) {
		snprintf(args, sizeof args, "%s", looks[i].args);
		if (strstr(args, "%s") != NULL)
			snprintf(args, sizeof args, "resolve %s %s",
			    hex_of(looks[i].key),
			    strrchr(looks[i].args, ' ') + 1);
		else if (looks[i].key != NULL)
			snprintf(args, sizeof args, "%s %s", looks[i].args,
			    hex_of(looks[i].key));
		ctl_run_is(looks[i].status, looks[i].says, looks[i].what,
		    "%s --redis %s", args, redis.url);
	}
}

static void
check_digits(void)
{
	char digits[20];

	snprintf(digits, sizeof digits, "%.8s", hex_of("m1"));
	say("claim m1 o3 f3 g3", "won 1");
	ctl_run_is(0, hex_of("m1"), "a key is found by its first digits",
	    "show %s --redis %s", digits, redis.url);
	snprintf(digits, sizeof digits, "%.8s", hex_of("k1"));
	ctl_run_is(1, "several keys", "unless several begin so",
	    "show %s --redis %s", digits, redis.url);
}

/* --- settled -------------------------------------------------------------- */

static void
check_settled(void)
{
	ctl_run_is(0, "", "--force settles it all the same",
	    "resolve %s done --force --redis %s", hex_of("k2"), redis.url);
	is(redis_store_say(&store, "claim k2 o9 f2 g2"), "completed 1 -",
	    "and later requests are told that it was done");
	is(redis_store_say(&store, "complete k2 o2 1 late"), "lost",
	    "while its run has lost it");
	ctl_run_is(0, "", "not-done frees one",
	    "resolve %s not-done --force --redis %s", hex_of("k4"), redis.url);
	is(redis_store_say(&store, "claim k4 o9 f4 g4"), "won 2",
	    "which may run once more");
	ctl_run_is(0, "up to 61 s", "to forget what is completed says how long "
	    "copies may live", "forget %s --no-wait --cache-age 61s --redis %s",
	    hex_of("k3"), redis.url);
	is(redis_store_say(&store, "claim k3 o9 f3 g3"), "expired 1",
	    "and it is over");
	ctl_run_is(0, "!up to", "to forget a token does not",
	    "forget %s --redis %s", hex_of("k1"), redis.url);
}

static void
check_waiting(void)
{
	int64_t before = idem_boot_ms(&idem_clock_real), took;

	ctl_run_is(0, "waited for", "without --no-wait it waits",
	    "forget %s --cache-age 700ms --redis %s", hex_of("k5"), redis.url);
	took = idem_boot_ms(&idem_clock_real) - before;
	ok(took >= 700 && took < 30000, "as long as they live (%lld ms)",
	    (long long)took);
}

/* Long after its last sign of life another host's run may be decided over. */
static void
check_past(void)
{
	const char *out;
	int tries, status = 1;

	say("claim k6 o6 f6 g6 lease=1", "won 1");
	for (tries = 0; status == 1 && tries < 200; tries++)
		status = ctl_run(&out, "resolve %s done --lease 1ms --limit "
		    "1ms --grace 1ms --redis %s", hex_of("k6"), redis.url);
	is_int(status, 0, "once lease, limit and grace are over it can be "
	    "decided");
}

/* --- runs of this host ---------------------------------------------------- */

static void
check_here(void)
{
	struct idem_note note = {
		.state = IDEM_NOTE_BEGUN,
		.key = trace_digest("k8"),
		.owner = trace_owner("o8"),
		.attempt = 1,
		.what = "POST /k8"
	};
	struct idem_run_file file;
	struct idem_evidence e;
	struct idem_store_redis_options options = store.options;
	struct trace t = store.t;
	char run[100], out[200], error[300];
	int runs;

	snprintf(run, sizeof run, "%s/run", folder);
	runs = idem_run_folder(run, NULL, true, error, sizeof error);
	if (runs < 0 || !idem_boot_id(&options.boot))
		bail_out("no folder of locks: %s", error);
	t.store = idem_store_redis(&options);
	trace_run(&t, "claim k8 o8 f8 g8", out, sizeof out);
	note.boot = options.boot;
	if (idem_run_file_make(runs, &note.owner, &file) != 0 ||
	    idem_note_write(file.file, &note) != 0)
		bail_out("no run file");
	ctl_run_is(0, "run       alive", "this host's run is alive while its "
	    "lock is held", "show %s --run %s --redis %s", hex_of("k8"), run,
	    redis.url);
	ctl_run_is(0, "host      this one", "and said to be this one's",
	    "show %s --run %s --redis %s", hex_of("k8"), run, redis.url);
	ctl_run_is(1, "is still going on", "and is not decided over",
	    "resolve %s done --run %s --redis %s", hex_of("k8"), run,
	    redis.url);
	idem_run_file_close(&file);
	ctl_run_is(0, "run       dead", "it is dead once it is free",
	    "show %s --run %s --redis %s", hex_of("k8"), run, redis.url);
	ctl_run_is(1, "  died       redis         1", "which is what nobody "
	    "has settled", "unknown --run %s --redis %s", run, redis.url);
	ctl_run_is(1, "POST /k8\n", "with what was asked",
	    "unknown --run %s --redis %s", run, redis.url);
	ctl_run_is(0, "", "and can be decided over at once",
	    "resolve %s not-done --run %s --redis %s", hex_of("k8"), run,
	    redis.url);
	idem_evidence(runs, &note.owner, &e, NULL);
	is_int(e.lock, IDEM_RUN_MISSING, "after which its file is gone");
	t.store->ops->close(t.store);
	close(runs);
	rmdir(run);
}

/* --- a ledger beside it --------------------------------------------------- */

static void
check_both(void)
{
	struct idem_sqlite_options options = { .clock = &idem_clock_real };
	char ledger[100], out[200], error[300];
	struct trace t = store.t;

	snprintf(ledger, sizeof ledger, "%s/ledger.db", folder);
	options.path = ledger;
	if (idem_store_sqlite_create(ledger, error, sizeof error) != 0 ||
	    (t.store = idem_store_sqlite(&options, error, sizeof error)) ==
	    NULL)
		bail_out("%s", error);
	trace_run(&t, "claim k3 o3 f3 g3", out, sizeof out);
	trace_run(&t, "complete k3 o3 1 hello" KEEP, out, sizeof out);
	trace_run(&t, "claim k9 o3 f3 g3", out, sizeof out);
	trace_run(&t, "complete k9 o3 1 hello" KEEP, out, sizeof out);
	t.store->ops->close(t.store);

	ctl_run_is(0, "in        ledger", "with both a key is found in the "
	    "ledger", "show %s --ledger %s --redis %s", hex_of("k9"), ledger,
	    redis.url);
	ctl_run_is(0, "in        redis", "and in Redis",
	    "show %s --ledger %s --redis %s", hex_of("k6"), ledger, redis.url);
	ctl_run_is(0, "in        ledger", "one that is in both is shown twice",
	    "show %s --ledger %s --redis %s", hex_of("k3"), ledger, redis.url);
	ctl_run_is(1, "--in ledger or --in redis", "but to forget it, one has "
	    "to be named", "forget %s --ledger %s --redis %s", hex_of("k3"),
	    ledger, redis.url);
	ctl_run_is(0, "", "and then is forgotten", "forget %s --in ledger "
	    "--ledger %s --redis %s", hex_of("k3"), ledger, redis.url);
	ctl_run_is(0, "records completed                 1", "numbers are the "
	    "ledger's", "stats --ledger %s --redis %s", ledger, redis.url);
	ctl_run_is(0, "records in-progress               2", "or those that "
	    "--in names", "stats --in redis --ledger %s --redis %s", ledger,
	    redis.url);
	redis_rig_kill(&redis);
	ctl_run_is(0, "in        ledger", "a Redis that is away does not hide "
	    "what the ledger knows", "show %s --ledger %s --redis %s",
	    hex_of("k9"), ledger, redis.url);
	ctl_run_is(111, "redis:", "but is said of what it may know [redis:1]",
	    "show %s --ledger %s --redis %s", hex_of("k7"), ledger, redis.url);
}

/* --- how it is said ------------------------------------------------------- */

/* One that greets after more than a second.  If it is held up as well, which
   may take longer than a call, it is asked again. */
static void
check_slow(void)
{
	struct relay relay = { .pid = 0 };
	int status = 111, i;
	const char *out = "";
	char path[120];

	snprintf(path, sizeof path, "%s/slow", folder);
	relay_open(&relay, path, redis.socket);
	*relay.delay_ms = SLOW_MS;
	for (i = 0; i < ASKS_MAX && status == 111; i++)
		status = ctl_run(&out, "show %s --redis unix:%s", hex_of("k3"),
		    path);
	if (!ok(status == 0 && strstr(out, hex_of("k3")) != NULL,
	    "a server that is slow to answer is waited for"))
		note("exit %d: %.300s", status, out);
	relay_close(&relay);
	unlink(path);
}

static void
check_usage(void)
{
	ctl_run_is(2, "say where", "without any store it is wrong use",
	    "list");
	ctl_run_is(2, "--redis:", "a server that is no URL too",
	    "list --redis nonsense://x");
	ctl_run_is(2, "!secret", "without its password being said",
	    "list --redis redis://:secret@/x/y");
	ctl_run_is(2, "prefix", "and a prefix that is a pattern",
	    "list --redis %s --prefix 'a*'", redis.url);
	ctl_run_is(2, "instead of a configuration", "and two ways at once",
	    "list --redis %s --config /dev/null", redis.url);
}

static void
remove_all(void)
{
	static const char *const ends[] = { "", "-lock", "-wal", "-shm" };
	char path[120];
	size_t i;

	for (i = 0; i < sizeof ends / sizeof *ends; i++) {
		snprintf(path, sizeof path, "%s/ledger.db%s", folder, ends[i]);
		unlink(path);
	}
	if (rmdir(folder) != 0)
		note("%s is not empty", folder);
}

int
main(void)
{
	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	unsetenv("IDEM_LEDGER");
	if (mkdtemp(folder) == NULL)
		bail_out("no folder");
	redis_rig_start(&redis, NULL);
	store.server = &redis;
	store.client_options.timeout_ms = PATIENCE_MS;
	store.options.token = true;
	redis_store_open(&store);
	make_records();
	check_looks();
	check_digits();
	check_settled();
	check_waiting();
	check_past();
	check_here();
	check_slow();
	check_usage();
	check_both();
	redis_store_close(&store);
	redis_rig_end(&redis);
	remove_all();
	return done();
}
