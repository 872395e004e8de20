/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include "effects.h"

#include <stdlib.h>
#include <string.h>

#define LISTED (4 << 20)
#define DIGITS 16		/* of a key in a list */
#define SOME_DESCRIPTORS 16	/* pools may be fuller than before */

/* --- ledgers -------------------------------------------------------------- */

/* "in-progress" of a list, "in progress" of a history. */
static const char *
state_of(const char *at, size_t len)
{
	static const char *const states[] = {
		"completed", "unknown", "tombstone", "issued"
	};
	size_t i;

	for (i = 0; i < sizeof states / sizeof *states; i++)
		if (strlen(states[i]) == len &&
		    strncmp(states[i], at, len) == 0)
			return states[i];
	return "in progress";
}

/* The key's line of a list; NULL: it is not there. */
static const char *
listed(const char *list, const struct live_key *key, int *attempt)
{
	const char *at = list, *state;

	for (; at != NULL && *at != '\0'; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, key->hex, DIGITS) != 0)
			continue;
		state = at + strcspn(at, " ");
		state += strspn(state, " ");
		at = state + strcspn(state, " ");
		*attempt = (int)strtol(at, NULL, 10);
		return state_of(state, (size_t)(at - state));
	}
	return NULL;
}

static void
ledger_final(struct live *l, struct live_gate *g, const char *p, char *list)
{
	static const char *const words[] = { "list", "--in", "ledger", NULL };
	struct history_event *e;
	const char *state;
	int attempt = 0;
	size_t i;

	if (instance_ctl(l->cast->loop, &g->instance, words, list, LISTED) !=
	    0) {
		live_note(l, p, NULL, "the ledger cannot be read");
		return;
	}
	for (i = 0; i < l->keys_n; i++) {
		state = listed(list, &l->keys[i], &attempt);
		e = history_add(l->h, HISTORY_LEDGER, live_now_ns(l), p);
		e->k = l->keys[i].name;
		e->what = state != NULL ? state : "absent";
		e->attempt = state != NULL ? attempt : 0;
	}
}

static void
ledgers_final(struct live *l)
{
	char *list = malloc(LISTED);
	size_t i, j;

	for (i = 0; i < l->cast->ledgers_n && list != NULL; i++)
		for (j = 0; j < l->cast->gates_n; j++)
			if (l->cast->gates[j].ledger == (int)i) {
				ledger_final(l, &l->cast->gates[j],
				    l->cast->ledgers[i].name, list);
				break;
			}
	free(list);
}

/* --- servers -------------------------------------------------------------- */

struct found {
	struct live *l;
	const char *p;
};

static void
record(void *arg, const char *hex, const char *state, unsigned attempt)
{
	const struct found *f = arg;
	const struct live_key *key = live_key_stored(f->l, hex, strlen(hex));
	struct history_event *e;

	if (key == NULL)
		return;
	e = history_add(f->l->h, HISTORY_STORE, live_now_ns(f->l), f->p);
	e->k = key->name;
	e->what = history_text(f->l->h, state);
	e->attempt = (int)attempt;
}

static void
stores_final(struct live *l)
{
	struct live_store *s;
	size_t i;

	for (i = 0; i < l->cast->stores_n; i++) {
		s = &l->cast->stores[i];
		if (!s->down)
			(void)server_records(&s->server, LIVE_PREFIX, record,
			    &(struct found){ l, s->server.plan->name });
	}
}

/* --- what is left over ---------------------------------------------------- */

static void
leaks(struct live *l, struct live_gate *g)
{
	size_t processes = instance_processes(&g->instance);
	size_t descriptors = instance_descriptors(&g->instance);
	char what[80];

	if (processes > g->processes) {
		snprintf(what, sizeof what, "%zu processes, %zu before",
		    processes, g->processes);
		live_note(l, g->instance.name, "leak", what);
	}
	if (g->descriptors > 0 &&
	    descriptors > g->descriptors + SOME_DESCRIPTORS) {
		snprintf(what, sizeof what,
		    "%zu descriptors, %zu before", descriptors,
		    g->descriptors);
		live_note(l, g->instance.name, "leak", what);
	}
	if (processes > g->processes)
		l->cast->harmed = true;
}

static void
effects(struct live *l)
{
	char wrong[200] = "";

	if (effects_read(l->h, l->cast->effects, l->began_ns, wrong,
	    sizeof wrong) == 0)
		return;
	live_note(l, "-", NULL, wrong);
	l->cut = true;
}

void
live_final(struct live *l)
{
	size_t i;

	for (i = 0; i < l->cast->gates_n; i++)
		leaks(l, &l->cast->gates[i]);
	ledgers_final(l);
	stores_final(l);
	effects(l);
	live_died_programs(l);
	live_died_oom(l);
}
