/* SPDX-License-Identifier: ISC */
#include "fault_vfs.h"
#include "ledger.h"
#include "store_trace.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Every single fault of the file system, at each place where it can happen,
 * once and for ever, under a fixed load.  Each call says what it came to; from
 * that follow the states its key may have.  They are looked up in the files as
 * a crash would leave them, in the same store after the fault is over, and
 * after a restart.
 */
#define POINTS_MAX 400
#define STATES_MAX 6

static char folder[] = "/tmp/t_store_faults.XXXXXX";
static char path[100], crash_path[100];

/* Everything before the fault. */
static const char *const before[] = {
	"claim k1 o1 f1 g1",
	"claim k2 o1 f1 g1",
	"complete k2 o1 1 big:3000",
	"claim k3 o1 f1 g1",
	"unknown k3 o1 1",
	"claim k4 o1 f1 g1",
	"release k4 o1 1",
	"claim k5 o1 f1 g1",
	"complete k5 o1 1 A keep=0",
};

#define OPEN_1 "in-progress 1 o1 lease 61000 expires 0 answer 0"

/* The load, in groups that are outstanding together; what each makes of its
   key if it is written. */
static const struct step {
	int group;
	const char *key, *line, *makes;
} steps[] = {
	{ 0, "k10", "claim k10 o1 f1 g1", OPEN_1 },
	{ 0, "k11", "claim k11 o1 f1 g1", OPEN_1 },
	{ 0, "k12", "claim k12 o1 f1 g1", OPEN_1 },
	{ 0, "k1", "complete k1 o1 1 big:5000",
	  "completed 1 o1 lease 0 expires 1001000 answer 5000" },
	{ 0, "k3", "settle done k3 o9 o1 1 B",
	  "completed 1 o9 lease 0 expires 1001000 answer 1" },
	{ 1, "k2", "settle forget k2 o9 o1 1",
	  "tombstone 1 o9 lease 0 expires 1005000 answer 0" },
	{ 1, "k4", "claim k4 o1 f1 g1",
	  "in-progress 2 o1 lease 61000 expires 0 answer 0" },
	{ 1, "k5", "sweep",
	  "tombstone 1 o1 lease 0 expires 1005000 answer 0" },
	{ 2, "k10", "complete k10 o1 1 big:900",
	  "completed 1 o1 lease 0 expires 1001000 answer 900" },
	{ 2, "k11", "release k11 o1 1",
	  "issued 1 o1 lease 0 expires 1005000 answer 0" },
	{ 2, "k12", "unknown k12 o1 1",
	  "unknown 1 o1 lease 61000 expires 0 answer 0" },
	{ 2, "k6", "claim k6 o1 f1 g1", OPEN_1 },
};

#define STEPS (sizeof steps / sizeof *steps)
#define GROUPS 3

/* What a key may be. */
struct key {
	const char *name;
	size_t n;
	const char *may[STATES_MAX];
};

static const struct key keys_before[] = {
	{ "k1", 1, { OPEN_1 } },
	{ "k2", 1, { "completed 1 o1 lease 0 expires 1001000 answer 3000" } },
	{ "k3", 1, { "unknown 1 o1 lease 61000 expires 0 answer 0" } },
	{ "k4", 1, { "issued 1 o1 lease 0 expires 1005000 answer 0" } },
	{ "k5", 1, { "completed 1 o1 lease 0 expires 1000000 answer 1" } },
	{ "k6", 1, { "absent" } },
	{ "k10", 1, { "absent" } },
	{ "k11", 1, { "absent" } },
	{ "k12", 1, { "absent" } },
};

#define KEYS (sizeof keys_before / sizeof *keys_before)

/* One run of the load under one fault. */
struct run {
	struct fault fault;
	struct trace t;
	struct key keys[KEYS];
	unsigned wrong;		/* counted, and the first ones noted */
};

static void
complain(struct run *r, const char *what, const char *got)
{
	if (r->wrong++ < 3)
		note("call %u of %s: %s: %s", r->fault.nth,
		    fault_op_text(r->fault.op), what, got);
}

/* --- the ledger ----------------------------------------------------------- */

static struct idem_store *
open_at(struct trace *t, const char *at)
{
	struct idem_sqlite_options options = {
		.path = at,
		.clock = &t->clock,
		.boot = t->boot,
	};
	char error[300];

	t->sweeps_by_clock = true;
	return idem_store_sqlite(&options, error, sizeof error);
}

static void
copy_file(const char *from, const char *to)
{
	char bytes[65536];
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	size_t n;

	if (in == NULL || out == NULL)
		bail_out("cannot copy %s", from);
	while ((n = fread(bytes, 1, sizeof bytes, in)) > 0)
		if (fwrite(bytes, 1, n, out) != n)
			bail_out("cannot copy %s", from);
	fclose(in);
	fclose(out);
}

/* What the disk would hold if all processes died now: no -shm. */
static void
copy_crashed(void)
{
	char from[120], to[120];

	ledger_remove(crash_path);
	copy_file(path, crash_path);
	snprintf(from, sizeof from, "%s-wal", path);
	snprintf(to, sizeof to, "%s-wal", crash_path);
	if (access(from, F_OK) == 0)
		copy_file(from, to);
}

static void
prepare(struct run *r)
{
	char out[200];
	size_t i;

	ledger_make(path);
	trace_init(&r->t);
	r->t.store = open_at(&r->t, path);
	for (i = 0; i < sizeof before / sizeof *before; i++)
		trace_run(&r->t, before[i], out, sizeof out);
	memcpy(r->keys, keys_before, sizeof r->keys);
}

/* --- what follows from an answer ------------------------------------------ */

static struct key *
key_of(struct run *r, const char *name)
{
	size_t i;

	for (i = 0; i < KEYS; i++)
		if (strcmp(r->keys[i].name, name) == 0)
			return &r->keys[i];
	bail_out("no key %s", name);
}

static bool
starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool
may_be(const struct key *key, const char *state)
{
	size_t i;

	for (i = 0; i < key->n; i++)
		if (strcmp(key->may[i], state) == 0)
			return true;
	return false;
}

/*
 * Written: it is so.  Refused or lost: it is as before.  Maybe: either.  A
 * sweep says how many rows it took.
 */
static void
conclude(struct run *r, const struct step *s, const struct trace_asked *asked)
{
	struct key *key = key_of(r, s->key);
	const char *out = asked->out;

	if (asked->answers != 1)
		complain(r, "not answered exactly once", s->line);
	if (starts(out, "written") && starts(s->line, "release") &&
	    may_be(key, "absent")) {
		/* Its claim was maybe, and has come to nothing. */
		key->n = 2;
		key->may[0] = s->makes;
		key->may[1] = "absent";
	} else if (starts(out, "won") || starts(out, "ours") ||
	    starts(out, "written") || starts(out, "1")) {
		key->n = 1;
		key->may[0] = s->makes;
	} else if (starts(out, "maybe")) {
		if (key->n < STATES_MAX)
			key->may[key->n++] = s->makes;
	} else if (!starts(out, "refused") && !starts(out, "lost") &&
	    !starts(out, "0")) {
		complain(r, "an answer that cannot be", out);
	}
}

static void
check_key(struct run *r, const struct key *key, struct trace *t,
    const char *when)
{
	char line[40], got[200], what[200];

	snprintf(line, sizeof line, "show %s", key->name);
	trace_run(t, line, got, sizeof got);
	if (may_be(key, got))
		return;
	snprintf(what, sizeof what, "%s: %s may be \"%s\"%s, but is", when,
	    key->name, key->may[0], key->n > 1 ? " or other" : "");
	complain(r, what, got);
}

static void
check_keys(struct run *r, struct trace *t, const char *when)
{
	size_t i;

	for (i = 0; i < KEYS; i++)
		check_key(r, &r->keys[i], t, when);
}

/* A winner's key is never won again, an answer is whole. */
static void
check_replays(struct run *r)
{
	char line[60], out[200], want[60];
	const char *is_so;
	size_t i;

	for (i = 0; i < KEYS; i++) {
		if (r->keys[i].n != 1)
			continue;
		is_so = r->keys[i].may[0];
		snprintf(line, sizeof line, "claim %s o2 f1 g1",
		    r->keys[i].name);
		trace_run(&r->t, line, out, sizeof out);
		want[0] = '\0';
		if (starts(is_so, "completed"))
			snprintf(want, sizeof want, "completed 1 %s",
			    strstr(is_so, "answer 1") != NULL ? "" : "big:");
		else if (starts(is_so, "in-progress"))
			snprintf(want, sizeof want, "in-progress");
		else if (starts(is_so, "tombstone"))
			snprintf(want, sizeof want, "expired");
		else if (starts(is_so, "unknown"))
			snprintf(want, sizeof want, "unknown");
		else
			snprintf(want, sizeof want, "won");
		if (!starts(out, want))
			complain(r, line, out);
	}
}

/* --- one run -------------------------------------------------------------- */

static void
run_load(struct run *r)
{
	struct trace_asked asked[STEPS];
	size_t i;
	int group;

	for (group = 0; group < GROUPS; group++) {
		for (i = 0; i < STEPS; i++)
			if (steps[i].group == group)
				trace_start(&r->t, steps[i].line, &asked[i]);
		for (i = 0; i < STEPS; i++)
			if (steps[i].group == group)
				trace_await(&r->t, &asked[i]);
		r->t.store->ops->poll(r->t.store);
		for (i = 0; i < STEPS; i++)
			if (steps[i].group == group)
				conclude(r, &steps[i], &asked[i]);
	}
}

static void
check_crashed(struct run *r)
{
	struct trace t;

	trace_init(&t);
	t.store = open_at(&t, crash_path);
	if (t.store == NULL) {
		complain(r, "after a crash", "it does not open");
		return;
	}
	check_keys(r, &t, "after a crash");
	t.store->ops->close(t.store);
	ledger_remove(crash_path);
}

/* Whether the fault happened at all. */
static bool
run_one(struct run *r, const struct fault *fault, bool closing)
{
	struct idem_store *again;
	bool fired;

	r->fault = *fault;
	prepare(r);
	/* A second store beside: so that opening is under the fault too. */
	fault_vfs_set(fault);
	again = open_at(&r->t, path);
	if (again != NULL)
		again->ops->close(again);
	run_load(r);
	if (closing)	/* with its checkpoint */
		r->t.store->ops->close(r->t.store);
	fired = fault_vfs_heal();
	copy_crashed();
	check_crashed(r);
	if (!closing) {
		check_keys(r, &r->t, "when it is over");
		r->t.store->ops->close(r->t.store);
	}
	r->t.store = open_at(&r->t, path);
	if (r->t.store == NULL) {
		complain(r, "after a restart", "it does not open");
		return false;
	}
	check_keys(r, &r->t, "after a restart");
	check_replays(r);
	r->t.store->ops->close(r->t.store);
	return fired;
}

static void
sweep(enum fault_op op, enum fault_code code, bool for_ever, bool after,
    bool closing)
{
	struct fault fault = {
		.op = op,
		.code = code,
		.for_ever = for_ever,
		.after = after,
	};
	struct run r = { .wrong = 0 };

	for (fault.nth = 1; fault.nth < POINTS_MAX; fault.nth++)
		if (!run_one(&r, &fault, closing))
			break;
	ok(r.wrong == 0 && fault.nth > 1 && fault.nth < POINTS_MAX,
	    "%s fails with %s %s%s at each of %u calls%s: no key is won "
	    "twice, nothing acknowledged is lost, what is refused is not so",
	    fault_op_text(op), fault_code_text(code),
	    for_ever ? "for ever" : "once", after ? ", but is done," : "",
	    fault.nth - 1, closing ? ", closing too" : "");
}

/* --- making one ----------------------------------------------------------- */

static unsigned
files_left(void)
{
	static const char *const suffixes[] = {
		"", "-wal", "-shm", "-journal",
	};
	char name[200];
	unsigned n = 0;
	size_t i;

	for (i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
		n += access(name, F_OK) == 0;
		snprintf(name, sizeof name, "%s-new.%ld%s", path,
		    (long)getpid(), suffixes[i]);
		n += access(name, F_OK) == 0;
	}
	return n;
}

static void
sweep_create(enum fault_op op)
{
	struct fault fault = { .op = op, .code = FAULT_IOERR };
	unsigned wrong = 0;
	char error[300];
	int made;

	for (fault.nth = 1; fault.nth < POINTS_MAX; fault.nth++) {
		ledger_remove(path);
		fault_vfs_set(&fault);
		made = idem_store_sqlite_create(path, error, sizeof error);
		if (!fault_vfs_heal())
			break;
		wrong += made != 0 && files_left() != 0;
	}
	ok(wrong == 0 && fault.nth > 1, "making a ledger while %s fails at "
	    "each of %u calls leaves a whole one or nothing",
	    fault_op_text(op), fault.nth - 1);
}

/* --- a disk that hangs ---------------------------------------------------- */

static void
test_hanging_disk(void)
{
	struct trace_asked first, queued;
	char out[200];
	struct run r;

	prepare(&r);
	fault_vfs_hold_sync();
	trace_start(&r.t, "complete k1 o1 1 A within=50", &first);
	fault_vfs_await_held();
	trace_start(&r.t, "claim k20 o1 f1 g1 within=50", &queued);
	r.t.store->ops->poll(r.t.store);
	is_int(first.answers + queued.answers, 0,
	    "a hanging disk is waited for");
	trace_run(&r.t, "boot +51", out, sizeof out);
	r.t.store->ops->poll(r.t.store);
	is(first.out, "maybe", "at the deadline a call under way is maybe");
	is(queued.out, "refused", "and one that has not begun is refused");
	fault_vfs_let_go();
	trace_run(&r.t, "claim k1 o2 f1 g1", out, sizeof out);
	is(out, "completed 1 A", "what was maybe may turn out to be so");
	trace_run(&r.t, "claim k20 o2 f1 g1", out, sizeof out);
	is(out, "won 1", "what was refused never does");
	is_int(first.answers + queued.answers, 2, "each was answered once");
	r.t.store->ops->close(r.t.store);
}

int
main(void)
{
	static const enum fault_op ops[] = {
		FAULT_OPEN, FAULT_READ, FAULT_WRITE, FAULT_SYNC, FAULT_LOCK,
		FAULT_SHM_MAP, FAULT_SHM_LOCK,
	};
	size_t i;

	fault_vfs_install();
	if (mkdtemp(folder) == NULL)
		bail_out("no folder for the test");
	snprintf(path, sizeof path, "%s/ledger.db", folder);
	snprintf(crash_path, sizeof crash_path, "%s/crashed.db", folder);
	for (i = 0; i < sizeof ops / sizeof *ops; i++) {
		sweep(ops[i], FAULT_IOERR, false, false, false);
		sweep(ops[i], FAULT_IOERR, true, false, false);
	}
	sweep(FAULT_WRITE, FAULT_FULL, false, false, false);
	sweep(FAULT_WRITE, FAULT_FULL, true, false, false);
	sweep(FAULT_WRITE, FAULT_IOERR, false, true, false);
	sweep(FAULT_WRITE, FAULT_IOERR, true, true, false);
	sweep(FAULT_SHM_LOCK, FAULT_BUSY, false, false, false);
	sweep(FAULT_SHM_LOCK, FAULT_BUSY, true, false, false);
	sweep(FAULT_WRITE, FAULT_FULL, false, false, true);
	sweep(FAULT_WRITE, FAULT_IOERR, false, true, true);
	sweep(FAULT_SYNC, FAULT_IOERR, false, false, true);
	sweep(FAULT_TRUNCATE, FAULT_IOERR, false, false, true);
	sweep_create(FAULT_OPEN);
	sweep_create(FAULT_WRITE);
	sweep_create(FAULT_SYNC);
	test_hanging_disk();
	ledger_remove(path);
	rmdir(folder);
	return done();
}
