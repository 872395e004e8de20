/* SPDX-License-Identifier: ISC */
#include "cgi_rig.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * idem-cgi: what becomes of a run when processes die, when several come at
 * once, and beside an idemd on the same ledger.
 */
#define AT_ONCE 10
#define WAIT_MS 20000
#define TRIES 10
#define LEFT_MS 60000		/* for a process that was left to end */
#define SEE_OFF_MS 1000		/* as idem_cgi.c has it */

/* It says that it has begun, and ends once the file "go" is there. */
#define SLOW "#!/bin/sh\n" \
    "echo x >>began\n" \
    "n=0\n" \
    "while [ ! -e go ] && [ $n -lt 4000 ]; do sleep 0.05; n=$((n+1)); done\n" \
    "printf 'Status: 201\\n\\nslow %s\\n' $$\n"

#define PLAIN \
    "echo \"$HTTP_IDEMPOTENCY_KEY\" >>orders\n" \
    "printf 'Status: 201\\n\\nplain '\necho $$\n"

static void
done_with(struct cgi_call *call)
{
	int *fds[] = { &call->in, &call->out, &call->err };
	size_t i;

	for (i = 0; i < 3; i++)
		if (*fds[i] != -1)
			close(*fds[i]);
	waitpid(call->pid, NULL, 0);
}

static void
let_end(struct rig *rig)
{
	rig_file(rig, "go", "");
	ok(cgi_await_none(rig), "... and then no process is left");
	unlink(rig_at(rig, "go"));
}

static void
is_replayed(struct rig *rig, const struct cgi_ask *ask, const char *file,
    long runs)
{
	struct rig_answer a;

	cgi_ask(rig, ask, &a);
	is(rig_field(&a, "Idempotency-Status"), "replayed",
	    "... the same request is answered by replay");
	is_int(rig_lines(rig, file, NULL), runs, "... it ran once");
	rig_answer_free(&a);
}

/* --- its own death -------------------------------------------------------- */

static const struct {
	const char *what;
	int signal;
	bool group;
} deaths[] = {
	{ "SIGKILL after the program began stops nothing", SIGKILL, false },
	{ "SIGTERM after the program began stops nothing", SIGTERM, false },
	{ "SIGKILL for its whole group stops nothing", SIGKILL, true },
};

static void
test_death(struct rig *rig, size_t i)
{
	char key[16];
	const struct cgi_ask ask = {
		.program = "slow", .key = key, .body = idem_bytes_text("tea")
	};
	long runs = rig_lines(rig, "began", NULL) + 1;
	struct cgi_call call;

	snprintf(key, sizeof key, "death-%zu", i);
	cgi_begin(rig, &ask, &call);
	if (!ok(rig_await_lines(rig, "began", runs, WAIT_MS), "%s",
	    deaths[i].what))
		bail_out("nothing runs");
	kill(deaths[i].group ? -call.pid : call.pid, deaths[i].signal);
	done_with(&call);
	ok(cgi_alive(rig, NULL, 0) > 0, "... lobby and keeper live on");
	let_end(rig);
	is_replayed(rig, &ask, "began", runs);
}

/* A web server that wants no more closes its end. */
static void
test_reader_gone(struct rig *rig)
{
	const struct cgi_ask ask = { .program = "slow", .key = "gone" };
	long runs = rig_lines(rig, "began", NULL) + 1;
	struct cgi_call call;
	int status;

	cgi_begin(rig, &ask, &call);
	rig_await_lines(rig, "began", runs, WAIT_MS);
	close(call.out);
	call.out = -1;
	waitpid(call.pid, &status, 0);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 1,
	    "when its reader is gone it ends at once");
	done_with(&call);
	let_end(rig);
	is_replayed(rig, &ask, "began", runs);
}

/* --- a death of its lobby's or keeper's ----------------------------------- */

/* The others' pids: the lobby first, then the keeper. */
static void
await_others(struct rig *rig, pid_t self, pid_t found[2])
{
	int64_t until_ms = rig_now_ms() + WAIT_MS;

	found[0] = found[1] = 0;
	for (;;) {
		cgi_family(rig, self, &found[0], &found[1]);
		if (found[1] != 0)
			return;
		if (rig_now_ms() > until_ms)
			bail_out("lobby and keeper do not come");
		poll(NULL, 0, 5);
	}
}

static void
test_other_death(struct rig *rig, bool keeper)
{
	const char *who = keeper ? "keeper" : "lobby";
	const struct cgi_ask ask = { .program = "slow", .key = who };
	long runs = rig_lines(rig, "began", NULL) + 1;
	struct cgi_call call;
	struct rig_answer a;
	pid_t others[2];

	cgi_begin(rig, &ask, &call);
	rig_await_lines(rig, "began", runs, WAIT_MS);
	await_others(rig, call.pid, others);
	kill(others[keeper], SIGKILL);
	rig_file(rig, "go", "");
	cgi_finish(&call, &a);
	ok(a.status == 502 || a.status == 504, "its %s dies: %d", who,
	    a.status);
	is(rig_field(&a, "Idempotency-Status"), "unknown",
	    "... nobody knows what happened");
	rig_answer_free(&a);
	ok(cgi_await_none(rig), "... no process is left");
	cgi_ask(rig, &ask, &a);
	/* A keeper writes down what its run comes to; with it the run dies. */
	is(rig_field(&a, "Idempotency-Status"), keeper ? "unknown" :
	    "replayed", "... the next request is told what is known");
	is_int(rig_lines(rig, "began", NULL), runs, "... it ran once");
	rig_answer_free(&a);
	unlink(rig_at(rig, "go"));
}

/* Nobody asks for its key again; the next request, of any key, finds it. */
static void
test_sweep(struct rig *rig)
{
	static const char unknown[] = "state=unknown source=journal";
	const struct cgi_ask ask = { .program = "slow", .key = "swept" };
	char key[24];
	const struct cgi_ask other = { .program = "order", .key = key };
	long runs = rig_lines(rig, "began", NULL) + 1;
	bool found = false;
	struct cgi_call call;
	struct rig_answer a;
	int64_t until_ms;
	pid_t others[2];
	int i;

	cgi_begin(rig, &ask, &call);
	rig_await_lines(rig, "began", runs, WAIT_MS);
	await_others(rig, call.pid, others);
	kill(others[0], SIGKILL);
	kill(others[1], SIGKILL);
	cgi_finish(&call, &a);
	rig_answer_free(&a);
	cgi_await_none(rig);
	/* The program dies too, a little later, and holds its lock so long. */
	until_ms = rig_now_ms() + WAIT_MS;
	for (i = 0; !found && rig_now_ms() < until_ms; i++) {
		snprintf(key, sizeof key, "sweeper-%d", i);
		cgi_ask(rig, &other, &a);
		found = memmem(a.err.at, a.err.len, unknown,
		    sizeof unknown - 1) != NULL;
		rig_answer_free(&a);
	}
	ok(found, "a run that died is found by the next request of any key");
}

/* --- a body that is cut --------------------------------------------------- */

static void
test_cut(struct rig *rig)
{
	struct cgi_ask ask = {
		.program = "order", .key = "cut", .length = "10",
		.body = idem_bytes_text("tea")
	};
	long runs = rig_lines(rig, "orders", NULL);
	struct cgi_call call;
	struct rig_answer a;
	pid_t others[2];

	cgi_ask(rig, &ask, &a);
	is_int(a.status, 400, "a body that is cut is not run [cgi:C53 F17]");
	is(rig_field(&a, "Idempotency-Status"), "rejected", "... rejected");
	is_int(rig_lines(rig, "orders", NULL), runs, "... nothing ran");
	rig_answer_free(&a);

	cgi_begin(rig, &ask, &call);
	await_others(rig, call.pid, others);
	kill(others[0], SIGKILL);
	cgi_finish(&call, &a);
	is_int(a.status, 400, "... nor if the lobby dies amid it");
	rig_answer_free(&a);

	cgi_begin(rig, &ask, &call);
	kill(call.pid, SIGKILL);
	done_with(&call);
	ok(cgi_await_none(rig), "one killed amid its body leaves nothing");
	is_int(rig_lines(rig, "orders", NULL), runs, "... nothing ran");

	ask.length = NULL;
	ask.body = idem_bytes_text("teateateat");
	cgi_ask(rig, &ask, &a);
	is(rig_field(&a, "Idempotency-Status"), "stored",
	    "... and the key is free");
	rig_answer_free(&a);
}

/* A server need not end the input where the body ends. */
static void
test_open_input(struct rig *rig)
{
	const struct cgi_ask ask = {
		.program = "order", .key = "open",
		.body = idem_bytes_text("tea")
	};
	struct pollfd ready = { .events = POLLIN };
	struct cgi_call call;
	struct rig_answer a;

	cgi_begin(rig, &ask, &call);
	ready.fd = call.out;
	ok(poll(&ready, 1, WAIT_MS) == 1,
	    "a whole body is enough, also without the input's end [R9]");
	cgi_finish(&call, &a);
	is(rig_field(&a, "Idempotency-Status"), "stored", "... stored");
	rig_answer_free(&a);
}

/* --- what it leaves ------------------------------------------------------- */

static void
reap_all(void)
{
	int64_t until_ms = rig_now_ms() + LEFT_MS;
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) != -1) {
		if (pid == 0 && rig_now_ms() > until_ms)
			bail_out("a process stays for ever");
		if (pid == 0)
			poll(NULL, 0, 5);
	}
}

/* In this order: the last of several tries counts that says most. */
enum leaves { HELD_UP, NONE, SOME };

/*
 * What answers so, and its processes that are left to us.  For a lobby that is
 * held up it does not wait longer than a second, and has then lasted as long.
 */
static enum leaves
leaves(struct rig *rig, const char *key, const char *says)
{
	const struct cgi_ask ask = {
		.program = "order", .key = key, .body = idem_bytes_text("tea")
	};
	int64_t begun_ms = rig_now_ms(), took_ms;
	struct rig_answer a;
	pid_t left[1];
	bool none;

	cgi_ask(rig, &ask, &a);
	took_ms = rig_now_ms() - begun_ms;
	is(rig_field(&a, "Idempotency-Status"), says, "%s ...", says);
	rig_answer_free(&a);
	none = rig_children(getpid(), left, 1) == 0;
	reap_all();
	return none ? NONE : took_ms < SEE_OFF_MS ? SOME : HELD_UP;
}

static enum leaves
most(enum leaves a, enum leaves b)
{
	return a > b ? a : b;
}

/* As the first process of a container, that reaps nobody. */
static void
test_leaves_none(struct rig *rig)
{
	enum leaves stored = HELD_UP, replayed = HELD_UP;
	char key[24];
	unsigned i;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1) == -1)
		bail_out("subreaper: %s", strerror(errno));
	for (i = 0; i < TRIES && (stored == HELD_UP || replayed == HELD_UP);
	    i++) {
		snprintf(key, sizeof key, "none-left-%u", i);
		stored = most(stored, leaves(rig, key, "stored"));
		replayed = most(replayed, leaves(rig, key, "replayed"));
	}
	ok(stored == NONE, "who ran it leaves no process for others to reap");
	ok(replayed == NONE, "nor does who replayed it");
	prctl(PR_SET_CHILD_SUBREAPER, 0);
}

static void
test_reaps_none(struct rig *rig)
{
	const struct cgi_ask ask = {
		.program = "order", .key = "reaps-none", .reaps_none = true,
		.body = idem_bytes_text("tea")
	};
	struct rig_answer a;

	cgi_ask(rig, &ask, &a);
	is(rig_field(&a, "Idempotency-Status"), "stored",
	    "a server that ignores SIGCHLD changes nothing");
	rig_answer_free(&a);
}

/* --- much, and odd -------------------------------------------------------- */

static void
test_much(struct rig *rig)
{
	static char body[3 * 1024 * 1024 + 17];
	struct cgi_ask ask = {
		.program = "echo", .key = "much",
		.body = { body, sizeof body }
	};
	struct rig_answer a;
	size_t i;

	for (i = 0; i < sizeof body; i++)
		body[i] = (char)(i * 2654435761u >> 13);
	rig_program(rig, "echo", "#!/bin/sh\nprintf 'Content-Type: a/b\\n\\n'\n"
	    "cat\necho noise >&2\nexit 0\n");
	cgi_ask(rig, &ask, &a);
	ok(a.body.len == sizeof body &&
	    memcmp(a.body.at, body, sizeof body) == 0,
	    "3 MB there and back are the same");
	ok(memmem(a.err.at, a.err.len, "noise\n", 6) != NULL &&
	    memmem(a.err.at, a.err.len, "stderr=", 7) == NULL,
	    "what a program says on standard error comes as it is [cgi:C13]");
	rig_answer_free(&a);
	ask.length = "";
	ask.key = "chunks";
	ask.env = (const char *const[]){ "HTTP_TRANSFER_ENCODING=chunked",
	    NULL };
	cgi_ask(rig, &ask, &a);
	is_int((long long)a.body.len, sizeof body,
	    "without a length the body ends where the input does "
	    "[cgi:C22 R10]");
	rig_answer_free(&a);
}

static void
test_exit(struct rig *rig)
{
	const struct cgi_ask ask = { .program = "bad", .key = "bad" };
	struct rig_answer a;

	rig_program(rig, "bad", "#!/bin/sh\necho no head\nexit 3\n");
	cgi_ask(rig, &ask, &a);
	is_int(a.status, 502, "a program without a head is 502 [cgi:C10]");
	is(rig_field(&a, "Idempotency-Status"), "unknown", "... unknown");
	rig_answer_free(&a);
}

/* --- at once -------------------------------------------------------------- */

/* Who waits does so for longer than a machine may be busy with the others. */
static void
configure(struct rig *rig, char *variable, size_t size)
{
	char text[RIG_PATH + 200];

	snprintf(text, sizeof text, "ledger = sqlite { path = '%s' }\n"
	    "route { path = '/**', wait = '60s',\n"
	    "    program = cgi {} }\n", rig->ledger);
	rig_file(rig, "wait.conf", text);
	snprintf(variable, size, "IDEM_CONFIG=%s", rig_at(rig, "wait.conf"));
}

static void
test_at_once(struct rig *rig)
{
	char variable[RIG_PATH + 32];
	const struct cgi_ask ask = {
		.program = "slow", .key = "at-once",
		.env = (const char *const[]){ "IDEM_LEDGER", variable, NULL }
	};
	long runs = rig_lines(rig, "began", NULL) + 1;
	struct cgi_call calls[AT_ONCE];
	struct rig_answer a, first = { .status = 0 };
	int stored = 0, replayed = 0, same = 0, i;

	configure(rig, variable, sizeof variable);
	for (i = 0; i < AT_ONCE; i++)
		cgi_begin(rig, &ask, &calls[i]);
	rig_await_lines(rig, "began", runs, WAIT_MS);
	rig_file(rig, "go", "");
	for (i = 0; i < AT_ONCE; i++) {
		cgi_finish(&calls[i], &a);
		stored += strcmp(rig_field(&a, "Idempotency-Status"),
		    "stored") == 0;
		replayed += strcmp(rig_field(&a, "Idempotency-Status"),
		    "replayed") == 0;
		if (i == 0)
			first = a;
		same += idem_bytes_equal(a.body, first.body);
		if (i > 0)
			rig_answer_free(&a);
	}
	rig_answer_free(&first);
	is_int(rig_lines(rig, "began", NULL), runs,
	    "of %d at once for one key one runs", AT_ONCE);
	is_int(stored, 1, "... one answer is stored");
	is_int(replayed, AT_ONCE - 1, "... the others are replayed");
	is_int(same, AT_ONCE, "... all are the same");
	ok(cgi_await_none(rig), "... no process is left");
	unlink(rig_at(rig, "go"));
}

/* --- beside idemd --------------------------------------------------------- */

static const struct {
	const char *what, *program;
	enum cgi_way way;
	const char *interpreter;
} mixed[] = {
	{ "as a handler", "plain", CGI_HANDLER, NULL },
	{ "as an action", "plain", CGI_ACTION, NULL },
	{ "in a first line", "script", CGI_SHEBANG, "/bin/sh" },
};

static void
test_mixed(struct rig *rig, size_t i, bool idemd_first)
{
	char key[24], path[64];
	const struct cgi_ask ask = {
		.way = mixed[i].way, .program = mixed[i].program,
		.interpreter = mixed[i].interpreter, .key = key,
		.info = "/of/it", .query = "a=b", .type = "text/plain",
		.body = idem_bytes_text("tea")
	};
	struct rig_request request = {
		.method = "POST", .path = path, .key = key, .query = "a=b",
		.type = "text/plain", .body = idem_bytes_text("tea"),
	};
	struct rig_answer cgi, fcgi, *first, *second;
	long runs = rig_lines(rig, "orders", NULL) + 1;
	char file[RIG_PATH + 16];

	snprintf(key, sizeof key, "mixed-%zu-%d", i, idemd_first);
	snprintf(path, sizeof path, "/%s/of/it", mixed[i].program);
	snprintf(file, sizeof file, "%s/%s/of/it", rig->folder,
	    mixed[i].program);
	request.program = file;
	first = idemd_first ? &fcgi : &cgi;
	second = idemd_first ? &cgi : &fcgi;
	if (idemd_first)
		rig_request(rig, &request, &fcgi);
	cgi_ask(rig, &ask, &cgi);
	if (!idemd_first)
		rig_request(rig, &request, &fcgi);
	is(rig_field(first, "Idempotency-Status"), "stored",
	    "%s, %s first: stored", mixed[i].what,
	    idemd_first ? "idemd" : "idem-cgi");
	is(rig_field(second, "Idempotency-Status"), "replayed",
	    "... the other replays it");
	is_bytes(second->body.at, second->body.len, first->body.at,
	    first->body.len, "... byte for byte");
	is_int(rig_lines(rig, "orders", NULL), runs, "... it ran once");
	rig_answer_free(&cgi);
	rig_answer_free(&fcgi);
}

static void
test_beside_idemd(struct rig *rig)
{
	char text[RIG_PATH + 128];
	size_t i;

	/* Run by idemd it calls idem-cgi, which must not wait for its key. */
	snprintf(text, sizeof text, "#!%s /bin/sh\n" PLAIN,
	    rig_at(rig, "idem-cgi"));
	rig_program(rig, "script", text);
	rig_program(rig, "plain", "#!/bin/sh\n" PLAIN);
	if (rig_start(rig, (const char *const[]){ "--root", rig->folder,
	    NULL }) == -1)
		bail_out("idemd does not start");
	for (i = 0; i < sizeof mixed / sizeof *mixed; i++) {
		test_mixed(rig, i, false);
		test_mixed(rig, i, true);
	}
	rig_stop(rig, WAIT_MS);
}

int
main(void)
{
	struct rig rig;
	size_t i;

	rig_open(&rig);
	if (!cgi_open(&rig)) {
		rig_end(&rig);
		skip_all("idem-cgi is not built");
	}
	rig_order(&rig);
	rig_program(&rig, "slow", SLOW);
	test_beside_idemd(&rig);	/* makes the ledger */
	for (i = 0; i < sizeof deaths / sizeof *deaths; i++)
		test_death(&rig, i);
	test_reader_gone(&rig);
	test_other_death(&rig, false);
	test_other_death(&rig, true);
	test_sweep(&rig);
	test_cut(&rig);
	test_open_input(&rig);
	test_leaves_none(&rig);
	test_reaps_none(&rig);
	test_much(&rig);
	test_exit(&rig);
	test_at_once(&rig);
	ok(cgi_await_none(&rig), "no process is left");
	rig_end(&rig);
	return done();
}
