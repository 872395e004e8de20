/* SPDX-License-Identifier: ISC */
#include "server_private.h"

#include "folder.h"
#include "now.h"
#include "paths.h"
#include "preload.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define TURN_MS 1
#define PORT_TRIES 50
#define STARTS_MAX 5		/* on one port after the other */
#define PORT_FIRST 10000	/* below those that connections are given */
#define PORTS 20000

const char *
server_missing(bool sentinel)
{
	(void)sentinel;		/* it is the same program */
	return paths_command("redis-server") != NULL ? NULL :
	    "redis-server is not installed";
}

/* --- its start ------------------------------------------------------------ */

static bool
is_free(int port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
	bool done;

	if (fd == -1)
		return false;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	done = bind(fd, (struct sockaddr *)&at, sizeof at) == 0;
	close(fd);
	return done;
}

/*
 * One that is free now; another may take it before the server does.  Not one of
 * the kernel's choice: those it may give to a connection while a server that
 * was killed is away.
 */
static int
free_port(void)
{
	uint32_t chance;
	int i, port;

	for (i = 0; i < PORT_TRIES; i++) {
		if (getrandom(&chance, sizeof chance, 0) !=
		    (ssize_t)sizeof chance)
			return -1;
		port = PORT_FIRST + (int)(chance % PORTS);
		if (is_free(port))
			return port;
	}
	errno = EADDRINUSE;
	return -1;
}

static void
has_ended(struct child *c)
{
	struct server *s = c->arg;

	s->frozen = false;
	if (s->ended != NULL && s->in->settled)
		s->ended(s);
}

static int
spawn(struct server *s)
{
	const char *argv[] = { paths_command("redis-server"), s->in->conf,
		s->in->watched != NULL ? "--sentinel" : NULL, NULL };
	const char *env[] = { s->in->shift, s->in->preload, NULL };
	const struct child_spec spec = {
		.name = s->child.name, .argv = argv,
		.env = s->in->shift[0] != '\0' ? env : NULL,
		.folder = s->in->data, .log = s->in->log, .pass = -1
	};

	if (argv[0] == NULL) {
		errno = ENOENT;
		return -1;
	}
	s->child.ended = has_ended;
	s->child.arg = s;
	s->frozen = false;
	return child_start(s->in->loop, &s->child, &spec);
}

int
server_launch(struct server *s)
{
	s->port = free_port();
	if (s->port == -1)
		return -1;
	if (s->in->watched != NULL)
		snprintf(s->url, sizeof s->url, "127.0.0.1:%d", s->port);
	return server_conf_write(s) == 0 ? spawn(s) : -1;
}

/* Names and a folder.  What was there before may be an earlier one's. */
int
server_open(struct loop *loop, struct server *s, const struct plan_store *plan,
    const char *folder, const char *name)
{
	void (*ended)(struct server *) = s->ended;
	void *arg = s->arg;
	struct server_private *in = calloc(1, sizeof *in);

	if (in == NULL)
		return -1;
	*s = (struct server){ .plan = plan, .ended = ended, .arg = arg,
		.in = in, .life = 1 };
	in->loop = loop;
	snprintf(s->child.name, sizeof s->child.name, "%s", name);
	if (snprintf(s->folder, sizeof s->folder, "%s/%s", folder, name) >=
	    (int)sizeof s->folder) {
		errno = ENAMETOOLONG;
		return -1;
	}
	snprintf(in->data, sizeof in->data, "%s/data", s->folder);
	snprintf(in->older, sizeof in->older, "%s/older", s->folder);
	snprintf(in->conf, sizeof in->conf, "%s/redis.conf", s->folder);
	snprintf(in->log, sizeof in->log, "%s/log", s->folder);
	if ((mkdir(s->folder, 0700) == -1 && errno != EEXIST) ||
	    (mkdir(in->data, 0700) == -1 && errno != EEXIST))
		return -1;
	return 0;
}

static int
set_clock(struct server_private *in, const char *shift)
{
	const char *library = paths_find("idemsim-preload.so");

	if (shift == NULL)
		return 0;
	if (library == NULL ||
	    snprintf(in->shift, sizeof in->shift, PRELOAD_SHIFT "=%s", shift) >=
	    (int)sizeof in->shift ||
	    snprintf(in->preload, sizeof in->preload, "LD_PRELOAD=%s", library)
	    >= (int)sizeof in->preload) {
		errno = library == NULL ? ENOENT : ENAMETOOLONG;
		return -1;
	}
	return 0;
}

int
server_start(struct loop *loop, struct server *s, const struct plan_store *plan,
    const char *folder, int master_port, const char *shift)
{
	int error;

	if (server_open(loop, s, plan, folder, plan->name) == 0) {
		s->in->master_port = master_port;
		snprintf(s->socket, sizeof s->socket, "%s/sock", s->folder);
		snprintf(s->url, sizeof s->url, "unix:%s", s->socket);
		if (set_clock(s->in, shift) == 0 && server_launch(s) == 0)
			return 0;
	}
	error = errno;
	server_end(s);
	errno = error;
	return -1;
}

/* --- until it is there ---------------------------------------------------- */

/* "redis_version:7.0.15" */
static void
read_version(struct server *s, struct idem_bytes info)
{
	static const char name[] = "redis_version:";
	const char *at = memmem(info.at, info.len, name, sizeof name - 1);
	size_t left, n = 0;

	if (at == NULL)
		return;
	at += sizeof name - 1;
	left = (size_t)((const char *)info.at + info.len - at);
	while (n < left && n + 1 < sizeof s->version && at[n] > ' ')
		n++;
	memcpy(s->version, at, n);
	s->version[n] = '\0';
}

static bool
answers(struct server *s, int64_t until_ms)
{
	const char *const ping[] = { "PING", NULL };
	const char *const info[] = { "INFO", "server", NULL };
	struct server_talk t;
	struct idem_bytes reply;
	bool ready;

	server_talk_open_until(&t, s, until_ms);
	server_talk_words(&t, ping);
	if (s->version[0] == '\0')
		server_talk_words(&t, info);
	reply = server_talk_get(&t);
	ready = reply.len > 0 && *(const char *)reply.at == '+';
	if (ready && s->version[0] == '\0')
		read_version(s, server_talk_get(&t));
	server_talk_close(&t);
	return ready;
}

int
server_await(struct loop *loop, struct server *s, int64_t wait_ms)
{
	int64_t until_ms = now_ms() + wait_ms;
	int starts = 1;

	while (s->in != NULL && now_ms() < until_ms) {
		if (s->child.pid == 0 && (s->in->settled ||
		    starts++ == STARTS_MAX || server_launch(s) == -1))
			return -1;
		if (!s->frozen && answers(s, until_ms)) {
			s->in->settled = true;
			return 0;
		}
		if (loop_turn(loop, now_ms() + TURN_MS) == -1)
			return -1;
	}
	errno = ETIMEDOUT;
	return -1;
}

/* --- what is done to it --------------------------------------------------- */

void
server_kill(struct server *s)
{
	s->child.doomed = true;
	if (child_signal(&s->child, SIGKILL) == 0)
		child_await_state(s->child.pid, "ZX");
}

void
server_freeze(struct server *s)
{
	if (child_signal(&s->child, SIGSTOP) == 0)
		s->frozen = child_await_state(s->child.pid, "T");
}

void
server_thaw(struct server *s)
{
	if (child_signal(&s->child, SIGCONT) == 0)
		s->frozen = false;
}

static int
put_data(struct server_private *in, bool empty, bool older)
{
	if (!empty && !older)
		return 0;
	if (older && access(in->older, F_OK) == -1)
		return -1;
	if (folder_remove(in->data) == -1)
		return -1;
	return older ? folder_copy(in->older, in->data) :
	    mkdir(in->data, 0700);
}

int
server_again(struct loop *loop, struct server *s, bool empty, bool older)
{
	if (s->in == NULL) {
		errno = ESRCH;
		return -1;
	}
	s->in->loop = loop;
	child_forget(&s->child);	/* none may write there any more */
	if (put_data(s->in, empty, older) == -1)
		return -1;
	s->life++;
	return spawn(s);
}

void
server_end(struct server *s)
{
	s->child.doomed = true;
	child_forget(&s->child);
	free(s->in);
	s->in = NULL;
	s->frozen = false;
}
