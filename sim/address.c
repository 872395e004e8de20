/* SPDX-License-Identifier: ISC */
#include "address.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

static bool
unix_read(struct address *address, const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	size_t len = strlen(path);

	if (len == 0 || len >= sizeof at.sun_path)
		return false;
	memcpy(at.sun_path, path, len);
	memcpy(&address->at, &at, sizeof at);
	address->len = sizeof at;
	return true;
}

static void
tcp_set(struct address *address, uint16_t port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	memset(address, 0, sizeof *address);
	memcpy(&address->at, &at, sizeof at);
	address->len = sizeof at;
}

bool
address_read(struct address *address, const char *text)
{
	static const char host[] = "127.0.0.1:";
	unsigned long port;
	char *end;

	memset(address, 0, sizeof *address);
	if (strncmp(text, "unix:", 5) == 0)
		return unix_read(address, text + 5);
	if (text[0] == '/')
		return unix_read(address, text);
	if (strncmp(text, host, sizeof host - 1) != 0)
		return false;
	text += sizeof host - 1;
	if (*text < '0' || *text > '9')
		return false;
	port = strtoul(text, &end, 10);
	if (*end != '\0' || port == 0 || port > UINT16_MAX)
		return false;
	tcp_set(address, (uint16_t)port);
	return true;
}

void
address_loopback(struct address *address)
{
	tcp_set(address, 0);
}

int
address_socket(const struct address *address)
{
	int fd, one = 1;

	if (address->len == 0) {
		errno = EINVAL;
		return -1;
	}
	fd = socket(address->at.ss_family,
	    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	/* Each write is to be a packet of its own. */
	if (fd != -1 && address->at.ss_family == AF_INET) {
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one,
		    sizeof one);
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one,
		    sizeof one);
	}
	return fd;
}

int
address_port(const struct address *address)
{
	struct sockaddr_in at;

	if (address->at.ss_family != AF_INET)
		return 0;
	memcpy(&at, &address->at, sizeof at);
	return ntohs(at.sin_port);
}

int
address_connect(const struct address *address, bool *connected)
{
	int fd = address_socket(address), error;

	if (fd == -1)
		return -1;
	*connected = connect(fd, (const struct sockaddr *)&address->at,
	    address->len) == 0;
	if (*connected || errno == EINPROGRESS)
		return fd;
	error = errno;
	(void)close(fd);
	errno = error;
	return -1;
}

bool
address_short(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOBUFS ||
	    error == ENOMEM;
}
