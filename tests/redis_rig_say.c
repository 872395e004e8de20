/* SPDX-License-Identifier: ISC */
#include "redis_rig.h"

#include "clock.h"
#include "tap.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define SAY_MS 20000
#define TURN_MS 5
#define WORDS_MAX 64u

static int64_t
now_ms(void)
{
	return idem_boot_ms(&idem_clock_real);
}

void
redis_rig_turn(void)
{
	struct timespec t = { 0, TURN_MS * 1000000L };

	nanosleep(&t, NULL);
}

static int
connect_tcp(int port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, (struct sockaddr *)&at, sizeof at) == 0)
		return fd;
	close(fd);
	return -1;
}

static int
connect_unix(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
	if (connect(fd, (struct sockaddr *)&at, sizeof at) == 0)
		return fd;
	close(fd);
	return -1;
}

/* What the peer says, byte by byte; once it fails it gives 0 for ever. */
struct ear {
	int fd;
	int64_t until_ms;
	char at[4096];
	size_t len, next;
	const char *failed;
};

static char
hear(struct ear *e)
{
	struct pollfd p = { .fd = e->fd, .events = POLLIN };
	int64_t left_ms = e->until_ms - now_ms();
	ssize_t n;

	if (e->failed != NULL)
		return '\0';
	if (e->next < e->len)
		return e->at[e->next++];
	if (poll(&p, 1, left_ms > 0 ? (int)left_ms : 0) <= 0) {
		e->failed = "(silence)";
		return '\0';
	}
	n = recv(e->fd, e->at, sizeof e->at, 0);
	if (n <= 0) {
		e->failed = "(closed)";
		return '\0';
	}
	e->len = (size_t)n;
	e->next = 0;
	return hear(e);
}

static void
hear_line(struct ear *e, struct idem_buf *line)
{
	char c;

	while ((c = hear(e)) != '\r' && e->failed == NULL)
		idem_buf_u8(line, (uint8_t)c);
	(void)hear(e);
}

static long
hear_number(struct ear *e)
{
	struct idem_buf line = {0};
	long n;

	hear_line(e, &line);
	idem_buf_u8(&line, 0);
	n = idem_buf_ok(&line) ? strtol((char *)line.at, NULL, 10) : -1;
	idem_buf_free(&line);
	return n;
}

static void
hear_string(struct ear *e, struct idem_buf *out)
{
	long n = hear_number(e), i;

	if (n < 0) {
		idem_buf_text(out, "(nil)");
		return;
	}
	for (i = 0; i < n && e->failed == NULL; i++)
		idem_buf_u8(out, (uint8_t)hear(e));
	(void)hear(e);
	(void)hear(e);
}

static void
hear_reply(struct ear *e, struct idem_buf *out)
{
	char kind = hear(e);
	long n, i;

	switch (kind) {
	case '-':
		idem_buf_u8(out, '-');
		hear_line(e, out);
		return;
	case '+':
	case ':':
		hear_line(e, out);
		return;
	case '$':
		hear_string(e, out);
		return;
	case '*':
		n = hear_number(e);
		idem_buf_text(out, n < 0 ? "(nil)" : "[");
		for (i = 0; i < n && e->failed == NULL; i++) {
			idem_buf_text(out, i == 0 ? "" : " ");
			hear_reply(e, out);
		}
		idem_buf_text(out, n < 0 ? "" : "]");
		return;
	case '\0':
		return;
	}
	bail_out("a reply that begins with %c", kind);
}

static void
write_command(struct idem_buf *out, const struct idem_bytes *args, size_t len)
{
	size_t i;

	idem_buf_printf(out, "*%zu\r\n", len);
	for (i = 0; i < len; i++) {
		idem_buf_printf(out, "$%zu\r\n", args[i].len);
		idem_buf_append(out, args[i].at, args[i].len);
		idem_buf_text(out, "\r\n");
	}
}

static bool
send_all(int fd, const struct idem_buf *b)
{
	size_t done;
	ssize_t n;

	for (done = 0; done < b->len; done += (size_t)n) {
		n = send(fd, b->at + done, b->len - done, MSG_NOSIGNAL);
		if (n <= 0)
			return false;
	}
	return true;
}

/* The reply to the command, or to AUTH if that was refused. */
static const char *
talk(struct redis_rig *r, struct ear *e, const struct idem_bytes *args,
    size_t len)
{
	struct idem_bytes auth[2] = { idem_bytes_text("AUTH"),
		idem_bytes_text(r->password) };
	struct idem_buf out = {0};
	bool sent;

	if (r->password[0] != '\0')
		write_command(&out, auth, 2);
	write_command(&out, args, len);
	sent = idem_buf_ok(&out) && send_all(e->fd, &out);
	idem_buf_free(&out);
	if (!sent)
		return "(closed)";
	if (r->password[0] != '\0')
		hear_reply(e, &r->reply);
	if (r->reply.len == 0 || r->reply.at[0] != '-') {
		idem_buf_clear(&r->reply);
		hear_reply(e, &r->reply);
	}
	idem_buf_u8(&r->reply, 0);
	if (!idem_buf_ok(&r->reply))
		bail_out("out of memory");
	return e->failed != NULL ? e->failed : (char *)r->reply.at;
}

const char *
redis_rig_say_bytes(struct redis_rig *r, const struct idem_bytes *args,
    size_t len)
{
	struct ear ear = { .until_ms = now_ms() + SAY_MS };
	const char *reply;

	idem_buf_clear(&r->reply);
	ear.fd = r->sentinel ? connect_tcp(r->port) : connect_unix(r->socket);
	if (ear.fd == -1)
		return "(closed)";
	reply = talk(r, &ear, args, len);
	close(ear.fd);
	return reply;
}

static size_t
gather(struct idem_bytes words[WORDS_MAX], const char *word, va_list more)
{
	size_t n = 0;

	for (; word != NULL && n < WORDS_MAX; word = va_arg(more, const char *))
		words[n++] = idem_bytes_text(word);
	return n;
}

const char *
redis_rig_say(struct redis_rig *r, const char *word, ...)
{
	struct idem_bytes words[WORDS_MAX];
	va_list more;
	size_t n;

	va_start(more, word);
	n = gather(words, word, more);
	va_end(more);
	return redis_rig_say_bytes(r, words, n);
}

bool
redis_rig_await(struct redis_rig *r, int64_t wait_ms, const char *part,
    const char *word, ...)
{
	int64_t until_ms = now_ms() + wait_ms;
	struct idem_bytes words[WORDS_MAX];
	va_list more;
	size_t n;

	va_start(more, word);
	n = gather(words, word, more);
	va_end(more);
	while (strstr(redis_rig_say_bytes(r, words, n), part) == NULL) {
		if (now_ms() >= until_ms)
			return false;
		redis_rig_turn();
	}
	return true;
}
