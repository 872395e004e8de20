/* SPDX-License-Identifier: ISC */
#include "peers.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t"

static struct in6_addr
mapped(const struct in_addr *four)
{
	struct in6_addr six = IN6ADDR_ANY_INIT;

	six.s6_addr[10] = six.s6_addr[11] = 0xff;
	memcpy(six.s6_addr + 12, four, sizeof *four);
	return six;
}

static bool
read_one(const char *text, size_t len, struct in6_addr *six)
{
	char copy[INET6_ADDRSTRLEN];
	struct in_addr four;

	if (len == 0 || len >= sizeof copy)
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (inet_pton(AF_INET, copy, &four) == 1) {
		*six = mapped(&four);
		return true;
	}
	return inet_pton(AF_INET6, copy, six) == 1;
}

static size_t
trimmed(const char **text, size_t len)
{
	size_t blanks = strspn(*text, BLANKS);

	if (blanks > len)
		blanks = len;
	*text += blanks;
	len -= blanks;
	while (len > 0 && strchr(BLANKS, (*text)[len - 1]) != NULL)
		len--;
	return len;
}

static bool
add(struct peers *p, const struct in6_addr *six)
{
	struct in6_addr *at = realloc(p->at, (p->len + 1) * sizeof *at);

	if (at == NULL)
		return false;
	p->at = at;
	p->at[p->len++] = *six;
	return true;
}

int
peers_read(struct peers *p, const char *list, const char **wrong,
    size_t *wrong_len)
{
	struct in6_addr six;
	size_t len, rest;

	*p = (struct peers){ .limited = list != NULL };
	*wrong = NULL;
	while (list != NULL && *list != '\0') {
		rest = strcspn(list, ",");
		*wrong = list;
		len = trimmed(wrong, rest);
		if (!read_one(*wrong, len, &six)) {
			*wrong_len = len;
			break;
		}
		*wrong = NULL;
		if (!add(p, &six))
			break;
		list += rest + (list[rest] == ',');
	}
	if (list == NULL || *list == '\0')
		return 0;
	peers_free(p);
	return -1;
}

bool
peers_may(const struct peers *p, const struct sockaddr_storage *peer)
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)peer;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)peer;
	struct in6_addr addr;
	size_t i;

	if (!p->limited)
		return true;
	if (peer->ss_family == AF_INET)
		addr = mapped(&four->sin_addr);
	else if (peer->ss_family == AF_INET6)
		addr = six->sin6_addr;
	else
		return false;
	for (i = 0; i < p->len; i++)
		if (memcmp(&p->at[i], &addr, sizeof addr) == 0)
			return true;
	return false;
}

void
peers_free(struct peers *p)
{
	free(p->at);
	*p = (struct peers){ .limited = p->limited };
}
