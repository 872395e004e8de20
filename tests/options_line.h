/* SPDX-License-Identifier: ISC */
#ifndef TESTS_OPTIONS_LINE_H
#define TESTS_OPTIONS_LINE_H

#include "options.h"

#define OPTIONS_LINE_MAX 16	/* arguments, NULL among them */

/* A command line, which options borrow from. */
struct options_line {
	char *argv[OPTIONS_LINE_MAX + 2];
};

/* Read arguments, NULL last; as options_read. */
int options_line_read(struct options *, struct options_line *,
    const char *const *args);
/* The same in a process of its own: its exit status (100 for options_read's
   -1), and all that it wrote to descriptor fd, as a text. */
int options_line_heard(const char *const *args, int fd, char *said,
    size_t size);

#endif
