/* SPDX-License-Identifier: ISC */
#ifndef IDEM_REDIS_H
#define IDEM_REDIS_H

#include "clock.h"
#include "redis_class.h"

/*
 * A client of one Redis: a server, whoever Sentinel says is the master, or a
 * cluster.  Commands are started and answered later from poll, exactly once
 * each, never from inside send.  Nothing in here blocks: names are resolved by
 * a thread of their own.  Who may wait uses idem_redis_wait.  A client is one
 * process's: after a fork the child neither uses nor frees it (its sockets are
 * close-on-exec).
 *
 *	redis_class.c	what an error means: a table (pure)
 *	redis_url.c	where a server is (pure)
 *	redis_tls.c	OpenSSL, for rediss://
 *	redis_name.c	names to addresses, off the loop
 *	redis_wire.c	one connection: hiredis reads replies, the socket
 *			is ours
 *	redis.c		which server; commands sent there, and sent again
 *	redis_sentinel.c, redis_cluster.c	who is the master of what
 */
enum idem_redis_topology {
	IDEM_REDIS_SINGLE, IDEM_REDIS_SENTINEL, IDEM_REDIS_CLUSTER
};

/* Borrowed for as long as the client lives.  Zeroes mean the default. */
struct idem_redis_options {
	enum idem_redis_topology topology;
	const char *const *urls;	/* one server; or all that Sentinels
					   listen at; or seeds of a cluster */
	size_t urls_len;
	const char *master;		/* SENTINEL: its name */
	const char *user, *password;	/* of the servers, over the URL's */
	const char *sentinel_user, *sentinel_password;
	const char *ca;			/* TLS: a file of certificates; NULL:
					   the system's */
	const char *certificate, *private_key;	/* of ours; or NULL */
	const char *server_name;	/* in the certificate; NULL: the URL's
					   host */
	uint32_t timeout_ms;	/* connect, and total silence; 250 */
	uint32_t probe_ms;	/* while it is away; 10000 */
	uint64_t reply_max;	/* bytes of one; 64 MiB */
	bool any_role;		/* who answers need not be a master: for those
				   who only look */
	const struct idem_clock *clock;
	/* It went away, or came back; for log, counter and alert.  May be
	   NULL.  Called from poll and send. */
	void (*switched)(void *arg, bool away, const char *why);
	void *arg;
};

enum idem_redis_type {
	IDEM_REDIS_NIL, IDEM_REDIS_INTEGER, IDEM_REDIS_STRING,
	IDEM_REDIS_STATUS, IDEM_REDIS_ERROR, IDEM_REDIS_ARRAY
};

/* A reply (RESP2).  A missing key is NIL, which is not an empty STRING. */
struct idem_redis_value {
	enum idem_redis_type type;
	int64_t integer;
	struct idem_bytes text;		/* STRING, STATUS, ERROR; not ended */
	const struct idem_redis_value *at;	/* ARRAY: its len members */
	size_t len;
};

/* Borrowed for the call of done. */
struct idem_redis_answer {
	enum idem_class class;	/* OK: *value is of the command's own kind;
				   never ERROR */
	bool away;	/* not OK: to try again at once is of no use */
	const struct idem_redis_value *value;	/* NULL: no reply was read */
	const char *error;	/* not OK: what, for the log */
	int64_t sent_ms;	/* boot clock, of the try that was answered */
};
typedef void idem_redis_done(void *arg, const struct idem_redis_answer *);

/* A script, sent by its digest; with its text after NOSCRIPT (once). */
struct idem_redis_script {
	struct idem_bytes text;
	char sha1[41];		/* hex, lower case; NUL */
};

/* Copied by send.  With a script args are numkeys, keys and arguments. */
struct idem_redis_command {
	const struct idem_redis_script *script;	/* lives until the answer; or
						   NULL */
	const struct idem_bytes *args;
	size_t args_len;
	struct idem_bytes key;	/* decides the node of a cluster; empty: any */
	const char *node;	/* or this one, as idem_redis_node names it */
	bool bulk;		/* large: by the connection for bodies */
	int64_t deadline_ms;	/* boot clock: answered by then */
	idem_redis_done *done;
	void *arg;
};

struct idem_redis;

/* NULL, and a sentence in error: a URL that is none, no memory, no TLS.  No
   server needs to be there yet. */
struct idem_redis *idem_redis_new(const struct idem_redis_options *,
    char *error, size_t error_size);

/*
 * Send to the master of its key.  What surely was not applied is sent again
 * until the deadline where that can help: MOVED, ASK, TRYAGAIN, CLUSTERDOWN,
 * LOADING, MASTERDOWN, READONLY, a refused connection (at most 12 times).
 * What may have been applied never is: the caller repeats it, if it can.
 * While the node is away (three failures within a second; its answers, however
 * they sound, are none, nor is a deadline that leaves it less than half of
 * timeout_ms while it talks) the answer is REFUSED and `away` at once; a probe
 * of our own finds out when it is back.
 */
void idem_redis_send(struct idem_redis *, const struct idem_redis_command *);

int idem_redis_fd(struct idem_redis *);	/* readable: poll */
int64_t idem_redis_due_ms(struct idem_redis *);	/* poll by then; 0: at once,
				   INT64_MAX: no time is set */
void idem_redis_poll(struct idem_redis *);
/* Answers what is outstanding, then frees.  NULL does nothing. */
void idem_redis_free(struct idem_redis *);

/* The server's clock now, as far as its answers tell: *ms is Unix time.  False:
   nothing has been heard yet.  Of a cluster, of the key's node. */
bool idem_redis_now(struct idem_redis *, struct idem_bytes key, int64_t *ms);
/* Since when that clock has run steadily under our eyes, by itself (skew.h).
   False: nothing has been heard yet. */
bool idem_redis_watched(struct idem_redis *, struct idem_bytes key,
    int64_t *since_ms);
/* A caller that has read the server's clock in a reply says so, from done. */
void idem_redis_heard(struct idem_redis *, struct idem_bytes key,
    int64_t sent_ms, int64_t server_ms);

/* The i-th of the masters that are known ("HOST:PORT" or a path), or NULL.
   Valid until the next poll. */
const char *idem_redis_node(struct idem_redis *, size_t i);
bool idem_redis_away(struct idem_redis *);	/* any of them */

/* For who may wait: the reply as a copy, or NULL and the class in *answer's
   with a copied error. */
struct idem_redis_waited {
	enum idem_class class;
	bool away;
	struct idem_redis_value *value;	/* owned; NULL: none */
	char error[256];
};
void idem_redis_wait(struct idem_redis *, const struct idem_redis_command *,
    struct idem_redis_waited *);
void idem_redis_waited_free(struct idem_redis_waited *);
/* A copy of a value in one allocation, for free(); NULL: no memory. */
struct idem_redis_value *idem_redis_value_copy(const struct idem_redis_value *);
/* Is it a text, and this one? */
bool idem_redis_is(const struct idem_redis_value *, const char *text);

/* --- redis_url.c ---------------------------------------------------------- */

enum idem_redis_kind { IDEM_REDIS_UNIX, IDEM_REDIS_TCP, IDEM_REDIS_TLS };

struct idem_redis_url {
	enum idem_redis_kind kind;
	char host[256];		/* a name, or an address without brackets; UNIX:
				   the path, at most 107 bytes */
	uint16_t port;		/* 6379 */
	uint32_t database;	/* 0; none in a cluster */
	char user[256], password[512];	/* "": none */
};

/*
 * unix:PATH, redis://[[USER][:PASSWORD]@]HOST[:PORT][/DATABASE], the same with
 * rediss:// for TLS, or HOST:PORT.  %XX in user and password.  False, and a
 * sentence that never holds the password.
 */
bool idem_redis_url_read(const char *text, struct idem_redis_url *,
    char *error, size_t error_size);

#endif
