/* SPDX-License-Identifier: ISC */
#include "doctor.h"

#include <inttypes.h>
#include <string.h>

#define SLOTS 16384

/* --- Redis ---------------------------------------------------------------- */

static bool
decides(const struct doctor_redis *r)
{
	return (r->use & (DOCTOR_KEYS | DOCTOR_TOKENS)) != 0;
}

static void
judge_sentinel(const struct doctor_redis *r, const struct doctor_sentinel *s,
    struct doctor_findings *f)
{
	if (s->error[0] != '\0') {
		doctor_find(f, DOCTOR_WARN, DOCTOR_SENTINEL, "redis %s "
		    "sentinel %s cannot be asked: %s", r->what, s->name,
		    s->error);
		return;
	}
	doctor_find(f, DOCTOR_OK, DOCTOR_SENTINEL, "redis %s sentinel %s: the "
	    "master is %s", r->what, s->name, s->master);
	if (s->sentinels != DOCTOR_UNKNOWN)
		doctor_find(f, s->sentinels < 3 ? DOCTOR_WARN : DOCTOR_OK,
		    DOCTOR_SENTINELS_FEW, "redis %s sentinel %s: it knows of "
		    "%" PRId64 " sentinels", r->what, s->name, s->sentinels);
	if (s->able == DOCTOR_NO)
		doctor_find(f, DOCTOR_FAIL, DOCTOR_QUORUM, "redis %s sentinel "
		    "%s: no failover is possible: %s", r->what, s->name,
		    s->able_error);
	else if (s->quorum != DOCTOR_UNKNOWN && s->sentinels != DOCTOR_UNKNOWN)
		doctor_find(f, s->quorum * 2 > s->sentinels ? DOCTOR_OK :
		    DOCTOR_WARN, DOCTOR_QUORUM, "redis %s sentinel %s: the "
		    "quorum is %" PRId64 " of %" PRId64, r->what, s->name,
		    s->quorum, s->sentinels);
}

static void
judge_agreement(const struct doctor_redis *r, struct doctor_findings *f)
{
	const struct doctor_sentinel *s, *first = NULL;
	size_t i;

	for (i = 0; i < r->sentinels_len; i++) {
		s = &r->sentinels[i];
		judge_sentinel(r, s, f);
		if (s->error[0] != '\0')
			continue;
		if (first == NULL)
			first = s;
		else if (strcmp(first->master, s->master) != 0)
			doctor_find(f, DOCTOR_FAIL, DOCTOR_AGREE, "redis %s: "
			    "sentinel %s says the master is %s, sentinel %s %s",
			    r->what, first->name, first->master, s->name,
			    s->master);
	}
	if (first == NULL)
		doctor_find(f, decides(r) ? DOCTOR_FAIL : DOCTOR_WARN,
		    decides(r) ? DOCTOR_REACH : DOCTOR_REACH_CACHE,
		    "redis %s: no sentinel answers", r->what);
}

static void
judge_cluster(const struct doctor_redis *r, struct doctor_findings *f)
{
	if (r->slots != DOCTOR_UNKNOWN)
		doctor_find(f, r->slots == SLOTS ? DOCTOR_OK : decides(r) ?
		    DOCTOR_FAIL : DOCTOR_WARN, DOCTOR_SLOTS, "redis %s: %"
		    PRId64 " of %d slots have a master", r->what, r->slots,
		    SLOTS);
	if (r->bare > 0)
		doctor_find(f, decides(r) ? DOCTOR_WARN : DOCTOR_NOTE,
		    DOCTOR_CLUSTER_BARE, "redis %s: %" PRId64 " masters have "
		    "no replica", r->what, r->bare);
}

/* Neither Sentinel nor a cluster counts it. */
static void
judge_alone(const struct doctor_redis *r, struct doctor_findings *f)
{
	size_t i;

	for (i = 0; i < r->servers_len && decides(r); i++)
		if (r->servers[i].error[0] == '\0' &&
		    r->servers[i].role == DOCTOR_MASTER &&
		    r->servers[i].replicas == 0)
			doctor_find(f, DOCTOR_NOTE, DOCTOR_ALONE, "redis %s "
			    "%s: it has no replica", r->what,
			    r->servers[i].name);
}

static void
judge_generation(const struct doctor_redis *r, struct doctor_findings *f)
{
	switch (r->generation) {
	case DOCTOR_GENERATION_UNKNOWN:
		return;
	case DOCTOR_GENERATION_NONE:
		doctor_find(f, DOCTOR_OK, DOCTOR_GENERATION, "redis %s: no "
		    "ledger has registered yet under %s", r->what, r->prefix);
		return;
	case DOCTOR_GENERATION_OURS:
		doctor_find(f, DOCTOR_OK, DOCTOR_GENERATION, "redis %s: our "
		    "ledger is registered under %s", r->what, r->prefix);
		return;
	case DOCTOR_GENERATION_FOREIGN:
		doctor_find(f, DOCTOR_FAIL, DOCTOR_GENERATION, "redis %s: "
		    "another ledger is registered, in the key %sledger",
		    r->what, r->prefix);
		return;
	}
}

static void
judge_redis(const struct doctor_redis *r, struct doctor_findings *f)
{
	size_t i;

	switch (r->topology) {
	case IDEM_REDIS_SINGLE:
		judge_alone(r, f);
		break;
	case IDEM_REDIS_SENTINEL:
		judge_agreement(r, f);
		judge_alone(r, f);
		break;
	case IDEM_REDIS_CLUSTER:
		judge_cluster(r, f);
		break;
	}
	for (i = 0; i < r->servers_len; i++)
		doctor_judge_server(r->what, &r->servers[i], f);
	judge_generation(r, f);
}

/* --- routes --------------------------------------------------------------- */

/* One word on all routes that the ledger decides for. */
static void
judge_hosts(const struct doctor_facts *facts, struct doctor_findings *f)
{
	size_t i, ledger = 0, redis = 0;

	for (i = 0; i < facts->routes_len; i++)
		if (facts->routes[i].arbiter == IDEM_ARBITER_LEDGER)
			ledger++;
		else
			redis++;
	if (ledger > 0 && redis > 0)
		doctor_find(f, DOCTOR_NOTE, DOCTOR_ONE_HOST, "%zu of %zu "
		    "routes are decided by this host's ledger, the others by a "
		    "Redis that other hosts may share", ledger, ledger + redis);
}

void
doctor_judge(const struct doctor_facts *facts, struct doctor_findings *f)
{
	size_t i;

	for (i = 0; i < facts->doubts.len; i++)
		doctor_find(f, DOCTOR_WARN, DOCTOR_CONF, "%s",
		    facts->doubts.at[i]);
	for (i = 0; i < facts->routes_len; i++)
		doctor_judge_route(&facts->routes[i], f);
	judge_hosts(facts, f);
	if (facts->ledger != NULL)
		doctor_judge_ledger(facts->ledger, f);
	if (facts->runs != NULL)
		doctor_judge_runs(facts->runs, f);
	for (i = 0; i < facts->redis_len; i++)
		judge_redis(&facts->redis[i], f);
	if (facts->tokens != NULL)
		doctor_judge_tokens(facts->tokens, f);
}
