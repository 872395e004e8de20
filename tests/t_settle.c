/* SPDX-License-Identifier: ISC */
#include "saved.h"
#include "settle_rig.h"
#include "tap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WHOLE "Content-Type: text/plain\n\nplaced 1\n"
#define CUT "Content-Type: text/plain\nContent-Length: 99\n\nplaced"
#define BUSY "Status: 503 Busy\nContent-Type: text/plain\n\nnothing\n"

enum before {
	NONE,		/* no record */
	OURS,		/* in progress, of the note */
	OURS_UNKNOWN,
	OURS_COMPLETED,
	ANOTHERS	/* in progress, of another owner */
};

enum flags {
	HELD = 1, OTHER_BOOT = 2, FASTCGI = 4, NO_ATTEMPT = 8
};

/* One run, and what one round makes of it. */
static const struct row {
	const char *what;
	enum idem_note_state state;
	const char *out;	/* NULL: no trailer */
	int status;
	unsigned flags;
	enum before before;
	enum rig_file file;
	enum idem_state after;
	enum idem_note_why why;	/* if unknown */
} rows[] = {
	/* Not begun. */
	{ "a claim that was not won leaves nothing", IDEM_NOTE_CLAIMING, NULL,
	  0, 0, NONE, RIG_GONE, IDEM_STATE_ABSENT, 0 },
	{ "a claim that was won before its lobby died is released",
	  IDEM_NOTE_CLAIMING, NULL, 0, 0, OURS, RIG_GONE, IDEM_STATE_ISSUED,
	  0 },
	{ "so is one that others have made unknown", IDEM_NOTE_CLAIMING, NULL,
	  0, 0, OURS_UNKNOWN, RIG_GONE, IDEM_STATE_ISSUED, 0 },
	{ "a claim beside another's leaves that alone", IDEM_NOTE_CLAIMING,
	  NULL, 0, 0, ANOTHERS, RIG_GONE, IDEM_STATE_IN_PROGRESS, 0 },
	{ "a run that was not begun is released", IDEM_NOTE_HANDED, NULL, 0, 0,
	  OURS, RIG_GONE, IDEM_STATE_ISSUED, 0 },
	{ "so is one that could not be started", IDEM_NOTE_NOT_BEGUN, NULL, 0,
	  0, OURS, RIG_GONE, IDEM_STATE_ISSUED, 0 },
	/* Died. */
	{ "a run that died is unknown", IDEM_NOTE_BEGUN, NULL, 0, 0, OURS,
	  RIG_UNKNOWN, IDEM_STATE_UNKNOWN, IDEM_WHY_KEEPER },
	{ "an orphan whose end was not written down is unknown",
	  IDEM_NOTE_ORPHAN, NULL, 0, 0, OURS, RIG_UNKNOWN, IDEM_STATE_UNKNOWN,
	  IDEM_WHY_NOT_SAID },
	{ "an application's is, whose lobby died", IDEM_NOTE_BEGUN, NULL, 0,
	  FASTCGI, OURS, RIG_UNKNOWN, IDEM_STATE_UNKNOWN, IDEM_WHY_BACKEND },
	{ "one that is unknown already keeps its file", IDEM_NOTE_BEGUN, NULL,
	  0, 0, OURS_UNKNOWN, RIG_UNKNOWN, IDEM_STATE_UNKNOWN,
	  IDEM_WHY_KEEPER },
	{ "one whose key another has goes", IDEM_NOTE_BEGUN, NULL, 0, 0,
	  ANOTHERS, RIG_GONE, IDEM_STATE_IN_PROGRESS, 0 },
	{ "a take-over that probed is unknown, though its attempt is not "
	  "known", IDEM_NOTE_BEGUN, NULL, 0, NO_ATTEMPT, OURS, RIG_UNKNOWN,
	  IDEM_STATE_UNKNOWN, IDEM_WHY_KEEPER },
	/* Finished. */
	{ "a run that finished is completed", IDEM_NOTE_BEGUN, WHOLE, 0, 0,
	  OURS, RIG_GONE, IDEM_STATE_COMPLETED, 0 },
	{ "so is an orphan", IDEM_NOTE_ORPHAN, WHOLE, 0, 0, OURS, RIG_GONE,
	  IDEM_STATE_COMPLETED, 0 },
	{ "so is one that others have made unknown", IDEM_NOTE_ORPHAN, WHOLE,
	  0, 0, OURS_UNKNOWN, RIG_GONE, IDEM_STATE_COMPLETED, 0 },
	{ "one that is completed already stays so", IDEM_NOTE_BEGUN, WHOLE, 0,
	  0, OURS_COMPLETED, RIG_GONE, IDEM_STATE_COMPLETED, 0 },
	{ "an answer beside another's run is dropped", IDEM_NOTE_BEGUN, WHOLE,
	  0, 0, ANOTHERS, RIG_GONE, IDEM_STATE_IN_PROGRESS, 0 },
	{ "so is one whose record is gone", IDEM_NOTE_BEGUN, WHOLE, 0, 0,
	  NONE, RIG_GONE, IDEM_STATE_ABSENT, 0 },
	{ "an answer that was cut is unknown", IDEM_NOTE_BEGUN, CUT, 0, 0,
	  OURS, RIG_UNKNOWN, IDEM_STATE_UNKNOWN, IDEM_WHY_EXIT },
	{ "one of a failed program too", IDEM_NOTE_ORPHAN, WHOLE, 3 << 8, 0,
	  OURS, RIG_UNKNOWN, IDEM_STATE_UNKNOWN, IDEM_WHY_EXIT },
	{ "one of a killed program too", IDEM_NOTE_ORPHAN, WHOLE, SIGKILL, 0,
	  OURS, RIG_UNKNOWN, IDEM_STATE_UNKNOWN, IDEM_WHY_SIGNAL },
	{ "a status that says that nothing happened releases",
	  IDEM_NOTE_ORPHAN, BUSY, 0, 0, OURS, RIG_GONE, IDEM_STATE_ISSUED, 0 },
	/* Another boot: nothing is believed. */
	{ "a claim of another boot is unknown if it was won",
	  IDEM_NOTE_CLAIMING, NULL, 0, OTHER_BOOT, OURS, RIG_UNKNOWN,
	  IDEM_STATE_UNKNOWN, IDEM_WHY_HOST },
	{ "and goes if it was not", IDEM_NOTE_CLAIMING, NULL, 0, OTHER_BOOT,
	  NONE, RIG_GONE, IDEM_STATE_ABSENT, 0 },
	{ "a run of another boot is unknown, though its file says that it had "
	  "not begun", IDEM_NOTE_HANDED, NULL, 0, OTHER_BOOT, OURS,
	  RIG_UNKNOWN, IDEM_STATE_UNKNOWN, IDEM_WHY_HOST },
	{ "a run of another boot is unknown", IDEM_NOTE_BEGUN, NULL, 0,
	  OTHER_BOOT, OURS, RIG_UNKNOWN, IDEM_STATE_UNKNOWN, IDEM_WHY_HOST },
	{ "though it had finished", IDEM_NOTE_BEGUN, WHOLE, 0, OTHER_BOOT,
	  OURS, RIG_UNKNOWN, IDEM_STATE_UNKNOWN, IDEM_WHY_HOST },
	{ "but not if its answer is in the store", IDEM_NOTE_BEGUN, WHOLE, 0,
	  OTHER_BOOT, OURS_COMPLETED, RIG_GONE, IDEM_STATE_COMPLETED, 0 },
	/* Somebody has it. */
	{ "a claim under way is left alone", IDEM_NOTE_CLAIMING, NULL, 0, HELD,
	  OURS, RIG_LEFT, IDEM_STATE_IN_PROGRESS, 0 },
	{ "a run that is about to begin too", IDEM_NOTE_HANDED, NULL, 0, HELD,
	  OURS, RIG_LEFT, IDEM_STATE_IN_PROGRESS, 0 },
	{ "a run that goes on too", IDEM_NOTE_BEGUN, NULL, 0, HELD, OURS,
	  RIG_LEFT, IDEM_STATE_IN_PROGRESS, 0 },
	{ "an answer that its lobby is about to store too", IDEM_NOTE_BEGUN,
	  WHOLE, 0, HELD, OURS, RIG_LEFT, IDEM_STATE_IN_PROGRESS, 0 },
	{ "an orphan that is over is completed, though a child of it holds "
	  "its lock", IDEM_NOTE_ORPHAN, WHOLE, 0, HELD, OURS, RIG_GONE,
	  IDEM_STATE_COMPLETED, 0 },
};

static struct idem_note
note_of(const struct settle_rig *rig, const struct row *r)
{
	struct idem_note n = settle_rig_note(rig, r->state, 1);

	if ((r->flags & OTHER_BOOT) != 0)
		n.boot = rig->other_boot;
	if ((r->flags & NO_ATTEMPT) != 0)
		n.attempt = 0;
	n.fastcgi = (r->flags & FASTCGI) != 0;
	n.released[(503 - 200) / 8] = 1 << (503 - 200) % 8;
	return n;
}

static void
write_as(struct settle_rig *rig, const struct idem_note *n,
    enum idem_store_op op)
{
	struct idem_blob *answer = idem_blob_new(idem_bytes_text("answer"));
	struct idem_store_call call = {
		.op = op, .key = n->key, .owner = n->owner, .attempt = 1,
		.answer = answer, .keep_ms = 1000000
	};
	struct idem_store_answer a;

	settle_rig_call(rig, &call, &a);
	if (a.result.write != IDEM_WRITTEN)
		bail_out("not written");
	idem_store_answer_free(&a);
	idem_blob_drop(answer);
}

static void
make_record(struct settle_rig *rig, const struct idem_note *n,
    enum before before)
{
	struct idem_note other = *n;

	switch (before) {
	case NONE:
		return;
	case ANOTHERS:
		other.owner.at[14] = 0xee;
		settle_rig_claim(rig, &other);
		return;
	case OURS:
		settle_rig_claim(rig, n);
		return;
	case OURS_UNKNOWN:
		settle_rig_claim(rig, n);
		write_as(rig, n, IDEM_STORE_UNKNOWN);
		return;
	case OURS_COMPLETED:
		settle_rig_claim(rig, n);
		write_as(rig, n, IDEM_STORE_COMPLETE);
		return;
	}
}

/* What is told beside what is done. */
static bool
is_told(const struct settle_rig *rig, const struct row *r)
{
	bool late = r->out != NULL && r->file == RIG_GONE &&
	    (r->before == ANOTHERS || r->before == NONE);

	if ((rig->unknown != 0) != (r->file == RIG_UNKNOWN) ||
	    (rig->lost != 0) != late)
		return false;
	if (r->file == RIG_UNKNOWN)
		return rig->said.why == r->why && rig->said.attempt == 1 &&
		    rig->ended == 1 && rig->how == IDEM_WOKEN_UNSURE;
	if (r->file == RIG_LEFT)
		return rig->ended == 0;
	return true;
}

static void
test_row(const struct row *r)
{
	struct idem_run_file f;
	struct settle_rig rig;
	struct idem_note n;
	int turns;

	settle_rig_open(&rig, false);
	n = note_of(&rig, r);
	make_record(&rig, &n, r->before);
	f = settle_rig_file(&rig, &n, r->out, r->status);
	if ((r->flags & HELD) == 0)
		idem_run_file_close(&f);
	turns = settle_rig_round(&rig);
	ok(turns >= 0 &&
	    settle_rig_where(&rig, &n.owner) == r->file &&
	    settle_rig_record(&rig, &n.key).state == r->after &&
	    is_told(&rig, r), "%s", r->what);
	idem_run_file_close(&f);
	settle_rig_close(&rig);
}

/* --- what is stored ------------------------------------------------------- */

static void
test_answer(void)
{
	struct idem_store_call claim = { .op = IDEM_STORE_CLAIM };
	struct idem_store_answer a;
	struct idem_saved saved = { 0 };
	struct idem_run_file f;
	struct settle_rig rig;
	struct idem_note n;

	settle_rig_open(&rig, false);
	n = settle_rig_note(&rig, IDEM_NOTE_ORPHAN, 1);
	settle_rig_claim(&rig, &n);
	f = settle_rig_file(&rig, &n, WHOLE, 0);
	idem_run_file_close(&f);
	settle_rig_round(&rig);
	claim.key = n.key;
	claim.look_only = true;
	settle_rig_call(&rig, &claim, &a);
	ok(a.result.claim == IDEM_CLAIM_COMPLETED && a.result.answer != NULL &&
	    idem_saved_read(idem_blob_bytes(a.result.answer), &saved) &&
	    saved.code == 200 && idem_bytes_is(saved.body, "placed 1\n") &&
	    a.result.record.expires_at == rig.wall_ms + n.keep_ms,
	    "what the program wrote is what a retry gets, for as long as its "
	    "route keeps it");
	ok(rig.ended == 1 && rig.how == IDEM_WOKEN_COMPLETED,
	    "who waits for it is told");
	idem_store_answer_free(&a);
	settle_rig_close(&rig);
}

/* --- a record that says more than the file -------------------------------- */

static void
test_attempt(void)
{
	struct idem_run_file f;
	struct settle_rig rig;
	struct idem_note n;

	settle_rig_open(&rig, false);
	n = settle_rig_note(&rig, IDEM_NOTE_CLAIMING, 1);
	n.boot = rig.other_boot;
	settle_rig_claim(&rig, &n);
	write_as(&rig, &n, IDEM_STORE_RELEASE);
	settle_rig_claim(&rig, &n);
	f = settle_rig_file(&rig, &n, NULL, 0);
	idem_run_file_close(&f);
	settle_rig_round(&rig);
	ok(settle_rig_record(&rig, &n.key).state == IDEM_STATE_UNKNOWN &&
	    settle_rig_where(&rig, &n.owner) == RIG_UNKNOWN &&
	    rig.said.attempt == 2,
	    "an attempt that its file does not say its record does");
	settle_rig_close(&rig);
}

/* A token's Redis that was started anew takes no answer of before. */
static void
test_history(void)
{
	struct idem_run_file f;
	struct settle_rig rig;
	struct idem_note n;

	settle_rig_open(&rig, true);
	n = settle_rig_note(&rig, IDEM_NOTE_ORPHAN, 1);
	n.strict = true;
	n.history = (struct idem_history){ { 0xab } };
	settle_rig_claim(&rig, &n);
	f = settle_rig_file(&rig, &n, WHOLE, 0);
	idem_run_file_close(&f);
	settle_rig_round(&rig);
	ok(settle_rig_record(&rig, &n.key).state == IDEM_STATE_UNKNOWN &&
	    settle_rig_where(&rig, &n.owner) == RIG_UNKNOWN,
	    "an answer that a store of another history does not take is kept, "
	    "and its key unknown");
	settle_rig_close(&rig);
}

/* --- a store that is away ------------------------------------------------- */

static void
test_away(enum rig_store away, const char *what)
{
	struct idem_run_file f;
	struct settle_rig rig;
	struct idem_note n;
	unsigned calls;

	settle_rig_open(&rig, false);
	n = settle_rig_note(&rig, IDEM_NOTE_ORPHAN, 1);
	settle_rig_claim(&rig, &n);
	f = settle_rig_file(&rig, &n, WHOLE, 0);
	idem_run_file_close(&f);
	rig.does = away;
	settle_start(rig.settle);
	settle_rig_pass(&rig, 3600000, 500);
	calls = rig.calls[IDEM_STORE_COMPLETE];
	ok(settle_rig_where(&rig, &n.owner) == RIG_LEFT && calls > 300 &&
	    calls < 400, "%s keeps its answer for an hour, and is asked each "
	    "10 s", what);
	note("%u calls", calls);
	rig.does = RIG_ANSWERS;
	settle_rig_pass(&rig, 11000, 500);
	ok(settle_rig_where(&rig, &n.owner) == RIG_GONE &&
	    settle_rig_record(&rig, &n.key).state == IDEM_STATE_COMPLETED,
	    "... until it is there again");
	settle_rig_close(&rig);
}

/* Its lock is free while nothing is under way: another may take it. */
static void
test_lock(void)
{
	struct idem_evidence e;
	struct idem_run_file f;
	struct settle_rig rig;
	struct idem_note n;

	settle_rig_open(&rig, false);
	n = settle_rig_note(&rig, IDEM_NOTE_ORPHAN, 1);
	settle_rig_claim(&rig, &n);
	f = settle_rig_file(&rig, &n, WHOLE, 0);
	idem_run_file_close(&f);
	rig.does = RIG_HOLDS;
	settle_start(rig.settle);
	idem_evidence(rig.folder, &n.owner, &e, NULL);
	is_int(e.lock, IDEM_RUN_HELD, "a run is held while it is settled");
	rig.does = RIG_REFUSES;
	settle_rig_turn(&rig);
	idem_evidence(rig.folder, &n.owner, &e, NULL);
	is_int(e.lock, IDEM_RUN_FREE, "and free between two tries");
	settle_rig_close(&rig);
}

static void
test_other_store(void)
{
	struct idem_run_file f;
	struct settle_rig rig;
	struct idem_note n;

	settle_rig_open(&rig, false);
	n = settle_rig_note(&rig, IDEM_NOTE_ORPHAN, 1);
	settle_rig_claim(&rig, &n);
	snprintf(n.store, sizeof n.store, "ledger 0000000000000001");
	f = settle_rig_file(&rig, &n, WHOLE, 0);
	idem_run_file_close(&f);
	settle_start(rig.settle);
	settle_rig_pass(&rig, 60000, 500);
	ok(settle_rig_where(&rig, &n.owner) == RIG_LEFT &&
	    rig.calls[IDEM_STORE_COMPLETE] == 0,
	    "a run of another store is left to those who have that");
	settle_rig_close(&rig);
}

/* --- claims on their way -------------------------------------------------- */

/* A server that stood still carries it out behind our release. */
static void
test_late_claim(void)
{
	struct idem_run_file f;
	struct settle_rig rig;
	struct idem_note n;

	settle_rig_open(&rig, true);
	n = settle_rig_note(&rig, IDEM_NOTE_CLAIMING, 1);
	f = settle_rig_file(&rig, &n, NULL, 0);
	idem_run_file_close(&f);
	settle_start(rig.settle);
	settle_rig_pass(&rig, 3000, 100);
	ok(settle_rig_where(&rig, &n.owner) == RIG_LEFT,
	    "in a store that is shared a claim may yet come in");
	settle_rig_claim(&rig, &n);
	settle_rig_pass(&rig, 10000, 100);
	ok(settle_rig_where(&rig, &n.owner) == RIG_GONE &&
	    settle_rig_record(&rig, &n.key).state == IDEM_STATE_ISSUED,
	    "... and is released then too");
	settle_rig_close(&rig);
}

/* The note of a claim that lost, or of one that is to be used again. */
static void
test_setnx(void)
{
	struct idem_run_file f;
	struct settle_rig rig;
	struct idem_note n;

	settle_rig_open(&rig, true);
	rig.stores.redis[IDEM_SCHEME_SETNX] =
	    rig.stores.redis[IDEM_SCHEME_SCRIPT];
	rig.stores.redis[IDEM_SCHEME_SCRIPT] = NULL;
	n = settle_rig_note(&rig, IDEM_NOTE_CLAIMING, 1);
	stores_mark(&rig.stores, rig.stores.redis[IDEM_SCHEME_SETNX], n.store,
	    sizeof n.store);
	f = settle_rig_file(&rig, &n, NULL, 0);
	idem_run_file_close(&f);
	settle_rig_round(&rig);
	ok(settle_rig_where(&rig, &n.owner) == RIG_GONE &&
	    rig.calls[IDEM_STORE_RELEASE] == 0,
	    "where any release frees any claim, one that may have lost frees "
	    "none");
	rig.stores.redis[IDEM_SCHEME_SCRIPT] =
	    rig.stores.redis[IDEM_SCHEME_SETNX];
	rig.stores.redis[IDEM_SCHEME_SETNX] = NULL;
	settle_rig_close(&rig);
}

/* --- files that are no runs ----------------------------------------------- */

static void
test_no_note(void)
{
	const struct idem_owner empty = { { 1 } }, odd = { { 2 } };
	char junk[IDEM_NOTE_SIZE + 10] = "another version's";
	struct idem_run_file f;
	struct settle_rig rig;

	settle_rig_open(&rig, false);
	if (idem_run_file_make(rig.folder, &empty, &f) == -1)
		bail_out("no file");
	idem_run_file_close(&f);
	if (idem_run_file_make(rig.folder, &odd, &f) == -1 ||
	    write(f.file, junk, sizeof junk) != (ssize_t)sizeof junk)
		bail_out("no file");
	idem_run_file_close(&f);
	settle_rig_round(&rig);
	is_int(settle_rig_where(&rig, &empty), RIG_GONE,
	    "a file without a note is of no run: its claim was never sent");
	is_int(settle_rig_where(&rig, &odd), RIG_LEFT,
	    "one that cannot be read is left");
	settle_rig_close(&rig);
}

/* --- unknown ones --------------------------------------------------------- */

static void
ask_unknowns(struct settle_rig *rig)
{
	settle_unknowns(rig->settle);
	settle_start(rig->settle);
	settle_rig_pass(rig, 2000, 50);
}

static void
test_unknowns(void)
{
	struct idem_store_call settled = {
		.op = IDEM_STORE_SETTLE, .settle = IDEM_SETTLE_NOT_DONE,
		.owner = { { 0xaa } }, .attempt = 1
	};
	struct idem_store_answer a;
	struct idem_run_file f;
	struct settle_rig rig;
	struct idem_note n;

	settle_rig_open(&rig, false);
	n = settle_rig_note(&rig, IDEM_NOTE_BEGUN, 1);
	settle_rig_claim(&rig, &n);
	f = settle_rig_file(&rig, &n, NULL, 0);
	idem_run_file_close(&f);
	settle_rig_round(&rig);
	ask_unknowns(&rig);
	is_int(settle_rig_where(&rig, &n.owner), RIG_UNKNOWN,
	    "the file of an unknown run stays while it is unknown");
	settled.key = n.key;
	settled.other = n.owner;
	settle_rig_call(&rig, &settled, &a);
	is_int(a.result.write, IDEM_WRITTEN, "the operator resolves it");
	idem_store_answer_free(&a);
	settle_rig_pass(&rig, 60000, 500);
	is_int(settle_rig_where(&rig, &n.owner), RIG_UNKNOWN,
	    "then it stays until somebody asks");
	rig.does = RIG_REFUSES;
	ask_unknowns(&rig);
	is_int(settle_rig_where(&rig, &n.owner), RIG_UNKNOWN,
	    "and while its store does not say");
	rig.does = RIG_ANSWERS;
	ask_unknowns(&rig);
	is_int(settle_rig_where(&rig, &n.owner), RIG_GONE,
	    "then it goes");
	is_int(rig.unknown, 1, "people were told of it once");
	settle_rig_close(&rig);
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		test_row(&rows[i]);
	test_answer();
	test_attempt();
	test_history();
	test_away(RIG_REFUSES, "a store that refuses");
	test_away(RIG_APPLIES, "one that applies and does not say so");
	test_lock();
	test_other_store();
	test_late_claim();
	test_setnx();
	test_no_note();
	test_unknowns();
	return done();
}
