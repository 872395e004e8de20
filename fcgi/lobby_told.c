/* SPDX-License-Identifier: ISC */
#include "lobby.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- from the keeper ------------------------------------------------------ */

static void
keeper_ended(void *arg, uint64_t id, const struct run_end *end,
    struct idem_bytes out)
{
	run_cgi_ended(arg, id, end, out);
}

static void
keeper_lost(void *arg)
{
	struct lobby *lobby = arg;
	int fd = lobby->next_socket;

	log_line(&lobby->log, "keeper=%llu lost, its runs are unknown",
	    (unsigned long long)runner_keeper(lobby->runner));
	/* Also those that it was to free for runs it never saw. */
	shm_slots_of(lobby->shm, runner_keeper(lobby->runner));
	runner_free(lobby->runner);
	lobby->runner = NULL;
	run_cgi_keeper_lost(lobby);
	lobby->next_socket = -1;
	if (fd != -1)
		lobby_keeper(lobby, lobby->next_keeper, fd);
}

void
lobby_keeper(struct lobby *lobby, uint64_t number, int fd)
{
	static const struct runner_user user = {
		.ended = keeper_ended, .lost = keeper_lost
	};

	if (lobby->runner != NULL) {	/* dead: first what it had to say */
		if (lobby->next_socket != -1)
			close(lobby->next_socket);
		lobby->next_keeper = number;
		lobby->next_socket = fd;
		return;
	}
	lobby->runner = runner_new(lobby->loop, fd, number, &user, lobby);
	if (lobby->runner == NULL) {
		log_line_quoted(&lobby->log, "error", strerror(errno),
		    "keeper=%llu", (unsigned long long)number);
		close(fd);	/* it ends, and the master starts another */
	}
	lobby_serve_queue(lobby);
}

/* --- from the master ------------------------------------------------------ */

/* Descriptors come beside a message; -1 when none did, or found no room. */
static int
received_fd(struct msghdr *msg)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);
	int fd;

	if (c == NULL || c->cmsg_level != SOL_SOCKET ||
	    c->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(c), sizeof fd);
	return fd;
}

/* Requests under way keep the old one. */
static void
use_conf(struct lobby *lobby, struct conf *conf)
{
	conf_drop(lobby->conf);
	lobby->conf = conf;
	if (conf->lease_max_ms > lobby->lease_max_ms)
		lobby->lease_max_ms = conf->lease_max_ms;
	if (conf->limit_max_ms > lobby->limit_max_ms)
		lobby->limit_max_ms = conf->limit_max_ms;
	/* An entry does not say for how long its answer is kept: it was as
	   long as its route said. */
	idem_cache_clear(&lobby->cache);
	idem_cache_resize(&lobby->cache, conf->cache_size);
	if (!stores_follow(&lobby->stores, conf))
		lobby_stop(lobby);
}

static bool
read_text(int fd, struct idem_buf *text)
{
	char piece[16 * 1024];
	ssize_t n;

	while ((n = pread(fd, piece, sizeof piece, (off_t)text->len)) > 0 ||
	    (n == -1 && errno == EINTR))
		if (n > 0)
			idem_buf_append(text, piece, (size_t)n);
	return n == 0 && idem_buf_ok(text);
}

/*
 * The master has read this text, so we can, unless memory or descriptors are
 * out: then the next lobby, which has it from the master, serves in our place.
 */
static void
new_conf(struct lobby *lobby, int fd)
{
	struct idem_buf text = { 0 };
	struct conf *conf = NULL;
	char error[1024] = "no memory";

	if (fd == -1)
		snprintf(error, sizeof error, "no descriptor for its text");
	else if (read_text(fd, &text))
		conf = options_read_text(lobby->options, idem_buf_bytes(&text),
		    error, sizeof error);
	idem_buf_free(&text);
	if (fd != -1)
		close(fd);
	if (conf != NULL) {
		use_conf(lobby, conf);
		return;
	}
	log_line_quoted(&lobby->log, "error", error, "reload");
	lobby_stop(lobby);
}

static void
told(struct lobby *lobby, const struct lobby_message *message, int fd)
{
	switch (message->what) {
	case LOBBY_KEEPER:
		if (fd != -1)	/* else it ends, and another comes */
			lobby_keeper(lobby, message->number, fd);
		return;
	case LOBBY_CONF:
		new_conf(lobby, fd);
		return;
	}
	if (fd != -1)
		close(fd);
}

void
lobby_told_ready(struct watch *w, uint32_t events)
{
	struct lobby *lobby =
	    (struct lobby *)((char *)w - offsetof(struct lobby, control));
	struct lobby_message message;
	union {
		char at[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} rights;
	struct iovec iov = { &message, sizeof message };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = rights.at, .msg_controllen = sizeof rights.at
	};
	ssize_t n;
	int fd;

	(void)events;
	n = recvmsg(w->fd, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {	/* the master is gone: finish what runs */
		loop_unwatch(lobby->loop, w);
		lobby_stop(lobby);
		return;
	}
	fd = received_fd(&msg);
	if (n == (ssize_t)sizeof message)
		told(lobby, &message, fd);
	else if (fd != -1)
		close(fd);
}
