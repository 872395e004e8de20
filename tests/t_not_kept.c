/* SPDX-License-Identifier: ISC */
#include "ask.h"

#include "ctl_run.h"
#include "redis_rig.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

/*
 * A completed key without any answer: the operator has said that it is done, or
 * the scheme keeps none.  Of many who ask at once the first claims and the
 * others wait for it; each is told, and the worker goes on.
 */
#define CROWD 30
#define WAIT "60s"		/* nobody may wait so long: it is over first */

static struct rig rig;

static void
ask_all_at_once(const char *key, const char *what)
{
	const struct rig_request request = { .method = "POST", .path = "/o",
		.key = key, .body = idem_bytes_text("tea") };
	struct rig_answer answer;
	int fd[CROWD], i, right = 0;

	for (i = 0; i < CROWD; i++)
		fd[i] = ask_begin(&rig, &request);
	for (i = 0; i < CROWD; i++) {
		ask_end(&rig, fd[i], &answer);
		right += answer.status == 409 && strcmp(rig_field(&answer,
		    "Idempotency-Status"), "not-kept") == 0;
		rig_answer_free(&answer);
	}
	is_int(right, CROWD, "%s: each of many at once is told so", what);
}

/* The only one. */
static void
resolve(void)
{
	const char *listed, *line;
	char key[17];

	ctl_run(&listed, "list --ledger sqlite:%s", rig.ledger);
	line = strchr(listed, '\n');	/* under the names of its columns */
	snprintf(key, sizeof key, "%s", line != NULL ? line + 1 : "");
	ctl_run_is(0, "", "the operator does: it is done",
	    "resolve %s done --force --ledger sqlite:%s", key, rig.ledger);
}

static void
test_resolved(void)
{
	rig_open(&rig);
	rig_program(&rig, "order", COUNT "kill -9 $$\n");
	ask_start(&rig, (const char *[]){ "--workers", "1",
	    "--in-progress", "wait:" WAIT, "--", rig_at(&rig, "order"), NULL });
	ask(&rig, &(struct rig_request){ .method = "POST", .path = "/o",
	    .key = "r1", .body = idem_bytes_text("tea") }, "504 unknown",
	    "nobody knows what a program did that was killed");
	resolve();
	ask_all_at_once("r1", "what is done has no answer");
	is_int(starts(&rig), 1, "it was started once");
	is_int(rig_stop(&rig, 30000), 0, "and idemd ends as it should");
	rig_end(&rig);
}

/* Whoever has run it may still have its answer: another instance has not. */
static void
test_setnx(void)
{
	static const char conf[] = "workers = 1\nlocal_cache = 'none'\n"
	    "run = '%s/run'\n"
	    "shared = redis { url = '%s', timeout = '10s', budget = '20s' }\n"
	    "route { path = '/**', arbiter = 'redis', scheme = 'setnx',\n"
	    "    in_progress = 'wait', wait = '" WAIT "',\n"
	    "    program = cgi { '%s/order' } }\n";
	struct redis_rig redis;
	char text[1000];

	redis_rig_start(&redis, NULL);
	rig_open(&rig);
	rig.bare = true;
	rig_program(&rig, "order", COUNT "printf 'Status: 201\\n\\ndone'\n");
	snprintf(text, sizeof text, conf, rig.folder, redis.url, rig.folder);
	rig_file(&rig, "idem.conf", text);
	ask_start(&rig, (const char *[]){ "--config",
	    rig_at(&rig, "idem.conf"), NULL });
	ask(&rig, &(struct rig_request){ .method = "POST", .path = "/o",
	    .key = "s1", .body = idem_bytes_text("tea") }, "201 stored",
	    "it runs");
	ask_all_at_once("s1", "SET NX keeps no answer");
	is_int(starts(&rig), 1, "it was started once");
	is_int(rig_stop(&rig, 30000), 0, "and idemd ends as it should");
	rig_end(&rig);
	redis_rig_end(&redis);
}

int
main(void)
{
	test_resolved();
	if (redis_rig_missing() == NULL)
		test_setnx();
	else
		skip(redis_rig_missing(), "SET NX keeps no answer");
	return done();
}
