/* SPDX-License-Identifier: ISC */
#ifndef LISTEN_H
#define LISTEN_H

#include <stddef.h>

/*
 * The listening socket, non-blocking and close-on-exec, at a number over 2.
 *
 * `where` is "unix:PATH", a path, or "tcp:HOST:PORT" (an IPv6 HOST in
 * brackets, PORT 0 for any); NULL takes the one that systemd passes
 * (sd_listen_fds(3)), or descriptor 0 as web servers and spawn-fcgi do
 * (FastCGI, 2.2).  A unix socket has mode 0660; one left over by a dead
 * process is replaced, one that somebody answers on is not.
 *
 * -1 and a sentence (what, where, what to do) in error.
 */
int listen_open(const char *where, char *error, size_t error_size);

/* The path of a unix socket that listen_open made, to unlink it; or NULL. */
const char *listen_path(const char *where);

#endif
