/* SPDX-License-Identifier: ISC */
#include "ctl_run.h"
#include "identity.h"
#include "journal.h"
#include "run_lock.h"
#include "saved.h"
#include "store_trace.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* idemctl as an operator types it, on a ledger that is made here. */

static char folder[] = "/tmp/t_idemctl.XXXXXX";
static char path[100];

/* --- the ledger ----------------------------------------------------------- */

static void
open_it(struct trace *t)
{
	struct idem_sqlite_options options = {
		.path = path,
		.clock = &t->clock,
		.boot = t->boot,
	};
	char error[300];

	t->store = idem_store_sqlite(&options, error, sizeof error);
	if (t->store == NULL)
		bail_out("%s", error);
}

/* In this boot and now, so that idemctl's clock agrees; without another boot
   is said. */
static void
run_lines(const char *const *lines, bool this_boot)
{
	struct trace t;
	char out[200];

	trace_init(&t);
	atomic_store(&t.wall_ms, idem_wall_ms(&idem_clock_real));
	atomic_store(&t.boot_ms, idem_boot_ms(&idem_clock_real));
	if (this_boot && !idem_boot_id(&t.boot))
		bail_out("no boot id");
	open_it(&t);
	for (; *lines != NULL; lines++)
		trace_run(&t, *lines, out, sizeof out);
	t.store->ops->close(t.store);
}

static void
expect(const char *line, const char *want, const char *what)
{
	struct trace t;
	char out[200];

	trace_init(&t);
	open_it(&t);
	trace_run(&t, line, out, sizeof out);
	is(out, want, "%s", what);
	t.store->ops->close(t.store);
}

/* --- the program ---------------------------------------------------------- */

/* The text with each {k1} as the key's digits, and {d} as the folder. */
static void
fill_in(const char *text, char *out, size_t out_size)
{
	char name[8], hex[2 * IDEM_DIGEST_LEN + 1];
	struct idem_digest key;
	size_t len = 0, n;

	while (*text != '\0' && len + sizeof hex < out_size) {
		if (*text != '{') {
			out[len++] = *text++;
			continue;
		}
		n = strcspn(text, "}");
		snprintf(name, sizeof name, "%.*s", (int)n - 1, text + 1);
		text += n + 1;
		if (name[0] == 'd') {
			len += (size_t)snprintf(out + len, out_size - len,
			    "%s", folder);
			continue;
		}
		key = trace_digest(name);
		idem_hex(key.at, sizeof key.at, hex);
		len += (size_t)snprintf(out + len, out_size - len, "%s", hex);
	}
	out[len] = '\0';
}

/* says: what must stand in the output; a "!" before it: must not. */
static void
check(const char *args, int status, const char *says, const char *what)
{
	char filled[800], want[300];
	const char *out;
	bool said;
	int got;

	fill_in(args, filled, sizeof filled);
	got = ctl_run(&out, "%s", filled);
	fill_in(says[0] == '!' ? says + 1 : says, want, sizeof want);
	said = (strstr(out, want) != NULL) == (says[0] != '!');
	ok(got == status && said, "%s", what);
	if (got != status || !said)
		note("idemctl %s: exit %d, not %d, said: %s", args, got,
		    status, out);
}

struct row {
	const char *args;
	int status;
	const char *says, *what;
};

static void
check_rows(const struct row *rows, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		check(rows[i].args, rows[i].status, rows[i].says, rows[i].what);
}

/* --- the tests ------------------------------------------------------------ */

static const struct row usage[] = {
	{ "", 2, "usage:", "without a command it says how it is used" },
	{ "--help", 0, "usage:", "--help is no error" },
	{ "frobnicate", 2, "idemctl: frobnicate: no such command",
	  "an unknown command is wrong use" },
	{ "list --nonsense", 2, "nonsense", "an unknown option too" },
	{ "list --state gone", 2, "no such state", "an unknown state too" },
	{ "list --limit x", 2, "not a number", "and a limit of no number" },
	{ "list --ledger redis:x", 2, "not sqlite:PATH",
	  "and a ledger of another kind" },
	{ "show {k1} --lease 5", 2, "unit", "and a time without its unit" },
	{ "resolve {k1}", 2, "done or not-done", "and resolve without a word" },
	{ "resolve {k1} maybe", 2, "done or not-done",
	  "and with another word" },
	{ "resolve {k1} not-done --answer x", 2, "only of what is done",
	  "and an answer of what did not happen" },
	{ "list --ledger /nowhere/x.db", 111, "idemctl init",
	  "a ledger that is not there is not made in passing" },
	{ "stats", 111, "idemctl init", "by no command" },
	{ "init", 0, "made ", "init makes one" },
	{ "init", 111, "already", "but not twice" },
	{ "list", 0, "", "a new one has nothing to list" },
	{ "list --json", 0, "[]", "which JSON says too" },
	{ "show {k1}", 1, "no such key", "nor to show" },
	{ "resolve {k1} done", 1, "no such key", "nor to resolve" },
	{ "show", 2, "name a store key", "show without a key is wrong use" },
	{ "show 6b000", 2, "hexadecimal", "a key of too few digits too" },
	{ "show 6b00000z", 2, "hexadecimal", "and one of other letters" },
};

static const char *const some_of_each[] = {
	"claim k1 o1 f1 g1",
	"claim k2 o2 f1 g1",
	"unknown k2 o2 1",
	"claim k3 o3 f1 g1",
	"complete k3 o3 1 big:2000 keep=86400000",
	"claim k4 o4 f1 g1",
	"release k4 o4 1",
	"claim k5 o5 f1 g1 lease=1",
	"unknown k5 o5 1",
	NULL,
};

static const struct row looking[] = {
	{ "list", 0, "in-progress", "a list has what is in progress" },
	{ "list", 0, "6b00000000000000  completed",
	  "with the key's first digits" },
	{ "list --state unknown", 0, "!completed",
	  "a list by state has that state only" },
	{ "list --state unknown,issued --json", 0,
	  "\"key\":\"{k2}\",\"state\":\"unknown\",\"attempt\":1",
	  "several states, as JSON" },
	{ "list --limit 1 --json", 0, "!{k2}", "a limited list ends" },
	{ "list --limit 1 --json", 0, "{k1}", "after so many" },
	{ "show {k3}", 0, "answer    2000 bytes", "a key is shown whole" },
	{ "show {k2} --json", 0, "\"run\":\"not known\"",
	  "with what is known of its run" },
	{ "show 6b000000", 1, "several keys begin",
	  "the first digits must mean one key" },
	{ "stats", 0, "records unknown                   2",
	  "stats count the records of each state" },
	{ "stats --json", 0, "\"in-progress\":1", "as JSON as well" },
};

static const struct row alive[] = {
	{ "show {k1}", 0, "run       alive", "a held lock means alive" },
	{ "show {k1}", 0, "asked     POST /order", "with what was asked" },
	{ "resolve {k1} done", 1, "which is not the program): wait",
	  "whom to leave alone is said" },
	{ "resolve {k1} done", 1, "is still going on",
	  "a run that goes on is not resolved" },
	{ "forget {k1}", 1, "is still going on", "nor forgotten" },
	{ "resolve {k2} not-done", 1, "may still be going on",
	  "nor one of which nothing is known" },
	{ "resolve {k3} done", 1, "it is completed",
	  "what has ended needs no resolving" },
	{ "resolve {k4} not-done", 1, "it is issued", "what is free neither" },
};

static const struct row settled[] = {
	{ "resolve {k1} done --answer {d}/wrong.txt", 2, "not a CGI response",
	  "an answer that is no CGI response is wrong use" },
	{ "resolve {k1} done --answer {d}/none.txt", 111, "none.txt",
	  "one that is not there the system refuses" },
	{ "resolve {k1} done --answer {d}/answer.txt", 0, "",
	  "once its lock is free a run is dead, and resolved [idem:B8]" },
	{ "show {k1}", 0, "state     completed", "then it is completed" },
	{ "resolve {k1} done", 1, "it is completed", "once" },
	{ "resolve {k2} done --lease 1ms --limit 1ms --grace 1ms", 1,
	  "may still be going on", "its own lease counts, whatever ours is" },
	{ "resolve {k2} not-done --force", 0, "may still be running",
	  "--force resolves what may go on, and says so" },
	{ "show {k2}", 0, "state     issued", "not-done may run again" },
	{ "resolve {k5} done --lease 1ms --limit 1ms --grace 1ms", 0, "",
	  "past lease, limit and grace there is no need of force" },
	{ "show {k5}", 0, "not kept", "done without an answer is not kept" },
	{ "forget {k3}", 0, "made of a request's content, the next equal "
	  "request runs again", "what is completed is forgotten at once, and "
	  "it is said what that does to a key of content" },
	{ "show {k3}", 0, "state     tombstone", "and leaves a tombstone" },
};

static void
write_file(const char *name, const char *text)
{
	char full[150];
	FILE *f;

	snprintf(full, sizeof full, "%s/%s", folder, name);
	f = fopen(full, "w");
	if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0)
		bail_out("cannot write %s", full);
}

/* What later requests get is what the file said. */
static void
test_answer(void)
{
	struct idem_store_call call = {
		.op = IDEM_STORE_CLAIM,
		.key = trace_digest("k1"),
		.fingerprint = trace_digest("f1"),
		.guard = trace_digest("g1"),
		.look_only = true,
		.deadline_ms = INT64_MAX,
	};
	struct idem_store_answer got;
	struct idem_saved saved;
	struct trace t;
	bool read;

	trace_init(&t);
	open_it(&t);
	idem_store_wait(t.store, &call, &got);
	read = got.result.answer != NULL &&
	    idem_saved_read(idem_blob_bytes(got.result.answer), &saved);
	ok(read && saved.code == 201 && saved.kept &&
	    idem_bytes_is(saved.status, "201 Created") &&
	    idem_bytes_is(saved.lines, "Location: /orders/7\r\n"
	    "Content-Type: text/plain\r\nContent-Length: 7\r\n") &&
	    idem_bytes_is(saved.body, "placed\n"),
	    "the answer given with done is what later requests get");
	idem_store_answer_free(&got);
	t.store->ops->close(t.store);
}

/* Whether a key is one of content, only the configuration says. */
static void
test_content(void)
{
	static const char *const lines[] = {
		"claim k21 o1 f1 g1", "complete k21 o1 1 A",
		"claim k22 o1 f1 g1", "complete k22 o1 1 A",
		"claim k23 o1 f1 g1", "unknown k23 o1 1",
		"claim k24 o1 f1 g1", "release k24 o1 1 issued", NULL
	};
	char conf[400];

	run_lines(lines, true);
	snprintf(conf, sizeof conf, "ledger = sqlite { path = '%s' }\n"
	    "route { path = '/**', program = cgi { '/bin/true' } }\n", path);
	write_file("plain.conf", conf);
	snprintf(conf, sizeof conf, "ledger = sqlite { path = '%s' }\n"
	    "route { path = '/**', program = cgi { '/bin/true' },\n"
	    "    key = content { window = '10s' },\n"
	    "    scope = { user = 'verified' } }\n", path);
	write_file("content.conf", conf);
	check("forget {k21} --config {d}/plain.conf", 0, "!content",
	    "a configuration without keys of content needs no word of them");
	check("forget {k22} --config {d}/content.conf", 0, "runs again",
	    "one with them does");
	check("forget {k23} --force --config {d}/content.conf", 0,
	    "may have taken effect", "all the more if the key is unknown");
	check("forget {k24}", 0, "!content", "but not of one that is free "
	    "anyway");
}

/* The client's key, as idemd would have stored it. */
static void
test_client_key(void)
{
	const struct idem_scope scope = {
		.route = idem_bytes_text("/usr/lib/cgi-bin/order.cgi"),
		.method = idem_bytes_text("POST"),
		.user = idem_bytes_text("ann"),
	};
	struct idem_bytes value = idem_bytes_text("order-1");
	struct idem_store_call call = {
		.op = IDEM_STORE_CLAIM,
		.owner = trace_owner("o6"),
		.deadline_ms = INT64_MAX,
		.lease_ms = 1000,
	};
	struct idem_store_answer answer;
	struct idem_key key;
	struct trace t;

	if (idem_key_parse(&value, 1, &key) != IDEM_KEY_GOOD ||
	    !idem_store_key(&scope, &key, &call.key))
		bail_out("no store key");
	trace_init(&t);
	open_it(&t);
	idem_store_wait(t.store, &call, &answer);
	idem_store_answer_free(&answer);
	t.store->ops->close(t.store);
	check("show --route /usr/lib/cgi-bin/order.cgi --user ann "
	    "--key order-1", 0, "in-progress",
	    "a client's key is found by its scope");
	check("show --route /usr/lib/cgi-bin/order.cgi --user ann "
	    "--key '\"order-1\"'", 0, "in-progress",
	    "also as a structured field");
	check("show --route /usr/lib/cgi-bin/order.cgi --key order-1", 1,
	    "no such key", "but not without its user");
	check("show --key order-1", 2, "--route", "nor without its route");
	check("resolve not-done --route /usr/lib/cgi-bin/order.cgi "
	    "--user ann --key order-1", 0, "",
	    "and resolved, since its boot is over");
}

/* The run of k1 by o1, which goes on, and nobody else's. */
static void
test_runs(void)
{
	struct idem_note run = {
		.state = IDEM_NOTE_BEGUN,
		.pid = 7,
		.key = trace_digest("k1"),
		.owner = trace_owner("o1"),
		.attempt = 1,
		.what = "POST /order"
	};
	struct idem_run_file file;
	struct idem_evidence e;
	char error[300];
	int runs = idem_run_folder(NULL, path, true, error, sizeof error);

	if (runs < 0 || !idem_boot_id(&run.boot))
		bail_out("%s", error);
	if (idem_run_file_make(runs, &run.owner, &file) != 0 ||
	    idem_note_write(file.file, &run) != 0)
		bail_out("no run file");
	check_rows(alive, sizeof alive / sizeof *alive);
	idem_run_file_close(&file);
	check_rows(settled, sizeof settled / sizeof *settled);
	idem_evidence(runs, &run.owner, &e, NULL);
	is_int(e.lock, IDEM_RUN_MISSING, "the file of the dead run is removed");
	close(runs);
}

static void
remove_all(void)
{
	static const char *const names[] = {
		"ledger.db", "ledger.db-wal", "ledger.db-shm", "ledger.db-lock",
		"ledger.db-run", "answer.txt", "wrong.txt", "plain.conf",
		"content.conf",
	};
	char name[150];
	size_t i;

	for (i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(name, sizeof name, "%s/%s", folder, names[i]);
		if (unlink(name) != 0)
			rmdir(name);
	}
	rmdir(folder);
}

int
main(void)
{
	if (mkdtemp(folder) == NULL)
		bail_out("no folder for the test");
	snprintf(path, sizeof path, "%s/ledger.db", folder);
	setenv("IDEM_LEDGER", path, 1);
	write_file("answer.txt", "Status: 201 Created\nLocation: /orders/7\n"
	    "Content-Type: text/plain\n\nplaced\n");
	write_file("wrong.txt", "there is no head in this\n");
	check_rows(usage, sizeof usage / sizeof *usage);
	run_lines(some_of_each, true);
	check_rows(looking, sizeof looking / sizeof *looking);
	test_runs();
	test_answer();
	expect("claim k2 o9 f1 g1", "won 2", "what is not done runs again");
	expect("claim k3 o9 f1 g1", "expired 1", "what is forgotten never");
	expect("complete k1 o1 1 A", "lost", "a resolved run's end is lost");
	test_client_key();
	test_content();
	remove_all();
	return done();
}
