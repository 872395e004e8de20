/* SPDX-License-Identifier: ISC */
#include "load_private.h"

#include <stdlib.h>

struct load *
load_open(const struct plan *plan, struct draw *d, struct history *history,
    const struct load_world *world)
{
	struct load *l = calloc(1, sizeof *l);

	arena_must_have(l != NULL);
	l->plan = plan;
	l->history = history;
	l->world = *world;
	l->asked_ns = -1;
	draw_fork(d, "load", &l->draw);
	draw_fork(&l->draw, "nonces", &l->nonces);
	load_make(l);
	return l;
}

void
load_begin(struct load *l)
{
	load_ask(l);
}

/* Not a client's next request in a closed load, nor another try. */
static bool
has_a_time(const struct load *l, const struct load_due *due)
{
	const struct plan_load *load;
	const struct load_request *r;

	if (due->what == LOAD_TOKEN)
		return false;	/* those that wait for it are counted */
	if (due->what == LOAD_REQUEST) {
		r = &l->requests[due->which];
		return r->send != NULL && r->retry.tries == 0 && !r->audit;
	}
	load = l->clients[due->which].load;
	return load != NULL && load->kind != PLAN_CLOSED;
}

void
load_stop(struct load *l)
{
	size_t i;

	for (i = 0; i < l->due.n; i++)
		l->unsent += has_a_time(l, &l->due.at[i]);
	l->unsent += load_token_unsent(l);
	l->stopped = true;
	l->due.n = 0;
}

size_t
load_unsent(const struct load *l)
{
	return l->unsent;
}

bool
load_over(const struct load *l)
{
	return l->under_way == 0 && l->due.n == 0;
}

size_t
load_open_tries(const struct load *l)
{
	return l->under_way;
}

void
load_close(struct load *l)
{
	size_t i;

	if (l == NULL)
		return;
	for (i = 0; i < l->plan->loads_n; i++)
		draw_zipf_free(&l->ranks[i]);
	arena_free(&l->arena);
	free(l);
}
