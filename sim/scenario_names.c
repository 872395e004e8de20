/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lauxlib.h>
#include <lua.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
scenario_gate(const struct scenario_at *at, const char *what,
    const char *name, bool any)
{
	size_t n = at->plan->gates.n;
	char *end;
	unsigned long number;

	if (any && strcmp(name, "*") == 0)
		return PLAN_ANY;
	number = name[0] == 'g' && isdigit((unsigned char)name[1]) ?
	    strtoul(name + 1, &end, 10) : 0;
	if (number >= 1 && number <= n && *end == '\0' && name[1] != '0')
		return (int)number - 1;
	if (n == 1)
		scenario_wrong(at, what, "there is no gate \"%.40s\"; there is "
		    "g1", name);
	scenario_wrong(at, what, "there is no gate \"%.40s\"; there are g1 to "
	    "g%zu", name, n);
}

static void
store_names(const struct plan *p, char *out, size_t size)
{
	size_t i, len = 0;

	out[0] = '\0';
	for (i = 0; i < p->stores_n && len < size; i++)
		len += (size_t)snprintf(out + len, size - len, "%s%s",
		    i > 0 ? " " : "", p->stores[i].name);
}

static int
find_store(const struct plan *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->stores_n; i++)
		if (strcmp(p->stores[i].name, name) == 0)
			return (int)i;
	return PLAN_NONE;
}

int
scenario_store(const struct scenario_at *at, const char *what,
    const char *name)
{
	int store = find_store(at->plan, name);
	char names[200];

	if (store != PLAN_NONE)
		return store;
	store_names(at->plan, names, sizeof names);
	if (*names == '\0')
		scenario_wrong(at, what, "there is no store \"%.40s\", nor any "
		    "other; say topology.redis = { %.40s = {} }", name, name);
	scenario_wrong(at, what, "there is no store \"%.40s\"; there %s %s",
	    name, at->plan->stores_n == 1 ? "is" : "are", names);
}

/* Do gates come to it: at first, or after a failover? */
static bool
is_used(const struct plan *p, int store)
{
	int i;

	for (i = 0; i < (int)p->stores_n && store != PLAN_NONE; i++) {
		if (store == p->gates.store)
			return true;
		store = p->stores[store].replica_of;
	}
	return false;
}

static void
replica_link(const struct scenario_at *at, const char *what, const char *from,
    const char *to, int *gate, int *store)
{
	const struct plan_store *stores = at->plan->stores;
	int master = scenario_store(at, what, to);

	*gate = PLAN_NONE;
	*store = find_store(at->plan, from);
	if (stores[*store].replica_of == master)
		return;
	if (stores[master].replica_of == *store)
		scenario_wrong(at, what, "%s connects to %s; say \"%s->%s\"",
		    to, from, to, from);
	scenario_wrong(at, what, "%s is no replica of %s; say a link of one, "
	    "or \"g1->%s\"", from, to, from);
}

void
scenario_link(const struct scenario_at *at, const char *what,
    const char *name, int *gate, int *store)
{
	const char *arrow = strstr(name, "->");
	char from[40];

	if (arrow == NULL || arrow - name >= (ptrdiff_t)sizeof from)
		scenario_wrong(at, what, "\"%.60s\" is not a link; say "
		    "\"g1->a\", \"*->a\" or \"g1->*\"", name);
	snprintf(from, sizeof from, "%.*s", (int)(arrow - name), name);
	if (find_store(at->plan, from) != PLAN_NONE) {
		replica_link(at, what, from, arrow + 2, gate, store);
		return;
	}
	*gate = scenario_gate(at, what, from, true);
	*store = strcmp(arrow + 2, "*") == 0 ? PLAN_ANY :
	    scenario_store(at, what, arrow + 2);
	if (at->plan->gates.store == PLAN_NONE)
		scenario_wrong(at, what, "no gate has a store; say store = "
		    "\"a\" in topology.gates");
	if (*store != PLAN_ANY && !is_used(at->plan, *store))
		scenario_wrong(at, what, "no gate comes to %s; theirs is %s",
		    arrow + 2, at->plan->stores[at->plan->gates.store].name);
}

/* Who finds his store by sentinels goes past every link. */
void
scenario_past_links(const struct scenario_at *at)
{
	int store = at->plan->gates.store;

	if (store != PLAN_NONE && at->plan->stores[store].sentinel)
		scenario_wrong(at, NULL, "gates find %s by sentinels, so no "
		    "link is between them; leave sentinel out, or say "
		    "sim.store.*", at->plan->stores[store].name);
}

/* Operations of idem's script, as frames have them. */
const char *
scenario_script(const struct scenario_at *options)
{
	const char *scheme = plan_config_value(options->plan, "scheme");

	if (scenario_one_of(options, "script", "claim renew complete release "
	    "unknown settle issue peek", -1) == -1)
		return NULL;
	if (scheme != NULL && strcmp(scheme, "script") != 0)
		scenario_wrong(options, "script", "scheme = \"%s\" has none; "
		    "say cmd = \"SET\", ...", scheme);
	return scenario_text(options, "script", NULL);
}

/* --- clients -------------------------------------------------------------- */

/*
 * Those of scripts have the names that these say; others get the numbers behind
 * the highest of them.  An open load has as many as come.
 */
static unsigned long
clients(const struct plan *p)
{
	unsigned long highest = 0, n, more = 0;
	size_t i, j;

	for (i = 0; i < p->loads_n; i++) {
		more += p->loads[i].clients;
		if (p->loads[i].kind == PLAN_OPEN)
			return (unsigned long)-1;
		for (j = 0; j < p->loads[i].sends_n; j++) {
			n = strtoul(p->loads[i].sends[j].client + 1, NULL, 10);
			if (n > highest)
				highest = n;
		}
	}
	return highest + more;
}

void
scenario_client(const struct scenario_at *at, const char *what,
    const char *name)
{
	unsigned long n = clients(at->plan), number;

	number = name[0] == 'c' && isdigit((unsigned char)name[1]) ?
	    strtoul(name + 1, NULL, 10) : 0;
	if (number == 0 || strspn(name + 1, "0123456789") != strlen(name + 1))
		scenario_wrong(at, what, "\"%.40s\" is not a client's name; "
		    "say \"c1\"", name);
	if (number > n)
		scenario_wrong(at, what, "there is no client \"%.40s\"; the "
		    "last is c%lu", name, n);
}
