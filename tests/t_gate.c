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

/* What is asked for when a write behind the reply is refused. */
static enum idem_op
after_refusal(bool hurry)
{
	static const struct idem_event events[] = {
		{ .op = IDEM_ADMIT, .admit = IDEM_KEYED },
		{ .op = IDEM_LOOK, .look = IDEM_LOOK_NOTHING },
		{ .op = IDEM_SLOT, .slot = IDEM_SLOT_GOT },
		{ .op = IDEM_CLAIM, .claim = IDEM_CLAIM_MAYBE, .now_ms = 1 },
		{ .op = IDEM_REPLY, .sent = IDEM_SENT, .now_ms = 1 },
		{ .op = IDEM_RELEASE, .write = IDEM_WRITE_REFUSED, .now_ms = 2 }
	};
	struct idem_policy policy = idem_policy_default;
	struct idem_effects all = { .n = 0 };
	struct idem_gate g;
	size_t i;

	policy.claim_ms = 0;
	idem_gate_init(&g, &policy);
	for (i = 0; i < sizeof events / sizeof *events; i++) {
		if (hurry)
			idem_gate_hurry(&g);
		all = idem_gate_step(&g, &events[i]);
	}
	return all.fx[0].op;
}

int
main(void)
{
	size_t n = check_rows(gate_rows_before);

	n += check_rows(gate_rows_after);
	n += check_rows(gate_rows_away);
	is_int(after_refusal(false), IDEM_WAIT,
	    "a write behind the reply is tried again");
	is_int(after_refusal(true), IDEM_END,
	    "and not when there is little time left");
	note("%zu paths", n);
	note("a gate is %zu bytes, an effect %zu", sizeof(struct idem_gate),
	    sizeof(struct idem_effect));
	ok(sizeof(struct idem_gate) <= 192, "a gate is at most 192 bytes");
	is_int(offsetof(struct idem_gate, deadline_ms),
	    offsetof(struct idem_gate, ended) + sizeof(bool),
	    "a gate has no holes: it may be compared and hashed");
	is_int(idem_policy_default.on_unknown, IDEM_BLOCK,
	    "nobody runs an unknown key again unless it was asked for");
	return done();
}
