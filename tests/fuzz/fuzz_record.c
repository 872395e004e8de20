/* SPDX-License-Identifier: ISC */
#include "record.h"

#include "fuzz.h"

/* Whatever is read is written as the same bytes, the answer after it. */
int
LLVMFuzzerTestOneInput(const uint8_t *at, size_t len)
{
	struct idem_bytes in = { at, len }, answer;
	struct idem_buf b = { 0 };
	struct idem_record r;

	if (!idem_record_read(in, &r, &answer))
		return 0;
	fuzz_must(*idem_state_text(r.state) != '\0');
	idem_record_write(&b, &r);
	idem_buf_append(&b, answer.at, answer.len);
	fuzz_must(idem_buf_ok(&b) && idem_bytes_equal(idem_buf_bytes(&b), in));
	idem_buf_free(&b);
	return 0;
}
