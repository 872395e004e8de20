/* SPDX-License-Identifier: ISC */
#include "ledger.h"
#include "store_trace.h"
#include "tap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * What only a store with a thread, a file and neighbours can get wrong: the
 * lock, deadlines, groups, other processes, a kill.
 */
#define KEYS 200
#define CLAIMANTS 50

static char folder[] = "/tmp/t_store_sqlite.XXXXXX";
static char path[100], lock_path[110];

/* --- the lock ------------------------------------------------------------- */

static int
hold_lock(void)
{
	int fd = open(lock_path, O_RDWR | O_CLOEXEC);

	if (fd < 0 || flock(fd, LOCK_EX) != 0)
		bail_out("cannot hold %s", lock_path);
	return fd;
}

static void
test_lock(void)
{
	struct trace_asked a, b, c;
	struct trace t;
	char out[100];
	int held;

	ledger_make(path);
	trace_init(&t);
	t.store = ledger_open(&t, path);
	trace_run(&t, "claim k1 o1 f1 g1", out, sizeof out);
	trace_run(&t, "complete k1 o1 1 A", out, sizeof out);
	trace_run(&t, "claim k2 o1 f1 g1", out, sizeof out);
	held = hold_lock();
	trace_run(&t, "claim k1 o2 f1 g1", out, sizeof out);
	is(out, "completed 1 A", "an answer is found while the lock is held");
	trace_run(&t, "claim k2 o2 f1 g1", out, sizeof out);
	is(out, "in-progress 1", "so is a key in progress");
	trace_run(&t, "sweep", out, sizeof out);
	is(out, "0", "a sweep with nothing to do takes no lock");

	trace_start(&t, "claim k3 o1 f1 g1 within=50", &a);
	trace_start(&t, "claim k4 o1 f1 g1 within=5000", &b);
	trace_run(&t, "claim k1 o2 f1 g1", out, sizeof out);
	is(out, "completed 1 A", "look-ups pass a write that waits");
	is_int(a.answers + b.answers, 0, "the writes wait for the lock");
	is_int(t.store->ops->due_ms(t.store), 1049,
	    "the store is due at the first deadline");
	trace_run(&t, "boot +51", out, sizeof out);
	t.store->ops->poll(t.store);
	is(a.out, "refused", "at its deadline a waiting claim is refused");
	is_int(b.answers, 0, "one with more time goes on waiting");
	is_int(t.store->ops->due_ms(t.store), 5999,
	    "then the store is due at the next");
	close(held);
	trace_await(&t, &b);
	is(b.out, "won 1", "once the lock is free it wins");
	trace_run(&t, "claim k3 o2 f1 g1", out, sizeof out);
	is(out, "won 1", "the refused claim was withdrawn: another wins");
	is_int(a.answers, 1, "and it is answered once");

	held = hold_lock();
	trace_start(&t, "claim k5 o1 f1 g1", &c);
	t.store->ops->close(t.store);
	is(c.out, "refused", "close refuses what still waits");
	is_int(c.answers, 1, "once");
	close(held);
	t.store = ledger_open(&t, path);
	trace_run(&t, "claim k5 o2 f1 g1", out, sizeof out);
	is(out, "won 1", "and none of it is applied afterwards");
	t.store->ops->close(t.store);
}

/* --- reading only --------------------------------------------------------- */

static void
test_read_only(void)
{
	struct idem_sqlite_options options = {
		.path = path,
		.read_only = true,
	};
	char out[100], error[300];
	struct trace t;

	trace_init(&t);
	options.clock = &t.clock;
	t.store = idem_store_sqlite(&options, error, sizeof error);
	if (t.store == NULL)
		bail_out("%s", error);
	trace_run(&t, "claim k1 o2 f1 g1 look", out, sizeof out);
	is(out, "completed 1 A", "a store opened to look finds answers");
	trace_run(&t, "list completed", out, sizeof out);
	is(out, "k1", "and lists");
	trace_run(&t, "claim k9 o2 f1 g1", out, sizeof out);
	is(out, "refused config", "but wins nothing");
	trace_run(&t, "complete k2 o1 1 A", out, sizeof out);
	is(out, "refused config", "and writes nothing");
	t.store->ops->close(t.store);
}

/* --- many at once --------------------------------------------------------- */

/* This half of a key's claimants, at once. */
static void
claim_key(struct trace *t, int k, int half, uint8_t *won, uint8_t *bad)
{
	struct trace_asked asked[CLAIMANTS / 2];
	char line[60];
	int i;

	for (i = 0; i < CLAIMANTS / 2; i++) {
		snprintf(line, sizeof line, "claim k%d o%d f1 g1", k,
		    half * CLAIMANTS / 2 + i + 1);
		trace_start(t, line, &asked[i]);
	}
	for (i = 0; i < CLAIMANTS / 2; i++) {
		trace_await(t, &asked[i]);
		if (strcmp(asked[i].out, "won 1") == 0)
			++*won;
		else if (strcmp(asked[i].out, "in-progress 1") != 0)
			++*bad;
		if (asked[i].answers != 1)
			++*bad;
	}
}

/*
 * Half of all claimants of every key; what each key's came to, on fd.  The
 * halves go through the keys in opposite order, so that each meets keys that
 * the other has not taken yet.
 */
static void
claim_all(int go, int fd, int half)
{
	uint8_t won[KEYS] = { 0 }, bad[KEYS] = { 0 };
	struct trace t;
	char byte;
	int i, k;

	trace_init(&t);
	t.store = ledger_open(&t, path);
	if (read(go, &byte, 1) != 1)
		_exit(1);
	for (i = 0; i < KEYS; i++) {
		k = half == 0 ? i : KEYS - 1 - i;
		claim_key(&t, k + 1, half, &won[k], &bad[k]);
	}
	t.store->ops->close(t.store);
	if (write(fd, won, sizeof won) != (ssize_t)sizeof won ||
	    write(fd, bad, sizeof bad) != (ssize_t)sizeof bad)
		_exit(1);
	_exit(0);
}

static void
read_all(int fd, uint8_t *to, size_t len)
{
	ssize_t n;

	while (len > 0) {
		n = read(fd, to, len);
		if (n <= 0)
			bail_out("a claimant has died");
		to += n;
		len -= (size_t)n;
	}
}

static void
test_two_processes(void)
{
	uint8_t won[2][KEYS], bad[2][KEYS];
	int pipes[2][2], go[2], i, k, once = 0, wrong = 0, by_first = 0;

	ledger_make(path);
	if (pipe(go) != 0)
		bail_out("no pipe");
	for (i = 0; i < 2; i++) {
		if (pipe(pipes[i]) != 0)
			bail_out("no pipe");
		if (fork() == 0)
			claim_all(go[0], pipes[i][1], i);
		close(pipes[i][1]);
	}
	if (write(go[1], "go", 2) != 2)
		bail_out("no pipe");
	for (i = 0; i < 2; i++) {
		read_all(pipes[i][0], won[i], KEYS);
		read_all(pipes[i][0], bad[i], KEYS);
		close(pipes[i][0]);
		wait(NULL);
	}
	for (k = 0; k < KEYS; k++) {
		once += won[0][k] + won[1][k] == 1;
		by_first += won[0][k];
		wrong += bad[0][k] + bad[1][k];
	}
	is_int(once, KEYS, "of %d claimants in two processes each of %d keys "
	    "has one winner", CLAIMANTS, KEYS);
	is_int(wrong, 0, "no claim was refused, and none answered twice");
	note("one process won %d keys, the other %d", by_first,
	    KEYS - by_first);
}

/* --- a kill --------------------------------------------------------------- */

/* Claim and complete one key after the other; say each on fd once it is so. */
static void
write_until_killed(int fd)
{
	struct trace t;
	char line[100], out[100];
	uint16_t k;

	trace_init(&t);
	t.store = ledger_open(&t, path);
	for (k = 1; k < 20000; k++) {
		snprintf(line, sizeof line, "claim k%d o1 f1 g1", k);
		trace_run(&t, line, out, sizeof out);
		snprintf(line, sizeof line, "complete k%d o1 1 big:%d", k,
		    900 + k % 300);
		trace_run(&t, line, out, sizeof out);
		if (write(fd, &k, sizeof k) != (ssize_t)sizeof k)
			break;
	}
	_exit(0);
}

static void
test_kill(void)
{
	char line[100], out[100], want[100];
	int fds[2], lost = 0, i;
	uint16_t k = 0, last = 0;
	struct trace t;
	pid_t pid;

	ledger_make(path);
	if (pipe(fds) != 0 || (pid = fork()) < 0)
		bail_out("no process");
	if (pid == 0)
		write_until_killed(fds[1]);
	close(fds[1]);
	for (i = 0; i < 100; i++) {
		read_all(fds[0], (uint8_t *)&k, sizeof k);
		last = k;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	while (read(fds[0], &k, sizeof k) == (ssize_t)sizeof k)
		last = k;
	close(fds[0]);
	trace_init(&t);
	t.store = ledger_open(&t, path);
	for (k = 1; k <= last; k++) {
		snprintf(line, sizeof line, "claim k%d o2 f1 g1", k);
		snprintf(want, sizeof want, "completed 1 big:%d",
		    900 + k % 300);
		trace_run(&t, line, out, sizeof out);
		lost += strcmp(out, want) != 0;
	}
	is_int(lost, 0, "of %d answers acknowledged before a kill none is lost",
	    last);
	snprintf(line, sizeof line, "claim k%d o2 f1 g1", last + 2);
	trace_run(&t, line, out, sizeof out);
	is(out, "won 1", "a dead neighbour's lock is no hindrance");
	t.store->ops->close(t.store);
}

/* --- neighbours ----------------------------------------------------------- */

static void
test_purges_of_others(void)
{
	struct trace a, b;
	char out[100];

	ledger_make(path);
	trace_init(&a);
	trace_init(&b);
	a.store = ledger_open(&a, path);
	b.store = ledger_open(&b, path);
	trace_run(&a, "claim k1 o1 f1 g1", out, sizeof out);
	trace_run(&a, "purges", out, sizeof out);
	trace_run(&b, "settle done k1 o9 o1 1 A", out, sizeof out);
	is(out, "written", "one opens the ledger beside another, and settles");
	trace_run(&a, "purges", out, sizeof out);
	is(out, "changed", "the other sees the purge count change");
	trace_run(&a, "claim k1 o2 f1 g1", out, sizeof out);
	is(out, "completed 1 A", "and what was settled");
	a.store->ops->close(a.store);
	b.store->ops->close(b.store);
}

int
main(void)
{
	signal(SIGPIPE, SIG_IGN);
	if (mkdtemp(folder) == NULL)
		bail_out("no folder for the test");
	snprintf(path, sizeof path, "%s/ledger.db", folder);
	snprintf(lock_path, sizeof lock_path, "%s-lock", path);
	test_lock();
	test_read_only();
	test_two_processes();
	test_kill();
	test_purges_of_others();
	ledger_remove(path);
	rmdir(folder);
	return done();
}
