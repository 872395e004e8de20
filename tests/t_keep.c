/* SPDX-License-Identifier: ISC */
#include "ask.h"

#include "tap.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* How long an answer is kept, as its client is told, and as it is. */
#define KEEP_MS 2000
#define FOUND_MS 6000		/* a restart is over before */

#define LATE "it was over before it was asked for again"

static struct rig rig;

static const struct rig_request short_one = { .method = "POST",
    .path = "/short", .key = "a", .body = { "tea", 3 } };

static void
configure(const char *least)
{
	static const char conf[] = "workers = 1\n"
	    "ledger = sqlite { path = '%s', create = true }\n"
	    "local p = cgi { '%s/order' }\n"
	    "route { path = '/short', keep = '2s', tombstone = '1h', "
	    "program = p }\n"
	    "route { path = '/found', keep = '6s', tombstone = '1h', "
	    "program = p }\n"
	    "route { path = '/least', %s, program = p }\n"
	    "route { path = '/held', wait = '60s', %s, "
	    "program = cgi { '%s/held' } }\n"
	    "route { path = '/big', kept_max = '10B', program = p }\n"
	    "rest = p\n";
	char text[1000];

	snprintf(text, sizeof text, conf, rig.ledger, rig.folder, least, least,
	    rig.folder);
	rig_file(&rig, "idem.conf", text);
}

static void
start(const char *least)
{
	configure(least);
	ask_start(&rig, (const char *[]){ "--config",
	    rig_at(&rig, "idem.conf"), NULL });
}

static void
says(const char *path, const char *want, const char *what)
{
	struct rig_answer answer;

	rig_request(&rig, &(struct rig_request){ .method = "POST",
	    .path = path, .key = path }, &answer);
	is(rig_field(&answer, "Idempotency-Keep"), want, "%s", what);
	rig_answer_free(&answer);
}

static void
test_said(void)
{
	says("/least", "90", "a first answer says how long it is kept at "
	    "least [idem:B17]");
	says("/least", "90", "its replay says the same [idem:B17]");
	says("/big", "86400", "of one that is too large its head is kept, for "
	    "as long");
	says("/big", "", "which is no answer to others");
	says("/other", "", "where keys are ignored nothing is kept");
}

/* It is kept for as long as was said, and not run again after that. */
static void
test_kept(void)
{
	int64_t began_ms = rig_now_ms(), late_ms;
	struct rig_answer answer;
	bool replayed = true, early = false;
	unsigned times = 0;

	ask(&rig, &short_one, "201 stored", "an answer that is kept for 2 s");
	/* A claim may wait for a store, but never so long. */
	while (replayed && rig_now_ms() - began_ms < 30000) {
		poll(NULL, 0, 20);
		rig_request(&rig, &short_one, &answer);
		late_ms = rig_now_ms() - began_ms;
		replayed = strcmp(rig_field(&answer, "Idempotency-Status"),
		    "replayed") == 0;
		times += replayed;
		early = early || (!replayed && late_ms < KEEP_MS) ||
		    (replayed && strcmp(rig_field(&answer,
		    "Idempotency-Keep"), "2") != 0);
		if (!replayed)
			told(&answer, "409 expired", "and is expired after it "
			    "[idem:B17]");
		rig_answer_free(&answer);
	}
	if (times == 0 && !early)
		skip(LATE, "it is replayed until then");
	else
		ok(!early, "it is replayed until then, and says so "
		    "[idem:B17]");
	ok(!replayed, "it ends");
	is_int(rig_lines(&rig, "orders", "a"), 1,
	    "it was not run again [idem:B17]");
}

/* Who finds it late has it at hand for what is left of its time, no longer. */
static void
test_found(void)
{
	const struct rig_request found = { .method = "POST",
	    .path = "/found", .key = "b", .body = { "tea", 3 } };
	int64_t began_ms = rig_now_ms(), stored_ms, asked_ms, late_ms = 0;
	struct rig_answer answer;
	bool replayed = true;

	ask(&rig, &found, "201 stored", "an answer that is kept for 6 s");
	stored_ms = rig_now_ms();
	is_int(rig_stop(&rig, 20000), 0, "of which nothing is at hand then");
	start("keep = '2h', keep_min = '90s'");
	while (rig_now_ms() - began_ms < FOUND_MS - 500)
		poll(NULL, 0, 20);
	while (replayed && late_ms < 30000) {
		asked_ms = rig_now_ms();
		rig_request(&rig, &found, &answer);
		replayed = strcmp(rig_field(&answer, "Idempotency-Status"),
		    "replayed") == 0;
		if (replayed)
			late_ms = asked_ms - stored_ms;
		rig_answer_free(&answer);
		poll(NULL, 0, 20);
	}
	ok(!replayed, "it ends");
	/* Else it were replayed for as long once more. */
	if (late_ms == 0)
		skip(LATE, "what is found late is over in time");
	else
		ok(late_ms < FOUND_MS + 2000, "found in the ledger half a "
		    "second before its end, it is over in time: who was last "
		    "told of it had asked after %lld ms", (long long)late_ms);
}

/* What is stored stays as it is when its route is changed. */
static void
test_changed(void)
{
	is_int(rig_stop(&rig, 20000), 0, "idemd ends");
	start("keep = '48h', keep_min = '24h'");
	says("/least", "7200", "an answer that was stored while keep was less "
	    "is not said to be kept for longer");
	says("/least", "7200", "... nor the second time");
}

/* The worker reads the new one a moment after the master. */
static void
reload(const char *least, const char *says_then)
{
	int64_t until_ms = rig_now_ms() + 60000;
	struct rig_answer answer;
	bool read = false;
	char key[32];
	int i;

	configure(least);
	kill(rig.pid, SIGHUP);
	for (i = 0; !read && rig_now_ms() < until_ms; i++) {
		snprintf(key, sizeof key, "read-%d", i);
		rig_request(&rig, &(struct rig_request){ .method = "POST",
		    .path = "/least", .key = key }, &answer);
		read = strcmp(rig_field(&answer, "Idempotency-Keep"),
		    says_then) == 0;
		rig_answer_free(&answer);
	}
	ok(read, "the worker has read what is to be kept from now on");
}

/* Nor when it changes under a worker, which has the answer or awaits it. */
static void
test_reloaded(void)
{
	const struct rig_request held = { .method = "POST", .path = "/held",
	    .key = "h" };
	struct rig_answer first, second;
	int one, other;

	reload("keep = '12h'", "43200");
	ask(&rig, &(struct rig_request){ .method = "POST", .path = "/least",
	    .key = "at-hand" }, "201 stored", "an answer that is at hand");
	rig_file(&rig, "hold", "");
	one = ask_await_starts(&rig, ask_begin(&rig, &held), &held, 1);
	reload("keep = '96h'", "345600");
	rig_request(&rig, &(struct rig_request){ .method = "POST",
	    .path = "/least", .key = "at-hand" }, &first);
	is(rig_field(&first, "Idempotency-Keep"), "43200", "what was at hand "
	    "is not said to be kept for longer after a reload");
	rig_answer_free(&first);
	other = ask_begin(&rig, &held);
	says("/later", "", "somebody waits for a run from before it");
	unlink(rig_at(&rig, "hold"));
	ask_end(&rig, one, &first);
	ask_end(&rig, other, &second);
	told(&second, "201 replayed", "who waited gets its answer");
	is(rig_field(&first, "Idempotency-Keep"), "43200", "which is kept as "
	    "was said when it began");
	is(rig_field(&second, "Idempotency-Keep"), "43200", "and he is told "
	    "the same");
	rig_answer_free(&first);
	rig_answer_free(&second);
}

int
main(void)
{
	rig_open(&rig);
	rig_order(&rig);
	rig_program(&rig, "held", COUNT HELD "cat >/dev/null\n"
	    "printf 'Status: 201\\n\\nok\\n'\n");
	start("keep = '2h', keep_min = '90s'");
	test_said();
	test_kept();
	test_found();
	test_changed();
	test_reloaded();
	is_int(rig_stop(&rig, 20000), 0, "idemd ends as it should");
	rig_end(&rig);
	return done();
}
