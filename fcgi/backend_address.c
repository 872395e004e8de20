/* SPDX-License-Identifier: ISC */
#include "backend_private.h"

#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

#define HOST_MAX 64u		/* an IPv6 address with its zone */

static size_t
wrong_is(const char **wrong, const char *why)
{
	*wrong = why;
	return 0;
}

static size_t
read_unix(const char *path, struct backend_target *t, const char **wrong)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (path[0] != '/')
		return wrong_is(wrong, "its path is not absolute");
	if (strlen(path) >= sizeof address.sun_path)
		return wrong_is(wrong, "its path is too long (107 bytes)");
	memcpy(address.sun_path, path, strlen(path) + 1);
	memcpy(&t->at, &address, sizeof address);
	t->len = sizeof address;
	return 1;
}

/* getaddrinfo would take 65536 for 0. */
static bool
is_port(const char *text)
{
	size_t i, len = strspn(text, "0123456789");
	unsigned port = 0;

	for (i = 0; i < len && i < 6; i++)
		port = 10 * port + (unsigned)(text[i] - '0');
	return len <= 5 && text[len] == '\0' && port > 0 && port <= 65535;
}

static size_t
read_numeric(const char *host, const char *port, struct backend_target *t,
    const char **wrong)
{
	const struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
		.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM
	};
	struct addrinfo *found;

	if (getaddrinfo(host, port, &hints, &found) != 0)
		return wrong_is(wrong,
		    "its host is neither numeric nor localhost");
	memcpy(&t->at, found->ai_addr, found->ai_addrlen);
	t->len = found->ai_addrlen;
	freeaddrinfo(found);
	return 1;
}

static size_t
read_tcp(const char *text, struct backend_target t[BACKEND_TARGETS],
    const char **wrong)
{
	const char *colon = strrchr(text, ':');
	char host[HOST_MAX];
	size_t len;

	if (colon == NULL || !is_port(colon + 1))
		return wrong_is(wrong, "its port is not between 1 and 65535");
	len = (size_t)(colon - text);
	if (len >= 2 && text[0] == '[' && text[len - 1] == ']') {
		text++;
		len -= 2;
	} else if (memchr(text, ':', len) != NULL)
		return wrong_is(wrong, "an IPv6 host stands in brackets");
	if (len >= sizeof host)
		return wrong_is(wrong, "its host is too long");
	memcpy(host, text, len);
	host[len] = '\0';
	if (strcmp(host, "localhost") != 0)
		return read_numeric(host, colon + 1, t, wrong);
	return read_numeric("127.0.0.1", colon + 1, &t[0], wrong) +
	    read_numeric("::1", colon + 1, &t[1], wrong);
}

size_t
backend_address_read(const char *text,
    struct backend_target t[BACKEND_TARGETS], const char **wrong)
{
	if (strncmp(text, "unix:", 5) == 0)
		return read_unix(text + 5, t, wrong);
	if (strncmp(text, "tcp:", 4) == 0)
		return read_tcp(text + 4, t, wrong);
	return wrong_is(wrong, "it is neither unix:PATH nor tcp:HOST:PORT");
}

const char *
backend_address_wrong(const char *text)
{
	struct backend_target t[BACKEND_TARGETS];
	const char *wrong;

	return backend_address_read(text, t, &wrong) > 0 ? NULL : wrong;
}
