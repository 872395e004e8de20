/* SPDX-License-Identifier: ISC */
#include "shm.h"

#include "tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define WRITERS 4
#define ENDS_A_WRITER 30000u
#define NOBODY UINT32_MAX	/* no worker's number */

/* A key all of whose words are one number: a mixture of two shows. */
static struct idem_digest
key_of(uint64_t n)
{
	struct idem_digest key;
	uint64_t words[SHM_KEY_WORDS];
	size_t i;

	for (i = 0; i < SHM_KEY_WORDS; i++)
		words[i] = (n + 1) * 0x9e3779b97f4a7c15u;
	memcpy(key.at, words, sizeof key.at);
	return key;
}

static bool
is_one_key(const struct idem_digest *key)
{
	uint64_t words[SHM_KEY_WORDS];
	size_t i;

	memcpy(words, key->at, sizeof words);
	for (i = 1; i < SHM_KEY_WORDS; i++)
		if (words[i] != words[0])
			return false;
	return true;
}

static struct shm *
must(struct shm *shm)
{
	if (shm == NULL)
		bail_out("shm_new");
	return shm;
}

/* How often it was woken, which is forgotten by looking. */
static int
woken(const struct shm *shm, uint32_t worker)
{
	uint64_t n = 0;

	return read(shm->wake[worker], &n, sizeof n) == sizeof n ? (int)n : 0;
}

/* --- slots ---------------------------------------------------------------- */

static void
test_slots(void)
{
	struct shm *shm = must(shm_new(3, 2, -1));

	is_int(shm_slot_get(shm, 7), 0, "the first slot is got");
	is_int(shm_slot_get(shm, 8), 1, "the second is got by another");
	is_int(shm_slot_get(shm, 7), 2, "the third is got");
	is_int(shm_slot_get(shm, 9), -1, "there is no fourth");
	shm_slot_put(shm, 1, 7);
	is_int(shm_slot_get(shm, 9), -1, "who does not have it cannot free it");
	is_int(woken(shm, 0) + woken(shm, 1), 0,
	    "nobody queues, none is woken");
	atomic_store(&shm->queueing[1], 1);
	shm_slot_put(shm, 1, 8);
	is_int(woken(shm, 1), 1, "a slot given back wakes who queues");
	is_int(woken(shm, 0), 0, "and nobody else");
	shm_slot_put(shm, 1, 8);
	is_int(woken(shm, 1), 0, "given back twice it wakes once");
	is_int(shm_slot_get(shm, 9), 1, "it is got again");
	shm_slots_of(shm, 7);
	is_int(shm_slot_get(shm, 9), 0, "all of a dead keeper's are free");
	is_int(shm_slot_get(shm, 9), 2, "all of them");
	is_int(shm_slot_get(shm, 9), -1, "and only those");
	shm_slot_put(shm, -1, 9);
	shm_slot_put(shm, 3, 9);
	is_int(shm_slot_get(shm, 9), -1, "a slot that is none frees none");
	shm_free(shm);
}

/* --- ends ----------------------------------------------------------------- */

static void
test_ends(void)
{
	struct shm *shm = must(shm_new(1, 3, -1));
	struct idem_digest key, put = key_of(1);
	enum idem_waited how;
	uint64_t seen = 0;

	is_int(shm_end_next(shm, &seen, &key, &how), 0, "no end, none read");
	atomic_store(&shm->waiting[0], 1);
	atomic_store(&shm->waiting[1], 1);
	shm_end_put(shm, 0, &put, IDEM_WOKEN_RELEASED);
	is_int(woken(shm, 0), 0, "an end does not wake who says it");
	is_int(woken(shm, 1), 1, "an end wakes a worker with waiters");
	is_int(woken(shm, 2), 0, "and none without");
	is_int(shm_end_next(shm, &seen, &key, &how), 1, "the end is read");
	ok(memcmp(&key, &put, sizeof key) == 0 && how == IDEM_WOKEN_RELEASED,
	    "with its key and its outcome");
	is_int(shm_end_next(shm, &seen, &key, &how), 0, "once");
	shm_wake_all(shm);
	is_int(woken(shm, 0) + woken(shm, 1) + woken(shm, 2), 3,
	    "a death wakes all");
	is_int(shm_end_next(shm, &seen, &key, &how), -1,
	    "who are told to ask about every key");
	is_int(shm_end_next(shm, &seen, &key, &how), 0, "once");
	shm_end_put(shm, 0, &put, IDEM_WOKEN_COMPLETED);
	is_int(shm_end_next(shm, &seen, &key, &how), 1, "and then go on");
	shm_free(shm);
}

static void
test_ring(void)
{
	struct shm *shm = must(shm_new(1, 1, -1));
	struct idem_digest key, put;
	enum idem_waited how;
	uint64_t seen = 0, i;
	int right = 0;

	for (i = 0; i < SHM_ENDS; i++) {
		put = key_of(i);
		shm_end_put(shm, 0, &put, IDEM_WOKEN_COMPLETED);
	}
	for (i = 0; i < SHM_ENDS; i++) {
		put = key_of(i);
		right += shm_end_next(shm, &seen, &key, &how) == 1 &&
		    memcmp(&key, &put, sizeof key) == 0;
	}
	is_int(right, SHM_ENDS, "a full ring is read in order");
	for (i = 0; i < SHM_ENDS + 1; i++)
		shm_end_put(shm, 0, &put, IDEM_WOKEN_COMPLETED);
	is_int(shm_end_next(shm, &seen, &key, &how), -1,
	    "a reader whose end was overwritten is told");
	is_int(shm_end_next(shm, &seen, &key, &how), 0,
	    "and has seen all then");
	shm_free(shm);
}

/* Its writer took a number and was killed before it wrote. */
static void
test_gap(void)
{
	struct shm *shm = must(shm_new(1, 1, -1));
	struct idem_digest key, put = key_of(1);
	enum idem_waited how;
	uint64_t seen = 0;

	atomic_fetch_add(&shm->ends, 1);
	is_int(shm_end_next(shm, &seen, &key, &how), 0,
	    "an end that is being written is not read");
	shm_end_put(shm, 0, &put, IDEM_WOKEN_COMPLETED);
	is_int(shm_end_next(shm, &seen, &key, &how), -1,
	    "nor does it stop the reader once a later one is there");
	is_int(shm_end_next(shm, &seen, &key, &how), 0, "who is then past it");
	shm_end_put(shm, 0, &put, IDEM_WOKEN_COMPLETED);
	is_int(shm_end_next(shm, &seen, &key, &how), 1, "and reads the next");
	/* Written over by one that slept for a round. */
	shm_end_put(shm, 0, &put, IDEM_WOKEN_COMPLETED);
	atomic_fetch_xor(&shm->ring[(seen + 1) % SHM_ENDS].key[2], 1);
	is_int(shm_end_next(shm, &seen, &key, &how), -1,
	    "a mixture of two ends is not given out");
	shm_free(shm);
}

/* --- threads -------------------------------------------------------------- */

struct crowd {
	struct shm *shm;
	atomic_uint running;
	atomic_uint given;	/* numbers of writers */
	uint64_t ahead_max;	/* writers wait for the reader */
	atomic_uint_fast64_t seen;
	uint64_t read, jumps, mixed;
};

static void *
writing(void *arg)
{
	struct crowd *c = arg;
	uint64_t me = atomic_fetch_add(&c->given, 1);
	struct idem_digest key;
	unsigned i;
	int slot;

	for (i = 0; i < ENDS_A_WRITER; i++) {
		while (atomic_load(&c->shm->ends) >
		    atomic_load(&c->seen) + c->ahead_max)
			sched_yield();
		key = key_of(me * ENDS_A_WRITER + i);
		shm_end_put(c->shm, NOBODY, &key, IDEM_WOKEN_COMPLETED);
		slot = shm_slot_get(c->shm, me + 1);
		shm_add(c->shm, SHM_STARTS, slot >= 0);
		shm_slot_put(c->shm, slot, me + 1);
	}
	atomic_fetch_sub(&c->running, 1);
	return NULL;
}

static void
read_all(struct crowd *c, uint64_t *seen)
{
	struct idem_digest key;
	enum idem_waited how;
	int got;

	while ((got = shm_end_next(c->shm, seen, &key, &how)) != 0) {
		c->read += got == 1;
		c->jumps += got == -1;
		c->mixed += got == 1 && (!is_one_key(&key) ||
		    how != IDEM_WOKEN_COMPLETED);
		atomic_store(&c->seen, *seen);
	}
}

static void
test_threads(uint64_t ahead_max, bool jumps)
{
	struct crowd c = {
		.shm = must(shm_new(2, 1, -1)), .ahead_max = ahead_max
	};
	pthread_t threads[WRITERS];
	uint64_t seen = 0;
	int i;

	atomic_store(&c.running, WRITERS);
	for (i = 0; i < WRITERS; i++)
		if (pthread_create(&threads[i], NULL, writing, &c) != 0)
			bail_out("pthread_create");
	while (atomic_load(&c.running) > 0)
		read_all(&c, &seen);
	for (i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	read_all(&c, &seen);
	is_int((long long)c.mixed, 0, "no reader meets half an end");
	is_int((long long)seen, (long long)atomic_load(&c.shm->ends),
	    "and all of them reach the last");
	ok(jumps || c.read > WRITERS * ENDS_A_WRITER / 2,
	    "having read most of them if the writers waited");
	is_int(shm_slot_get(c.shm, 99) + shm_slot_get(c.shm, 99), 1,
	    "and both slots are free again");
	note("%llu read, %llu jumps, %llu starts", (unsigned long long)c.read,
	    (unsigned long long)c.jumps,
	    (unsigned long long)shm_count(c.shm, SHM_STARTS));
	shm_free(c.shm);
}

/* --- what workers find away ----------------------------------------------- */

static void
test_away(void)
{
	struct shm *shm = must(shm_new(1, SHM_WORKERS_MAX, -1));
	const uint32_t last = SHM_WORKERS_MAX - 1;

	is_int((int)shm_away(shm), 0, "at first nothing is away");
	ok(shm_away_set(shm, 3, SHM_AWAY_CACHE, true),
	    "the first who finds it away changes it for all");
	ok(!shm_away_set(shm, 3, SHM_AWAY_CACHE, true), "once");
	ok(!shm_away_set(shm, last, SHM_AWAY_CACHE, true),
	    "the second does not");
	ok(shm_away_set(shm, last, SHM_AWAY_SHARED, true),
	    "another thing is another matter");
	is_int((int)shm_away(shm), SHM_AWAY_CACHE | SHM_AWAY_SHARED,
	    "both are away");
	ok(!shm_away_set(shm, 3, SHM_AWAY_CACHE, false),
	    "while one finds it away it is");
	ok(!shm_away_set(shm, 4, SHM_AWAY_CACHE, false),
	    "who never found it so changes nothing");
	is_int((int)shm_away_clear(shm, 3), 0,
	    "nor does the death of one that found it back");
	is_int((int)shm_away_clear(shm, last), SHM_AWAY_CACHE | SHM_AWAY_SHARED,
	    "the death of the last that found it so changes it for all");
	is_int((int)shm_away(shm), 0, "and nothing is away");
	ok(!shm_away_set(shm, 0, 8, true) && !shm_away_set(shm, 0, 3, true),
	    "what is not one of these bits is not noted");
	shm_free(shm);
}

static void
test_fallback(void)
{
	struct shm *shm = must(shm_new(1, 1, -1));

	shm_fallback_until(shm, 2000);
	shm_fallback_until(shm, 1000);
	is_int((long long)atomic_load(&shm->fallback_until_ms), 2000,
	    "what was said of the fallback is not taken back");
	shm_fallback_until(shm, 3000);
	is_int((long long)atomic_load(&shm->fallback_until_ms), 3000,
	    "but goes on for longer");
	shm_free(shm);
}

#define SWITCHES 100000u

struct finders {
	struct shm *shm;
	atomic_uint given, away, back;
	atomic_uint wrong;
};

static void *
finding(void *arg)
{
	struct finders *f = arg;
	uint32_t me = atomic_fetch_add(&f->given, 1);
	unsigned i;

	while (atomic_load(&f->given) < WRITERS)
		sched_yield();
	for (i = 0; i < SWITCHES; i++) {
		if (shm_away_set(f->shm, me, SHM_AWAY_SHARED, true))
			atomic_fetch_add(&f->away, 1);
		if (shm_away(f->shm) != SHM_AWAY_SHARED)
			atomic_fetch_add(&f->wrong, 1);
		if (i % 128 == me)	/* others meet it away */
			sched_yield();
		if (shm_away_set(f->shm, me, SHM_AWAY_SHARED, false))
			atomic_fetch_add(&f->back, 1);
	}
	return NULL;
}

/* Who changes the whole is told, and nobody else, whoever else is at it. */
static void
test_finders(void)
{
	struct finders f = { .shm = must(shm_new(1, WRITERS, -1)) };
	pthread_t threads[WRITERS];
	int i;

	for (i = 0; i < WRITERS; i++)
		if (pthread_create(&threads[i], NULL, finding, &f) != 0)
			bail_out("pthread_create");
	for (i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	is_int(atomic_load(&f.wrong), 0,
	    "what one finds away is away for all, whatever others find");
	ok(atomic_load(&f.away) > 0, "it was away %u times",
	    atomic_load(&f.away));
	is_int(atomic_load(&f.away), atomic_load(&f.back),
	    "and came back as often");
	is_int((int)shm_away(f.shm), 0, "in the end it is back");
	shm_free(f.shm);
}

/* --- killed writers ------------------------------------------------------- */

static pid_t
writer_process(struct shm *shm, uint64_t keeper)
{
	pid_t pid = fork();
	struct idem_digest key = key_of(keeper);
	int slot;

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);	/* or it would run for ever */
	for (;;) {
		slot = shm_slot_get(shm, keeper);
		shm_end_put(shm, NOBODY, &key, IDEM_WOKEN_COMPLETED);
		shm_slot_put(shm, slot, keeper);
	}
}

static void
test_killed(void)
{
	struct crowd c = { .shm = must(shm_new(4, 1, -1)) };
	uint64_t seen = 0, before, keeper = 0;
	pid_t pids[WRITERS];
	int round, i, free_slots = 0, moved = 0;

	for (round = 0; round < 25; round++) {
		before = c.read + c.jumps;
		for (i = 0; i < WRITERS; i++)
			pids[i] = writer_process(c.shm, ++keeper);
		for (i = 0; i < 300; i++)
			read_all(&c, &seen);
		for (i = 0; i < WRITERS; i++) {
			kill(pids[i], SIGKILL);
			waitpid(pids[i], NULL, 0);
			shm_slots_of(c.shm, keeper - WRITERS + 1 +
			    (uint64_t)i);
		}
		shm_wake_all(c.shm);
		read_all(&c, &seen);
		moved += c.read + c.jumps > before;
	}
	is_int(moved, round, "readers go on after writers were killed");
	is_int((long long)seen, (long long)atomic_load(&c.shm->ends),
	    "to the last end");
	is_int((long long)c.mixed, 0, "and never meet half an end");
	while (shm_slot_get(c.shm, 1) >= 0)
		free_slots++;
	is_int(free_slots, 4, "no slot stays with the dead");
	note("%llu read, %llu jumps", (unsigned long long)c.read,
	    (unsigned long long)c.jumps);
	shm_free(c.shm);
}

/* --- counters ------------------------------------------------------------- */

static void
test_texts(void)
{
	unsigned i, k, named = 0, twice = 0;

	for (i = 0; i < SHM_COUNTS; i++) {
		named += shm_count_text((enum shm_count)i) != NULL &&
		    shm_count_text((enum shm_count)i)[0] != '\0';
		for (k = 0; k < i; k++)
			twice += strcmp(shm_count_text((enum shm_count)i),
			    shm_count_text((enum shm_count)k)) == 0;
	}
	is_int(named, SHM_COUNTS, "every counter has a name");
	is_int(twice, 0, "of its own");
}

static int
count_files(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *e;
	int n = 0;

	while (dir != NULL && (e = readdir(dir)) != NULL)
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

/* Another instance, with three requests; it lives until it is killed. */
static pid_t
instance(int folder)
{
	struct shm *shm;
	int ends[2];
	char byte = 0;
	pid_t pid;

	if (pipe(ends) != 0)
		bail_out("pipe");
	pid = fork();
	if (pid == 0) {
		shm = shm_new(1, 1, folder);
		if (shm != NULL)
			shm_add(shm, SHM_REQUESTS, 3);
		if (write(ends[1], &byte, 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	if (read(ends[0], &byte, 1) != 1)
		bail_out("the instance does not answer");
	close(ends[0]);
	close(ends[1]);
	return pid;
}

static void
test_stats(void)
{
	char path[] = "/tmp/t_shm.XXXXXX";
	uint64_t counts[SHM_COUNTS];
	struct shm *shm, *second;
	pid_t other;
	int folder;

	if (mkdtemp(path) == NULL)
		bail_out("mkdtemp");
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	is_int(shm_stats(folder, counts), 0, "no instance, none counted");
	shm = must(shm_new(1, 1, folder));
	is_int(shm_stats(folder, counts), 1, "an instance is found");
	shm_add(shm, SHM_REQUESTS, 4);
	shm_add(shm, SHM_STORE_ERRORS, 1);
	second = must(shm_new(1, 1, folder));
	shm_add(second, SHM_REQUESTS, 10);
	is_int(shm_stats(folder, counts), 2,
	    "two of one process number are told apart");
	shm_free(second);
	other = instance(folder);
	is_int(shm_stats(folder, counts), 2, "both instances are found");
	is_int((long long)counts[SHM_REQUESTS], 7, "their counters are summed");
	is_int((long long)counts[SHM_STORE_ERRORS], 1, "each by itself");
	close(openat(folder, "unrelated", O_CREAT | O_WRONLY, 0600));
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	is_int(shm_stats(folder, counts), 1, "a dead one is not counted");
	is_int((long long)counts[SHM_REQUESTS], 4, "nor are its counters");
	is_int(count_files(path), 2, "and only its file is taken away");
	shm_free(shm);
	is_int(count_files(path), 1, "freed, an instance takes its own away");
	unlinkat(folder, "unrelated", 0);
	close(folder);
	rmdir(path);
}

int
main(void)
{
	test_slots();
	test_ends();
	test_ring();
	test_gap();
	test_threads(SHM_ENDS / 2, false);
	test_threads(UINT32_MAX, true);
	test_away();
	test_fallback();
	test_finders();
	test_killed();
	test_texts();
	test_stats();
	return done();
}
