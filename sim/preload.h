/* SPDX-License-Identifier: ISC */
#ifndef PRELOAD_H
#define PRELOAD_H

#include <stdatomic.h>
#include <stdint.h>

/*
 * What the simulator writes into files that its library (idemsim-preload.so,
 * LD_PRELOAD) maps in idemd and redis-server: their clock and their disk.
 * Monotonic clocks are never touched, nor waits of the kernel that end at a
 * time of the wall clock.  A process that cannot map what it is told to ends
 * with 99: what it did would show nothing.
 */
#define PRELOAD_SHIFT "IDEMSIM_CLOCK"	/* file: struct preload_clock */
#define PRELOAD_BOOT "IDEMSIM_BOOT"	/* file in boot_id's place */
#define PRELOAD_DISK "IDEMSIM_DISK"	/* file: struct preload_disk */

/*
 * Before another rate, what the old one came to is added to the offset.  While
 * more than one of them is changed, `changes` is odd: who reads what belongs
 * together waits, or some time would be counted twice.
 */
struct preload_clock {
	_Atomic int64_t offset_ms;
	_Atomic int64_t rate_ppm;	/* on top: 1000000 doubles the speed */
	_Atomic int64_t since_ns;	/* CLOCK_MONOTONIC since when the rate
					   counts */
	_Atomic uint64_t struck;	/* how often somebody was told a time
					   that is not the host's */
	_Atomic uint64_t changes;
};

enum preload_fault {
	PRELOAD_NONE, PRELOAD_FULL, PRELOAD_IOERR, PRELOAD_BUSY
};

/*
 * Of files below `folder`.  FULL: writes that make a file longer, ENOSPC;
 * IOERR: fsync and fdatasync, EIO; BUSY: the lock that SQLite writes under,
 * EAGAIN.
 *
 * With `shadow` each file is copied to shadow/NAME whenever it is synced, and
 * follows it when it gets another name or is removed: what is there is what is
 * left when the power goes.  Not there: -shm, which nobody syncs; and a file
 * that was made without this library, until it is copied there by hand.  What
 * is called PRELOAD_PART there is none of them.  The process ends with 99 if
 * its shadow cannot be written.
 *
 * Both are absolute, without symbolic links and "/" at their ends, and are set
 * before a process starts; shadow is not below folder, and is on the same file
 * system.
 */
struct preload_disk {
	char folder[120], shadow[120];
	_Atomic int fault;		/* enum preload_fault */
	_Atomic uint64_t struck;	/* how often it did */
	_Atomic uint64_t users;		/* processes that have mapped it */
};
#define PRELOAD_PART ".part"

#endif
