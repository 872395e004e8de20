/* SPDX-License-Identifier: ISC */
#include "ear.h"

#include "fcgi_words.h"
#include "tap.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void __attribute__((format(printf, 2, 3)))
word(struct ear *ear, const char *format, ...)
{
	size_t len = strlen(ear->words);
	va_list args;

	if (len + 2 > sizeof ear->words)
		return;
	if (len > 0)
		ear->words[len++] = ' ';
	va_start(args, format);
	vsnprintf(ear->words + len, sizeof ear->words - len, format, args);
	va_end(args);
}

static void
hear_values(struct ear *ear, struct idem_bytes content)
{
	struct idem_fcgi_pair pair;
	char list[512] = "";
	size_t len = 0;

	while (idem_fcgi_pair_next(&content, &pair) == 1 && len < 400)
		len += (size_t)snprintf(list + len, sizeof list - len,
		    "%s%.*s=%.*s", len > 0 ? "," : "", (int)pair.name.len,
		    (const char *)pair.name.at, (int)pair.value.len,
		    (const char *)pair.value.at);
	word(ear, "values:%s", list);
}

static void
hear_stdout(struct ear *ear, unsigned id, struct idem_bytes content)
{
	const char *at = content.at;

	if (content.len == 0 || id >= EAR_IDS)
		return;
	if (ear->status[id] == 0)
		ear->status[id] = content.len > 11 &&
		    memcmp(at, "Status: ", 8) == 0 ?
		    (int)strtol(at + 8, NULL, 10) : 200;
	idem_buf_append(&ear->text, content.at, content.len);
}

static void
hear_end(struct ear *ear, unsigned id, unsigned status)
{
	static const char *const said[] = { "end", "cant", "full", "role" };

	if (id < EAR_IDS && status == 0 && ear->status[id] != 0) {
		word(ear, "%d/%u", ear->status[id], id);
		ear->status[id] = 0;
	} else {
		word(ear, "%s/%u", status < 4 ? said[status] : "?", id);
	}
}

static void
hear_record(struct ear *ear, const uint8_t *at, size_t len)
{
	unsigned id = (unsigned)(at[2] << 8 | at[3]);
	struct idem_bytes content = { at + 8, len };

	if (at[1] == IDEM_FCGI_STDOUT)
		hear_stdout(ear, id, content);
	else if (at[1] == IDEM_FCGI_END_REQUEST)
		hear_end(ear, id, at[12]);
	else if (at[1] == IDEM_FCGI_GET_VALUES_RESULT && id == 0)
		hear_values(ear, content);
	else if (at[1] == IDEM_FCGI_UNKNOWN_TYPE && id == 0)
		word(ear, "unknown:%u", at[8]);
	else if (at[1] != IDEM_FCGI_STDERR)
		word(ear, "type%u/%u", at[1], id);
}

/* The whole records of what has come are taken out of it. */
static void
hear_records(struct ear *ear)
{
	size_t at = 0, len, whole;

	while (ear->raw.len - at >= 8) {
		const uint8_t *head = ear->raw.at + at;

		len = (size_t)(head[4] << 8 | head[5]);
		whole = 8 + len + head[6];
		if (ear->raw.len - at < whole)
			break;
		hear_record(ear, head, len);
		at += whole;
	}
	memmove(ear->raw.at, ear->raw.at + at, ear->raw.len - at);
	ear->raw.len -= at;
}

bool
ear_hears(struct ear *ear, const char *words)
{
	int64_t until_ms = rig_now_ms() + EAR_MS;
	struct pollfd ready = { .fd = ear->fd, .events = POLLIN };
	char at[65536];
	ssize_t n;

	while (!ear->closed && strcmp(ear->words, words) != 0 &&
	    rig_now_ms() < until_ms) {
		if (poll(&ready, 1, 100) != 1)
			continue;
		n = recv(ear->fd, at, sizeof at, MSG_DONTWAIT);
		if (n > 0) {
			idem_buf_append(&ear->raw, at, (size_t)n);
			hear_records(ear);
		} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
			ear->closed = true;
			word(ear, "closed");
		}
	}
	return strcmp(ear->words, words) == 0;
}

void
ear_say(struct ear *ear, const char *words)
{
	struct idem_buf out = { 0 };

	fcgi_words(&out, words);
	if (!idem_buf_ok(&out))
		bail_out("out of memory");
	/* A peer that closes meanwhile is heard of. */
	(void)rig_send(ear->fd, idem_buf_bytes(&out), 0, EAR_MS);
	idem_buf_free(&out);
}

void
ear_open(struct ear *ear, struct rig *rig)
{
	*ear = (struct ear){ .fd = rig_connect(rig) };
	if (ear->fd == -1)
		bail_out("cannot connect: %s", strerror(errno));
}

void
ear_close(struct ear *ear)
{
	close(ear->fd);
	idem_buf_free(&ear->raw);
	idem_buf_free(&ear->text);
}
