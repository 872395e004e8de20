/* SPDX-License-Identifier: ISC */
#include "port_hold.h"

#include "tap.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

int
port_hold(int *fd)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof at;
	const int on = 1;

	*fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* After bind: with it set before, bind might choose a port that another
	   holds in the same way. */
	if (*fd == -1 || bind(*fd, (struct sockaddr *)&at, sizeof at) == -1 ||
	    getsockname(*fd, (struct sockaddr *)&at, &len) == -1 ||
	    setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == -1)
		bail_out("no port on 127.0.0.1: %s", strerror(errno));
	return ntohs(at.sin_port);
}
