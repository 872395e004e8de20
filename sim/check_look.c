/* SPDX-License-Identifier: ISC */
#include "check_private.h"

#include <stdlib.h>

static int
by_key(const void *a, const void *b)
{
	const struct check_try *const *x = a, *const *y = b;

	if ((*x)->inv->fresh != (*y)->inv->fresh)
		return (*x)->inv->fresh ? 1 : -1;
	if (!(*x)->inv->fresh && (*x)->key != (*y)->key)
		return (*x)->key < (*y)->key ? -1 : 1;
	if ((*x)->gate != (*y)->gate)
		return (*x)->gate < (*y)->gate ? -1 : 1;
	return (*x)->inv->i < (*y)->inv->i ? -1 : (*x)->inv->i > (*y)->inv->i;
}

static bool
is_last(const struct check_try **all, size_t n, size_t i, bool fresh)
{
	return i + 1 == n || all[i + 1]->gate != all[i]->gate ||
	    (!fresh && all[i + 1]->key != all[i]->key);
}

size_t
check_looks(const struct check_view *v, struct arena *arena, bool fresh,
    const struct check_try ***out)
{
	const struct check_try **all = arena_get(arena, (v->tries_n + 1) *
	    sizeof *all), *try;
	size_t i, n = 0, last = 0;

	for (try = v->tries; try < v->tries + v->tries_n; try++)
		if (try->inv->fresh == fresh && (fresh || try->inv->audit) &&
		    try->key != CHECK_NO_KEY)
			all[n++] = try;
	if (n > 1)
		qsort(all, n, sizeof *all, by_key);
	for (i = 0; i < n; i++)
		if (is_last(all, n, i, fresh))
			all[last++] = all[i];
	*out = all;
	return last;
}

int64_t
check_settled_ns(const struct check_view *v)
{
	return v->faults_n == 0 ? 0 :
	    check_later(v->healed_ns, check_linger_ns(v));
}

void
check_find_open(struct check_finding *f, const struct check_try *try)
{
	check_find(f, CHECK_OPEN, try->inv->k, try->ret == NULL ?
	    "try %d has no end" : "try %d came too early to tell, or its "
	    "program may still run", try->a);
	check_find_event(f, try->ret != NULL ? try->ret : try->inv);
}
