/* SPDX-License-Identifier: ISC */
#ifndef CONF_PRIVATE_H
#define CONF_PRIVATE_H

#include "conf.h"

/* Of conf*.c and options*.c only. */

#define CONF_MEMORY_MAX (16u * 1024u * 1024u)	/* of one's own texts, lists */

/* The ranges that file and command line share. */
#define CONF_DAY_MS (24 * 3600 * (int64_t)1000)
#define CONF_TIME_MAX_MS (3650 * CONF_DAY_MS)
#define CONF_RUN_MAX_MS (15 * CONF_DAY_MS)	/* fits 31 bits */
#define CONF_LEASE_MIN_MS 100u
#define CONF_QUEUE_MAX 1000000u
#define CONF_ATTEMPTS_MAX 1000u

#define CONF_TIME_WORDS \
	"a time with its unit, such as 250ms, 10s, 5m, 24h or 7d"

/* Memory of the configuration's own, zeroed, gone with it.  NULL: there is no
   more, or not for one configuration. */
void *conf_get(struct conf *, size_t);
char *conf_copy(struct conf *, struct idem_bytes);	/* with a NUL */

/* Without memory it is left out. */
void conf_warn(struct conf *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* One more route, zeroed; the ones before it may have moved. */
struct conf_route *conf_route_add(struct conf *);

/*
 * A socket to listen on: "unix:PATH", a path, "tcp:HOST:PORT", and fcgiwrap's
 * "tcp6:[ADDRESS]:PORT", which becomes "tcp:[ADDRESS]:PORT".  NULL: it is none
 * of these, or no memory.
 */
const char *conf_socket(struct conf *, const char *text);

/* Names that a program may be given: [A-Za-z_][A-Za-z0-9_]*. */
bool conf_is_variable(const char *text);

/* conf_lua*.c; nothing is done for a configuration that is no file's. */
void conf_lua_free(struct conf_lua *);
/* Do both have the same text, and use the same of the file's locals?  Tables
   are not looked into. */
bool conf_lua_same_function(const struct conf *, int, const struct conf *, int);

#endif
