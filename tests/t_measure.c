/* SPDX-License-Identifier: ISC */
#include "measure.h"

#include "tap.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const methods[] = { "POST" };

/* A lease measured between 1 s and 1 h, with a retry after 5 s. */
static struct conf_route
route(const char *path)
{
	struct conf_route r;

	conf_route_init(&r);
	r.route.path = path;
	r.route.methods = (struct idem_words){ methods, 1 };
	r.route.policy.lease_ms = 77777;
	r.lease_auto = true;
	r.lease_min_ms = 1000;
	r.lease_max_ms = 3600 * 1000;
	return r;
}

static struct shm *
made(void)
{
	struct shm *shm = shm_new(1, 1, -1);

	if (shm == NULL)
		bail_out("shm");
	return shm;
}

static void
add(struct shm *shm, const struct conf_route *r, int64_t ms, unsigned times)
{
	while (times-- > 0)
		measure_add(shm, r, ms);
}

/* --- the mean ------------------------------------------------------------- */

static void
test_first(void)
{
	struct conf_route r = route("/x");
	struct shm *shm = made();

	is_int(measure_lease_ms(shm, &r), 77777,
	    "before any run a lease is what it begins with");
	add(shm, &r, 2000, MEASURE_FIRST - 1);
	is_int(measure_lease_ms(shm, &r), 77777,
	    "so it is until enough have been seen");
	measure_add(shm, &r, 2000);
	is_int(measure_lease_ms(shm, &r), 9000,
	    "then it is twice a run of 2 s and 5 s for a retry");
	shm_free(shm);
}

/* Of known times, whose mean is known: within a millisecond. */
static void
test_means(void)
{
	static const struct {
		const char *what;
		int64_t ms[4];		/* again and again, 16 in all */
		uint32_t lease_ms;
	} rows[] = {
		{ "runs of no time", { 0, 0, 0, 0 }, 5000 },
		{ "runs of a millisecond", { 1, 1, 1, 1 }, 5002 },
		{ "two kinds of runs", { 1000, 3000, 1000, 3000 }, 9000 },
		{ "four kinds", { 10, 200, 3000, 40000 }, 26605 },
		{ "a clock that went back", { -5000, -1, INT64_MIN, 0 }, 5000 },
	};
	struct conf_route r = route("/x");
	struct shm *shm;
	size_t i;
	int n;
	uint32_t is;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		shm = made();
		for (n = 0; n < 16; n++)
			measure_add(shm, &r, rows[i].ms[n % 4]);
		is = measure_lease_ms(shm, &r);
		if (!ok(is + 1 >= rows[i].lease_ms && is <= rows[i].lease_ms,
		    "the mean is right of %s", rows[i].what))
			note("%u, not %u", is, rows[i].lease_ms);
		shm_free(shm);
	}
}

static void
test_bounds(void)
{
	struct conf_route r = route("/x");
	struct shm *shm = made();

	r.lease_min_ms = 6000;
	add(shm, &r, 1, MEASURE_FIRST);
	is_int(measure_lease_ms(shm, &r), 6000, "it is no less than its least");
	add(shm, &r, INT64_MAX, MEASURE_FIRST);
	is_int(measure_lease_ms(shm, &r), 3600 * 1000,
	    "and no more than its most, whatever was measured");
	r.lease_min_ms = r.lease_max_ms = 8000;
	is_int(measure_lease_ms(shm, &r), 8000, "bounds that meet are a time");
	r.lease_auto = false;
	is_int(measure_lease_ms(shm, &r), 77777,
	    "a lease that is said is what was said");
	shm_free(shm);
}

/* What was long ago is forgotten: the lease follows the load, both ways. */
static void
test_follows(void)
{
	struct conf_route r = route("/x");
	struct shm *shm = made();
	uint32_t before, after;

	add(shm, &r, 1000, 100000);
	is_int(measure_lease_ms(shm, &r), 7000,
	    "of many equal runs it is as of a few");
	measure_add(shm, &r, 11000);
	before = measure_lease_ms(shm, &r);
	ok(before > 7000 && before < 7500,
	    "one slow run among them moves it little");
	add(shm, &r, 11000, 64);
	after = measure_lease_ms(shm, &r);
	ok(after > 17000 && after < 27000,
	    "64 of them are most of what counts");
	add(shm, &r, 11000, 600);
	after = measure_lease_ms(shm, &r);
	ok(after >= 26950 && after <= 27000, "600 are all");
	add(shm, &r, 1000, 700);
	after = measure_lease_ms(shm, &r);
	ok(after >= 7000 && after <= 7050, "and back, once they are quick");
	shm_free(shm);
}

/* --- which ---------------------------------------------------------------- */

static void
test_routes(void)
{
	static const char *const others[] = { "POST", "PUT" };
	struct conf_route a = route("/a"), b = route("/b"), c = route("/a"),
	    d = route("/a"), moved = route("/a"), said = route("/c");
	struct shm *shm = made();

	c.route.methods = (struct idem_words){ others, 2 };
	d.route.name = "d";
	moved.text = "route at another line";
	moved.retry_ms = 0;
	add(shm, &a, 1000, MEASURE_FIRST);
	is_int(measure_lease_ms(shm, &b), 77777,
	    "what one route takes is not another's, by its path");
	is_int(measure_lease_ms(shm, &c), 77777, "nor by its methods");
	is_int(measure_lease_ms(shm, &d), 77777, "nor by its name");
	add(shm, &b, 2000, MEASURE_FIRST);
	is_int(measure_lease_ms(shm, &a), 7000, "they go on side by side");
	is_int(measure_lease_ms(shm, &moved), 2000,
	    "a reload that moves a route, or its bounds, forgets nothing");
	said.lease_auto = false;
	add(shm, &said, 1000, MEASURE_FIRST);
	said.lease_auto = true;
	is_int(measure_lease_ms(shm, &said), 77777,
	    "a route whose lease is said takes no place");
	shm_free(shm);
}

static void
test_full(void)
{
	char paths[SHM_ROUTES + 8][16];
	struct conf_route r = route(NULL);
	struct shm *shm = made();
	size_t i, measured = 0;

	for (i = 0; i < SHM_ROUTES + 8; i++) {
		snprintf(paths[i], sizeof paths[i], "/r%zu", i);
		r.route.path = paths[i];
		add(shm, &r, (int64_t)i, MEASURE_FIRST);
	}
	for (i = 0; i < SHM_ROUTES; i++) {
		r.route.path = paths[i];
		measured += measure_lease_ms(shm, &r) == 5000 + 2 * i;
	}
	is_int((long long)measured, SHM_ROUTES,
	    "as many routes as there are places each have their own");
	for (; i < SHM_ROUTES + 8; i++) {
		r.route.path = paths[i];
		measured += measure_lease_ms(shm, &r) == 77777;
	}
	is_int((long long)measured, SHM_ROUTES + 8,
	    "one for which there is none keeps what it begins with");
	shm_free(shm);
}

/* --- many at once --------------------------------------------------------- */

#define WRITERS 4
#define RUNS 20000
#define ROUNDS (32 * SHM_ROUTES)

/* A process that says so of half of its runs, and so of the others. */
static pid_t
writer(struct shm *shm, const char *path, int64_t ms, int64_t ms_too,
    unsigned runs)
{
	struct conf_route r = route(path);
	pid_t parent = getpid(), pid = fork();

	if (pid == -1)
		bail_out("fork");
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	while (runs-- > 0)
		measure_add(shm, &r, runs % 2 == 0 ? ms : ms_too);
	_exit(0);
}

static bool
ended(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	    WEXITSTATUS(status) == 0;
}

/* Half of one write and half of another would lie far outside. */
static void
test_processes(void)
{
	struct conf_route r = route("/x"), quick = route("/quick");
	struct shm *shm = made();
	pid_t pids[2 * WRITERS];
	uint32_t lease, odd = 0;
	int i, looks;

	for (i = 0; i < WRITERS; i++) {
		pids[i] = writer(shm, "/x", 70000, 1000000, RUNS);
		pids[WRITERS + i] = writer(shm, "/quick", 250, 250, RUNS);
	}
	for (looks = 0; looks < 200000; looks++) {
		lease = measure_lease_ms(shm, &r);
		odd += lease != 77777 && (lease < 145000 || lease > 2005000);
	}
	for (i = 0; i < 2 * WRITERS; i++)
		odd += !ended(pids[i]);
	is_int(odd, 0, "while several processes write, what is read lies "
	    "between what they say");
	is_int(measure_lease_ms(shm, &quick), 5500,
	    "where all say the same, that is it");
	shm_free(shm);
}

/* It is at work: what is read moves. */
static void
await_moves(const struct shm *shm, const struct conf_route *r, int moves)
{
	uint32_t now, last = measure_lease_ms(shm, r);
	unsigned looks = 0;

	while (moves > 0) {
		if (++looks == 2000000000u)
			bail_out("a writer does not write");
		now = measure_lease_ms(shm, r);
		moves -= now != last;
		last = now;
	}
}

/* Whoever dies at it, whenever, leaves it as it was, or with one more. */
static void
test_killed(void)
{
	struct conf_route r = route("/x");
	struct shm *shm = made();
	uint32_t lease, odd = 0;
	pid_t pid;
	int i;

	add(shm, &r, 1000, MEASURE_FIRST);
	for (i = 0; i < 30; i++) {
		pid = writer(shm, "/x", 1000, 9000, UINT32_MAX);
		await_moves(shm, &r, i % 7 + 1);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		lease = measure_lease_ms(shm, &r);
		odd += lease < 7000 || lease > 23000;
	}
	is_int(odd, 0, "a writer that is killed leaves nothing broken");
	add(shm, &r, 1000, 1000);
	lease = measure_lease_ms(shm, &r);
	ok(lease >= 7000 && lease <= 7050, "and nothing locked");
	shm_free(shm);
}

struct rounds {			/* of threads that all begin at once */
	struct shm *shm[ROUNDS / SHM_ROUTES];
	pthread_barrier_t begin;
};

/* Each round has a place of its own, which nobody has taken yet. */
static struct conf_route
of_round(int round, char *path, size_t size)
{
	snprintf(path, size, "/r%d", round);
	return route(path);
}

static void *
thread(void *arg)
{
	struct rounds *rounds = arg;
	struct conf_route r;
	char path[16];
	int i;

	for (i = 0; i < ROUNDS; i++) {
		r = of_round(i, path, sizeof path);
		pthread_barrier_wait(&rounds->begin);
		add(rounds->shm[i / SHM_ROUTES], &r, 400,
		    MEASURE_FIRST / WRITERS);
	}
	return NULL;
}

/* Each time just as many as it takes. */
static void
test_threads(void)
{
	struct rounds rounds;
	struct conf_route r;
	char path[16];
	pthread_t threads[WRITERS];
	int i, right = 0;

	pthread_barrier_init(&rounds.begin, NULL, WRITERS);
	for (i = 0; i < ROUNDS / SHM_ROUTES; i++)
		rounds.shm[i] = made();
	for (i = 0; i < WRITERS; i++)
		if (pthread_create(&threads[i], NULL, thread, &rounds) != 0)
			bail_out("pthread_create");
	for (i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < ROUNDS; i++) {
		r = of_round(i, path, sizeof path);
		right += measure_lease_ms(rounds.shm[i / SHM_ROUTES], &r) ==
		    5800;
	}
	for (i = 0; i < ROUNDS / SHM_ROUTES; i++)
		shm_free(rounds.shm[i]);
	pthread_barrier_destroy(&rounds.begin);
	is_int(right, ROUNDS, "of those that come at once none is lost");
}

int
main(void)
{
	test_first();
	test_means();
	test_bounds();
	test_follows();
	test_routes();
	test_full();
	test_processes();
	test_killed();
	test_threads();
	return done();
}
