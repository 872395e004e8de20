/* SPDX-License-Identifier: ISC */
#include "record.h"

#include <assert.h>
#include <stdlib.h>

void
idem_record_write(struct idem_buf *out, const struct idem_record *r)
{
	assert(r->state > IDEM_STATE_ABSENT &&
	    r->state <= IDEM_STATE_TOMBSTONE);
	idem_buf_u8(out, IDEM_RECORD_VERSION);
	idem_buf_u8(out, (uint8_t)r->state);
	idem_buf_u32(out, r->attempt);
	idem_buf_append(out, r->owner.at, sizeof r->owner.at);
	idem_buf_append(out, r->boot.at, sizeof r->boot.at);
	idem_buf_u32(out, r->pid);
	idem_buf_append(out, r->fingerprint.at, sizeof r->fingerprint.at);
	idem_buf_append(out, r->guard.at, sizeof r->guard.at);
	idem_buf_u64(out, (uint64_t)r->made_at);
	idem_buf_u64(out, (uint64_t)r->ended_at);
	idem_buf_u64(out, (uint64_t)r->lease_end);
	idem_buf_u64(out, (uint64_t)r->renewed_at);
	idem_buf_u64(out, (uint64_t)r->expires_at);
}

static int64_t
read_time(struct idem_reader *from)
{
	return (int64_t)idem_read_u64(from);
}

bool
idem_record_read(struct idem_bytes bytes, struct idem_record *to,
    struct idem_bytes *answer)
{
	struct idem_reader from = { .left = bytes };
	struct idem_record r = { 0 };
	uint8_t state;

	if (idem_read_u8(&from) != IDEM_RECORD_VERSION)
		return false;
	state = idem_read_u8(&from);
	if (state == IDEM_STATE_ABSENT || state > IDEM_STATE_TOMBSTONE)
		return false;
	r.state = (enum idem_state)state;
	r.attempt = idem_read_u32(&from);
	idem_read_copy(&from, r.owner.at, sizeof r.owner.at);
	idem_read_copy(&from, r.boot.at, sizeof r.boot.at);
	r.pid = idem_read_u32(&from);
	idem_read_copy(&from, r.fingerprint.at, sizeof r.fingerprint.at);
	idem_read_copy(&from, r.guard.at, sizeof r.guard.at);
	r.made_at = read_time(&from);
	r.ended_at = read_time(&from);
	r.lease_end = read_time(&from);
	r.renewed_at = read_time(&from);
	r.expires_at = read_time(&from);
	if (from.short_)
		return false;
	*to = r;
	*answer = from.left;
	return true;
}

const char *
idem_state_text(enum idem_state state)
{
	switch (state) {
	case IDEM_STATE_ABSENT:
		return "absent";
	case IDEM_STATE_ISSUED:
		return "issued";
	case IDEM_STATE_IN_PROGRESS:
		return "in-progress";
	case IDEM_STATE_COMPLETED:
		return "completed";
	case IDEM_STATE_UNKNOWN:
		return "unknown";
	case IDEM_STATE_TOMBSTONE:
		return "tombstone";
	}
	abort();
}
