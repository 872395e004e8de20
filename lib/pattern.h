/* SPDX-License-Identifier: ISC */
#ifndef IDEM_PATTERN_H
#define IDEM_PATTERN_H

#include "buf.h"

#define IDEM_PATTERN_MAX 1024u	/* bytes */

/*
 * Patterns of request paths.  `*` stands for any bytes but '/', none too; `**`
 * for any bytes at all; everything else for itself.  `**` after a last slash
 * also stands for what is before that slash: of /api, that is /api itself,
 * /api/ and all below it.  Only there: between two slashes it needs both.
 */

/* Begins with '/', has no "***", is not over PATTERN_MAX.  NULL, or what is
   wrong with it: a constant.  The others take only what is not wrong. */
const char *idem_pattern_wrong(const char *pattern);

/* Time grows with the product of both lengths, at worst. */
bool idem_pattern_matches(const char *pattern, struct idem_bytes path);

/* Are there bytes that both stand for? */
bool idem_pattern_overlap(const char *a, const char *b);

/*
 * The path of a request, appended to an empty buf, so that no spelling of a
 * path slips past its route (request_path.c).
 *
 * That of REQUEST_URI, if there is one: what is before it (scheme, authority)
 * and behind it (from the first '?' or '#') is taken off, percent-escapes are
 * decoded once, an escaped slash too; what is no escape stays.  Else
 * SCRIPT_NAME and PATH_INFO, which fronts have decoded.  Then empty segments,
 * "." and ".." are resolved, at most up to "/"; a last slash stays.  It always
 * begins with '/', but for OPTIONS of "*".
 *
 * False: REQUEST_URI holds an escaped NUL, or no path: the request is broken.
 * Without memory the buf says so.
 */
struct idem_params;
bool idem_request_path(const struct idem_params *, struct idem_buf *path);

/* The same of a path as it stands in a request target, from its '/' on.  False:
   it holds an escaped NUL. */
bool idem_request_path_of(struct idem_bytes raw, struct idem_buf *path);

#endif
