/* SPDX-License-Identifier: ISC */
#include "backend.h"

#include "backend_app.h"
#include "backend_rig.h"
#include "tap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Which application a call reaches, over which connection. */

#define FILLERS_MAX 64

/* --- addresses ------------------------------------------------------------ */

static const struct {
	const char *address;
	bool right;
} addresses[] = {
	{ "unix:/run/php/fpm.sock", true },
	{ "tcp:127.0.0.1:9000", true },
	{ "tcp:localhost:9000", true },
	{ "tcp:[::1]:9000", true },
	{ "tcp:::1:9000", false },
	{ "tcp:127.0.0.1:0", false },
	{ "tcp:127.0.0.1:65536", false },
	{ "tcp:127.0.0.1:99999999999", false },
	{ "tcp:127.0.0.1:9000x", false },
	{ "tcp:127.0.0.1", false },
	{ "tcp:example.org:9000", false },
	{ "tcp::9000", false },
	{ "tcp:[::1:9000", false },
	{ "tcp:[]:9000", false },
	{ "unix:run/fpm.sock", false },
	{ "unix:", false },
	{ "/run/fpm.sock", false },
	{ "", false },
};

static void
test_addresses(void)
{
	char deep[200] = "unix:/";
	size_t i;

	for (i = 0; i < sizeof addresses / sizeof *addresses; i++)
		ok((backend_address_wrong(addresses[i].address) == NULL) ==
		    addresses[i].right, "\"%s\" is %s address",
		    addresses[i].address, addresses[i].right ? "an" : "no");
	memset(deep + 6, 'a', 106);
	ok(backend_address_wrong(deep) == NULL, "a path may have 107 bytes");
	deep[112] = 'a';
	ok(backend_address_wrong(deep) != NULL, "... and not 108");
}

static void
test_localhost(void)
{
	char address[32];
	struct app app;
	struct back b;

	back_open(&b);
	app_open(&app, APP_TCP, 16);
	app_play(&app, "accept " ANSWER("x"));
	snprintf(address, sizeof address, "tcp:localhost%s",
	    strrchr(app.address, ':'));
	back_call(&b, &(struct backend_request){
	    .addresses = (char *[]){ address, NULL }, .body = -1 },
	    "ended 0", "x", "localhost is reached without a resolver");
	app_end(&app);
	back_close(&b);
}

static void
test_nobody(void)
{
	struct app unix_app, tcp_app;
	struct backend_request r;
	struct back b;

	back_open(&b);
	app_open(&unix_app, APP_UNIX, 16);
	app_open(&tcp_app, APP_TCP, 16);
	close(unix_app.listener);
	close(tcp_app.listener);
	unix_app.listener = tcp_app.listener = -1;
	r = back_request((char *[]){ unix_app.address, NULL });
	back_call(&b, &r, "not-started", "", "nobody: not started (unix)");
	r = back_request((char *[]){ tcp_app.address, NULL });
	back_call(&b, &r, "not-started", "", "nobody: not started (tcp)");
	r = back_request((char *[]){ unix_app.address, tcp_app.address, NULL });
	back_call(&b, &r, "not-started", "", "nobody at several: not started");
	r = back_request((char *[]){ "unix:/nowhere/s", NULL });
	back_call(&b, &r, "not-started", "", "no such path: not started");
	r = back_request((char *[]){ "tcp:nowhere.invalid:9", NULL });
	back_call(&b, &r, "not-started", "", "no such address: not started");
	r = back_request((char *[]){ NULL });
	r.body = back_body(10);
	ok(backend_start(b.all, &r, NULL) == NULL, "no addresses: no call");
	app_end(&unix_app);
	app_end(&tcp_app);
	back_close(&b);
}

static void
test_turns(void)
{
	struct app first, dead, last;
	struct backend_request r;
	struct back b;

	back_open(&b);
	b.held_ms = idem_boot_ms(&idem_clock_real);
	app_open(&first, APP_UNIX, 16);
	app_open(&dead, APP_TCP, 16);
	app_open(&last, APP_TCP, 16);
	close(dead.listener);
	dead.listener = -1;
	app_play(&first, "accept " ANSWER("a") "accept " ANSWER("d"));
	app_play(&last, "accept " ANSWER("b") "accept " ANSWER("c")
	    "accept " ANSWER("e"));
	r = back_request((char *[]){ first.address, dead.address, last.address,
	    NULL });
	back_call(&b, &r, "ended 0", "a", "the first call goes to the first");
	back_call(&b, &r, "ended 0", "b",
	    "the next to the next; nobody is there, so to the one after");
	back_call(&b, &r, "ended 0", "c", "the third to the third");
	back_call(&b, &r, "ended 0", "d", "and around");
	back_call(&b, &r, "ended 0", "e", "one that failed lately comes last");
	ok(app_end(&first) && app_end(&last), "each has played to its end");
	app_end(&dead);
	back_close(&b);
}

/* Somebody listens there again. */
static void
listen_again(struct app *app)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	memcpy(at.sun_path, app->path, strlen(app->path) + 1);
	unlink(app->path);
	app->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(app->listener, (const struct sockaddr *)&at,
	    sizeof at) == -1 || listen(app->listener, 16) == -1)
		bail_out("%s: %s", app->path, strerror(errno));
}

static void
test_back_again(void)
{
	struct app app, other;
	struct backend_request r;
	struct back b;

	back_open(&b);
	b.held_ms = idem_boot_ms(&idem_clock_real);
	app_open(&app, APP_UNIX, 16);
	app_open(&other, APP_UNIX, 16);
	close(app.listener);
	r = back_request((char *[]){ app.address, other.address, NULL });
	app_play(&other, "accept " ANSWER("1") "accept " ANSWER("2")
	    "accept " ANSWER("3") "accept " ANSWER("4"));
	back_call(&b, &r, "ended 0", "1", "an address fails");
	listen_again(&app);
	app_play(&app, "accept " ANSWER("back"));
	back_call(&b, &r, "ended 0", "2", "the next call's turn is another's");
	back_call(&b, &r, "ended 0", "3", "then it is its own: it comes last");
	b.later_ms += 1000;
	back_turns(&b, 1);
	back_call(&b, &r, "ended 0", "4", "a second later, the other's again");
	back_call(&b, &r, "ended 0", "back", "and its own: it is tried first");
	ok(app_end(&app) && app_end(&other), "each has played to its end");
	back_close(&b);
}

/* --- a full backlog ------------------------------------------------------- */

static size_t
fill(const struct app *app, int fillers[FILLERS_MAX])
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	size_t n;

	memcpy(at.sun_path, app->path, strlen(app->path) + 1);
	for (n = 0; n < FILLERS_MAX; n++) {
		fillers[n] = socket(AF_UNIX,
		    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		if (connect(fillers[n], (const struct sockaddr *)&at,
		    sizeof at) == -1)
			break;
	}
	if (n == FILLERS_MAX || errno != EAGAIN)
		bail_out("the backlog is not full: %s", strerror(errno));
	close(fillers[n]);
	return n;
}

static void
test_full(void)
{
	int fillers[FILLERS_MAX];
	struct backend_request r;
	struct app app, other;
	struct got g = { 0 };
	char script[80];
	struct back b;
	size_t n, i;

	back_open(&b);
	app_open(&app, APP_UNIX, 1);
	n = fill(&app, fillers);
	r = back_request((char *[]){ app.address, NULL });
	r.connect_ms = 60;
	back_call(&b, &r, "not-started busy", "",
	    "a full backlog: not started, busy, after connect_ms");
	r.connect_ms = 100000;
	r.limit_ms = 60;
	back_call(&b, &r, "not-started busy", "", "... or after limit_ms");

	r = back_request((char *[]){ app.address, NULL });
	if (!back_start(&b, &g, &r))
		bail_out("no call");
	back_turns(&b, 30);
	ok(g.call != NULL, "while there is time it is tried again");
	snprintf(script, sizeof script, "skip:%zu accept " ANSWER("late"), n);
	app_play(&app, script);
	back_await(&g);
	got_is(&g, "ended 0", "and reached once there is room");
	got_free(&g);
	for (i = 0; i < n; i++)
		close(fillers[i]);
	app_end(&app);

	app_open(&app, APP_UNIX, 1);
	app_open(&other, APP_UNIX, 16);
	n = fill(&app, fillers);
	app_play(&other, "accept " ANSWER("other"));
	r = back_request((char *[]){ app.address, other.address, NULL });
	back_call(&b, &r, "ended 0", "other", "instead of a full one the next");
	for (i = 0; i < n; i++)
		close(fillers[i]);
	app_end(&app);
	app_end(&other);
	back_close(&b);
}

/* A TCP backlog that is full is silent: no answer to SYN. */
static void
test_silent(void)
{
	struct backend_request r;
	struct app app, other;
	struct got g[5] = { { 0 } }, late = { 0 };
	struct back b;
	size_t i;

	back_open(&b);
	app_open(&app, APP_TCP, 0);
	app_open(&other, APP_TCP, 16);
	app_play(&other, "accept " ANSWER("other"));
	r = back_request((char *[]){ app.address, NULL });
	for (i = 0; i < 5; i++)
		if (!back_start(&b, &g[i], &r))
			bail_out("no call");
	back_turns(&b, 20);
	r.connect_ms = 60;
	back_call(&b, &r, "not-started busy", "",
	    "one that does not answer: not started, busy");
	b.later_ms += 2000;
	back_turns(&b, 1);
	b.held_ms = idem_boot_ms(&idem_clock_real);
	r = back_request((char *[]){ app.address, other.address, NULL });
	r.connect_ms = 2000;
	if (!back_start(&b, &late, &r))
		bail_out("no call");
	back_turns(&b, 1);
	ok(late.call != NULL, "while there is time it is waited for");
	b.later_ms += 1000;
	back_await(&late);
	got_is(&late, "ended 0", "it takes only its share of connect_ms");
	is_bytes(late.out.at, late.out.len, "other", 5,
	    "... with its answer");
	got_free(&late);
	for (i = 0; i < 5; i++)
		backend_stop(g[i].call);
	app_end(&app);
	app_end(&other);
	back_close(&b);
}

/* The loop has stood still: what came meanwhile is looked at before the
   time. */
static void
test_late(void)
{
	struct got g = { 0 };
	struct backend_request r;
	struct app app;
	struct back b;

	back_open(&b);
	app_open(&app, APP_TCP, 16);
	r = back_request((char *[]){ app.address, NULL });
	r.connect_ms = 1000;
	if (!back_start(&b, &g, &r))
		bail_out("no call");
	b.later_ms += 1000;
	back_await(&g);
	got_is(&g, "not-started busy",
	    "nothing is sent on one that is connected after connect_ms");
	got_free(&g);
	app_end(&app);
	back_close(&b);
}

int
main(void)
{
	test_addresses();
	test_localhost();
	test_nobody();
	test_turns();
	test_back_again();
	test_full();
	test_silent();
	test_late();
	return done();
}
