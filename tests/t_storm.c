/* SPDX-License-Identifier: ISC */
#include "digest.h"
#include "rig.h"
#include "store.h"
#include "tap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * Four workers on one ledger; every 100 ms for 10 s a lobby or a keeper is
 * killed at random.  2,000 keys, each submitted by 8 clients, who repeat until
 * they have a final answer, or hear that nobody knows.  The program itself
 * counts its starts.
 */
#define KEYS 2000u
#define CLIENTS 8u
#define TASKS (KEYS * CLIENTS)
#define LOAD_MS 10000
#define KILL_MS 100
#define LEASE_MS 1000
#define GRACE_MS 1000
#define LIMIT_MS 240000
#define VICTIMS 512

/* What a key's clients have been told. */
struct told {
	uint8_t digest[IDEM_DIGEST_LEN];	/* of the first final answer */
	uint32_t finals, replayed, stored, unknown, different;
};

struct storm {
	struct rig *rig;
	int64_t began_ms, next_kill_ms;
	unsigned random;
	bool killing;
	uint32_t heap[TASKS];		/* by due time */
	int64_t due_ms[TASKS];
	uint32_t heap_len, open;	/* open: not final yet */
	uint32_t wrong, retries;
	struct told told[KEYS];
	pid_t killed[VICTIMS];
	size_t kills;
	char key[32], path[8];
};

/* --- who is due ----------------------------------------------------------- */

static void
heap_swap(struct storm *s, uint32_t a, uint32_t b)
{
	uint32_t task = s->heap[a];

	s->heap[a] = s->heap[b];
	s->heap[b] = task;
}

static bool
heap_before(const struct storm *s, uint32_t a, uint32_t b)
{
	return s->due_ms[s->heap[a]] < s->due_ms[s->heap[b]];
}

static void
heap_put(struct storm *s, uint32_t task, int64_t due_ms)
{
	uint32_t i = s->heap_len++;

	s->heap[i] = task;
	s->due_ms[task] = due_ms;
	for (; i > 0 && heap_before(s, i, (i - 1) / 2); i = (i - 1) / 2)
		heap_swap(s, i, (i - 1) / 2);
}

static uint32_t
heap_take(struct storm *s)
{
	uint32_t task = s->heap[0], i = 0, child;

	s->heap[0] = s->heap[--s->heap_len];
	for (;;) {
		child = 2 * i + 1;
		if (child + 1 < s->heap_len && heap_before(s, child + 1, child))
			child++;
		if (child >= s->heap_len || !heap_before(s, child, i))
			return task;
		heap_swap(s, i, child);
		i = child;
	}
}

static unsigned
chance(struct storm *s, unsigned below)
{
	s->random = s->random * 1103515245u + 12345u;
	return (s->random >> 8) % below;
}

/* --- the clients ---------------------------------------------------------- */

static enum rig_next
next(void *arg, int64_t now_ms, struct rig_request *request, void **user)
{
	struct storm *s = arg;
	uint32_t task;

	if (s->open == 0)
		return RIG_OVER;
	if (s->heap_len == 0 || s->due_ms[s->heap[0]] > now_ms)
		return RIG_LATER;
	task = heap_take(s);
	snprintf(s->key, sizeof s->key, "storm-%u", task / CLIENTS);
	*request = (struct rig_request){
		.method = "POST",
		.path = "/order",
		.query = "sleep=30",
		.key = s->key,
		.type = "application/x-www-form-urlencoded",
		.body = idem_bytes_text("item=tea")
	};
	*user = (void *)(uintptr_t)task;
	return RIG_SEND;
}

/* Status, the program's own field, and the body: what must be the same. */
static void
digest_of(const struct rig_answer *answer, uint8_t out[IDEM_DIGEST_LEN])
{
	struct idem_digest digest;
	struct idem_hash hash;
	uint64_t status = (uint64_t)answer->status;

	idem_hash_init(&hash);
	idem_hash_add(&hash, &status, sizeof status);
	idem_hash_part(&hash, idem_bytes_text(rig_field(answer, "X-Run")));
	idem_hash_part(&hash, idem_bytes_text(rig_field(answer,
	    "Content-Type")));
	idem_hash_part(&hash, idem_bytes_text(rig_field(answer,
	    "Content-Length")));
	idem_hash_part(&hash, answer->body);
	if (!idem_hash_final(&hash, &digest))
		bail_out("no digest");
	memcpy(out, digest.at, sizeof digest.at);
}

static void
final(struct storm *s, struct told *told, const struct rig_answer *answer,
    bool replayed)
{
	uint8_t digest[IDEM_DIGEST_LEN];

	digest_of(answer, digest);
	if (told->finals++ == 0)
		memcpy(told->digest, digest, sizeof digest);
	else if (memcmp(told->digest, digest, sizeof digest) != 0)
		told->different++;
	if (replayed)
		told->replayed++;
	else
		told->stored++;
	s->open--;
}

static bool
is_to_repeat(const struct rig_answer *answer, const char *says)
{
	if (!answer->whole)
		return true;
	if (answer->status == 502 || answer->status == 503 ||
	    answer->status == 504)
		return true;
	return answer->status == 409 && strcmp(says, "in-progress") == 0;
}

static void
answered(void *arg, void *user, const struct rig_answer *answer)
{
	struct storm *s = arg;
	uint32_t task = (uint32_t)(uintptr_t)user;
	struct told *told = &s->told[task / CLIENTS];
	const char *says = answer->whole ?
	    rig_field(answer, "Idempotency-Status") : "";

	if (is_to_repeat(answer, says)) {
		s->retries++;
		heap_put(s, task, rig_now_ms() + 50 + chance(s, 150));
	} else if (strcmp(says, "stored") == 0)
		final(s, told, answer, false);
	else if (strcmp(says, "replayed") == 0)
		final(s, told, answer, true);
	else if (answer->status == 409 && strcmp(says, "unknown") == 0) {
		told->unknown++;
		s->open--;
	} else {
		if (s->wrong++ < 5)
			note("status %d, %s: %.*s", answer->status, says,
			    (int)answer->out.len, (char *)answer->out.at);
		s->open--;
	}
}

/* --- the killer ----------------------------------------------------------- */

static void
turn(void *arg, int64_t now_ms)
{
	struct storm *s = arg;
	pid_t children[64];
	size_t n;

	if (!s->killing || now_ms < s->next_kill_ms ||
	    now_ms > s->began_ms + LOAD_MS)
		return;
	s->next_kill_ms += KILL_MS;
	n = rig_children(s->rig->pid, children, 64);
	if (n == 0 || s->kills == VICTIMS)
		return;
	s->killed[s->kills] = children[chance(s, (unsigned)n)];
	kill(s->killed[s->kills++], SIGKILL);
}

/* --- the ledger afterwards ------------------------------------------------ */

struct totals {
	uint32_t states[IDEM_STATE_TOMBSTONE + 1];
	uint32_t unknown_of_others;	/* by a claimant nobody killed */
};

static bool
was_killed(const struct storm *s, pid_t pid)
{
	size_t i;

	for (i = 0; i < s->kills; i++)
		if (s->killed[i] == pid)
			return true;
	return false;
}

/* The lobby died, or the log says that a keeper of its was killed. */
static bool
was_struck(const struct storm *s, const char *log, pid_t lobby)
{
	int keeper, of;
	const char *at;

	if (was_killed(s, lobby))
		return true;
	for (at = log; (at = strstr(at, " keeper=")) != NULL; at++)
		if (sscanf(at, " keeper=%d started lobby=%d", &keeper, &of) ==
		    2 && of == lobby && was_killed(s, keeper))
			return true;
	return false;
}

static void
count_states(struct storm *s, const char *log, struct totals *totals)
{
	struct idem_sqlite_options options = {
		.path = s->rig->ledger,
		.clock = &idem_clock_real,
		.read_only = true
	};
	struct idem_store_call call = {
		.op = IDEM_STORE_LIST, .states = UINT32_MAX, .max = 500
	};
	struct idem_store_answer answer;
	struct idem_store *store;
	char error[256];
	bool more = true;
	uint32_t i;

	memset(totals, 0, sizeof *totals);
	if (!idem_boot_id(&options.boot))
		bail_out("no boot id");
	store = idem_store_sqlite(&options, error, sizeof error);
	if (store == NULL)
		bail_out("%s", error);
	while (more) {
		call.deadline_ms = idem_boot_ms(&idem_clock_real) + 10000;
		idem_store_wait(store, &call, &answer);
		if (answer.result.write != IDEM_WRITTEN)
			bail_out("the ledger cannot be listed");
		for (i = 0; i < answer.result.count; i++) {
			const struct idem_listed *row = &answer.listed[i];

			totals->states[row->record.state]++;
			if (row->record.state == IDEM_STATE_UNKNOWN &&
			    !was_struck(s, log, (pid_t)row->record.pid))
				totals->unknown_of_others++;
			call.key = row->key;
		}
		more = answer.result.more && answer.result.count > 0;
		idem_store_answer_free(&answer);
	}
	store->ops->close(store);
}

/* --- what must hold ------------------------------------------------------- */

static void
starts(struct storm *s, uint32_t *most, uint32_t *total)
{
	static uint32_t count[KEYS];
	char *orders = rig_slurp(s->rig, "orders");
	char *line, *rest = orders;
	unsigned key;
	uint32_t i;

	memset(count, 0, sizeof count);
	*most = *total = 0;
	while (orders != NULL && (line = strsep(&rest, "\n")) != NULL)
		if (sscanf(line, "storm-%u", &key) == 1 && key < KEYS)
			count[key]++;
	for (i = 0; i < KEYS; i++) {
		*total += count[i];
		if (count[i] > *most)
			*most = count[i];
	}
	free(orders);
}

static void
check(struct storm *s, uint32_t keys)
{
	uint32_t most, total, i, different = 0, replayed = 0, stored = 0;
	uint32_t unknown_clients = 0, mixed = 0;
	struct totals totals;
	char *log = rig_slurp(s->rig, "log");

	starts(s, &most, &total);
	count_states(s, log != NULL ? log : "", &totals);
	for (i = 0; i < keys; i++) {
		different += s->told[i].different;
		replayed += s->told[i].replayed;
		stored += s->told[i].stored;
		unknown_clients += s->told[i].unknown;
		mixed += s->told[i].stored > 1;
	}
	note("%u keys, %u starts, %u repeats by clients, %zu kills", keys,
	    total, s->retries, s->kills);
	note("answers: %u stored, %u replayed, %u unknown", stored, replayed,
	    unknown_clients);
	note("ledger: %u completed, %u unknown, %u in progress, %u issued",
	    totals.states[IDEM_STATE_COMPLETED],
	    totals.states[IDEM_STATE_UNKNOWN],
	    totals.states[IDEM_STATE_IN_PROGRESS],
	    totals.states[IDEM_STATE_ISSUED]);
	is_int(s->open, 0, "every client got a final answer or `unknown`");
	is_int(s->wrong, 0, "no client got any other answer");
	ok(most <= 1, "no key was started more than once (most: %u)", most);
	is_int(different, 0, "all final answers to a key are the same");
	is_int(mixed, 0, "at most one of them is marked `stored`");
	is_int(totals.states[IDEM_STATE_COMPLETED] +
	    totals.states[IDEM_STATE_UNKNOWN], keys,
	    "lease + grace after the quiet every key is completed or unknown");
	is_int(totals.unknown_of_others, 0, "keys are unknown only where the "
	    "claimant's lobby or keeper was killed");
	ok(replayed * 2 >= keys * (CLIENTS - 1), "at least half of the "
	    "duplicates are answered `replayed` (%u of %u)", replayed,
	    keys * (CLIENTS - 1));
	free(log);
}

static void
storm(struct storm *s, uint32_t keys, uint32_t load_ms, bool killing)
{
	struct rig_many many = {
		.connections_max = 1000,
		.limit_ms = LIMIT_MS,
		.next = next,
		.answered = answered,
		.turn = turn,
		.arg = s
	};
	uint32_t i;

	memset(s->told, 0, sizeof s->told);
	s->heap_len = 0;
	s->wrong = s->retries = 0;
	s->killing = killing;
	s->began_ms = s->next_kill_ms = rig_now_ms();
	s->open = keys * CLIENTS;
	for (i = 0; i < s->open; i++)	/* most at once, some much later */
		heap_put(s, i, s->began_ms + i / CLIENTS * load_ms / keys +
		    chance(s, i % 4 == 0 ? 2000 : 60));
	if (rig_many(s->rig, &many) == -1)
		note("it was not over within %d s", LIMIT_MS / 1000);
}

static void
quiet(const struct storm *s)
{
	int64_t until = s->began_ms + LOAD_MS + LEASE_MS + GRACE_MS + 1000;
	int64_t left = until - rig_now_ms();

	if (left > 0)	/* the time that the promise is about */
		usleep((useconds_t)left * 1000);
}

static void
run(unsigned seed, uint32_t keys, uint32_t load_ms, bool killing)
{
	static struct storm s;
	struct rig rig = { 0 };

	memset(&s, 0, sizeof s);
	s.random = seed;
	s.rig = &rig;
	rig_open(&rig);
	rig_order(&rig);
	if (rig_start(&rig, (const char *[]){ "--workers", "4", "-c", "16",
	    "--queue", "1000", "--lease", "1s", "--grace", "1s", "--limit",
	    "20s", "--", rig_at(&rig, "order"), NULL }) == -1)
		bail_out("idemd does not start");
	storm(&s, keys, load_ms, killing);
	if (killing)
		quiet(&s);
	check(&s, keys);
	if (!killing)
		is_int(s.told[0].unknown, 0,
		    "without kills nothing is unknown");
	is_int(rig_stop(&rig, 30000), 0, "idemd ends with status 0 on SIGTERM");
	rig_end(&rig);
}

int
main(void)
{
	const char *given = getenv("SEED");
	unsigned seed = given != NULL ? (unsigned)strtoul(given, NULL, 10) :
	    (unsigned)time(NULL);

	note("SEED=%u", seed);
	run(seed, 100, 1000, false);
	run(seed, KEYS, LOAD_MS, true);
	note("again with: SEED=%u tests/t_storm", seed);
	return done();
}
