/* SPDX-License-Identifier: ISC */
#include "idemsim.h"

#include "judge.h"
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

/*
 * What the other process says: the verdict as it stands in memory, for both are
 * of one program, and the texts that it points to, which are not.
 */
struct told {
	struct judge_run run;
	char key[256], blames[32];	/* "": none */
};

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

static void
copy(char *to, size_t size, const char *from)
{
	if (from != NULL)
		snprintf(to, size, "%s", from);
}

static _Noreturn void
judge_there(const struct idemsim_asked *a, bool *sometimes, int to)
{
	static struct told told;

	if (a->alone)
		judge_run(a->history, a->scenario, a->point, &told.run);
	else
		judge_one(a->history, a->scenario, a->point, &told.run,
		    sometimes);
	copy(told.key, sizeof told.key, told.run.finding.key);
	copy(told.blames, sizeof told.blames, told.run.finding.blames);
	_exit(write_all(to, &told, sizeof told) &&
	    write_all(to, sometimes, a->sometimes_n * sizeof *sometimes) ?
	    0 : 1);
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
broken(struct judge_run *run, const char *how)
{
	memset(run, 0, sizeof *run);
	run->verdict = JUDGE_INCONCLUSIVE;
	run->broken = true;
	snprintf(run->message, sizeof run->message, "it could not be judged: "
	    "%s, which is a fault of idemsim's own; its history is what is to "
	    "be reported", how);
}

static void
ended(struct judge_run *run, int status, bool late)
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
	broken(run, how);
}

static void
take(const struct idemsim_asked *a, const struct told *told,
    struct judge_run *run)
{
	*run = told->run;
	run->finding.key = *told->key != '\0' ?
	    history_text(a->history, told->key) : NULL;
	run->finding.blames = *told->blames != '\0' ?
	    history_text(a->history, told->blames) : NULL;
}

static bool
hear(const struct idemsim_asked *a, pid_t pid, int from,
    struct judge_run *run, bool *sometimes)
{
	int64_t until_ms = now_ms() + a->within_ms;
	struct told told;
	bool heard = read_all(from, &told, sizeof told, until_ms) &&
	    read_all(from, sometimes, a->sometimes_n * sizeof *sometimes,
	    until_ms);
	bool late = !heard && now_ms() >= until_ms;
	int status = 0;

	if (!heard)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		;
	if (heard)
		take(a, &told, run);
	else
		ended(run, status, late);
	return heard;
}

bool
idemsim_judge(const struct idemsim_asked *a, struct judge_run *run,
    bool *sometimes)
{
	pid_t pid, parent = getpid();
	int ends[2];
	bool heard;

	if (pipe2(ends, O_CLOEXEC) == -1) {
		broken(run, strerror(errno));
		return false;
	}
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		close(ends[0]);
		judge_there(a, sometimes, ends[1]);
	}
	close(ends[1]);
	if (pid == -1)
		broken(run, strerror(errno));
	heard = pid != -1 && hear(a, pid, ends[0], run, sometimes);
	close(ends[0]);
	return heard;
}
