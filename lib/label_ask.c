/* SPDX-License-Identifier: ISC */
#include "label.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/*
 * A connection a thread, so that two that wait do not get each other's word;
 * and a new one after a fork.
 */
struct line {
	int fd;
	pid_t pid;		/* whose it is; 0: nobody's yet */
};

static _Thread_local struct line mine;

/* What stands behind it in the list: ",", "!" or nothing; '?': it does not. */
static char
listed(const char *name)
{
	const char *list = getenv("IDEMSIM_LABELS");
	size_t len = strlen(name);

	while (list != NULL && *list != '\0') {
		if (strncmp(list, name, len) == 0 &&
		    strchr(",!", list[len]) != NULL)
			return list[len];
		list = strchr(list, ',');
		if (list != NULL)
			list++;
	}
	return '?';
}

bool
idem_label_wanted(const char *name)
{
	return listed(name) != '?';
}

static int
connected(void)
{
	const char *path = getenv("IDEMSIM_STOPS");
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd;

	if (mine.pid == getpid())
		return mine.fd;
	mine.pid = getpid();
	mine.fd = -1;
	if (path == NULL || strlen(path) >= sizeof to.sun_path)
		return -1;
	memcpy(to.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd != -1 &&
	    connect(fd, (const struct sockaddr *)&to, sizeof to) == -1) {
		close(fd);
		fd = -1;
	}
	mine.fd = fd;
	return fd;
}

static void
rest(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/* What it says; an errno, if the caller is to fail. */
static int
obey(const char *word)
{
	if (strcmp(word, "kill") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(word, "stop") == 0)
		kill(getpid(), SIGSTOP);
	if (strncmp(word, "sleep ", 6) == 0)
		rest(strtol(word + 6, NULL, 10));
	if (strncmp(word, "fail ", 5) == 0)
		return (int)strtol(word + 5, NULL, 10);
	return 0;
}

int
idem_label_ask(const char *name, const char *key)
{
	const char *lane = getenv("IDEMSIM_LANE");
	char text[256];
	int fd = connected();
	bool told = listed(name) == '!';
	int len = snprintf(text, sizeof text, "%s %s %ld %s%s", name, key,
	    (long)getpid(), lane != NULL ? lane : "-", told ? " told" : "");
	ssize_t n;

	if (fd == -1 || send(fd, text, (size_t)len, MSG_NOSIGNAL |
	    (told ? MSG_DONTWAIT : 0)) != len || told)
		return 0;
	/* Whoever asked is gone: then nobody waits for anything. */
	do
		n = recv(fd, text, sizeof text - 1, 0);
	while (n == -1 && errno == EINTR);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	return obey(text);
}
