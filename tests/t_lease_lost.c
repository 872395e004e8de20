/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "redis_rig.h"
#include "relay.h"
#include "rig_watch.h"
#include "rows.h"
#include "tap.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Two hosts share a Redis, and the first one loses a key whose program it runs:
 * cut off from Redis until the other has taken the key over; or because
 * somebody has deleted the record under it.  The program is told, the first
 * one's completion is refused, nobody's answer is replaced, and that there were
 * two runs is counted, logged and told to the operator.
 */
#define LEASE "8s"
#define WAIT_MS 60000

struct world {
	const char *on_unknown, *text;
	int limit_ms;		/* of the program */
	bool patient;		/* with a Redis that is held up */
	struct rig rig[2];
	struct redis_rig redis;
	struct relay relay;	/* between the first host and Redis */
};

/* --- two hosts ------------------------------------------------------------ */

static const char conf[] =
    "workers = 1\n"
    "programs = 4\n"
    "grace = '300ms'\n"
    "local_cache = 'none'\n"
    "run = '%s/ledger.db-run'\n"
    "alert = '%s/alert'\n"
    "shared = redis { url = 'unix:%s', timeout = '%s',\n"
    "    budget = '%s', probe = '200ms' }\n"
    "route { path = '/order', scope = { name = 'order' },\n"
    "    arbiter = 'redis', on_unknown = %s,\n"
    "    lease = '" LEASE "', limit = '%dms', in_progress = '409',\n"
    "    lost_signal = 'USR1', program = cgi { '%s/order' } }\n";

/* Each host has one of its own, which counts in the first one's folder. */
static const char order[] = "#!/bin/sh\n"
    "trap 'echo told >>told' USR1\n"
    "echo x >>%s/starts\n"
    HELD
    "printf 'Content-Type: text/plain\\n\\nby %%s on %s\\n' $$\n";

static void
start_host(struct world *w, unsigned i, const char *redis,
    struct rows_held *held)
{
	struct rig *rig = &w->rig[i];
	char text[2000];

	snprintf(text, sizeof text, order, w->rig[0].folder,
	    i == 0 ? "one" : "two");
	rig_program(rig, "order", text);
	rig_program(rig, "alert",
	    "#!/bin/sh\necho $IDEM_EVENT >>\"${0%/*}/alerts\"\n");
	snprintf(text, sizeof text, conf, rig->folder, rig->folder, redis,
	    w->patient ? "5s" : "3s", w->patient ? "20s" : "5s",
	    w->on_unknown, w->limit_ms, rig->folder);
	rig_file(rig, "idem.conf", text);
	ask_start(rig, (const char *[]){ "--config",
	    rig_at(rig, "idem.conf"), NULL });
	held->group[i] = rig->pid;
}

static void
world_open(struct world *w, struct rows_held *held)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		rig_open(&w->rig[i]);
		w->rig[i].bare = true;
	}
	redis_rig_start(&w->redis, NULL);
	relay_open(&w->relay, rig_at(&w->rig[0], "relay"), w->redis.socket);
	start_host(w, 0, rig_at(&w->rig[0], "relay"), held);
	start_host(w, 1, w->redis.socket, held);
	rig_file(&w->rig[0], "hold", "");
}

static void
world_close(struct world *w, struct rows_held *held)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		is_int(rig_stop(&w->rig[i], WAIT_MS), 0,
		    "%s: idemd ends with status 0", w->text);
		held->group[i] = 0;
	}
	relay_close(&w->relay);
	rig_end(&w->rig[1]);
	rig_end(&w->rig[0]);
	redis_rig_end(&w->redis);
}

static const struct rig_request request = { .method = "POST",
	.path = "/order", .key = "lost", .body = { "tea", 3 } };

/* "409 unknown", as ask.h's. */
static void
words(const struct rig_answer *answer, char *to, size_t size)
{
	snprintf(to, size, "%d %s", answer->status,
	    rig_field(answer, "Idempotency-Status"));
}

/* Ask the second host until it says that. */
static void
await_second(struct world *w, const char *until, struct rig_answer *answer)
{
	int64_t until_ms = rig_now_ms() + WAIT_MS;
	char got[64];

	for (;;) {
		rig_request(&w->rig[1], &request, answer);
		words(answer, got, sizeof got);
		if (strcmp(got, until) == 0 || rig_now_ms() > until_ms)
			break;
		rig_answer_free(answer);
		poll(NULL, 0, 30);
	}
	is(got, until, "%s: the other host comes to say %s [idem:A12]",
	    w->text, until);
}

/* Not while Redis is away, as one that is held up may be. */
static void
ask_until_there(struct rig *rig, struct rig_answer *answer)
{
	int64_t until_ms = rig_now_ms() + WAIT_MS;

	while (rig_request(rig, &request, answer) == 0 &&
	    answer->status == 503 && rig_now_ms() < until_ms) {
		rig_answer_free(answer);
		poll(NULL, 0, 30);
	}
}

static void
replayed_by_both(struct world *w, const struct rig_answer *want)
{
	struct rig_answer answer;
	unsigned i;

	for (i = 0; i < 2; i++) {
		ask_until_there(&w->rig[i], &answer);
		told(&answer, "200 replayed", "%s: host %u", w->text, i + 1);
		is_bytes(answer.body.at, answer.body.len, want->body.at,
		    want->body.len, "%s: with the answer that is stored "
		    "[idem:A12 idem:CR-5 idem:CR-8]", w->text);
		rig_answer_free(&answer);
	}
}

/* --- cut off -------------------------------------------------------------- */

/*
 * Its program ends, and it cannot say so; when it can, the key is another's.
 * Only when that time is over in which the first run must have ended does the
 * other host run it again.
 */
static void
cut_off(struct world *w)
{
	struct rig_answer first, second;
	int64_t begun_ms, again_ms;
	char got[64];
	int fd = ask_begin(&w->rig[0], &request);

	await_starts(&w->rig[0], 1);
	begun_ms = rig_now_ms();
	relay_cut(&w->relay);
	unlink(rig_at(&w->rig[0], "hold"));
	await_second(w, "200 stored", &second);
	again_ms = rig_now_ms() - begun_ms;
	/* From the last renewal on, which was a third of a lease before. */
	ok(again_ms > w->limit_ms, "%s: after %lld ms, when the first run is "
	    "over for sure [idem:A12 idem:CR-8]", w->text, (long long)again_ms);
	is_int(starts(&w->rig[0]), 2, "%s: there are two runs [idem:A12]",
	    w->text);
	relay_mend(&w->relay);
	ask_end(&w->rig[0], fd, &first);
	words(&first, got, sizeof got);
	ok(strcmp(got, "504 unrecorded") == 0 ||
	    strcmp(got, "200 replayed") == 0 ||
	    strcmp(got, "504 unknown") == 0, "%s: the first client has the "
	    "answer that is stored, or none: %s [idem:A12]", w->text, got);
	if (strcmp(got, "200 replayed") == 0)
		is_bytes(first.body.at, first.body.len, second.body.at,
		    second.body.len, "%s: byte for byte", w->text);
	ok(ask_await_logged(&w->rig[0], "lost=completion record=taken", 1),
	    "%s: the first host's completion is refused, and logged "
	    "[idem:A12 idem:CR-5 idem:CR-14]", w->text);
	replayed_by_both(w, &second);
	rig_answer_free(&first);
	rig_answer_free(&second);
}

/* Under block the other host never runs it: it does not know, until it does. */
static void
cut_off_blocked(struct world *w)
{
	struct rig_answer first, second;
	int fd = ask_begin(&w->rig[0], &request);

	await_starts(&w->rig[0], 1);
	relay_cut(&w->relay);
	unlink(rig_at(&w->rig[0], "hold"));
	await_second(w, "409 unknown", &second);
	rig_answer_free(&second);
	ask_end(&w->rig[0], fd, &first);
	told(&first, "200 unrecorded", "%s: the first client has its answer "
	    "[idem:C15]", w->text);
	relay_mend(&w->relay);
	await_second(w, "200 replayed", &second);
	is_bytes(second.body.at, second.body.len, first.body.at,
	    first.body.len, "%s: which is written when it can be [idem:C15]",
	    w->text);
	is_int(starts(&w->rig[0]), 1, "%s: there was one run [idem:A12]",
	    w->text);
	rig_answer_free(&first);
	rig_answer_free(&second);
}

/* --- a record that is gone ------------------------------------------------ */

static void
delete_record(struct world *w)
{
	char keys[512], *key, *end;

	snprintf(keys, sizeof keys, "%s", redis_rig_say(&w->redis, "KEYS",
	    "idem:*", NULL));
	/* Those of records end in 64 hex digits. */
	for (key = strtok_r(keys, "[ ]", &end); key != NULL;
	    key = strtok_r(NULL, "[ ]", &end))
		if (strlen(key) >= 64)
			redis_rig_say(&w->redis, "DEL", key, NULL);
}

static void
taken_away(struct world *w)
{
	struct rig_answer first, second;
	int fd = ask_begin(&w->rig[0], &request);
	char got[64];

	await_starts(&w->rig[0], 1);
	delete_record(w);
	rig_request(&w->rig[1], &request, &second);
	told(&second, "200 stored", "%s: the other host runs it", w->text);
	is_int(starts(&w->rig[0]), 2, "%s: there are two runs", w->text);
	ok(rig_await_lines(&w->rig[0], "told", 1, WAIT_MS),
	    "%s: the first program is told that its lease is lost "
	    "[idem:A12]", w->text);
	ok(rig_watch_await(&w->rig[0], SHM_LEASES_LOST, 1,
	    WAIT_MS), "%s: it is counted", w->text);
	unlink(rig_at(&w->rig[0], "hold"));
	ask_end(&w->rig[0], fd, &first);
	words(&first, got, sizeof got);
	ok(strcmp(got, "200 replayed") == 0 || strcmp(got, "504 unknown") == 0,
	    "%s: its client has the answer that is stored, or none: %s "
	    "[idem:A12 idem:CR-8]", w->text, got);
	replayed_by_both(w, &second);
	rig_answer_free(&first);
	rig_answer_free(&second);
}

/* --- rows ----------------------------------------------------------------- */

/* Of a Redis that is away for two seconds it is told as well. */
static bool
await_alert(struct world *w, const char *event)
{
	int64_t until_ms = rig_now_ms() + WAIT_MS;

	while (rig_lines(&w->rig[0], "alerts", event) == 0) {
		if (rig_now_ms() > until_ms)
			return false;
		poll(NULL, 0, 5);
	}
	return true;
}

static void
two_runs_told(struct world *w)
{
	ok(rig_watch_await(&w->rig[0], SHM_TWO_RUNS, 1, WAIT_MS),
	    "%s: two runs are counted [idem:A12 idem:CR-14]", w->text);
	ok(await_alert(w, "two-runs") &&
	    rig_lines(&w->rig[0], "alerts", "two-runs") == 1,
	    "%s: the operator is told [idem:A12 idem:CR-14]", w->text);
}

static const struct {
	const char *text, *on_unknown;
	void (*story)(struct world *);
	bool two_runs;
	int limit_ms;	/* more than lease and grace; waited for by the first */
	bool patient;
} rows[] = {
	{ "cut off, retry", "retry(2)", cut_off, true, 10000, false },
	{ "cut off, block", "'block'", cut_off_blocked, false, 100000, false },
	{ "deleted", "'block'", taken_away, true, 100000, true }
};

static void
run_row(size_t i, void *arg, struct rows_held *held)
{
	struct world w = { .text = rows[i].text,
		.on_unknown = rows[i].on_unknown,
		.limit_ms = rows[i].limit_ms, .patient = rows[i].patient };

	(void)arg;
	world_open(&w, held);
	rows[i].story(&w);
	if (rows[i].two_runs)
		two_runs_told(&w);
	world_close(&w, held);
}

int
main(void)
{
	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	rows_at_once(sizeof rows / sizeof *rows, 3, run_row, NULL);
	return done();
}
