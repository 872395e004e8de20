/* SPDX-License-Identifier: ISC */
#include "saved.h"

#include <assert.h>
#include <string.h>

enum {
	HAS_STATUS = 1,
	KEPT = 2
};

/* What a writer may never hand over, and a reader may never hand out. */
static bool
is_sound(const struct idem_saved *s)
{
	return s->code >= 200 && s->code <= 599 &&
	    (s->has_status || s->status.len == 0) &&
	    (s->kept || s->body.len == 0);
}

/* All but its three parts. */
static void
write_lengths(struct idem_buf *out, const struct idem_saved *s)
{
	int flags = (s->has_status ? HAS_STATUS : 0) | (s->kept ? KEPT : 0);

	assert(is_sound(s));
	assert(s->status.len <= UINT32_MAX && s->lines.len <= UINT32_MAX);
	idem_buf_u8(out, IDEM_SAVED_VERSION);
	idem_buf_u8(out, (uint8_t)flags);
	idem_buf_u16(out, (uint16_t)s->code);
	idem_buf_u32(out, (uint32_t)s->status.len);
	idem_buf_u32(out, (uint32_t)s->lines.len);
	idem_buf_u64(out, s->body.len);
}

static uint8_t *
copy(uint8_t *to, struct idem_bytes from)
{
	if (from.len > 0)
		memcpy(to, from.at, from.len);
	return to + from.len;
}

/*
 * Many of these stay for long.  A buffer that grows, and is freed once it is
 * copied, would leave a hole beside each that fits nothing.
 */
struct idem_blob *
idem_saved_blob(const struct idem_saved *s)
{
	struct idem_buf lengths = { 0 };
	struct idem_blob *blob = NULL;
	size_t parts;
	uint8_t *to;

	write_lengths(&lengths, s);
	parts = lengths.len + s->status.len + s->lines.len;
	if (idem_buf_ok(&lengths) && s->body.len <= SIZE_MAX - parts)
		blob = idem_blob_room(parts + s->body.len);
	if (blob != NULL) {
		to = copy(blob->at, idem_buf_bytes(&lengths));
		to = copy(to, s->status);
		to = copy(to, s->lines);
		copy(to, s->body);
	}
	idem_buf_free(&lengths);
	return blob;
}

bool
idem_saved_read(struct idem_bytes from, struct idem_saved *to)
{
	struct idem_reader r = { .left = from };
	struct idem_saved s = { 0 };
	uint32_t status_len, lines_len;
	uint64_t body_len;
	uint8_t flags;

	if (idem_read_u8(&r) != IDEM_SAVED_VERSION)
		return false;
	flags = idem_read_u8(&r);
	s.has_status = (flags & HAS_STATUS) != 0;
	s.kept = (flags & KEPT) != 0;
	s.code = idem_read_u16(&r);
	status_len = idem_read_u32(&r);
	lines_len = idem_read_u32(&r);
	body_len = idem_read_u64(&r);
	s.status = idem_read_bytes(&r, status_len);
	s.lines = idem_read_bytes(&r, lines_len);
	/* The body is the rest: 64 bits are never squeezed into a size_t. */
	s.body = r.left;
	if (r.short_ || s.body.len != body_len ||
	    (flags & ~(HAS_STATUS | KEPT)) != 0 || !is_sound(&s))
		return false;
	*to = s;
	return true;
}
