/* SPDX-License-Identifier: ISC */
#ifndef IDEM_BUF_H
#define IDEM_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that somebody else owns. */
struct idem_bytes {
	const void *at;
	size_t len;
};

/*
 * Bytes that this struct owns.  Zeroes are an empty one.  Errors stick: after
 * a failed append every later one does nothing, and idem_buf_ok() says so, so
 * a run of appends needs one check, at its end.
 */
struct idem_buf {
	uint8_t *at;
	size_t len, size;
	size_t max;	/* no more bytes than this; 0: no limit */
	bool failed;	/* out of memory, or over max */
};

void idem_buf_append(struct idem_buf *, const void *at, size_t len);
void idem_buf_text(struct idem_buf *, const char *text); /* without NUL */
void idem_buf_printf(struct idem_buf *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void idem_buf_u8(struct idem_buf *, uint8_t);
void idem_buf_u16(struct idem_buf *, uint16_t);		/* big endian */
void idem_buf_u32(struct idem_buf *, uint32_t);
void idem_buf_u64(struct idem_buf *, uint64_t);
bool idem_buf_ok(const struct idem_buf *);
struct idem_bytes idem_buf_bytes(const struct idem_buf *);
void idem_buf_drop(struct idem_buf *, size_t len);	/* the first len */
void idem_buf_clear(struct idem_buf *);	/* empty, room kept, failed off */
void idem_buf_free(struct idem_buf *);		/* zeroes again */

struct idem_bytes idem_bytes_text(const char *text);	/* without NUL */
bool idem_bytes_equal(struct idem_bytes, struct idem_bytes);
bool idem_bytes_is(struct idem_bytes, const char *text);
bool idem_bytes_is_nocase(struct idem_bytes, const char *text);	/* ASCII only */

/*
 * A reader over borrowed bytes, for the codecs.  Errors stick: after the first
 * short read every later one gives zeroes, and short_ is true.
 */
struct idem_reader {
	struct idem_bytes left;
	bool short_;
};

uint8_t idem_read_u8(struct idem_reader *);
uint16_t idem_read_u16(struct idem_reader *);
uint32_t idem_read_u32(struct idem_reader *);
uint64_t idem_read_u64(struct idem_reader *);
struct idem_bytes idem_read_bytes(struct idem_reader *, size_t len);
void idem_read_copy(struct idem_reader *, void *to, size_t len);

/* Two hex digits a byte and a NUL: out holds 2 * len + 1. */
void idem_hex(const void *at, size_t len, char *out);

/* Read exactly 2 * len hex digits of either case; false if text is not that. */
bool idem_unhex(const char *text, void *out, size_t len);

#endif
