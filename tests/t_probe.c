/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "journal.h"
#include "rig_watch.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * on_unknown = "probe": a run has died, and nobody knows what became of it.
 * Before anything else happens to its key, a program of the operator's is
 * asked.  Each program here appends to a file, so that its starts are counted.
 */
#define LIMIT_MS 20000	/* not reached */
#define HANG_MS 7000	/* where the probe hangs: time for it to begin */
#define LARGE 200000		/* a body that is in a file */

/* Dies in its first attempt, after its effect. */
#define ORDER COUNT \
	"cat >body.$IDEMPOTENCY_ATTEMPT\n" \
	"echo $IDEMPOTENCY_ATTEMPT,$IDEM_RECOVERY >>attempts\n" \
	"if [ ! -e again ]; then touch again; kill -9 $$; fi\n" \
	"printf 'Status: 201\\n\\nplaced'\n"

#define PROBE "#!/bin/sh\n" \
	"cat >probed\n" \
	"echo $IDEMPOTENCY_ATTEMPT $IDEM_RECOVERY $REQUEST_METHOD >>probes\n"
#define FOUND "printf 'Status: 201\\nX-Order: 7\\n\\nfound'\n"

static struct rig rig;

static const struct rig_request request = {
	.method = "POST", .path = "/order", .key = "one",
	.body = { "item=tea", 8 }
};

/* --- what lies in the run folder ------------------------------------------ */

/* Of runs that began, or are unknown, how many there are and still held. */
static void
look(bool unknown, int *there, int *held)
{
	struct idem_journal_walk walk;
	struct idem_evidence e;
	struct idem_owner owner;
	char path[RIG_PATH + 8];
	int folder;

	snprintf(path, sizeof path, "%s-run", rig.ledger);
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder == -1 || !idem_journal_walk(folder, unknown, &walk))
		bail_out("%s: %s", path, strerror(errno));
	while (idem_journal_next(&walk, &owner)) {
		idem_evidence(folder, &owner, &e, NULL);
		if (!unknown && e.noted && e.note.state == IDEM_NOTE_CLAIMING)
			continue;
		++*there;
		*held += e.lock == IDEM_RUN_HELD;
	}
	idem_journal_walk_end(&walk);
	close(folder);
}

/*
 * Its keeper lets go of a run a moment after its answer; who asks before that
 * is told that the key is unknown, and nobody probes.
 */
static void
await_over(void)
{
	int64_t until_ms = rig_now_ms() + 20000;
	int began, unknown, held;

	for (;;) {
		began = unknown = held = 0;
		look(false, &began, &held);
		look(true, &unknown, &held);
		if (began == 0 && unknown > 0 && held == 0)
			return;
		if (rig_now_ms() > until_ms)
			bail_out("a run is not let go of");
		poll(NULL, 0, 2);
	}
}

/* --- each its own folder -------------------------------------------------- */

static void
begin(const char *probe, int limit_ms)
{
	static const char conf[] = "workers = 1\n"
	    "route { path = '/**', on_unknown = 'probe',\n"
	    "    probe = '%s/probe', probe_limit = '%dms',\n"
	    "    program = cgi { '%s/order' } }\n";
	char text[1000];

	rig_open(&rig);
	rig_program(&rig, "order", ORDER);
	if (probe != NULL)
		rig_program(&rig, "probe", probe);
	snprintf(text, sizeof text, conf, rig.folder, limit_ms, rig.folder);
	rig_file(&rig, "idem.conf", text);
	ask_start(&rig, (const char *[]){ "--config",
	    rig_at(&rig, "idem.conf"), NULL });
	ask(&rig, &request, "504 unknown",
	    "a run that is killed is unknown [idem:A20]");
	await_over();
}

static void
end(void)
{
	is_int(rig_stop(&rig, 20000), 0, "idemd ends with status 0");
	rig_end(&rig);
}

static long
probes(void)
{
	return rig_lines(&rig, "probes", NULL);
}

/* --- what it says --------------------------------------------------------- */

#define OVER "over its limit"

static const struct row {
	const char *what, *probe;
	const char *want, *again;	/* ... and what the next one gets */
	long starts, probes;		/* after both */
	const char *log;		/* once for each probe */
} rows[] = {
	{ "it happened, and here is the answer", PROBE FOUND,
	  "201 stored", "201 replayed", 1, 1, "probe=happened" },
	{ "it did not", PROBE "exit 10\n", "201 stored", "201 replayed", 2, 1,
	  "probe=did-not" },
	{ "it did not, whatever is printed", PROBE FOUND "exit 10\n",
	  "201 stored", "201 replayed", 2, 1, "probe=did-not" },
	{ "it does not know", PROBE "exit 1\n", "409 unknown", "409 unknown",
	  1, 2, "probe=unknown why=\"exit status 1\"" },
	{ "nor with an answer of a declared length",
	  PROBE "printf 'Content-Length: 2\\n\\nok'\nexit 3\n",
	  "409 unknown", "409 unknown", 1, 2,
	  "probe=unknown why=\"exit status 3\"" },
	{ "it hangs", PROBE "exec sleep 20\n", "409 unknown", "409 unknown",
	  1, 2, "probe=unknown why=\"" OVER "\"" },
	{ "it is killed", PROBE "kill -9 $$\n", "409 unknown", "409 unknown",
	  1, 2, "probe=unknown why=\"signal 9\"" },
	{ "it prints no answer", PROBE "echo hm\n", "409 unknown",
	  "409 unknown", 1, 2, "whole answer" },
	{ "it prints nothing", PROBE, "409 unknown", "409 unknown", 1, 2,
	  "whole answer" },
	{ "it prints less than it declares",
	  PROBE "printf 'Content-Length: 9\\n\\nok'\n", "409 unknown",
	  "409 unknown", 1, 2, "whole answer" },
	{ "it cannot be executed", "no program\n", "409 unknown",
	  "409 unknown", 1, 0, "probe=unknown why=\"not started\"" },
};

static void
test_row(const struct row *row)
{
	int says = row->probes > 0 ? (int)row->probes : 2;
	char attempt[16];

	begin(row->probe, strstr(row->log, OVER) != NULL ? HANG_MS : LIMIT_MS);
	ask(&rig, &request, row->want, "the probe says: %s", row->what);
	if (strcmp(row->want, "409 unknown") == 0)
		await_over();
	ask(&rig, &request, row->again, "and then");
	is_int(starts(&rig), row->starts, "so many starts [idem:A4]");
	is_int(probes(), row->probes, "so many probes");
	ask_await_logged(&rig, row->log, says);
	is_int(ask_logged(&rig, row->log), says, "the log says so each time");
	snprintf(attempt, sizeof attempt, "%ld,", row->starts);
	is_int(rig_lines(&rig, "attempts", attempt), 1,
	    "each start has an attempt of its own, and is no recovery");
	end();
}

static void
test_missing(void)
{
	begin(PROBE, LIMIT_MS);
	unlink(rig_at(&rig, "probe"));
	ask(&rig, &request, "409 unknown", "a probe that is missing");
	await_over();
	rig_program(&rig, "probe", PROBE FOUND);
	ask(&rig, &request, "201 stored", "it is there again");
	is_int(starts(&rig), 1, "the order was placed once");
	end();
}

/* --- what it is given ----------------------------------------------------- */

static bool
same(const char *name, struct idem_bytes want)
{
	char *text = rig_slurp(&rig, name);
	bool is_same = text != NULL && strlen(text) == want.len &&
	    memcmp(text, want.at, want.len) == 0;

	free(text);
	return is_same;
}

static void
test_given(size_t len, const char *what)
{
	static char body[LARGE];
	struct rig_request large = request;

	memset(body, 'x', sizeof body);
	body[len - 1] = 'y';
	large.key = "two";
	large.body = (struct idem_bytes){ body, len };
	begin(PROBE "exit 10\n", LIMIT_MS);
	unlink(rig_at(&rig, "again"));
	ask(&rig, &large, "504 unknown", "%s: killed", what);
	await_over();
	ask(&rig, &large, "201 stored", "%s: a probe, then the run", what);
	ok(same("probed", large.body), "the probe reads the body [idem:B9]");
	ok(same("body.2", large.body), "and the run after it once more");
	is_int(rig_lines(&rig, "probes", "1 1 POST"), 1, "it is told that it "
	    "is one, of which attempt, and what was asked");
	end();
}

/* --- one asker at a time -------------------------------------------------- */

static void
test_two(void)
{
	struct rig_answer answer;
	int first, second;

	begin("#!/bin/sh\necho >>probes\n" HELD FOUND, LIMIT_MS);
	rig_file(&rig, "hold", "");
	first = ask_begin(&rig, &request);
	ok(rig_await_lines(&rig, "probes", 1, 20000), "a probe goes on");
	second = ask_begin(&rig, &request);
	ok(rig_watch_await(&rig, SHM_REQUESTS, 3, 20000),
	    "somebody else asks meanwhile");
	unlink(rig_at(&rig, "hold"));
	ask_end(&rig, first, &answer);
	told(&answer, "201 stored", "the first has its answer");
	rig_answer_free(&answer);
	ask_end(&rig, second, &answer);
	told(&answer, "201 replayed", "and the second the same");
	rig_answer_free(&answer);
	is_int(probes(), 1, "one of them has asked");
	is_int(starts(&rig), 1, "and nothing was started");
	end();
}

static void
test_client_gone(void)
{
	int fd;

	begin("#!/bin/sh\necho >>probes\n" HELD FOUND, LIMIT_MS);
	rig_file(&rig, "hold", "");
	fd = ask_begin(&rig, &request);
	ok(rig_await_lines(&rig, "probes", 1, 20000), "a probe goes on");
	close(fd);
	unlink(rig_at(&rig, "hold"));
	ok(ask_await_logged(&rig, "probe=happened", 1),
	    "a client that leaves does not stop it [idem:B2]");
	ask(&rig, &request, "201 replayed", "and its answer is kept");
	is_int(probes(), 1, "so nobody has to ask again");
	end();
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		test_row(&rows[i]);
	test_missing();
	test_given(9, "a small body");
	test_given(LARGE - 1, "a large body");
	test_two();
	test_client_gone();
	return done();
}
