/* SPDX-License-Identifier: ISC */
#include "paths.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef PKGLIBEXECDIR
#define PKGLIBEXECDIR "/usr/local/libexec/idem"
#endif

#define SERVERS "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/*
 * What was found stays found: a scenario must not begin with one build of a
 * program and end with the next.  Callers keep the paths, so they live here.
 */
#define FOUND_MAX 16
static struct found {
	char name[32];
	char path[PATH_MAX];
} found[FOUND_MAX];

/* A library need not be executable. */
static bool
is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	    access(path, R_OK) == 0;
}

/* Only the folder is resolved: some programs go by the name of their link. */
static bool
is_in(char out[PATH_MAX], const char *folder, size_t len, const char *name)
{
	char path[PATH_MAX], real[PATH_MAX];

	if (len == 0 || len >= sizeof path)
		return false;
	memcpy(path, folder, len);
	path[len] = '\0';
	if (realpath(path, real) == NULL)
		return false;
	return (size_t)snprintf(out, PATH_MAX, "%s/%s", real, name) <
	    PATH_MAX && is_file(out);
}

static bool
is_in_any(char out[PATH_MAX], const char *folders, const char *name)
{
	size_t len;

	for (; folders != NULL && *folders != '\0';
	    folders += len + (folders[len] == ':')) {
		len = strcspn(folders, ":");
		if (is_in(out, folders, len, name))
			return true;
	}
	return false;
}

static bool
is_beside_us(char out[PATH_MAX], const char *name)
{
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	const char *slash;

	if (n <= 0)
		return false;
	exe[n] = '\0';
	slash = strrchr(exe, '/');
	return slash != NULL && is_in(out, exe, (size_t)(slash - exe), name);
}

static bool
find_ours(char out[PATH_MAX], const char *name)
{
	const char *folder = getenv("IDEMSIM_LIBEXEC");

	return (folder != NULL && is_in(out, folder, strlen(folder), name)) ||
	    is_beside_us(out, name) ||
	    is_in(out, PKGLIBEXECDIR, strlen(PKGLIBEXECDIR), name);
}

static bool
find_command(char out[PATH_MAX], const char *name)
{
	return is_in_any(out, getenv("PATH"), name) ||
	    is_in_any(out, SERVERS, name);
}

static const char *
find(const char *name, bool (*look)(char *, const char *))
{
	struct found *f;

	if (strlen(name) >= sizeof found[0].name)
		return NULL;
	for (f = found; f < found + FOUND_MAX && f->name[0] != '\0'; f++)
		if (strcmp(f->name, name) == 0)
			return f->path;
	if (f == found + FOUND_MAX || !look(f->path, name))
		return NULL;
	memcpy(f->name, name, strlen(name) + 1);
	return f->path;
}

const char *
paths_find(const char *name)
{
	return find(name, find_ours);
}

const char *
paths_command(const char *name)
{
	return find(name, find_command);
}
