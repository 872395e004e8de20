/* SPDX-License-Identifier: ISC */
#include "fcgi_frame.h"

#include <string.h>

/*
 * A record (3.3), big endian:
 *
 *	 0        1      2  3       4  5            6              7
 *	+--------+------+----------+---------------+--------------+---------+
 *	| version| type | requestId| contentLength | paddingLength| reserved|
 *	+--------+------+----------+---------------+--------------+---------+
 *	| content, then padding                                             |
 */
enum { VERSION = 0, TYPE = 1, ID = 2, CONTENT_LEN = 4, PADDING_LEN = 6 };

static uint16_t
u16_at(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

uint8_t
idem_fcgi_frame_type(const struct idem_fcgi_frame *f)
{
	return f->header[TYPE];
}

uint16_t
idem_fcgi_frame_id(const struct idem_fcgi_frame *f)
{
	return u16_at(f->header + ID);
}

uint16_t
idem_fcgi_frame_len(const struct idem_fcgi_frame *f)
{
	return u16_at(f->header + CONTENT_LEN);
}

bool
idem_fcgi_frame_inside(const struct idem_fcgi_frame *f)
{
	return f->header_len > 0 || f->padding_left > 0;
}

static struct idem_bytes
take(struct idem_bytes *left, size_t most)
{
	struct idem_bytes piece = *left;

	if (piece.len > most)
		piece.len = most;
	if (piece.len > 0)
		left->at = (const uint8_t *)left->at + piece.len;
	left->len -= piece.len;
	return piece;
}

static void
skip_padding(struct idem_fcgi_frame *f, struct idem_bytes *left)
{
	f->padding_left = (uint8_t)(f->padding_left -
	    take(left, f->padding_left).len);
}

static void
fill_header(struct idem_fcgi_frame *f, struct idem_bytes *left)
{
	struct idem_bytes piece;

	piece = take(left, sizeof f->header - f->header_len);
	if (piece.len > 0)
		memcpy(f->header + f->header_len, piece.at, piece.len);
	f->header_len = (uint8_t)(f->header_len + piece.len);
}

static enum idem_fcgi_step
next_header(struct idem_fcgi_frame *f, struct idem_bytes *left)
{
	skip_padding(f, left);
	if (f->padding_left > 0)
		return IDEM_FCGI_STEP_MORE;
	fill_header(f, left);
	/* One byte tells: who speaks HTTP to us need not send seven more. */
	if (f->header_len > 0 && f->header[VERSION] != 1)
		return IDEM_FCGI_STEP_BAD;
	if (f->header_len < sizeof f->header)
		return IDEM_FCGI_STEP_MORE;
	f->content_left = idem_fcgi_frame_len(f);
	f->padding_left = f->header[PADDING_LEN];
	return IDEM_FCGI_STEP_HEADER;
}

enum idem_fcgi_step
idem_fcgi_frame_next(struct idem_fcgi_frame *f, struct idem_bytes *left,
    struct idem_bytes *piece)
{
	if (f->header_len < sizeof f->header)
		return next_header(f, left);
	if (f->content_left > 0) {
		if (left->len == 0)
			return IDEM_FCGI_STEP_MORE;
		*piece = take(left, f->content_left);
		f->content_left = (uint16_t)(f->content_left - piece->len);
		return IDEM_FCGI_STEP_CONTENT;
	}
	f->header_len = 0;
	return IDEM_FCGI_STEP_END;
}
