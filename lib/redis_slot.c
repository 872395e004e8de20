/* SPDX-License-Identifier: ISC */
#include "redis_slot.h"

#include <string.h>

/* Polynomial 0x1021, begun with 0, not reflected; four bits at a time. */
static uint16_t
crc16(struct idem_bytes text)
{
	static const uint16_t table[16] = {
		0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5, 0x60c6, 0x70e7,
		0x8108, 0x9129, 0xa14a, 0xb16b, 0xc18c, 0xd1ad, 0xe1ce, 0xf1ef,
	};
	const uint8_t *at = text.at;
	uint16_t crc = 0;
	size_t i;

	for (i = 0; i < text.len; i++) {
		crc = (uint16_t)(crc << 4 ^ table[crc >> 12 ^ at[i] >> 4]);
		crc = (uint16_t)(crc << 4 ^ table[crc >> 12 ^ (at[i] & 15)]);
	}
	return crc;
}

/* What keys that are to lie together have in common, or all of it. */
static struct idem_bytes
tag(struct idem_bytes key)
{
	const char *at = key.at, *open, *close;

	if (key.len == 0 || (open = memchr(at, '{', key.len)) == NULL)
		return key;
	open++;
	close = memchr(open, '}', key.len - (size_t)(open - at));
	if (close == NULL || close == open)
		return key;
	return (struct idem_bytes){ open, (size_t)(close - open) };
}

uint16_t
idem_redis_slot(struct idem_bytes key)
{
	return crc16(tag(key)) % IDEM_REDIS_SLOTS;
}
