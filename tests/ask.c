/* SPDX-License-Identifier: ISC */
#include "ask.h"

#include "tap.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STARTS_MS 60000
#define LOGGED_MS 60000
#define AGAIN_MS 20		/* between two tries to start one */

static void
words(const struct rig_answer *answer, char *out, size_t size)
{
	const char *says = rig_field(answer, "Idempotency-Status");

	if (answer->error == ETIMEDOUT)
		snprintf(out, size, "silent");
	else if (!answer->whole)
		snprintf(out, size, "closed");
	else
		snprintf(out, size, "%d%s%s", answer->status,
		    *says != '\0' ? " " : "", says);
}

bool
told(const struct rig_answer *answer, const char *want, const char *what, ...)
{
	char got[128], text[256];
	va_list args;

	va_start(args, what);
	vsnprintf(text, sizeof text, what, args);
	va_end(args);
	words(answer, got, sizeof got);
	return is(got, want, "%s: %s", text, want);
}

bool
ask(struct rig *rig, const struct rig_request *request, const char *want,
    const char *what, ...)
{
	struct rig_answer answer;
	char text[256];
	va_list args;
	bool right;

	va_start(args, what);
	vsnprintf(text, sizeof text, what, args);
	va_end(args);
	rig_request(rig, request, &answer);
	right = told(&answer, want, "%s", text);
	rig_answer_free(&answer);
	return right;
}

int
ask_begin(struct rig *rig, const struct rig_request *request)
{
	struct idem_buf out = { 0 };
	int fd = rig_connect(rig);

	rig_request_write(&out, 1, request);
	if (fd == -1 ||
	    rig_send(fd, idem_buf_bytes(&out), 0, rig->request_ms) == -1)
		bail_out("a request cannot be sent: %s", strerror(errno));
	idem_buf_free(&out);
	return fd;
}

void
ask_end(struct rig *rig, int fd, struct rig_answer *answer)
{
	rig_receive(fd, 1, (struct idem_bytes){ 0 }, rig->request_ms, answer);
	close(fd);
}

void
ask_start(struct rig *rig, const char *const *options)
{
	if (rig_start(rig, options) == -1)
		bail_out("idemd does not start");
}

int
ask_logged(struct rig *rig, const char *text)
{
	char *log = rig_slurp(rig, "log");
	const char *at = log;
	int n = 0;

	while (at != NULL && (at = strstr(at, text)) != NULL) {
		at += strlen(text);
		n++;
	}
	free(log);
	return n;
}

bool
ask_await_logged(struct rig *rig, const char *text, int times)
{
	const struct timespec pause = { 0, 5 * 1000 * 1000 };
	int64_t until_ms = rig_now_ms() + LOGGED_MS;

	while (ask_logged(rig, text) < times && rig_now_ms() < until_ms)
		nanosleep(&pause, NULL);
	return ask_logged(rig, text) >= times;
}

long
starts(struct rig *rig)
{
	return rig_lines(rig, "starts", NULL);
}

void
await_starts(struct rig *rig, long count)
{
	if (!rig_await_lines(rig, "starts", count, STARTS_MS))
		bail_out("no program was started within %d s",
		    STARTS_MS / 1000);
}

void
ask_end_not_started(struct rig *rig, int fd)
{
	struct rig_answer answer;
	char got[128];

	ask_end(rig, fd, &answer);
	words(&answer, got, sizeof got);
	if (strcmp(rig_field(&answer, "Idempotency-Status"),
	    "not-started") != 0)
		bail_out("who asks for a program is told %s", got);
	rig_answer_free(&answer);
}

int
ask_await_starts(struct rig *rig, int fd, const struct rig_request *request,
    long count)
{
	int64_t until_ms = rig_now_ms() + STARTS_MS;
	struct pollfd answered = { .fd = fd, .events = POLLIN };

	while (starts(rig) < count && rig_now_ms() < until_ms)
		if (poll(&answered, 1, 5) == 1) {
			ask_end_not_started(rig, answered.fd);
			poll(NULL, 0, AGAIN_MS);
			answered.fd = ask_begin(rig, request);
		}
	await_starts(rig, count);
	return answered.fd;
}
