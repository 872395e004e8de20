/* SPDX-License-Identifier: ISC */
#include "holds.h"

#include "rig_watch.h"
#include "tap.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CHILDREN_MAX 64
#define SETTLE_MS 60000
#define REST_LOOKS 20		/* that agree, a few ms apart */
#define REST_MS 60000

void
holds_worker(struct rig *rig, struct worker *w)
{
	char *log;
	int keeper;

	rig_watch_lobbies(rig, &w->lobby, 1);
	log = rig_slurp(rig, "log");
	if (log == NULL || strstr(log, " keeper=") == NULL ||
	    sscanf(strstr(log, " keeper="), " keeper=%d", &keeper) != 1)
		bail_out("the log names no keeper");
	w->keeper = (pid_t)keeper;
	free(log);
}

static long
entries(pid_t pid, const char *what)
{
	struct dirent *entry;
	char path[64];
	long n = 0;
	DIR *dir;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, what);
	dir = opendir(path);
	while (dir != NULL && (entry = readdir(dir)) != NULL)
		n += entry->d_name[0] != '.';
	if (dir != NULL)
		closedir(dir);
	return n;
}

/* Descriptors of a process that are files in a folder of runs. */
static long
notes(pid_t pid)
{
	struct dirent *entry;
	char path[64], to[300];
	ssize_t len;
	long n = 0;
	DIR *dir;

	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		len = readlinkat(dirfd(dir), entry->d_name, to, sizeof to - 1);
		to[len > 0 ? len : 0] = '\0';
		n += strstr(to, "-run/") != NULL;
	}
	if (dir != NULL)
		closedir(dir);
	return n;
}

static struct holds
look(const struct worker *w)
{
	pid_t children[CHILDREN_MAX];

	return (struct holds){
		.notes = notes(w->lobby),
		.fds = entries(w->lobby, "fd"),
		.keeper_fds = entries(w->keeper, "fd"),
		.children = (long)(rig_children(w->keeper, children,
		    CHILDREN_MAX) +
		    rig_children(w->lobby, children, CHILDREN_MAX)),
		.kb = holds_status_kb(w->lobby, "RssAnon"),
		.keeper_kb = holds_status_kb(w->keeper, "RssAnon")
	};
}

static bool
same_means(const struct holds *a, const struct holds *b)
{
	return a->fds == b->fds && a->keeper_fds == b->keeper_fds &&
	    a->children == b->children;
}

/* Every thread: one that has something to do, and no processor, is 'R'. */
static bool
is_asleep(pid_t pid)
{
	char path[300], text[512], *end;
	struct dirent *entry;
	bool asleep = true;
	FILE *file;
	DIR *dir;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "/proc/%d/task/%.20s/stat",
		    (int)pid, entry->d_name);
		file = fopen(path, "re");
		if (file == NULL)
			continue;
		text[fread(text, 1, sizeof text - 1, file)] = '\0';
		fclose(file);
		end = strrchr(text, ')');
		asleep = asleep && end != NULL && strncmp(end, ") S", 3) == 0;
	}
	if (dir != NULL)
		closedir(dir);
	return asleep;
}

static struct holds
look_later(const struct worker *w)
{
	const struct timespec moment = { 0, 5000000 };

	nanosleep(&moment, NULL);
	return look(w);
}

struct holds
holds_at_rest(const struct worker *w)
{
	int64_t until_ms = rig_now_ms() + REST_MS;
	struct holds before = look(w), now;
	int same = 0;

	while (same < REST_LOOKS) {
		if (rig_now_ms() > until_ms)
			bail_out("a worker is never at rest");
		now = look_later(w);
		same = same_means(&now, &before) && is_asleep(w->lobby) &&
		    is_asleep(w->keeper) ? same + 1 : 0;
		before = now;
	}
	return before;
}

struct holds
holds_until(const struct worker *w, const struct holds *want)
{
	int64_t until_ms = rig_now_ms() + SETTLE_MS;
	struct holds now = look(w);

	while (!same_means(&now, want) && rig_now_ms() < until_ms)
		now = look_later(w);
	return now;
}

long
holds_status_kb(pid_t pid, const char *name)
{
	char path[64], line[256];
	size_t len = strlen(name);
	long kb = -1;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return -1;
	while (kb == -1 && fgets(line, sizeof line, file) != NULL)
		if (strncmp(line, name, len) == 0)
			kb = strtol(line + len + 1, NULL, 10);
	fclose(file);
	return kb;
}
