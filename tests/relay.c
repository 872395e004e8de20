/* SPDX-License-Identifier: ISC */
#include "relay.h"

#include "rig.h"
#include "rows.h"
#include "tap.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAIRS 64
#define PIECES 64		/* of one direction, on their way */
#define PIECE 16384

struct piece {
	int64_t due_ms;
	size_t len, sent;
	char at[PIECE];
};

/* One direction of a connection. */
struct lane {
	int from, to;		/* -1: closed */
	struct piece piece[PIECES];
	unsigned first, len;
	bool ended;		/* nothing more comes */
};

struct pair {
	struct lane lane[2];
	bool used;
};

struct relaying {
	int listener;
	const char *server;
	volatile int32_t *delay_ms;
	struct pair pair[PAIRS];
};

static int
unix_socket(const char *path, struct sockaddr_un *at)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*at = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(at->sun_path, sizeof at->sun_path, "%.107s", path);
	if (fd == -1)
		bail_out("socket: %s", strerror(errno));
	return fd;
}

/* --- what passes ---------------------------------------------------------- */

static void
take(struct relaying *r, struct lane *l)
{
	struct piece *p = &l->piece[(l->first + l->len) % PIECES];
	ssize_t n = recv(l->from, p->at, PIECE, MSG_DONTWAIT);

	if (n == 0 || (n == -1 && errno != EAGAIN && errno != EINTR))
		l->ended = true;
	if (n <= 0)
		return;
	p->len = (size_t)n;
	p->sent = 0;
	p->due_ms = rig_now_ms() + *r->delay_ms;
	l->len++;
}

static void
give(struct lane *l)
{
	struct piece *p = &l->piece[l->first];
	ssize_t n;

	while (l->len > 0 && p->due_ms <= rig_now_ms()) {
		n = send(l->to, p->at + p->sent, p->len - p->sent,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n == -1 && errno != EAGAIN && errno != EINTR)
			l->ended = true;
		if (n == -1)
			return;
		p->sent += (size_t)n;
		if (p->sent < p->len)
			return;
		l->first = (l->first + 1) % PIECES;
		l->len--;
		p = &l->piece[l->first];
	}
}

static void
carry(struct relaying *r, struct pair *pair)
{
	struct lane *there = &pair->lane[0], *back = &pair->lane[1];

	give(there);
	give(back);
	if (there->len < PIECES && !there->ended)
		take(r, there);
	if (back->len < PIECES && !back->ended)
		take(r, back);
	if ((there->ended && there->len == 0) ||
	    (back->ended && back->len == 0)) {
		close(there->from);
		close(there->to);
		pair->used = false;
	}
}

static void
meet(struct relaying *r)
{
	int client = accept4(r->listener, NULL, NULL, SOCK_CLOEXEC), server;
	struct sockaddr_un at;
	struct pair *pair;

	for (pair = r->pair; pair < r->pair + PAIRS && pair->used; pair++)
		;
	server = unix_socket(r->server, &at);
	if (client == -1 || pair == r->pair + PAIRS ||
	    connect(server, (struct sockaddr *)&at, sizeof at) == -1) {
		close(server);
		if (client != -1)
			close(client);
		return;
	}
	memset(pair, 0, sizeof *pair);
	pair->lane[0].from = pair->lane[1].to = client;
	pair->lane[1].from = pair->lane[0].to = server;
	pair->used = true;
}

/* --- the process ---------------------------------------------------------- */

static bool
is_laden(const struct pair *pair)
{
	return pair->lane[0].len + pair->lane[1].len > 0;
}

static void
turn(struct relaying *r)
{
	struct pollfd fds[1 + 2 * PAIRS];
	int wait_ms = 1000;
	nfds_t n = 0;
	unsigned i;

	fds[n++] = (struct pollfd){ .fd = r->listener, .events = POLLIN };
	for (i = 0; i < PAIRS; i++) {
		if (!r->pair[i].used)
			continue;
		fds[n++] = (struct pollfd){ .fd = r->pair[i].lane[0].from,
			.events = POLLIN };
		fds[n++] = (struct pollfd){ .fd = r->pair[i].lane[1].from,
			.events = POLLIN };
		if (is_laden(&r->pair[i]))
			wait_ms = 1;
	}
	poll(fds, n, wait_ms);
	for (i = 0; i < PAIRS; i++)
		if (r->pair[i].used)
			carry(r, &r->pair[i]);
	if (fds[0].revents != 0)
		meet(r);
}

void
relay_open(struct relay *relay, const char *path, const char *server)
{
	static struct relaying r;
	struct sockaddr_un at;

	relay->delay_ms = rows_shared(sizeof *relay->delay_ms);
	r = (struct relaying){ .server = server, .delay_ms = relay->delay_ms };
	r.listener = unix_socket(path, &at);
	if (bind(r.listener, (struct sockaddr *)&at, sizeof at) == -1 ||
	    listen(r.listener, 64) == -1)
		bail_out("%s: %s", path, strerror(errno));
	fflush(NULL);
	relay->pid = fork();
	if (relay->pid == -1)
		bail_out("fork: %s", strerror(errno));
	if (relay->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			turn(&r);
	}
	close(r.listener);
}

void
relay_cut(struct relay *relay)
{
	int status;

	kill(relay->pid, SIGSTOP);
	waitpid(relay->pid, &status, WUNTRACED);
}

void
relay_mend(struct relay *relay)
{
	kill(relay->pid, SIGCONT);
}

void
relay_close(struct relay *relay)
{
	if (relay->pid == 0)
		return;
	kill(relay->pid, SIGKILL);
	waitpid(relay->pid, NULL, 0);
	relay->pid = 0;
}
