/* SPDX-License-Identifier: ISC */
#include "memory.h"

#include "store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PREFIX "idem-memory."
#define TRIES 10		/* each lost to one who tidies */

/* statfs(2). */
#define MAGIC_TMPFS 0x01021994u
#define MAGIC_RAMFS 0x858458f6u

const struct conf_route *
memory_wanted(const struct conf *conf)
{
	size_t i;

	for (i = 0; i < conf->routes_len; i++)
		if (conf->routes[i].route.policy.on_outage == IDEM_TO_MEMORY)
			return &conf->routes[i];
	return NULL;
}

/* --- taking away ---------------------------------------------------------- */

/* It is flat, and small. */
static void
empty(int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd != -1 ? fdopendir(fd) : NULL;
	const struct dirent *e;

	if (dir == NULL) {
		if (fd != -1)
			close(fd);
		return;
	}
	while ((e = readdir(dir)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			unlinkat(folder, e->d_name, 0);
	closedir(dir);
}

/*
 * The folder, locked by us; -1 if it is another's to remove: another user's, or
 * that of somebody who lives.  Who has the lock may remove it, and nobody else,
 * so a folder is never taken from under its owner.
 */
static int
lock_folder(int place, const char *name)
{
	int fd = openat(place, name,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st, now;

	if (fd == -1)
		return -1;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0 &&
	    fstatat(place, name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	    now.st_dev == st.st_dev && now.st_ino == st.st_ino)
		return fd;
	close(fd);
	return -1;
}

static void
tidy_one(int place, const char *name)
{
	int fd;

	if (strncmp(name, PREFIX, sizeof PREFIX - 1) != 0)
		return;
	fd = lock_folder(place, name);
	if (fd == -1)
		return;
	empty(fd);
	unlinkat(place, name, AT_REMOVEDIR);
	close(fd);
}

static void
tidy_place(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *e;

	if (dir == NULL)
		return;
	while ((e = readdir(dir)) != NULL)
		tidy_one(dirfd(dir), e->d_name);
	closedir(dir);
}

void
memory_tidy(const char *const *places)
{
	for (; *places != NULL; places++)
		tidy_place(*places);
}

void
memory_drop(struct memory *m)
{
	if (m->folder != NULL) {
		empty(m->lock);
		rmdir(m->folder);
		close(m->lock);
	}
	free(m->folder);
	free(m->path);
	*m = (struct memory){ .lock = -1 };
}

/* --- making --------------------------------------------------------------- */

/* A fresh one, locked before anybody tidies it away. */
static int
make_folder(struct memory *m, const char *place)
{
	int i;

	for (i = 0; i < TRIES; i++) {
		if (asprintf(&m->folder, "%s/" PREFIX "XXXXXX", place) < 0) {
			m->folder = NULL;
			errno = ENOMEM;
			return -1;
		}
		if (mkdtemp(m->folder) == NULL)
			break;
		m->lock = lock_folder(AT_FDCWD, m->folder);
		if (m->lock != -1)
			return 0;
		free(m->folder);
		errno = EBUSY;
	}
	if (i < TRIES)
		free(m->folder);
	m->folder = NULL;
	return -1;
}

static bool
is_memory(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 &&
	    ((uint32_t)fs.f_type == MAGIC_TMPFS ||
	    (uint32_t)fs.f_type == MAGIC_RAMFS);
}

static bool
make_at(struct memory *m, const char *place, char *error, size_t error_size)
{
	if (make_folder(m, place) == -1) {
		snprintf(error, error_size, "%s", strerror(errno));
		return false;
	}
	if (asprintf(&m->path, "%s/ledger.db", m->folder) < 0) {
		m->path = NULL;
		snprintf(error, error_size, "%s", strerror(ENOMEM));
	} else if (idem_store_sqlite_create(m->path, error, error_size) == 0) {
		return true;
	}
	memory_drop(m);
	return false;
}

int
memory_make(struct memory *m, const char *const *places, struct log *log)
{
	char error[512];

	*m = (struct memory){ .lock = -1 };
	for (; *places != NULL; places++) {
		if (!make_at(m, *places, error, sizeof error)) {
			log_line_quoted(log, "error", error, "memory place=%s",
			    *places);
			continue;
		}
		log_line(log, "memory=%s%s", m->path, is_memory(m->lock) ? "" :
		    " warning: it is on a disk, which each write waits for");
		return 0;
	}
	return -1;
}
