/* SPDX-License-Identifier: ISC */
#ifndef RESP_H
#define RESP_H

#include "buf.h"

#include <stdbool.h>

/*
 * Where one value of the Redis protocol (RESP2, RESP3 too) ends in a stream of
 * bytes, and what is in a command.  Nothing is copied or allocated.
 */
#define RESP_DEPTH 32

/*
 * How many bytes the first value has; an attribute is part of the value that
 * follows it.  0: it is not whole yet; -1: this is not RESP (or deeper than
 * RESP_DEPTH, a length beyond 512 MiB, a line beyond 64 KiB, or a streamed
 * value, which no server sends).
 */
long resp_len(struct idem_bytes);
/* The same of what a client sends: all but an array is an inline command, which
   is a line. */
long resp_command_len(struct idem_bytes);

struct resp_command {
	struct idem_bytes name;		/* as it was sent: "EVALSHA" */
	struct idem_bytes script;	/* of EVAL, EVALSHA: 1st argument; or
					   of SCRIPT, CLIENT...: the 2nd word */
	struct idem_bytes key;		/* the first key, or the 1st argument */
	struct idem_bytes op;		/* EVAL, EVALSHA: ARGV[1] */
	struct idem_bytes args[12];	/* the first of them, name at 0 */
	size_t args_n;			/* in all; 0: servers pass over it,
					   without a reply */
};
/* A whole value that is an array of bulk strings (or an inline command, whose
   quoted words are taken as they stand there).  False: it is none. */
bool resp_command(struct idem_bytes whole, struct resp_command *);
/*
 * In few words, for a history: "WON" (the first element of an array that is a
 * text), "OK", "-OOM command not allowed", "(nil)", "17", "[3]", "(empty)",
 * "(no reply)" for what is none.  Printable ASCII, cut to size; gives out.
 */
const char *resp_reply_text(struct idem_bytes whole, char *out, size_t size);

#endif
