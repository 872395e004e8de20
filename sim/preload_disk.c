/* SPDX-License-Identifier: ISC */
#include "preload_private.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Bytes that SQLite locks to write: of a database (RESERVED_BYTE), and of a
 * -shm (WAL_WRITE_LOCK, the first there).
 */
#define LOCK_DATABASE 0x40000001
#define LOCK_SHM 120

static struct preload_disk *disk;	/* mapped once, before main() */

void
preload_disk_begin(struct preload_disk *mapped)
{
	disk = mapped;
	if (disk != NULL)
		atomic_fetch_add(&disk->users, 1);
}

/* --- names below the folder ----------------------------------------------- */

/* Room for a path, and whether it all fitted. */
struct path {
	char at[PATH_MAX];
	size_t len;
	bool cut;
};

static void
add(struct path *p, const char *text)
{
	size_t len = strlen(text);

	if (p->cut || p->len + len >= sizeof p->at) {
		p->cut = true;
		return;
	}
	memcpy(p->at + p->len, text, len + 1);
	p->len += len;
}

/* Of a name there. */
static void
shadow_path(struct path *p, const char *name)
{
	p->len = 0;
	p->cut = false;
	add(p, disk->shadow);
	add(p, "/");
	add(p, name);
}

/* Behind the folder; "" is the folder itself; NULL: it is elsewhere. */
static const char *
below(const struct path *p)
{
	size_t len = strlen(disk->folder);

	if (p->cut || len == 0 || strncmp(p->at, disk->folder, len) != 0)
		return NULL;
	return p->at[len] == '/' ? p->at + len + 1 :
	    p->at[len] == '\0' ? p->at + len : NULL;
}

static bool
is_shm(const struct path *p)
{
	return p->len > 4 && strcmp(p->at + p->len - 4, "-shm") == 0;
}

static void
path_of(int fd, struct path *p)
{
	char link[40] = "/proc/self/fd/", digits[12];
	size_t n = sizeof digits, len = strlen(link);
	unsigned rest = (unsigned)fd;
	long got;

	digits[--n] = '\0';
	do
		digits[--n] = (char)('0' + rest % 10);
	while ((rest /= 10) > 0);
	memcpy(link + len, digits + n, sizeof digits - n);
	got = syscall(SYS_readlinkat, AT_FDCWD, link, p->at, sizeof p->at - 1);
	p->cut = fd < 0 || got < 0;
	p->len = got > 0 ? (size_t)got : 0;
	p->at[p->len] = '\0';
}

/* Keeps errno: its callers have not failed yet. */
static const char *
name_of(int fd, struct path *p)
{
	int error = errno;

	path_of(fd, p);
	errno = error;
	return below(p);
}

static const char *
name_at(int folder, const char *name, struct path *p)
{
	int error = errno;

	p->len = 0;
	p->cut = false;
	if (*name != '/') {
		if (folder != AT_FDCWD)
			path_of(folder, p);
		else if (syscall(SYS_getcwd, p->at, sizeof p->at) > 0)
			p->len = strlen(p->at);
		else
			p->cut = true;
		add(p, "/");
	}
	add(p, name);
	errno = error;
	return below(p);
}

/* --- faults of the disk --------------------------------------------------- */

static bool
is_on(enum preload_fault fault)
{
	return disk != NULL && atomic_load(&disk->fault) == (int)fault;
}

static bool
strike(int error)
{
	atomic_fetch_add(&disk->struck, 1);
	errno = error;
	return true;
}

static bool
would_grow(int fd, off_t end)
{
	struct path p;
	struct stat s;

	return name_of(fd, &p) != NULL && fstat(fd, &s) == 0 &&
	    S_ISREG(s.st_mode) && end > s.st_size;
}

bool
preload_disk_full_at(int fd, off_t at, size_t len)
{
	return is_on(PRELOAD_FULL) && len > 0 && at >= 0 &&
	    would_grow(fd, at + (off_t)len) && strike(ENOSPC);
}

/* Where a write without a place of its own goes. */
bool
preload_disk_full(int fd, size_t len)
{
	int error = errno;
	long flags;
	off_t at;
	bool full;

	if (!is_on(PRELOAD_FULL))
		return false;
	flags = syscall(SYS_fcntl, fd, F_GETFL);
	at = lseek(fd, 0, flags != -1 && (flags & O_APPEND) != 0 ? SEEK_END :
	    SEEK_CUR);
	full = preload_disk_full_at(fd, at, len);
	if (!full)
		errno = error;
	return full;
}

bool
preload_disk_broken(int fd)
{
	struct path p;

	return is_on(PRELOAD_IOERR) && name_of(fd, &p) != NULL && strike(EIO);
}

/* Readers are let pass: SQLite would ask for their locks for 10 s. */
bool
preload_disk_busy(int fd, int command, const struct flock *lock)
{
	struct path p;

	if (!is_on(PRELOAD_BUSY) || lock->l_type != F_WRLCK ||
	    (command != F_SETLK && command != F_OFD_SETLK) ||
	    name_of(fd, &p) == NULL)
		return false;
	return lock->l_start == (is_shm(&p) ? LOCK_SHM : LOCK_DATABASE) &&
	    strike(EAGAIN);
}

/* --- what is left when the power goes ------------------------------------- */

static bool
has_shadow(void)
{
	return disk != NULL && disk->shadow[0] != '\0';
}

/* One at a time, of all processes: the descriptor that holds the lock. */
static int
shadow_lock(void)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, disk->shadow,
	    O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);

	if (fd == -1)
		preload_die("shadow");
	while (flock(fd, LOCK_EX) != 0)
		if (errno != EINTR)
			preload_die("shadow's lock");
	return fd;
}

static void
make_folders(struct path *p, size_t from)
{
	char *slash = p->at + from;

	while ((slash = strchr(slash, '/')) != NULL) {
		*slash = '\0';
		(void)syscall(SYS_mkdirat, AT_FDCWD, p->at, 0700);
		*slash++ = '/';
	}
}

/*
 * To read all of it.  Not another descriptor where this one can be read: to
 * close one drops all locks that the process has on the file (fcntl(2)).
 */
static int
reader(int fd, const struct path *p)
{
	long flags = syscall(SYS_fcntl, fd, F_GETFL);

	if (flags == -1 || (flags & O_ACCMODE) != O_WRONLY)
		return fd;
	return (int)syscall(SYS_openat, AT_FDCWD, p->at, O_RDONLY | O_CLOEXEC,
	    0);
}

static void
copy(int from, mode_t mode, const char *to)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, to,
	    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	off_t at = 0;
	ssize_t n;

	if (fd == -1)
		preload_die("shadow");
	do
		n = sendfile(fd, from, &at, 1 << 30);
	while (n > 0 || (n == -1 && errno == EINTR));
	if (n == -1)
		preload_die("shadow");
	close(fd);
}

static void
keep(int fd, mode_t mode, const struct path *path, const char *name)
{
	struct path part, kept;
	int lock = shadow_lock();
	int from = reader(fd, path);

	shadow_path(&part, PRELOAD_PART);
	shadow_path(&kept, name);
	if (from == -1 || kept.cut)
		preload_die("shadow");
	make_folders(&kept, strlen(disk->shadow) + 1);
	copy(from, mode, part.at);
	if (syscall(SYS_renameat2, AT_FDCWD, part.at, AT_FDCWD, kept.at, 0) !=
	    0)
		preload_die("shadow");
	if (from != fd)
		close(from);
	close(lock);
}

/* The file, by the name that it was opened by, and no longer another. */
static bool
is_at(const struct path *p, const struct stat *s)
{
	struct stat there;

	return fstatat(AT_FDCWD, p->at, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	    there.st_dev == s->st_dev && there.st_ino == s->st_ino;
}

void
preload_disk_synced(int fd)
{
	int error = errno;
	const char *name;
	struct path p;
	struct stat s;

	if (!has_shadow())
		return;
	name = name_of(fd, &p);
	if (name != NULL && fstat(fd, &s) == 0 && S_ISREG(s.st_mode) &&
	    is_at(&p, &s) && !is_shm(&p))
		keep(fd, s.st_mode & 0777, &p, name);
	errno = error;
}

/* --- names ---------------------------------------------------------------- */

enum how { RENAMED, LINKED, REMOVED };

/* What is not there, because nobody synced it, stays away. */
static void
follow(enum how how, const char *from, const char *to)
{
	struct path old, new = { .len = 0 };
	int lock = shadow_lock();

	shadow_path(&old, from);
	if (to != NULL) {
		shadow_path(&new, to);
		make_folders(&new, strlen(disk->shadow) + 1);
	}
	switch (how) {
	case RENAMED:
		(void)syscall(SYS_renameat2, AT_FDCWD, old.at, AT_FDCWD,
		    new.at, 0);
		break;
	case LINKED:
		(void)syscall(SYS_unlinkat, AT_FDCWD, new.at, 0);
		(void)syscall(SYS_linkat, AT_FDCWD, old.at, AT_FDCWD, new.at,
		    0);
		break;
	case REMOVED:
		(void)syscall(SYS_unlinkat, AT_FDCWD, old.at, 0);
		break;
	}
	close(lock);
}

static void
followed(enum how how, int from_folder, const char *from, int to_folder,
    const char *to)
{
	const char *old, *new = NULL;
	struct path p, q;
	int error = errno;

	if (!has_shadow())
		return;
	old = name_at(from_folder, from, &p);
	if (to != NULL)
		new = name_at(to_folder, to, &q);
	if (old != NULL && (new != NULL || how != LINKED))
		follow(new != NULL ? how : REMOVED, old, new);
	errno = error;
}

void
preload_disk_renamed(int from_folder, const char *from, int to_folder,
    const char *to)
{
	followed(RENAMED, from_folder, from, to_folder, to);
}

void
preload_disk_linked(int from_folder, const char *from, int to_folder,
    const char *to)
{
	followed(LINKED, from_folder, from, to_folder, to);
}

void
preload_disk_removed(int folder, const char *name)
{
	followed(REMOVED, folder, name, folder, NULL);
}
