/* SPDX-License-Identifier: ISC */
#include "redis_script.h"

#include "fuzz.h"

#define PARTS_MAX 8

/*
 * A reply of up to eight parts, each a byte for its kind and one for its
 * length, then so many bytes.  What is read of it is a record or none, and a
 * verdict only of an op that has it.
 */
static size_t
parts_of(struct idem_reader *from, struct idem_redis_value parts[PARTS_MAX])
{
	size_t n = 0;
	uint8_t len;

	while (n < PARTS_MAX && from->left.len > 0) {
		parts[n].type = (enum idem_redis_type)(idem_read_u8(from) % 6);
		len = idem_read_u8(from);
		if (parts[n].type == IDEM_REDIS_INTEGER)
			parts[n].integer = (int64_t)idem_read_u64(from);
		else
			parts[n].text = idem_read_bytes(from, len);
		if (from->short_)
			break;
		n++;
	}
	return n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *at, size_t len)
{
	struct idem_redis_value parts[PARTS_MAX] = { 0 };
	struct idem_reader from = { .left = { at, len } };
	struct idem_redis_value v = { .type = IDEM_REDIS_ARRAY, .at = parts };
	struct idem_redis_script_reply reply;
	struct idem_store_result result;
	enum idem_store_op op;
	int64_t ms;

	v.len = parts_of(&from, parts);
	if (idem_redis_script_time(&v, &ms))
		fuzz_must(v.len == 2 && ms >= 0);
	if (!idem_redis_script_read(&v, &reply))
		return 0;
	fuzz_must(v.len == 6);
	fuzz_must(reply.record.state <= IDEM_STATE_TOMBSTONE);
	for (op = IDEM_STORE_CLAIM; op <= IDEM_STORE_ISSUE; op++)
		if (idem_redis_script_result(&reply, op, &result))
			fuzz_must(result.op == op &&
			    (result.class == IDEM_OK) ==
			    (result.error == NULL));
	return 0;
}
