/* SPDX-License-Identifier: ISC */
#ifndef TESTS_PATTERN_SLOW_H
#define TESTS_PATTERN_SLOW_H

#include <stdbool.h>

/* The words of pattern.h, by trying everything: only for small ones. */
bool pattern_slow(const char *pattern, const char *path);

#endif
