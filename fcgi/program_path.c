/* SPDX-License-Identifier: ISC */
#include "program_path.h"

#include "buf.h"

#include <string.h>

/* What comes after a word, or NULL. */
static const char *
after(const char *text, const char *word)
{
	size_t len = strlen(word);

	return strncmp(text, word, len) == 0 ? text + len : NULL;
}

/* The encoded path of a request that Apache hands on, or NULL. */
static const char *
proxied(const char *text)
{
	const char *at = text, *rest;

	rest = after(at, "unix:");
	if (rest != NULL) {
		at = strchr(rest, '|');
		if (at == NULL)
			return NULL;
		at++;
	}
	rest = after(at, "fcgi://");
	if (rest == NULL)
		rest = after(at, "balancer://");
	return rest != NULL ? strchr(rest, '/') : NULL;
}

/* One byte of an escape; 0 is none. */
static char
escaped(const char *at)
{
	uint8_t byte = 0;
	char digits[3] = { 0 };

	memcpy(digits, at, strnlen(at, 2));
	return idem_unhex(digits, &byte, 1) ? (char)byte : '\0';
}

static bool
decode(const char *text, size_t len, char *to, size_t size)
{
	size_t n = 0, i;
	char c;

	for (i = 0; i < len; i++) {
		c = text[i];
		if (c == '%') {
			c = escaped(text + i + 1);
			i += 2;
		}
		if (c == '\0' || n + 1 >= size)
			return false;
		to[n++] = c;
	}
	to[n] = '\0';
	return true;
}

bool
program_path_decode(const char *text, char *to, size_t size)
{
	return size > 0 && decode(text, strlen(text), to, size);
}

bool
program_path_read(const char *text, char *path, size_t size)
{
	const char *rest = after(text, "proxy:");
	size_t len;

	if (rest != NULL) {
		rest = proxied(rest);
		return rest != NULL && size > 0 &&
		    decode(rest, strcspn(rest, "?"), path, size);
	}
	len = strlen(text) + 1;
	if (*text != '/' || len > size)
		return false;
	memcpy(path, text, len);
	return true;
}

void
program_path_tidy(char *path)
{
	char *to = path;
	const char *from;

	for (from = path; *from != '\0'; from++)
		if (*from != '/' || to == path || to[-1] != '/')
			*to++ = *from;
	*to = '\0';
}
