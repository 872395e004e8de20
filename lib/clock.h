/* SPDX-License-Identifier: ISC */
#ifndef IDEM_CLOCK_H
#define IDEM_CLOCK_H

#include "record.h"

#include <stdint.h>

/* Time comes in as an argument, so that a test need not sleep. */
struct idem_clock {
	int64_t (*boot_ms)(void *arg);	/* CLOCK_BOOTTIME: leases, deadlines */
	int64_t (*wall_ms)(void *arg);	/* CLOCK_REALTIME: keep, tombstone */
	void *arg;
};

extern const struct idem_clock idem_clock_real;

int64_t idem_boot_ms(const struct idem_clock *);
int64_t idem_wall_ms(const struct idem_clock *);

/* This boot's id, from /proc; false if it cannot be read. */
bool idem_boot_id(struct idem_boot *);

#endif
