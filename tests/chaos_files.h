/* SPDX-License-Identifier: ISC */
#ifndef TESTS_CHAOS_FILES_H
#define TESTS_CHAOS_FILES_H

#include <stdbool.h>

/*
 * The append-only files of a server as they are now, copied into a folder while
 * it runs.  False: it was rewriting them; then there is no copy.
 */
bool chaos_files_take(const char *server, const char *snapshot);
/* In place of those that a server, which does not run, has. */
void chaos_files_restore(const char *snapshot, const char *server);

#endif
