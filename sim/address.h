/* SPDX-License-Identifier: ISC */
#ifndef ADDRESS_H
#define ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/* Where a peer is: a unix socket, or a port of 127.0.0.1.  Zeroes: nowhere. */
struct address {
	struct sockaddr_storage at;
	socklen_t len;
};

/* "unix:PATH", "/PATH", "127.0.0.1:PORT".  False, and zeroes: it is none. */
bool address_read(struct address *, const char *text);
void address_loopback(struct address *);	/* TCP, any free port */
int address_port(const struct address *);	/* 0: none, or a unix socket */

/* A stream socket that does not block; -1 and errno. */
int address_socket(const struct address *);
/*
 * A socket on its way there: *connected, or it is once it can be written to
 * (ask SO_ERROR).  -1 and errno; EAGAIN: the queue is full, try again in a
 * moment.
 */
int address_connect(const struct address *, bool *connected);
/* Does that errno say that we have no descriptor, or no memory, for it?  Then
   it is no peer's doing, and what was to come of it is not what is seen. */
bool address_short(int error);

#endif
