/* SPDX-License-Identifier: ISC */
#include "ask.h"

#include "redis_rig.h"
#include "tap.h"
#include "token.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The endpoint for tokens, asked as fronts ask, and as some do not. */
#define MINT "/.idem/token"

static const char conf[] =
    "workers = 1\n"
    "ledger = sqlite { path = '%s/ledger.db', create = true }\n"
    "shared = redis { url = '%s', timeout = '10s', budget = '20s' }\n"
    "tokens = { keys = '%s/keys' }\n"
    "route { path = '/order', arbiter = 'token',\n"
    "    program = cgi { '%s/order' } }\n";

static const char program[] = "#!/bin/sh\n"
    "echo \"$IDEMPOTENCY_KEY\" >>starts\n"
    "printf 'Status: 201\\n\\ndone'\n";

static struct redis_rig redis;
static struct rig rig;

/* --- one request ---------------------------------------------------------- */

static const struct {
	const char *what, *method, *length, *want;
	size_t body;
} rows[] = {
	{ "POST gives a token", "POST", NULL, "201", 0 },
	{ "whatever its body", "POST", NULL, "201", 300000 },
	{ "and whatever its length is said to be", "POST", "7", "201", 3 },
	{ "but not if that is no number", "POST", "7x", "400 rejected", 3 },
	{ "GET gives none", "GET", NULL, "405 rejected", 0 },
	{ "nor does HEAD", "HEAD", NULL, "405 rejected", 0 },
};

static void
test_rows(void)
{
	static char body[300000];
	size_t i;

	memset(body, 'x', sizeof body);
	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		ask(&rig, &(struct rig_request){ .method = rows[i].method,
		    .path = MINT, .length = rows[i].length,
		    .body = { body, rows[i].body } }, rows[i].want, "%s",
		    rows[i].what);
	ok(ask_await_logged(&rig, "path=" MINT " key=- ",
	    (int)(sizeof rows / sizeof *rows)), "none of them has a key");
}

/* All but the last record, which is the body's end. */
static void
test_no_end(size_t len)
{
	struct rig_request request = { .method = "POST", .path = MINT,
		.body = { "item=tea", len } };
	struct rig_answer answer = { 0 };
	struct idem_buf out = { 0 };
	int fd = rig_connect(&rig);

	rig_request_write(&out, 1, &request);
	if (fd == -1 || rig_send(fd, (struct idem_bytes){ out.at,
	    out.len - IDEM_FCGI_HEADER_LEN }, 0, rig.request_ms) == -1)
		bail_out("a request cannot be sent");
	ask_end(&rig, fd, &answer);
	told(&answer, "201", "a body of %zu bytes whose end is not sent is "
	    "not waited for", len);
	rig_answer_free(&answer);
	idem_buf_free(&out);
}

/* Several on one connection. */
static void
test_kept(void)
{
	const struct rig_request request = { .method = "POST", .path = MINT,
		.body = idem_bytes_text("item=tea"), .keep = true };
	struct rig_answer answer = { 0 };
	struct idem_buf out = { 0 };
	int fd = rig_connect(&rig), i, made = 0;

	rig_request_write(&out, 1, &request);
	for (i = 0; fd != -1 && i < 3; i++) {
		rig_receive(fd, 1, idem_buf_bytes(&out), rig.request_ms,
		    &answer);
		made += answer.status == 201;
		rig_answer_free(&answer);
	}
	is_int(made, 3, "one connection asks for three");
	close(fd);
	idem_buf_free(&out);
}

/* --- what the log calls it ------------------------------------------------ */

static void
mint(char text[IDEM_TOKEN_TEXT + 1])
{
	static const char begins[] = "{\"token\":\"";
	struct rig_answer answer;

	rig_request(&rig, &(struct rig_request){ .method = "POST",
	    .path = MINT }, &answer);
	if (answer.body.len < sizeof begins + IDEM_TOKEN_TEXT)
		bail_out("no token: %d", answer.status);
	memcpy(text, (const char *)answer.body.at + sizeof begins - 1,
	    IDEM_TOKEN_TEXT);
	text[IDEM_TOKEN_TEXT] = '\0';
	rig_answer_free(&answer);
}

/* Its store key, as its program is told, and how it begins in the log. */
static void
test_log(void)
{
	char text[IDEM_TOKEN_TEXT + 1], begins[64];
	char *started;

	mint(text);
	ask(&rig, &(struct rig_request){ .method = "POST", .path = "/order",
	    .key = text }, "201 stored", "a token is good for a request");
	started = rig_slurp(&rig, "starts");
	snprintf(begins, sizeof begins, "key=%.16s ",
	    started != NULL ? started : "none");
	ok(ask_await_logged(&rig, begins, 1),
	    "the log has more of its key than the time when it was made");
	ok(ask_logged(&rig, text) == 0, "and never the token");
	free(started);
}

int
main(void)
{
	char text[1000];

	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	redis_rig_start(&redis, NULL);
	rig_open(&rig);
	rig.bare = true;
	rig_program(&rig, "order", program);
	rig_file(&rig, "keys", "one 000102030405060708090a0b0c0d0e0f"
	    "101112131415161718191a1b1c1d1e1f\n");
	chmod(rig_at(&rig, "keys"), 0600);
	snprintf(text, sizeof text, conf, rig.folder, redis.url, rig.folder,
	    rig.folder);
	rig_file(&rig, "idem.conf", text);
	ask_start(&rig, (const char *[]){ "--config",
	    rig_at(&rig, "idem.conf"), NULL });
	test_rows();
	test_no_end(0);
	test_no_end(8);
	test_kept();
	test_log();
	rig_end(&rig);
	redis_rig_end(&redis);
	return done();
}
