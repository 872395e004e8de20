/* SPDX-License-Identifier: ISC */
#include "journal.h"

#include "journal_run.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct idem_bytes nothing = { NULL, 0 };

/* --- taking --------------------------------------------------------------- */

/* To be taken or not, by its state and end, and whether it is held. */
static const struct {
	const char *what;
	enum idem_note_state state;
	bool ended, held, taken;
} takes[] = {
	{ "a free run is taken", IDEM_NOTE_BEGUN, false, false, true },
	{ "a free one that has not begun too", IDEM_NOTE_HANDED, false, false,
	  true },
	{ "one that is held is not", IDEM_NOTE_BEGUN, false, true, false },
	{ "not even if it has ended", IDEM_NOTE_BEGUN, true, true, false },
	{ "nor an orphan that runs", IDEM_NOTE_ORPHAN, false, true, false },
	{ "an orphan that has ended is, though a child of it holds its lock",
	  IDEM_NOTE_ORPHAN, true, true, true },
};

static void
test_takes(int folder)
{
	struct idem_run_file f, taken;
	struct idem_evidence e;
	struct idem_note note;
	size_t i;
	bool took;

	for (i = 0; i < sizeof takes / sizeof *takes; i++) {
		note = journal_note(takes[i].state, 1);
		f = journal_make(folder, &note, nothing, takes[i].ended);
		if (!takes[i].held)
			idem_run_file_free(&f);
		took = idem_journal_take(folder, &note.owner, &taken, &e);
		is_int(took, takes[i].taken, "%s", takes[i].what);
		ok((taken.file >= 0) == took &&
		    (taken.lock >= 0) == (took && !takes[i].held),
		    "... with what descriptors there are to have");
		ok(!took || (e.noted && e.note.state == takes[i].state &&
		    e.ended == takes[i].ended), "... and its evidence");
		idem_run_file_close(&taken);
		idem_run_file_remove(folder, &note.owner);
		idem_run_file_close(&f);
	}
	ok(!idem_journal_take(folder, &note.owner, &taken, &e) &&
	    taken.file == -1 && taken.lock == -1,
	    "what is not there is not taken");
}

/* Who has taken it holds it, and may write; who looks is in nobody's way. */
static void
test_taken(int folder)
{
	const struct idem_note note = journal_note(IDEM_NOTE_BEGUN, 1);
	struct idem_run_file f = journal_make(folder, &note, nothing, true);
	struct idem_run_file taken, second;
	struct idem_evidence e;
	int fd;

	idem_run_file_free(&f);
	idem_evidence(folder, &note.owner, &e, &fd);
	ok(e.lock == IDEM_RUN_FREE &&
	    idem_journal_take(folder, &note.owner, &taken, &e),
	    "what somebody has looked at, and still reads, is taken");
	close(fd);
	ok(!idem_journal_take(folder, &note.owner, &second, &e),
	    "what is taken is not taken again");
	idem_evidence(folder, &note.owner, &e, NULL);
	is_int(e.lock, IDEM_RUN_HELD, "it is held");
	ok(idem_note_set_why(taken.file, IDEM_WHY_LIMIT, 0, 1) == 0 &&
	    write(taken.lock, "x", 1) == -1 && errno == EBADF,
	    "it may be written to, though not by its lock");
	idem_run_file_free(&taken);
	fd = openat(folder, "abcd0100000000000000000000000000",
	    O_RDONLY | O_CLOEXEC);
	flock(fd, LOCK_SH);
	ok(!idem_journal_take(folder, &note.owner, &taken, &e),
	    "in the moment of another's look it is not to be had");
	idem_evidence(folder, &note.owner, &e, NULL);
	is_int(e.lock, IDEM_RUN_FREE, "but to look at");
	close(fd);
	idem_run_file_remove(folder, &note.owner);
}

/* Its lock is a child's, so that it says nothing of who settles the run. */
static void
test_taken_once(int folder)
{
	const struct idem_note note = journal_note(IDEM_NOTE_ORPHAN, 1);
	struct idem_run_file f = journal_make(folder, &note, nothing, true);
	struct idem_run_file taken, second;
	struct idem_evidence e;

	ok(idem_journal_take(folder, &note.owner, &taken, &e) &&
	    !idem_journal_take(folder, &note.owner, &second, &e),
	    "an orphan that is over is taken by one alone");
	idem_run_file_free(&f);
	ok(!idem_journal_take(folder, &note.owner, &second, &e),
	    "even when what held its lock has ended");
	idem_journal_keep_unknown(folder, &note.owner);
	idem_run_file_free(&taken);
	ok(!idem_journal_take(folder, &note.owner, &second, &e),
	    "nor by another after that");
	idem_evidence(folder, &note.owner, &e, NULL);
	ok(e.unknown && e.lock == IDEM_RUN_FREE,
	    "and what is kept of it is free");
	idem_run_file_remove(folder, &note.owner);
}

/* --- unknown ones, and names ---------------------------------------------- */

static int
walked(int folder, bool unknown, int sum_max)
{
	struct idem_journal_walk w;
	struct idem_owner owner;
	int sum = 0;

	if (!idem_journal_walk(folder, unknown, &w))
		return -1;
	while (sum < sum_max && idem_journal_next(&w, &owner))
		sum += owner.at[2];
	idem_journal_walk_end(&w);
	return sum;
}

static void
make_named(int folder, const char *name)
{
	int fd = openat(folder, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	if (fd < 0)
		bail_out("%s", name);
	close(fd);
}

static void
test_walk(int folder)
{
	static const char *const others[] = {
		"stats.17", "new.17.abcd0400000000000000000000000000",
		"abcd04", "ABCD0400000000000000000000000000",
		"unknown.", "unknown.abcd04",
		"unknown.ABCD0400000000000000000000000000",
		"abcd0400000000000000000000000000.old"
	};
	struct idem_note note;
	struct idem_run_file f;
	struct idem_evidence e;
	uint8_t n;
	size_t i;

	for (i = 0; i < sizeof others / sizeof *others; i++)
		make_named(folder, others[i]);
	is_int(walked(folder, false, 1000), 0, "what is no run is passed over");
	is_int(walked(folder, true, 1000), 0, "by who looks for unknown too");
	for (n = 1; n <= 32; n *= 2) {
		note = journal_note(IDEM_NOTE_BEGUN, n);
		f = journal_make(folder, &note, nothing, false);
		idem_run_file_free(&f);
	}
	is_int(walked(folder, false, 1000), 63, "each run is found once");
	note.owner = journal_owner(2);
	is_int(idem_journal_keep_unknown(folder, &note.owner), 0,
	    "one is kept as unknown");
	ok(idem_journal_keep_unknown(folder, &note.owner) == -1 &&
	    errno == ENOENT, "once");
	is_int(walked(folder, false, 1000), 61, "then it is no run");
	is_int(walked(folder, true, 1000), 2, "but an unknown one");
	idem_evidence(folder, &note.owner, &e, NULL);
	ok(e.unknown && e.noted && e.lock == IDEM_RUN_FREE,
	    "whose evidence is found");
	ok(!idem_journal_take(folder, &note.owner, &f, &e),
	    "and which nobody takes to settle it");
	for (n = 1; n <= 32; n *= 2) {
		note.owner = journal_owner(n);
		idem_run_file_remove(folder, &note.owner);
	}
	is_int(journal_count(folder), sizeof others / sizeof *others,
	    "all are removed by their owner, the unknown too");
	for (i = 0; i < sizeof others / sizeof *others; i++)
		unlinkat(folder, others[i], 0);
	ok(!idem_journal_walk(-1, false, &(struct idem_journal_walk){ 0 }),
	    "a folder that is not there has no walk");
}

/* --- a program that keeps the lock ---------------------------------------- */

static int
run_program(const struct idem_run_file *f, int in, int out)
{
	if (dup2(in, 0) != 0 || dup2(out, 1) != 1 || dup2(f->lock, 9) != 9)
		return 1;
	execl("/bin/sh", "sh", "-c",
	    "(echo x >&9) 2>/dev/null && echo wrote || echo refused; read x",
	    (char *)NULL);
	return 1;
}

static void
test_program(int folder)
{
	const struct idem_note note = journal_note(IDEM_NOTE_BEGUN, 1);
	struct idem_run_file f = journal_make(folder, &note, nothing, false);
	int to[2], from[2];
	struct idem_evidence e;
	char said[16] = "";
	pid_t pid;

	if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0)
		bail_out("pipe");
	pid = journal_child();
	if (pid == 0)
		_exit(run_program(&f, to[0], from[1]));
	idem_run_file_close(&f);
	ok(read(from[0], said, sizeof said - 1) > 0 &&
	    strcmp(said, "refused\n") == 0,
	    "a program that inherits the lock cannot write to the journal");
	idem_evidence(folder, &note.owner, &e, NULL);
	ok(e.lock == IDEM_RUN_HELD && e.noted, "but holds it");
	kill(pid, SIGKILL);
	journal_status(pid);
	idem_evidence(folder, &note.owner, &e, NULL);
	is_int(e.lock, IDEM_RUN_FREE, "until it dies");
	idem_run_file_remove(folder, &note.owner);
	close(to[0]);
	close(to[1]);
	close(from[0]);
	close(from[1]);
}

/* --- two that settle ------------------------------------------------------ */

#define RUNS 200

/* Settle what can be taken, until nothing is left; each leaves a mark, which
   the second to take it would find.  The exit status: 1 after that. */
static int
settle_all(int folder, int marks)
{
	struct idem_journal_walk w;
	struct idem_run_file f;
	struct idem_evidence e;
	struct idem_owner owner;
	char name[2 * IDEM_OWNER_LEN + 1];
	int fd, left = 1;

	while (left > 0) {
		if (!idem_journal_walk(folder, false, &w))
			return 2;
		for (left = 0; idem_journal_next(&w, &owner); left++) {
			if (!idem_journal_take(folder, &owner, &f, &e))
				continue;
			idem_hex(owner.at, sizeof owner.at, name);
			fd = openat(marks, name, O_CREAT | O_EXCL | O_WRONLY,
			    0600);
			if (fd < 0)
				return 1;
			close(fd);
			idem_run_file_remove(folder, &owner);
			idem_run_file_free(&f);
		}
		idem_journal_walk_end(&w);
	}
	return 0;
}

static void
test_two_take(int folder)
{
	char path[] = "/tmp/t_journal_marks.XXXXXX",
	    name[2 * IDEM_OWNER_LEN + 1];
	int marks = journal_folder(path), i;
	struct idem_owner owner;
	struct idem_run_file f;
	struct idem_note note;
	pid_t pids[2];

	for (i = 0; i < RUNS; i++) {
		note = journal_note(IDEM_NOTE_BEGUN, (uint8_t)i);
		f = journal_make(folder, &note, nothing, true);
		idem_run_file_free(&f);
	}
	for (i = 0; i < 2; i++) {
		pids[i] = journal_child();
		if (pids[i] == 0)
			_exit(settle_all(folder, marks));
	}
	ok(journal_status(pids[0]) == 0 && journal_status(pids[1]) == 0,
	    "two who settle never take the same run");
	is_int(journal_count(marks), RUNS, "each is taken by one of them");
	is_int(journal_count(folder), 0, "and nothing is left");
	for (i = 0; i < RUNS; i++) {
		owner = journal_owner((uint8_t)i);
		idem_hex(owner.at, sizeof owner.at, name);
		unlinkat(marks, name, 0);
	}
	close(marks);
	rmdir(path);
}

/* --- one that runs, one that settles -------------------------------------- */

#define ENDS 1000

struct seen {
	atomic_int held, free, taken;
};

static void __attribute__((noreturn))
look_and_take(int folder, struct seen *seen)
{
	const struct idem_owner owner = journal_owner(1);
	struct idem_evidence e;
	struct idem_run_file f;

	for (;;) {
		idem_evidence(folder, &owner, &e, NULL);
		seen->held += e.lock == IDEM_RUN_HELD;
		seen->free += e.lock == IDEM_RUN_FREE;
		if (idem_journal_take(folder, &owner, &f, &e)) {
			seen->taken++;
			idem_run_file_free(&f);
		}
	}
}

/* From its first byte to its removal a run that ends well is never free.  Who
   looks is stopped wherever it is, with the file open or not, and goes on when
   all is over. */
static void
test_never_free(int folder)
{
	const struct idem_note n = journal_note(IDEM_NOTE_BEGUN, 1);
	struct seen *seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct idem_run_file f;
	int i, held;
	pid_t pid;

	if (seen == MAP_FAILED)
		bail_out("mmap");
	pid = journal_child();
	if (pid == 0)
		look_and_take(folder, seen);
	for (i = 0; i < ENDS; i++) {
		held = seen->held;
		f = journal_make(folder, &n, nothing, true);
		while (seen->held == held && waitpid(pid, NULL, WNOHANG) == 0)
			;
		kill(pid, SIGSTOP);
		waitpid(pid, NULL, WUNTRACED);
		idem_run_file_remove(folder, &n.owner);
		idem_run_file_free(&f);
		kill(pid, SIGCONT);
	}
	kill(pid, SIGKILL);
	journal_status(pid);
	ok(seen->held >= ENDS, "who looks at %d runs finds each held", ENDS);
	is_int(seen->free, 0, "and none free");
	is_int(seen->taken, 0, "nor can take one");
	munmap(seen, sizeof *seen);
}

int
main(void)
{
	char path[] = "/tmp/t_journal_take.XXXXXX";
	int folder = journal_folder(path);

	test_takes(folder);
	test_taken(folder);
	test_taken_once(folder);
	test_walk(folder);
	test_program(folder);
	test_two_take(folder);
	test_never_free(folder);
	close(folder);
	ok(rmdir(path) == 0, "nothing is left in the folder");
	return done();
}
