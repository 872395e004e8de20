/* SPDX-License-Identifier: ISC */
#include "journal.h"

#include "chance.h"
#include "journal_run.h"
#include "tap.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* A writer that is killed: what it leaves proves no more than it had done. */

#define KILLS 200
#define PIECES 8
#define PIECE (32 * 1024)
#define REST (256 * 1024)
#define OUT (PIECES * PIECE + REST)

enum { MADE = 1, HANDED, BEGUN, WRITTEN = BEGUN + PIECES, ENDED, STEPS };

struct progress {
	atomic_int done;	/* the last step that is over */
	atomic_int wait_at;	/* there it waits to be killed */
};

static uint8_t out[OUT];

static void
step(struct progress *p)
{
	p->done++;
	while (p->done == p->wait_at)
		pause();
}

static void __attribute__((noreturn))
write_run(int folder, struct progress *p)
{
	struct idem_note note = journal_note(IDEM_NOTE_CLAIMING, 1);
	struct idem_trailer t = { .status = 0 };
	struct idem_run_file f;
	struct idem_run_out o;
	int i;

	if (idem_run_file_make(folder, &note.owner, &f) != 0 ||
	    idem_note_write(f.file, &note) != 0)
		_exit(1);
	step(p);
	idem_note_set_attempt(f.file, 2, IDEM_NOTE_HANDED);
	step(p);
	idem_note_set_state(f.file, IDEM_NOTE_BEGUN);
	step(p);
	idem_run_out_init(&o, &note.owner);
	for (i = 0; i < PIECES; i++) {
		idem_run_out_add(&o, f.file, (struct idem_bytes){
			out + i * PIECE, PIECE });
		step(p);
	}
	idem_run_out_end(&o, f.file, (struct idem_bytes){
		out + PIECES * PIECE, REST }, &t, 1);
	step(p);
	for (;;)
		pause();
}

/* After so many steps, in which it waits, or a little more.  What it proves
   then; torn: what it gives is not what was written. */
static enum idem_proof
kill_after(int folder, struct progress *p, int steps, uint32_t more,
    bool *torn)
{
	const struct idem_note note = journal_note(IDEM_NOTE_BEGUN, 1);
	const struct idem_record r = journal_record(&note);
	struct idem_blob *bytes;
	struct idem_evidence e;
	enum idem_proof proof;
	atomic_uint spun = 0;
	pid_t pid;
	int fd;

	p->done = 0;
	p->wait_at = more == 0 ? steps : STEPS;
	pid = journal_child();
	if (pid == 0)
		write_run(folder, p);
	while (p->done < steps && waitpid(pid, NULL, WNOHANG) == 0)
		;
	while (spun < more)
		spun++;
	kill(pid, SIGKILL);
	journal_status(pid);
	idem_evidence(folder, &note.owner, &e, &fd);
	proof = journal_proves(&e, &r, 1010000);
	bytes = idem_evidence_bytes(fd, &e, UINT64_MAX);
	*torn |= e.ended != (bytes != NULL) || (bytes != NULL &&
	    (bytes->len != OUT || memcmp(bytes->at, out, OUT) != 0));
	idem_blob_drop(bytes);
	if (fd >= 0)
		close(fd);
	idem_run_file_remove(folder, &note.owner);
	return proof;
}

static void
test_killed_between(int folder, struct progress *p)
{
	bool torn = false;
	int steps;

	for (steps = MADE; steps <= ENDED; steps++)
		is_int(kill_after(folder, p, steps, 0, &torn),
		    steps < BEGUN ? IDEM_PROOF_NOTHING :
		    steps < ENDED ? IDEM_PROOF_DEAD : IDEM_PROOF_FINISHED,
		    "a writer that is killed after step %d of %d proves what "
		    "it had come to", steps, ENDED);
	ok(!torn, "and its answer is whole, or there is none");
}

static void
test_killed(int folder, struct progress *p)
{
	int seen[IDEM_PROOF_FINISHED + 1] = { 0 }, i, steps;
	bool torn = false, wrong = false;
	enum idem_proof proof;
	uint32_t chance = 20;

	for (i = 0; i < KILLS; i++) {
		/* The last write is long: there more often. */
		steps = i % 4 == 0 ? i / 4 % ENDED : WRITTEN;
		proof = kill_after(folder, p, steps,
		    1 + chance_below(&chance, 8000), &torn);
		seen[proof]++;
		wrong |= (proof == IDEM_PROOF_NOTHING && p->done >= BEGUN) ||
		    (proof != IDEM_PROOF_FINISHED && p->done == ENDED) ||
		    (proof == IDEM_PROOF_FINISHED && p->done < WRITTEN);
	}
	ok(!torn, "of %d writers that are killed anywhere each leaves all of "
	    "its answer or no trailer", KILLS);
	ok(!wrong, "and none proves what it had not come to");
	note("none %d, dead %d, nothing %d, finished %d",
	    seen[IDEM_PROOF_NONE], seen[IDEM_PROOF_DEAD],
	    seen[IDEM_PROOF_NOTHING], seen[IDEM_PROOF_FINISHED]);
}

int
main(void)
{
	char path[] = "/tmp/t_journal_kill.XXXXXX";
	int folder = journal_folder(path);
	struct progress *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int i;

	if (p == MAP_FAILED)
		bail_out("mmap");
	for (i = 0; i < OUT; i++)
		out[i] = (uint8_t)(i / 7);
	test_killed_between(folder, p);
	test_killed(folder, p);
	close(folder);
	ok(rmdir(path) == 0, "nothing is left in the folder");
	return done();
}
