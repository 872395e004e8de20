/* SPDX-License-Identifier: ISC */
#include "cases_world.h"
#include "ctl_run.h"
#include "redis_ask.h"
#include "redis_fake.h"
#include "rig_watch.h"
#include "tap.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * A store that is away, slow, full, forgetful or odd at some moment of a
 * request: what has run has run once, its client has the answer, and who comes
 * later as well.
 */
#define AWAY_GOAL_MS 1000
#define AWAY_MS 30000		/* on a busy machine */
#define AWAY_BUDGET_MS 60000	/* it is not that which ends */
#define SLOW_MS 8000		/* it is not, once it goes on */

/* Once, and with what the first one was told. */
static void
replayed(struct cases_world *w, struct rig_answer *first, const char *cases)
{
	struct rig_answer answer;
	char what[128];

	snprintf(what, sizeof what, "who comes when it is back %s", cases);
	cases_ask_until(w, CASES_WAIT_MS, "200 replayed", &answer, what);
	is_bytes(answer.body.at, answer.body.len, first->body.at,
	    first->body.len, "%s: the answer is the first one's %s", w->text,
	    cases);
	is_int(starts(&w->rig), 1, "%s: there was one run %s", w->text, cases);
	rig_answer_free(&answer);
}

/* --- away at the end of a run --------------------------------------------- */

static void
kill_lobby(struct cases_world *w)
{
	pid_t lobby;

	rig_watch_lobbies(&w->rig, &lobby, 1);
	kill(lobby, SIGKILL);
	ok(rig_watch_await(&w->rig, SHM_LOBBY_DEATHS, 1, CASES_WAIT_MS),
	    "%s: the lobby that has the answer dies", w->text);
}

static void
dies_in_a_run(struct cases_world *w)
{
	struct rig_answer first;
	int fd;

	fd = cases_begin(w);
	redis_rig_kill(&w->server);
	cases_end(w, fd, "200 unrecorded", &first, "Redis dies in a run, whose "
	    "answer is delivered [idem:C15 idem:B1]");
	if (w->route != NULL)
		kill_lobby(w);
	redis_rig_again(&w->server, true);
	replayed(w, &first, "[idem:C15 idem:B1]");
	rig_answer_free(&first);
}

/* No file of idemd's grows any more, as on a full disk. */
static void
limit_files(struct cases_world *w, bool on)
{
	struct rlimit limit;
	pid_t pids[8];
	size_t n = rig_children(w->rig.pid, pids, 8), i;

	for (i = 0; i < n; i++) {
		if (prlimit(pids[i], RLIMIT_FSIZE, NULL, &limit) == -1)
			bail_out("prlimit");
		limit.rlim_cur = on ? 1 : limit.rlim_max;
		prlimit(pids[i], RLIMIT_FSIZE, &limit, NULL);
	}
}

static void
full_in_a_run(struct cases_world *w)
{
	struct rig_answer first;
	int fd;

	fd = cases_begin(w);
	limit_files(w, true);
	cases_end(w, fd, "200 unrecorded", &first, "nothing can be written any "
	    "more, and the answer is delivered [idem:B1]");
	ask(&w->rig, &cases_order, "409 in-progress", "%s: the key is not free "
	    "[idem:B1]", w->text);
	limit_files(w, false);
	replayed(w, &first, "[idem:B1]");
	rig_answer_free(&first);
}

/* --- away before a run ---------------------------------------------------- */

static void
away(struct cases_world *w)
{
	struct rig_answer answer;
	int64_t away_ms;
	int fd;

	redis_rig_stop(&w->server);
	fd = ask_begin(&w->rig, &cases_order);
	away_ms = rig_now_ms();
	ok(ask_await_logged(&w->rig, "redis=away", 1),
	    "%s: the log says so [idem:C20]", w->text);
	away_ms = rig_now_ms() - away_ms;
	note("%s: after %lld ms (goal %d)", w->text, (long long)away_ms,
	    AWAY_GOAL_MS);
	ok(away_ms < AWAY_MS && rig_watch_await(&w->rig, SHM_OUTAGES, 1,
	    AWAY_MS), "%s: and the counters, soon [idem:C20]", w->text);
	ask_end(&w->rig, fd, &answer);
	told(&answer, "503 not-started", "%s: without Redis a request with a "
	    "key [idem:C14 idem:C16 idem:C22]", w->text);
	ok(atol(rig_field(&answer, "Retry-After")) > 0, "%s: it may try again "
	    "[idem:C14]", w->text);
	rig_answer_free(&answer);
	is_int((long long)rig_watch_count(&w->rig, SHM_OUTAGES), 1,
	    "%s: of one outage [idem:C20]", w->text);
	is_int(starts(&w->rig), 0, "%s: nothing has run [idem:C14 idem:B10]",
	    w->text);
	ask(&w->rig, &cases_keyless, "200", "%s: one without a key runs "
	    "[idem:C22]", w->text);
	redis_rig_again(&w->server, true);
	cases_ask_until(w, CASES_WAIT_MS, "200 stored", &answer,
	    "with Redis the key runs [idem:C23]");
	rig_answer_free(&answer);
	is_int(starts(&w->rig), 2, "%s: once", w->text);
}

static void
slow(struct cases_world *w)
{
	struct rig_answer answer;

	redis_rig_freeze(&w->server);
	ask(&w->rig, &cases_order, "503 not-started", "%s: Redis is slower "
	    "than its time-out [idem:B10]", w->text);
	is_int(starts(&w->rig), 0, "%s: nothing has run [idem:B10]", w->text);
	redis_rig_thaw(&w->server);
	cases_ask_until(w, CASES_WAIT_MS, "200 stored", &answer,
	    "when it is not, the key runs [idem:B10]");
	rig_answer_free(&answer);
	is_int(starts(&w->rig), 1, "%s: once, whatever Redis still did "
	    "[idem:B10]", w->text);
}

/* --- forgetful ------------------------------------------------------------ */

static void
script_flushed(struct cases_world *w)
{
	struct rig_answer first;
	int fd;

	fd = cases_begin(w);
	is(redis_rig_say(&w->server, "SCRIPT", "FLUSH", NULL), "OK",
	    "%s: Redis forgets its scripts in a run", w->text);
	cases_end(w, fd, "200 stored", &first, "it completes [idem:C8]");
	replayed(w, &first, "[idem:C8]");
	rig_answer_free(&first);
}

/* A ledger decides; a cache that forgets, or has another past, is no matter. */
static void
cache_forgets(struct cases_world *w)
{
	struct rig_answer first;
	int fd;

	fd = cases_begin(w);
	redis_rig_kill(&w->server);
	redis_rig_again(&w->server, false);
	cases_end(w, fd, "200 stored", &first, "the cache starts empty in a "
	    "run, as after a failover [idem:C11]");
	replayed(w, &first, "[idem:C11]");
	redis_rig_say(&w->server, "DEBUG", "POPULATE", "30000", "flood", "100",
	    NULL);
	replayed(w, &first, "[idem:C12]");
	rig_answer_free(&first);
}

static void
evicts(struct cases_world *w)
{
	const char *out;

	ok(ctl_run(&out, "doctor --config %s",
	    rig_at(&w->rig, "idem.conf")) == 1 &&
	    strstr(out, "maxmemory-policy") != NULL, "%s: an arbiter that "
	    "evicts is found by the doctor [idem:C12]", w->text);
}

/* --- a record that goes --------------------------------------------------- */

/*
 * The one who waits has lost the claim; then the record is gone.  Whatever it
 * is told, nobody runs unclaimed.
 */
static void
record_goes(struct cases_world *w)
{
	struct rig_answer first, second;
	char keys[512], *key, *end;
	int fd, waits;

	fd = cases_begin(w);
	waits = ask_begin(&w->rig, &cases_order);
	snprintf(keys, sizeof keys, "%s", redis_rig_say(&w->server, "KEYS",
	    "idem:*", NULL));
	for (key = strtok_r(keys, "[ ]", &end); key != NULL;
	    key = strtok_r(NULL, "[ ]", &end))
		if (strlen(key) >= 64)
			redis_rig_say(&w->server, "DEL", key, NULL);
	unlink(rig_at(&w->rig, "hold"));
	ask_end(&w->rig, waits, &second);
	ask_end(&w->rig, fd, &first);
	note("%s: the first is told %d %s, the second %d %s", w->text,
	    first.status, rig_field(&first, "Idempotency-Status"),
	    second.status, rig_field(&second, "Idempotency-Status"));
	ok(starts(&w->rig) == 1 || (starts(&w->rig) == 2 &&
	    strcmp(rig_field(&second, "Idempotency-Status"), "stored") == 0),
	    "%s: a record goes while somebody waits for it, and whoever runs "
	    "has claimed it: %ld starts [idem:CR-9]", w->text,
	    starts(&w->rig));
	rig_answer_free(&first);
	rig_answer_free(&second);
}

/* --- the client ----------------------------------------------------------- */

static void
black_hole(void)
{
	struct redis_ask a = { .options = { .timeout_ms = 1500 } };
	struct redis_fake fake;

	redis_fake_tcp(&fake, 16);
	redis_fake_play(&fake, (const char *[]){ "accept", "hold", NULL });
	redis_ask_open(&a, (const char *[]){ fake.url }, 1);
	redis_ask(&a, 60000, "a", "GET", "a", NULL);
	ok(a.class != IDEM_OK && a.ms >= 1400 && a.ms < 15000, "a time-out of "
	    "1500 ms is one of 1.5 s: %lld ms [idem:C7]", (long long)a.ms);
	redis_ask_close(&a);
	redis_fake_release(&fake);
	redis_fake_end(&fake);
}

static void
odd_keys(struct cases_world *w)
{
	static char long_key[4097];
	static const struct {
		const char *key, *want;
	} keys[] = {
		{ "%s%n%b", "200 stored" },
		{ "%s%n%b", "200 replayed" },
		{ "*{}:", "200 stored" },
		{ "", "400 rejected" },
		{ long_key, "400 rejected" }
	};
	struct rig_request r = cases_order;
	size_t i;

	memset(long_key, 'k', sizeof long_key - 1);
	for (i = 0; i < sizeof keys / sizeof *keys; i++) {
		r.key = keys[i].key;
		ask(&w->rig, &r, keys[i].want, "%s: %.12s [idem:C6]", w->text,
		    keys[i].key);
	}
	is_int(starts(&w->rig), 2, "%s: each ran once [idem:C6]", w->text);
}

/* --- rows ----------------------------------------------------------------- */

static const char *const written[] = { "--appendonly", "yes",
	"--appendfsync", "always", NULL };
static const char *const evicting[] = { "--maxmemory", "10mb",
	"--maxmemory-policy", "allkeys-lru", NULL };

static const struct {
	const char *text, *arbiter;
	void (*story)(struct cases_world *);
	const char *const *redis;
	const char *route;
	bool cache;
	unsigned redis_ms;
} rows[] = {
	{ "redis dies", "redis", dies_in_a_run, written, NULL, false, 0 },
	{ "redis dies, and the lobby", "redis", dies_in_a_run, written,
	    "spool = true,", false, 0 },
	{ "a full disk", "ledger", full_in_a_run, NULL, NULL, false, 0 },
	{ "redis away", "redis", away, NULL, NULL, false,
	    AWAY_BUDGET_MS },
	{ "redis slow", "redis", slow, NULL, NULL, false, SLOW_MS },
	{ "scripts flushed", "redis", script_flushed, NULL, NULL, false, 0 },
	{ "a cache forgets", "ledger", cache_forgets, evicting, NULL, true, 0 },
	{ "an arbiter evicts", "redis", evicts, evicting, NULL, false, 0 },
	{ "a record goes", "redis", record_goes, NULL,
	    "in_progress = wait '10s',", false, 0 },
	{ "odd keys", "redis", odd_keys, NULL, NULL, false, 0 }
};

static void
run_row(size_t i, void *arg, struct rows_held *held)
{
	struct cases_world w = { .text = rows[i].text,
		.arbiter = rows[i].arbiter, .redis = rows[i].redis,
		.route = rows[i].route, .cache = rows[i].cache,
		.redis_ms = rows[i].redis_ms };

	(void)arg;
	if ((w.cache || cases_world_is_redis(&w)) &&
	    redis_rig_missing() != NULL) {
		skip(redis_rig_missing(), "%s", w.text);
		return;
	}
	cases_world_open(&w, held);
	cases_world_start(&w);
	rows[i].story(&w);
	cases_world_close(&w);
}

int
main(void)
{
	rows_at_once(sizeof rows / sizeof *rows, 6, run_row, NULL);
	black_hole();
	return done();
}
