/* SPDX-License-Identifier: ISC */
#include "shm.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

/* Between processes only what needs no lock works: a lock's owner may die. */
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "64-bit atomics take a lock");
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "32-bit atomics take a lock");
_Static_assert((SHM_ENDS & (SHM_ENDS - 1)) == 0, "a power of two");

/* --- waking --------------------------------------------------------------- */

static void
wake(const struct shm *shm, uint32_t worker)
{
	uint64_t one = 1;
	ssize_t wrote = write(shm->wake[worker], &one, sizeof one);

	/* Refused only when it is awake already. */
	(void)wrote;
}

static void
wake_queueing(struct shm *shm)
{
	uint32_t i;

	/* All: the one that were chosen might have died with its place. */
	for (i = 0; i < shm->workers; i++)
		if (atomic_load(&shm->queueing[i]) > 0)
			wake(shm, i);
}

/* --- slots ---------------------------------------------------------------- */

int
shm_slot_get(struct shm *shm, uint64_t keeper)
{
	uint_fast64_t none;
	uint32_t i;

	assert(keeper != 0);
	for (i = 0; i < shm->slots; i++) {
		none = 0;
		if (atomic_compare_exchange_strong(&shm->slot[i], &none,
		    keeper))
			return (int)i;
	}
	return -1;
}

void
shm_slot_put(struct shm *shm, int slot, uint64_t keeper)
{
	uint_fast64_t held = keeper;

	if (slot < 0 || (uint32_t)slot >= shm->slots)
		return;
	if (atomic_compare_exchange_strong(&shm->slot[slot], &held, 0))
		wake_queueing(shm);
}

void
shm_slots_of(struct shm *shm, uint64_t keeper)
{
	uint32_t i;

	for (i = 0; i < shm->slots; i++)
		shm_slot_put(shm, (int)i, keeper);
}

/* --- ends ----------------------------------------------------------------- */

/*
 * The ring has no lock, so a writer that sleeps for a whole round may write
 * into what is another's by then.  A sum over sequence and contents shows it:
 * keys are digests, so that a mixture has the sum of neither.
 */
static uint64_t
check_of(uint64_t sequence, const uint64_t key[SHM_KEY_WORDS], uint64_t how)
{
	uint64_t sum = sequence * 0x9e3779b97f4a7c15u + how;
	size_t i;

	for (i = 0; i < SHM_KEY_WORDS; i++)
		sum = (sum << 7 | sum >> 57) ^ key[i];
	return sum;
}

static void
write_end(struct shm_end *end, uint64_t sequence,
    const struct idem_digest *digest, uint64_t how)
{
	uint64_t key[SHM_KEY_WORDS];
	size_t i;

	memcpy(key, digest->at, sizeof key);
	atomic_store(&end->sequence, 0);
	for (i = 0; i < SHM_KEY_WORDS; i++)
		atomic_store_explicit(&end->key[i], key[i],
		    memory_order_relaxed);
	atomic_store_explicit(&end->how, how, memory_order_relaxed);
	atomic_store_explicit(&end->check, check_of(sequence, key, how),
	    memory_order_relaxed);
	atomic_store(&end->sequence, sequence);
}

enum end_state { END_WHOLE, END_UNFINISHED, END_OVERWRITTEN };

static enum end_state
read_end(struct shm_end *end, uint64_t sequence, struct idem_digest *digest,
    enum idem_waited *waited)
{
	uint64_t key[SHM_KEY_WORDS], how, check, now;
	size_t i;

	now = atomic_load(&end->sequence);
	if (now != sequence)
		return now > sequence ? END_OVERWRITTEN : END_UNFINISHED;
	for (i = 0; i < SHM_KEY_WORDS; i++)
		key[i] = atomic_load_explicit(&end->key[i],
		    memory_order_relaxed);
	how = atomic_load_explicit(&end->how, memory_order_relaxed);
	check = atomic_load_explicit(&end->check, memory_order_relaxed);
	if (check != check_of(sequence, key, how))
		return END_OVERWRITTEN;
	memcpy(digest->at, key, sizeof key);
	*waited = (enum idem_waited)how;
	return END_WHOLE;
}

static bool
any_whole(struct shm *shm, uint64_t after, uint64_t last)
{
	struct idem_digest key;
	enum idem_waited how;

	while (last > after) {
		if (read_end(&shm->ring[last % SHM_ENDS], last, &key, &how) !=
		    END_UNFINISHED)
			return true;
		last--;
	}
	return false;
}

void
shm_wake_all(struct shm *shm)
{
	uint32_t i;

	/* A whole round skipped: to every reader, ends that it has missed. */
	atomic_fetch_add(&shm->ends, SHM_ENDS + 1);
	for (i = 0; i < shm->workers; i++)
		wake(shm, i);
}

void
shm_end_put(struct shm *shm, uint32_t from, const struct idem_digest *key,
    enum idem_waited how)
{
	uint64_t sequence = atomic_fetch_add(&shm->ends, 1) + 1;
	uint32_t i;

	write_end(&shm->ring[sequence % SHM_ENDS], sequence, key,
	    (uint64_t)how);
	for (i = 0; i < shm->workers; i++)
		if (i != from && atomic_load(&shm->waiting[i]) > 0)
			wake(shm, i);
	/* We slept for a round, and may have spoilt the end that is there. */
	if (atomic_load(&shm->ends) - sequence >= SHM_ENDS)
		shm_wake_all(shm);
}

int
shm_end_next(struct shm *shm, uint64_t *seen, struct idem_digest *key,
    enum idem_waited *how)
{
	uint64_t last = atomic_load(&shm->ends), next = *seen + 1;

	if (last < next)
		return 0;
	if (last - *seen <= SHM_ENDS) {
		switch (read_end(&shm->ring[next % SHM_ENDS], next, key, how)) {
		case END_WHOLE:
			*seen = next;
			return 1;
		case END_UNFINISHED:
			/*
			 * Its writer is at it and will wake us, or is dead:
			 * then a later one shows that we need not wait.
			 */
			if (!any_whole(shm, next, last))
				return 0;
			break;
		case END_OVERWRITTEN:
			break;
		}
	}
	*seen = last;
	return -1;
}

/* --- outages -------------------------------------------------------------- */

/* All workers in one word, so that of two at once one is the first. */
_Static_assert(SHM_WORKERS_MAX <= 64, "a bit a worker");

static bool
finds(struct shm *shm, unsigned which, uint32_t worker, bool away)
{
	uint_fast64_t own = (uint_fast64_t)1 << worker;

	if (away)
		return atomic_fetch_or(&shm->away[which], own) == 0;
	return atomic_fetch_and(&shm->away[which], ~own) == own;
}

bool
shm_away_set(struct shm *shm, uint32_t worker, unsigned bit, bool away)
{
	unsigned i;

	for (i = 0; i < SHM_AWAYS; i++)
		if (bit == 1u << i)
			return finds(shm, i, worker, away);
	return false;
}

unsigned
shm_away(const struct shm *shm)
{
	unsigned i, away = 0;

	for (i = 0; i < SHM_AWAYS; i++)
		if (atomic_load(&shm->away[i]) != 0)
			away |= 1u << i;
	return away;
}

unsigned
shm_away_clear(struct shm *shm, uint32_t worker)
{
	unsigned i, changed = 0;

	for (i = 0; i < SHM_AWAYS; i++)
		if (finds(shm, i, worker, false))
			changed |= 1u << i;
	return changed;
}

void
shm_fallback_until(struct shm *shm, int64_t wall_ms)
{
	int_fast64_t until = atomic_load(&shm->fallback_until_ms);

	while (until < wall_ms && !atomic_compare_exchange_weak(
	    &shm->fallback_until_ms, &until, wall_ms))
		;
}

/* --- making --------------------------------------------------------------- */

static int
make_wake(int *fd)
{
	*fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return *fd < 0 ? -1 : 0;
}

static int
make_wakes(struct shm *shm)
{
	uint32_t i;

	for (i = 0; i < shm->workers; i++)
		if (make_wake(&shm->wake[i]) == -1)
			return -1;
	return make_wake(&shm->wake_master);
}

void
shm_free(struct shm *shm)
{
	uint32_t i;

	if (shm == NULL)
		return;
	for (i = 0; i < SHM_WORKERS_MAX; i++)
		if (shm->wake[i] >= 0)
			close(shm->wake[i]);
	if (shm->wake_master >= 0)
		close(shm->wake_master);
	shm_page_drop(shm);
	munmap(shm, sizeof *shm);
}

struct shm *
shm_new(uint32_t slots, uint32_t workers, int folder)
{
	struct shm *shm;
	uint32_t i;
	int saved;

	assert(slots <= SHM_SLOTS_MAX && workers <= SHM_WORKERS_MAX);
	shm = mmap(NULL, sizeof *shm, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shm == MAP_FAILED)
		return NULL;
	shm->slots = slots;
	shm->workers = workers;
	/* 0 in a slot is nobody: a keeper of that number had all it wants. */
	atomic_init(&shm->next_keeper, 1);
	shm->page_folder = folder;
	shm->page_file = -1;
	for (i = 0; i < SHM_WORKERS_MAX; i++)
		shm->wake[i] = -1;
	shm->wake_master = -1;
	if (shm_page_make(shm) == 0 && make_wakes(shm) == 0)
		return shm;
	saved = errno;
	shm_free(shm);
	errno = saved;
	return NULL;
}
