/* SPDX-License-Identifier: ISC */
#include "keeper_begin.h"

#include "spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

static int
compare_fds(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * We may outlive lobby and master: then their sockets must not, in us.  It
 * also shuts the lobby's end of our own, without which it never ended.
 */
static void
close_others(const struct keeper_options *o)
{
	int kept[SHM_WORKERS_MAX + 4] = { 0, 1, 2, o->socket };
	unsigned next = 0;
	size_t n = 4, i;

	for (i = 0; i < o->shm->workers; i++)
		kept[n++] = o->shm->wake[i];
	qsort(kept, n, sizeof *kept, compare_fds);
	for (i = 0; i < n; i++) {
		if (kept[i] < 0 || (unsigned)kept[i] < next)
			continue;
		if ((unsigned)kept[i] > next)
			spawn_close(next, (unsigned)kept[i] - 1);
		next = (unsigned)kept[i] + 1;
	}
	spawn_close(next, ~0u);
}

/*
 * Everything is blocked, nothing ignored: what is ignored, programs would
 * inherit.  A terminal's ^C goes to the master; it decides.
 */
static int
take_signals(void)
{
	const struct sigaction normal = { .sa_handler = SIG_DFL };
	sigset_t all, children;
	int i;

	sigfillset(&all);
	if (sigprocmask(SIG_SETMASK, &all, NULL) != 0)
		return -1;
	for (i = 1; i < NSIG; i++)
		sigaction(i, &normal, NULL);	/* some cannot be, and are */
	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	return signalfd(-1, &children, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* So that no descriptor that comes later takes the place of one of them. */
static int
open_standard(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

int
keeper_begin(const struct keeper_options *o)
{
	prctl(PR_SET_NAME, KEEPER_NAME);
	close_others(o);
	if (open_standard() != 0)
		return -1;
	return take_signals();
}
