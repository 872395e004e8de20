/* SPDX-License-Identifier: ISC */
#ifndef IDEM_NEAR_H
#define IDEM_NEAR_H

#include <stddef.h>

/*
 * How far a word is from what somebody wrote, to ask "did you mean ...?": the
 * least of several is the one.  IDEM_NEAR_NOT: nobody would have meant it.
 *
 * Near is a word of which at most a third of the letters are wrong, left out or
 * too many, or one of which the name is the begin or the end.  Of two the one
 * with the same first letter is nearer.  Neither text need end with a NUL.
 */
#define IDEM_NEAR_NOT 1000u

unsigned idem_near(const char *name, size_t name_len, const char *word,
    size_t word_len);

#endif
