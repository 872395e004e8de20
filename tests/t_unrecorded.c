/* SPDX-License-Identifier: ISC */
#include "rig.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * The ledger goes away while a program runs.  Its effect is there, so its
 * client gets the program's answer, marked as what it is; nothing new starts
 * meanwhile; and when the ledger is back, the answer is written after all.
 */
#define BACK_MS 60000

static const struct rig_request first = {
	.method = "POST", .path = "/order", .key = "\"first\"",
	.query = "hold=1", .body = { "item=tea", 8 }
};

static const struct rig_request second = {
	.method = "POST", .path = "/order", .key = "\"second\"",
	.body = { "item=tea", 8 }
};

static void
told(struct rig_answer *answer, int status, const char *says, const char *what)
{
	is_int(answer->status, status, "%s: status", what);
	is(rig_field(answer, "Idempotency-Status"), says,
	    "%s: Idempotency-Status", what);
	rig_answer_free(answer);
}

/* Until the answer in the background has been written down. */
static void
replayed(struct rig *rig, const char *body)
{
	int64_t until = rig_now_ms() + BACK_MS;
	struct rig_answer answer = { 0 };
	bool same = false;

	while (rig_now_ms() < until) {
		rig_request(rig, &first, &answer);
		if (strcmp(rig_field(&answer, "Idempotency-Status"),
		    "replayed") == 0)
			break;
		rig_answer_free(&answer);
		usleep(100 * 1000);	/* a client's pause between tries */
	}
	same = answer.body.len == strlen(body) &&
	    memcmp(answer.body.at, body, answer.body.len) == 0;
	ok(same, "with the ledger back the same answer is replayed");
	rig_answer_free(&answer);
}

int
main(void)
{
	struct rig rig = { 0 };
	struct rig_answer answer = { 0 };
	char away[RIG_PATH + 8], body[256];
	struct idem_buf out = { 0 };
	int fd;

	rig_open(&rig);
	rig_order(&rig);
	rig_file(&rig, "hold", "");
	if (rig_start(&rig, (const char *[]){ "--workers", "1", "--",
	    rig_at(&rig, "order"), NULL }) == -1)
		bail_out("idemd does not start");
	fd = rig_connect(&rig);
	rig_request_write(&out, 1, &first);
	rig_send(fd, idem_buf_bytes(&out), 0, 5000);
	ok(rig_await_lines(&rig, "orders", 1, 20000), "the program runs");
	snprintf(away, sizeof away, "%s.away", rig.ledger);
	ok(rename(rig.ledger, away) == 0, "the ledger goes away");

	rig_request(&rig, &second, &answer);
	told(&answer, 503, "not-started", "a new order meanwhile");
	unlink(rig_at(&rig, "hold"));
	rig_receive(fd, 1, (struct idem_bytes){ 0 }, rig.request_ms, &answer);
	ok(answer.whole, "the answer comes all the same, after %lld ms",
	    (long long)answer.ms);
	snprintf(body, sizeof body, "%.*s", (int)answer.body.len,
	    (const char *)answer.body.at);
	told(&answer, 201, "unrecorded", "the order that ran");
	close(fd);

	ok(rename(away, rig.ledger) == 0, "the ledger comes back");
	replayed(&rig, body);
	is_int(rig_lines(&rig, "orders", "\"first\""), 1, "it ran once");
	is_int(rig_lines(&rig, "orders", "\"second\""), 0,
	    "the other did not run");
	idem_buf_free(&out);
	is_int(rig_stop(&rig, 20000), 0, "idemd ends with status 0");
	rig_end(&rig);
	return done();
}
