/* SPDX-License-Identifier: ISC */
#include "journal.h"

#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int
file_of(const uint8_t *at, size_t len)
{
	int fd = memfd_create("journal", MFD_CLOEXEC);

	fuzz_must(fd >= 0 && pwrite(fd, at, len, 0) == (ssize_t)len);
	return fd;
}

static bool
ends(const char text[IDEM_NOTE_TEXT])
{
	return memchr(text, '\0', IDEM_NOTE_TEXT) != NULL;
}

/* Whatever is read is written as what is read again. */
static void
check_note(int file)
{
	struct idem_note note, again;
	char why[100];

	if (!idem_note_read(file, &note))
		return;
	fuzz_must(ends(note.store) && ends(note.route) && ends(note.what));
	fuzz_must(*idem_note_state_text(note.state) != '\0');
	idem_note_why_text(&note, why, sizeof why);
	fuzz_must(*why != '\0');
	fuzz_must(idem_note_write(file, &note) == 0 &&
	    idem_note_read(file, &again) && again.state == note.state &&
	    again.attempt == note.attempt && again.why == note.why &&
	    again.kept_max == note.kept_max &&
	    strcmp(again.what, note.what) == 0);
}

/* Of the record that fits best. */
static enum idem_proof
proof_of(const struct idem_evidence *e)
{
	const struct idem_proof_times times = { 1, 2, 3, true, 4 };
	const struct idem_record r = {
		.state = IDEM_STATE_IN_PROGRESS,
		.attempt = e->note.attempt,
		.owner = e->note.owner,
		.boot = e->note.boot
	};

	return idem_journal_proof(e, &r, &e->note.key, 5, &e->note.boot,
	    INT64_MAX, &times);
}

static void
check_evidence(int file, enum idem_run_lock lock, size_t len)
{
	struct idem_evidence e;
	struct idem_blob *bytes;
	enum idem_proof proof;

	idem_evidence_of(file, lock, &e);
	fuzz_must(!e.ended || (e.noted && e.trailer.len <= len));
	proof = proof_of(&e);
	fuzz_must(proof != IDEM_PROOF_NOTHING || (lock == IDEM_RUN_FREE &&
	    e.noted && len == IDEM_NOTE_SIZE));
	fuzz_must(proof != IDEM_PROOF_FINISHED || e.ended);
	bytes = idem_evidence_bytes(file, &e, len);
	fuzz_must((bytes != NULL) == e.ended);
	idem_blob_drop(bytes);
}

/* With the trailer that it lacks, what it holds is found again. */
static void
check_end(int file, size_t len)
{
	struct idem_trailer t = { .status = 1, .len = 0 };
	struct idem_evidence e;
	struct idem_run_out o;
	uint8_t rest[64];
	ssize_t got;

	got = pread(file, rest, sizeof rest, IDEM_NOTE_SIZE);
	if (got < 0 || len > IDEM_NOTE_SIZE + sizeof rest ||
	    idem_note_set_state(file, IDEM_NOTE_BEGUN) != 0)
		return;
	idem_evidence_of(file, IDEM_RUN_FREE, &e);
	if (!e.noted)
		return;
	idem_run_out_init(&o, &e.note.owner);
	fuzz_must(idem_run_out_end(&o, file, (struct idem_bytes){
	    rest, (size_t)got }, &t, 7) == 0);
	idem_evidence_of(file, IDEM_RUN_FREE, &e);
	fuzz_must(e.ended && e.trailer.len == (size_t)got &&
	    e.trailer.status == 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *at, size_t len)
{
	int file = file_of(at, len);

	check_evidence(file, IDEM_RUN_FREE, len);
	check_evidence(file, IDEM_RUN_HELD, len);
	check_evidence(file, IDEM_RUN_MISSING, len);
	check_note(file);
	check_end(file, len);
	close(file);
	return 0;
}
