/* SPDX-License-Identifier: ISC */
#include "ask.h"

#include "redis_rig.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * What each choice of on_outage does while Redis is away, and after it is
 * back: what it gives up is asserted as well as what it keeps.
 */
static struct redis_rig redis;
static struct rig rig;

static const char conf[] =
    "workers = 2\n"
    "local_cache = 'none'\n"
    "ledger = sqlite { path = '%s/ledger.db', create = true }\n"
    "shared = redis { url = '%s', timeout = '10s', budget = '20s',\n"
    "    probe = '500ms' }\n"
    "alert = '%s/alert'\n"
    "local order = cgi { '%s/order' }\n"
    "route { path = '/reject', arbiter = 'redis', program = order }\n"
    "route { path = '/memory', arbiter = 'redis', on_outage = 'memory',\n"
    "    program = order }\n"
    "route { path = '/database', arbiter = 'redis',\n"
    "    on_outage = 'database', program = order }\n"
    "route { path = '/pass', arbiter = 'redis', on_outage = 'pass',\n"
    "    program = order }\n"
    "route { path = '/ledger', program = order }\n";

static const char program[] = "#!/bin/sh\n"
    "echo \"$SCRIPT_NAME $HTTP_IDEMPOTENCY_KEY\" >>starts\n"
    "printf 'Status: 201\\n\\norder %s' $(wc -l <starts)\n";

static const char alert[] = "#!/bin/sh\n"
    "echo \"$1 $IDEM_EVENT\" >>%s/alerts\n";

static void
row(const char *path, const char *key, const char *want, const char *what)
{
	ask(&rig, &(struct rig_request){ .method = "POST", .path = path,
	    .key = key, .body = idem_bytes_text("tea") }, want, "%s: %s", path,
	    what);
}

static long
started(const char *path, const char *key)
{
	char line[100];

	snprintf(line, sizeof line, "%s %s", path, key);
	return rig_lines(&rig, "starts", line);
}

static void
test_away(void)
{
	redis_rig_kill(&redis);
	row("/reject", "r1", "503 not-started", "nothing starts");
	is_int(started("/reject", "r1"), 0, "and nothing has");
	row("/ledger", "l1", "201 stored", "a ledger's keys know no Redis");

	row("/memory", "m1", "201 unprotected", "the host's memory permits");
	row("/memory", "m1", "201 unprotected",
	    "and what it has is sent again");
	row("/memory", "m1", "201 unprotected", "by whatever worker");
	is_int(started("/memory", "m1"), 1, "so it was started once");

	row("/database", "d1", "201 unprotected", "the ledger stands in");
	row("/database", "d1", "201 unprotected", "and what it has is sent");
	is_int(started("/database", "d1"), 1, "so it was started once");

	row("/pass", "p1", "201 unprotected", "it runs");
	row("/pass", "p1", "201 unprotected", "and runs");
	is_int(started("/pass", "p1"), 2,
	    "each time: that is what was chosen");
}

/* A key that was started before the outage is not known to a stand-in. */
static void
test_known_before(void)
{
	row("/memory", "m0", "201 unprotected",
	    "what Redis had before it went is not known");
	is_int(started("/memory", "m0"), 2,
	    "so the key runs twice, as it is said to [race:2]");
	row("/reject", "r0", "503 not-started",
	    "reject does not: it cannot know, and says so [race:2]");
	is_int(started("/reject", "r0"), 1, "and nothing runs twice");
}

static void
test_back(void)
{
	redis_rig_again(&redis, true);
	ok(ask_await_logged(&rig, "redis=back", 1), "Redis is back");
	row("/reject", "r1", "201 stored", "what was refused now runs");
	is_int(started("/reject", "r1"), 1, "once");
	row("/reject", "r0", "201 replayed", "what Redis has kept is replayed");
	row("/database", "d1", "201 unprotected",
	    "what the ledger had is looked up there, for its keep");
	is_int(started("/database", "d1"), 1, "and does not run again");
	row("/memory", "m1", "201 stored",
	    "what was in memory is not known to Redis");
	is_int(started("/memory", "m1"), 2, "and runs again");
}

int
main(void)
{
	char text[2000];

	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	redis_rig_start(&redis, (const char *[]){ "--appendonly", "yes",
	    NULL });
	rig_open(&rig);
	rig.bare = true;
	rig_program(&rig, "order", program);
	snprintf(text, sizeof text, alert, rig.folder);
	rig_program(&rig, "alert", text);
	snprintf(text, sizeof text, conf, rig.folder, redis.url, rig.folder,
	    rig.folder);
	rig_file(&rig, "idem.conf", text);
	ask_start(&rig, (const char *[]){ "--config",
	    rig_at(&rig, "idem.conf"), NULL });
	ok(ask_await_logged(&rig, "warning: ", 7),
	    "each choice that breaks a promise is warned about");
	row("/memory", "m0", "201 stored", "with Redis there it decides");
	row("/reject", "r0", "201 stored", "here as well");
	test_away();
	test_known_before();
	ask_await_logged(&rig, "redis=away", 1);
	is_int(ask_logged(&rig, "redis=away"), 1,
	    "one worker tells of the outage");
	ok(rig_await_lines(&rig, "alerts", 1, 20000),
	    "and the operator's program is told");
	test_back();
	rig_end(&rig);
	redis_rig_end(&redis);
	return done();
}
