/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include <string.h>

static bool
is_known(const char *label)
{
	const char *const *known;

	for (known = plan_labels(); *known != NULL; known++)
		if (strcmp(*known, label) == 0)
			return true;
	return false;
}

static const char *
unknown_of(const struct plan_trigger *t)
{
	const char *label = NULL;
	size_t i;

	if (t->kind == PLAN_LABEL && !is_known(t->label))
		return t->label;
	for (i = 0; i < t->n && label == NULL; i++)
		label = unknown_of(&t->of[i]);
	return label;
}

const char *
live_label_unknown(const struct plan *plan)
{
	const char *label = NULL;
	size_t i;

	for (i = 0; i < plan->rules_n && label == NULL; i++)
		label = unknown_of(&plan->rules[i].when);
	return label;
}

/* An effect is seen by the program's own label. */
static void
labels_of(const struct plan_trigger *t, const char *label, bool *wanted)
{
	size_t i;

	*wanted |= (t->kind == PLAN_LABEL && strcmp(t->label, label) == 0) ||
	    (t->kind == PLAN_EFFECT && strcmp(label, "effect.after") == 0);
	for (i = 0; i < t->n; i++)
		labels_of(&t->of[i], label, wanted);
}

/* Who is refused has nobody else who could tell of it. */
static bool
refuses(const struct plan *plan)
{
	size_t i, k;

	for (i = 0; i < plan->rules_n; i++)
		for (k = 0; k < plan->rules[i].n; k++)
			if (plan->rules[i].actions[k].kind == PLAN_NET_REFUSE)
				return true;
	for (i = 0; i < plan->maybes_n; i++)
		if (plan->maybes[i].action.kind == PLAN_NET_REFUSE)
			return true;
	return false;
}

/* Whose key it is only the ledger knows, whose commands nobody sees: who has
   got it from there, or has been told that it is written, tells so. */
static bool
tells(const struct plan *plan, const char *label)
{
	static const char *const labels[] = {
		"run.begin", "complete.ok", "release.ok", "unknown.ok"
	};
	size_t i;

	for (i = 0; i < sizeof labels / sizeof *labels; i++)
		if (strcmp(labels[i], label) == 0)
			return plan->gates.arbiter == PLAN_LEDGER;
	return false;
}

void
live_rules_labels(const struct plan *plan, char *out, size_t size)
{
	const char *const *known;
	size_t i, len = 0;
	bool wanted;

	out[0] = '\0';
	for (known = plan_labels(); *known != NULL; known++) {
		wanted = strcmp(*known, LIVE_REFUSED) == 0 && refuses(plan);
		for (i = 0; i < plan->rules_n; i++)
			labels_of(&plan->rules[i].when, *known, &wanted);
		if (wanted || tells(plan, *known))
			len += (size_t)snprintf(out + len, size - len,
			    "%s%s%s", len > 0 ? "," : "", *known,
			    wanted ? "" : "!");
	}
}
