/* SPDX-License-Identifier: ISC */
#include "many_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WAIT_MS 60000

int64_t
many_keys_now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* --- times ---------------------------------------------------------------- */

void
many_keys_note(struct many_keys_times *t, int64_t us)
{
	if (t->n == t->room) {
		t->room = t->room > 0 ? 2 * t->room : 1024;
		t->at = reallocarray(t->at, t->room, sizeof *t->at);
		if (t->at == NULL)
			exit(111);
	}
	t->at[t->n++] = us;
}

static int
compare(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int64_t
many_keys_at(struct many_keys_times *t, unsigned per_mille)
{
	if (t->n == 0)
		return 0;
	qsort(t->at, t->n, sizeof *t->at, compare);
	return t->at[(t->n - 1) * per_mille / 1000];
}

/* --- claims --------------------------------------------------------------- */

struct idem_store *
many_keys_open(const char *path)
{
	struct idem_sqlite_options options = {
		.path = path,
		.clock = &idem_clock_real,
	};
	struct idem_store *store;
	char error[300];

	idem_boot_id(&options.boot);
	store = idem_store_sqlite(&options, error, sizeof error);
	if (store != NULL)
		return store;
	fprintf(stderr, "many_keys: %s\n", error);
	exit(111);
}

int64_t
many_keys_claim(struct idem_store *store, uint64_t i, enum idem_claim want)
{
	const struct idem_store_call call = {
		.op = IDEM_STORE_CLAIM,
		.key = many_keys_key(i),
		.fingerprint = many_keys_print(i),
		.owner = { { 1 } },
		.lease_ms = 60000,
		.deadline_ms = idem_boot_ms(&idem_clock_real) + WAIT_MS,
	};
	int64_t began_us = many_keys_now_us(), us;
	struct idem_store_answer a;

	idem_store_wait(store, &call, &a);
	us = many_keys_now_us() - began_us;
	if (a.result.claim != want) {
		fprintf(stderr, "many_keys: key %llu: claim %d, not %d: %s\n",
		    (unsigned long long)i, (int)a.result.claim, (int)want,
		    a.error != NULL ? a.error : "");
		exit(111);
	}
	idem_store_answer_free(&a);
	return us;
}
