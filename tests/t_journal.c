/* SPDX-License-Identifier: ISC */
#include "journal.h"

#include "journal_run.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- the file ------------------------------------------------------------- */

static void
test_file(int folder)
{
	const struct idem_owner owner = journal_owner(1);
	struct idem_run_file f, second;
	struct idem_evidence e;
	struct stat st;
	int fd;

	idem_evidence(folder, &owner, &e, &fd);
	ok(e.lock == IDEM_RUN_MISSING && !e.noted && fd == -1,
	    "a file that was never made is missing");
	ok(idem_run_file_make(folder, &owner, &f) == 0, "a file is made");
	ok((fcntl(f.file, F_GETFD) & FD_CLOEXEC) != 0 &&
	    (fcntl(f.lock, F_GETFD) & FD_CLOEXEC) != 0,
	    "no program gets either descriptor unasked");
	ok(fstatat(folder, "abcd0100000000000000000000000000", &st, 0) == 0,
	    "it is named after its owner");
	ok((st.st_mode & 0777) == 0600, "nobody else may read it");
	ok(write(f.lock, "x", 1) == -1 && errno == EBADF &&
	    pwrite(f.lock, "x", 1, 0) == -1 && errno == EBADF &&
	    ftruncate(f.lock, 0) == -1,
	    "who has only the lock cannot write to it");
	idem_evidence(folder, &owner, &e, NULL);
	is_int(e.lock, IDEM_RUN_HELD, "it is held");
	ok(!e.noted, "and says nothing yet");
	ok(idem_run_file_make(folder, &owner, &second) == -1 &&
	    errno == EEXIST && second.file == -1 && second.lock == -1,
	    "a second one of the owner is refused");
	is_int(journal_count(folder), 1, "and leaves no file behind");
	close(f.file);
	f.file = -1;
	idem_evidence(folder, &owner, &e, NULL);
	is_int(e.lock, IDEM_RUN_HELD, "the lock alone holds it");
	fd = dup(f.lock);
	idem_run_file_close(&f);
	idem_evidence(folder, &owner, &e, NULL);
	ok(e.lock == IDEM_RUN_HELD && f.lock == -1,
	    "it is held while anybody has the lock");
	f.lock = fd;
	fd = dup(f.lock);
	idem_run_file_free(&f);
	idem_evidence(folder, &owner, &e, NULL);
	is_int(e.lock, IDEM_RUN_FREE, "and free for all once one has freed it");
	close(fd);
	idem_run_file_remove(folder, &owner);
	is_int(journal_count(folder), 0, "removed it is gone");
}

/* What makes a name unreadable does not make a run dead. */
static void
test_unreadable(int folder)
{
	const struct idem_note note = journal_note(IDEM_NOTE_HANDED, 1);
	struct idem_run_file f = journal_make(folder, &note,
	    (struct idem_bytes){ NULL, 0 }, false);
	struct rlimit old, none;
	struct idem_evidence e;

	idem_run_file_free(&f);
	getrlimit(RLIMIT_NOFILE, &old);
	none = (struct rlimit){ .rlim_cur = 0, .rlim_max = old.rlim_max };
	setrlimit(RLIMIT_NOFILE, &none);
	idem_evidence(folder, &note.owner, &e, NULL);
	setrlimit(RLIMIT_NOFILE, &old);
	ok(e.lock == IDEM_RUN_HELD && !e.noted,
	    "without a descriptor to look with, what is free counts as held");
	idem_run_file_remove(folder, &note.owner);
	if (symlinkat("/dev/null", folder,
	    "abcd0100000000000000000000000000") != 0)
		bail_out("symlinkat");
	idem_evidence(folder, &note.owner, &e, NULL);
	is_int(e.lock, IDEM_RUN_HELD, "so does what is no file");
	ok(!idem_journal_take(folder, &note.owner, &f, &e) && f.file == -1 &&
	    f.lock == -1, "which nobody can take");
	idem_run_file_remove(folder, &note.owner);
}

static int
make_without_proc(int folder, const char *root)
{
	const struct idem_owner owner = journal_owner(1);
	struct idem_run_file f;
	struct idem_evidence e;

	if (chroot(root) != 0)
		return 2;
	if (idem_run_file_make(folder, &owner, &f) != 0)
		return 3;
	idem_evidence(folder, &owner, &e, NULL);
	if (e.lock != IDEM_RUN_HELD)
		return 4;
	if (write(f.file, "x", 1) != 1 || write(f.lock, "x", 1) != -1)
		return 5;
	return idem_run_file_make(folder, &owner, &f) != -1 ||
	    errno != EEXIST ? 6 : 0;
}

/* Where nameless files cannot be had, the other way is gone. */
static void
test_without_proc(int folder, const char *root)
{
	const struct idem_owner owner = journal_owner(1);
	struct idem_evidence e;
	int status = -1;
	pid_t pid;

	if (geteuid() != 0) {
		skip("only root may change the root",
		    "a file is made without /proc");
		return;
	}
	pid = fork();
	if (pid == 0)
		_exit(make_without_proc(folder, root));
	waitpid(pid, &status, 0);
	is_int(status, 0, "a file is made without /proc");
	is_int(journal_count(folder), 1, "and under no other name");
	idem_evidence(folder, &owner, &e, NULL);
	is_int(e.lock, IDEM_RUN_FREE, "and is free by its process's death");
	idem_run_file_remove(folder, &owner);
}

/* --- output and trailer --------------------------------------------------- */

static struct idem_bytes
output(size_t len)
{
	static uint8_t at[3 * IDEM_SUMMED];
	size_t i;

	for (i = 0; i < sizeof at && at[1] == 0; i++)
		at[i] = (uint8_t)(1 + i % 251);
	return (struct idem_bytes){ at, len };
}

static void
check_whole(int fd, const struct idem_evidence *e, size_t len)
{
	struct idem_blob *all = idem_evidence_bytes(fd, e, UINT64_MAX),
	    *some = idem_evidence_bytes(fd, e, 10),
	    *none = idem_evidence_bytes(fd, e, 0);

	ok(all != NULL && all->len == len && (len == 0 ||
	    memcmp(all->at, output(len).at, len) == 0),
	    "the %zu bytes before it are as they were written", len);
	ok(some != NULL && some->len == (len < 10 ? len : 10) && (len == 0 ||
	    memcmp(some->at, output(len).at, some->len) == 0) &&
	    none != NULL && none->len == 0, "the first of them may be had");
	idem_blob_drop(all);
	idem_blob_drop(some);
	idem_blob_drop(none);
}

/* Written in these pieces, then the rest with the trailer. */
static void
test_output(int folder, size_t piece, size_t len)
{
	struct idem_trailer t = { .status = 0x0900, .saved = true };
	const struct idem_note note = journal_note(IDEM_NOTE_BEGUN, 1);
	struct idem_run_file f = journal_make(folder, &note,
	    (struct idem_bytes){ NULL, 0 }, false);
	struct idem_bytes left = output(len);
	struct idem_evidence e;
	struct idem_run_out o;
	int fd;

	idem_run_out_init(&o, &note.owner);
	while (left.len > piece) {
		idem_run_out_add(&o, f.file,
		    (struct idem_bytes){ left.at, piece });
		left.at = (const uint8_t *)left.at + piece;
		left.len -= piece;
	}
	ok(idem_run_out_end(&o, f.file, left, &t, 1234567) == 0,
	    "%zu bytes in pieces of %zu are written", len, piece);
	idem_run_file_free(&f);
	idem_evidence(folder, &note.owner, &e, &fd);
	ok(e.lock == IDEM_RUN_FREE && e.noted && e.ended &&
	    e.trailer.status == 0x0900 && e.trailer.saved &&
	    !e.trailer.limit && e.trailer.len == len &&
	    e.trailer.at_ms == 1234567, "and end in a good trailer");
	check_whole(fd, &e, len);
	e.trailer.sum.at[31] ^= 1;
	ok(idem_evidence_bytes(fd, &e, 10) == NULL,
	    "with another sum they may not");
	close(fd);
	idem_run_file_remove(folder, &note.owner);
}

/* The file has no more room: SIGXFSZ is ignored, so that write(2) says so. */
static void
test_no_room(int folder)
{
	const struct idem_note note = journal_note(IDEM_NOTE_BEGUN, 1);
	struct idem_run_file f = journal_make(folder, &note,
	    (struct idem_bytes){ NULL, 0 }, false);
	struct idem_trailer t = { 0 };
	struct rlimit old, small;
	struct idem_evidence e;
	struct idem_run_out o;
	struct stat st;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = (struct rlimit){ .rlim_cur = 8192, .rlim_max = old.rlim_max };
	setrlimit(RLIMIT_FSIZE, &small);
	idem_run_out_init(&o, &note.owner);
	ok(idem_run_out_add(&o, f.file, output(4096)) == 0 &&
	    idem_run_out_add(&o, f.file, output(4096)) == -1 &&
	    fstat(f.file, &st) == 0 && st.st_size == IDEM_NOTE_SIZE,
	    "where there is no more room all output is void");
	setrlimit(RLIMIT_FSIZE, &old);
	ok(idem_run_out_add(&o, f.file, output(1)) == -1,
	    "more of it is refused");
	ok(idem_run_out_end(&o, f.file, output(1), &t, 1) == -1,
	    "and so is its end");
	idem_evidence_of(f.file, IDEM_RUN_FREE, &e);
	ok(e.noted && !e.ended && fstat(f.file, &st) == 0 &&
	    st.st_size == IDEM_NOTE_SIZE, "it has no trailer");
	small.rlim_cur = IDEM_NOTE_SIZE + 4096 + 10;
	setrlimit(RLIMIT_FSIZE, &small);
	idem_run_out_init(&o, &note.owner);
	ok(idem_run_out_end(&o, f.file, output(4096), &t, 1) == -1 &&
	    fstat(f.file, &st) == 0 && st.st_size == IDEM_NOTE_SIZE,
	    "nor has it one where only half of that had room");
	setrlimit(RLIMIT_FSIZE, &old);
	signal(SIGXFSZ, SIG_DFL);
	idem_run_file_remove(folder, &note.owner);
	idem_run_file_free(&f);
}

/* --- torn and changed ----------------------------------------------------- */

#define OUT 100

static int
memory_copy(int file, size_t *len)
{
	uint8_t bytes[2048];
	ssize_t n = pread(file, bytes, sizeof bytes, 0);
	int fd = memfd_create("torn", MFD_CLOEXEC);

	if (n < 0 || fd < 0 || write(fd, bytes, (size_t)n) != n)
		bail_out("memfd_create");
	*len = (size_t)n;
	return fd;
}

static void
flip(int fd, size_t bit)
{
	off_t at = (off_t)(bit / 8);
	uint8_t byte;

	if (pread(fd, &byte, 1, at) != 1)
		bail_out("pread");
	byte ^= (uint8_t)(1 << bit % 8);
	if (pwrite(fd, &byte, 1, at) != 1)
		bail_out("pwrite");
}

/* Of a run that had begun and ended: wherever it is cut, and whichever bit of
   output or trailer is another, it proves no end, and never that it had not
   begun. */
static void
test_torn(int folder, enum idem_note_state state)
{
	const struct idem_note note = journal_note(state, 1);
	const struct idem_record r = journal_record(&note);
	struct idem_run_file f = journal_make(folder, &note, output(OUT), true);
	int proofs[IDEM_PROOF_FINISHED + 1] = { 0 };
	struct idem_evidence e;
	size_t len, i;
	int fd = memory_copy(f.file, &len);

	idem_evidence_of(fd, IDEM_RUN_FREE, &e);
	is_int(journal_proves(&e, &r, 1010000), IDEM_PROOF_FINISHED,
	    "%s, whole and free, is finished", idem_note_state_text(state));
	for (i = 8 * IDEM_NOTE_SIZE; i < 8 * len; i++) {
		flip(fd, i);
		idem_evidence_of(fd, IDEM_RUN_FREE, &e);
		proofs[journal_proves(&e, &r, 1010000)]++;
		flip(fd, i);
	}
	is_int(proofs[IDEM_PROOF_DEAD], 8 * (OUT + 64),
	    "with any bit after its note changed it is dead");
	memset(proofs, 0, sizeof proofs);
	for (i = len; i-- > 0;) {
		if (ftruncate(fd, (off_t)i) != 0)
			bail_out("ftruncate");
		idem_evidence_of(fd, IDEM_RUN_FREE, &e);
		proofs[journal_proves(&e, &r, 1010000)]++;
	}
	is_int(proofs[IDEM_PROOF_DEAD], OUT + 64,
	    "cut anywhere after its note it is dead");
	is_int(proofs[IDEM_PROOF_NONE], IDEM_NOTE_SIZE,
	    "cut within it, it proves nothing");
	close(fd);
	idem_run_file_remove(folder, &note.owner);
	idem_run_file_free(&f);
}

/* A trailer that was written for something else. */
static void
test_others_trailer(int folder)
{
	struct idem_note note = journal_note(IDEM_NOTE_BEGUN, 1);
	struct idem_run_file f = journal_make(folder, &note,
	    output(2 * IDEM_SUMMED), true);
	struct idem_evidence e;
	uint8_t end[64];

	note.owner = journal_owner(2);
	idem_note_write(f.file, &note);
	idem_evidence_of(f.file, IDEM_RUN_FREE, &e);
	ok(e.noted && !e.ended, "a trailer of another owner's run is none");
	note.owner = journal_owner(1);
	idem_note_write(f.file, &note);
	if (pread(f.file, end, sizeof end, IDEM_NOTE_SIZE + 2 * IDEM_SUMMED) !=
	    sizeof end || pwrite(f.file, end, sizeof end,
	    IDEM_NOTE_SIZE + 2 * IDEM_SUMMED + 10) != sizeof end)
		bail_out("the trailer cannot be moved");
	idem_evidence_of(f.file, IDEM_RUN_FREE, &e);
	ok(e.noted && !e.ended, "nor is one of fewer bytes than there are");
	idem_run_file_remove(folder, &note.owner);
	idem_run_file_free(&f);
}

/* What says that nothing has begun, though there is output, is not believed. */
static void
test_contradiction(int folder)
{
	const struct idem_note note = journal_note(IDEM_NOTE_HANDED, 1);
	struct idem_run_file f = journal_make(folder, &note, output(1), false);
	struct idem_evidence e;

	idem_evidence_of(f.file, IDEM_RUN_FREE, &e);
	ok(!e.noted, "output after a note that nothing has begun voids it");
	idem_evidence_of(f.file, IDEM_RUN_HELD, &e);
	ok(e.noted, "but while it is held it may just have begun");
	idem_run_file_remove(folder, &note.owner);
	idem_run_file_free(&f);
}

int
main(void)
{
	char path[] = "/tmp/t_journal.XXXXXX";
	int folder = journal_folder(path);

	test_file(folder);
	test_unreadable(folder);
	test_without_proc(folder, path);
	test_output(folder, 1000, 0);
	test_output(folder, 7, 100);
	test_output(folder, 16384, 16384);
	test_output(folder, 10000, IDEM_SUMMED);
	test_output(folder, 65536, IDEM_SUMMED + 1);
	test_output(folder, 100000, 3 * IDEM_SUMMED);
	test_no_room(folder);
	test_torn(folder, IDEM_NOTE_BEGUN);
	test_torn(folder, IDEM_NOTE_ORPHAN);
	test_others_trailer(folder);
	test_contradiction(folder);
	close(folder);
	ok(rmdir(path) == 0, "nothing is left in the folder");
	return done();
}
