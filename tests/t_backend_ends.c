/* SPDX-License-Identifier: ISC */
#include "backend.h"

#include "backend_app.h"
#include "backend_rig.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* One application, its loop, and a request to it. */
struct scene {
	struct back back;
	struct app app;
	struct got got;
	struct backend_request request;
	char *addresses[2];
	size_t files;
};

static void
scene_open(struct scene *s, const char *script, uint64_t body_len)
{
	*s = (struct scene){ .files = back_descriptors() };
	back_open(&s->back);
	app_open(&s->app, APP_UNIX, 16);
	if (script != NULL)
		app_play(&s->app, script);
	s->addresses[0] = s->app.address;
	s->request = (struct backend_request){
		.addresses = s->addresses,
		.params = idem_bytes_text("\1\1AB"),
		.body = back_body(body_len), .body_len = body_len,
		.fresh = true,
		.connect_ms = 100000, .first_ms = 100000, .limit_ms = 100000
	};
}

static void
scene_start(struct scene *s)
{
	if (!back_start(&s->back, &s->got, &s->request))
		bail_out("no call");
}

static void
scene_close(struct scene *s)
{
	back_close(&s->back);
	app_kill(&s->app);
	is_int((long long)back_descriptors(), (long long)s->files,
	    "... no descriptor is left");
	got_free(&s->got);
}

/* --- limits --------------------------------------------------------------- */

static const struct {
	const char *what, *script;	/* NULL: nobody accepts */
	uint32_t first_ms, limit_ms;
	uint64_t body_len;
	const char *how, *why;
} limits[] = {
	{ "nobody accepts: over first_ms",
	  NULL, 60, 20000, 0, "cut", "silent for too long" },
	{ "nobody accepts: over limit_ms",
	  NULL, 0, 60, 0, "cut", "over its limit" },
	{ "nobody reads a long body: over first_ms",
	  "accept params wait", 60, 20000, 3000000, "cut",
	  "silent for too long" },
	{ "no answer: over first_ms",
	  "accept params body wait", 60, 20000, 0, "cut",
	  "silent for too long" },
	{ "no answer: over limit_ms",
	  "accept params body wait", 0, 60, 0, "cut", "over its limit" },
	{ "STDERR is not an answer",
	  "accept params body STDERR/1:x wait", 60, 20000, 0, "cut",
	  "silent for too long" },
	{ "an answer that never ends: over limit_ms",
	  "accept params body drip:100000", 1000, 200, 0, "cut",
	  "over its limit" },
	{ "a slow one within its limits ends",
	  "accept params body drip:10 END/1:0.0", 100000, 100000, 0, "ended 0",
	  "" },
	{ "no limits are none",
	  "accept params body drip:4 END/1:0.0", 0, 0, 0, "ended 0", "" },
};

static void
test_limits(void)
{
	struct scene s;
	size_t i;

	for (i = 0; i < sizeof limits / sizeof *limits; i++) {
		scene_open(&s, limits[i].script, limits[i].body_len);
		s.request.first_ms = limits[i].first_ms;
		s.request.limit_ms = limits[i].limit_ms;
		scene_start(&s);
		back_await(&s.got);
		got_is(&s.got, limits[i].how, "%s", limits[i].what);
		is(s.got.why, limits[i].why, "... with that reason");
		scene_close(&s);
	}
}

static void
test_answered(void)
{
	int64_t until_ms = idem_boot_ms(&idem_clock_real) + 100000;
	struct scene s;

	scene_open(&s, "accept params body STDOUT/1:x wait", 0);
	s.back.held_ms = idem_boot_ms(&idem_clock_real);
	s.request.first_ms = 1500;
	s.request.limit_ms = 3000;
	scene_start(&s);
	while (s.got.out_len == 0 &&
	    idem_boot_ms(&idem_clock_real) < until_ms)
		back_turns(&s.back, 1);
	s.back.later_ms += 2000;
	back_turns(&s.back, 1);
	ok(s.got.call != NULL,
	    "after the first byte first_ms is nothing any more");
	s.back.later_ms += 1000;
	back_await(&s.got);
	got_is(&s.got, "cut", "... and limit_ms is");
	is(s.got.why, "over its limit", "... with that reason");
	scene_close(&s);
}

/* What moves keeps first_ms away, and the time passes for it alone: but for
   what the machine needs, of which there is enough. */
static void
test_moving(void)
{
	struct scene s;
	int i;

	scene_open(&s, "accept params some:1 wait some:300000 wait "
	    "some:600000 wait body END/1:0.0", 1000000);
	s.request.first_ms = 60000;
	s.request.limit_ms = 600000;
	scene_start(&s);
	for (i = 0; i < 3; i++) {
		back_await_words(&s.back, &s.app, 3 + 2 * i);
		back_turns(&s.back, 1);
		s.back.later_ms += 40000;
		app_go(&s.app);
	}
	back_await(&s.got);
	got_is(&s.got, "ended 0",
	    "while the body moves the application is not silent");
	scene_close(&s);
}

/* --- pause and stop ------------------------------------------------------- */

static void
test_pause(void)
{
	struct scene s;
	uint64_t before;
	int64_t until_ms;

	scene_open(&s, "accept params body out:10 wait out:3000000 "
	    "END/1:0.0 close", 0);
	scene_start(&s);
	back_await_words(&s.back, &s.app, 4);
	back_turns(&s.back, 20);
	is_int((long long)s.got.out_len, 10, "what has come is told");
	backend_pause(s.got.call, true);
	backend_pause(s.got.call, true);
	app_go(&s.app);
	back_turns(&s.back, 50);
	is_int((long long)s.got.out_len, 10, "a paused call is told nothing");
	backend_pause(s.got.call, false);
	s.got.out_len = 0;
	s.got.pause_at = 100000;
	until_ms = idem_boot_ms(&idem_clock_real) + 100000;
	while (s.got.out_len < 100000 &&
	    idem_boot_ms(&idem_clock_real) < until_ms)
		back_turns(&s.back, 1);
	before = s.got.out_len;
	ok(before >= 100000 && before < 100000 + 65536,
	    "paused while told, less than 64 KiB come");
	back_turns(&s.back, 20);
	is_int((long long)s.got.out_len, (long long)before,
	    "... and then none");
	backend_pause(s.got.call, false);
	back_await(&s.got);
	got_is(&s.got, "ended 0", "resumed it comes to its end");
	ok(s.got.out_len == 3000000 && !s.got.out_wrong, "... byte for byte");
	scene_close(&s);
}

/* A hang-up while we pause must neither be told for ever nor lose bytes. */
static void
test_pause_closed(void)
{
	struct scene s;
	unsigned from;

	scene_open(&s, "accept params body STDOUT/1:whole END/1:7.0 close", 0);
	s.request.first_ms = 50;
	scene_start(&s);
	backend_pause(s.got.call, true);
	back_await_words(&s.back, &s.app, 6);
	from = s.back.turns;
	back_turns(&s.back, 200);
	ok(s.back.turns - from < 20, "a hang-up while paused does not spin");
	ok(s.got.call != NULL, "... nor does first_ms pass");
	backend_pause(s.got.call, false);
	back_await(&s.got);
	got_is(&s.got, "ended 7", "... and the answer is told then");
	is_bytes(s.got.out.at, s.got.out.len, "whole", 5, "... whole");
	scene_close(&s);
}

static void
test_pause_limit(void)
{
	struct scene s;

	scene_open(&s, "accept params body out:1000000 wait", 0);
	s.request.limit_ms = 60;
	scene_start(&s);
	backend_pause(s.got.call, true);
	back_await(&s.got);
	got_is(&s.got, "cut", "limit_ms passes while paused");
	scene_close(&s);
}

static void
test_stop(void)
{
	struct scene s;

	scene_open(&s, "accept params body out:1000000 left", 0);
	s.request.connections_max = 1;
	scene_start(&s);
	s.got.stop_at = 200000;
	back_await(&s.got);
	back_turns(&s.back, 20);
	is_int(s.got.overs, 0, "stopped while told, its end is not told");
	ok(s.got.out_len < 200000 + 65536, "... nor anything more");
	ok(app_end(&s.app) && s.app.was.cut,
	    "... and the application sees it");
	app_open(&s.app, APP_UNIX, 16);
	s.addresses[0] = s.app.address;
	scene_start(&s);
	backend_stop(s.got.call);
	back_turns(&s.back, 20);
	is_int(s.got.overs, 0, "stopped before it was accepted, the same");
	s.request.body = back_body(100);
	s.request.body_len = 100;
	scene_start(&s);
	backend_stop(s.got.call);
	scene_start(&s);	/* its body is gone: settled at once */
	backend_stop(s.got.call);
	back_turns(&s.back, 20);
	is_int(s.got.overs, 0, "stopped after its end, before it was told");
	scene_close(&s);
}

/* --- our own means -------------------------------------------------------- */

static void
test_short_body(void)
{
	struct scene s;

	scene_open(&s, "accept params wait", 1000);
	s.request.body_len = 1001;
	scene_start(&s);
	back_await(&s.got);
	got_is(&s.got, "not-started busy",
	    "a body that is shorter than was said is not begun with");
	scene_close(&s);
	scene_open(&s, "accept params body", 100000);
	s.request.body_len = 300000;
	scene_start(&s);
	back_await(&s.got);
	got_is(&s.got, "cut", "found later, it is cut");
	scene_close(&s);
}

static void
test_descriptors(void)
{
	struct rlimit before, few;
	struct scene s;

	scene_open(&s, NULL, 10);
	getrlimit(RLIMIT_NOFILE, &before);
	few = before;
	/* The folder was open while they were counted, and two dots. */
	few.rlim_cur = (rlim_t)dup(0);
	close((int)few.rlim_cur);
	setrlimit(RLIMIT_NOFILE, &few);
	ok(!back_start(&s.back, &s.got, &s.request),
	    "without a descriptor there is no call");
	setrlimit(RLIMIT_NOFILE, &before);
	back_turns(&s.back, 10);
	is_int(s.got.overs, 0, "... and nothing is told");
	scene_close(&s);
}

/* --- memory --------------------------------------------------------------- */

#define MUCH (64u * 1024u * 1024u)

static long
resident_kb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static void
test_memory(void)
{
	struct scene s;
	char script[80];
	long before;

	snprintf(script, sizeof script,
	    "accept params some:1 out:%u body END/1:0.0", MUCH);
	scene_open(&s, script, MUCH);
	s.request.first_ms = s.request.limit_ms = 0;
	before = resident_kb();
	scene_start(&s);
	back_await(&s.got);
	got_is(&s.got, "ended 0", "64 MiB go both ways");
	ok(s.got.out_len == MUCH && !s.got.out_wrong, "... byte for byte");
	ok(resident_kb() - before < 4096, "... in memory that stays the same");
	note("%ld KiB more", resident_kb() - before);
	scene_close(&s);
}

int
main(void)
{
	test_limits();
	test_answered();
	test_moving();
	test_pause();
	test_pause_closed();
	test_pause_limit();
	test_stop();
	test_short_body();
	test_descriptors();
	test_memory();
	return done();
}
