/* SPDX-License-Identifier: ISC */
#include "keeper_wire.h"
#include "loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define STRINGS_KEPT (64 * 1024)	/* room for the next start */
#define SOCKET_SIZE (1024 * 1024)	/* asked for: many starts at once */

struct runner {
	struct watch watch;	/* first: its ready finds us */
	struct loop *loop;
	uint64_t keeper;
	const struct runner_user *user;
	void *arg;
	bool lost;
	bool *freed;		/* to be set when a callback frees us */
	struct idem_buf strings;
	struct idem_buf later;	/* struct keeper_ask that the socket refused */
	uint8_t out[KEEPER_OUT_MAX];	/* of the end that is being told */
};

uint64_t
runner_keeper(const struct runner *r)
{
	return r->keeper;
}

/* --- what it tells -------------------------------------------------------- */

static void
lose(struct runner *r)
{
	int fd = r->watch.fd;

	r->lost = true;
	loop_unwatch(r->loop, &r->watch);
	close(fd);
	r->user->lost(r->arg);
}

static bool
is_whole_word(const struct keeper_tell *tell, ssize_t n)
{
	if (n < (ssize_t)sizeof *tell)
		return false;
	return (uint64_t)n - sizeof *tell ==
	    (tell->end.whole ? tell->end.len : 0);
}

/* True if there may be more. */
static bool
hear_one(struct runner *r)
{
	struct keeper_tell tell;
	struct iovec parts[] = {
		{ .iov_base = &tell, .iov_len = sizeof tell },
		{ .iov_base = r->out, .iov_len = sizeof r->out }
	};
	struct msghdr msg = { .msg_iov = parts, .msg_iovlen = 2 };
	ssize_t n = recvmsg(r->watch.fd, &msg, MSG_DONTWAIT);

	if (is_whole_word(&tell, n)) {
		r->user->ended(r->arg, tell.id, &tell.end, (struct idem_bytes){
		    r->out, tell.end.whole ? (size_t)tell.end.len : 0 });
		return true;
	}
	/* It died with asks of ours unread; what it told before is there. */
	if (n < 0 && (errno == EINTR || errno == ECONNRESET))
		return true;
	if (n < 0 && errno == EAGAIN)
		return false;
	lose(r);
	return false;
}

static int
send_small(struct runner *r, struct keeper_ask *ask)
{
	struct keeper_packet packet = {
		.parts[0] = { ask, sizeof *ask }
	};

	return keeper_wire_send(r->watch.fd, &packet);
}

static void
send_later(struct runner *r)
{
	struct keeper_ask ask;

	while (r->later.len >= sizeof ask) {
		memcpy(&ask, r->later.at, sizeof ask);
		if (send_small(r, &ask) != 0)
			return;	/* full again; or its end, heard soon */
		idem_buf_drop(&r->later, sizeof ask);
	}
	idem_buf_clear(&r->later);
	loop_change(r->loop, &r->watch, EPOLLIN);
}

static void
ready(struct watch *w, uint32_t events)
{
	struct runner *r = (struct runner *)w;
	bool freed = false;

	if ((events & EPOLLOUT) != 0)
		send_later(r);
	r->freed = &freed;
	while (hear_one(r) && !freed)
		;
	if (!freed)
		r->freed = NULL;
}

/* --- what it is asked ----------------------------------------------------- */

/* Small words are never lost: a settled run's lock would stay for ever. */
static void
ask_small(struct runner *r, enum keeper_op op, uint64_t id, int signal)
{
	struct keeper_ask ask;

	if (r->lost)
		return;
	memset(&ask, 0, sizeof ask);
	ask.op = op;
	ask.id = id;
	ask.signal = signal;
	if (r->later.len == 0 && send_small(r, &ask) == 0)
		return;
	idem_buf_append(&r->later, &ask, sizeof ask);
	loop_change(r->loop, &r->watch, EPOLLIN | EPOLLOUT);
}

void
runner_kill(struct runner *r, uint64_t id)
{
	ask_small(r, KEEPER_KILL, id, 0);
}

void
runner_signal(struct runner *r, uint64_t id, int signal)
{
	ask_small(r, KEEPER_SIGNAL, id, signal);
}

void
runner_settled(struct runner *r, uint64_t id)
{
	ask_small(r, KEEPER_SETTLED, id, 0);
}

void
runner_unknown(struct runner *r, uint64_t id)
{
	ask_small(r, KEEPER_UNKNOWN, id, 0);
}

void
runner_left(struct runner *r, uint64_t id)
{
	ask_small(r, KEEPER_LEFT, id, 0);
}

static uint32_t
add_list(struct idem_buf *b, char *const *list)
{
	uint32_t n;

	for (n = 0; list[n] != NULL; n++)
		idem_buf_append(b, list[n], strlen(list[n]) + 1);
	return n;
}

static int
pack(struct runner *r, uint64_t id, const struct run_spec *s,
    struct keeper_ask *ask)
{
	struct idem_buf *b = &r->strings;

	memset(ask, 0, sizeof *ask);
	ask->op = KEEPER_START;
	ask->id = id;
	ask->spooled = s->spooled;
	ask->owner = s->owner;
	ask->slot = s->slot;
	ask->limit_ms = s->limit_ms;
	ask->not_after_ms = s->not_after_ms;
	ask->has_folder = s->folder != NULL;
	idem_buf_clear(b);
	idem_buf_append(b, s->path, strlen(s->path) + 1);
	if (s->folder != NULL)
		idem_buf_append(b, s->folder, strlen(s->folder) + 1);
	ask->args = add_list(b, s->argv);
	ask->envs = add_list(b, s->envp);
	if (!idem_buf_ok(b) || b->len > UINT32_MAX) {
		errno = ENOMEM;
		return -1;
	}
	ask->strings_len = (uint32_t)b->len;
	return 0;
}

static int
memory_file(const struct idem_buf *b)
{
	int fd = memfd_create("idem-run", MFD_CLOEXEC);
	size_t done = 0;
	ssize_t n;

	while (fd >= 0 && done < b->len) {
		n = write(fd, b->at + done, b->len - done);
		if (n <= 0) {
			close(fd);
			return -1;
		}
		done += (size_t)n;
	}
	return fd;
}

/* Those that there are go, one after the other. */
static void
add_fd(struct keeper_packet *p, int *fds, struct keeper_ask *ask,
    enum keeper_fd which, int fd)
{
	if (fd < 0)
		return;
	ask->fds |= 1u << which;
	fds[p->fds_len++] = fd;
}

static int
send_start(struct runner *r, struct keeper_ask *ask, const struct run_spec *s)
{
	int fds[KEEPER_FDS_MAX], apart, sent;
	struct keeper_packet packet = {
		.parts[0] = { ask, sizeof *ask },
		.fds = fds
	};

	add_fd(&packet, fds, ask, KEEPER_FD_IN, s->in);
	if (!s->spooled)
		add_fd(&packet, fds, ask, KEEPER_FD_OUT, s->out);
	add_fd(&packet, fds, ask, KEEPER_FD_ERR, s->err);
	add_fd(&packet, fds, ask, KEEPER_FD_FILE, s->note.file);
	add_fd(&packet, fds, ask, KEEPER_FD_LOCK, s->note.lock);
	add_fd(&packet, fds, ask, KEEPER_FD_ERR_READ, s->err_read);
	if (ask->strings_len > KEEPER_APART_BYTES_MAX)
		/* Its length alone says that it is too much. */
		return keeper_wire_send(r->watch.fd, &packet);
	if (ask->strings_len <= KEEPER_BYTES_MAX &&
	    ask->args + ask->envs <= KEEPER_WORDS_MAX) {
		packet.parts[1].iov_base = r->strings.at;
		packet.parts[1].iov_len = r->strings.len;
		return keeper_wire_send(r->watch.fd, &packet);
	}
	apart = memory_file(&r->strings);
	if (apart < 0)
		return -1;
	add_fd(&packet, fds, ask, KEEPER_FD_APART, apart);
	sent = keeper_wire_send(r->watch.fd, &packet);
	close(apart);
	return sent;
}

static void
close_ends(const struct run_spec *s)
{
	if (s->in >= 0)
		close(s->in);
	if (s->out >= 0 && s->out != s->in)
		close(s->out);
	if (s->err >= 0 && s->err != s->in && s->err != s->out)
		close(s->err);
}

int
runner_start(struct runner *r, uint64_t id, const struct run_spec *s)
{
	struct keeper_ask ask;
	int answer = -1;

	if (!r->lost && pack(r, id, s, &ask) == 0)
		answer = send_start(r, &ask, s);
	close_ends(s);
	if (r->strings.size > STRINGS_KEPT)
		idem_buf_free(&r->strings);
	return answer;
}

/* --- its life ------------------------------------------------------------- */

void
runner_free(struct runner *r)
{
	int fd;

	if (r == NULL)
		return;
	if (r->freed != NULL)
		*r->freed = true;
	if (!r->lost) {
		fd = r->watch.fd;
		loop_unwatch(r->loop, &r->watch);
		close(fd);
	}
	idem_buf_free(&r->strings);
	idem_buf_free(&r->later);
	free(r);
}

struct runner *
runner_new(struct loop *loop, int socket, uint64_t keeper,
    const struct runner_user *user, void *arg)
{
	const int size = SOCKET_SIZE;
	struct runner *r = calloc(1, sizeof *r);

	if (r == NULL)
		return NULL;
	r->loop = loop;
	r->keeper = keeper;
	r->user = user;
	r->arg = arg;
	r->watch.ready = ready;
	/* As much as we may have; less only refuses sooner. */
	setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
	if (loop_watch(loop, &r->watch, socket, EPOLLIN) != 0) {
		free(r);
		return NULL;
	}
	return r;
}
