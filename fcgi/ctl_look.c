/* SPDX-License-Identifier: ISC */
#include "ctl.h"

#include "shm.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define PAGE_ROWS 1000
#define ALL_STATES 0xffffffffu

/* --- words ---------------------------------------------------------------- */

const char *
ctl_stamp(int64_t ms, char *out, size_t size)
{
	time_t at = (time_t)(ms / 1000);
	struct tm tm;

	if (ms <= 0 || ms == INT64_MAX || gmtime_r(&at, &tm) == NULL ||
	    strftime(out, size, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		snprintf(out, size, "-");
	return out;
}

static int64_t
since(const struct idem_record *r)
{
	return r->ended_at != 0 ? r->ended_at : r->made_at;
}

/* --- all records ---------------------------------------------------------- */

/* One page; *seen counts on. */
static int
look_at_page(struct ctl *c, const struct ctl_store *in,
    struct idem_store_call *call, ctl_each_fn *look, void *arg, uint32_t *seen,
    bool *more)
{
	struct ctl_found f = { .in = in };
	struct idem_store_answer answer;
	uint32_t i;
	int status = ctl_ask(c, in, call, &answer);

	if (status != CTL_DONE)
		return status;
	f.now_ms = answer.result.now_ms;
	for (i = 0; i < answer.result.count && answer.listed != NULL &&
	    status == CTL_DONE; i++) {
		f.l = answer.listed[i];
		status = look(c, &f, arg);
	}
	*seen += i;
	*more = answer.result.more && (call->any_order || i > 0);
	if (i > 0)
		call->key = f.l.key;
	call->cursor = answer.result.cursor;
	idem_store_answer_free(&answer);
	return status;
}

int
ctl_each(struct ctl *c, const struct ctl_store *in, uint32_t states,
    uint32_t rows, ctl_each_fn *look, void *arg)
{
	struct idem_store_call call = {
		.op = IDEM_STORE_LIST,
		.states = states,
		.any_order = in->kind == CTL_REDIS,
	};
	uint32_t seen = 0;
	bool more = true;
	int status = CTL_DONE;

	while (status == CTL_DONE && more && (rows == 0 || seen < rows)) {
		call.max = rows == 0 || rows - seen > PAGE_ROWS ? PAGE_ROWS :
		    rows - seen;
		status = look_at_page(c, in, &call, look, arg, &seen, &more);
	}
	return status;
}

static void
print_row(const struct idem_listed *l)
{
	char key[2 * IDEM_DIGEST_LEN + 1], when[32];

	idem_hex(l->key.at, sizeof l->key.at, key);
	printf("%.*s  %-11s  %7u  %-20s  %10llu  %7u\n", CTL_DIGITS, key,
	    idem_state_text(l->record.state), l->record.attempt,
	    ctl_stamp(since(&l->record), when, sizeof when),
	    (unsigned long long)l->answer_len, l->record.pid);
}

static int
list_one(struct ctl *c, const struct ctl_found *f, void *arg)
{
	unsigned *seen = arg;

	if (c->json) {
		printf("%s", (*seen)++ == 0 ? "" : ",\n");
		return ctl_say_json(c, f);
	}
	if ((*seen)++ == 0)
		printf("%-*s  %-11s  %7s  %-20s  %10s  %7s\n", CTL_DIGITS,
		    "KEY", "STATE", "ATTEMPT", "SINCE", "ANSWER", "PID");
	print_row(&f->l);
	return CTL_DONE;
}

int
ctl_list(struct ctl *c)
{
	unsigned seen = 0;
	int status;

	if (c->args_len > 0)
		return ctl_say(c, CTL_WRONG, "%s: it takes no key",
		    c->args[0]);
	status = ctl_open(c, true, false);
	if (status != CTL_DONE)
		return status;
	if (c->json)
		putchar('[');
	status = ctl_each(c, &c->stores[0], c->states != 0 ? c->states :
	    ALL_STATES, c->rows, list_one, &seen);
	if (c->json)
		puts("]");
	return status;
}

/* --- numbers -------------------------------------------------------------- */

struct numbers {
	uint64_t records[IDEM_STATE_TOMBSTONE + 1];
	uint64_t counts[SHM_COUNTS];
	int instances;
};

static int
count_one(struct ctl *c, const struct ctl_found *f, void *arg)
{
	struct numbers *n = arg;

	(void)c;
	n->records[f->l.record.state]++;
	return CTL_DONE;
}

static void
print_numbers(const struct numbers *n)
{
	enum idem_state s;
	unsigned i;

	for (s = IDEM_STATE_ISSUED; s <= IDEM_STATE_TOMBSTONE; s++)
		printf("records %-16s %10llu\n", idem_state_text(s),
		    (unsigned long long)n->records[s]);
	printf("%-24s %10d\n", "instances", n->instances);
	for (i = 0; i < SHM_COUNTS && n->instances > 0; i++)
		printf("%-24s %10llu\n", shm_count_text((enum shm_count)i),
		    (unsigned long long)n->counts[i]);
}

static void
print_numbers_json(const struct numbers *n)
{
	enum idem_state s;
	unsigned i;

	printf("{\"records\":{");
	for (s = IDEM_STATE_ISSUED; s <= IDEM_STATE_TOMBSTONE; s++)
		printf("%s\"%s\":%llu", s == IDEM_STATE_ISSUED ? "" : ",",
		    idem_state_text(s), (unsigned long long)n->records[s]);
	printf("},\"instances\":%d,\"counters\":{", n->instances);
	for (i = 0; i < SHM_COUNTS; i++)
		printf("%s\"%s\":%llu", i == 0 ? "" : ",",
		    shm_count_text((enum shm_count)i),
		    (unsigned long long)n->counts[i]);
	puts("}}");
}

static int
read_counters(const struct ctl *c, struct numbers *n)
{
	if (c->folder < 0)
		return CTL_DONE;	/* no idemd was ever started on it */
	n->instances = shm_stats(c->folder, n->counts);
	if (n->instances < 0)
		return ctl_say(c, CTL_FAILED, "the instances' counters: %s",
		    strerror(errno));
	return CTL_DONE;
}

int
ctl_stats(struct ctl *c)
{
	struct numbers n = { .instances = 0 };
	int status;

	if (c->args_len > 0)
		return ctl_say(c, CTL_WRONG, "%s: it takes no key",
		    c->args[0]);
	status = ctl_open(c, true, false);
	if (status == CTL_DONE)
		status = ctl_each(c, &c->stores[0], ALL_STATES, 0, count_one,
		    &n);
	if (status == CTL_DONE)
		status = read_counters(c, &n);
	if (status != CTL_DONE)
		return status;
	if (c->json)
		print_numbers_json(&n);
	else
		print_numbers(&n);
	return CTL_DONE;
}
