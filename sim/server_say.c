/* SPDX-License-Identifier: ISC */
#include "server_private.h"

#include "address.h"
#include "now.h"
#include "resp.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SAY_MS 10000		/* it may have to wait for the processor */
#define REPLY_MAX (64u * 1024 * 1024)

/* False: not by then. */
static bool
await(int fd, short events, int64_t until_ms)
{
	struct pollfd p = { .fd = fd, .events = events };
	int64_t left_ms;
	int n;

	do {
		left_ms = until_ms - now_ms();
		n = poll(&p, 1, left_ms > 0 ? (int)left_ms : 0);
	} while (n == -1 && errno == EINTR);
	return n > 0;
}

/* For one step, a connection or a reply. */
static int64_t
step_until_ms(const struct server_talk *t)
{
	int64_t until_ms = now_ms() + SAY_MS;

	return until_ms < t->until_ms ? until_ms : t->until_ms;
}

void
server_talk_open_until(struct server_talk *t, const struct server *s,
    int64_t until_ms)
{
	struct address address;
	bool connected = false;

	*t = (struct server_talk){ .fd = -1, .in.max = REPLY_MAX,
		.until_ms = until_ms };
	if (s->child.pid != 0 && address_read(&address, s->url))
		t->fd = address_connect(&address, &connected);
	if (t->fd == -1)
		t->wrong = "(closed)";
	else if (!connected && !await(t->fd, POLLOUT, step_until_ms(t)))
		t->wrong = "(silence)";
}

void
server_talk_open(struct server_talk *t, const struct server *s)
{
	server_talk_open_until(t, s, INT64_MAX);
}

void
server_talk_words(struct server_talk *t, const char *const *words)
{
	size_t n = 0, i;

	while (words[n] != NULL)
		n++;
	idem_buf_printf(&t->out, "*%zu\r\n", n);
	for (i = 0; i < n; i++) {
		idem_buf_printf(&t->out, "$%zu\r\n", strlen(words[i]));
		idem_buf_text(&t->out, words[i]);
		idem_buf_text(&t->out, "\r\n");
	}
}

static void
send_out(struct server_talk *t, int64_t until_ms)
{
	ssize_t n;

	if (!idem_buf_ok(&t->out))
		t->wrong = "(no memory)";
	while (t->wrong == NULL && t->out.len > 0) {
		n = send(t->fd, t->out.at, t->out.len, MSG_NOSIGNAL);
		if (n > 0)
			idem_buf_drop(&t->out, (size_t)n);
		else if (errno != EAGAIN && errno != EINTR)
			t->wrong = "(closed)";
		else if (!await(t->fd, POLLOUT, until_ms))
			t->wrong = "(silence)";
	}
}

static void
hear_more(struct server_talk *t, int64_t until_ms)
{
	char piece[16384];
	ssize_t n;

	if (!await(t->fd, POLLIN, until_ms)) {
		t->wrong = "(silence)";
		return;
	}
	n = recv(t->fd, piece, sizeof piece, 0);
	if (n > 0)
		idem_buf_append(&t->in, piece, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		t->wrong = "(closed)";
	if (!idem_buf_ok(&t->in))
		t->wrong = "(no memory)";
}

/* What was given by the last call lies before it. */
struct idem_bytes
server_talk_get(struct server_talk *t)
{
	int64_t until_ms = step_until_ms(t);
	long len;

	idem_buf_drop(&t->in, t->given);
	t->given = 0;
	send_out(t, until_ms);
	while (t->wrong == NULL) {
		len = resp_len(idem_buf_bytes(&t->in));
		if (len > 0) {
			t->given = (size_t)len;
			return (struct idem_bytes){ t->in.at, t->given };
		}
		if (len < 0)
			t->wrong = "(not the protocol)";
		else
			hear_more(t, until_ms);
	}
	return (struct idem_bytes){ NULL, 0 };
}

void
server_talk_close(struct server_talk *t)
{
	if (t->fd != -1)
		close(t->fd);
	idem_buf_free(&t->out);
	idem_buf_free(&t->in);
}

const char *
server_say(struct server *s, char *out, size_t size, const char *const *words)
{
	struct server_talk t;
	struct idem_bytes reply;

	/* Its socket would take the command, and nobody answer. */
	if (s->frozen) {
		snprintf(out, size, "(silence)");
		return out;
	}
	server_talk_open(&t, s);
	server_talk_words(&t, words);
	reply = server_talk_get(&t);
	if (reply.len > 0)
		resp_reply_text(reply, out, size);
	else
		snprintf(out, size, "%s", t.wrong);
	server_talk_close(&t);
	return out;
}
