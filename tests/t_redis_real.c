/* SPDX-License-Identifier: ISC */
#include "redis_desk.h"
#include "redis_rig.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * What a real server can be brought to say and do, and what it means: the
 * table of errors holds for it, not only for our idea of it.
 */
#define DEADLINE_MS 20000	/* not reached, but where it says so */

static void
opens(struct redis_desk *d, const struct redis_rig *rig)
{
	redis_desk_open(d, rig->url, NULL);
	d->redis.timeout_ms = DEADLINE_MS;
}

static void
ignore(void *arg, const struct idem_redis_wire_answer *answer)
{
	(void)arg;
	(void)answer;
}

/* One command: what it means and begins with. */
static void
expect(struct redis_desk *d, const char *words, const char *wanted,
    const char *text, const char *what)
{
	struct redis_told t;
	char means[64];

	redis_desk_ask(d, &t, DEADLINE_MS, words);
	redis_desk_meaning(t.meaning, means, sizeof means);
	ok(strcmp(means, wanted) == 0 && strncmp(t.error[0] != '\0' ?
	    t.error : t.text, text, strlen(text)) == 0, "%s", what);
	if (strcmp(means, wanted) != 0)
		note("%s: %s%s", means, t.error, t.text);
}

/* --- errors of one server ------------------------------------------------- */

static void
scripts(struct redis_desk *d)
{
	expect(d, "EVALSHA 0123456789012345678901234567890123456789 0",
	    "refused text", "NOSCRIPT", "a script is not there [redis:7]");
	expect(d, "EVAL redis.call('SET',KEYS[1],'x')return\tnothing.at 1 k",
	    "maybe", "ERR user_script:1:",
	    "a script fails after a write [redis:24]");
	expect(d, "GET k", "ok", "x", "which is done [redis:24]");
	expect(d, "EVAL this\tis\tno\tprogram 0", "config away",
	    "ERR Error compiling", "a text is no script");
	expect(d, "FCALL none 0", "config away", "ERR Function not found",
	    "a function is not there [redis:34]");
	expect(d, "NOSUCH a", "config away", "ERR unknown command",
	    "a command is not there");
	expect(d, "GET", "config away", "ERR wrong number",
	    "a command lacks a word");
	expect(d, "LPUSH list a", "ok", "", "a list is made");
	expect(d, "GET list", "config away", "WRONGTYPE",
	    "a key is of another kind [redis:25]");
	expect(d, "EVAL return\tredis.call('GET','list') 0", "config away",
	    "WRONGTYPE", "also within a script [redis:25]");
	expect(d, "CLUSTER SLOTS", "config away", "ERR This instance",
	    "a server is no cluster");
	expect(d, "SELECT 99", "config away", "ERR DB index",
	    "a database is not there");
}

static void
kinds(struct redis_desk *d)
{
	struct redis_told t;

	redis_desk_ask(d, &t, DEADLINE_MS, "GET missing");
	ok(t.type == IDEM_REDIS_NIL, "a missing key is nil "
	    "[redis:11 redis:30 redis:31]");
	redis_desk_ask(d, &t, DEADLINE_MS, "EVAL return'' 0");
	ok(t.type == IDEM_REDIS_STRING && t.len == 0,
	    "an empty string is none");
	redis_desk_ask(d, &t, DEADLINE_MS, "HGETALL missing");
	ok(t.type == IDEM_REDIS_ARRAY && t.len == 0,
	    "nor is an empty array");
	redis_desk_ask(d, &t, DEADLINE_MS, "SET missing x NX GET");
	ok(t.type == IDEM_REDIS_NIL && t.meaning.class == IDEM_OK,
	    "a nil may be a success");
	redis_desk_ask(d, &t, DEADLINE_MS, "EVAL return{1,{'a',{2}},false} 0");
	ok(t.type == IDEM_REDIS_ARRAY && t.len == 3, "arrays are nested");
}

static void
full(struct redis_rig *rig, struct redis_desk *d)
{
	redis_rig_say(rig, "CONFIG", "SET", "maxmemory", "1", NULL);
	expect(d, "SET a 1", "refused away", "OOM",
	    "the memory is full [redis:12]");
	expect(d, "EVAL return\tredis.call('SET','a',1) 0", "refused away",
	    "OOM", "also for a script [redis:12]");
	expect(d, "GET a", "ok", "", "which may be read [redis:12]");
	redis_rig_say(rig, "CONFIG", "SET", "maxmemory", "0", NULL);
}

static void
no_replicas(struct redis_rig *rig, struct redis_desk *d)
{
	redis_rig_say(rig, "CONFIG", "SET", "min-replicas-to-write", "1",
	    NULL);
	expect(d, "SET a 1", "refused away", "NOREPLICAS",
	    "there are no replicas [redis:22]");
	expect(d, "EVAL return\tredis.call('SET','a',1) 0", "refused away",
	    "NOREPLICAS", "also for a script [redis:22]");
	redis_rig_say(rig, "CONFIG", "SET", "min-replicas-to-write", "0",
	    NULL);
}

/* It cannot save: its file is a folder. */
static void
cannot_save(struct redis_rig *rig, struct redis_desk *d)
{
	char path[160];

	snprintf(path, sizeof path, "%s/dump.rdb", rig->folder);
	mkdir(path, 0700);
	redis_rig_say(rig, "CONFIG", "SET", "save", "3600 1", NULL);
	redis_rig_say(rig, "SET", "a", "1", NULL);
	redis_rig_say(rig, "BGSAVE", NULL);
	redis_rig_await(rig, DEADLINE_MS, "rdb_last_bgsave_status:err", "INFO",
	    "persistence", NULL);
	expect(d, "SET a 1", "refused away", "MISCONF",
	    "it cannot save [redis:14]");
	expect(d, "PING", "refused away", "MISCONF",
	    "and does not even say that it is there [redis:14]");
	expect(d, "EVAL return\tredis.call('SET','a',1) 0", "refused away",
	    "MISCONF", "nor runs a script [redis:14]");
	expect(d, "GET a", "ok", "1", "but may be read [redis:14]");
	redis_rig_say(rig, "CONFIG", "SET", "save", "", NULL);
	rmdir(path);
}

static void
busy(struct redis_rig *rig)
{
	struct redis_desk spinner, other;
	struct redis_told spun, t;
	struct idem_bytes args[3] = { { "EVAL", 4 }, idem_bytes_text(
	    "while true do end"), { "0", 1 } };
	char means[64];
	int turns;

	redis_rig_say(rig, "CONFIG", "SET", "busy-reply-threshold", "20",
	    NULL);
	opens(&spinner, rig);
	opens(&other, rig);
	redis_desk_ask(&spinner, &spun, DEADLINE_MS, "PING");
	redis_desk_ask(&other, &t, DEADLINE_MS, "PING");
	idem_redis_wire_send(spinner.wire, args, 3, NULL, INT64_MAX, ignore,
	    NULL);
	redis_desk_turn(&spinner, 0);
	for (turns = 0; turns < 100; turns++) {
		redis_desk_ask(&other, &t, DEADLINE_MS, "GET a");
		if (t.meaning.class != IDEM_OK)
			break;
	}
	redis_desk_meaning(t.meaning, means, sizeof means);
	is(means, "refused pause", "a script keeps it busy [redis:13]");
	is_int(strncmp(t.error, "BUSY", 4), 0, "which it says [redis:13]");
	redis_rig_say(rig, "SCRIPT", "KILL", NULL);
	redis_desk_close(&spinner);
	redis_desk_close(&other);
}

/* --- who may -------------------------------------------------------------- */

static void
login_as(struct redis_rig *rig, const char *user, const char *password,
    const char *words, const char *wanted, const char *text, const char *what)
{
	struct redis_desk d;

	opens(&d, rig);
	d.options.user = user;
	d.options.password = password;
	expect(&d, words, wanted, text, what);
	redis_desk_close(&d);
}

static void
logins(struct redis_rig *rig)
{
	struct redis_desk d;
	struct redis_told t;

	login_as(rig, NULL, "any", "PING", "config away",
	    "ERR AUTH <password> called",
	    "a password is not wanted [redis:20]");
	redis_rig_say(rig, "ACL", "SETUSER", "idem", "on", ">secret",
	    "~idem:*", "-@all", "+ping", "+get", "+eval", NULL);
	login_as(rig, "idem", "secret", "PING", "ok", "PONG",
	    "a user is known by his password");
	login_as(rig, "idem", "wrong", "PING", "config away", "WRONGPASS",
	    "and not by another one [redis:20]");
	login_as(rig, "nobody", "secret", "PING", "config away", "WRONGPASS",
	    "nor is nobody [redis:20]");
	login_as(rig, "idem", "secret", "SET idem:a 1", "config away",
	    "NOPERM", "a command is not for him [redis:20]");
	login_as(rig, "idem", "secret", "GET other", "config away", "NOPERM",
	    "nor a key [redis:20]");
	login_as(rig, "idem", "secret",
	    "EVAL return\tredis.call('SET',KEYS[1],1) 1 idem:a", "maybe",
	    "ERR The user executing the script",
	    "nor a command within a script [redis:21]");
	opens(&d, rig);
	d.options.user = "idem";
	d.options.password = "secret";
	redis_desk_ask(&d, &t, DEADLINE_MS, "PING");
	redis_rig_say(rig, "ACL", "DELUSER", "idem", NULL);
	ok(redis_desk_until_open(&d, false),
	    "a user who is removed is cut off [redis:20]");
	expect(&d, "PING", "config away", "WRONGPASS",
	    "and is unknown from then on [redis:20]");
	redis_desk_close(&d);
	redis_rig_say(rig, "CONFIG", "SET", "requirepass", "secret", NULL);
	snprintf(rig->password, sizeof rig->password, "secret");
	login_as(rig, NULL, NULL, "PING", "config away", "NOAUTH",
	    "a password is missing [redis:20]");
	redis_rig_say(rig, "CONFIG", "SET", "requirepass", "", NULL);
	rig->password[0] = '\0';
}

static void
too_many(struct redis_rig *rig)
{
	struct redis_desk d[40];
	struct redis_told t;
	size_t i, good = 0, refused = 0;

	redis_rig_say(rig, "CONFIG", "SET", "maxclients", "20", NULL);
	for (i = 0; i < 40; i++) {
		opens(&d[i], rig);
		redis_desk_ask(&d[i], &t, DEADLINE_MS, "INCR clients");
		good += t.meaning.class == IDEM_OK;
		refused += t.meaning.class == IDEM_CLASS_REFUSED &&
		    t.meaning.counts && strncmp(t.error, "ERR max", 7) ==
		    0;
	}
	ok(good > 10 && refused > 10 && good + refused == 40,
	    "there are too many clients (%zu, %zu) [redis:28]", good, refused);
	for (i = 0; i < 40; i++)
		redis_desk_close(&d[i]);
	/* Once it has seen that they are gone. */
	redis_rig_await(rig, DEADLINE_MS, "OK", "CONFIG", "SET", "maxclients",
	    "1000", NULL);
}

/* --- role ----------------------------------------------------------------- */

static void
replica(struct redis_rig *rig)
{
	struct redis_desk d;

	opens(&d, rig);
	redis_rig_say(rig, "REPLICAOF", "127.0.0.1", "1", NULL);
	expect(&d, "GET missing", "ok", "",
	    "a replica that knows nothing has no key, and says so "
	    "[redis:11 redis:35]");
	expect(&d, "SET a 1", "refused another drop", "READONLY",
	    "a replica is not written to [redis:9]");
	expect(&d, "EVAL return\tredis.call('SET','a',1) 0",
	    "refused another drop", "READONLY",
	    "nor by a script [redis:9]");
	redis_rig_say(rig, "CONFIG", "SET", "replica-serve-stale-data", "no",
	    NULL);
	expect(&d, "PING", "refused another drop", "MASTERDOWN",
	    "a replica without its master is not even there [redis:10]");
	redis_rig_say(rig, "CONFIG", "SET", "replica-serve-stale-data", "yes",
	    NULL);
	redis_rig_say(rig, "REPLICAOF", "NO", "ONE", NULL);
	redis_desk_close(&d);
}

/* --- time and ends -------------------------------------------------------- */

static void
frozen(struct redis_rig *rig)
{
	struct redis_desk d;
	struct redis_told t;

	redis_rig_say(rig, "SET", "late", "0", NULL);
	opens(&d, rig);
	d.redis.timeout_ms = 200;
	redis_desk_ask(&d, &t, DEADLINE_MS, "PING");
	redis_rig_freeze(rig);
	redis_desk_ask(&d, &t, 300, "INCR late");
	ok(t.meaning.class == IDEM_CLASS_MAYBE && !t.late &&
	    t.answered_ms >= t.deadline_ms && redis_desk_until_open(&d, false),
	    "a frozen server costs the deadline [redis:3]");
	redis_desk_ask(&d, &t, 300, "INCR late");
	ok(t.meaning.class == IDEM_CLASS_MAYBE && !t.late,
	    "also on a new connection, which it has not accepted [redis:3]");
	redis_rig_thaw(rig);
	ok(redis_rig_await(rig, DEADLINE_MS, "2", "GET", "late", NULL),
	    "and has run both later, when nobody waited [redis:3]");
	expect(&d, "PING", "ok", "PONG", "then all is well again");
	redis_desk_close(&d);
}

static void
paused(struct redis_rig *rig)
{
	struct redis_desk d;
	struct redis_told t, next;

	redis_rig_say(rig, "SET", "paused", "7", NULL);
	opens(&d, rig);
	redis_desk_ask(&d, &t, DEADLINE_MS, "PING");
	redis_rig_say(rig, "CLIENT", "PAUSE", "60000", "WRITE", NULL);
	redis_desk_ask(&d, &t, 100, "INCR paused");
	is(redis_desk_class(t.meaning.class), "maybe",
	    "writes are paused [redis:27]");
	redis_desk_send(&d, &next, DEADLINE_MS, "GET paused");
	redis_desk_turn(&d, 0);
	redis_rig_say(rig, "CLIENT", "UNPAUSE", NULL);
	redis_desk_until(&d, &next);
	ok(next.type == IDEM_REDIS_STRING && strcmp(next.text, "8") == 0 &&
	    d.watches == 1,
	    "and done later; whoever comes next has his own reply [redis:27]");
	redis_desk_close(&d);
}

static void
killed(struct redis_rig *rig)
{
	struct redis_desk d;
	struct redis_told t;

	opens(&d, rig);
	redis_desk_ask(&d, &t, DEADLINE_MS, "PING");
	redis_rig_freeze(rig);
	redis_desk_send(&d, &t, DEADLINE_MS, "INCR late");
	redis_desk_turn(&d, 0);
	redis_rig_kill(rig);
	redis_desk_until(&d, &t);
	ok(t.meaning.class == IDEM_CLASS_MAYBE && t.meaning.drop,
	    "a server dies with a command [redis:4 redis:5]");
	expect(&d, "PING", "refused anew drop counts", rig->socket,
	    "and is not there any more [redis:1]");
	redis_rig_again(rig, false);
	expect(&d, "PING", "ok", "PONG", "until it comes back");
	expect(&d, "GET late", "ok", "", "without what it knew [redis:31]");
	redis_desk_close(&d);
}

static void
cut_off(struct redis_rig *rig)
{
	struct redis_desk d;
	struct redis_told t;

	opens(&d, rig);
	redis_desk_ask(&d, &t, DEADLINE_MS, "EVAL "
	    "redis.call('SET','big',string.rep('x',4000000)) 0");
	redis_rig_say(rig, "CONFIG", "SET", "client-output-buffer-limit",
	    "normal 1mb 1mb 1", NULL);
	expect(&d, "GET big", "maybe anew drop counts", "",
	    "a large reply is cut off [redis:29]");
	redis_desk_close(&d);
	redis_rig_say(rig, "CONFIG", "SET", "client-output-buffer-limit",
	    "normal 0 0 0", NULL);
	opens(&d, rig);
	d.redis.reply_max = 1 << 20;
	expect(&d, "GET big", "maybe anew drop counts", "a reply is larger",
	    "and one over our own limit is not read");
	redis_desk_close(&d);
}

/* So slowly that it is not over before it is told to be quick.  Values that
   are long in its file let it look at us after each of them. */
static void
loading(struct redis_rig *rig)
{
	const struct idem_bytes args[] = { { "DEBUG", 5 }, { "RELOAD", 6 } };
	struct redis_desk loader, other;
	struct redis_told t;
	char means[64];
	int turns;

	opens(&loader, rig);
	opens(&other, rig);
	redis_desk_ask(&loader, &t, DEADLINE_MS, "DEBUG POPULATE 5000 k 1000");
	redis_rig_say(rig, "CONFIG", "SET", "loading-process-events-interval-"
	    "bytes", "1024", "key-load-delay", "10000", "rdbcompression", "no",
	    NULL);
	idem_redis_wire_send(loader.wire, args, 2, NULL, INT64_MAX, ignore,
	    NULL);
	redis_desk_turn(&loader, 0);
	for (turns = 0; turns < 1000; turns++) {
		redis_desk_ask(&other, &t, DEADLINE_MS, "GET a");
		if (t.meaning.class != IDEM_OK)
			break;
	}
	redis_desk_meaning(t.meaning, means, sizeof means);
	is(means, "refused pause", "a server loads [redis:8]");
	is_int(strncmp(t.error, "LOADING", 7), 0, "and says so [redis:8]");
	redis_rig_say(rig, "CONFIG", "SET", "key-load-delay", "0", NULL);
	redis_rig_await(rig, DEADLINE_MS, "\nloading:0", "INFO", "persistence",
	    NULL);
	redis_desk_close(&loader);
	redis_desk_close(&other);
}

int
main(void)
{
	struct redis_rig rig;
	struct redis_desk d;

	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	redis_rig_start(&rig, (const char *const[]){
	    "--enable-debug-command", "yes", NULL });
	opens(&d, &rig);
	scripts(&d);
	kinds(&d);
	full(&rig, &d);
	no_replicas(&rig, &d);
	cannot_save(&rig, &d);
	redis_desk_close(&d);
	busy(&rig);
	logins(&rig);
	too_many(&rig);
	replica(&rig);
	frozen(&rig);
	paused(&rig);
	loading(&rig);
	cut_off(&rig);
	killed(&rig);
	redis_rig_end(&rig);
	return done();
}
