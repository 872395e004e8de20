/* SPDX-License-Identifier: ISC */
#include "ctl.h"

#include "shm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PAGE_ROWS 1000
#define ALL_STATES 0xffffffffu
#define TABLE_DIGITS 16		/* enough of a key to name it by */

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

/* What is known of the run of a record that is open, else NULL. */
static const char *
run_text(const struct ctl *c, const struct ctl_found *f)
{
	enum idem_state state = f->l.record.state;
	bool held;

	if (state != IDEM_STATE_IN_PROGRESS && state != IDEM_STATE_UNKNOWN)
		return NULL;
	switch (ctl_proof(c, f, &held)) {
	case IDEM_PROOF_DEAD:
		return "dead";
	case IDEM_PROOF_LAPSED:
		return held ? "over its limit, but alive" : "silent";
	case IDEM_PROOF_NONE:
		return held ? "alive" : "not known";
	}
	abort();
}

/* --- one record ----------------------------------------------------------- */

static void
print_json(const struct ctl *c, const struct ctl_found *f)
{
	char key[2 * IDEM_DIGEST_LEN + 1], owner[2 * IDEM_OWNER_LEN + 1];
	const struct idem_record *r = &f->l.record;
	const char *run = run_text(c, f);

	idem_hex(f->l.key.at, sizeof f->l.key.at, key);
	idem_hex(r->owner.at, sizeof r->owner.at, owner);
	printf("{\"key\":\"%s\",\"state\":\"%s\",\"attempt\":%u,"
	    "\"owner\":\"%s\",\"pid\":%u,\"made_at\":%lld,\"ended_at\":%lld,"
	    "\"expires_at\":%lld,\"answer_bytes\":%llu,\"run\":",
	    key, idem_state_text(r->state), r->attempt, owner, r->pid,
	    (long long)r->made_at, (long long)r->ended_at,
	    (long long)r->expires_at,
	    (unsigned long long)f->l.answer_len);
	if (run != NULL)
		printf("\"%s\"", run);
	else
		printf("null");
	printf(",\"in\":\"%s\"}", ctl_kind_text(f->in->kind));
}

static void
print_row(const struct idem_listed *l)
{
	char key[2 * IDEM_DIGEST_LEN + 1], when[32];

	idem_hex(l->key.at, sizeof l->key.at, key);
	printf("%.*s  %-11s  %7u  %-20s  %10llu  %7u\n", TABLE_DIGITS, key,
	    idem_state_text(l->record.state), l->record.attempt,
	    ctl_stamp(since(&l->record), when, sizeof when),
	    (unsigned long long)l->answer_len, l->record.pid);
}

static void
print_lease(const struct ctl *c, const struct ctl_found *f)
{
	const struct idem_record *r = &f->l.record;
	int64_t left = r->lease_end - f->now_ms;
	bool here = memcmp(r->boot.at, c->boot.at, sizeof r->boot.at) == 0;

	if (f->in->kind == CTL_REDIS)
		printf("host      %s\n", here ? "this one" : "another, or this "
		    "one before it was booted");
	if (f->in->kind == CTL_LEDGER && !here)
		printf("lease     of an earlier boot\n");
	else if (left >= 0)
		printf("lease     ends in %lld s\n", (long long)left / 1000);
	else
		printf("lease     ended %lld s ago\n", (long long)-left / 1000);
}

static void
print_whole(const struct ctl *c, const struct ctl_found *f)
{
	char key[2 * IDEM_DIGEST_LEN + 1], owner[2 * IDEM_OWNER_LEN + 1];
	const struct idem_record *r = &f->l.record;
	const char *run = run_text(c, f);
	char when[32];

	idem_hex(f->l.key.at, sizeof f->l.key.at, key);
	idem_hex(r->owner.at, sizeof r->owner.at, owner);
	printf("key       %s\nin        %s\nstate     %s\nattempt   %u\n"
	    "owner     %s\nmade      %s\n", key, ctl_kind_text(f->in->kind),
	    idem_state_text(r->state), r->attempt, owner,
	    ctl_stamp(r->made_at, when, sizeof when));
	if (r->ended_at != 0)
		printf("since     %s\n",
		    ctl_stamp(r->ended_at, when, sizeof when));
	if (r->expires_at != 0)
		printf("until     %s\n",
		    ctl_stamp(r->expires_at, when, sizeof when));
	if (run != NULL) {
		print_lease(c, f);
		printf("run       %s (pid %u)\n", run, r->pid);
	}
	if (r->state == IDEM_STATE_COMPLETED && f->l.answer_len == 0)
		printf("answer    not kept\n");
	else if (r->state == IDEM_STATE_COMPLETED)
		printf("answer    %llu bytes\n",
		    (unsigned long long)f->l.answer_len);
}

/* --- all records ---------------------------------------------------------- */

typedef void visit_fn(const struct ctl *, const struct ctl_found *, void *);

/* One page; *seen counts on. */
static int
visit_page(struct ctl *c, const struct ctl_store *in,
    struct idem_store_call *call, visit_fn *visit, void *arg, uint32_t *seen,
    bool *more)
{
	struct ctl_found f = { .in = in };
	struct idem_store_answer answer;
	uint32_t i;
	int status = ctl_ask(c, in, call, &answer);

	if (status != CTL_DONE)
		return status;
	f.now_ms = answer.result.now_ms;
	for (i = 0; i < answer.result.count && answer.listed != NULL; i++) {
		f.l = answer.listed[i];
		visit(c, &f, arg);
	}
	*seen += i;
	*more = answer.result.more && (call->any_order || i > 0);
	if (i > 0)
		call->key = f.l.key;
	call->cursor = answer.result.cursor;
	idem_store_answer_free(&answer);
	return CTL_DONE;
}

/* Each record in one of the states, at most rows, unless that is 0: of the
   ledger by key, of Redis as they lie there. */
static int
each(struct ctl *c, uint32_t states, uint32_t rows, visit_fn *visit, void *arg)
{
	const struct ctl_store *in = &c->stores[0];
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
		status = visit_page(c, in, &call, visit, arg, &seen, &more);
	}
	return status;
}

static void
list_one(const struct ctl *c, const struct ctl_found *f, void *arg)
{
	unsigned *seen = arg;

	if (!c->json) {
		if (*seen == 0)
			printf("%-*s  %-11s  %7s  %-20s  %10s  %7s\n",
			    TABLE_DIGITS, "KEY", "STATE", "ATTEMPT", "SINCE",
			    "ANSWER", "PID");
		print_row(&f->l);
	} else {
		printf("%s", *seen == 0 ? "" : ",\n");
		print_json(c, f);
	}
	++*seen;
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
	status = each(c, c->states != 0 ? c->states : ALL_STATES, c->rows,
	    list_one, &seen);
	if (c->json)
		puts("]");
	return status;
}

int
ctl_show(struct ctl *c)
{
	struct ctl_found found[CTL_KINDS];
	size_t len = 0, i;
	int status;

	if (c->args_len > 1)
		return ctl_say(c, CTL_WRONG, "one key at a time");
	status = ctl_open(c, true, true);
	if (status == CTL_DONE)
		status = ctl_find(c, c->args[0], found, &len);
	for (i = 0; status == CTL_DONE && i < len; i++) {
		if (!c->json && i > 0)
			putchar('\n');
		if (!c->json) {
			print_whole(c, &found[i]);
			continue;
		}
		print_json(c, &found[i]);
		putchar('\n');
	}
	return status;
}

/* --- numbers -------------------------------------------------------------- */

struct numbers {
	uint64_t records[IDEM_STATE_TOMBSTONE + 1];
	uint64_t counts[SHM_COUNTS];
	int instances;
};

static void
count_one(const struct ctl *c, const struct ctl_found *f, void *arg)
{
	struct numbers *n = arg;

	(void)c;
	n->records[f->l.record.state]++;
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
	int folder = ctl_folder(c), status = CTL_DONE;

	if (folder < 0)
		return CTL_DONE;	/* no idemd was ever started on it */
	n->instances = shm_stats(folder, n->counts);
	if (n->instances < 0)
		status = ctl_say(c, CTL_FAILED, "the instances' counters: %s",
		    strerror(errno));
	close(folder);
	return status;
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
		status = each(c, ALL_STATES, 0, count_one, &n);
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
