/* SPDX-License-Identifier: ISC */
#include "redis_desk.h"
#include "redis_fake.h"

#include "tap.h"

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* Nothing stretches a deadline, and none takes more than its own command. */
#define DEADLINE_MS 400
#define PATIENCE_MS 20000	/* where it is not reached */
#define SILENT_MS 1000		/* far more than between two drips */

static void
in_time(const struct redis_told *t, const char *class, const char *what)
{
	is(t->answers == 1 ? redis_desk_class(t->meaning.class) : "none",
	    class, "%s", what);
	ok(t->answered_ms >= t->deadline_ms && !t->late,
	    "at its deadline (%lld ms): %s",
	    (long long)(t->answered_ms - t->asked_ms), t->error);
}

/* --- the server ----------------------------------------------------------- */

static void
drips(void)
{
	static const char *const script[] = { "accept", "expect 1",
		"drip 100 $200\r\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
		"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		NULL };
	struct redis_fake f;
	struct redis_desk d;
	struct redis_told t;

	redis_fake_tcp(&f, 5);
	redis_fake_play(&f, script);
	redis_desk_open(&d, f.url, NULL);
	d.redis.timeout_ms = SILENT_MS;
	redis_desk_ask(&d, &t, DEADLINE_MS, "GET a");
	in_time(&t, "maybe", "a reply that drips has no more time");
	ok((d.fd >= 0 || t.answered_ms > t.deadline_ms + SILENT_MS / 2) &&
	    redis_desk_until_open(&d, false) && f.steps == 2,
	    "a reply that only drips is given up with its connection");
	redis_desk_close(&d);
	redis_fake_end(&f);
}

static void
ignore(void *arg, const struct idem_redis_wire_answer *answer)
{
	(void)arg;
	(void)answer;
}

/* A part of it leaves, and the server reads none of it. */
static void
large_command(void)
{
	static const char *const script[] = { "accept", "hold", NULL };
	static char large[8 << 20];
	const struct idem_bytes args[] = {
		{ "SET", 3 }, { "a", 1 }, { large, sizeof large }
	};
	struct redis_fake f;
	struct redis_desk d;
	struct redis_told behind, first;

	redis_fake_unix(&f, 5);
	redis_fake_play(&f, script);
	redis_desk_open(&d, f.url, NULL);
	d.redis.timeout_ms = PATIENCE_MS;	/* no silence */
	redis_desk_send(&d, &first, 4 * DEADLINE_MS, "PING");
	redis_desk_turn(&d, 0);
	if (!idem_redis_wire_send(d.wire, args, 3, NULL,
	    first.asked_ms + PATIENCE_MS, ignore, NULL))
		bail_out("no memory");
	redis_desk_send(&d, &behind, 4 * DEADLINE_MS, "GET a");
	redis_desk_until(&d, &behind);
	in_time(&behind, "refused",
	    "what stands behind a large command has not been sent");
	ok(behind.sent_ms == 0 && first.answers == 1 &&
	    first.meaning.class == IDEM_CLASS_MAYBE && first.sent_ms > 0,
	    "and what went before it has");
	redis_desk_close(&d);
	redis_fake_release(&f);
	redis_fake_end(&f);
}

/* --- signals -------------------------------------------------------------- */

static volatile sig_atomic_t signals;

static void
on_signal(int number)
{
	(void)number;
	signals++;
}

#define SIGNALS_MIN 4
#define ASKS_MAX 10

static void
ask_interrupted(struct redis_told *t)
{
	static const char *const script[] = { "accept", "expect 1", "left",
		NULL };
	const struct itimerval often = { { 0, 5000 }, { 0, 5000 } };
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };
	struct redis_fake f;
	struct redis_desk d;

	redis_fake_tcp(&f, 5);
	redis_fake_play(&f, script);
	redis_desk_open(&d, f.url, NULL);
	signals = 0;
	setitimer(ITIMER_REAL, &often, NULL);
	redis_desk_ask(&d, t, DEADLINE_MS, "GET a");
	setitimer(ITIMER_REAL, &never, NULL);
	redis_desk_close(&d);
	redis_fake_end(&f);
}

/* All that come while we are held up are one: then it has shown nothing. */
static void
interrupted(int flags, const char *what)
{
	struct sigaction action = { .sa_handler = on_signal,
		.sa_flags = flags };
	struct redis_told t;
	int i = 0;

	sigaction(SIGALRM, &action, NULL);
	do
		ask_interrupted(&t);
	while (signals < SIGNALS_MIN && ++i < ASKS_MAX);
	in_time(&t, "maybe", what);
	ok(signals >= SIGNALS_MIN, "and signals came (%d)", (int)signals);
}

/* --- names ---------------------------------------------------------------- */

static int stuck[2];

static const char *
never(const char *host, struct idem_redis_addresses *found)
{
	struct pollfd p = { .fd = stuck[0], .events = POLLIN };

	(void)host;
	(void)found;
	poll(&p, 1, -1);
	return "the test is over";
}

static void
dead_resolver(void)
{
	struct redis_desk d;
	struct redis_told t;

	if (pipe(stuck) != 0)
		bail_out("no pipe");
	redis_desk_open(&d, "redis://cache.example", never);
	redis_desk_ask(&d, &t, DEADLINE_MS, "GET a");
	in_time(&t, "refused", "a dead resolver costs the deadline");
	redis_desk_ask(&d, &t, DEADLINE_MS, "GET a");
	in_time(&t, "refused", "and the next time again no more");
	redis_desk_close(&d);
	close(stuck[1]);
}

static struct idem_redis_addresses given;

static const char *
two(const char *host, struct idem_redis_addresses *found)
{
	if (strcmp(host, "cache.example") != 0)
		return "no such name";
	*found = given;
	return NULL;
}

static void
give(const char *numeric)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct idem_redis_address *a = &given.at[given.len++];

	inet_pton(AF_INET, numeric, &v4.sin_addr);
	memcpy(&a->at, &v4, sizeof v4);
	a->len = sizeof v4;
}

/* 127.0.0.2 refuses: the fake listens at 127.0.0.1 only. */
static void
second_address(void)
{
	static const char *const script[] = { "accept", "expect 1",
		"say +PONG\r\n", "left", NULL };
	struct redis_fake f;
	struct redis_desk d;
	struct redis_told t;
	char url[64];

	redis_fake_tcp(&f, 5);
	redis_fake_play(&f, script);
	snprintf(url, sizeof url, "redis://cache.example:%d", f.port);
	given.len = 0;
	give("127.0.0.2");
	give("127.0.0.1");
	redis_desk_open(&d, url, two);
	redis_desk_ask(&d, &t, PATIENCE_MS, "PING");
	is(t.text, "PONG", "an address that refuses is followed by the next");
	redis_desk_close(&d);
	redis_fake_end(&f);
	is_int(f.accepts, 1, "of the same name");

	given.len = 0;
	give("127.0.0.2");
	redis_desk_open(&d, url, two);
	redis_desk_ask(&d, &t, PATIENCE_MS, "PING");
	is(redis_desk_class(t.meaning.class), "refused",
	    "if all of them refuse so is the command");
	redis_desk_close(&d);

	redis_desk_open(&d, "redis://other.example", two);
	redis_desk_ask(&d, &t, PATIENCE_MS, "PING");
	is(t.error, "other.example:6379: no such name",
	    "a name that is none is told at once");
	redis_desk_close(&d);
}

/* --- connecting ----------------------------------------------------------- */

/* The greeting is not answered: what waits for it was not sent. */
static void
no_greeting(void)
{
	static const char *const script[] = { "accept", "expect 1", "left",
		NULL };
	struct redis_fake f;
	struct redis_desk d;
	struct redis_told t;

	redis_fake_tcp(&f, 5);
	redis_fake_play(&f, script);
	redis_desk_open(&d, f.url, NULL);
	d.redis.timeout_ms = 2 * DEADLINE_MS;
	d.options.password = "secret";
	redis_desk_ask(&d, &t, DEADLINE_MS, "GET a");
	in_time(&t, "refused", "a frozen server that has not even greeted "
	    "us was not sent it [redis:3]");
	ok(t.sent_ms == 0 && redis_desk_until_open(&d, false),
	    "and after timeout_ms the connection is given up");
	redis_desk_close(&d);
	redis_fake_end(&f);
}

int
main(void)
{
	drips();
	large_command();
	interrupted(0, "a signal does not make it longer");
	interrupted(SA_RESTART, "nor one that restarts calls");
	dead_resolver();
	second_address();
	no_greeting();
	return done();
}
