/* SPDX-License-Identifier: ISC */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H

#include <stdbool.h>

/*
 * The Test Anything Protocol from C.  Every text is a printf format and a
 * sentence that is true when the test passes.  Each call gives whether it did.
 */
void plan(int tests);		/* first, or never: then done() prints it */
bool ok(bool passed, const char *what, ...)
    __attribute__((format(printf, 2, 3)));
bool is(const char *got, const char *want, const char *what, ...)
    __attribute__((format(printf, 3, 4)));
bool is_int(long long got, long long want, const char *what, ...)
    __attribute__((format(printf, 3, 4)));
bool is_bytes(const void *got, unsigned long got_len, const void *want,
    unsigned long want_len, const char *what, ...)
    __attribute__((format(printf, 5, 6)));
/* One test, passed over. */
void skip(const char *why, const char *what, ...)
    __attribute__((format(printf, 2, 3)));
void note(const char *text, ...)
    __attribute__((format(printf, 1, 2)));
/* The program. */
void skip_all(const char *why) __attribute__((noreturn));
void bail_out(const char *why, ...)
    __attribute__((noreturn, format(printf, 1, 2)));

/* The plan if none was given; the exit status: 0, or 1 after a failure. */
int done(void);

#endif
