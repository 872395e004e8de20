/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "rig_watch.h"
#include "tap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A duplicate on another worker than its run: it waits without effort, and
 * what ended before its time does not concern it.
 */
#define DUPLICATES 3
#define QUIET_MS 1500
#define WORKERS 2
#define WAIT_MS 20000

struct world {
	struct rig rig;
	pid_t lobby[WORKERS];
};

static bool
is_stopped(pid_t pid)
{
	char path[64], text[1024];
	const char *at;
	size_t len;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	len = f != NULL ? fread(text, 1, sizeof text - 1, f) : 0;
	if (f != NULL)
		fclose(f);
	text[len] = '\0';
	at = strrchr(text, ')');
	return at != NULL && strncmp(at, ") T", 3) == 0;
}

/* What is asked from now on is asked of this one. */
static void
only(const struct world *w, int worker)
{
	int64_t until_ms = rig_now_ms() + WAIT_MS;

	kill(w->lobby[1 - worker], SIGSTOP);
	while (!is_stopped(w->lobby[1 - worker])) {
		if (rig_now_ms() > until_ms)
			bail_out("a lobby does not stop");
		usleep(1000);
	}
}

static void
both(const struct world *w)
{
	kill(w->lobby[0], SIGCONT);
	kill(w->lobby[1], SIGCONT);
}

static void
quick(struct world *w, const char *key, const char *want, const char *what)
{
	const struct rig_request request = { .method = "POST", .path = "/p",
		.key = key };

	ask(&w->rig, &request, want, "%s", what);
}

static long
cpu_ms(pid_t pid)
{
	char path[64], text[1024];
	unsigned long user, system;
	const char *at;
	size_t len;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	len = f != NULL ? fread(text, 1, sizeof text - 1, f) : 0;
	if (f != NULL)
		fclose(f);
	text[len] = '\0';
	at = strrchr(text, ')');
	if (at == NULL || sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u "
	    "%*u %*u %lu %lu", &user, &system) != 2)
		bail_out("%s", path);
	return (long)(user + system) * 1000 / sysconf(_SC_CLK_TCK);
}

static void
test_idle(struct world *w)
{
	const struct rig_request held = { .method = "POST", .path = "/p",
		.query = "held", .key = "long" };
	struct rig_answer first, answer;
	int fds[DUPLICATES], fd, i;
	long spent;

	only(w, 0);
	for (i = 0; i < 5; i++)
		quick(w, i % 2 == 0 ? "even" : "odd", i < 2 ? "200 stored" :
		    "200 replayed", "a key ends where nobody waits");
	fd = ask_begin(&w->rig, &held);
	await_starts(&w->rig, 3);
	both(w);
	only(w, 1);
	for (i = 0; i < DUPLICATES; i++)
		fds[i] = ask_begin(&w->rig, &held);
	quick(w, "other", "200 stored",
	    "the duplicates are accepted, as one after them is");
	both(w);
	spent = -cpu_ms(w->lobby[1]);
	usleep(QUIET_MS * 1000);
	spent += cpu_ms(w->lobby[1]);
	ok(spent < QUIET_MS / 5, "they wait without effort (%ld ms of %d)",
	    spent, QUIET_MS);
	unlink(rig_at(&w->rig, "hold"));
	ask_end(&w->rig, fd, &first);
	told(&first, "200 stored", "the run");
	for (i = 0; i < DUPLICATES; i++) {
		ask_end(&w->rig, fds[i], &answer);
		told(&answer, "200 replayed", "a duplicate");
		is_bytes(answer.body.at, answer.body.len, first.body.at,
		    first.body.len, "with the same body");
		rig_answer_free(&answer);
	}
	rig_answer_free(&first);
}

int
main(void)
{
	struct world w;

	rig_open(&w.rig);
	rig_file(&w.rig, "hold", "");
	rig_program(&w.rig, "p", "#!/bin/sh\necho >>starts\n"
	    "[ \"$QUERY_STRING\" = held ] && " HELD
	    "printf 'Content-Type: text/plain\\n\\nby %s' $$\n");
	ask_start(&w.rig, (const char *[]){ "--workers", "2", "--in-progress",
	    "wait:60s", "--", rig_at(&w.rig, "p"), NULL });
	rig_watch_lobbies(&w.rig, w.lobby, WORKERS);
	test_idle(&w);
	is_int(rig_stop(&w.rig, 20000), 0, "idemd ends with status 0");
	rig_end(&w.rig);
	return done();
}
