/* SPDX-License-Identifier: ISC */
#include "record.h"

#include "tap.h"

#include <string.h>

#define RECORD_LEN 146
#define ROUNDS 5000

/* xorshift64*: the same records on every machine. */
static uint64_t
next(uint64_t *seed)
{
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return *seed * UINT64_C(2685821657736338717);
}

static void
fill(uint64_t *seed, uint8_t *at, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		at[i] = (uint8_t)(next(seed) >> 56);
}

static struct idem_record
any_record(uint64_t *seed)
{
	struct idem_record r = {
		.state = (enum idem_state)(1 + next(seed) %
		    IDEM_STATE_TOMBSTONE),
		.attempt = (uint32_t)next(seed),
		.pid = (uint32_t)next(seed),
		.made_at = (int64_t)next(seed),
		.ended_at = (int64_t)next(seed),
		.lease_end = (int64_t)next(seed),
		.renewed_at = (int64_t)next(seed),
		.expires_at = (int64_t)next(seed),
	};

	fill(seed, r.owner.at, sizeof r.owner.at);
	fill(seed, r.boot.at, sizeof r.boot.at);
	fill(seed, r.fingerprint.at, sizeof r.fingerprint.at);
	fill(seed, r.guard.at, sizeof r.guard.at);
	return r;
}

static bool
same(const struct idem_record *a, const struct idem_record *b)
{
	return a->state == b->state && a->attempt == b->attempt &&
	    memcmp(&a->owner, &b->owner, sizeof a->owner) == 0 &&
	    memcmp(&a->boot, &b->boot, sizeof a->boot) == 0 &&
	    a->pid == b->pid &&
	    memcmp(&a->fingerprint, &b->fingerprint,
	    sizeof a->fingerprint) == 0 &&
	    memcmp(&a->guard, &b->guard, sizeof a->guard) == 0 &&
	    a->made_at == b->made_at && a->ended_at == b->ended_at &&
	    a->lease_end == b->lease_end && a->renewed_at == b->renewed_at &&
	    a->expires_at == b->expires_at;
}

static void
check_round_trips(void)
{
	struct idem_record r, back;
	struct idem_bytes answer;
	struct idem_buf b = { 0 };
	uint64_t seed = 20250101;
	int i, wrong = 0;

	note("seed %llu", (unsigned long long)seed);
	for (i = 0; i < ROUNDS; i++) {
		r = any_record(&seed);
		idem_buf_clear(&b);
		idem_record_write(&b, &r);
		idem_buf_text(&b, "the answer");
		if (!idem_record_read(idem_buf_bytes(&b), &back, &answer) ||
		    !same(&r, &back) || !idem_bytes_is(answer, "the answer"))
			wrong++;
	}
	is_int(wrong, 0, "%d records are read as they were written, with the "
	    "answer after them", ROUNDS);
	idem_buf_free(&b);
}

static bool
unread(struct idem_bytes in)
{
	struct idem_record r = { .attempt = 77 };
	struct idem_bytes answer = { "x", 1 };

	return !idem_record_read(in, &r, &answer) && r.attempt == 77 &&
	    answer.len == 1;
}

static void
check_refusals(void)
{
	struct idem_record r = { .state = IDEM_STATE_ISSUED };
	struct idem_bytes answer;
	struct idem_buf b = { 0 };
	size_t i, wrong = 0;

	idem_record_write(&b, &r);
	is_int((long long)b.len, RECORD_LEN, "a record takes %d bytes",
	    RECORD_LEN);
	ok(idem_record_read(idem_buf_bytes(&b), &r, &answer) &&
	    answer.len == 0, "without an answer after it, it is empty");
	for (i = 0; i < b.len; i++)
		wrong += !unread((struct idem_bytes){ b.at, i });
	is_int((long long)wrong, 0, "no shorter string is read");
	b.at[0] = IDEM_RECORD_VERSION + 1;
	ok(unread(idem_buf_bytes(&b)), "another version is not read");
	b.at[0] = IDEM_RECORD_VERSION;
	for (i = 0, wrong = 0; i < 256; i++) {
		b.at[1] = (uint8_t)i;
		if (i == IDEM_STATE_ABSENT || i > IDEM_STATE_TOMBSTONE)
			wrong += !unread(idem_buf_bytes(&b));
		else
			wrong += unread(idem_buf_bytes(&b));
	}
	is_int((long long)wrong, 0, "only the states that are stored are read");
	idem_buf_free(&b);
}

/* The bytes live on in stores: they may not change within a version. */
static void
check_bytes(void)
{
	struct idem_record r = {
		.state = IDEM_STATE_COMPLETED, .attempt = 0x01020304,
		.pid = 0x05060708, .made_at = 1, .ended_at = -2,
		.lease_end = 3, .renewed_at = 4, .expires_at = 5,
	};
	uint8_t want[RECORD_LEN] = { 1, 3, 1, 2, 3, 4 };
	struct idem_buf b = { 0 };

	memset(r.owner.at, 'o', sizeof r.owner.at);
	memset(r.boot.at, 'b', sizeof r.boot.at);
	memset(r.fingerprint.at, 'f', sizeof r.fingerprint.at);
	memset(r.guard.at, 'g', sizeof r.guard.at);
	memset(want + 6, 'o', 16);
	memset(want + 22, 'b', 16);
	memcpy(want + 38, "\5\6\7\10", 4);
	memset(want + 42, 'f', 32);
	memset(want + 74, 'g', 32);
	want[113] = 1;
	memset(want + 114, 0xff, 7);
	want[121] = 0xfe;
	want[129] = 3;
	want[137] = 4;
	want[145] = 5;
	idem_record_write(&b, &r);
	is_bytes(b.at, b.len, want, sizeof want, "version 1 is these bytes");
	idem_buf_free(&b);
}

static void
check_texts(void)
{
	static const char *const texts[] = {
		"absent", "issued", "in-progress", "completed", "unknown",
		"tombstone"
	};
	size_t i;

	for (i = 0; i < sizeof texts / sizeof *texts; i++)
		is(idem_state_text((enum idem_state)i), texts[i],
		    "state %zu is called %s", i, texts[i]);
}

int
main(void)
{
	check_round_trips();
	check_refusals();
	check_bytes();
	check_texts();
	return done();
}
