/* SPDX-License-Identifier: ISC */
#include "redis_desk.h"
#include "redis_fake.h"

#include "tap.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/*
 * What a server does, end to end: one command, its answer, and whether the
 * connection is kept.  Each within its time.
 */
#define DEADLINE_MS 300
#define PATIENCE_MS 20000	/* where it is not reached */

struct row {
	const char *what;
	const char *script[10];
	const char *means;
	const char *text;	/* of the reply or of the error begins so */
	bool kept;
};

static const struct row rows[] = {
	{ "a frozen or paused server costs the deadline, and may apply it "
	  "later [redis:3 redis:27]", { "accept", "expect 1", "left" },
	  "maybe anew counts", "no reply in time", false },
	{ "a reset after the command may be after it was applied [redis:4]",
	  { "accept", "expect 1", "reset" },
	  "maybe anew drop counts", "", false },
	{ "an end before a reply may be after it was applied [redis:5]",
	  { "accept", "expect 1", "close" },
	  "maybe anew drop counts", "the server closed", false },
	{ "half a reply is none [redis:5]",
	  { "accept", "expect 1", "say $10\r\nabc", "close" },
	  "maybe anew drop counts", "the server closed", false },
	{ "a web server is no Redis [redis:6]",
	  { "accept", "expect 1", "say HTTP/1.1 400 Bad Request\r\n\r\n",
	  "left" }, "config drop counts away", "what came is not", false },
	{ "RESP3 is none of ours [redis:6]",
	  { "accept", "expect 1", "say %1\r\n+a\r\n+b\r\n", "left" },
	  "config drop counts away", "what came is not", false },
	{ "a server without the script is asked with its text on the same "
	  "connection [redis:7]", { "accept", "expect 1",
	  "say -NOSCRIPT No matching script. Please use EVAL.\r\n", "left" },
	  "refused text", "NOSCRIPT No matching", true },
	{ "a loading server is asked later [redis:8]", { "accept", "expect 1",
	  "say -LOADING Redis is loading the dataset in memory\r\n", "left" },
	  "refused pause", "LOADING Redis", true },
	{ "a read-only one is left [redis:9]", { "accept", "expect 1",
	  "say -READONLY You can't write against a read only replica. "
	  "script: 0123456789012345678901234567890123456789, on "
	  "@user_script:1.\r\n", "left" },
	  "refused another drop", "READONLY You", false },
	{ "one without its master is left [redis:10]", { "accept", "expect 1",
	  "say -MASTERDOWN Link with MASTER is down\r\n", "left" },
	  "refused another drop", "MASTERDOWN Link", false },
	{ "a full one is not asked again at once [redis:12]", { "accept",
	  "expect 1", "say -OOM command not allowed when used memory > "
	  "'maxmemory'.\r\n", "left" },
	  "refused away", "OOM command", true },
	{ "a busy one is asked later [redis:13]", { "accept", "expect 1",
	  "say -BUSY Redis is busy running a script.\r\n", "left" },
	  "refused pause", "BUSY Redis", true },
	{ "one that cannot save is not asked again at once [redis:14]", {
	  "accept", "expect 1", "say -MISCONF Errors writing to the AOF file: "
	  "No space left on device\r\n", "left" },
	  "refused away", "MISCONF Errors", true },
	{ "a cluster that is down is asked later [redis:16]", { "accept",
	  "expect 1", "say -CLUSTERDOWN The cluster is down\r\n", "left" },
	  "refused pause", "CLUSTERDOWN The", true },
	{ "a slot that is elsewhere is followed [redis:17]", { "accept",
	  "expect 1", "say -MOVED 866 127.0.0.1:7001\r\n", "left" },
	  "refused move", "MOVED 866 127.0.0.1:7001", true },
	{ "a slot that goes elsewhere is asked for there [redis:18]", {
	  "accept", "expect 1", "say -ASK 866 127.0.0.1:7001\r\n", "left" },
	  "refused ask", "ASK 866 127.0.0.1:7001", true },
	{ "a slot in between is asked for later [redis:19]", { "accept",
	  "expect 1", "say -TRYAGAIN Multiple keys request\r\n", "left" },
	  "refused pause", "TRYAGAIN Multiple", true },
	{ "a missing password is no matter of time [redis:20]", { "accept",
	  "expect 1", "say -NOAUTH Authentication required.\r\n", "left" },
	  "config away", "NOAUTH Auth", true },
	{ "a missing right is no matter of time [redis:20]", { "accept",
	  "expect 1", "say -NOPERM this user has no permissions\r\n",
	  "left" }, "config away", "NOPERM this", true },
	{ "a script that was stopped may have written [redis:21]", { "accept",
	  "expect 1", "say -ERR The user executing the script can't run this "
	  "command or subcommand script: 0123456789, on @user_script:1.\r\n",
	  "left" }, "maybe", "ERR The user", true },
	{ "a master without replicas refuses [redis:22]", { "accept",
	  "expect 1", "say -NOREPLICAS Not enough good replicas to "
	  "write.\r\n", "left" }, "refused away", "NOREPLICAS Not", true },
	{ "a transaction that was discarded did nothing [redis:23]", {
	  "accept", "expect 1", "say -EXECABORT Transaction discarded\r\n",
	  "left" }, "refused", "EXECABORT", true },
	{ "a script that failed may have written [redis:24]", { "accept",
	  "expect 1", "say -ERR user_script:1: attempt to index a nil value "
	  "script: 0123456789, on @user_script:1.\r\n", "left" },
	  "maybe", "ERR user_script:1", true },
	{ "a key of another kind is no matter of time [redis:25]", { "accept",
	  "expect 1", "say -WRONGTYPE Operation against a key holding the "
	  "wrong kind of value\r\n", "left" },
	  "config away", "WRONGTYPE", true },
	{ "one that became a replica is left [redis:26]", { "accept",
	  "expect 1", "say -UNBLOCKED force unblock from blocking operation, "
	  "instance state changed (master -> replica?)\r\n", "left" },
	  "refused another drop", "UNBLOCKED", false },
	{ "one with too many clients counts as a failure [redis:28]", {
	  "accept", "say -ERR max number of clients reached\r\n", "expect 1",
	  "close" },
	  "refused pause drop counts", "ERR max number", false },
	{ "a reply that is cut off leaves all open [redis:29]", { "accept",
	  "expect 1", "say $100000\r\n", "flood 50000", "close" },
	  "maybe anew drop counts", "the server closed", false },
	{ "a function that is not there is no matter of time [redis:34]", {
	  "accept", "expect 1", "say -ERR Function not found\r\n", "left" },
	  "config away", "ERR Function", true },
	{ "what is too large for it is so next time, too", { "accept",
	  "expect 1", "say -ERR Protocol error: invalid bulk length\r\n",
	  "close" }, "config drop away", "ERR Protocol error", false },
	{ "a server before 7 hides its word in a sentence [redis:9]", {
	  "accept", "expect 1", "say -ERR Error running script (call to "
	  "f_0123): @user_script:1: @user_script: 1: -READONLY You can't "
	  "write against a read only replica.\r\n", "left" },
	  "refused another drop", "ERR Error running", false },
	{ "a second reply that nobody asked for ends it, and none is believed",
	  { "accept", "expect 1", "say +OK\r\n+OK\r\n", "left" },
	  "maybe anew drop counts", "a reply that nobody", false },
	{ "so does half of one", { "accept", "expect 1", "say +OK\r\n+O",
	  "left" }, "maybe anew drop counts", "a reply that nobody", false },
	{ "a number that is none is garbage",
	  { "accept", "expect 1", "say :12x\r\n", "left" },
	  "maybe anew drop counts", "what came is not", false },
	{ "a number of more than 64 bits is garbage", { "accept", "expect 1",
	  "say :9999999999999999999\r\n", "left" },
	  "maybe anew drop counts", "", false },
	{ "a string longer than it said is garbage", { "accept", "expect 1",
	  "say $2\r\nabcd\r\n", "left" },
	  "maybe anew drop counts", "what came is not", false },
	{ "arrays are not nested for ever", { "accept", "expect 1",
	  "say *1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n",
	  "left" }, "maybe anew drop counts", "what came is not", false },
	{ "a huge array is refused as soon as it is announced", { "accept",
	  "expect 1", "say *2147483647\r\n", "left" },
	  "maybe anew drop counts", "a reply is larger", false },
	{ "a huge string is refused as soon as it is announced", { "accept",
	  "expect 1", "say $500000000\r\n", "left" },
	  "maybe anew drop counts", "a reply is larger", false },
	{ "an endless line is refused", { "accept", "expect 1", "say +",
	  "flood 2000000" }, "maybe anew drop counts", "a reply is larger",
	  false },

	/* Not seen as failures: those above us must know better. */
	{ "a replica that is not in step has no key, and says so [redis:11]",
	  { "accept", "expect 1", "say $-1\r\n", "left" }, "ok", "", true },
	{ "nor has one that has evicted or lost it "
	  "[redis:30 redis:31 redis:32]", { "accept", "expect 1",
	  "say *-1\r\n", "left" }, "ok", "", true },
	{ "a clock that jumped is a number like others [redis:33]", {
	  "accept", "expect 1", "say :3629697\r\n", "left" },
	  "ok", "", true },
	{ "a replica that is empty counts as connected [redis:35]", { "accept",
	  "expect 1", "say :0\r\n", "left" }, "ok", "", true },
	{ "a reply in single bytes is one", { "accept", "expect 1",
	  "drip 1 $5\r\nab\r\nc\r\n", "left" }, "ok", "ab\r\nc", true },
};

static void
open_desk(struct redis_desk *d, struct redis_fake *f)
{
	redis_desk_open(d, f->url, NULL);
	d->redis.timeout_ms = 200;
	d->redis.reply_max = 1000000;
}

/* Its owner turns on until what is to be gone is gone. */
static bool
is_kept(struct redis_desk *d, bool kept)
{
	return redis_desk_until_open(d, kept);
}

static void
try_row(const struct row *row, bool tcp)
{
	struct redis_fake f;
	struct redis_desk d;
	struct redis_told t;
	char means[64];
	int64_t deadline_ms = strcmp(row->text, "no reply in time") == 0 ?
	    DEADLINE_MS : PATIENCE_MS;

	(tcp ? redis_fake_tcp : redis_fake_unix)(&f, 5);
	redis_fake_play(&f, row->script);
	open_desk(&d, &f);
	redis_desk_ask(&d, &t, deadline_ms, "EVALSHA 0123 1 a b");
	redis_desk_meaning(t.meaning, means, sizeof means);
	is(means, row->means, "%s", row->what);
	ok(t.answers == 1 && !t.late &&
	    strncmp(t.error[0] != '\0' ? t.error : t.text, row->text,
	    strlen(row->text)) == 0 && is_kept(&d, row->kept),
	    "within its time, saying so (%s), and the connection is %s",
	    t.error, row->kept ? "kept" : "gone");
	redis_desk_close(&d);
	redis_fake_end(&f);
}

/* --- before there is a connection ----------------------------------------- */

static void
expect_failure(struct redis_desk *d, const char *wanted, const char *what)
{
	struct redis_told t;
	char means[64];

	redis_desk_ask(d, &t, PATIENCE_MS, "PING");
	redis_desk_meaning(t.meaning, means, sizeof means);
	is(means, wanted, "%s", what);
	ok(t.answers == 1 && t.sent_ms == 0 && !t.late,
	    "within its time, unsent: %s", t.error);
}

static void
nobody_there(void)
{
	struct redis_fake f;
	struct redis_desk d;
	char url[sizeof f.url];

	redis_fake_tcp(&f, 5);
	snprintf(url, sizeof url, "%s", f.url);
	redis_fake_end(&f);
	redis_desk_open(&d, url, NULL);
	expect_failure(&d, "refused anew drop counts",
	    "a port that nobody listens at applies nothing [redis:1]");
	redis_desk_close(&d);

	redis_desk_open(&d, "unix:/tmp/idem-no-such-folder/s", NULL);
	expect_failure(&d, "refused anew drop counts",
	    "nor does a socket that is not there [redis:1]");
	redis_desk_close(&d);

	redis_fake_unix(&f, 5);
	redis_fake_play(&f, (const char *const[]){ "gone", NULL });
	redis_fake_await(&f, 1);
	redis_desk_open(&d, f.url, NULL);
	expect_failure(&d, "refused anew drop counts",
	    "nor does one that is left over [redis:1]");
	redis_desk_close(&d);
	redis_fake_end(&f);
}

#define FILLERS 3

/* Connections that wait to be accepted, more than there is room for. */
static void
fill(struct redis_fake *f, int fillers[FILLERS])
{
	union {
		struct sockaddr any;
		struct sockaddr_in tcp;
		struct sockaddr_un local;
	} at;
	socklen_t len = sizeof at;
	size_t i;

	memset(&at, 0, sizeof at);
	if (getsockname(f->listener, &at.any, &len) == -1)
		bail_out("getsockname: %s", strerror(errno));
	for (i = 0; i < FILLERS; i++) {
		fillers[i] = socket(at.any.sa_family,
		    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		if (connect(fillers[i], &at.any, len) == -1 &&
		    errno != EAGAIN && errno != EINPROGRESS)
			bail_out("connect: %s", strerror(errno));
	}
}

/* A backlog that is full is like a peer that does not answer. */
static void
nobody_accepts(bool tcp)
{
	int fillers[FILLERS], i;
	struct redis_fake f;
	struct redis_desk d;

	(tcp ? redis_fake_tcp : redis_fake_unix)(&f, 0);
	fill(&f, fillers);
	open_desk(&d, &f);
	expect_failure(&d, "refused drop counts", tcp ?
	    "a full queue of a port applies nothing [redis:2]" :
	    "nor does that of a socket [redis:2]");
	redis_desk_close(&d);
	for (i = 0; i < FILLERS; i++)
		close(fillers[i]);
	redis_fake_end(&f);
}

/* The server dies of its own write [redis:15]. */
static void
dies_then_gone(void)
{
	static const char *const script[] = {
		"accept", "expect 1", "gone", NULL
	};
	struct redis_fake f;
	struct redis_desk d;
	struct redis_told t;

	redis_fake_unix(&f, 5);
	redis_fake_play(&f, script);
	open_desk(&d, &f);
	redis_desk_ask(&d, &t, PATIENCE_MS, "SET a b");
	redis_fake_await(&f, 3);
	is(redis_desk_class(t.meaning.class), "maybe",
	    "who dies of a write may have done it [redis:15]");
	expect_failure(&d, "refused anew drop counts",
	    "and is gone for the next [redis:15]");
	redis_desk_close(&d);
	redis_fake_end(&f);
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		try_row(&rows[i], i % 2 == 0 || i == 1);
	nobody_there();
	nobody_accepts(false);
	nobody_accepts(true);
	dies_then_gone();
	return done();
}
