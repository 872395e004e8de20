/* SPDX-License-Identifier: ISC */
#include "store_call.h"

#include <stdlib.h>
#include <string.h>

/* One key: what a store of one string a key would hold. */
struct entry {
	struct idem_digest key;
	int64_t tombstone_ms;
	struct idem_buf packed;		/* the record, then its answer */
};

struct pending {
	struct pending *next;
	struct idem_store_call call;
};

struct memory {
	struct idem_store base;		/* first: this is a store */
	const struct idem_clock *clock;
	struct idem_boot boot;
	struct idem_history history;
	struct entry *entries;		/* by key */
	size_t n, room;
	struct pending *first, **last;	/* started, not yet carried out */
	struct idem_refusals refused;
	uint64_t purges;
};

/* The entry of the key, or where it belongs. */
static size_t
find(const struct memory *m, const struct idem_digest *key, bool *found)
{
	size_t low = 0, high = m->n, mid;
	int order;

	*found = false;
	while (low < high) {
		mid = low + (high - low) / 2;
		order = memcmp(m->entries[mid].key.at, key->at, sizeof key->at);
		if (order == 0) {
			*found = true;
			return mid;
		}
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool
insert(struct memory *m, size_t i, const struct idem_digest *key)
{
	size_t room = m->room > 0 ? 2 * m->room : 16;
	struct entry *more;

	if (m->n == m->room) {
		more = reallocarray(m->entries, room, sizeof *more);
		if (more == NULL)
			return false;
		m->entries = more;
		m->room = room;
	}
	memmove(m->entries + i + 1, m->entries + i,
	    (m->n - i) * sizeof *m->entries);
	m->entries[i] = (struct entry){ .key = *key };
	m->n++;
	return true;
}

static void
delete(struct memory *m, size_t i)
{
	idem_buf_free(&m->entries[i].packed);
	m->n--;
	memmove(m->entries + i, m->entries + i + 1,
	    (m->n - i) * sizeof *m->entries);
}

static bool
pack(struct idem_buf *to, const struct idem_record *r,
    const struct idem_blob *answer)
{
	*to = (struct idem_buf){ 0 };
	idem_record_write(to, r);
	if (answer != NULL)
		idem_buf_append(to, answer->at, answer->len);
	if (idem_buf_ok(to))
		return true;
	idem_buf_free(to);
	return false;
}

static bool
save(struct memory *m, const struct idem_store_call *call,
    const struct idem_verdict *v)
{
	struct idem_buf packed;
	bool found;
	size_t i = find(m, &call->key, &found);

	if (!pack(&packed, &v->record, v->with_answer ? call->answer : NULL))
		return false;
	if (!found && !insert(m, i, &call->key)) {
		idem_buf_free(&packed);
		return false;
	}
	idem_buf_free(&m->entries[i].packed);
	m->entries[i].packed = packed;
	m->entries[i].tombstone_ms = v->tombstone_ms;
	return true;
}

/* Of a key that is not there, a record in state ABSENT. */
static bool
load(const struct memory *m, const struct idem_digest *key,
    struct idem_record *r, struct idem_bytes *answer)
{
	bool found;
	size_t i = find(m, key, &found);

	*r = (struct idem_record){ 0 };
	*answer = (struct idem_bytes){ 0 };
	return !found ||
	    idem_record_read(idem_buf_bytes(&m->entries[i].packed), r, answer);
}

static void
one(struct memory *m, const struct idem_store_call *call,
    const struct idem_moment *at, struct idem_store_result *result)
{
	const char *memory = "out of memory";
	struct idem_record r;
	struct idem_verdict v;
	struct idem_bytes answer;

	if (!load(m, &call->key, &r, &answer)) {
		idem_store_fail(result, call->op, IDEM_CLASS_CONFIG,
		    "a record that cannot be read");
		result->claim = IDEM_CLAIM_BAD_RECORD;
		return;
	}
	idem_verdict(&r, call, at, &v);
	if (v.changed && !save(m, call, &v)) {
		idem_store_fail(result, call->op, IDEM_CLASS_REFUSED, memory);
		return;
	}
	if (v.changed && call->op == IDEM_STORE_SETTLE)
		m->purges++;
	idem_store_decided(result, call, &v, at);
	if (call->op != IDEM_STORE_CLAIM || v.claim != IDEM_CLAIM_COMPLETED ||
	    answer.len == 0)
		return;
	result->answer = idem_blob_new(answer);
	if (result->answer == NULL)
		idem_store_fail(result, call->op, IDEM_CLASS_REFUSED, memory);
}

static void
list(struct memory *m, const struct idem_store_call *call,
    struct idem_store_result *result, struct idem_listed *listed, uint32_t max)
{
	struct idem_bytes answer;
	struct idem_listed *l;
	bool found;
	size_t i = find(m, &call->key, &found);

	for (i += found; i < m->n && result->count < max; i++) {
		l = &listed[result->count];
		if (!idem_record_read(idem_buf_bytes(&m->entries[i].packed),
		    &l->record, &answer) ||
		    !idem_store_wanted(call, l->record.state))
			continue;
		l->key = m->entries[i].key;
		l->answer_len = answer.len;
		result->count++;
	}
	result->listed = listed;
	result->more = result->count == max;
}

/* Whether the entry was due; *gone: it is no longer there. */
static bool
sweep_entry(struct memory *m, size_t i, const struct idem_store_call *call,
    int64_t wall_ms, bool *gone)
{
	struct entry *e = &m->entries[i];
	struct idem_bytes answer;
	struct idem_record r;
	struct idem_buf packed;

	*gone = false;
	if (!idem_record_read(idem_buf_bytes(&e->packed), &r, &answer))
		return false;
	switch (idem_verdict_sweep(&r, call, e->tombstone_ms, wall_ms)) {
	case IDEM_SWEPT_NOT:
		return false;
	case IDEM_SWEPT_TOMBSTONE:
		if (!pack(&packed, &r, NULL))
			return false;
		idem_buf_free(&e->packed);
		e->packed = packed;
		return true;
	case IDEM_SWEPT_GONE:
		delete(m, i);
		*gone = true;
		return true;
	}
	return false;
}

static void
sweep(struct memory *m, const struct idem_store_call *call, int64_t wall_ms,
    struct idem_store_result *result)
{
	uint32_t max = idem_store_rows(call);
	bool gone;
	size_t i = 0;

	while (i < m->n && result->count < max) {
		if (sweep_entry(m, i, call, wall_ms, &gone))
			result->count++;
		i += !gone;
	}
	result->more = result->count == max;
}

static struct idem_moment
moment(const struct memory *m)
{
	struct idem_moment at = idem_store_moment(m->clock, &m->boot);

	at.history = m->history;
	return at;
}

static void
carry_out(struct memory *m, const struct idem_store_call *call)
{
	struct idem_moment at = moment(m);
	struct idem_store_result result = {
		.op = call->op,
		.now_ms = at.boot_ms,
	};
	uint32_t max = idem_store_rows(call);
	struct idem_listed *listed = NULL;
	uint64_t purges = m->purges;

	if (at.boot_ms > call->deadline_ms)
		idem_store_fail(&result, call->op, IDEM_CLASS_REFUSED,
		    "its time was over");
	else if (call->op == IDEM_STORE_SWEEP)
		sweep(m, call, at.wall_ms, &result);
	else if (call->op != IDEM_STORE_LIST)
		one(m, call, &at, &result);
	else if ((listed = calloc(max, sizeof *listed)) != NULL)
		list(m, call, &result, listed, max);
	else
		idem_store_fail(&result, call->op, IDEM_CLASS_REFUSED,
		    "out of memory");
	result.purges = purges;
	call->done(call->arg, &result);
	idem_blob_drop(result.answer);
	free(listed);
}

static void
memory_start(struct idem_store *base, const struct idem_store_call *call)
{
	struct memory *m = (struct memory *)base;
	struct pending *p = malloc(sizeof *p);

	if (p == NULL) {
		idem_store_refuse(&m->refused, call);
		return;
	}
	p->next = NULL;
	idem_store_call_copy(&p->call, call);
	*m->last = p;
	m->last = &p->next;
}

static int
memory_fd(struct idem_store *base)
{
	(void)base;
	return -1;
}

static int64_t
memory_due_ms(struct idem_store *base)
{
	const struct memory *m = (const struct memory *)base;

	return m->first != NULL || m->refused.n > 0 ? 0 : INT64_MAX;
}

/* What done starts is for the next poll. */
static void
memory_poll(struct idem_store *base)
{
	struct memory *m = (struct memory *)base;
	struct pending *p = m->first, *next;

	m->first = NULL;
	m->last = &m->first;
	for (; p != NULL; p = next) {
		next = p->next;
		carry_out(m, &p->call);
		idem_store_call_free(&p->call);
		free(p);
	}
	idem_store_tell_refused(&m->refused);
}

static uint64_t
memory_purges(struct idem_store *base)
{
	return ((const struct memory *)base)->purges;
}

/* Its room is the process's. */
static bool
memory_pressed(struct idem_store *base)
{
	(void)base;
	return false;
}

static bool
memory_history(struct idem_store *base, struct idem_history *history)
{
	*history = ((const struct memory *)base)->history;
	return true;
}

static void
refuse(const struct idem_store_call *call)
{
	struct idem_store_result result;

	idem_store_fail(&result, call->op, IDEM_CLASS_REFUSED,
	    "the store was closed");
	call->done(call->arg, &result);
}

static void
memory_close(struct idem_store *base)
{
	struct memory *m = (struct memory *)base;
	struct pending *p;

	while ((p = m->first) != NULL) {
		m->first = p->next;
		if (m->first == NULL)
			m->last = &m->first;
		refuse(&p->call);
		idem_store_call_free(&p->call);
		free(p);
	}
	idem_store_tell_refused(&m->refused);
	while (m->n > 0)
		delete(m, m->n - 1);
	free(m->entries);
	free(m);
}

struct idem_store *
idem_store_memory(const struct idem_clock *clock, const struct idem_boot *boot)
{
	static const struct idem_store_ops ops = {
		.name = "memory",
		.start = memory_start,
		.fd = memory_fd,
		.due_ms = memory_due_ms,
		.poll = memory_poll,
		.purges = memory_purges,
		.pressed = memory_pressed,
		.history = memory_history,
		.close = memory_close,
	};
	struct memory *m = calloc(1, sizeof *m);

	if (m == NULL)
		return NULL;
	m->base.ops = &ops;
	m->clock = clock;
	m->boot = *boot;
	memcpy(m->history.at, boot->at, sizeof m->history.at);
	m->last = &m->first;
	return &m->base;
}
