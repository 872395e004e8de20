/* SPDX-License-Identifier: ISC */
#ifndef TESTS_CONF_FILES_H
#define TESTS_CONF_FILES_H

#include "conf.h"

/*
 * Files that a configuration names, in a folder of their own:
 *
 *	good		two keys of tokens, 0600
 *	other		another key, 0600
 *	open		a key of tokens, 0644
 *	bad		no key, 0600
 *	empty		0600
 *	password	"s3cret" and a line's end, 0600
 *	shown		the same, 0644
 */
void conf_files_make(void);
void conf_files_remove(void);
/* One of them, valid until the next call. */
const char *conf_files_path(const char *name);
/* conf_read, of a file called "c", in which @ stands for the folder. */
struct conf *conf_files_read(const char *text, char *error, size_t size);

#endif
