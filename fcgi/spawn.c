/* SPDX-License-Identifier: ISC */
#include "spawn.h"

#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOCK_FD 200	/* above what scripts and shells number by hand */
#define CLOSED_BY_HAND 65536u	/* at most, where close_range is missing */

int
spawn_close(unsigned first, unsigned last)
{
	struct rlimit limit;
	unsigned fd;

	if (first > last || close_range(first, last, 0) == 0)
		return 0;
	/* An older kernel, or a jail that does not know the call. */
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return -1;
	for (fd = first; fd <= last && fd < limit.rlim_cur &&
	    fd < CLOSED_BY_HAND; fd++)
		close((int)fd);
	return 0;
}

/* --- the child: it shares our memory until execve or _exit ---------------- */

static _Noreturn void
fail(struct spawned *r, enum spawn_step step)
{
	r->failed = step;
	r->error = errno;
	_exit(127);
}

/* The lock without close-on-exec, where the program will not look for it. */
static int
raise_lock(int lock)
{
	int fd = fcntl(lock, F_DUPFD, LOCK_FD);

	if (fd < 0 && errno == EINVAL)	/* no descriptors so high */
		fd = fcntl(lock, F_DUPFD, STDERR_FILENO + 1);
	return fd;
}

static int
place_descriptors(const struct spawn *s)
{
	int from[] = { s->in, s->out, s->err }, i, lock = -1;

	/* None may be overwritten before it is copied. */
	for (i = 0; i < 3; i++)
		if (from[i] <= STDERR_FILENO)
			from[i] = fcntl(from[i], F_DUPFD, STDERR_FILENO + 1);
	if (s->lock >= 0 && (lock = raise_lock(s->lock)) < 0)
		return -1;
	for (i = 0; i < 3; i++)
		if (dup2(from[i], i) < 0)
			return -1;
	if (lock < 0)
		return spawn_close(STDERR_FILENO + 1, ~0u);
	if (spawn_close(STDERR_FILENO + 1, (unsigned)lock - 1) != 0)
		return -1;
	return spawn_close((unsigned)lock + 1, ~0u);
}

static _Noreturn void
child(const struct spawn *s, pid_t parent, struct spawned *r)
{
	sigset_t none;

	/* The parent may have died before it could be its death that counts. */
	if (setpgid(0, 0) != 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		fail(r, SPAWN_SETUP);
	if (getppid() != parent)
		_exit(127);
	if (place_descriptors(s) != 0)
		fail(r, SPAWN_SETUP);
	if (s->folder != NULL && chdir(s->folder) != 0)
		fail(r, SPAWN_FOLDER);
	/* An alarm outlives execve: it holds when our parent is stopped. */
	alarm(s->alarm_s);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (s->not_after_ms != 0 &&
	    idem_boot_ms(&idem_clock_real) > s->not_after_ms) {
		errno = ETIME;
		fail(r, SPAWN_LATE);
	}
	execve(s->path, s->argv, s->envp);
	fail(r, SPAWN_EXEC);
}

/* --- the parent ----------------------------------------------------------- */

void
spawn(const struct spawn *s, struct spawned *r)
{
	pid_t parent = getpid();

	r->failed = SPAWN_DONE;
	r->error = 0;
	r->pid = vfork();
	if (r->pid == 0)
		child(s, parent, r);
	if (r->pid < 0) {
		r->failed = SPAWN_FORK;
		r->error = errno;
	} else if (r->failed != SPAWN_DONE) {
		while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
}

static bool
is_there(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

/* Then it is not the program that may not be executed, but its interpreter. */
static bool
is_executable(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	    faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

static enum idem_problem
exec_problem(int error, const char *path)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
		return is_there(path) ? IDEM_PROBLEM_BROKEN_PROGRAM :
		    IDEM_PROBLEM_NO_PROGRAM;
	case ENAMETOOLONG:
		return IDEM_PROBLEM_NO_PROGRAM;
	case EACCES:
	case EPERM:
		return is_executable(path) ? IDEM_PROBLEM_BROKEN_PROGRAM :
		    IDEM_PROBLEM_FORBIDDEN_PROGRAM;
	case E2BIG:
		return IDEM_PROBLEM_TOO_MUCH_HEAD;
	case EAGAIN:
	case ENOMEM:
	case EMFILE:
	case ENFILE:
		return IDEM_PROBLEM_BUSY;
	default:
		return IDEM_PROBLEM_BROKEN_PROGRAM;
	}
}

enum idem_problem
spawn_problem(const struct spawned *r, const char *path)
{
	switch (r->failed) {
	case SPAWN_DONE:
		return IDEM_PROBLEM_NONE;
	case SPAWN_FORK:
	case SPAWN_SETUP:
	case SPAWN_LATE:
		return IDEM_PROBLEM_BUSY;
	case SPAWN_FOLDER:
		return IDEM_PROBLEM_FORBIDDEN_PROGRAM;
	case SPAWN_EXEC:
		return exec_problem(r->error, path);
	}
	return IDEM_PROBLEM_BROKEN_PROGRAM;
}
