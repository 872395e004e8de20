/* SPDX-License-Identifier: ISC */
#ifndef TESTS_CHANCE_H
#define TESTS_CHANCE_H

#include <stdint.h>

/* The next number below n of the row that began with the seed in *chance, which
   is not 0: the same on every machine. */
uint32_t chance_below(uint32_t *chance, uint32_t n);

#endif
