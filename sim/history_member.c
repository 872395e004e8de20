/* SPDX-License-Identifier: ISC */
#include "history_private.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

#define AT(kind, name, member, none) \
	{ name, HISTORY_M_##kind, offsetof(struct history_event, member), none }

static const struct history_member of_event[] = {
	AT(INT, "a", a, 0),
	AT(TEXT, "k", k, 0),
	AT(TEXT, "f", f, 0),
	AT(TEXT, "to", to, 0),
	AT(TEXT, "client", client, 0),
	AT(FLAG, "audit", audit, 0),
	AT(FLAG, "fresh", fresh, 0),
	AT(FLAG, "innocent", innocent, 0),
	AT(TEXT, "get", get, 0),
	AT(INT, "status", status, 0),
	AT(TEXT, "mark", mark, 0),
	AT(TEXT, "source", source, 0),
	AT(TEXT, "d", d, 0),
	AT(TEXT, "says_key", says_key, 0),
	AT(TEXT, "says_nonce", says_nonce, 0),
	AT(TEXT, "says_effect", says_effect, 0),
	AT(TEXT, "nonce", nonce, 0),
	AT(FLAG, "length_met", length_met, 0),
	AT(LONG, "retry_after_s", retry_after_s, -1),
	AT(INT, "m", m, 0),
	AT(TEXT, "cmd", cmd, 0),
	AT(TEXT, "script", script, 0),
	AT(TEXT, "code", code, 0),
	AT(TEXT, "tok", token, 0),
	AT(TEXT, "fate", fate, 0),
	AT(TEXT, "id", id, 0),
	AT(TEXT, "ph", ph, 0),
	AT(TEXT, "business", business, 0),
	AT(INT, "attempt", attempt, 0),
	AT(TEXT, "gate", gate, 0),
	AT(INT, "life", life, 0),
	AT(LONG, "pid", pid, 0),
	AT(TEXT, "at", label, 0),
	AT(INT, "fault", fault, -1),
	AT(LONG, "by_ms", by_ms, 0),
	AT(FLAG, "wanted", wanted, 0),
	AT(TEXT, "what", what, 0),
	AT(TEXT, "why", why, 0),
	AT(TEXT, "note", note, 0),
	{ NULL, HISTORY_M_TEXT, 0, 0 }
};
#undef AT

#define AT(kind, member) \
	{ #member, HISTORY_M_##kind, offsetof(struct history_head, member), 0 }

static const struct history_member of_head[] = {
	AT(TEXT, tool),
	AT(TEXT, plan),
	AT(TEXT, scenario),
	AT(TEXT, file),
	AT(UNSIGNED, point),
	AT(TEXT, mode),
	AT(UNSIGNED, run),
	AT(TEXT, arbiter),
	AT(TEXT, on_unknown),
	AT(TEXT, on_outage),
	AT(UNSIGNED, retries),
	AT(LONG, lease_ms),
	AT(LONG, grace_ms),
	AT(LONG, wait_ms),
	AT(LONG, limit_ms),
	AT(LONG, keep_ms),
	AT(LONG, once_ms),
	AT(LONG, probe_ms),
	AT(SIZE, gates),
	AT(FLAG, ledger_shared),
	AT(FLAG, sentinels),
	AT(FLAG, front),
	AT(FLAG, handler_answers),
	AT(FLAG, handler_fails),
	AT(FLAG, business),
	AT(TEXT, blames),
	AT(FLAG, fired_any),
	AT(FLAG, fired_none),
	AT(SIZE, own),
	AT(FLAG, others),
	AT(BOUND, handler_runs_per_key),
	AT(BOUND, store_ops_per_attempt),
	AT(BOUND, queue_depth),
	AT(BOUND, goodput_recovers_within_ms),
	AT(BOUND, innocent_p99_ms),
	{ NULL, HISTORY_M_TEXT, 0, 0 }
};
#undef AT

const struct history_member *
history_event_members(void)
{
	return of_event;
}

const struct history_member *
history_head_members(void)
{
	return of_head;
}

int64_t
history_member_get(const struct history_member *m, const void *of)
{
	const void *at = (const char *)of + m->at;

	switch (m->kind) {
	case HISTORY_M_INT:
		return *(const int *)at;
	case HISTORY_M_UNSIGNED:
		return *(const unsigned *)at;
	case HISTORY_M_SIZE:
		return (int64_t)*(const size_t *)at;
	case HISTORY_M_LONG:
		return *(const int64_t *)at;
	case HISTORY_M_FLAG:
		return *(const bool *)at;
	case HISTORY_M_TEXT:
	case HISTORY_M_BOUND:
		break;
	}
	return 0;
}

bool
history_member_set(const struct history_member *m, void *of, int64_t n)
{
	void *at = (char *)of + m->at;

	switch (m->kind) {
	case HISTORY_M_INT:
		if (n < INT_MIN || n > INT_MAX)
			return false;
		*(int *)at = (int)n;
		return true;
	case HISTORY_M_UNSIGNED:
		if (n < 0 || n > UINT_MAX)
			return false;
		*(unsigned *)at = (unsigned)n;
		return true;
	case HISTORY_M_SIZE:
		if (n < 0)
			return false;
		*(size_t *)at = (size_t)n;
		return true;
	case HISTORY_M_LONG:
		*(int64_t *)at = n;
		return true;
	case HISTORY_M_FLAG:
		*(bool *)at = n != 0;
		return true;
	case HISTORY_M_TEXT:
	case HISTORY_M_BOUND:
		break;
	}
	return false;
}

const char *
history_member_text(const struct history_member *m, const void *of)
{
	const char *text;

	memcpy(&text, (const char *)of + m->at, sizeof text);
	return text;
}

bool
history_end_find(const char *word, enum outcome_end *out)
{
	static const enum outcome_end ends[] = {
		OUTCOME_WHOLE, OUTCOME_REFUSED, OUTCOME_CUT, OUTCOME_TIMEOUT,
		OUTCOME_GAVE_UP
	};
	size_t i;

	for (i = 0; i < sizeof ends / sizeof *ends; i++)
		if (strcmp(outcome_end_text(ends[i]), word) == 0) {
			*out = ends[i];
			return true;
		}
	return false;
}
