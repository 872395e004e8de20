/* SPDX-License-Identifier: ISC */
#include "chaos_files.h"

#include "rig.h"
#include "tap.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "appendonlydir"
#define MANIFEST "appendonly.aof.manifest"

static bool
is_file(const struct dirent *entry)
{
	return entry->d_name[0] != '.' &&
	    strncmp(entry->d_name, "temp", 4) != 0;
}

static void
remove_files(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir != NULL)
		closedir(dir);
}

static bool
copy_file(const char *from, const char *to, const char *name)
{
	char path[2 * RIG_PATH], bytes[65536];
	FILE *in, *out;
	bool good;
	size_t n;

	snprintf(path, sizeof path, "%s/%s", from, name);
	in = fopen(path, "re");
	snprintf(path, sizeof path, "%s/%s", to, name);
	out = fopen(path, "we");
	good = in != NULL && out != NULL;
	while (good && (n = fread(bytes, 1, sizeof bytes, in)) > 0)
		good = fwrite(bytes, 1, n, out) == n;
	if (in != NULL)
		fclose(in);
	if (out != NULL)
		good = fclose(out) == 0 && good;
	return good;
}

static bool
copy_files(const char *from, const char *to)
{
	DIR *dir = opendir(from);
	struct dirent *entry;
	bool good = dir != NULL;

	if (mkdir(to, 0755) == -1 && errno != EEXIST)
		bail_out("%s: %s", to, strerror(errno));
	remove_files(to);
	while (good && (entry = readdir(dir)) != NULL)
		if (is_file(entry))
			good = copy_file(from, to, entry->d_name);
	if (dir != NULL)
		closedir(dir);
	return good;
}

/* As text; NULL: there is none. */
static char *
manifest(const char *folder)
{
	char path[2 * RIG_PATH], text[4096];
	size_t n;
	FILE *file;

	snprintf(path, sizeof path, "%s/" MANIFEST, folder);
	file = fopen(path, "re");
	if (file == NULL)
		return NULL;
	n = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	text[n] = '\0';
	return strdup(text);
}

bool
chaos_files_take(const char *server, const char *snapshot)
{
	char path[2 * RIG_PATH], *before, *after;
	bool good;

	snprintf(path, sizeof path, "%s/" FOLDER, server);
	before = manifest(path);
	good = before != NULL && copy_files(path, snapshot);
	after = manifest(path);
	good = good && after != NULL && strcmp(before, after) == 0;
	free(before);
	free(after);
	return good;
}

void
chaos_files_restore(const char *snapshot, const char *server)
{
	char path[2 * RIG_PATH];

	snprintf(path, sizeof path, "%s/" FOLDER, server);
	if (!copy_files(snapshot, path))
		bail_out("%s cannot be copied", snapshot);
}
