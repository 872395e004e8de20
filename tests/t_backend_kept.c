/* SPDX-License-Identifier: ISC */
#include "backend.h"

#include "backend_app.h"
#include "backend_rig.h"
#include "tap.h"

/* Connections that are kept for the next request, and how many there are. */

static const struct {
	const char *what, *script;
	int accepts;
	bool fresh_second;
	uint32_t kept_max;
	const char *first, *second;
	uint64_t body_len;	/* of the first */
} kept[] = {
	{ "a kept connection serves the next request",
	  "accept " ANSWER("a") ANSWER("b"), 1, false, 1,
	  "ended 0", "ended 0", 0 },
	{ "also with padding after END, and a body",
	  "accept params body END/1:0.0+7 " ANSWER("b"), 1, false, 1,
	  "ended 0", "ended 0", 70000 },
	{ "kept_max 0 keeps none",
	  "accept " ANSWER("a") "left accept " ANSWER("b"), 2, false, 0,
	  "ended 0", "ended 0", 0 },
	{ "a request of its own takes no kept one",
	  "accept " ANSWER("a") "accept " ANSWER("b"), 2, true, 1,
	  "ended 0", "ended 0", 0 },
	{ "input that was not all sent ends the connection [cgi:C68]",
	  "accept params STDOUT/1:a END/1:0.0 left accept " ANSWER("b"), 2,
	  false, 1, "ended 0", "ended 0", 16000000 },
	{ "so does a byte after END",
	  "accept params body END/1:0.0 RAW:01 left accept " ANSWER("b"), 2,
	  false, 1, "ended 0", "ended 0", 0 },
	{ "a refusal does not",
	  "accept params body END/1:2.2 " ANSWER("b"), 1, false, 1,
	  "not-started busy", "ended 0", 0 },
	{ "one that the application closes when it is used is replaced",
	  "accept " ANSWER("a") "params body close accept " ANSWER("b"), 2,
	  false, 1, "ended 0", "ended 0", 0 },
	{ "... once: the second death is the application's",
	  "accept " ANSWER("a") "params body close accept params close", 2,
	  false, 1, "ended 0", "died", 0 },
	{ "... and not after a byte of answer",
	  "accept " ANSWER("a") "params STDOUT/1:b close", 1,
	  false, 1, "ended 0", "died", 0 },
	{ "... and a refused connection then is no proof of no start",
	  "accept " ANSWER("a") "params gone close", 1,
	  false, 1, "ended 0", "died", 0 },
};

static void
test_kept(size_t row, enum app_kind kind)
{
	size_t files = back_descriptors();
	struct got g = { 0 };
	struct backend_request r;
	struct app app;
	struct back b;

	back_open(&b);
	app_open(&app, kind, 16);
	app_play(&app, kept[row].script);
	r = back_request((char *[]){ app.address, NULL });
	r.fresh = false;
	r.kept_max = kept[row].kept_max;
	r.body = back_body(kept[row].body_len);
	r.body_len = kept[row].body_len;
	back_call(&b, &r, kept[row].first, NULL, kept[row].what);
	r.body = back_body(100);
	r.body_len = 100;
	r.fresh = kept[row].fresh_second;
	if (!back_start(&b, &g, &r))
		bail_out("no call");
	back_await(&g);
	got_is(&g, kept[row].second, "... and the second");
	got_free(&g);
	back_close(&b);
	ok(app_end(&app), "... the application played to its end");
	is_int(app.was.accepts, kept[row].accepts, "... with %d connections",
	    kept[row].accepts);
	is_int((long long)back_descriptors(), (long long)files,
	    "... no descriptor is left");
}

static void
test_idle_closed(void)
{
	struct got g = { 0 };
	struct backend_request r;
	struct app app;
	struct back b;
	size_t files;

	back_open(&b);
	app_open(&app, APP_UNIX, 16);
	app_play(&app, "accept " ANSWER("a") "wait close accept " ANSWER("b")
	    "wait STDOUT/1:not-asked wait accept " ANSWER("c") "left");
	files = back_descriptors();
	r = back_request((char *[]){ app.address, NULL });
	r.fresh = false;
	r.kept_max = 1;
	back_call(&b, &r, "ended 0", "a", "one is kept");
	is_int((long long)back_descriptors(), (long long)files + 1,
	    "... and open");
	app_go(&app);
	back_await_words(&b, &app, 8);
	back_turns(&b, 10);
	is_int((long long)back_descriptors(), (long long)files,
	    "when the application closes it, so do we");
	back_call(&b, &r, "ended 0", "b", "the next is kept");
	app_go(&app);
	back_await_words(NULL, &app, 16);
	b.held_ms = idem_boot_ms(&idem_clock_real);
	if (!back_start(&b, &g, &r))
		bail_out("no call");
	app_go(&app);	/* it was open when the call began */
	back_await(&g);
	got_is(&g, "ended 0", "one that says something by itself is not used");
	is_bytes(g.out.at, g.out.len, "c", 1, "... nor what it says");
	got_free(&g);
	is_int((long long)back_descriptors(), (long long)files + 1,
	    "and another is kept");
	b.later_ms += 29000;
	back_turns(&b, 1);
	is_int((long long)back_descriptors(), (long long)files + 1,
	    "... for 29 s");
	b.later_ms += 1000;
	back_turns(&b, 1);
	is_int((long long)back_descriptors(), (long long)files,
	    "... and no longer than 30 s");
	ok(app_end(&app), "the application saw it");
	back_close(&b);
}

static void
test_room(void)
{
	struct got g[3] = { { 0 } };
	struct backend_request r;
	struct app app;
	struct back b;
	size_t files;

	back_open(&b);
	app_open(&app, APP_UNIX, 16);
	files = back_descriptors();
	r = back_request((char *[]){ app.address, NULL });
	r.connections_max = 2;
	ok(back_start(&b, &g[0], &r) && back_start(&b, &g[1], &r),
	    "two calls have room");
	r.body = back_body(10);
	ok(!back_start(&b, &g[2], &r), "a third has none, its body is closed");
	r.body = -1;
	is_int((long long)back_descriptors(), (long long)files + 2,
	    "... and nothing is left of it");
	backend_stop(g[0].call);
	ok(back_start(&b, &g[2], &r), "where one went there is room");
	backend_stop(g[1].call);
	backend_stop(g[2].call);
	app_end(&app);

	app_open(&app, APP_UNIX, 16);
	app_play(&app, "accept " ANSWER("a") "left accept " ANSWER("b"));
	r = back_request((char *[]){ app.address, NULL });
	r.connections_max = 1;
	r.kept_max = 4;
	r.fresh = false;
	back_call(&b, &r, "ended 0", "a", "one is kept, and all there may be");
	r.fresh = true;
	back_call(&b, &r, "ended 0", "b", "it makes room for a fresh one");
	ok(app_end(&app), "... before that one comes");
	back_close(&b);
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof kept / sizeof *kept; i++) {
		test_kept(i, APP_UNIX);
		test_kept(i, APP_TCP);
	}
	test_idle_closed();
	test_room();
	return done();
}
