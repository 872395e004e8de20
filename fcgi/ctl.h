/* SPDX-License-Identifier: ISC */
#ifndef CTL_H
#define CTL_H

#include "conf.h"
#include "journal.h"
#include "store.h"

#include <stdarg.h>
#include <stdio.h>

/*
 * The inside of idemctl; doc/idemctl.1 says what it does.
 *
 *	idemctl.c	the commands, and main
 *	ctl_line.c	the command line
 *	ctl_open.c	the configuration and the stores
 *	ctl_find.c	which record is meant
 *	ctl_key.c	a client's key as the store has it
 *	ctl_run.c	what the run folder knows of a run
 *	ctl_look.c, ctl_show.c, ctl_unknown.c, ctl_output.c, ctl_settle.c,
 *	ctl_token.c, ctl_read.c, ctl_doctor.c
 */
enum ctl_exit { CTL_DONE = 0, CTL_NO = 1, CTL_WRONG = 2, CTL_FAILED = 111 };

enum ctl_kind { CTL_LEDGER, CTL_REDIS, CTL_KINDS };

/* A store that is open. */
struct ctl_store {
	enum ctl_kind kind;
	struct idem_store *store;
};

struct ctl {
	const char *command;
	char **args;		/* of the command, NULL last */
	int args_len;

	/* where records are */
	const char *config, *ledger, *redis, *prefix, *run, *keys;
	const char *in;		/* --in: "ledger", "redis"; NULL: not said */
	struct conf *conf;	/* of the file or of --redis, --keys; once
				   ctl_conf was called */
	struct ctl_store stores[CTL_KINDS];	/* that are open */
	size_t stores_len;
	struct idem_redis *client;
	bool in_part;		/* a store that was meant could not be opened */
	bool of_tokens;		/* Redis is asked for its history as well */
	struct idem_boot boot;
	int folder;		/* of runs; -1: none, or it cannot be opened */

	bool json, force, no_wait;
	uint32_t states;	/* list: a mask; 0: all */
	uint32_t rows;		/* list: at most; 0: all */
	const char *answer;	/* resolve: a file */
	int64_t keep_ms, tombstone_ms;
	/* as idemd was told; 0: as the configuration has it, or its default */
	uint32_t lease_ms, limit_ms, grace_ms;
	int64_t cache_age_ms;	/* -1: the same */
	/* the client's key instead of a store key */
	const char *route, *method, *user, *key;
	char **cookies, **variables;	/* of its scope, "NAME=VALUE"; room for
					   every argument */
	size_t cookies_len, variables_len;

	/* token */
	bool make_key;
	const char *style, *type, *id, *machine, *read, *name;
	int64_t life_ms;	/* without a configuration */
	/* doctor */
	char **fronts;		/* files; room for every argument */
	size_t fronts_len;
	const char *redis_user;
};

typedef int ctl_command(struct ctl *);
ctl_command ctl_list, ctl_unknown, ctl_show, ctl_output, ctl_stats, ctl_resolve,
    ctl_forget, ctl_token, ctl_doctor;

/* Say "idemctl: COMMAND: why" on standard error; gives the status back. */
int ctl_say(const struct ctl *, enum ctl_exit, const char *why, ...)
    __attribute__((format(printf, 3, 4)));
void ctl_help(FILE *);		/* idemctl.c */

/* ctl_line.c.  *asked: what was asked for was said, and nothing is left to
   do. */
int ctl_line(struct ctl *, int argc, char **argv, bool *asked);

/* A time of the wall clock as RFC 3339 has it, "-" for none (ctl_look.c). */
const char *ctl_stamp(int64_t ms, char *out, size_t size);
/* A client's text: nothing in it moves a terminal's cursor. */
void ctl_plain(const char *text, char *out, size_t size);
#define CTL_DIGITS 16		/* of a key, in tables: enough to name it by */

/* --- ctl_open.c ----------------------------------------------------------- */

/* Read or make c->conf.  CTL_DONE, or a status after a message. */
int ctl_conf(struct ctl *);

/*
 * Open the store that --in names; without it the ledger, or where there is none
 * Redis; with `both` each that there is, of which one may be away.
 */
int ctl_open(struct ctl *, bool read_only, bool both);
/* Open c->folder, if it is there. */
void ctl_open_folder(struct ctl *);
/* That one; *error is a sentence. */
struct idem_store *ctl_open_ledger(struct ctl *, bool read_only, char *error,
    size_t error_size);
void ctl_close(struct ctl *);
const char *ctl_kind_text(enum ctl_kind);

/* One call, waited for.  CTL_DONE if the store carried it out. */
int ctl_ask(const struct ctl *, const struct ctl_store *,
    struct idem_store_call *, struct idem_store_answer *);

/* --- ctl_find.c ----------------------------------------------------------- */

struct ctl_found {
	const struct ctl_store *in;
	struct idem_listed l;
	int64_t now_ms;		/* of the clock that its lease is by */
};

/* All records in one of the states (a mask) of one store, at most rows, unless
   that is 0: of the ledger by key, of Redis as they lie there (ctl_look.c). */
typedef int ctl_each_fn(struct ctl *, const struct ctl_found *, void *arg);
int ctl_each(struct ctl *, const struct ctl_store *, uint32_t states,
    uint32_t rows, ctl_each_fn *, void *arg);

/*
 * The records that the command line names, by `text` (a store key or the first
 * eight or more of its digits) or, without one, by the client's key: one, or
 * one in each store.
 */
int ctl_find(struct ctl *, const char *text, struct ctl_found[CTL_KINDS],
    size_t *len);

/* A store key's digits: of `text`, or of the client's key on the command
   line. */
#define CTL_KEY (2 * IDEM_DIGEST_LEN + 1)
int ctl_digits(const struct ctl *, const char *text, char digits[CTL_KEY]);
bool ctl_begins(const struct idem_digest *, const char *digits);

/* ctl_key.c: what the client's key on the command line is in a store. */
int ctl_client_key(const struct ctl *, struct idem_digest *);

/* --- ctl_run.c ------------------------------------------------------------ */

struct ctl_run {
	struct idem_evidence e;		/* lock MISSING also without a folder */
	bool known;		/* its note is of this record */
	enum idem_proof proof;	/* of its owner, whose answer was looked at */
	enum idem_note_why why;	/* DEAD by that answer, else NOT_SAID */
	int32_t why_code;
	int64_t output;		/* bytes that its program wrote, as far as they
				   are there; -1: none */
};

/* What is known of the owner of a record that is in progress or unknown. */
void ctl_run_look(const struct ctl *, const struct ctl_found *,
    struct ctl_run *);
/* The record that a note is of, as far as it says. */
void ctl_run_record(const struct idem_evidence *, struct idem_listed *);

/* "alive", "dead", ... */
const char *ctl_run_text(const struct ctl_run *);
/* How it came to be so, or why nothing is known of that. */
#define CTL_EVIDENCE 200
void ctl_run_evidence(const struct ctl *, const struct ctl_found *,
    const struct ctl_run *, char to[CTL_EVIDENCE]);

/* "running", "lapsed", "died", "ended", "not-begun" or "unknown". */
const char *ctl_condition(const struct ctl_found *, const struct ctl_run *);
/* Which store it is in. */
const char *ctl_in_text(const struct ctl_found *, const struct ctl_run *,
    char *to, size_t size);
/* An object, without a newline (ctl_show.c). */
int ctl_say_json(const struct ctl *, const struct ctl_found *);

/* Bytes of output in an open run file; -1: none. */
int64_t ctl_run_output(int fd, const struct idem_evidence *);

/* ctl_read.c: `idemctl token --read`. */
int ctl_read(struct ctl *);

#endif
