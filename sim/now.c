/* SPDX-License-Identifier: ISC */
#include "now.h"

#include "clock.h"

int64_t
now_ms(void)
{
	return idem_boot_ms(&idem_clock_real);
}
