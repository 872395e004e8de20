/* SPDX-License-Identifier: ISC */
#ifndef NOW_H
#define NOW_H

#include <stdint.h>

/* Milliseconds of the boot clock: what the simulator itself waits for, and is
   late for, is told in them.  Those of a run begin with it (live_now_ns). */
int64_t now_ms(void);

#endif
