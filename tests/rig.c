/* SPDX-License-Identifier: ISC */
#include "rig.h"

#include "port_hold.h"
#include "tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define START_MS 60000
#define TURN_MS 5		/* between two looks at what we wait for */

int64_t
rig_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void
pause_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/* --- the folder ----------------------------------------------------------- */

static void
raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* A unix socket's path is short: not every TMPDIR will do. */
static const char *
temporary(void)
{
	const char *folder = getenv("TMPDIR");

	return folder != NULL && folder[0] == '/' && strlen(folder) < 60 ?
	    folder : "/tmp";
}

static void
path_in(char *out, const struct rig *rig, const char *name)
{
	if (snprintf(out, RIG_PATH, "%s/%s", rig->folder, name) >= RIG_PATH)
		bail_out("a path is too long: %s", name);
}

void
rig_open(struct rig *rig)
{
	*rig = (struct rig){ .request_ms = 30000, .held = -1 };
	raise_descriptors();
	snprintf(rig->folder, sizeof rig->folder, "%s/idem-rig-XXXXXX",
	    temporary());
	if (mkdtemp(rig->folder) == NULL)
		bail_out("%s: %s", rig->folder, strerror(errno));
	path_in(rig->socket, rig, "idem.sock");
	path_in(rig->ledger, rig, "ledger.db");
	path_in(rig->log, rig, "log");
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st;
	(void)type;
	(void)walk;
	return remove(path);
}

void
rig_end(struct rig *rig)
{
	if (rig->pid != 0)
		rig_stop(rig, 20000);
	if (rig->held != -1)
		close(rig->held);
	if (nftw(rig->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS) == -1)
		note("%s: %s", rig->folder, strerror(errno));
}

const char *
rig_at(struct rig *rig, const char *name)
{
	char *at = rig->at[rig->at_next++ % 4];

	path_in(at, rig, name);
	return at;
}

static void
write_file(struct rig *rig, const char *name, const char *text, mode_t mode)
{
	const char *path = rig_at(rig, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	if (fd == -1 ||
	    write(fd, text, strlen(text)) != (ssize_t)strlen(text) ||
	    fchmod(fd, mode) == -1 || close(fd) == -1)
		bail_out("%s: %s", path, strerror(errno));
}

void
rig_file(struct rig *rig, const char *name, const char *text)
{
	write_file(rig, name, text, 0644);
}

void
rig_program(struct rig *rig, const char *name, const char *text)
{
	write_file(rig, name, text, 0755);
}

void
rig_order(struct rig *rig)
{
	const char *given = getenv("ORDER");
	char order[4096];

	if (realpath(given != NULL ? given : "tests/order", order) == NULL ||
	    symlink(order, rig_at(rig, "order")) == -1)
		bail_out("no tests/order: say where in ORDER");
}

char *
rig_slurp(struct rig *rig, const char *name)
{
	FILE *file = fopen(rig_at(rig, name), "re");
	size_t size = 0, len = 0;
	char *text = NULL, *more;

	if (file == NULL)
		return NULL;
	do {
		size = size * 2 + 4096;
		more = realloc(text, size);
		if (more == NULL)
			bail_out("%s: out of memory", name);
		text = more;
		len += fread(text + len, 1, size - len - 1, file);
	} while (len == size - 1);
	fclose(file);
	text[len] = '\0';
	return text;
}

long
rig_lines(struct rig *rig, const char *name, const char *line)
{
	char *text = rig_slurp(rig, name), *at, *end;
	long lines = 0;

	if (text == NULL)
		return 0;
	for (at = text; (end = strchr(at, '\n')) != NULL; at = end + 1) {
		*end = '\0';
		lines += line == NULL || strcmp(at, line) == 0;
	}
	free(text);
	return lines;
}

bool
rig_await_lines(struct rig *rig, const char *name, long lines, int64_t wait_ms)
{
	int64_t until_ms = rig_now_ms() + wait_ms;

	while (rig_lines(rig, name, NULL) < lines) {
		if (rig_now_ms() >= until_ms)
			return false;
		pause_ms(TURN_MS);
	}
	return true;
}

/* --- the daemon ----------------------------------------------------------- */

static void
become(struct rig *rig, char *const *argv)
{
	int log = open(rig->log, O_WRONLY | O_CREAT | O_APPEND, 0644);
	int null = open("/dev/null", O_RDONLY);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (log == -1 || null == -1 || dup2(null, 0) == -1 ||
	    dup2(log, 1) == -1 || dup2(log, 2) == -1)
		_exit(126);
	if (log > 2)
		close(log);
	if (null > 2)
		close(null);
	execv(argv[0], argv);
	dprintf(2, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static void
spawn(struct rig *rig, const char *const *options)
{
	const char *idemd = getenv("IDEMD");
	char listen[RIG_PATH + 16], ledger[RIG_PATH + 16];
	const char *argv[64];
	size_t n = 0;

	if (rig->tcp)
		snprintf(listen, sizeof listen, "tcp:127.0.0.1:%d", rig->port);
	else
		snprintf(listen, sizeof listen, "unix:%s", rig->socket);
	snprintf(ledger, sizeof ledger, "sqlite:%s", rig->ledger);

	argv[n++] = idemd != NULL ? idemd : "./idemd";
	argv[n++] = "-s";
	argv[n++] = listen;
	if (!rig->bare) {
		argv[n++] = "--ledger";
		argv[n++] = ledger;
		argv[n++] = "--create";
	}
	for (; *options != NULL && n < sizeof argv / sizeof *argv - 1;
	    options++)
		argv[n++] = *options;
	argv[n] = NULL;

	fflush(NULL);
	rig->pid = fork();
	if (rig->pid == -1)
		bail_out("fork: %s", strerror(errno));
	if (rig->pid == 0)
		become(rig, (char *const *)(uintptr_t)argv);
	setpgid(rig->pid, rig->pid);	/* whoever is first */
}

static bool
accepts(const struct rig *rig)
{
	int fd = rig_connect(rig);

	if (fd != -1)
		close(fd);
	return fd != -1;
}

/* True when it accepts; false, and no pid any more, when it has ended. */
static bool
await(struct rig *rig)
{
	int64_t until_ms = rig_now_ms() + START_MS;

	while (rig_now_ms() < until_ms) {
		if (waitpid(rig->pid, NULL, WNOHANG) == rig->pid) {
			rig->pid = 0;
			return false;
		}
		if (accepts(rig))
			return true;
		pause_ms(TURN_MS);
	}
	rig_stop(rig, 0);
	return false;
}

static void
tell_log(struct rig *rig)
{
	char *log = rig_slurp(rig, "log"), *at, *end;

	if (log == NULL)
		return;
	for (at = log; (end = strchr(at, '\n')) != NULL; at = end + 1)
		note("log: %.*s", (int)(end - at), at);
	free(log);
}

int
rig_start(struct rig *rig, const char *const *options)
{
	if (rig->tcp && rig->held == -1)
		rig->port = port_hold(&rig->held);
	spawn(rig, options);
	if (await(rig))
		return 0;
	tell_log(rig);
	return -1;
}

/* It stays to be reaped. */
static bool
await_end(struct rig *rig, int64_t wait_ms)
{
	int64_t until_ms = rig_now_ms() + wait_ms;
	siginfo_t ended;

	for (;;) {
		ended.si_pid = 0;
		if (waitid(P_PID, (id_t)rig->pid, &ended,
		    WEXITED | WNOHANG | WNOWAIT) == 0 &&
		    ended.si_pid == rig->pid)
			return true;
		if (rig_now_ms() >= until_ms)
			return false;
		pause_ms(TURN_MS);
	}
}

int
rig_stop(struct rig *rig, int64_t wait_ms)
{
	int status = -1;

	if (rig->pid == 0)
		return -1;
	kill(rig->pid, SIGTERM);
	if (!await_end(rig, wait_ms))
		kill(rig->pid, SIGKILL);
	/* What it may have left behind, while the number is still its own. */
	kill(-rig->pid, SIGKILL);
	waitpid(rig->pid, &status, 0);
	rig->pid = 0;
	return status;
}

void
rig_kill(struct rig *rig)
{
	kill(rig->pid, SIGKILL);
	waitpid(rig->pid, NULL, 0);
	rig->pid = 0;
}

static pid_t
parent_of(const char *pid)
{
	char path[64], text[512], *end;
	size_t len;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
	file = fopen(path, "re");
	if (file == NULL)
		return -1;
	len = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	text[len] = '\0';
	end = strrchr(text, ')');	/* the name may hold anything */
	return end == NULL || strlen(end) < 5 ? -1 :
	    (pid_t)strtol(end + 4, NULL, 10);
}

size_t
rig_children(pid_t pid, pid_t *children, size_t max)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	size_t n = 0;

	if (proc == NULL)
		return 0;
	while (n < max && (entry = readdir(proc)) != NULL)
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    parent_of(entry->d_name) == pid)
			children[n++] = (pid_t)strtol(entry->d_name, NULL, 10);
	closedir(proc);
	return n;
}
