/* SPDX-License-Identifier: ISC */
#ifndef CTL_H
#define CTL_H

#include "store.h"

#include <stdarg.h>

/* The inside of idemctl; doc/idemctl.1 says what it does. */

enum ctl_exit { CTL_DONE = 0, CTL_NO = 1, CTL_WRONG = 2, CTL_FAILED = 111 };

struct ctl {
	const char *command;
	char **args;		/* of the command, NULL last */
	int args_len;

	const char *ledger;	/* its path */
	bool json, force;
	uint32_t states;	/* list: a mask; 0: all */
	uint32_t rows;		/* list: at most; 0: all */
	const char *answer;	/* resolve: a file */
	int64_t keep_ms, tombstone_ms;
	uint32_t lease_ms, limit_ms, grace_ms;	/* as idemd was told */
	/* the client's key instead of a store key */
	const char *route, *method, *user, *key;
	char **cookies, **variables;	/* of its scope, "NAME=VALUE"; room for
					   every argument */
	size_t cookies_len, variables_len;

	struct idem_store *store;	/* once opened */
	struct idem_boot boot;
};

typedef int ctl_command(struct ctl *);
ctl_command ctl_init, ctl_list, ctl_show, ctl_stats, ctl_resolve, ctl_forget;

/* Say "idemctl: COMMAND: why" on standard error; gives the status back. */
int ctl_say(const struct ctl *, enum ctl_exit, const char *why, ...)
    __attribute__((format(printf, 3, 4)));

/* --- ctl_find.c ----------------------------------------------------------- */

/* Open the ledger.  CTL_DONE, or a status after a message. */
int ctl_open(struct ctl *, bool read_only);

/* One call, waited for.  CTL_DONE if the store carried it out. */
int ctl_ask(struct ctl *, struct idem_store_call *, struct idem_store_answer *);

/*
 * The record that the command line names, by `text` (a store key or the first
 * eight or more of its digits) or, without one, by the client's key.
 */
int ctl_find(struct ctl *, const char *text, struct idem_listed *);

/* ctl_key.c: what the client's key on the command line is in the ledger. */
int ctl_client_key(const struct ctl *, struct idem_digest *);

/* The folder of run locks beside the ledger, or -1 if there is none. */
int ctl_folder(const struct ctl *);

/* What is known of the record's owner; *held: its lock is. */
enum idem_proof ctl_proof(const struct ctl *, const struct idem_record *,
    bool *held);

#endif
