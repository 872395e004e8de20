/* SPDX-License-Identifier: ISC */
#include "explain_private.h"

#include <ctype.h>
#include <string.h>

static void
heading(struct explain_page *p, const char *text)
{
	fprintf(p->out, "\n%s\n", text);
}

/* --- who takes part ------------------------------------------------------- */

static bool
is_shared(const struct plan_gates *g)
{
	size_t i;

	for (i = 1; i < g->n; i++)
		if (g->ledger[i] == NULL || g->ledger[0] == NULL ||
		    strcmp(g->ledger[0], g->ledger[i]) != 0)
			return false;
	return true;
}

static void
say_ledgers(struct explain_page *p, const struct plan_gates *g)
{
	const char *before = " Ledgers:";
	size_t i, n = 0;

	for (i = 0; i < g->n; i++)
		if (g->ledger[i] != NULL) {
			explain_say(p, "%s %s of g%zu", before, g->ledger[i],
			    i + 1);
			before = ",";
			n++;
		}
	if (n > 0)
		explain_say(p, ".");
}

static void
say_arbiter(struct explain_page *p)
{
	const struct plan_gates *g = &p->plan->gates;
	const char *store = g->store >= 0 ? p->plan->stores[g->store].name :
	    "";

	switch (g->arbiter) {
	case PLAN_LEDGER:
		explain_say(p, " The ledger permits each start%s",
		    g->n > 1 && is_shared(g) ? "; they share one" : "");
		if (g->cached)
			explain_say(p, ", with Redis %s beside it as a cache",
			    store);
		explain_say(p, ".");
		break;
	case PLAN_TOKEN:
		explain_say(p, " Keys are tokens, and Redis %s, which issued "
		    "them, permits each start.", store);
		break;
	case PLAN_REDIS:
		explain_say(p, " Redis %s permits each start.", store);
		break;
	}
	if (!is_shared(g))
		say_ledgers(p, g);
	else if (g->arbiter != PLAN_LEDGER && g->ledger[0] != NULL)
		explain_say(p, " There is a ledger too%s.",
		    g->n > 1 ? ", which they share" : "");
}

static void
say_gates(struct explain_page *p)
{
	const struct plan_gates *g = &p->plan->gates;
	size_t i;

	if (g->n == 1)
		explain_say(p, "One instance of idemd, g1.");
	else
		explain_say(p, "%s instances of idemd, g1 %s g%zu.",
		    explain_few(g->n), g->n == 2 ? "and" : "to", g->n);
	p->text[0] = (char)toupper((unsigned char)p->text[0]);
	if (g->workers > 1)
		explain_say(p, " Each has %s workers.",
		    explain_few(g->workers));
	if (g->lighttpd)
		explain_say(p, " A lighttpd stands in front of each.");
	say_arbiter(p);
	for (i = 0; i < g->configs; i++)
		explain_say(p, "%s%s = %s%s", i == 0 ? " Configured: " : "",
		    g->config[i].name, g->config[i].value,
		    i + 1 < g->configs ? ", " : ".");
	explain_break(p, 2, 0);
}

static void
say_store(struct explain_page *p, const struct plan_store *s)
{
	static const char *const keeps[] = {
		[PLAN_PERSIST_NONE] = "keeps nothing on disk",
		[PLAN_PERSIST_RDB] = "saves snapshots",
		[PLAN_PERSIST_AOF_EVERYSEC] = "syncs to disk once a second",
		[PLAN_PERSIST_AOF_ALWAYS] = "syncs each command to disk",
	};
	size_t i;

	explain_say(p, "Redis %s %s", s->name, keeps[s->persistence]);
	if (s->replica_of >= 0)
		explain_say(p, "; it is a replica of %s",
		    p->plan->stores[s->replica_of].name);
	if (s->sentinel)
		explain_say(p, "; three sentinels watch it");
	if (s->maxmemory != NULL)
		explain_say(p, "; it may use %s", s->maxmemory);
	if (s->maxmemory_policy != NULL)
		explain_say(p, " (%s)", s->maxmemory_policy);
	for (i = 0; i < s->configs; i++)
		explain_say(p, "; %s %s", s->config[i].name,
		    s->config[i].value);
	explain_say(p, ".");
	explain_break(p, 2, 0);
}

static void
say_answer(struct explain_page *p, const struct plan_handler *h)
{
	if (h->output != NULL)
		explain_say(p, " It says \"%s\".", h->output);
	if (h->promises_length)
		explain_say(p, " It sends a Content-Length.");
	if (h->partial_output >= 0)
		explain_say(p, " It ends after %s bytes.",
		    explain_number(h->partial_output));
	if (*h->crash != '\0' && strcmp(h->crash, "output") != 0)
		explain_say(p, " It crashes %s its effect.", h->crash);
	else if (*h->crash != '\0')
		explain_say(p, " It crashes there.");
	if (h->exit != 0)
		explain_say(p, " Its exit status is %d.", h->exit);
	if (h->business_id != NULL)
		explain_say(p, " Whatever the key, the effect is on \"%s\".",
		    h->business_id);
}

static void
say_handler(struct explain_page *p)
{
	const struct plan_handler *h = &p->plan->handler;

	if (h->effect == PLAN_EXTERNAL) {
		explain_say(p, "The program is %s; its effects are not seen.",
		    h->command);
		explain_break(p, 2, 0);
		return;
	}
	explain_say(p, "The program works for ");
	explain_dist(p, &h->service_ms);
	explain_say(p, h->effect == PLAN_APPEND ? ", notes its effect" :
	    ", has no effect");
	explain_say(p, " and answers");
	if (h->http_status != 0)
		explain_say(p, " %d", h->http_status);
	if (h->output_bytes > 0)
		explain_say(p, " with %s bytes",
		    explain_number(h->output_bytes));
	explain_say(p, ".");
	say_answer(p, h);
	explain_break(p, 2, 0);
}

/* --- what must hold ------------------------------------------------------- */

/* Those of a list of flags; how many. */
static size_t
say_invariants(struct explain_page *p, const bool *are, const char *before)
{
	size_t i, n = 0;

	for (i = 0; i < PLAN_INVARIANTS; i++)
		if (are[i])
			explain_say(p, "%s%s", n++ == 0 ? before : ", ",
			    plan_invariant_text((enum plan_invariant)i));
	return n;
}

static void
say_names(struct explain_page *p, const char *before, const char *const *names,
    size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		explain_say(p, "%s%s", i == 0 ? before : ", ", names[i]);
	if (n > 0)
		explain_say(p, ".");
	explain_break(p, 2, 0);
}

static void
say_bound(struct explain_page *p, const struct plan_bound *b,
    const char *before, const char *after)
{
	if (!b->set)
		return;
	explain_say(p, "%s %s%s%s%s.", before, explain_number(b->base), after,
	    b->per_fault != NULL ? ", and one more for each " : "",
	    b->per_fault != NULL ? b->per_fault : "");
	explain_break(p, 2, 0);
}

static void
say_expect(struct explain_page *p)
{
	const struct plan_expect *e = &p->plan->expect;
	size_t i;

	if (say_invariants(p, e->holds, "") + e->custom_n > 0) {
		for (i = 0; i < e->custom_n; i++)
			explain_say(p, "%s%s", p->len > 0 ? ", " : "",
			    e->custom[i]);
		explain_say(p, ".");
		explain_break(p, 2, 0);
	}
	say_bound(p, &e->handler_runs_per_key, "Starts of a key: at most", "");
	say_bound(p, &e->store_ops_per_attempt, "Commands a try: at most", "");
	say_bound(p, &e->queue_depth, "Requests in the queue: at most", "");
	say_bound(p, &e->goodput_recovers_within_ms, "As many answers as "
	    "before again within", " ms of the last fault's end");
	say_bound(p, &e->innocent_p99_ms, "Of requests that are not in the "
	    "storm 99 of 100 are answered within", " ms");
	for (i = 0; i < PLAN_INVARIANTS; i++)
		if (e->relaxed[i] != NULL) {
			explain_say(p, "Not %s: %s.", plan_invariant_text(
			    (enum plan_invariant)i), e->relaxed[i]);
			explain_break(p, 2, 0);
		}
	if (say_invariants(p, e->violates, "This is a control. It must be "
	    "reported as violated: ") > 0) {
		explain_say(p, "%s%s.", e->blames != NULL ? "; to blame is "
		    "the " : "", e->blames != NULL ? e->blames : "");
		explain_break(p, 2, 0);
	}
	say_names(p, "In one run at least there must be: ", e->sometimes,
	    e->sometimes_n);
}

static void
say_runs(struct explain_page *p)
{
	const struct plan_explore *e = &p->plan->explore;
	unsigned runs = e->runs > 0 ? e->runs : 1;

	if ((p->plan->modes & PLAN_LIVE) != 0)
		explain_say(p, "Live: %s run%s, within %s s.",
		    explain_few(runs), runs == 1 ? "" : "s",
		    explain_number((e->wall_ms > 0 ? e->wall_ms : 60000) /
		    1000));
	else
		explain_say(p, "It is of the model only, which is not built: "
		    "it is skipped.");
	explain_break(p, 2, 0);
	if (e->searches) {
		explain_say(p, "What it wants to be explored by a model is "
		    "not: there is none yet.");
		explain_break(p, 2, 0);
	}
}

void
explain(const struct plan *plan, FILE *out)
{
	struct explain_page page = { .plan = plan, .out = out };
	size_t i;

	fprintf(out, "%s\n", plan->name);
	explain_say(&page, "%s, test point %u", plan->file, plan->number);
	for (i = 0; i < plan->params_n; i++)
		explain_say(&page, ", %s = %s", plan->params[i].name,
		    plan->params[i].value);
	explain_say(&page, (plan->modes & PLAN_LIVE) != 0 ? "." :
	    ", of the model only.");
	if (plan->about != NULL)
		explain_say(&page, " %s", plan->about);
	explain_break(&page, 2, 0);
	heading(&page, "Who takes part");
	say_gates(&page);
	for (i = 0; i < plan->stores_n; i++)
		say_store(&page, &plan->stores[i]);
	say_handler(&page);
	heading(&page, "What clients do");
	explain_load(&page);
	heading(&page, "What goes wrong");
	explain_faults(&page);
	heading(&page, "What must hold");
	say_expect(&page);
	say_runs(&page);
}
