/* SPDX-License-Identifier: ISC */
#include "many_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * What a claim costs in a ledger with many keys, beside one with a thousand:
 * both are open at once, and take turns.  What counts is the median of the
 * rounds' ratios of medians.
 *
 *	many_keys [KEYS [FOLDER]]
 *
 * Status 1: the many make it more than LIMIT slower.
 */
#define KEYS 1000000
#define FEW 1000
#define ROUNDS 7
#define CLAIMS 500		/* of each kind in a round */
#define ANSWER 300
#define KEEP_MS (INT64_C(24) * 3600 * 1000)
#define LIMIT 1.3

enum { LEDGERS = 2, KINDS = 2 };

static const char *const kind_text[KINDS] = {
	"a fresh claim", "a completed one",
};

struct ledger {
	char path[4200];
	uint64_t keys, fresh;
	struct idem_store *store;
	struct many_keys_times all[KINDS], round[KINDS];
};

static uint64_t chance = 1;

/* xorshift: the same on every machine. */
static uint64_t
below(uint64_t n)
{
	chance ^= chance << 13;
	chance ^= chance >> 7;
	chance ^= chance << 17;
	return chance % n;
}

static void
make(struct ledger *l)
{
	const struct many_keys_fill fill = {
		.keys = l->keys,
		.keep_ms = KEEP_MS,
		.answer_len = ANSWER,
	};
	int64_t began_us = many_keys_now_us();
	int64_t bytes = many_keys_fill(l->path, &fill);

	printf("%llu keys: %lld bytes each, %lld MB in all; made in %lld s\n",
	    (unsigned long long)l->keys,
	    (long long)(bytes / (int64_t)l->keys), (long long)(bytes >> 20),
	    (long long)((many_keys_now_us() - began_us) / 1000000));
	fflush(stdout);
	l->fresh = l->keys;
	l->store = many_keys_open(l->path);
}

static void
claim(struct ledger *l, int kind)
{
	int64_t us = kind == 0 ?
	    many_keys_claim(l->store, l->fresh++, IDEM_CLAIM_WON) :
	    many_keys_claim(l->store, below(l->keys), IDEM_CLAIM_COMPLETED);

	many_keys_note(&l->all[kind], us);
	many_keys_note(&l->round[kind], us);
}

static void
take_round(struct ledger *ledgers, double *ratios)
{
	int i, kind, which;

	for (i = 0; i < CLAIMS; i++)
		for (kind = 0; kind < KINDS; kind++)
			for (which = 0; which < LEDGERS; which++)
				claim(&ledgers[(i + which) % LEDGERS], kind);
	for (kind = 0; kind < KINDS; kind++) {
		ratios[kind] = (double)many_keys_at(&ledgers[1].round[kind],
		    500) / (double)many_keys_at(&ledgers[0].round[kind], 500);
		for (which = 0; which < LEDGERS; which++)
			ledgers[which].round[kind].n = 0;
	}
}

static int
compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Whether it is within the limit. */
static bool
print(struct ledger *ledgers, int kind, double *ratios)
{
	double ratio;
	int which;

	qsort(ratios, ROUNDS, sizeof *ratios, compare);
	ratio = ratios[ROUNDS / 2];
	printf("%-16s", kind_text[kind]);
	for (which = 0; which < LEDGERS; which++)
		printf(" %10llu: %5lld us, %6lld",
		    (unsigned long long)ledgers[which].keys, (long long)
		    many_keys_at(&ledgers[which].all[kind], 500), (long long)
		    many_keys_at(&ledgers[which].all[kind], 990));
	printf("  ratio %.2f (%.2f to %.2f), %s\n", ratio, ratios[ROUNDS / 4],
	    ratios[ROUNDS - 1 - ROUNDS / 4], ratio <= LIMIT ? "good" :
	    "too slow");
	return ratio <= LIMIT;
}

static bool
measure(struct ledger *ledgers)
{
	double ratios[KINDS][ROUNDS], one[KINDS];
	bool good = true;
	int round, kind;

	take_round(ledgers, one);	/* to warm up */
	for (round = 0; round < ROUNDS; round++) {
		take_round(ledgers, one);
		for (kind = 0; kind < KINDS; kind++)
			ratios[kind][round] = one[kind];
	}
	printf("median and 99th percentile of %d each:\n",
	    (ROUNDS + 1) * CLAIMS);
	for (kind = 0; kind < KINDS; kind++)
		good &= print(ledgers, kind, ratios[kind]);
	return good;
}

int
main(int argc, char **argv)
{
	uint64_t keys = argc > 1 ? strtoull(argv[1], NULL, 10) : KEYS;
	const char *folder = argc > 2 ? argv[2] : "/tmp";
	struct ledger ledgers[LEDGERS] = {
		{ .keys = FEW }, { .keys = keys },
	};
	bool good;
	int i;

	if (keys < FEW || argc > 3) {
		fprintf(stderr, "usage: many_keys [KEYS [FOLDER]]\n");
		return 2;
	}
	for (i = 0; i < LEDGERS; i++) {
		snprintf(ledgers[i].path, sizeof ledgers[i].path,
		    "%s/many_keys.%ld.%d.db", folder, (long)getpid(), i);
		make(&ledgers[i]);
	}
	good = measure(ledgers);
	for (i = 0; i < LEDGERS; i++) {
		ledgers[i].store->ops->close(ledgers[i].store);
		many_keys_remove(ledgers[i].path);
	}
	return good ? 0 : 1;
}
