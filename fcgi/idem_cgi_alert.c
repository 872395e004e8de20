/* SPDX-License-Identifier: ISC */
#include "idem_cgi.h"

#include "alert.h"
#include "alert_private.h"
#include "clock.h"
#include "run_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Each of us is one request's, and many may have something to tell at once.  So
 * what is to be told is added to a file in the run folder, and whoever gets the
 * lock beside it tells all of it, one of a kind in ALERT_EVERY_MS, as idemd's
 * master does; the others leave.
 */
#define TOLD_FILE "alerts"
#define LOCK_FILE "alerts.lock"
#define FIRST_KIND (2 * SHM_AWAYS)	/* of those that are by themselves: one
					   request cannot know that an outage
					   is over */
#define TURN_MS 50
#define FILE_TRIES 100		/* a turn each */

/* A record of TOLD_FILE. */
struct told {
	uint32_t kind;
	uint32_t keyed;
	uint64_t count;		/* tellings that it stands for */
	struct idem_digest key;
	char what[SHM_WHAT];
};

struct teller {
	struct alert alert;
	struct log log;
	int folder, lock;
	bool failed;		/* for want of means: somebody else may */
};

/* --- the file ------------------------------------------------------------- */

/* One may have died, or found the disk full, in the middle of a record. */
static bool
is_mended(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && ftruncate(fd, st.st_size -
	    st.st_size % (off_t)sizeof(struct told)) == 0;
}

/* Who has it has it for an instant; a stopped one is not waited for. */
static int
open_told(int folder)
{
	int fd = openat(folder, TOLD_FILE, O_RDWR | O_APPEND | O_CREAT |
	    O_NOFOLLOW | O_CLOEXEC, 0600), tries;

	for (tries = 0; fd != -1 && tries < FILE_TRIES; tries++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
			if (is_mended(fd))
				return fd;
			break;
		}
		poll(NULL, 0, TURN_MS);
	}
	if (fd != -1)
		close(fd);
	return -1;
}

static bool
add_told(int fd, const struct told *t)
{
	return write(fd, t, sizeof *t) == (ssize_t)sizeof *t;
}

/* All that our lobby has told of one kind; what its ring has lost goes first,
   as a number. */
static bool
add_kind(struct shm *shm, unsigned kind, int fd)
{
	uint64_t count = atomic_load(&shm->alert[kind].count), number;
	uint64_t first = count > SHM_SAYINGS ? count - SHM_SAYINGS + 1 : 1;
	struct told t = { .kind = kind, .count = first - 1 };
	struct alert_words w;
	bool good = first == 1 || add_told(fd, &t);

	for (number = first; number <= count && good; number++) {
		memset(&t, 0, sizeof t);
		t.kind = kind;
		t.count = 1;
		if (alert_read(shm, kind, number, &w)) {
			t.keyed = w.keyed != 0;
			memcpy(t.key.at, w.key, sizeof t.key.at);
			memcpy(t.what, w.what, sizeof t.what);
		}
		good = add_told(fd, &t);
	}
	return good;
}

static bool
add_all(struct shm *shm, int folder)
{
	int fd = open_told(folder);
	unsigned kind;
	bool good = fd != -1;

	for (kind = FIRST_KIND; kind < ALERT_KINDS && good; kind++)
		good = add_kind(shm, kind, fd);
	if (fd != -1)
		close(fd);
	return good;
}

static void
take_one(struct shm *shm, struct told *t)
{
	t->what[sizeof t->what - 1] = '\0';
	if (t->kind < FIRST_KIND || t->kind >= ALERT_KINDS || t->count == 0)
		return;
	atomic_fetch_add(&shm->alert[t->kind].count, t->count - 1);
	alert_tell_key(shm, (enum alert_kind)t->kind, t->keyed != 0 ?
	    &t->key : NULL, t->what[0] != '\0' ? t->what :
	    alert_what((enum alert_kind)t->kind));
}

static void
take_all(struct teller *teller)
{
	int fd = open_told(teller->folder);
	struct told t;
	off_t at;

	teller->failed = fd == -1;
	if (fd == -1)
		return;
	for (at = 0; pread(fd, &t, sizeof t, at) == (ssize_t)sizeof t;
	    at += (off_t)sizeof t)
		take_one(teller->alert.shm, &t);
	if (at > 0 && ftruncate(fd, 0) != 0)
		log_line_quoted(&teller->log, "error", strerror(errno),
		    "alert");
	close(fd);
}

static bool
is_any_told(int folder)
{
	struct stat st;

	return fstatat(folder, TOLD_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_size > 0;
}

/* --- who tells ------------------------------------------------------------ */

/* When each kind was told last, by the wall clock, is in the lock's file. */
static void
read_times(struct teller *t)
{
	int64_t now_ms = idem_boot_ms(&idem_clock_real);
	int64_t wall_ms = idem_wall_ms(&idem_clock_real);
	int64_t at_ms[ALERT_KINDS] = { 0 }, since_ms;
	unsigned kind;

	if (pread(t->lock, at_ms, sizeof at_ms, 0) < 0)
		return;
	for (kind = 0; kind < ALERT_KINDS; kind++) {
		since_ms = wall_ms - at_ms[kind];
		if (since_ms >= 0 && since_ms < ALERT_EVERY_MS)
			t->alert.after_ms[kind] = now_ms + ALERT_EVERY_MS -
			    since_ms;
	}
}

static void
write_times(const struct teller *t)
{
	int64_t now_ms = idem_boot_ms(&idem_clock_real);
	int64_t wall_ms = idem_wall_ms(&idem_clock_real);
	int64_t at_ms[ALERT_KINDS] = { 0 };
	unsigned kind;

	for (kind = 0; kind < ALERT_KINDS; kind++)
		if (t->alert.after_ms[kind] != 0)
			at_ms[kind] = wall_ms - ALERT_EVERY_MS +
			    t->alert.after_ms[kind] - now_ms;
	/* Not written: the next is told too soon. */
	(void)!pwrite(t->lock, at_ms, sizeof at_ms, 0);
}

static pid_t
start(void *arg, const char *path, char *const *argv, char *const *envp)
{
	struct teller *t = arg;
	pid_t pid = fork();

	if (pid == 0)
		alert_become("idem-cgi", path, argv, envp);
	if (pid > 0)
		setpgid(pid, pid);
	t->failed = t->failed || pid == -1;
	return pid;
}

static void
reap(struct teller *t)
{
	int status;

	if (t->alert.pid > 0 &&
	    waitpid(t->alert.pid, &status, WNOHANG) == t->alert.pid)
		alert_reaped(&t->alert, t->alert.pid, status);
}

/* Also what others add meanwhile. */
static void
tell(struct teller *t)
{
	int64_t now_ms, left_ms;

	for (;;) {
		if (is_any_told(t->folder))
			take_all(t);
		now_ms = idem_boot_ms(&idem_clock_real);
		alert_turn(&t->alert, now_ms);
		t->log.len = 0;		/* it is nobody's */
		left_ms = alert_due_ms(&t->alert, now_ms);
		if (t->failed || (left_ms == INT64_MAX && t->alert.pid == 0))
			return;
		left_ms -= now_ms;
		poll(NULL, 0, left_ms < TURN_MS && left_ms > 0 ? (int)left_ms :
		    TURN_MS);
		reap(t);
		write_times(t);
	}
}

/* What our lobby has told is not to be told, or comes through the file. */
static void
pass_over(struct alert *a, unsigned kinds)
{
	unsigned kind;

	a->believed = shm_away(a->shm);
	for (kind = 0; kind < kinds; kind++)
		a->told[kind] = atomic_load(&a->shm->alert[kind].count);
}

/*
 * Who adds to the file after it was taken for empty finds the lock free, or
 * held by one who looks once more.
 */
static void
tell_in_turn(struct teller *t)
{
	t->lock = openat(t->folder, LOCK_FILE, O_RDWR | O_CREAT | O_NOFOLLOW |
	    O_CLOEXEC, 0600);
	while (t->lock != -1 && !t->failed && is_any_told(t->folder) &&
	    flock(t->lock, LOCK_EX | LOCK_NB) == 0) {
		read_times(t);
		tell(t);
		flock(t->lock, LOCK_UN);
	}
}

/* -------------------------------------------------------------------------- */

static bool
has_anything(struct shm *shm)
{
	unsigned kind;

	for (kind = FIRST_KIND; kind < ALERT_KINDS; kind++)
		if (atomic_load(&shm->alert[kind].count) > 0)
			return true;
	return false;
}

/*
 * Who reads our standard error shall not wait for an operator's command; who
 * ends us may.
 */
static bool
be_silent(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	return null != -1 && dup2(null, STDERR_FILENO) != -1;
}

void
idem_cgi_alert(const struct conf *conf, struct shm *shm, int folder)
{
	struct teller t = { .folder = folder, .lock = -1 };
	char host[256] = "", instance[512];
	char *run;

	if (conf->alert == NULL || !has_anything(shm) || !be_silent())
		return;
	run = idem_run_folder_path(conf->run, conf->ledger);
	gethostname(host, sizeof host - 1);
	snprintf(instance, sizeof instance, "%s:%s", host,
	    run != NULL ? run : "");
	free(run);
	t.log.who = "idem-cgi";
	t.alert = (struct alert){
		.command = conf->alert, .instance = instance, .shm = shm,
		.log = &t.log, .run = start, .arg = &t
	};
	if (add_all(shm, folder)) {
		pass_over(&t.alert, ALERT_KINDS);
		tell_in_turn(&t);
	} else {	/* a full disk is no reason to be silent */
		pass_over(&t.alert, FIRST_KIND);
		tell(&t);
	}
}
