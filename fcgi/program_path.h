/* SPDX-License-Identifier: ISC */
#ifndef PROGRAM_PATH_H
#define PROGRAM_PATH_H

#include <stdbool.h>
#include <stddef.h>

/*
 * SCRIPT_FILENAME as fronts write it.  Text only: no file is looked at.
 *
 *	path   = absolute, taken as it is
 *	       | "proxy:" ["unix:" SOCKET "|"] SCHEME "://" AUTHORITY encoded
 *	SCHEME = "fcgi" | "balancer"
 *
 * The second is Apache's own name of a request that it hands on; there, and
 * only there, the path is percent-encoded, and a "?" begins a query.
 *
 * Read it into path, decoded, with its slashes as they were.  False: no such
 * text, an escape that is none or is a NUL, or it needs more than size bytes
 * with its NUL.
 */
bool program_path_read(const char *text, char *path, size_t size);

/* Percent-decode a whole text (RFC 3986, 2.1); as above. */
bool program_path_decode(const char *text, char *to, size_t size);

/* Each run of slashes becomes one, in place. */
void program_path_tidy(char *path);

#endif
