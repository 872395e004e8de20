/* SPDX-License-Identifier: ISC */
#include "fcgi_rec.h"

#include "fuzz.h"

/* Whatever the pieces, the client's reader tells the same. */

struct told {
	struct idem_fcgi_client_reader reader;
	struct idem_buf items;	/* each item's number, then its bytes */
	enum idem_fcgi_told last;
};

/* Pieces of a stream are joined: only their cutting differs. */
static void
note(struct told *t, enum idem_fcgi_told told, struct idem_bytes bytes)
{
	bool text = told == IDEM_FCGI_TOLD_STDOUT ||
	    told == IDEM_FCGI_TOLD_STDERR;

	if (!text || told != t->last)
		idem_buf_u8(&t->items, (uint8_t)told);
	if (text)
		idem_buf_append(&t->items, bytes.at, bytes.len);
	if (told == IDEM_FCGI_TOLD_END) {
		fuzz_must(t->reader.status <= IDEM_FCGI_UNKNOWN_ROLE);
		idem_buf_u32(&t->items, t->reader.app_status);
		idem_buf_u8(&t->items, (uint8_t)t->reader.status);
	}
	t->last = told;
}

/* False once broken. */
static bool
take(void *arg, struct idem_bytes left)
{
	struct told *t = arg;
	struct idem_bytes bytes = { 0 };
	enum idem_fcgi_told told;

	while ((told = idem_fcgi_client_read(&t->reader, &left, &bytes)) !=
	    IDEM_FCGI_TOLD_MORE) {
		note(t, told, bytes);
		if (told == IDEM_FCGI_TOLD_BROKEN)
			return false;
	}
	fuzz_must(left.len == 0);
	return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *at, size_t len)
{
	struct told whole = { .reader.id = 1 }, pieces = { .reader.id = 1 };
	struct idem_bytes in = { at, len };

	fuzz_feed(take, &whole, in, true);
	fuzz_feed(take, &pieces, in, false);
	fuzz_must(idem_bytes_equal(idem_buf_bytes(&whole.items),
	    idem_buf_bytes(&pieces.items)));
	idem_buf_free(&whole.items);
	idem_buf_free(&pieces.items);
	return 0;
}
