/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include "effects.h"

#include <errno.h>
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

/* What a list says of one of the run's keys. */
struct entry {
	const struct live_key *key;
	const char *state;	/* NULL: nothing */
	int attempt;
};

static int
by_hex(const void *a_, const void *b_)
{
	const struct entry *const *a = a_, *const *b = b_;

	return strncmp((*a)->key->hex, (*b)->key->hex, DIGITS);
}

/* "KEY  STATE  ATTEMPT ..."; keys of other runs are in it too. */
static void
read_listed(const char *line, struct entry **sorted, size_t n)
{
	struct live_key key;
	const struct entry wanted = { .key = &key }, *at = &wanted;
	struct entry **found;
	const char *state, *end;

	snprintf(key.hex, sizeof key.hex, "%.*s", DIGITS, line);
	found = bsearch(&at, sorted, n, sizeof *sorted, by_hex);
	if (found == NULL)
		return;
	state = line + strcspn(line, " \n");
	state += strspn(state, " ");
	end = state + strcspn(state, " \n");
	(*found)->state = state_of(state, (size_t)(end - state));
	(*found)->attempt = (int)strtol(end, NULL, 10);
}

static void
read_list(struct live *l, const char *list, struct entry *entries)
{
	struct entry **sorted = arena_get(&l->arena, (l->keys_n + 1) *
	    sizeof *sorted);
	const char *at;
	size_t i;

	for (i = 0; i < l->keys_n; i++) {
		entries[i].key = &l->keys[i];
		sorted[i] = &entries[i];
	}
	qsort(sorted, l->keys_n, sizeof *sorted, by_hex);
	for (at = list; at != NULL && *at != '\0'; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (*at != '\0')
			read_listed(at, sorted, l->keys_n);
	}
}

static bool
list_ledger(struct live *l, struct live_gate *g, const char *p, char *list)
{
	static const char *const words[] = { "list", "--in", "ledger", NULL };
	int status = instance_ctl(l->cast->loop, &g->instance, words, list,
	    LISTED);

	if (status != 0)
		live_cut(l, "the ledger %.20s cannot be read: status %d, "
		    "%.100s", p, status, list);
	else if (strlen(list) == LISTED - 1)
		live_cut(l, "the list of the ledger %.20s is too long", p);
	else
		return true;
	return false;
}

static void
ledger_final(struct live *l, struct live_gate *g, const char *p, char *list)
{
	struct entry *entries = arena_get(&l->arena, (l->keys_n + 1) *
	    sizeof *entries);
	struct history_event *e;
	size_t i;

	if (!live_fits(l, l->keys_n) || !list_ledger(l, g, p, list))
		return;
	read_list(l, list, entries);
	for (i = 0; i < l->keys_n; i++) {
		e = history_add(l->h, HISTORY_LEDGER, live_now_ns(l), p);
		e->k = entries[i].key->name;
		e->what = entries[i].state != NULL ? entries[i].state :
		    "absent";
		e->attempt = entries[i].attempt;
	}
}

static void
ledgers_final(struct live *l)
{
	char *list = malloc(LISTED);
	size_t i, j;

	if (list == NULL)
		live_cut(l, "there is no memory for a list");
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

	if (key == NULL || !live_fits(f->l, 1))
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
		if (!s->down && server_records(&s->server, LIVE_PREFIX, record,
		    &(struct found){ l, s->server.plan->name }) != 0)
			live_cut(l, "what the Redis %.20s has cannot be read: "
			    "%s", s->server.plan->name, strerror(errno));
	}
}

/* --- what is left over ---------------------------------------------------- */

static void
leaks(struct live *l, struct live_gate *g)
{
	size_t descriptors = instance_descriptors(&g->instance);
	char what[80];

	if (g->seen > g->processes) {
		snprintf(what, sizeof what, "%zu processes, %zu before",
		    g->seen, g->processes);
		live_note(l, g->instance.name, "leak", what);
		/* Nobody sees what they do yet. */
		if (!l->plan->expect.holds[PLAN_RESOLVES])
			live_cut(l, "%s still has %s", g->instance.name, what);
	}
	if (g->descriptors > 0 &&
	    descriptors > g->descriptors + SOME_DESCRIPTORS) {
		snprintf(what, sizeof what,
		    "%zu descriptors, %zu before", descriptors,
		    g->descriptors);
		live_note(l, g->instance.name, "leak", what);
	}
	if (g->seen > g->processes)
		l->cast->harmed = true;
}

static void
effects(struct live *l)
{
	const struct effects_span span = {
		l->began_ns, l->began_ns + live_now_ns(l), live_room(l)
	};
	char wrong[200] = "";

	if (effects_read(l->h, l->cast->effects, &span, wrong,
	    sizeof wrong) != 0)
		live_cut(l, "%s", wrong);
}

/* --- all of it ------------------------------------------------------------ */

/* What is under way when a run is cut is no leak, and what stands in a ledger
   then is no end. */
static void
look_at_the_end(struct live *l)
{
	size_t i;

	for (i = 0; i < l->cast->gates_n; i++)
		leaks(l, &l->cast->gates[i]);
	ledgers_final(l);
	stores_final(l);
}

void
live_final(struct live *l)
{
	if (!l->cut)
		look_at_the_end(l);
	effects(l);
	live_died_programs(l);
	live_died_oom(l);
}
