/* SPDX-License-Identifier: ISC */
#include "idem.h"

#include "gate_rows.h"
#include "gate_words.h"
#include "tap.h"

#include <stddef.h>

static size_t
check_rows(const struct gate_row *row)
{
	static char asks[2048];
	size_t n = 0;

	for (; row->what != NULL; row++, n++) {
		gate_words_follow(row->policy, row->happens, asks, sizeof asks);
		is(asks, row->asks, "%s", row->what);
	}
	return n;
}

int
main(void)
{
	enum idem_op op;
	bool named = true;
	size_t n = check_rows(gate_rows_before);

	n += check_rows(gate_rows_after);
	n += check_rows(gate_rows_away);
	note("%zu paths", n);
	note("a gate is %zu bytes, an effect %zu", sizeof(struct idem_gate),
	    sizeof(struct idem_effect));
	ok(sizeof(struct idem_gate) <= 192, "a gate is at most 192 bytes");
	is_int(offsetof(struct idem_gate, deadline_ms),
	    offsetof(struct idem_gate, ended) + sizeof(bool),
	    "a gate has no holes: it may be compared and hashed");
	for (op = IDEM_ADMIT; op < IDEM_OPS; op++)
		named = named && idem_op_text(op) != NULL;
	ok(named, "every op has a name");
	is_int(idem_policy_default.on_unknown, IDEM_BLOCK,
	    "nobody runs an unknown key again unless it was asked for");
	return done();
}
