/* SPDX-License-Identifier: ISC */
#include "caller.h"
#include "rig.h"
#include "tap.h"

#include <string.h>
#include <unistd.h>

/* The simulator's callers against a real idemd and its program. */

#define WAIT_MS 90000
#define MANY 40u

static const char program[] = "#!/bin/sh\n"
    "echo run >>\"${0%/*}/runs\"\n"
    "echo 'Status: 201 Created'\n"
    "echo \"X-Sim-Key: $HTTP_X_SIM_KEY\"\n"
    "echo \"X-Sim-Nonce: $HTTP_X_SIM_NONCE\"\n"
    "echo\n"
    "cat\n";

static struct rig rig;
static struct loop *loop;

static void
called(struct call *call)
{
	++*(unsigned *)call->arg;
}

static bool
await(const unsigned *n, unsigned want)
{
	int64_t until_ms = idem_boot_ms(&idem_clock_real) + WAIT_MS;

	while (*n < want && idem_boot_ms(&idem_clock_real) < until_ms)
		loop_turn(loop, until_ms);
	return *n == want;
}

static void
begin_over(struct call *call, const char *key, unsigned *n, int *kept)
{
	static const char *const params[] = { "HTTP_X_SIM_KEY=k1",
		"HTTP_X_SIM_NONCE=n1", NULL };

	*call = (struct call){ .socket = rig.socket, .method = "POST",
		.path = "/order", .program = rig_at(&rig, "order"),
		.key = key, .body = idem_bytes_text("hello"),
		.params = params, .timeout_ms = 60000, .done = called,
		.arg = n, .kept = kept };
	call_start(loop, call);
}

static void
begin(struct call *call, const char *key, unsigned *n)
{
	begin_over(call, key, n, NULL);
}

static void
test_two(void)
{
	struct call first, second;
	unsigned n = 0;

	begin(&first, "\"a\"", &n);
	await(&n, 1);
	begin(&second, "\"a\"", &n);
	ok(await(&n, 2), "two calls of one key are answered");
	is_int(first.end, OUTCOME_WHOLE, "the first wholly");
	is_int(first.status, 201, "with the program's status");
	is(first.mark, "stored", "and idem's mark");
	is(first.says_key, "k1", "the program names its key");
	is(first.says_nonce, "n1", "and its nonce");
	is(second.mark, "replayed", "the second is a replay");
	is(second.digest, first.digest, "which is the same answer");
	is_int(rig_lines(&rig, "runs", NULL), 1, "of one run");
	call_free(&first);
	call_free(&second);
}

static bool
is_busy(const struct call *call)
{
	return strcmp(call->mark, "in-progress") == 0;
}

static void
test_many(void)
{
	const char *digest = NULL;
	struct call calls[MANY];
	unsigned i, n = 0, same = 0;

	for (i = 0; i < MANY; i++)
		begin(&calls[i], "\"b\"", &n);
	ok(await(&n, MANY), "%u calls at once of one key come to an end",
	    MANY);
	for (i = 0; i < MANY; i++) {
		if (digest == NULL && !is_busy(&calls[i]))
			digest = calls[i].digest;
		same += calls[i].end == OUTCOME_WHOLE && (is_busy(&calls[i]) ||
		    strcmp(calls[i].digest, digest) == 0);
	}
	is_int(same, MANY, "each with the answer, or told that it is busy");
	is_int(rig_lines(&rig, "runs", NULL), 2, "of one run");
	for (i = 0; i < MANY; i++)
		call_free(&calls[i]);
}

static void
test_kept(void)
{
	static const char *const keys[] = { "\"c\"", "\"d\"", NULL, "\"d\"" };
	static const char *const marks[] = { "stored", "stored", "",
	    "replayed" };
	unsigned i, n = 0, again = 0, right = 0;
	struct call call, other;
	int kept = -1;

	for (i = 0; i < 4; i++) {
		begin_over(&call, keys[i], &n, &kept);
		if (!await(&n, i + 1))
			break;
		again += call.again;
		right += call.end == OUTCOME_WHOLE && call.status == 201 &&
		    strcmp(call.mark, marks[i]) == 0;
		call_free(&call);
	}
	is_int(again, 3, "calls go over the connection that was kept");
	is_int(right, 4, "each with its own key, and its own answer");
	ok(kept != -1, "which stays there");
	begin_over(&call, "\"e\"", &n, &kept);
	begin_over(&other, "\"f\"", &n, &kept);
	ok(await(&n, 6) && call.again && !other.again,
	    "two at once do not share it");
	is_int(other.end, OUTCOME_WHOLE, "the second has one of its own");
	call_free(&call);
	call_free(&other);
	close(kept);
}

int
main(void)
{
	rig_open(&rig);
	rig_program(&rig, "order", program);
	loop = loop_new(&idem_clock_real);
	if (loop == NULL || rig_start(&rig, (const char *[]){ "-c", "4", "--",
	    rig_at(&rig, "order"), NULL }) == -1)
		bail_out("idemd does not start");
	test_two();
	test_many();
	test_kept();
	rig_stop(&rig, 20000);
	rig_end(&rig);
	loop_free(loop);
	return done();
}
