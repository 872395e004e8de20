/* SPDX-License-Identifier: ISC */
#ifndef TESTS_PROGRAM_TOP_H
#define TESTS_PROGRAM_TOP_H

#include "program.h"

/*
 * A folder of programs, which rows call "@":
 *
 *	@/secret	a program outside
 *	@/cgi		the root: order, "a b", folder/deep are programs, data
 *			is not, link leads to order, link-out to secret,
 *			link-to-nothing and link-loop nowhere, fifo is one
 *	@/cgi-bin	not below it: x and xx
 *	@/link-to-cgi	leads to it
 *	@/locked	a folder that nobody may look into
 */
void program_top_make(char *top, size_t size);
void program_top_remove(const char *top);

/* A text with the folder for each "@"; to be freed. */
char *program_top_in(const char *text, const char *top);

#define PROGRAM_ROW_PARAMS 8

struct program_row {
	const char *what;
	const char *in[PROGRAM_ROW_PARAMS];	/* parameters; NULL last */
	const char *out;	/* path|folder|script_name|path_info|
				   script_filename; "-" for NULL; or "" */
	enum idem_problem problem;
};

/* Shorter words for rows. */
#define NO IDEM_PROBLEM_NO_PROGRAM
#define FORBIDDEN IDEM_PROBLEM_FORBIDDEN_PROGRAM
#define FOUND IDEM_PROBLEM_NONE
#define FILE_IS(path) { "SCRIPT_FILENAME=" path }
#define ORDER "@/cgi/order|@/cgi|-|-|"

enum idem_problem program_top_find(struct program *,
    const struct program_rule *, const char *const *in, const char *top);

/* A test a row. */
void program_top_check(const struct program_row *, size_t len,
    const struct program_rule *, const char *top);
#define CHECK(rows, rule, top) \
	program_top_check(rows, sizeof (rows) / sizeof *(rows), rule, top)

#endif
