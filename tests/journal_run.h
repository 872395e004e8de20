/* SPDX-License-Identifier: ISC */
#ifndef TESTS_JOURNAL_RUN_H
#define TESTS_JOURNAL_RUN_H

#include "journal.h"

#include <sys/types.h>

/* Runs as they lie in a run folder, for tests of the journal. */

#define JOURNAL_LEASE 60000
#define JOURNAL_LIMIT 300000
#define JOURNAL_GRACE 5000

extern const struct idem_boot journal_boot, journal_other_boot;
extern const struct idem_digest journal_key;
extern const struct idem_proof_times journal_times;

struct idem_owner journal_owner(uint8_t number);
/* Every member is other than zero. */
struct idem_note journal_note(enum idem_note_state, uint8_t number);
/* The record of the same run, renewed at 1000 s. */
struct idem_record journal_record(const struct idem_note *);

/* A file with that note and output, and with a trailer of exit status 0 if it
   has ended.  Descriptors are the caller's; ends the test if it cannot. */
struct idem_run_file journal_make(int folder, const struct idem_note *,
    struct idem_bytes out, bool ended);
/* What it proves at that time of its record; boot_ms is the same. */
enum idem_proof journal_proves(const struct idem_evidence *,
    const struct idem_record *, int64_t now_ms);

/* A process that dies with us: its pid, and 0 in it; and how it ended, as of
   waitpid(2). */
pid_t journal_child(void);
int journal_status(pid_t);

/* A new folder, opened; path is a template as of mkdtemp(3). */
int journal_folder(char *path);
/* Names in it, but for . and .. */
int journal_count(int folder);

#endif
