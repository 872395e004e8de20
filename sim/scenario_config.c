/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lauxlib.h>
#include <lua.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_REDIS (INT64_C(48) << 20)	/* idemd's own bound */
#define RENEW "renew_every"	/* is a third of the lease, and no setting */

static void
config_words(char *out, size_t size)
{
	const struct plan_config_word *w;
	size_t len = 0;

	for (w = plan_config_words(); w->name != NULL && len < size; w++)
		len += (size_t)snprintf(out + len, size - len, "%s ", w->name);
	snprintf(out + len, size - len, RENEW);
}

/* Of words that other places of the topology have. */
static const char *
elsewhere(const char *name)
{
	static const struct { const char *name, *place; } all[] = {
		{ "workers", "topology.gates.workers" },
		{ "arbiter", "topology.gates.arbiter" },
		{ "ledger", "topology.gates.ledger" },
		{ "program", "handler" }, { "shared", "topology.gates.store" },
		{ "cache", "topology.gates.store" },
	};
	size_t i;

	for (i = 0; i < sizeof all / sizeof *all; i++)
		if (strcmp(all[i].name, name) == 0)
			return all[i].place;
	return NULL;
}

static _Noreturn void
unknown_word(const struct scenario_at *at, const char *name)
{
	char words[600], near[60];

	if (elsewhere(name) != NULL)
		scenario_wrong(at, name, "it is not said here; say it in %s",
		    elsewhere(name));
	config_words(words, sizeof words);
	if (scenario_near(name, words, near, sizeof near) != NULL)
		scenario_wrong(at, name, "there is no such word; did you mean "
		    "`%s`?", near);
	scenario_wrong(at, name, "there is no such word; there are %s", words);
}

/* It goes by the lease, whatever a scenario says: so it may only say that. */
static void
check_renewal(const struct scenario_at *at, const char *value)
{
	int64_t lease = plan_config_ms(at->plan, "lease", -1), ms = -1;
	char *end;
	long n = strtol(value, &end, 10);

	if (strcmp(end, "ms") == 0)
		ms = n;
	else if (strcmp(end, "s") == 0)
		ms = n * 1000;
	else
		scenario_wrong(at, RENEW, "\"%.40s\" is not a time with its "
		    "unit; say \"200ms\"", value);
	if (lease < 0)
		scenario_wrong(at, RENEW, "a lease is renewed at a third of "
		    "it; say lease = \"%" PRId64 "ms\"", 3 * ms);
	if (ms < lease / 3 - 1 || ms > lease / 3 + 1)
		scenario_wrong(at, RENEW, "a lease of %" PRId64 " ms is "
		    "renewed every %" PRId64 " ms, a third of it, and nothing "
		    "changes that; leave it out, or change the lease", lease,
		    lease / 3);
}

static void
check_word(const struct scenario_at *at, const struct plan_pair *pair)
{
	const struct plan_config_word *w = plan_config_known(pair->name);
	const struct plan_gates *g = &at->plan->gates;
	char why[300];

	if (w == NULL)
		unknown_word(at, pair->name);
	if (plan_config_wrong(w, pair->value, why, sizeof why) != NULL)
		scenario_wrong(at, pair->name, "%s", why);
	if (g->arbiter != PLAN_REDIS && (strcmp(w->name, "on_outage") == 0 ||
	    strcmp(w->name, "scheme") == 0))
		scenario_wrong(at, w->name, "it is of arbiter = \"redis\" "
		    "only; leave it out");
	if (g->arbiter != PLAN_TOKEN && strcmp(w->where, "tokens") == 0)
		scenario_wrong(at, w->name, "there are none; say arbiter = "
		    "\"token\", or leave it out");
	if (g->store == PLAN_NONE && strcmp(w->where, "redis") == 0)
		scenario_wrong(at, w->name, "the gates have no store; say "
		    "store = \"a\", or leave it out");
}

/* Two names of one word of idem.conf. */
static void
check_twice(const struct scenario_at *at, const struct plan_gates *g)
{
	const struct plan_config_word *a, *b;
	size_t i, j;

	for (i = 0; i < g->configs; i++)
		for (j = 0; j < i; j++) {
			a = plan_config_known(g->config[i].name);
			b = plan_config_known(g->config[j].name);
			if (strcmp(a->where, b->where) == 0 &&
			    strcmp(a->in_conf, b->in_conf) == 0)
				scenario_wrong(at, a->name, "it is %s, which "
				    "is said too; leave out one of them",
				    b->name);
		}
}

/* What idemd would refuse of them together. */
static void
check_words(const struct scenario_at *at, const struct plan_gates *g)
{
	const struct plan *p = at->plan;
	int64_t least = plan_config_ms(p, "keep_min", 0);

	check_twice(at, g);
	if (least > plan_config_ms(p, "keep", 0))
		scenario_wrong(at, "keep_min", "it is not within keep; say "
		    "keep, and at least as much");
	if (g->arbiter != PLAN_LEDGER &&
	    (plan_config_bytes(p, "kept_max", 0) > KEPT_REDIS ||
	    plan_config_bytes(p, "max_kept", 0) > KEPT_REDIS))
		scenario_wrong(at, "kept_max", "Redis keeps the answers, of "
		    "48MiB at most; say less");
}

void
scenario_config(const struct scenario_at *at)
{
	struct plan_gates *g = &at->plan->gates;
	struct scenario_at table;
	struct plan_pair *all;
	const char *renew = NULL;
	size_t n, i, kept = 0;

	if (!scenario_has(at, "config"))
		return;
	table = scenario_inside(at, "config");
	all = scenario_pairs(&table, &n);
	for (i = 0; i < n; i++) {
		if (strcmp(all[i].name, RENEW) == 0) {
			renew = all[i].value;
			continue;
		}
		check_word(&table, &all[i]);
		all[kept++] = all[i];
	}
	g->config = all;
	g->configs = kept;
	check_words(&table, g);
	if (renew != NULL)
		check_renewal(&table, renew);
	lua_pop(at->L, 1);
}
