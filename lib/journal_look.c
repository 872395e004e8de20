/* SPDX-License-Identifier: ISC */
#include "journal_private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE (16 * 1024)	/* read at once for the sum */

static uint64_t
summed(uint64_t len)
{
	return len < IDEM_SUMMED ? len : IDEM_SUMMED;
}

/* Those from `from` on, to the last that the sum is of. */
static bool
sum_rest(int file, struct idem_hash *h, uint64_t from, uint64_t len)
{
	uint8_t bytes[PIECE];
	size_t n;

	for (; from < summed(len); from += n) {
		n = summed(len) - from < sizeof bytes ?
		    (size_t)(summed(len) - from) : sizeof bytes;
		if (!idem_journal_read_at(file, bytes, n,
		    (off_t)(IDEM_NOTE_SIZE + from)))
			return false;
		idem_journal_sum_add(h, from, (struct idem_bytes){ bytes, n });
	}
	return true;
}

/* Consumes the hash, to which the first `done` bytes have been added. */
static bool
sum_is_right(int file, struct idem_hash *h, uint64_t done,
    const struct idem_trailer *t)
{
	struct idem_digest sum;

	if (!sum_rest(file, h, done, t->len)) {
		idem_hash_free(h);
		return false;
	}
	return idem_journal_sum_final(h, t, &sum) &&
	    idem_digest_equal(&sum, &t->sum);
}

static bool
read_trailer(int file, uint64_t size, const struct idem_owner *owner,
    struct idem_trailer *t)
{
	uint8_t bytes[JOURNAL_TRAILER_SIZE];
	struct idem_hash h;

	if (size < IDEM_NOTE_SIZE + sizeof bytes ||
	    !idem_journal_read_at(file, bytes, sizeof bytes,
	    (off_t)(size - sizeof bytes)) ||
	    !idem_journal_trailer_read(bytes, t) ||
	    t->len != size - IDEM_NOTE_SIZE - sizeof bytes)
		return false;
	idem_journal_sum_init(&h, owner);
	return sum_is_right(file, &h, 0, t);
}

static bool
is_begun(enum idem_note_state state)
{
	return state == IDEM_NOTE_BEGUN || state == IDEM_NOTE_ORPHAN;
}

void
idem_evidence_of(int file, enum idem_run_lock lock, struct idem_evidence *e)
{
	struct stat st;
	uint64_t size;

	*e = (struct idem_evidence){ .lock = lock };
	if (!idem_note_read(file, &e->note) || fstat(file, &st) != 0)
		return;
	size = st.st_size > 0 ? (uint64_t)st.st_size : 0;
	if (is_begun(e->note.state)) {
		e->noted = true;
		e->ended = read_trailer(file, size, &e->note.owner,
		    &e->trailer);
		return;
	}
	/* Nothing has begun, and there is output: one of both is wrong.  While
	   it is held it may just have begun. */
	e->noted = size == IDEM_NOTE_SIZE || lock == IDEM_RUN_HELD;
}

/* Shared, so that two who look do not take each other for its owner; and not
   for long, lest one who would take it is kept from it. */
static enum idem_run_lock
probe(int fd)
{
	enum idem_run_lock lock = IDEM_RUN_HELD;
	struct stat st;

	if (flock(fd, LOCK_SH | LOCK_NB) == 0) {
		lock = IDEM_RUN_FREE;
		flock(fd, LOCK_UN);
	}
	/* Removed since we opened it, in the order in which a run ends. */
	if (fstat(fd, &st) != 0 || st.st_nlink == 0)
		lock = IDEM_RUN_MISSING;
	return lock;
}

static int
open_to_read(int folder, const char *name)
{
	return openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

static int
open_either(int folder, const struct idem_owner *owner, bool *unknown)
{
	char name[JOURNAL_NAME_SIZE], other[JOURNAL_UNKNOWN_SIZE];
	int fd;

	*unknown = false;
	idem_journal_name(owner, name);
	fd = open_to_read(folder, name);
	if (fd >= 0 || errno != ENOENT)
		return fd;
	idem_journal_unknown_name(owner, other);
	fd = open_to_read(folder, other);
	*unknown = fd >= 0;
	return fd;
}

void
idem_evidence(int folder, const struct idem_owner *owner,
    struct idem_evidence *e, int *to)
{
	bool unknown;
	int fd = open_either(folder, owner, &unknown);

	if (to != NULL)
		*to = fd;
	if (fd < 0) {
		*e = (struct idem_evidence){
			.lock = errno == ENOENT ? IDEM_RUN_MISSING :
			    IDEM_RUN_HELD
		};
		return;
	}
	/* The lock first: who held it then may have gone on writing, but once
	   it is free nobody does. */
	idem_evidence_of(fd, probe(fd), e);
	e->unknown = unknown;
	if (to == NULL)
		close(fd);
}

struct idem_blob *
idem_evidence_bytes(int fd, const struct idem_evidence *e, uint64_t max)
{
	uint64_t len = e->trailer.len < max ? e->trailer.len : max;
	struct idem_blob *blob;
	struct idem_hash h;

	if (!e->ended || len > SIZE_MAX - sizeof *blob)
		return NULL;
	blob = idem_blob_room((size_t)len);
	if (blob == NULL)
		return NULL;
	idem_journal_sum_init(&h, &e->note.owner);
	if (idem_journal_read_at(fd, blob->at, blob->len, IDEM_NOTE_SIZE)) {
		idem_journal_sum_add(&h, 0, idem_blob_bytes(blob));
		if (sum_is_right(fd, &h, len, &e->trailer))
			return blob;
	}
	idem_hash_free(&h);
	idem_blob_drop(blob);
	return NULL;
}
