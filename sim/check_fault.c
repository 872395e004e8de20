/* SPDX-License-Identifier: ISC */
#include "check_private.h"

#include <string.h>

#define MS INT64_C(1000000)

/* --- what there was ------------------------------------------------------- */

static const char *
act_of(const struct history_head *head, const struct history_event *e)
{
	if (e->cmd != NULL)
		return e->cmd;
	if (e->fault >= 0 && (size_t)e->fault < head->faults_n &&
	    head->faults[e->fault].act != NULL)
		return head->faults[e->fault].act;
	return "";
}

/* "proc.kill" and "proc.restart" are of one family. */
enum family {
	PROC, NET, STORE, DISK, CLOCK, CLIENT, OPERATOR, OTHER, FAMILIES
};

static enum family
family_of(const char *act)
{
	static const char *const names[OTHER] = {
		[PROC] = "proc.", [NET] = "net.", [STORE] = "store.",
		[DISK] = "disk.", [CLOCK] = "clock.", [CLIENT] = "client.",
		[OPERATOR] = "operator."
	};
	size_t i;

	for (i = 0; i < OTHER; i++)
		if (strncmp(act, names[i], strlen(names[i])) == 0)
			return (enum family)i;
	return OTHER;
}

/*
 * What was done to somebody ends when something of its family is set right with
 * him (a link is healed, a server is started again), or when all is.
 */
struct faulting {
	struct check_view *v;
	struct lane {
		size_t open[FAMILIES];	/* the last fault that lasts, + 1 */
	} *lanes;
	size_t open_from;	/* those before have ended */
};

static void
end_some(struct faulting *f, const struct history_event *heal)
{
	size_t *open = &f->lanes[check_view_lane(f->v, heal->p)].open[
	    family_of(act_of(f->v->head, heal))];

	for (; *open > 0; *open = f->v->faults[*open - 1].open)
		if (f->v->faults[*open - 1].until_ns == INT64_MAX)
			f->v->faults[*open - 1].until_ns = heal->t_ns;
}

static void
end_all(struct faulting *f, const struct history_event *heal)
{
	struct check_view *v = f->v;

	for (; f->open_from < v->faults_n; f->open_from++)
		if (v->faults[f->open_from].until_ns == INT64_MAX)
			v->faults[f->open_from].until_ns = heal->t_ns;
	v->healed_ns = heal->t_ns;
}

static void
add_fault(struct faulting *f, const struct history_event *e, bool stall)
{
	struct check_view *v = f->v;
	struct check_fault *fault = arena_more(&v->arena, &v->faults,
	    &v->faults_n, sizeof *fault);
	enum family family;
	size_t *open;

	fault->event = e;
	fault->act = stall ? "stall" : act_of(v->head, e);
	fault->from_ns = e->t_ns;
	fault->until_ns = stall ? e->t_ns : INT64_MAX;
	family = family_of(fault->act);
	fault->cuts = family != CLIENT && family != OPERATOR;
	open = &f->lanes[check_view_lane(v, e->p)].open[family];
	fault->open = *open;
	*open = v->faults_n;
	if (fault->cuts && !stall && v->healed_ns < e->t_ns)
		v->healed_ns = e->t_ns;
}

/* Times come in their order. */
static void
add_time(struct check_view *v, struct check_times *times, int64_t at_ns)
{
	*(int64_t *)arena_more(&v->arena, &times->at_ns, &times->n,
	    sizeof *times->at_ns) = at_ns;
}

/* The instance that ran it says so of itself, or the server that has it. */
static bool
says_stored(const struct history_event *e)
{
	if (e->kind == HISTORY_LOG)
		return check_is(e->what, "request") &&
		    check_is(e->mark, "stored");
	return e->kind == HISTORY_STORE && e->m > 0 &&
	    check_is(e->script, "complete") && check_is(e->code, "WRITTEN");
}

static void
add_stored(struct check_view *v, const struct history_event *e)
{
	size_t key = check_view_key(v, e->k);

	if (key != CHECK_NO_KEY)
		add_time(v, &v->keys[key].stored, e->t_ns);
}

static void
add_word(struct check_view *v, const struct history_event *e)
{
	size_t key = check_view_key(v, e->k);

	add_time(v, key == CHECK_NO_KEY ? &v->resolved :
	    &v->keys[key].resolved, e->t_ns);
	if (!check_is(e->script, "done"))
		add_time(v, key == CHECK_NO_KEY ? &v->freed :
		    &v->keys[key].freed, e->t_ns);
}

static void
add_expiry(struct check_view *v, const struct history_event *e)
{
	size_t key = check_view_key(v, e->k);

	add_time(v, key == CHECK_NO_KEY ? &v->expired :
	    &v->keys[key].expired, e->t_ns);
}

static void
sort_longest(struct check_view *v)
{
	size_t longest = SIZE_MAX, i;

	for (i = 0; i < v->faults_n; i++) {
		if (v->faults[i].cuts && (longest == SIZE_MAX ||
		    v->faults[i].until_ns > v->faults[longest].until_ns))
			longest = i;
		v->faults[i].longest = longest;
	}
}

void
check_faults_make(struct check_view *v)
{
	struct faulting f = { .v = v };
	const struct history_event *e = v->h->events;
	const struct history_event *end = e + v->h->n;

	f.lanes = arena_get(&v->arena, (v->h->lanes_n + 1) * sizeof *f.lanes);
	for (; e < end; e++)
		if (e->kind == HISTORY_HEAL && e->fault == -1 && e->cmd == NULL)
			end_all(&f, e);
		else if (e->kind == HISTORY_HEAL)
			end_some(&f, e);
		else if (e->kind == HISTORY_FAULT) {
			add_fault(&f, e, false);
			if (family_of(act_of(v->head, e)) == OPERATOR)
				add_word(v, e);
		} else if (e->kind == HISTORY_NOTE &&
		    check_is(e->label, "stall"))
			add_fault(&f, e, true);
		else if (e->kind == HISTORY_STORE &&
		    check_is(e->note, "lease_expired_running"))
			add_expiry(v, e);
		else if (says_stored(e))
			add_stored(v, e);
	sort_longest(v);
}

bool
check_fault_is(const struct check_fault *fault, const char *family)
{
	size_t len = strlen(family);

	return strncmp(fault->act, family, len) == 0 && fault->act[len] == '.';
}

bool
check_fault_kills(const struct check_fault *fault)
{
	return *fault->act == '\0' || strcmp(fault->act, "proc.kill") == 0 ||
	    strcmp(fault->act, "disk.power_loss") == 0;
}

/* --- what it may explain -------------------------------------------------- */

int64_t
check_later(int64_t at_ns, int64_t by_ns)
{
	int64_t sum;

	return __builtin_add_overflow(at_ns, by_ns, &sum) ? INT64_MAX : sum;
}

int64_t
check_ns(int64_t ms)
{
	if (ms < 0)
		return 0;
	return ms > INT64_MAX / 4 / MS ? INT64_MAX / 4 : ms * MS;
}

const struct check_fault *
check_fault_within(const struct check_view *v, int64_t from_ns, int64_t to_ns,
    int64_t linger_ns)
{
	size_t low = 0, high = v->faults_n, at;

	while (low < high) {
		at = low + (high - low) / 2;
		if (v->faults[at].from_ns <= to_ns)
			low = at + 1;
		else
			high = at;
	}
	if (low == 0)
		return NULL;
	at = v->faults[low - 1].longest;
	if (at == SIZE_MAX || check_later(v->faults[at].until_ns, linger_ns) <
	    from_ns)
		return NULL;
	return &v->faults[at];
}

int64_t
check_linger_ns(const struct check_view *v)
{
	int64_t lease_ns = check_ns(v->head->lease_ms) +
	    check_ns(v->head->grace_ms);
	int64_t probe_ns = check_ns(v->head->probe_ms);

	return lease_ns > probe_ns ? lease_ns : probe_ns;
}

static bool
within(const struct check_times *times, int64_t from_ns, int64_t to_ns)
{
	size_t low = 0, high = times->n, at;

	while (low < high) {
		at = low + (high - low) / 2;
		if (times->at_ns[at] < from_ns)
			low = at + 1;
		else
			high = at;
	}
	return low < times->n && times->at_ns[low] <= to_ns;
}

bool
check_fault_operator(const struct check_view *v, size_t key, int64_t from_ns,
    int64_t to_ns)
{
	return within(&v->resolved, from_ns, to_ns) || (key != CHECK_NO_KEY &&
	    within(&v->keys[key].resolved, from_ns, to_ns));
}

bool
check_fault_freed(const struct check_view *v, size_t key, int64_t from_ns,
    int64_t to_ns)
{
	return within(&v->freed, from_ns, to_ns) || (key != CHECK_NO_KEY &&
	    within(&v->keys[key].freed, from_ns, to_ns));
}

bool
check_lease_ended(const struct check_view *v, size_t key, int64_t from_ns,
    int64_t to_ns)
{
	return within(&v->expired, from_ns, to_ns) || (key != CHECK_NO_KEY &&
	    within(&v->keys[key].expired, from_ns, to_ns));
}

/* --- runs that may be there ----------------------------------------------- */

bool
check_run_excused(const struct check_view *v, const struct check_key *key,
    size_t i)
{
	const struct check_run *run = key->runs[i], *before = key->runs[i - 1];
	int64_t from_ns = before->first->t_ns, to_ns = run->first->t_ns;
	const struct check_span span = { key, 0, from_ns, to_ns };
	size_t number = (size_t)(key - v->keys);

	if (check_fault_freed(v, number, from_ns, to_ns))
		return true;
	if (v->head->once_ms > 0 &&
	    to_ns - from_ns >= check_ns(v->head->once_ms))
		return true;
	if (!check_is(v->head->on_unknown, "retry") &&
	    !check_is(v->head->on_unknown, "probe"))
		return false;
	return before->end == NULL || v->head->handler_fails ||
	    check_fault_reached(v, &span) != NULL ||
	    check_lease_ended(v, number, from_ns, to_ns);
}
