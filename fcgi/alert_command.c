/* SPDX-License-Identifier: ISC */
#include "alert_private.h"

#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DIGITS_SIZE (ALERT_DIGITS + 1)	/* with a blank, or NUL */

/* --- keys ----------------------------------------------------------------- */

struct keys {
	char text[SHM_SAYINGS * DIGITS_SIZE];	/* with blanks between */
	size_t len;
	uint64_t left_out;	/* tellings whose key is not there */
};

/* Two may have told of the same. */
static void
add_key(struct keys *keys, const struct alert_words *w)
{
	char digits[2 * IDEM_DIGEST_LEN + 1];

	idem_hex(w->key, sizeof w->key, digits);
	digits[ALERT_DIGITS] = '\0';
	if (strstr(keys->text, digits) != NULL)
		return;
	keys->len += (size_t)snprintf(keys->text + keys->len,
	    sizeof keys->text - keys->len, "%s%s", keys->len > 0 ? " " : "",
	    digits);
}

/* The last ones told, up to the count-th; oldest first. */
static void
collect(struct shm *shm, unsigned kind, uint64_t count, uint64_t more,
    struct keys *keys)
{
	uint64_t n = more < SHM_SAYINGS ? more : SHM_SAYINGS;
	struct alert_words w;
	uint64_t number;

	keys->left_out = more - n;
	for (number = count - n + 1; number <= count; number++) {
		if (!alert_read(shm, kind, number, &w))
			keys->left_out++;
		else if (w.keyed != 0)
			add_key(keys, &w);
	}
}

/* --- the environment ------------------------------------------------------ */

struct environment {
	char path[80], event[40], left_out[48], time[48], keys_left_out[56];
	char what[sizeof "IDEM_WHAT=" + SHM_WHAT];
	char keys[sizeof "IDEM_KEYS=" + SHM_SAYINGS * DIGITS_SIZE];
	char instance[512];
	char *at[9];
};

static void
say_time(char *to, size_t size, int64_t wall_ms)
{
	time_t second = (time_t)(wall_ms / 1000);
	struct tm tm;

	gmtime_r(&second, &tm);
	strftime(to, size, "IDEM_TIME=%Y-%m-%dT%H:%M:%SZ", &tm);
}

/* Others are about a store, or the whole instance. */
static bool
bears_keys(unsigned kind)
{
	return kind == ALERT_UNKNOWN_KEY || kind == ALERT_TWO_RUNS ||
	    kind == ALERT_UNPROTECTED;
}

/* Nothing of ours besides: it may hold what is not the command's business. */
static void
make_environment(const struct alert *a, unsigned kind, uint64_t left_out,
    const struct alert_words *w, const struct keys *keys, struct environment *e)
{
	char what[SHM_WHAT];

	memcpy(what, w->what, sizeof what);
	snprintf(e->path, sizeof e->path, "PATH=/usr/local/sbin:"
	    "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	snprintf(e->event, sizeof e->event, "IDEM_EVENT=%s",
	    alert_text((enum alert_kind)kind));
	snprintf(e->what, sizeof e->what, "IDEM_WHAT=%s", what[0] != '\0' ?
	    what : alert_what((enum alert_kind)kind));
	say_time(e->time, sizeof e->time, (int64_t)w->at_ms);
	snprintf(e->instance, sizeof e->instance, "IDEM_INSTANCE=%s",
	    a->instance);
	snprintf(e->left_out, sizeof e->left_out, "IDEM_LEFT_OUT=%llu",
	    (unsigned long long)left_out);
	snprintf(e->keys, sizeof e->keys, "IDEM_KEYS=%s", keys->text);
	snprintf(e->keys_left_out, sizeof e->keys_left_out,
	    "IDEM_KEYS_LEFT_OUT=%llu", (unsigned long long)keys->left_out);
	e->at[0] = e->path;
	e->at[1] = e->event;
	e->at[2] = e->what;
	e->at[3] = e->time;
	e->at[4] = e->instance;
	e->at[5] = e->left_out;
	e->at[6] = e->keys;
	e->at[7] = e->keys_left_out;
	e->at[8] = NULL;
}

/* --- the process ---------------------------------------------------------- */

bool
alert_command(struct alert *a, unsigned kind, uint64_t count, uint64_t more,
    const struct alert_words *w)
{
	struct environment e;
	struct keys keys = { .len = 0 };
	char name[256], event[40];
	char *argv[] = { name, event, NULL };

	snprintf(name, sizeof name, "%s", a->command);
	snprintf(event, sizeof event, "%s", alert_text((enum alert_kind)kind));
	if (bears_keys(kind))
		collect(a->shm, kind, count, more, &keys);
	make_environment(a, kind, more > 0 ? more - 1 : 0, w, &keys, &e);
	a->pid = a->run(a->arg, a->command, argv, e.at);
	if (a->pid != -1)
		return true;
	log_line_quoted(a->log, "error", strerror(errno), "alert=%s", event);
	a->pid = 0;
	return false;
}

/* A clean process: nothing of ours is open, nothing blocked or ignored. */
void
alert_become(const char *who, const char *path, char *const *argv,
    char *const *envp)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), i;
	sigset_t none;

	setpgid(0, 0);
	alarm(ALERT_LIMIT_MS / 1000 + 1);	/* if who started it is dead */
	for (i = 1; i <= SIGRTMAX; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (null != -1 && dup2(null, STDIN_FILENO) != -1 &&
	    dup2(STDERR_FILENO, STDOUT_FILENO) != -1 &&
	    spawn_close(STDERR_FILENO + 1, ~0u) == 0 && chdir("/") == 0)
		execve(path, argv, envp);
	dprintf(STDERR_FILENO, "%s: alert: %s: %s\n", who, path,
	    strerror(errno));
	_exit(127);
}
