/* SPDX-License-Identifier: ISC */
#include "cache.h"

#include "chance.h"
#include "tap.h"
#include "token.h"

#include <stdlib.h>
#include <string.h>

#define SEED 20240229u
#define KEYS 40
#define ENTRIES 16
#define SIZE_MAX_ALL 100
#define STEPS 200000

static uint32_t chance = SEED;

/* Four keys a bucket, so that chains are tried, too. */
static struct idem_digest
digest(uint32_t n)
{
	struct idem_digest d = { { 0 } };
	uint32_t quarter = n / 4;

	memcpy(d.at + 24, &quarter, sizeof quarter);
	memcpy(d.at + 28, &n, sizeof n);
	return d;
}

/* What was dropped: the sum of handles, and how many. */
struct dropped {
	uint64_t sum;
	uint32_t count;
};

static void
on_dropped(void *arg, uint64_t answer)
{
	struct dropped *d = arg;

	d->sum += answer;
	d->count++;
}

static bool
keep(struct idem_cache *c, uint32_t key, uint64_t answer, uint64_t size,
    uint64_t purges, int64_t until_ms)
{
	struct idem_cached e = { .key = digest(key), .fingerprint = digest(1),
		.guard = digest(2), .answer = answer, .size = size,
		.purges = purges, .until_ms = until_ms };

	return idem_cache_keep(c, &e);
}

/* The handle, or 0. */
static uint64_t
find(struct idem_cache *c, uint32_t key, uint64_t purges, int64_t now_ms)
{
	struct idem_digest k = digest(key), f = digest(1), g = digest(2);
	uint64_t answer = 0;

	return idem_cache_find(c, &k, &f, &g, purges, now_ms, &answer)
	    ? answer : 0;
}

static void
test_rules(void)
{
	struct idem_digest k = digest(7), f = digest(1), g = digest(2);
	struct dropped d = { 0, 0 };
	struct idem_cache c;
	void *room = malloc(idem_cache_room(3));
	uint64_t answer = 0;

	idem_cache_init(&c, room, 3, 100, on_dropped, &d);
	is_int((long long)find(&c, 7, 0, 0), 0, "nothing is there at first");
	ok(keep(&c, 7, 70, 10, 5, 1000), "an answer is kept");
	is_int((long long)find(&c, 7, 5, 999), 70, "it is found");
	ok(!idem_cache_find(&c, &k, &g, &g, 5, 0, &answer),
	    "another fingerprint does not find it");
	ok(!idem_cache_find(&c, &k, &f, &f, 5, 0, &answer),
	    "another guard does not find it");
	ok(!idem_cache_find(&c, &k, &g, &f, 5, 0, &answer),
	    "nor do the two in each other's place");
	ok(answer == 0 && d.count == 0, "and leaves it there");
	is_int((long long)find(&c, 7, 5, 1000), 0, "at its age it is too old");
	is_int((long long)d.sum, 70, "and dropped");
	keep(&c, 7, 71, 10, 5, 1000);
	is_int((long long)find(&c, 7, 6, 0), 0,
	    "after a purge it is not believed");
	is_int((long long)d.sum, 70 + 71, "and dropped, too");
	keep(&c, 7, 72, 10, 5, 1000);
	ok(keep(&c, 7, 73, 20, 5, 1000), "an answer replaces an older one");
	is_int((long long)d.sum, 70 + 71 + 72, "which is dropped");
	is_int((long long)c.size, 20, "and does not count any more");
	ok(!keep(&c, 7, 74, 101, 5, 1000), "one too large is not kept");
	is_int((long long)find(&c, 7, 5, 0), 73, "and replaces nothing");
	ok(keep(&c, 8, 80, 80, 5, 1000), "the size may be used up");
	find(&c, 7, 5, 0);
	keep(&c, 9, 90, 1, 5, 1000);
	ok(find(&c, 8, 5, 0) == 0 && find(&c, 7, 5, 0) == 73,
	    "then the least recently used goes first");
	keep(&c, 10, 100, 1, 5, 1000);
	keep(&c, 11, 110, 1, 5, 1000);
	ok(c.count == 3 && find(&c, 9, 5, 0) == 0,
	    "so it does where the entries are used up");
	keep(&c, 12, 120, 100, 5, 1000);
	ok(c.count == 1 && find(&c, 12, 5, 0) == 120,
	    "one as large as all drives out all");
	idem_cache_clear(&c);
	ok(c.count == 0 && c.size == 0, "what is cleared is not there");
	keep(&c, 1, 1, 0, 0, 1000);
	keep(&c, 2, 2, 0, 0, 1000);
	d = (struct dropped){ 0, 0 };
	idem_cache_clear(&c);
	ok(c.count == 0 && d.count == 2 && d.sum == 3,
	    "a cache that is cleared hands all back");
	free(room);
}

/* Two keys that end in the same bytes, which nobody will see. */
static void
test_same_end(void)
{
	struct idem_cached one = { .key = digest(7), .answer = 70, .size = 1,
		.until_ms = 1000 };
	struct idem_cached other = one;
	struct dropped d = { 0, 0 };
	struct idem_cache c;
	void *room = malloc(idem_cache_room(3));
	uint64_t answer = 0;

	other.key.at[0] = 1;
	other.answer = 80;
	idem_cache_init(&c, room, 3, 100, on_dropped, &d);
	idem_cache_keep(&c, &one);
	ok(!idem_cache_find(&c, &other.key, &one.fingerprint, &one.guard, 0, 0,
	    &answer) && d.count == 0,
	    "a key that ends as another one does not find its answer");
	ok(idem_cache_keep(&c, &other) && d.sum == 70 && c.count == 1,
	    "it takes its place");
	ok(idem_cache_find(&c, &other.key, &one.fingerprint, &one.guard, 0, 0,
	    &answer) && answer == 80, "and has its own");
	ok(!idem_cache_find(&c, &one.key, &one.fingerprint, &one.guard, 0, 0,
	    &answer), "which the other one does not find");
	free(room);
}

static void
test_huge(void)
{
	const uint64_t most = UINT32_MAX;
	struct dropped d = { 0, 0 };
	struct idem_cache c;
	void *room = malloc(idem_cache_room(3));

	idem_cache_init(&c, room, 3, UINT64_MAX, on_dropped, &d);
	ok(keep(&c, 1, 10, most, 0, 1000) && keep(&c, 2, 20, most, 0, 1000) &&
	    c.size == 2 * most, "sizes just below 4 GiB add up");
	ok(!keep(&c, 1, 11, most + 1, 0, 1000) && find(&c, 1, 0, 0) == 10,
	    "one of 4 GiB is not kept, and replaces nothing");
	idem_cache_clear(&c);
	ok(c.size == 0 && d.count == 2, "and nothing of them is left");
	free(room);
}

static void
test_none(void)
{
	struct dropped d = { 0, 0 };
	struct idem_cache c;
	void *room = malloc(idem_cache_room(0));

	idem_cache_init(&c, room, 0, 100, on_dropped, &d);
	ok(!keep(&c, 1, 1, 1, 0, 1000) && find(&c, 1, 0, 0) == 0,
	    "a cache without entries keeps nothing");
	idem_cache_clear(&c);
	is_int(d.count, 0, "and drops nothing");
	free(room);
}

/* --- against a naive array, the most recently used first ------------------ */

static struct model_entry {
	uint32_t key;
	uint64_t answer, size, purges;
	int64_t until_ms;
} model[ENTRIES];
static uint32_t model_count;
static struct dropped model_dropped;

static void
model_remove(uint32_t at, bool dropped)
{
	if (dropped)
		on_dropped(&model_dropped, model[at].answer);
	memmove(&model[at], &model[at + 1],
	    (model_count - at - 1) * sizeof *model);
	model_count--;
}

static uint32_t
model_at(uint32_t key)
{
	uint32_t i;

	for (i = 0; i < model_count && model[i].key != key; i++)
		;
	return i;
}

static void
model_first(struct model_entry e)
{
	memmove(&model[1], &model[0], model_count * sizeof *model);
	model[0] = e;
	model_count++;
}

static uint64_t
model_size(void)
{
	uint64_t size = 0;
	uint32_t i;

	for (i = 0; i < model_count; i++)
		size += model[i].size;
	return size;
}

static bool
model_keep(struct model_entry e)
{
	if (e.size > SIZE_MAX_ALL)
		return false;
	if (model_at(e.key) < model_count)
		model_remove(model_at(e.key), true);
	while (model_count == ENTRIES || model_size() + e.size > SIZE_MAX_ALL)
		model_remove(model_count - 1, true);
	model_first(e);
	return true;
}

static uint64_t
model_find(uint32_t key, uint64_t purges, int64_t now_ms)
{
	uint32_t at = model_at(key);
	struct model_entry e;

	if (at == model_count)
		return 0;
	e = model[at];
	if (e.purges != purges || e.until_ms <= now_ms) {
		model_remove(at, true);
		return 0;
	}
	model_remove(at, false);
	model_first(e);
	return e.answer;
}

static bool
try_one(struct idem_cache *c, uint32_t n, uint64_t purges)
{
	struct model_entry e = {
		.key = chance_below(&chance, KEYS), .answer = n + 1,
		.size = chance_below(&chance,
		    chance_below(&chance, 50) == 0 ? 150 : 20),
		.purges = purges, .until_ms = n + chance_below(&chance, 300)
	};
	uint32_t what = chance_below(&chance, 2000);

	if (what < 1000)
		return find(c, e.key, purges, n) ==
		    model_find(e.key, purges, n);
	if (what < 1999)
		return keep(c, e.key, e.answer, e.size, purges, e.until_ms) ==
		    model_keep(e);
	idem_cache_clear(c);
	while (model_count > 0)
		model_remove(model_count - 1, true);
	return true;
}

static void
test_random(void)
{
	struct dropped d = { 0, 0 };
	uint64_t purges = 0;
	struct idem_cache c;
	void *room = malloc(idem_cache_room(ENTRIES));
	bool right = true;
	uint32_t i;

	note("seed %u", SEED);
	idem_cache_init(&c, room, ENTRIES, SIZE_MAX_ALL, on_dropped, &d);
	for (i = 0; i < STEPS && right; i++) {
		purges += chance_below(&chance, 500) == 0;
		right = try_one(&c, i, purges) && c.count == model_count &&
		    c.size == model_size() && d.sum == model_dropped.sum &&
		    d.count == model_dropped.count;
	}
	is_int(i, STEPS, "200,000 random steps agree with a naive array");
	note("%u answers were dropped", d.count);
	free(room);
}

/* --- where it stands ------------------------------------------------------ */

#define TOKENS 1024

static uint32_t
longest_chain(const struct idem_cache *c)
{
	uint32_t longest = 0, len, i, entry;

	for (i = 0; i < c->buckets_size; i++) {
		len = 0;
		for (entry = c->buckets[i]; entry != UINT32_MAX;
		    entry = c->entries[entry].next)
			len++;
		if (len > longest)
			longest = len;
	}
	return longest;
}

/* All of them begin with the time when they were made. */
static void
test_tokens(void)
{
	struct idem_token token = { .minted_ms = 1700000000000 };
	struct dropped d = { 0, 0 };
	struct idem_cached e = { .answer = 1, .size = 1, .until_ms = 100 };
	struct idem_cache c;
	void *room = malloc(idem_cache_room(TOKENS));
	uint32_t i;

	idem_cache_init(&c, room, TOKENS, TOKENS, on_dropped, &d);
	for (i = 0; i < TOKENS; i++) {
		memcpy(token.random, &i, sizeof i);
		if (!idem_token_store_key(&token, &e.key) ||
		    !idem_cache_keep(&c, &e))
			break;
	}
	is_int(c.count, TOKENS, "tokens of one moment are kept");
	ok(longest_chain(&c) <= 16, "and none is behind many others: %u",
	    longest_chain(&c));
	idem_cache_clear(&c);
	free(room);
}

int
main(void)
{
	test_rules();
	test_same_end();
	test_huge();
	test_none();
	test_random();
	test_tokens();
	note("an entry is %zu bytes", sizeof(struct idem_cache_entry));
	return done();
}
