/* SPDX-License-Identifier: ISC */
#ifndef TESTS_GATE_POLICIES_H
#define TESTS_GATE_POLICIES_H

#include "idem.h"

/* The policies of the rows; no file of rows needs all. */

#define LEDGER .arbiter = IDEM_ARBITER_LEDGER
#define TOKEN .arbiter = IDEM_ARBITER_TOKEN
#define REDIS .arbiter = IDEM_ARBITER_REDIS
#define TIMES .attempts_max = 3, .wait_ms = 10000, .queue_ms = 30000, \
	.claim_ms = 200, .complete_ms = 500, .background_ms = 400, \
	.lease_ms = 60000

static const struct idem_policy ledger = { LEDGER, TIMES };
static const struct idem_policy required = { LEDGER, .required = true, TIMES };
static const struct idem_policy cached = { LEDGER, .look_redis = true, TIMES };
static const struct idem_policy journal = { LEDGER, .journal = true, TIMES };
static const struct idem_policy retry = { LEDGER, .on_unknown = IDEM_RETRY,
	TIMES };
static const struct idem_policy probe = { LEDGER, .on_unknown = IDEM_PROBING,
	TIMES };
static const struct idem_policy conflict = { LEDGER,
	.in_progress = IDEM_CONFLICT, TIMES };
static const struct idem_policy accepted = { LEDGER,
	.in_progress = IDEM_ACCEPTED, TIMES };
static const struct idem_policy brief = { LEDGER, .attempts_max = 1,
	.wait_ms = 200, .claim_ms = 0, .complete_ms = 0, .lease_ms = 900 };
static const struct idem_policy brisk = { LEDGER, .attempts_max = 1,
	.wait_ms = 90000, .claim_ms = 0, .lease_ms = 60000 };
static const struct idem_policy token = { TOKEN, .look_redis = true, TIMES };
static const struct idem_policy token_retry = { TOKEN,
	.on_unknown = IDEM_RETRY, .on_outage = IDEM_PASS, TIMES };
static const struct idem_policy redis = { REDIS, .look_redis = true, TIMES };
static const struct idem_policy memory = { REDIS, .on_outage = IDEM_TO_MEMORY,
	TIMES };
static const struct idem_policy database = { REDIS,
	.on_outage = IDEM_TO_DATABASE, .look_fallback = true, TIMES };
static const struct idem_policy pass = { REDIS, .on_outage = IDEM_PASS,
	TIMES };
static const struct idem_policy memory_retry = { REDIS,
	.on_unknown = IDEM_RETRY, .on_outage = IDEM_TO_MEMORY, TIMES };

#endif
