/* SPDX-License-Identifier: ISC */
#include "preload_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

/* What processes do that have the library under them. */

static bool
told(void)
{
	char line[16];

	return fgets(line, sizeof line, stdin) != NULL;
}

static int
part_clock(void)
{
	struct timeval t;
	time_t seconds;

	while (told()) {
		gettimeofday(&t, NULL);
		if (time(&seconds) != seconds)
			return 1;
		printf("%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
		    " %" PRId64 "\n", preload_now_ns(CLOCK_REALTIME),
		    preload_now_ns(CLOCK_REALTIME_COARSE),
		    (int64_t)t.tv_sec * 1000000000 + t.tv_usec * 1000,
		    (int64_t)seconds * 1000000000,
		    preload_now_ns(CLOCK_MONOTONIC));
		fflush(stdout);
	}
	return 0;
}

static int
part_boot(const char *call)
{
	const char *path = "/proc/sys/kernel/random/boot_id";
	char text[PRELOAD_RIG_PATH] = "";
	int fd = strcmp(call, "open") == 0 ? open(path, O_RDONLY | O_CLOEXEC) :
	    openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);

	if (read(fd, text, sizeof text - 1) < 1)
		return 1;
	printf("%s", text);
	return 0;
}

static sqlite3 *
database(const char *folder, const char *pragmas)
{
	char path[PRELOAD_RIG_PATH];
	sqlite3 *db;

	snprintf(path, sizeof path, "%s/d.db", folder);
	if (sqlite3_open(path, &db) != SQLITE_OK)
		exit(1);
	sqlite3_extended_result_codes(db, 1);
	sqlite3_busy_timeout(db, 5000);
	sqlite3_exec(db, pragmas, NULL, NULL, NULL);
	return db;
}

static int
part_two_rows(const char *pragmas, const char *folder)
{
	sqlite3 *db = database(folder, pragmas);
	int rc = sqlite3_exec(db, "CREATE TABLE t (a);"
	    "INSERT INTO t VALUES (1); PRAGMA wal_checkpoint(TRUNCATE)",
	    NULL, NULL, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, "INSERT INTO t VALUES (2)", NULL, NULL,
		    NULL);
	printf("%d\n", rc);
	fflush(stdout);
	raise(SIGKILL);
	return 1;
}

/* The other one may have been held up in the middle of a write. */
static int
do_patiently(sqlite3 *db, const char *sql)
{
	const struct timespec rest = { .tv_nsec = 1000000 };
	int rc, tries = 0;

	do {
		rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
	} while ((rc & 0xff) == SQLITE_BUSY && ++tries < 10 &&
	    nanosleep(&rest, NULL) == 0);
	return rc;
}

static int
part_many_rows(const char *from, const char *folder)
{
	sqlite3 *db = database(folder, "PRAGMA journal_mode=WAL;"
	    "PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=20");
	const struct timespec rest = { .tv_nsec = 1000000 };
	int n = (int)strtol(from, NULL, 10), i;
	char sql[PRELOAD_RIG_PATH];

	if (do_patiently(db, "CREATE TABLE IF NOT EXISTS t "
	    "(a INTEGER PRIMARY KEY)") != SQLITE_OK)
		return 1;
	for (i = 1; i < 10000; i++) {
		snprintf(sql, sizeof sql, "INSERT INTO t VALUES (%d)", n + i);
		if (do_patiently(db, sql) != SQLITE_OK)
			return 1;
		printf("%d\n", n + i);
		fflush(stdout);
		nanosleep(&rest, NULL);	/* the other one's turn */
	}
	sqlite3_close(db);
	return 0;
}

static int
part_writer(const char *folder)
{
	sqlite3 *db = database(folder, "PRAGMA journal_mode=WAL;"
	    "PRAGMA synchronous=FULL; CREATE TABLE t (a)");
	int rc;

	sqlite3_busy_timeout(db, 0);
	do {
		rc = sqlite3_exec(db, "INSERT INTO t VALUES (randomblob(9000))",
		    NULL, NULL, NULL);
		printf("%d\n", rc);
		fflush(stdout);
	} while (told());
	sqlite3_close(db);
	return 0;
}

static int
make(const char *name, int flags, const char *text)
{
	int fd = open(name, flags | O_CREAT | O_CLOEXEC, 0600);

	if (fd == -1 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		exit(1);
	return fd;
}

static void
make_synced(const char *name, const char *text)
{
	int fd = make(name, O_RDWR, text);

	if (fsync(fd) != 0)
		exit(1);
	close(fd);
}

static void *
sync_often(void *name)
{
	char digit[2] = "0";
	int fd = make(name, O_RDWR, digit);

	for (; digit[0] <= '9'; digit[0]++)
		if (pwrite(fd, digit, 1, 0) != 1 || fdatasync(fd) != 0)
			exit(1);
	close(fd);
	return NULL;
}

static void
sync_in_threads(void)
{
	static char names[4][4] = { "t0", "t1", "t2", "t3" };
	pthread_t thread[4];
	int i;

	for (i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, sync_often, names[i]) != 0)
			exit(1);
	for (i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

/* By names that are relative, as well as by whole ones. */
static int
part_names(const char *folder)
{
	char path[PRELOAD_RIG_PATH];
	int fd, here;

	if (chdir(folder) != 0 || mkdir("in", 0700) != 0)
		return 1;
	snprintf(path, sizeof path, "%s/synced", folder);
	make_synced(path, "new");
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (pwrite(fd, "old", 3, 0) != 3)	/* and never synced */
		return 1;
	close(fd);
	close(make("never", O_RDWR, "x"));
	make_synced("in/side", "deep");
	make_synced("old", "named");
	make_synced("other", "before");
	rename("old", "other");
	make_synced("first", "linked");
	if (link("first", "link") != 0)
		_exit(1);
	unlink("first");
	make_synced("gone", "x");
	here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	unlinkat(here, "gone", 0);
	make_synced("a-shm", "x");
	fd = make("appended", O_WRONLY | O_APPEND, "1");
	if (write(fd, "2", 1) != 1 || fdatasync(fd) != 0)
		return 1;
	close(fd);
	/* A file without a name any more. */
	fd = make("nameless", O_RDWR, "x");
	unlink("nameless");
	if (fsync(fd) != 0 || fsync(here) != 0)
		return 1;
	close(fd);
	close(here);
	sync_in_threads();
	printf("done\n");
	return 0;
}

static int
part_lock(const char *word, const char *folder)
{
	struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char path[PRELOAD_RIG_PATH];
	int fd;

	snprintf(path, sizeof path, "%s/locked", folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fcntl(fd, F_SETLK, &all) != 0) {
		puts("refused");
		return 0;
	}
	if (fsync(fd) != 0 || fdatasync(fd) != 0)
		return 1;
	puts("locked");
	fflush(stdout);
	if (strcmp(word, "hold") == 0)
		told();
	return 0;
}

static const char *
end_of(long n, char text[24])
{
	if (n == -1 && errno == ENOSPC)
		snprintf(text, 24, "ENOSPC");
	else
		snprintf(text, 24, "%ld", n);
	return text;
}

static int
part_full(const char *folder)
{
	struct iovec two[2] = {
		{ .iov_base = (char[]){ "ab" }, .iov_len = 2 },
		{ .iov_base = (char[]){ "cd" }, .iov_len = 2 }
	};
	char path[PRELOAD_RIG_PATH], text[24];
	struct preload_disk *disk;
	int fd, end;

	snprintf(path, sizeof path, "%s/f", folder);
	fd = make(path, O_RDWR, "abc");
	end = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	disk = mmap(NULL, sizeof *disk, PROT_READ | PROT_WRITE,
	    MAP_SHARED, open(getenv(PRELOAD_DISK), O_RDWR | O_CLOEXEC), 0);
	disk->fault = PRELOAD_FULL;
	printf("grow %s, ", end_of(pwrite(fd, "abcd", 4, 0), text));
	printf("over %s, ", end_of(pwrite(fd, "xyz", 3, 0), text));
	printf("append %s, ", end_of(write(end, "d", 1), text));
	printf("vector %s, ", end_of(pwritev(fd, two, 2, 0), text));
	printf("truncate %s, ", end_of(ftruncate(fd, 4), text));
	printf("shrink %s, ", end_of(ftruncate(fd, 2), text));
	errno = posix_fallocate(fd, 0, 10);
	printf("allocate %s\n", end_of(-1, text));
	return 0;
}

int
preload_part(const char *name, const char *word, const char *folder)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (strcmp(name, "clock") == 0)
		return part_clock();
	if (strcmp(name, "boot") == 0)
		return part_boot(word);
	if (strcmp(name, "two rows") == 0)
		return part_two_rows(word, folder);
	if (strcmp(name, "many rows") == 0)
		return part_many_rows(word, folder);
	if (strcmp(name, "writer") == 0)
		return part_writer(folder);
	if (strcmp(name, "names") == 0)
		return part_names(folder);
	if (strcmp(name, "lock") == 0)
		return part_lock(word, folder);
	if (strcmp(name, "full") == 0)
		return part_full(folder);
	return 1;
}

