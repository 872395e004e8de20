/* SPDX-License-Identifier: ISC */
#include "load_private.h"

#include <stdlib.h>

/* Requests of one open load: a plan that wants more is not to be had. */
#define ARRIVALS_MAX 1000000

/* The number in "c12"; 0: it has none. */
static unsigned
number_of(const char *name)
{
	char *end;
	unsigned long n;

	if (name[0] != 'c' || name[1] < '1' || name[1] > '9')
		return 0;
	n = strtoul(name + 1, &end, 10);
	return *end == '\0' && n < 1000000000 ? (unsigned)n : 0;
}

/* --- clients -------------------------------------------------------------- */

size_t
load_client_add(struct load *l, const char *name,
    const struct plan_load *load, unsigned *number)
{
	size_t index = l->clients_n;
	struct load_client *c = arena_more(&l->arena, &l->clients,
	    &l->clients_n, sizeof *l->clients);
	unsigned n;

	if (name == NULL)
		name = arena_format(&l->arena, "c%u", (*number)++);
	names_add(&l->names, &l->arena, name);
	n = number_of(name);
	c->name = l->names.at[index];
	c->load = load;
	c->gate = (int)((n > 0 ? n - 1 : index) % l->plan->gates.n);
	draw_fork(&l->draw, name, &c->draw);
	return index;
}

/* Who makes so many requests, the first of them then. */
static void
add_client(struct load *l, const struct plan_load *load, unsigned *number,
    int64_t at_ns, size_t requests)
{
	size_t client = load_client_add(l, NULL, load, number);

	l->clients[client].left = requests;
	if (requests > 0)
		load_due_push(l, at_ns, LOAD_CLIENT, client);
}

static void
add_sends(struct load *l, const struct plan_load *load)
{
	const struct plan_send *send;
	struct load_request request;
	size_t i, client;

	for (i = 0; i < load->sends_n; i++) {
		send = &load->sends[i];
		client = names_find(&l->names, send->client);
		if (client == NAMES_NONE)
			client = load_client_add(l, send->client, load, NULL);
		request = (struct load_request){
			.client = client, .key = send->key, .send = send,
			.source = send->source,
			.body = send->body != NULL ? send->body : "",
			.gate = send->gate
		};
		load_due_push(l, send->at_ms * LOAD_NS, LOAD_REQUEST,
		    load_request_add(l, &request));
	}
}

/* --- times ---------------------------------------------------------------- */

/*
 * All arrivals are known before the first: who answers slowly does not slow
 * them down.
 */
static void
add_arrivals(struct load *l, const struct plan_load *load, unsigned *number,
    struct draw *d)
{
	const struct plan_dist gap = { .kind = PLAN_EXP, .a = 1 };
	double seconds = 0, end = (double)load->for_ms / 1000;
	size_t i;

	if (!(load->rate > 0))
		return;
	for (i = 0; i < ARRIVALS_MAX; i++) {
		if (load->poisson)
			seconds += draw_dist(d, &gap) / load->rate;
		else
			seconds = (double)i / load->rate;
		if (seconds >= end)
			return;
		add_client(l, load, number, (int64_t)(seconds * 1e9), 1);
	}
}

static void
add_load(struct load *l, const struct plan_load *load, unsigned *number,
    struct draw *d)
{
	int64_t at_ns;
	size_t i;

	switch (load->kind) {
	case PLAN_CLOSED:
		for (i = 0; i < load->clients; i++)
			add_client(l, load, number, 0,
			    load->requests_per_client);
		return;
	case PLAN_OPEN:
		add_arrivals(l, load, number, d);
		return;
	case PLAN_STORM:
		for (i = 0; i < load->clients; i++) {
			at_ns = load->at_ms * LOAD_NS;
			if (load->within_ms > 0)
				at_ns += (int64_t)draw_below(d,
				    (uint64_t)(load->within_ms * LOAD_NS));
			add_client(l, load, number, at_ns, 1);
		}
		return;
	case PLAN_SCRIPT:
		add_sends(l, load);
		return;
	}
	abort();
}

/* Nobody gets the name of somebody whom a script speaks of. */
static unsigned
first_number(const struct plan *plan)
{
	unsigned highest = 0, n;
	size_t i, j;

	for (i = 0; i < plan->loads_n; i++)
		for (j = 0; j < plan->loads[i].sends_n; j++) {
			n = number_of(plan->loads[i].sends[j].client);
			if (n > highest)
				highest = n;
		}
	return highest + 1;
}

void
load_make(struct load *l)
{
	const struct plan *plan = l->plan;
	unsigned number = first_number(plan);
	struct draw d;
	size_t i;

	draw_fork(&l->draw, "times", &d);
	l->ranks = arena_get(&l->arena,
	    (plan->loads_n + 1) * sizeof *l->ranks);
	for (i = 0; i < plan->loads_n; i++) {
		l->storm = l->storm || plan->loads[i].kind == PLAN_STORM;
		draw_zipf_make(&l->ranks[i], plan->loads[i].keys.n,
		    plan->loads[i].keys.zipf);
		add_load(l, &plan->loads[i], &number, &d);
	}
}
