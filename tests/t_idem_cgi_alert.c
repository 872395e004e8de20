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

#define END_MS 8000		/* sooner than after another turn */
#define TURN_MS 4000		/* until another may be told: time for several
				   to come, on a busy machine too */

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
has_lock(pid_t pid)
{
	FILE *locks = fopen("/proc/locks", "re");
	unsigned long ino;
	struct stat st;
	char line[200];
	bool has = false;
	int who;

	if (locks == NULL)
		bail_out("/proc/locks: %s", strerror(errno));
	if (fstatat(folder, "alerts.lock", &st, 0) != 0)
		bail_out("alerts.lock: %s", strerror(errno));
	while (fgets(line, sizeof line, locks) != NULL)
		has = has || (sscanf(line, "%*s FLOCK %*s WRITE %d %*[^:]:"
		    "%*[^:]:%lu", &who, &ino) == 2 && who == pid &&
		    ino == st.st_ino);
	fclose(locks);
	return has;
}

static bool
gets_lock(pid_t pid)
{
	int64_t until_ms = rig_now_ms() + TURN_MS;

	while (!has_lock(pid)) {
		if (rig_now_ms() > until_ms)
			return false;
		usleep(1000);
	}
	return true;
}

/* -------------------------------------------------------------------------- */

static void
test_one(const char *command)
{
	ok(ends(lobby(command, 1, 1), END_MS), "a lobby tells and ends");
	told("unknown-key|run 1|e001000000000000|0|0|", "what it has found");
	is_int(rig_lines(&rig, "told", NULL), 0, "and nothing of an outage");
}

static void
test_several(const char *command)
{
	pid_t first, others[3];
	unsigned i, quick = 0;

	told_before(ALERT_EVERY_MS - TURN_MS);
	first = lobby(command, 10, 1);
	ok(gets_lock(first), "a lobby waits for its turn");
	for (i = 0; i < 3; i++)
		others[i] = lobby(command, 11 + i, 1);
	for (i = 0; i < 3; i++)
		quick += ends(others[i], TURN_MS / 2);
	is_int(quick, 3, "meanwhile others leave at once");
	ok(ends(first, END_MS), "and that one tells of all");
	told("|e00a000000000000 ", "in one call");
	ok(access(rig_at(&rig, "told"), F_OK) != 0, "and one only");
}

static void
test_keys(const char *command)
{
	pid_t first, second;

	told_before(ALERT_EVERY_MS - TURN_MS);
	first = lobby(command, 20, 1);
	second = lobby(command, 30, 100);
	ok(ends(first, END_MS) && ends(second, END_MS), "of many they tell too");
	told("|100|93|", "with how many there were, and not all of their keys");
}

static void
test_bad(const char *command)
{
	ok(ends(lobby(NULL, 1, 1), END_MS), "without a command nobody is told");
	told_before(2 * ALERT_EVERY_MS);
	ok(ends(lobby("/none/such", 1, 1), END_MS), "one that is not there ends");
	told_before(2 * ALERT_EVERY_MS);
	rig_file(&rig, "alerts", "half a record");
	ok(ends(lobby(command, 40, 1), END_MS), "behind half a record of a dead "
	    "one");
	told("|e028000000000000|0|0|", "another is told");
	ok(ends(lobby(command, 0, 0), END_MS), "nor is nothing told");
}

int
main(void)
{
	char text[400], command[RIG_PATH];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(120);
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
