/* SPDX-License-Identifier: ISC */
#include "chance.h"

/* xorshift32 (Marsaglia, 2003). */
uint32_t
chance_below(uint32_t *chance, uint32_t n)
{
	*chance ^= *chance << 13;
	*chance ^= *chance >> 17;
	*chance ^= *chance << 5;
	return *chance % n;
}
