/* SPDX-License-Identifier: ISC */
#include "sim_story_words.h"

#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)

/* --- words ---------------------------------------------------------------- */

bool
story_next(const char **at, char out[STORY_WORD])
{
	size_t len;

	*at += strspn(*at, " ");
	len = strcspn(*at, " |");
	if (len == 0 || len >= STORY_WORD)
		return false;
	memcpy(out, *at, len);
	out[len] = '\0';
	*at += len;
	return true;
}

const char *
story_after(const char *word, const char *name)
{
	size_t len = strlen(name);

	return strncmp(word, name, len) == 0 && word[len] == '=' ?
	    word + len + 1 : NULL;
}

static bool
numbered(const char *word, char letter)
{
	return word[0] == letter && word[1] != '\0' &&
	    word[1 + strspn(word + 1, "0123456789")] == '\0';
}

/* --- events --------------------------------------------------------------- */

static const struct {
	const char *word;
	enum history_kind kind;
} kinds[] = {
	{ "inv", HISTORY_INV }, { "ret", HISTORY_RET },
	{ "send", HISTORY_SEND }, { "recv", HISTORY_RECV },
	{ "store", HISTORY_STORE }, { "record", HISTORY_STORE },
	{ "expired", HISTORY_STORE }, { "ledger", HISTORY_LEDGER },
	{ "begin", HISTORY_EFFECT }, { "commit", HISTORY_EFFECT },
	{ "end", HISTORY_EFFECT }, { "fault", HISTORY_FAULT },
	{ "heal", HISTORY_HEAL }, { "log", HISTORY_LOG },
	{ "stall", HISTORY_NOTE }, { "oom", HISTORY_NOTE },
	{ "leak", HISTORY_NOTE },
	{ "exit", HISTORY_EXIT }, { "spawn", HISTORY_SPAWN },
	{ "lbl", HISTORY_LABEL }, { "note", HISTORY_NOTE }
};

static enum history_kind
kind_of(const char *word)
{
	size_t i;

	for (i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(kinds[i].word, word) == 0)
			return kinds[i].kind;
	bail_out("nothing is called %s", word);
}

static void
returned(struct history_event *e, enum outcome class)
{
	static const struct {
		enum outcome_end how;
		int status;
		const char *mark;
		int64_t again_s;
	} usual[OUTCOMES] = {
		[OUTCOME_OK] = { OUTCOME_WHOLE, 200, "stored", -1 },
		[OUTCOME_FAIL] = { OUTCOME_WHOLE, 503, "not-started", 1 },
		[OUTCOME_BUSY] = { OUTCOME_WHOLE, 409, "in-progress", 1 },
		[OUTCOME_UNKNOWN] = { OUTCOME_WHOLE, 409, "unknown", -1 },
		[OUTCOME_INFO] = { OUTCOME_TIMEOUT, 0, NULL, -1 }
	};

	e->class = class;
	e->how = usual[class].how;
	e->status = usual[class].status;
	e->mark = usual[class].mark;
	e->retry_after_s = usual[class].again_s;
	e->length_met = true;
}

static bool
ended(struct history_event *e, const char *how)
{
	static const enum outcome_end ends[] = {
		OUTCOME_WHOLE, OUTCOME_REFUSED, OUTCOME_CUT, OUTCOME_TIMEOUT,
		OUTCOME_GAVE_UP
	};
	size_t i;

	for (i = 0; how != NULL && i < sizeof ends / sizeof *ends; i++)
		if (strcmp(how, outcome_end_text(ends[i])) == 0) {
			e->how = ends[i];
			if (ends[i] != OUTCOME_WHOLE)
				e->status = 0;
			return true;
		}
	return false;
}

static bool
pair_word(struct history *h, struct history_event *e, const char *word)
{
	bool ret = e->kind == HISTORY_RET;
	const struct {
		const char *name;
		const char **at;
	} pairs[] = {
		{ "f", &e->f }, { "d", &e->d }, { "mark", &e->mark },
		{ "n", ret ? &e->says_nonce : &e->nonce },
		{ "key", &e->says_key }, { "of", &e->says_effect },
		{ "on", &e->gate }, { "b", &e->business },
		{ "word", &e->script }, { "tok", &e->token },
		{ "fate", &e->fate }, { "by", &e->client },
		{ "why", &e->why }, { "at", &e->label }
	};
	const char *value;
	size_t i;

	for (i = 0; i < sizeof pairs / sizeof *pairs; i++)
		if ((value = story_after(word, pairs[i].name)) != NULL) {
			*pairs[i].at = history_text(h, value);
			return true;
		}
	if ((value = story_after(word, "s")) != NULL)
		e->status = (int)atoll(value);
	else if ((value = story_after(word, "ms")) != NULL)
		e->by_ms = atoll(value);
	else if ((value = story_after(word, "again")) != NULL)
		e->retry_after_s = atoll(value);
	else if ((value = story_after(word, "id")) != NULL)
		e->fault = (int)atoll(value);
	else
		return ended(e, story_after(word, "how"));
	return true;
}

static bool
flag_word(struct history_event *e, const char *word)
{
	if (strcmp(word, "audit") == 0)
		e->audit = true;
	else if (strcmp(word, "fresh") == 0)
		e->fresh = e->audit = true;
	else if (strcmp(word, "innocent") == 0)
		e->innocent = true;
	else if (strcmp(word, "short") == 0)
		e->length_met = false;
	else if (strcmp(word, "wanted") == 0)
		e->wanted = true;
	else
		return false;
	return true;
}

static bool
number_word(struct history *h, struct history_event *e, const char *word)
{
	int n = (int)atoll(word + 1);

	if (numbered(word, 'a'))
		e->a = n;
	else if (numbered(word, 'm'))
		e->m = n;
	else if (numbered(word, 'x'))
		e->attempt = n;
	else if (numbered(word, 'k'))
		e->k = history_text(h, word);
	else if (numbered(word, 'e'))
		e->id = history_text(h, word);
	else
		return false;
	return true;
}

/* What is left is named by where it stands. */
static void
plain_word(struct history *h, struct history_event *e, const char *word)
{
	enum outcome class;
	const char *text;

	if (word[0] == '>') {
		e->to = history_text(h, word + 1);
		return;
	}
	text = history_text(h, word);
	if (e->kind == HISTORY_RET && outcome_find(word, &class))
		returned(e, class);
	else if (e->kind == HISTORY_FAULT || e->kind == HISTORY_HEAL)
		e->cmd = text;
	else if (e->kind == HISTORY_LOG || e->kind == HISTORY_LEDGER ||
	    e->kind == HISTORY_NOTE ||
	    (e->kind == HISTORY_STORE && e->m == 0))
		e->what = strcmp(text, "in-progress") == 0 ? "in progress" :
		    text;
	else if (e->kind == HISTORY_EXIT)
		e->why = text;
	else if (e->script == NULL)
		e->script = text;
	else
		e->code = text;
}

/* Lines of a run say less than its first. */
static void
as_begun(const struct history *h, struct history_event *e)
{
	const struct history_event *b;

	for (b = h->events; b < e; b++)
		if (b->kind == HISTORY_EFFECT && b->id == e->id &&
		    strcmp(b->ph, "begin") == 0) {
			e->k = b->k;
			e->a = b->a;
			e->attempt = b->attempt;
			e->gate = b->gate;
			e->business = b->business;
		}
}

static void
as_asked(const struct history *h, struct history_event *e)
{
	const struct history_event *b;

	for (b = h->events; b < e; b++)
		if (b->kind == HISTORY_INV && b->a == e->a) {
			e->k = b->k;
			e->f = b->f;
			e->to = b->to;
		}
}

/* What its program says of itself, if the story does not. */
static const char *
first_run(const struct history *h, const char *k)
{
	const struct history_event *b;

	for (b = h->events; b < h->events + h->n && k != NULL; b++)
		if (b->kind == HISTORY_EFFECT && b->k == k)
			return b->id;
	return NULL;
}

static void
finish(struct history *h, struct history_event *e, const char *kind)
{
	if (e->kind == HISTORY_EFFECT) {
		e->ph = history_text(h, kind);
		if (strcmp(kind, "begin") == 0 && e->attempt == 0)
			e->attempt = 1;
		if (strcmp(kind, "begin") != 0)
			as_begun(h, e);
	}
	if (e->kind == HISTORY_RET) {
		as_asked(h, e);
		if (e->class == OUTCOME_OK && e->says_effect == NULL &&
		    h->head.handler_answers)
			e->says_effect = first_run(h, e->k);
		if (e->says_effect != NULL &&
		    strcmp(e->says_effect, "none") == 0)
			e->says_effect = NULL;
	}
	if (e->kind == HISTORY_INV && e->client == NULL)
		e->client = e->p;
	if (e->kind == HISTORY_NOTE && strcmp(kind, "note") != 0)
		e->label = history_text(h, kind);
	if (strcmp(kind, "expired") == 0)
		e->note = "lease_expired_running";
	if (e->kind == HISTORY_FAULT && e->p[0] == 'g' && e->gate == NULL)
		e->gate = e->p;
	if (e->fault >= 0)
		e->cmd = NULL;
}

static void
tell_event(struct history *h, const char **at, int64_t *now_ns)
{
	char lane[STORY_WORD], kind[STORY_WORD], word[STORY_WORD];
	struct history_event *e;

	if (!story_next(at, lane))
		bail_out("an event without words");
	*now_ns += MS;
	if (lane[0] == '@') {
		*now_ns = atoll(lane + 1) * MS;
		if (!story_next(at, lane))
			bail_out("a time without an event");
	}
	if (!story_next(at, kind))
		bail_out("%s does nothing", lane);
	e = history_add(h, kind_of(kind), *now_ns, lane);
	while (story_next(at, word))
		if (!flag_word(e, word) && !number_word(h, e, word) &&
		    !pair_word(h, e, word))
			plain_word(h, e, word);
	finish(h, e, kind);
}

void
story_tell(struct history *h, const char *head, const char *story)
{
	int64_t now_ns = 0;
	bool cut = false;

	memset(h, 0, sizeof *h);
	story_head(h, head != NULL ? head : "");
	while (*story != '\0') {
		story += strspn(story, " ");
		cut = strncmp(story, "cut", 3) == 0;
		if (cut)
			break;
		if (*story != '\0')
			tell_event(h, &story, &now_ns);
		story += strspn(story, " ");
		story += *story == '|';
	}
	if (!cut)
		(void)history_add(h, HISTORY_END, now_ns + MS, "-");
	history_stamp_all(h);
}
