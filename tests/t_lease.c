/* SPDX-License-Identifier: ISC */
#include "ask.h"

#include "measure.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long a run is presumed alive, end to end. */
#define RUN_MS 2000
#define LEASE_MS 300

static struct rig rig;

static void
start(const char *fields)
{
	static const char conf[] = "workers = 2\nprograms = 24\n"
	    "ledger = sqlite { path = '%s', create = true }\n"
	    "route { path = '/**', in_progress = '409', %s,\n"
	    "    program = cgi { '%s/order' } }\n";
	char text[1000];

	rig_open(&rig);
	rig_order(&rig);
	snprintf(text, sizeof text, conf, rig.ledger, fields, rig.folder);
	rig_file(&rig, "idem.conf", text);
	ask_start(&rig, (const char *[]){ "--config",
	    rig_at(&rig, "idem.conf"), NULL });
}

static void
end(void)
{
	is_int(rig_stop(&rig, 20000), 0, "and idemd ends as it should");
	rig_end(&rig);
}

/* With a key of its number. */
static int
begin(int number, long sleep_ms)
{
	char key[20], query[40];

	snprintf(key, sizeof key, "k%d", number);
	snprintf(query, sizeof query, "sleep=%ld", sleep_ms);
	return ask_begin(&rig, &(struct rig_request){ .method = "POST",
	    .path = "/o", .query = query, .key = key });
}

static bool
is_stored(int fd)
{
	struct rig_answer answer;
	bool good;

	ask_end(&rig, fd, &answer);
	good = strcmp(rig_field(&answer, "Idempotency-Status"), "stored") == 0;
	rig_answer_free(&answer);
	return good;
}

/* What the log says of the last request of so many. */
static long
last_lease_ms(int requests)
{
	static const char name[] = " lease-ms=";
	char *log, *at, *last = NULL;
	long ms;

	if (!ask_await_logged(&rig, name, requests))
		bail_out("the log has no lease");
	log = rig_slurp(&rig, "log");
	for (at = log; at != NULL && (at = strstr(at, name)) != NULL; )
		last = at += sizeof name - 1;
	ms = last != NULL ? atol(last) : -1;
	free(log);
	return ms;
}

/* Of all workers: no one of them has seen as many as it takes. */
static void
test_measured(void)
{
	int fds[MEASURE_FIRST], i, stored = 0;
	int64_t took_ms;
	long ms;

	start("lease = auto { min = '1s', max = '1h' }");
	took_ms = rig_now_ms();
	for (i = 0; i < MEASURE_FIRST; i++)
		fds[i] = begin(i, RUN_MS);
	for (i = 0; i < MEASURE_FIRST; i++)
		stored += is_stored(fds[i]);
	took_ms = rig_now_ms() - took_ms;	/* no run took longer */
	is_int(stored, MEASURE_FIRST, "runs of 2 s, for a lease to be "
	    "measured by");
	is_int(last_lease_ms(MEASURE_FIRST), 60000,
	    "theirs is what a lease begins with");
	ok(is_stored(begin(MEASURE_FIRST, 0)), "then one more");
	ms = last_lease_ms(MEASURE_FIRST + 1);
	if (!ok(ms >= 2 * RUN_MS + 5000 && ms < 2 * took_ms + 9000,
	    "its lease is twice theirs and 5 s for a retry, and so says the "
	    "log"))
		note("%ld ms", ms);
	end();
}

static void
test_in_bounds(void)
{
	int i, stored = 0;

	start("tier = 'quick'");
	for (i = 0; i < MEASURE_FIRST; i++)
		stored += is_stored(begin(i, 0));
	is_int(stored, MEASURE_FIRST, "quick runs");
	is_int(last_lease_ms(MEASURE_FIRST), 30000,
	    "begin at the upper bound of their tier");
	ok(is_stored(begin(MEASURE_FIRST, 0)), "then one more");
	is_int(last_lease_ms(MEASURE_FIRST + 1), 10000, "has its least");
	end();
}

/* A run that outlives its lease many times, and is asked for all the while. */
static void
test_renewed(void)
{
	const struct rig_request again = { .method = "POST", .path = "/o",
	    .query = "sleep=0", .key = "k0" };
	struct rig_answer answer;
	int fd, asked = 0, refused = 0;
	int64_t until_ms;

	start("lease = '300ms', limit = '5m'");
	if (unlink(rig_at(&rig, "order")) != 0)	/* a link to the one of all */
		bail_out("there is no program");
	rig_program(&rig, "order", COUNT HELD "printf 'Status: 201\\n\\nok'\n");
	rig_file(&rig, "hold", "");
	fd = ask_await_starts(&rig, ask_begin(&rig, &again), &again, 1);
	until_ms = rig_now_ms() + 6 * LEASE_MS;
	while (rig_now_ms() < until_ms || asked < 3) {
		rig_request(&rig, &again, &answer);
		asked++;
		refused += answer.status == 409 && strcmp(rig_field(&answer,
		    "Idempotency-Status"), "in-progress") == 0;
		rig_answer_free(&answer);
	}
	is_int(refused, asked, "all who ask within six leases of a run are "
	    "told that it goes on [idem:A5]");
	unlink(rig_at(&rig, "hold"));
	ok(is_stored(fd), "it ends well [idem:A5]");
	is_int(starts(&rig), 1,
	    "a lease shorter than its run is renewed: one start [idem:A5]");
	end();
}

int
main(void)
{
	test_measured();
	test_in_bounds();
	test_renewed();
	return done();
}
