/* SPDX-License-Identifier: ISC */
#include "redis_tls.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct idem_redis_tls {
	SSL_CTX *context;
	BIO_METHOD *socket;	/* OpenSSL's own dies of SIGPIPE */
};

struct idem_redis_tls_talk {
	SSL *ssl;
	bool heard;		/* a byte of theirs, decrypted */
	char why[256];
};

/* --- the socket, as OpenSSL sees it --------------------------------------- */

static int
socket_of(BIO *bio)
{
	return (int)(intptr_t)BIO_get_data(bio);
}

static bool
is_full(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static int
bio_write(BIO *bio, const char *at, int len)
{
	ssize_t n = send(socket_of(bio), at, (size_t)len, MSG_NOSIGNAL);

	BIO_clear_retry_flags(bio);
	if (n < 0 && is_full())
		BIO_set_retry_write(bio);
	return (int)n;
}

static int
bio_read(BIO *bio, char *at, int size)
{
	ssize_t n = recv(socket_of(bio), at, (size_t)size, 0);

	BIO_clear_retry_flags(bio);
	if (n < 0 && is_full())
		BIO_set_retry_read(bio);
	if (n == 0)
		BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
	return (int)n;
}

static long
bio_ctrl(BIO *bio, int command, long number, void *at)
{
	(void)number;
	(void)at;
	if (command == BIO_CTRL_EOF)
		return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
	return command == BIO_CTRL_FLUSH;	/* nothing is held back */
}

static BIO_METHOD *
socket_method(void)
{
	BIO_METHOD *m = BIO_meth_new(
	    BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "idem socket");

	if (m == NULL)
		return NULL;
	if (BIO_meth_set_write(m, bio_write) == 1 &&
	    BIO_meth_set_read(m, bio_read) == 1 &&
	    BIO_meth_set_ctrl(m, bio_ctrl) == 1)
		return m;
	BIO_meth_free(m);
	return NULL;
}

/* --- what all connections share ------------------------------------------- */

/* The first error is nearest to the cause. */
static const char *
reason(void)
{
	unsigned long error = ERR_peek_error();
	const char *text = ERR_SYSTEM_ERROR(error) ?
	    strerror(ERR_GET_REASON(error)) : ERR_reason_error_string(error);

	return text != NULL ? text : "no reason given";
}

static bool
fail(char *error, size_t error_size, const char *what, const char *file)
{
	snprintf(error, error_size, "%s%s%s: %s", what,
	    file != NULL ? " " : "", file != NULL ? file : "", reason());
	return false;
}

/* A passphrase would be asked for on the terminal. */
static int
no_passphrase(char *at, int size, int writing, void *arg)
{
	(void)at;
	(void)size;
	(void)writing;
	(void)arg;
	return -1;
}

static bool
load(SSL_CTX *context, const char *ca, const char *certificate,
    const char *private_key, char *error, size_t error_size)
{
	if (ca == NULL && SSL_CTX_set_default_verify_paths(context) != 1)
		return fail(error, error_size, "the system's certificates",
		    NULL);
	if (ca != NULL && SSL_CTX_load_verify_file(context, ca) != 1)
		return fail(error, error_size, "certificates in", ca);
	if (certificate == NULL)
		return true;
	if (SSL_CTX_use_certificate_chain_file(context, certificate) != 1)
		return fail(error, error_size, "the certificate in",
		    certificate);
	if (SSL_CTX_use_PrivateKey_file(context, private_key,
	    SSL_FILETYPE_PEM) != 1)
		return fail(error, error_size, "the private key in",
		    private_key);
	return true;
}

static SSL_CTX *
context_new(void)
{
	SSL_CTX *c = SSL_CTX_new(TLS_client_method());

	if (c == NULL)
		return NULL;
	SSL_CTX_set_default_passwd_cb(c, no_passphrase);
	SSL_CTX_set_verify(c, SSL_VERIFY_PEER, NULL);
	/* A write would wait for a read, as long as the server likes. */
	SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION);
	SSL_CTX_set_mode(c, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
	    SSL_MODE_RELEASE_BUFFERS);
	if (SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION) == 1)
		return c;
	SSL_CTX_free(c);
	return NULL;
}

struct idem_redis_tls *
idem_redis_tls_new(const char *ca, const char *certificate,
    const char *private_key, char *error, size_t error_size)
{
	struct idem_redis_tls *tls;

	if ((certificate == NULL) != (private_key == NULL)) {
		snprintf(error, error_size,
		    "a certificate and its private key go together");
		return NULL;
	}
	tls = calloc(1, sizeof *tls);
	if (tls == NULL)
		goto starved;
	ERR_clear_error();
	tls->context = context_new();
	tls->socket = socket_method();
	if (tls->context == NULL || tls->socket == NULL)
		goto starved;
	if (load(tls->context, ca, certificate, private_key, error,
	    error_size))
		return tls;
	idem_redis_tls_free(tls);
	return NULL;
starved:
	snprintf(error, error_size, "no memory for TLS");
	idem_redis_tls_free(tls);
	return NULL;
}

void
idem_redis_tls_free(struct idem_redis_tls *tls)
{
	if (tls == NULL)
		return;
	SSL_CTX_free(tls->context);
	BIO_meth_free(tls->socket);
	free(tls);
}

/* --- one connection ------------------------------------------------------- */

/* Whom to expect, and whom to ask for. */
static bool
set_peer(SSL *ssl, const char *peer)
{
	if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), peer) == 1)
		return true;
	SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
	    X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
	return peer[0] != '\0' && SSL_set1_host(ssl, peer) == 1 &&
	    SSL_set_tlsext_host_name(ssl, peer) == 1;
}

static bool
set_socket(struct idem_redis_tls *tls, SSL *ssl, int fd)
{
	BIO *bio = BIO_new(tls->socket);

	if (bio == NULL)
		return false;
	BIO_set_data(bio, (void *)(intptr_t)fd);
	BIO_set_init(bio, 1);
	SSL_set_bio(ssl, bio, bio);
	return true;
}

struct idem_redis_tls_talk *
idem_redis_tls_open(struct idem_redis_tls *tls, int fd, const char *peer)
{
	struct idem_redis_tls_talk *t;

	if (tls == NULL)
		return NULL;
	t = calloc(1, sizeof *t);
	if (t == NULL)
		return NULL;
	t->ssl = SSL_new(tls->context);
	if (t->ssl == NULL || !set_peer(t->ssl, peer) ||
	    !set_socket(tls, t->ssl, fd)) {
		idem_redis_tls_close(t, false);
		return NULL;
	}
	SSL_set_connect_state(t->ssl);
	return t;
}

/* The certificate's fault is better known than the library's word for it. */
static void
say_why(struct idem_redis_tls_talk *t)
{
	long verified = SSL_get_verify_result(t->ssl);

	snprintf(t->why, sizeof t->why, "TLS: %s", verified != X509_V_OK ?
	    X509_verify_cert_error_string(verified) : reason());
}

/*
 * Servers before TLS 1.3's time, and dying ones, leave without a goodbye.  A
 * failure of the protocol before the first byte is that of the handshake: of
 * our certificate a server of TLS 1.3 tells only afterwards.
 */
static enum idem_redis_tls_io
outcome(struct idem_redis_tls_talk *t, int rc, int error)
{
	switch (SSL_get_error(t->ssl, rc)) {
	case SSL_ERROR_NONE:
		return IDEM_REDIS_TLS_DONE;
	case SSL_ERROR_WANT_READ:
		return IDEM_REDIS_TLS_WANT_READ;
	case SSL_ERROR_WANT_WRITE:
		return IDEM_REDIS_TLS_WANT_WRITE;
	case SSL_ERROR_ZERO_RETURN:
		return IDEM_REDIS_TLS_CLOSED;
	case SSL_ERROR_SYSCALL:
		errno = error;
		return error != 0 ? IDEM_REDIS_TLS_BROKEN :
		    IDEM_REDIS_TLS_CLOSED;
	default:
		break;
	}
	if (ERR_GET_REASON(ERR_peek_last_error()) ==
	    SSL_R_UNEXPECTED_EOF_WHILE_READING)
		return IDEM_REDIS_TLS_CLOSED;
	if (t->heard) {
		errno = EPROTO;
		return IDEM_REDIS_TLS_BROKEN;
	}
	say_why(t);
	return IDEM_REDIS_TLS_DISTRUST;
}

enum idem_redis_tls_io
idem_redis_tls_shake(struct idem_redis_tls_talk *t)
{
	int rc;

	ERR_clear_error();
	errno = 0;
	rc = SSL_do_handshake(t->ssl);
	return outcome(t, rc, errno);
}

enum idem_redis_tls_io
idem_redis_tls_read(struct idem_redis_tls_talk *t, void *at, size_t size,
    size_t *got)
{
	enum idem_redis_tls_io io;
	int rc;

	ERR_clear_error();
	errno = 0;
	rc = SSL_read_ex(t->ssl, at, size, got);
	io = outcome(t, rc, errno);
	if (io == IDEM_REDIS_TLS_DONE)
		t->heard = true;
	else
		*got = 0;
	return io;
}

enum idem_redis_tls_io
idem_redis_tls_write(struct idem_redis_tls_talk *t, const void *at,
    size_t len)
{
	size_t put;
	int rc;

	ERR_clear_error();
	errno = 0;
	rc = SSL_write_ex(t->ssl, at, len, &put);
	return outcome(t, rc, errno);
}

const char *
idem_redis_tls_why(const struct idem_redis_tls_talk *t)
{
	return t->why;
}

void
idem_redis_tls_close(struct idem_redis_tls_talk *t, bool tell)
{
	if (t == NULL)
		return;
	ERR_clear_error();
	if (tell && t->ssl != NULL && SSL_is_init_finished(t->ssl))
		SSL_shutdown(t->ssl);
	ERR_clear_error();
	SSL_free(t->ssl);
	free(t);
}
