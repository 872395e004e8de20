/* SPDX-License-Identifier: ISC */
#ifndef TESTS_SIM_STORY_WORDS_H
#define TESTS_SIM_STORY_WORDS_H

#include "sim_story.h"

#define STORY_WORD 64

/* The next word up to a blank or a bar; false: the event has no more. */
bool story_next(const char **at, char out[STORY_WORD]);
/* What follows "NAME=" in a word; NULL: it is another. */
const char *story_after(const char *word, const char *name);
/* What all stories have, and the words of this one (sim_story_head.c). */
void story_head(struct history *, const char *words);

#endif
