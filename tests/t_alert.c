/* SPDX-License-Identifier: ISC */
#include "alert.h"

#include "tap.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define START_MS 1000000
#define TELLERS 4
#define TELLINGS 5000u

/* --- a master whose command only notes how it is called ------------------- */

#define CALLS_MAX 8

struct call {
	char path[64], name[64], event[64];
	char env[10][SHM_WHAT + 64];
	int env_len;
};

struct desk {
	struct shm *shm;
	struct log log;
	struct alert alert;
	struct call calls[CALLS_MAX];
	int calls_len;
	int64_t now_ms;
	bool refuse;
	pid_t next_pid;
};

static pid_t
note_call(void *arg, const char *path, char *const *argv, char *const *envp)
{
	struct desk *d = arg;
	struct call *c = &d->calls[d->calls_len % CALLS_MAX];
	int i;

	if (d->refuse) {
		errno = EAGAIN;
		return -1;
	}
	memset(c, 0, sizeof *c);
	snprintf(c->path, sizeof c->path, "%s", path);
	snprintf(c->name, sizeof c->name, "%s", argv[0]);
	snprintf(c->event, sizeof c->event, "%s", argv[1]);
	if (argv[2] != NULL)
		snprintf(c->event, sizeof c->event, "too many arguments");
	for (i = 0; envp[i] != NULL && i < 10; i++)
		snprintf(c->env[i], sizeof c->env[i], "%s", envp[i]);
	c->env_len = i;
	d->calls_len++;
	return ++d->next_pid;
}

static const char *
last_env(const struct desk *d, const char *name)
{
	const struct call *c = &d->calls[(d->calls_len - 1) % CALLS_MAX];
	size_t len = strlen(name);
	int i;

	for (i = 0; d->calls_len > 0 && i < c->env_len; i++)
		if (strncmp(c->env[i], name, len) == 0 && c->env[i][len] == '=')
			return c->env[i] + len + 1;
	return "(none)";
}

static struct desk *
open_desk(uint32_t workers)
{
	struct desk *d = calloc(1, sizeof *d);

	if (d == NULL)
		bail_out("no memory");
	d->shm = shm_new(1, workers, -1);
	if (d->shm == NULL)
		bail_out("shm_new");
	d->log.who = "t_alert";
	d->now_ms = START_MS;
	d->next_pid = 1 << 30;	/* nobody's */
	d->alert = (struct alert){
		.command = "/usr/lib/tell", .instance = "here:/run/idem",
		.shm = d->shm, .log = &d->log, .run = note_call, .arg = d
	};
	return d;
}

static void
close_desk(struct desk *d)
{
	shm_free(d->shm);
	free(d);
}

/* Which command is started at that time; it ends well at once.  The log is of
   that time, too. */
static const char *
at(struct desk *d, int64_t ms)
{
	int before = d->calls_len;

	d->log.len = 0;
	d->now_ms = START_MS + ms;
	alert_turn(&d->alert, d->now_ms);
	if (d->calls_len == before)
		return "nothing";
	alert_reaped(&d->alert, d->next_pid, 0);
	return d->calls[(d->calls_len - 1) % CALLS_MAX].event;
}

static int64_t
due(const struct desk *d)
{
	int64_t ms = alert_due_ms(&d->alert, d->now_ms);

	if (ms == INT64_MAX)
		return -1;
	return (ms < d->now_ms ? d->now_ms : ms) - START_MS;
}

/* As a worker that finds so. */
static void
find(struct desk *d, bool away, const char *why)
{
	shm_away_set(d->shm, 0, SHM_AWAY_SHARED, away);
	alert_tell(d->shm, away ? ALERT_SHARED_AWAY : ALERT_SHARED_BACK, why);
}

/* --- one ------------------------------------------------------------------ */

static bool
is_woken(const struct shm *shm)
{
	uint64_t n;

	return read(shm->wake_master, &n, sizeof n) == (ssize_t)sizeof n;
}

static void
test_texts(void)
{
	unsigned i, k, twice = 0;

	for (i = 0; i < ALERT_KINDS; i++)
		for (k = 0; k < i; k++)
			twice += strcmp(alert_text((enum alert_kind)i),
			    alert_text((enum alert_kind)k)) == 0;
	is_int(twice, 0, "every kind of alert has a name of its own");
}

static void
test_one(void)
{
	struct desk *d = open_desk(2);
	char text[2 * SHM_WHAT];
	const char *time;

	is(at(d, 0), "nothing", "nothing is told, nobody is called");
	is_int(due(d), -1, "nor is it ever time to");
	ok(!is_woken(d->shm), "the master sleeps");
	find(d, true, "redis at unix:/x: refused");
	ok(is_woken(d->shm), "who tells wakes the master");
	is_int(due(d), 0, "what is told is due at once");
	is(at(d, 1), "redis-away", "the command is called with the event");
	is(d->calls[0].path, "/usr/lib/tell", "it is the one that was named");
	is(d->calls[0].name, "/usr/lib/tell", "and is told its own name");
	is_int(d->calls[0].env_len, 8, "it gets eight variables");
	is(last_env(d, "IDEM_EVENT"), "redis-away", "the event");
	is(last_env(d, "IDEM_WHAT"), "redis at unix:/x: refused", "what it is");
	is(last_env(d, "IDEM_INSTANCE"), "here:/run/idem", "who tells it");
	is(last_env(d, "IDEM_LEFT_OUT"), "0", "how many were left out");
	is(last_env(d, "IDEM_KEYS"), "", "no keys, where it is of none");
	is(last_env(d, "IDEM_KEYS_LEFT_OUT"), "0", "nor such that are not "
	    "said");
	ok(strncmp(last_env(d, "PATH"), "/usr/", 5) == 0, "a plain PATH");
	time = last_env(d, "IDEM_TIME");
	ok(strlen(time) == 20 && time[10] == 'T' && time[19] == 'Z' &&
	    time[0] == '2', "and when it was: %s", time);
	is_int((long long)shm_count(d->shm, SHM_ALERTS), 1, "it is counted");
	is(at(d, 60000), "nothing", "once told it is told");

	memset(text, 'x', sizeof text);
	memcpy(text, "a\nb\x80", 4);
	text[sizeof text - 1] = '\0';
	find(d, false, text);
	is(at(d, 60000), "redis-back", "the other of the pair is told too");
	is_int((long long)strlen(last_env(d, "IDEM_WHAT")), SHM_WHAT - 1,
	    "a long text is cut");
	ok(strncmp(last_env(d, "IDEM_WHAT"), "a?b?x", 5) == 0,
	    "and has no bytes that are not of a text");
	close_desk(d);
}

static void
test_nobody(void)
{
	struct desk *d = open_desk(1);

	d->alert.command = NULL;
	find(d, true, "gone");
	is(at(d, 0), "nothing", "without a command none is called");
	is_int(due(d), -1, "and none is due");
	close_desk(d);
}

/* --- not too often -------------------------------------------------------- */

static void
test_often(void)
{
	struct desk *d = open_desk(1);

	alert_tell(d->shm, ALERT_UNKNOWN_KEY, "first");
	is(at(d, 0), "unknown-key", "the first is told at once");
	alert_tell(d->shm, ALERT_UNKNOWN_KEY, "second");
	alert_tell(d->shm, ALERT_UNKNOWN_KEY, "third");
	alert_tell(d->shm, ALERT_UNKNOWN_KEY, "fourth");
	is(at(d, 9999), "nothing", "for 10 s no other of its kind is");
	is_int(due(d), 10000, "but is due then");
	alert_tell(d->shm, ALERT_TWO_RUNS, "f3efcbf4");
	is(at(d, 9999), "two-runs", "another kind is told meanwhile");
	is(at(d, 10000), "unknown-key", "after 10 s the next is told");
	is(last_env(d, "IDEM_WHAT"), "fourth", "the newest");
	is(last_env(d, "IDEM_LEFT_OUT"), "2", "with a count of the others");
	is(at(d, 30000), "nothing", "which are not told again");
	close_desk(d);
}

static void
tell_key(struct desk *d, unsigned n)
{
	struct idem_digest key = { .at = { 0xab, (uint8_t)n } };
	char what[32];

	snprintf(what, sizeof what, "key %u", n);
	alert_tell_key(d->shm, ALERT_UNKNOWN_KEY, &key, what);
}

/* Whoever is told is to find each of them. */
static void
test_keys(void)
{
	struct desk *d = open_desk(1);
	unsigned i;

	tell_key(d, 1);
	is(at(d, 0), "unknown-key", "a key is told");
	is(last_env(d, "IDEM_KEYS"), "ab01000000000000", "by its digits");
	tell_key(d, 2);
	tell_key(d, 3);
	tell_key(d, 2);
	is(at(d, 10000), "unknown-key", "others are told as one");
	is(last_env(d, "IDEM_WHAT"), "key 2", "in the words of the newest");
	is(last_env(d, "IDEM_KEYS"), "ab02000000000000 ab03000000000000",
	    "with the digits of all, once each");
	is(last_env(d, "IDEM_LEFT_OUT"), "2", "with a count");
	is(last_env(d, "IDEM_KEYS_LEFT_OUT"), "0", "and no key is left out");
	for (i = 0; i < 100; i++)
		tell_key(d, i);
	is(at(d, 20000), "unknown-key", "so are a hundred");
	is(last_env(d, "IDEM_KEYS"), "ab5c000000000000 ab5d000000000000 "
	    "ab5e000000000000 ab5f000000000000 ab60000000000000 "
	    "ab61000000000000 ab62000000000000 ab63000000000000",
	    "with the last eight");
	is(last_env(d, "IDEM_KEYS_LEFT_OUT"), "92", "and how many keys are "
	    "left out");
	close_desk(d);
}

/* What is known of a run; a path is the client's. */
static void
test_run(void)
{
	struct idem_note run = {
		.why = IDEM_WHY_SIGNAL, .why_code = 9,
		.what = "POST /a`b;$(c)", .route = "route at /etc/i.conf:3"
	};
	struct idem_digest key = { .at = { 0xcd } };
	struct desk *d = open_desk(1);

	alert_tell_run(d->shm, ALERT_UNKNOWN_KEY, &key, &run);
	is(at(d, 0), "unknown-key", "a run is told");
	is(last_env(d, "IDEM_WHAT"), "key cd00000000000000: POST /a?b???c?: "
	    "ended by signal 9 (SIGKILL) (route at /etc/i.conf:3)",
	    "with request, evidence and route, and nothing for a shell");
	memset(run.what, 'x', sizeof run.what - 1);
	memset(run.route, 'y', sizeof run.route - 1);
	alert_tell_run(d->shm, ALERT_UNKNOWN_KEY, &key, &run);
	is(at(d, 10000), "unknown-key", "one of long words too");
	ok(strstr(last_env(d, "IDEM_WHAT"), "(SIGKILL) (yyy") != NULL,
	    "of which each has some room");
	alert_tell_run(d->shm, ALERT_UNKNOWN_KEY, &key, NULL);
	is(at(d, 20000), "unknown-key", "and one of which nothing is known");
	is(last_env(d, "IDEM_WHAT"), "key cd00000000000000", "but its key");
	is(last_env(d, "IDEM_KEYS"), "cd00000000000000", "which is said");
	close_desk(d);
}

static void
test_one_at_a_time(void)
{
	struct desk *d = open_desk(1);

	alert_tell(d->shm, ALERT_UNKNOWN_KEY, "one");
	alert_tell(d->shm, ALERT_TWO_RUNS, "two");
	alert_turn(&d->alert, d->now_ms);
	alert_turn(&d->alert, d->now_ms);
	is_int(d->calls_len, 1, "while one is called no other is");
	is_int(due(d), ALERT_LIMIT_MS, "it has its time");
	ok(!alert_reaped(&d->alert, d->next_pid - 1, 0),
	    "the end of another child is not its end");
	ok(alert_reaped(&d->alert, d->next_pid, 0), "its own is");
	is_int(due(d), 0, "and then the other is due");
	is(at(d, 0), "two-runs", "and called");
	close_desk(d);
}

static void
test_refused(void)
{
	struct desk *d = open_desk(1);

	d->refuse = true;
	alert_tell(d->shm, ALERT_UNKNOWN_KEY, "one");
	is(at(d, 0), "nothing", "without a process nobody is called");
	ok(memmem(d->log.at, d->log.len, "alert=unknown-key error=", 24) !=
	    NULL, "the log says so");
	d->refuse = false;
	is(at(d, 9999), "nothing", "it is not tried in a loop");
	is(at(d, 10000), "unknown-key", "but tried again");
	is(last_env(d, "IDEM_WHAT"), "one", "and nothing is lost");
	close_desk(d);
}

/* --- the last word is the truth ------------------------------------------- */

/* One letter an event: what is found, a or b; what is called, A or B. */
static void
letters(struct desk *d, int64_t until_ms, char *out, size_t size)
{
	const char *called;
	size_t len = 0;
	int64_t ms;

	for (ms = d->now_ms - START_MS; ms <= until_ms && len + 1 < size;
	    ms += 500) {
		called = at(d, ms);
		if (strcmp(called, "redis-away") == 0)
			out[len++] = 'A';
		else if (strcmp(called, "redis-back") == 0)
			out[len++] = 'B';
	}
	out[len] = '\0';
}

static const struct {
	const char *what, *found, *called;
} flaps[] = {
	{ "an outage is told once", "a", "A" },
	{ "a short one is told with its end", "ab", "AB" },
	{ "of two short ones the last word is the end", "abab", "AB" },
	{ "of an outage, its end and another the last word is the outage",
	  "aba", "BA" },
	{ "of many too", "abababa", "BA" },
};

static void
test_flaps(void)
{
	char called[16];
	const char *p;
	struct desk *d;
	size_t i;

	for (i = 0; i < sizeof flaps / sizeof *flaps; i++) {
		d = open_desk(1);
		for (p = flaps[i].found; *p != '\0'; p++)
			find(d, *p == 'a', "found");
		letters(d, 60000, called, sizeof called);
		is(called, flaps[i].called, "%s", flaps[i].what);
		close_desk(d);
	}
	/* The same within the 10 s after both were told. */
	d = open_desk(1);
	find(d, true, "1");
	find(d, false, "1");
	letters(d, 1000, called, sizeof called);
	is(called, "AB", "an outage and its end are told");
	find(d, true, "2");
	find(d, false, "2");
	find(d, true, "3");
	is(at(d, 5000), "nothing", "what follows at once has to wait");
	is(at(d, 10000), "nothing", "the outage for the end before it");
	is(at(d, 10500), "redis-back", "which goes first");
	is_int(due(d), 10500, "then it is due");
	is(at(d, 10500), "redis-away", "and is the last word");
	is(last_env(d, "IDEM_WHAT"), "3", "with its own text");
	is(last_env(d, "IDEM_LEFT_OUT"), "1", "and a count of the other");
	is(at(d, 60000), "nothing", "that is all");
	close_desk(d);
}

/* Workers die, and what they found is nobody's. */
static void
test_nobody_told(void)
{
	struct desk *d = open_desk(2);

	find(d, true, "refused");
	is(at(d, 0), "redis-away", "one that finds it away tells");
	is_int(shm_away_clear(d->shm, 0), SHM_AWAY_SHARED,
	    "it dies, and nobody finds it so");
	is(at(d, 1000), "nothing", "that is no news yet");
	is_int(due(d), 1000 + 2000, "but would be soon");
	shm_away_set(d->shm, 1, SHM_AWAY_SHARED, true);
	alert_tell(d->shm, ALERT_SHARED_AWAY, "refused");
	is(at(d, 2900), "nothing", "another finds it so: nothing was wrong");
	is(at(d, 10000), "redis-away", "and tells in its turn");
	shm_away_clear(d->shm, 1);
	is(at(d, 11000), "nothing", "that one dies too");
	is(at(d, 12999), "nothing", "it takes two seconds");
	is(at(d, 13000), "redis-back", "then the operator hears that it is "
	    "back, though nobody has told");
	is(last_env(d, "IDEM_WHAT"), "the shared Redis is back",
	    "in words of our own");
	is(at(d, 60000), "nothing", "once");
	is_int(due(d), -1, "and nothing is due");
	close_desk(d);
}

/* Cut off between its number and its words, or two in one place. */
static void
test_torn(void)
{
	struct desk *d = open_desk(1);

	alert_tell(d->shm, ALERT_UNKNOWN_KEY, "whole");
	atomic_fetch_add(&d->shm->alert[ALERT_UNKNOWN_KEY].count, 1);
	is(at(d, 0), "unknown-key", "an alert is told though who told it died");
	is(last_env(d, "IDEM_WHAT"), "nobody can say how a run ended",
	    "in words of our own");
	is(last_env(d, "IDEM_LEFT_OUT"), "1", "with a count of the others");
	alert_tell(d->shm, ALERT_UNKNOWN_KEY, "whole");
	atomic_fetch_xor(&d->shm->alert[ALERT_UNKNOWN_KEY].
	    newest[3 % SHM_SAYINGS].what[0], 0x20);
	is(at(d, 10000), "unknown-key", "also when two wrote at once");
	is(last_env(d, "IDEM_WHAT"), "nobody can say how a run ended",
	    "and no mixture of their words");
	close_desk(d);
}

/* --- many at once --------------------------------------------------------- */

struct crowd {
	struct shm *shm;
	atomic_uint running;
	atomic_uint letter;
};

static void *
tell_much(void *arg)
{
	struct crowd *c = arg;
	unsigned i, me = atomic_fetch_add(&c->letter, 1);
	char text[SHM_WHAT];

	memset(text, (int)('a' + me), sizeof text - 1);
	text[sizeof text - 1] = '\0';
	for (i = 0; i < TELLINGS; i++) {
		alert_tell(c->shm, ALERT_UNKNOWN_KEY, text);
		if (i % 64 == 0)
			sched_yield();
	}
	atomic_fetch_sub(&c->running, 1);
	return NULL;
}

static bool
is_mixed(const char *what)
{
	if (strcmp(what, "nobody can say how a run ended") == 0)
		return false;
	return strlen(what) != SHM_WHAT - 1 ||
	    strspn(what, (char[]){ what[0], '\0' }) != SHM_WHAT - 1;
}

static void
test_crowd(void)
{
	struct desk *d = open_desk(1);
	struct crowd c = { .shm = d->shm };
	unsigned long told = 0, mixed = 0, whole = 0;
	pthread_t threads[TELLERS];
	bool running;
	int64_t ms = 0;
	int i;

	atomic_store(&c.running, TELLERS);
	for (i = 0; i < TELLERS; i++)
		if (pthread_create(&threads[i], NULL, tell_much, &c) != 0)
			bail_out("pthread_create");
	do {
		running = atomic_load(&c.running) > 0;
		ms += ALERT_EVERY_MS;
		if (strcmp(at(d, ms), "nothing") == 0)
			continue;
		told += 1 + strtoul(last_env(d, "IDEM_LEFT_OUT"), NULL, 10);
		mixed += is_mixed(last_env(d, "IDEM_WHAT"));
		whole += last_env(d, "IDEM_WHAT")[1] ==
		    last_env(d, "IDEM_WHAT")[0];
	} while (running);
	for (i = 0; i < TELLERS; i++)
		pthread_join(threads[i], NULL);
	is_int((long long)told, TELLERS * TELLINGS,
	    "of all that many tell at once every one is counted");
	is_int((long long)mixed, 0, "and no text is a mixture of two");
	ok(whole > 0, "most are whole: %lu of %d", whole, d->calls_len);
	close_desk(d);
}

int
main(void)
{
	test_texts();
	test_one();
	test_nobody();
	test_often();
	test_keys();
	test_run();
	test_one_at_a_time();
	test_refused();
	test_flaps();
	test_nobody_told();
	test_torn();
	test_crowd();
	return done();
}
