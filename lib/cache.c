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
	return entries * sizeof(struct idem_cache_entry) +
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
static uint64_t
end_of(const struct idem_digest *key)
{
	uint64_t end;

	memcpy(&end, key->at + sizeof key->at - sizeof end, sizeof end);
	return end;
}

static uint32_t *
bucket_of(const struct idem_cache *c, uint64_t end)
{
	return &c->buckets[end & (c->buckets_size - 1)];
}

static uint32_t
entry_of(const struct idem_cache *c, const struct idem_digest *key)
{
	uint64_t end = end_of(key);
	uint32_t i = *bucket_of(c, end);

	while (i != NOWHERE && c->entries[i].end != end)
		i = c->entries[i].next;
	return i;
}

/* A third of the bytes of the three, and as hard to meet by three others.
   False: the library failed. */
static bool
match_of(const struct idem_digest *key, const struct idem_digest *fingerprint,
    const struct idem_digest *guard, struct idem_digest *match)
{
	struct idem_hash h;

	idem_hash_init(&h);
	idem_hash_add(&h, key->at, sizeof key->at);
	idem_hash_add(&h, fingerprint->at, sizeof fingerprint->at);
	idem_hash_add(&h, guard->at, sizeof guard->at);
	return idem_hash_final(&h, match);
}

static void
take_from_uses(struct idem_cache *c, uint32_t entry)
{
	const struct idem_cache_entry *e = &c->entries[entry];

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
	struct idem_cache_entry *e = &c->entries[entry];

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
	struct idem_cache_entry *e = &c->entries[entry];
	uint32_t *link = bucket_of(c, e->end);
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
	const struct idem_cache_entry *e;
	struct idem_digest match;

	if (entry == NOWHERE)
		return false;
	e = &c->entries[entry];
	if (e->purges != purges || now_ms >= e->until_ms) {
		drop(c, entry);
		return false;
	}
	if (!match_of(key, fingerprint, guard, &match) ||
	    !idem_digest_equal(&e->match, &match))
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

static void
forget(struct idem_cache *c, const struct idem_digest *key)
{
	uint32_t entry = entry_of(c, key);

	if (entry != NOWHERE)
		drop(c, entry);
}

bool
idem_cache_keep(struct idem_cache *c, const struct idem_cached *new)
{
	struct idem_cache_entry *e;
	uint32_t entry, *bucket;
	struct idem_digest match;

	if (c->entries_size == 0 || new->size > c->size_max ||
	    new->size > UINT32_MAX ||
	    !match_of(&new->key, &new->fingerprint, &new->guard, &match))
		return false;
	forget(c, &new->key);
	make_room(c, new->size);
	entry = c->free != NOWHERE ? c->free : c->touched++;
	e = &c->entries[entry];
	if (entry == c->free)
		c->free = e->newer;
	*e = (struct idem_cache_entry){
		.match = match,
		.end = end_of(&new->key),
		.answer = new->answer,
		.purges = new->purges,
		.until_ms = new->until_ms,
		.size = (uint32_t)new->size,
	};
	bucket = bucket_of(c, e->end);
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
idem_cache_clear(struct idem_cache *c)
{
	while (c->oldest != NOWHERE)
		drop(c, c->oldest);
}
