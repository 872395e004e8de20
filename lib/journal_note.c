/* SPDX-License-Identifier: ISC */
#include "journal_private.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/*
 * The note, all numbers big endian.  What changes later stands apart, so that
 * each change is one write within a page: a kill leaves all of it or nothing.
 *
 *	0	magic, 8 bytes
 *	8	version, flags, a zero
 *	11	state: a letter
 *	12	attempt
 *	16	renewed_ms
 *	24	why, 3 zeroes, why_code, why_ms
 *	40	boot, owner, key, history
 *	112	pid, lease_ms, limit_ms, 4 zeroes
 *	128	keep_ms, tombstone_ms, kept_max, made_ms
 *	160	released, 6 zeroes, claimed_ms
 *	224	store, route, what
 *	704	zeroes
 */
#define MAGIC "idem-run"
#define VERSION 1

enum {
	AT_VERSION = 8,
	AT_STATE = 11,
	AT_RENEWED = 16,
	AT_WHY = 24,
	AT_WHO = 40,
	AT_KEEP = 128,
	AT_RELEASED = 160,
	AT_CLAIMED = 216,
	AT_TEXTS = 224,
	NOTE_END = AT_TEXTS + 3 * IDEM_NOTE_TEXT,
	WHY_LEN = AT_WHO - AT_WHY
};

_Static_assert(NOTE_END <= IDEM_NOTE_SIZE, "all of it has room");
_Static_assert(AT_RELEASED + IDEM_NOTE_CODES / 8 <= AT_CLAIMED &&
    AT_CLAIMED + 8 <= AT_TEXTS, "released too");

enum {
	FASTCGI = 1,
	HEAD = 2,
	ANY_EXIT = 4,
	PAGED = 8,
	STRICT = 16,
	ALL_FLAGS = 31
};

static const char states[] = {
	[IDEM_NOTE_CLAIMING] = 'c',
	[IDEM_NOTE_HANDED] = 'h',
	[IDEM_NOTE_NOT_BEGUN] = 'n',
	[IDEM_NOTE_BEGUN] = 'b',
	[IDEM_NOTE_ORPHAN] = 'o'
};

/* --- writing -------------------------------------------------------------- */

static void
put_bytes(uint8_t **at, const void *from, size_t len)
{
	memcpy(*at, from, len);
	*at += len;
}

/* What does not fit is cut; the rest of its room are zeroes. */
static void
put_text(uint8_t **at, const char *text)
{
	memcpy(*at, text, strnlen(text, IDEM_NOTE_TEXT - 1));
	*at += IDEM_NOTE_TEXT;
}

static int
write_at(int file, const void *at, size_t len, off_t to)
{
	ssize_t n;

	do
		n = pwrite(file, at, len, to);
	while (n == -1 && errno == EINTR);
	if (n == -1)
		return -1;
	if ((size_t)n != len) {
		errno = ENOSPC;
		return -1;
	}
	return 0;
}

static int
flags_of(const struct idem_note *n)
{
	return (n->fastcgi ? FASTCGI : 0) | (n->head ? HEAD : 0) |
	    (n->any_exit ? ANY_EXIT : 0) | (n->paged ? PAGED : 0) |
	    (n->strict ? STRICT : 0);
}

static void
put_why(uint8_t **at, enum idem_note_why why, int32_t code, int64_t wall_ms)
{
	idem_journal_put(at, why, 1);
	*at += 3;
	idem_journal_put(at, (uint32_t)code, 4);
	idem_journal_put(at, (uint64_t)wall_ms, 8);
}

static void
put_terms(uint8_t *at, const struct idem_note *n)
{
	idem_journal_put(&at, (uint64_t)n->keep_ms, 8);
	idem_journal_put(&at, (uint64_t)n->tombstone_ms, 8);
	idem_journal_put(&at, n->kept_max, 8);
	idem_journal_put(&at, (uint64_t)n->made_ms, 8);
	put_bytes(&at, n->released, sizeof n->released);
	at += AT_CLAIMED - AT_RELEASED - IDEM_NOTE_CODES / 8;
	idem_journal_put(&at, (uint64_t)n->claimed_ms, 8);
}

int
idem_note_write(int file, const struct idem_note *n)
{
	uint8_t bytes[IDEM_NOTE_SIZE] = MAGIC, *at = bytes + AT_VERSION;

	idem_journal_put(&at, VERSION, 1);
	idem_journal_put(&at, (uint64_t)flags_of(n), 1);
	at = bytes + AT_STATE;
	idem_journal_put(&at, (uint8_t)states[n->state], 1);
	idem_journal_put(&at, n->attempt, 4);
	idem_journal_put(&at, (uint64_t)n->renewed_ms, 8);
	put_why(&at, n->why, n->why_code, n->why_ms);
	put_bytes(&at, n->boot.at, sizeof n->boot.at);
	put_bytes(&at, n->owner.at, sizeof n->owner.at);
	put_bytes(&at, n->key.at, sizeof n->key.at);
	put_bytes(&at, n->history.at, sizeof n->history.at);
	idem_journal_put(&at, n->pid, 4);
	idem_journal_put(&at, n->lease_ms, 4);
	idem_journal_put(&at, n->limit_ms, 4);
	put_terms(bytes + AT_KEEP, n);
	at = bytes + AT_TEXTS;
	put_text(&at, n->store);
	put_text(&at, n->route);
	put_text(&at, n->what);
	return write_at(file, bytes, sizeof bytes, 0);
}

int
idem_note_set_state(int file, enum idem_note_state state)
{
	return write_at(file, &states[state], 1, AT_STATE);
}

int
idem_note_set_attempt(int file, uint32_t attempt, enum idem_note_state state)
{
	uint8_t bytes[5], *at = bytes;

	idem_journal_put(&at, (uint8_t)states[state], 1);
	idem_journal_put(&at, attempt, 4);
	return write_at(file, bytes, sizeof bytes, AT_STATE);
}

int
idem_note_set_renewed(int file, int64_t boot_ms)
{
	uint8_t bytes[8], *at = bytes;

	idem_journal_put(&at, (uint64_t)boot_ms, 8);
	return write_at(file, bytes, sizeof bytes, AT_RENEWED);
}

int
idem_note_set_why(int file, enum idem_note_why why, int32_t code,
    int64_t wall_ms)
{
	uint8_t bytes[WHY_LEN] = { 0 }, *at = bytes;

	put_why(&at, why, code, wall_ms);
	return write_at(file, bytes, sizeof bytes, AT_WHY);
}

/* --- reading -------------------------------------------------------------- */

static struct idem_reader
reader(const uint8_t *bytes, size_t from)
{
	return (struct idem_reader){
		.left = { bytes + from, IDEM_NOTE_SIZE - from }
	};
}

static int64_t
read_time(struct idem_reader *r)
{
	return (int64_t)idem_read_u64(r);
}

static void
read_text(struct idem_reader *r, char text[IDEM_NOTE_TEXT])
{
	idem_read_copy(r, text, IDEM_NOTE_TEXT);
	text[IDEM_NOTE_TEXT - 1] = '\0';
}

static bool
read_head(const uint8_t *bytes, struct idem_note *n)
{
	uint8_t flags = bytes[AT_VERSION + 1];
	const char *state = memchr(states, bytes[AT_STATE], sizeof states);

	if (memcmp(bytes, MAGIC, AT_VERSION) != 0 ||
	    bytes[AT_VERSION] != VERSION || (flags & ~ALL_FLAGS) != 0 ||
	    state == NULL)
		return false;
	n->state = (enum idem_note_state)(state - states);
	n->fastcgi = (flags & FASTCGI) != 0;
	n->head = (flags & HEAD) != 0;
	n->any_exit = (flags & ANY_EXIT) != 0;
	n->paged = (flags & PAGED) != 0;
	n->strict = (flags & STRICT) != 0;
	return true;
}

/* For people only: what is not known here was not said. */
static void
read_why(struct idem_reader *r, struct idem_note *n)
{
	uint8_t why = idem_read_u8(r);

	n->why = why <= IDEM_WHY_UNWRITTEN ? (enum idem_note_why)why :
	    IDEM_WHY_NOT_SAID;
	idem_read_bytes(r, 3);
	n->why_code = (int32_t)idem_read_u32(r);
	n->why_ms = read_time(r);
}

static void
read_terms(struct idem_reader *r, struct idem_note *n)
{
	n->keep_ms = read_time(r);
	n->tombstone_ms = read_time(r);
	n->kept_max = idem_read_u64(r);
	n->made_ms = read_time(r);
	idem_read_copy(r, n->released, sizeof n->released);
	idem_read_bytes(r, AT_CLAIMED - AT_RELEASED - IDEM_NOTE_CODES / 8);
	n->claimed_ms = read_time(r);
}

bool
idem_note_read(int file, struct idem_note *n)
{
	uint8_t bytes[IDEM_NOTE_SIZE];
	struct idem_reader r;

	*n = (struct idem_note){ 0 };
	if (!idem_journal_read_at(file, bytes, sizeof bytes, 0) ||
	    !read_head(bytes, n))
		return false;
	r = reader(bytes, AT_STATE + 1);
	n->attempt = idem_read_u32(&r);
	n->renewed_ms = read_time(&r);
	read_why(&r, n);
	idem_read_copy(&r, n->boot.at, sizeof n->boot.at);
	idem_read_copy(&r, n->owner.at, sizeof n->owner.at);
	idem_read_copy(&r, n->key.at, sizeof n->key.at);
	idem_read_copy(&r, n->history.at, sizeof n->history.at);
	n->pid = idem_read_u32(&r);
	n->lease_ms = idem_read_u32(&r);
	n->limit_ms = idem_read_u32(&r);
	r = reader(bytes, AT_KEEP);
	read_terms(&r, n);
	r = reader(bytes, AT_TEXTS);
	read_text(&r, n->store);
	read_text(&r, n->route);
	read_text(&r, n->what);
	return true;
}
