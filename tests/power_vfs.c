/* SPDX-License-Identifier: ISC */
#include "power_vfs.h"

#include "tap.h"

#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES 8
#define SECTOR 512
#define MOMENTS 100000

enum what { WRITE, TRUNCATE, SYNC };

struct moment {
	enum what what;
	int file;
	int64_t at;
	size_t len;
	uint8_t *bytes;
};

struct image {
	uint8_t *bytes;
	size_t len, size;
};

struct file {			/* the real file's bytes follow it */
	sqlite3_file base;
	sqlite3_file *real;
	int number;		/* -1: not written down */
};

static struct {
	pthread_mutex_t mutex;
	bool stopped;
	char *name[FILES];	/* without folder */
	struct image first[FILES];
	int files;
	struct moment at[MOMENTS];
	size_t len;
	sqlite3_vfs *real, ours;
} world = { .mutex = PTHREAD_MUTEX_INITIALIZER };

/* --- images --------------------------------------------------------------- */

static void
put(struct image *i, int64_t at, const uint8_t *bytes, size_t len)
{
	size_t end = (size_t)at + len;

	if (end > i->size) {
		i->size = 2 * end;
		i->bytes = realloc(i->bytes, i->size);
		if (i->bytes == NULL)
			bail_out("no memory");
	}
	if (end > i->len) {
		memset(i->bytes + i->len, 0, end - i->len);
		i->len = end;
	}
	if (len > 0)
		memcpy(i->bytes + at, bytes, len);
}

static void
apply(struct image *i, const struct moment *m)
{
	if (m->what == WRITE)
		put(i, m->at, m->bytes, m->len);
	else if (m->what == TRUNCATE && (size_t)m->at < i->len)
		i->len = (size_t)m->at;
	else if (m->what == TRUNCATE)
		put(i, m->at, NULL, 0);
}

static bool
chance(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return (*seed >> 20) % 2 == 0;
}

static void
apply_some(struct image *i, const struct moment *m, uint64_t *seed)
{
	struct moment part = *m;
	size_t done;

	if (m->what == TRUNCATE && chance(seed))
		apply(i, m);
	for (done = 0; m->what == WRITE && done < m->len; done += part.len) {
		part.at = m->at + (int64_t)done;
		part.len = SECTOR - (size_t)part.at % SECTOR;
		if (part.len > m->len - done)
			part.len = m->len - done;
		part.bytes = m->bytes + done;
		if (chance(seed))
			apply(i, &part);
	}
}

/* The file system has noted how long it is, but not what is in it. */
static void
grow(struct image *i, const struct moment *m)
{
	if (m->what == WRITE && (size_t)m->at + m->len > i->len)
		put(i, m->at + (int64_t)m->len, NULL, 0);
}

/* --- writing down --------------------------------------------------------- */

static void
note_moment(const sqlite3_file *f, enum what what, int64_t at,
    const void *bytes, size_t len)
{
	const struct file *file = (const struct file *)f;
	struct moment *m;

	pthread_mutex_lock(&world.mutex);
	if (file->number != -1 && !world.stopped) {
		if (world.len == MOMENTS)
			bail_out("more moments than there is room for");
		m = &world.at[world.len++];
		*m = (struct moment){ .what = what, .file = file->number,
			.at = at, .len = len };
		if (len > 0) {
			m->bytes = malloc(len);
			if (m->bytes == NULL)
				bail_out("no memory");
			memcpy(m->bytes, bytes, len);
		}
	}
	pthread_mutex_unlock(&world.mutex);
}

static void
read_first(const char *path, struct image *i)
{
	uint8_t bytes[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	while (fd != -1 && (n = read(fd, bytes, sizeof bytes)) > 0)
		put(i, (int64_t)i->len, bytes, (size_t)n);
	if (fd != -1)
		close(fd);
}

/* Before it is opened by SQLite: to close it later would drop its locks. */
static int
number_of(const char *path)
{
	const char *name = strrchr(path, '/');
	int i;

	if (name == NULL || world.stopped)
		return -1;
	name++;
	for (i = 0; i < world.files; i++)
		if (strcmp(world.name[i], name) == 0)
			return i;
	if (i == FILES)
		bail_out("more files than there is room for");
	world.name[i] = strdup(name);
	world.files++;
	read_first(path, &world.first[i]);
	return i;
}

/* --- a file's methods ----------------------------------------------------- */

static sqlite3_file *
real(sqlite3_file *f)
{
	return ((struct file *)f)->real;
}

static int
f_close(sqlite3_file *f)
{
	return real(f)->pMethods->xClose(real(f));
}

static int
f_read(sqlite3_file *f, void *to, int len, sqlite3_int64 at)
{
	return real(f)->pMethods->xRead(real(f), to, len, at);
}

static int
f_write(sqlite3_file *f, const void *from, int len, sqlite3_int64 at)
{
	note_moment(f, WRITE, at, from, (size_t)len);
	return real(f)->pMethods->xWrite(real(f), from, len, at);
}

static int
f_truncate(sqlite3_file *f, sqlite3_int64 len)
{
	note_moment(f, TRUNCATE, len, NULL, 0);
	return real(f)->pMethods->xTruncate(real(f), len);
}

static int
f_sync(sqlite3_file *f, int flags)
{
	(void)flags;
	note_moment(f, SYNC, 0, NULL, 0);
	return SQLITE_OK;
}

static int
f_size(sqlite3_file *f, sqlite3_int64 *len)
{
	return real(f)->pMethods->xFileSize(real(f), len);
}

static int
f_lock(sqlite3_file *f, int how)
{
	return real(f)->pMethods->xLock(real(f), how);
}

static int
f_unlock(sqlite3_file *f, int how)
{
	return real(f)->pMethods->xUnlock(real(f), how);
}

static int
f_reserved(sqlite3_file *f, int *out)
{
	return real(f)->pMethods->xCheckReservedLock(real(f), out);
}

static int
f_control(sqlite3_file *f, int op, void *arg)
{
	return real(f)->pMethods->xFileControl(real(f), op, arg);
}

static int
f_sector(sqlite3_file *f)
{
	(void)f;
	return SECTOR;
}

/* As of a disk that promises nothing. */
static int
f_device(sqlite3_file *f)
{
	(void)f;
	return 0;
}

static int
f_shm_map(sqlite3_file *f, int page, int size, int extend,
    void volatile **to)
{
	return real(f)->pMethods->xShmMap(real(f), page, size, extend, to);
}

static int
f_shm_lock(sqlite3_file *f, int from, int n, int flags)
{
	return real(f)->pMethods->xShmLock(real(f), from, n, flags);
}

static void
f_shm_barrier(sqlite3_file *f)
{
	real(f)->pMethods->xShmBarrier(real(f));
}

static int
f_shm_unmap(sqlite3_file *f, int delete)
{
	return real(f)->pMethods->xShmUnmap(real(f), delete);
}

/* Version 2: without mapped pages, which nobody would see written. */
static const sqlite3_io_methods methods = {
	.iVersion = 2,
	.xClose = f_close, .xRead = f_read, .xWrite = f_write,
	.xTruncate = f_truncate, .xSync = f_sync, .xFileSize = f_size,
	.xLock = f_lock, .xUnlock = f_unlock,
	.xCheckReservedLock = f_reserved, .xFileControl = f_control,
	.xSectorSize = f_sector, .xDeviceCharacteristics = f_device,
	.xShmMap = f_shm_map, .xShmLock = f_shm_lock,
	.xShmBarrier = f_shm_barrier, .xShmUnmap = f_shm_unmap
};

static int
v_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *f, int flags,
    int *out)
{
	struct file *file = (struct file *)f;
	int rc;

	(void)vfs;
	file->base.pMethods = NULL;
	file->real = (sqlite3_file *)(file + 1);
	file->number = path != NULL ? number_of(path) : -1;
	rc = world.real->xOpen(world.real, path, file->real, flags, out);
	if (rc == SQLITE_OK)
		file->base.pMethods = &methods;
	return rc;
}

/* -------------------------------------------------------------------------- */

void
power_vfs_install(void)
{
	world.real = sqlite3_vfs_find(NULL);
	world.ours = *world.real;
	world.ours.zName = "power";
	world.ours.szOsFile = (int)sizeof(struct file) + world.real->szOsFile;
	world.ours.xOpen = v_open;
	if (sqlite3_vfs_register(&world.ours, 1) != SQLITE_OK)
		bail_out("no file system of our own");
}

void
power_vfs_stop(void)
{
	world.stopped = true;
}

size_t
power_vfs_moments(void)
{
	size_t len;

	pthread_mutex_lock(&world.mutex);
	len = world.len;
	pthread_mutex_unlock(&world.mutex);
	return len;
}

size_t
power_vfs_before_sync(size_t moment)
{
	size_t len = power_vfs_moments();

	while (moment < len && world.at[moment].what != SYNC)
		moment++;
	return moment;
}

/* Its last sync before that moment; what follows it is loose. */
static size_t
synced(int file, size_t moment)
{
	while (moment > 0 && (world.at[moment - 1].file != file ||
	    world.at[moment - 1].what != SYNC))
		moment--;
	return moment;
}

size_t
power_vfs_loose(const char *name)
{
	size_t len = power_vfs_moments(), n = 0, i;
	int file;

	for (file = 0; file < world.files; file++) {
		if (strncmp(world.name[file], name, strlen(name)) != 0)
			continue;
		for (i = synced(file, len); i < len; i++)
			n += world.at[i].file == file;
	}
	return n;
}

static void
write_out(const struct image *i, const char *folder, const char *name)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	f = fopen(path, "w");
	if (f == NULL || (i->len > 0 && fwrite(i->bytes, i->len, 1, f) != 1) ||
	    fclose(f) != 0)
		bail_out("cannot write %s", path);
}

void
power_vfs_disk(size_t moment, uint64_t seed, const char *folder)
{
	struct image image;
	size_t until, i;
	bool grown;
	int file;

	for (file = 0; file < world.files; file++) {
		image = (struct image){ NULL, 0, 0 };
		grown = seed != 0 && chance(&seed);
		put(&image, 0, world.first[file].bytes, world.first[file].len);
		until = synced(file, moment);
		for (i = 0; i < moment; i++) {
			if (world.at[i].file != file)
				continue;
			if (i < until)
				apply(&image, &world.at[i]);
			else if (seed != 0)
				apply_some(&image, &world.at[i], &seed);
			if (i >= until && grown)
				grow(&image, &world.at[i]);
		}
		write_out(&image, folder, world.name[file]);
		free(image.bytes);
	}
}

void
power_vfs_free(void)
{
	size_t i;
	int file;

	for (i = 0; i < world.len; i++)
		free(world.at[i].bytes);
	for (file = 0; file < world.files; file++) {
		free(world.first[file].bytes);
		free(world.name[file]);
	}
}
