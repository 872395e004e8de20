/* SPDX-License-Identifier: ISC */
#include "cache.h"

#include <string.h>

#define NOWHERE UINT32_MAX

static uint32_t
buckets_for(uint32_t entries)
{
	uint32_t n = 1;

	while (n < entries && n < UINT32_C(1) << 31)
		n *= 2;
	return n;
}

size_t
idem_cache_room(uint32_t entries)
{
	return entries * sizeof(struct idem_cached) +
	    buckets_for(entries) * sizeof(uint32_t);
}

void
idem_cache_init(struct idem_cache *c, void *room, uint32_t entries,
    uint64_t size_max, idem_cache_dropped *dropped, void *arg)
{
	uint32_t i;

	memset(c, 0, sizeof *c);
	c->entries = room;
	c->buckets = (void *)(c->entries + entries);
	c->entries_size = entries;
	c->buckets_size = buckets_for(entries);
	for (i = 0; i < c->buckets_size; i++)
		c->buckets[i] = NOWHERE;
	c->newest = c->oldest = NOWHERE;
	c->free = NOWHERE;
	c->size_max = size_max;
	c->dropped = dropped;
	c->arg = arg;
}

/*
 * A store key ends in a digest, whose bits are as good as a hash.  That of a
 * token begins with the time of its making (token.h).
 */
static uint32_t *
bucket_of(const struct idem_cache *c, const struct idem_digest *key)
{
	uint32_t hash;

	memcpy(&hash, key->at + sizeof key->at - sizeof hash, sizeof hash);
	return &c->buckets[hash & (c->buckets_size - 1)];
}

static uint32_t
entry_of(const struct idem_cache *c, const struct idem_digest *key)
{
	uint32_t i = *bucket_of(c, key);

	while (i != NOWHERE && !idem_digest_equal(&c->entries[i].key, key))
		i = c->entries[i].next;
	return i;
}

static void
take_from_uses(struct idem_cache *c, uint32_t entry)
{
	const struct idem_cached *e = &c->entries[entry];

	if (e->newer == NOWHERE)
		c->newest = e->older;
	else
		c->entries[e->newer].older = e->older;
	if (e->older == NOWHERE)
		c->oldest = e->newer;
	else
		c->entries[e->older].newer = e->newer;
}

static void
make_newest(struct idem_cache *c, uint32_t entry)
{
	struct idem_cached *e = &c->entries[entry];

	e->newer = NOWHERE;
	e->older = c->newest;
	if (c->newest == NOWHERE)
		c->oldest = entry;
	else
		c->entries[c->newest].newer = entry;
	c->newest = entry;
}

static void
drop(struct idem_cache *c, uint32_t entry)
{
	struct idem_cached *e = &c->entries[entry];
	uint32_t *link = bucket_of(c, &e->key);
	uint64_t answer = e->answer;

	while (*link != entry)
		link = &c->entries[*link].next;
	*link = e->next;
	take_from_uses(c, entry);
	c->size -= e->size;
	c->count--;
	memset(e, 0, sizeof *e);
	e->newer = c->free;
	c->free = entry;
	/* Last, when the cache is whole again: it is the caller's code. */
	c->dropped(c->arg, answer);
}

bool
idem_cache_find(struct idem_cache *c, const struct idem_digest *key,
    const struct idem_digest *fingerprint, const struct idem_digest *guard,
    uint64_t purges, int64_t now_ms, uint64_t *answer)
{
	uint32_t entry = entry_of(c, key);
	const struct idem_cached *e;

	if (entry == NOWHERE)
		return false;
	e = &c->entries[entry];
	if (e->purges != purges || now_ms >= e->until_ms) {
		drop(c, entry);
		return false;
	}
	if (!idem_digest_equal(&e->fingerprint, fingerprint) ||
	    !idem_digest_equal(&e->guard, guard))
		return false;
	take_from_uses(c, entry);
	make_newest(c, entry);
	*answer = e->answer;
	return true;
}

static void
make_room(struct idem_cache *c, uint64_t size)
{
	while ((c->free == NOWHERE && c->touched == c->entries_size) ||
	    c->size > c->size_max - size)
		drop(c, c->oldest);
}

bool
idem_cache_keep(struct idem_cache *c, const struct idem_cached *new)
{
	uint32_t entry, *bucket;
	struct idem_cached *e;

	if (c->entries_size == 0 || new->size > c->size_max)
		return false;
	idem_cache_forget(c, &new->key);
	make_room(c, new->size);
	entry = c->free != NOWHERE ? c->free : c->touched++;
	e = &c->entries[entry];
	if (entry == c->free)
		c->free = e->newer;
	bucket = bucket_of(c, &new->key);
	*e = *new;
	e->used = true;
	e->next = *bucket;
	*bucket = entry;
	make_newest(c, entry);
	c->size += e->size;
	c->count++;
	return true;
}

void
idem_cache_resize(struct idem_cache *c, uint64_t size_max)
{
	c->size_max = size_max;
	while (c->size > size_max)
		drop(c, c->oldest);
}

void
idem_cache_forget(struct idem_cache *c, const struct idem_digest *key)
{
	uint32_t entry = entry_of(c, key);

	if (entry != NOWHERE)
		drop(c, entry);
}

void
idem_cache_clear(struct idem_cache *c)
{
	while (c->oldest != NOWHERE)
		drop(c, c->oldest);
}
