/* SPDX-License-Identifier: ISC */
#include "journal_private.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAGIC "idem-end"
#define VERSION 1

enum {
	LIMIT = 1,
	SAVED = 2,
	ALL_FLAGS = 3
};

/* --- the trailer ---------------------------------------------------------- */

static int
flags_of(const struct idem_trailer *t)
{
	return (t->limit ? LIMIT : 0) | (t->saved ? SAVED : 0);
}

static void
trailer_write(const struct idem_trailer *t,
    uint8_t bytes[JOURNAL_TRAILER_SIZE])
{
	uint8_t *at = bytes + sizeof MAGIC - 1;

	memset(bytes, 0, JOURNAL_TRAILER_SIZE);
	memcpy(bytes, MAGIC, sizeof MAGIC - 1);
	idem_journal_put(&at, VERSION, 1);
	idem_journal_put(&at, (uint64_t)flags_of(t), 1);
	at += 2;
	idem_journal_put(&at, (uint32_t)t->status, 4);
	idem_journal_put(&at, t->len, 8);
	idem_journal_put(&at, (uint64_t)t->at_ms, 8);
	memcpy(at, t->sum.at, sizeof t->sum.at);
}

bool
idem_journal_trailer_read(const uint8_t bytes[JOURNAL_TRAILER_SIZE],
    struct idem_trailer *t)
{
	struct idem_reader r = { .left = { bytes, JOURNAL_TRAILER_SIZE } };
	uint8_t flags;

	if (!idem_bytes_is(idem_read_bytes(&r, sizeof MAGIC - 1), MAGIC) ||
	    idem_read_u8(&r) != VERSION)
		return false;
	flags = idem_read_u8(&r);
	if ((flags & ~ALL_FLAGS) != 0 || idem_read_u16(&r) != 0)
		return false;
	t->limit = (flags & LIMIT) != 0;
	t->saved = (flags & SAVED) != 0;
	t->status = (int32_t)idem_read_u32(&r);
	t->len = idem_read_u64(&r);
	t->at_ms = (int64_t)idem_read_u64(&r);
	idem_read_copy(&r, t->sum.at, sizeof t->sum.at);
	return true;
}

/* --- its sum -------------------------------------------------------------- */

void
idem_journal_sum_init(struct idem_hash *h, const struct idem_owner *owner)
{
	idem_hash_init(h);
	idem_hash_add(h, owner->at, sizeof owner->at);
}

void
idem_journal_sum_add(struct idem_hash *h, uint64_t before,
    struct idem_bytes bytes)
{
	if (before >= IDEM_SUMMED)
		return;
	if (bytes.len > IDEM_SUMMED - before)
		bytes.len = (size_t)(IDEM_SUMMED - before);
	idem_hash_add(h, bytes.at, bytes.len);
}

bool
idem_journal_sum_final(struct idem_hash *h, const struct idem_trailer *t,
    struct idem_digest *sum)
{
	idem_hash_u64(h, (uint64_t)flags_of(t));
	idem_hash_u64(h, (uint32_t)t->status);
	idem_hash_u64(h, (uint64_t)t->at_ms);
	idem_hash_u64(h, t->len);
	return idem_hash_final(h, sum);
}

/* --- what a run writes ---------------------------------------------------- */

void
idem_run_out_init(struct idem_run_out *o, const struct idem_owner *owner)
{
	idem_journal_sum_init(&o->hash, owner);
	o->len = 0;
}

/* What there is of it goes, so that it ends in nothing like a trailer. */
static int
make_void(struct idem_run_out *o, int file, int error)
{
	o->hash.failed = true;
	if (ftruncate(file, IDEM_NOTE_SIZE) != 0)
		error = errno;
	errno = error;
	return -1;
}

/* 0 or an errno.  One write: where it ends short there is no more room. */
static int
write_from(int file, uint64_t len, const struct iovec *v, int count)
{
	size_t all = 0;
	ssize_t n;
	int i;

	for (i = 0; i < count; i++)
		all += v[i].iov_len;
	do
		n = pwritev(file, v, count, (off_t)(IDEM_NOTE_SIZE + len));
	while (n == -1 && errno == EINTR);
	if (n == -1)
		return errno;
	return (size_t)n == all ? 0 : ENOSPC;
}

static struct iovec
vector(struct idem_bytes bytes)
{
	/* The call takes them for reading and writing alike. */
	union {
		const void *from;
		void *to;
	} at = { .from = bytes.at };

	return (struct iovec){ .iov_base = at.to, .iov_len = bytes.len };
}

int
idem_run_out_add(struct idem_run_out *o, int file, struct idem_bytes bytes)
{
	struct iovec v = vector(bytes);
	int error;

	if (o->hash.failed || !o->hash.begun)
		return make_void(o, file, EIO);
	error = write_from(file, o->len, &v, 1);
	if (error != 0)
		return make_void(o, file, error);
	idem_journal_sum_add(&o->hash, o->len, bytes);
	o->len += bytes.len;
	return 0;
}

int
idem_run_out_end(struct idem_run_out *o, int file, struct idem_bytes rest,
    struct idem_trailer *t, int64_t boot_ms)
{
	uint8_t end[JOURNAL_TRAILER_SIZE];
	struct iovec v[2] = {
		vector(rest), { .iov_base = end, .iov_len = sizeof end }
	};
	uint64_t before = o->len;
	int error = EIO;

	idem_journal_sum_add(&o->hash, before, rest);
	t->len = before + rest.len;
	t->at_ms = boot_ms;
	if (idem_journal_sum_final(&o->hash, t, &t->sum)) {
		trailer_write(t, end);
		error = write_from(file, before, v, 2);
	}
	idem_run_out_free(o);
	return error == 0 ? 0 : make_void(o, file, error);
}

void
idem_run_out_free(struct idem_run_out *o)
{
	idem_hash_free(&o->hash);
	o->len = 0;
}
