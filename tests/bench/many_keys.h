/* SPDX-License-Identifier: ISC */
#ifndef MANY_KEYS_H
#define MANY_KEYS_H

#include "store.h"

#include <stdint.h>

/* A ledger with many keys, made at once; which of them is which is known. */

/* The i-th key, and the fingerprint of its request. */
struct idem_digest many_keys_key(uint64_t i);
struct idem_digest many_keys_print(uint64_t i);

struct many_keys_fill {
	uint64_t keys;		/* completed, from 0 on */
	int64_t keep_ms;	/* from now on; negative: it is over */
	uint32_t answer_len;
};

/* A new ledger at path, in place of one; how many bytes its file has.  Says why
   not and ends the process. */
int64_t many_keys_fill(const char *path, const struct many_keys_fill *);
void many_keys_remove(const char *path);

int64_t many_keys_now_us(void);

/* Times that were measured, in microseconds. */
struct many_keys_times {
	int64_t *at;
	size_t n, room;
};

void many_keys_note(struct many_keys_times *, int64_t us);
/* In per mille of them; 500 is the median.  Sorts. */
int64_t many_keys_at(struct many_keys_times *, unsigned per_mille);

/* Opened as a worker opens it; ends the process if that fails. */
struct idem_store *many_keys_open(const char *path);
/* One claim of a key, and how long it took; ends the process if it does not
   come to that. */
int64_t many_keys_claim(struct idem_store *, uint64_t i, enum idem_claim);

#endif
