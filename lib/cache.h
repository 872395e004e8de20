/* SPDX-License-Identifier: ISC */
#ifndef IDEM_CACHE_H
#define IDEM_CACHE_H

#include "digest.h"

/*
 * Completed answers at hand, least recently used out first.  Pure, like
 * waiters: entries hold the caller's number of an answer (a handle), never its
 * bytes, so that the simulator copies and hashes it.  Whatever leaves the
 * cache, by any way, is handed back through `dropped`, so that the caller
 * lets go of its answer.
 */
struct idem_cached {
	struct idem_digest key, fingerprint, guard;
	uint64_t answer;	/* the caller's handle */
	uint64_t size;		/* bytes it counts for */
	uint64_t purges;	/* the store's count when it was looked up */
	int64_t until_ms;
};

/*
 * One inside.  There is one of these beside each answer, so it is small: what
 * has to be equal is one digest.  An entry is found by the end of its key; one
 * of another key with that end takes its place, and is an answer less at hand,
 * never another one's.
 */
struct idem_cache_entry {
	struct idem_digest match;	/* of key, fingerprint and guard */
	uint64_t end;		/* the key's last bytes */
	uint64_t answer, purges;
	int64_t until_ms;
	uint32_t size;
	uint32_t newer, older;	/* by use; or next free */
	uint32_t next;		/* in its bucket */
};

typedef void idem_cache_dropped(void *arg, uint64_t answer);

struct idem_cache {
	struct idem_cache_entry *entries;
	uint32_t *buckets;
	uint32_t entries_size, buckets_size;
	uint32_t newest, oldest, free;
	uint32_t touched;	/* the entries from here on never were */
	uint32_t count;
	uint64_t size, size_max;	/* bytes */
	idem_cache_dropped *dropped;
	void *arg;
};

size_t idem_cache_room(uint32_t entries);
void idem_cache_init(struct idem_cache *, void *room, uint32_t entries,
    uint64_t size_max, idem_cache_dropped *, void *arg);

/*
 * The answer to a key, if fingerprint and guard match, it is younger than
 * until_ms and was looked up under the present purge count; else false.  One
 * of another purge count or too old is dropped; one that does not match is
 * left, and the arbiter decides.
 */
bool idem_cache_find(struct idem_cache *, const struct idem_digest *key,
    const struct idem_digest *fingerprint, const struct idem_digest *guard,
    uint64_t purges, int64_t now_ms, uint64_t *answer);

/*
 * Keep one, in place of an older one of the key.  False, and nothing kept or
 * dropped, when it alone is over size_max or of 4 GiB, or its digest failed.
 */
bool idem_cache_keep(struct idem_cache *, const struct idem_cached *);

/* Room for more or less from now on; what is too much leaves at once. */
void idem_cache_resize(struct idem_cache *, uint64_t size_max);

void idem_cache_clear(struct idem_cache *);

#endif
