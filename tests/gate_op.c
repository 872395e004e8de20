/* SPDX-License-Identifier: ISC */
#include "gate_op.h"

#include <assert.h>

const char *
gate_op_text(enum idem_op op)
{
	static const char *const text[IDEM_OPS] = {
		[IDEM_ADMIT] = "admit",
		[IDEM_LOOK] = "look",
		[IDEM_SLOT] = "slot",
		[IDEM_CLAIM] = "claim",
		[IDEM_RUN] = "run",
		[IDEM_RENEW] = "renew",
		[IDEM_COMPLETE] = "complete",
		[IDEM_RELEASE] = "release",
		[IDEM_MARK_UNKNOWN] = "mark-unknown",
		[IDEM_RECORD] = "record",
		[IDEM_CACHE] = "cache",
		[IDEM_PROBE] = "probe",
		[IDEM_WAIT] = "wait",
		[IDEM_REPLY] = "reply",
		[IDEM_GONE] = "gone",
		[IDEM_END] = "end",
	};

	assert(op < IDEM_OPS);
	return text[op];
}
