/* SPDX-License-Identifier: ISC */
#include "alert.h"
#include "clock.h"
#include "idem_cgi.h"
#include "rig.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Lobbies of idem-cgi, each a process, whose end may be told to the operator's
   command. */
static struct rig rig;
static int folder;

#define SCRIPT "#!/bin/sh\necho \"$1|$IDEM_WHAT|$IDEM_KEYS|" \
	"$IDEM_LEFT_OUT|$IDEM_KEYS_LEFT_OUT|$IDEM_INSTANCE\" >>%s/told\n"

static struct idem_digest
key_of(unsigned n)
{
	struct idem_digest key = { .at = { 0xe0, (uint8_t)n } };

	return key;
}

/* Not in a lobby's process, but as one: with a shared memory of its own. */
static void
be_lobby(const char *command, unsigned first, unsigned n)
{
	struct conf conf = { .run = rig.folder, .alert = command };
	struct shm *shm = shm_new(1, 1, -1);
	struct idem_digest key;
	char what[32];

	if (shm == NULL)
		_exit(1);
	shm_away_set(shm, 0, SHM_AWAY_SHARED, true);
	alert_tell(shm, ALERT_SHARED_AWAY, "away");
	for (; n > 0; n--, first++) {
		key = key_of(first);
		snprintf(what, sizeof what, "run %u", first);
		alert_tell_key(shm, ALERT_UNKNOWN_KEY, &key, what);
	}
	idem_cgi_alert(&conf, shm, folder);
	_exit(0);
}

static pid_t
lobby(const char *command, unsigned first, unsigned n)
{
	pid_t pid = fork();

	if (pid == -1)
		bail_out("fork: %s", strerror(errno));
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		be_lobby(command, first, n);
	}
	return pid;
}

static bool
ends(pid_t pid, int64_t within_ms)
{
	int64_t until_ms = rig_now_ms() + within_ms;
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (rig_now_ms() > until_ms) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return false;
		}
		usleep(5000);
	}
	return true;
}

#define WAIT_MS 60000		/* then something hangs */
#define END_MS 8000		/* sooner than after another turn */
#define TURN_MS 4000		/* until another may be told */
#define TRIES 10		/* on a machine that is held up for so long */

/* The last alert was told so long ago. */
static void
told_before(int64_t ms)
{
	int64_t at_ms[ALERT_KINDS];
	int fd = openat(folder, "alerts.lock", O_WRONLY | O_CREAT | O_CLOEXEC,
	    0600), i;

	for (i = 0; i < ALERT_KINDS; i++)
		at_ms[i] = idem_wall_ms(&idem_clock_real) - ms;
	if (fd == -1 || write(fd, at_ms, sizeof at_ms) != sizeof at_ms)
		bail_out("alerts.lock");
	close(fd);
}

static void
told(const char *want, const char *what)
{
	char *text = rig_slurp(&rig, "told");

	if (!ok(text != NULL && strstr(text, want) != NULL, "%s", what))
		note("told: %s", text != NULL ? text : "nothing");
	free(text);
	unlink(rig_at(&rig, "told"));
}

/*
 * That process has the lock, and tells or waits for its turn.  It is looked for
 * where nobody is in its way: who tries the lock to see has it for an
 * instant, and a lobby that wants it then leaves.
 */
static bool
has_lock(pid_t pid, const char *name)
{
	FILE *locks = fopen("/proc/locks", "re");
	unsigned long ino;
	struct stat st;
	char line[200];
	bool has = false;
	int who;

	if (locks == NULL)
		bail_out("/proc/locks: %s", strerror(errno));
	if (fstatat(folder, name, &st, 0) != 0)
		bail_out("%s: %s", name, strerror(errno));
	while (fgets(line, sizeof line, locks) != NULL)
		has = has || (sscanf(line, "%*s FLOCK %*s WRITE %d %*[^:]:"
		    "%*[^:]:%lu", &who, &ino) == 2 && who == pid &&
		    ino == st.st_ino);
	fclose(locks);
	return has;
}

/* It has read what is to be told, and nothing is left to do but to wait. */
static bool
is_waiting(pid_t pid)
{
	struct stat st;

	return has_lock(pid, "alerts.lock") &&
	    fstatat(folder, "alerts", &st, 0) == 0 && st.st_size == 0;
}

/*
 * A lobby that waits for its turn, and is stopped in that, so that its turn
 * does not come before others have.  Not one that was stopped too late, or
 * while nobody else could add to the file.
 */
static pid_t
stopped_lobby(const char *command, unsigned key)
{
	int64_t due_ms;
	unsigned tries;
	int status;
	pid_t pid;

	for (tries = 0; tries < TRIES; tries++) {
		due_ms = rig_now_ms() + TURN_MS;
		told_before(ALERT_EVERY_MS - TURN_MS);
		pid = lobby(command, key, 1);
		while (!is_waiting(pid) && rig_now_ms() < due_ms)
			usleep(1000);
		kill(pid, SIGSTOP);
		if (waitpid(pid, &status, WUNTRACED) != pid)
			bail_out("waitpid: %s", strerror(errno));
		if (WIFSIGNALED(status))
			bail_out("a lobby dies of signal %d", WTERMSIG(status));
		if (WIFSTOPPED(status) && rig_now_ms() < due_ms &&
		    !has_lock(pid, "alerts"))
			return pid;
		kill(pid, SIGCONT);
		if (!WIFEXITED(status))
			ends(pid, WAIT_MS);
		unlink(rig_at(&rig, "told"));
	}
	bail_out("no lobby waits for its turn");
}

/* It ends before there would be another turn, from this in the file on. */
static bool
ends_soon(const char *command, unsigned key, const char *in_file)
{
	unsigned tries;

	for (tries = 0; tries < TRIES; tries++) {
		told_before(2 * ALERT_EVERY_MS);
		rig_file(&rig, "alerts", in_file);
		if (ends(lobby(command, key, 1), END_MS))
			return true;
		unlink(rig_at(&rig, "told"));
	}
	return false;
}

/* -------------------------------------------------------------------------- */

static void
test_one(const char *command)
{
	ok(ends_soon(command, 1, ""), "a lobby tells and ends");
	told("unknown-key|run 1|e001000000000000|0|0|", "what it has found");
	is_int(rig_lines(&rig, "told", NULL), 0, "and nothing of an outage");
}

static void
test_several(const char *command)
{
	pid_t first = stopped_lobby(command, 10), others[3];
	unsigned i, quick = 0;

	for (i = 0; i < 3; i++)
		others[i] = lobby(command, 11 + i, 1);
	for (i = 0; i < 3; i++)
		quick += ends(others[i], WAIT_MS);
	is_int(quick, 3, "while a lobby waits for its turn others leave");
	ok(access(rig_at(&rig, "told"), F_OK) != 0, "and leave it to that one");
	kill(first, SIGCONT);
	ok(ends(first, WAIT_MS), "which tells of all");
	told("|e00a000000000000 ", "in one call");
	ok(access(rig_at(&rig, "told"), F_OK) != 0, "and one only");
}

static void
test_keys(const char *command)
{
	pid_t first = stopped_lobby(command, 20);
	bool left = ends(lobby(command, 30, 100), WAIT_MS);

	kill(first, SIGCONT);
	ok(left && ends(first, WAIT_MS), "of many they tell too");
	told("|100|93|", "with how many there were, and not all of their keys");
}

static void
test_bad(const char *command)
{
	ok(ends(lobby(NULL, 1, 1), WAIT_MS),
	    "without a command nobody is told");
	ok(ends_soon("/none/such", 1, ""), "one that is not there ends");
	ok(ends_soon(command, 40, "half a record"), "behind half a record of a "
	    "dead one");
	told("|e028000000000000|0|0|", "another is told");
	ok(ends(lobby(command, 0, 0), WAIT_MS), "nor is nothing told");
}

int
main(void)
{
	char text[400], command[RIG_PATH];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(600);
	rig_open(&rig);
	folder = open(rig.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	snprintf(text, sizeof text, SCRIPT, rig.folder);
	rig_program(&rig, "tell", text);
	snprintf(command, sizeof command, "%s", rig_at(&rig, "tell"));
	test_one(command);
	test_several(command);
	test_keys(command);
	test_bad(command);
	close(folder);
	rig_end(&rig);
	return done();
}
