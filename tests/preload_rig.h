/* SPDX-License-Identifier: ISC */
#ifndef TESTS_PRELOAD_RIG_H
#define TESTS_PRELOAD_RIG_H

#include "preload.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

/*
 * Processes with idemsim's library under them: the test's own program again, in
 * one of the parts of preload_part.c, which its main() hands over to:
 *
 *	if (argc == 4)
 *		return preload_part(argv[1], argv[2], argv[3]);
 *	preload_rig_make(&rig);
 */
#define PRELOAD_RIG_PATH 256

struct preload_rig {
	char folder[80], disk_folder[100], shadow[100];
	char clock_file[100], disk_file[100], boot_file[100];
	char library[PRELOAD_RIG_PATH];
	struct preload_clock *clock;
	struct preload_disk *disk;
};

/* Ends the test where there is no library. */
void preload_rig_make(struct preload_rig *);
void preload_rig_end(struct preload_rig *);
/* Nothing on the disk and its shadow, and no fault of it. */
void preload_rig_fresh_disk(struct preload_rig *);
/* A command of sh with two words, or the test ends; it has no library. */
void preload_rig_shell(const char *command, const char *a, const char *b);
/* The power goes, and comes back. */
void preload_rig_lose_power(struct preload_rig *);
/* What is started from now on has it, and which of the three; or not. */
void preload_rig_set(const struct preload_rig *, bool clock, bool disk,
    bool boot);
void preload_rig_unset(void);

struct preload_process {
	pid_t pid;
	FILE *to, *from;
};

/* A part, with a word; as the environment has it. */
struct preload_process preload_rig_start(const struct preload_rig *,
    const char *part, const char *word);
/* Its next line, without the newline; "" at its end, or after 10 s. */
const char *preload_rig_heard(struct preload_process *,
    char line[PRELOAD_RIG_PATH]);
void preload_rig_say(struct preload_process *);
int preload_rig_ended(struct preload_process *);	/* its wait status */
/* From begin to end: its one line. */
const char *preload_rig_line(const struct preload_rig *, const char *part,
    const char *word, char line[PRELOAD_RIG_PATH]);

int64_t preload_now_ns(clockid_t);

/* The exit status. */
int preload_part(const char *name, const char *word, const char *folder);

#endif
