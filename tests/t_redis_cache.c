/* SPDX-License-Identifier: ISC */
#include "redis_cache.h"
#include "redis_store.h"
#include "tap.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The cache beside a ledger, on a real Redis: it believes what is surely a
 * fact about this request, and whatever happens to it changes how fast an
 * answer comes, and no more.
 */

static struct redis_rig server;
static int64_t wall_ahead_ms;

#define PATIENCE_MS 30000	/* not reached */
#define KEPT_MS 90000		/* in all: more than is left */
#define AWAIT_MS 60000
#define SLACK_MS 10000		/* of a busy machine */

/* 0: as it is where nothing is said, 50 ms. */
static uint32_t look_ms = PATIENCE_MS;

static int64_t
boot_ms(void *arg)
{
	(void)arg;
	return idem_boot_ms(&idem_clock_real);
}

static int64_t
wall_ms(void *arg)
{
	(void)arg;
	return idem_wall_ms(&idem_clock_real) + wall_ahead_ms;
}

static const struct idem_clock a_clock = {
	.boot_ms = boot_ms,
	.wall_ms = wall_ms,
};

/* A worker: its own client, and its ledger by number. */
struct worker {
	struct idem_redis *client;
	struct idem_redis_cache *cache;
	struct idem_history ledger;
};

static void
begin(struct worker *w, uint8_t ledger, uint32_t check_ms)
{
	static const char *urls[1];
	static struct idem_redis_options options;
	struct idem_redis_cache_options cache = {
		.ledger = { { ledger } },
		.clock = &a_clock,
		.look_ms = look_ms,
		.answer_max = 100000,
		.check_ms = check_ms,
	};
	char error[300];

	urls[0] = server.url;
	options = (struct idem_redis_options){
		.urls = urls,
		.urls_len = 1,
		.timeout_ms = PATIENCE_MS,
		.clock = &a_clock,
	};
	w->client = idem_redis_new(&options, error, sizeof error);
	if (w->client == NULL)
		bail_out("%s", error);
	cache.client = w->client;
	w->ledger = cache.ledger;
	w->cache = idem_redis_cache_new(&cache);
	if (w->cache == NULL)
		bail_out("no memory");
}

static void
end(struct worker *w)
{
	idem_redis_cache_free(w->cache);
	idem_redis_free(w->client);
}

static void
turn(struct worker *w)
{
	struct pollfd fd = { .fd = idem_redis_fd(w->client), .events = POLLIN };

	poll(&fd, 1, 2);
	idem_redis_poll(w->client);
	if (idem_redis_cache_due_ms(w->cache) <= boot_ms(NULL))
		idem_redis_cache_due(w->cache);
}

/* --- a look-up ------------------------------------------------------------ */

struct found {
	int answers;
	enum idem_look look;
	char text[64];
	int64_t kept_ms, left_ms;	/* of one that is completed */
};

static void
note_found(void *arg, enum idem_look look, const struct idem_record *r,
    struct idem_blob *answer)
{
	struct found *f = arg;

	if ((r != NULL) != (look == IDEM_LOOK_COMPLETED))
		bail_out("a record of what is not completed, or none");
	if (r != NULL) {
		f->kept_ms = r->expires_at - r->ended_at;
		f->left_ms = r->expires_at - idem_wall_ms(&idem_clock_real);
	}

	f->answers++;
	f->look = look;
	snprintf(f->text, sizeof f->text, "%.*s",
	    answer != NULL ? (int)answer->len : 1,
	    answer != NULL ? (const char *)answer->at : "-");
}

static void
start(struct worker *w, struct found *f, const char *key, const char *print,
    const char *guard, uint64_t purges)
{
	const struct idem_redis_look look = {
		.key = trace_digest(key),
		.fingerprint = trace_digest(print),
		.guard = trace_digest(guard),
		.purges = purges,
		.done = note_found,
		.arg = f,
	};

	*f = (struct found){ 0 };
	idem_redis_cache_look(w->cache, &look);
	if (f->answers > 0)
		bail_out("answered before it was polled");
}

/* "completed ANSWER", "nothing", "unsure". */
static struct found last;

static const char *
look(struct worker *w, const char *key, const char *print, const char *guard,
    uint64_t purges)
{
	static char text[100];
	int64_t until_ms = boot_ms(NULL) + AWAIT_MS;
	struct found f;

	start(w, &f, key, print, guard, purges);
	while (f.answers == 0 && boot_ms(NULL) < until_ms)
		turn(w);
	if (f.answers != 1)
		bail_out("answered %d times", f.answers);
	last = f;
	snprintf(text, sizeof text, f.look == IDEM_LOOK_COMPLETED ?
	    "completed %s" : f.look == IDEM_LOOK_NOTHING ? "nothing" :
	    f.look == IDEM_LOOK_UNSURE ? "unsure" : "?", f.text);
	return text;
}

static void
put(struct worker *w, const char *key, const char *answer, int64_t keep_ms,
    uint64_t purges)
{
	struct idem_blob *blob = answer != NULL ?
	    idem_blob_new(idem_bytes_text(answer)) : NULL;
	const struct idem_redis_put put = {
		.key = trace_digest(key),
		.fingerprint = trace_digest("f1"),
		.guard = trace_digest("g1"),
		.answer = blob,
		.left_ms = keep_ms,
		.kept_ms = KEPT_MS,
		.purges = purges
	};

	idem_redis_cache_put(w->cache, &put);
	idem_blob_drop(blob);
}

static void
fresh(struct worker *w)
{
	redis_rig_say(&server, "FLUSHALL", NULL);
	begin(w, 1, 0);
}

static void
test_facts(void)
{
	struct worker w, other;

	fresh(&w);
	is(look(&w, "k1", "f1", "g1", 7), "nothing",
	    "of what was never put there it knows nothing");
	put(&w, "k1", "A", 60000, 7);
	is(look(&w, "k1", "f1", "g1", 7), "completed A",
	    "what was put is found");
	is_int(last.kept_ms, KEPT_MS, "and for how long it is kept in all");
	ok(last.left_ms > 0 && last.left_ms <= 60000, "of which so much is "
	    "left: %lld ms", (long long)last.left_ms);
	begin(&other, 1, 0);
	is(look(&other, "k1", "f1", "g1", 7), "completed A",
	    "by other workers of the ledger too");
	is(look(&w, "k1", "f2", "g1", 7), "nothing",
	    "another request is told nothing");
	is(look(&w, "k1", "f1", "g2", 7), "nothing",
	    "nor are other credentials");
	is(look(&w, "k1", "f1", "g1", 8), "nothing",
	    "nor who knows that something was forgotten since");
	is(look(&w, "k1", "f1", "g1", 6), "nothing",
	    "nor who does not know it yet");
	is(look(&w, "k2", "f1", "g1", 7), "nothing", "nor of another key");
	put(&w, "k2", NULL, 60000, 7);
	is(look(&w, "k2", "f1", "g1", 7), "completed -",
	    "an answer that was not kept is a fact as well");
	put(&w, "k1", "B", 60000, 8);
	is(look(&w, "k1", "f1", "g1", 8), "completed B",
	    "what is put again counts from then on");
	end(&other);
	end(&w);
}

static void
test_time(void)
{
	struct worker w;
	long long ms;

	fresh(&w);
	put(&w, "k1", "A", 60000, 0);
	put(&w, "k2", "A", 0, 0);
	put(&w, "k3", "A", -5, 0);
	is(look(&w, "k2", "f1", "g1", 0), "nothing",
	    "what is not to be kept any more is not put");
	is(look(&w, "k3", "f1", "g1", 0), "nothing", "nor what was overdue");
	is(look(&w, "k1", "f1", "g1", 0), "completed A", "all else is");
	ms = atoll(redis_rig_say(&server, "PTTL", "idem:c:0100000000000000:"
	    "6b00000000000000000000000000000000000000000000000000000000000001",
	    NULL));
	ok(ms > 50000 && ms <= 60000, "for as long as it is kept");
	wall_ahead_ms = 40000;
	is(look(&w, "k1", "f1", "g1", 0), "completed A",
	    "it is found until then");
	wall_ahead_ms = 61000;
	is(look(&w, "k1", "f1", "g1", 0), "nothing",
	    "and not after it, whatever the server's clock says");
	wall_ahead_ms = 0;
	put(&w, "k4", "A", INT64_MAX, 0);
	is(look(&w, "k4", "f1", "g1", 0), "completed A",
	    "one may be kept for ever");
	end(&w);
}

static void
test_size(void)
{
	char *big = malloc(100002);
	struct worker w;
	int tries;

	if (big == NULL)
		bail_out("no memory");
	fresh(&w);
	memset(big, 'x', 100001);
	big[100001] = '\0';
	put(&w, "k1", big, 60000, 0);
	big[100000] = '\0';
	put(&w, "k2", big, 60000, 0);
	for (tries = 0; tries < 2000 && strcmp(redis_rig_say(&server, "DBSIZE",
	    NULL), "2") != 0; tries++)
		turn(&w);
	ok(strncmp(look(&w, "k2", "f1", "g1", 0), "completed xxx", 13) == 0,
	    "an answer at the limit is put");
	is(look(&w, "k1", "f1", "g1", 0), "nothing", "one over it is not");
	end(&w);
	free(big);
}

/* --- what is no fact ------------------------------------------------------ */

/* A value at k1 as only somebody else could have put it there. */
static void
put_value(uint64_t purges, enum idem_state state, size_t cut)
{
	struct idem_buf value = { 0 };
	const struct idem_record r = {
		.state = state,
		.fingerprint = trace_digest("f1"),
		.guard = trace_digest("g1"),
		.expires_at = wall_ms(NULL) + 60000,
	};
	struct idem_bytes args[3] = {
		idem_bytes_text("SET"),
		idem_bytes_text("idem:c:0100000000000000:6b000000000000000000"
		    "00000000000000000000000000000000000000000001"),
	};

	idem_buf_u64(&value, purges);
	idem_record_write(&value, &r);
	idem_buf_text(&value, "A");
	args[2] = idem_buf_bytes(&value);
	if (cut < args[2].len)
		args[2].len = cut;
	redis_rig_say_bytes(&server, args, 3);
	idem_buf_free(&value);
}

static void
test_believes(void)
{
	enum idem_state state;
	struct worker w;
	size_t cut, wrong = 0;

	fresh(&w);
	put_value(0, IDEM_STATE_COMPLETED, SIZE_MAX);
	is(look(&w, "k1", "f1", "g1", 0), "completed A",
	    "a completed record is believed");
	for (state = IDEM_STATE_ISSUED; state <= IDEM_STATE_TOMBSTONE;
	    state++) {
		if (state == IDEM_STATE_COMPLETED)
			continue;
		put_value(0, state, SIZE_MAX);
		is(look(&w, "k1", "f1", "g1", 0), "nothing",
		    "one that is %s is not", idem_state_text(state));
	}
	for (cut = 0; cut < 154; cut++) {
		put_value(0, IDEM_STATE_COMPLETED, cut);
		wrong += strcmp(look(&w, "k1", "f1", "g1", 0), "nothing") != 0;
	}
	is_int((long long)wrong, 0, "nor one that was cut anywhere");
	redis_rig_say(&server, "DEL", "idem:c:0100000000000000:6b000000000000"
	    "00000000000000000000000000000000000000000000000001", NULL);
	redis_rig_say(&server, "RPUSH", "idem:c:0100000000000000:6b0000000000"
	    "0000000000000000000000000000000000000000000000000001", "A", NULL);
	is(look(&w, "k1", "f1", "g1", 0), "unsure",
	    "what is no string is an error");
	end(&w);
}

static void
test_flushed(void)
{
	struct worker w;

	fresh(&w);
	put(&w, "k1", "A", 60000, 0);
	is(look(&w, "k1", "f1", "g1", 0), "completed A", "a fact is there");
	redis_rig_say(&server, "FLUSHALL", NULL);
	is(look(&w, "k1", "f1", "g1", 0), "nothing",
	    "and gone when the server was emptied");
	end(&w);
}

/* --- away ----------------------------------------------------------------- */

/* Put, and found: how long a look may take has not to do with it. */
static void
put_there(const char *key)
{
	uint32_t its_ms = look_ms;
	struct worker w;

	look_ms = PATIENCE_MS;
	fresh(&w);
	put(&w, key, "A", 60000, 0);
	is(look(&w, key, "f1", "g1", 0), "completed A", "a fact is there");
	end(&w);
	look_ms = its_ms;
}

static void
test_frozen(void)
{
	struct found f;
	struct worker w;
	int64_t start_ms, ms;
	bool back;

	look_ms = 0;
	put_there("k1");
	begin(&w, 1, 0);
	look(&w, "k1", "f1", "g1", 0);
	redis_rig_freeze(&server);
	start_ms = boot_ms(NULL);
	start(&w, &f, "k1", "f1", "g1", 0);
	while (f.answers == 0 && boot_ms(NULL) < start_ms + AWAIT_MS)
		turn(&w);
	ms = boot_ms(NULL) - start_ms;
	ok(f.answers == 1 && f.look == IDEM_LOOK_UNSURE,
	    "a server that hangs gives no answer");
	ok(ms >= 45 && ms < 50 + SLACK_MS, "after 50 ms");
	note("%lld ms", (long long)ms);
	redis_rig_thaw(&server);
	start_ms = boot_ms(NULL);
	do {
		turn(&w);
		back = strcmp(look(&w, "k1", "f1", "g1", 0), "completed A") ==
		    0;
	} while (!back && boot_ms(NULL) < start_ms + AWAIT_MS);
	ok(back, "and is believed again when it is back [idem:C23]");
	end(&w);
	look_ms = PATIENCE_MS;
}

static void
test_gone(void)
{
	struct found f;
	struct worker w;
	int64_t start_ms;

	look_ms = 0;
	fresh(&w);
	redis_rig_kill(&server);
	start_ms = boot_ms(NULL);
	is(look(&w, "k1", "f1", "g1", 0), "unsure",
	    "a server that is not there gives no answer");
	ok(boot_ms(NULL) - start_ms < 50 + SLACK_MS, "nor takes longer");
	look_ms = PATIENCE_MS;
	put(&w, "k1", "A", 60000, 0);
	start(&w, &f, "k1", "f1", "g1", 0);
	end(&w);
	is_int(f.answers, 0, "who ends it is not called again");
	redis_rig_again(&server, false);
}

/* --- whose it is ---------------------------------------------------------- */

static enum idem_redis_owner
owner_after(struct worker *w, enum idem_redis_owner other_than)
{
	int64_t until_ms = boot_ms(NULL) + AWAIT_MS;

	while (idem_redis_cache_owner(w->cache) == other_than &&
	    boot_ms(NULL) < until_ms)
		turn(w);
	return idem_redis_cache_owner(w->cache);
}

static void
test_owner(void)
{
	struct worker first, again, foreign;

	redis_rig_say(&server, "FLUSHALL", NULL);
	begin(&first, 1, 20);
	ok(idem_redis_cache_owner(first.cache) == IDEM_REDIS_OWNER_UNKNOWN,
	    "at first nobody knows whose it is");
	ok(owner_after(&first, IDEM_REDIS_OWNER_UNKNOWN) ==
	    IDEM_REDIS_OWNER_OURS, "a ledger that finds none registers itself");
	is(redis_rig_say(&server, "GET", "idem:ledger", NULL),
	    "0100000000000000", "by its generation");
	begin(&again, 1, 20);
	ok(owner_after(&again, IDEM_REDIS_OWNER_UNKNOWN) ==
	    IDEM_REDIS_OWNER_OURS, "its other workers find themselves");
	begin(&foreign, 2, 20);
	ok(owner_after(&foreign, IDEM_REDIS_OWNER_UNKNOWN) ==
	    IDEM_REDIS_OWNER_FOREIGN, "another ledger is told so");
	is(redis_rig_say(&server, "GET", "idem:ledger", NULL),
	    "0100000000000000", "and takes nothing over");
	put(&first, "k1", "A", 60000, 0);
	is(look(&first, "k1", "f1", "g1", 0), "completed A",
	    "what the one has");
	is(look(&foreign, "k1", "f1", "g1", 0), "nothing",
	    "the other does not see");
	redis_rig_say(&server, "SET", "idem:ledger", "0200000000000000",
	    NULL);
	ok(owner_after(&first, IDEM_REDIS_OWNER_OURS) ==
	    IDEM_REDIS_OWNER_FOREIGN, "if another is there it learns it");
	ok(owner_after(&foreign, IDEM_REDIS_OWNER_FOREIGN) ==
	    IDEM_REDIS_OWNER_OURS, "and so does that one");
	redis_rig_say(&server, "FLUSHALL", NULL);
	ok(owner_after(&first, IDEM_REDIS_OWNER_FOREIGN) ==
	    IDEM_REDIS_OWNER_OURS, "an emptied server is registered anew");
	end(&first);
	end(&again);
	end(&foreign);
}

/* It may be full, and yet say whose it is. */
static void
test_full(void)
{
	struct worker w;

	redis_rig_say(&server, "FLUSHALL", NULL);
	redis_rig_say(&server, "SET", "idem:ledger", "0100000000000000",
	    NULL);
	redis_rig_say(&server, "CONFIG", "SET", "maxmemory", "1", NULL);
	begin(&w, 1, 20);
	ok(owner_after(&w, IDEM_REDIS_OWNER_UNKNOWN) == IDEM_REDIS_OWNER_OURS,
	    "a full server still says whose it is");
	put(&w, "k1", "A", 60000, 0);
	is(look(&w, "k1", "f1", "g1", 0), "nothing",
	    "though it takes nothing more");
	end(&w);
	redis_rig_say(&server, "CONFIG", "SET", "maxmemory", "0", NULL);
}

int
main(void)
{
	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	redis_rig_start(&server, NULL);
	test_facts();
	test_time();
	test_size();
	test_believes();
	test_flushed();
	test_frozen();
	test_gone();
	test_owner();
	test_full();
	redis_rig_end(&server);
	return done();
}
