/* SPDX-License-Identifier: ISC */
#ifndef IDEM_REDIS_WIRE_H
#define IDEM_REDIS_WIRE_H

#include "redis.h"
#include "redis_name.h"
#include "redis_tls.h"

/*
 * One connection to one server.  For redis*.c only.  Commands go out in order,
 * pipelined; what is started in one turn leaves in one write.  hiredis
 * parses; connect, TLS, deadlines and the socket are ours: close on exec, no
 * SIGPIPE, one monotonic deadline a command over connect, write and read.
 *
 * A command past its deadline is answered at once, and its slot discards the
 * reply that may yet come.  The connection ends, and with it all that is
 * outstanding, on: end of file, an error, no RESP2, a reply that nobody awaits,
 * one over reply_max, or total silence: the first that is awaited is past its
 * deadline, and not a byte has come for timeout_ms since it was sent (or only
 * drops of a reply for four times as long).  It is opened again by the next
 * command; what had not been sent goes there.  Who has turned us away in a way
 * that means CONFIG is asked again after a second; until then that is the
 * answer.
 *
 * A deadline counts as a failure only if it has left the server half of
 * timeout_ms, or the server has been silent for so long.
 */
struct idem_redis_wire;

/* Borrowed for as long as the wire lives. */
struct idem_redis_wire_options {
	const struct idem_redis_url *url;
	const struct idem_redis_options *redis;
	const char *user, *password;	/* of this server; or NULL */
	struct idem_redis_names *names;
	struct idem_redis_tls *tls;	/* NULL: no rediss:// */
	/* What is said first on each connection, after AUTH and SELECT: the
	   replies of these go to `met` as an array, before any other command is
	   sent.  met gives NULL, or why this server is not to be used (then as
	   NOT_CONNECTED, REFUSED).  An error among them that means CONFIG, or
	   to drop the connection, is everybody's answer without met.  NULL:
	   nothing is asked. */
	const struct idem_bytes (*hello)[4];	/* words of commands, up to the
						   first empty */
	size_t hello_len;
	const char *(*met)(void *arg, const struct idem_redis_value *replies);
	void *arg;
	/* Sockets come and go: for epoll, level-triggered, always for reading.
	   fd -1: the last one goes; it is closed after the call. */
	void (*watch)(void *arg, struct idem_redis_wire *, int fd,
	    bool want_write);
};

struct idem_redis_wire_answer {
	struct idem_redis_meaning meaning;
	const struct idem_redis_value *value;	/* or NULL */
	const char *error;	/* or NULL */
	int64_t sent_ms;
};
typedef void idem_redis_wire_done(void *arg,
    const struct idem_redis_wire_answer *);

struct idem_redis_wire *idem_redis_wire_new(
    const struct idem_redis_wire_options *);	/* NULL: no memory */
/*
 * Queue one; `before` is sent right before it, its reply only checked (ASKING),
 * or NULL.  Answered from _ready, _due or _free, never from here, once.  False:
 * no memory, or the wire is being freed; then it is not answered at all.
 */
bool idem_redis_wire_send(struct idem_redis_wire *,
    const struct idem_bytes *args, size_t args_len, const char *before,
    int64_t deadline_ms, idem_redis_wire_done *, void *arg);
void idem_redis_wire_ready(struct idem_redis_wire *, bool readable,
    bool writable);
/* When _due is to be called: INT64_MIN at once (there is something to send, or
   a name has come), INT64_MAX never. */
int64_t idem_redis_wire_due_ms(const struct idem_redis_wire *);
void idem_redis_wire_due(struct idem_redis_wire *);
bool idem_redis_wire_idle(const struct idem_redis_wire *);	/* nothing is
				   outstanding, discarded ones neither */
/* Answers what is outstanding.  Not from done, met or watch. */
void idem_redis_wire_free(struct idem_redis_wire *);

#endif
