/* SPDX-License-Identifier: ISC */
#include "ctl.h"

#include "run_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALL_MS 5000
#define DIGITS_MIN 8
#define ALL_STATES 0xffffffffu

int
ctl_open(struct ctl *c, bool read_only)
{
	struct idem_sqlite_options options = {
		.path = c->ledger,
		.clock = &idem_clock_real,
		.read_only = read_only,
	};
	char error[500];

	if (!idem_boot_id(&c->boot))
		return ctl_say(c, CTL_FAILED, "no boot id in /proc");
	options.boot = c->boot;
	c->store = idem_store_sqlite(&options, error, sizeof error);
	if (c->store == NULL)
		return ctl_say(c, CTL_FAILED, "%s", error);
	return CTL_DONE;
}

int
ctl_ask(struct ctl *c, struct idem_store_call *call,
    struct idem_store_answer *answer)
{
	const char *error;
	int status;

	call->deadline_ms = idem_boot_ms(&idem_clock_real) + CALL_MS;
	idem_store_wait(c->store, call, answer);
	if (answer->result.class == IDEM_OK)
		return CTL_DONE;
	error = answer->result.error != NULL ? answer->result.error : "failed";
	if (answer->result.class == IDEM_CLASS_MAYBE)
		status = ctl_say(c, CTL_FAILED, "it may have been done, look "
		    "again: %s", error);
	else
		status = ctl_say(c, CTL_FAILED, "%s", error);
	idem_store_answer_free(answer);
	return status;
}

/* --- keys ----------------------------------------------------------------- */

/* Leading digits; zeroes follow.  Their number, or 0 if it is no such text. */
static size_t
read_digits(const char *text, struct idem_digest *key)
{
	char digits[2 * IDEM_DIGEST_LEN + 1];
	size_t n = strlen(text);

	if (n > 2 * IDEM_DIGEST_LEN)
		return 0;
	memset(digits, '0', sizeof digits - 1);
	digits[sizeof digits - 1] = '\0';
	memcpy(digits, text, n);
	return idem_unhex(digits, key->at, sizeof key->at) ? n : 0;
}

static bool
begins(const struct idem_digest *key, const char *text)
{
	char digits[2 * IDEM_DIGEST_LEN + 1];

	idem_hex(key->at, sizeof key->at, digits);
	return strncasecmp(digits, text, strlen(text)) == 0;
}

/* The one before, since a list begins after a key. */
static void
step_back(struct idem_digest *key)
{
	size_t i = sizeof key->at;

	while (i > 0 && key->at[--i]-- == 0)
		;
}

/* The first two records from `first` on. */
static int
look(struct ctl *c, const struct idem_digest *first,
    struct idem_store_answer *answer)
{
	struct idem_store_call call = {
		.op = IDEM_STORE_LIST,
		.key = *first,
		.states = ALL_STATES,
		.max = 2,
	};

	step_back(&call.key);
	return ctl_ask(c, &call, answer);
}

static int
find_digits(struct ctl *c, const char *text, const struct idem_digest *first,
    struct idem_listed *found)
{
	struct idem_store_answer answer;
	uint32_t i, n = 0;
	int status;

	status = look(c, first, &answer);
	if (status != CTL_DONE)
		return status;
	for (i = 0; i < answer.result.count; i++)
		if (begins(&answer.listed[i].key, text)) {
			*found = answer.listed[i];
			n++;
		}
	idem_store_answer_free(&answer);
	if (n == 0)
		return ctl_say(c, CTL_NO, "no such key: %s", text);
	if (n > 1)
		return ctl_say(c, CTL_NO, "several keys begin with %s: "
		    "give more digits", text);
	return CTL_DONE;
}

int
ctl_find(struct ctl *c, const char *text, struct idem_listed *found)
{
	char digits[2 * IDEM_DIGEST_LEN + 1];
	struct idem_digest first;
	int status;

	if (text != NULL && c->key != NULL)
		return ctl_say(c, CTL_WRONG, "name a store key or --key, "
		    "not both");
	if (text == NULL && (c->key == NULL || c->route == NULL))
		return ctl_say(c, CTL_WRONG, "name a store key, or a client's "
		    "by --route, --method, --user and --key");
	if (text == NULL) {
		status = ctl_client_key(c, &first);
		if (status != CTL_DONE)
			return status;
		idem_hex(first.at, sizeof first.at, digits);
		text = digits;
	} else if (read_digits(text, &first) < DIGITS_MIN) {
		return ctl_say(c, CTL_WRONG, "%s: not a store key: %d to %d "
		    "hexadecimal digits", text, DIGITS_MIN,
		    2 * IDEM_DIGEST_LEN);
	}
	return find_digits(c, text, &first, found);
}

/* --- runs ----------------------------------------------------------------- */

/* Looked at only if it is there: what root made would not be idemd's. */
int
ctl_folder(const struct ctl *c)
{
	char error[300], *name;
	int folder = -1;

	if (asprintf(&name, "%s-run", c->ledger) < 0)
		return -1;
	if (access(name, F_OK) == 0)
		folder = idem_run_folder(c->ledger, error, sizeof error);
	free(name);
	return folder;
}

enum idem_proof
ctl_proof(const struct ctl *c, const struct idem_record *r, bool *held)
{
	enum idem_lock_state lock = IDEM_LOCK_MISSING;
	int folder = ctl_folder(c);

	if (folder >= 0) {
		lock = idem_run_lock_state(folder, &r->owner);
		close(folder);
	}
	*held = lock == IDEM_LOCK_HELD;
	return idem_run_proof(r, idem_boot_ms(&idem_clock_real), &c->boot,
	    lock, c->lease_ms, c->limit_ms, c->grace_ms);
}
