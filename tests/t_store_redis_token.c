/* SPDX-License-Identifier: ISC */
#include "redis_script.h"
#include "redis_store.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

/*
 * Tokens on real servers that restart, are promoted, demoted and flushed: what
 * was issued in one history starts in no other.
 */

static struct redis_rig server;

/* A token is used with what ISSUE said, wherever it comes to. */
struct token {
	struct idem_digest key;
	struct idem_history history;
};

static struct idem_store_call
call_of(struct redis_store *s, enum idem_store_op op, const struct token *t,
    const char *owner)
{
	return (struct idem_store_call){
		.op = op,
		.key = t->key,
		.owner = trace_owner(owner),
		.fingerprint = trace_digest("f1"),
		.guard = trace_digest("g1"),
		.issued_only = true,
		.history = t->history,
		.keep_ms = 60000,
		.lease_ms = 60000,
		.attempt = 1,
		.attempts_max = 9,
		.deadline_ms = idem_boot_ms(&s->t.clock) + 60000,
	};
}

static struct token
issue(struct redis_store *s, const char *name)
{
	struct token t = { .key = trace_digest(name) };
	struct idem_store_call call = call_of(s, IDEM_STORE_ISSUE, &t, "o1");
	struct idem_store_answer a;

	idem_store_wait(s->t.store, &call, &a);
	if (a.result.class != IDEM_OK || a.result.write != IDEM_WRITTEN)
		bail_out("%s is not issued: %s", name,
		    a.error != NULL ? a.error : "there is one");
	t.history = a.result.history;
	idem_store_answer_free(&a);
	return t;
}

static enum idem_claim
use_with(struct redis_store *s, const struct idem_store_call *call)
{
	struct idem_store_answer a;
	enum idem_claim claim;

	idem_store_wait(s->t.store, call, &a);
	claim = a.result.claim;
	if (a.error != NULL)
		note("%s", a.error);
	idem_store_answer_free(&a);
	return claim;
}

static enum idem_claim
use(struct redis_store *s, const struct token *t, const char *owner)
{
	struct idem_store_call call = call_of(s, IDEM_STORE_CLAIM, t, owner);

	return use_with(s, &call);
}

static enum idem_write
complete(struct redis_store *s, const struct token *t, const char *owner,
    uint32_t attempt, bool strict)
{
	struct idem_store_call call =
	    call_of(s, IDEM_STORE_COMPLETE, t, owner);
	struct idem_store_answer a;
	enum idem_write write;

	call.attempt = attempt;
	call.strict = strict;
	call.answer = idem_blob_new(idem_bytes_text("A"));
	idem_store_wait(s->t.store, &call, &a);
	write = a.result.write;
	idem_store_answer_free(&a);
	idem_blob_drop(call.answer);
	return write;
}

static void
reopen(struct redis_store *s, struct redis_rig *where)
{
	redis_store_close(s);
	*s = (struct redis_store){ .server = where, .options.token = true };
	redis_store_open(s);
}

/* --- one server ----------------------------------------------------------- */

static void
test_restart(void)
{
	struct redis_store s = { 0 };
	struct token unused, running, completed, after;

	redis_rig_start(&server, (const char *[]){ "--appendonly", "yes",
	    "--appendfsync", "always", NULL });
	reopen(&s, &server);
	unused = issue(&s, "k1");
	running = issue(&s, "k2");
	completed = issue(&s, "k3");
	ok(use(&s, &running, "o1") == IDEM_CLAIM_WON, "a token starts a run");
	use(&s, &completed, "o1");
	ok(complete(&s, &completed, "o1", 1, false) == IDEM_WRITTEN,
	    "which is completed");

	redis_rig_kill(&server);
	redis_rig_again(&server, true);
	reopen(&s, &server);
	ok(use(&s, &unused, "o2") == IDEM_CLAIM_HISTORY,
	    "a restart that has lost nothing voids a token that was not used "
	    "[redis:32 race:5]");
	ok(strncmp(redis_store_say(&s, "show k1"), "issued 0 o1", 11) == 0,
	    "and changes nothing of it");
	ok(use(&s, &running, "o2") == IDEM_CLAIM_IN_PROGRESS,
	    "what is known to run runs on");
	ok(use(&s, &completed, "o2") == IDEM_CLAIM_COMPLETED,
	    "what is known to be completed is replayed [race:4]");
	ok(complete(&s, &running, "o1", 1, false) == IDEM_WRITTEN,
	    "a run that may not start again is completed after it");
	after = issue(&s, "k4");
	ok(memcmp(&after.history, &unused.history, sizeof after.history) != 0,
	    "new tokens are of the new history");
	ok(use(&s, &after, "o1") == IDEM_CLAIM_WON, "and start");
	redis_store_close(&s);
}

static void
test_forgotten(void)
{
	struct redis_store s = { 0 };
	struct token flushed, evicted;

	reopen(&s, &server);
	flushed = issue(&s, "k11");
	redis_rig_say(&server, "FLUSHALL", NULL);
	ok(use(&s, &flushed, "o1") == IDEM_CLAIM_NO_TOKEN,
	    "a server that was emptied has issued nothing [redis:31 race:3]");
	evicted = issue(&s, "k12");
	use(&s, &evicted, "o1");
	redis_rig_say(&server, "DEL", redis_store_key("k12"), NULL);
	ok(use(&s, &evicted, "o2") == IDEM_CLAIM_NO_TOKEN,
	    "a record that was evicted is no reason to start "
	    "[redis:30]");
	redis_rig_kill(&server);
	redis_rig_again(&server, false);
	reopen(&s, &server);
	ok(use(&s, &flushed, "o1") == IDEM_CLAIM_NO_TOKEN,
	    "nor one that came back empty");
	redis_store_close(&s);
}

/* The same process, its connections kept, is another past each time. */
static void
test_demoted(void)
{
	struct redis_store s = { 0 };
	struct token before;

	reopen(&s, &server);
	before = issue(&s, "k21");
	redis_rig_say(&server, "REPLICAOF", "127.0.0.1", "1", NULL);
	redis_rig_say(&server, "REPLICAOF", "NO", "ONE", NULL);
	reopen(&s, &server);
	ok(use(&s, &before, "o1") == IDEM_CLAIM_HISTORY,
	    "a server that was demoted and promoted again has another history");
	redis_store_close(&s);
}

/* --- a replica ------------------------------------------------------------ */

/* Until the record is there, in that state. */
static void
await(struct redis_rig *where, const char *name, const char *state)
{
	if (!redis_rig_await(where, 20000, state, "GETRANGE",
	    redis_store_key(name), "1", "1", NULL))
		bail_out("the replica does not get %s", name);
}

/* The script itself, as a client would that does not ask whom it talks to. */
static const char *
eval(struct redis_rig *where, const struct idem_store_call *call)
{
	struct idem_redis_script_args args;
	struct idem_redis_script script;
	struct idem_bytes words[IDEM_REDIS_SCRIPT_ARGS + 2];
	const struct idem_redis_script_call c = {
		.call = call,
		.key = idem_bytes_text(redis_store_key("k31")),
		.token = true,
		.inline_max = 100,
	};
	size_t i;

	idem_redis_script_init(&script);
	idem_redis_script_args(&args, &c);
	words[0] = idem_bytes_text("EVAL");
	words[1] = script.text;
	for (i = 0; i < args.len; i++)
		words[2 + i] = args.at[i];
	return redis_rig_say_bytes(where, words, args.len + 2);
}

static bool
says(const char *reply, const char *begins)
{
	return strncmp(reply, begins, strlen(begins)) == 0;
}

static void
test_replica(struct redis_rig *replica, struct redis_store *s,
    const struct token *t)
{
	struct idem_store_call call = call_of(s, IDEM_STORE_CLAIM, t, "o5");
	struct idem_store_call look = call, unknown = call;

	look.look_only = true;
	ok(says(eval(replica, &call), "-READONLY"),
	    "a replica starts no token [redis:9]");
	ok(says(eval(replica, &look), "-READONLY"),
	    "nor says that nobody has started it");
	redis_rig_say(replica, "CONFIG", "SET", "replica-read-only", "no",
	    NULL);
	ok(says(eval(replica, &call), "-READONLY"),
	    "not even one that takes writes");
	redis_rig_say(replica, "DEL", redis_store_key("k31"), NULL);
	ok(says(eval(replica, &unknown), "-READONLY"),
	    "what it lacks it may not have heard of yet [redis:11]");
	call.op = IDEM_STORE_ISSUE;
	ok(says(eval(replica, &call), "-READONLY"), "nor does it issue any");
}

static void
test_promoted(void)
{
	static struct redis_rig replica;
	struct redis_store s = { 0 }, other = { 0 };
	struct token t, strict;
	struct idem_store_call call;

	redis_rig_replica(&replica, &server, NULL);
	reopen(&s, &server);
	t = issue(&s, "k32");
	strict = issue(&s, "k33");
	use(&s, &strict, "o1");
	await(&replica, "k33", "\2");
	redis_rig_say(&replica, "REPLICAOF", "NO", "ONE", NULL);
	reopen(&other, &replica);
	ok(use(&other, &t, "o2") == IDEM_CLAIM_HISTORY,
	    "a promoted replica starts no token of its old master "
	    "[race:6 race:18 idem:C11]");
	ok(use(&s, &t, "o1") == IDEM_CLAIM_WON,
	    "the old master, should it still be asked, does");
	ok(use(&other, &t, "o1") == IDEM_CLAIM_HISTORY,
	    "and so it started once");
	ok(complete(&other, &strict, "o1", 1, true) == IDEM_WRITE_LOST,
	    "a key that may run again is not completed in another history "
	    "than it was started in [race:21]");
	strict.history = issue(&other, "k34").history;
	ok(complete(&other, &strict, "o1", 1, true) == IDEM_WRITE_LOST,
	    "by whatever history it is asked");
	strict.history = t.history;
	ok(strcmp(redis_store_say(&other, "unknown k33 o1 1"), "written") == 0,
	    "it may become unknown there");
	call = call_of(&other, IDEM_STORE_CLAIM, &strict, "o2");
	call.take_over = true;
	call.other = trace_owner("o1");
	call.strict = true;
	ok(use_with(&other, &call) == IDEM_CLAIM_HISTORY,
	    "and is not taken over there");
	call.history = issue(&other, "k35").history;
	ok(use_with(&other, &call) == IDEM_CLAIM_HISTORY,
	    "in that one neither");
	ok(complete(&s, &strict, "o1", 1, true) == IDEM_WRITTEN,
	    "where it was started it is completed");
	redis_store_close(&s);
	redis_store_close(&other);
	redis_rig_end(&replica);
}

static void
test_replicas(void)
{
	static struct redis_rig replica;
	struct redis_store s = { 0 };
	struct token t;

	redis_rig_replica(&replica, &server, NULL);
	reopen(&s, &server);
	t = issue(&s, "k31");
	await(&replica, "k31", "\1");
	test_replica(&replica, &s, &t);
	redis_store_close(&s);
	redis_rig_end(&replica);
}

static void
test_history(void)
{
	struct redis_store s = { 0 };
	struct idem_history history;
	struct token t;

	reopen(&s, &server);
	t = issue(&s, "k41");
	ok(s.t.store->ops->history(s.t.store, &history) &&
	    memcmp(&history, &t.history, sizeof history) == 0,
	    "a store says of which history its tokens are");
	redis_rig_say(&server, "REPLICAOF", "127.0.0.1", "1", NULL);
	redis_rig_say(&server, "REPLICAOF", "NO", "ONE", NULL);
	reopen(&s, &server);
	ok(s.t.store->ops->history(s.t.store, &history) &&
	    memcmp(&history, &t.history, sizeof history) != 0,
	    "and of the next, before it is asked for one");
	redis_store_close(&s);
}

int
main(void)
{
	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	test_restart();
	test_forgotten();
	test_demoted();
	test_replicas();
	test_promoted();
	test_history();
	redis_rig_end(&server);
	return done();
}
