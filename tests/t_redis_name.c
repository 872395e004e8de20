/* SPDX-License-Identifier: ISC */
#include "redis_name.h"

#include "tap.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * Names to addresses.  The resolver is ours: "10.0.0.1+10.0.0.2" has these two
 * addresses, "none" has none, "stuck" waits until the test is over.
 */
#define PATIENCE_MS 30000

static atomic_int asked, ended, masked;
static int over[2];

static bool
add(struct idem_redis_addresses *to, const char *text)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct idem_redis_address *a = &to->at[to->len++];

	if (inet_pton(AF_INET, text, &v4.sin_addr) != 1)
		return false;
	memcpy(&a->at, &v4, sizeof v4);
	a->len = sizeof v4;
	return true;
}

static const char *
resolve(const char *host, struct idem_redis_addresses *found)
{
	struct pollfd p = { .fd = over[0], .events = POLLIN };
	char text[256], *rest = NULL, *word;
	const char *why = NULL;
	sigset_t mask;

	asked++;
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	masked += sigismember(&mask, SIGTERM);
	if (strncmp(host, "stuck", 5) == 0)
		poll(&p, 1, -1);
	if (strcmp(host, "failing") == 0)
		why = "no such name";
	snprintf(text, sizeof text, "%s", host);
	for (word = strtok_r(text, "+", &rest); word != NULL && why == NULL;
	    word = strtok_r(NULL, "+", &rest))
		if (!add(found, word))
			found->len = 0;
	ended++;
	return why;
}

static int64_t now;

static int64_t
now_ms(void *arg)
{
	(void)arg;
	return now;
}

static const struct idem_clock clock_of_test = { .boot_ms = now_ms };

static bool
wait_for(struct idem_redis_names *names)
{
	struct pollfd p = { .fd = idem_redis_names_fd(names),
		.events = POLLIN };

	if (poll(&p, 1, PATIENCE_MS) != 1)
		return false;
	idem_redis_names_poll(names);
	return true;
}

static const char *
show(const struct idem_redis_addresses *a, size_t i)
{
	static char text[INET6_ADDRSTRLEN];
	struct sockaddr_in6 v6;
	struct sockaddr_in v4;

	if (i >= a->len)
		return "";
	memcpy(&v4, &a->at[i].at, sizeof v4);
	memcpy(&v6, &a->at[i].at, sizeof v6);
	if (v4.sin_family == AF_INET)
		inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
	else
		inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
	return text;
}

static struct idem_redis_names *
open_names(void)
{
	struct idem_redis_names *names =
	    idem_redis_names_new(&clock_of_test, resolve);

	if (names == NULL)
		bail_out("no names");
	now = 1000;
	asked = 0;
	return names;
}

/* --- what is known -------------------------------------------------------- */

static void
numeric(void)
{
	static const char *const rows[] = {
		"127.0.0.1", "255.255.255.255", "::1", "2001:db8::1"
	};
	struct idem_redis_names *names = open_names();
	struct idem_redis_addresses found;
	const char *why = NULL;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		ok(idem_redis_names_look(names, rows[i], &found, &why) ==
		    IDEM_REDIS_NAME_KNOWN && found.len == 1,
		    "%s is an address already", rows[i]);
		is(show(&found, 0), rows[i], "and it is that one");
	}
	is_int(asked, 0, "for which nobody is asked");
	idem_redis_names_free(names);
}

static void
two_addresses(void)
{
	struct idem_redis_names *names = open_names();
	struct idem_redis_addresses found;
	const char *host = "10.0.0.1+10.0.0.2", *why = NULL;
	unsigned turn = idem_redis_names_turn(names);

	ok(idem_redis_names_look(names, host, &found, &why) ==
	    IDEM_REDIS_NAME_ASKED &&
	    idem_redis_names_look(names, host, &found, &why) ==
	    IDEM_REDIS_NAME_ASKED, "a name is asked for");
	ok(wait_for(names) && idem_redis_names_turn(names) != turn,
	    "the answer is told by a descriptor and a number");
	ok(idem_redis_names_look(names, host, &found, &why) ==
	    IDEM_REDIS_NAME_KNOWN && found.len == 2 &&
	    strcmp(show(&found, 0), "10.0.0.1") == 0 &&
	    strcmp(show(&found, 1), "10.0.0.2") == 0,
	    "all of its addresses are known, in order");
	is_int(asked, 1, "after one question");
	is_int(masked, 1, "in a thread that takes no signals");

	now += 29000;
	idem_redis_names_look(names, host, &found, &why);
	is_int(asked, 1, "they are believed for a while");
	now += 2000;
	ok(idem_redis_names_look(names, host, &found, &why) ==
	    IDEM_REDIS_NAME_KNOWN && found.len == 2,
	    "old ones are given at once");
	ok(wait_for(names) && asked == 2, "while they are asked for anew");

	idem_redis_names_doubt(names, host);
	idem_redis_names_look(names, host, &found, &why);
	is_int(asked, 2, "a doubt does not ask within a second");
	now += 1000;
	ok(idem_redis_names_look(names, host, &found, &why) ==
	    IDEM_REDIS_NAME_KNOWN && wait_for(names) && asked == 3,
	    "but after it, and the old ones are kept");
	idem_redis_names_free(names);
}

static void
failing(const char *host, const char *wanted)
{
	struct idem_redis_names *names = open_names();
	struct idem_redis_addresses found;
	const char *why = NULL;

	idem_redis_names_look(names, host, &found, &why);
	wait_for(names);
	ok(idem_redis_names_look(names, host, &found, &why) ==
	    IDEM_REDIS_NAME_FAILED && asked == 1, "a failure is kept");
	is(why, wanted, "with its reason");
	now += 1000;
	ok(idem_redis_names_look(names, host, &found, &why) ==
	    IDEM_REDIS_NAME_ASKED && wait_for(names) && asked == 2,
	    "for a second");
	idem_redis_names_free(names);
}

/* More names than are kept: the others are asked for again. */
static void
many(void)
{
	struct idem_redis_names *names = open_names();
	struct idem_redis_addresses found;
	const char *why = NULL;
	char host[64];
	int i, known = 0;

	for (i = 0; i < 200; i++) {
		snprintf(host, sizeof host, "10.0.1.%d+10.0.2.%d", i, i);
		idem_redis_names_look(names, host, &found, &why);
		wait_for(names);
		known += idem_redis_names_look(names, host, &found, &why) ==
		    IDEM_REDIS_NAME_KNOWN && found.len == 2;
	}
	is_int(known, 200, "many names are known each in its turn");
	is_int(asked, 200, "after a question each");
	idem_redis_names_look(names, "10.0.1.199+10.0.2.199", &found, &why);
	is_int(asked, 200, "the last ones are kept");
	ok(idem_redis_names_look(names, "10.0.1.0+10.0.2.0", &found, &why) ==
	    IDEM_REDIS_NAME_ASKED && wait_for(names) && asked == 201,
	    "and the first ones forgotten");
	idem_redis_names_free(names);
}

/* --- a resolver that does not return -------------------------------------- */

static int threads_before;

static int
threads(void)
{
	DIR *folder = opendir("/proc/self/task");
	int n = 0;

	if (folder == NULL)
		bail_out("no /proc");
	while (readdir(folder) != NULL)
		n++;
	closedir(folder);
	return n;
}

static void
stuck(void)
{
	struct idem_redis_names *names = open_names();
	struct idem_redis_addresses found;
	const struct timespec moment = { 0, 1000000 };
	const char *why = NULL;
	char host[64];
	int i, j, waits = 0, before;

	ended = 0;
	for (j = 0; j < 3; j++)
		for (i = 0; i < 20; i++) {
			snprintf(host, sizeof host, "stuck%d", i);
			waits += idem_redis_names_look(names, host, &found,
			    &why) == IDEM_REDIS_NAME_ASKED;
		}
	is_int(waits, 60, "who asks a dead resolver is not held up");
	for (i = 0; asked < (int)IDEM_REDIS_NAMES_ASKED && i < PATIENCE_MS; i++)
		nanosleep(&moment, NULL);
	is_int(asked, IDEM_REDIS_NAMES_ASKED,
	    "threads that wait for it are few");
	ok(idem_redis_names_look(names, "10.0.0.9", &found, &why) ==
	    IDEM_REDIS_NAME_KNOWN, "addresses need none of them");
	before = ended;
	idem_redis_names_free(names);
	is_int(ended, before, "what they work for is freed without them");
	close(over[1]);
	for (i = 0; (ended < asked || threads() > threads_before) &&
	    i < PATIENCE_MS; i++)
		nanosleep(&moment, NULL);
	ok(ended == asked && i < PATIENCE_MS, "and they end when they can");
}

static void
by_the_system(void)
{
	struct idem_redis_names *names =
	    idem_redis_names_new(&idem_clock_real, NULL);
	struct idem_redis_addresses found;
	enum idem_redis_name known;
	const char *why = NULL;

	known = idem_redis_names_look(names, "localhost", &found, &why);
	if (known == IDEM_REDIS_NAME_ASKED && wait_for(names))
		known = idem_redis_names_look(names, "localhost", &found,
		    &why);
	ok(known == IDEM_REDIS_NAME_KNOWN && found.len > 0 &&
	    (strcmp(show(&found, 0), "127.0.0.1") == 0 ||
	    strcmp(show(&found, 0), "::1") == 0),
	    "the system knows where localhost is");
	idem_redis_names_free(names);
	idem_redis_names_free(NULL);
}

int
main(void)
{
	if (pipe(over) != 0)
		bail_out("no pipe");
	threads_before = threads();
	numeric();
	two_addresses();
	failing("failing", "no such name");
	failing("none", "no address");
	many();
	by_the_system();
	stuck();
	return done();
}
