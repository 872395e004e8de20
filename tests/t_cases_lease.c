/* SPDX-License-Identifier: ISC */
#include "cases_world.h"
#include "cgi_rig.h"
#include "relay.h"
#include "tap.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Leases under trouble: everything is killed, a lobby sleeps, a renewal fails
 * or is under way at the worst of times, or the claim had to wait.  A run that
 * lives keeps its key; one that does not gives it up in time.
 */
#define RETRY "on_unknown = retry(2), "
#define LEASE_MS 600
#define GRACE_MS 400		/* where its end is waited for */
#define PATIENT_MS 8000		/* a grace: longer than anybody is held up */
#define SETTLE_MS 1000		/* between two looks of whoever settles */
#define SLACK_MS 50000		/* of a busy machine */

/* For those who do not look at it. */
static void
end_held(struct cases_world *w, int fd, const char *what)
{
	struct rig_answer answer;

	cases_end(w, fd, "200 stored", &answer, what);
	rig_answer_free(&answer);
}

/* For longer than it would keep it without renewing its lease. */
static void
keeps(struct cases_world *w, const char *what)
{
	cases_ask_for(w, w->lease_ms + w->grace_ms + 2 * SETTLE_MS,
	    "409 in-progress", what);
}

/* --- killed in a run ------------------------------------------------------ */

/* Whoever is held up before the kill still renews it; it is never waited for,
   as all see that its keeper is gone. */
#define KILL_LEASE_MS 8000
#define RUNS_MS 600		/* it is looked at for so long */

static void
killed(struct cases_world *w)
{
	bool retry = w->route != NULL;
	int fd;

	w->lease_ms = KILL_LEASE_MS;
	w->grace_ms = GRACE_MS;
	cases_world_start(w);
	fd = cases_begin(w);
	cases_ask_for(w, RUNS_MS, "409 in-progress", "it runs [idem:A1]");
	cases_world_kill(&w->rig);
	close(fd);
	unlink(rig_at(&w->rig, "hold"));
	cases_world_start(w);
	cases_ask_until(w, KILL_LEASE_MS + GRACE_MS + SETTLE_MS + SLACK_MS,
	    retry ? "200 stored" : "409 unknown", NULL, retry ?
	    "all were killed, it is run again [idem:A1 idem:A21 idem:B9]" :
	    "all were killed, nobody knows [idem:A1 idem:A21 idem:B9]");
	is_int(starts(&w->rig), retry ? 2 : 1, "%s: starts [idem:A1 idem:A21]",
	    w->text);
}

/* --- ten leases ----------------------------------------------------------- */

/* More than that: they and the grace. */
static void
ten_leases(struct cases_world *w)
{
	int fd;

	cases_world_start(w);
	fd = cases_begin(w);
	keeps(w, "for ten leases it is nobody else's [idem:A21 idem:A24]");
	end_held(w, fd, "then it ends [idem:A21]");
	is_int(starts(&w->rig), 1, "%s: once [idem:A21]", w->text);
}

/* --- those who sweep ------------------------------------------------------ */

#define SWEEPS 60

/* Each call of idem-cgi looks through all that may have to be settled. */
static void
swept(struct cases_world *w)
{
	char conf[RIG_PATH + 16], route[400], key[24], got[64];
	struct rig_answer answer;
	int fd, i, good = 0, kept = 0;

	if (!cgi_open(&w->rig))
		bail_out("idem-cgi is not built");
	rig_program(&w->rig, "quick",
	    "#!/bin/sh\nprintf 'Status: 200\\n\\n'\n");
	snprintf(route, sizeof route, "route { path = '/quick', "
	    "arbiter = '%s', program = cgi { '%s' } }\n", w->arbiter,
	    rig_at(&w->rig, "quick"));
	w->more = route;
	cases_world_start(w);
	fd = cases_begin(w);
	snprintf(conf, sizeof conf, "IDEM_CONFIG=%s",
	    rig_at(&w->rig, "idem.conf"));
	for (i = 0; i < SWEEPS; i++) {
		snprintf(key, sizeof key, "sweep-%d", i);
		cgi_ask(&w->rig, &(struct cgi_ask){ .program = "quick",
		    .key = key, .env = (const char *const[]){ "IDEM_LEDGER",
		    conf, NULL } }, &answer);
		good += answer.status == 200;
		rig_answer_free(&answer);
		cases_asked(w, got, sizeof got);
		kept += strcmp(got, "409 in-progress") == 0;
	}
	is_int(good, SWEEPS, "%s: %d processes come and sweep [idem:A24]",
	    w->text, SWEEPS);
	is_int(kept, SWEEPS, "%s: after each of them the run has its key "
	    "[idem:A24]", w->text);
	end_held(w, fd, "and ends well [idem:A24]");
	for (i = 0, good = 0; i < SWEEPS; i++) {
		snprintf(key, sizeof key, "sweep-%d", i);
		cgi_ask(&w->rig, &(struct cgi_ask){ .program = "quick",
		    .key = key, .env = (const char *const[]){ "IDEM_LEDGER",
		    conf, NULL } }, &answer);
		good += strcmp(rig_field(&answer, "Idempotency-Status"),
		    "replayed") == 0;
		rig_answer_free(&answer);
	}
	is_int(good, SWEEPS, "%s: nor is any answer gone [idem:A24]", w->text);
	cgi_await_none(&w->rig);
}

/* --- a lobby that sleeps -------------------------------------------------- */

/* Whose keeper has a child; 0: nobody's is seen. */
static pid_t
find_running(struct cases_world *w)
{
	char *log = rig_slurp(&w->rig, "log"), *at = log;
	int keeper, lobby;
	pid_t child, found = 0;

	for (; at != NULL && (at = strstr(at, " keeper=")) != NULL; at++)
		if (sscanf(at, " keeper=%d started lobby=%d", &keeper,
		    &lobby) == 2 && rig_children(keeper, &child, 1) == 1)
			found = lobby;
	free(log);
	return found;
}

static pid_t
running_lobby(struct cases_world *w)
{
	int64_t until_ms = rig_now_ms() + CASES_WAIT_MS;
	pid_t lobby;

	while ((lobby = find_running(w)) == 0 && rig_now_ms() < until_ms)
		poll(NULL, 0, 5);
	if (lobby == 0)
		bail_out("no keeper has a program");
	return lobby;
}

static void
sleeps(struct cases_world *w)
{
	struct rig_answer first, second;
	int64_t until_ms;
	char got[64];
	pid_t lobby;
	int fd, odd = 0;

	w->grace_ms = GRACE_MS;
	cases_world_start(w);
	fd = cases_begin(w);
	lobby = running_lobby(w);
	kill(lobby, SIGSTOP);
	unlink(rig_at(&w->rig, "hold"));
	until_ms = rig_now_ms() + LEASE_MS * 3 / 2;
	while (rig_now_ms() < until_ms) {
		cases_asked(w, got, sizeof got);
		odd += strcmp(got, "409 in-progress") != 0 &&
		    strcmp(got, "409 unknown") != 0 &&
		    strcmp(got, "200 replayed") != 0;
		poll(NULL, 0, 30);
	}
	kill(lobby, SIGCONT);
	is_int(odd, 0, "%s: while it sleeps nobody else runs [idem:A8]",
	    w->text);
	ask_end(&w->rig, fd, &first);
	ok(first.status == 200, "%s: it wakes and answers: %s [idem:A8]",
	    w->text, rig_field(&first, "Idempotency-Status"));
	rig_request(&w->rig, &cases_order, &second);
	told(&second, "200 replayed", "%s: who comes next", w->text);
	is_bytes(second.body.at, second.body.len, first.body.at,
	    first.body.len, "%s: has the same answer [idem:A8]", w->text);
	is_int(starts(&w->rig), 1, "%s: of one run [idem:A8]", w->text);
	rig_answer_free(&first);
	rig_answer_free(&second);
}

/* --- a renewal that fails ------------------------------------------------- */

#define FAIL_LEASE_MS 2000	/* it fails for less than that on any machine */

static void
fails_once(struct cases_world *w)
{
	int fd;

	w->lease_ms = FAIL_LEASE_MS;
	cases_world_start(w);
	fd = cases_begin(w);
	redis_rig_say(&w->server, "ACL", "SETUSER", "default", "-@scripting",
	    NULL);
	ok(ask_await_logged(&w->rig, "renew", 1), "%s: a renewal is refused "
	    "[idem:A9]", w->text);
	redis_rig_say(&w->server, "ACL", "SETUSER", "default", "+@scripting",
	    NULL);
	cases_ask_until(w, SLACK_MS, "409 in-progress", NULL,
	    "the next ones are not [idem:A9]");
	keeps(w, "three leases later it still has its key [idem:A9]");
	end_held(w, fd, "and ends well [idem:A9]");
	is_int(starts(&w->rig), 1, "%s: once [idem:A9]", w->text);
}

/* --- ends beside renewals ------------------------------------------------- */

#define ENDS 200
#define AT_ONCE 20
#define DELAY_MS 40		/* so that a renewal takes twice that */
#define ENDS_LEASE_MS 2400	/* to be renewed in time on a busy machine */

/* How many of its records have no time after which they go. */
static int
endless(struct redis_rig *redis, int *records)
{
	static char keys[64 * 1024];
	char *key, *end;
	int n = 0;

	*records = 0;
	snprintf(keys, sizeof keys, "%s", redis_rig_say(redis, "KEYS",
	    "idem:*", NULL));
	for (key = strtok_r(keys, "[ ]", &end); key != NULL;
	    key = strtok_r(NULL, "[ ]", &end)) {
		if (strlen(key) < 64)
			continue;
		++*records;
		n += atol(redis_rig_say(redis, "PTTL", key, NULL)) <= 0;
	}
	return n;
}

static int
begin_end(struct cases_world *w, int number)
{
	static const char *const rests[] = { "HTTP_X_ROW=0.73",
		"HTTP_X_ROW=0.77", "HTTP_X_ROW=0.80", "HTTP_X_ROW=0.83" };
	const char *more[] = { rests[number % 4], NULL };
	struct rig_request r = cases_order;
	char key[32];

	snprintf(key, sizeof key, "end-%d", number);
	r.key = key;
	r.more = more;
	return ask_begin(&w->rig, &r);
}

/*
 * Where idemd was held up for longer than a lease between claim and start there
 * is no run, and it says so: it is sent again.
 */
static const char *
end_told(struct cases_world *w, int number, int fd, struct rig_answer *answer)
{
	int64_t until_ms = rig_now_ms() + CASES_WAIT_MS;
	const char *says;

	for (;;) {
		ask_end(&w->rig, fd, answer);
		says = rig_field(answer, "Idempotency-Status");
		if (strcmp(says, "not-started") != 0 ||
		    rig_now_ms() > until_ms)
			return says;
		rig_answer_free(answer);
		fd = begin_end(w, number);
	}
}

static int
end_some(struct cases_world *w, int number)
{
	int fds[AT_ONCE], i, stored = 0;
	struct rig_answer answer;

	for (i = 0; i < AT_ONCE; i++)
		fds[i] = begin_end(w, number + i);
	for (i = 0; i < AT_ONCE; i++) {
		const char *says;

		says = end_told(w, number + i, fds[i], &answer);
		if (strcmp(says, "stored") == 0)
			stored++;
		else
			note("%s: end-%d is told %d %s", w->text, number + i,
			    answer.status, says);
		rig_answer_free(&answer);
	}
	return stored;
}

/* A third of a lease is 800 ms: then one leaves, and is back 80 ms later. */
static void
beside_renewals(struct cases_world *w)
{
	struct relay relay;
	char link[RIG_PATH];
	int i, stored = 0, left, records;

	snprintf(link, sizeof link, "%s", rig_at(&w->rig, "link"));
	relay_open(&relay, link, w->server.socket);
	*relay.delay_ms = DELAY_MS;
	w->link = link;
	w->lease_ms = ENDS_LEASE_MS;
	w->programs = AT_ONCE;
	cases_world_start(w);
	for (i = 0; i < ENDS; i += AT_ONCE)
		stored += end_some(w, i);
	is_int(stored, ENDS, "%s: %d runs end around their renewal [idem:A10]",
	    w->text, ENDS);
	is_int(starts(&w->rig), ENDS, "%s: there were no others [idem:A10]",
	    w->text);
	/* Two periods, which it is about. */
	poll(NULL, 0, 2 * ENDS_LEASE_MS);
	left = endless(&w->server, &records);
	is_int(records, ENDS, "%s: there are as many records [idem:A10]",
	    w->text);
	is_int(left, 0, "%s: none of them is in progress, or for ever "
	    "[idem:A10]", w->text);
	relay_close(&relay);
}

/* --- a claim that had to wait --------------------------------------------- */

#define WAITED_TRIES 5

/* The first one has a hold of its own. */
static const char by_turns[] = COUNT
    "[ $HTTP_IDEMPOTENCY_KEY = order ] ||\n"
    "    while [ -e hold-first ]; do sleep 0.02; done\n"
    "[ $HTTP_IDEMPOTENCY_KEY != order ] ||\n" HELD
    "printf 'Content-Type: text/plain\\n\\nby %s\\n' $$\n";

/*
 * The order waits for longer than a lease behind another, which goes on then.
 * False: it was not started, as may be where idemd is held up for as long as
 * that between claim and start.  A lease that counts from before the wait is
 * over each time.
 */
static bool
waits_behind(struct cases_world *w, int number, int *fd)
{
	struct rig_request other = cases_order;
	struct pollfd answered = { .events = POLLIN };
	int64_t until_ms;
	char key[24];
	struct rig_answer answer;
	long before = starts(&w->rig);
	int first;

	snprintf(key, sizeof key, "before-%d", number);
	other.key = key;
	rig_file(&w->rig, "hold-first", "");
	first = ask_await_starts(&w->rig, ask_begin(&w->rig, &other), &other,
	    before + 1);
	*fd = answered.fd = ask_begin(&w->rig, &cases_order);
	poll(NULL, 0, LEASE_MS * 3 / 2);	/* longer than a lease */
	is_int(starts(&w->rig), before + 1,
	    "%s: the second one waits for a program", w->text);
	unlink(rig_at(&w->rig, "hold-first"));
	ask_end(&w->rig, first, &answer);
	told(&answer, "200 stored", "%s: the first one ends", w->text);
	rig_answer_free(&answer);
	until_ms = rig_now_ms() + CASES_WAIT_MS;
	while (poll(&answered, 1, 5) == 0 && rig_now_ms() < until_ms)
		if (starts(&w->rig) == before + 2)
			return true;
	ask_end_not_started(&w->rig, *fd);
	return false;
}

static void
waited(struct cases_world *w)
{
	int fd, tries = 0;

	w->programs = 1;
	rig_program(&w->rig, "order", by_turns);
	cases_world_start(w);
	rig_file(&w->rig, "hold", "");
	while (tries < WAITED_TRIES && !waits_behind(w, tries, &fd))
		tries++;
	if (!ok(tries < WAITED_TRIES, "%s: who waited longer than a lease for "
	    "its program has a lease of its own [idem:A2]", w->text))
		return;
	keeps(w, "it renews that [idem:A2]");
	end_held(w, fd, "and ends well [idem:A2]");
	is_int(starts(&w->rig), tries + 2, "%s: once [idem:A2]", w->text);
}

/* --- application servers that are killed ---------------------------------- */

#define HITS 6
#define HIT_LEASE_MS 120000

static void
start_backend(struct cases_world *w, struct rig *backend)
{
	char text[600];

	snprintf(text, sizeof text, "workers = 1\nprograms = 8\n"
	    "run = '%s/run'\nrest = cgi { '%s' }\n", backend->folder,
	    rig_at(&w->rig, "order"));
	rig_file(backend, "idem.conf", text);
	ask_start(backend, (const char *[]){ "--config",
	    rig_at(backend, "idem.conf"), NULL });
	w->held->group[1] = backend->pid;
}

static void
pool_killed(struct cases_world *w)
{
	struct rig backend;
	struct rig_request r = cases_order;
	struct rig_answer answer;
	char program[RIG_PATH + 32], key[16];
	int fds[HITS], i, cut = 0, settled = 0;
	int64_t killed_ms;

	rig_open(&backend);
	backend.bare = true;
	snprintf(program, sizeof program, "fastcgi { 'unix:%s' }",
	    backend.socket);
	w->program = program;
	w->lease_ms = HIT_LEASE_MS;
	start_backend(w, &backend);
	cases_world_start(w);
	rig_file(&w->rig, "hold", "");
	for (i = 0; i < HITS; i++) {
		snprintf(key, sizeof key, "hit-%d", i);
		r.key = key;
		fds[i] = ask_begin(&w->rig, &r);
	}
	await_starts(&w->rig, HITS);
	cases_world_kill(&backend);
	killed_ms = rig_now_ms();
	unlink(rig_at(&w->rig, "hold"));
	for (i = 0; i < HITS; i++) {
		ask_end(&w->rig, fds[i], &answer);
		cut += answer.status == 502 || answer.status == 504;
		rig_answer_free(&answer);
	}
	is_int(cut, HITS, "%s: all who were served by it are told [idem:A25]",
	    w->text);
	start_backend(w, &backend);
	for (i = 0; i < HITS; i++) {
		snprintf(key, sizeof key, "hit-%d", i);
		r.key = key;
		rig_request(&w->rig, &r, &answer);
		settled += answer.status == 409 &&
		    strcmp(rig_field(&answer, "Idempotency-Status"),
		    "unknown") == 0;
		rig_answer_free(&answer);
	}
	ok(settled == HITS && rig_now_ms() - killed_ms < HIT_LEASE_MS,
	    "%s: their keys are settled within their lease, when it is started "
	    "again: %d [idem:A25]", w->text, settled);
	cases_ask_until(w, SLACK_MS, "200 stored", NULL,
	    "and a new one runs [idem:A25]");
	is_int(starts(&w->rig), HITS + 1, "%s: starts [idem:A25]", w->text);
	rig_end(&backend);
	w->held->group[1] = 0;
}

/* --- rows ----------------------------------------------------------------- */

static const struct {
	const char *text, *arbiter;
	void (*story)(struct cases_world *);
	const char *route;
} rows[] = {
	{ "killed, ledger", "ledger", killed, NULL },
	{ "killed, ledger, retry", "ledger", killed, RETRY },
	{ "killed, redis", "redis", killed, NULL },
	{ "ten leases, ledger", "ledger", ten_leases, RETRY },
	{ "ten leases, redis", "redis", ten_leases, RETRY },
	{ "swept, ledger", "ledger", swept, RETRY },
	{ "swept, redis", "redis", swept, RETRY },
	{ "a lobby sleeps, ledger", "ledger", sleeps, RETRY },
	{ "a lobby sleeps, redis", "redis", sleeps, RETRY },
	{ "a renewal fails", "redis", fails_once, RETRY },
	{ "ends beside renewals", "redis", beside_renewals, NULL },
	{ "queued, ledger", "ledger", waited, RETRY },
	{ "queued, redis", "redis", waited, RETRY },
	{ "backend killed, ledger", "ledger", pool_killed, NULL },
	{ "backend killed, redis", "redis", pool_killed, NULL }
};

static void
run_row(size_t i, void *arg, struct rows_held *held)
{
	struct cases_world w = { .text = rows[i].text,
		.arbiter = rows[i].arbiter, .route = rows[i].route,
		.workers = 2, .lease_ms = LEASE_MS, .grace_ms = PATIENT_MS };

	(void)arg;
	if (cases_world_is_redis(&w) && redis_rig_missing() != NULL) {
		skip(redis_rig_missing(), "%s", w.text);
		return;
	}
	cases_world_open(&w, held);
	rows[i].story(&w);
	cases_world_close(&w);
}

int
main(void)
{
	rows_at_once(sizeof rows / sizeof *rows, 7, run_row, NULL);
	return done();
}
