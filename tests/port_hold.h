/* SPDX-License-Identifier: ISC */
#ifndef TESTS_PORT_HOLD_H
#define TESTS_PORT_HOLD_H

/*
 * A TCP port of 127.0.0.1 for a server that is still to be started, and for
 * each start of it after that: while *fd is open the kernel gives it to nobody
 * else.  The socket is bound and does not listen, so that who connects is
 * refused until a server is there.  It lets another be bound beside it that
 * allows the same (SO_REUSEADDR), as servers do.  Bails out where there is
 * none.  The caller closes *fd when no server is to be there any more.
 */
int port_hold(int *fd);

#endif
