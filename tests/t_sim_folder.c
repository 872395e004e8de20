/* SPDX-License-Identifier: ISC */
#include "folder.h"

#include "litter.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char outer[64];

static void
test_copy(void)
{
	char from[96], to[96], link_to[96], path[128], text[8] = "";
	int fd;

	snprintf(from, sizeof from, "%s/from", outer);
	snprintf(to, sizeof to, "%s/to", outer);
	snprintf(link_to, sizeof link_to, "%s/link", outer);
	snprintf(path, sizeof path, "%s/deeper", from);
	mkdir(from, 0700);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/deeper/file", from);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	(void)!write(fd, "text", 4);
	close(fd);
	snprintf(path, sizeof path, "%s/link", from);
	(void)!symlink("deeper/file", path);
	is_int(folder_copy(from, to), 0, "a folder is copied");
	snprintf(path, sizeof path, "%s/deeper/file", to);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	(void)!read(fd, text, sizeof text - 1);
	close(fd);
	is(text, "text", "with what is in it");
	is_int(litter_files_in(to), 1, "but no links");
	ok(folder_copy(from, to) == -1 && errno == EEXIST,
	    "never over what is there");
	(void)!symlink(to, link_to);
	ok(folder_remove(link_to) == -1 && litter_files_in(to) == 1,
	    "nor is one removed by a link to it");
	unlink(link_to);
	folder_remove(from);
	folder_remove(to);
	ok(folder_remove(to) == 0 && litter_files_in(outer) == 0,
	    "what is not there need not be removed");
}

static int
put(FILE *file, const void *text)
{
	if (text == NULL) {
		errno = EDOM;
		return -1;
	}
	return fputs(text, file) == EOF ? -1 : 0;
}

/* outer stands for %s. */
static const struct {
	const char *what, *path, *text;
	int error;		/* 0: it is there */
} files[] = {
	{ "a file is written", "%s/file", "text\n", 0 },
	{ "an empty one too", "%s/empty", "", 0 },
	{ "none is where its folder is not", "%s/none/file", "text", ENOENT },
	{ "nor on a disk that is full", "/dev/full", "text", ENOSPC },
	{ "nor of what cannot be told", "%s/file", NULL, EDOM }
};

static void
test_file(void)
{
	char path[96];
	size_t i;
	int error;

	for (i = 0; i < sizeof files / sizeof *files; i++) {
		if (files[i].path[0] == '%')
			snprintf(path, sizeof path, "%s%s", outer,
			    files[i].path + 2);
		else
			snprintf(path, sizeof path, "%s", files[i].path);
		errno = 0;
		error = folder_file(path, put, files[i].text) == 0 ? 0 : errno;
		is(strerror(error), strerror(files[i].error), "%s",
		    files[i].what);
	}
}

int
main(void)
{
	snprintf(outer, sizeof outer, "/tmp/t_folder-XXXXXX");
	if (mkdtemp(outer) == NULL)
		bail_out("%s: %s", outer, strerror(errno));
	test_copy();
	test_file();
	folder_remove(outer);
	return done();
}
