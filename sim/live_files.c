/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH 16
#define KEPT_MAX (4 << 20)	/* of a log: its end */

int
live_map_open(struct live_map *m, const char *path, size_t size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	*m = (struct live_map){ .size = size };
	snprintf(m->path, sizeof m->path, "%s", path);
	if (fd == -1)
		return -1;
	m->at = ftruncate(fd, (off_t)size) == 0 ? mmap(NULL, size,
	    PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
	close(fd);
	if (m->at != MAP_FAILED)
		return 0;
	m->at = NULL;
	return -1;
}

void
live_map_close(struct live_map *m)
{
	if (m->at != NULL)
		munmap(m->at, m->size);
	*m = (struct live_map){ .at = NULL };
}

/* --- one file ------------------------------------------------------------- */

static int
write_all(int fd, const char *text, size_t len)
{
	ssize_t n;

	while (len > 0) {
		n = write(fd, text, len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

int
live_file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int status;

	if (fd == -1)
		return -1;
	status = write_all(fd, text, strlen(text));
	return close(fd) == 0 ? status : -1;
}

static int
copy_all(int from, int to)
{
	ssize_t n;

	do {
		n = sendfile(to, from, NULL, 1 << 20);
	} while (n > 0 || (n == -1 && errno == EINTR));
	return n == 0 ? 0 : -1;
}

/* Of one that is larger than max the end. */
static int
copy_end(const char *from, const char *to, off_t max)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out, status;
	struct stat st;

	if (in == -1)
		return -1;
	if (fstat(in, &st) == 0 && st.st_size > max)
		(void)lseek(in, -max, SEEK_END);
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	status = out != -1 ? copy_all(in, out) : -1;
	close(in);
	if (out != -1 && close(out) != 0)
		status = -1;
	return status;
}

/* --- folders -------------------------------------------------------------- */

/* The next regular file of a folder, as a path; false: there is none. */
static bool
next_file(DIR *dir, const char *folder, const char **name, char *path,
    size_t size)
{
	struct dirent *entry;
	struct stat st;

	while ((entry = readdir(dir)) != NULL) {
		if (snprintf(path, size, "%s/%s", folder, entry->d_name) >=
		    (int)size || lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
			continue;
		*name = entry->d_name;
		return true;
	}
	return false;
}

static int
empty_folder(const char *folder)
{
	char path[2 * LIVE_PATH];
	const char *name;
	DIR *dir = opendir(folder);

	if (dir == NULL)
		return -1;
	while (next_file(dir, folder, &name, path, sizeof path))
		(void)unlink(path);
	closedir(dir);
	return 0;
}

int
live_folder_replace(const char *from, const char *to)
{
	char path[2 * LIVE_PATH], copy[2 * LIVE_PATH];
	const char *name;
	int status = empty_folder(to);
	DIR *dir = status == 0 ? opendir(from) : NULL;

	if (dir == NULL)
		return -1;
	while (status == 0 && next_file(dir, from, &name, path, sizeof path)) {
		snprintf(copy, sizeof copy, "%s/%s", to, name);
		status = copy_end(path, copy, INT64_MAX);
	}
	closedir(dir);
	return status;
}

/* --- what is of use afterwards -------------------------------------------- */

static bool
is_told(const char *name)
{
	static const char *const ends[] = {
		"log", "conf", ".lua", "effects"
	};
	size_t i, len = strlen(name), end;

	for (i = 0; i < sizeof ends / sizeof *ends; i++) {
		end = strlen(ends[i]);
		if (len >= end && strcmp(name + len - end, ends[i]) == 0)
			return true;
	}
	return false;
}

/* "g1/idem.conf" is to be "g1-idem.conf". */
static void
flat(const char *path, char *out, size_t size)
{
	size_t i;

	snprintf(out, size, "%s", path);
	for (i = 0; out[i] != '\0'; i++)
		if (out[i] == '/')
			out[i] = '-';
}

static int
keep(const char *root, const char *folder, const char *to, int depth)
{
	char path[4 * LIVE_PATH], name[4 * LIVE_PATH], copy[8 * LIVE_PATH];
	struct dirent *entry;
	struct stat st;
	DIR *dir = opendir(folder);
	int status = 0;

	if (dir == NULL)
		return -1;
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.' || snprintf(path, sizeof path,
		    "%s/%s", folder, entry->d_name) >= (int)sizeof path ||
		    lstat(path, &st) != 0)
			continue;
		if (S_ISDIR(st.st_mode) && depth < DEPTH)
			status |= keep(root, path, to, depth + 1);
		if (!S_ISREG(st.st_mode) || !is_told(entry->d_name))
			continue;
		flat(path + strlen(root) + 1, name, sizeof name);
		snprintf(copy, sizeof copy, "%s/%s", to, name);
		status |= copy_end(path, copy, KEPT_MAX);
	}
	closedir(dir);
	return status;
}

int
live_folder_keep(const char *from, const char *to)
{
	if (mkdir(to, 0755) != 0 && errno != EEXIST)
		return -1;
	return keep(from, from, to, 0);
}
