/* SPDX-License-Identifier: ISC */
#include "ctl_run.h"
#include "digest.h"
#include "journal.h"
#include "run_lock.h"
#include "saved.h"
#include "store_trace.h"
#include "tap.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * What the operator sees of keys that nobody knows the end of, and does with
 * them: on a ledger and a run folder that are made here.
 */
#define COLUMNS 100

static char folder[] = "/tmp/t_unknown.XXXXXX";
static char path[100];
static int runs;

/* --- the ledger ----------------------------------------------------------- */

static void
run_lines(const char *const *lines, bool this_boot, int64_t ago_ms)
{
	struct idem_sqlite_options options = { .path = path };
	struct trace t;
	int64_t boot_ms = idem_boot_ms(&idem_clock_real) - ago_ms;
	char out[200], error[300];

	trace_init(&t);
	atomic_store(&t.wall_ms, idem_wall_ms(&idem_clock_real) - ago_ms);
	/* The machine may be younger than that. */
	atomic_store(&t.boot_ms, boot_ms > 1 ? boot_ms : 1);
	if (this_boot && !idem_boot_id(&t.boot))
		bail_out("no boot id");
	options.clock = &t.clock;
	options.boot = t.boot;
	t.store = idem_store_sqlite(&options, error, sizeof error);
	if (t.store == NULL)
		bail_out("%s", error);
	for (; *lines != NULL; lines++)
		trace_run(&t, *lines, out, sizeof out);
	t.store->ops->close(t.store);
}

/* As idemd would have it after some accidents. */
static const char *const recent[] = {
	"claim k1 o1 f1 g1",		/* runs */
	"claim k4 o4 f1 g1",		/* died */
	"claim k5 o5 f1 g1",		/* had not begun */
	"claim k6 o6 f1 g1",		/* has ended */
	"claim k8 o8 f1 g1",
	"complete k8 o8 1 A keep=86400000",
	"claim k11 o11 f1 g1",		/* ended with exit status 3 */
	"claim k17 o17 f1 g1",
	NULL
};
static const char *const an_hour_ago[] = {
	"claim k3 o3 f1 g1", "unknown k3 o3 1", NULL
};
static const char *const a_minute_ago[] = {
	"claim k7 o7 f1 g1 lease=1", NULL	/* lapsed */
};
static const char *const two_days_ago[] = {
	"claim k2 o2 f1 g1", "unknown k2 o2 1", NULL
};
static const char *const before_the_boot[] = {
	"claim k10 o10 f1 g1", "unknown k10 o10 1", NULL
};

/* --- the runs ------------------------------------------------------------- */

struct run {
	const char *key, *owner, *what, *output;
	enum idem_note_state state;
	const char *store;	/* NULL: the ledger */
	int status;		/* of a trailer; -1: there is none */
	enum idem_note_why why;
	int32_t code;
	uint32_t attempt;	/* 0: the first */
	bool held, unknown, saved;
};

#define SPEECH "Content-Type: text/plain\n\norder 4711\n"

static const struct run made[] = {
	{ .key = "k1", .owner = "o1", .what = "POST /k1", .held = true,
	  .state = IDEM_NOTE_BEGUN, .output = "so far", .status = -1 },
	{ .key = "k2", .owner = "o2", .what = "POST /k2/\033[2J\xc3",
	  .state = IDEM_NOTE_BEGUN, .output = "order 17\nplac", .status = 9,
	  .why = IDEM_WHY_SIGNAL, .code = 9, .unknown = true },
	{ .key = "k4", .owner = "o4", .what = "POST /k4", .status = -1,
	  .state = IDEM_NOTE_BEGUN },
	{ .key = "k5", .owner = "o5", .what = "POST /k5", .status = -1,
	  .state = IDEM_NOTE_HANDED },
	{ .key = "k6", .owner = "o6", .what = "POST /k6", .status = 0,
	  .state = IDEM_NOTE_ORPHAN, .output = SPEECH },
	{ .key = "k11", .owner = "o11", .what = "POST /k11", .status = 3 << 8,
	  .state = IDEM_NOTE_ORPHAN, .output = SPEECH },
	/* Of a store that idemctl cannot ask, of one that it is not told of,
	   and of a ledger that has settled it. */
	{ .key = "k9", .owner = "o9", .what = "POST /k9", .status = -1,
	  .state = IDEM_NOTE_BEGUN, .store = "memory 00" },
	{ .key = "k12", .owner = "o12", .what = "POST /k12", .status = -1,
	  .state = IDEM_NOTE_BEGUN, .store = "redis script 00",
	  .why = IDEM_WHY_LAPSED, .unknown = true },
	{ .key = "k8", .owner = "o8", .what = "POST /k8", .status = 0,
	  .state = IDEM_NOTE_ORPHAN, .output = SPEECH },
	{ .key = "k13", .owner = "o13", .what = "POST /k13", .status = 0,
	  .state = IDEM_NOTE_BEGUN, .store = "memory 00", .saved = true },
	/* Two of one key, and one whose owner has another key in the ledger. */
	{ .key = "k14", .owner = "o15", .what = "POST /k14", .status = -1,
	  .state = IDEM_NOTE_BEGUN, .store = "redis script 00", .attempt = 2,
	  .output = "second" },
	{ .key = "k14", .owner = "o14", .what = "POST /k14", .status = -1,
	  .state = IDEM_NOTE_BEGUN, .store = "redis script 00",
	  .output = "first", .unknown = true },
	{ .key = "k18", .owner = "o17", .what = "POST /k18", .status = -1,
	  .state = IDEM_NOTE_BEGUN },
};
static struct idem_run_file files[sizeof made / sizeof *made];

static void
add_output(const struct run *r, const struct idem_owner *owner, int file)
{
	struct idem_trailer trailer = { .status = r->status,
	    .saved = r->saved };
	struct idem_saved answer = {
		.code = 201, .has_status = true, .kept = true,
		.status = idem_bytes_text("201 Created"),
		.lines = idem_bytes_text("Location: /o/1\r\n"),
		.body = idem_bytes_text("made")
	};
	struct idem_blob *saved = idem_saved_blob(&answer);
	struct idem_bytes bytes = idem_bytes_text(r->output != NULL ?
	    r->output : "");
	struct idem_run_out out;
	int failed;

	if (saved == NULL)
		bail_out("out of memory");
	if (r->saved)
		bytes = idem_blob_bytes(saved);
	idem_run_out_init(&out, owner);
	if (r->status >= 0) {
		failed = idem_run_out_end(&out, file, bytes, &trailer, 1);
	} else {
		failed = idem_run_out_add(&out, file, bytes);
		idem_run_out_free(&out);
	}
	idem_blob_drop(saved);
	if (failed != 0)
		bail_out("no output of %s", r->key);
}

static void
make_run(const struct run *r, struct idem_run_file *file)
{
	struct idem_note n = {
		.state = r->state,
		.pid = 7,
		.key = trace_digest(r->key),
		.owner = trace_owner(r->owner),
		.attempt = r->attempt != 0 ? r->attempt : 1,
		.lease_ms = 60000,
		.kept_max = 1000,
		.made_ms = idem_wall_ms(&idem_clock_real),
		.route = "route at /etc/idem.conf:12",
		.why = r->why,
		.why_code = r->code
	};

	snprintf(n.what, sizeof n.what, "%s", r->what);
	snprintf(n.store, sizeof n.store, "%s", r->store != NULL ? r->store :
	    "ledger 00");
	if (!idem_boot_id(&n.boot) ||
	    idem_run_file_make(runs, &n.owner, file) != 0 ||
	    idem_note_write(file->file, &n) != 0)
		bail_out("no run file of %s", r->key);
	add_output(r, &n.owner, file->file);
	if (r->unknown && idem_journal_keep_unknown(runs, &n.owner) != 0)
		bail_out("%s does not become unknown", r->key);
	if (!r->held)
		idem_run_file_free(file);
}

static void
make_all(void)
{
	char error[300];
	size_t i;

	run_lines(two_days_ago, true, 50 * 3600 * 1000);
	run_lines(before_the_boot, false, 5 * 3600 * 1000);
	run_lines(an_hour_ago, true, 3600 * 1000 + 5 * 60 * 1000);
	run_lines(a_minute_ago, true, 61 * 1000);
	run_lines(recent, true, 0);
	runs = idem_run_folder(NULL, path, true, error, sizeof error);
	if (runs < 0)
		bail_out("%s", error);
	for (i = 0; i < sizeof made / sizeof *made; i++)
		make_run(&made[i], &files[i]);
}

/* --- looking -------------------------------------------------------------- */

static const char *
hex(const char *key)
{
	static char digits[4][2 * IDEM_DIGEST_LEN + 1];
	static unsigned next;
	struct idem_digest d = trace_digest(key);

	idem_hex(d.at, sizeof d.at, digits[++next % 4]);
	return digits[next % 4];
}

static void
has(const char *out, const char *text, const char *what)
{
	if (!ok(strstr(out, text) != NULL, "%s", what))
		note("not there: %s", text);
}

/* Rows of the table: how each begins, behind the key, and goes on. */
static const struct {
	const char *text, *what;
} rows[] = {
	{ "  unknown    ledger        1   2d02h  POST /k2/?[2J?\n"
	  "                  ended by signal 9 (SIGKILL); "
	  "route at /etc/idem.conf:12\n",
	  "an unknown key with age, attempt, request, evidence and route" },
	{ "  unknown    ledger        1   1h05m  -\n"
	  "                  no note on this host, though it ran here",
	  "one without a note, and that it has none" },
	{ "  unknown    ledger        1   5h00m  -\n"
	  "                  no note: it ran before the last boot",
	  "one of an earlier boot" },
	{ "  lapsed     ledger        1   1m",
	  "a record in progress past lease and grace" },
	{ "POST /k4\n                  it died while it ran, without a word",
	  "a run that died and is not settled yet" },
	{ "  not-begun  ledger        1", "one that had not begun" },
	{ "POST /k6\n                  it ended with a whole answer, which is "
	  "to be stored", "one that has ended" },
	{ "POST /k11\n                  ended without a whole answer, exit "
	  "status 3", "one whose answer is not whole" },
	{ "  died       memory        1", "one of a daemon's memory" },
};

static bool
is_narrow(const char *out)
{
	size_t len;

	for (; *out != '\0'; out += len + (out[len] == '\n')) {
		len = strcspn(out, "\n");
		if (len > COLUMNS)
			return false;
	}
	return true;
}

static void
test_table(void)
{
	const char *out, *oldest, *older, *newest;
	size_t i;

	is_int(ctl_run(&out, "unknown"), 1, "unknown keys are a no");
	if (strncmp(out, "KEY ", 4) != 0)
		note("%s", out);
	has(out, "KEY               IS         IN      ATTEMPT     AGE  ",
	    "the table has a head");
	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		has(out, rows[i].text, rows[i].what);
	ok(strstr(out, "POST /k1\n") == NULL, "but not one that runs");
	ok(strstr(out, "POST /k8") == NULL, "nor one that is completed");
	ok(strstr(out, "POST /k12") == NULL, "nor one of a store that was not "
	    "named, and may know better");
	oldest = strstr(out, "/k2/");
	older = strstr(out, "before the last boot");
	newest = strstr(out, "POST /k4");
	ok(oldest != NULL && older > oldest && newest > older,
	    "the oldest comes first");
	ok(is_narrow(out), "and no line is wider than %d", COLUMNS);
	ok(strchr(out, '\033') == NULL, "nor moves a client's text the cursor");
}

static void
test_json(void)
{
	const char *out, *line;
	int lines = 0, good = 0;
	size_t len;

	is_int(ctl_run(&out, "unknown --json"), 1, "as JSON it is a no too");
	for (line = out; *line != '\0'; line += len + (line[len] == '\n')) {
		len = strcspn(line, "\n");
		lines++;
		good += strncmp(line, "{\"key\":\"", 8) == 0 &&
		    line[len - 1] == '}';
	}
	is_int(lines, 10, "a line each");
	is_int(good, 10, "an object each");
	has(out, "\"run\":\"dead\",\"condition\":\"unknown\",\"evidence\":"
	    "\"ended by signal 9 (SIGKILL)\",\"asked\":\"POST /k2/\\u001b[2J",
	    "with the evidence, and what was asked");
	has(out, "\"route\":\"route at /etc/idem.conf:12\",\"note\":\"begun\"",
	    "the route and the note");
	has(out, "\"held\":false,\"output_bytes\":13", "and its output");
	has(out, "\"condition\":\"died\"", "and what is not settled");
}

/* A store that is away is an error, and no reason to be silent. */
static void
test_away(void)
{
	const char *out;

	is_int(ctl_run(&out, "unknown --ledger %s --redis unix:%s/none",
	    path, folder), 111, "a store that cannot be asked is an error");
	has(out, "POST /k2/", "what another knows is said all the same");
	has(out, "  unknown    redis         1", "and what its notes say");
	has(out, "its lease ran out", "with their evidence");
	is_int(ctl_run(&out, "unknown --in ledger --ledger %s --redis "
	    "unix:%s/none", path, folder), 1, "unless it is left out");
	ok(strstr(out, "POST /k12") == NULL && strstr(out, "POST /k9") == NULL,
	    "with its notes");
}

/*
 * In the files two runs are of a daemon's memory.  The others that nobody holds
 * are of a ledger that is not this one, and of a Redis that is not named.
 */
static void
test_doctor(void)
{
	const char *out;

	ctl_run(&out, "doctor");
	has(out, "note  runs: 2 that nobody holds: ", "the doctor counts runs "
	    "that are to be settled");
	has(out, "warn  runs: 10 of a store that is not configured: the ledger "
	    "or the Redis that they were claimed in", "and apart from them "
	    "those that nobody can");
	has(out, "ok    runs: 0 unknown keys of other stores", "likewise "
	    "unknown ones");
}

static void
test_show(void)
{
	ctl_run_is(0, "run       dead (claimed by pid 7)\n"
	    "asked     POST /k2/?[2J?\nroute     route at /etc/idem.conf:12\n",
	    "show says what was asked, by which route", "show %s", hex("k2"));
	ctl_run_is(0, "note      begun, nobody holds it\nexit      signal 9\n"
	    "output    13 bytes (idemctl output)\n"
	    "evidence  ended by signal 9 (SIGKILL)\n",
	    "and what became of it", "show %s", hex("k2"));
	ctl_run_is(0, "note      begun, held\noutput    6 bytes "
	    "(idemctl output)\nevidence  it runs\n",
	    "of one that runs that it does", "show %s", hex("k1"));
	ctl_run_is(0, "run       not begun", "of one that has not begun so",
	    "show %s", hex("k5"));
	ctl_run_is(0, "run       ended", "of one that has ended so",
	    "show %s", hex("k6"));
	ctl_run_is(0, "that of its owner is of another run", "a note of "
	    "another key says nothing", "show %s", hex("k17"));
	ctl_run_is(0, "run       silent",
	    "of one that lapsed that it is silent", "show %s", hex("k7"));
}

/* --- output --------------------------------------------------------------- */

static void
test_output(void)
{
	const char *out;

	is_int(ctl_run(&out, "output %s", hex("k2")), 0,
	    "what a program had written is there");
	is(out, "order 17\nplac", "byte by byte");
	ctl_run_is(0, "so far", "that of one that runs, too", "output %s",
	    hex("k1"));
	ctl_run_is(0, "not all of it: it still runs", "which is said",
	    "output %s", hex("k1"));
	ctl_run_is(1, "nothing that it has written", "or that it wrote nothing",
	    "output %s", hex("k4"));
	ctl_run_is(1, "no run of it is known", "or that there is no note",
	    "output %s", hex("k3"));
	ctl_run_is(1, "no run of it is known", "of what had not begun neither",
	    "output %s", hex("k5"));
	ctl_run_is(1, "several keys", "digits must mean one key",
	    "output 6b000000");
	ctl_run_is(0, "second", "of two runs of a key it is the last one's",
	    "output %s", hex("k14"));
	ctl_run_is(0, "of 2 runs the last one, attempt 2", "which is said",
	    "output %s", hex("k14"));
	ctl_run_is(2, "hexadecimal", "and be digits", "output frob");
	ctl_run_is(2, "name a store key", "a key has to be named", "output");
	ctl_run_is(0, "Status: 201 Created\r\nLocation: /o/1\r\n\r\nmade",
	    "what idemd had saved is said as the application had",
	    "output %s", hex("k13"));
	ctl_run_is(111, "no run folder", "without a run folder there is none",
	    "output %s --ledger %s/other", hex("k2"), folder);
}

/* --- resolving ------------------------------------------------------------ */

static bool
is_gone(const char *owner)
{
	struct idem_owner o = trace_owner(owner);
	struct idem_evidence e;

	idem_evidence(runs, &o, &e, NULL);
	return e.lock == IDEM_RUN_MISSING;
}

static void
test_resolve(void)
{
	ctl_run_is(0, "", "an unknown key is resolved [idem:B8]",
	    "resolve %s not-done", hex("k2"));
	ok(is_gone("o2"), "and its file is gone");
	ctl_run_is(0, "state     issued", "it may run again [idem:B8]",
	    "show %s", hex("k2"));
	ctl_run_is(0, "", "a run that died is resolved before it is settled",
	    "resolve %s done", hex("k4"));
	ok(is_gone("o4"), "with its file");
	ctl_run_is(0, "", "one that had not begun too", "forget %s",
	    hex("k5"));
	ok(is_gone("o5"), "with its file");
	ctl_run_is(1, "ended with a whole answer", "what has ended is to be "
	    "stored, not resolved", "resolve %s not-done", hex("k6"));
	ok(!is_gone("o6"), "so its file stays");
	ctl_run_is(0, "!may still", "unless it is forced", "resolve %s done "
	    "--force", hex("k6"));
	ok(is_gone("o6"), "with its file");
	ctl_run_is(0, "", "what a program wrote before it failed",
	    "output %s >%s/answer", hex("k11"), folder);
	ctl_run_is(0, "", "may be what later requests get", "resolve %s done "
	    "--answer %s/answer", hex("k11"), folder);
	ctl_run_is(0, "answer    ", "and is kept then", "show %s", hex("k11"));
	ctl_run_is(1, "is still going on", "a run that goes on is not resolved",
	    "resolve %s done", hex("k1"));
	ctl_run_is(0, "its program may still be running",
	    "unless it is forced, and nobody stops it", "resolve %s done "
	    "--force", hex("k1"));
	ok(!is_gone("o1"), "its file is for who holds it");
}

#define LETS_GO_MS 200	/* less than idemctl looks again and again for */
#define TRIES 10

/* A process that holds the run's lock, which it has from us, until a moment
   after somebody has opened the file. */
static pid_t
keeper(const struct idem_run_file *file)
{
	int heard = inotify_init1(IN_CLOEXEC);
	char name[40], event[1000];
	pid_t pid;

	snprintf(name, sizeof name, "/proc/self/fd/%d", file->lock);
	if (inotify_add_watch(heard, name, IN_OPEN) == -1 ||
	    (pid = fork()) == -1)
		bail_out("nobody holds it");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)!read(heard, event, sizeof event);
		poll(NULL, 0, LETS_GO_MS);
		_exit(0);
	}
	close(heard);
	return pid;
}

static bool
is_resolved_quickly(unsigned number)
{
	char key[16], owner[16], claim[64], unknown[64];
	const char *const lines[] = { claim, unknown, NULL };
	const struct run run = {
		.key = key, .owner = owner, .what = "POST /quick",
		.status = -1, .state = IDEM_NOTE_BEGUN, .held = true,
		.unknown = true
	};
	struct idem_run_file file;
	struct idem_owner o;
	const char *out;
	int status;
	pid_t pid;

	snprintf(key, sizeof key, "k%u", number);
	snprintf(owner, sizeof owner, "o%u", number);
	snprintf(claim, sizeof claim, "claim %s %s f1 g1", key, owner);
	snprintf(unknown, sizeof unknown, "unknown %s %s 1", key, owner);
	run_lines(lines, true, 0);
	make_run(&run, &file);
	pid = keeper(&file);
	idem_run_file_close(&file);
	status = ctl_run(&out, "resolve %s not-done", hex(key));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	o = trace_owner(owner);
	idem_run_file_remove(runs, &o);
	return status == 0;
}

/* Whoever hears of it may be quicker than its keeper: for a second, in which
   a keeper that is held up may not come to it. */
static void
test_quick(void)
{
	unsigned tries = 0;

	while (tries < TRIES && !is_resolved_quickly(20 + tries))
		tries++;
	ok(tries < TRIES, "what is unknown can be resolved though its keeper "
	    "has yet to let go of it");
}

/* --- none ----------------------------------------------------------------- */

static void
test_none(void)
{
	const char *out;

	ctl_run_is(0, "", "of a new ledger", "init --ledger %s/new", folder);
	is_int(ctl_run(&out, "unknown --ledger %s/new", folder), 0,
	    "no key is unknown, which is a yes");
	is(out, "", "and needs no word");
	ctl_run_is(2, "it takes no key", "the command takes no key",
	    "unknown %s", hex("k1"));
	ctl_run_is(111, "idemctl init", "without a ledger it fails",
	    "unknown --ledger %s/none", folder);
}

static void
remove_all(void)
{
	static const char *const names[] = {
		"ledger.db", "ledger.db-wal", "ledger.db-shm", "ledger.db-lock",
		"new", "new-wal", "new-shm", "new-lock", "answer"
	};
	struct idem_owner owner;
	char name[150];
	size_t i;

	for (i = 0; i < sizeof made / sizeof *made; i++) {
		owner = trace_owner(made[i].owner);
		idem_run_file_remove(runs, &owner);
	}
	for (i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(name, sizeof name, "%s/%s", folder, names[i]);
		unlink(name);
	}
	snprintf(name, sizeof name, "%s-run", path);
	rmdir(name);
	rmdir(folder);
}

int
main(void)
{
	char error[300];

	if (mkdtemp(folder) == NULL)
		bail_out("no folder for the test");
	snprintf(path, sizeof path, "%s/ledger.db", folder);
	setenv("IDEM_LEDGER", path, 1);
	if (idem_store_sqlite_create(path, error, sizeof error) != 0)
		bail_out("%s", error);
	make_all();
	test_table();
	test_json();
	test_away();
	test_doctor();
	test_show();
	test_output();
	test_resolve();
	test_quick();
	test_none();
	remove_all();
	return done();
}
