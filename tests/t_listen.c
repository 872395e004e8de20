/* SPDX-License-Identifier: ISC */
#include "listen.h"

#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define HANG_S 300	/* nothing here may wait; then the test is ended */
#define NOBODY 65534
#define PATH_LONGEST (sizeof ((struct sockaddr_un *)0)->sun_path - 1)

/* Places that there are none of, and what is said of each. */
static const struct {
	const char *what;
	const char *where;
	const char *says[2];
} wrong[] = {
	{ "a host without a port", "tcp:127.0.0.1",
	  { "127.0.0.1", "not HOST:PORT; say tcp:127.0.0.1:9000" } },
	{ "an empty port", "tcp:127.0.0.1:", { "127.0.0.1:", "HOST:PORT" } },
	{ "an empty host", "tcp::9000", { ":9000", "HOST:PORT" } },
	{ "empty brackets", "tcp:[]:9000", { "[]:9000", "HOST:PORT" } },
	{ "brackets without a port", "tcp:[::1]", { "[::1]", "HOST:PORT" } },
	{ "nothing at all behind tcp", "tcp:", { "tcp", "HOST:PORT" } },
	{ "a port over 65535", "tcp:127.0.0.1:65536",
	  { "127.0.0.1:65536", "HOST:PORT" } },
	{ "a port of many digits", "tcp:127.0.0.1:4294967297",
	  { "4294967297", "HOST:PORT" } },
	{ "a negative port", "tcp:127.0.0.1:-1", { "-1", "HOST:PORT" } },
	{ "a port with more behind it", "tcp:127.0.0.1:80x",
	  { "80x", "HOST:PORT" } },
	{ "an address of another machine", "tcp:192.0.2.1:0",
	  { "192.0.2.1:0", "annot assign" } },
	{ "host and port without tcp", "127.0.0.1:9000",
	  { "127.0.0.1:9000", "say -s unix:PATH or -s tcp:HOST:PORT" } },
	{ "a kind that nobody knows", "tcp6:[::1]:9000",
	  { "tcp6:[::1]:9000", "say -s unix:PATH or -s tcp:HOST:PORT" } },
	{ "unix without a path", "unix:", { "unix:", "a path is missing" } },
	{ "nothing", "", { "unix:", "a path is missing" } },
	{ "a folder that is missing", "unix:none/x",
	  { "none/x", "its folder is not there; make it" } },
	{ "a file that is no socket", "unix:file",
	  { "file", "no socket; choose another path" } },
	{ "a folder", "unix:folder", { "folder", "no socket" } },
	{ "a link to nothing", "unix:link", { "link", "no socket" } },
	{ "a socket in use", "unix:live",
	  { "live", "another process answers on it; stop it first" } },
	{ "one in use whose queue is full", "unix:stuck",
	  { "stuck", "another process answers on it" } },
	{ "one of another kind in use", "unix:datagram",
	  { "datagram", "another process answers on it" } },
};

static int
bound(const char *path, int kind, int backlog)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, kind | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
	if (fd == -1 || bind(fd, (struct sockaddr *)&a, sizeof a) != 0 ||
	    (backlog >= 0 && listen(fd, backlog) != 0))
		bail_out("%s: %s", path, strerror(errno));
	return fd;
}

/* Non-blocking: -1 where a connection would have to wait. */
static int
connected(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
	if (connect(fd, (struct sockaddr *)&a, sizeof a) == 0)
		return fd;
	close(fd);
	return -1;
}

static bool
is_good(int fd)
{
	socklen_t len = sizeof(int);
	int on = 0;

	return fd > STDERR_FILENO &&
	    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &len) == 0 && on &&
	    (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0 &&
	    (fcntl(fd, F_GETFL) & O_NONBLOCK) != 0;
}

/* --- unix ----------------------------------------------------------------- */

static void
check_wrong(void)
{
	int live = bound("live", SOCK_STREAM, 5), i, file, fd;
	int stuck = bound("stuck", SOCK_STREAM, 0);
	int datagram = bound("datagram", SOCK_DGRAM, -1), fill[16];
	char error[512];
	size_t n;

	file = open("file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (file == -1 || mkdir("folder", 0755) || symlink("nothing", "link"))
		bail_out("files");
	for (i = 0; i < 16; i++)
		fill[i] = connected("stuck");
	ok(fill[15] == -1, "(a queue can be filled)");
	for (n = 0; n < sizeof wrong / sizeof *wrong; n++) {
		error[0] = '\0';
		fd = listen_open(wrong[n].where, error, sizeof error);
		is_int(fd, -1, "%s is no place to listen", wrong[n].what);
		if (!ok(strstr(error, wrong[n].says[0]) != NULL &&
		    strstr(error, wrong[n].says[1]) != NULL,
		    "%s: that is said", wrong[n].what))
			note("%s", error);
	}
	fd = connected("live");
	ok(fd != -1, "a socket in use goes on answering");
	ok(access("file", F_OK) == 0 && access("127.0.0.1:9000", F_OK) != 0,
	    "no file is lost or made on the way");
	close(fd);
	for (i = 0; i < 16; i++)
		if (fill[i] != -1)
			close(fill[i]);
	close(live);
	close(stuck);
	close(datagram);
	close(file);
}

/* What a user without rights is told; root becomes nobody, in a child. */
static void
check_rights(void)
{
	static const struct { const char *where, *says; } rows[] = {
		{ "unix:shut/new", "must be able to write its folder" },
		{ "unix:shut/dead", "may not remove it; remove it" },
		{ "unix:shut/theirs", "remove it if nobody listens on it" },
	};
	char error[512];
	int status = -1;
	size_t i;
	pid_t pid;

	if (mkdir("shut", 0755) != 0)
		bail_out("shut");
	close(bound("shut/dead", SOCK_STREAM, 0));
	close(bound("shut/theirs", SOCK_STREAM, 0));
	if (chmod("shut/dead", 0777) != 0 || chmod("shut/theirs", 0) != 0 ||
	    chmod("shut", 0555) != 0 || chmod(".", 0711) != 0)
		bail_out("shut");
	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		pid = fork();
		if (pid == 0) {
			if (geteuid() == 0 && (setgid(NOBODY) != 0 ||
			    setuid(NOBODY) != 0))
				_exit(2);
			_exit(listen_open(rows[i].where, error, sizeof error) ==
			    -1 && strstr(error, rows[i].says) != NULL ? 0 : 1);
		}
		waitpid(pid, &status, 0);
		is_int(status, 0, "%s: \"%s\"", rows[i].where, rows[i].says);
	}
	if (chmod("shut", 0755) != 0 || remove("shut/dead") != 0 ||
	    remove("shut/theirs") != 0 || rmdir("shut") != 0)
		note("shut is left");
}

static void
check_open(const char *where, const char *path, const char *what)
{
	char error[512] = "";
	int fd = listen_open(where, error, sizeof error), client;

	client = connected(path);
	if (!ok(is_good(fd) && client != -1, "%s", what))
		note("%s", error);
	close(client);
	close(fd);
}

static void
check_paths(void)
{
	char where[5 + 2 * PATH_LONGEST] = "unix:", error[512] = "";

	check_open("unix:new", "new", "a path is listened on");
	check_open("unix:new", "new", "and again, when nobody does any more");
	check_open("bare", "bare", "a path may stand alone");
	check_open("unix:a:b", "a:b", "behind unix: a path may hold a colon");
	memset(where + 5, 'p', PATH_LONGEST);
	check_open(where, where + 5, "the longest path is listened on");
	where[5 + PATH_LONGEST] = 'p';
	ok(listen_open(where, error, sizeof error) == -1 &&
	    strstr(error, where + 5) != NULL &&
	    strstr(error, "107 bytes at most") != NULL,
	    "a longer one is refused, and that is said");
}

static void
check_mode(mode_t mask)
{
	mode_t before = umask(mask);
	char error[512];
	int fd = listen_open("unix:mode", error, sizeof error);
	struct stat st = { 0 };
	mode_t after = umask(before);

	ok(stat("mode", &st) == 0 && (st.st_mode & 07777) == 0660,
	    "under umask %03o a socket has mode 0660 [cgi:C09]", mask);
	ok(after == mask, "and umask %03o stays", mask);
	close(fd);
}

/* --- tcp ------------------------------------------------------------------ */

static int
port_of(int fd, int family)
{
	struct sockaddr_storage a = { 0 };
	socklen_t len = sizeof a;

	if (getsockname(fd, (struct sockaddr *)&a, &len) != 0 ||
	    a.ss_family != family)
		return 0;
	return family == AF_INET ? ntohs(((struct sockaddr_in *)&a)->sin_port) :
	    ntohs(((struct sockaddr_in6 *)&a)->sin6_port);
}

static bool
has_ipv6(void)
{
	struct sockaddr_in6 a = {
		.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT
	};
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool has = fd != -1 && bind(fd, (struct sockaddr *)&a, sizeof a) == 0;

	if (fd != -1)
		close(fd);
	return has;
}

static void
check_tcp(void)
{
	char where[64], error[512] = "";
	int fd = listen_open("tcp:127.0.0.1:0", error, sizeof error);
	int port = port_of(fd, AF_INET);

	ok(is_good(fd) && port > 0, "port 0 is one that is free");
	snprintf(where, sizeof where, "tcp:127.0.0.1:%d", port);
	ok(listen_open(where, error, sizeof error) == -1 &&
	    strstr(error, where + 4) != NULL && strstr(error, "in use") != NULL,
	    "one in use is refused, and that is said");
	close(fd);
	fd = listen_open(where, error, sizeof error);
	ok(is_good(fd) && port_of(fd, AF_INET) == port,
	    "one that was left is taken at once");
	close(fd);
	if (!has_ipv6()) {
		skip("no IPv6 here", "an IPv6 host stands in brackets");
		return;
	}
	fd = listen_open("tcp:[::1]:0", error, sizeof error);
	ok(is_good(fd) && port_of(fd, AF_INET6) > 0,
	    "an IPv6 host stands in brackets");
	close(fd);
}

/* --- passed --------------------------------------------------------------- */

/* Descriptors and LISTEN_* as whoever starts idemd sets them. */
struct start {
	const char *what;
	const char *pid, *fds;	/* NULL: not set; "self": this process */
	bool at_0, at_3;	/* a listening socket there, else /dev/null */
	const char *says;	/* NULL: it is taken; else the error */
};

static const struct start starts[] = {
	{ "a socket at descriptor 0 is taken", NULL, NULL, true, false, NULL },
	{ "one of systemd's at 3 is taken", "self", "1", false, true, NULL },
	{ "systemd's goes before descriptor 0", "self", "1", true, true,
	  NULL },
	{ "of several of systemd's the first is taken", "self", "3", false,
	  true, NULL },
	{ "systemd's word to another process is not ours", "1", "1", true,
	  false, NULL },
	{ "without a socket nothing is taken", NULL, NULL, false, true,
	  "descriptor 0 is not a listening one; say -s unix:PATH or -s "
	  "tcp:HOST:PORT" },
	{ "nor if systemd passes none", "self", "0", false, true,
	  "descriptor 0 is not a listening one; say -s" },
	{ "nor if what it passes is no socket", "self", "1", true, false,
	  "descriptor 3 is not a listening one; say -s" },
};

static void
place(int fd, bool listening)
{
	int source = listening ? bound(fd == 0 ? "at-0" : "at-3", SOCK_STREAM,
	    5) : open("/dev/null", O_RDWR | O_CLOEXEC);

	if (dup2(source, fd) != fd)
		_exit(3);
	if (source != fd)
		close(source);
}

static void
set(const char *name, const char *value)
{
	char self[16];

	snprintf(self, sizeof self, "%d", (int)getpid());
	if (value == NULL)
		unsetenv(name);
	else
		setenv(name, strcmp(value, "self") == 0 ? self : value, 1);
}

/* 0 if all is as it should be. */
static int
try_start(const struct start *s)
{
	char error[512] = "";
	const char *want = s->at_3 && s->fds != NULL ? "at-3" : "at-0";
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	socklen_t len = sizeof a;
	int fd;

	place(0, s->at_0);
	place(3, s->at_3);
	set("LISTEN_PID", s->pid);
	set("LISTEN_FDS", s->fds);
	fd = listen_open(NULL, error, sizeof error);
	if (s->says != NULL)
		return fd != -1 || strstr(error, s->says) == NULL;
	return !is_good(fd) ||
	    getsockname(fd, (struct sockaddr *)&a, &len) != 0 ||
	    strcmp(a.sun_path, want) != 0;
}

static void
check_starts(void)
{
	int status;
	size_t i;
	pid_t pid;

	for (i = 0; i < sizeof starts / sizeof *starts; i++) {
		fflush(stdout);
		status = -1;
		pid = fork();
		if (pid == 0)
			_exit(try_start(&starts[i]));
		waitpid(pid, &status, 0);
		is_int(status, 0, "%s", starts[i].what);
		unlink("at-0");
		unlink("at-3");
	}
}

static void
check_listen_path(void)
{
	is(listen_path("unix:/run/x"), "/run/x", "unix: is not of the path");
	is(listen_path("/run/x"), "/run/x", "a path is one");
	is(listen_path("tcp:127.0.0.1:9000"), NULL, "tcp has no path");
	is(listen_path(NULL), NULL, "what was passed has no path of ours");
}

int
main(void)
{
	static const char *const names[] = {
		"live", "stuck", "datagram", "file", "folder", "link", "new",
		"bare", "a:b", "mode"
	};
	const char *tmp = getenv("TMPDIR");
	char top[PATH_MAX], longest[PATH_LONGEST + 1] = "";
	size_t i;

	snprintf(top, sizeof top, "%s/idem-listen-XXXXXX",
	    tmp != NULL && *tmp != '\0' ? tmp : "/tmp");
	if (mkdtemp(top) == NULL || chdir(top) != 0)
		bail_out("%s cannot be made", top);
	alarm(HANG_S);
	check_wrong();
	check_rights();
	check_paths();
	check_mode(0);
	check_mode(077);
	check_mode(0777);
	check_tcp();
	check_starts();
	check_listen_path();
	for (i = 0; i < sizeof names / sizeof *names; i++)
		remove(names[i]);
	memset(longest, 'p', PATH_LONGEST);
	remove(longest);
	if (chdir("/") != 0 || rmdir(top) != 0)
		note("%s is left", top);
	return done();
}
