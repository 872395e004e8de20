/* SPDX-License-Identifier: ISC */
#ifndef CONF_PRIVATE_H
#define CONF_PRIVATE_H

#include "conf.h"

/* Of conf*.c, options*.c and ctl_open.c only. */

#define CONF_MEMORY_MAX (16u * 1024u * 1024u)	/* of one's own texts, lists */

/* The ranges that file and command line share. */
#define CONF_DAY_MS (24 * 3600 * (int64_t)1000)
#define CONF_TIME_MAX_MS (3650 * CONF_DAY_MS)
#define CONF_RUN_MAX_MS (15 * CONF_DAY_MS)	/* fits 31 bits */
#define CONF_LEASE_MIN_MS 100u
#define CONF_QUEUE_MAX 1000000u
#define CONF_ATTEMPTS_MAX 1000u
#define CONF_RESERVE_MAX (UINT64_C(1) << 40)

#define CONF_TIME_WORDS \
	"a time with its unit, such as 250ms, 10s, 5m, 24h or 7d"
#define CONF_SIZE_WORDS \
	"a size with its unit, such as 512B, 64KiB, 16MiB or 1GiB"

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

/* Signals that a program may be told something by, the first 0, and what the
   file calls them, NULL last.  Others end it in whatever it is at, stop it, or
   mean something else. */
extern const int conf_signals[];
extern const char *const conf_signal_names[];

/* Names that a program may be given: [A-Za-z_][A-Za-z0-9_]*. */
bool conf_is_variable(const char *text);

/* --- conf_redis.c --------------------------------------------------------- */

#define CONF_REDIS_CALL_MAX_MS 60000u	/* of a time that a request may wait */
#define CONF_REDIS_KEPT_MAX (UINT64_C(48) << 20)	/* below reply_max */

/* The defaults, and no server.  NULL: no memory. */
struct conf_redis *conf_redis_new(struct conf *);
/* The same for one URL; finished. */
struct conf_redis *conf_redis_of_url(struct conf *, const char *url,
    char *error, size_t error_size);
/*
 * Once all is set: is it right, and what is left open.  False, and a sentence
 * that holds no password.
 */
bool conf_redis_finish(struct conf *, struct conf_redis *, char *error,
    size_t error_size);
/* What differs, as its field is called, or NULL.  `budget` is not looked at. */
const char *conf_redis_differs(const struct conf_redis *,
    const struct conf_redis *);

/* --- conf_secret.c -------------------------------------------------------- */

/* Read keys_file into keys; one that others may read is refused.  False, and a
   sentence that names it and holds no key. */
bool conf_tokens_read(struct conf_tokens *, char *error, size_t error_size);
/* The defaults: no keys yet.  NULL: no memory. */
struct conf_tokens *conf_tokens_new(struct conf *);
/* The first line of a file; NULL and a sentence. */
const char *conf_password_read(struct conf *, const char *file, char *error,
    size_t error_size);
/* May others read it?  False also if it is not there. */
bool conf_others_read(const char *file);

/* --- conf_check.c --------------------------------------------------------- */

/*
 * What can only be said of the whole, after the command line has had its say:
 * what is missing, and warnings of what routes take on.  `file` is its name, or
 * NULL: all was on the command line.  False, and a sentence.
 */
bool conf_check(struct conf *, const char *file, char *error,
    size_t error_size);

/* --- conf_explain.c, _arbiter.c, _run.c ----------------------------------- */

void conf_say_line(struct idem_buf *, const char *name);
void conf_say_time(struct idem_buf *, int64_t ms);
void conf_say_size(struct idem_buf *, uint64_t size);
void conf_say_arbiter(struct idem_buf *, const struct conf *,
    const struct conf_route *);
void conf_say_runs(struct idem_buf *, const struct conf_route *);

/* conf_lua*.c; nothing is done for a configuration that is no file's. */
void conf_lua_free(struct conf_lua *);
/* Do both have the same text, and use the same of the file's locals?  Tables
   are not looked into. */
bool conf_lua_same_function(const struct conf *, int, const struct conf *, int);

#endif
