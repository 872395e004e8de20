/* SPDX-License-Identifier: ISC */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH 32		/* of a run's folder; deeper is left alone */
#define PIECE (1024 * 1024)

static bool
is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* The first failure's errno stays. */
static void
failed(int *error)
{
	if (*error == 0)
		*error = errno;
}

static int
result(int error)
{
	errno = error;
	return error == 0 ? 0 : -1;
}

/* --- away with it --------------------------------------------------------- */

/* One that its owner may not open is opened to him first. */
static int
open_folder(int at, const char *name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(at, name, flags);
	struct stat st;

	if (fd != -1 || errno != EACCES ||
	    fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == -1 ||
	    !S_ISDIR(st.st_mode) || fchmodat(at, name, 0700, 0) == -1)
		return fd;
	return openat(at, name, flags);
}

static int empty(int fd, dev_t device, unsigned depth);

static int
remove_folder(int at, const char *name, dev_t device, unsigned depth)
{
	int fd = open_folder(at, name), error = 0;
	struct stat st;

	if (fd == -1)
		return errno;
	if (fstat(fd, &st) == -1)
		error = errno;
	else if (st.st_dev != device)
		error = EXDEV;
	else
		error = empty(fd, device, depth);
	close(fd);
	if (unlinkat(at, name, AT_REMOVEDIR) == -1)
		failed(&error);
	return error;
}

/* errno, or 0.  Who may not write in it may not remove from it. */
static int
empty(int fd, dev_t device, unsigned depth)
{
	int copy, error = 0, wrong;
	struct dirent *entry;
	DIR *folder;

	if (depth == 0)
		return ELOOP;
	fchmod(fd, 0700);
	copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	folder = copy != -1 ? fdopendir(copy) : NULL;
	if (folder == NULL) {
		failed(&error);
		if (copy != -1)
			close(copy);
		return error;
	}
	while ((entry = readdir(folder)) != NULL) {
		if (is_dots(entry->d_name) ||
		    unlinkat(fd, entry->d_name, 0) == 0 || errno == ENOENT)
			continue;
		wrong = errno == EISDIR || errno == EPERM ?
		    remove_folder(fd, entry->d_name, device, depth - 1) : errno;
		if (error == 0)
			error = wrong;
	}
	closedir(folder);
	return error;
}

static int
empty_it(int fd)
{
	struct stat st;

	if (fstat(fd, &st) == -1)
		return -1;
	return result(empty(fd, st.st_dev, DEPTH));
}

int
folder_remove(const char *path)
{
	int fd = open_folder(AT_FDCWD, path), error = 0;

	if (fd == -1)
		return errno == ENOENT ? 0 : -1;
	if (empty_it(fd) == -1)
		failed(&error);
	close(fd);
	if (rmdir(path) == -1)
		failed(&error);
	return result(error);
}

/* --- a second one --------------------------------------------------------- */

static int
copy_bytes(int from, int to)
{
	ssize_t n;

	while ((n = sendfile(to, from, NULL, PIECE)) > 0)
		;
	return n == 0 ? 0 : -1;
}

static int
copy_file(int from_at, int to_at, const char *name, mode_t mode)
{
	int from = openat(from_at, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	int to, error = 0;

	if (from == -1)
		return errno;
	to = openat(to_at, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
	    mode & 0700);
	if (to == -1 || copy_bytes(from, to) == -1)
		error = errno;
	if (to != -1 && close(to) == -1)
		failed(&error);
	close(from);
	return error;
}

static int copy_all(int from, int to, unsigned depth);

static int
copy_folder(int from_at, int to_at, const char *name, unsigned depth)
{
	int from, to, error = 0;

	if (depth == 0)
		return ELOOP;
	if (mkdirat(to_at, name, 0700) == -1 && errno != EEXIST)
		return errno;
	from = open_folder(from_at, name);
	to = open_folder(to_at, name);
	if (from == -1 || to == -1)
		error = errno;
	else
		error = copy_all(from, to, depth);
	if (from != -1)
		close(from);
	if (to != -1)
		close(to);
	return error;
}

static int
copy_one(int from, int to, const char *name, unsigned depth)
{
	struct stat st;

	/* What a server is about to rename may be gone. */
	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return errno == ENOENT ? 0 : errno;
	if (S_ISDIR(st.st_mode))
		return copy_folder(from, to, name, depth - 1);
	return S_ISREG(st.st_mode) ? copy_file(from, to, name, st.st_mode) : 0;
}

static int
copy_all(int from, int to, unsigned depth)
{
	struct dirent *entry;
	int copy = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = copy != -1 ? fdopendir(copy) : NULL;
	int error = 0, wrong;

	if (folder == NULL) {
		failed(&error);
		if (copy != -1)
			close(copy);
		return error;
	}
	while ((entry = readdir(folder)) != NULL) {
		wrong = is_dots(entry->d_name) ? 0 :
		    copy_one(from, to, entry->d_name, depth);
		if (error == 0)
			error = wrong;
	}
	closedir(folder);
	return error;
}

int
folder_copy(const char *from, const char *to)
{
	int a = open_folder(AT_FDCWD, from), b, error;

	if (a == -1)
		return -1;
	if (mkdir(to, 0700) == -1 && errno != EEXIST) {
		error = errno;
		close(a);
		return result(error);
	}
	b = open_folder(AT_FDCWD, to);
	error = b != -1 ? copy_all(a, b, DEPTH) : errno;
	close(a);
	if (b != -1)
		close(b);
	return result(error);
}

/* --- made ----------------------------------------------------------------- */

int
folder_make(const char *path)
{
	char at[4096];
	char *slash;

	errno = ENAMETOOLONG;
	if (*path == '\0' || snprintf(at, sizeof at, "%s", path) >=
	    (int)sizeof at)
		return -1;
	for (slash = at + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		if (mkdir(at, 0777) != 0 && errno != EEXIST)
			return -1;
		*slash = '/';
	}
	return mkdir(at, 0777) != 0 && errno != EEXIST ? -1 : 0;
}

int
folder_file(const char *path, int (*write)(FILE *, const void *arg),
    const void *arg)
{
	FILE *file = fopen(path, "we");
	int error = 0;

	if (file == NULL)
		return -1;
	errno = EIO;		/* if nobody says better */
	if (write(file, arg) != 0 || fflush(file) != 0 || ferror(file))
		error = errno;
	if (fclose(file) != 0 && error == 0)
		error = errno;
	return result(error);
}
