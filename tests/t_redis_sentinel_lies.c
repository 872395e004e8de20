/* SPDX-License-Identifier: ISC */
#include "redis_ask.h"
#include "redis_fake.h"
#include "redis_rig.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

/*
 * A real master and its real replica; of three Sentinels two lie, both the
 * same, and the third is real.
 */
#define NAME "orders"
#define LIARS 2
#define SILENT_MS 4000		/* who is held up for less is not silent */
#define LIMIT_MS 120000
#define SOON_MS 60000		/* each lie may cost a time-out, or two */

#define PORT "%d"		/* of the replica */
#define ADDRESS(host, port) "say *2\r\n" host port
#define LOCAL "$9\r\n127.0.0.1\r\n"

static const struct {
	const char *says, *what;
} lies[] = {
	{ ADDRESS(LOCAL, "$5\r\n" PORT "\r\n"), "a replica" },
	{ ADDRESS(LOCAL, "$1\r\n1\r\n"), "a port where nobody is" },
	{ ADDRESS("$9\r\n192.0.2.1\r\n", "$4\r\n6379\r\n"),
	    "a host that does not exist" },
	{ ADDRESS("$9\r\nno.invalid\r\n", "$4\r\n6379\r\n"),
	    "what breaks the protocol" },
	{ ADDRESS("$0\r\n\r\n", "$4\r\n6379\r\n"), "no host" },
	{ ADDRESS(LOCAL, "$1\r\n0\r\n"), "port 0" },
	{ ADDRESS(LOCAL, "$5\r\n65536\r\n"), "a port that is none" },
	{ ADDRESS(LOCAL, "$3\r\nabc\r\n"), "no number for a port" },
	{ ADDRESS(":1\r\n", ":2\r\n"), "two numbers" },
	{ "say *1\r\n$1\r\na\r\n", "half an address" },
	{ "say *-1\r\n", "nobody" },
	{ "say +OK\r\n", "something else" },
	{ "say -IDONTKNOW what\r\n", "an error" },
	{ "say HTTP/1.1 400 Bad Request\r\n\r\n", "another protocol" },
	{ "close", "nothing, and left," },
	{ "hold", "nothing" },
};

#define TIMES 11		/* it is asked again, and lies again */

struct script {
	char expect[TIMES][12], says[128];
	const char *steps[2 * TIMES + 2];
};

static void
write_script(struct script *s, const char *says, int replica)
{
	const char *port = strstr(says, PORT);
	bool speaks = strncmp(says, "say ", 4) == 0;
	size_t i, n = 0;

	snprintf(s->says, sizeof s->says, "%s", says);
	if (port != NULL)
		snprintf(s->says, sizeof s->says, "%.*s%05d%s",
		    (int)(port - says), says, replica, port + strlen(PORT));
	s->steps[n++] = "accept";
	for (i = 0; i < (speaks ? TIMES : 1); i++) {
		snprintf(s->expect[i], sizeof s->expect[i], "expect %zu",
		    i + 1);
		s->steps[n++] = s->expect[i];
		s->steps[n++] = s->says;
	}
	s->steps[n] = NULL;
}

static void
lie(const char *says, const char *what, int replica, const char *truth)
{
	const char *urls[LIARS + 1] = { NULL, NULL, truth };
	struct redis_fake liar[LIARS];
	struct redis_ask a = { .options = { .topology = IDEM_REDIS_SENTINEL,
		.master = NAME, .timeout_ms = SILENT_MS } };
	struct script script;
	size_t i;

	write_script(&script, says, replica);
	for (i = 0; i < LIARS; i++) {
		redis_fake_tcp(&liar[i], 8);
		redis_fake_play(&liar[i], script.steps);
		urls[i] = liar[i].url;
	}
	redis_ask_open(&a, urls, LIARS + 1);
	redis_ask(&a, LIMIT_MS, "k", "SET", "k", what, NULL);
	ok(a.class == IDEM_OK && a.ms < SOON_MS && a.went == 0,
	    "told %s by two of three, it finds the master: %lld ms", what,
	    (long long)a.ms);
	redis_ask_close(&a);
	for (i = 0; i < LIARS; i++)
		redis_fake_end(&liar[i]);
}

/* Its own address, and then it speaks no Redis; or it is a master indeed. */
static void
names_itself(const char *truth)
{
	struct redis_ask a = { .options = { .topology = IDEM_REDIS_SENTINEL,
		.master = NAME, .timeout_ms = SILENT_MS } };
	struct redis_fake liar;
	char says[64];
	const char *script[] = { "accept", "expect 1", says, "accept",
		"say $5\r\nhello\r\n", NULL };

	redis_fake_tcp(&liar, 8);
	snprintf(says, sizeof says, ADDRESS(LOCAL, "$5\r\n%05d\r\n"),
	    liar.port);
	redis_fake_play(&liar, script);
	redis_ask_open(&a, (const char *[]){ liar.url, truth }, 2);
	redis_ask(&a, LIMIT_MS, "k", "SET", "k", "1", NULL);
	ok(a.class == IDEM_OK && a.ms < SOON_MS,
	    "one that names itself does not hide the master: %lld ms",
	    (long long)a.ms);
	redis_ask_close(&a);
	redis_fake_end(&liar);
}

/* The master before this one, of which only this Sentinel has not heard. */
static void
names_a_dead_one(struct redis_rig *old, const char *truth)
{
	struct redis_ask a = { .options = { .topology = IDEM_REDIS_SENTINEL,
		.master = NAME, .timeout_ms = SILENT_MS } };
	struct redis_fake liar;
	char says[64];

	snprintf(says, sizeof says, ADDRESS(LOCAL, "$5\r\n%05d\r\n"),
	    old->port);
	redis_fake_tcp(&liar, 8);
	redis_fake_play(&liar, (const char *[]){ "accept", "expect 1", says,
	    NULL });
	redis_rig_freeze(old);
	redis_ask_open(&a, (const char *[]){ liar.url, truth }, 2);
	redis_ask(&a, LIMIT_MS, "k", "SET", "k", "1", NULL);
	ok(a.class == IDEM_OK && a.ms < SOON_MS,
	    "one that names a frozen master does not hide the one that lives: "
	    "%lld ms", (long long)a.ms);
	redis_ask_close(&a);
	redis_fake_end(&liar);
	redis_rig_thaw(old);
}

int
main(void)
{
	struct redis_rig master, replica, old, sentinel;
	size_t i;

	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	redis_rig_start(&master, NULL);
	redis_rig_replica(&replica, &master, NULL);
	redis_rig_start(&old, NULL);
	redis_rig_sentinel(&sentinel, NAME, master.port, 1, 30000);
	for (i = 0; i < sizeof lies / sizeof *lies; i++)
		lie(lies[i].says, lies[i].what, replica.port, sentinel.url);
	names_itself(sentinel.url);
	names_a_dead_one(&old, sentinel.url);
	redis_rig_end(&sentinel);
	redis_rig_end(&old);
	redis_rig_end(&replica);
	redis_rig_end(&master);
	return done();
}
