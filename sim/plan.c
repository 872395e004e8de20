/* SPDX-License-Identifier: ISC */
#include "plan.h"

#include <errno.h>
#include <string.h>

/* --- names ---------------------------------------------------------------- */

static const char *const invariants[PLAN_INVARIANTS] = {
	[PLAN_AT_MOST_ONCE] = "at_most_once",
	[PLAN_AT_MOST_ONCE_PER_BUSINESS_ID] = "at_most_once_per_business_id",
	[PLAN_SAME_ANSWER] = "same_answer",
	[PLAN_ACK_DURABLE] = "ack_durable",
	[PLAN_NO_FALSE_DEFINITE] = "no_false_definite",
	[PLAN_MUTUAL_EXCLUSION] = "mutual_exclusion",
	[PLAN_NO_CROSS_TALK] = "no_cross_talk",
	[PLAN_FINGERPRINT_GUARD] = "fingerprint_guard",
	[PLAN_NO_PARTIAL_SUCCESS] = "no_partial_success",
	[PLAN_LATE_COMPLETER_HARMLESS] = "late_completer_harmless",
	[PLAN_UNKNOWN_HONEST] = "unknown_honest",
	[PLAN_BUSY_HONEST] = "busy_honest",
	[PLAN_ANSWERS_HONEST] = "answers_honest",
	[PLAN_LEDGER_STORE_AGREE] = "ledger_store_agree",
	[PLAN_DIVERGENCE_REPORTED] = "divergence_reported",
	[PLAN_STORM_BOUNDED] = "storm_bounded",
	[PLAN_RESOLVES] = "resolves",
	[PLAN_NEW_KEYS_SUCCEED] = "new_keys_succeed",
};

const char *
plan_invariant_text(enum plan_invariant i)
{
	return invariants[i];
}

bool
plan_invariant_find(const char *name, enum plan_invariant *out)
{
	size_t i;

	for (i = 0; i < PLAN_INVARIANTS; i++)
		if (strcmp(invariants[i], name) == 0) {
			*out = (enum plan_invariant)i;
			return true;
		}
	return false;
}

const char *
plan_source_text(enum plan_source source)
{
	switch (source) {
	case PLAN_READY:
		break;
	case PLAN_UUID:
		return "uuid";
	case PLAN_BUSINESS:
		return "business";
	case PLAN_COMPOSITE:
		return "composite";
	case PLAN_MINT:
		return "mint";
	case PLAN_FORM:
		return "form";
	}
	return "";
}

bool
plan_source_asks(enum plan_source source)
{
	return source == PLAN_MINT || source == PLAN_FORM;
}

const char *
plan_spoilt_text(enum plan_spoilt spoilt)
{
	switch (spoilt) {
	case PLAN_GOOD:
		break;
	case PLAN_FORGED:
		return "forged";
	case PLAN_UNISSUED:
		return "unissued";
	case PLAN_ELSEWHERE:
		return "elsewhere";
	}
	return "";
}

/* Those of idemd (lib/label.h), and effect.* of the program. */
const char *const *
plan_labels(void)
{
	static const char *const all[] = {
		"req.read", "slot.taken",
		"note.write", "claim.sent", "claim.noted", "claim.ok",
		"claim.err", "claim.handed", "ledger.begin", "ledger.commit",
		"ledger.committed",
		"run.begin", "backend.begin", "keeper.start", "program.spawn",
		"program.spawned", "program.begun", "effect.before",
		"effect.after", "program.out.first", "program.exited",
		"trailer.begin", "spool.write", "trailer.written",
		"keeper.told",
		"keeper.settled", "keeper.orphan", "run.ended", "record.done",
		"complete.sent", "complete.ok", "complete.err",
		"release.sent", "release.ok", "unknown.sent", "unknown.ok",
		"reply.begin", "reply.write", "reply.first_byte",
		"reply.sent", "cache.sent",
		"store.refused", "boot.recover", "boot.recovered",
		NULL
	};

	return all;
}

const char *const *
plan_failing_labels(void)
{
	static const char *const all[] = {
		"note.write", "ledger.commit", "program.spawn", "spool.write",
		"reply.write", NULL
	};

	return all;
}

static const struct {
	const char *word;
	int error;
} errors[] = {
	{ "EAGAIN", EAGAIN }, { "EIO", EIO }, { "ENOSPC", ENOSPC },
	{ "ENOMEM", ENOMEM }, { "EMFILE", EMFILE }, { "ENFILE", ENFILE },
	{ "EPIPE", EPIPE }, { "ECONNRESET", ECONNRESET },
	{ "ECONNREFUSED", ECONNREFUSED }, { "ETIMEDOUT", ETIMEDOUT },
	{ "EACCES", EACCES }, { "ENOENT", ENOENT }, { "EINTR", EINTR }
};
#define ERRORS (sizeof errors / sizeof *errors)

int
plan_errno(const char *word)
{
	size_t i;

	for (i = 0; i < ERRORS; i++)
		if (strcmp(errors[i].word, word) == 0)
			return errors[i].error;
	return 0;
}

/* --- actions -------------------------------------------------------------- */

const struct plan_action *
plan_action_at(const struct plan *p, unsigned id)
{
	size_t i, j;

	for (i = 0; i < p->rules_n; i++)
		for (j = 0; j < p->rules[i].n; j++)
			if (p->rules[i].actions[j].id == id)
				return &p->rules[i].actions[j];
	for (i = 0; i < p->maybes_n; i++)
		if (p->maybes[i].action.id == id)
			return &p->maybes[i].action;
	return NULL;
}

bool
plan_action_heals(const struct plan_action *a)
{
	switch (a->kind) {
	case PLAN_PROC_RESUME:
	case PLAN_PROC_RESTART:
	case PLAN_NET_RELEASE:
	case PLAN_NET_HEAL:
	case PLAN_STORE_RESTART:
	case PLAN_STORE_RESUME:
	case PLAN_STORE_REJOIN:
		return true;
	case PLAN_NET_DELAY:
	case PLAN_STORE_SLOW:
		return a->ms == 0;
	case PLAN_STORE_LAG:
		return !a->freeze && a->ms == 0;
	case PLAN_STORE_OOM:
	case PLAN_DISK_FULL:
	case PLAN_DISK_IOERR:
	case PLAN_DISK_BUSY:
		return a->ends;
	case PLAN_CLOCK_RATE:
		return a->rate >= 1 && a->rate <= 1;
	case PLAN_PROC_KILL:
	case PLAN_PROC_PAUSE:
	case PLAN_PROC_FAIL:
	case PLAN_NET_DROP:
	case PLAN_NET_HOLD:
	case PLAN_NET_RESET:
	case PLAN_NET_ONEWAY:
	case PLAN_NET_SLICE:
	case PLAN_NET_REFUSE:
	case PLAN_NET_ERROR:
	case PLAN_STORE_KILL:
	case PLAN_STORE_PAUSE:
	case PLAN_STORE_ERROR:
	case PLAN_STORE_FLUSH:
	case PLAN_STORE_EVICT:
	case PLAN_STORE_EXPIRE:
	case PLAN_STORE_SCRIPT_FLUSH:
	case PLAN_STORE_SAVE:
	case PLAN_STORE_FAILOVER:
	case PLAN_DISK_POWER_LOSS:
	case PLAN_CLOCK_JUMP:
	case PLAN_CLIENT_GIVE_UP:
	case PLAN_CLIENT_ABORT:
	case PLAN_OPERATOR_RESOLVE:
	case PLAN_ACTIONS:
		break;
	}
	return false;
}

void
plan_free(struct plan *p)
{
	arena_free(&p->arena);
}
