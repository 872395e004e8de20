/* SPDX-License-Identifier: ISC */
#include "sim_story_words.h"

#include "tap.h"

#include <stdlib.h>
#include <string.h>

static void
add_fault(struct history *h, const char *act, int must)
{
	struct history_fault *fault = arena_more(&h->arena, &h->head.faults,
	    &h->head.faults_n, sizeof *fault);

	fault->act = fault->text = history_text(h, act);
	fault->must = must;
}

static bool
head_invariant(struct history *h, const char *word)
{
	enum plan_invariant i;
	const char *name;

	if ((name = story_after(word, "holds")) != NULL &&
	    plan_invariant_find(name, &i))
		h->head.holds[i] = true;
	else if ((name = story_after(word, "relaxed")) != NULL &&
	    plan_invariant_find(name, &i))
		h->head.relaxed[i] = "a reason";
	else if ((name = story_after(word, "violates")) != NULL &&
	    plan_invariant_find(name, &i))
		h->head.violates[i] = true;
	else
		return false;
	return true;
}

static bool
head_number(struct history *h, const char *word)
{
	const struct {
		const char *name;
		int64_t *at;
	} numbers[] = {
		{ "lease", &h->head.lease_ms }, { "grace", &h->head.grace_ms },
		{ "wait", &h->head.wait_ms }, { "limit", &h->head.limit_ms },
		{ "keep", &h->head.keep_ms }, { "once", &h->head.once_ms },
		{ "probe_ms", &h->head.probe_ms }
	};
	size_t i;

	for (i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (story_after(word, numbers[i].name) != NULL) {
			*numbers[i].at = atoll(story_after(word,
			    numbers[i].name));
			return true;
		}
	return false;
}

static bool
head_bound(struct history *h, const char *word)
{
	const struct {
		const char *name;
		struct history_bound *at;
		const char *per_fault;
	} bounds[] = {
		{ "runs", &h->head.handler_runs_per_key, NULL },
		{ "runs+lease_expiry", &h->head.handler_runs_per_key,
		  "lease_expiry" },
		{ "runs+kill", &h->head.handler_runs_per_key, "kill" },
		{ "ops", &h->head.store_ops_per_attempt, NULL },
		{ "queue", &h->head.queue_depth, NULL },
		{ "goodput", &h->head.goodput_recovers_within_ms, NULL },
		{ "p99", &h->head.innocent_p99_ms, NULL }
	};
	size_t i;

	for (i = 0; i < sizeof bounds / sizeof *bounds; i++)
		if (story_after(word, bounds[i].name) != NULL) {
			*bounds[i].at = (struct history_bound){ true,
			    atoll(story_after(word, bounds[i].name)),
			    bounds[i].per_fault };
			return true;
		}
	return false;
}

static bool
head_word(struct history *h, const char *word)
{
	struct history_head *head = &h->head;
	const char *value;

	if ((value = story_after(word, "retry")) != NULL) {
		head->on_unknown = "retry";
		head->retries = (unsigned)atoll(value);
	} else if ((value = story_after(word, "gates")) != NULL)
		head->gates = (size_t)atoll(value);
	else if ((value = story_after(word, "own")) != NULL)
		head->own = (size_t)atoll(value);
	else if ((value = story_after(word, "mode")) != NULL)
		head->mode = history_text(h, value);
	else if ((value = story_after(word, "arbiter")) != NULL)
		head->arbiter = history_text(h, value);
	else if ((value = story_after(word, "outage")) != NULL)
		head->on_outage = history_text(h, value);
	else if ((value = story_after(word, "blames")) != NULL)
		head->blames = history_text(h, value);
	else if ((value = story_after(word, "fault")) != NULL)
		add_fault(h, value, 1);
	else if ((value = story_after(word, "maybe")) != NULL)
		add_fault(h, value, 2);
	else if ((value = story_after(word, "heals")) != NULL)
		add_fault(h, value, 0);
	else if (strcmp(word, "probe") == 0)
		head->on_unknown = "probe";
	else if (strcmp(word, "apart") == 0)
		head->ledger_shared = false;
	else if (strcmp(word, "sentinels") == 0)
		head->sentinels = true;
	else if (strcmp(word, "front") == 0)
		head->front = true;
	else if (strcmp(word, "fails") == 0)
		head->handler_fails = true;
	else if (strcmp(word, "external") == 0)
		head->handler_answers = false;
	else if (strcmp(word, "others") == 0)
		head->others = true;
	else if (strcmp(word, "business") == 0)
		head->business = true;
	else if (strcmp(word, "fired_any") == 0)
		head->fired_any = true;
	else if (strcmp(word, "fired_none") == 0)
		head->fired_none = true;
	else
		return head_number(h, word) || head_bound(h, word) ||
		    head_invariant(h, word);
	return true;
}

void
story_head(struct history *h, const char *at)
{
	char word[STORY_WORD];

	h->head = (struct history_head){
		.tool = "idemsim test", .scenario = "a story", .mode = "live",
		.run = 1, .arbiter = "ledger", .on_unknown = "block",
		.on_outage = "reject", .lease_ms = 1000, .grace_ms = 100,
		.wait_ms = 1000, .limit_ms = 5000, .probe_ms = 1000,
		.keep_ms = 86400000, .once_ms = 691200000,
		.handler_answers = true, .ledger_shared = true
	};
	while (story_next(&at, word))
		if (!head_word(h, word))
			bail_out("no head has the word %s", word);
}
