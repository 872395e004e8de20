/* SPDX-License-Identifier: ISC */
#ifndef TESTS_GATE_WORDS_H
#define TESTS_GATE_WORDS_H

#include "idem.h"

#include <stddef.h>

/*
 * Paths through the gate in words.
 *
 * What happens: words of the op that is awaited, with what belongs to them
 * (completed:unkept, unknown:dead/2 for proof and attempt, cut:died), and +250
 * for so many milliseconds that pass before the next.  A pause lasts as long
 * as it was asked for by itself.
 *
 * What is asked for: look slot claim run ..., with @ where it is not the
 * arbiter, and what it says.  An event that asks for nothing gives "-".
 */

/* Let it happen to a new gate, and write what that asks for into asks, NUL at
   its end; what goes wrong stands there, too. */
void gate_words_follow(const struct idem_policy *, const char *happens,
    char *asks, size_t asks_size);

#endif
