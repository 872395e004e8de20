/* SPDX-License-Identifier: ISC */
#include "redis_script.h"
#include "store_call.h"
#include "tap.h"

#include <string.h>

/* What the script is given and what is read of its reply, without a server. */

#define PARTS 6

static const enum idem_redis_type shape[PARTS] = {
	IDEM_REDIS_STRING, IDEM_REDIS_INTEGER, IDEM_REDIS_INTEGER,
	IDEM_REDIS_STRING, IDEM_REDIS_STRING, IDEM_REDIS_STRING,
};

/* A reply, as it should be until a test spoils it. */
struct reply {
	struct idem_redis_value parts[PARTS], whole;
	struct idem_buf record;
};

static void
reply_init(struct reply *r, const char *verdict)
{
	const struct idem_record record = {
		.state = IDEM_STATE_COMPLETED,
		.attempt = 3,
	};
	size_t i;

	*r = (struct reply){ 0 };
	idem_record_write(&r->record, &record);
	idem_buf_append(&r->record, "tombstonhistory!", 16);
	for (i = 0; i < PARTS; i++)
		r->parts[i].type = shape[i];
	r->parts[0].text = idem_bytes_text(verdict);
	r->parts[1].integer = 1700000000000;
	r->parts[2].integer = 6;
	r->parts[3].text = idem_buf_bytes(&r->record);
	r->parts[4].text = idem_bytes_text("12345678");
	r->parts[5].text = idem_bytes_text("answer");
	r->whole = (struct idem_redis_value){
		.type = IDEM_REDIS_ARRAY,
		.at = r->parts,
		.len = PARTS,
	};
}

static void
test_read(void)
{
	struct idem_redis_script_reply got;
	struct idem_store_result result;
	struct reply r;

	reply_init(&r, "COMPLETED");
	ok(idem_redis_script_read(&r.whole, &got), "a reply is read");
	ok(got.now_ms == 1700000000000 && got.answer_len == 6 &&
	    got.record.attempt == 3 &&
	    memcmp(got.history.at, "12345678", IDEM_HISTORY_LEN) == 0 &&
	    idem_bytes_is(got.answer, "answer"), "with all its parts");
	ok(idem_redis_script_result(&got, IDEM_STORE_CLAIM, &result) &&
	    result.claim == IDEM_CLAIM_COMPLETED && result.class == IDEM_OK &&
	    result.record.state == IDEM_STATE_COMPLETED,
	    "and is the result of a claim");
	ok(!idem_redis_script_result(&got, IDEM_STORE_RENEW, &result),
	    "but of no renewal");
	ok(!idem_redis_script_result(&got, IDEM_STORE_COMPLETE, &result),
	    "and of no completion");
	r.parts[3].text.len = 0;
	ok(idem_redis_script_read(&r.whole, &got) &&
	    got.record.state == IDEM_STATE_ABSENT, "there may be no record");
	idem_buf_free(&r.record);
}

static void
test_verdicts(void)
{
	static const char *const claims[] = {
		"MISMATCH", "WITHHELD", "COMPLETED", "EXPIRED", "IN_PROGRESS",
		"UNKNOWN", "ABSENT", "WON", "OURS", "LATE", "HISTORY",
		"NO_TOKEN",
	};
	struct idem_redis_script_reply got;
	struct idem_store_result result;
	struct reply r;
	unsigned i, right = 0;

	for (i = 0; i < sizeof claims / sizeof *claims; i++) {
		reply_init(&r, claims[i]);
		right += idem_redis_script_read(&r.whole, &got) &&
		    idem_redis_script_result(&got, IDEM_STORE_CLAIM, &result) &&
		    result.claim == (enum idem_claim)i;
		idem_buf_free(&r.record);
	}
	is_int(right, i, "each verdict of a claim is its own");
	reply_init(&r, "SAME");
	ok(idem_redis_script_read(&r.whole, &got) &&
	    idem_redis_script_result(&got, IDEM_STORE_RELEASE, &result) &&
	    result.write == IDEM_WRITTEN,
	    "what was so already by us is written");
	r.parts[0].text = idem_bytes_text("BAD_RECORD");
	ok(idem_redis_script_read(&r.whole, &got) &&
	    idem_redis_script_result(&got, IDEM_STORE_CLAIM, &result) &&
	    result.claim == IDEM_CLAIM_BAD_RECORD &&
	    result.class == IDEM_CLASS_CONFIG, "a strange record is one");
	r.parts[0].text = idem_bytes_text("GRANTED");
	ok(idem_redis_script_read(&r.whole, &got) &&
	    !idem_redis_script_result(&got, IDEM_STORE_CLAIM, &result),
	    "a word of another script's is none");
	idem_buf_free(&r.record);
}

static void
test_shapes(void)
{
	struct idem_redis_script_reply got;
	struct reply r;
	unsigned i, read = 0;
	size_t len;

	ok(!idem_redis_script_read(NULL, &got), "no reply is none");
	for (i = 0; i < PARTS; i++) {
		reply_init(&r, "WON");
		r.parts[i].type = IDEM_REDIS_NIL;
		read += idem_redis_script_read(&r.whole, &got);
		idem_buf_free(&r.record);
	}
	is_int(read, 0, "nor one with a part of another kind");
	reply_init(&r, "WON");
	for (r.whole.len = 0; r.whole.len < PARTS; r.whole.len++)
		read += idem_redis_script_read(&r.whole, &got);
	r.whole.type = IDEM_REDIS_STATUS;
	read += idem_redis_script_read(&r.whole, &got);
	is_int(read, 0, "nor one that is too short, or no array");
	r.whole.type = IDEM_REDIS_ARRAY;
	len = r.record.len;
	for (r.parts[3].text.len = 1; r.parts[3].text.len < len;
	    r.parts[3].text.len++)
		read += idem_redis_script_read(&r.whole, &got);
	is_int(read, 0, "nor one with a part of a record");
	r.parts[4].text.len = 7;
	read += idem_redis_script_read(&r.whole, &got);
	r.parts[4].text.len = 8;
	r.parts[2].integer = -1;
	read += idem_redis_script_read(&r.whole, &got);
	is_int(read, 0, "nor one with a part of a history, or less than no "
	    "answer");
	idem_buf_free(&r.record);
}

static void
test_time(void)
{
	struct idem_redis_value parts[2] = {
		{ .type = IDEM_REDIS_STRING,
		  .text = { "1700000000", 10 } },
		{ .type = IDEM_REDIS_STRING, .text = { "123999", 6 } },
	};
	struct idem_redis_value v = {
		.type = IDEM_REDIS_ARRAY, .at = parts, .len = 2
	};
	int64_t ms = 0;

	ok(idem_redis_script_time(&v, &ms) && ms == 1700000000123,
	    "the server's time is read in milliseconds");
	v.len = 1;
	ok(!idem_redis_script_time(&v, &ms), "but not half of it");
	v.len = 2;
	parts[0].text = idem_bytes_text("99999999999999999999");
	ok(!idem_redis_script_time(&v, &ms), "nor one beyond all time");
	parts[0].text = idem_bytes_text("1700000000");
	parts[1].text = idem_bytes_text("-1");
	ok(!idem_redis_script_time(&v, &ms), "nor one before its second");
}

/* The longest calls fit into what is set aside for them. */
static void
test_args(void)
{
	struct idem_store_call call = {
		.attempt = UINT32_MAX,
		.lease_ms = UINT32_MAX,
		.keep_ms = INT64_MAX,
		.tombstone_ms = INT64_MAX,
		.attempts_max = UINT32_MAX,
		.pid = 0x01020304,
		.look_only = true, .take_over = true, .anew = true,
		.issued_only = true, .strict = true,
	};
	const struct idem_redis_script_call c = {
		.call = &call,
		.key = idem_bytes_text("idem:k"),
		.token = true,
		.fixed_boot_ms = INT64_MIN,
		.fixed_wall_ms = INT64_MIN,
		.not_after_ms = INT64_MIN,
		.inline_max = UINT64_MAX,
	};
	static const enum idem_store_op ops[] = {
		IDEM_STORE_CLAIM, IDEM_STORE_RENEW, IDEM_STORE_COMPLETE,
		IDEM_STORE_RELEASE, IDEM_STORE_UNKNOWN, IDEM_STORE_SETTLE,
		IDEM_STORE_ISSUE,
	};
	struct idem_redis_script_args args;
	unsigned i, right = 0;

	for (i = 0; i < sizeof ops / sizeof *ops; i++) {
		call.op = ops[i];
		idem_redis_script_args(&args, &c);
		right += idem_bytes_is(args.at[0], "1") &&
		    idem_bytes_is(args.at[1], "idem:k") &&
		    idem_bytes_is(args.at[2], idem_store_op_text(ops[i])) &&
		    idem_bytes_is(args.at[4], "4294967295") &&
		    idem_bytes_is(args.at[5], "-9223372036854775808");
	}
	is_int(right, i, "each call begins with key, op, attempt and clock");
	call.op = IDEM_STORE_CLAIM;
	idem_redis_script_args(&args, &c);
	ok(idem_bytes_is(args.at[7], "tloais"), "its flags are letters");
	ok(args.at[11].len == 4 && memcmp(args.at[11].at, "\1\2\3\4", 4) == 0,
	    "a process id is as in the record");
	call.op = IDEM_STORE_COMPLETE;
	idem_redis_script_args(&args, &c);
	ok(idem_bytes_is(args.at[7], "ts"),
	    "a completion has those that are for it");
}

int
main(void)
{
	test_read();
	test_verdicts();
	test_shapes();
	test_time();
	test_args();
	return done();
}
