/* SPDX-License-Identifier: ISC */
#ifndef TESTS_STORE_ROWS_H
#define TESTS_STORE_ROWS_H

#include <stdbool.h>
#include <stddef.h>

/* What every store does: a sentence, and lines of store_trace.h's language
   with what must come of each after "->". */
struct store_row {
	const char *what;
	bool lasting;		/* only for stores that outlive their process */
	const char *lines;
};

extern const struct store_row store_rows[];
extern const size_t store_rows_len;
extern const struct store_row store_rows_timed[];	/* store_rows_timed.c */
extern const size_t store_rows_timed_len;

#endif
