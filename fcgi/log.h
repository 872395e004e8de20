/* SPDX-License-Identifier: ISC */
#ifndef LOG_H
#define LOG_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* A pipe takes so many bytes whole, and no more (Linux, pipe(7)). */
#define LOG_WRITE 4096

/*
 * Lines on standard error, `key=value`, whole and unmixed however many
 * processes write: each goes out with the others of its turn in one write.
 */
struct log {
	char at[LOG_WRITE];
	size_t len;
	const char *who;	/* "idemd[3]": role and worker */
	/* Private. */
	time_t second;		/* that `date` is of */
	char date[24];
	size_t line;		/* where the open one begins */
};

/* Control characters in it become `?`. */
void log_line(struct log *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * The same, and behind it ` name="value"`: every value of words goes in here,
 * whose quotes and backslashes get a backslash before them, so that the line
 * can be taken apart.  One that is too long is cut, and its end quote is there.
 */
void log_line_quoted(struct log *, const char *name, const char *value,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

/*
 * The same by parts, for the line that every request has: open, what belongs
 * on it, close.  What does not fit is cut.
 */
void log_open(struct log *);
void log_text(struct log *, const char *name, const char *text);
void log_quoted(struct log *, const char *name, const char *value);
void log_number(struct log *, const char *name, int64_t);
void log_close(struct log *);

void log_flush(struct log *);

/* Copy text so that it is one word of a log line: visible ASCII without `"`
   and `\`, others as \xNN; cut to fit. */
void log_word(char *to, size_t size, const char *text);

#endif
