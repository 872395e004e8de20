/* SPDX-License-Identifier: ISC */
#include "fcgi_rec.h"

#include <string.h>

#define KEEP_CONN 1u	/* 5.1, FCGI_KEEP_CONN */

/*
 *	IDLE --BEGIN--> PARAMS --its end--> BODY --its end--> WHOLE
 *	  ^               |                  |                 |
 *	  +---------------+--- ended() ------+-----------------+
 *
 * DEAD from anywhere, for good.
 */
enum { IDLE, PARAMS, BODY, WHOLE, DEAD };

/* What we say of ourselves (4.1): of connections, no limit worth telling. */
static const struct {
	const char *name, *value;
} values[] = {
	{ "FCGI_MAX_CONNS", "10000" },
	{ "FCGI_MAX_REQS", "10000" },
	{ "FCGI_MPXS_CONNS", "0" },
};

#define VALUES (sizeof values / sizeof *values)

static enum idem_fcgi_item
broken(struct idem_fcgi_reader *r, const char *wrong)
{
	r->state = DEAD;
	r->wrong = wrong;
	return IDEM_FCGI_BROKEN;
}

static enum idem_fcgi_item
too_large(struct idem_fcgi_reader *r)
{
	r->state = DEAD;
	r->wrong = "too many PARAMS";
	idem_buf_free(&r->params);
	return IDEM_FCGI_TOO_LARGE;
}

static bool
is_management(const struct idem_fcgi_reader *r)
{
	return idem_fcgi_frame_id(&r->frame) == 0;
}

static bool
is_type(const struct idem_fcgi_reader *r, enum idem_fcgi_type type)
{
	return idem_fcgi_frame_type(&r->frame) == type;
}

/*
 * Of a record that is not management's.  Asked anew at each step, not once a
 * record: the request may have been ended in the middle of one, and then the
 * rest of it is late.
 */
static bool
is_of_request(const struct idem_fcgi_reader *r)
{
	return idem_fcgi_frame_id(&r->frame) == r->id;
}

/* --- answers -------------------------------------------------------------- */

static enum idem_fcgi_item
answer(struct idem_fcgi_reader *r)
{
	if (!idem_buf_ok(&r->answer))
		return broken(r, "out of memory");
	return IDEM_FCGI_ANSWER;
}

static enum idem_fcgi_item
refuse(struct idem_fcgi_reader *r, enum idem_fcgi_status status)
{
	idem_buf_clear(&r->answer);
	idem_fcgi_end_write(&r->answer, idem_fcgi_frame_id(&r->frame), 0,
	    status);
	return answer(r);
}

static enum idem_fcgi_item
unknown_type(struct idem_fcgi_reader *r)
{
	uint8_t body[8] = { idem_fcgi_frame_type(&r->frame) };	/* 4.2 */

	idem_buf_clear(&r->answer);
	idem_fcgi_stream_write(&r->answer, IDEM_FCGI_UNKNOWN_TYPE, 0,
	    (struct idem_bytes){ body, sizeof body });
	return answer(r);
}

/* Which of our values are asked for; false if the pairs are cut. */
static bool
values_asked(struct idem_bytes left, bool asked[VALUES])
{
	struct idem_fcgi_pair pair;
	size_t i;
	int got;

	while ((got = idem_fcgi_pair_next(&left, &pair)) > 0)
		for (i = 0; i < VALUES; i++)
			if (idem_bytes_is(pair.name, values[i].name))
				asked[i] = true;
	return got == 0;
}

/* Each known name once, however often it was asked for; others not at all. */
static enum idem_fcgi_item
tell_values(struct idem_fcgi_reader *r)
{
	struct idem_buf pairs = { 0 };
	bool asked[VALUES] = { false };
	bool whole = values_asked(idem_buf_bytes(&r->small), asked);
	size_t i;

	idem_buf_free(&r->small);
	if (!whole)
		return broken(r, "GET_VALUES cut within a pair");
	for (i = 0; i < VALUES; i++)
		if (asked[i])
			idem_fcgi_pair_write(&pairs,
			    idem_bytes_text(values[i].name),
			    idem_bytes_text(values[i].value));
	idem_buf_clear(&r->answer);
	if (pairs.len > 0)
		idem_fcgi_stream_write(&r->answer,
		    IDEM_FCGI_GET_VALUES_RESULT, 0, idem_buf_bytes(&pairs));
	else
		idem_fcgi_stream_end(&r->answer,
		    IDEM_FCGI_GET_VALUES_RESULT, 0);
	if (!idem_buf_ok(&pairs))
		r->answer.failed = true;
	idem_buf_free(&pairs);
	return answer(r);
}

/* --- requests ------------------------------------------------------------- */

static enum idem_fcgi_item
begin(struct idem_fcgi_reader *r)
{
	unsigned role = (unsigned)r->begin[0] << 8 | r->begin[1];
	bool keep = (r->begin[2] & KEEP_CONN) != 0;

	if (r->id != 0)
		return refuse(r, IDEM_FCGI_CANT_MPX_CONN);
	if (role != IDEM_FCGI_RESPONDER) {
		r->refused = !keep;
		return refuse(r, IDEM_FCGI_UNKNOWN_ROLE);
	}
	r->id = idem_fcgi_frame_id(&r->frame);
	r->keep = keep;
	r->params.max = r->params_max;
	r->state = PARAMS;
	return IDEM_FCGI_BEGUN;
}

static enum idem_fcgi_item
params_whole(struct idem_fcgi_reader *r)
{
	struct idem_bytes left = idem_buf_bytes(&r->params);
	struct idem_fcgi_pair pair;
	int got;

	while ((got = idem_fcgi_pair_next(&left, &pair)) > 0)
		;
	if (got < 0)
		return broken(r, "PARAMS cut within a pair");
	r->state = BODY;
	return IDEM_FCGI_PARAMS_WHOLE;
}

static enum idem_fcgi_item
body_whole(struct idem_fcgi_reader *r)
{
	r->state = WHOLE;
	return IDEM_FCGI_BODY_WHOLE;
}

/* --- records -------------------------------------------------------------- */

/* Refuse what its header condemns, before its content is held. */
static enum idem_fcgi_item
on_begin_header(struct idem_fcgi_reader *r)
{
	if (idem_fcgi_frame_len(&r->frame) < sizeof r->begin)
		return broken(r, "BEGIN_REQUEST too short");
	if (is_of_request(r))
		return broken(r, "BEGIN_REQUEST for the request under way");
	return IDEM_FCGI_MORE;
}

static enum idem_fcgi_item
on_params_header(struct idem_fcgi_reader *r)
{
	if (r->state != PARAMS)
		return broken(r, "PARAMS after their end");
	if (idem_fcgi_frame_len(&r->frame) > r->params_max - r->params.len)
		return too_large(r);
	return IDEM_FCGI_MORE;
}

static enum idem_fcgi_item
on_header(struct idem_fcgi_reader *r)
{
	if (is_management(r))
		return IDEM_FCGI_MORE;
	if (is_type(r, IDEM_FCGI_BEGIN_REQUEST))
		return on_begin_header(r);
	if (!is_of_request(r))
		return IDEM_FCGI_MORE;
	if (is_type(r, IDEM_FCGI_PARAMS))
		return on_params_header(r);
	if (is_type(r, IDEM_FCGI_STDIN) && r->state == PARAMS)
		return broken(r, "STDIN before the end of PARAMS");
	return IDEM_FCGI_MORE;
}

static enum idem_fcgi_item
hold(struct idem_fcgi_reader *r, struct idem_buf *in, struct idem_bytes piece)
{
	idem_buf_append(in, piece.at, piece.len);
	if (!idem_buf_ok(in))
		return broken(r, "out of memory");
	return IDEM_FCGI_MORE;
}

/* Content may be longer than it has to be: the rest is passed over. */
static void
keep_begin(struct idem_fcgi_reader *r, struct idem_bytes piece)
{
	size_t from = idem_fcgi_frame_len(&r->frame) -
	    r->frame.content_left - piece.len;

	if (from >= sizeof r->begin)
		return;
	if (piece.len > sizeof r->begin - from)
		piece.len = sizeof r->begin - from;
	memcpy(r->begin + from, piece.at, piece.len);
}

static enum idem_fcgi_item
on_content(struct idem_fcgi_reader *r, struct idem_bytes piece,
    struct idem_bytes *body)
{
	if (is_management(r))
		return is_type(r, IDEM_FCGI_GET_VALUES) ?
		    hold(r, &r->small, piece) : IDEM_FCGI_MORE;
	if (is_type(r, IDEM_FCGI_BEGIN_REQUEST))
		keep_begin(r, piece);
	else if (is_of_request(r) && is_type(r, IDEM_FCGI_PARAMS))
		return hold(r, &r->params, piece);
	else if (is_of_request(r) && is_type(r, IDEM_FCGI_STDIN) &&
	    r->state == BODY) {
		*body = piece;
		return IDEM_FCGI_BODY;
	}
	return IDEM_FCGI_MORE;
}

static enum idem_fcgi_item
on_end(struct idem_fcgi_reader *r)
{
	bool empty = idem_fcgi_frame_len(&r->frame) == 0;

	if (is_management(r))
		return is_type(r, IDEM_FCGI_GET_VALUES) ?
		    tell_values(r) : unknown_type(r);
	if (is_type(r, IDEM_FCGI_BEGIN_REQUEST))
		return begin(r);
	if (!is_of_request(r))
		return IDEM_FCGI_MORE;
	if (is_type(r, IDEM_FCGI_ABORT_REQUEST))
		return IDEM_FCGI_ABORTED;
	if (is_type(r, IDEM_FCGI_PARAMS) && empty)
		return params_whole(r);
	if (is_type(r, IDEM_FCGI_STDIN) && empty && r->state == BODY)
		return body_whole(r);
	return IDEM_FCGI_MORE;
}

void
idem_fcgi_ended(struct idem_fcgi_reader *r)
{
	if (r->state != DEAD)
		r->state = IDLE;
	r->id = 0;
	idem_buf_free(&r->params);
}

void
idem_fcgi_reader_free(struct idem_fcgi_reader *r)
{
	idem_buf_free(&r->params);
	idem_buf_free(&r->answer);
	idem_buf_free(&r->small);
	*r = (struct idem_fcgi_reader){ .params_max = r->params_max };
}

bool
idem_fcgi_reader_busy(const struct idem_fcgi_reader *r)
{
	return r->id != 0 || idem_fcgi_frame_inside(&r->frame);
}

enum idem_fcgi_item
idem_fcgi_read(struct idem_fcgi_reader *r, struct idem_bytes *left,
    struct idem_bytes *body)
{
	enum idem_fcgi_item item = IDEM_FCGI_MORE;
	struct idem_bytes piece;

	if (r->state == DEAD)
		return IDEM_FCGI_BROKEN;
	while (item == IDEM_FCGI_MORE) {
		switch (idem_fcgi_frame_next(&r->frame, left, &piece)) {
		case IDEM_FCGI_STEP_MORE:
			return IDEM_FCGI_MORE;
		case IDEM_FCGI_STEP_HEADER:
			item = on_header(r);
			break;
		case IDEM_FCGI_STEP_CONTENT:
			item = on_content(r, piece, body);
			break;
		case IDEM_FCGI_STEP_END:
			item = on_end(r);
			break;
		case IDEM_FCGI_STEP_BAD:
			item = broken(r, "not FastCGI 1");
			break;
		}
	}
	return item;
}
