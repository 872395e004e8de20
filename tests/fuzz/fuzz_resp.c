/* SPDX-License-Identifier: ISC */
#include "resp.h"

#include "fuzz.h"

#include <string.h>

/*
 * A value ends within the bytes, and no part of it is whole; what is said of a
 * command lies within it, and what a reply says is printable and fits.
 */
#define PREFIXES 64u	/* that are tried of each */

typedef long len_fn(struct idem_bytes);

static bool
lies_in(struct idem_bytes part, struct idem_bytes whole)
{
	const char *at = part.at, *from = whole.at;

	return part.len == 0 || (at >= from &&
	    part.len <= whole.len && at <= from + (whole.len - part.len));
}

static void
check_command(struct idem_bytes whole)
{
	struct resp_command c;
	size_t i;

	if (!resp_command(whole, &c))
		return;
	fuzz_must(lies_in(c.name, whole) && lies_in(c.script, whole) &&
	    lies_in(c.key, whole) && lies_in(c.op, whole));
	for (i = 0; i < sizeof c.args / sizeof *c.args; i++)
		fuzz_must(i < c.args_n ? lies_in(c.args[i], whole) :
		    c.args[i].len == 0);
}

static void
check_reply(struct idem_bytes whole, size_t size)
{
	char out[40];
	size_t i;

	memset(out, 'x', sizeof out);
	fuzz_must(resp_reply_text(whole, out, size) == out);
	fuzz_must(memchr(out, '\0', size) != NULL);
	for (i = 0; out[i] != '\0'; i++)
		fuzz_must(out[i] >= ' ' && out[i] <= '~');
	fuzz_must(out[size] == 'x');
}

static void
check_values(struct idem_bytes left, len_fn *len_of)
{
	struct idem_bytes value;
	size_t i;
	long n;

	while ((n = len_of(left)) > 0) {
		fuzz_must((size_t)n <= left.len);
		value = (struct idem_bytes){ left.at, (size_t)n };
		for (i = 0; i < value.len && i < PREFIXES; i++)
			fuzz_must(len_of((struct idem_bytes){ value.at,
			    value.len - 1 - i }) == 0);
		fuzz_must(len_of(value) == n);
		check_command(value);
		check_reply(value, 39);
		left.at = (const char *)left.at + n;
		left.len -= (size_t)n;
	}
	check_command(left);
	check_reply(left, 8);
}

int
LLVMFuzzerTestOneInput(const uint8_t *at, size_t len)
{
	struct idem_bytes in = { at, len };

	check_values(in, resp_len);
	check_values(in, resp_command_len);
	return 0;
}
