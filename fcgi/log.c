/* SPDX-License-Identifier: ISC */
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_LEN 2048

void
log_flush(struct log *log)
{
	size_t done = 0;
	ssize_t n;

	while (done < log->len) {
		n = write(STDERR_FILENO, log->at + done, log->len - done);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)	/* nobody to tell */
			break;
		done += (size_t)n;
	}
	log->len = 0;
}

static void
add(struct log *log, const char *at, size_t len)
{
	size_t room = log->line + LINE_MAX_LEN - 1 - log->len;

	if (len > room)
		len = room;
	memcpy(log->at + log->len, at, len);
	log->len += len;
}

static void
add_text(struct log *log, const char *text)
{
	add(log, text, strlen(text));
}

/* Many lines are of one second, and dates are dear. */
static void
add_date(struct log *log, time_t second)
{
	struct tm tm;

	if (second != log->second || log->date[0] == '\0') {
		gmtime_r(&second, &tm);
		strftime(log->date, sizeof log->date, "%Y-%m-%dT%H:%M:%S", &tm);
		log->second = second;
	}
	add_text(log, log->date);
}

void
log_open(struct log *log)
{
	struct timespec now;
	char ms[] = ".000Z ";

	if (sizeof log->at - log->len < LINE_MAX_LEN)
		log_flush(log);
	log->line = log->len;
	clock_gettime(CLOCK_REALTIME, &now);
	ms[1] = (char)('0' + now.tv_nsec / 100000000);
	ms[2] = (char)('0' + now.tv_nsec / 10000000 % 10);
	ms[3] = (char)('0' + now.tv_nsec / 1000000 % 10);
	add_date(log, now.tv_sec);
	add_text(log, ms);
	add_text(log, log->who);
	add_text(log, ":");
}

void
log_text(struct log *log, const char *name, const char *text)
{
	add(log, " ", 1);
	add_text(log, name);
	add(log, "=", 1);
	add_text(log, text);
}

void
log_number(struct log *log, const char *name, int64_t number)
{
	uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;
	char text[24];
	char *at = text + sizeof text;

	*--at = '\0';
	do
		*--at = (char)('0' + left % 10);
	while ((left /= 10) > 0);
	if (number < 0)
		*--at = '-';
	log_text(log, name, at);
}

void
log_close(struct log *log)
{
	log->at[log->len++] = '\n';
}

/* U+0080 to U+009F in UTF-8: there are terminals that heed those, too. */
static bool
is_control_of_two(const char *at, size_t len)
{
	return len >= 2 && (unsigned char)at[0] == 0xc2 &&
	    (unsigned char)at[1] >= 0x80 && (unsigned char)at[1] < 0xa0;
}

/* What others say, as a key function or a server, may hold a line's end. */
static void
make_one_line(char *at, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if ((unsigned char)at[i] < ' ' || at[i] == 0x7f)
			at[i] = '?';
		else if (is_control_of_two(at + i, len - i))
			at[i] = at[i + 1] = '?';
}

static void __attribute__((format(printf, 2, 0)))
add_format(struct log *log, const char *format, va_list args)
{
	size_t room, len;
	int n;

	add(log, " ", 1);
	room = log->line + LINE_MAX_LEN - log->len;
	n = vsnprintf(log->at + log->len, room, format, args);
	if (n <= 0)
		return;
	len = (size_t)n < room ? (size_t)n : room - 1;
	make_one_line(log->at + log->len, len);
	log->len += len;
}

void
log_line(struct log *log, const char *format, ...)
{
	va_list args;

	log_open(log);
	va_start(args, format);
	add_format(log, format, args);
	va_end(args);
	log_close(log);
}

/* No escape is cut in two, and one byte is left for the end. */
static void
add_escaped(struct log *log, const char *value, size_t room)
{
	char *at = log->at + log->len;
	size_t len = 0, more;

	for (; *value != '\0'; value++, len += more) {
		more = *value == '"' || *value == '\\' ? 2 : 1;
		if (len + more + 1 > room)
			break;
		at[len] = '\\';
		at[len + more - 1] = *value;
	}
	make_one_line(at, len);
	log->len += len;
}

void
log_quoted(struct log *log, const char *name, const char *value)
{
	size_t room = log->line + LINE_MAX_LEN - 1 - log->len;
	size_t begin = strlen(name) + 3;

	if (begin + 1 > room)	/* not even an empty one fits */
		return;
	log_text(log, name, "\"");
	add_escaped(log, value, room - begin);
	add(log, "\"", 1);
}

void
log_line_quoted(struct log *log, const char *name, const char *value,
    const char *format, ...)
{
	va_list args;

	log_open(log);
	va_start(args, format);
	add_format(log, format, args);
	va_end(args);
	log_quoted(log, name, value);
	log_close(log);
}

void
log_word(char *to, size_t size, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t len = 0;

	for (; *p != '\0' && len + 5 < size; p++)
		if (*p > ' ' && *p < 0x7f && *p != '"' && *p != '\\')
			to[len++] = (char)*p;
		else
			len += (size_t)snprintf(to + len, size - len, "\\x%02x",
			    *p);
	to[len] = '\0';
}
