/* SPDX-License-Identifier: ISC */
#include "redis_script.h"

#include "store_call.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define REPLY 6		/* members of a reply */
#define AFTER 16	/* bytes after the packed record, before the answer */

static const char *const claims[IDEM_CLAIMS] = {
	[IDEM_CLAIM_MISMATCH] = "MISMATCH",
	[IDEM_CLAIM_WITHHELD] = "WITHHELD",
	[IDEM_CLAIM_COMPLETED] = "COMPLETED",
	[IDEM_CLAIM_EXPIRED] = "EXPIRED",
	[IDEM_CLAIM_IN_PROGRESS] = "IN_PROGRESS",
	[IDEM_CLAIM_UNKNOWN] = "UNKNOWN",
	[IDEM_CLAIM_ABSENT] = "ABSENT",
	[IDEM_CLAIM_WON] = "WON",
	[IDEM_CLAIM_OURS] = "OURS",
	[IDEM_CLAIM_LATE] = "LATE",
	[IDEM_CLAIM_HISTORY] = "HISTORY",
	[IDEM_CLAIM_NO_TOKEN] = "NO_TOKEN",
	[IDEM_CLAIM_EXHAUSTED] = "EXHAUSTED",
};

bool
idem_redis_script_init(struct idem_redis_script *script)
{
	script->text = (struct idem_bytes){ idem_lua, idem_lua_len };
	return idem_sha1_hex(script->text, script->sha1);
}

/* --- arguments ------------------------------------------------------------ */

static void
add(struct idem_redis_script_args *to, const void *at, size_t len)
{
	assert(to->len < IDEM_REDIS_SCRIPT_ARGS);
	to->at[to->len++] = (struct idem_bytes){ at, len };
}

static void
add_text(struct idem_redis_script_args *to, const char *text)
{
	add(to, text, strlen(text));
}

/* Seven in a claim: quicker than printf. */
static void
add_number(struct idem_redis_script_args *to, int64_t n)
{
	char *text = to->text[to->texts++], *end = text + sizeof to->text[0];
	uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;
	char *at = end;

	assert(to->texts <= sizeof to->text / sizeof to->text[0]);
	do {
		*--at = (char)('0' + left % 10);
		left /= 10;
	} while (left > 0);
	if (n < 0)
		*--at = '-';
	add(to, at, (size_t)(end - at));
}

static void
add_owner(struct idem_redis_script_args *to, const struct idem_owner *owner)
{
	add(to, owner->at, sizeof owner->at);
}

static void
add_answer(struct idem_redis_script_args *to, const struct idem_blob *answer)
{
	if (answer != NULL)
		add(to, answer->at, answer->len);
	else
		add_text(to, "");
}

static void
add_pid(struct idem_redis_script_args *to, uint32_t pid)
{
	size_t i;

	for (i = 0; i < sizeof to->pid; i++)
		to->pid[i] = (uint8_t)(pid >> (24 - 8 * i));
	add(to, to->pid, sizeof to->pid);
}

/* All flags are of calls that have no other member of that name. */
static const char *
flags(const struct idem_redis_script_call *c, char text[8])
{
	const struct idem_store_call *call = c->call;
	bool claim = call->op == IDEM_STORE_CLAIM;
	char *at = text;

	if (c->token)
		*at++ = 't';
	if (claim && call->look_only)
		*at++ = 'l';
	if (claim && call->take_over)
		*at++ = 'o';
	if (claim && call->anew)
		*at++ = 'a';
	if (claim && call->issued_only)
		*at++ = 'i';
	if (call->strict)
		*at++ = 's';
	*at = '\0';
	return text;
}

/* What every op begins with. */
static void
begin(struct idem_redis_script_args *to, const struct idem_redis_script_call *c,
    const char *op)
{
	char *text;

	to->len = 0;
	to->texts = 0;
	add_text(to, "1");
	add(to, c->key.at, c->key.len);
	add_text(to, op);
	add_owner(to, &c->call->owner);
	add_number(to, c->call->attempt);
	add_number(to, c->fixed_boot_ms);
	add_number(to, c->fixed_wall_ms);
	text = to->text[to->texts++];
	add_text(to, flags(c, text));
}

static void
add_claim(struct idem_redis_script_args *to,
    const struct idem_redis_script_call *c)
{
	const struct idem_store_call *call = c->call;

	add(to, call->fingerprint.at, sizeof call->fingerprint.at);
	add(to, call->guard.at, sizeof call->guard.at);
	add(to, c->boot.at, sizeof c->boot.at);
	add_pid(to, call->pid);
	add_number(to, call->lease_ms);
	add_number(to, c->not_after_ms);
	add(to, call->history.at, sizeof call->history.at);
	add_owner(to, &call->other);
	add_number(to, call->attempts_max);
	add_number(to, c->inline_max < INT64_MAX ? (int64_t)c->inline_max :
	    INT64_MAX);
}

static void
add_settle(struct idem_redis_script_args *to,
    const struct idem_store_call *call, int64_t tombstone_ms)
{
	static const char *const how[] = {
		[IDEM_SETTLE_DONE] = "done",
		[IDEM_SETTLE_NOT_DONE] = "not-done",
		[IDEM_SETTLE_FORGET] = "forget",
	};

	add_text(to, how[call->settle]);
	add_owner(to, &call->other);
	add_number(to, call->keep_ms);
	add_number(to, tombstone_ms);
	add_answer(to, call->answer);
}

void
idem_redis_script_args(struct idem_redis_script_args *to,
    const struct idem_redis_script_call *c)
{
	const struct idem_store_call *call = c->call;
	int64_t tombstone_ms = idem_verdict_tombstone_ms(call);

	begin(to, c, idem_store_op_text(call->op));
	switch (call->op) {
	case IDEM_STORE_CLAIM:
		add_claim(to, c);
		return;
	case IDEM_STORE_RENEW:
		add_number(to, call->lease_ms);
		add(to, c->boot.at, sizeof c->boot.at);
		return;
	case IDEM_STORE_COMPLETE:
		add_number(to, call->keep_ms);
		add_number(to, tombstone_ms);
		add_answer(to, call->answer);
		add(to, call->history.at, sizeof call->history.at);
		return;
	case IDEM_STORE_RELEASE:
		add_number(to, tombstone_ms);
		return;
	case IDEM_STORE_UNKNOWN:
		return;
	case IDEM_STORE_SETTLE:
		add_settle(to, call, tombstone_ms);
		return;
	case IDEM_STORE_ISSUE:
		add_number(to, call->keep_ms);
		add(to, c->boot.at, sizeof c->boot.at);
		return;
	case IDEM_STORE_LIST:
	case IDEM_STORE_SWEEP:
		break;
	}
	assert(false);	/* not calls on one record */
}

void
idem_redis_script_look(struct idem_redis_script_args *to,
    const struct idem_redis_script_call *c, enum idem_redis_script_look look)
{
	begin(to, c, look == IDEM_REDIS_PEEK ? "peek" : "sweep");
	if (look == IDEM_REDIS_SWEEP_ONE)
		add_number(to, c->call->shrink_ms);
}

/* --- replies -------------------------------------------------------------- */

static bool
shaped(const struct idem_redis_value *v)
{
	static const enum idem_redis_type types[REPLY] = {
		IDEM_REDIS_STRING, IDEM_REDIS_INTEGER, IDEM_REDIS_INTEGER,
		IDEM_REDIS_STRING, IDEM_REDIS_STRING, IDEM_REDIS_STRING
	};
	size_t i;

	if (v == NULL || v->type != IDEM_REDIS_ARRAY || v->len != REPLY)
		return false;
	for (i = 0; i < REPLY; i++)
		if (v->at[i].type != types[i])
			return false;
	return v->at[2].integer >= 0 && v->at[4].text.len == IDEM_HISTORY_LEN;
}

static bool
read_record(struct idem_bytes packed, struct idem_record *r)
{
	struct idem_bytes rest;

	*r = (struct idem_record){ 0 };
	return packed.len == 0 || (idem_record_read(packed, r, &rest) &&
	    rest.len == AFTER);
}

bool
idem_redis_script_read(const struct idem_redis_value *v,
    struct idem_redis_script_reply *r)
{
	if (!shaped(v) || !read_record(v->at[3].text, &r->record))
		return false;
	r->verdict = v->at[0].text;
	r->now_ms = v->at[1].integer;
	r->answer_len = (uint64_t)v->at[2].integer;
	memcpy(r->history.at, v->at[4].text.at, sizeof r->history.at);
	r->answer = v->at[5].text;
	return true;
}

static bool
claim_of(struct idem_bytes verdict, enum idem_claim *claim)
{
	size_t i;

	for (i = 0; i < IDEM_CLAIMS; i++)
		if (claims[i] != NULL && idem_bytes_is(verdict, claims[i])) {
			*claim = (enum idem_claim)i;
			return true;
		}
	return false;
}

static bool
renew_of(struct idem_bytes verdict, enum idem_renew *renew)
{
	*renew = idem_bytes_is(verdict, "RENEWED") ? IDEM_RENEWED :
	    IDEM_RENEW_LOST;
	return *renew == IDEM_RENEWED || idem_bytes_is(verdict, "LOST");
}

/* SAME: it was so already, by us. */
static bool
write_of(struct idem_bytes verdict, enum idem_write *write)
{
	*write = idem_bytes_is(verdict, "LOST") ? IDEM_WRITE_LOST :
	    IDEM_WRITTEN;
	return *write == IDEM_WRITE_LOST || idem_bytes_is(verdict, "WRITTEN") ||
	    idem_bytes_is(verdict, "SAME");
}

bool
idem_redis_script_result(const struct idem_redis_script_reply *r,
    enum idem_store_op op, struct idem_store_result *result)
{
	if (idem_bytes_is(r->verdict, "BAD_RECORD")) {
		idem_store_fail(result, op, IDEM_CLASS_CONFIG,
		    "Redis holds a record that cannot be read");
		result->claim = IDEM_CLAIM_BAD_RECORD;
		return true;
	}
	*result = (struct idem_store_result){
		.op = op,
		.record = r->record,
		.now_ms = r->now_ms,
		.history = r->history,
	};
	if (op == IDEM_STORE_CLAIM)
		return claim_of(r->verdict, &result->claim);
	if (op == IDEM_STORE_RENEW)
		return renew_of(r->verdict, &result->renew);
	return write_of(r->verdict, &result->write);
}

static bool
number_of(const struct idem_redis_value *v, int64_t *n)
{
	char text[24];

	if (v->type != IDEM_REDIS_STRING || v->text.len == 0 ||
	    v->text.len >= sizeof text)
		return false;
	memcpy(text, v->text.at, v->text.len);
	text[v->text.len] = '\0';
	*n = strtoll(text, NULL, 10);
	return true;
}

bool
idem_redis_script_time(const struct idem_redis_value *v, int64_t *ms)
{
	int64_t s, us;

	if (v->type != IDEM_REDIS_ARRAY || v->len != 2 ||
	    !number_of(&v->at[0], &s) || !number_of(&v->at[1], &us) ||
	    s < 0 || s > INT64_MAX / 1000 - 1 || us < 0 || us > 999999)
		return false;
	*ms = s * 1000 + us / 1000;
	return true;
}
