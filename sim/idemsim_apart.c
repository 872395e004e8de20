/* SPDX-License-Identifier: ISC */
#include "idemsim.h"

#include "now.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- there ---------------------------------------------------------------- */

static bool
write_all(int to, const void *from, size_t len)
{
	const char *at = from;
	ssize_t n;

	while (len > 0) {
		n = write(to, at, len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static _Noreturn void
judge_there(const struct idemsim_apart *a, int to)
{
	memset(a->told, 0, a->told_len);
	a->judge(a->arg, a->told);
	_exit(write_all(to, a->told, a->told_len) ? 0 : 1);
}

/* --- here ----------------------------------------------------------------- */

/* false: it said less than that, or was too late. */
static bool
read_all(int from, void *to, size_t len, int64_t until_ms)
{
	struct pollfd fd = { .fd = from, .events = POLLIN };
	char *at = to;
	int64_t left;
	ssize_t n;

	while (len > 0) {
		left = until_ms - now_ms();
		if (left <= 0)
			return false;
		if (poll(&fd, 1, left > 1000 ? 1000 : (int)left) <= 0)
			continue;
		n = read(from, at, len);
		if (n == -1 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static void
broken(const struct idemsim_apart *a, const char *how)
{
	snprintf(a->why, a->why_size, "it could not be judged: %s, which is a "
	    "fault of idemsim's own; its history is what is to be reported",
	    how);
}

static void
ended(const struct idemsim_apart *a, int status, bool late)
{
	char how[80];

	if (late)
		snprintf(how, sizeof how, "the checkers came to no end");
	else if (WIFSIGNALED(status))
		snprintf(how, sizeof how, "the checkers were ended by SIG%s",
		    sigabbrev_np(WTERMSIG(status)));
	else
		snprintf(how, sizeof how, "the checkers ended with %d",
		    WEXITSTATUS(status));
	broken(a, how);
}

static bool
hear(const struct idemsim_apart *a, pid_t pid, int from)
{
	int64_t until_ms = now_ms() + a->within_ms;
	bool heard = read_all(from, a->told, a->told_len, until_ms);
	bool late = !heard && now_ms() >= until_ms;
	int status = 0;

	if (!heard)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		;
	if (!heard)
		ended(a, status, late);
	return heard;
}

bool
idemsim_apart(const struct idemsim_apart *a)
{
	pid_t pid, parent = getpid();
	int ends[2];
	bool heard;

	if (pipe2(ends, O_CLOEXEC) == -1) {
		broken(a, strerror(errno));
		return false;
	}
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		close(ends[0]);
		judge_there(a, ends[1]);
	}
	if (pid == -1)
		broken(a, strerror(errno));
	close(ends[1]);
	heard = pid != -1 && hear(a, pid, ends[0]);
	close(ends[0]);
	return heard;
}
