/* SPDX-License-Identifier: ISC */
#include "ctl.h"

#include <string.h>

#define DIGITS_MIN 8
#define DIGITS (CTL_KEY - 1)
#define ALL_STATES 0xffffffffu
#define PAGE_ROWS 1000

/* --- digits --------------------------------------------------------------- */

/* Leading digits; zeroes follow.  Their number, or 0 if it is no such text. */
static size_t
read_digits(const char *text, struct idem_digest *key)
{
	char digits[DIGITS + 1];
	size_t n = strlen(text);

	if (n > DIGITS)
		return 0;
	memset(digits, '0', sizeof digits - 1);
	digits[sizeof digits - 1] = '\0';
	memcpy(digits, text, n);
	return idem_unhex(digits, key->at, sizeof key->at) ? n : 0;
}

bool
ctl_begins(const struct idem_digest *key, const char *text)
{
	char digits[DIGITS + 1];

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

/* --- in one store --------------------------------------------------------- */

/* What is sought, and what was found of it so far. */
struct search {
	struct ctl *c;
	const struct ctl_store *in;
	const char *text;
	struct ctl_found *found;
	unsigned n;		/* different keys */
};

static void
take(struct search *s, const struct idem_listed *l, int64_t now_ms)
{
	if (!ctl_begins(&l->key, s->text) || (s->n > 0 &&
	    memcmp(&s->found->l.key, &l->key, sizeof l->key) == 0))
		return;
	*s->found = (struct ctl_found){ s->in, *l, now_ms };
	s->n++;
}

static int
look_at_page(struct search *s, struct idem_store_call *call, bool *more)
{
	struct idem_store_answer answer;
	uint32_t i;
	int status = ctl_ask(s->c, s->in, call, &answer);

	if (status != CTL_DONE)
		return status;
	for (i = 0; i < answer.result.count && answer.listed != NULL; i++)
		take(s, &answer.listed[i], answer.result.now_ms);
	*more = answer.result.more;
	call->cursor = answer.result.cursor;
	idem_store_answer_free(&answer);
	return CTL_DONE;
}

/* The ledger is in order: two from there on are enough. */
static int
look_in_order(struct search *s, const struct idem_digest *first)
{
	struct idem_store_call call = {
		.op = IDEM_STORE_LIST,
		.key = *first,
		.states = ALL_STATES,
		.max = 2,
	};
	bool more;

	step_back(&call.key);
	return look_at_page(s, &call, &more);
}

/* Redis has no order: all of it has to be looked through. */
static int
look_through(struct search *s)
{
	struct idem_store_call call = {
		.op = IDEM_STORE_LIST,
		.states = ALL_STATES,
		.max = PAGE_ROWS,
		.any_order = true,
	};
	bool more = true;
	int status = CTL_DONE;

	while (status == CTL_DONE && more && s->n < 2)
		status = look_at_page(s, &call, &more);
	return status;
}

/*
 * A whole key is asked for by a claim that takes nothing: first with no
 * fingerprint, which shows the record, then with the record's own, which shows
 * its answer as well.
 */
static int
look_at_one(struct search *s, const struct idem_digest *key)
{
	struct idem_store_call call = {
		.op = IDEM_STORE_CLAIM,
		.key = *key,
		.look_only = true,
	};
	struct idem_store_answer answer;
	struct idem_listed l = { .key = *key };
	int tries, status;

	if (!idem_random(call.owner.at, sizeof call.owner.at))
		return ctl_say(s->c, CTL_FAILED, "no random bytes");
	for (tries = 0; tries < 2; tries++) {
		status = ctl_ask(s->c, s->in, &call, &answer);
		if (status != CTL_DONE)
			return status;
		if (answer.result.claim == IDEM_CLAIM_BAD_RECORD)
			status = ctl_say(s->c, CTL_NO, "the key in its place "
			    "is no record of idem");
		l.record = answer.result.record;
		l.answer_len = answer.result.answer != NULL ?
		    answer.result.answer->len : 0;
		call.fingerprint = l.record.fingerprint;
		call.guard = l.record.guard;
		if (l.record.state != IDEM_STATE_ABSENT)
			*s->found = (struct ctl_found){
				s->in, l, answer.result.now_ms
			};
		idem_store_answer_free(&answer);
		if (status != CTL_DONE ||
		    l.record.state != IDEM_STATE_COMPLETED)
			break;
	}
	s->n = l.record.state != IDEM_STATE_ABSENT;
	return status;
}

static int
look_in(struct search *s, const struct idem_digest *first)
{
	int status;

	if (s->in->kind == CTL_LEDGER)
		status = look_in_order(s, first);
	else if (strlen(s->text) == DIGITS)
		status = look_at_one(s, first);
	else
		status = look_through(s);
	if (status == CTL_DONE && s->n > 1)
		return ctl_say(s->c, CTL_NO, "several keys begin with %s: "
		    "give more digits", s->text);
	return status;
}

/* --- in all of them ------------------------------------------------------- */

/* One that cannot be asked is no reason not to say what another knows. */
static int
find_digits(struct ctl *c, const char *text, const struct idem_digest *first,
    struct ctl_found *found, size_t *len)
{
	struct search s = { .c = c, .text = text };
	int status = CTL_DONE, one;
	size_t i;

	*len = 0;
	for (i = 0; i < c->stores_len; i++) {
		s.in = &c->stores[i];
		s.found = &found[*len];
		s.n = 0;
		one = look_in(&s, first);
		if (one == CTL_DONE)
			*len += s.n;
		else
			status = one;
	}
	if (*len > 0)
		return status == CTL_NO ? status : CTL_DONE;
	return status != CTL_DONE ? status :
	    ctl_say(c, CTL_NO, "no such key: %s", text);
}

int
ctl_digits(const struct ctl *c, const char *text, char digits[CTL_KEY])
{
	struct idem_digest key;
	int status;

	if (text != NULL && c->key != NULL)
		return ctl_say(c, CTL_WRONG, "name a store key or --key, "
		    "not both");
	if (text == NULL && (c->key == NULL || c->route == NULL))
		return ctl_say(c, CTL_WRONG, "name a store key, or a client's "
		    "by --route, --method, --user and --key");
	if (text == NULL) {
		status = ctl_client_key(c, &key);
		if (status == CTL_DONE)
			idem_hex(key.at, sizeof key.at, digits);
		return status;
	}
	if (read_digits(text, &key) < DIGITS_MIN)
		return ctl_say(c, CTL_WRONG, "%s: not a store key: %d to %d "
		    "hexadecimal digits", text, DIGITS_MIN, DIGITS);
	snprintf(digits, CTL_KEY, "%s", text);
	return CTL_DONE;
}

int
ctl_find(struct ctl *c, const char *text, struct ctl_found found[CTL_KINDS],
    size_t *len)
{
	char digits[CTL_KEY];
	struct idem_digest first;
	int status = ctl_digits(c, text, digits);

	if (status != CTL_DONE)
		return status;
	read_digits(digits, &first);
	return find_digits(c, digits, &first, found, len);
}
