/* SPDX-License-Identifier: ISC */
#include "conf_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a configuration keeps in files of their own: keys and passwords. */
#define FILE_SIZE 65536u
#define MAKE_KEY "(umask 077; idemctl token --make-key > FILE)"

/* --- files ---------------------------------------------------------------- */

bool
conf_others_read(const char *file)
{
	struct stat st;

	return stat(file, &st) == 0 && (st.st_mode & S_IROTH) != 0;
}

/* Up to size bytes; -1 and errno. */
static ssize_t
read_up_to(int fd, char *to, size_t size)
{
	size_t len = 0;
	ssize_t n;

	while (len < size) {
		n = read(fd, to + len, size - len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -1;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

static const char *
mode_wrong(const struct stat *st, bool ours_alone)
{
	if (!S_ISREG(st->st_mode))
		return "not a file";
	if (ours_alone && (st->st_mode & S_IRWXO) != 0)
		return "others may read or change it: chmod o= it";
	return NULL;
}

/* All of it, FILE_SIZE bytes at most; NULL, or why not. */
static const char *
read_file(const char *file, bool ours_alone, char *to, size_t *len)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	const char *fault = NULL;
	struct stat st;
	ssize_t n = 0;

	if (fd == -1 || fstat(fd, &st) == -1)
		fault = strerror(errno);
	if (fault == NULL)
		fault = mode_wrong(&st, ours_alone);
	if (fault == NULL) {
		n = read_up_to(fd, to, FILE_SIZE);
		if (n == -1)
			fault = strerror(errno);
		else if (n == FILE_SIZE)
			fault = "too long";
	}
	if (fd != -1)
		close(fd);
	*len = fault == NULL ? (size_t)n : 0;
	return fault;
}

/* --- the keys of tokens --------------------------------------------------- */

struct conf_tokens *
conf_tokens_new(struct conf *c)
{
	struct conf_tokens *t = conf_get(c, sizeof *t);

	if (t == NULL)
		return NULL;
	t->path = "/.idem/token";
	t->life_ms = 3600 * 1000;
	t->rate = 20;
	t->burst = 100;
	return t;
}

/* Never made in passing: several hosts need the same. */
static bool
take_keys(struct conf_tokens *t, struct idem_bytes text, char *error,
    size_t size)
{
	char why[256] = "";

	if (!idem_token_keys_read(&t->keys, text, why, sizeof why)) {
		snprintf(error, size, "%.200s: %s", t->keys_file, why);
		return false;
	}
	if (t->keys.len > 0)
		return true;
	snprintf(error, size, "%.200s: there is no key in it; make one: "
	    MAKE_KEY, t->keys_file);
	return false;
}

bool
conf_tokens_read(struct conf_tokens *t, char *error, size_t size)
{
	char *text = malloc(FILE_SIZE);
	const char *fault = "no memory";
	bool good = false;
	size_t len = 0;

	if (text != NULL)
		fault = read_file(t->keys_file, true, text, &len);
	if (fault == NULL)
		good = take_keys(t, (struct idem_bytes){ text, len }, error,
		    size);
	else
		snprintf(error, size, "%.200s: %s%s", t->keys_file, fault,
		    access(t->keys_file, F_OK) == -1 ?
		    "; make one: " MAKE_KEY : "");
	if (text != NULL)
		idem_secret_wipe(text, FILE_SIZE);
	free(text);
	return good;
}

/* --- a password ----------------------------------------------------------- */

/* Its first line. */
static const char *
take_line(struct conf *c, char *text, size_t len, const char **fault)
{
	const char *end = memchr(text, '\n', len), *password = NULL;
	size_t line = end != NULL ? (size_t)(end - text) : len;

	if (line > 0 && text[line - 1] == '\r')
		line--;
	if (line == 0 || memchr(text, '\0', line) != NULL)
		*fault = "its first line is no password";
	else {
		password = conf_copy(c, (struct idem_bytes){ text, line });
		*fault = "no memory";
	}
	return password;
}

const char *
conf_password_read(struct conf *c, const char *file, char *error, size_t size)
{
	const char *fault = "no memory", *password = NULL;
	char *text = malloc(FILE_SIZE);
	size_t len = 0;

	if (text != NULL)
		fault = read_file(file, false, text, &len);
	if (fault == NULL)
		password = take_line(c, text, len, &fault);
	if (password == NULL)
		snprintf(error, size, "%.200s: %s", file, fault);
	else if (conf_others_read(file))
		conf_warn(c, "%.200s holds a password, and others may read it: "
		    "chmod o= it", file);
	if (text != NULL)
		idem_secret_wipe(text, FILE_SIZE);
	free(text);
	return password;
}
