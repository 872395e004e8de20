/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/*
 * What Redis itself can do for one asynchronous client: a command as it goes
 * over the wire, sent again as often as replies come, over one connection, with
 * so many outstanding.  All replies must be the same bytes.
 *
 *	raw SOCKET FILE [OUTSTANDING [MS]]
 *
 * FILE holds the command, RESP and all.  Prints one JSON object.
 */
#define OUTSTANDING 16
#define OUTSTANDING_MAX 1000
#define SIZE (1u << 20)
#define COMMAND_MAX (SIZE / OUTSTANDING_MAX)

struct raw {
	int fd;
	char command[COMMAND_MAX];
	size_t command_len;
	char reply[SIZE];		/* the one that all must be */
	size_t reply_len;
	char in[2 * SIZE];
	size_t in_len;
	uint64_t requests, errors;
};

static int64_t
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static bool
read_command(struct raw *r, const char *path)
{
	FILE *file = fopen(path, "re");

	if (file == NULL)
		return false;
	r->command_len = fread(r->command, 1, sizeof r->command, file);
	fclose(file);
	return r->command_len > 0 && r->command_len < sizeof r->command;
}

static bool
dial(struct raw *r, const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof un.sun_path)
		return false;
	memcpy(un.sun_path, path, strlen(path) + 1);
	r->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return r->fd != -1 &&
	    connect(r->fd, (struct sockaddr *)&un, sizeof un) == 0;
}

static bool
say(struct raw *r, uint64_t times)
{
	static char out[SIZE];
	size_t len = 0, done = 0;
	ssize_t n;

	for (; times > 0; times--, len += r->command_len)
		memcpy(out + len, r->command, r->command_len);
	while (done < len) {
		n = send(r->fd, out + done, len - done, MSG_NOSIGNAL);
		if (n == -1)
			return false;
		done += (size_t)n;
	}
	return true;
}

static bool
hear(struct raw *r)
{
	ssize_t n = recv(r->fd, r->in + r->in_len, sizeof r->in - r->in_len, 0);

	if (n > 0)
		r->in_len += (size_t)n;
	return n > 0;
}

/* Bytes of the reply that begins there; 0: it is not whole. */
static size_t
reply_len(const char *at, const char *end)
{
	const char *line = memchr(at, '\n', (size_t)(end - at));
	size_t len, one;
	long n;

	if (line == NULL)
		return 0;
	len = (size_t)(line - at) + 1;
	n = strtol(at + 1, NULL, 10);
	if (*at == '$' && n >= 0)
		len += (size_t)n + 2;
	for (; *at == '*' && n > 0; n--, len += one) {
		if (len >= (size_t)(end - at))
			return 0;
		one = reply_len(at + len, end);
		if (one == 0)
			return 0;
	}
	return len <= (size_t)(end - at) ? len : 0;
}

/* The first is what all others must be. */
static bool
ask_once(struct raw *r)
{
	if (!say(r, 1))
		return false;
	do
		if (!hear(r))
			return false;
	while ((r->reply_len = reply_len(r->in, r->in + r->in_len)) == 0);
	memcpy(r->reply, r->in, r->reply_len);
	r->in_len = 0;
	return r->reply_len <= sizeof r->reply && r->reply[0] != '-';
}

/* How many have come; what is left of the next stays. */
static uint64_t
take(struct raw *r)
{
	size_t at = 0;
	uint64_t n = 0;

	for (; r->in_len - at >= r->reply_len; at += r->reply_len, n++)
		if (memcmp(r->in + at, r->reply, r->reply_len) != 0)
			r->errors++;
	memmove(r->in, r->in + at, r->in_len - at);
	r->in_len -= at;
	r->requests += n;
	return n;
}

static bool
drive(struct raw *r, uint64_t outstanding, int64_t until_us)
{
	uint64_t more;

	if (!say(r, outstanding))
		return false;
	while (outstanding > 0) {
		if (!hear(r))
			return false;
		more = take(r);
		if (now_us() >= until_us)
			outstanding -= more;
		else if (!say(r, more))
			return false;
	}
	return true;
}

int
main(int argc, char **argv)
{
	static struct raw r;
	uint64_t outstanding = argc > 3 ? strtoull(argv[3], NULL, 10) :
	    OUTSTANDING;
	int64_t ms = argc > 4 ? strtol(argv[4], NULL, 10) : 1000, began_us;
	double seconds;

	if (argc < 3 || outstanding < 1 || outstanding > OUTSTANDING_MAX ||
	    ms < 1)
		return 2;
	if (!read_command(&r, argv[2]) || !dial(&r, argv[1]) || !ask_once(&r)) {
		fprintf(stderr, "raw: %s: %s\n", argv[1], r.reply_len > 0 ?
		    "an error in reply" : strerror(errno));
		return 111;
	}
	began_us = now_us();
	if (!drive(&r, outstanding, began_us + ms * 1000))
		return 111;
	seconds = (double)(now_us() - began_us) / 1e6;
	printf("{\"requests\":%llu,\"seconds\":%.3f,\"rate\":%.1f,"
	    "\"errors\":%llu}\n", (unsigned long long)r.requests, seconds,
	    (double)r.requests / seconds, (unsigned long long)r.errors);
	return r.errors > 0;
}
