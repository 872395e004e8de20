/* SPDX-License-Identifier: ISC */
#ifndef IDEM_PARAMS_H
#define IDEM_PARAMS_H

#include "buf.h"

/*
 * The parameters of one request, as a front sent them (RFC 3875, 4.1).  Zeroes
 * are none.
 */
struct idem_params {
	char **at;	/* "NAME=value", NULL last; owned, one block */
	size_t len;
};

enum idem_params_read {
	IDEM_PARAMS_READ,
	IDEM_PARAMS_UNREADABLE,	/* one that cannot be told as "NAME=value": a
				   NUL in name or value (CGI text has none, RFC
				   3875, 7.2), a '=' in the name, or an empty
				   name */
	IDEM_PARAMS_FAILED	/* a cut stream, or memory is out */
};

/*
 * Read a whole PARAMS stream (fcgi_rec.h), in its order.  But for READ,
 * *params is empty.
 */
enum idem_params_read idem_params_read(struct idem_bytes stream,
    struct idem_params *);
/* The stream again; errors stick in the buf. */
void idem_params_write(const struct idem_params *, struct idem_buf *stream);
bool idem_params_equal(const struct idem_params *, const struct idem_params *);

/* The first value of that name, or NULL; borrowed. */
const char *idem_params_get(const struct idem_params *, const char *name);

/*
 * The first values of that name, at most max, and how many they are.  Who wants
 * to know of too many has room for one more.
 */
size_t idem_params_all(const struct idem_params *, const char *name,
    const char **values, size_t max);

void idem_params_free(struct idem_params *);

#endif
