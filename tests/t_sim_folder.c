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

int
main(void)
{
	snprintf(outer, sizeof outer, "/tmp/t_folder-XXXXXX");
	if (mkdtemp(outer) == NULL)
		bail_out("%s: %s", outer, strerror(errno));
	test_copy();
	folder_remove(outer);
	return done();
}
