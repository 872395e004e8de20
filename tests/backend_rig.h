/* SPDX-License-Identifier: ISC */
#ifndef TESTS_BACKEND_RIG_H
#define TESTS_BACKEND_RIG_H

#include "backend.h"
#include "backend_app.h"
#include "clock.h"

/* What the tests of backends share: a loop with them, and what a call told. */
struct back {
	struct loop *loop;
	struct backends *all;
	int64_t later_ms;	/* than it is: to let time pass */
	int64_t held_ms;	/* 0, or the time until it is set to 0 again:
				   then only later_ms lets it pass */
	unsigned turns;		/* of the loop, so far */
	struct idem_clock clock;
};

struct got {
	struct back *back;
	struct backend_call *call;	/* NULL once over */
	uint64_t out_len, err_len;
	uint64_t pattern_from;	/* where in it the pattern begins */
	bool out_wrong;		/* is not the pattern */
	int outs;		/* times that some was told */
	bool started;		/* backend_start has returned */
	bool too_early;		/* something was told before */
	struct idem_buf out, err;	/* their first bytes */
	uint64_t stop_at, pause_at;	/* of out_len; 0: never */
	int overs;
	struct backend_end end;
	char why[80];
};

void back_open(struct back *);
void back_close(struct back *);

/* A file with so many bytes of the pattern; -1: none. */
int back_body(uint64_t len);
/* A PARAMS stream of exactly so many bytes: 3 at least. */
void back_params(struct idem_buf *, size_t len);

/* Start it; got's hooks are set before.  False: NULL. */
bool back_start(struct back *, struct got *, const struct backend_request *);
/* Turns until it is over (or stopped), or bails out in the end. */
void back_await(struct got *);
/* Turns until so many words of the script are done; NULL: no turns. */
void back_await_words(struct back *, const struct app *, int words);
/* Turns for so long. */
void back_turns(struct back *, int64_t ms);
void got_free(struct got *);

/* "ended 0", "not-started busy", "not-started", "cut", "died": one test. */
bool got_is(const struct got *, const char *how, const char *what, ...)
    __attribute__((format(printf, 3, 4)));

/* A request of its own, with params and generous limits. */
struct backend_request back_request(char *const *addresses);
/* One call from start to end: how, and what it told; NULL: whatever. */
void back_call(struct back *, const struct backend_request *, const char *how,
    const char *out, const char *what);

/* What an application that has accepted plays to answer with a text. */
#define ANSWER(text) "params body STDOUT/1:" text " STDOUT/1 END/1:0.0 "

size_t back_descriptors(void);

#endif
