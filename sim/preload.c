/* SPDX-License-Identifier: ISC */
#include "preload_private.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

_Static_assert(sizeof(long) == 8, "an offset is one argument of a call");

static struct preload_clock *shift;
static const char *boot;

void
preload_die(const char *what)
{
	static const char us[] = "idemsim-preload: cannot use its ";

	(void)syscall(SYS_write, STDERR_FILENO, us, sizeof us - 1);
	(void)syscall(SYS_write, STDERR_FILENO, what, strlen(what));
	(void)syscall(SYS_write, STDERR_FILENO, "\n", 1);
	_exit(99);
}

static void *
map(const char *variable, size_t size)
{
	const char *name = getenv(variable);
	void *at = MAP_FAILED;
	int fd;

	if (name == NULL || *name == '\0')
		return NULL;
	fd = (int)syscall(SYS_openat, AT_FDCWD, name, O_RDWR | O_CLOEXEC, 0);
	/* Beyond the end of a file that is too short there is only SIGBUS. */
	if (fd != -1 && lseek(fd, 0, SEEK_END) >= (off_t)size)
		at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    0);
	if (at == MAP_FAILED)
		preload_die(variable);
	close(fd);
	return at;
}

static void __attribute__((constructor))
begin(void)
{
	boot = getenv(PRELOAD_BOOT);
	shift = map(PRELOAD_SHIFT, sizeof *shift);
	preload_disk_begin(map(PRELOAD_DISK, sizeof(struct preload_disk)));
}

/* --- the clock ------------------------------------------------------------ */

#define NS_A_SECOND INT64_C(1000000000)
#define MILLION INT64_C(1000000)

#define TRIES 20000	/* seconds: who changes it may have been killed */

static int64_t
shift_now(void)
{
	int64_t ns = atomic_load(&shift->offset_ms) * MILLION;
	int64_t ppm = atomic_load(&shift->rate_ppm), since;
	struct timespec now;

	if (ppm == 0)
		return ns;
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	since = (int64_t)now.tv_sec * NS_A_SECOND + now.tv_nsec -
	    atomic_load(&shift->since_ns);
	/* In two parts, as the product of long runs would not fit. */
	return ns + since / MILLION * ppm + since % MILLION * ppm / MILLION;
}

/* What belongs together. */
static int64_t
shift_ns(void)
{
	const struct timespec nap = { 0, 50000 };
	int error = errno;
	uint64_t before;
	unsigned tries;
	int64_t ns;

	for (tries = 0; tries < TRIES; tries++) {
		before = atomic_load(&shift->changes);
		ns = shift_now();
		if (before % 2 == 0 && atomic_load(&shift->changes) == before)
			return ns;
		syscall(SYS_nanosleep, &nap, NULL);
		errno = error;
	}
	return shift_now();
}

static void
move(struct timespec *t)
{
	int64_t ns = shift_ns();

	if (ns != 0)
		atomic_fetch_add(&shift->struck, 1);
	t->tv_sec += (time_t)(ns / NS_A_SECOND);
	t->tv_nsec += (long)(ns % NS_A_SECOND);
	if (t->tv_nsec < 0) {
		t->tv_nsec += NS_A_SECOND;
		t->tv_sec--;
	} else if (t->tv_nsec >= NS_A_SECOND) {
		t->tv_nsec -= NS_A_SECOND;
		t->tv_sec++;
	}
}

int
clock_gettime(clockid_t clock, struct timespec *t)
{
	int status = (int)syscall(SYS_clock_gettime, clock, t);

	if (status == 0 && shift != NULL &&
	    (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		move(t);
	return status;
}

int
gettimeofday(struct timeval *restrict t, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	t->tv_sec = now.tv_sec;
	t->tv_usec = now.tv_nsec / 1000;
	return 0;
}

time_t
time(time_t *t)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (t != NULL)
		*t = now.tv_sec;
	return now.tv_sec;
}

/* --- calls ---------------------------------------------------------------- */

static int
open_this(int folder, const char *path, int flags, mode_t mode)
{
	if (boot != NULL && strcmp(path, BOOT_ID) == 0)
		path = boot;
	return (int)syscall(SYS_openat, folder, path, flags, mode);
}

/* Its mode comes only where a file may be made; else it would be anything. */
static mode_t
mode_of(int flags, va_list args)
{
	return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ?
	    va_arg(args, mode_t) : 0;
}

int
open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return open_this(AT_FDCWD, path, flags, mode);
}

int
openat(int folder, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return open_this(folder, path, flags, mode);
}

static size_t
sum(const struct iovec *v, int n)
{
	size_t len = 0;
	int i;

	for (i = 0; i < n; i++)
		len += v[i].iov_len;
	return len;
}

ssize_t
write(int fd, const void *at, size_t len)
{
	return preload_disk_full(fd, len) ? -1 :
	    syscall(SYS_write, fd, at, len);
}

ssize_t
writev(int fd, const struct iovec *v, int n)
{
	return preload_disk_full(fd, sum(v, n)) ? -1 :
	    syscall(SYS_writev, fd, v, n);
}

ssize_t
pwrite(int fd, const void *at, size_t len, off_t offset)
{
	return preload_disk_full_at(fd, offset, len) ? -1 :
	    syscall(SYS_pwrite64, fd, at, len, offset);
}

ssize_t
pwritev(int fd, const struct iovec *v, int n, off_t offset)
{
	return preload_disk_full_at(fd, offset, sum(v, n)) ? -1 :
	    syscall(SYS_pwritev, fd, v, n, offset, 0);
}

int
ftruncate(int fd, off_t len)
{
	return preload_disk_full_at(fd, 0, len > 0 ? (size_t)len : 0) ? -1 :
	    (int)syscall(SYS_ftruncate, fd, len);
}

/* Its errors are its values (POSIX). */
int
posix_fallocate(int fd, off_t at, off_t len)
{
	int error = errno, status = 0;

	if (preload_disk_full_at(fd, at, len > 0 ? (size_t)len : 0) ||
	    syscall(SYS_fallocate, fd, 0, at, len) != 0)
		status = errno;
	errno = error;
	return status;
}

static int
sync_this(long call, int fd)
{
	int status;

	if (preload_disk_broken(fd))
		return -1;
	status = (int)syscall(call, fd);
	if (status == 0)
		preload_disk_synced(fd);
	return status;
}

int
fsync(int fd)
{
	return sync_this(SYS_fsync, fd);
}

int
fdatasync(int fd)
{
	return sync_this(SYS_fdatasync, fd);
}

/* Whatever the argument is, or if there is none: it is a word long. */
int
fcntl(int fd, int command, ...)
{
	va_list args;
	void *arg;

	va_start(args, command);
	arg = va_arg(args, void *);
	va_end(args);
	if ((command == F_SETLK || command == F_OFD_SETLK) &&
	    preload_disk_busy(fd, command, arg))
		return -1;
	return (int)syscall(SYS_fcntl, fd, command, arg);
}

int
renameat2(int from_folder, const char *from, int to_folder, const char *to,
    unsigned flags)
{
	int status = (int)syscall(SYS_renameat2, from_folder, from, to_folder,
	    to, flags);

	if (status == 0)
		preload_disk_renamed(from_folder, from, to_folder, to);
	return status;
}

int
renameat(int from_folder, const char *from, int to_folder, const char *to)
{
	return renameat2(from_folder, from, to_folder, to, 0);
}

int
rename(const char *from, const char *to)
{
	return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int
linkat(int from_folder, const char *from, int to_folder, const char *to,
    int flags)
{
	int status = (int)syscall(SYS_linkat, from_folder, from, to_folder, to,
	    flags);

	if (status == 0)
		preload_disk_linked(from_folder, from, to_folder, to);
	return status;
}

int
link(const char *from, const char *to)
{
	return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int
unlinkat(int folder, const char *name, int flags)
{
	int status = (int)syscall(SYS_unlinkat, folder, name, flags);

	if (status == 0 && flags == 0)
		preload_disk_removed(folder, name);
	return status;
}

int
unlink(const char *name)
{
	return unlinkat(AT_FDCWD, name, 0);
}

/* --- other names of the same, where a file's offset is a long ------------- */

#define SAME_AS(name) __attribute__((alias(name)))

int open64(const char *, int, ...) SAME_AS("open");
int openat64(int, const char *, int, ...) SAME_AS("openat");
ssize_t pwrite64(int, const void *, size_t, off64_t) SAME_AS("pwrite");
ssize_t pwritev64(int, const struct iovec *, int, off64_t) SAME_AS("pwritev");
int ftruncate64(int, off64_t) SAME_AS("ftruncate");
int posix_fallocate64(int, off64_t, off64_t) SAME_AS("posix_fallocate");
int fcntl64(int, int, ...) SAME_AS("fcntl");
