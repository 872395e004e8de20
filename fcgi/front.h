/* SPDX-License-Identifier: ISC */
#ifndef FRONT_H
#define FRONT_H

#include "buf.h"

/*
 * libfcgi's part: it decodes a request's parameters from a clean copy that we
 * framed (doc/design.md, 5, Reading).  It never sees a peer's socket.
 */
struct front {
	int memfd;	/* reused for every copy */
	size_t put;	/* bytes in it */
	bool spoilt;	/* its reader may stand before their end */
};

/* The parameters of one request.  Zeroes are an empty one. */
struct params {
	char **at;	/* "NAME=value", NULL last; owned, one block */
	size_t len;
};

/*
 * Once a process, before its first thread.  The dispositions of signals stay
 * as they were.  -1 and errno.
 */
int front_init(struct front *);

/*
 * Decode a whole PARAMS stream that idem_fcgi_read has checked, in its order.
 * 0; -1 when it is refused or memory is out (then *params is empty).  Refused,
 * and never shown to libfcgi, are a cut stream and a parameter that cannot be
 * told as "NAME=value": a NUL in name or value (CGI text has none, RFC 3875,
 * 7.2), a '=' in the name, or an empty name.  libfcgi's own FCGI_ROLE is left
 * out: these are the peer's parameters and no others.
 */
int front_decode(struct front *, uint16_t id, struct idem_bytes stream,
    struct params *);
void front_free(struct front *);

/* The first value of that name, or NULL. */
const char *params_get(const struct params *, const char *name);
/*
 * The first values of that name, at most max, and how many they are.  Who wants
 * to know of too many has room for one more.
 */
size_t params_all(const struct params *, const char *name, const char **values,
    size_t max);
void params_free(struct params *);

#endif
