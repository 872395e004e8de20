/* SPDX-License-Identifier: ISC */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The parts of idemsim-program (program.c says what it is).  It is alone: of
 * sim/ it has nothing else, and it ends rather than go on without memory.
 */
#define PROGRAM_NAME 128	/* of what is named in the journal, with NUL */

struct program_words {		/* of IDEMSIM_PROGRAM, cut up */
	char **at;
	size_t n;
};

struct program {
	struct program_words words;
	int journal;
	char effect[48];
	uint64_t chance;
};

/* --- program.c ------------------------------------------------------------ */

/* It ends, and what it was run for would not show. */
void program_stop(const char *format, ...)
    __attribute__((noreturn, format(printf, 1, 2)));
/* It ends, and notes that. */
_Noreturn void program_end(const struct program *, int status);
/*
 * A variable as a word of the journal: what would part words or lines there is
 * "_", and "-" stands for none.  A part of a name is another name.
 */
const char *program_named(const char *text, char out[PROGRAM_NAME]);

/* --- program_words.c ------------------------------------------------------ */

void program_words(struct program_words *, const char *text);	/* NULL: none */
/* What follows NAME=; "" where it is not said. */
const char *program_word(const struct program *, const char *name);
long program_number(const struct program *, const char *name, long otherwise);
bool program_says(const struct program *, const char *name, const char *what);
/* Is it one of those that are parted by commas? */
bool program_lists(const char *list, const char *what);
/* From what IDEMSIM_PROGRAM calls D. */
double program_draw(struct program *, const char *dist);

/* --- program_answer.c ----------------------------------------------------- */

/* All of it, or as much as it is told to, on standard output. */
void program_answer(const struct program *);

#endif
