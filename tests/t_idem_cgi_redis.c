/* SPDX-License-Identifier: ISC */
#include "cgi_rig.h"
#include "redis_rig.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* idem-cgi with a shared Redis: keys, pages with tokens, and an outage. */
#define AWAY_MS 20000		/* far less than a program's limit */
#define PATIENCE "25s"		/* with a Redis that is held up, */
#define IMPATIENCE "2s"		/* and with one that we stop */
#define PAGES 20		/* until one has a token, ... */
#define SLOW_MS 1000		/* of those that had so long to get it */

static struct redis_rig redis;
static struct rig rig;
static char variable[RIG_PATH + 32];

static const char conf[] =
    "run = '%s/run'\n"
    "shared = redis { url = '%s', timeout = '%s', budget = '%s' }\n"
    "tokens = { keys = '%s/keys' }\n"
    "route { path = '/page', arbiter = 'token', form_token = true,\n"
    "    required = true, program = cgi {} }\n"
    "route { path = '/order', arbiter = 'redis', program = cgi {} }\n";

static const char order[] = "#!/bin/sh\necho >>starts\n"
    "printf 'Status: 201\\n\\norder %s' $(wc -l <starts)\n";
static const char page[] = "#!/bin/sh\n"
    "printf 'Content-Type: text/html\\n\\n'\n"
    "[ \"$REQUEST_METHOD\" = GET ] || { echo >>ordered; cat; exit 0; }\n"
    "printf '<form method=post><input name=item></form>'\n";

static void
send_ask(struct cgi_ask ask, const char *want, const char *what)
{
	struct rig_answer answer;
	char got[100];

	ask.env = (const char *const[]){ "IDEM_LEDGER", variable, NULL };
	cgi_ask(&rig, &ask, &answer);
	snprintf(got, sizeof got, "%d %s", answer.status,
	    rig_field(&answer, "Idempotency-Status"));
	is(got, want, "%s", what);
	rig_answer_free(&answer);
}

/* The page's token, in the body of what a browser submits; how long it took. */
static bool
read_page(char *body, size_t size, int64_t *ms)
{
	static const char field[] = "name=\"idem_token\" value=\"";
	struct cgi_ask ask = { .program = "page", .method = "GET" };
	struct rig_answer answer;
	const char *at;

	ask.env = (const char *const[]){ "IDEM_LEDGER", variable, NULL };
	*ms = rig_now_ms();
	cgi_ask(&rig, &ask, &answer);
	*ms = rig_now_ms() - *ms;
	at = answer.body.len > 0 ? memmem(answer.body.at, answer.body.len,
	    field, sizeof field - 1) : NULL;
	if (at != NULL)
		snprintf(body, size, "idem_token=%.75s&item=tea",
		    at + sizeof field - 1);
	rig_answer_free(&answer);
	return at != NULL;
}

static void
test_form(void)
{
	char body[200] = "";
	unsigned tries = 0;
	struct cgi_ask ask = { .program = "page",
	    .type = "application/x-www-form-urlencoded" };
	struct rig_answer answer;
	bool there;
	int64_t ms;

	/* Without only if Redis is slow: nobody waits for a page so long. */
	do
		there = read_page(body, sizeof body, &ms);
	while (!there && ms >= SLOW_MS && ++tries < PAGES);
	ok(there, "a page through idem-cgi has a token");
	ask.body = idem_bytes_text(body);
	ask.env = (const char *const[]){ "IDEM_LEDGER", variable, NULL };
	cgi_ask(&rig, &ask, &answer);
	is(rig_field(&answer, "Idempotency-Status"), "stored",
	    "what is submitted is an order");
	ok(answer.body.len == 8 && memcmp(answer.body.at, "item=tea", 8) == 0,
	    "that the program sees without it");
	rig_answer_free(&answer);
	send_ask(ask, "200 replayed", "sent again, it is the same one");
	is_int(rig_lines(&rig, "ordered", NULL), 1, "placed once");
}

static void
configure(const char *patience)
{
	char text[1500];

	snprintf(text, sizeof text, conf, rig.folder, redis.url, patience,
	    patience, rig.folder);
	rig_file(&rig, "idem.conf", text);
}

static void
test_away(void)
{
	int64_t began_ms = rig_now_ms();

	configure(IMPATIENCE);
	redis_rig_freeze(&redis);
	send_ask((struct cgi_ask){ .program = "order", .key = "k2" },
	    "503 not-started", "a frozen Redis: nothing starts");
	ok(rig_now_ms() - began_ms < AWAY_MS, "and no process stays for it");
	ok(cgi_await_none(&rig), "nor behind it");
	redis_rig_thaw(&redis);
	redis_rig_kill(&redis);
	send_ask((struct cgi_ask){ .program = "order", .key = "k2" },
	    "503 not-started", "a dead one: the same");
	redis_rig_again(&redis, true);
	configure(PATIENCE);
	is_int(rig_lines(&rig, "starts", NULL), 1, "nothing has run");
	send_ask((struct cgi_ask){ .program = "order", .key = "k2" },
	    "201 stored", "it is back");
}

int
main(void)
{
	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	redis_rig_start(&redis, (const char *[]){ "--appendonly", "yes",
	    NULL });
	rig_open(&rig);
	if (!cgi_open(&rig))
		skip_all("idem-cgi is not built");
	rig_program(&rig, "order", order);
	rig_program(&rig, "page", page);
	rig_file(&rig, "keys", "a 000102030405060708090a0b0c0d0e0f"
	    "101112131415161718191a1b1c1d1e1f\n");
	chmod(rig_at(&rig, "keys"), 0600);
	configure(PATIENCE);
	snprintf(variable, sizeof variable, "IDEM_CONFIG=%s",
	    rig_at(&rig, "idem.conf"));
	send_ask((struct cgi_ask){ .program = "order", .key = "k1" },
	    "201 stored", "a key runs");
	send_ask((struct cgi_ask){ .program = "order", .key = "k1" },
	    "201 replayed", "and is replayed by another process");
	test_form();
	test_away();
	ok(cgi_await_none(&rig), "nothing is left running");
	rig_end(&rig);
	redis_rig_end(&redis);
	return done();
}
