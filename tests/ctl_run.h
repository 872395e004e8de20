/* SPDX-License-Identifier: ISC */
#ifndef TESTS_CTL_RUN_H
#define TESTS_CTL_RUN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * idemctl as an operator types it: $IDEMCTL, or the one that was built here.
 * Words are a shell's.
 */
#define CTL_RUN_OUT 64000

/* Its exit status; both of its outputs as text, until the next. */
int ctl_run(const char **out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* One row: says is what must stand in the output; with a "!" before it: must
   not. */
bool ctl_run_is(int status, const char *says, const char *what,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
