/* SPDX-License-Identifier: ISC */
#include "many_keys.h"

#include <fcntl.h>
#include <poll.h>
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
 * that are over all at once: how long the lock is another's, and what a claim
 * costs alone, beside a sweeper, and right behind a sweep in its own store.
 * The three kinds of claims take turns, so that whatever else the machine does
 * is shared out evenly.  The sweeper is a process of its own and makes no
 * pauses, as no worker does.
 *
 *	many_swept [KEYS [FOLDER]]
 */
#define KEYS 200000
#define SHORT 300
#define LONGS 40
#define LONG (16u << 20)
#define CLAIMS 1000		/* of each kind; of a million keys ten times */
#define LONG_CLAIMS 200
#define MANY 1000000
#define TURN 20			/* claims of one kind, then of the next */
#define LOOKS 1000		/* times that the lock was another's */
#define DELAY_US 5000		/* what nobody should wait longer */

enum kind { ALONE, BESIDE, BEHIND, KINDS };

static const char *const kind_text[KINDS] = {
	"a claim, alone", "beside a sweeper that never rests",
	"right behind a sweep of one's own",
};

static char path[4200];
static struct {
	atomic_bool stop, on, idle;
	atomic_llong swept, calls;
} *shared;

/* --- the sweeper ---------------------------------------------------------- */

struct swept {
	bool done, more;
};

static void
on_swept(void *arg, const struct idem_store_result *r)
{
	struct swept *swept = arg;

	if (r->write != IDEM_WRITTEN) {
		fprintf(stderr, "many_swept: %s\n", r->error);
		_exit(111);
	}
	swept->done = true;
	swept->more = r->more;
	atomic_fetch_add(&shared->swept, r->count);
	atomic_fetch_add(&shared->calls, 1);
}

static void
begin_sweep(struct idem_store *store, struct swept *swept)
{
	const struct idem_store_call call = {
		.op = IDEM_STORE_SWEEP,
		.max = 100,
		.deadline_ms = INT64_MAX,
		.done = on_swept,
		.arg = swept,
	};

	*swept = (struct swept){ 0 };
	store->ops->start(store, &call);
}

static void
end_sweep(struct idem_store *store, const struct swept *swept)
{
	struct pollfd fd = { .events = POLLIN };

	for (;;) {
		store->ops->poll(store);
		if (swept->done)
			return;
		fd.fd = store->ops->fd(store);
		poll(&fd, 1, -1);
	}
}

static _Noreturn void
sweep_all(void)
{
	const struct timespec moment = { .tv_nsec = 100000 };
	struct swept swept = { .more = true };
	struct idem_store *store;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	store = many_keys_open(path);
	while (!atomic_load(&shared->stop) && swept.more) {
		atomic_store(&shared->idle, false);
		if (!atomic_load(&shared->on)) {
			atomic_store(&shared->idle, true);
			nanosleep(&moment, NULL);
			continue;
		}
		begin_sweep(store, &swept);
		end_sweep(store, &swept);
	}
	store->ops->close(store);
	_exit(0);
}

static pid_t
start_sweeper(bool on)
{
	pid_t pid;

	atomic_store(&shared->stop, false);
	atomic_store(&shared->idle, false);
	atomic_store(&shared->on, on);
	atomic_store(&shared->swept, 0);
	atomic_store(&shared->calls, 0);
	pid = fork();
	if (pid == 0)
		sweep_all();
	if (pid < 0)
		exit(111);
	return pid;
}

/* It has nothing more to do, or has failed. */
static bool
is_gone(pid_t sweeper)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)sweeper, &info,
	    WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == sweeper;
}

/* Once it is told to rest, nothing is being swept. */
static void
set_sweeper(pid_t sweeper, bool on)
{
	const struct timespec moment = { .tv_nsec = 50000 };

	atomic_store(&shared->on, on);
	while (!on && !atomic_load(&shared->idle) && !is_gone(sweeper))
		nanosleep(&moment, NULL);
}

static void
stop_sweeper(pid_t sweeper)
{
	int status;

	atomic_store(&shared->stop, true);
	if (waitpid(sweeper, &status, 0) != sweeper || status != 0)
		exit(111);
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
	while (held->n < LOOKS && !is_gone(sweeper)) {
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
take_turn(struct idem_store *store, enum kind kind, uint64_t *fresh,
    struct many_keys_times *took)
{
	struct swept swept;
	int i;

	for (i = 0; i < TURN; i++) {
		if (kind == BEHIND)
			begin_sweep(store, &swept);
		many_keys_note(took, many_keys_claim(store, (*fresh)++,
		    IDEM_CLAIM_WON));
		if (kind == BEHIND)
			end_sweep(store, &swept);
	}
}

static void
print(const char *what, struct many_keys_times *t)
{
	printf("  %-34s %6zu: median %5lld us, 99 %% %6lld, most %6lld", what,
	    t->n, (long long)many_keys_at(t, 500),
	    (long long)many_keys_at(t, 990), (long long)many_keys_at(t, 1000));
}

/* How many took so much longer than most do alone. */
static void
print_delays(const struct many_keys_times *t, int64_t alone_us)
{
	size_t i, n = 0;

	for (i = 0; i < t->n; i++)
		n += t->at[i] > alone_us + DELAY_US;
	printf(", %zu of them over %d ms more\n", n, DELAY_US / 1000);
	fflush(stdout);
}

static void
measure_claims(uint64_t fresh, size_t claims)
{
	struct many_keys_times took[KINDS] = { 0 };
	struct idem_store *store;
	pid_t sweeper = start_sweeper(false);
	int kind;

	store = many_keys_open(path);
	while (took[ALONE].n < claims && !is_gone(sweeper))
		for (kind = 0; kind < KINDS; kind++) {
			set_sweeper(sweeper, kind == BESIDE);
			take_turn(store, (enum kind)kind, &fresh, &took[kind]);
		}
	store->ops->close(store);
	for (kind = 0; kind < KINDS; kind++) {
		print(kind_text[kind], &took[kind]);
		print_delays(&took[kind], many_keys_at(&took[ALONE], 500));
	}
	printf("  %lld calls swept %lld rows%s\n",
	    (long long)atomic_load(&shared->calls),
	    (long long)atomic_load(&shared->swept),
	    is_gone(sweeper) ? ", and then there were no more" : "");
	stop_sweeper(sweeper);
	for (kind = 0; kind < KINDS; kind++)
		free(took[kind].at);
}

static void
measure(const char *what, const struct many_keys_fill *fill, size_t claims)
{
	struct many_keys_times held = { 0 };
	pid_t sweeper;

	many_keys_fill(path, fill);
	printf("%llu %s:\n", (unsigned long long)fill->keys, what);
	sweeper = start_sweeper(true);
	watch_lock(sweeper, &held);
	stop_sweeper(sweeper);
	print("the lock is another's", &held);
	printf("\n");
	free(held.at);
	many_keys_fill(path, fill);
	measure_claims(fill->keys, claims);
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
	measure("keys that are over", &many,
	    many.keys < MANY ? CLAIMS : 10 * CLAIMS);
	measure("answers of 16 MiB that are over", &longs, LONG_CLAIMS);
	many_keys_remove(path);
	return 0;
}
