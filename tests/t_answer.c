/* SPDX-License-Identifier: ISC */
#include "answer.h"
#include "lobby.h"
#include "saved.h"
#include "tap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a run's output comes to: for its lobby, and for who finds it in the
   journal. */

#define TYPE "Content-Type: text/plain\n"
#define EXIT(n) ((n) << 8)

enum { LIMIT = 1, ANY_EXIT = 2, OF_HEAD = 4, PAGED = 8 };

static const struct row {
	const char *what;
	const char *out;
	int status;
	unsigned flags;
	uint64_t kept_max;
	enum answer_is is;
	enum idem_note_why why;		/* NOT_WHOLE */
	int32_t code;
} rows[] = {
	{ "an answer that ends with exit status 0 is whole",
	  TYPE "\nplaced", 0, 0, 100, ANSWER_WHOLE, 0, 0 },
	{ "one without a body too", TYPE "\n", 0, 0, 100, ANSWER_WHOLE, 0, 0 },
	{ "one that states its length and meets it",
	  TYPE "Content-Length: 6\n\nplaced", 0, 0, 100, ANSWER_WHOLE, 0, 0 },
	{ "one with a Status line", "Status: 404 Not Found\r\n" TYPE
	  "\r\nnothing there", 0, 0, 100, ANSWER_WHOLE, 0, 0 },
	{ "one of a program that thinks it is a server",
	  "HTTP/1.1 201 Created\n" TYPE "\nplaced", 0, 0, 100,
	  ANSWER_WHOLE, 0, 0 },
	{ "a redirection without a body", "Location: https://a.example/b\n\n",
	  0, 0, 100, ANSWER_WHOLE, 0, 0 },
	{ "one that states less than it writes is cut there",
	  TYPE "Content-Length: 3\n\nplaced", 0, 0, 100,
	  ANSWER_WHOLE, 0, 0 },
	{ "one that states more is not whole",
	  TYPE "Content-Length: 7\n\nplaced", 0, 0, 100,
	  ANSWER_NOT_WHOLE, IDEM_WHY_EXIT, 0 },
	{ "one that states nothing and fails is not whole",
	  TYPE "\nplaced", EXIT(3), 0, 100,
	  ANSWER_NOT_WHOLE, IDEM_WHY_EXIT, 3 },
	{ "but is where any exit status will do", TYPE "\nplaced", EXIT(3),
	  ANY_EXIT, 100, ANSWER_WHOLE, 0, 0 },
	{ "one that fails with its length met is whole",
	  TYPE "Content-Length: 6\n\nplaced", EXIT(1), 0, 100,
	  ANSWER_WHOLE, 0, 0 },
	{ "one that fails short of it is not, whatever will do",
	  TYPE "Content-Length: 7\n\nplaced", EXIT(1), ANY_EXIT, 100,
	  ANSWER_NOT_WHOLE, IDEM_WHY_EXIT, 1 },
	{ "one that was killed is not, with its length met",
	  TYPE "Content-Length: 6\n\nplaced", SIGKILL, ANY_EXIT, 100,
	  ANSWER_NOT_WHOLE, IDEM_WHY_SIGNAL, SIGKILL },
	{ "nor one that fell over", TYPE "\nplaced", SIGSEGV, ANY_EXIT, 100,
	  ANSWER_NOT_WHOLE, IDEM_WHY_SIGNAL, SIGSEGV },
	{ "nor one over its limit, though it ended well",
	  TYPE "Content-Length: 6\n\nplaced", 0, LIMIT, 100,
	  ANSWER_NOT_WHOLE, IDEM_WHY_LIMIT, 0 },
	{ "nothing at all is no answer", "", 0, 0, 100,
	  ANSWER_NOT_WHOLE, IDEM_WHY_EXIT, 0 },
	{ "a head without its end neither", TYPE, 0, 0, 100,
	  ANSWER_NOT_WHOLE, IDEM_WHY_EXIT, 0 },
	{ "nor what is no head", "placed\n\n", 0, 0, 100,
	  ANSWER_NOT_WHOLE, IDEM_WHY_EXIT, 0 },
	{ "of a HEAD no body is kept, whatever it states",
	  TYPE "Content-Length: 99\n\nplaced", 0, OF_HEAD, 100,
	  ANSWER_WHOLE, 0, 0 },
	{ "of a 204 neither", "Status: 204 No Content\n\nplaced", 0, 0, 100,
	  ANSWER_WHOLE, 0, 0 },
	{ "nor of a 304", "Status: 304 Not Modified\nContent-Length: 9\n\n", 0,
	  0, 100, ANSWER_WHOLE, 0, 0 },
	{ "a body of just what is kept is kept", TYPE "\nplaced", 0, 0, 6,
	  ANSWER_WHOLE, 0, 0 },
	{ "a larger one is not", TYPE "\nplaced", 0, 0, 5,
	  ANSWER_WHOLE, 0, 0 },
	{ "a larger one that states its length neither",
	  TYPE "Content-Length: 6\n\nplaced", 0, 0, 5, ANSWER_WHOLE, 0, 0 },
	{ "one that is not to be stored is not, however small",
	  TYPE "Idempotency-Store: no\n\nplaced", 0, 0, 100,
	  ANSWER_WHOLE, 0, 0 },
	{ "a status that says that nothing happened says so",
	  "Status: 503 Busy\n\nlater", 0, 0, 100, ANSWER_NOTHING, 0, 0 },
	{ "but not of an answer that is not whole",
	  "Status: 503 Busy\n\nlater", EXIT(1), 0, 100,
	  ANSWER_NOT_WHOLE, IDEM_WHY_EXIT, 1 },
	{ "a page into which no tokens go is as it is",
	  TYPE "\nplaced", 0, PAGED, 100, ANSWER_WHOLE, 0, 0 },
};

static struct idem_note
note_of(const struct row *r)
{
	struct idem_note n = {
		.state = IDEM_NOTE_ORPHAN,
		.attempt = 1,
		.owner = { { 1 } },
		.any_exit = (r->flags & ANY_EXIT) != 0,
		.head = (r->flags & OF_HEAD) != 0,
		.paged = (r->flags & PAGED) != 0,
		.kept_max = r->kept_max
	};

	n.released[(503 - 200) / 8] = 1 << (503 - 200) % 8;
	return n;
}

/* A file without a name; ends the test if it cannot be had. */
static int
file_of(const struct idem_note *n, struct idem_bytes out,
    struct idem_trailer *t)
{
	struct idem_run_out o;
	FILE *f = tmpfile();
	int fd = f != NULL ? dup(fileno(f)) : -1;

	if (fd == -1 || idem_note_write(fd, n) == -1)
		bail_out("no file");
	fclose(f);
	idem_run_out_init(&o, &n->owner);
	if (idem_run_out_end(&o, fd, out, t, 1000) == -1)
		bail_out("no trailer");
	return fd;
}

static enum answer_is
from_journal(const struct row *r, struct idem_bytes out,
    struct idem_blob **saved, enum idem_note_why *why, int32_t *code)
{
	struct idem_trailer t = {
		.status = r->status, .limit = (r->flags & LIMIT) != 0
	};
	struct idem_note n = note_of(r);
	struct idem_evidence e;
	enum answer_is answer;
	int fd = file_of(&n, out, &t);

	idem_evidence_of(fd, IDEM_RUN_FREE, &e);
	if (!e.noted || !e.ended)
		bail_out("the file is not as it was written");
	answer = answer_of_run(fd, &e, saved, why, code);
	close(fd);
	return answer;
}

/* The way of a lobby: as it comes, in pieces. */
static struct idem_blob *
from_run(const struct row *r, struct idem_bytes out, size_t piece)
{
	static struct lobby lobby;
	static struct conf_route route;
	struct visit visit = {
		.lobby = &lobby, .route = &route,
		.head = (r->flags & OF_HEAD) != 0
	};
	struct run run = { .lobby = &lobby, .visit = &visit, .keyed = true };
	struct idem_blob *blob = NULL;
	struct idem_bytes part;
	bool kept;
	size_t at;

	lobby.log.who = "lobby";
	spool_init(&run.body, 16);
	run.raw.max = IDEM_HEAD_MAX + RUN_READ_SIZE;
	for (at = 0; at < out.len; at += part.len) {
		part.at = (const char *)out.at + at;
		part.len = out.len - at < piece ? out.len - at : piece;
		run_out_bytes(&run, part);
	}
	run_out_head(&run, true);
	if (run.head_done)
		blob = run_saved(&run, (size_t)r->kept_max, &kept);
	idem_buf_free(&run.raw);
	idem_head_free(&run.head);
	spool_free(&run.body);
	lobby.log.len = 0;
	return blob;
}

static bool
are_equal(const struct idem_blob *a, const struct idem_blob *b)
{
	return a != NULL && b != NULL &&
	    idem_bytes_equal(idem_blob_bytes(a), idem_blob_bytes(b));
}

static void
test_row(const struct row *r)
{
	struct idem_bytes out = idem_bytes_text(r->out);
	enum idem_note_why why = IDEM_WHY_NOT_SAID;
	struct idem_blob *journal, *run;
	int32_t code = 0;
	enum answer_is answer = from_journal(r, out, &journal, &why, &code);
	bool same = true;
	size_t piece;

	ok(answer == r->is && why == r->why && code == r->code, "%s", r->what);
	for (piece = 1; answer == ANSWER_WHOLE && piece < 80; piece += 13) {
		run = from_run(r, out, piece);
		same = same && are_equal(journal, run);
		idem_blob_drop(run);
	}
	if (answer == ANSWER_WHOLE)
		ok(same, "... and its lobby makes the same bytes of it");
	else
		ok(journal == NULL, "... and nothing is saved");
	idem_blob_drop(journal);
}

/* --- large ones ----------------------------------------------------------- */

static void
test_large(size_t body, uint64_t kept_max, bool stated, const char *what)
{
	const struct row r = { .kept_max = kept_max };
	struct idem_blob *journal, *run;
	struct idem_buf out = { 0 };
	enum idem_note_why why;
	int32_t code;
	size_t i;

	idem_buf_text(&out, TYPE);
	if (stated)
		idem_buf_printf(&out, "Content-Length: %zu\n", body);
	idem_buf_text(&out, "\n");
	for (i = 0; i < body; i++)
		idem_buf_u8(&out, (uint8_t)(i * 7));
	ok(from_journal(&r, idem_buf_bytes(&out), &journal, &why, &code) ==
	    ANSWER_WHOLE, "%s", what);
	run = from_run(&r, idem_buf_bytes(&out), 10007);
	ok(are_equal(journal, run), "... and the same for its lobby");
	idem_blob_drop(run);
	idem_blob_drop(journal);
	idem_buf_free(&out);
}

/* --- what its lobby had saved --------------------------------------------- */

static enum answer_is
of_saved(struct idem_bytes bytes, struct idem_blob **saved)
{
	const struct row r = { .kept_max = 100 };
	struct idem_trailer t = { .saved = true };
	struct idem_note n = note_of(&r);
	enum idem_note_why why;
	struct idem_evidence e;
	enum answer_is answer;
	int fd = file_of(&n, bytes, &t);
	int32_t code;

	idem_evidence_of(fd, IDEM_RUN_FREE, &e);
	answer = answer_of_run(fd, &e, saved, &why, &code);
	close(fd);
	return answer;
}

static void
test_saved(void)
{
	struct idem_saved answer = {
		.code = 200, .kept = true, .body = idem_bytes_text("placed")
	};
	struct idem_blob *blob = idem_saved_blob(&answer), *saved;
	struct idem_bytes bytes;

	if (blob == NULL)
		bail_out("out of memory");
	bytes = idem_blob_bytes(blob);
	ok(of_saved(bytes, &saved) == ANSWER_WHOLE &&
	    idem_bytes_equal(idem_blob_bytes(saved), bytes),
	    "an answer that was saved already is taken as it is");
	idem_blob_drop(saved);
	bytes.len--;
	ok(of_saved(bytes, &saved) == ANSWER_NOT_WHOLE && saved == NULL,
	    "what is none is not whole");
	idem_blob_drop(blob);
	answer.code = 503;
	blob = idem_saved_blob(&answer);
	if (blob == NULL)
		bail_out("out of memory");
	ok(of_saved(idem_blob_bytes(blob), &saved) == ANSWER_NOTHING,
	    "of one that says that nothing happened that counts");
	idem_blob_drop(blob);
}

/* --- pages ---------------------------------------------------------------- */

static void
test_page(void)
{
	static const char page[] = "Content-Type: text/html\n"
	    "Content-Length: 19\nETag: \"1\"\nX-A: b\n\n<form method=post>\n";
	const struct row r = { .kept_max = 100, .flags = PAGED };
	struct idem_saved saved = { 0 };
	struct idem_blob *blob;
	enum idem_note_why why;
	int32_t code;

	ok(from_journal(&r, idem_bytes_text(page), &blob, &why, &code) ==
	    ANSWER_WHOLE && idem_saved_read(idem_blob_bytes(blob), &saved) &&
	    idem_bytes_is(saved.lines, "Content-Type: text/html\r\nX-A: b\r\n"
	    "Cache-Control: no-store\r\nContent-Length: 19\r\n") &&
	    idem_bytes_is(saved.body, "<form method=post>\n"),
	    "a page for tokens comes without them, and is not for caches");
	idem_blob_drop(blob);
}

static void
test_bodyless(void)
{
	ok(answer_is_bodyless(204, false) && answer_is_bodyless(304, false) &&
	    answer_is_bodyless(200, true) && !answer_is_bodyless(200, false) &&
	    !answer_is_bodyless(205, false), "204, 304 and what answers a HEAD "
	    "have no body, and nothing else");
}

int
main(void)
{
	size_t i;

	test_bodyless();
	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		test_row(&rows[i]);
	test_large(3000000, 4000000, false, "a large answer is whole");
	test_large(3000000, 4000000, true, "so is one with its length");
	test_large(3000000, 2999999, false, "one that is too large to be kept");
	test_large(3000000, 0, true, "one of which nothing is kept");
	test_large(70000, UINT64_MAX, false, "one where all is kept");
	test_saved();
	test_page();
	return done();
}
