/* SPDX-License-Identifier: ISC */
#ifndef INSTANCE_H
#define INSTANCE_H

#include "child.h"
#include "plan.h"

/*
 * A real idemd of a run (the one with labels, idemd-sim), with a configuration
 * made from the plan, in front of the program; or with lighttpd before it.
 *
 * All of it is in the lane "g1"; its lighttpd is in "g1.front", and what
 * idemctl does in "g1.ctl": they are none of its parts.
 */
struct instance {
	unsigned number;		/* g1: 1 */
	char name[8];
	char folder[96];
	char socket[120];		/* of idemd, or of lighttpd's HTTP */
	bool http;			/* it is lighttpd's */
	struct child child, front;	/* their callbacks are taken */
	unsigned life;			/* from 1; each start is a new one */
	bool up;			/* it accepts */

	/* To be set at any time, or NULL: a line of its log, without its end
	   (folder/log has them too); its master has ended (child.status), or
	   its lighttpd (front.status). */
	void (*log)(struct instance *, const char *line, size_t len);
	void (*ended)(struct instance *, struct child *which);
	void *arg;

	struct instance_private *in;	/* private */
};

struct instance_spec {
	const struct plan *plan;
	unsigned number;
	const char *folder;		/* of the run */
	const char *ledger;		/* path; NULL: none */
	bool make_ledger;		/* it is the first that has it */
	const char *store_url;		/* of its link; NULL: none */
	const char *const *sentinels;	/* "127.0.0.1:PORT", NULL last: in place
					   of store_url, which is then the
					   master's name there; or NULL */
	const char *program;		/* path of the CGI program */
	const char *stops;		/* socket of stops.h; NULL: no labels */
	const char *labels;		/* of IDEMSIM_LABELS (label.h) */
	const char *effects;		/* path of the journal of effects */
	const char *preload;		/* library; NULL: none */
	const char *shift;		/* its clock */
	const char *disk;		/* its disk */
	const char *boot;		/* its boot_id */
	const char *token_keys;		/* file, arbiter token */
	uint64_t seed;			/* of what the program draws */
};

/* Why none can be started here; NULL: one can. */
const char *instance_missing(const struct plan *);
/* Its configuration in a life, from 1; `out` grows. */
void instance_conf(const struct instance_spec *, unsigned life,
    struct idem_buf *out);
/* Copies the spec, not what is in it.  -1 and errno. */
int instance_start(struct loop *, struct instance *,
    const struct instance_spec *);
/* Turn the loop until it accepts and its lobbies and keepers are there; -1: it
   ended, or did not within wait_ms. */
int instance_await(struct loop *, struct instance *, int64_t wait_ms);
/* The next life of one that has ended, and its lighttpd's if that has too; it
   is not waited for.  What is left of the one before is killed first. */
int instance_again(struct loop *, struct instance *);

/* SIGKILL, SIGSTOP, SIGCONT: to all of it, or to a part; how many processes.
   PLAN_WHOLE: until all are dead, or stopped; `ended` comes in a later turn. */
size_t instance_kill(struct instance *, enum plan_part);
size_t instance_pause(struct instance *, enum plan_part);
size_t instance_resume(struct instance *, enum plan_part);
/* Whether instance_kill did that to this process, of late. */
bool instance_killed(const struct instance *, pid_t);
/* SIGTERM, and SIGKILL after wait_ms; lighttpd SIGKILL.  Its files stay.
   Zeroes, or one that was ended, do nothing. */
void instance_end(struct loop *, struct instance *, int64_t wait_ms);
/* Processes of it that are there; descriptors that its lobbies hold. */
size_t instance_processes(const struct instance *);
size_t instance_descriptors(const struct instance *);
/* One of its lobbies or keepers has something to do, and may do it: it neither
   sleeps nor is stopped. */
bool instance_is_busy(const struct instance *);

/*
 * idemctl with its configuration: `words`, NULL last; output to out (cut to
 * size); its exit status, or -1.
 */
int instance_ctl(struct loop *, struct instance *, const char *const *words,
    char *out, size_t size);

#endif
