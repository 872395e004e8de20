/* SPDX-License-Identifier: ISC */
#include "cgi_rig.h"

#include "redis_rig.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Each request of idem-cgi is a process that tidies up behind itself: not all
 * of them go through a Redis that they share with others.
 */
#define RECORDS 300
#define REQUESTS 20
#define WAIT_MS 20000
#define CALLS 2000	/* a round asks about all 300: six rounds in 20
			   requests are one chance in a million */

static const char conf[] =
    "run = '%s/run'\n"
    "shared = redis { url = '%s', timeout = '25s', budget = '25s' }\n"
    "route { path = '/**', arbiter = 'redis', program = cgi {} }\n";

static struct redis_rig redis;
static struct rig rig;

/* What lies there need not be read to be asked about. */
static void
fill(void)
{
	char key[80];
	int i;

	for (i = 0; i < RECORDS; i++) {
		snprintf(key, sizeof key, "idem:%064x", i);
		redis_rig_say(&redis, "SET", key, "x", NULL);
	}
}

static long
calls(void)
{
	static const char count[] = "cmdstat_evalsha:calls=";
	const char *at;

	redis_rig_await(&redis, WAIT_MS, count, "INFO", "commandstats", NULL);
	at = strstr(redis_rig_say(&redis, "INFO", "commandstats", NULL), count);
	return at != NULL ? atol(at + sizeof count - 1) : 0;
}

static int
ask_all(void)
{
	char variable[RIG_PATH + 20], key[20];
	struct rig_answer answer;
	int i, stored = 0;

	snprintf(variable, sizeof variable, "IDEM_CONFIG=%s",
	    rig_at(&rig, "idem.conf"));
	for (i = 0; i < REQUESTS; i++) {
		snprintf(key, sizeof key, "k%d", i);
		cgi_ask(&rig, &(struct cgi_ask){
		    .program = "order", .key = key,
		    .env = (const char *const[]){ "IDEM_LEDGER", variable,
		    NULL } }, &answer);
		stored += strcmp(rig_field(&answer, "Idempotency-Status"),
		    "stored") == 0;
		rig_answer_free(&answer);
	}
	return stored;
}

int
main(void)
{
	char text[600];
	long n;

	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	rig_open(&rig);
	if (!cgi_open(&rig)) {
		rig_end(&rig);
		skip_all("idem-cgi is not built");
	}
	redis_rig_start(&redis, NULL);
	rig_program(&rig, "order", "#!/bin/sh\nprintf 'Status: 201\\n\\nok'\n");
	snprintf(text, sizeof text, conf, rig.folder, redis.url);
	rig_file(&rig, "idem.conf", text);
	fill();
	redis_rig_say(&redis, "CONFIG", "RESETSTAT", NULL);
	is_int(ask_all(), REQUESTS, "each request has run");
	ok(cgi_await_none(&rig), "and nothing of it is left");
	n = calls();
	ok(n >= 2 * REQUESTS && n < CALLS,
	    "few of them went through all of Redis: %ld calls", n);
	rig_end(&rig);
	redis_rig_end(&redis);
	return done();
}
