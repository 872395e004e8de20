/* SPDX-License-Identifier: ISC */
#include "keeper_wire.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
	struct cmsghdr head;	/* for its alignment */
	char at[CMSG_SPACE(KEEPER_FDS_MAX * sizeof(int))];
};

/* --- sending -------------------------------------------------------------- */

static void
attach(struct msghdr *msg, union control *control, const int *fds, unsigned n)
{
	struct cmsghdr *c;

	memset(control, 0, sizeof *control);
	msg->msg_control = control->at;
	msg->msg_controllen = CMSG_SPACE(n * sizeof *fds);
	c = CMSG_FIRSTHDR(msg);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof *fds);
	memcpy(CMSG_DATA(c), fds, n * sizeof *fds);
}

int
keeper_wire_send(int socket, struct keeper_packet *p)
{
	struct msghdr msg = { .msg_iov = p->parts, .msg_iovlen = 2 };
	union control control;
	ssize_t sent;

	if (p->fds_len > 0)
		attach(&msg, &control, p->fds, p->fds_len);
	do {
		sent = sendmsg(socket, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent < 0 ? -1 : 0;
}

/* --- receiving ------------------------------------------------------------ */

/* True: they are those that the ask says, each in its place. */
static bool
take_fds(struct keeper_message *m, struct msghdr *msg)
{
	int fds[KEEPER_FDS_MAX];
	unsigned i, n = 0, at = 0;
	struct cmsghdr *c;
	bool all = true;

	for (c = CMSG_FIRSTHDR(msg); c != NULL; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof *fds);
		memcpy(fds, CMSG_DATA(c), n * sizeof *fds);
	}
	for (i = 0; i < KEEPER_FDS_MAX; i++) {
		m->fds[i] = -1;
		if ((m->ask.fds & 1u << i) == 0)
			continue;
		if (at < n)
			m->fds[i] = fds[at++];
		else
			all = false;
	}
	for (i = at; i < n; i++)
		close(fds[i]);
	return all && at == n;
}

/* The next string of the area, NULL when there is no whole one. */
static char *
next_string(char **at, size_t *left)
{
	char *string = *at, *end;

	if (*left == 0 || (end = memchr(string, '\0', *left)) == NULL)
		return NULL;
	*at = end + 1;
	*left -= (size_t)(end + 1 - string);
	return string;
}

static int
take_list(char **list, uint32_t n, char **at, size_t *left)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if ((list[i] = next_string(at, left)) == NULL)
			return EINVAL;
	list[n] = NULL;
	return 0;
}

static int
take_strings(struct keeper_message *m, char **words, char *at)
{
	size_t left = m->ask.strings_len;

	m->argv = words;
	m->envp = words + m->ask.args + 1;
	m->path = next_string(&at, &left);
	m->folder = m->ask.has_folder ? next_string(&at, &left) : NULL;
	if (m->path == NULL || (m->ask.has_folder && m->folder == NULL))
		return EINVAL;
	if (take_list(m->argv, m->ask.args, &at, &left) != 0)
		return EINVAL;
	return take_list(m->envp, m->ask.envs, &at, &left);
}

/*
 * Read, not mapped from the file: who may still shorten it could end us by
 * SIGBUS.  Our own memory, and given back, so that we do not grow.
 */
static int
fetch_apart(struct keeper_message *m)
{
	size_t words_len = ((size_t)m->ask.args + m->ask.envs + 2) *
	    sizeof(char *);
	size_t got = 0;
	ssize_t n;
	char *at;

	m->apart_len = words_len + m->ask.strings_len;
	m->apart = mmap(NULL, m->apart_len, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (m->apart == MAP_FAILED) {
		m->apart = NULL;
		return ENOMEM;
	}
	at = (char *)m->apart + words_len;
	while (got < m->ask.strings_len) {
		n = pread(m->fds[KEEPER_FD_APART], at + got,
		    m->ask.strings_len - got, (off_t)got);
		if (n <= 0)
			return EINVAL;
		got += (size_t)n;
	}
	return take_strings(m, m->apart, at);
}

static int
unpack(struct keeper_message *m, size_t bytes_len)
{
	const struct keeper_ask *a = &m->ask;

	if (a->strings_len > KEEPER_APART_BYTES_MAX ||
	    a->args > KEEPER_APART_WORDS_MAX ||
	    a->envs > KEEPER_APART_WORDS_MAX)
		return E2BIG;
	if (m->fds[KEEPER_FD_IN] < 0 || m->fds[KEEPER_FD_ERR] < 0 ||
	    m->fds[a->spooled ? KEEPER_FD_FILE : KEEPER_FD_OUT] < 0)
		return EINVAL;
	if (m->fds[KEEPER_FD_APART] >= 0)
		return fetch_apart(m);
	if (a->strings_len != bytes_len ||
	    a->args + a->envs > KEEPER_WORDS_MAX)
		return EINVAL;
	return take_strings(m, m->words, m->bytes);
}

enum keeper_got
keeper_wire_receive(int socket, struct keeper_message *m)
{
	struct iovec parts[] = {
		{ .iov_base = &m->ask, .iov_len = sizeof m->ask },
		{ .iov_base = m->bytes, .iov_len = sizeof m->bytes }
	};
	union control control;
	struct msghdr msg = {
		.msg_iov = parts, .msg_iovlen = 2,
		.msg_control = control.at, .msg_controllen = sizeof control.at
	};
	bool all;
	ssize_t n;

	do {
		/*
		 * ECONNRESET: the other end closed without reading all of
		 * ours.  What it sent before is still to be read.
		 */
		n = recvmsg(socket, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (n < 0 && (errno == EINTR || errno == ECONNRESET));
	if (n < 0)
		return errno == EAGAIN ? KEEPER_NOTHING : KEEPER_OVER;
	if ((size_t)n < sizeof m->ask)
		m->ask = (struct keeper_ask){ 0 };	/* of no op */
	m->apart = NULL;
	all = take_fds(m, &msg);
	if (n == 0)
		return KEEPER_OVER;
	m->error = 0;
	if ((msg.msg_flags & MSG_TRUNC) != 0)
		m->error = EINVAL;
	else if ((msg.msg_flags & MSG_CTRUNC) != 0)
		m->error = EMFILE;	/* no room for all of them here */
	else if (!all)
		m->error = EINVAL;
	else if (m->ask.op == KEEPER_START)
		m->error = unpack(m, (size_t)n - sizeof m->ask);
	return KEEPER_GOT;
}

int
keeper_wire_take(struct keeper_message *m, enum keeper_fd which)
{
	int fd = m->fds[which];

	m->fds[which] = -1;
	return fd;
}

void
keeper_wire_drop(struct keeper_message *m)
{
	unsigned i;

	for (i = 0; i < KEEPER_FDS_MAX; i++)
		if (m->fds[i] >= 0)
			close(m->fds[i]);
	if (m->apart != NULL)
		munmap(m->apart, m->apart_len);
	m->apart = NULL;
}
