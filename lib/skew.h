/* SPDX-License-Identifier: ISC */
#ifndef IDEM_SKEW_H
#define IDEM_SKEW_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Has another clock run steadily?  A server's clock that is set an hour forward
 * makes every lease look over, though no time has passed.  Pure: it is told
 * what the server said when ours said what.
 */
#define IDEM_SKEW_MS 2000	/* so late may an answer be, so unsteady a
				   clock */

struct idem_skew {
	bool told;
	int64_t first_ms;	/* server's less ours, when it began to be
				   steady */
	int64_t offset_ms;	/* the largest since then: the least late */
	int64_t since_ms;	/* the server's clock, when it began */
};

/*
 * Zeroes are one that was told nothing.  since_ms after it is told: what lies
 * before that time of the server's is hearsay.  A clock that creeps away is
 * unsteady too, once it is IDEM_SKEW_MS ahead of where it began, however small
 * its steps were; and an answer that is later than that is taken for a clock
 * that was set back: both only cost time.
 */
void idem_skew_told(struct idem_skew *, int64_t ours_ms, int64_t server_ms);

#endif
