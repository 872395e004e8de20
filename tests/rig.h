/* SPDX-License-Identifier: ISC */
#ifndef TESTS_RIG_H
#define TESTS_RIG_H

#include "buf.h"
#include "fcgi_rec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * An idemd of one's own for an end-to-end test, in a fresh folder, and a
 * FastCGI client.  Nothing here waits without a bound.
 *
 *	struct rig rig;
 *	struct rig_answer answer;
 *
 *	rig_open(&rig);
 *	rig_program(&rig, "order", "#!/bin/sh\n...");
 *	rig_start(&rig, (const char *[]){"-c", "4", "--", rig_at(&rig, "order"),
 *	    NULL});
 *	rig_request(&rig, &(struct rig_request){.method = "POST",
 *	    .path = "/order", .key = "\"k1\"",
 *	    .body = idem_bytes_text("item=tea")}, &answer);
 *	is(rig_field(&answer, "Idempotency-Status"), "stored", "...");
 *	rig_answer_free(&answer);
 *	rig_end(&rig);
 */
#define RIG_PATH 160

struct rig {
	/* Set between rig_open and rig_start, if at all. */
	bool tcp;		/* listen on 127.0.0.1, a port of ours */
	bool bare;		/* give no ledger: the options say it all */
	int64_t request_ms;	/* for one request to be answered; 30,000 */

	/* To be read. */
	char folder[RIG_PATH - 40];
	char socket[RIG_PATH];	/* of the unix socket, tcp or not */
	char ledger[RIG_PATH];	/* ledger.db in the folder */
	char log[RIG_PATH];	/* standard error and output of idemd */
	int port;		/* 0 without tcp */
	pid_t pid;		/* of the master; 0: none runs */

	int held;		/* private: the port, see port_hold.h; or -1 */
	char at[4][RIG_PATH];	/* what rig_at gave last */
	unsigned at_next;
};

/* --- the folder (rig.c) --------------------------------------------------- */

/* A fresh folder below TMPDIR or /tmp.  Bails out where there can be none.
   Raises the limit of open descriptors as far as it may. */
void rig_open(struct rig *);
/* Stop what runs, remove the folder and all in it. */
void rig_end(struct rig *);

/* The path of a file in the folder; good until the fourth call after. */
const char *rig_at(struct rig *, const char *name);
void rig_file(struct rig *, const char *name, const char *text);
/* Mode 0755. */
void rig_program(struct rig *, const char *name, const char *text);
void rig_order(struct rig *);	/* $ORDER, or tests/order, as "order" */

/* All of a file, NUL at its end; NULL: cannot.  The caller frees it. */
char *rig_slurp(struct rig *, const char *name);
/* How many lines a file has; of them those equal to line, unless NULL.  0 when
   it is not there. */
long rig_lines(struct rig *, const char *name, const char *line);
/* Until it has that many; false after wait_ms. */
bool rig_await_lines(struct rig *, const char *name, long lines,
    int64_t wait_ms);

int64_t rig_now_ms(void);	/* monotonic */

/* --- the daemon (rig.c) --------------------------------------------------- */

/*
 * Start $IDEMD (or ./idemd) with socket, ledger (--create) and the options,
 * NULL last, and wait until it accepts.  -1, with its log as notes, when it
 * ends or does not accept within a minute.  In a process group of its own; gets
 * SIGTERM when the test dies.  May be called again after rig_stop, on the same
 * folder.
 */
int rig_start(struct rig *, const char *const *options);

/* SIGTERM, then SIGKILL after wait_ms.  The status as of waitpid(2). */
int rig_stop(struct rig *, int64_t wait_ms);
/* SIGKILL for the master alone: the others see to themselves. */
void rig_kill(struct rig *);

/* Children of a process, by /proc: how many, at most max given. */
size_t rig_children(pid_t, pid_t *children, size_t max);

/* --- one request (rig_call.c) --------------------------------------------- */

struct rig_request {
	const char *method;	/* NULL: GET */
	const char *path;	/* SCRIPT_NAME; NULL: "/" */
	const char *query;	/* NULL: "" */
	const char *key;	/* Idempotency-Key as it is sent; NULL: none */
	const char *program;	/* SCRIPT_FILENAME; NULL: none */
	const char *type;	/* CONTENT_TYPE; NULL: none */
	struct idem_bytes body;
	const char *length;	/* CONTENT_LENGTH; NULL: the body's; "": none */
	const char *const *more;	/* "NAME=value", NULL last; or NULL */
	bool keep;		/* FCGI_KEEP_CONN */
};

/* Zeroes are an empty one. */
struct rig_answer {
	struct idem_buf out;	/* STDOUT */
	struct idem_buf err;	/* STDERR */
	bool whole;		/* END_REQUEST came */
	uint32_t app_status;
	enum idem_fcgi_status protocol_status;
	int error;		/* why it is not whole: errno; ECONNABORTED:
				   closed, EPROTO: not FastCGI, ETIMEDOUT */
	int status;		/* 200 without Status; 0: no head */
	struct idem_bytes body;	/* in out, after the head */
	int64_t ms;		/* from begin to end */
	char *head;		/* private: its lines, NUL after each */
	size_t head_len;
};

/* The request's records, whole. */
void rig_request_write(struct idem_buf *, uint16_t id,
    const struct rig_request *);

/* Connect, send, and read to the end.  0, or -1 when it is not whole. */
int rig_request(struct rig *, const struct rig_request *, struct rig_answer *);

/* The first field of that name, or "". */
const char *rig_field(const struct rig_answer *, const char *name);
void rig_answer_free(struct rig_answer *);	/* zeroes again */

/* The parts, for a test that sends half of one or never reads.  The
   descriptor does not block and is the caller's to close; -1 and errno. */
int rig_connect(const struct rig *);
/* In pieces of at most piece bytes (0: as they fit); -1 and errno. */
int rig_send(int fd, struct idem_bytes, size_t piece, int64_t wait_ms);
/* Read the answer to id while sending what is left, which may be nothing. */
int rig_receive(int fd, uint16_t id, struct idem_bytes left, int64_t wait_ms,
    struct rig_answer *);

/* --- thousands at once (rig_many.c) --------------------------------------- */

enum rig_next {
	RIG_SEND,	/* *request and *user are set */
	RIG_LATER,	/* none now; ask again next turn */
	RIG_OVER	/* none any more; end when all are answered */
};

struct rig_many {
	size_t connections_max;	/* at once */
	int64_t limit_ms;	/* for all of it */

	/*
	 * Is there another request?  Asked while a connection is free, in each
	 * turn.  The request is borrowed until the next call.
	 */
	enum rig_next (*next)(void *arg, int64_t now_ms,
	    struct rig_request *, void **user);
	/* One answer; whole or not: see its error.  Borrowed for the call. */
	void (*answered)(void *arg, void *user, const struct rig_answer *);
	/* Every turn, at least each 10 ms; or NULL. */
	void (*turn)(void *arg, int64_t now_ms);
	void *arg;

	/* To be read, also in the calls. */
	size_t open;		/* connections */
	size_t most;		/* of them at once so far */
	size_t sent, whole, failed;
};

/* Until next says RIG_OVER and all are answered.  -1: limit_ms, or no means. */
int rig_many(struct rig *, struct rig_many *);

#endif
