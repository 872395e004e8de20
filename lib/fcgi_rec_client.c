/* SPDX-License-Identifier: ISC */
#include "fcgi_rec.h"

#include <string.h>

static enum idem_fcgi_told
broken(struct idem_fcgi_client_reader *r, const char *wrong)
{
	r->broken = true;
	r->wrong = wrong;
	return IDEM_FCGI_TOLD_BROKEN;
}

static bool
is_ours(const struct idem_fcgi_client_reader *r, enum idem_fcgi_type type)
{
	return idem_fcgi_frame_id(&r->frame) == r->id &&
	    idem_fcgi_frame_type(&r->frame) == type;
}

static enum idem_fcgi_told
on_header(struct idem_fcgi_client_reader *r)
{
	if (is_ours(r, IDEM_FCGI_END_REQUEST) &&
	    idem_fcgi_frame_len(&r->frame) < sizeof r->end)
		return broken(r, "END_REQUEST too short");
	return IDEM_FCGI_TOLD_MORE;
}

/* Content may be longer than it has to be: the rest is passed over. */
static void
keep_end(struct idem_fcgi_client_reader *r, struct idem_bytes piece)
{
	size_t from = idem_fcgi_frame_len(&r->frame) -
	    r->frame.content_left - piece.len;

	if (from >= sizeof r->end)
		return;
	if (piece.len > sizeof r->end - from)
		piece.len = sizeof r->end - from;
	memcpy(r->end + from, piece.at, piece.len);
}

static enum idem_fcgi_told
on_content(struct idem_fcgi_client_reader *r, struct idem_bytes piece,
    struct idem_bytes *bytes)
{
	*bytes = piece;
	if (is_ours(r, IDEM_FCGI_STDOUT))
		return IDEM_FCGI_TOLD_STDOUT;
	if (is_ours(r, IDEM_FCGI_STDERR))
		return IDEM_FCGI_TOLD_STDERR;
	if (is_ours(r, IDEM_FCGI_END_REQUEST))
		keep_end(r, piece);
	return IDEM_FCGI_TOLD_MORE;
}

static enum idem_fcgi_told
on_end(struct idem_fcgi_client_reader *r)
{
	struct idem_reader end = { .left = { r->end, sizeof r->end } };
	uint8_t status;

	if (!is_ours(r, IDEM_FCGI_END_REQUEST))
		return IDEM_FCGI_TOLD_MORE;
	r->app_status = idem_read_u32(&end);
	status = idem_read_u8(&end);
	if (status > IDEM_FCGI_UNKNOWN_ROLE)
		return broken(r, "END_REQUEST with an unknown protocolStatus");
	r->status = (enum idem_fcgi_status)status;
	return IDEM_FCGI_TOLD_END;
}

enum idem_fcgi_told
idem_fcgi_client_read(struct idem_fcgi_client_reader *r,
    struct idem_bytes *left, struct idem_bytes *bytes)
{
	enum idem_fcgi_told told = IDEM_FCGI_TOLD_MORE;
	struct idem_bytes piece;

	if (r->broken)
		return IDEM_FCGI_TOLD_BROKEN;
	while (told == IDEM_FCGI_TOLD_MORE) {
		switch (idem_fcgi_frame_next(&r->frame, left, &piece)) {
		case IDEM_FCGI_STEP_MORE:
			return IDEM_FCGI_TOLD_MORE;
		case IDEM_FCGI_STEP_HEADER:
			told = on_header(r);
			break;
		case IDEM_FCGI_STEP_CONTENT:
			told = on_content(r, piece, bytes);
			break;
		case IDEM_FCGI_STEP_END:
			told = on_end(r);
			break;
		case IDEM_FCGI_STEP_BAD:
			told = broken(r, "not FastCGI 1");
			break;
		}
	}
	return told;
}
