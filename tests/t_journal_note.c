/* SPDX-License-Identifier: ISC */
#include "journal.h"

#include "journal_run.h"
#include "tap.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- the note ------------------------------------------------------------- */

static bool
same_numbers(const struct idem_note *a, const struct idem_note *b)
{
	return a->state == b->state && a->fastcgi == b->fastcgi &&
	    a->head == b->head && a->any_exit == b->any_exit &&
	    a->paged == b->paged && a->strict == b->strict &&
	    a->pid == b->pid && a->attempt == b->attempt &&
	    a->lease_ms == b->lease_ms && a->limit_ms == b->limit_ms &&
	    a->keep_ms == b->keep_ms && a->tombstone_ms == b->tombstone_ms &&
	    a->kept_max == b->kept_max && a->made_ms == b->made_ms &&
	    a->claimed_ms == b->claimed_ms &&
	    a->renewed_ms == b->renewed_ms && a->why == b->why &&
	    a->why_code == b->why_code && a->why_ms == b->why_ms;
}

static bool
same_note(const struct idem_note *a, const struct idem_note *b)
{
	return same_numbers(a, b) &&
	    memcmp(&a->boot, &b->boot, sizeof a->boot) == 0 &&
	    memcmp(&a->key, &b->key, sizeof a->key) == 0 &&
	    memcmp(&a->owner, &b->owner, sizeof a->owner) == 0 &&
	    memcmp(&a->history, &b->history, sizeof a->history) == 0 &&
	    memcmp(a->released, b->released, sizeof a->released) == 0 &&
	    strcmp(a->store, b->store) == 0 &&
	    strcmp(a->route, b->route) == 0 && strcmp(a->what, b->what) == 0;
}

static void
test_note(int file)
{
	static const enum idem_note_state states[] = {
		IDEM_NOTE_CLAIMING, IDEM_NOTE_HANDED, IDEM_NOTE_NOT_BEGUN,
		IDEM_NOTE_BEGUN, IDEM_NOTE_ORPHAN
	};
	struct idem_note note, read;
	bool *flags[] = {
		&note.fastcgi, &note.head, &note.any_exit, &note.paged,
		&note.strict
	};
	size_t i;

	for (i = 0; i < sizeof states / sizeof *states; i++) {
		note = journal_note(states[i], 1);
		note.any_exit = false;
		*flags[i] = true;
		ok(idem_note_write(file, &note) == 0 &&
		    idem_note_read(file, &read) && same_note(&note, &read),
		    "a note in state %s is read as it was written",
		    idem_note_state_text(states[i]));
	}
	memset(note.what, 'x', sizeof note.what);
	ok(idem_note_write(file, &note) == 0 && idem_note_read(file, &read) &&
	    strlen(read.what) == IDEM_NOTE_TEXT - 1,
	    "a text that has no end is cut to its room");
	if (pwrite(file, note.what, sizeof note.what, 384) !=
	    sizeof note.what)
		bail_out("pwrite");
	ok(idem_note_read(file, &read) &&
	    strlen(read.route) == IDEM_NOTE_TEXT - 1,
	    "and whatever stands there it ends within it");
}

/* Each change changes what it says and nothing else. */
static void
test_changes(int file)
{
	struct idem_note note = journal_note(IDEM_NOTE_CLAIMING, 1), read;

	idem_note_write(file, &note);
	note.state = IDEM_NOTE_HANDED;
	note.attempt = 0x01020304;
	ok(idem_note_set_attempt(file, note.attempt, note.state) == 0 &&
	    idem_note_read(file, &read) && same_note(&note, &read),
	    "attempt and state are changed together");
	note.state = IDEM_NOTE_ORPHAN;
	ok(idem_note_set_state(file, note.state) == 0 &&
	    idem_note_read(file, &read) && same_note(&note, &read),
	    "the state is changed alone");
	note.renewed_ms = 77777777777;
	ok(idem_note_set_renewed(file, note.renewed_ms) == 0 &&
	    idem_note_read(file, &read) && same_note(&note, &read),
	    "so is the time of its renewal");
	note.why = IDEM_WHY_SIGNAL;
	note.why_code = 9;
	note.why_ms = 1700000001000;
	ok(idem_note_set_why(file, note.why, note.why_code, note.why_ms) == 0 &&
	    idem_note_read(file, &read) && same_note(&note, &read),
	    "so is why it is unknown");
	close(file);
	ok(idem_note_set_state(file, IDEM_NOTE_BEGUN) == -1 && errno == EBADF,
	    "what cannot be written is said");
}

/* Bytes that are no note of ours. */
static const struct {
	const char *what;
	off_t at;
	uint8_t byte;
	bool read;
} wrong[] = {
	{ "a note of another program is none", 0, 'I', false },
	{ "one of another version is none", 8, 2, false },
	{ "one with a flag that is not known is none", 9, 32, false },
	{ "one of an unknown state is none", 11, 'x', false },
	{ "one of a state that was never written is none", 11, 0, false },
	{ "one whose reason is not known is one", 24, 99, true },
};

static void
test_wrong_notes(int file)
{
	const struct idem_note note = journal_note(IDEM_NOTE_HANDED, 1);
	struct idem_note read;
	size_t i;
	off_t len;
	int notes = 0;

	for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		idem_note_write(file, &note);
		if (pwrite(file, &wrong[i].byte, 1, wrong[i].at) != 1)
			bail_out("pwrite");
		is_int(idem_note_read(file, &read), wrong[i].read, "%s",
		    wrong[i].what);
		notes += wrong[i].read && read.why != IDEM_WHY_NOT_SAID;
	}
	is_int(notes, 0, "and it says that it was not said");
	idem_note_write(file, &note);
	for (len = IDEM_NOTE_SIZE - 1; len >= 0; len--) {
		if (ftruncate(file, len) != 0)
			bail_out("ftruncate");
		notes += idem_note_read(file, &read);
	}
	is_int(notes, 0, "one that is cut, wherever, is none");
}

/* --- words ---------------------------------------------------------------- */

static const struct {
	enum idem_note_why why;
	int32_t code;
	const char *text;
} whys[] = {
	{ IDEM_WHY_NOT_SAID, 0, "not said" },
	{ IDEM_WHY_EXIT, 3, "ended without a whole answer, exit status 3" },
	{ IDEM_WHY_SIGNAL, 9, "ended by signal 9 (SIGKILL)" },
	{ IDEM_WHY_SIGNAL, 63, "ended by signal 63" },
	{ IDEM_WHY_LIMIT, 0, "was ended as it ran over its limit" },
	{ IDEM_WHY_KEEPER, 0, "its keeper died, and it with it" },
	{ IDEM_WHY_HOST, 0, "the host went down while it ran" },
	{ IDEM_WHY_LAPSED, 0, "its lease ran out without a sign of it" },
	{ IDEM_WHY_BACKEND, 0, "the connection to its FastCGI application "
	  "broke, or its worker died" },
	{ IDEM_WHY_PROBE, 0, "its probe could not tell either" },
	{ IDEM_WHY_UNWRITTEN, 3, "ended, but its output could not be written "
	  "to the run folder, exit status 3" },
};

static void
test_words(void)
{
	struct idem_note note = { 0 };
	char text[100];
	size_t i;

	for (i = 0; i < sizeof whys / sizeof *whys; i++) {
		note.why = whys[i].why;
		note.why_code = whys[i].code;
		idem_note_why_text(&note, text, sizeof text);
		is(text, whys[i].text, "why %d, %d is in words", (int)note.why,
		    (int)note.why_code);
	}
}

static int
new_file(void)
{
	int fd = memfd_create("note", MFD_CLOEXEC);

	if (fd < 0)
		bail_out("memfd_create");
	return fd;
}

int
main(void)
{
	int file = new_file();

	test_note(file);
	test_wrong_notes(file);
	test_changes(file);
	test_words();
	return done();
}
