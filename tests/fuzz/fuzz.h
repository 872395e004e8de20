/* SPDX-License-Identifier: ISC */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include "buf.h"

/* The target: libFuzzer's main calls it, or replay.c's. */
int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* What must hold whatever the bytes are, or the program ends there. */
void fuzz_must(bool held);

/* Takes one piece, which is gone afterwards; false: it wants no more. */
typedef bool fuzz_take_fn(void *arg, struct idem_bytes piece);

/*
 * Give the bytes whole, or in pieces whose lengths they themselves say.  Each
 * piece is in memory of exactly its size, so that a read past its end shows.
 */
void fuzz_feed(fuzz_take_fn *, void *arg, struct idem_bytes, bool whole);

#endif
