/* SPDX-License-Identifier: ISC */
#include "store_sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PAGE_SIZE 4096

/*
 * Numbers from linux/magic.h and statfs(2), where they are not all in every
 * version.  FUSE stands for virtiofs too.
 */
const char *
idem_sqlite_network(uint32_t magic)
{
	static const struct {
		uint32_t magic;
		const char *name;
	} networks[] = {
		{ 0x6969, "NFS" },
		{ 0x517b, "SMB" },
		{ 0xff534d42, "CIFS" },
		{ 0xfe534d42, "SMB2" },
		{ 0x65735546, "FUSE or virtiofs" },
		{ 0x01021997, "9p" },
		{ 0x5346414f, "AFS" },
		{ 0x73757245, "Coda" },
		{ 0x00c36400, "Ceph" },
		{ 0x0bd00bd0, "Lustre" },
		{ 0x47504653, "GPFS" },
		{ 0x01161970, "GFS2" },
		{ 0x7461636f, "OCFS2" },
		{ 0x786f4256, "vboxsf" },
		{ 0xbacbacbc, "vmhgfs" },
	};
	size_t i;

	for (i = 0; i < sizeof networks / sizeof *networks; i++)
		if (networks[i].magic == magic)
			return networks[i].name;
	return NULL;
}

char *
idem_sqlite_folder(const char *path)
{
	char *copy = strdup(path), *folder;

	if (copy == NULL)
		return NULL;
	folder = realpath(dirname(copy), NULL);
	free(copy);
	return folder;
}

int
idem_sqlite_place(const char *path, char *error, size_t error_size)
{
	char *folder = idem_sqlite_folder(path);
	const char *network;
	struct statfs fs;

	if (folder == NULL || statfs(folder, &fs) != 0) {
		snprintf(error, error_size, "the folder of the ledger %s: %s",
		    path, strerror(errno));
		free(folder);
		return -1;
	}
	free(folder);
	network = idem_sqlite_network((uint32_t)fs.f_type);
	if (network == NULL)
		return 0;
	snprintf(error, error_size, "the ledger %s lies on a network file "
	    "system (%s), where locks cannot be trusted: keep it on a local "
	    "disk", path, network);
	return -1;
}

static bool
is_there(const char *path, dev_t dev, ino_t ino)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_dev == dev && st.st_ino == ino;
}

const char *
idem_sqlite_file_moved(const struct idem_sqlite_file *f)
{
	if (!is_there(f->path, f->dev, f->ino))
		return "the ledger's file was moved, deleted or replaced while "
		    "it was open: put it back, or restart on the new one";
	if (f->lock >= 0 && !is_there(f->lock_path, f->lock_dev, f->lock_ino))
		return "the ledger's -lock file was moved, deleted or replaced "
		    "while it was open: restart all who use the ledger";
	return NULL;
}

bool
idem_sqlite_file_free(const struct idem_sqlite_file *f, uint64_t *bytes)
{
	struct statvfs fs;

	if (statvfs(f->path, &fs) != 0)
		return false;
	*bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	return true;
}

/* Room on the disk first: a mapped page that has none ends the process. */
static int
map_page(struct idem_sqlite_file *f)
{
	int failed = posix_fallocate(f->lock, 0, PAGE_SIZE);
	void *page;

	if (failed != 0) {
		errno = failed;
		return -1;
	}
	page = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
	    f->lock, 0);
	if (page == MAP_FAILED)
		return -1;
	f->page = page;
	return 0;
}

/* What root makes for a ledger belongs to the ledger's owner. */
static int
open_lock(struct idem_sqlite_file *f, const struct stat *ledger)
{
	struct stat st;

	f->lock = open(f->lock_path,
	    O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (f->lock < 0 || fstat(f->lock, &st) != 0)
		return -1;
	if (st.st_uid != ledger->st_uid && geteuid() == 0 &&
	    fchown(f->lock, ledger->st_uid, ledger->st_gid) != 0)
		return -1;
	f->lock_dev = st.st_dev;
	f->lock_ino = st.st_ino;
	return map_page(f);
}

/* The ledger itself is never opened here: closing it again would drop the
   POSIX locks of every connection to it in this process (fcntl(2)). */
static int
examine(const char *path, struct stat *st, char *error, size_t error_size)
{
	if (stat(path, st) != 0 && errno == ENOENT)
		snprintf(error, error_size, "there is no ledger %s: is its "
		    "disk mounted?  A new one is made with \"idemctl init "
		    "--ledger sqlite:%s\" or idemd's --create", path, path);
	else if (stat(path, st) != 0)
		snprintf(error, error_size, "the ledger %s: %s", path,
		    strerror(errno));
	else if (!S_ISREG(st->st_mode))
		snprintf(error, error_size, "the ledger %s is not a file",
		    path);
	else if (st->st_size == 0)
		snprintf(error, error_size, "the ledger %s has no bytes left "
		    "in it: restore it, or remove it and make a new one with "
		    "\"idemctl init\"", path);
	else
		return 0;
	return -1;
}

static int
may(int mode, const char *path, const char *what, char *error,
    size_t error_size)
{
	const char *cure;

	if (faccessat(AT_FDCWD, what, mode, AT_EACCESS) == 0 ||
	    (errno != EACCES && errno != EROFS))
		return 0;	/* not known: opening it says more */
	if (errno == EROFS)
		cure = "mount it for writing, or put the ledger elsewhere";
	else if (mode == W_OK)
		cure = "chown it to the user that idem runs as, and let that "
		    "user write it";
	else
		cure = "chown it to the user that idem runs as, and be that "
		    "user here";
	snprintf(error, error_size, "the ledger %s: %s cannot be %s by "
	    "user %u: %s; %s", path, what,
	    mode == W_OK ? "written" : "read", (unsigned)geteuid(),
	    strerror(errno), cure);
	return -1;
}

int
idem_sqlite_readable(const char *path, char *error, size_t error_size)
{
	return may(R_OK, path, path, error, error_size);
}

int
idem_sqlite_writable(const char *path, char *error, size_t error_size)
{
	static const char *const beside[] = { "", "-lock", "-wal", "-shm" };
	char *file = realpath(path, NULL), *folder, *name;
	int answer = 0;
	size_t i;

	if (file == NULL && errno != EACCES)	/* opening it says more */
		return 0;
	if (file == NULL) {
		snprintf(error, error_size, "the ledger %s: user %u may not "
		    "enter one of its folders; let that user pass (chmod o+x, "
		    "or chown)", path, (unsigned)geteuid());
		return -1;
	}
	for (i = 0; answer == 0 && i < sizeof beside / sizeof *beside; i++) {
		if (asprintf(&name, "%s%s", file, beside[i]) < 0)
			break;
		answer = may(W_OK, path, name, error, error_size);
		free(name);
	}
	folder = idem_sqlite_folder(file);
	if (answer == 0 && folder != NULL)
		answer = may(W_OK, path, folder, error, error_size);
	free(folder);
	free(file);
	return answer;
}

int
idem_sqlite_file_open(struct idem_sqlite_file *f, const char *path,
    bool read_only, char *error, size_t error_size)
{
	struct stat st;

	*f = (struct idem_sqlite_file){ .lock = -1 };
	if (examine(path, &st, error, error_size) != 0)
		return -1;
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	f->path = realpath(path, NULL);
	if (f->path == NULL ||
	    asprintf(&f->lock_path, "%s-lock", f->path) < 0) {
		f->lock_path = NULL;
		snprintf(error, error_size, "the ledger %s: %s", path,
		    strerror(errno));
		idem_sqlite_file_close(f);
		return -1;
	}
	if (idem_sqlite_place(f->path, error, error_size) != 0) {
		idem_sqlite_file_close(f);
		return -1;
	}
	if (!read_only && open_lock(f, &st) != 0) {
		snprintf(error, error_size, "the ledger's lock %s: %s",
		    f->lock_path, strerror(errno));
		idem_sqlite_file_close(f);
		return -1;
	}
	return 0;
}

void
idem_sqlite_file_close(struct idem_sqlite_file *f)
{
	if (f->page != NULL)
		munmap(f->page, PAGE_SIZE);
	if (f->lock >= 0)
		close(f->lock);
	free(f->path);
	free(f->lock_path);
	*f = (struct idem_sqlite_file){ .lock = -1 };
}

bool
idem_sqlite_file_lock(struct idem_sqlite_file *f)
{
	if (flock(f->lock, LOCK_EX | LOCK_NB) != 0) {
		atomic_store(&f->page->wanted, 1);
		return false;
	}
	atomic_store(&f->page->wanted, 0);
	/* Odd: who held it before us died within a commit. */
	idem_sqlite_purge_end(f);
	return true;
}

bool
idem_sqlite_file_unlock(struct idem_sqlite_file *f)
{
	bool wanted = atomic_load(&f->page->wanted) != 0;

	flock(f->lock, LOCK_UN);
	return wanted;
}

void
idem_sqlite_purge_begin(struct idem_sqlite_file *f)
{
	if (atomic_load(&f->page->purges) % 2 == 0)
		atomic_fetch_add(&f->page->purges, 1);
}

void
idem_sqlite_purge_end(struct idem_sqlite_file *f)
{
	if (atomic_load(&f->page->purges) % 2 != 0)
		atomic_fetch_add(&f->page->purges, 1);
}

uint64_t
idem_sqlite_purges(const struct idem_sqlite_file *f)
{
	return f->page != NULL ? atomic_load(&f->page->purges) : 0;
}
