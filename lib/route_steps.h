/* SPDX-License-Identifier: ISC */
#ifndef IDEM_ROUTE_STEPS_H
#define IDEM_ROUTE_STEPS_H

#include "route.h"

/* Private to route*.c. */

/* Which cookies were looked at (RFC 6265, 4.2.1).  At first only params. */
struct idem_route_cookies {
	const struct idem_params *params;
	size_t next;		/* the parameter to look at */
	const char *left;	/* of a Cookie field; NULL: nothing */
};

/* The next one of that name; false: there are no more. */
bool idem_route_cookie_next(struct idem_route_cookies *, const char *name,
    struct idem_bytes *value);

#endif
