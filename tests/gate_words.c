/* SPDX-License-Identifier: ISC */
#include "gate_words.h"

#include "gate_op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the words of events -------------------------------------------------- */

static const struct {
	const char *word;
	struct idem_event ev;
} words[] = {
	{ "keyed", { .op = IDEM_ADMIT, .admit = IDEM_KEYED } },
	{ "keyless", { .op = IDEM_ADMIT, .admit = IDEM_KEYLESS } },
	{ "exempt", { .op = IDEM_ADMIT, .admit = IDEM_EXEMPT } },
	{ "refused", { .op = IDEM_ADMIT, .admit = IDEM_REFUSED } },
	{ "completed", { .op = IDEM_LOOK, .look = IDEM_LOOK_COMPLETED } },
	{ "nothing", { .op = IDEM_LOOK, .look = IDEM_LOOK_NOTHING } },
	{ "unsure", { .op = IDEM_LOOK, .look = IDEM_LOOK_UNSURE } },
	{ "known", { .op = IDEM_LOOK, .look = IDEM_LOOK_KNOWN } },
	{ "led", { .op = IDEM_LOOK, .look = IDEM_LOOK_LED } },
	{ "led-mismatch", { .op = IDEM_LOOK, .look = IDEM_LOOK_LED_MISMATCH } },
	{ "led-withheld", { .op = IDEM_LOOK, .look = IDEM_LOOK_LED_WITHHELD } },
	{ "got", { .op = IDEM_SLOT, .slot = IDEM_SLOT_GOT } },
	{ "full", { .op = IDEM_SLOT, .slot = IDEM_SLOT_FULL } },
	{ "mismatch", { .op = IDEM_CLAIM, .claim = IDEM_CLAIM_MISMATCH } },
	{ "withheld", { .op = IDEM_CLAIM, .claim = IDEM_CLAIM_WITHHELD } },
	{ "completed", { .op = IDEM_CLAIM, .claim = IDEM_CLAIM_COMPLETED } },
	{ "expired", { .op = IDEM_CLAIM, .claim = IDEM_CLAIM_EXPIRED } },
	{ "in-progress", { .op = IDEM_CLAIM,
	    .claim = IDEM_CLAIM_IN_PROGRESS } },
	{ "unknown", { .op = IDEM_CLAIM, .claim = IDEM_CLAIM_UNKNOWN } },
	{ "absent", { .op = IDEM_CLAIM, .claim = IDEM_CLAIM_ABSENT } },
	{ "won", { .op = IDEM_CLAIM, .claim = IDEM_CLAIM_WON } },
	{ "ours", { .op = IDEM_CLAIM, .claim = IDEM_CLAIM_OURS } },
	{ "late", { .op = IDEM_CLAIM, .claim = IDEM_CLAIM_LATE } },
	{ "history", { .op = IDEM_CLAIM, .claim = IDEM_CLAIM_HISTORY } },
	{ "no-token", { .op = IDEM_CLAIM, .claim = IDEM_CLAIM_NO_TOKEN } },
	{ "bad-record", { .op = IDEM_CLAIM, .claim = IDEM_CLAIM_BAD_RECORD } },
	{ "exhausted", { .op = IDEM_CLAIM, .claim = IDEM_CLAIM_EXHAUSTED } },
	{ "refused", { .op = IDEM_CLAIM, .claim = IDEM_CLAIM_REFUSED } },
	{ "away", { .op = IDEM_CLAIM, .claim = IDEM_CLAIM_REFUSED,
	    .away = true } },
	{ "maybe", { .op = IDEM_CLAIM, .claim = IDEM_CLAIM_MAYBE } },
	{ "finished", { .op = IDEM_RUN, .run = IDEM_RUN_FINISHED } },
	{ "not-started", { .op = IDEM_RUN, .run = IDEM_RUN_NOT_STARTED } },
	{ "cut", { .op = IDEM_RUN, .run = IDEM_RUN_CUT } },
	{ "happened", { .op = IDEM_PROBE, .probed = IDEM_HAPPENED } },
	{ "did-not", { .op = IDEM_PROBE, .probed = IDEM_DID_NOT } },
	{ "unknown", { .op = IDEM_PROBE, .probed = IDEM_PROBE_UNKNOWN } },
	{ "over", { .op = IDEM_WAIT, .waited = IDEM_WAIT_OVER } },
	{ "woken-completed", { .op = IDEM_WAIT,
	    .waited = IDEM_WOKEN_COMPLETED } },
	{ "released", { .op = IDEM_WAIT, .waited = IDEM_WOKEN_RELEASED } },
	{ "woken-unknown", { .op = IDEM_WAIT, .waited = IDEM_WOKEN_UNKNOWN } },
	{ "woken-unsure", { .op = IDEM_WAIT, .waited = IDEM_WOKEN_UNSURE } },
	{ "sent", { .op = IDEM_REPLY, .sent = IDEM_SENT } },
	{ "nobody", { .op = IDEM_REPLY, .sent = IDEM_NOBODY } },
	{ "done", { .op = IDEM_CACHE } },
	{ "failed", { .op = IDEM_CACHE } },
	/* at any time */
	{ "gone", { .op = IDEM_GONE } },
	{ "renewed", { .op = IDEM_RENEW, .renew = IDEM_RENEWED } },
	{ "renew-lost", { .op = IDEM_RENEW, .renew = IDEM_RENEW_LOST } },
	{ "renew-maybe", { .op = IDEM_RENEW, .renew = IDEM_RENEW_MAYBE } },
	{ "stopped", { .op = IDEM_RENEW, .renew = IDEM_RENEW_STOPPED } },
};

static const char *const writes[] = {
	[IDEM_WRITTEN] = "written",
	[IDEM_WRITE_LOST] = "lost",
	[IDEM_WRITE_REFUSED] = "refused",
	[IDEM_WRITE_MAYBE] = "maybe",
};

static const char *const problems[IDEM_PROBLEMS] = {
	[IDEM_PROBLEM_NONE] = "none",
	[IDEM_PROBLEM_KEY_MISSING] = "key-missing",
	[IDEM_PROBLEM_KEY_MALFORMED] = "key-malformed",
	[IDEM_PROBLEM_KEY_TOO_LONG] = "key-too-long",
	[IDEM_PROBLEM_KEYS_DIFFER] = "keys-differ",
	[IDEM_PROBLEM_REQUEST_BROKEN] = "request-broken",
	[IDEM_PROBLEM_MISMATCH] = "mismatch",
	[IDEM_PROBLEM_WITHHELD] = "withheld",
	[IDEM_PROBLEM_IN_PROGRESS] = "in-progress",
	[IDEM_PROBLEM_ACCEPTED] = "accepted",
	[IDEM_PROBLEM_UNKNOWN] = "unknown",
	[IDEM_PROBLEM_VOID_TOKEN] = "void-token",
	[IDEM_PROBLEM_FOREIGN_TOKEN] = "foreign-token",
	[IDEM_PROBLEM_TOKEN_EXPIRED] = "token-expired",
	[IDEM_PROBLEM_KEY_EXPIRED] = "key-expired",
	[IDEM_PROBLEM_STORE_AWAY] = "store-away",
	[IDEM_PROBLEM_BUSY] = "busy",
	[IDEM_PROBLEM_RELEASED] = "released",
	[IDEM_PROBLEM_NO_PROGRAM] = "no-program",
	[IDEM_PROBLEM_FORBIDDEN_PROGRAM] = "forbidden-program",
	[IDEM_PROBLEM_BROKEN_PROGRAM] = "broken-program",
	[IDEM_PROBLEM_BACKEND_AWAY] = "backend-away",
	[IDEM_PROBLEM_NO_SPACE] = "no-space",
	[IDEM_PROBLEM_KEY_FUNCTION] = "key-function",
	[IDEM_PROBLEM_TOO_MUCH_HEAD] = "too-much-head",
	[IDEM_PROBLEM_TOO_MUCH_BODY] = "too-much-body",
	[IDEM_PROBLEM_DIED] = "died",
	[IDEM_PROBLEM_CUT] = "cut",
	[IDEM_PROBLEM_LOST] = "lost",
	[IDEM_PROBLEM_UNRECORDED] = "unrecorded",
	[IDEM_PROBLEM_NOT_KEPT] = "not-kept",
	[IDEM_PROBLEM_TOKEN_PATH] = "token-path",
	[IDEM_PROBLEM_NO_TOKEN_ROUTE] = "no-token-route",
	[IDEM_PROBLEM_TOKEN_METHOD] = "token-method",
	[IDEM_PROBLEM_TOO_MANY_TOKENS] = "too-many-tokens",
};

static const char *const marks[IDEM_SAYS_COUNT] = {
	[IDEM_SAYS_STORED] = "/stored",
	[IDEM_SAYS_REPLAYED] = "/replayed",
	[IDEM_SAYS_UNRECORDED] = "/unrecorded",
	[IDEM_SAYS_STORED_WITHOUT_BODY] = "/stored-without-body",
	[IDEM_SAYS_RELEASED] = "/released",
	[IDEM_SAYS_UNPROTECTED] = "/unprotected",
	[IDEM_SAYS_IGNORED] = "/ignored",
};

static bool
same_word(const char *p, size_t n, const char *word)
{
	return strlen(word) == n && memcmp(p, word, n) == 0;
}

static void
add_more(struct idem_event *ev, const char *p, size_t n)
{
	enum idem_problem i;

	if (same_word(p, n, "unkept"))
		ev->kept = false;
	else if (same_word(p, n, "nothing"))
		ev->nothing = true;
	else if (same_word(p, n, "old"))
		ev->old = true;
	else if (same_word(p, n, "unprotected"))
		ev->unprotected = true;
	else if (same_word(p, n, "key"))
		ev->key_sent = true;
	else if (same_word(p, n, "dead"))
		ev->proof = IDEM_PROOF_DEAD;
	else if (same_word(p, n, "lapsed"))
		ev->proof = IDEM_PROOF_LAPSED;
	else if (same_word(p, n, "unbegun"))
		ev->proof = IDEM_PROOF_NOTHING;
	else if (same_word(p, n, "ended"))
		ev->proof = IDEM_PROOF_FINISHED;
	else if (same_word(p, n, "no-space"))
		ev->no_space = true;
	else
		for (i = IDEM_PROBLEM_NONE; i < IDEM_PROBLEMS; i++)
			if (same_word(p, n, problems[i]))
				ev->problem = i;
}

static bool
is_write(enum idem_op op)
{
	return op == IDEM_COMPLETE || op == IDEM_RELEASE ||
	    op == IDEM_MARK_UNKNOWN || op == IDEM_RECORD;
}

/* The event that a word of n bytes names; op IDEM_END if there is none. */
static struct idem_event
event_named(const char *p, size_t n, enum idem_op awaiting)
{
	struct idem_event ev = { .op = IDEM_END };
	size_t i, word = strcspn(p, ":/ ");

	for (i = 0; i < sizeof words / sizeof *words; i++)
		if (same_word(p, word, words[i].word) &&
		    (words[i].ev.op == awaiting ||
		    words[i].ev.op == IDEM_GONE ||
		    words[i].ev.op == IDEM_RENEW))
			ev = words[i].ev;
	for (i = 0; is_write(awaiting) && i < 4; i++)
		if (same_word(p, word, writes[i])) {
			ev.op = awaiting;
			ev.write = (enum idem_write)i;
		}
	ev.kept = true;
	for (i = word; i < n; i += 1 + strcspn(p + i + 1, ":/ "))
		if (p[i] == ':')
			add_more(&ev, p + i + 1, strcspn(p + i + 1, ":/ "));
		else
			ev.attempt = (uint32_t)strtoul(p + i + 1, NULL, 10);
	return ev;
}

/* --- the words of effects ------------------------------------------------- */

static void
add_reply(FILE *f, const struct idem_effect *fx)
{
	static const char *const bodies[] = { "", "fresh", "saved", "passed" };

	if (fx->body != IDEM_BODY_PROBLEM) {
		fprintf(f, ":%s%s", bodies[fx->body],
		    fx->mark == IDEM_SAYS_NONE ? "" : marks[fx->mark]);
		return;
	}
	fprintf(f, ":%s", problems[fx->problem]);
	if (fx->attempt != 0)
		fprintf(f, "/%u", fx->attempt);
	if (fx->retry_after_s != 0)
		fprintf(f, ":%u", fx->retry_after_s);
}

static void
add_effect(FILE *f, const struct idem_effect *fx)
{
	static const char *const where[] = {
		"", "@local", "@redis", "@fallback", "@memory"
	};

	if (fx->op == IDEM_MARK_UNKNOWN)
		fprintf(f, "mark");
	else
		fprintf(f, "%s%s", gate_op_text(fx->op),
		    fx->for_key ? "-key" : "");
	if (fx->op != IDEM_RUN && fx->op != IDEM_PROBE)
		fprintf(f, "%s", where[fx->where]);
	fprintf(f, "%s%s%s%s%s%s%s", fx->look_only ? ":look" : "",
	    fx->take_over ? ":take-over" : "", fx->queued ? ":queued" : "",
	    fx->others ? ":others" : "", fx->unkeyed ? ":unkeyed" : "",
	    fx->unprotected ? ":unprotected" : "",
	    fx->background ? ":background" : "");
	if (fx->wait_ms != 0)
		fprintf(f, ":%u", fx->wait_ms);
	if (fx->op == IDEM_REPLY)
		add_reply(f, fx);
}

static void
add_effects(FILE *f, const struct idem_effects *all)
{
	if (ftell(f) > 0)
		fputc(' ', f);
	if (all->n == 0)
		fputc('-', f);
	if (all->n > 0)
		add_effect(f, &all->fx[0]);
	if (all->n > 1) {
		fputc('+', f);
		add_effect(f, &all->fx[1]);
	}
}

void
gate_words_follow(const struct idem_policy *policy, const char *p, char *asks,
    size_t asks_size)
{
	FILE *f = fmemopen(asks, asks_size, "w");
	int64_t now_ms = 1000;
	struct idem_effects all;
	struct idem_event ev;
	struct idem_gate g;
	size_t n;

	idem_gate_init(&g, policy);
	for (; *p != '\0'; p += n + (p[n] == ' ')) {
		n = strcspn(p, " ");
		if (*p == '+') {
			now_ms += strtol(p + 1, NULL, 10);
			continue;
		}
		ev = event_named(p, n, g.awaiting);
		if (ev.op == IDEM_END) {
			fprintf(f, " no such word here: %.*s", (int)n, p);
			break;
		}
		if (ev.op == IDEM_WAIT && !g.asked.for_key)
			now_ms += g.asked.wait_ms;
		ev.now_ms = now_ms;
		all = idem_gate_step(&g, &ev);
		add_effects(f, &all);
	}
	fprintf(f, "%s", g.ended ? "" : " and it has not ended");
	fclose(f);
}
