/* SPDX-License-Identifier: ISC */
#ifndef TESTS_CALLER_RIG_H
#define TESTS_CALLER_RIG_H

#include "caller.h"

/*
 * A server for the simulator's callers, in the same loop: it reads a request
 * to its end, says what it is told to say, and then does what it is told.
 */
enum caller_rig_then {
	CALLER_STAYS,
	CALLER_CLOSES,
	CALLER_RESETS,		/* closes before it has read anything */
	CALLER_FLOODS		/* says `says` again and again */
};

struct caller_rig {
	struct loop *loop;
	struct idem_clock clock;	/* of the loop */
	char folder[64], socket[80];
	int port;		/* TCP at 127.0.0.1 in place of it; 0: none */
	struct watch listener;
	bool http;
	struct idem_bytes says;	/* bytes as they are */
	enum caller_rig_then then;
	struct caller_rig_conn *conns;
	struct idem_buf heard;	/* by the last connection that read */
	size_t enough;		/* bytes of an answer; with them the time is
				   over that a call has.  0: any number */
	int64_t ahead_ms;	/* private: of its loop's clock */
	size_t accepted;
	bool aborted;		/* an ABORT_REQUEST was heard */
};

void caller_rig_open(struct caller_rig *, bool tcp);
void caller_rig_close(struct caller_rig *);

/* Its answers: STDOUT's bytes as records, and END_REQUEST if it is whole. */
void caller_rig_records(struct idem_buf *, struct idem_bytes out, bool end);

/* Turn the loop until *n calls are done (each counts there, by its arg, with
   caller_rig_done); false: not within 60 s. */
void caller_rig_done(struct call *);
bool caller_rig_await(struct caller_rig *, const unsigned *n, unsigned want);
/* One call, from its begin to its end. */
void caller_rig_call(struct caller_rig *, struct call *);

#endif
