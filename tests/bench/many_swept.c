/* SPDX-License-Identifier: ISC */
#include "many_keys.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * What others notice while a ledger is swept of many keys, or of long answers,
 * that are over all at once: how long one of them waits for the lock, and how
 * much longer claims take.  The sweeper is a process of its own and makes no
 * pauses, as no worker does.
 *
 *	many_swept [KEYS [FOLDER]]
 */
#define KEYS 200000
#define SHORT 300
#define LONGS 40
#define LONG (16u << 20)
#define CLAIMS 3000
#define LOOKS 1000		/* times that the lock was another's */

static char path[4200];
static struct {
	atomic_bool stop;
	atomic_llong swept, calls;
} *shared;

/* --- the sweeper ---------------------------------------------------------- */

static bool
sweep_once(struct idem_store *store)
{
	const struct idem_store_call call = {
		.op = IDEM_STORE_SWEEP,
		.max = 100,
		.deadline_ms = INT64_MAX,
	};
	struct idem_store_answer a;
	bool more;

	idem_store_wait(store, &call, &a);
	more = a.result.more;
	if (a.result.write != IDEM_WRITTEN) {
		fprintf(stderr, "many_swept: %s\n", a.error);
		_exit(111);
	}
	atomic_fetch_add(&shared->swept, a.result.count);
	atomic_fetch_add(&shared->calls, 1);
	idem_store_answer_free(&a);
	return more;
}

static pid_t
start_sweeper(void)
{
	struct idem_store *store;
	pid_t pid;

	atomic_store(&shared->stop, false);
	atomic_store(&shared->swept, 0);
	atomic_store(&shared->calls, 0);
	pid = fork();
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	store = many_keys_open(path);
	while (!atomic_load(&shared->stop) && sweep_once(store))
		;
	store->ops->close(store);
	_exit(0);
}

/* Whether there was still something to do. */
static bool
stop_sweeper(pid_t pid)
{
	bool busy = waitpid(pid, NULL, WNOHANG) == 0;

	atomic_store(&shared->stop, true);
	if (busy)
		waitpid(pid, NULL, 0);
	return busy;
}

/* --- what others notice --------------------------------------------------- */

/* From the first to the last look that met it held: what was not looked at, for
   want of a processor, does not count. */
static void
watch_lock(pid_t sweeper, struct many_keys_times *held)
{
	const struct timespec moment = { .tv_nsec = 20000 };
	char name[4300];
	int64_t since_us = 0, seen_us = 0;
	int fd;

	snprintf(name, sizeof name, "%s-lock", path);
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		exit(111);
	while (held->n < LOOKS && kill(sweeper, 0) == 0 &&
	    waitpid(sweeper, NULL, WNOHANG) == 0) {
		if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
			seen_us = many_keys_now_us();
			if (since_us == 0)
				since_us = seen_us;
		} else {
			flock(fd, LOCK_UN);
			if (since_us != 0)
				many_keys_note(held, seen_us - since_us);
			since_us = 0;
		}
		nanosleep(&moment, NULL);
	}
	close(fd);
}

static void
claim_some(struct idem_store *store, uint64_t *fresh,
    struct many_keys_times *took)
{
	int i;

	for (i = 0; i < CLAIMS; i++)
		many_keys_note(took, many_keys_claim(store, (*fresh)++,
		    IDEM_CLAIM_WON));
}

static void
print(const char *what, struct many_keys_times *t)
{
	printf("  %-32s %6zu: median %5lld us, 99 %% %6lld, most %6lld\n",
	    what, t->n, (long long)many_keys_at(t, 500),
	    (long long)many_keys_at(t, 990), (long long)many_keys_at(t, 1000));
	fflush(stdout);
}

static void
measure(const char *what, const struct many_keys_fill *fill)
{
	struct many_keys_times held = { 0 }, alone = { 0 }, beside = { 0 };
	uint64_t fresh = fill->keys;
	struct idem_store *store;
	pid_t sweeper;
	bool busy;

	many_keys_fill(path, fill);
	printf("%llu %s:\n", (unsigned long long)fill->keys, what);
	sweeper = start_sweeper();
	watch_lock(sweeper, &held);
	stop_sweeper(sweeper);
	print("the lock is another's", &held);
	many_keys_fill(path, fill);
	store = many_keys_open(path);
	claim_some(store, &fresh, &alone);
	store->ops->close(store);
	sweeper = start_sweeper();
	store = many_keys_open(path);
	claim_some(store, &fresh, &beside);
	busy = stop_sweeper(sweeper);
	store->ops->close(store);
	print("a claim, alone", &alone);
	print("a claim, beside the sweep", &beside);
	printf("  %lld calls swept %lld rows%s\n",
	    (long long)atomic_load(&shared->calls),
	    (long long)atomic_load(&shared->swept),
	    busy ? "" : ", and were done before the claims were");
	free(held.at);
	free(alone.at);
	free(beside.at);
}

int
main(int argc, char **argv)
{
	const struct many_keys_fill many = {
		.keys = argc > 1 ? strtoull(argv[1], NULL, 10) : KEYS,
		.keep_ms = -1000,
		.answer_len = SHORT,
	};
	const struct many_keys_fill longs = {
		.keys = LONGS,
		.keep_ms = -1000,
		.answer_len = LONG,
	};

	snprintf(path, sizeof path, "%s/many_swept.%ld.db",
	    argc > 2 ? argv[2] : "/tmp", (long)getpid());
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || many.keys == 0)
		return 111;
	measure("keys that are over", &many);
	measure("answers of 16 MiB that are over", &longs);
	many_keys_remove(path);
	return 0;
}
