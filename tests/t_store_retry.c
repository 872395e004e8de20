/* SPDX-License-Identifier: ISC */
#include "fault_vfs.h"
#include "ledger.h"
#include "store_trace.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The end of a run cannot be written, at any place where that may fail: what is
 * refused is not so, and who says it again with the same owner is heard, once
 * the fault is over.
 */
#define POINTS_MAX 300

static char folder[] = "/tmp/t_store_retry.XXXXXX";
static char path[100];
static struct trace t;
static unsigned key;		/* a new one for each run */

static const struct end {
	const char *op, *answer;
	const char *makes;
} ends[] = {
	{ "complete", "big:3000",
	  "completed 1 o1 lease 0 expires 1001000 answer 3000" },
	{ "complete", "big:300000",
	  "completed 1 o1 lease 0 expires 1001000 answer 300000" },
	{ "unknown", "",
	  "unknown 1 o1 lease 61000 expires 0 answer 0" },
	{ "release", "",
	  "issued 1 o1 lease 0 expires 1005000 answer 0" },
};
#define ENDS (sizeof ends / sizeof *ends)

static const char before[] =
    "in-progress 1 o1 lease 61000 expires 0 answer 0";

static const struct {
	enum fault_op op;
	enum fault_code code;
	bool after;
} kinds[] = {
	{ FAULT_WRITE, FAULT_IOERR, false },
	{ FAULT_WRITE, FAULT_IOERR, true },
	{ FAULT_WRITE, FAULT_FULL, false },
	{ FAULT_WRITE, FAULT_FULL, true },
	{ FAULT_WRITE, FAULT_READONLY, false },
	{ FAULT_SYNC, FAULT_IOERR, false },
	{ FAULT_SHM_LOCK, FAULT_BUSY, false },
	{ FAULT_SHM_LOCK, FAULT_IOERR, false },
	{ FAULT_ALLOC, FAULT_NOMEM, false },
};
#define KINDS (sizeof kinds / sizeof *kinds)

/* What one kind came to. */
struct sum {
	unsigned points, refused, maybe, written, wrong;
};

static void
complain(struct sum *s, const struct end *e, const struct fault *f,
    const char *what, const char *got)
{
	if (s->wrong++ < 3)
		note("%s, %s %s at call %u: %s: %s", e->op,
		    fault_op_text(f->op), fault_code_text(f->code), f->nth,
		    what, got);
}

static void
show(char *out, size_t out_size)
{
	char line[40];

	snprintf(line, sizeof line, "show k%u", key);
	trace_run(&t, line, out, out_size);
}

/* Whether the record may be as it is after that answer. */
static bool
follows(struct sum *s, const struct end *e, const char *said, const char *is_so)
{
	if (strcmp(said, "written") == 0) {
		s->written++;
		return strcmp(is_so, e->makes) == 0;
	}
	if (strncmp(said, "refused", 7) == 0) {
		s->refused++;
		return strcmp(is_so, before) == 0;
	}
	s->maybe++;
	return strncmp(said, "maybe", 5) == 0 &&
	    (strcmp(is_so, e->makes) == 0 || strcmp(is_so, before) == 0);
}

/* False: it has not happened. */
static bool
run_one(struct sum *s, const struct end *e, const struct fault *f)
{
	char line[100], said[100], is_so[200];
	bool fired;

	key++;
	snprintf(line, sizeof line, "claim k%u o1 f1 g1", key);
	trace_run(&t, line, said, sizeof said);
	if (strcmp(said, "won 1") != 0)
		bail_out("%s: %s", line, said);
	snprintf(line, sizeof line, "%s k%u o1 1 %s", e->op, key, e->answer);
	fault_vfs_set(f);
	trace_run(&t, line, said, sizeof said);
	fired = fault_vfs_heal();
	show(is_so, sizeof is_so);
	if (!follows(s, e, said, is_so))
		complain(s, e, f, said, is_so);
	trace_run(&t, line, said, sizeof said);
	show(is_so, sizeof is_so);
	if (strcmp(said, "written") != 0 || strcmp(is_so, e->makes) != 0)
		complain(s, e, f, "said again", said);
	return fired;
}

static void
sweep(size_t kind, bool for_ever)
{
	struct fault f = {
		.op = kinds[kind].op,
		.code = kinds[kind].code,
		.after = kinds[kind].after,
		.for_ever = for_ever,
	};
	struct sum s = { 0 };
	size_t i;

	ledger_make(path);
	trace_init(&t);
	t.store = ledger_open(&t, path);
	key = 0;
	for (i = 0; i < ENDS; i++) {
		f.nth = 1;
		while (f.nth < POINTS_MAX && run_one(&s, &ends[i], &f))
			f.nth++;
		s.points += f.nth - 1;
		if (f.nth == POINTS_MAX)
			complain(&s, &ends[i], &f, "more calls", "than many");
	}
	t.store->ops->close(t.store);
	ok(s.wrong == 0 && s.points > 0,
	    "%s fails with %s %s%s at each of %u calls: an end is "
	    "refused or maybe, rightly, and said again it is written",
	    fault_op_text(f.op), fault_code_text(f.code),
	    for_ever ? "for a while" : "once",
	    f.after ? ", but is done," : "", s.points);
	note("refused %u, maybe %u, written %u", s.refused, s.maybe,
	    s.written);
}

int
main(void)
{
	size_t i;

	fault_vfs_install();
	if (mkdtemp(folder) == NULL)
		bail_out("no folder for the test");
	snprintf(path, sizeof path, "%s/ledger.db", folder);
	for (i = 0; i < KINDS; i++) {
		sweep(i, false);
		sweep(i, true);
	}
	ledger_remove(path);
	rmdir(folder);
	return done();
}
