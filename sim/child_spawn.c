/* SPDX-License-Identifier: ISC */
#include "child_private.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PASS_FD 3

/* --- what it is told ------------------------------------------------------ */

/*
 * Of our own environment only what a program needs to be found and built with:
 * a run must not depend on who starts it.  LD_PRELOAD is the simulator's.
 */
static const char *const inherited[] = {
	"PATH", "HOME", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "LSAN_OPTIONS",
	"UBSAN_OPTIONS", "TSAN_OPTIONS", "GCOV_PREFIX", "GCOV_PREFIX_STRIP"
};

static int
add(struct child_vars *v, size_t *n, const char *text)
{
	if (*n + 1 == CHILD_VARS)
		return -1;
	v->at[(*n)++] = text;
	v->at[*n] = NULL;
	return 0;
}

/* "NAME=value" as it stands there. */
static const char *
ours(const char *name)
{
	const char *value = getenv(name);

	return value != NULL ? value - strlen(name) - 1 : NULL;
}

/* The marks first: that is where they are looked for. */
int
child_vars(struct child_vars *v, const struct child_spec *spec)
{
	const char *const *more = spec->env;
	const char *text;
	size_t n = 0, i;
	int wrong = 0;

	snprintf(v->run, sizeof v->run, "IDEMSIM_RUN=%s", child_mark());
	snprintf(v->lane, sizeof v->lane, "IDEMSIM_LANE=%s", spec->name);
	wrong |= add(v, &n, v->run);
	wrong |= add(v, &n, v->lane);
	wrong |= add(v, &n, "LC_ALL=C");
	wrong |= add(v, &n, "TZ=UTC");
	if (child_folder() != NULL) {
		/* What they leave lying about goes with the rest. */
		snprintf(v->folder, sizeof v->folder, "TMPDIR=%s",
		    child_folder());
		wrong |= add(v, &n, v->folder);
	}
	/* What is asked for counts: getenv finds the first. */
	for (; more != NULL && *more != NULL; more++)
		wrong |= add(v, &n, *more);
	for (i = 0; i < sizeof inherited / sizeof *inherited; i++)
		if ((text = ours(inherited[i])) != NULL)
			wrong |= add(v, &n, text);
	return wrong;
}

/* --- the child: it shares our memory until execve or _exit ---------------- */

static void
take_signals(void)
{
	const struct sigaction normal = { .sa_handler = SIG_DFL };
	sigset_t none;
	int i;

	for (i = 1; i < NSIG; i++)
		sigaction(i, &normal, NULL);	/* some cannot be, and are */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* None may be overwritten before it is copied. */
static int
raise_fd(int fd)
{
	return fd > PASS_FD ? fd : fcntl(fd, F_DUPFD, PASS_FD + 1);
}

static int
take_descriptors(const struct child_start *s)
{
	int in = raise_fd(s->in), out = raise_fd(s->out);
	int pass = s->pass != -1 ? raise_fd(s->pass) : -1;
	unsigned first = pass != -1 ? PASS_FD + 1 : PASS_FD;

	if (in == -1 || out == -1 || dup2(in, 0) == -1 || dup2(out, 1) == -1 ||
	    dup2(out, 2) == -1)
		return -1;
	if (s->pass != -1 && (pass == -1 || dup2(pass, PASS_FD) == -1))
		return -1;
	return close_range(first, ~0u, 0);
}

static _Noreturn void
become(const struct child_start *s, pid_t parent, volatile int *error)
{
	const struct rlimit none = { 0, 0 };
	const struct rlimit limit = { s->limit, s->limit };

	if (setpgid(0, 0) != 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		goto failed;
	/* The parent may have died before it could be its death that counts. */
	if (getppid() != parent)
		_exit(127);
	child_warden_add(getpid());
	if (s->limit != 0)
		setrlimit(RLIMIT_LOCKS, &limit);
	if (take_descriptors(s) != 0)
		goto failed;
	if (s->folder != NULL && chdir(s->folder) != 0)
		goto failed;
	setrlimit(RLIMIT_CORE, &none);	/* it dies on purpose */
	take_signals();
	execve(s->argv[0], (char *const *)(uintptr_t)s->argv,
	    (char *const *)(uintptr_t)s->env);
failed:
	*error = errno;
	_exit(127);
}

/* --- the parent ----------------------------------------------------------- */

pid_t
child_spawn(const struct child_start *s)
{
	pid_t parent = getpid(), pid;
	volatile int failed = 0;
	sigset_t all, before;

	/* No handler of ours is to run in the child, in our memory. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = vfork();
	if (pid == 0)
		become(s, parent, &failed);
	if (pid == -1)
		failed = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (failed == 0)
		return pid;
	while (pid != -1 && waitpid(pid, NULL, 0) == -1 && errno == EINTR)
		;
	if (pid != -1)
		child_warden_drop(pid);
	errno = failed;
	return -1;
}
