/* SPDX-License-Identifier: ISC */
#ifndef PEERS_H
#define PEERS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/*
 * Who may connect: FCGI_WEB_SERVER_ADDRS (FastCGI 1.0, 3.2), addresses of IPv4
 * or IPv6 joined by commas.  While it is set, everybody else is refused, and so
 * is every peer that has no such address, on a unix socket for one.
 */
struct peers {
	struct in6_addr *at;	/* IPv4 as mapped ones */
	size_t len;
	bool limited;		/* false: anybody may */
};

/*
 * Read the list; NULL is none.  0; -1: no memory, or *wrong is the part that is
 * no address, with its length.
 */
int peers_read(struct peers *, const char *list, const char **wrong,
    size_t *wrong_len);
bool peers_may(const struct peers *, const struct sockaddr_storage *);
void peers_free(struct peers *);

#endif
