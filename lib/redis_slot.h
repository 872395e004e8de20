/* SPDX-License-Identifier: ISC */
#ifndef IDEM_REDIS_SLOT_H
#define IDEM_REDIS_SLOT_H

#include "buf.h"

#define IDEM_REDIS_SLOTS 16384u

/*
 * The slot of a key in a cluster (pure): CRC16/XMODEM modulo 16384, of what is
 * between the first "{" and the next "}" if that is anything, else of all of it
 * (Redis cluster specification, "Key distribution model").
 */
uint16_t idem_redis_slot(struct idem_bytes key);

#endif
