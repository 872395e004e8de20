/* SPDX-License-Identifier: ISC */
#include "ask.h"

#include "redis_rig.h"
#include "tap.h"
#include "token.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Keys that outlive what is kept of an answer, with each arbiter: a run that
 * goes on for longer, renewed on its way, and one that nobody knows the end of.
 * Neither is started again.
 */
#define KEEP "8s"		/* time to ask again before it is over */
#define LEASE "6s"		/* time to start within it */
#define LONGER_MS 9000

static const char conf[] =
    "workers = 2\n"
    "local_cache = 'none'\n"
    "ledger = sqlite { path = '%s/ledger.db', create = true }\n"
    "shared = redis { url = '%s', timeout = '10s', budget = '20s' }\n"
    "tokens = { keys = '%s/keys' }\n"
    "local function on(path, arbiter)\n"
    "  route { path = path, arbiter = arbiter, keep = '" KEEP "',\n"
    "      lease = '" LEASE "', in_progress = '409',\n"
    "      program = cgi { '%s/order' } }\n"
    "end\n"
    "on('/ledger', 'ledger') on('/redis', 'redis') on('/token', 'token')\n";

static const char program[] = "#!/bin/sh\n"
    "echo \"$SCRIPT_NAME $HTTP_X_ROW\" >>starts\n"
    "[ \"$HTTP_X_ROW\" = dies ] && kill -9 $$\n"
    "while [ -e hold ]; do sleep 0.02; done\n"
    "printf 'Status: 201\\n\\ndone'\n";

static struct redis_rig redis;
static struct rig rig;

struct arbiter {
	const char *path;
	char dies[IDEM_TOKEN_TEXT + 1], lasts[IDEM_TOKEN_TEXT + 1];
	int fd;
};
static struct arbiter arbiters[] = {
	{ .path = "/ledger" }, { .path = "/redis" }, { .path = "/token" }
};
#define ARBITERS (sizeof arbiters / sizeof *arbiters)

/* --- keys and requests ---------------------------------------------------- */

static void
mint(char key[IDEM_TOKEN_TEXT + 1])
{
	struct rig_answer answer;
	const char *at;

	rig_request(&rig, &(struct rig_request){ .method = "POST",
	    .path = "/.idem/token", .query = "path=/token" }, &answer);
	at = answer.body.len > 11 + IDEM_TOKEN_TEXT ?
	    answer.body.at : NULL;	/* {"token":"... */
	if (answer.status != 201 || at == NULL)
		bail_out("no token: %d", answer.status);
	memcpy(key, at + strlen("{\"token\":\""), IDEM_TOKEN_TEXT);
	key[IDEM_TOKEN_TEXT] = '\0';
	rig_answer_free(&answer);
}

static void
make_keys(struct arbiter *a)
{
	if (strcmp(a->path, "/token") == 0) {
		mint(a->dies);
		mint(a->lasts);
	} else {
		/* One program is one scope: they must differ. */
		snprintf(a->dies, sizeof a->dies, "dies-%s", a->path + 1);
		snprintf(a->lasts, sizeof a->lasts, "lasts-%s", a->path + 1);
	}
}

/* row: what the program is told, and tells of its start. */
static struct rig_request
request_of(const struct arbiter *a, const char *row)
{
	static const char *dies[] = { "HTTP_X_ROW=dies", NULL };
	static const char *lasts[] = { "HTTP_X_ROW=lasts", NULL };
	bool dying = strcmp(row, "dies") == 0;

	return (struct rig_request){ .method = "POST", .path = a->path,
		.key = dying ? a->dies : a->lasts,
		.more = dying ? dies : lasts, .body = idem_bytes_text("tea") };
}

static void
expect(const struct arbiter *a, const char *row, const char *want,
    const char *what)
{
	struct rig_request request = request_of(a, row);

	ask(&rig, &request, want, "%s: %s", a->path, what);
}

static void
expect_once(const struct arbiter *a, const char *row, const char *what)
{
	char line[64];

	snprintf(line, sizeof line, "%s %s", a->path, row);
	is_int(rig_lines(&rig, "starts", line), 1, "%s: %s", a->path, what);
}

/* --- what happens --------------------------------------------------------- */

/* The time that this is about. */
static void
outlive(void)
{
	usleep(LONGER_MS * 1000);
}

static void
test_running(struct arbiter *a)
{
	expect(a, "lasts", "409 in-progress",
	    "past its keep and its lease a run is in progress [idem:A5]");
	expect(a, "dies", "409 unknown",
	    "past its keep an unknown key is unknown [idem:A4]");
	expect_once(a, "lasts", "neither is started again");
	expect_once(a, "dies", "nor the other");
}

static void
test_ended(struct arbiter *a)
{
	struct rig_answer answer;

	ask_end(&rig, a->fd, &answer);
	told(&answer, "201 stored", "%s: when it ends its answer is stored",
	    a->path);
	rig_answer_free(&answer);
	expect(a, "lasts", "201 replayed",
	    "and kept from then on, not from when it began");
}

static void
test_kept_no_more(struct arbiter *a)
{
	struct rig_request request = request_of(a, "lasts");
	struct rig_answer answer;

	rig_request(&rig, &request, &answer);
	note("%s: past its keep: %d %s", a->path, answer.status,
	    rig_field(&answer, "Idempotency-Status"));
	rig_answer_free(&answer);
	expect_once(a, "lasts", "it is not started again [idem:B12]");
}

static void
start(void)
{
	char text[2000];

	rig_open(&rig);
	rig.bare = true;
	rig_program(&rig, "order", program);
	rig_file(&rig, "keys", "a 000102030405060708090a0b0c0d0e0f\n");
	if (chmod(rig_at(&rig, "keys"), 0600) == -1)
		bail_out("chmod");
	snprintf(text, sizeof text, conf, rig.folder, redis.url, rig.folder,
	    rig.folder);
	rig_file(&rig, "idem.conf", text);
	ask_start(&rig, (const char *[]){ "--config",
	    rig_at(&rig, "idem.conf"), NULL });
}

int
main(void)
{
	struct rig_request request;
	size_t i;

	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	redis_rig_start(&redis, NULL);
	start();
	rig_file(&rig, "hold", "");
	for (i = 0; i < ARBITERS; i++) {
		make_keys(&arbiters[i]);
		expect(&arbiters[i], "dies", "504 unknown",
		    "nobody knows what a program did that was killed");
		request = request_of(&arbiters[i], "lasts");
		arbiters[i].fd = ask_begin(&rig, &request);
	}
	await_starts(&rig, 2 * (long)ARBITERS);
	outlive();
	for (i = 0; i < ARBITERS; i++)
		test_running(&arbiters[i]);
	unlink(rig_at(&rig, "hold"));
	for (i = 0; i < ARBITERS; i++)
		test_ended(&arbiters[i]);
	outlive();
	for (i = 0; i < ARBITERS; i++)
		test_kept_no_more(&arbiters[i]);
	rig_end(&rig);
	redis_rig_end(&redis);
	return done();
}
