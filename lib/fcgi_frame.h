/* SPDX-License-Identifier: ISC */
#ifndef IDEM_FCGI_FRAME_H
#define IDEM_FCGI_FRAME_H

#include "buf.h"

/*
 * Where in a FastCGI record (3.3) a reader stands, whatever the pieces in
 * which its bytes arrive:
 *
 *	HEADER  CONTENT*  END  (padding, not told)  HEADER  ...
 *
 * Zeroes stand before the first record.  Used by the readers of fcgi_rec.h.
 */
#define IDEM_FCGI_HEADER_LEN 8u

struct idem_fcgi_frame {
	uint8_t header[IDEM_FCGI_HEADER_LEN];	/* valid from HEADER to END */
	uint8_t header_len;
	uint8_t padding_left;
	uint16_t content_left;
};

enum idem_fcgi_step {
	IDEM_FCGI_STEP_MORE,	/* all bytes taken */
	IDEM_FCGI_STEP_HEADER,	/* a record's header is whole */
	IDEM_FCGI_STEP_CONTENT,	/* a piece of its content, never empty */
	IDEM_FCGI_STEP_END,	/* its content is whole, or empty */
	IDEM_FCGI_STEP_BAD	/* a version that is not 1 */
};

/* Take from *left up to the next step; *piece borrows from it. */
enum idem_fcgi_step idem_fcgi_frame_next(struct idem_fcgi_frame *,
    struct idem_bytes *left, struct idem_bytes *piece);

/* Of the record under way. */
uint8_t idem_fcgi_frame_type(const struct idem_fcgi_frame *);
uint16_t idem_fcgi_frame_id(const struct idem_fcgi_frame *);
uint16_t idem_fcgi_frame_len(const struct idem_fcgi_frame *);	/* content */

/* Inside a record, its padding included? */
bool idem_fcgi_frame_inside(const struct idem_fcgi_frame *);

#endif
