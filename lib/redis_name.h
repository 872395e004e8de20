/* SPDX-License-Identifier: ISC */
#ifndef IDEM_REDIS_NAME_H
#define IDEM_REDIS_NAME_H

#include "clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/*
 * Names to addresses, for redis*.c: a small cache.  The resolver blocks for as
 * long as it likes, so each question has a thread of its own, at most
 * IDEM_REDIS_NAMES_ASKED at a time; one question a name.  Nothing in here
 * blocks, and nothing waits for a thread, not even _free.
 */
#define IDEM_REDIS_ADDRESSES_MAX 16u
#define IDEM_REDIS_NAMES_ASKED 4u

struct idem_redis_address {
	struct sockaddr_storage at;	/* its port is 0 */
	socklen_t len;
};

struct idem_redis_addresses {
	struct idem_redis_address at[IDEM_REDIS_ADDRESSES_MAX];
	size_t len;
};

/*
 * What a thread calls: all addresses of host, in the order in which they are
 * to be tried.  NULL, or why there are none (a constant text).
 */
typedef const char *idem_redis_resolve(const char *host,
    struct idem_redis_addresses *);

struct idem_redis_names;

/* resolve NULL: getaddrinfo.  NULL and errno: no memory, no descriptor. */
struct idem_redis_names *idem_redis_names_new(const struct idem_clock *,
    idem_redis_resolve *);

/*
 * IDEM_REDIS_NAME_KNOWN: *found holds at least one.  Old ones are given while
 * they are asked for anew.
 * IDEM_REDIS_NAME_ASKED: later, when _poll says that something has come.
 * IDEM_REDIS_NAME_FAILED: *why says why; it is asked for anew after a second.
 *
 * A numeric address needs no thread.  At most 255 bytes.
 */
enum idem_redis_name {
	IDEM_REDIS_NAME_KNOWN, IDEM_REDIS_NAME_ASKED, IDEM_REDIS_NAME_FAILED
};
enum idem_redis_name idem_redis_names_look(struct idem_redis_names *,
    const char *host, struct idem_redis_addresses *found, const char **why);
/* None of its addresses would have us: ask anew when it is looked for next, but
   once a second, while the old ones are kept. */
void idem_redis_names_doubt(struct idem_redis_names *, const char *host);

int idem_redis_names_fd(const struct idem_redis_names *); /* readable: _poll */
/* Take what the threads have found.  Then each wire that waits for a name is
   due: its owner asks for _wire_due_ms again. */
void idem_redis_names_poll(struct idem_redis_names *);
/* Another number after something has come. */
unsigned idem_redis_names_turn(const struct idem_redis_names *);
/* Also while threads are stuck: they free what is theirs when they end.  NULL
   does nothing. */
void idem_redis_names_free(struct idem_redis_names *);

#endif
