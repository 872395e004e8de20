/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "port_hold.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Started in each way in which a socket is handed over, stopped and started
 * again; for some peers only; and without any socket at all.
 */
#define WAIT_MS 20000

static const char place[] =
    "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\necho done\n";

/* --- an idemd with descriptors of our choice ------------------------------ */

struct how {
	const char *what;
	int input;		/* its descriptor 0; -1: closed */
	int third;		/* systemd's, its descriptor 3; -1: none */
	const char *option;	/* -s; NULL: none */
	bool no_output;		/* 1 and 2 are closed */
};

static const struct how nothing = { .input = -1, .third = -1 };

static void
descriptors(struct rig *rig, const struct how *how)
{
	int log = open(rig->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
	    0644);
	char pid[24];

	if (how->input >= 0)
		dup2(how->input, 0);
	else
		close(0);
	dup2(log, 1);
	dup2(log, 2);
	if (how->no_output) {
		close(1);
		close(2);
	}
	if (how->third < 0)
		return;
	dup2(how->third, 3);
	snprintf(pid, sizeof pid, "%d", (int)getpid());
	setenv("LISTEN_FDS", "1", 1);
	setenv("LISTEN_PID", pid, 1);
}

static void
become(struct rig *rig, const struct how *how)
{
	const char *idemd = getenv("IDEMD"), *argv[16];
	char ledger[RIG_PATH + 16], program[RIG_PATH];
	size_t n = 0;

	snprintf(ledger, sizeof ledger, "sqlite:%s", rig->ledger);
	snprintf(program, sizeof program, "%s", rig_at(rig, "p"));
	argv[n++] = idemd != NULL ? idemd : "./idemd";
	argv[n++] = "--ledger";
	argv[n++] = ledger;
	argv[n++] = "--create";
	if (how->option != NULL) {
		argv[n++] = "-s";
		argv[n++] = how->option;
	}
	argv[n++] = "--";
	argv[n++] = program;
	argv[n] = NULL;
	descriptors(rig, how);
	execv(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

static void
spawn(struct rig *rig, const struct how *how)
{
	fflush(NULL);
	unlink(rig->log);
	rig->pid = fork();
	if (rig->pid == -1)
		bail_out("fork: %s", strerror(errno));
	if (rig->pid == 0) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		become(rig, how);
	}
	setpgid(rig->pid, rig->pid);
}

/* Its status; -1 if it does not end by itself. */
static int
await_end(struct rig *rig)
{
	int64_t until_ms = rig_now_ms() + WAIT_MS;
	int status = -1;

	while (waitpid(rig->pid, &status, WNOHANG) == 0)
		if (rig_now_ms() > until_ms) {
			rig_stop(rig, 0);
			return -1;
		} else {
			poll(NULL, 0, 5);
		}
	rig->pid = 0;
	return status;
}

/* --- with a socket -------------------------------------------------------- */

/* Above 9, out of the way of what a child rearranges. */
static int
high(int fd)
{
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, 10);

	close(fd);
	if (moved == -1)
		bail_out("no socket: %s", strerror(errno));
	return moved;
}

static int
listen_unix(struct rig *rig)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(at.sun_path, sizeof at.sun_path, "%.107s", rig->socket);
	unlink(rig->socket);
	rig->port = 0;
	if (bind(fd, (struct sockaddr *)&at, sizeof at) == -1 ||
	    listen(fd, 16) == -1)
		bail_out("%s: %s", rig->socket, strerror(errno));
	return high(fd);
}

/* The same port each time, which the last idemd must have let go; between them
   it is nobody's either. */
static int
listen_tcp(struct rig *rig)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	if (rig->held == -1)
		rig->port = port_hold(&rig->held);
	at.sin_port = htons((uint16_t)rig->port);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, (struct sockaddr *)&at, sizeof at) == -1 ||
	    listen(fd, 16) == -1)
		bail_out("port %d: %s", rig->port, strerror(errno));
	return high(fd);
}

static const struct rig_request request = { .method = "POST", .path = "/p" };

/* One that it binds by itself is there only after a while. */
static void
await_socket(struct rig *rig)
{
	int64_t until_ms = rig_now_ms() + WAIT_MS;
	int fd;

	while ((fd = rig_connect(rig)) == -1 && rig_now_ms() < until_ms)
		poll(NULL, 0, 5);
	if (fd != -1)
		close(fd);
}

static void
serve_once(struct rig *rig, const struct how *how, const char *when)
{
	spawn(rig, how);
	if (how->input >= 0)
		close(how->input);
	if (how->third >= 0)
		close(how->third);
	await_socket(rig);
	ask(rig, &request, "200", "%s, %s", how->what, when);
	is_int(rig_stop(rig, WAIT_MS), 0, "it ends with status 0 [F20]");
	ok(rig_connect(rig) == -1, "and nobody has its socket open");
}

static const struct {
	const char *what;
	int (*listens)(struct rig *);
	enum { INPUT, SYSTEMD, OPTION } given;
	bool no_output;
} ways[] = {
	{ "a unix socket at descriptor 0 [cgi:C04 F1]", listen_unix, INPUT,
	    false },
	{ "a TCP socket at descriptor 0 [cgi:C04 F1]", listen_tcp, INPUT,
	    false },
	{ "one there, with 1 and 2 closed [F1]", listen_unix, INPUT, true },
	{ "a unix socket of systemd's [cgi:C04]", listen_unix, SYSTEMD, false },
	{ "a TCP socket of systemd's [cgi:C04]", listen_tcp, SYSTEMD, false },
	{ "-s unix: [cgi:C04]", listen_unix, OPTION, false },
	{ "-s tcp: [cgi:C04]", listen_tcp, OPTION, false },
};

static void
way(struct rig *rig, size_t i, const char *when)
{
	struct how how = nothing;
	char option[RIG_PATH + 16];
	int fd = ways[i].listens(rig);

	how.what = ways[i].what;
	how.no_output = ways[i].no_output;
	switch (ways[i].given) {
	case INPUT:
		how.input = fd;
		break;
	case SYSTEMD:
		how.third = fd;
		break;
	case OPTION:
		close(fd);	/* the place is known, and free */
		if (rig->port != 0)
			snprintf(option, sizeof option, "tcp:127.0.0.1:%d",
			    rig->port);
		else
			snprintf(option, sizeof option, "unix:%s",
			    rig->socket);
		how.option = option;
		break;
	}
	serve_once(rig, &how, when);
}

static void
each_way(void)
{
	struct rig rig;
	size_t i;

	for (i = 0; i < sizeof ways / sizeof *ways; i++) {
		rig_open(&rig);
		rig_program(&rig, "p", place);
		way(&rig, i, "once");
		way(&rig, i, "started again");
		way(&rig, i, "and again");
		rig_end(&rig);
	}
}

/* --- who may connect ------------------------------------------------------ */

static void
listed_peers(void)
{
	static const struct {
		const char *what, *list, *want;
		bool tcp;
	} rows[] = {
		{ "a peer that is listed", "192.0.2.1,127.0.0.1", "200", true },
		{ "one that is not", "192.0.2.1", "closed", true },
		{ "one on a unix socket, who has no address", "127.0.0.1",
		    "closed", false },
	};
	struct rig rig;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		setenv("FCGI_WEB_SERVER_ADDRS", rows[i].list, 1);
		rig_open(&rig);
		rig.tcp = rows[i].tcp;
		rig_program(&rig, "p", place);
		ask_start(&rig, (const char *[]){ "--", rig_at(&rig, "p"),
		    NULL });
		ask(&rig, &request, rows[i].want, "%s [F2]", rows[i].what);
		is_int(rig_stop(&rig, WAIT_MS), 0, "idemd ends with status 0");
		rig_end(&rig);
	}
	unsetenv("FCGI_WEB_SERVER_ADDRS");
}

/* --- without one ---------------------------------------------------------- */

static int
terminal(void)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY);

	if (fd == -1 || grantpt(fd) == -1 || unlockpt(fd) == -1)
		return -1;
	return fd;
}

static int
connected(void)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == -1)
		return -1;
	/* The other end stays open: it must not wait for it either. */
	return high(pair[0]);
}

static void
no_socket(struct rig *rig, const char *what, int input)
{
	struct how how = nothing;
	int status;
	char *log;

	how.input = input;
	spawn(rig, &how);
	status = await_end(rig);
	ok(status != -1 && WIFEXITED(status) && WEXITSTATUS(status) != 0,
	    "with %s instead of a socket it does not start [cgi:C08]", what);
	is_int(rig_lines(rig, "log", NULL), 1, "says one line [cgi:C08]");
	log = rig_slurp(rig, "log");
	ok(log != NULL && strncmp(log, "idemd: ", 7) == 0,
	    "which is its own [cgi:C08]");
	free(log);
	if (input != -1)
		close(input);
}

int
main(void)
{
	struct rig rig;

	each_way();
	listed_peers();
	rig_open(&rig);
	rig_program(&rig, "p", place);
	no_socket(&rig, "/dev/null", high(open("/dev/null", O_RDWR)));
	no_socket(&rig, "a file", high(open(rig_at(&rig, "p"), O_RDONLY)));
	no_socket(&rig, "a terminal", high(terminal()));
	no_socket(&rig, "a connected socket", connected());
	no_socket(&rig, "nothing", -1);
	rig_end(&rig);
	return done();
}
