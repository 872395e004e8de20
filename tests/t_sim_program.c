/* SPDX-License-Identifier: ISC */
#include "effects.h"

#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * idemsim's CGI program: what it answers, what it notes of itself, how it ends,
 * and that it waits where it is told to.
 */
#define PATH 256
#define OUT (256 * 1024)

static struct {
	char folder[80], journal[100], stops[100], program[PATH];
	const char *besides;	/* that it is to say; NULL: nothing */
	const char *method, *query;	/* NULL: not said */
	int listener;
	char out[OUT];
	size_t len;
} world = { .listener = -1 };

/* --- one run -------------------------------------------------------------- */

struct run {
	pid_t pid;
	int out;
};

static const struct {
	const char *name, *value;
} about[] = {
	{ "IDEMSIM_LANE", "g2" }, { "IDEMSIM_LIFE", "3" },
	{ "IDEMPOTENCY_KEY", "00ab" }, { "IDEMPOTENCY_ATTEMPT", "2" },
	{ "HTTP_X_SIM_TRY", "17" }, { "HTTP_X_SIM_NONCE", "n17-0" },
	{ "HTTP_X_SIM_KEY", "k1" }, { "HTTP_X_SIM_GATE", "g9" },
	{ "CONTENT_LENGTH", "6" }
};

static struct run
start(const char *words)
{
	struct run run;
	int in[2], out[2];
	size_t i;

	if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
		bail_out("pipe: %s", strerror(errno));
	fflush(stdout);
	run.pid = fork();
	if (run.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		clearenv();
		for (i = 0; i < sizeof about / sizeof *about; i++)
			setenv(about[i].name, about[i].value, 1);
		if (world.method != NULL) {
			setenv("REQUEST_METHOD", world.method, 1);
			setenv("QUERY_STRING", world.query, 1);
		}
		setenv("IDEMSIM_EFFECTS", world.journal, 1);
		setenv("IDEMSIM_STOPS", world.stops, 1);
		setenv("IDEMSIM_PROGRAM", words, 1);
		if (world.besides != NULL)
			setenv("IDEMSIM_OUTPUT", world.besides, 1);
		execl(world.program, "idemsim-program", (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	if (run.pid == -1 || write(in[1], "a body", 6) != 6)
		bail_out("%s cannot be started", world.program);
	close(in[1]);
	run.out = out[0];
	return run;
}

/* All of its output is in world.out then.  Its wait status. */
static int
ended(const struct run *run)
{
	int status = -1;
	ssize_t n;

	world.len = 0;
	while ((n = read(run->out, world.out + world.len,
	    OUT - 1 - world.len)) > 0)
		world.len += (size_t)n;
	world.out[world.len] = '\0';
	close(run->out);
	if (waitpid(run->pid, &status, 0) != run->pid)
		bail_out("waitpid: %s", strerror(errno));
	return status;
}

/* "exit 0", "signal 9". */
static const char *
end_text(int status, char text[24])
{
	snprintf(text, 24, "%s %d", WIFEXITED(status) ? "exit" : "signal",
	    WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return text;
}

/* --- its journal ---------------------------------------------------------- */

/* "begin commit end", of what is in the journal; which is empty then. */
static const char *
noted(struct history *h)
{
	const struct effects_span all = { 0, INT64_MAX, SIZE_MAX };
	char wrong[PATH] = "";
	char *text;
	size_t i;

	*h = (struct history){ 0 };
	if (effects_read(h, world.journal, &all, wrong, sizeof wrong) != 0)
		bail_out("%s", wrong);
	text = arena_text(&h->arena, "");
	for (i = 0; i < h->n; i++)
		text = arena_format(&h->arena, "%s%s%s", text,
		    i > 0 ? " " : "", h->events[i].ph);
	if (truncate(world.journal, 0) != 0)
		bail_out("%s: %s", world.journal, strerror(errno));
	return text;
}

static int64_t
between_ms(const struct history *h, size_t from, size_t to)
{
	return to >= h->n ? -1 :
	    (h->events[to].t_ns - h->events[from].t_ns) / 1000000;
}

static void
check_answer(void)
{
	struct run run = start("effect=append business=order-7 seed=1");
	int status = ended(&run);
	const struct history_event *e;
	char want[400], text[24], effect[64] = "";
	const char *at;
	struct history h;

	is(end_text(status, text), "exit 0", "the program ends by itself");
	at = strstr(world.out, "X-Sim-Effect: ");
	if (at != NULL)
		sscanf(at, "X-Sim-Effect: %60s", effect);
	snprintf(want, sizeof want, "Status: 200 OK\r\n"
	    "Content-Type: text/plain\r\nX-Sim-Key: k1\r\n"
	    "X-Sim-Nonce: n17-0\r\nX-Sim-Effect: %s\r\n\r\n"
	    "key k1\nnonce n17-0\neffect %s\n", effect, effect);
	is(world.out, want, "it names its key, its nonce and its effect");
	snprintf(text, sizeof text, "e%ld.", (long)run.pid);
	ok(strncmp(effect, text, strlen(text)) == 0,
	    "which is that of its process");
	is(noted(&h), "begin commit end", "it notes what it did");
	e = h.n > 0 ? &h.events[1] : &(struct history_event){ 0 };
	ok(e->a == 17 && e->attempt == 2 && e->life == 3 &&
	    e->pid == run.pid,
	    "with the try, the attempt, the life and the process");
	is(e->k, "k1", "its key");
	is(e->gate, "g2", "its instance, by what that says and not the client");
	is(e->business, "order-7", "and what the effect is on");
	ok(e->id != NULL && h.n == 3 && h.events[0].id == e->id &&
	    h.events[2].id == e->id, "all by one name");
	history_free(&h);
}

static const struct {
	const char *what, *words, *end, *noted;
	size_t len;		/* of its output; 0: what it has to say */
	const char *part;	/* in it, or NULL */
	int64_t least_ms;	/* from begin to what follows */
} rows[] = {
	{ "told nothing, it does its work", "", "exit 0", "begin commit end",
	  0, "effect e", 0 },
	{ "without an effect it begins and ends", "effect=none", "exit 0",
	  "begin end", 0, "nonce n17-0\n", 0 },
	{ "it takes its time before the effect", "service=30", "exit 0",
	  "begin commit end", 0, NULL, 30 },
	{ "const is that too", "service=const:31", "exit 0", "begin commit end",
	  0, NULL, 31 },
	{ "uniform is between its ends", "service=uniform:20:40", "exit 0",
	  "begin commit end", 0, NULL, 20 },
	{ "exp is no less than its least", "service=exp:1:25:30", "exit 0",
	  "begin commit end", 0, NULL, 25 },
	{ "choice is one of them", "service=choice:22:22:22", "exit 0",
	  "begin commit end", 0, NULL, 22 },
	{ "its body is as long as it should be", "output=70000 length=1",
	  "exit 0", "begin commit end", 0, "Content-Length: 70000\r\n", 0 },
	{ "its status is what it should be", "status=404", "exit 0",
	  "begin commit end", 0, "Status: 404 ", 0 },
	{ "and so is its exit status", "exit=3", "exit 3", "begin commit end",
	  0, "effect e", 0 },
	{ "killed before its effect it has none", "crash=before", "signal 9",
	  "begin", 0, "", 0 },
	{ "killed after it, it has", "crash=after", "signal 9", "begin commit",
	  0, "", 0 },
	{ "killed in its output it has said a half", "crash=output output=100",
	  "signal 9", "begin commit", 0, "Status: 200", 0 },
	{ "it ends after some bytes", "partial=20 exit=0", "exit 0",
	  "begin commit end", 20, "Status: 200 OK\r\nCont", 0 },
	{ "or after none", "partial=0 exit=1", "exit 1", "begin commit end", 0,
	  "", 0 },
	{ "-1 is all of them", "partial=-1 crash= business=", "exit 0",
	  "begin commit end", 0, "effect e", 0 }
};

static void
check_rows(void)
{
	struct history h;
	struct run run;
	char text[24];
	size_t i;
	int status;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		run = start(rows[i].words);
		status = ended(&run);
		is(noted(&h), rows[i].noted, "%s", rows[i].what);
		is(end_text(status, text), rows[i].end, "with its end");
		if (rows[i].len > 0)
			is_int((long long)world.len, (long long)rows[i].len,
			    "and its length");
		if (rows[i].part != NULL)
			ok(*rows[i].part == '\0' ? world.len == 0 :
			    strstr(world.out, rows[i].part) != NULL,
			    "and its output");
		if (rows[i].least_ms > 0)
			ok(between_ms(&h, 0, 1) >= rows[i].least_ms,
			    "and its time");
		history_free(&h);
	}
}

static void
check_long(void)
{
	struct run run = start("output=70000 length=1");
	struct history h;
	const char *body;

	ended(&run);
	body = strstr(world.out, "\r\n\r\n");
	is_int(body != NULL ? (long long)strlen(body + 4) : -1, 70000,
	    "a promised length is kept");
	noted(&h);
	history_free(&h);
	run = start("output=200000");
	close(run.out);
	run.out = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ok(WIFEXITED(ended(&run)), "it ends where nobody reads");
	is(noted(&h), "begin commit end", "and notes that");
	history_free(&h);
}

static void
check_words(void)
{
	struct run run = start("business=a\tb\nc effect=append output=x");
	struct history h;

	ended(&run);
	is(noted(&h), "begin commit end", "words that are none leave it whole");
	is(h.n > 1 ? h.events[1].business : "", "a_b_c",
	    "what would part a line does not");
	history_free(&h);
}

#define MANY 500		/* numbers of a choice, bytes of an output */

/* Whatever comes before a word, it counts; and the last of many is drawn. */
static void
check_no_end(void)
{
	char words[MANY * 24], text[24], output[4 * MANY];
	struct history h;
	struct run run;
	size_t i, n;
	int status;

	n = (size_t)snprintf(words, sizeof words, "service=choice");
	for (i = 0; i < MANY; i++)
		n += (size_t)snprintf(words + n, sizeof words - n,
		    ":%.17g", i < 40 ? 0.12345678901234567 :
		    30.123456789012345);
	snprintf(words + n, sizeof words - n, " crash=after");
	run = start(words);
	status = ended(&run);
	is(end_text(status, text), "signal 9",
	    "what comes after a long word is heard");
	is(noted(&h), "begin commit", "as it was said");
	/* Two of 25 are short: eleven in turn never are. */
	for (i = 0; i < 10 && between_ms(&h, 0, 1) < 30; i++) {
		history_free(&h);
		run = start(words);
		ended(&run);
		noted(&h);
	}
	ok(between_ms(&h, 0, 1) >= 30, "and any of many numbers is drawn");
	history_free(&h);
	memset(output, 'o', sizeof output);
	snprintf(output + sizeof output - 10, 10, "{attempt}");
	world.besides = output;
	run = start("");
	ended(&run);
	world.besides = NULL;
	ok(world.len > sizeof output && strcmp(world.out + world.len - 5,
	    "ooo2\n") == 0, "a long text is said to its end");
	noted(&h);
	history_free(&h);
}

/* A hundred at once. */
static void
check_many(void)
{
	struct run run[100];
	unsigned commits = 0;
	struct history h;
	size_t i;

	for (i = 0; i < 100; i++)
		run[i] = start("service=uniform:0:5 seed=7");
	for (i = 0; i < 100; i++)
		ended(&run[i]);
	noted(&h);
	is_int((long long)h.n, 300, "a hundred at once note three things each");
	for (i = 0; i < h.n; i++)
		commits += strcmp(h.events[i].ph, "commit") == 0;
	is_int(commits, 100, "one of them is the effect");
	ok(h.lanes_n == 100 && strcmp(h.events[0].id, "e1") == 0,
	    "and each effect has a name of its own");
	history_free(&h);
}

/* It draws otherwise each time: attempts differ, and processes do. */
static void
check_chance(void)
{
	int64_t least = INT64_MAX, most = 0, ms;
	struct history h;
	struct run run[20];
	size_t i, j;

	for (i = 0; i < 20; i++)
		run[i] = start("service=uniform:0:60 seed=7");
	for (i = 0; i < 20; i++)
		ended(&run[i]);
	noted(&h);
	for (i = 0; i < h.n; i++)
		for (j = i + 1; j < h.n; j++)
			if (h.events[i].id == h.events[j].id &&
			    strcmp(h.events[i].ph, "begin") == 0 &&
			    strcmp(h.events[j].ph, "commit") == 0) {
				ms = between_ms(&h, i, j);
				least = ms < least ? ms : least;
				most = ms > most ? ms : most;
			}
	ok(most - least > 15, "twenty of them take times of their own");
	history_free(&h);
}

/* --- labels --------------------------------------------------------------- */

/* The one who comes, and what he says; -1: nobody within 20 s. */
static int
came(char text[PATH])
{
	struct pollfd ready = { .fd = world.listener, .events = POLLIN };
	ssize_t n = -1;
	int fd = -1;

	text[0] = '\0';
	if (poll(&ready, 1, 20000) == 1)
		fd = accept4(world.listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd != -1)
		n = recv(fd, text, PATH - 1, 0);
	if (n > 0)
		text[n] = '\0';
	return fd;
}

static const struct {
	const char *what, *label, *word, *end, *noted;
	int64_t least_ms;
} stops[] = {
	{ "told to go, it goes on", "effect.before", "go", "exit 0",
	  "begin commit end", 0 },
	{ "told to sleep, it does", "effect.before", "sleep 40", "exit 0",
	  "begin commit end", 40 },
	{ "told to die, it has no effect", "effect.before", "kill", "signal 9",
	  "begin", 0 },
	{ "after its effect it has", "effect.after", "kill", "signal 9",
	  "begin commit", 0 },
	{ "told to fail, it does nothing", "effect.before", "fail 11", "exit 1",
	  "begin end", 0 },
	{ "or nothing more", "effect.after", "fail 11", "exit 1",
	  "begin commit end", 0 },
	{ "without a word it goes on", "effect.after", "", "exit 0",
	  "begin commit end", 0 }
};

static void
check_stops(void)
{
	char text[PATH], want[PATH], words[PATH], end[24];
	struct history h;
	struct run run;
	size_t i;
	int fd, status;

	for (i = 0; i < sizeof stops / sizeof *stops; i++) {
		snprintf(words, sizeof words, "labels=program.spawned,%s",
		    stops[i].label);
		run = start(words);
		fd = came(text);
		snprintf(want, sizeof want, "%s 00ab %ld g2", stops[i].label,
		    (long)run.pid);
		is(text, want, "it says who is where");
		if (*stops[i].word != '\0')
			(void)send(fd, stops[i].word, strlen(stops[i].word),
			    MSG_NOSIGNAL);
		close(fd);
		status = ended(&run);
		is(noted(&h), stops[i].noted, "%s", stops[i].what);
		is(end_text(status, end), stops[i].end, "with its end");
		if (stops[i].least_ms > 0)
			ok(between_ms(&h, 0, 1) >= stops[i].least_ms,
			    "and its time");
		history_free(&h);
	}
}

static void
check_paused(void)
{
	struct history h;
	struct run run = start("labels=effect.before,effect.after");
	int status = 0, fd;
	char text[PATH];

	fd = came(text);
	(void)send(fd, "stop", 4, MSG_NOSIGNAL);
	ok(waitpid(run.pid, &status, WUNTRACED) == run.pid &&
	    WIFSTOPPED(status), "told to stop, it does");
	close(fd);
	kill(run.pid, SIGCONT);
	fd = came(text);
	ok(strncmp(text, "effect.after ", 13) == 0,
	    "when it goes on it comes to the next label");
	close(fd);
	status = ended(&run);
	is(noted(&h), "begin commit end", "and to its end");
	history_free(&h);
	unlink(world.stops);
	run = start("labels=effect.before,effect.after");
	ended(&run);
	is(noted(&h), "begin commit end", "nobody there to ask means go");
	history_free(&h);
}

/* --- what it needs -------------------------------------------------------- */

static void
check_journal(void)
{
	char text[24];
	struct run run;

	snprintf(world.journal, sizeof world.journal, "%s/no/journal",
	    world.folder);
	run = start("");
	is(end_text(ended(&run), text), "exit 99",
	    "without a journal it does nothing that would not show");
	is(world.out, "", "and says nothing");
}

static void
make_world(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	const char *built = getenv("top_builddir");
	const char *libexec = getenv("IDEMSIM_LIBEXEC");

	snprintf(world.program, sizeof world.program, "%s/idemsim-program",
	    libexec != NULL ? libexec : built != NULL ? built : ".");
	if (access(world.program, X_OK) != 0)
		skip_all("idemsim-program is not built");
	snprintf(world.folder, sizeof world.folder,
	    "/tmp/t_sim_program.XXXXXX");
	if (mkdtemp(world.folder) == NULL)
		bail_out("%s: %s", world.folder, strerror(errno));
	snprintf(world.journal, sizeof world.journal, "%s/journal",
	    world.folder);
	snprintf(world.stops, sizeof world.stops, "%s/stops", world.folder);
	memcpy(at.sun_path, world.stops, strlen(world.stops) + 1);
	world.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (world.listener == -1 ||
	    bind(world.listener, (struct sockaddr *)&at, sizeof at) != 0 ||
	    listen(world.listener, 8) != 0)
		bail_out("%s: %s", world.stops, strerror(errno));
}

/* --- the page with a form ------------------------------------------------- */

static void
check_form(void)
{
	static const char *const forms[][2] = {
		{ "GET", "form" }, { "POST", "form" }, { "GET", "" }
	};
	struct history h;
	struct run run;
	char text[24];
	size_t i;

	for (i = 0; i < sizeof forms / sizeof *forms; i++) {
		world.method = forms[i][0];
		world.query = forms[i][1];
		run = start("effect=append");
		is(end_text(ended(&run), text), "exit 0", "%s with the query "
		    "\"%s\" is answered", forms[i][0], forms[i][1]);
		ok((strstr(world.out,
		    "<form method=\"post\" action=\"/order\">")
		    != NULL) == (i == 0), "%s a form", i == 0 ? "with" :
		    "without");
		is(noted(&h), i == 0 ? "" : "begin commit end", "and %s noted",
		    i == 0 ? "nothing is" : "it is");
		history_free(&h);
	}
	world.method = world.query = NULL;
}

int
main(void)
{
	char journal[100];

	signal(SIGPIPE, SIG_IGN);
	make_world();
	memcpy(journal, world.journal, sizeof journal);
	check_answer();
	check_form();
	check_rows();
	check_long();
	check_words();
	check_no_end();
	check_many();
	check_chance();
	check_stops();
	check_paused();
	check_journal();
	unlink(journal);
	rmdir(world.folder);
	return done();
}
