/* SPDX-License-Identifier: ISC */
#include "paths.h"

#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static void
make_file(const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	if (fd == -1)
		bail_out("%s: %s", path, strerror(errno));
	close(fd);
}

static void
remove_file(const char *name)
{
	char path[128];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	unlink(path);
}

static const char *
in_folder(const char *name)
{
	static char path[128];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

int
main(void)
{
	char link[128], exe[PATH_MAX] = "";
	const char *name;

	snprintf(folder, sizeof folder, "/tmp/t_sim_paths-XXXXXX");
	if (mkdtemp(folder) == NULL)
		bail_out("%s: %s", folder, strerror(errno));
	make_file("ours");
	snprintf(link, sizeof link, "%s/another", folder);
	if (symlink("ours", link) == -1)
		bail_out("%s: %s", link, strerror(errno));

	ok(paths_find("ours") == NULL, "what is nowhere is not found");
	setenv("IDEMSIM_LIBEXEC", folder, 1);
	is(paths_find("ours"), in_folder("ours"),
	    "one of ours is found where IDEMSIM_LIBEXEC says");
	is(paths_find("another"), in_folder("another"),
	    "a link keeps its name, by which a program may go");
	remove_file("ours");
	is(paths_find("ours"), in_folder("ours"), "what was found stays found");
	ok(paths_find("idem-no-such-file") == NULL,
	    "what is missing there is missing");
	unsetenv("IDEMSIM_LIBEXEC");
	if (readlink("/proc/self/exe", exe, sizeof exe - 1) <= 0)
		bail_out("/proc: %s", strerror(errno));
	name = strrchr(exe, '/') + 1;
	is(paths_find(name), exe, "or beside the program that runs");

	setenv("PATH", "/nonexistent", 1);
	ok(paths_command("sh") != NULL, "a command is found outside of PATH");
	make_file("tool");
	ok(paths_command("tool") == NULL, "where programs lie alone");
	setenv("PATH", folder, 1);
	is(paths_command("tool"), in_folder("tool"), "or in PATH");
	remove_file("tool");
	remove_file("another");
	rmdir(folder);
	return done();
}
