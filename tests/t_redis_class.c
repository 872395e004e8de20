/* SPDX-License-Identifier: ISC */
#include "redis_class.h"

#include "redis_desk.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What each known failure means: class, remedy, and what else is so. */

static const struct {
	const char *error, *means, *what;
} errors[] = {
	{ "NOSCRIPT No matching script. Please use EVAL.", "refused text",
	  "a script that is not there is sent as text [redis:7]" },
	{ "LOADING Redis is loading the dataset in memory", "refused pause",
	  "a server that loads is asked again later [redis:8]" },
	{ "READONLY You can't write against a read only replica.",
	  "refused another drop", "a replica is left [redis:9]" },
	{ "READONLY You can't write against a read only replica. script: "
	  "5c5c4d1b2c4e0b6e9a0fd4a5ac8d3f2ad9b0b2d1, on @user_script:1.",
	  "refused another drop",
	  "a replica is left also if a script met it [redis:9]" },
	{ "MASTERDOWN Link with MASTER is down and replica-serve-stale-data "
	  "is set to 'no'.", "refused another drop",
	  "a replica without its master is left [redis:10]" },
	{ "OOM command not allowed when used memory > 'maxmemory'.",
	  "refused away", "a full server is not asked again [redis:12]" },
	{ "OOM command not allowed when used memory > 'maxmemory'. script: "
	  "5c5c4d1b2c4e0b6e9a0fd4a5ac8d3f2ad9b0b2d1, on @user_script:1.",
	  "refused away", "a full server has not run the write of a script "
	  "[redis:12]" },
	{ "BUSY Redis is busy running a script. You can only call SCRIPT "
	  "KILL or SHUTDOWN NOSAVE.", "refused pause",
	  "a busy server is asked again later [redis:13]" },
	{ "MISCONF Redis is configured to save RDB snapshots, but it's "
	  "currently unable to persist to disk.", "refused away",
	  "a server that cannot save refuses [redis:14]" },
	{ "MISCONF Errors writing to the AOF file: No space left on device",
	  "refused away", "a server whose disk is full refuses [redis:14]" },
	{ "CLUSTERDOWN The cluster is down", "refused pause",
	  "a cluster that is down is asked again later [redis:16]" },
	{ "CLUSTERDOWN The cluster is down and only accepts read commands",
	  "refused pause", "also if it could be read [redis:16]" },
	{ "CLUSTERDOWN Hash slot not served", "refused pause",
	  "also if only a slot is missing [redis:16]" },
	{ "MOVED 3999 127.0.0.1:6381", "refused move",
	  "a slot that has moved is followed [redis:17]" },
	{ "ASK 3999 127.0.0.1:6381", "refused ask",
	  "a slot that moves is asked for [redis:18]" },
	{ "TRYAGAIN Multiple keys request during rehashing of slot",
	  "refused pause", "a slot between two nodes is asked for again "
	  "[redis:19]" },
	{ "CROSSSLOT Keys in request don't hash to the same slot",
	  "config away", "keys of two slots are our own mistake "
	  "[redis:19]" },
	{ "NOAUTH Authentication required.", "config away",
	  "a missing password is not tried again [redis:20]" },
	{ "WRONGPASS invalid username-password pair or user is disabled.",
	  "config away", "a wrong password is not tried again [redis:20]" },
	{ "NOPERM this user has no permissions to run the 'get' command",
	  "config away", "what is not permitted is not tried again "
	  "[redis:20]" },
	{ "NOPERM this user has no permissions to access one of the keys "
	  "used as arguments", "config away",
	  "a key that is not permitted is not tried again [redis:20]" },
	{ "ERR AUTH <password> called without any password configured for "
	  "the default user. Are you sure your configuration is correct?",
	  "config away", "a password that nobody wants is a mistake "
	  "[redis:20]" },
	{ "ERR Client sent AUTH, but no password is set", "config away",
	  "also to an older server [redis:20]" },
	{ "ERR invalid password", "config away",
	  "an older server's word for a wrong one is known [redis:20]" },
	{ "ERR operation not permitted", "config away",
	  "an older server's word for a missing one is known [redis:20]" },
	{ "ERR The user executing the script can't run this command or "
	  "subcommand script: 5c5c4d1b2c4e0b6e9a0fd4a5ac8d3f2ad9b0b2d1, on "
	  "@user_script:1.", "maybe",
	  "a script that was stopped half way may have written [redis:21]" },
	{ "NOREPLICAS Not enough good replicas to write.", "refused away",
	  "a master without replicas refuses [redis:22]" },
	{ "EXECABORT Transaction discarded because of previous errors.",
	  "refused", "a discarded transaction did nothing [redis:23]" },
	{ "ERR user_script:1: Script attempted to access nonexistent global "
	  "variable 'x' script: 5c5c4d1b2c4e0b6e9a0fd4a5ac8d3f2ad9b0b2d1, on "
	  "@user_script:1.", "maybe",
	  "a script that failed may have written [redis:24]" },
	{ "ERR wrong number of arguments for 'set' command script: "
	  "5c5c4d1b2c4e0b6e9a0fd4a5ac8d3f2ad9b0b2d1, on @user_script:1.",
	  "maybe", "also if its own command was wrong [redis:24]" },
	{ "WRONGTYPE Operation against a key holding the wrong kind of value",
	  "config away", "junk at our key is nothing to try again "
	  "[redis:25]" },
	{ "UNBLOCKED force unblock from blocking operation, instance state "
	  "changed (master -> replica?)", "refused another drop",
	  "who waited at a master that is none any more leaves "
	  "[redis:26]" },
	{ "ERR max number of clients reached", "refused pause drop counts",
	  "a server with too many clients is a failure of it [redis:28]" },
	{ "ERR Function not found", "config away",
	  "a function that is not there is a mistake [redis:34]" },
	{ "ERR Protocol error: invalid bulk length", "config drop away",
	  "what is too large for it is so next time, too" },
	{ "DENIED Redis is running in protected mode because protected mode "
	  "is enabled", "config drop away", "a protected server is not tried "
	  "again" },
	{ "ERR unknown command 'EVALSHA', with args beginning with: ",
	  "config away", "a command that is not there is a mistake" },
	{ "ERR DB index is out of range", "config away",
	  "a database that is not there is a mistake" },
	{ "ERR This instance has cluster support disabled", "config away",
	  "a cluster that is none is a mistake" },
	{ "ERR something that nobody has heard of", "maybe",
	  "an unknown error may be anything" },
	{ "HUH something that nobody has heard of", "maybe",
	  "an unknown word may be anything" },
	{ "READONLYX is another word", "maybe", "a word counts as a whole" },
	{ "", "maybe", "an empty error may be anything" },
	{ "OOM", "refused away", "a word may stand alone" },

	/* Servers before 7. */
	{ "ERR Error running script (call to f_5c5c4d1b2c4e0b6e9a0fd4a5ac8d3f"
	  "2ad9b0b2d1): @user_script:1: @user_script: 1: -READONLY You can't "
	  "write against a read only replica.", "refused another drop",
	  "a hidden word is found [redis:9]" },
	{ "ERR Error running script (call to f_5c5c4d1b2c4e0b6e9a0fd4a5ac8d3f"
	  "2ad9b0b2d1): @user_script:1: @user_script: 1: -OOM command not "
	  "allowed when used memory > 'maxmemory'.", "refused away",
	  "a full server is known by its hidden word [redis:12]" },
	{ "ERR Error running script (call to f_5c5c4d1b2c4e0b6e9a0fd4a5ac8d3f"
	  "2ad9b0b2d1): @user_script:1: -MISCONF Redis is configured to save",
	  "refused away", "so is one that cannot save [redis:14]" },
	{ "ERR Error running script (call to f_5c5c4d1b2c4e0b6e9a0fd4a5ac8d3f"
	  "2ad9b0b2d1): @user_script:1: WRONGTYPE Operation against a key",
	  "config away", "a hidden word may be without its sign "
	  "[redis:25]" },
	{ "ERR Error running script (call to f_5c5c4d1b2c4e0b6e9a0fd4a5ac8d3f"
	  "2ad9b0b2d1): @user_script:1: @user_script: 1: Write commands are "
	  "not allowed after non deterministic commands", "maybe",
	  "without a hidden word it may have written [redis:24]" },
	{ "ERR unknown -OOM", "config away",
	  "a hidden word is one only within a script" },
};

static const struct {
	enum idem_redis_broken broken;
	const char *means, *what;
} breaks[] = {
	{ IDEM_REDIS_NOT_CONNECTED, "refused anew drop counts",
	  "without a connection nothing was applied [redis:1]" },
	{ IDEM_REDIS_CONNECT_SLOW, "refused drop counts",
	  "without a connection in time neither [redis:2]" },
	{ IDEM_REDIS_UNSENT, "refused counts",
	  "nor if no byte has left" },
	{ IDEM_REDIS_SILENT, "maybe anew counts",
	  "who is silent may have applied it, or will [redis:3 redis:27]" },
	{ IDEM_REDIS_RESET, "maybe anew drop counts",
	  "a reset may be before or after it [redis:4]" },
	{ IDEM_REDIS_CLOSED, "maybe anew drop counts",
	  "so may the end of the connection [redis:5 redis:15 redis:29]" },
	{ IDEM_REDIS_GARBAGE, "maybe anew drop counts",
	  "so may garbage [redis:6]" },
	{ IDEM_REDIS_GARBAGE_FIRST, "config drop counts away",
	  "garbage at first means that no Redis is there [redis:6]" },
	{ IDEM_REDIS_WRONG_SHAPE, "maybe anew drop",
	  "another command's reply says nothing of ours" },
	{ IDEM_REDIS_TLS_REFUSED, "config drop counts away",
	  "who cannot be trusted is not tried again" },
};

static const struct {
	const char *error;
	bool points;
	uint16_t slot, port;
	const char *host, *what;
} pointers[] = {
	{ "MOVED 3999 127.0.0.1:6381", true, 3999, 6381, "127.0.0.1",
	  "MOVED says where" },
	{ "ASK 0 [2001:db8::1]:7000", true, 0, 7000, "2001:db8::1",
	  "an address in brackets is read" },
	{ "MOVED 16383 2001:db8::1:7000", true, 16383, 7000, "2001:db8::1",
	  "an address without brackets is, too" },
	{ "MOVED 1 :6379", true, 1, 6379, "",
	  "no host means the one that said it" },
	{ "MOVED 1 node-1.example:65535 more", true, 1, 65535,
	  "node-1.example", "what follows is passed over" },
	{ "MOVED 16384 a:1", false, 0, 0, "", "a slot is below 16384" },
	{ "MOVED 999999 a:1", false, 0, 0, "", "a slot has few digits" },
	{ "MOVED x a:1", false, 0, 0, "", "a slot is a number" },
	{ "MOVED  a:1", false, 0, 0, "", "a slot is there" },
	{ "MOVED 1 a:0", false, 0, 0, "", "a port is not 0" },
	{ "MOVED 1 a:65536", false, 0, 0, "", "a port has 16 bits" },
	{ "MOVED 1 a:1x", false, 0, 0, "", "a port is a number" },
	{ "MOVED 1 a:", false, 0, 0, "", "a port is there" },
	{ "MOVED 1 a", false, 0, 0, "", "a colon is there" },
	{ "MOVED 1", false, 0, 0, "", "a place is there" },
	{ "MOVED 1 ", false, 0, 0, "", "a place is not empty" },
	{ "MOVED", false, 0, 0, "", "a word alone says nothing" },
	{ "MOVEDX 1 a:1", false, 0, 0, "", "another word says nothing" },
	{ "LOADING 1 a:1", false, 0, 0, "", "no other error points" },
	{ "", false, 0, 0, "", "an empty one neither" },
};

/* In memory of exactly its size, so that a read past its end shows. */
static struct idem_bytes
exactly(const char *text)
{
	size_t len = strlen(text);
	char *at = malloc(len > 0 ? len : 1);

	if (at == NULL)
		bail_out("no memory");
	memcpy(at, text, len);
	return (struct idem_bytes){ at, len };
}

static void
drop(struct idem_bytes text)
{
	union { const void *in; void *out; } at = { .in = text.at };

	free(at.out);
}

static void
try_pointer(size_t i)
{
	struct idem_bytes text = exactly(pointers[i].error);
	struct idem_bytes host = { 0 };
	uint16_t slot = 0, port = 0;
	bool points = idem_redis_error_points(text, &slot, &host, &port);

	ok(points == pointers[i].points && (!points ||
	    (slot == pointers[i].slot && port == pointers[i].port &&
	    idem_bytes_is(host, pointers[i].host))), "%s", pointers[i].what);
	drop(text);
}

int
main(void)
{
	struct idem_bytes text;
	char means[64];
	size_t i;

	for (i = 0; i < sizeof errors / sizeof *errors; i++) {
		text = exactly(errors[i].error);
		redis_desk_meaning(idem_redis_error_means(text), means,
		    sizeof means);
		is(means, errors[i].means, "%s", errors[i].what);
		drop(text);
	}
	for (i = 0; i < sizeof breaks / sizeof *breaks; i++) {
		redis_desk_meaning(idem_redis_broken_means(breaks[i].broken),
		    means, sizeof means);
		is(means, breaks[i].means, "%s", breaks[i].what);
	}
	for (i = 0; i < sizeof pointers / sizeof *pointers; i++)
		try_pointer(i);
	return done();
}
