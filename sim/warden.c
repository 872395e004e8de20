/* SPDX-License-Identifier: ISC */
#include "child_private.h"

#include "folder.h"
#include "now.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAME "idemsim-warden"	/* 15 bytes at most (prctl(2)) */
#define FOLDER_MAX 48		/* so that sockets below it fit in 108 */
#define CALM 10			/* looks at which nobody is left */
#define CLEAN_MS 5000		/* then what is left stays, after .. */
#define LOOKS 50		/* .. so many looks at least, or .. */
#define GIVE_UP 2		/* .. so many that ended with some left */
#define LOOK_MS 10

/*
 * What the simulator says to it: of the process groups that it makes, and
 * before it goes; GONE is never said: it was killed.
 */
enum word { GONE, DONE, KEEP, ADD, DROP };
struct message {
	enum word word;
	pid_t group;		/* ADD, DROP */
};
#define TELL_MS 500		/* who was stopped is not waited for */

/*
 * One a process, for all of its runs: it must be there before anything that it
 * is to end, and be found from wherever the simulator ends.
 */
static struct {
	char folder[FOLDER_MAX];	/* "": there is none yet */
	int socket;
	pid_t pid;		/* 0: none */
} warden;

/* --- the warden ----------------------------------------------------------- */

/* Who reads what the simulator writes waits for the last that could write. */
static int
keep_only(int socket)
{
	int null = open("/dev/null", O_RDWR), i;

	if (null == -1)
		return -1;
	socket = fcntl(socket, F_DUPFD, 3);
	for (i = 0; i < 3; i++)
		if (dup2(null, i) == -1)
			return -1;
	if (dup2(socket, 3) == -1)
		return -1;
	return close_range(4, ~0u, 0) == 0 ? 3 : -1;
}

/* Sends its name to the simulator, which may be gone already. */
static void
make_folder(int socket, char folder[FOLDER_MAX])
{
	const char *given = getenv("TMPDIR"), *in;
	char real[PATH_MAX];

	if (folder[0] != '\0') {	/* the one of the warden before us */
		(void)!send(socket, folder, FOLDER_MAX, MSG_NOSIGNAL);
		return;
	}
	in = given != NULL && realpath(given, real) != NULL &&
	    strlen(real) + sizeof "/idemsim-XXXXXX" <= FOLDER_MAX ? real :
	    "/tmp";
	snprintf(folder, FOLDER_MAX, "%.32s/idemsim-XXXXXX", in);
	if (mkdtemp(folder) == NULL)
		folder[0] = '\0';
	(void)!send(socket, folder, FOLDER_MAX, MSG_NOSIGNAL);
}

static struct message
hear(int socket)
{
	struct message m = { .word = GONE };
	ssize_t n;

	do {
		n = recv(socket, &m, sizeof m, 0);
	} while (n == -1 && errno == EINTR);
	if (n != (ssize_t)sizeof m)
		m.word = GONE;
	return m;
}

/* How it goes. */
static enum word
await_word(int socket)
{
	struct message m;

	for (;;) {
		m = hear(socket);
		switch (m.word) {
		case ADD:
			child_group_drop(m.group);	/* a word was lost */
			(void)child_group_add(m.group, "");
			break;
		case DROP:
			child_group_drop(m.group);
			break;
		case GONE:
		case DONE:
		case KEEP:
			return m.word;
		}
	}
}

/*
 * The groups' numbers are still theirs when the simulator has just ended: while
 * it lived it had not reaped their leaders, and the kernel hands out all others
 * before it comes to one again.  So that is done at once, and not again.
 *
 * Nobody is told when a process is born: one that was on its way while we
 * looked shows itself soon.  Looks are counted, as time goes by without one
 * where we do not get our turn.  Whoever outlasts one of child_kill_left's,
 * which is many looks and as many signals, is not to be killed at all.
 */
static void
end_all(unsigned calm_looks)
{
	const struct timespec look = { 0, LOOK_MS * 1000000L };
	int64_t until_ms = now_ms() + CLEAN_MS;
	unsigned calm = 0, looks = 0, given_up = 0;
	size_t n;

	child_group_signal(NULL, SIGKILL);
	child_group_clear();
	do {
		if (child_kill_left(NULL, &n))
			given_up++;
		if (n > 0)
			calm = 0;
		else if (++calm < calm_looks)
			nanosleep(&look, NULL);
	} while ((++looks < LOOKS || now_ms() < until_ms) &&
	    given_up < GIVE_UP && calm < calm_looks);
}

static _Noreturn void
watch_over(int socket)
{
	char *folder = warden.folder;
	enum word word;

	setsid();
	prctl(PR_SET_NAME, NAME);
	socket = keep_only(socket);
	if (socket == -1 || chdir("/") == -1)
		_exit(111);
	make_folder(socket, folder);
	word = await_word(socket);
	end_all(word == GONE ? CALM : 0);
	if (word != KEEP && folder[0] != '\0')
		folder_remove(folder);
	_exit(0);
}

/* --- the simulator -------------------------------------------------------- */

const char *
child_folder(void)
{
	return warden.folder[0] != '\0' ? warden.folder : NULL;
}

/* A terminal's signals are for the simulator: it decides, and the warden, which
   has them all blocked, then cleans up. */
static pid_t
fork_blocked(void)
{
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid != 0)
		sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

static void
tell(enum word word, pid_t group)
{
	const struct message m = { .word = word, .group = group };
	int error = errno;

	if (warden.pid != 0)
		(void)!send(warden.socket, &m, sizeof m, MSG_NOSIGNAL);
	errno = error;
}

void
child_warden_add(pid_t group)
{
	tell(ADD, group);
}

void
child_warden_drop(pid_t group)
{
	tell(DROP, group);
}

/* Somebody has killed it. */
static bool
is_gone(void)
{
	pid_t pid = waitpid(warden.pid, NULL, WNOHANG);

	return pid == warden.pid || (pid == -1 && errno == ECHILD);
}

/* 0; -1: nobody watches over us, and errno. */
static int
start_warden(void)
{
	const struct timeval wait = { 0, TELL_MS * 1000 };
	char folder[FOLDER_MAX] = "";
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == -1)
		return -1;
	fflush(NULL);
	warden.pid = fork_blocked();
	if (warden.pid == 0) {
		close(ends[0]);
		watch_over(ends[1]);
	}
	close(ends[1]);
	if (warden.pid == -1) {
		warden.pid = 0;
		close(ends[0]);
		return -1;
	}
	warden.socket = ends[0];
	setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
	if (recv(ends[0], folder, FOLDER_MAX, 0) == FOLDER_MAX &&
	    folder[0] != '\0') {
		memcpy(warden.folder, folder, FOLDER_MAX);
		return 0;
	}
	child_warden_end(true);
	errno = EACCES;
	return -1;
}

const char *
child_warden_start(void)
{
	if (warden.pid != 0 && is_gone()) {
		close(warden.socket);
		warden.pid = 0;
	}
	if (warden.pid != 0)
		return warden.folder;
	child_mark();		/* the same for both */
	if (start_warden() != 0)
		return NULL;
	child_group_tell();
	return warden.folder;
}

/* One that is gone, or has stopped, does nothing: then that is ours to do. */
void
child_warden_end(bool keep)
{
	int status = -1;

	if (warden.pid != 0) {
		tell(keep ? KEEP : DONE, 0);
		close(warden.socket);
		kill(warden.pid, SIGCONT);
		while (waitpid(warden.pid, &status, 0) == -1 && errno == EINTR)
			;
		warden.pid = 0;
	}
	if (warden.folder[0] != '\0' && status != 0) {
		end_all(0);
		if (!keep)
			folder_remove(warden.folder);
	}
	warden.folder[0] = '\0';
}
