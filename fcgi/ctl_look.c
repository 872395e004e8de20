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

/* A time of the wall clock as RFC 3339 has it, "-" for none. */
static const char *
stamp(int64_t ms, char *out, size_t size)
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
run_text(const struct ctl *c, const struct idem_record *r)
{
	bool held;

	if (r->state != IDEM_STATE_IN_PROGRESS &&
	    r->state != IDEM_STATE_UNKNOWN)
		return NULL;
	switch (ctl_proof(c, r, &held)) {
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
print_json(const struct ctl *c, const struct idem_listed *l)
{
	char key[2 * IDEM_DIGEST_LEN + 1], owner[2 * IDEM_OWNER_LEN + 1];
	const struct idem_record *r = &l->record;
	const char *run = run_text(c, r);

	idem_hex(l->key.at, sizeof l->key.at, key);
	idem_hex(r->owner.at, sizeof r->owner.at, owner);
	printf("{\"key\":\"%s\",\"state\":\"%s\",\"attempt\":%u,"
	    "\"owner\":\"%s\",\"pid\":%u,\"made_at\":%lld,\"ended_at\":%lld,"
	    "\"expires_at\":%lld,\"answer_bytes\":%llu,\"run\":",
	    key, idem_state_text(r->state), r->attempt, owner, r->pid,
	    (long long)r->made_at, (long long)r->ended_at,
	    (long long)r->expires_at, (unsigned long long)l->answer_len);
	if (run != NULL)
		printf("\"%s\"}", run);
	else
		printf("null}");
}

static void
print_row(const struct idem_listed *l)
{
	char key[2 * IDEM_DIGEST_LEN + 1], when[32];

	idem_hex(l->key.at, sizeof l->key.at, key);
	printf("%.*s  %-11s  %7u  %-20s  %10llu  %7u\n", TABLE_DIGITS, key,
	    idem_state_text(l->record.state), l->record.attempt,
	    stamp(since(&l->record), when, sizeof when),
	    (unsigned long long)l->answer_len, l->record.pid);
}

static void
print_lease(const struct ctl *c, const struct idem_record *r)
{
	int64_t left = r->lease_end - idem_boot_ms(&idem_clock_real);

	if (memcmp(r->boot.at, c->boot.at, sizeof r->boot.at) != 0)
		printf("lease     of an earlier boot\n");
	else if (left >= 0)
		printf("lease     ends in %lld s\n", (long long)left / 1000);
	else
		printf("lease     ended %lld s ago\n", (long long)-left / 1000);
}

static void
print_whole(const struct ctl *c, const struct idem_listed *l)
{
	char key[2 * IDEM_DIGEST_LEN + 1], owner[2 * IDEM_OWNER_LEN + 1];
	const struct idem_record *r = &l->record;
	const char *run = run_text(c, r);
	char when[32];

	idem_hex(l->key.at, sizeof l->key.at, key);
	idem_hex(r->owner.at, sizeof r->owner.at, owner);
	printf("key       %s\nstate     %s\nattempt   %u\nowner     %s\n"
	    "made      %s\n", key, idem_state_text(r->state), r->attempt, owner,
	    stamp(r->made_at, when, sizeof when));
	if (r->ended_at != 0)
		printf("since     %s\n", stamp(r->ended_at, when, sizeof when));
	if (r->expires_at != 0)
		printf("until     %s\n",
		    stamp(r->expires_at, when, sizeof when));
	if (run != NULL) {
		print_lease(c, r);
		printf("run       %s (pid %u)\n", run, r->pid);
	}
	if (r->state == IDEM_STATE_COMPLETED && l->answer_len == 0)
		printf("answer    not kept\n");
	else if (r->state == IDEM_STATE_COMPLETED)
		printf("answer    %llu bytes\n",
		    (unsigned long long)l->answer_len);
}

/* --- all records ---------------------------------------------------------- */

typedef void visit_fn(const struct ctl *, const struct idem_listed *, void *);

/* Each record in one of the states, by key; at most rows, unless that is 0. */
static int
each(struct ctl *c, uint32_t states, uint32_t rows, visit_fn *visit, void *arg)
{
	struct idem_store_call call = {
		.op = IDEM_STORE_LIST,
		.states = states,
	};
	struct idem_store_answer answer;
	uint32_t i, seen = 0;
	bool more = true;
	int status;

	while (more && (rows == 0 || seen < rows)) {
		call.max = rows == 0 || rows - seen > PAGE_ROWS ? PAGE_ROWS :
		    rows - seen;
		status = ctl_ask(c, &call, &answer);
		if (status != CTL_DONE)
			return status;
		for (i = 0; i < answer.result.count; i++)
			visit(c, &answer.listed[i], arg);
		seen += i;
		more = answer.result.more && i > 0;
		if (i > 0)
			call.key = answer.listed[i - 1].key;
		idem_store_answer_free(&answer);
	}
	return CTL_DONE;
}

static void
list_one(const struct ctl *c, const struct idem_listed *l, void *arg)
{
	unsigned *seen = arg;

	if (!c->json) {
		if (*seen == 0)
			printf("%-*s  %-11s  %7s  %-20s  %10s  %7s\n",
			    TABLE_DIGITS, "KEY", "STATE", "ATTEMPT", "SINCE",
			    "ANSWER", "PID");
		print_row(l);
	} else {
		printf("%s", *seen == 0 ? "" : ",\n");
		print_json(c, l);
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
	status = ctl_open(c, true);
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
	struct idem_listed found;
	int status;

	if (c->args_len > 1)
		return ctl_say(c, CTL_WRONG, "one key at a time");
	status = ctl_open(c, true);
	if (status == CTL_DONE)
		status = ctl_find(c, c->args[0], &found);
	if (status != CTL_DONE)
		return status;
	if (!c->json) {
		print_whole(c, &found);
		return CTL_DONE;
	}
	print_json(c, &found);
	putchar('\n');
	return CTL_DONE;
}

/* --- numbers -------------------------------------------------------------- */

struct numbers {
	uint64_t records[IDEM_STATE_TOMBSTONE + 1];
	uint64_t counts[SHM_COUNTS];
	int instances;
};

static void
count_one(const struct ctl *c, const struct idem_listed *l, void *arg)
{
	struct numbers *n = arg;

	(void)c;
	n->records[l->record.state]++;
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
	status = ctl_open(c, true);
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
