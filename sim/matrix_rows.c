/* SPDX-License-Identifier: ISC */
#include "matrix.h"

const struct matrix_row matrix_rows[MATRIX_DEPLOYS] = {
	[MATRIX_LEDGER] = { "ledger", "ledger",
	    "all of them, always" },
	[MATRIX_LEDGER_CACHE] = { "ledger+cache", "ledger + Redis cache",
	    "all of them, always: the cache changes speed and nothing else" },
	[MATRIX_TOKEN] = { "token", "token (Redis)",
	    "once always; the same answer, or \"unknown\" after Redis forgot" },
	[MATRIX_SCRIPT] = { "script", "redis: script, reject",
	    "all of them while Redis remembers" },
	[MATRIX_SETNX] = { "setnx", "redis: setnx",
	    "nothing: it is there to be compared, and warned about" },
	[MATRIX_CHECK] = { "check", "redis: check",
	    "nothing: it is there to be compared, and warned about" },
	[MATRIX_MEMORY] = { "memory", "redis: script, memory",
	    "none of once, same and kept during and after an outage" },
	[MATRIX_DATABASE] = { "database", "redis: script, database",
	    "none of once, same and kept during and after an outage" },
	[MATRIX_PASS] = { "pass", "redis: script, pass",
	    "none of once, same and kept during and after an outage" }
};

const struct matrix_column matrix_columns[MATRIX_FAULTS] = {
	[MATRIX_NONE] = { "none", { "nothing", "goes wrong" },
	    "The load alone." },
	[MATRIX_STORM] = { "storm", { "retry", "storm" },
	    "120 more clients ask for 6 of the keys at once, and again at once "
	    "whatever they are told; the numbers are those of the others." },
	[MATRIX_LOST_REPLY] = { "lost-reply", { "replies", "lost" },
	    "Redis carries six commands out, and nobody hears of it." },
	[MATRIX_AWAY] = { "away", { "away,", "intact" },
	    "Redis is killed, and is back half a second later with all that "
	    "it had (appendfsync always)." },
	[MATRIX_EMPTY] = { "empty", { "away,", "empty" },
	    "The same without persistence: it is back empty." },
	[MATRIX_FAILOVER] = { "failover", { "failover", "" },
	    "Redis dies, and a replica takes over without its last writes." },
	[MATRIX_KILLED] = { "killed", { "instance", "killed" },
	    "One of two instances is killed when its program has done its work "
	    "and nobody has noted it, and is started again." },
	[MATRIX_SLOW] = { "slow", { "slow,", "paused" },
	    "Programs run twice as long as their lease, and one instance is "
	    "stopped for 800 ms in the middle." }
};

const char *const matrix_promise_words[MATRIX_PROMISES] = {
	"once", "same", "kept", "honest", "settled"
};

/* An outage, or what looks like one from an instance. */
static bool
is_outage(enum matrix_fault f)
{
	return f == MATRIX_LOST_REPLY || f == MATRIX_AWAY ||
	    f == MATRIX_EMPTY || f == MATRIX_FAILOVER;
}

static bool
forgets(enum matrix_fault f)
{
	return f == MATRIX_EMPTY || f == MATRIX_FAILOVER;
}

unsigned
matrix_promised(enum matrix_deploy d, enum matrix_fault f)
{
	const unsigned told = 1u << MATRIX_HONEST | 1u << MATRIX_SETTLED;

	switch (d) {
	case MATRIX_LEDGER:
	case MATRIX_LEDGER_CACHE:
		return MATRIX_ALL;
	case MATRIX_TOKEN:
		return forgets(f) ? MATRIX_ALL & ~(1u << MATRIX_KEPT) :
		    MATRIX_ALL;
	case MATRIX_SCRIPT:
		return forgets(f) ? told : MATRIX_ALL;
	case MATRIX_MEMORY:
	case MATRIX_DATABASE:
	case MATRIX_PASS:
		return is_outage(f) ? told : MATRIX_ALL;
	case MATRIX_SETNX:
	case MATRIX_CHECK:
	case MATRIX_DEPLOYS:
		break;
	}
	return 0;
}
