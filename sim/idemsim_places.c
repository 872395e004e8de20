/* SPDX-License-Identifier: ISC */
#include "idemsim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH 4096

static bool
wrong(const char *option, const char *path, const char *what)
{
	fprintf(stderr, "idemsim: --%s %s: %s; name a %s that can be "
	    "written\n", option, path, strerror(errno), what);
	return false;
}

/* Pipes and devices are opened once, when there is something to write. */
static bool
is_file_good(const char *option, const char *path)
{
	struct stat st;
	int fd;

	if (path == NULL)
		return true;
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) &&
	    !S_ISDIR(st.st_mode))
		return true;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd == -1)
		return wrong(option, path, "file");
	close(fd);
	return true;
}

/* It, or the nearest that it is to be in. */
static bool
is_folder_good(const char *option, const char *path)
{
	char at[PATH];
	struct stat st;
	char *slash;

	if (path == NULL)
		return true;
	errno = ENAMETOOLONG;
	if (snprintf(at, sizeof at, "%s", path) >= (int)sizeof at)
		return wrong(option, path, "folder");
	while (stat(at, &st) != 0) {
		if (errno != ENOENT)
			return wrong(option, path, "folder");
		slash = strrchr(at, '/');
		if (slash == NULL || slash == at)
			snprintf(at, sizeof at, "%s", slash == NULL ? "." :
			    "/");
		else
			*slash = '\0';
	}
	errno = ENOTDIR;
	if (!S_ISDIR(st.st_mode) || access(at, W_OK | X_OK) != 0)
		return wrong(option, path, "folder");
	return true;
}

bool
idemsim_places(const struct idemsim_options *o)
{
	return is_folder_good("out", o->out) &&
	    is_folder_good("keep", o->keep) &&
	    is_file_good("junit", o->junit) &&
	    is_file_good("json", o->json) && is_file_good("html", o->html);
}
