/* SPDX-License-Identifier: ISC */
#include "fault_vfs.h"
#include "tap.h"

#include <pthread.h>
#include <sqlite3.h>
#include <string.h>

/* One of ours; the real file's bytes follow it. */
struct file {
	sqlite3_file base;
	sqlite3_file *real;
	bool log;		/* a write-ahead log */
};

/* SQLite hands its file system no argument, so this is the one exception. */
static struct {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	unsigned long long reads, logged;
	struct fault fault;
	bool fired, hold, held;
	sqlite3_vfs *real;
	sqlite3_vfs ours;
	sqlite3_mem_methods memory;
} world = {
	.mutex = PTHREAD_MUTEX_INITIALIZER,
	.changed = PTHREAD_COND_INITIALIZER,
};

static int
result_code(enum fault_op op, enum fault_code code)
{
	static const int ioerr[FAULT_OPS] = {
		[FAULT_OPEN] = SQLITE_CANTOPEN,
		[FAULT_READ] = SQLITE_IOERR_READ,
		[FAULT_WRITE] = SQLITE_IOERR_WRITE,
		[FAULT_TRUNCATE] = SQLITE_IOERR_TRUNCATE,
		[FAULT_SYNC] = SQLITE_IOERR_FSYNC,
		[FAULT_LOCK] = SQLITE_IOERR_LOCK,
		[FAULT_SHM_MAP] = SQLITE_IOERR_SHMMAP,
		[FAULT_SHM_LOCK] = SQLITE_IOERR_SHMLOCK,
		[FAULT_ALLOC] = SQLITE_NOMEM,
	};
	static const int codes[] = {
		[FAULT_FULL] = SQLITE_FULL,
		[FAULT_BUSY] = SQLITE_BUSY,
		[FAULT_READONLY] = SQLITE_READONLY,
		[FAULT_NOMEM] = SQLITE_NOMEM,
	};

	return code == FAULT_IOERR ? ioerr[op] : codes[code];
}

/* What a call of op is to give, or 0; *after: only once it is done. */
static int
strike(enum fault_op op, bool *after)
{
	struct fault *f = &world.fault;
	int rc = SQLITE_OK;

	pthread_mutex_lock(&world.mutex);
	world.reads += op == FAULT_READ;
	*after = f->after;
	if (f->op == op) {
		if (f->nth > 0)
			f->nth--;
		if (f->nth == 0 && (f->for_ever || !world.fired)) {
			world.fired = true;
			rc = result_code(op, f->code);
		}
	}
	pthread_mutex_unlock(&world.mutex);
	return rc;
}

static sqlite3_file *
real(sqlite3_file *f)
{
	return ((struct file *)f)->real;
}

/* --- memory --------------------------------------------------------------- */

static void *
m_alloc(int len)
{
	bool after;

	return strike(FAULT_ALLOC, &after) == SQLITE_OK ?
	    world.memory.xMalloc(len) : NULL;
}

static void *
m_realloc(void *at, int len)
{
	bool after;

	return strike(FAULT_ALLOC, &after) == SQLITE_OK ?
	    world.memory.xRealloc(at, len) : NULL;
}

static void
install_memory(void)
{
	sqlite3_mem_methods ours;

	if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &world.memory) !=
	    SQLITE_OK)
		bail_out("SQLite was used before");
	ours = world.memory;
	ours.xMalloc = m_alloc;
	ours.xRealloc = m_realloc;
	sqlite3_config(SQLITE_CONFIG_MALLOC, &ours);
}

/* --- a file's methods ----------------------------------------------------- */

static int
f_close(sqlite3_file *f)
{
	sqlite3_file *r = real(f);

	return r->pMethods != NULL ? r->pMethods->xClose(r) : SQLITE_OK;
}

static int
f_read(sqlite3_file *f, void *to, int len, sqlite3_int64 at)
{
	bool after;
	int rc = strike(FAULT_READ, &after);

	return rc != SQLITE_OK ? rc :
	    real(f)->pMethods->xRead(real(f), to, len, at);
}

static int
f_write(sqlite3_file *f, const void *from, int len, sqlite3_int64 at)
{
	bool after;
	int rc = strike(FAULT_WRITE, &after);

	if (rc != SQLITE_OK && !after)
		return rc;
	if (((struct file *)f)->log) {
		pthread_mutex_lock(&world.mutex);
		world.logged++;
		pthread_mutex_unlock(&world.mutex);
	}
	real(f)->pMethods->xWrite(real(f), from, len, at);
	return rc;
}

static int
f_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	bool after;
	int rc = strike(FAULT_TRUNCATE, &after);

	if (rc != SQLITE_OK && !after)
		return rc;
	real(f)->pMethods->xTruncate(real(f), size);
	return rc;
}

static int
f_sync(sqlite3_file *f, int flags)
{
	bool after;

	(void)f;
	(void)flags;
	pthread_mutex_lock(&world.mutex);
	if (world.hold) {
		world.held = true;
		pthread_cond_broadcast(&world.changed);
		while (world.hold)
			pthread_cond_wait(&world.changed, &world.mutex);
		world.held = false;
	}
	pthread_mutex_unlock(&world.mutex);
	return strike(FAULT_SYNC, &after);
}

static int
f_size(sqlite3_file *f, sqlite3_int64 *size)
{
	return real(f)->pMethods->xFileSize(real(f), size);
}

static int
f_lock(sqlite3_file *f, int level)
{
	bool after;
	int rc = strike(FAULT_LOCK, &after);

	return rc != SQLITE_OK ? rc : real(f)->pMethods->xLock(real(f), level);
}

static int
f_unlock(sqlite3_file *f, int level)
{
	return real(f)->pMethods->xUnlock(real(f), level);
}

static int
f_reserved(sqlite3_file *f, int *reserved)
{
	return real(f)->pMethods->xCheckReservedLock(real(f), reserved);
}

static int
f_control(sqlite3_file *f, int op, void *arg)
{
	return real(f)->pMethods->xFileControl(real(f), op, arg);
}

static int
f_sector(sqlite3_file *f)
{
	return real(f)->pMethods->xSectorSize(real(f));
}

static int
f_device(sqlite3_file *f)
{
	return real(f)->pMethods->xDeviceCharacteristics(real(f));
}

static int
f_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **at)
{
	bool after;
	int rc = strike(FAULT_SHM_MAP, &after);

	return rc != SQLITE_OK ? rc :
	    real(f)->pMethods->xShmMap(real(f), page, size, extend, at);
}

/* Unlocking cannot fail. */
static int
f_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
	bool after;
	int rc = SQLITE_OK;

	if ((flags & SQLITE_SHM_LOCK) != 0)
		rc = strike(FAULT_SHM_LOCK, &after);
	return rc != SQLITE_OK ? rc :
	    real(f)->pMethods->xShmLock(real(f), offset, n, flags);
}

static void
f_shm_barrier(sqlite3_file *f)
{
	real(f)->pMethods->xShmBarrier(real(f));
}

static int
f_shm_unmap(sqlite3_file *f, int delete_it)
{
	return real(f)->pMethods->xShmUnmap(real(f), delete_it);
}

/* --- the file system ------------------------------------------------------ */

static int
vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags,
    int *out)
{
	static const sqlite3_io_methods methods = {
		.iVersion = 2,
		.xClose = f_close,
		.xRead = f_read,
		.xWrite = f_write,
		.xTruncate = f_truncate,
		.xSync = f_sync,
		.xFileSize = f_size,
		.xLock = f_lock,
		.xUnlock = f_unlock,
		.xCheckReservedLock = f_reserved,
		.xFileControl = f_control,
		.xSectorSize = f_sector,
		.xDeviceCharacteristics = f_device,
		.xShmMap = f_shm_map,
		.xShmLock = f_shm_lock,
		.xShmBarrier = f_shm_barrier,
		.xShmUnmap = f_shm_unmap,
	};
	struct file *ours = (struct file *)f;
	bool after;
	int rc = strike(FAULT_OPEN, &after);

	(void)vfs;
	ours->base.pMethods = NULL;
	ours->real = (sqlite3_file *)(void *)(ours + 1);
	if (rc != SQLITE_OK)
		return rc;
	rc = world.real->xOpen(world.real, name, ours->real, flags, out);
	if (rc == SQLITE_OK)
		ours->base.pMethods = &methods;
	ours->log = (flags & SQLITE_OPEN_WAL) != 0;
	return rc;
}

static int
vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs;
	return world.real->xDelete(world.real, name, sync);
}

static int
vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
	(void)vfs;
	return world.real->xAccess(world.real, name, flags, out);
}

static int
vfs_full(sqlite3_vfs *vfs, const char *name, int size, char *out)
{
	(void)vfs;
	return world.real->xFullPathname(world.real, name, size, out);
}

static int
vfs_sleep(sqlite3_vfs *vfs, int us)
{
	(void)vfs;
	return us;
}

void
fault_vfs_install(void)
{
	sqlite3_vfs *v = &world.ours;

	install_memory();
	world.real = sqlite3_vfs_find(NULL);
	if (world.real == NULL)
		bail_out("SQLite has no file system");
	*v = *world.real;
	v->pNext = NULL;
	v->zName = "fault";
	v->szOsFile = (int)sizeof(struct file) + world.real->szOsFile;
	v->xOpen = vfs_open;
	v->xDelete = vfs_delete;
	v->xAccess = vfs_access;
	v->xFullPathname = vfs_full;
	v->xSleep = vfs_sleep;
	if (sqlite3_vfs_register(v, 1) != SQLITE_OK)
		bail_out("SQLite takes no file system of ours");
}

void
fault_vfs_set(const struct fault *fault)
{
	pthread_mutex_lock(&world.mutex);
	world.fault = *fault;
	world.fired = false;
	pthread_mutex_unlock(&world.mutex);
}

bool
fault_vfs_heal(void)
{
	bool fired;

	pthread_mutex_lock(&world.mutex);
	fired = world.fired;
	world.fired = false;
	world.fault = (struct fault){ .op = FAULT_NONE };
	pthread_mutex_unlock(&world.mutex);
	return fired;
}

static unsigned long long
count(const unsigned long long *n)
{
	unsigned long long now;

	pthread_mutex_lock(&world.mutex);
	now = *n;
	pthread_mutex_unlock(&world.mutex);
	return now;
}

unsigned long long
fault_vfs_reads(void)
{
	return count(&world.reads);
}

unsigned long long
fault_vfs_logged(void)
{
	return count(&world.logged);
}

void
fault_vfs_hold_sync(void)
{
	pthread_mutex_lock(&world.mutex);
	world.hold = true;
	pthread_mutex_unlock(&world.mutex);
}

void
fault_vfs_await_held(void)
{
	pthread_mutex_lock(&world.mutex);
	while (!world.held)
		pthread_cond_wait(&world.changed, &world.mutex);
	pthread_mutex_unlock(&world.mutex);
}

void
fault_vfs_let_go(void)
{
	pthread_mutex_lock(&world.mutex);
	world.hold = false;
	pthread_cond_broadcast(&world.changed);
	pthread_mutex_unlock(&world.mutex);
}

void
fault_sql(const char *path, const char *sql)
{
	sqlite3 *db;

	if (sqlite3_open(path, &db) != SQLITE_OK ||
	    sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		bail_out("%s: %s: %s", path, sql, sqlite3_errmsg(db));
	sqlite3_close(db);
}

const char *
fault_op_text(enum fault_op op)
{
	static const char *const texts[FAULT_OPS] = {
		"nothing", "xOpen", "xRead", "xWrite", "xTruncate", "xSync",
		"xLock", "xShmMap", "xShmLock", "memory",
	};

	return texts[op];
}

const char *
fault_code_text(enum fault_code code)
{
	static const char *const texts[] = {
		"IOERR", "FULL", "BUSY", "READONLY", "NOMEM",
	};

	return texts[code];
}
