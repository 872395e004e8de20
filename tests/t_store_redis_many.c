/* SPDX-License-Identifier: ISC */
#include "chance.h"
#include "redis_rig.h"
#include "store_redis.h"
#include "tap.h"

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Many processes, each with a client of its own, that all want the same keys,
 * each in an order of its own and some at a time.  Who has won a key counts
 * it, as a program would that is started, and then completes it.
 */
#define PROCESSES 16u
#define KEYS 3000u
#define AT_ONCE 32u
#define CALL_MS 120000
#define ANSWER 200u

struct seen {
	atomic_uint won[KEYS], others[KEYS], failed, unfinished;
};

static struct redis_rig server;
static struct seen *seen;

/* --- one process ---------------------------------------------------------- */

struct process;

struct turn {
	struct process *p;
	uint32_t key;
	struct idem_owner owner;
};

struct process {
	struct idem_store *store;
	struct idem_blob *answer;
	uint32_t order[KEYS], next;
	struct turn turns[AT_ONCE];
	unsigned busy;
	bool tokens;
	struct idem_history history;
};

static void claim(struct turn *);

static struct idem_digest
key_of(uint32_t i, bool tokens)
{
	struct idem_digest d = { { tokens ? 't' : 'k' } };

	memcpy(d.at + 1, &i, sizeof i);
	return d;
}

static struct idem_store_call
call_of(struct turn *t, enum idem_store_op op, idem_store_done *told)
{
	return (struct idem_store_call){
		.op = op,
		.key = key_of(t->key, t->p->tokens),
		.owner = t->owner,
		.attempt = 1,
		.lease_ms = 600000,
		.keep_ms = 600000,
		.issued_only = t->p->tokens,
		.history = t->p->history,
		.deadline_ms = idem_boot_ms(&idem_clock_real) + CALL_MS,
		.done = told,
		.arg = t,
	};
}

static void
next(struct turn *t)
{
	struct process *p = t->p;

	if (p->next == KEYS) {
		p->busy--;
		return;
	}
	t->key = p->order[p->next++];
	if (!idem_random(t->owner.at, sizeof t->owner.at))
		_exit(2);
	claim(t);
}

static void
completed(void *arg, const struct idem_store_result *r)
{
	if (r->class != IDEM_OK || r->write != IDEM_WRITTEN)
		atomic_fetch_add(&seen->unfinished, 1);
	next(arg);
}

static void
claimed(void *arg, const struct idem_store_result *r)
{
	struct turn *t = arg;
	struct idem_store_call call;

	if (r->class != IDEM_OK) {
		atomic_fetch_add(&seen->failed, 1);
	} else if (r->claim == IDEM_CLAIM_WON) {
		atomic_fetch_add(&seen->won[t->key], 1);
		call = call_of(t, IDEM_STORE_COMPLETE, completed);
		call.answer = t->p->answer;
		t->p->store->ops->start(t->p->store, &call);
		return;
	} else if (r->claim == IDEM_CLAIM_IN_PROGRESS ||
	    (r->claim == IDEM_CLAIM_COMPLETED && r->answer != NULL &&
	    r->answer->len == ANSWER)) {
		atomic_fetch_add(&seen->others[t->key], 1);
	}
	next(t);
}

static void
claim(struct turn *t)
{
	struct idem_store_call call = call_of(t, IDEM_STORE_CLAIM, claimed);

	call.not_after_ms = call.deadline_ms;
	t->p->store->ops->start(t->p->store, &call);
}

static void
shuffle(struct process *p, uint32_t chance)
{
	uint32_t i, j, other;

	for (i = 0; i < KEYS; i++)
		p->order[i] = i;
	for (i = KEYS - 1; i > 0; i--) {
		j = chance_below(&chance, i + 1);
		other = p->order[i];
		p->order[i] = p->order[j];
		p->order[j] = other;
	}
}

static struct idem_redis *
connect_to(const struct redis_rig *where)
{
	static const char *url;
	static struct idem_redis_options options;
	struct idem_redis *client;
	char error[300];

	url = where->url;
	options = (struct idem_redis_options){
		.urls = &url,
		.urls_len = 1,
		.timeout_ms = 30000,	/* there are few processors */
		.clock = &idem_clock_real,
	};
	client = idem_redis_new(&options, error, sizeof error);
	if (client == NULL)
		bail_out("%s", error);
	return client;
}

static struct idem_store *
open_store(struct idem_redis *client, bool tokens)
{
	const struct idem_store_redis_options options = {
		.client = client,
		.clock = &idem_clock_real,
		.token = tokens,
	};
	struct idem_store *store = idem_store_redis(&options);

	if (store == NULL)
		bail_out("no memory for a store");
	return store;
}

static void
wait_for(struct process *p)
{
	struct pollfd fd = { .events = POLLIN };

	while (p->busy > 0) {
		fd.fd = p->store->ops->fd(p->store);
		poll(&fd, 1, 20);
		p->store->ops->poll(p->store);
	}
}

static void
live(uint32_t number, int begin, bool tokens, struct idem_history history)
{
	static struct process p;
	struct idem_redis *client = connect_to(&server);
	char byte, text[ANSWER] = { 'A' };
	unsigned i;

	p.tokens = tokens;
	p.history = history;
	p.store = open_store(client, tokens);
	p.answer = idem_blob_new((struct idem_bytes){ text, sizeof text });
	shuffle(&p, number + 1);
	if (p.answer == NULL || read(begin, &byte, 1) != 0)
		_exit(2);
	p.busy = AT_ONCE;
	for (i = 0; i < AT_ONCE; i++) {
		p.turns[i].p = &p;
		next(&p.turns[i]);
	}
	wait_for(&p);
	p.store->ops->close(p.store);
	idem_redis_free(client);
	_exit(0);
}

/* --- all of them ---------------------------------------------------------- */

/* They begin at once, when the pipe is closed. */
static void
run_all(bool tokens, struct idem_history history)
{
	pid_t pids[PROCESSES];
	int begin[2], status;
	unsigned i, bad = 0;

	if (pipe(begin) == -1)
		bail_out("no pipe");
	for (i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		if (pids[i] == -1)
			bail_out("no process");
		if (pids[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			close(begin[1]);
			alarm(240);
			live(i, begin[0], tokens, history);
		}
	}
	close(begin[0]);
	close(begin[1]);
	for (i = 0; i < PROCESSES; i++)
		bad += waitpid(pids[i], &status, 0) != pids[i] || status != 0;
	is_int(bad, 0, "every process comes to its end");
}

static void
judge(const char *what, int64_t ms)
{
	unsigned i, once = 0, told = 0;

	for (i = 0; i < KEYS; i++) {
		once += atomic_load(&seen->won[i]) == 1;
		told += atomic_load(&seen->others[i]);
	}
	is_int(once, KEYS, "%s: %u processes start each of %u keys exactly "
	    "once [idem:A13 idem:A16]", what, PROCESSES, KEYS);
	is_int(told, KEYS * (PROCESSES - 1),
	    "%s: all others are told that it runs, or get its answer", what);
	is_int(atomic_load(&seen->failed) + atomic_load(&seen->unfinished), 0,
	    "%s: no call fails", what);
	note("%s: %u claims by %u processes in %lld ms", what,
	    KEYS * PROCESSES, PROCESSES, (long long)ms);
}

static void
test_many(const char *what, bool tokens, struct idem_history history)
{
	int64_t start_ms = idem_boot_ms(&idem_clock_real);

	memset(seen, 0, sizeof *seen);
	run_all(tokens, history);
	judge(what, idem_boot_ms(&idem_clock_real) - start_ms);
}

/* --- tokens --------------------------------------------------------------- */

struct minting {
	unsigned left;
	struct idem_history history;
};

static void
minted(void *arg, const struct idem_store_result *r)
{
	struct minting *m = arg;

	if (r->class != IDEM_OK || r->write != IDEM_WRITTEN)
		bail_out("a token is not issued: %s",
		    r->error != NULL ? r->error : "there is one");
	m->history = r->history;
	m->left--;
}

static struct idem_history
mint_all(void)
{
	struct idem_redis *client = connect_to(&server);
	struct idem_store *store = open_store(client, true);
	struct minting m = { .left = KEYS };
	struct idem_store_call call = {
		.op = IDEM_STORE_ISSUE,
		.keep_ms = 600000,
		.deadline_ms = idem_boot_ms(&idem_clock_real) + CALL_MS,
		.done = minted,
		.arg = &m,
	};
	struct pollfd fd = { .events = POLLIN };
	uint32_t i;

	for (i = 0; i < KEYS; i++) {
		call.key = key_of(i, true);
		store->ops->start(store, &call);
	}
	while (m.left > 0) {
		fd.fd = store->ops->fd(store);
		poll(&fd, 1, 20);
		store->ops->poll(store);
	}
	store->ops->close(store);
	idem_redis_free(client);
	return m.history;
}

/* ------------------------------------------------------------------------- */

static void
note_size(void)
{
	struct idem_digest key = key_of(1, false);
	char name[100], hex[2 * IDEM_DIGEST_LEN + 1];

	idem_hex(key.at, sizeof key.at, hex);
	snprintf(name, sizeof name, "idem:%s", hex);
	note("a key with an answer of %u bytes takes %s bytes of the server",
	    ANSWER, redis_rig_say(&server, "MEMORY", "USAGE", name, NULL));
}

int
main(void)
{
	struct idem_history none = { { 0 } };

	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seen == MAP_FAILED)
		bail_out("no memory");
	redis_rig_start(&server, NULL);
	test_many("keys", false, none);
	note_size();
	test_many("tokens", true, mint_all());
	redis_rig_end(&server);
	munmap(seen, sizeof *seen);
	return done();
}
