/* SPDX-License-Identifier: ISC */
#include "run_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int
open_folder(const char *path, bool make, char *error, size_t error_size)
{
	struct stat st;
	int fd;

	if (make && mkdir(path, 0700) != 0 && errno != EEXIST) {
		snprintf(error, error_size, "cannot make the folder %s: %s",
		    path, strerror(errno));
		return -1;
	}
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0) {
		snprintf(error, error_size, "cannot open the folder %s: %s",
		    path, strerror(errno));
	} else if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
		/* Who can replace a lock can prove that a live run is dead. */
		snprintf(error, error_size,
		    "others may write into %s: chmod go-w it", path);
	} else {
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

char *
idem_run_folder_path(const char *run, const char *ledger)
{
	char *real, *path;
	int len;

	if (run != NULL || ledger == NULL)
		return run != NULL ? strdup(run) : NULL;
	/* One folder a ledger, by whatever name it is called. */
	real = realpath(ledger, NULL);
	len = asprintf(&path, "%s-run", real != NULL ? real : ledger);
	free(real);
	return len < 0 ? NULL : path;
}

int
idem_run_folder(const char *run, const char *ledger, bool make, char *error,
    size_t error_size)
{
	char *path = idem_run_folder_path(run, ledger);
	int fd;

	if (path == NULL) {
		snprintf(error, error_size, "%s", run == NULL &&
		    ledger == NULL ? "without a ledger there must be a folder "
		    "for the locks of runs: run = \"/run/idem\"" :
		    "out of memory");
		return -1;
	}
	fd = open_folder(path, make, error, error_size);
	free(path);
	return fd;
}

static int
give_up(int fd)
{
	int saved = errno;

	close(fd);
	errno = saved;
	return -1;
}

/* The lock of a file that has this path.  lock: NULL, or where to put a
   description for reading only that has it. */
static bool
lock_it(int fd, const char *path, int folder, int *lock)
{
	if (lock == NULL)
		return flock(fd, LOCK_EX | LOCK_NB) == 0;
	*lock = openat(folder, path, O_RDONLY | O_CLOEXEC);
	return *lock >= 0 && flock(*lock, LOCK_EX | LOCK_NB) == 0;
}

static int
give_up_both(int fd, int *lock)
{
	if (lock != NULL && *lock >= 0)
		*lock = give_up(*lock);
	return give_up(fd);
}

/* Without a name until it is locked. */
static int
make_nameless(int folder, const char *name, int *lock)
{
	char link[32];
	int fd;

	fd = openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	if (!lock_it(fd, link, AT_FDCWD, lock) ||
	    linkat(AT_FDCWD, link, folder, name, AT_SYMLINK_FOLLOW) != 0)
		return give_up_both(fd, lock);
	return fd;
}

/*
 * Under another name until it is locked.  Not rename(2): it would replace a
 * file that is there, and with it a lock that is held.
 */
static int
make_linked(int folder, const char *name, int *lock)
{
	char other[64];
	int fd, saved;

	snprintf(other, sizeof other, "new.%d.%s", (int)getpid(), name);
	unlinkat(folder, other, 0);
	fd = openat(folder, other, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	if (!lock_it(fd, other, folder, lock) ||
	    linkat(folder, other, folder, name, 0) != 0)
		fd = give_up_both(fd, lock);
	saved = errno;
	unlinkat(folder, other, 0);
	errno = saved;
	return fd;
}

static int
make(int folder, const char *name, int *lock)
{
	int fd = make_nameless(folder, name, lock);

	/* Not every file system has nameless files, nor every jail /proc. */
	if (fd < 0 && errno != EEXIST)
		fd = make_linked(folder, name, lock);
	return fd;
}

int
idem_run_lock_make_named(int folder, const char *name)
{
	return make(folder, name, NULL);
}

int
idem_run_lock_make_apart(int folder, const char *name, int *lock)
{
	*lock = -1;
	return make(folder, name, lock);
}

enum idem_lock_state
idem_run_lock_state_named(int folder, const char *name)
{
	enum idem_lock_state state = IDEM_LOCK_HELD;
	struct stat st;
	int fd;

	fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? IDEM_LOCK_MISSING : IDEM_LOCK_HELD;
	/* Shared, so that two who look do not take each other for the owner. */
	if (flock(fd, LOCK_SH | LOCK_NB) == 0)
		state = IDEM_LOCK_FREE;
	/* Removed since we opened it, in the order in which a run ends. */
	if (fstat(fd, &st) != 0 || st.st_nlink == 0)
		state = IDEM_LOCK_MISSING;
	close(fd);
	return state;
}

int64_t
idem_run_after(int64_t at_ms, int64_t span_ms)
{
	return at_ms > INT64_MAX - span_ms ? INT64_MAX : at_ms + span_ms;
}

enum idem_proof
idem_run_proof(const struct idem_record *r, int64_t now_ms,
    const struct idem_boot *boot, enum idem_lock_state lock, uint32_t lease_ms,
    uint32_t limit_ms, uint32_t grace_ms)
{
	int64_t last = idem_run_after(r->renewed_at,
	    (int64_t)limit_ms + lease_ms + grace_ms);
	int64_t lapsed = idem_run_after(r->lease_end, grace_ms);
	bool missing = lock == IDEM_LOCK_MISSING;

	if (memcmp(r->boot.at, boot->at, sizeof boot->at) != 0)
		return IDEM_PROOF_DEAD;
	if (lock == IDEM_LOCK_FREE)
		return IDEM_PROOF_DEAD;
	/* Who owns it may start by its own lease's end, whatever ours is. */
	if (last < lapsed)
		last = lapsed;
	if (now_ms > last)
		return missing ? IDEM_PROOF_DEAD : IDEM_PROOF_LAPSED;
	if (missing && now_ms > lapsed)
		return IDEM_PROOF_LAPSED;
	return IDEM_PROOF_NONE;
}

enum idem_proof
idem_run_proof_shared(const struct idem_record *r, int64_t now_ms,
    const struct idem_boot *boot, enum idem_lock_state lock, uint32_t lease_ms,
    uint32_t limit_ms, uint32_t grace_ms)
{
	struct idem_record here = *r;

	if (memcmp(r->boot.at, boot->at, sizeof boot->at) != 0) {
		/*
		 * Not even a free lock: in a machine that was copied while it
		 * ran, the copy finds the locks of the one that runs on.
		 */
		here.boot = *boot;
		lock = IDEM_LOCK_MISSING;
	}
	return idem_run_proof(&here, now_ms, boot, lock, lease_ms, limit_ms,
	    grace_ms);
}
