/* SPDX-License-Identifier: ISC */
#ifndef IDEM_REDIS_NAME_ASK_H
#define IDEM_REDIS_NAME_ASK_H

#include "redis_name.h"

/*
 * For redis_name.c: questions to the resolver, each in a thread.
 *
 *	_put -- question --> thread: resolve --> pile, eventfd --> _take
 *
 * Pile and questions outlive _free as long as a thread may still use them.
 */
struct idem_redis_name_question {
	struct idem_redis_name_question *next;
	struct idem_redis_name_ask *ask;
	idem_redis_resolve *resolve;
	const char *why;	/* NULL: found */
	struct idem_redis_addresses found;
	char host[];
};

struct idem_redis_name_ask;

/* NULL and errno: no memory, no descriptor. */
struct idem_redis_name_ask *idem_redis_name_ask_new(void);
int idem_redis_name_ask_fd(const struct idem_redis_name_ask *);
/* False: no memory, no thread. */
bool idem_redis_name_ask_put(struct idem_redis_name_ask *, const char *host,
    idem_redis_resolve *);
/* What has come since: a list, for free(). */
struct idem_redis_name_question *idem_redis_name_ask_take(
    struct idem_redis_name_ask *);
void idem_redis_name_ask_free(struct idem_redis_name_ask *);

/* getaddrinfo: NULL, or why not. */
const char *idem_redis_name_ask_system(const char *host, int flags,
    struct idem_redis_addresses *found);

#endif
