/* SPDX-License-Identifier: ISC */
#include "store_redis_parts.h"

#include <stdio.h>
#include <string.h>

#define STEP_MS 2000
#define LEFT_MS 1000	/* what is left there lives so long */
#define NAME "selftest:"
#define ANSWER "an answer"

enum { SCRIPT = 1u << IDEM_SCHEME_SCRIPT, SETNX = 1u << IDEM_SCHEME_SETNX,
	CHECK = 1u << IDEM_SCHEME_CHECK, ALL = SCRIPT | SETNX | CHECK };

/*
 * A story in which each command of each operation comes at least once, since
 * one may be denied inside the script only.  Its keys and owners are 0, 1, ...
 */
static const struct step {
	unsigned schemes;
	enum idem_store_op op;
	uint8_t key, owner, other;
	uint32_t attempt;
	bool take_over, issued;
	unsigned comes_to;	/* enum idem_claim, _renew, _write */
} steps[] = {
	{ ALL, IDEM_STORE_CLAIM, .comes_to = IDEM_CLAIM_WON },
	{ SCRIPT, IDEM_STORE_RENEW, .attempt = 1, .comes_to = IDEM_RENEWED },
	{ SCRIPT, IDEM_STORE_UNKNOWN, .attempt = 1,
	  .comes_to = IDEM_WRITTEN },
	{ SCRIPT, IDEM_STORE_CLAIM, .owner = 1, .other = 0, .attempt = 1,
	  .take_over = true, .comes_to = IDEM_CLAIM_WON },
	{ SCRIPT, IDEM_STORE_COMPLETE, .owner = 1, .attempt = 2,
	  .comes_to = IDEM_WRITTEN },
	{ SETNX | CHECK, IDEM_STORE_COMPLETE, .attempt = 1,
	  .comes_to = IDEM_WRITTEN },
	{ ALL, IDEM_STORE_CLAIM, .owner = 2,
	  .comes_to = IDEM_CLAIM_COMPLETED },
	{ ALL, IDEM_STORE_SETTLE, .owner = 2, .other = 1, .attempt = 2,
	  .comes_to = IDEM_WRITTEN },
	{ SCRIPT, IDEM_STORE_ISSUE, .key = 1, .comes_to = IDEM_WRITTEN },
	{ SCRIPT, IDEM_STORE_CLAIM, .key = 1, .issued = true,
	  .comes_to = IDEM_CLAIM_WON },
	{ SCRIPT, IDEM_STORE_RELEASE, .key = 1, .attempt = 1,
	  .comes_to = IDEM_WRITTEN },
	{ SCRIPT, IDEM_STORE_LIST, .comes_to = IDEM_WRITTEN },
	{ SCRIPT, IDEM_STORE_SWEEP, .comes_to = IDEM_WRITTEN },
};

struct story {
	struct idem_store_redis_options o;	/* under a prefix of its own */
	struct idem_buf prefix;
	struct idem_store *store;
	struct idem_digest key[2];
	struct idem_owner owner[3];
	struct idem_history history;	/* as ISSUE told it */
	struct idem_blob *answer;
};

static unsigned
outcome(const struct idem_store_result *r)
{
	return r->op == IDEM_STORE_CLAIM ? (unsigned)r->claim :
	    r->op == IDEM_STORE_RENEW ? (unsigned)r->renew :
	    (unsigned)r->write;
}

static bool
step(struct story *s, const struct step *step, char *error, size_t error_size)
{
	struct idem_store_answer a;
	const struct idem_store_call call = {
		.op = step->op,
		.key = s->key[step->key],
		.owner = s->owner[step->owner],
		.other = s->owner[step->other],
		.attempt = step->attempt,
		.attempts_max = 9,
		.take_over = step->take_over,
		.issued_only = step->issued,
		.history = s->history,
		.lease_ms = STEP_MS,
		.keep_ms = LEFT_MS,
		.tombstone_ms = LEFT_MS,
		.settle = IDEM_SETTLE_FORGET,
		.answer = step->op == IDEM_STORE_COMPLETE ? s->answer : NULL,
		.any_order = true,
		.deadline_ms = idem_boot_ms(s->o.clock) + STEP_MS,
	};
	bool good;

	idem_store_wait(s->store, &call, &a);
	good = a.result.class == IDEM_OK &&
	    outcome(&a.result) == step->comes_to;
	if (step->op == IDEM_STORE_ISSUE)
		s->history = a.result.history;
	if (!good)
		snprintf(error, error_size, "%s: %s",
		    idem_store_op_text(step->op), a.error != NULL ? a.error :
		    "it came to something else than it should");
	idem_store_answer_free(&a);
	return good;
}

/* The script's text, which a server that knows it is never sent. */
static bool
text(struct story *s, char *error, size_t error_size)
{
	struct idem_redis_store *store = (struct idem_redis_store *)s->store;
	const struct idem_store_call call = { .op = IDEM_STORE_LIST };
	const struct idem_redis_script_call c = {
		.call = &call,
		.key = idem_bytes_text(s->o.prefix),
	};
	struct idem_redis_script_args look;
	struct idem_bytes args[IDEM_REDIS_SCRIPT_ARGS + 2];
	struct idem_redis_waited w;
	struct idem_redis_command command = {
		.args = args,
		.key = c.key,
		.deadline_ms = idem_boot_ms(s->o.clock) + STEP_MS,
	};
	bool good;

	idem_redis_script_look(&look, &c, IDEM_REDIS_PEEK);
	args[0] = idem_bytes_text("EVAL");
	args[1] = store->script.text;
	memcpy(args + 2, look.at, look.len * sizeof *args);
	command.args_len = look.len + 2;
	idem_redis_wait(s->o.client, &command, &w);
	good = w.class == IDEM_OK;
	if (!good)
		snprintf(error, error_size, "eval: %s", w.error);
	idem_redis_waited_free(&w);
	return good;
}

/* One of its keys; also in a story that ended in the middle of it. */
static bool
leave(struct story *s, const char *name, char *error, size_t error_size)
{
	struct idem_buf key = { 0 };
	struct idem_redis_waited w;
	struct idem_bytes args[3];
	struct idem_redis_command c = {
		.args = args,
		.args_len = 3,
		.deadline_ms = idem_boot_ms(s->o.clock) + STEP_MS,
	};
	char ms[16];
	bool good = false;

	snprintf(ms, sizeof ms, "%d", LEFT_MS);
	idem_buf_printf(&key, "%s%s", s->o.prefix, name);
	if (idem_buf_ok(&key)) {
		args[0] = idem_bytes_text("PEXPIRE");
		args[1] = idem_buf_bytes(&key);
		args[2] = idem_bytes_text(ms);
		c.key = args[1];
		idem_redis_wait(s->o.client, &c, &w);
		good = w.class == IDEM_OK;
		if (!good)
			snprintf(error, error_size, "pexpire: %s", w.error);
		idem_redis_waited_free(&w);
	}
	idem_buf_free(&key);
	return good;
}

static bool
leave_all(struct story *s, char *error, size_t error_size)
{
	char hex[2 * IDEM_DIGEST_LEN + 1];
	bool good = leave(s, "purges", error, error_size);
	size_t i;

	for (i = 0; good && i < sizeof s->key / sizeof s->key[0]; i++) {
		idem_hex(s->key[i].at, sizeof s->key[i].at, hex);
		good = leave(s, hex, error, error_size);
	}
	return good;
}

static bool
tell(struct story *s, char *error, size_t error_size)
{
	unsigned scheme = 1u << s->o.scheme;
	char unused[1];
	size_t i;

	if (s->o.scheme == IDEM_SCHEME_SCRIPT && !text(s, error, error_size))
		return false;
	for (i = 0; i < sizeof steps / sizeof *steps; i++)
		if ((steps[i].schemes & scheme) != 0 &&
		    !step(s, &steps[i], error, error_size)) {
			leave_all(s, unused, sizeof unused);
			return false;
		}
	return leave_all(s, error, error_size);
}

bool
idem_store_redis_selftest(const struct idem_store_redis_options *options,
    char *error, size_t error_size)
{
	struct story s = { .o = *options };
	bool good = false;

	idem_buf_printf(&s.prefix, "%s" NAME,
	    options->prefix != NULL ? options->prefix : IDEM_REDIS_PREFIX);
	idem_buf_u8(&s.prefix, 0);
	s.o.prefix = (const char *)s.prefix.at;
	s.answer = idem_blob_new(idem_bytes_text(ANSWER));
	/* As long as that, so that the script asks whether there is more. */
	s.o.inline_max = sizeof ANSWER - 1;
	if (!idem_buf_ok(&s.prefix) || s.answer == NULL ||
	    !idem_random(s.key, sizeof s.key) ||
	    !idem_random(s.owner, sizeof s.owner) ||
	    (s.store = idem_store_redis(&s.o)) == NULL) {
		snprintf(error, error_size, "out of memory");
	} else {
		good = tell(&s, error, error_size);
		s.store->ops->close(s.store);
	}
	idem_blob_drop(s.answer);
	idem_buf_free(&s.prefix);
	return good;
}
