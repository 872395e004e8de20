/* SPDX-License-Identifier: ISC */
#include "shm.h"

#include "run_lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE_MAGIC "idemst02"	/* another order of counters: another one */
#define PAGE_PREFIX "stats."
#define PAGES_A_PID 16		/* namesakes in other process name spaces */

struct shm_page {
	char magic[8];
	atomic_uint_fast64_t count[SHM_COUNTS];
};

static const char *const count_texts[SHM_COUNTS] = {
	[SHM_REQUESTS] = "requests",
	[SHM_KEYED] = "keyed",
	[SHM_STARTS] = "starts",
	[SHM_STORED] = "stored",
	[SHM_REPLAYED] = "replayed",
	[SHM_REJECTED] = "rejected",
	[SHM_MISMATCH] = "mismatch",
	[SHM_WITHHELD] = "withheld",
	[SHM_IN_PROGRESS] = "in-progress",
	[SHM_UNKNOWN] = "unknown",
	[SHM_EXPIRED] = "expired",
	[SHM_NOT_STARTED] = "not-started",
	[SHM_UNRECORDED] = "unrecorded",
	[SHM_NOT_KEPT] = "not-kept",
	[SHM_IGNORED] = "ignored",
	[SHM_UNKEYED] = "unkeyed",
	[SHM_BROKEN_PEERS] = "broken-peers",
	[SHM_TWO_RUNS] = "two-runs",
	[SHM_LEASES_LOST] = "leases-lost",
	[SHM_LOBBY_DEATHS] = "lobby-deaths",
	[SHM_KEEPER_DEATHS] = "keeper-deaths",
	[SHM_STORE_ERRORS] = "store-errors",
	[SHM_DROPPED] = "dropped-params",
	[SHM_RELEASED] = "released",
	[SHM_RELOADS] = "reloads",
	[SHM_UNPROTECTED] = "unprotected",
	[SHM_VOID_TOKEN] = "void-token",
	[SHM_OUTAGES] = "outages",
	[SHM_CACHE_OUTAGES] = "cache-outages",
	[SHM_TOKENS] = "tokens",
	[SHM_TOKENS_REFUSED] = "tokens-refused",
	[SHM_REDIS_HITS] = "redis-hits",
	[SHM_ALERTS] = "alerts",
};

void
shm_add(struct shm *shm, enum shm_count which, uint64_t n)
{
	atomic_fetch_add_explicit(&shm->page->count[which], n,
	    memory_order_relaxed);
}

uint64_t
shm_count(const struct shm *shm, enum shm_count which)
{
	return atomic_load_explicit(&shm->page->count[which],
	    memory_order_relaxed);
}

const char *
shm_count_text(enum shm_count which)
{
	return count_texts[which];
}

/* --- our own page --------------------------------------------------------- */

/* A free name of this process's; what a dead namesake left is taken away. */
static int
make_page_file(struct shm *shm)
{
	int fd = -1, i;

	for (i = 0; i < PAGES_A_PID && fd < 0; i++) {
		snprintf(shm->page_name, sizeof shm->page_name,
		    i == 0 ? PAGE_PREFIX "%d" : PAGE_PREFIX "%d.%d",
		    (int)getpid(), i);
		if (idem_run_lock_state_named(shm->page_folder,
		    shm->page_name) == IDEM_LOCK_FREE)
			unlinkat(shm->page_folder, shm->page_name, 0);
		fd = idem_run_lock_make_named(shm->page_folder,
		    shm->page_name);
		if (fd < 0 && errno != EEXIST)
			return -1;
	}
	return fd;
}

int
shm_page_make(struct shm *shm)
{
	int flags = MAP_SHARED | MAP_ANONYMOUS, error;
	void *page;

	if (shm->page_folder >= 0) {
		flags = MAP_SHARED;
		shm->page_file = make_page_file(shm);
		if (shm->page_file < 0)
			return -1;
		/* A hole would be SIGBUS on a disk that is full by then. */
		error = posix_fallocate(shm->page_file, 0, sizeof *shm->page);
		if (error != 0) {
			errno = error;
			return -1;
		}
	}
	page = mmap(NULL, sizeof *shm->page, PROT_READ | PROT_WRITE, flags,
	    shm->page_file, 0);
	if (page == MAP_FAILED)
		return -1;
	shm->page = page;
	memcpy(shm->page->magic, PAGE_MAGIC, sizeof shm->page->magic);
	return 0;
}

void
shm_page_drop(struct shm *shm)
{
	if (shm->page != NULL)
		munmap(shm->page, sizeof *shm->page);
	if (shm->page_file >= 0) {
		unlinkat(shm->page_folder, shm->page_name, 0);
		close(shm->page_file);
	}
}

/* --- those of all live instances ------------------------------------------ */

/* 1 if the file is a live instance's, whose counters are added; else 0. */
static int
add_page(int folder, const char *name, uint64_t counts[SHM_COUNTS])
{
	struct {
		char magic[8];
		uint64_t count[SHM_COUNTS];
	} page;
	ssize_t got;
	size_t i;
	int fd;

	fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return 0;
	got = pread(fd, &page, sizeof page, 0);
	close(fd);
	if (got != sizeof page ||
	    memcmp(page.magic, PAGE_MAGIC, sizeof page.magic) != 0)
		return 0;
	for (i = 0; i < SHM_COUNTS; i++)
		counts[i] += page.count[i];
	return 1;
}

static int
look_at(int folder, const char *name, uint64_t counts[SHM_COUNTS])
{
	if (strncmp(name, PAGE_PREFIX, strlen(PAGE_PREFIX)) != 0)
		return 0;
	switch (idem_run_lock_state_named(folder, name)) {
	case IDEM_LOCK_HELD:
		return add_page(folder, name, counts);
	case IDEM_LOCK_FREE:
		unlinkat(folder, name, 0);
		return 0;
	case IDEM_LOCK_MISSING:
		return 0;
	}
	return 0;
}

int
shm_stats(int folder, uint64_t counts[SHM_COUNTS])
{
	struct dirent *entry;
	int fd, n = 0;
	DIR *dir;

	memset(counts, 0, SHM_COUNTS * sizeof *counts);
	fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	dir = fdopendir(fd);
	if (dir == NULL) {
		close(fd);
		return -1;
	}
	while ((entry = readdir(dir)) != NULL)
		n += look_at(folder, entry->d_name, counts);
	closedir(dir);
	return n;
}
