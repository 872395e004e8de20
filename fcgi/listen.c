/* SPDX-License-Identifier: ISC */
#include "listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 4096		/* a full one is the front's 502 */
#define SOCKET_MODE 0660
#define SYSTEMD_FIRST 3		/* SD_LISTEN_FDS_START */

static int
failed(char *error, size_t size, const char *what, const char *where,
    const char *why)
{
	snprintf(error, size, "%s %s: %s", what, where, why);
	return -1;
}

static int
finished(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	int high;

	if (fd <= STDERR_FILENO) {
		high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		if (high == -1)
			return -1;
		fd = high;
	}
	if (flags == -1 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) == -1 ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) == -1)
		return -1;
	return fd;
}

/* --- unix ----------------------------------------------------------------- */

/* Why the socket that is there cannot be replaced; NULL: it is stale, and
   refuses. */
static const char *
taken(const struct sockaddr_un *address)
{
	/* Non-blocking: with a full backlog it would wait for an accept. */
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	const char *why = "another process answers on it; stop it first";

	if (fd == -1)
		return strerror(errno);	/* not known: leave it alone */
	if (connect(fd, (const struct sockaddr *)address,
	    sizeof *address) == -1) {
		if (errno == ECONNREFUSED)
			why = NULL;
		else if (errno == EACCES)
			why = "a socket of another user's is there; remove it "
			    "if nobody listens on it";
	}
	close(fd);
	return why;
}

/* What the administrator has to do about it, where that is known. */
static const char *
refused(int error)
{
	switch (error) {
	case ENOENT:
		return "its folder is not there; make it, at each boot if it "
		    "lies in /run (RuntimeDirectory= of systemd.exec(5))";
	case EACCES:
		return "Permission denied; the user that idemd runs as must "
		    "be able to write its folder";
	case EADDRINUSE:	/* nobody answered, and it could not go */
		return "a socket that nobody listens on is left there, and "
		    "this user may not remove it; remove it";
	default:
		return strerror(error);
	}
}

static int
bind_unix(int fd, const struct sockaddr_un *address)
{
	mode_t mask = umask(0777 & ~SOCKET_MODE);
	int answer = bind(fd, (const struct sockaddr *)address,
	    sizeof *address);

	umask(mask);
	return answer;
}

static int
open_unix(const char *path, char *error, size_t size)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *why;
	struct stat st;
	int fd;

	if (*path == '\0')	/* would be an abstract one without a name */
		return failed(error, size, "socket", "unix:",
		    "a path is missing; say -s unix:PATH");
	if (strlen(path) >= sizeof address.sun_path)
		return failed(error, size, "socket", path, "the path is too "
		    "long (107 bytes at most); choose a shorter one");
	memcpy(address.sun_path, path, strlen(path) + 1);
	if (lstat(path, &st) == 0) {
		if (!S_ISSOCK(st.st_mode))
			return failed(error, size, "socket", path, "there is a "
			    "file that is no socket; choose another path");
		why = taken(&address);
		if (why != NULL)
			return failed(error, size, "socket", path, why);
		unlink(path);
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd == -1 || bind_unix(fd, &address) == -1 ||
	    listen(fd, BACKLOG) == -1) {
		failed(error, size, "socket", path, refused(errno));
		if (fd != -1)
			close(fd);
		return -1;
	}
	return fd;
}

/* --- tcp ------------------------------------------------------------------ */

/* getaddrinfo would take 65536 for 0. */
static bool
is_port(const char *text)
{
	size_t len = strspn(text, "0123456789");

	return len > 0 && len <= 5 && text[len] == '\0' && atoi(text) <= 65535;
}

static bool
split(const char *where, char *host, size_t size, const char **port)
{
	const char *colon = strrchr(where, ':');
	size_t len;

	if (colon == NULL || !is_port(colon + 1))
		return false;
	len = (size_t)(colon - where);
	if (len >= 2 && where[0] == '[' && where[len - 1] == ']') {
		where++;
		len -= 2;
	}
	if (len == 0 || len >= size)
		return false;
	memcpy(host, where, len);
	host[len] = '\0';
	*port = colon + 1;
	return true;
}

static int
open_address(const struct addrinfo *a)
{
	const int on = 1;
	int saved;
	int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC,
	    a->ai_protocol);

	if (fd == -1)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 &&
	    listen(fd, BACKLOG) == 0)
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

static int
open_tcp(const char *where, char *error, size_t size)
{
	const struct addrinfo hints = {
		.ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM
	};
	struct addrinfo *list, *a;
	const char *port;
	char host[256];
	int fd = -1;
	int problem;

	if (!split(where, host, sizeof host, &port))
		return failed(error, size, "socket tcp", where,
		    "not HOST:PORT; say tcp:127.0.0.1:9000");
	problem = getaddrinfo(host, port, &hints, &list);
	if (problem != 0)
		return failed(error, size, "socket tcp", where,
		    gai_strerror(problem));
	for (a = list; a != NULL && fd == -1; a = a->ai_next)
		fd = open_address(a);
	if (fd == -1)
		failed(error, size, "socket tcp", where, strerror(errno));
	freeaddrinfo(list);
	return fd;
}

/* --- passed --------------------------------------------------------------- */

static bool
is_listening(int fd)
{
	socklen_t len = sizeof(int);
	int on = 0;

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &len) == 0 &&
	    on != 0;
}

static int
passed(char *error, size_t size)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	int fd = STDIN_FILENO;

	if (pid != NULL && fds != NULL && atoi(pid) == (int)getpid() &&
	    atoi(fds) >= 1)
		fd = SYSTEMD_FIRST;
	if (is_listening(fd))
		return fd;
	snprintf(error, size, "no socket: descriptor %d is not a listening "
	    "one; say -s unix:PATH or -s tcp:HOST:PORT, or start idemd from "
	    "systemd, spawn-fcgi or a web server", fd);
	return -1;
}

const char *
listen_path(const char *where)
{
	if (where == NULL || strncmp(where, "tcp:", 4) == 0)
		return NULL;
	return strncmp(where, "unix:", 5) == 0 ? where + 5 : where;
}

int
listen_open(const char *where, char *error, size_t error_size)
{
	int fd;

	if (where == NULL)
		fd = passed(error, error_size);
	else if (*where != '/' && strchr(where, ':') != NULL &&
	    listen_path(where) == where)
		/* "127.0.0.1:9000": hardly a file's name */
		fd = failed(error, error_size, "socket", where,
		    "say -s unix:PATH or -s tcp:HOST:PORT");
	else if (listen_path(where) != NULL)
		fd = open_unix(listen_path(where), error, error_size);
	else
		fd = open_tcp(where + 4, error, error_size);
	if (fd == -1)
		return -1;
	fd = finished(fd);
	if (fd == -1)
		snprintf(error, error_size, "socket: %s", strerror(errno));
	return fd;
}
