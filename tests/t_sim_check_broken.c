/* SPDX-License-Identifier: ISC */
#include "check.h"
#include "history_private.h"
#include "judge.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Histories of real runs, as they were stored, in which nothing is wrong; and
 * the same with one step in them that breaks a promise.  An edit is steps
 * parted by "|": "21 NAME=VALUE ..." sets members of event 21 (their names are
 * those of a file; "-": none), "6+900 NAME=VALUE ..." puts another like event 6
 * in, at 900 ms.  Numbers are those of the file.
 */
#define MS INT64_C(1000000)
#define WORD 80
#define EVENTS 120

static const struct row {
	const char *what;	/* a sentence: what was done to it */
	const char *file;
	enum plan_invariant invariant;	/* which sees it */
	const char *edit;
} rows[] = {
	{ "a second effect of a key", "told-apart", PLAN_AT_MOST_ONCE,
	  "6+300 id=e9 a=3 | 18+310 id=e9 a=3 | 20+320 id=e9 a=3" },
	{ "a second start that came to nothing", "told-apart",
	  PLAN_AT_MOST_ONCE, "6+300 id=e9 a=3" },
	{ "under retry nothing had happened to the run before", "wakes-up",
	  PLAN_AT_MOST_ONCE, "10 e=note | 11 note=- | 34 e=note" },
	{ "under retry one start too many", "wakes-up", PLAN_AT_MOST_ONCE,
	  "8+900 id=e9 a=3 attempt=3" },
	{ "two keys did the same thing", "told-apart",
	  PLAN_AT_MOST_ONCE_PER_BUSINESS_ID, "13 business=o7 | 18 "
	  "business=o7" },
	{ "two runs at once", "told-apart", PLAN_MUTUAL_EXCLUSION,
	  "6+100 id=e9 a=3" },
	{ "a second claim was won, and a run beside the first",
	  "two-ask-at-once", PLAN_MUTUAL_EXCLUSION, "16+200 id=e9 a=2" },
	{ "a replay with another body", "clock-steps", PLAN_SAME_ANSWER,
	  "15 d=ffff" },
	{ "answers of two keys were exchanged", "clock-steps",
	  PLAN_SAME_ANSWER, "29 says_effect=e3 | 33 says_effect=e2" },
	{ "an answer that is no program's", "clock-steps", PLAN_SAME_ANSWER,
	  "15 says_effect=- says_key=- says_nonce=-" },
	{ "what was acknowledged is unknown", "told-apart", PLAN_ACK_DURABLE,
	  "35 class=unknown status=409 mark=unknown" },
	{ "an instance hangs up on who asks for what was acknowledged",
	  "crash-at-reply-sent", PLAN_ACK_DURABLE,
	  "35+9000 a=99 | 39+9001 a=99 class=info how=cut status=0 mark=- d=- "
	  "says_effect=- says_key=- says_nonce=-" },
	{ "what was acknowledged was run again", "crash-at-reply-sent",
	  PLAN_ACK_DURABLE, "8+2501 id=e9 a=3" },
	{ "503 not-started for a try that ran", "told-apart",
	  PLAN_NO_FALSE_DEFINITE,
	  "21 class=fail status=503 mark=not-started retry_after_s=1" },
	{ "busy, and it was its own run", "two-ask-at-once",
	  PLAN_NO_FALSE_DEFINITE, "16 a=2 | 24 a=2 | 25 a=2" },
	{ "an answer of another key's", "told-apart", PLAN_NO_CROSS_TALK,
	  "25 class=ok status=200 mark=replayed says_key=k1 says_effect=e2" },
	{ "an answer with another request's nonce", "clock-steps",
	  PLAN_NO_CROSS_TALK, "33 says_nonce=COPY29" },
	{ "another body was served", "told-apart", PLAN_FINGERPRINT_GUARD,
	  "12 class=ok status=200 mark=replayed d=x says_effect=e2" },
	{ "another body was run, when the first was over", "told-apart",
	  PLAN_FINGERPRINT_GUARD, "6+190 id=e9 a=4" },
	{ "a run that was cut became a whole answer", "told-apart",
	  PLAN_NO_PARTIAL_SUCCESS, "20 e=note" },
	{ "a final answer is shorter than it says", "told-apart",
	  PLAN_NO_PARTIAL_SUCCESS, "21 length_met=0" },
	{ "a late completion was accepted", "wakes-up",
	  PLAN_LATE_COMPLETER_HARMLESS, "41 code=WRITTEN" },
	{ "a late renewal was accepted", "wakes-up",
	  PLAN_LATE_COMPLETER_HARMLESS, "39 code=RENEWED" },
	{ "the answer is the late owner's", "wakes-up",
	  PLAN_LATE_COMPLETER_HARMLESS, "47 says_effect=e1" },
	{ "unknown, and only a clock had stepped", "clock-steps",
	  PLAN_UNKNOWN_HONEST, "8 class=unknown mark=unknown" },
	{ "unknown, and another instance was killed", "told-apart",
	  PLAN_UNKNOWN_HONEST, "35 class=unknown status=409 mark=unknown" },
	{ "busy long after it was over", "clock-steps", PLAN_BUSY_HONEST,
	  "22 class=busy status=409 mark=in-progress" },
	{ "busy with nobody", "two-ask-at-once", PLAN_BUSY_HONEST,
	  "5 k=k9 | 23 k=k9" },
	{ "busy, and not told when to come again", "told-apart",
	  PLAN_ANSWERS_HONEST, "9 retry_after_s=-1" },
	{ "told to come again in an hour", "two-ask-at-once",
	  PLAN_ANSWERS_HONEST, "23 retry_after_s=3600" },
	{ "an answer that does not say what happened", "told-apart",
	  PLAN_ANSWERS_HONEST, "21 mark=-" },
	{ "the ledger has lost what is cached", "crash-at-reply-sent",
	  PLAN_LEDGER_STORE_AGREE, "65 what=absent" },
	{ "another attempt is cached than the ledger has",
	  "crash-at-reply-sent", PLAN_LEDGER_STORE_AGREE,
	  "65 attempt=2 | 70 attempt=1" },
	{ "nobody told of two runs", "wakes-up", PLAN_DIVERGENCE_REPORTED,
	  "44 what=request" },
	{ "a key was run more often than the bound", "wakes-up",
	  PLAN_STORM_BOUNDED, "8+900 id=e9 a=3 attempt=3" },
	{ "a key is in progress for ever", "told-apart", PLAN_RESOLVES,
	  "32+9000 a=99 | 36+9001 a=99 class=busy status=409 "
	  "mark=in-progress" },
	{ "a key is not served any more", "told-apart", PLAN_RESOLVES,
	  "32+9000 a=99 | 36+9001 a=99 class=fail status=503 "
	  "mark=not-started" },
	{ "the arbiter has it in progress", "two-ask-at-once", PLAN_RESOLVES,
	  "72 e=note | 72+9000 e=store what=in_progress" },
	{ "a process was left behind", "clock-steps", PLAN_RESOLVES,
	  "16+1440 e=note at=leak" },
	{ "a fresh key is not served", "clock-steps", PLAN_NEW_KEYS_SUCCEED,
	  "20+9000 a=99 | 33+9001 a=99 class=fail status=503 "
	  "mark=not-started" },
};

/* --- reading -------------------------------------------------------------- */

static void
read_file(struct history *h, const char *name)
{
	const char *top = getenv("top_srcdir");
	char path[4096], wrong[400];
	FILE *file;

	snprintf(path, sizeof path, "%s/tests/histories/%s.jsonl",
	    top != NULL ? top : ".", name);
	file = fopen(path, "re");
	if (file == NULL)
		bail_out("%s: it cannot be read", path);
	if (history_read(h, file, path, wrong, sizeof wrong) == -1)
		bail_out("%s", wrong);
	fclose(file);
	if (h->n > EVENTS)
		bail_out("%s: more than %d events", path, EVENTS);
}

/* --- one step ------------------------------------------------------------- */

static void
set_member(struct history *h, struct history_event *e, const char *name,
    const char *value)
{
	const struct history_member *m = history_event_members();
	const char *text = strcmp(value, "-") == 0 ? NULL :
	    strcmp(value, "in_progress") == 0 ? "in progress" :
	    strncmp(value, "COPY", 4) == 0 ?
	    h->events[atoi(value + 4) - 1].says_nonce :
	    history_text(h, value);

	for (; m->name != NULL && strcmp(m->name, name) != 0; m++)
		;
	if (strcmp(name, "e") == 0) {
		if (!history_kind_find(value, &e->kind))
			bail_out("no event is called %s", value);
	} else if (strcmp(name, "class") == 0) {
		if (!outcome_find(value, &e->class))
			bail_out("no class is called %s", value);
	} else if (strcmp(name, "how") == 0) {
		if (!history_end_find(value, &e->how))
			bail_out("nothing ends by %s", value);
	} else if (m->name == NULL)
		bail_out("no member is called %s", name);
	else if (m->kind == HISTORY_M_TEXT)
		memcpy((char *)e + m->at, &text, sizeof text);
	else
		(void)history_member_set(m, e, atoll(value));
}

static void
set_members(struct history *h, struct history_event *e, const char *at)
{
	char word[WORD], *value;
	size_t len;

	for (at += strspn(at, " "); *at != '\0' && *at != '|';
	    at += strspn(at, " ")) {
		len = strcspn(at, " |");
		if (len >= WORD)
			bail_out("%s: a long word", at);
		memcpy(word, at, len);
		word[len] = '\0';
		at += len;
		value = strchr(word, '=');
		if (value == NULL)
			bail_out("%s: no value", word);
		*value++ = '\0';
		set_member(h, e, word, value);
	}
}

/* Others like those that were there. */
static void
put_in(struct history *h, const struct history_event *like, int64_t at_ms,
    const char *words)
{
	struct history_event *e = history_insert(h, like->kind, at_ms * MS,
	    like->p);
	const struct history_event to = *e;

	*e = *like;
	e->i = to.i;
	e->t_ns = to.t_ns;
	e->p = to.p;
	e->v = NULL;
	e->v_n = 0;
	set_members(h, e, words);
}

/* First what is there is changed, then what is not there is put in. */
static void
edit(struct history *h, const char *text, bool puts)
{
	struct history_event as_was[EVENTS];
	size_t n = h->n;
	const char *at;
	char *end;
	long i, ms;

	memcpy(as_was, h->events, n * sizeof *as_was);
	for (at = text; at != NULL; at = strchr(at, '|')) {
		at += *at == '|';
		i = strtol(at, &end, 10);
		if (i < 1 || (size_t)i > n)
			bail_out("%s: there is no event %ld", text, i);
		ms = *end == '+' ? strtol(end + 1, &end, 10) : -1;
		if (puts && ms >= 0)
			put_in(h, &as_was[i - 1], ms, end);
		else if (!puts && ms < 0)
			set_members(h, &h->events[i - 1], end);
	}
}

/* --- what is said --------------------------------------------------------- */

/* Written, read, and asked again. */
static bool
is_seen_when_stored(const struct history *h, enum plan_invariant invariant)
{
	struct check_finding f = { .said = CHECK_HOLDS };
	char wrong[400] = "", *text = NULL;
	FILE *file;
	size_t size = 0;
	struct history again;

	file = open_memstream(&text, &size);
	if (file == NULL || history_write(h, file) == -1)
		return false;
	fclose(file);
	file = fmemopen(text, size, "r");
	if (file != NULL && history_read(&again, file, "stored", wrong,
	    sizeof wrong) == 0) {
		check(&again, invariant, &f);
		history_free(&again);
	} else
		note("%s", wrong);
	if (file != NULL)
		fclose(file);
	free(text);
	return f.said == CHECK_VIOLATED;
}

static void
test_row(const struct row *row)
{
	struct check_finding f;
	struct history h;

	read_file(&h, row->file);
	edit(&h, row->edit, false);
	edit(&h, row->edit, true);
	history_settle(&h);
	history_stamp_all(&h);
	check(&h, row->invariant, &f);
	if (!ok(f.said == CHECK_VIOLATED &&
	    is_seen_when_stored(&h, row->invariant), "%s sees in %s: %s",
	    plan_invariant_text(row->invariant), row->file, row->what)) {
		note("it says %d: %s", f.said, f.message);
		history_say(&h, stderr);
	}
	history_free(&h);
}

static void
test_good(const char *name)
{
	struct judge_run run;
	struct check_finding f;
	struct history h;
	size_t i;

	read_file(&h, name);
	judge_run(&h, NULL, 0, &run);
	ok(run.verdict == JUDGE_PASS, "%s, as it was stored, passes", name);
	for (i = 0; i < PLAN_INVARIANTS; i++) {
		/* What is run again may overlap what has slept. */
		if (h.head.relaxed[i] != NULL || (i == PLAN_MUTUAL_EXCLUSION &&
		    h.head.relaxed[PLAN_AT_MOST_ONCE] != NULL))
			continue;
		check(&h, (enum plan_invariant)i, &f);
		if (!ok(f.said != CHECK_VIOLATED,
		    "and %s has nothing against it",
		    plan_invariant_text((enum plan_invariant)i)))
			note("%s", f.message);
	}
	history_free(&h);
}

int
main(void)
{
	static const char *const files[] = { "clock-steps",
	    "crash-at-reply-sent", "told-apart", "two-ask-at-once",
	    "wakes-up" };
	bool seen[PLAN_INVARIANTS] = { false };
	size_t i;

	for (i = 0; i < sizeof files / sizeof *files; i++)
		test_good(files[i]);
	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		seen[rows[i].invariant] = true;
		test_row(&rows[i]);
	}
	for (i = 0; i < PLAN_INVARIANTS; i++)
		ok(seen[i], "%s sees something in a real history",
		    plan_invariant_text((enum plan_invariant)i));
	return done();
}
