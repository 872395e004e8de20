/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "ctl_run.h"
#include "holds.h"
#include "rig_watch.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * However a program ends: whether its answer is kept, its key is free again, or
 * nobody knows, by what its route says; and what its operator can say then.
 * A lease is as long as two requests are waited for, so no answer here comes of
 * a lease's end.
 */
#define WAIT_MS 20000

static const char conf[] =
    "workers = 1\n"
    "programs = 4\n"
    "grace = '1s'\n"
    "ledger = sqlite { path = '%s/ledger.db', create = true }\n"
    "local ends = cgi { '%s/ends' }\n"
    "local function on(path, more)\n"
    "  more.path = path more.program = ends more.lease = '60s'\n"
    "  more.in_progress = '409'\n"
    "  route(more)\n"
    "end\n"
    "on('/store', { })\n"
    "on('/release', { release = { { 400, 599 } } })\n"
    "on('/any', { store_exit = 'any' })\n"
    "on('/small', { kept_max = '10KiB' })\n";

/* X-Row says how: a status, or one of these. */
static const char ends[] = "#!/bin/sh\n"
    "echo \"$SCRIPT_NAME $HTTP_X_ROW\" >>starts\n"
    "echo \"$IDEMPOTENCY_KEY\" >named\n"
    "while [ -e hold ]; do sleep 0.02; done\n"
    "say() { printf 'Status: %s\\nContent-Type: text/plain\\n%b\\n' \"$@\"; }\n"
    "case $HTTP_X_ROW in\n"
    "[1-9]*) say $HTTP_X_ROW; echo by $$ ;;\n"
    "redirect) say '303 See Other' 'Location: /done/'$$'\\n' ;;\n"
    "none) say '204 No Content' ;;\n"
    "exit) say 200; echo by $$; exit 3 ;;\n"
    "length) say 200 'Content-Length: 3\\n'; printf yes; exit 3 ;;\n"
    "short) say 200 'Content-Length: 300\\n'; printf yes ;;\n"
    "signal) say 200; echo by $$; kill -9 $$ ;;\n"
    "abort) say 200; echo by $$; kill -ABRT $$ ;;\n"
    "silent) ;;\n"
    "raise) echo 'died at line 3' >&2; exit 255 ;;\n"
    "head) say 200; kill -9 $$ ;;\n"
    "closes) say 200; echo by $$; exec >&- 2>&-; sleep 0.3 ;;\n"
    "big) say 200; head -c $HTTP_X_SIZE /dev/zero ;;\n"
    "esac\n";

static struct rig rig;
static char more_row[64], more_size[64] = "HTTP_X_SIZE=0";
static const char *const more[] = { more_row, more_size, NULL };

/* One key a row, unless said otherwise. */
static struct rig_request
request(const char *path, const char *row, const char *key)
{
	snprintf(more_row, sizeof more_row, "HTTP_X_ROW=%s", row);
	return (struct rig_request){ .method = "POST", .path = path,
		.key = key, .more = more, .body = idem_bytes_text("tea") };
}

static long
started(const char *path, const char *row)
{
	char line[128];

	snprintf(line, sizeof line, "%s %s", path, row);
	return rig_lines(&rig, "starts", line);
}

/* --- every end ------------------------------------------------------------ */

static const struct end {
	const char *row, *first, *second;
	int starts;
	const char *cases;
} kept[] = {
	{ "201", "201 stored", "201 replayed", 1, "[idem:B6]" },
	{ "202", "202 stored", "202 replayed", 1, "[idem:B6]" },
	{ "none", "204 stored", "204 replayed", 1, "[idem:B14]" },
	{ "redirect", "303 stored", "303 replayed", 1,
	    "[idem:B6 idem:CR-1]" },
	{ "404", "404 stored", "404 replayed", 1, "[idem:B6]" },
	{ "429", "429 stored", "429 replayed", 1, "[idem:B6]" },
	{ "500", "500 stored", "500 replayed", 1, "[idem:B6 idem:A20]" },
	{ "length", "200 stored", "200 replayed", 1, "[idem:B6]" },
	{ "exit", "502 unknown", "409 unknown", 1, "[idem:B6 idem:A20]" },
	{ "signal", "504 unknown", "409 unknown", 1, "[idem:B6 idem:A20]" },
	{ "abort", "502 unknown", "409 unknown", 1, "[idem:B6]" },
	{ "short", "502 unknown", "409 unknown", 1, "[idem:B6]" },
	{ "silent", "502 unknown", "409 unknown", 1, "[idem:A17]" },
	{ "raise", "502 unknown", "409 unknown", 1, "[idem:A17]" },
	{ "head", "504 unknown", "409 unknown", 1, "[idem:A17]" },
	{ "closes", "200 stored", "200 replayed", 1, "[idem:A17]" }
}, freed[] = {
	{ "201", "201 stored", "201 replayed", 1, "[idem:B6]" },
	{ "redirect", "303 stored", "303 replayed", 1, "[idem:B6]" },
	{ "404", "404 released", "404 released", 2, "[idem:B6]" },
	{ "429", "429 released", "429 released", 2, "[idem:B6]" },
	{ "500", "500 released", "500 released", 2, "[idem:B6 idem:A20]" },
	{ "exit", "502 unknown", "409 unknown", 1, "[idem:B6]" },
	{ "signal", "504 unknown", "409 unknown", 1, "[idem:B6]" }
}, any[] = {
	{ "201", "201 stored", "201 replayed", 1, "[idem:B6]" },
	{ "500", "500 stored", "500 replayed", 1, "[idem:B6]" },
	{ "exit", "200 stored", "200 replayed", 1, "[idem:B6]" },
	{ "raise", "502 unknown", "409 unknown", 1, "[idem:B6]" },
	{ "signal", "504 unknown", "409 unknown", 1, "[idem:B6]" }
};

static void
same(const struct rig_answer *one, const struct rig_answer *other,
    const char *path, const struct end *e)
{
	is(rig_field(other, "Location"), rig_field(one, "Location"),
	    "%s %s: its Location is the same %s", path, e->row, e->cases);
	is_bytes(other->body.at, other->body.len, one->body.at, one->body.len,
	    "%s %s: so is its body %s", path, e->row, e->cases);
}

static void
row(const char *path, const struct end *e)
{
	struct rig_request r;
	struct rig_answer one, other;
	char key[64];

	snprintf(key, sizeof key, "%s-%s", path + 1, e->row);
	r = request(path, e->row, key);
	rig_request(&rig, &r, &one);
	told(&one, e->first, "%s %s %s", path, e->row, e->cases);
	rig_request(&rig, &r, &other);
	told(&other, e->second, "%s %s again %s", path, e->row, e->cases);
	if (strstr(e->second, "replayed") != NULL)
		same(&one, &other, path, e);
	is_int(started(path, e->row), e->starts, "%s %s: starts %s", path,
	    e->row, e->cases);
	rig_answer_free(&one);
	rig_answer_free(&other);
}

static void
every_end(void)
{
	size_t i;

	for (i = 0; i < sizeof kept / sizeof *kept; i++)
		row("/store", &kept[i]);
	for (i = 0; i < sizeof freed / sizeof *freed; i++)
		row("/release", &freed[i]);
	for (i = 0; i < sizeof any / sizeof *any; i++)
		row("/any", &any[i]);
}

/* --- clients that leave --------------------------------------------------- */

static bool
await_replay(const struct rig_request *r)
{
	int64_t until_ms = rig_now_ms() + WAIT_MS;
	struct rig_answer answer;
	bool is_it = false;

	while (!is_it && rig_now_ms() < until_ms) {
		const struct timespec pause = { 0, 20 * 1000 * 1000 };

		rig_request(&rig, r, &answer);
		is_it = strcmp(rig_field(&answer, "Idempotency-Status"),
		    "replayed") == 0;
		rig_answer_free(&answer);
		nanosleep(&pause, NULL);
	}
	return is_it;
}

static void
leaves(void)
{
	/* Its line counts among those of the row before: another path. */
	struct rig_request r = request("/any", "202", "leaves");
	long before = rig_lines(&rig, "starts", NULL);
	int fd;

	rig_file(&rig, "hold", "");
	fd = ask_begin(&rig, &r);
	ok(rig_await_lines(&rig, "starts", before + 1, WAIT_MS),
	    "a program runs");
	close(fd);
	unlink(rig_at(&rig, "hold"));
	ok(await_replay(&r), "its client has left, and who asks again gets the "
	    "answer [idem:B2 idem:B5 idem:CR-5]");
	is_int(started("/any", "202"), 1, "of the one run [idem:B2 idem:CR-5]");
}

/* --- answers too large to keep -------------------------------------------- */

static void
large(void)
{
	struct rig_request r = request("/small", "big", "fits");

	snprintf(more_size, sizeof more_size, "HTTP_X_SIZE=%d", 10 * 1024);
	ask(&rig, &r, "200 stored", "an answer as large as may be kept "
	    "[idem:B4]");
	ask(&rig, &r, "200 replayed", "is kept [idem:B4]");
	r.key = "beyond";
	snprintf(more_size, sizeof more_size, "HTTP_X_SIZE=%d", 10 * 1024 + 1);
	ask(&rig, &r, "200 stored-without-body", "one byte more [idem:B4]");
	ask(&rig, &r, "409 not-kept", "is not, which is said [idem:B4 "
	    "idem:B5]");
	is_int(started("/small", "big"), 2, "and no reason to run again "
	    "[idem:B4 idem:B5]");
}

#define HUGE_KB (64 * 1024)

static void
huge(void)
{
	struct rig_request r = request("/small", "big", "huge");
	struct worker w;
	long lobby, keeper;

	holds_worker(&rig, &w);
	rig_watch_lobbies(&rig, &w.lobby, 1);
	lobby = holds_status_kb(w.lobby, "VmHWM");
	keeper = holds_status_kb(w.keeper, "VmHWM");
	snprintf(more_size, sizeof more_size, "HTTP_X_SIZE=%d",
	    HUGE_KB * 1024);
	ask(&rig, &r, "200 stored-without-body", "an answer of 64 MiB "
	    "[idem:B5]");
	lobby = holds_status_kb(w.lobby, "VmHWM") - lobby;
	keeper = holds_status_kb(w.keeper, "VmHWM") - keeper;
	if (rig_watch_sanitized)
		skip("memory under a sanitizer says nothing",
		    "passing it on takes little memory");
	else
		ok(lobby + keeper < HUGE_KB / 4, "passing it on takes little "
		    "memory: %ld kB [idem:B5]", lobby + keeper);
}

/* --- the operator's word -------------------------------------------------- */

static void
resolve(const char *key, const char *how)
{
	char *named = rig_slurp(&rig, "named");
	const char *out;
	int status;

	if (named == NULL)
		bail_out("the program was not told its key");
	named[strcspn(named, "\n")] = '\0';
	status = ctl_run(&out, "resolve %s %s --ledger sqlite:%s", named, how,
	    rig.ledger);
	if (!is_int(status, 0, "%s is resolved: %s [idem:B8]", key, how))
		note("%s", out);
	free(named);
}

static void
operator_says(void)
{
	struct rig_request r = request("/store", "signal", "told-not");
	char how[RIG_PATH + 32];

	ask(&rig, &r, "504 unknown", "a run that was killed");
	resolve("told-not", "not-done");
	r = request("/store", "207", "told-not");
	ask(&rig, &r, "207 stored", "not done: the next one runs [idem:B8]");
	is_int(started("/store", "207"), 1, "once [idem:B8]");

	r = request("/store", "signal", "told-done");
	ask(&rig, &r, "504 unknown", "another that was killed");
	rig_file(&rig, "answer", "Status: 201 Created\n"
	    "Content-Type: text/plain\n\nit did");
	snprintf(how, sizeof how, "done --answer %s", rig_at(&rig, "answer"));
	resolve("told-done", how);
	ask(&rig, &r, "201 replayed", "done: the next one is told so "
	    "[idem:B8]");
	is_int(started("/store", "signal"), 3, "and nothing runs [idem:B8]");
}

int
main(void)
{
	char text[2048];

	rig_open(&rig);
	rig.bare = true;
	snprintf(text, sizeof text, conf, rig.folder, rig.folder);
	rig_file(&rig, "idem.conf", text);
	rig_program(&rig, "ends", ends);
	ask_start(&rig, (const char *[]){ "--config",
	    rig_at(&rig, "idem.conf"), NULL });
	every_end();
	leaves();
	large();
	huge();
	operator_says();
	is_int(rig_stop(&rig, WAIT_MS), 0, "idemd ends with status 0");
	rig_end(&rig);
	return done();
}
