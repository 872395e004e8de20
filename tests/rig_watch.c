/* SPDX-License-Identifier: ISC */
#include "rig_watch.h"

#include "tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TURN_NS 2000000
#define LOG_MS 60000

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED true
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#endif
#if !defined(SANITIZED)
#define SANITIZED false
#endif

const bool rig_watch_sanitized = SANITIZED;

static void
moment(void)
{
	const struct timespec t = { 0, TURN_NS };

	nanosleep(&t, NULL);
}

static unsigned
find_lobbies(struct rig *rig, pid_t *lobby, unsigned workers)
{
	char *log = rig_slurp(rig, "log"), *at = log;
	unsigned worker, found = 0;
	int keeper, pid;

	/* Without a line that is still being written. */
	if (log != NULL && (at = strrchr(log, '\n')) != NULL)
		*at = '\0';
	at = log;
	while (at != NULL && (at = strstr(at, " worker=")) != NULL) {
		if (sscanf(at, " worker=%u keeper=%d started lobby=%d",
		    &worker, &keeper, &pid) == 3 && worker < workers) {
			lobby[worker] = (pid_t)pid;
			found++;
		}
		at++;
	}
	free(log);
	return found;
}

void
rig_watch_lobbies(struct rig *rig, pid_t *lobby, unsigned workers)
{
	int64_t until_ms = rig_now_ms() + LOG_MS;

	while (find_lobbies(rig, lobby, workers) < workers) {
		if (rig_now_ms() > until_ms)
			bail_out("the log names no lobbies");
		moment();
	}
}

uint64_t
rig_watch_count(struct rig *rig, enum shm_count what)
{
	uint64_t counts[SHM_COUNTS] = { 0 };
	char path[RIG_PATH + 8];
	int folder;

	snprintf(path, sizeof path, "%s-run", rig->ledger);
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder == -1 || shm_stats(folder, counts) == -1)
		bail_out("%s: no counters: %s", path, strerror(errno));
	close(folder);
	return counts[what];
}

bool
rig_watch_await(struct rig *rig, enum shm_count what, uint64_t n,
    int64_t wait_ms)
{
	int64_t until_ms = rig_now_ms() + wait_ms;

	while (rig_watch_count(rig, what) < n) {
		if (rig_now_ms() > until_ms)
			return false;
		moment();
	}
	return true;
}

long
rig_watch_memory_kb(pid_t pid)
{
	char path[64], line[256];
	long kb = -1;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return -1;
	while (kb == -1 && fgets(line, sizeof line, file) != NULL)
		if (sscanf(line, "Pss: %ld kB", &kb) != 1)
			kb = -1;
	fclose(file);
	return kb;
}

long
rig_watch_threads(pid_t pid)
{
	struct dirent *entry;
	char path[64];
	long n = 0;
	DIR *tasks;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks != NULL && (entry = readdir(tasks)) != NULL)
		n += entry->d_name[0] != '.';
	if (tasks != NULL)
		closedir(tasks);
	return n;
}
