/* SPDX-License-Identifier: ISC */
#include "ctl_run.h"
#include "redis_rig.h"
#include "relay.h"
#include "rig.h"
#include "store.h"
#include "tap.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the doctor finds at real servers, most of them badly set up. */
#define ASKS_MAX 5
#define AGAIN_MS 1000
#define ASK_MS 2000		/* for a server to answer all */
#define SLOW_MS 130		/* each way: both are more than timeout */
#define SAVED_MS 60000
#define SEEN_MS 60000

static char folder[] = "/tmp/t_doctor_redis.XXXXXX";
static char conf[100], ledger[100];

static void
write_conf(const char *shared, const char *more)
{
	FILE *f = fopen(conf, "we");

	if (f == NULL || fprintf(f, "run = '%s'\n%s\n%s\n", folder, shared,
	    more) < 0 || fclose(f) != 0)
		bail_out("%s cannot be written", conf);
}

/* --- what is said --------------------------------------------------------- */

/* "fail redis.policy" in JSON, or with a "!" not. */
static bool
has(const char *out, const char *want)
{
	bool not_ = want[0] == '!';
	char text[100], level[10], check[40];

	if (sscanf(want + not_, "%9s %39s", level, check) != 2)
		bail_out("%s is no finding", want);
	snprintf(text, sizeof text, "{\"level\":\"%s\",\"check\":\"%s\"", level,
	    check);
	return (strstr(out, text) != NULL) != not_;
}

/* A server that is held up has two seconds to answer, and then what it would
   have said is not known: so the doctor is asked again if it took that long,
   and never else. */
static void
finds(int status, const char *want, const char *what, const char *args)
{
	const char *out, *bad;
	int got, i = 0;
	int64_t ms;
	bool right;

	do {
		if (i > 0)
			poll(NULL, 0, AGAIN_MS);
		ms = rig_now_ms();
		got = ctl_run(&out, "doctor --json %s", args);
		ms = rig_now_ms() - ms;
		right = got == status && has(out, want);
	} while (!right && ms >= ASK_MS && ++i < ASKS_MAX);
	if (ok(right, "%s", what))
		return;
	bad = strstr(out, "{\"level\":\"fail\"");
	note("exit %d, not %d, in %lld ms; %s is not in: %.1500s", got, status,
	    (long long)ms, want, bad != NULL ? bad : out);
}

static const char *
at(const struct redis_rig *r)
{
	static char args[200];

	snprintf(args, sizeof args, "--redis %s", r->url);
	return args;
}

#define DO(redis, ...) redis_rig_say(redis, __VA_ARGS__, NULL)

/* --- one server ----------------------------------------------------------- */

static const char *const good_options[] = { "--appendonly", "yes",
    "--maxmemory", "100mb", "--busy-reply-threshold", "200",
    "--enable-protected-configs", "yes", NULL };

/* A setting, what it leads to, and the setting as it was. */
static const struct {
	const char *name, *bad, *good;
	int status;
	const char *want, *what;
} settings[] = {
	{ "maxmemory-policy", "allkeys-lru", "noeviction", 1,
	  "fail redis.policy", "eviction is found [redis:30]" },
	{ "maxmemory-policy", "volatile-ttl", "noeviction", 1,
	  "fail redis.policy", "of whatever kind" },
	{ "maxmemory", "0", "100mb", 0, "note redis.room",
	  "a server without a limit is found" },
	{ "maxmemory", "1kb", "100mb", 1, "fail redis.room",
	  "a server that is full is found [redis:12]" },
	{ "appendonly", "no", "yes", 1, "fail redis.persist",
	  "a server that keeps nothing is found [redis:31]" },
	{ "appendfsync", "no", "everysec", 0, "warn redis.fsync",
	  "one that leaves it to the kernel when to write is found" },
	{ "busy-reply-threshold", "5000", "200", 0, "note redis.busy",
	  "one that is silent for long is found [redis:13]" },
	{ "min-replicas-to-write", "2", "0", 1, "fail redis.replicas-few",
	  "one that has too few replicas to write is found [redis:22]" },
	{ "protected-mode", "no", "yes", 0, "warn redis.open",
	  "one that is open to all is found" },
};

static void
check_settings(struct redis_rig *r)
{
	size_t i;

	for (i = 0; i < sizeof settings / sizeof *settings; i++) {
		DO(r, "CONFIG", "SET", settings[i].name, settings[i].bad);
		finds(settings[i].status, settings[i].want, settings[i].what,
		    at(r));
		DO(r, "CONFIG", "SET", settings[i].name, settings[i].good);
	}
}

/* A snapshot that cannot be written: its folder has gone. */
static void
check_disk(struct redis_rig *r)
{
	char away[150];

	snprintf(away, sizeof away, "%s/away", r->folder);
	if (mkdir(away, 0700) != 0)
		bail_out("no folder");
	DO(r, "CONFIG", "SET", "appendonly", "no");
	DO(r, "CONFIG", "SET", "save", "3600 1");
	if (strcmp(DO(r, "CONFIG", "SET", "dir", away), "OK") != 0)
		bail_out("its folder cannot be changed");
	rmdir(away);
	DO(r, "BGSAVE");
	if (!redis_rig_await(r, SAVED_MS, "rdb_last_bgsave_status:err", "INFO",
	    "persistence", NULL))
		bail_out("the snapshot did not fail");
	finds(1, "fail redis.saved", "a disk that cannot be written to is "
	    "found [redis:14]", at(r));
	DO(r, "CONFIG", "SET", "dir", r->folder);
	DO(r, "BGSAVE");
	if (!redis_rig_await(r, SAVED_MS, "rdb_last_bgsave_status:ok", "INFO",
	    "persistence", NULL))
		bail_out("the snapshot failed again");
	DO(r, "CONFIG", "SET", "appendonly", "yes");
}

/* idemd could not use it; but what is asked of it is found. */
static void
check_slow(struct redis_rig *r)
{
	struct relay relay = { .pid = 0 };
	char path[150], args[200];

	snprintf(path, sizeof path, "%s/slow", folder);
	relay_open(&relay, path, r->socket);
	*relay.delay_ms = SLOW_MS;
	snprintf(args, sizeof args, "--redis unix:%s", path);
	finds(0, "ok redis.acl", "a server that is slow to answer is asked all",
	    args);
	relay_close(&relay);
	unlink(path);
}

static void
check_others(struct redis_rig *r)
{
	static const char record[] = "idem:"
	    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	char list[sizeof record];

	DO(r, "SET", "session:1", "x");
	finds(0, "warn redis.strangers", "others' keys are found", at(r));
	DO(r, "DEL", "session:1");
	DO(r, "SET", "idem:zzz", "x");
	finds(0, "warn redis.junk", "a key of another kind under the prefix is "
	    "found", at(r));
	DO(r, "DEL", "idem:zzz");
	DO(r, "SET", record, "hello");
	finds(0, "warn redis.junk", "a record that is none is found "
	    "[redis:25]", at(r));
	DO(r, "DEL", record);
	memcpy(list, record, sizeof list);
	list[sizeof list - 2] = '0';
	DO(r, "LPUSH", list, "hello");
	finds(0, "warn redis.junk", "a list in its place too [redis:25]",
	    at(r));
	DO(r, "DEL", list);
}

static void
check_single(void)
{
	struct redis_rig r = { .pid = 0 };

	redis_rig_start(&r, good_options);
	finds(0, "ok redis.acl", "a good server is good", at(&r));
	finds(0, "!warn redis.persist", "and nothing bad is said of it",
	    at(&r));
	check_settings(&r);
	check_disk(&r);
	check_slow(&r);
	check_others(&r);
	redis_rig_kill(&r);
	finds(1, "fail redis.reach", "a server that is away is found "
	    "[redis:1]", at(&r));
	redis_rig_end(&r);
}

/* --- ACL ------------------------------------------------------------------ */

/* The line of idemctl(1). */
static const char *const least[] = { "+info", "+time", "+eval", "+evalsha",
    "+get", "+getrange", "+set", "+strlen", "+persist", "+pexpire", "+incr",
    "+scan" };
#define LEAST (sizeof least / sizeof *least)

/* All but one; LEAST: all. */
static void
set_user(struct redis_rig *r, size_t but)
{
	struct idem_bytes words[LEAST + 8];
	const char *const first[] = { "ACL", "SETUSER", "idem", "reset", "on",
	    ">secret", "~idem:*" };
	size_t n = 0, i;

	for (i = 0; i < sizeof first / sizeof *first; i++)
		words[n++] = idem_bytes_text(first[i]);
	for (i = 0; i < LEAST; i++)
		if (i != but)
			words[n++] = idem_bytes_text(least[i]);
	if (strcmp(redis_rig_say_bytes(r, words, n), "OK") != 0)
		bail_out("no such ACL");
}

static void
check_acl(void)
{
	struct redis_rig r = { .pid = 0 };
	char shared[300], args[200], what[200];
	size_t i;

	redis_rig_start(&r, good_options);
	snprintf(shared, sizeof shared, "shared = redis { url = '%s', user = "
	    "'idem', password = 'secret' }", r.url);
	write_conf(shared, "route { path = '/a', arbiter = 'redis', program = "
	    "cgi { '/bin/true' } }");
	snprintf(args, sizeof args, "--config %s", conf);
	set_user(&r, LEAST);
	finds(0, "ok redis.acl", "the least user of the manual can do all",
	    args);
	finds(0, "note redis.hidden", "what it is not told is said", args);
	snprintf(what, sizeof what, "--redis-user admin --config %s", conf);
	DO(&r, "ACL", "SETUSER", "admin", "on", ">other", "~*", "+@all");
	setenv("IDEM_REDIS_PASSWORD", "other", 1);
	finds(0, "!note redis.hidden", "unless somebody looks who may", what);
	unsetenv("IDEM_REDIS_PASSWORD");
	for (i = 0; i < LEAST; i++) {
		set_user(&r, i);
		DO(&r, "SCRIPT", "FLUSH");
		snprintf(what, sizeof what, "it is found that %s is missing "
		    "[redis:21]", least[i]);
		finds(1, "fail redis.acl", what, args);
	}
	DO(&r, "ACL", "DELUSER", "idem");
	finds(1, "fail redis.reach", "a user that is not there is found "
	    "[redis:20]", args);
	redis_rig_end(&r);
}

/* --- replicas ------------------------------------------------------------- */

/* It says so of its replicas; which it counts once a second. */
static void
replicas_say(struct redis_rig *master, const char *text)
{
	if (!redis_rig_await(master, SEEN_MS, text, "INFO", "replication",
	    NULL))
		bail_out("the master does not come to say %s", text);
}

static void
check_replicas(void)
{
	struct redis_rig master = { .pid = 0 }, replica = { .pid = 0 };

	redis_rig_start(&master, good_options);
	redis_rig_replica(&replica, &master, good_options);
	replicas_say(&master, "state=online");
	finds(0, "warn redis.min-replicas", "a master that does not wait for "
	    "its replica is found [redis:32]", at(&master));
	finds(0, "ok redis.replica-writable", "the replica is looked at too",
	    at(&master));
	DO(&replica, "CONFIG", "SET", "replica-read-only", "no");
	finds(1, "fail redis.replica-writable", "one that can be written to is "
	    "found", at(&master));
	finds(1, "fail redis.role", "one in a master's place is found "
	    "[redis:9]", at(&replica));
	DO(&master, "CONFIG", "SET", "min-replicas-to-write", "1");
	DO(&master, "CONFIG", "SET", "min-replicas-max-lag", "10");
	DO(&replica, "CONFIG", "SET", "replica-read-only", "yes");
	replicas_say(&master, "min_slaves_good_slaves:1");
	finds(0, "ok redis.min-replicas", "nothing is found once all is right",
	    at(&master));
	redis_rig_end(&replica);
	redis_rig_end(&master);
}

static void
check_sentinels(void)
{
	struct redis_rig master = { .pid = 0 }, other = { .pid = 0 };
	struct redis_rig one = { .pid = 0 }, two = { .pid = 0 };
	char shared[300], args[200];

	redis_rig_start(&master, good_options);
	redis_rig_start(&other, good_options);
	redis_rig_sentinel(&one, "m", master.port, 1, 60000);
	redis_rig_sentinel(&two, "m", other.port, 1, 60000);
	snprintf(shared, sizeof shared, "shared = redis { sentinels = { '%s' }"
	    ", master = 'm' }", one.url);
	write_conf(shared, "route { path = '/a', arbiter = 'redis', program = "
	    "cgi { '/bin/true' } }");
	snprintf(args, sizeof args, "--config %s", conf);
	finds(0, "warn sentinel.number", "a sentinel alone is found", args);
	finds(0, "ok redis.acl", "and its master is looked at", args);
	snprintf(shared, sizeof shared, "shared = redis { sentinels = { '%s', "
	    "'%s' }, master = 'm' }", one.url, two.url);
	write_conf(shared, "route { path = '/a', arbiter = 'redis', program = "
	    "cgi { '/bin/true' } }");
	finds(1, "fail sentinel.agree", "two that name different masters are "
	    "found", args);
	redis_rig_kill(&two);
	finds(0, "warn sentinel.reach", "one that is away is found", args);
	redis_rig_kill(&one);
	finds(1, "fail redis.reach", "and that none is there", args);
	redis_rig_end(&one);
	redis_rig_end(&two);
	redis_rig_end(&other);
	redis_rig_end(&master);
}

static void
check_cluster(void)
{
	struct redis_rig nodes[3] = { { .pid = 0 } };
	char shared[300], args[200];

	redis_rig_cluster(nodes, 3, (const char *[]){ "--appendonly", "yes",
	    NULL });
	snprintf(shared, sizeof shared, "shared = redis { cluster = { '%s' } }",
	    nodes[0].url);
	write_conf(shared, "route { path = '/a', arbiter = 'redis', program = "
	    "cgi { '/bin/true' } }");
	snprintf(args, sizeof args, "--config %s", conf);
	finds(0, "warn cluster.replicas", "masters without a replica are found",
	    args);
	finds(0, "ok cluster.slots", "in a cluster that is whole", args);
	DO(&nodes[0], "CLUSTER", "DELSLOTS", "0", "1", "2");
	finds(1, "fail cluster.slots", "slots without a master are found "
	    "[redis:16]", args);
	redis_rig_end(&nodes[0]);
	redis_rig_end(&nodes[1]);
	redis_rig_end(&nodes[2]);
}

/* --- a cache -------------------------------------------------------------- */

static void
generation_of(char hex[2 * IDEM_HISTORY_LEN + 1])
{
	const struct idem_sqlite_options options = {
		.path = ledger, .clock = &idem_clock_real, .read_only = true
	};
	struct idem_history h = { { 0 } };
	char error[300];
	struct idem_store *s = idem_store_sqlite(&options, error, sizeof error);

	if (s == NULL || !s->ops->history(s, &h))
		bail_out("the ledger has no generation");
	s->ops->close(s);
	idem_hex(h.at, sizeof h.at, hex);
}

static void
check_cache(void)
{
	struct redis_rig r = { .pid = 0 };
	char text[400], args[200], hex[2 * IDEM_HISTORY_LEN + 1], error[300];

	redis_rig_start(&r, (const char *[]){ "--maxmemory", "50mb",
	    "--maxmemory-policy", "allkeys-lru", NULL });
	if (idem_store_sqlite_create(ledger, error, sizeof error) != 0)
		bail_out("%s", error);
	generation_of(hex);
	snprintf(text, sizeof text, "ledger = sqlite { path = '%s' }\n"
	    "cache = redis { url = '%s' }", ledger, r.url);
	write_conf(text, "route { path = '/a', program = cgi { '/bin/true' } "
	    "}");
	snprintf(args, sizeof args, "--config %s", conf);
	finds(0, "ok redis.policy", "a cache may be evicted", args);
	finds(0, "ok cache.ledger", "and be nobody's yet", args);
	DO(&r, "SET", "idem:ledger", hex);
	finds(0, "ok cache.ledger", "or our ledger's", args);
	DO(&r, "SET", "idem:ledger", "0123456789abcdef");
	finds(1, "fail cache.ledger", "but not another ledger's", args);
	finds(1, "note ledger.sqlite", "the ledger's SQLite is looked at",
	    args);
	chmod(ledger, 0666);
	finds(1, "fail ledger.mode", "and its mode", args);
	chmod(ledger, 0600);
	redis_rig_kill(&r);
	finds(0, "warn redis.reach-cache", "a cache that is away is found "
	    "[redis:1]", args);
	redis_rig_end(&r);
}

/* --- how it is said ------------------------------------------------------- */

static void
check_usage(void)
{
	char path[120];

	ctl_run_is(2, "say what to look at", "with nothing to look at it is "
	    "wrong use", "doctor");
	ctl_run_is(2, "--front", "and with words that are no options",
	    "doctor nginx.conf");
	ctl_run_is(2, "IDEM_REDIS_PASSWORD", "and with a user without password",
	    "doctor --redis-user x --redis unix:/x");
	ctl_run_is(0, "cannot be looked through", "a file that is not there is "
	    "no failure", "doctor --front %s/nowhere", folder);
	snprintf(path, sizeof path, "%s/front", folder);
	if (rename(conf, path) != 0)
		bail_out("no file");
	ctl_run_is(0, "nothing in it is known", "nor one that is no web "
	    "server's", "doctor --front %s", path);
	unlink(path);
	ctl_run_is(1, "fail  ledger:", "a ledger that is not there is one",
	    "doctor --ledger %s/nowhere.db", folder);
}

static void
remove_all(void)
{
	static const char *const ends[] = { "", "-lock", "-wal", "-shm" };
	char path[120];
	size_t i;

	for (i = 0; i < sizeof ends / sizeof *ends; i++) {
		snprintf(path, sizeof path, "%s%s", ledger, ends[i]);
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
	snprintf(conf, sizeof conf, "%s/idem.conf", folder);
	snprintf(ledger, sizeof ledger, "%s/ledger.db", folder);
	check_single();
	check_acl();
	check_replicas();
	check_sentinels();
	check_cluster();
	check_cache();
	check_usage();
	remove_all();
	return done();
}
