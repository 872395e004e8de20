/* SPDX-License-Identifier: ISC */
#include "plan.h"

#include "digest.h"

#include <stdio.h>
#include <string.h>

/*
 * Member by member, in the order of plan.h: a struct's own bytes have gaps and
 * addresses in them.  Left out is what does not change a run: where the file
 * lies, lines, the point's number.
 */
static void
add(struct idem_hash *h, int64_t n)
{
	idem_hash_u64(h, (uint64_t)n);
}

static void
add_real(struct idem_hash *h, double x)
{
	uint64_t bits;

	x += 0.0;	/* -0 is 0 */
	memcpy(&bits, &x, sizeof bits);
	idem_hash_u64(h, bits);
}

static void
add_text(struct idem_hash *h, const char *text)
{
	add(h, text != NULL);
	if (text != NULL)
		idem_hash_part(h, (struct idem_bytes){ text, strlen(text) });
}

static void
add_pairs(struct idem_hash *h, const struct plan_pair *pairs, size_t n)
{
	size_t i;

	add(h, (int64_t)n);
	for (i = 0; i < n; i++) {
		add_text(h, pairs[i].name);
		add_text(h, pairs[i].value);
	}
}

static void
add_texts(struct idem_hash *h, const char *const *texts, size_t n)
{
	size_t i;

	add(h, (int64_t)n);
	for (i = 0; i < n; i++)
		add_text(h, texts[i]);
}

static void
add_dist(struct idem_hash *h, const struct plan_dist *d)
{
	size_t i;

	add(h, d->kind);
	add_real(h, d->a);
	add_real(h, d->b);
	add_real(h, d->min);
	add_real(h, d->max);
	add(h, (int64_t)d->n);
	for (i = 0; i < d->n; i++)
		add_real(h, d->of[i]);
}

/* --- who takes part ------------------------------------------------------- */

static void
add_store(struct idem_hash *h, const struct plan_store *s)
{
	add_text(h, s->name);
	add(h, s->persistence);
	add(h, s->replica_of);
	add(h, s->sentinel);
	add_text(h, s->maxmemory);
	add_text(h, s->maxmemory_policy);
	add_pairs(h, s->config, s->configs);
}

static void
add_gates(struct idem_hash *h, const struct plan_gates *g)
{
	add(h, (int64_t)g->n);
	add(h, g->arbiter);
	add(h, g->store);
	add(h, g->cached);
	add_texts(h, g->ledger, PLAN_GATES_MAX);
	add_pairs(h, g->config, g->configs);
	add(h, (int64_t)g->workers);
	add(h, g->lighttpd);
}

static void
add_handler(struct idem_hash *h, const struct plan_handler *x)
{
	add(h, x->effect);
	add_text(h, x->command);
	add_dist(h, &x->service_ms);
	add(h, x->output_bytes);
	add_text(h, x->business_id);
	add_text(h, x->crash);
	add(h, x->partial_output);
	add(h, x->promises_length);
	add(h, x->exit);
	add(h, x->http_status);
	add_text(h, x->output);
}

/* --- load ----------------------------------------------------------------- */

static void
add_retry(struct idem_hash *h, const struct plan_retry *r)
{
	add(h, r->max);
	add_dist(h, &r->timeout_ms);
	add(h, r->backoff);
	add(h, r->base_ms);
	add(h, r->cap_ms);
	add(h, r->jitter);
	add(h, r->on);
	add(h, r->rotate);
	add(h, r->honour_retry_after);
}

static void
add_send(struct idem_hash *h, const struct plan_send *s)
{
	add(h, s->at_ms);
	add_text(h, s->client);
	add_text(h, s->key);
	add(h, s->source);
	add(h, s->spoilt);
	add(h, s->get);
	add_text(h, s->body);
	add(h, s->gate);
	add_text(h, s->method);
	add_pairs(h, s->headers, s->headers_n);
	add(h, s->timeout_ms);
	add(h, s->give_up_ms);
	add(h, (int64_t)s->slow_bytes);
	add(h, s->kept);
}

static void
add_load(struct idem_hash *h, const struct plan_load *l)
{
	size_t i;

	add(h, l->kind);
	add(h, (int64_t)l->clients);
	add(h, (int64_t)l->keys.n);
	add_real(h, l->keys.zipf);
	add(h, l->keys.once);
	add(h, (int64_t)l->keys.bodies);
	add(h, l->keys.source);
	add_retry(h, &l->retry);
	add(h, (int64_t)l->requests_per_client);
	add_dist(h, &l->think_ms);
	add_real(h, l->rate);
	add(h, l->for_ms);
	add(h, l->poisson);
	add(h, l->at_ms);
	add(h, l->within_ms);
	add(h, (int64_t)l->sends_n);
	for (i = 0; i < l->sends_n; i++)
		add_send(h, &l->sends[i]);
}

/* --- faults --------------------------------------------------------------- */

static void
add_trigger(struct idem_hash *h, const struct plan_trigger *t)
{
	size_t i;

	add(h, t->kind);
	add(h, t->at_ms);
	add(h, t->gate);
	add(h, t->store);
	add_text(h, t->label);
	add_text(h, t->key);
	add_text(h, t->script);
	add_text(h, t->cmd);
	add(h, t->reply);
	add_text(h, t->client);
	add_text(h, t->class);
	add(h, t->nth);
	add(h, (int64_t)t->n);
	for (i = 0; i < t->n; i++)
		add_trigger(h, &t->of[i]);
}

static void
add_action(struct idem_hash *h, const struct plan_action *a)
{
	add(h, a->kind);
	add(h, a->id);
	add(h, a->after_ms);
	add(h, a->gate);
	add(h, a->store);
	add(h, a->part);
	add_text(h, a->client);
	add_text(h, a->key);
	add_text(h, a->word);
	add(h, a->ms);
	add_real(h, a->rate);
	add(h, a->requests);
	add(h, a->replies);
	add(h, a->nth);
	add(h, a->times);
	add_text(h, a->script);
	add_text(h, a->cmd);
	add(h, (int64_t)a->bytes);
	add(h, a->empty);
	add(h, a->older);
	add(h, a->lose);
	add(h, a->to);
	add(h, a->freeze);
	add(h, a->ends);
}

static void
add_faults(struct idem_hash *h, const struct plan *p)
{
	size_t i, j;

	add(h, (int64_t)p->rules_n);
	for (i = 0; i < p->rules_n; i++) {
		add_trigger(h, &p->rules[i].when);
		add(h, (int64_t)p->rules[i].n);
		for (j = 0; j < p->rules[i].n; j++)
			add_action(h, &p->rules[i].actions[j]);
	}
	add(h, (int64_t)p->maybes_n);
	for (i = 0; i < p->maybes_n; i++) {
		add(h, p->maybes[i].times);
		add_action(h, &p->maybes[i].action);
		add(h, p->maybes[i].from_ms);
		add(h, p->maybes[i].to_ms);
		add(h, p->maybes[i].restart_after_ms);
	}
}

/* --- what must hold ------------------------------------------------------- */

static void
add_bound(struct idem_hash *h, const struct plan_bound *b)
{
	add(h, b->set);
	add(h, b->base);
	add_text(h, b->per_fault);
}

static void
add_expect(struct idem_hash *h, const struct plan_expect *e)
{
	size_t i;

	for (i = 0; i < PLAN_INVARIANTS; i++) {
		add(h, e->holds[i]);
		add_text(h, e->relaxed[i]);
		add(h, e->violates[i]);
	}
	add_text(h, e->blames);
	add_bound(h, &e->handler_runs_per_key);
	add_bound(h, &e->store_ops_per_attempt);
	add_bound(h, &e->queue_depth);
	add_bound(h, &e->goodput_recovers_within_ms);
	add_bound(h, &e->innocent_p99_ms);
	add(h, e->fired_any);
	add(h, e->fired_none);
	add_texts(h, e->sometimes, e->sometimes_n);
	add_texts(h, e->custom, e->custom_n);
}

static void
add_plan(struct idem_hash *h, const struct plan *p)
{
	size_t i;

	add_text(h, p->name);
	add_text(h, p->about);
	add(h, p->modes);
	add_pairs(h, p->params, p->params_n);
	add(h, (int64_t)p->stores_n);
	for (i = 0; i < p->stores_n; i++)
		add_store(h, &p->stores[i]);
	add_gates(h, &p->gates);
	add_handler(h, &p->handler);
	add(h, (int64_t)p->loads_n);
	for (i = 0; i < p->loads_n; i++)
		add_load(h, &p->loads[i]);
	add_faults(h, p);
	add(h, p->heal_ms);
	add(h, p->quiet_ms);
	add_expect(h, &p->expect);
	add(h, p->explore.runs);
	add(h, p->explore.wall_ms);
}

void
plan_digest(const struct plan *p, char out[72])
{
	struct idem_hash h;
	struct idem_digest d;
	size_t i, len;

	idem_hash_init(&h);
	add_plan(&h, p);
	if (!idem_hash_final(&h, &d))
		memset(&d, 0, sizeof d);
	len = (size_t)snprintf(out, 72, "sha256:");
	for (i = 0; i < sizeof d.at; i++, len += 2)
		snprintf(out + len, 72 - len, "%02x", d.at[i]);
}
