/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "rows.h"
#include "store.h"
#include "tap.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * One ledger and many who write it, and ledgers that cannot be one.
 */
#define WRITERS 50
#define CLAIMS 40		/* of each; and all of them claim one key */
#define CALL_MS 120000

static struct rig rig;

/* What the writers have seen, together. */
struct seen {
	atomic_uint won, in_progress, shared_won, others, over;
	atomic_bool go;
};

static struct idem_store *
open_ledger(void)
{
	struct idem_sqlite_options options = { .path = rig.ledger,
		.clock = &idem_clock_real };
	struct idem_store *store;
	char error[256];

	if (!idem_boot_id(&options.boot))
		bail_out("no boot id");
	store = idem_store_sqlite(&options, error, sizeof error);
	if (store == NULL)
		bail_out("%s", error);
	return store;
}

static enum idem_claim
claim(struct idem_store *store, unsigned writer, unsigned number)
{
	struct idem_store_call call = { .op = IDEM_STORE_CLAIM,
		.lease_ms = 3600000, .attempts_max = 1,
		.deadline_ms = idem_boot_ms(&idem_clock_real) + CALL_MS };
	struct idem_store_answer answer;
	enum idem_claim got;

	memcpy(call.key.at, &writer, sizeof writer);
	memcpy(call.key.at + sizeof writer, &number, sizeof number);
	/* An owner of its own for each. */
	snprintf((char *)call.owner.at, sizeof call.owner.at, "%d-%u",
	    (int)getpid() % 1000000, number);
	idem_store_wait(store, &call, &answer);
	got = answer.result.claim;
	idem_store_answer_free(&answer);
	return got;
}

static void
count(struct seen *s, enum idem_claim got, atomic_uint *won)
{
	if (got == IDEM_CLAIM_WON)
		atomic_fetch_add(won, 1);
	else if (got == IDEM_CLAIM_IN_PROGRESS)
		atomic_fetch_add(&s->in_progress, 1);
	else
		atomic_fetch_add(&s->others, 1);
}

static _Noreturn void
write_claims(struct seen *s, unsigned writer)
{
	struct idem_store *store;
	unsigned i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	store = open_ledger();
	while (!atomic_load(&s->go))
		usleep(1000);
	for (i = 1; i <= CLAIMS; i++) {
		count(s, claim(store, writer, i), &s->won);
		if (i == 1)
			count(s, claim(store, 0, 0), &s->shared_won);
	}
	store->ops->close(store);
	atomic_fetch_add(&s->over, 1);
	_exit(0);
}

static void
many_writers(void)
{
	struct seen *s = rows_shared(sizeof *s);
	char error[256];
	unsigned i;

	if (idem_store_sqlite_create(rig.ledger, error, sizeof error) == -1)
		bail_out("%s", error);
	fflush(NULL);
	for (i = 1; i <= WRITERS; i++) {
		pid_t pid = fork();

		if (pid == -1)
			bail_out("fork: %s", strerror(errno));
		if (pid == 0)
			write_claims(s, i);
	}
	atomic_store(&s->go, true);
	while (wait(NULL) > 0)
		;
	is_int(atomic_load(&s->over), WRITERS, "%d processes write one ledger",
	    WRITERS);
	is_int(atomic_load(&s->won), WRITERS * CLAIMS, "each of their %d "
	    "claims is won: none was told that the ledger is busy [idem:C18]",
	    WRITERS * CLAIMS);
	ok(atomic_load(&s->shared_won) == 1 &&
	    atomic_load(&s->in_progress) == WRITERS - 1, "a key that all of "
	    "them want has one owner, and for the others it is in progress "
	    "[idem:A14 idem:B18 idem:C18]");
	is_int(atomic_load(&s->others), 0, "nobody was told anything else "
	    "[idem:C18]");
}

/* --- ledgers that are none ------------------------------------------------ */

/* How idemd ends with it, and what it says. */
static void
refused(const char *ledger, const char *what)
{
	const char *idemd = getenv("IDEMD");
	char option[RIG_PATH + 16];
	int status = -1;
	pid_t pid;
	char *log;

	snprintf(option, sizeof option, "sqlite:%s", ledger);
	unlink(rig.log);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (freopen(rig.log, "w", stderr) != NULL)
			execl(idemd != NULL ? idemd : "./idemd", "idemd", "-s",
			    "unix:/dev/null/none", "--ledger", option,
			    "--create", "--", "/bin/true", (char *)NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	log = rig_slurp(&rig, "log");
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 111 && log != NULL &&
	    strstr(log, ledger) != NULL, "%s: idemd does not start without "
	    "its protection, and says why [idem:B13]: %.80s", what,
	    log != NULL ? strtok(log, "\n") : "");
	free(log);
}

static void
bad_ledgers(void)
{
	char path[RIG_PATH];

	refused("/proc/ledger.db", "a folder that cannot be written");
	refused("/nowhere/at/all/ledger.db", "a folder that is not there");
	snprintf(path, sizeof path, "%s", rig_at(&rig, "folder"));
	mkdir(path, 0700);
	refused(path, "a folder in its place");
	rig_file(&rig, "text", "this is no database, however long it is; "
	    "it goes on for more than a header has bytes, and says nothing\n");
	snprintf(path, sizeof path, "%s", rig_at(&rig, "text"));
	refused(path, "a file that is none");
}

int
main(void)
{
	rig_open(&rig);
	many_writers();
	bad_ledgers();
	rig_end(&rig);
	return done();
}
