/* SPDX-License-Identifier: ISC */
#include "idem_cgi.h"

#include "keeper.h"
#include "label.h"
#include "lobby.h"
#include "run_lock.h"
#include "spawn.h"
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_REFUSED 1
#define EXIT_SYSTEM 111
#define SEE_OFF_MS 1000

static const char usage[] =
    "usage: idem-cgi [--config FILE] [INTERPRETER] PROGRAM\n"
    "\n"
    "A web server calls it in place of a CGI program: see idem-cgi(1).\n"
    "Its ledger is that of --config, or in the environment of\n"
    "IDEM_CONFIG=FILE or IDEM_LEDGER=sqlite:PATH, or of the file\n"
    IDEM_CONF_FILE ".\n";

static void
complain(const char *what, const char *why)
{
	fprintf(stderr, "idem-cgi: %s: %s\n", what, why);
}

/* --- the lobby, and its keeper -------------------------------------------- */

/* What its process has of ours. */
struct served {
	struct conf *conf;
	int conn;		/* its end of the one connection */
	int said;		/* pipe: that it cannot begin */
	struct shm *shm;
	int lock_folder;
	pid_t keeper_pid;
	int keeper;		/* socket to it */
	uint64_t keeper_number;
};

/* Only what is said above: a web server may have left open anything. */
static int
let_go(const struct served *s)
{
	unsigned low = (unsigned)(s->conn < s->said ? s->conn : s->said);
	unsigned high = (unsigned)(s->conn < s->said ? s->said : s->conn);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null == -1 || dup2(null, STDIN_FILENO) == -1 ||
	    dup2(null, STDOUT_FILENO) == -1)
		return -1;
	if (spawn_close(STDERR_FILENO + 1, low - 1) == -1 ||
	    spawn_close(low + 1, high - 1) == -1 ||
	    spawn_close(high + 1, ~0u) == -1)
		return -1;
	return chdir("/");
}

/* As the master does: the lobby takes the ones it knows, the keeper all. */
static void
take_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_SETMASK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);	/* a full disk */
}

/*
 * A program gets the variables that the front has named, and ours besides
 * (program.h): what a client can say must not come that way.
 */
static void
keep_environment(void)
{
	char **from, **to;
	const char *value;

	for (from = to = environ; *from != NULL; from++) {
		value = strchr(*from, '=');
		if (value != NULL && strncmp(*from, "HTTP_", 5) != 0 &&
		    strncmp(value, "=() {", 5) != 0)
			*to++ = *from;
	}
	*to = NULL;
}

static bool
make_ledger(const struct conf *conf)
{
	char error[512];

	if (conf->ledger == NULL || !conf->create ||
	    access(conf->ledger, F_OK) == 0 ||
	    errno != ENOENT ||
	    idem_store_sqlite_create(conf->ledger, error, sizeof error) == 0 ||
	    access(conf->ledger, F_OK) == 0)	/* another was quicker */
		return true;
	complain("ledger", error);
	return false;
}

static bool
start_keeper(struct served *s)
{
	struct keeper_options ko = {
		.shm = s->shm,
		.grace_ms = s->conf->grace_ms
	};
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == -1)
		return false;
	s->keeper_number = atomic_fetch_add(&s->shm->next_keeper, 1);
	ko.number = s->keeper_number;
	s->keeper_pid = fork();
	if (s->keeper_pid == 0) {
		close(ends[0]);
		ko.socket = ends[1];
		_exit(keeper_main(&ko));
	}
	close(ends[1]);
	s->keeper = ends[0];
	return s->keeper_pid != -1;
}

static bool
prepare(struct served *s)
{
	char error[512];

	if (let_go(s) == -1 || !make_ledger(s->conf))
		return false;
	take_signals();
	keep_environment();
	s->lock_folder = idem_run_folder(s->conf->run, s->conf->ledger, true,
	    error, sizeof error);
	if (s->lock_folder == -1) {
		complain("run folder", error);
		return false;
	}
	s->shm = shm_new(1, 1, -1);
	if (s->shm != NULL && start_keeper(s))
		return true;
	complain("start", strerror(errno));
	return false;
}

static _Noreturn void
serve(struct served *s)
{
	static const char not_served = IDEM_CGI_NOT_SERVED;
	int status = EXIT_SYSTEM;

	if (prepare(s))
		status = lobby_main(&(struct lobby_options){
		    .conf = s->conf,
		    .shm = s->shm,
		    .listener = -1,
		    .control = -1,
		    .only = s->conn,
		    .keeper = s->keeper,
		    .keeper_number = s->keeper_number,
		    .lock_folder = s->lock_folder });
	if (status != 0)
		(void)!write(s->said, &not_served, 1);
	else		/* it ends with its last run */
		waitpid(s->keeper_pid, NULL, 0);
	if (s->shm != NULL)
		idem_cgi_alert(s->conf, s->shm, s->lock_folder);
	_exit(status);
}

/*
 * In a session of its own: a web server that kills us, with our group, stops
 * nothing that has begun.  But our child, so that it is not left to a first
 * process that reaps nobody, as containers have.  Its pid, or -1.
 */
static pid_t
detach(struct served *s)
{
	pid_t pid = fork();

	if (pid == 0) {
		setsid();
		serve(s);
	}
	return pid;
}

/* It has said all: it ends about now, unless something is left to be written
   down, which is not worth our staying. */
static void
see_off(pid_t lobby, int said)
{
	struct pollfd end = { .fd = said };

	/* Who waits for our output must not wait for this. */
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	if (poll(&end, 1, SEE_OFF_MS) == 1)
		waitpid(lobby, NULL, 0);
}

/* --- perhaps with a key -------------------------------------------------- */

static int
hand_over(struct idem_cgi_call *call, struct conf *conf)
{
	struct served s = { .conf = conf };
	int ends[2], said[2], status = -1;
	bool over = false;
	pid_t lobby = -1;

	idem_cgi_conf_name(conf, call);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == -1)
		return -1;
	if (pipe2(said, O_CLOEXEC | O_NONBLOCK) == -1) {
		close(ends[0]);
		close(ends[1]);
		return -1;
	}
	s.conn = ends[1];
	s.said = said[1];
	signal(SIGCHLD, SIG_DFL);	/* a server may ignore it */
	if (fcntl(s.conn, F_SETFL, O_NONBLOCK) == 0)
		lobby = detach(&s);
	close(ends[1]);
	close(said[1]);
	if (lobby != -1)
		status = idem_cgi_talk(&call->params, ends[0], said[0], &over);
	else
		close(ends[0]);
	if (over)
		see_off(lobby, said[0]);
	close(said[0]);
	return status;
}

/* --- without -------------------------------------------------------------- */

static int
refuse(const struct idem_cgi_call *call, enum idem_problem problem,
    const char *why)
{
	complain(call->program.path != NULL ? call->program.path : "program",
	    why != NULL ? why : idem_problem_form(problem)->title);
	idem_cgi_refuse(&call->params, problem, NULL);
	return EXIT_REFUSED;
}

static int
run_in_place(struct idem_cgi_call *call, char *const *set)
{
	struct spawned failed = { .failed = SPAWN_EXEC };
	const char *folder = call->program.folder;

	if (!idem_cgi_call_set(call, set))
		return refuse(call, IDEM_PROBLEM_BUSY, NULL);
	if (folder != NULL && chdir(folder) == -1)
		return refuse(call, IDEM_PROBLEM_FORBIDDEN_PROGRAM,
		    strerror(errno));
	execve(call->argv[0], call->argv, call->params.at);
	failed.error = errno;
	return refuse(call, spawn_problem(&failed, call->argv[0]),
	    strerror(errno));
}

/* -------------------------------------------------------------------------- */

static int
misconfigured(const struct idem_cgi_call *call, const char *error)
{
	fprintf(stderr, "idem-cgi: %s\n", error);
	idem_cgi_refuse(&call->params, IDEM_PROBLEM_BROKEN_PROGRAM,
	    "The log of its web server says what is missing.");
	return EXIT_REFUSED;
}

/* Idemd, or another of us, has claimed its key already and waits for it. */
static bool
is_inside(const struct idem_cgi_call *call)
{
	return idem_params_get(&call->params, "IDEMPOTENCY_KEY") != NULL;
}

static int
answer(struct idem_cgi_call *call)
{
	const struct conf_route *route = NULL;
	struct program_rule rule;
	enum idem_problem problem;
	struct conf *conf = NULL;
	const char *why = NULL;
	char error[1024];
	bool may = false;
	int status;

	if (idem_cgi_call_is_direct(call)) {
		complain("called directly", "no program is named; see "
		    "idem-cgi(1), CALLING");
		idem_cgi_refuse(&call->params, IDEM_PROBLEM_FORBIDDEN_PROGRAM,
		    "This address is not to be asked for directly.");
		return EXIT_REFUSED;
	}
	if (!is_inside(call)) {
		conf = idem_cgi_conf_read(call, error, sizeof error);
		if (conf == NULL)
			return misconfigured(call, error);
		may = idem_cgi_conf_may_have_key(conf, &call->params, &route);
	}
	rule = idem_cgi_conf_rule(route);
	problem = idem_cgi_call_find(call, &rule, &why);
	if (problem != IDEM_PROBLEM_NONE)
		return refuse(call, problem, why);
	if (!may)
		return run_in_place(call, rule.set);
	status = hand_over(call, conf);
	return status != -1 ? status :
	    refuse(call, IDEM_PROBLEM_BUSY, strerror(errno));
}

static bool
standard_descriptors(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	return fd != -1 && close(fd) == 0;
}

int
main(int argc, char **argv)
{
	struct idem_cgi_call call;

	if (getenv("GATEWAY_INTERFACE") == NULL) {
		if (argc == 2 && strcmp(argv[1], "--version") == 0) {
			puts("idem-cgi " PACKAGE_VERSION);
			return 0;
		}
		if (argc == 2 && strcmp(argv[1], "--help") == 0) {
			fputs(usage, stdout);
			return 0;
		}
		fputs(usage, stderr);
		return 2;
	}
	IDEM_LABELS_INIT();
	if (!standard_descriptors() ||
	    !idem_cgi_call_read(&call, argv, environ))
		return EXIT_SYSTEM;
	/* One request: what it took goes with the process. */
	_exit(answer(&call));
}
