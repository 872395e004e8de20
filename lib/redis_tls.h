/* SPDX-License-Identifier: ISC */
#ifndef IDEM_REDIS_TLS_H
#define IDEM_REDIS_TLS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * TLS 1.2 or later as a client over a socket that does not block, for
 * redis_wire.c.  The peer is always verified: its chain, and its name or
 * address (RFC 9525).  No SIGPIPE.
 */
struct idem_redis_tls;		/* what all connections share */
struct idem_redis_tls_talk;	/* one connection */

/*
 * Files in PEM; ca NULL: the system's; certificate and private_key of ours,
 * both or neither.  NULL, and a sentence in error.
 */
struct idem_redis_tls *idem_redis_tls_new(const char *ca,
    const char *certificate, const char *private_key, char *error,
    size_t error_size);
void idem_redis_tls_free(struct idem_redis_tls *);	/* NULL does nothing */

/*
 * IDEM_REDIS_TLS_WANT_READ, _WANT_WRITE: again when the socket is so.  A write
 * is then called again with the same bytes.
 * IDEM_REDIS_TLS_CLOSED: end of file.
 * IDEM_REDIS_TLS_BROKEN: the socket's error, in errno.
 * IDEM_REDIS_TLS_DISTRUST: the certificate, theirs or ours, or no TLS is spoken
 * there: idem_redis_tls_why.
 */
enum idem_redis_tls_io {
	IDEM_REDIS_TLS_DONE, IDEM_REDIS_TLS_WANT_READ,
	IDEM_REDIS_TLS_WANT_WRITE, IDEM_REDIS_TLS_CLOSED,
	IDEM_REDIS_TLS_BROKEN, IDEM_REDIS_TLS_DISTRUST
};

/* peer: a name, also told to the server (SNI), or a numeric address.  The
   socket stays the caller's.  NULL: no memory, or no such peer. */
struct idem_redis_tls_talk *idem_redis_tls_open(struct idem_redis_tls *,
    int fd, const char *peer);
enum idem_redis_tls_io idem_redis_tls_shake(struct idem_redis_tls_talk *);
/* Until it wants: what has been decrypted does not make the socket readable. */
enum idem_redis_tls_io idem_redis_tls_read(struct idem_redis_tls_talk *,
    void *at, size_t size, size_t *got);
/* All of len (at most 16384: one record) or nothing. */
enum idem_redis_tls_io idem_redis_tls_write(struct idem_redis_tls_talk *,
    const void *at, size_t len);
const char *idem_redis_tls_why(const struct idem_redis_tls_talk *);
/* tell: say goodbye to the peer, if that does not block. */
void idem_redis_tls_close(struct idem_redis_tls_talk *, bool tell);

#endif
