/* SPDX-License-Identifier: ISC */
#include "litter.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LITTER_S 600

/* Files and a socket, and a folder that even its owner may not read. */
static void
make_litter(const char *folder, int i)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char path[128];
	int fd;

	snprintf(path, sizeof path, "%s/%d-%d", folder, (int)getpid(), i);
	if (i % 4 == 0) {
		snprintf(at.sun_path, sizeof at.sun_path, "%.100s", path);
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		bind(fd, (struct sockaddr *)&at, sizeof at);
	} else if (i % 4 == 1) {
		mkdir(path, 0700);
		snprintf(path, sizeof path, "%s/%d-%d/deeper", folder,
		    (int)getpid(), i);
		mkdir(path, 0);
		return;
	} else
		fd = open(path, O_WRONLY | O_CREAT, 0600);
	if (i > 40)
		close(fd);
}

/* Nobody's child, deaf to signals, and not done before all who look for it
   are.  When its first file is there, they are LITTER_PROCESSES. */
static void
be_litter(void)
{
	const struct timespec t = { 0, 200000 };
	const char *folder = getenv("TMPDIR");
	pid_t parent;
	int i;

	if (fork() != 0)
		for (;;)
			pause();
	setsid();
	parent = getpid();
	if (fork() != 0)
		_exit(0);
	for (i = 1; i < NSIG; i++)
		signal(i, SIG_IGN);
	while (getppid() == parent)
		nanosleep(&t, NULL);
	for (i = 0; i < 400; i++) {
		make_litter(folder, i);
		nanosleep(&t, NULL);
	}
	for (i = 0; i < LITTER_S; i++)
		sleep(1);
	_exit(0);
}

/* Each makes the next and ends: a look at /proc always comes too late. */
static void
be_bare_runner(void)
{
	for (;;)
		if (fork() != 0)
			_exit(0);
}

/* One without a mark.  The file's name is the number of its group. */
static void
be_runner(void)
{
	char self[] = "/proc/self/exe", runs[] = "bare-runner", path[96];
	char *argv[] = { self, runs, NULL }, *none[] = { NULL };

	snprintf(path, sizeof path, "%s/group-%d", getenv("TMPDIR"),
	    (int)getpgrp());
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	execve(self, argv, none);
	_exit(127);
}

/* A daemon without a parent, a group or an environment of ours. */
static void
be_ghost(void)
{
	char self[] = "/proc/self/exe", rests[] = "rest", path[96];
	char *argv[] = { self, rests, NULL }, *none[] = { NULL };

	if (fork() == 0) {
		setsid();
		if (fork() != 0)
			_exit(0);
		snprintf(path, sizeof path, "%s/group-%d", getenv("TMPDIR"),
		    (int)getpgrp());
		close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
		execve(self, argv, none);
	}
	wait(NULL);
	child_rig_rest();
}

const struct child_role litter_roles[] = {
	{ "litter", be_litter }, { "runner", be_runner },
	{ "bare-runner", be_bare_runner }, { "ghost", be_ghost },
	{ "rest", child_rig_rest }
};
const size_t litter_roles_n = sizeof litter_roles / sizeof *litter_roles;

bool
litter_is_of_two(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	long maker, first = 0;
	bool two = false;

	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		maker = strtol(entry->d_name, NULL, 10);
		if (first == 0)
			first = maker;
		two = two || (maker != 0 && maker != first);
	}
	if (folder != NULL)
		closedir(folder);
	return two;
}

int
litter_files_in(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int n = 0;

	while (folder != NULL && (entry = readdir(folder)) != NULL)
		n += entry->d_name[0] != '.';
	if (folder != NULL)
		closedir(folder);
	return n;
}

static bool
environment_has(const char *pid, const char *text)
{
	static char vars[65536];
	char path[64], *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%.20s/environ", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd != -1 ? read(fd, vars, sizeof vars - 1) : 0;
	if (fd != -1)
		close(fd);
	if (n <= 0)
		return false;
	vars[n] = '\0';
	for (at = vars; at < vars + n; at += strlen(at) + 1)
		if (strncmp(at, text, strlen(text)) == 0)
			return true;
	return false;
}

/* The simulator is in its mark. */
int
litter_signal(pid_t simulator, int signal)
{
	struct dirent *entry;
	char mark[48];
	int n = 0;
	DIR *proc = opendir("/proc");

	snprintf(mark, sizeof mark, "IDEMSIM_RUN=%d-", (int)simulator);
	while (proc != NULL && (entry = readdir(proc)) != NULL)
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    environment_has(entry->d_name, mark)) {
			n++;
			kill((pid_t)strtol(entry->d_name, NULL, 10), signal);
		}
	if (proc != NULL)
		closedir(proc);
	return n;
}
