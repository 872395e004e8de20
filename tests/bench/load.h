/* SPDX-License-Identifier: ISC */
#ifndef TESTS_BENCH_LOAD_H
#define TESTS_BENCH_LOAD_H

#include "buf.h"
#include "fcgi_rec.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A load of requests, FastCGI or HTTP/1.1, from so many clients in one process:
 * each has one request at a time.  Every answer is looked at.
 *
 *	load.c		the command line, and the figures as JSON
 *	load_run.c	connections, and the time it takes
 *	load_ask.c	requests, and which key each has
 *	load_hear.c	answers
 */
struct load_options {
	const char *at;		/* unix:PATH or tcp:HOST:PORT */
	bool http, keep;
	uint32_t clients;
	int64_t run_ms;		/* 0: until count are answered */
	uint64_t count;		/* 0: for run_ms */
	const char *keys;	/* none, fresh, one, set:K, zipf:K, file:PATH */
	const char *prefix;	/* of each key */
	size_t body_len;
	const char *method, *path, *query, *type;
	const char *program;	/* SCRIPT_FILENAME; NULL: none */
	int status;		/* that each answer must have; 0: any */
	const char *says;	/* Idempotency-Status that each must have; "":
				   none; NULL: any */
	uint64_t seed;		/* of zipf */
	const char *save;	/* a file that gets each body; NULL: none */
};

/* --- which key (load_ask.c) ----------------------------------------------- */

enum load_pattern {
	LOAD_NONE,		/* no key */
	LOAD_FRESH,		/* one of its own for each request */
	LOAD_SET,		/* one after the other, of so many */
	LOAD_ZIPF,		/* by chance: the n-th is asked for 1/n times
				   as often as the first */
	LOAD_FILE		/* one after the other, each a line of a file */
};

struct load_keys {
	enum load_pattern pattern;
	uint32_t count;		/* of different ones; 0: no matter */
	uint64_t asked, chance;
	double *share;		/* ZIPF: of the first n of all */
	uint64_t *digest;	/* of each key's answer; 0: none yet */
	struct idem_buf lines;	/* FILE: count of them, all of one length */
};

/* -1: not a pattern, or no memory, or no such file. */
int load_keys_init(struct load_keys *, const struct load_options *);
void load_keys_free(struct load_keys *);
uint64_t load_keys_next(struct load_keys *);
/* Is that the answer that this key had before, if it had one? */
bool load_keys_same(struct load_keys *, uint64_t key, uint64_t digest);

/*
 * The request, and where in it a key differs from the next: a number, or all
 * of a line.  NULL in *place: nowhere.
 */
#define LOAD_DIGITS 10
void load_request(struct idem_buf *, const struct load_options *,
    const struct load_keys *, uint8_t **place);
void load_key(const struct load_keys *, uint64_t key, uint8_t *place);

/* --- an answer (load_hear.c) ---------------------------------------------- */

/* Zeroes are an empty one. */
struct load_answer {
	struct idem_buf out;	/* STDOUT; HTTP: all of it */
	struct idem_fcgi_client_reader reader;
	bool closes;		/* HTTP: the server says so */

	/* Once it is whole. */
	int status;
	struct idem_bytes says;	/* Idempotency-Status; borrowed from out */
	struct idem_bytes body;	/* borrowed, too */
	uint64_t digest;	/* of it */
};

enum load_heard { LOAD_MORE, LOAD_WHOLE, LOAD_BROKEN };

void load_answer_reset(struct load_answer *);	/* for the next one */
enum load_heard load_answer_take(struct load_answer *, bool http,
    struct idem_bytes);
/* The peer has closed: some HTTP answers end so. */
enum load_heard load_answer_closed(struct load_answer *, bool http);

/* --- all of them (load_run.c) --------------------------------------------- */

struct load_figures {
	uint64_t requests, wrong, broken, connections;
	double seconds;
	uint32_t *took;		/* each right one's, in tenths of a us, sorted;
				   owned */
	size_t took_len;
	char first_wrong[512];	/* what it said, to be read; "": none */
};

/* -1 and a message on standard error: nobody is there, or no means. */
int load_run(const struct load_options *, struct load_figures *);

#endif
